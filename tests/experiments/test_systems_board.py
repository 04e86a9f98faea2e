import pytest
from tests.report.conftest import judgement

from ragstone.experiments.breakdown import rank_systems
from ragstone.judging import summarise
from ragstone.records import Judgement


def scored(system: str, scores: dict[str, float | None]) -> list[Judgement]:
    return [
        judgement(name, "correctness", score, system=system, status="timeout" if score is None else "scored")
        for name, score in scores.items()
    ]


def test_systems_stand_in_the_order_of_their_means_on_common_questions() -> None:
    # Of q0 to q29, "good" has all right, "bad" none; q30 is scored of "good" alone and does not count.
    good = scored("good", {f"q{n}": 1 for n in range(31)})
    bad = scored("bad", {**{f"q{n}": 0 for n in range(30)}, "q30": None})
    rows = bad + good
    board = rank_systems(summarise(rows)[0], rows)
    assert board
    assert [row.system for row in board.standings] == ["good", "bad"]
    assert [row.estimate.value for row in board.standings] == [1.0, 0.0]
    assert (board.n_questions, board.n_left_out, board.family) == (30, 1, 1)
    second = board.standings[1]
    assert second.verdict == "worse"
    assert second.comparison
    assert second.comparison.difference.value == 1.0  # the best minus this one
    assert second.comparison.p == pytest.approx(
        2 * 0.5**30
    )  # McNemar, exact: 30 of 30 discordant pairs one way


def test_a_small_difference_cannot_be_told() -> None:
    rows = scored("a", {"q1": 1, "q2": 1, "q3": 0}) + scored("b", {"q1": 1, "q2": 0, "q3": 0})
    board = rank_systems(summarise(rows)[0], rows)
    assert board
    assert [row.verdict for row in board.standings] == ["best", "not distinguishable"]


def test_questions_of_one_document_are_not_independent() -> None:
    # Ten questions of one document are one observation: no test can tell.
    rows = scored("a", {f"q{n}": 1 for n in range(10)}) + scored("b", {f"q{n}": 0 for n in range(10)})
    clusters = {f"q{n}": "d" for n in range(10)}
    board = rank_systems(summarise(rows)[0], rows, clusters=clusters)
    assert board
    assert board.standings[1].verdict == "not distinguishable"


def test_one_system_or_no_common_question_is_no_leaderboard() -> None:
    rows = scored("a", {"q1": 1})
    assert rank_systems(summarise(rows)[0], rows) is None
    rows += scored("b", {"q2": 1})
    assert rank_systems(summarise(rows)[0], rows) is None
