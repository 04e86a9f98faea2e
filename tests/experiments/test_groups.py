from tests.report.conftest import judgement

from ragstone.experiments.breakdown import means_by_tag
from ragstone.records import Answer, Judgement, Question


def asked(n: int, **fields: object) -> list[Question]:
    return [Question(id=f"q{at}", question="?", **fields) for at in range(n)]  # type: ignore[arg-type]


def judged(n: int) -> list[Judgement]:
    return [judgement(f"q{at}", "correctness", at % 2) for at in range(n)]


def tagged(*crops: str) -> list[Question]:
    return [Question(id=f"q{at}", question="?", tags={"crop": crop}) for at, crop in enumerate(crops)]


def test_each_value_has_its_mean_and_small_values_are_counted_together() -> None:
    questions = tagged(*"aaaaa", *"bbbbb", "c", "d")  # a: q0 to q4, of which q1 and q3 are right
    [found] = means_by_tag(judged(12), questions)
    assert found.by == "crop"
    assert list(found.groups) == ["a", "b"]
    [mean] = found.groups["a"]
    assert mean.estimate
    assert (mean.estimate.value, mean.n_rows) == (0.4, 5)
    assert (found.n_small, found.n_small_rows) == (2, 2)


def test_languages_stand_first_and_only_the_judges_that_ask_a_model_are_shown() -> None:
    questions = [
        Question(id=f"q{at}", question="?", lang="en" if at < 5 else "sw", tags={"a": "xy"[at % 2]})
        for at in range(10)
    ]
    rows = [*judged(10), *(judgement(f"q{at}", "containment", 1) for at in range(10))]
    found = means_by_tag(rows, questions)
    assert [one.by for one in found] == ["language", "a"]
    assert [row.judge for row in found[0].groups["en"]] == ["correctness"]
    assert [row.judge for row in means_by_tag(rows[10:], questions)[0].groups["en"]] == ["containment"]


def test_tags_of_answers_count_where_questions_have_none() -> None:
    answers = [Answer(question_id=f"q{at}", answer="!", tags={"crop": "ab"[at // 5]}) for at in range(10)]
    assert list(means_by_tag(judged(10), [], answers)[0].groups) == ["a", "b"]


def test_a_tag_that_groups_nothing_is_left_out() -> None:
    same = asked(10, tags={"source": "one"})
    each = [Question(id=f"q{at}", question="?", tags={"name": f"n{at}"}) for at in range(200)]
    assert means_by_tag(judged(10), same) == []
    assert means_by_tag(judged(200), each) == []
    assert means_by_tag(judged(4), tagged(*"aabb")) == []  # both values are too small


def test_a_row_without_a_score_keeps_its_status_in_the_group() -> None:
    rows = [*judged(9), judgement("q9", "correctness", None, status="timeout")]
    [found] = means_by_tag(rows, tagged(*"aaaaa", *"bbbbb"))
    assert found.groups["b"][0].statuses == {"scored": 4, "timeout": 1}
