"""Twelve mistakes of a new user: the first line says what to change, and nobody sees a traceback."""

import json
import socket
from pathlib import Path

import pytest
from tests.support.command import TO_FILE, ragstone
from tests.support.scripts import always, fail

from ragstone.kernel.stages.retrieve import too_few_chunks

# What ragstone may say before: the forecast of what is asked, with its lines set in.
BEFORE = ("Forecast: ", "  ")

ANSWERS = [{"question": f"Who is {n}?", "answer": "Bob", "reference": "Bob"} for n in range(3)]
ASKED = ["judge", "answers.jsonl", "--judge", "relevance", "--model", "openai/fake", *TO_FILE]
PLAIN = ["judge", "FILE", "--judge", "containment", *TO_FILE]
SEARCH = ["retrieve", "--questions", "q.jsonl", "--documents", "d.jsonl", "-k", "50"]


@pytest.fixture
def here(folder, fake_openai):
    """A folder with a sheet, three documents and a question, and the fake endpoint in ragstone.toml."""
    Path("ragstone.toml").write_text(fake_openai.toml())
    lines("answers.jsonl", *ANSWERS)
    lines("d.jsonl", *({"id": f"d{n}", "text": f"Text {n}."} for n in range(3)))
    lines("q.jsonl", {"id": "q", "question": "Text 1?", "document_ids": ["d1"]})
    return fake_openai


def lines(name, *rows):
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))


def plain(file):
    return [file if word == "FILE" else word for word in PLAIN]


def first(*command):
    """Return the exit code and the first line that a user is told."""
    ran = ragstone(*command)
    assert "Traceback" not in ran.err + ran.out
    return ran.code, next(line for line in ran.err.splitlines() if not line.startswith(BEFORE))


def test_a_missing_file(here, says):
    says(first(*plain("answer.jsonl")))
    says(first(*plain("elsewhere.csv")))


def test_a_wrong_column(here, says):
    Path("a.csv").write_text("A,B\nWho?,Bob\n")
    code, line = first(*plain("a.csv"))
    assert code == 2
    says(line)


def test_a_null_answer(here, caplog, says):
    lines("a.jsonl", ANSWERS[0], ANSWERS[1] | {"answer": None}, ANSWERS[2] | {"answer": None})
    assert ragstone(*plain("a.jsonl")).code == 0  # the others are judged
    says(caplog.messages[0])


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (ASKED, "3 judgements failed: {url}: HTTP 500: out of order. "),
        (
            ["answer", "--questions", "q.jsonl", "--model", "openai/fake", "-o", "a.jsonl"],
            "none/strict/fake: 1 of 1 answer failed, and leave nothing to judge. error: {url}: HTTP 500: "
            "out of order. ",
        ),
    ],
)
def test_an_endpoint_that_fails(here, command, told):
    here.script = always(fail(500, "out of order"))
    again = "When that is solved, run the same command again: only they are asked again."
    assert first(*command) == (5, told.format(url=here.base_url) + again)
    here.script = always('{"reason": "so", "verdict": true, "score": 1, "label": "yes"}')
    ran = ragstone(*command)
    assert "not touched" not in ran.err


def test_a_wrong_key(here, monkeypatch, says):
    here.script = always(fail(401, "Incorrect API key provided"))
    says(first(*ASKED))
    other = [word.replace("openai/fake", "openai/gpt-4o-mini") for word in ASKED]
    code, line = first(*other)
    assert code == 2
    says(line)


@pytest.mark.parametrize(
    ("model", "meant"),
    [
        ("gpt-4o-mini", "openai/gpt-4o-mini"),
        ("opnai/gpt-4o-mini", "openai/gpt-4o-mini"),
        ("claude-sonnet-4-5", "anthropic/claude-sonnet-4-5"),
    ],
)
def test_an_unknown_model(here, model, meant, says):
    code, line = first(*[word.replace("openai/fake", model) for word in ASKED])
    assert code == 2
    says(line)
    assert f"Did you mean {meant!r}?" in line
    here.script = always(fail(404, "The model `fake` does not exist"))
    code, line = first(*ASKED)
    assert code == 2
    says(line)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "[judge\njudges = []\n",
            "my.toml: not valid TOML: Expected ']' at the end of a table declaration (at line 1, column 7).",
        ),
        (
            '[judge]\njugdes = ["containment"]\n',
            "my.toml:2: unknown key 'jugdes'. Did you mean 'judges'? All: judges, model, one_call.",
        ),
    ],
)
def test_a_broken_toml(here, text, told):
    Path("my.toml").write_text(text)
    assert first("run", "my.toml") == (2, f"ragstone: {told}")


def test_a_typo_in_a_judge(here, says):
    code, line = first("judge", "answers.jsonl", "--judge", "corectness")
    assert code == 2
    says(line)


def test_a_k_that_is_too_large(here):
    told = "There are only 3 chunks: use a smaller k than 50, or smaller chunks (--size)."
    assert first(*SEARCH) == (0, f"Note: {told}")
    ran = ragstone("answer", *SEARCH[1:], "--system", "extractive", "-o", "a.jsonl")
    assert (ran.code, told in ran.err) == (0, True)


@pytest.mark.parametrize(("n", "verb"), [(1, "is only 1 chunk:"), (2, "are only 2 chunks:")])
def test_a_number_and_its_verb_agree(n, verb):
    assert too_few_chunks(n, 5)[0].startswith(f"There {verb}")


def test_a_bad_encoding(here, caplog, says):
    Path("a.jsonl").write_bytes(
        json.dumps(ANSWERS[0], ensure_ascii=False).replace("Bob", "Zoë").encode("cp1252")
    )
    assert ragstone(*plain("a.jsonl")).code == 0
    says("\n".join({*caplog.messages}))
    for name in ("a.csv", "b.jsonl"):
        Path(name).write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\0\0\0\1\0\x08\x06\0\0\0\\r\xa8f")
        code, line = first(*plain(name))
        assert code == 2
        says(line)


def test_two_rows_with_one_id(here, says):
    lines("q2.jsonl", {"id": "q1", "question": "Who?"}, {"id": "q1", "question": "When?"})
    command = ["answer", "--questions", "q2.jsonl", "--documents", "d.jsonl", "-o", "a.jsonl"]
    code, line = first(*command)
    assert code == 2
    says(line)


def test_a_port_that_is_taken(here, says):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        code, line = first("serve", "--port", port)
        assert code == 2
        says(line.replace(str(port), "PORT"))
