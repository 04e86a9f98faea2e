"""`ragstone judge --each-turn`: every reply of a conversation is judged, and other commands go on with it."""

import json

import pytest
from tests.support.command import ragstone

from ragstone.kernel.records import Answer, Judgement
from ragstone.kernel.tables import read_rows

CANNOT, RIGHT = "I cannot help with that.", "Sow maize in May."


def chat(name, *replies):
    turns = [turn for n, reply in enumerate(replies) for turn in (f"Question {n} of {name}?", reply)]
    roles = ("user", "assistant") * len(replies)
    return {
        "id": name,
        "messages": [{"role": role, "content": turn} for role, turn in zip(roles, turns, strict=True)],
    }


CHATS = [chat("c1", RIGHT, CANNOT, RIGHT), chat("c2", RIGHT, RIGHT), chat("c3", CANNOT, CANNOT), chat("c4")]
CHATS[3]["messages"] = [{"role": "user", "content": "Is anybody there?"}]


@pytest.fixture
def chats(folder):
    """A file of four conversations with seven replies, one without any."""
    return write(folder, "chats.jsonl", CHATS)


def write(folder, name, rows):
    (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder / name


def test_every_reply_is_judged_and_counted_with_its_conversation(folder, chats, says):
    ran = ragstone("judge", chats, "--judge", "no_refusal", "--each-turn", "--json")
    assert ran.code == 0
    [mean] = json.loads(ran.out)["metrics"]
    assert (mean["estimate"]["value"], mean["statuses"]) == (4 / 7, {"scored": 7, "app_error": 1})
    assert (mean["n_documents"], mean["shares"]) == (3, "conversations")
    run = folder / "runs" / "chats-turns"
    rows = [*read_rows(run / "judgements.jsonl", Judgement)]
    assert [row.question_id for row in rows] == ["c1#2", "c1#4", "c1#6", "c2#2", "c2#4", "c3#2", "c3#4", "c4"]
    answers = [*read_rows(run / "answers.jsonl", Answer)]
    assert [len(row.turns) for row in answers] == [2, 4, 6, 2, 4, 2, 4, 1]
    says(ragstone("judge", chats, "--judge", "no_refusal", "--each-turn").out)


def test_the_limit_counts_conversations_and_a_run_may_be_judged_again(folder, chats):
    ran = ragstone("judge", chats, "--judge", "no_refusal", "--each-turn", "--limit", "1", "-o", "out.jsonl")
    assert ran.code == 0
    assert len((folder / "out.jsonl").read_text().splitlines()) == 3
    assert ragstone("judge", chats, "--judge", "no_refusal", "--each-turn").code == 0
    replies = folder / "runs" / "chats-turns" / "answers.jsonl"
    again = ragstone("judge", replies, "--judge", "no_refusal", "--each-turn", "-o", "again.jsonl")
    assert again.code == 0
    first = folder / "runs" / "chats-turns" / "judgements.jsonl"
    # A reply is not taken apart again.
    assert (folder / "again.jsonl").read_bytes() == first.read_bytes()


def test_a_model_is_asked_of_every_reply_and_nothing_is_paid_twice(folder, chats, fake_openai, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", fake_openai.base_url)
    words = ("judge", chats, "--judge", "answered", "--model", "openai/m", "--each-turn")
    assert "7 calls" in ragstone(*words, "--forecast").out
    assert ragstone(*words).code == 0
    before = (folder / "runs" / "chats-turns" / "judgements.jsonl").read_bytes()
    asked = fake_openai.n_requests
    assert asked == 7
    assert ragstone(*words).code == 0
    assert fake_openai.n_requests == asked
    assert (folder / "runs" / "chats-turns" / "judgements.jsonl").read_bytes() == before


def test_replies_are_reported_labelled_compared_and_agreed_on(folder, chats):
    assert ragstone("judge", chats, "--judge", "no_refusal", "--each-turn").code == 0
    run = folder / "runs" / "chats-turns"
    assert ragstone("report", run).code == 0
    assert "Question 2 of c1?" in (run / "report.html").read_text("utf-8")
    assert ragstone("label", run, "-n", 8).code == 0
    assert "Question 2 of c1?" in (folder / "to-label.jsonl").read_text()
    better = write(folder, "better.jsonl", [*CHATS[:2], chat("c3", RIGHT, RIGHT), CHATS[3]])
    assert ragstone("judge", better, "--judge", "no_refusal", "--each-turn").code == 0
    compared = ragstone("compare", run, folder / "runs" / "better-turns", "--json")
    [metric] = json.loads(compared.out)["metrics"]
    # Both replies of c3 changed: one conversation of three, so nothing is shown.
    assert (metric["n"], metric["n_clusters"], metric["n_changed"]) == (7, 3, 2)
    assert metric["verdict"] == "cannot tell"


def test_labels_are_of_replies_or_of_conversations(folder, chats, says):
    labels = [
        {"question_id": name, "score": score}
        for name, score in [("c1#2", 1), ("c1#4", 0), ("c2#2", 1), ("c2#4", 1), ("c3#2", 0), ("c3#4", 1)]
    ]
    write(folder, "labels.jsonl", labels)
    write(folder, "whole.jsonl", [{"question_id": "c1", "score": 1}, {"question_id": "c2", "score": 1}])
    for options in ([], ["--each-turn"]):
        assert ragstone("judge", chats, "--judge", "no_refusal", *options).code == 0
    [card] = json.loads(ragstone("agree", "runs/chats-turns", "labels.jsonl", "--json").out)
    agreement = card["agreement"]["exact agreement"]
    assert (agreement["value"], agreement["n"]) == (5 / 6, 6)
    says("\n".join(card["notes"]))
    [card] = json.loads(ragstone("agree", "runs/chats", "whole.jsonl", "--json").out)
    assert card["n"] == 2
    refused = ragstone("agree", "runs/chats-turns", "whole.jsonl")
    assert refused.code == 2
    says(refused.err)
