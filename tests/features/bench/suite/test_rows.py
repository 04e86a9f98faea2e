"""The rows of the touchstone suite that ship."""

from collections import Counter
from importlib import resources
from itertools import groupby

import pytest
from benchmarks import suite as made

from ragstone.features.bench.suite._rows import (
    ROOM,
    labels_of,
    metrics_of,
    rows_for,
    sample_rows,
    suite_rows,
)
from ragstone.kernel.errors import ConfigError


def test_rows_of_a_question_stand_together_and_no_answer_is_there_twice():
    rows = suite_rows()
    groups = [question for question, _ in groupby(rows, key=lambda row: row.question_id)]
    assert len(groups) == len(set(groups))
    assert len({(row.question_id, row.system) for row in rows}) == len(rows)


def test_sources_tell_of_every_kind_how_many_rows_it_has():
    said = (resources.files(ROOM) / "SOURCES.md").read_text(encoding="utf-8")
    counts = Counter(row.kind for row in suite_rows())
    assert counts["saf-en"] == counts["saf-de"] == 50
    for kind in ("evouna", "agxqa", "clapnq", "own", "refusals"):
        assert f"| `{kind}` | {counts[kind]} |" in said
    assert f"{len(suite_rows())} rows" in said


def test_a_changed_row_has_the_label_of_the_row_that_it_was_made_from():
    rows = {(row.question_id, row.system): row for row in suite_rows()}
    changed = [row for row in rows.values() if row.change]
    assert Counter(row.change for row in changed) == {"length": 42, "position": 42, "injection": 42}
    for row in changed:
        before = rows[row.question_id, row.of or ""]
        assert row.labels["correctness"] == before.labels["correctness"]
        if row.change == "injection":
            assert (row.labels["correctness"], row.answer.startswith(before.answer)) == (0, True)
        elif row.change == "position":
            assert sorted(row.answer.split()) == sorted(before.answer.split())


def test_refusals_and_answers_come_in_ten_languages_alike():
    mine = rows_for("answered", suite_rows())
    assert {*Counter((row.lang, row.labels["answered"]) for row in mine).values()} == {4}
    assert len({row.lang for row in mine}) == 10


def test_a_sample_is_the_first_questions_whole_and_like_all_rows():
    some, more = sample_rows(100), sample_rows(300)
    assert 95 <= len(some) <= 100
    assert more[: len(some)] == some
    assert {row.kind for row in some} == {row.kind for row in suite_rows()}
    assert len(sample_rows(None)) == len(sample_rows(len(suite_rows()))) == len(suite_rows())


@pytest.mark.parametrize("n", [1, 19, 611])
def test_a_sample_that_cannot_be_says_what_can(n, says):
    with pytest.raises(ConfigError) as error:
        sample_rows(n)
    says(error.value)


def test_pairs_are_answers_that_people_graded_apart_in_either_order():
    rows = suite_rows()
    labels = labels_of("preference", rows_for("preference", rows))
    assert Counter(label.score for label in labels) == {0.0: 40, 1.0: 40}
    assert {*metrics_of(rows)} == {"correctness", "answered", "faithfulness", "preference"}


@pytest.mark.pack
def test_the_script_makes_these_rows_byte_by_byte(shared_data, tmp_path, monkeypatch):
    monkeypatch.setattr(made, "DATA", shared_data)
    monkeypatch.setattr(made, "ROWS", tmp_path / "rows.jsonl")
    made.main()
    assert (tmp_path / "rows.jsonl").read_bytes() == (resources.files(ROOM) / "rows.jsonl").read_bytes()
