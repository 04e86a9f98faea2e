"""Blame beside one language model's labels of the component that failed; all: benchmarks/blame_people.py."""

from hashlib import sha256

import pytest
from benchmarks.blame_people import blame_rows, by_documents, labelled_rows


@pytest.fixture(scope="module")
def rows():
    return labelled_rows()


def test_every_wrong_answer_has_a_stage_and_halves_are_by_the_digest_of_the_question(rows):
    assert len(rows) >= 150
    for row in rows:
        half = "development" if int(sha256(row.id.encode()).hexdigest(), 16) % 2 else "held-out"
        assert row.half == half
        for label in row.labels:
            assert label.right or label.stage is not None
    assert sum(len(row.labels) == 2 for row in rows) >= 100


@pytest.mark.long
def test_of_answers_cut_from_small_chunks_blame_finds_the_part_that_is_missing(rows):
    chosen = [row for row in rows if row.system == "extractive, small chunks"]
    blamed = blame_rows(chosen)
    wrong = [row for row in chosen if not row.labels[0].right and row.key in blamed.lost]
    assert len(wrong) >= 30

    def agreement(component):
        return sum(component(row) == row.labels[0].stage for row in wrong) / len(wrong)

    assert agreement(blamed.component) >= 0.85
    assert agreement(by_documents) <= 0.6
