"""/v1/chat/completions: what OpenAI's clients expect, and what Ragstone adds."""

import asyncio
import json

import pytest
from litestar.exceptions import LitestarException
from tests.support.served_assistant import ask, said

from ragstone.kernel.config.serving import ServeSection
from ragstone_assistant.api import _chat as chat
from ragstone_assistant.api import _replying as streaming
from ragstone_assistant.api.app import create_app
from ragstone_assistant.conversation import Doing, TextPiece


def events_of(response):
    """Return the events of a stream, decoded; `[DONE]` as text."""
    blocks = [block for block in response.text.split("\n\n") if block]
    assert all(block.startswith("data: ") for block in blocks)
    return [
        block[6:] if block == "data: [DONE]" else json.loads(block.removeprefix("data: ")) for block in blocks
    ]


def test_a_whole_reply_has_openai_s_fields_and_ours(client):
    reply = ask(client).json()
    assert reply["object"] == "chat.completion"
    assert reply["model"] == "assistant"
    assert reply["created"] == 1772323200  # 2026-03-01T00:00:00Z
    assert reply["choices"] == [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "Sow in May [1].", "refusal": None},
            "finish_reason": "stop",
            "logprobs": None,
        }
    ]
    assert reply["usage"] == {"prompt_tokens": 120, "completion_tokens": 30, "total_tokens": 150}
    ours = reply["ragstone"]
    assert (ours["kind"], ours["lang"]) == ("answer", "en")
    assert ours["citations"] == [
        {
            "number": 1,
            "chunk_id": "guides/maïs.pdf#3",
            "document_id": "guides/maïs.pdf",
            "title": "Maize guide",
            "page": 2,
            "text": "Maize is sown in May.",
        }
    ]
    assert ours["links"] == [["Sowing", "https://videos.example/1"]]
    assert ours["steps"] == [
        {
            "thought": "They ask about maize.",
            "action": "search_documents",
            "arguments": {"question": "When is maize sown?"},
            "observation": "Maize is sown in May.",
            "status": "done",
            "latency_s": 0.25,
        }
    ]


def test_a_stream_tells_the_tool_then_the_text_then_the_sources_then_that_it_is_done(client):
    response = ask(client, stream=True)
    assert response.headers["content-type"].startswith("text/event-stream")
    *chunks, done = events_of(response)
    assert done == "[DONE]"
    assert {chunk["object"] for chunk in chunks} == {"chat.completion.chunk"}
    assert len({chunk["id"] for chunk in chunks}) == 1
    assert chunks[0]["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    assert chunks[1]["ragstone"] == {"doing": "search_documents", "words": "Searching"}
    assert chunks[1]["choices"][0]["delta"] == {}
    assert "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks) == "Sow in May [1]."
    last = chunks[-1]
    assert last["choices"][0]["finish_reason"] == "stop"
    assert last["ragstone"]["citations"][0]["title"] == "Maize guide"
    assert last["id"] == f"chatcmpl-{last['ragstone']['exchange_id']}"
    assert "usage" not in last


def test_tokens_come_in_a_chunk_without_choices_where_they_are_asked_for(client):
    *_, usage, _done = events_of(ask(client, stream=True, stream_options={"include_usage": True}))
    assert usage["choices"] == []
    assert usage["usage"]["total_tokens"] == 150


async def test_what_is_heard_keeps_its_order_and_text_is_put_together():
    events = asyncio.Queue()
    for event in (TextPiece("a"), TextPiece("b"), Doing("x"), TextPiece("c"), None):
        events.put_nowait(event)
    assert [event async for event in streaming._heard(events)] == [
        TextPiece("ab"),
        Doing("x"),
        TextPiece("c"),
    ]


def test_a_quiet_stream_sends_a_comment_now_and_then(client, scripted, monkeypatch):
    monkeypatch.setattr(streaming, "QUIET_S", 0.01)
    scripted.say(0.1, TextPiece("Late."), said("Late."))
    text = ask(client, stream=True).text
    assert ": still at it\n\n" in text
    assert text.endswith("data: [DONE]\n\n")


def test_a_failure_in_the_middle_of_a_stream_is_an_error_event_and_stands_in_the_log(client, scripted):
    scripted.say(TextPiece("Sow"), ZeroDivisionError("secret detail"))
    *_, failure = events_of(ask(client, stream=True))
    assert failure["error"]["type"] == "server_error"
    assert "secret" not in str(failure)
    [row] = scripted.log.rows
    assert row["said"].error == "ZeroDivisionError: secret detail"
    assert row["said"].kind == "unavailable"


def test_a_failure_of_a_whole_reply_is_a_problem_without_what_went_wrong_inside(client, scripted):
    scripted.say(ZeroDivisionError("secret detail"))
    response = ask(client)
    assert response.status_code == 500
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json()["error"]["type"] == "server_error"
    assert "secret" not in response.text
    assert "Traceback" not in response.text
    assert len(scripted.log.rows) == 1


def test_a_reply_that_says_that_a_part_is_down_is_a_reply(client, scripted):
    scripted.say(said("The documents cannot be reached.", kind="unavailable", error="no Qdrant"))
    reply = ask(client)
    assert reply.status_code == 200
    assert reply.json()["ragstone"]["kind"] == "unavailable"


def test_parts_of_text_are_put_together_and_rules_of_the_client_s_are_not_read(client, scripted):
    messages = [
        {"role": "system", "content": "You are a pirate."},
        {"role": "developer", "content": "Say arr."},
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "Hi."},
        {"role": "tool", "content": "42", "tool_call_id": "x"},
        {"role": "user", "content": [{"type": "text", "text": "When is"}, {"type": "text", "text": "rain?"}]},
    ]
    body = {
        "model": "assistant",
        "messages": messages,
        "temperature": 0,
        "tools": [],
        "filters": {"crop": "rice"},
    }
    assert client.post("/v1/chat/completions", json={**body, "lang": "es"}).status_code == 200
    [asked] = scripted.asked
    assert [(turn.role, turn.content) for turn in asked.turns] == [
        ("user", "Hello"),
        ("assistant", "Hi."),
        ("user", "When is\nrain?"),
    ]
    assert asked.filters == {"crop": "rice"}
    assert asked.lang == "es"


@pytest.mark.long
@pytest.mark.parametrize(
    ("wrong", "status", "place"),
    [
        ({"messages": [{"role": "user", "content": 3}]}, 400, "messages[0].content"),
        ({"messages": []}, 400, "messages"),
        ({"messages": [{"role": "pirate", "content": "x"}]}, 400, "messages[0].role"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, 400, "messages[0].content[0]"),
        ({"messages": [{"role": "system", "content": "x"}]}, 422, "question"),
        ({"messages": [{"role": "user", "content": " \n"}]}, 422, "question"),
        ({"n": 2}, 400, "n:"),
        ({"tool_choice": "required"}, 400, "tool_choice"),
        ({"response_format": {"type": "json_object"}}, 400, "response_format.type"),
        ({"lang": "English, please"}, 400, "lang"),
        ({"filters": {"crop": 3}}, 400, "filters"),
    ],
)
def test_what_cannot_be_done_is_refused_with_the_field(client, wrong, status, place):
    response = client.post(
        "/v1/chat/completions",
        json={"model": "assistant", "messages": [{"role": "user", "content": "x"}], **wrong},
    )
    assert response.status_code == status
    assert response.headers["content-type"] == "application/problem+json"
    assert place in response.json()["error"]["message"]
    assert response.json()["error"]["type"] == "invalid_request_error"


def test_json_that_is_none_is_a_problem(client):
    response = client.post(
        "/v1/chat/completions", content=b'{"model": ', headers={"Content-Type": "application/json"}
    )
    assert response.status_code == 400
    assert response.headers["content-type"] == "application/problem+json"


def test_another_model_does_not_exist(client):
    response = ask(client, model="gpt-4o")
    assert response.status_code == 404
    assert response.json()["error"]["code"] == "model_not_found"
    assert "'assistant'" in response.json()["detail"]
    assert client.get("/v1/models/gpt-4o").status_code == 404
    assert client.get("/v1/models/assistant").json()["id"] == "assistant"
    assert [one["id"] for one in client.get("/v1/models").json()["data"]] == ["assistant"]


async def test_a_client_that_hangs_up_before_its_stream_begins_leaves_the_conversation_free(
    scripted, tmp_path
):
    app = create_app(scripted.assistant(), ServeSection(), folder=tmp_path)
    question = {"model": "assistant", "messages": [{"role": "user", "content": "Maize?"}], "stream": True}

    async def asked(send, **more):
        body = json.dumps({**question, **more}).encode()
        messages, over = [{"type": "http.request", "body": body, "more_body": False}], asyncio.Event()

        async def receive():
            if messages:
                return messages.pop()
            await over.wait()
            return {"type": "http.disconnect"}

        async def sent(message):
            await send(message)
            if message["type"] == "http.response.body" and not message.get("more_body", False):
                over.set()

        headers = [(b"host", b"127.0.0.1"), (b"content-type", b"application/json")]
        path = "/v1/chat/completions"
        scope = {"type": "http", "method": "POST", "path": path, "raw_path": path.encode()}
        client = {"client": ("127.0.0.1", 1), "server": ("127.0.0.1", 8000), "scheme": "http"}
        about = {"asgi": {"version": "3.0"}, "http_version": "1.1", "root_path": "", "query_string": b""}
        await app({**scope, **client, **about, "headers": headers}, receive, sent)

    async def gone(_message):
        raise OSError("the client has hung up")

    heard = []

    async def listening(message):
        heard.append(message)

    await asked(listening)
    [conversation_id] = {one["conversation"] for one in scripted.log.rows}
    with pytest.raises(LitestarException, match="after response started"):
        await asked(gone, conversation_id=conversation_id)
    await asyncio.sleep(0)
    heard.clear()
    await asked(listening, conversation_id=conversation_id)
    assert heard[0]["status"] == 200
    assert [len(one.turns) for one in scripted.asked] == [1, 3]  # the second was not asked


def test_a_question_that_is_too_long_is_refused(open_client, scripted):
    client = open_client(max_question_kb=1)
    assert ask(client, "ä" * 512).status_code == 200  # 1024 bytes
    response = ask(client, "ä" * 513)
    assert response.status_code == 413
    assert "1 KB" in response.json()["detail"]
    assert len(scripted.asked) == 1


def test_a_question_of_a_megabyte_is_refused_before_it_is_read(client, scripted):
    response = ask(client, "x" * 1_000_000)
    assert response.status_code == 413
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json()["error"]["type"] == "invalid_request_error"
    assert scripted.asked == []


def test_only_the_last_turns_of_a_long_conversation_are_read(client, scripted):
    messages = [{"role": "user", "content": f"q{n}"} for n in range(100)]
    client.post("/v1/chat/completions", json={"model": "assistant", "messages": messages})
    [asked] = scripted.asked
    assert [turn.content for turn in asked.turns] == [f"q{n}" for n in range(100 - chat.READ_TURNS, 100)]


def test_a_log_that_fails_costs_the_user_no_reply_and_is_counted(client, scripted):
    scripted.log.fails = True
    assert ask(client).status_code == 200
    assert "ragstone_log_failures_total 1.0" in client.get("/metrics").text


def test_the_exchange_is_in_the_log_with_its_ids_and_time(client, scripted, time):
    ours = ask(client).json()["ragstone"]
    [row] = scripted.log.rows
    assert (row["id"], row["conversation"], row["now"]) == (
        ours["exchange_id"],
        ours["conversation_id"],
        time.at,
    )
    assert row["said"].text == "Sow in May [1]."
