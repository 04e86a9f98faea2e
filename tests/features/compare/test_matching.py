"""What may not be compared is refused, and the refusal names what differs."""

import msgspec
import pytest
from tests.support.judged_runs import judged, questions

from ragstone.features.compare.matching import JudgedRun, match
from ragstone.kernel.errors import DataError

FIVE = [1.0] * 5


def run(rows, name="run", **parts) -> JudgedRun:
    return JudgedRun(**({"name": name, "judgements": rows, "judges": {}} | parts))


def refusal(a: JudgedRun, b: JudgedRun, **choices) -> str:
    with pytest.raises(DataError) as told:
        match(a, b, **choices)
    return str(told.value)


def test_questions_of_one_alone_are_counted_and_named(says):
    a, b = run(judged([1.0] * 9), "may"), run(judged({f"q{n}": 1.0 for n in range(4, 11)}), "july")
    said = refusal(a, b)
    says(said)


def test_same_id_with_another_text_or_reference_is_another_question(says):
    asked = questions(5)
    other = [
        msgspec.structs.replace(asked[0], question="Which is 0?"),
        msgspec.structs.replace(asked[1], reference=["number 1", "one"]),
        msgspec.structs.replace(asked[2], question=" What is\n2?"),
        *asked[3:],
    ]
    a, b = run(judged(FIVE), questions=asked), run(judged(FIVE), questions=other)
    said = refusal(a, b)
    says(said)
    assert match(a, b, shared=True).ids == ["q2", "q3", "q4"]


def test_run_that_is_silent_on_texts_is_compared_by_id():
    assert len(match(run(judged(FIVE), questions=questions(5)), run(judged(FIVE))).ids) == 5


def test_no_common_question_cannot_be_shared(says):
    said = refusal(run(judged({"a": 1.0})), run(judged({"b": 1.0})), shared=True)
    says(said)


@pytest.mark.parametrize(
    ("other", "told"),
    [
        ({"version": 2}, "correctness has version 1 in A and 2 in B"),
        ({"model": "openai/b"}, "correctness asked openai/a in A and openai/b in B"),
        ({"scale": (0, 2)}, "correctness scores 0 to 1 in A and 0 to 2 in B"),
        ({"scale": None}, "correctness scores 0 to 1 in A and on no stated scale in B"),
    ],
)
def test_other_judge_is_refused(other, told):
    ours = {"model": "openai/a"}
    a = run(judged(FIVE, "correctness", **ours))
    b = run(judged(FIVE, "correctness", **(ours | other)))
    assert told in refusal(a, b)


def test_all_that_differs_is_told_at_once(says):
    a = run([*judged(FIVE, "one", model="openai/a"), *judged(FIVE, "two", metric="two")])
    b = run([*judged(FIVE, "one", model="openai/b"), *judged(FIVE, "two", metric="two", version=3)])
    said = refusal(a, b)
    says(said)
    assert match(a, run(judged(FIVE, "two", metric="two")), metrics=["two"]).keys


def test_file_of_a_judge_that_was_changed_is_refused_also_of_a_member(says):
    rows = judged(FIVE, "jury")
    a = run(rows, judges={"jury": "1", "member": "1", "unused": "1"})
    for changed in ("jury", "member"):
        b = run(rows, judges={"jury": "1", "member": "1"} | {changed: "2"})
        says(refusal(a, b))


def test_file_of_a_judge_that_is_not_looked_at_may_change():
    rows = [*judged(FIVE, "one"), *judged(FIVE, "two")]
    a, b = (run(rows, judges={"one": "1", "two": digest}) for digest in "12")
    assert match(a, b, metrics=["one"]).keys
    assert "judge two" in refusal(a, b)


def test_judge_that_was_asked_together_with_others_has_its_file():
    rows = judged(FIVE, "one@together")
    assert "judge one " in refusal(run(rows, judges={"one": "1"}), run(rows, judges={"one": "2"}))


def test_no_common_metric_is_refused(says):
    said = refusal(run(judged(FIVE, "one", metric="x")), run(judged(FIVE, "two", metric="y")))
    says(said)


def test_unknown_metric_is_refused_with_the_nearest(says):
    said = refusal(run(judged(FIVE), "may"), run(judged(FIVE)), metrics=["containmant"])
    says(said)


def systems(*names) -> JudgedRun:
    return run([row for name in names for row in judged(FIVE, system=name)])


def test_systems_of_equal_names_are_compared_and_others_told():
    matched = match(systems("x", "y", "old"), systems("y", "x"))
    assert matched.systems == [("x", "x"), ("y", "y")]
    assert matched.only_a == ["system old"]


def test_only_system_of_each_is_compared_whatever_its_name():
    assert match(systems("bm25"), systems("hybrid")).systems == [("bm25", "hybrid")]


def test_systems_without_a_counterpart_are_refused_until_they_are_named(says):
    a, b = systems("x", "y"), systems("z")
    says(refusal(a, b))
    assert match(a, b, systems=("y", None)).systems == [("y", "z")]
    assert match(a, a, systems=("x", "y")).systems == [("x", "y")]
    says(refusal(a, b, systems=("q", None)))


def test_judgement_that_stands_twice_is_refused():
    a = run([*judged(FIVE), *judged([0.0])])
    assert "'q0' twice" in refusal(a, run(judged(FIVE)))


def test_mixture_of_versions_is_refused(says):
    a = run([*judged([1.0]), *judged({"q1": 1.0}, version=2)])
    says(refusal(a, run(judged([1.0, 1.0]))))


def test_nothing_is_no_run(says):
    says(refusal(run([], "may"), run(judged(FIVE))))


def test_mixture_of_scales_is_refused(says):
    rows = [*judged([1.0]), *judged({"q9": 1.0}, scale=(0, 5))]
    says(refusal(run(rows), run(rows)))


@pytest.mark.parametrize("scale", [(0, 1), (5, 0)])
def test_score_off_its_scale_is_refused(scale, says):
    rows = judged([5.0 if scale == (0, 1) else 1.0], scale=scale)
    says(refusal(run(rows), run(rows)))


def test_model_that_judged_one_alone_is_told():
    a = run([*judged(FIVE, model="x/1"), *judged(FIVE, model="x/2")])
    b = run([*judged(FIVE, model="x/2"), *judged(FIVE, model="x/3")])
    matched = match(a, b)
    assert [key[2] for keys in matched.keys.values() for key in keys] == ["x/2"]
    assert (matched.only_a, matched.only_b) == (
        ["containment: correctness by x/1"],
        ["containment: correctness by x/3"],
    )
