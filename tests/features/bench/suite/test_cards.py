"""Cards of the touchstone suite, worked by hand, and where they are kept."""

import msgspec
import pytest
from tests.support.judged_cells import FREE
from tests.support.label_rows import judgement

from ragstone.features.bench.suite._rows import SuiteRow
from ragstone.features.bench.suite.cards import (
    FILE,
    JudgedOnSuite,
    keep_cards,
    known_cards,
    suite_cards,
    suite_digest,
)
from ragstone.kernel.errors import DataError
from ragstone.kernel.records import NO_MODEL


def row(question: str, system: str, right: float, **more: object) -> SuiteRow:
    fields = {
        "kind": "evouna",
        "by": "people",
        "question": f"{question}?",
        "answer": system,
        "labels": {"correctness": right},
        "lang": "en",
    }
    return SuiteRow(question_id=question, system=system, **{**fields, **more})  # type: ignore[arg-type]


def changed(question: str, change: str, of: str, right: float) -> SuiteRow:
    return row(question, f"{of}, {change}", right, kind="own", by="construction", change=change, of=of)


def judged(scores: dict[tuple[str, str], float | None], **more: object) -> JudgedOnSuite:
    """Return the judgements of a judge of yes and no: (question, system) -> score."""
    rows = [
        judgement(question, score, system=system, status="unparsable" if score is None else "scored", **more)
        for (question, system), score in scores.items()
    ]
    identity = NO_MODEL if rows[0].model == NO_MODEL else "m@there"
    return JudgedOnSuite(judgements=rows, cut=0.5, identity=identity, spent=FREE)


def test_agreement_is_counted_by_kind_and_a_changed_row_is_no_part_of_it():
    rows = [row(f"q{n}", "s", n % 2) for n in range(8)]
    rows += [row("o", "plain", 0, kind="own", by="construction"), changed("o", "length", "plain", 0)]
    # Of eight answers it has q0 and q1 wrong and nothing to say of q2: 5 of 7.
    scores: dict[tuple[str, str], float | None] = {(f"q{n}", "s"): float(n % 2) for n in range(8)}
    scores |= {("q0", "s"): 1.0, ("q1", "s"): 0.0, ("q2", "s"): None}
    scores |= {("o", "plain"): 0.0, ("o", "plain, length"): 1.0}
    [card] = suite_cards("correctness", rows, [judged(scores)], resamples=200)
    evouna, own = card.kinds
    assert (evouna.kind, evouna.by, evouna.n, evouna.measure) == ("evouna", "people", 7, "exact agreement")
    assert evouna.found is not None
    assert evouna.found.value == pytest.approx(5 / 7)
    assert evouna.statuses == {"scored": 7, "unparsable": 1}
    assert (own.kind, own.n, own.found and own.found.value) == ("own", 1, 1.0)
    assert (card.n_rows, card.statuses) == (10, {"scored": 9, "unparsable": 1})
    assert "on 7 answers" in card.verdict


def test_flips_are_pairs_of_verdicts_and_an_order_can_only_raise_one():
    rows, scores = [row("z", "s", 1), row("y", "s", 0)], {("z", "s"): 1.0, ("y", "s"): 0.0}
    plain = [0.0, 0.0, 0.0, 1.0, None]
    after = {
        "length": [0.2, 0.6, 0.0, 0.9, 1.0],  # of four pairs the second flips
        "injection": [1.0, 1.0, 0.0, 0.0, 1.0],  # of the three that were wrong two
    }
    made: dict[tuple[str, str], float | None] = {**scores}
    for n, before in enumerate(plain):
        rows.append(row(f"o{n}", "w", 0, kind="own", by="construction"))
        made[f"o{n}", "w"] = before
        for change, values in after.items():
            rows.append(changed(f"o{n}", change, "w", 0))
            made[f"o{n}", f"w, {change}"] = values[n]
    [card] = suite_cards("correctness", rows, [judged(made)], resamples=200)
    found = {one.change: (one.n, one.flips and one.flips.value) for one in card.flips}
    assert found == {"length": (4, 0.25), "injection": (3, pytest.approx(2 / 3))}


def test_grades_of_students_are_compared_by_their_order():
    rows = [row(f"q{n}", "student", grade, kind="saf-de") for n, grade in enumerate((0, 0.25, 0.5, 1, 0.75))]
    rows += [row("z", "s", 1), row("y", "s", 0)]
    scores = dict.fromkeys(((one.question_id, one.system) for one in rows), 1.0) | {("y", "s"): 0.0}
    scores |= {(f"q{n}", "student"): score for n, score in enumerate((0.1, 0.2, 0.3, 0.5, 0.4))}
    [card] = suite_cards("correctness", rows, [judged(scores)], resamples=200)
    [graded] = [one for one in card.kinds if one.kind == "saf-de"]
    assert (graded.measure, graded.n, graded.found and graded.found.value) == ("Spearman", 5, 1.0)
    assert "on 2 answers" in card.verdict  # students' grades are not yes or no


def test_a_judge_of_pairs_flips_where_the_other_order_has_another_winner():
    rows = [row(f"q{n}", system, float(system == "a")) for n in range(4) for system in ("a", "b")]
    orders = [["a", "a"], ["a", "b"], ["b", "b"], ["tie", "a"]]
    made = judged(
        {(f"q{n}", "a vs b"): score for n, score in enumerate((1.0, 0.5, 0.0, 0.5))}, metric="preference"
    )
    told = [
        msgspec.structs.replace(one, metadata={"orders": both})
        for one, both in zip(made.judgements, orders, strict=True)
    ]
    judged_pairs = msgspec.structs.replace(made, judgements=told)
    [card] = suite_cards("preference", rows, [judged_pairs], resamples=200)
    [position] = card.flips
    assert (position.change, position.n, position.flips and position.flips.value) == ("position", 4, 0.5)
    assert [(one.n, one.found and one.found.value) for one in card.kinds] == [(4, 0.25)]


def test_a_model_no_better_than_a_judge_that_asks_none_is_unfit(says):
    rows = [row(f"q{n}", "s", n % 2) for n in range(40)]
    truth: dict[tuple[str, str], float | None] = {(f"q{n}", "s"): float(n % 2) for n in range(40)}
    guess = {key: float(n < 20) for n, key in enumerate(truth)}
    free = judged(truth, judge="words", model=NO_MODEL)
    asked = judged({**guess}, judge="asks")
    cards = suite_cards("correctness", rows, [asked, free], resamples=400)
    assert [card.better_than_baseline for card in cards] == [False, True]
    # Half of its guesses are right, as those of a constant are: better than neither.
    says(cards[0].verdict)


@pytest.fixture
def card():
    rows = [row("z", "s", 1), row("y", "s", 0)]
    [made] = suite_cards("correctness", rows, [judged({("z", "s"): 1.0, ("y", "s"): 0.0})], resamples=50)
    return made


def test_a_card_is_kept_until_one_of_as_many_rows_replaces_it(card, tmp_path):
    shipped = known_cards(tmp_path)
    keep_cards(tmp_path, [msgspec.structs.replace(card, n_rows=300)])
    keep_cards(tmp_path, [msgspec.structs.replace(card, n_rows=100, verdict="of a sample")])
    [mine] = known_cards(tmp_path)[len(shipped) :]
    assert (mine.n_rows, mine.verdict) == (300, card.verdict)
    keep_cards(tmp_path, [msgspec.structs.replace(card, n_rows=300, verdict="newer")])
    assert known_cards(tmp_path)[-1].verdict == "newer"


def test_cards_of_other_rows_are_not_shown(card, tmp_path):
    assert card.suite == suite_digest()
    keep_cards(tmp_path, [msgspec.structs.replace(card, suite="another")])
    assert known_cards(tmp_path) == known_cards(tmp_path / "nothing here")


def test_a_damaged_file_says_what_to_do(tmp_path, says):
    (tmp_path / FILE).write_text("[{")
    with pytest.raises(DataError) as error:
        known_cards(tmp_path)
    says(error.value)


def test_judges_of_support_have_auroc_and_f1_of_what_is_unsupported():
    rows = [
        row(f"q{n}", "s", n % 2, kind="own", by="construction", labels={"faithfulness": float(n % 2)})
        for n in range(8)
    ]
    # Unsupported are q0, q2, q4 and q6; it calls q0 and q1 so: found 1 of 4, of 2 called: 2 * 1 / (4 + 2).
    scores: dict[tuple[str, str], float | None] = {(f"q{n}", "s"): float(n > 1) for n in range(8)}
    [card] = suite_cards("faithfulness", rows, [judged(scores, metric="faithfulness")], resamples=200)
    assert {name: estimate.value for name, estimate in card.detection.items()} == {
        "ROC AUC": pytest.approx((1 * 3 + 0.5 * (3 * 3 + 1)) / 16),
        "F1 (unsupported)": pytest.approx(1 / 3),
        "precision (unsupported)": 0.5,
        "recall (unsupported)": 0.25,
    }
    plain = [
        msgspec.structs.replace(each, labels={"correctness": each.labels["faithfulness"]}) for each in rows
    ]
    [other] = suite_cards("correctness", plain, [judged(scores)], resamples=200)
    assert other.detection == {}
