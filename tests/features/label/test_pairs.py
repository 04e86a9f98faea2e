"""Both answers to a question, drawn with a chance that is known: which questions, and what is refused."""

from collections import Counter

import msgspec
import numpy as np
import pytest
from tests.support.label_rows import judgement, label

from ragstone.features.label._choosing import AnswerDraw
from ragstone.features.label._pairs import ComparedSide, choose_pairs, pair_sizes
from ragstone.features.label.labelling import pairs_to_label
from ragstone.features.label.queue import Material, Plan, make_queue
from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Answer, Judgement


def side(system: str, scores: list[float], text: str = "", **fields: object) -> list[Judgement]:
    return [judgement(f"q{n}", score, system=system, **fields) for n, score in enumerate(scores)]


def texts(system: str, *of: str) -> list[Answer]:
    return [Answer(question_id=f"q{n}", system=system, answer=text) for n, text in enumerate(of)]


A, B = side("old", [0, 1] * 30), side("new", [0, 0, 1, 1] * 15)


def sides(a: list[Judgement], b: list[Judgement], *answers: list[Answer]) -> list[ComparedSide]:
    by_key = [{(row.question_id, row.system): row for row in rows} for rows in answers or ([], [])]
    return [
        ComparedSide(system=rows[0].system, judgements=rows, answers=by_key[at])
        for at, rows in enumerate((a, b))
    ]


def sizes_of(a, b, labels=(), *answers):
    both = sides(a, b, *answers)
    return pair_sizes(*both, list(zip(a, b, strict=True)), labels, "correctness")


def test_both_answers_stand_beside_each_other_either_one_first_with_one_chance():
    rows = pairs_to_label(A, B, n=40)
    assert len(rows) == 80
    for first, second in zip(rows[::2], rows[1::2], strict=True):
        assert (first.question_id, first.inclusion, first.queue) == (
            second.question_id,
            second.inclusion,
            second.queue,
        )
        assert {first.system, second.system} == {"old", "new"}
    firsts = Counter(row.system for row in rows[::2])
    assert min(firsts.values()) > 10
    assert rows[0].queue.startswith("difference-")
    assert pairs_to_label(A, B, n=40) == rows
    assert pairs_to_label(A, B, n=40, seed=1) != rows


def test_size_is_the_root_of_doubts_difference_and_base_worked_by_hand():
    # bare 0 and 1 have no doubt: sqrt(0.4); 0 beside 1: sqrt(0.4 + 2); 0.5 is a coin's doubt of 1, its
    # distance to 1 counts 2 * 0.25: sqrt(0.4 + 1 + 0.5)
    a, b = side("old", [1, 0, 0.5]), side("new", [1, 1, 1])
    assert sizes_of(a, b) == pytest.approx([0.4**0.5, 2.4**0.5, 1.9**0.5])


def test_answers_in_the_same_words_have_no_size_and_are_drawn_by_the_floor_alone():
    a, b = side("old", [1] * 40), side("new", [1] * 40)
    same = [f"Till it in May {n}." for n in range(40)]
    other = [text if n < 20 else f"Never {n}" for n, text in enumerate(same)]
    assert (sizes_of(a, b, (), texts("old", *same), texts("new", *other)) == 0).tolist() == [True] * 20 + [
        False
    ] * 20
    rows = pairs_to_label(a, b, n=10, answers_a=texts("old", *same), answers_b=texts("new", *other))
    chances = {row.question_id: row.inclusion for row in rows}
    # 7 of 10 for all 40 alike: 0.175 each; the other 3 go to 20: 0.15 more
    assert {round(chance, 6) for chance in chances.values()} == {0.175, 0.325}


@pytest.mark.simulation
def test_chances_are_what_they_say():
    a, b = sides(A, B)
    drawn: Counter[str] = Counter()
    said = {}
    for seed in range(2000):
        for pair in choose_pairs(a, b, [], AnswerDraw(by="difference", n=12, seed=seed)):
            drawn[pair.a.question_id] += 1
            said[pair.a.question_id] = pair.inclusion
    chances = np.array([said[name] for name in sorted(said)])
    shares = np.array([drawn[name] / 2000 for name in sorted(said)])
    assert len(said) == 60
    assert np.abs(shares - chances).max() < 4 * (0.25 / 2000) ** 0.5
    assert chances.max() > 1.2 * chances.min()


def test_labels_of_twenty_questions_tell_where_the_judge_errs():
    # People see a difference where the judge sees none, and none where it sees one.
    a, b = side("old", [0] * 60), side("new", [0, 1] * 30)
    labels = [label(f"q{n}", 0, system="old") for n in range(40)]
    labels += [label(f"q{n}", (n // 2) % 2 if n % 2 == 0 else 1, system="new") for n in range(40)]
    measured, guessed = sizes_of(a, b, labels), sizes_of(a, b, labels[:19] + labels[40:59])
    assert guessed[0] < guessed[1]
    assert measured[0] > 2 * measured[1]


def test_n_above_the_questions_takes_them_all_for_certain():
    rows = pairs_to_label(A, B, n=1000)
    assert len(rows) == 120
    assert {row.inclusion for row in rows} == {1.0}


def test_two_systems_of_one_run_are_compared_and_failed_or_tuned_rows_are_not_drawn():
    failed = judgement("q0", None, system="old", status="timeout")
    tuned = msgspec.structs.replace(A[1], metadata={"tuned": True})
    rows = pairs_to_label([failed, tuned, *A[2:], *B], n=100)
    assert {row.question_id for row in rows} == {f"q{n}" for n in range(2, 60)}
    third = side("third", [1] * 60)
    chosen = pairs_to_label([*A, *B, *third], n=5, system_a="third", system_b="old")
    assert {row.system for row in chosen} == {"third", "old"}


def test_runs_whose_systems_have_one_name_are_told_apart_by_run():
    b = side("old", [1] * 60)
    rows = pairs_to_label(A, b, n=10, runs=("before", "after"))
    assert Counter((row.system, row.run) for row in rows) == {("old", "before"): 10, ("old", "after"): 10}
    labels = [
        msgspec.structs.replace(label(f"q{n}", n % 2, system="old"), metadata={"run": run})
        for n in range(60)
        for run in ("before", "after")
    ]
    assert len(pairs_to_label(A, b, labels, n=10, runs=("before", "after"))) == 20


def test_the_judge_that_asks_a_model_is_taken_and_must_have_judged_both():
    free = [msgspec.structs.replace(row, judge="containment", model="none") for row in [*A, *B]]
    assert pairs_to_label([*free, *A, *B], n=3)[0].metric == "correctness"
    other = [msgspec.structs.replace(row, metric="relevance") for row in [*A, *B]]
    assert pairs_to_label([*A, *B, *other], n=3, metric="relevance")[0].metric == "relevance"


@pytest.mark.parametrize(
    ("a", "b", "given"),
    [
        (A, [msgspec.structs.replace(row, question_id=f"x{row.question_id}") for row in B], {}),
        (A, [msgspec.structs.replace(row, judge="other") for row in B], {}),
        (A, B, {"metric": "relevance"}),
        (A, B, {"system_b": "nwe"}),
        (A, None, {}),
        ([*A, *B, *side("third", [1] * 60)], None, {}),
        ([*A, *B], None, {"system_a": "old", "system_b": "old"}),
        (A, [], {}),
        (A, [msgspec.structs.replace(r, score=None, status="timeout") for r in B], {}),
    ],
    ids=[
        "other questions",
        "another judge",
        "metric nobody judged",
        "unknown system",
        "one system",
        "three systems",
        "one system twice",
        "nothing",
        "nothing scored",
    ],
)
def test_what_cannot_be_paired_is_told(a, b, given, says):
    with pytest.raises(DataError) as error:
        pairs_to_label(a, b, n=10, **given)
    says(error.value)


def test_a_queue_of_pairs_gives_both_answers_to_the_same_people():
    material = Material(
        source="0/mine",
        judgements=[*A, *B],
        answers=[*texts("old", *["a"] * 60), *texts("new", *["b"] * 60)],
    )
    plan = Plan(
        name="pairs",
        choice=AnswerDraw(by="difference", n=20, systems=("old", "new")),
        annotators=["ann", "bo", "cy"],
        overlap=0.5,
    )
    queue, rows = make_queue(plan, material)
    assert [(row.question_id, row.system) for row in rows] == [(i.question_id, i.system) for i in queue.items]
    for first, second in zip(queue.items[::2], queue.items[1::2], strict=True):
        assert (first.question_id, first.annotators, first.inclusion) == (
            second.question_id,
            second.annotators,
            second.inclusion,
        )
    assert len(queue.items) == 40
    assert msgspec.json.decode(msgspec.json.encode(queue), type=type(queue)) == queue
