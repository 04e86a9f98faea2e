"""/v1/retrieve, /v1/answers and the passages."""

import urllib.parse

import msgspec
import pytest
from tests.support.served_assistant import PASSAGE, Scripted, served

from ragstone.kernel.config import HttpSystem
from ragstone.kernel.config.serving import ServeSection
from ragstone.kernel.records import Question
from ragstone.kernel.systems._http import http_prompt, open_http_system


def test_passages_come_in_the_form_of_contexts(client, scripted):
    body = client.post(
        "/v1/retrieve", json={"question": "When?", "filters": {"crop": "maize"}, "k": 3}
    ).json()
    assert body["contexts"] == [
        {
            "id": PASSAGE.chunk_id,
            "document_id": PASSAGE.document_id,
            "text": PASSAGE.text,
            "score": 0.9,
            "title": "Maize guide",
            "page": 2,
        }
    ]
    client.post("/v1/retrieve", json={"question": "When?"})
    assert scripted.knowledge.searched == [("When?", 3, {"crop": "maize"}), ("When?", 5, {})]


def test_documents_that_cannot_be_reached_are_told_as_such(client, scripted):
    scripted.knowledge.down = True
    response = client.post("/v1/retrieve", json={"question": "When?"})
    assert response.status_code == 503
    assert response.json()["detail"] == "the documents cannot be searched at this moment"
    scripted.knowledge.down = False
    assert client.post("/v1/retrieve", json={"question": "When?"}).status_code == 200


def test_an_answer_has_the_fields_of_an_answer_row_and_is_logged(client, scripted):
    body = client.post(
        "/v1/answers", json={"question": "When?", "filters": {"crop": "maize"}, "lang": "en"}
    ).json()
    assert body["answer"] == "Sow in May [1]."
    assert body["contexts"][0]["text"] == "Maize is sown in May."
    assert body["citations"][0]["number"] == 1
    assert (body["latency_s"], body["cost_usd"], body["error"]) == (0.5, 0.002, None)
    assert body["usage"] == {"input": 120, "output": 30, "calls": 2}
    [asked] = scripted.asked
    assert (asked.question, asked.filters, asked.lang) == ("When?", {"crop": "maize"}, "en")
    assert scripted.log.rows[0]["id"] == body["exchange_id"]


async def test_ragstone_s_own_systems_read_an_answer(tmp_path):
    with served(Scripted(), ServeSection(), tmp_path) as address:
        declared = msgspec.convert(
            {
                "url": f"{address}/v1/answers",
                "request": {"question": "{question}"},
                "answer": "$.answer",
                "contexts": "$.contexts[*]",
                "input_tokens": "$.usage.input",
                "output_tokens": "$.usage.output",
                "cost_usd": "$.cost_usd",
            },
            HttpSystem,
        )
        async with open_http_system("assistant", declared) as endpoint:
            completion = await endpoint.send(http_prompt(declared, Question(id="q", question="When?")))
    assert "Sow in May [1]." in completion.text
    assert (completion.usage.input, completion.cost_usd) == (120, 0.002)


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/v1/retrieve", {"question": ""}, 400),
        ("/v1/retrieve", {"question": "  "}, 422),
        ("/v1/retrieve", {"question": "x", "k": 0}, 400),
        ("/v1/retrieve", {"question": "x", "k": 101}, 400),
        ("/v1/retrieve", {"question": "x" * 33_000}, 413),
        ("/v1/answers", {}, 400),
        ("/v1/answers", {"question": "x" * 33_000}, 413),
    ],
)
def test_what_is_no_question_is_refused(client, path, body, status):
    response = client.post(path, json=body)
    assert response.status_code == status
    assert response.headers["content-type"] == "application/problem+json"


def test_a_passage_is_opened_by_an_id_with_slashes_and_letters_of_any_script(client):
    for written in (urllib.parse.quote(PASSAGE.chunk_id), urllib.parse.quote(PASSAGE.chunk_id, safe="")):
        body = client.get(f"/v1/passages/{written}").json()
        assert body == {
            "document_id": "guides/maïs.pdf",
            "title": "Maize guide",
            "page": 2,
            "source": "guides/maïs.pdf",
            "text": "Maize is sown in May.",
            "before": "Before. ",
            "after": " After.",
        }


@pytest.mark.parametrize("odd", ["a//b/", "../../etc/passwd", "%00", "a%25b", "नमस्ते?#x"])
def test_an_id_comes_to_the_knowledge_base_as_it_was_written(client, scripted, odd, monkeypatch):
    asked = []

    async def passage(chunk_id):
        asked.append(chunk_id)

    monkeypatch.setattr(scripted.knowledge, "passage", passage)
    assert client.get(f"/v1/passages/{urllib.parse.quote(odd, safe='')}").status_code == 404
    assert asked == [odd]
