"""Decision models, from the command line: judged, learned from, labelled where they are unsure, stacked."""

import json

import numpy as np
import pytest
from tests.support.command import TO_FILE, ragstone
from tests.support.decision_server import miscalibrated

from ragstone.kernel.records import Answer, Judgement, Label
from ragstone.kernel.tables import read_rows, write_rows

JUDGE = ("judge", "answers.jsonl", *TO_FILE, "--model", "systemone/planted")
N = 240


def truth(texts):
    """The chance that an answer is right, as its text has it: `It is right with .73.`"""
    return float(texts["answer"].rpartition(" ")[2])


@pytest.fixture
def decided(tmp_path, decision_server, monkeypatch):
    """A folder of labelled answers, and a decision model that is too sure of itself."""
    draw = np.random.default_rng(5)
    chances = np.round(draw.uniform(0.02, 0.98, N), 3)
    right = draw.uniform(size=N) < chances
    answers = [
        Answer(
            question_id=f"q{n}",
            system="s",
            question=f"What is {n}?",
            reference=f"{n}" if good else "none",
            answer=f"It is {n}, by {chance}",
        )
        for n, (chance, good) in enumerate(zip(chances, right, strict=True))
    ]
    labels = [
        Label(question_id=f"q{n}", system="s", metric="correctness", score=float(score))
        for n, score in enumerate(right)
    ]
    write_rows(tmp_path / "answers.jsonl", answers, Answer)
    write_rows(tmp_path / "labels.jsonl", labels, Label)
    (tmp_path / "ragstone.toml").write_text(decision_server.toml())
    monkeypatch.chdir(tmp_path)

    def believe(texts, question):
        share = miscalibrated(truth(texts))
        others = (1 - share) / (len(question.labels) - 1)
        return [share, *[others] * (len(question.labels) - 1)]

    decision_server.believe = believe
    return tmp_path


def test_several_judges_are_asked_in_one_request_a_row_and_replayed_byte_for_byte(decided, decision_server):
    command = (*JUDGE, "--judge", "relevance", "--judge", "answered", "--limit", 20)
    ran = ragstone(*command, "--json")
    assert ran.code == 0, ran.err
    assert decision_server.n_requests == 20
    assert json.loads(ran.out)["calls"]["made"] == 20
    rows = list(read_rows("judgements.jsonl", Judgement))
    # Under their own names.
    assert {row.judge for row in rows} == {"relevance", "answered"}
    first = (decided / "judgements.jsonl").read_bytes()
    again = ragstone(*command, "--force", "--offline")
    assert again.code == 0, again.err
    assert (decided / "judgements.jsonl").read_bytes() == first
    assert decision_server.n_requests == 20


def test_a_malformed_reply_is_replayed_as_it_was_and_asked_for_again_only_when_it_may_be(
    decided, decision_server
):
    decision_server.spoil = lambda reply: {**reply, "answers": {}}
    command = (*JUDGE, "--judge", "relevance", "--judge", "answered", "--limit", 3)
    ragstone(*command)
    first = (decided / "judgements.jsonl").read_bytes()
    assert {row.status for row in read_rows("judgements.jsonl", Judgement)} == {"unparsable"}
    ragstone(*command, "--force", "--offline")
    assert (decided / "judgements.jsonl").read_bytes() == first
    assert decision_server.n_requests == 3
    decision_server.spoil = lambda reply: reply
    ragstone(*command, "--force")
    assert {row.status for row in read_rows("judgements.jsonl", Judgement)} == {"scored"}
    assert decision_server.n_requests == 6


def test_a_forecast_asks_nobody_and_counts_one_call_a_row(decided, decision_server):
    ran = ragstone(*JUDGE, "--judge", "relevance", "--judge", "answered", "--forecast", "--json")
    assert (ran.code, decision_server.n_requests) == (0, 0), ran.err
    assert json.loads(ran.out)["calls"] == N


def test_a_chat_and_a_judge_of_words_are_refused_before_anything_is_sent(decided, decision_server, says):
    for command in (
        (*JUDGE, "--judge", "relevance", "--judge", "faithfulness"),
        (*JUDGE, "--judge", "relevance@samples=3,temperature=1"),
        (*JUDGE, "--judge", "relevance", "--batch"),
        (
            *("answer", "--questions", "answers.jsonl", "--system", "closed_book"),
            *("-o", "new.jsonl", "--model", "systemone/planted"),
        ),
    ):
        ran = ragstone(*command)
        assert ran.code == 2, ran.out
        says(ran.err.splitlines()[-1])
    assert decision_server.n_requests == 0


@pytest.mark.long
def test_labels_are_drawn_where_the_model_is_unsure(decided):
    ragstone(*JUDGE, "--judge", "relevance")
    ran = ragstone("label", "judgements.jsonl", "--sheet", "answers.jsonl", "--by", "uncertain", "-n", "40")
    assert ran.code == 0, ran.err
    drawn = [json.loads(line) for line in (decided / "to-label.jsonl").read_text().splitlines()]
    scores = {row.question_id: row.score for row in read_rows("judgements.jsonl", Judgement)}
    unsure = [abs(scores[row["question_id"]] - 0.5) for row in drawn]
    assert np.mean(unsure) < 0.7 * np.mean([abs(score - 0.5) for score in scores.values()])


@pytest.mark.long
@pytest.mark.parametrize("ways", [("calibration",), ("stack", "cascade", "examples", "prompt")])
def test_a_decision_model_is_learned_from_like_any_judge(decided, decision_server, ways):
    ran = ragstone(
        *("judges", "learn", "same_answer", "containment"),
        *("--labels", "labels.jsonl", "--answers", "answers.jsonl"),
        *(word for way in ways for word in ("--try", way)),
        *("--model", "systemone/planted", "--json"),
    )
    assert ran.code == 0, ran.err
    candidates = json.loads(ran.out)["candidates"]
    states = {(one["method"], one["state"]) for one in candidates}
    assert states == {(way, "refused" if way == "prompt" else "measured") for way in ways}, candidates


@pytest.mark.long
def test_the_card_of_a_decision_model_has_its_calibration(decided):
    ragstone(*JUDGE, "--judge", "same_answer")
    ran = ragstone("agree", "judgements.jsonl", "labels.jsonl", "--json")
    assert ran.code in (0, 3), ran.err
    assert "calibration" in ran.out
