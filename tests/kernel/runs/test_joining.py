import base64
import gzip
import json
import random
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.support.tiny_run import JUDGEMENTS, WriteRun, judgement, summary_of

from ragstone.kernel.records import Answer, Chunk, Context, Question, Ranking, RankingItem, Step
from ragstone.kernel.runs.joining import JoinedBlocks, embed_rows
from ragstone.kernel.runs.run import Run, read_run


def lines(blocks: JoinedBlocks) -> list[dict[str, Any]]:
    return list(json.loads(blocks.index)["lines"])


def details(blocks: JoinedBlocks) -> list[dict[str, Any]]:
    return [row for block in blocks.details for row in json.loads(block)]


def passages(blocks: JoinedBlocks) -> list[dict[str, Any]]:
    return [row for block in blocks.passages for row in json.loads(block)]


@pytest.fixture
def run(write_run: WriteRun) -> Run:
    return read_run(write_run())


def a_run(**parts: Any) -> Run:  # noqa: ANN401
    """Return a run of one question, q, that one document, d, answers."""
    rows = [judgement("q", "correctness", 1)]
    empty: dict[str, Any] = {
        "manifest": None,
        "rankings": {},
        "answers": {},
        "chunks": {},
        "titles": {},
        "evidence": {},
    }
    questions = {"q": Question(id="q", question="?", document_ids=["d"])}
    given = {"summary": summary_of(rows), "questions": questions, "judgements": {"q": rows}}
    return Run(**{**empty, **given, **parts})


def given(*documents: str | None) -> Answer:
    contexts = [Context(text=f"text of {name}", document_id=name) for name in documents]
    return Answer(question_id="q", answer="!", contexts=contexts)


def test_cells_stand_in_the_order_of_the_judges(run: Run) -> None:
    index = json.loads(embed_rows(run).index)
    assert [column["judge"] for column in index["columns"]] == ["correctness", "faithfulness", "containment"]
    assert [line["cells"] for line in index["lines"]] == [
        [1.0, 0.5, 1.0],
        [0.0, "unparsable", 1.0],
        ["not_applicable", "timeout", "not_applicable"],
        ["app_error", "app_error", "app_error"],
    ]


def test_question_that_no_judge_saw_is_listed_without_a_score() -> None:
    questions = {name: Question(id=name, question="?") for name in ("q", "r")}
    assert lines(embed_rows(a_run(questions=questions)))[1] == {"id": "r", "cells": [None], "question": "?"}


def test_line_holds_the_tags_and_the_language_of_its_question() -> None:
    question = Question(id="q", question="?", lang="hi", tags={"crop": "rice"})
    [line] = lines(embed_rows(a_run(questions={"q": question})))
    assert (line["lang"], line["tags"]) == ("hi", {"crop": "rice"})


def test_line_shows_the_start_of_the_answer_or_why_there_is_none(run: Run, says) -> None:
    says([line["preview"] for line in lines(embed_rows(run))])
    long = Answer(question_id="q", answer=" word\n" * 100)
    assert lines(embed_rows(a_run(answers={"q": [long]})))[0]["preview"] == "word " * 31 + "word…"


def test_found_is_the_rank_of_the_first_relevant_context(run: Run) -> None:
    # q1: wheat first. q2: maize second. q3: no answer exists, so nothing is relevant. q4: nothing was given.
    assert [line.get("found") for line in lines(embed_rows(run))] == [1, 2, None, 0]


@pytest.mark.parametrize(
    ("answers", "found"),
    [
        ([given("a", "d")], 2),
        ([given("a", "b")], 0),
        ([given()], 0),
        ([given("a", None)], None),  # the nameless context may be d
        ([given(None, "d")], 2),
        ([Answer(question_id="q", answer="!")], 3),  # no contexts known: the ranking tells
        ([given("d"), given("a", "d")], 2),  # of several systems, the one that came off worst
        ([given("d"), given("a")], 0),
    ],
)
def test_found_by_hand(answers: list[Answer], found: int | None) -> None:
    items = [
        RankingItem(document_id=name, score=0) for name in ("a", "a", "b", "d")
    ]  # d is the third document
    rankings = {"q": [Ranking(question_id="q", retriever="bm25", items=items)]}
    assert lines(embed_rows(a_run(answers={"q": answers}, rankings=rankings)))[0].get("found") == found


def test_context_that_names_only_its_chunk_is_led_to_the_document() -> None:
    chunk = Chunk(id="d#0", document_id="d", text="abc", start=0, end=3)
    answer = Answer(question_id="q", answer="!", contexts=[Context(text="abc", id="d#0")])
    blocks = embed_rows(a_run(answers={"q": [answer]}, chunks={"d#0": chunk}))
    assert passages(blocks) == [{"text": "abc", "document": "d", "chunk": "d#0"}]
    assert details(blocks)[0]["answers"][0]["contexts"] == [[0, None, True]]


def test_steps_of_an_agent_are_shown_the_first_hundred_and_how_many_there_were() -> None:
    first = Step(tool="weather", arguments={"place": "Molo", "days": [1, 2]}, result="r" * 5000, seconds=0.5)
    answers = [
        Answer(question_id="q", answer="!", steps=[first, *[Step(tool="now", error="no clock")] * 119]),
        Answer(question_id="q", answer="!", system="idle", steps=[]),
        Answer(question_id="q", answer="!", system="unknown"),
    ]
    agent, idle, unknown = details(embed_rows(a_run(answers={"q": answers})))[0]["answers"]
    shown = {"tool": "weather", "arguments": "place: Molo, days: [1,2]", "result": "r" * 4000 + "…"}
    assert agent["steps"][:2] == [shown | {"seconds": 0.5}, {"tool": "now", "error": "no clock"}]
    assert (len(agent["steps"]), agent["n_steps"]) == (100, 120)
    assert (idle["steps"], "steps" in unknown) == ([], False)


def test_passage_is_kept_once_and_a_ranking_without_text_shares_it() -> None:
    item = RankingItem(document_id="d", chunk_id="d#0", score=7)
    ranking = Ranking(question_id="q", retriever="bm25", items=[item])
    context = Context(text="abc", id="d#0", document_id="d", score=7)
    answers = [Answer(question_id="q", answer="!", system=name, contexts=[context]) for name in "ab"]
    blocks = embed_rows(a_run(answers={"q": answers}, rankings={"q": [ranking]}, titles={"d": "Title"}))
    assert passages(blocks) == [{"text": "abc", "document": "d", "chunk": "d#0", "title": "Title"}]
    assert details(blocks)[0]["rankings"][0]["places"] == [[0, 7.0, True]]


def test_ten_places_of_a_ranking_are_shown_and_the_rank_beyond_them_is_told() -> None:
    items = [RankingItem(document_id=f"x{place}", score=0) for place in range(20)]
    items.append(RankingItem(document_id="d", score=0))
    ranking = Ranking(question_id="q", retriever="bm25", items=items)
    shown = details(embed_rows(a_run(rankings={"q": [ranking]})))[0]["rankings"][0]
    assert (len(shown["places"]), shown["n"], shown["first_relevant"]) == (10, 21, 21)


def test_evidence_is_cut_out_of_its_document(run: Run) -> None:
    assert details(embed_rows(run))[0]["evidence"] == [["wheat", "Rust is treated with fungicide."]]


def noise(n: int) -> str:
    """Return n characters that compress to little less than 3/4 of their number in base64."""
    return "".join(random.Random(n).choices("0123456789abcdef", k=n))


def test_passages_are_cut_before_reasons_and_both_only_when_they_must() -> None:
    context = Context(text=noise(30_000), document_id="d")
    rows = [judgement("q", "correctness", 1, rationale=noise(3_000))]
    run = a_run(
        answers={"q": [Answer(question_id="q", answer="!", contexts=[context])]}, judgements={"q": rows}
    )
    limits = (80_000, 30_000, 8_000, 2_000)
    sizes = {limit: embed_rows(run, max_bytes=limit) for limit in limits}
    cuts = {limit: (blocks.packed, blocks.passage_cut, blocks.text_cut) for limit, blocks in sizes.items()}
    # 33,000 characters are less than half of the room: plain. Packed, they are about 25,000: whole. Then
    # 4,000 of the passage (about 3,000) beside the reasons (about 2,300); then 1,000 of the reasons.
    assert cuts[80_000] == (False, None, None)
    assert cuts[30_000] == (True, None, None)
    assert cuts[8_000] == (True, 4000, None)
    assert cuts[2_000][2] == 1000
    for limit, blocks in sizes.items():
        assert sum(map(len, (blocks.index, *blocks.details, *blocks.passages))) <= limit
    [passage] = json.loads(gzip.decompress(base64.b64decode(sizes[8_000].passages[0])))
    assert passage["text"] == noise(30_000)[:4_000] + "…"


def test_rows_of_the_same_question_are_joined_across_blocks(write_run: WriteRun, tmp_path: Path) -> None:
    ids = [f"q{number}" for number in range(450)]
    rows = [judgement(name, "correctness", 1, rationale=f"reason {name}") for name in ids]
    nothing: dict[str, Any] = dict.fromkeys(("documents", "questions", "rankings", "answers"))
    blocks = embed_rows(read_run(write_run(judgements=rows, summary=summary_of(rows), **nothing)))
    assert [len(json.loads(block)) for block in blocks.details] == [200, 200, 50]
    assert [row["judgements"][0]["rationale"] for row in details(blocks)] == [
        f"reason {name}" for name in ids
    ]


def test_blocks_are_the_same_each_time(run: Run) -> None:
    assert msgspec.structs.astuple(embed_rows(run)) == msgspec.structs.astuple(embed_rows(run))
    assert len(JUDGEMENTS) == sum(len(row["judgements"]) for row in details(embed_rows(run)))
