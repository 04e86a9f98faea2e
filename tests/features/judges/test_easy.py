import pytest
from tests.support.plain_rows import judgement_row

from ragstone.features.judges._easy import easy_rows, is_met
from ragstone.kernel.judging import load_judge


def judgement(score, status="scored"):
    return judgement_row(status=status, score=score)


@pytest.mark.parametrize(
    ("expected", "score", "met"),
    [
        ("high", 1.6, True),
        ("high", 1.5, False),  # the middle of 0 to 3 is neither
        ("low", 1.5, False),
        ("low", 0, True),
        ("high", 0, False),
        ("low", 3, False),
    ],
)
def test_high_and_low_are_the_halves_of_the_scale(expected, score, met):
    assert is_met(expected, judgement(score), (0, 3)) is met


def test_a_row_that_is_not_scored_is_not_as_expected():
    assert not is_met("low", judgement(None, "unparsable"), (0, 1))


def test_easy_rows_are_for_metrics_that_they_are_known_of():
    assert [name for name, _, _ in easy_rows(load_judge("correctness"))] == [
        "right",
        "wrong",
        "refusing",
        "empty",
    ]
    assert [name for name, _, _ in easy_rows(load_judge("rubric@scale=0-10"))] == [
        "right",
        "wrong",
        "refusing",
        "empty",
    ]
    for name in ("prompt_clarity", "question_type", "pairwise", "similarity"):
        assert easy_rows(load_judge(name)) == []
