import msgspec
import pytest
from hypothesis import given
from hypothesis.strategies import floats, integers, lists
from tests.support.tiny_run import judgement

from ragstone.features.run._breakdown import distributions, found_and_right, means_by_tag, rank_systems
from ragstone.kernel.judging import summarise
from ragstone.kernel.records import Answer, Context, Judgement, Question, name_repeat
from ragstone.kernel.runs.breakdown import Bin


def asked(n: int, **fields: object) -> list[Question]:
    return [Question(id=f"q{at}", question="?", **fields) for at in range(n)]  # type: ignore[arg-type]


def judged(n: int) -> list[Judgement]:
    return [judgement(f"q{at}", "correctness", at % 2) for at in range(n)]


def tagged(*crops: str) -> list[Question]:
    return [Question(id=f"q{at}", question="?", tags={"crop": crop}) for at, crop in enumerate(crops)]


def test_each_value_has_its_mean_and_small_values_are_counted_together():
    questions = tagged(*"aaaaa", *"bbbbb", "c", "d")  # a: q0 to q4, of which q1 and q3 are right
    [found] = means_by_tag(judged(12), questions)
    assert found.by == "crop"
    assert list(found.groups) == ["a", "b"]
    [mean] = found.groups["a"]
    assert mean.estimate
    assert (mean.estimate.value, mean.n_rows) == (0.4, 5)
    assert (found.n_small, found.n_small_rows) == (2, 2)


def test_languages_stand_first_and_only_the_judges_that_ask_a_model_are_shown():
    questions = [
        Question(id=f"q{at}", question="?", lang="en" if at < 5 else "sw", tags={"a": "xy"[at % 2]})
        for at in range(10)
    ]
    rows = [*judged(10), *(judgement(f"q{at}", "containment", 1) for at in range(10))]
    found = means_by_tag(rows, questions)
    assert [one.by for one in found] == ["language", "a"]
    assert [row.judge for row in found[0].groups["en"]] == ["correctness"]
    assert [row.judge for row in means_by_tag(rows[10:], questions)[0].groups["en"]] == ["containment"]


def test_tags_of_answers_count_where_questions_have_none():
    answers = [Answer(question_id=f"q{at}", answer="!", tags={"crop": "ab"[at // 5]}) for at in range(10)]
    assert list(means_by_tag(judged(10), [], answers)[0].groups) == ["a", "b"]


def test_a_tag_that_groups_nothing_is_left_out():
    same = asked(10, tags={"source": "one"})
    each = [Question(id=f"q{at}", question="?", tags={"name": f"n{at}"}) for at in range(200)]
    assert means_by_tag(judged(10), same) == []
    assert means_by_tag(judged(200), each) == []
    assert means_by_tag(judged(4), tagged(*"aabb")) == []  # both values are too small


def test_a_row_without_a_score_keeps_its_status_in_the_group():
    rows = [*judged(9), judgement("q9", "correctness", None, status="timeout")]
    [found] = means_by_tag(rows, tagged(*"aaaaa", *"bbbbb"))
    assert found.groups["b"][0].statuses == {"scored": 4, "timeout": 1}


def test_whole_scores_of_a_short_scale_are_counted_one_by_one():
    rows = [judgement(f"q{n}", "grade", score, scale=(1, 3)) for n, score in enumerate((1, 3, 3))]
    [found] = distributions(rows)
    assert found.bins == [Bin(low=1, high=1, n=1), Bin(low=2, high=2, n=0), Bin(low=3, high=3, n=2)]


def test_other_scores_fall_into_ten_bins_of_equal_width():
    rows = [judgement(f"q{n}", "share", score) for n, score in enumerate((0.0, 0.05, 0.5, 0.99, 1.0))]
    [found] = distributions(rows)
    # 0 and 0.05 -> [0, 0.1); 0.5 -> [0.5, 0.6); 0.99 and 1 -> the last, which holds its end
    assert [one.n for one in found.bins] == [2, 0, 0, 0, 0, 1, 0, 0, 0, 2]


def test_rows_without_a_score_or_a_scale_are_not_counted():
    rows = [judgement("q1", "a", None, status="timeout"), judgement("q1", "b", 12, scale=None)]
    assert distributions(rows) == []


@given(lists(floats(0, 1), min_size=1), integers(1, 30))
def test_no_score_is_lost(scores, width):
    rows = [judgement(f"q{n}", "a", score * width, scale=(0, width)) for n, score in enumerate(scores)]
    assert sum(one.n for one in distributions(rows)[0].bins) == len(scores)


def scored(system: str, scores: dict[str, float | None]) -> list[Judgement]:
    return [
        judgement(name, "correctness", score, system=system, status="timeout" if score is None else "scored")
        for name, score in scores.items()
    ]


def test_systems_stand_in_the_order_of_their_means_on_common_questions():
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


def test_a_small_difference_cannot_be_told():
    rows = scored("a", {"q1": 1, "q2": 1, "q3": 0}) + scored("b", {"q1": 1, "q2": 0, "q3": 0})
    board = rank_systems(summarise(rows)[0], rows)
    assert board
    assert [row.verdict for row in board.standings] == ["best", "not distinguishable"]


def test_questions_of_one_document_are_not_independent():
    # Ten questions of one document are one observation: no test can tell.
    rows = scored("a", {f"q{n}": 1 for n in range(10)}) + scored("b", {f"q{n}": 0 for n in range(10)})
    clusters = {f"q{n}": "d" for n in range(10)}
    board = rank_systems(summarise(rows)[0], rows, clusters=clusters)
    assert board
    assert board.standings[1].verdict == "not distinguishable"


def test_one_system_or_no_common_question_is_no_leaderboard():
    rows = scored("a", {"q1": 1})
    assert rank_systems(summarise(rows)[0], rows) is None
    rows += scored("b", {"q2": 1})
    assert rank_systems(summarise(rows)[0], rows) is None


def again(rows: list[Judgement], number: int, score: float | None = None) -> list[Judgement]:
    """Return the judgements of a further answer, all with this score where one is given."""
    return [
        msgspec.structs.replace(
            row, system=name_repeat(row.system, number), score=row.score if score is None else score
        )
        for row in rows
    ]


def test_repeats_are_ranked_as_one_system_by_their_means():
    other = [msgspec.structs.replace(row, system="other") for row in judged(10)]
    rows = [*judged(10), *again(judged(10), 2, 1.0), *other]
    lead = summarise(rows)[0]
    board = rank_systems(lead, rows)
    assert board
    assert [row.system for row in board.standings] == [lead.system, "other"]
    # Half are right the first time, all the second: 0.75 of 10 questions.
    assert board.standings[0].estimate.value == pytest.approx(0.75)
    assert (board.n_questions, board.family) == (10, 1)
    assert rank_systems(lead, [*judged(10), *again(judged(10), 2)]) is None  # no rival of itself


def test_scores_of_repeats_lie_in_one_distribution():
    [found] = distributions([*judged(10), *again(judged(10), 2), *again(judged(10), 3, 1.0)])
    assert (found.bins[0].n, found.bins[-1].n) == (10, 20)


def test_every_repeat_is_found_or_missed_and_right_or_wrong():
    questions = {"q0": Question(id="q0", question="?", document_ids=["d"])}
    first = judgement("q0", "correctness", 1)
    rows = [first, *again([first], 2, 0.0)]
    answers = [
        Answer(
            question_id="q0",
            answer="!",
            system=row.system,
            contexts=[Context(text="t", document_id="d" if number == 1 else "e")],
        )
        for number, row in enumerate(rows, 1)
    ]
    table = found_and_right(summarise(rows)[0], answers, rows, questions)
    assert table
    assert (table.found_right, table.found_wrong, table.missed_right, table.missed_wrong) == (1, 0, 0, 1)


def test_an_answer_is_right_by_a_low_score_where_the_lowest_is_best():
    questions = {"q0": Question(id="q0", question="?", document_ids=["d"])}
    rows = [judgement("q0", "toxicity", 0.0)]
    answers = [
        Answer(
            question_id="q0", answer="!", system=rows[0].system, contexts=[Context(text="t", document_id="d")]
        )
    ]
    table = found_and_right(summarise(rows)[0], answers, rows, questions)
    assert table
    assert (table.found_right, table.found_wrong) == (1, 0)


def test_where_the_lowest_score_is_best_the_system_with_the_lowest_mean_comes_first():
    rows = [
        judgement(f"q{at}", "toxicity", float(at < n), system=system)
        for system, n in (("rude", 18), ("kind", 2))
        for at in range(20)
    ]
    board = rank_systems(summarise(rows)[0], rows)
    assert board
    assert [(row.system, row.verdict) for row in board.standings] == [("kind", "best"), ("rude", "worse")]
