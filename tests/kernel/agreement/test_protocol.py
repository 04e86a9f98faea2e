import msgspec
import numpy as np
import pytest
from tests.support.label_rows import judgement, label

from ragstone.kernel.agreement import grading
from ragstone.kernel.agreement._protocol_sentence_table import RULES
from ragstone.kernel.agreement.card import ReportCard
from ragstone.kernel.agreement.protocol import with_evidence
from ragstone.kernel.records import Judgement, Label
from ragstone.kernel.statistics import Estimate, mean_estimate


def share(n: int, of: int) -> Estimate:
    found = mean_estimate([1.0] * n + [0.0] * (of - n))
    assert found is not None
    return found


def card_of(judgements: list[Judgement], labels: list[Label]) -> ReportCard:
    (card,) = grading.report_cards(judgements, labels, resamples=500)
    return card


def rows(
    n: int = 60, *, wrong: int = 6, model: str = "openai/m", tags: dict[str, list[str]] | None = None
) -> tuple[list[Judgement], list[Label]]:
    """Return judgements and labels of n answers, every third one wrong; the judge errs on the first ones."""
    judgements, labels = [], []
    for at in range(n):
        grade = int(at % 3 > 0)
        notes = {name: values[at % len(values)] for name, values in (tags or {}).items()}
        judgements.append(judgement(f"q{at}", 1 - grade if at < wrong else grade, model=model))
        labels.append(msgspec.structs.replace(label(f"q{at}", grade), metadata=notes))
    return judgements, labels


def state(card: ReportCard, item: str) -> str:
    return next(each.state for each in card.protocol if each.item == item)


def why(card: ReportCard, item: str) -> str:
    return next(each.why for each in card.protocol if each.item == item)


def test_every_item_is_on_the_card_with_what_to_do_next(says):
    card = card_of(*rows())
    says("\n".join(f"{item.item}: {item.state}. {item.why} {item.next}" for item in card.protocol))
    assert all(item.next for item in card.protocol if item.state == "not met")


def test_every_item_has_a_last_resort_so_that_none_is_left_unsaid():
    for item in {rule.item for rule in RULES}:
        last = [rule for rule in RULES if rule.item == item][-1]
        assert last.why.holds.__name__ == "_always", item


def test_enough_labels_is_met_by_a_narrow_interval_and_names_how_many_are_missing():
    few, many = card_of(*rows(60)), card_of(*rows(900, wrong=45))
    assert (state(few, "enough labels"), state(many, "enough labels")) == ("not met", "met")


def test_a_judge_no_better_than_its_baseline_has_not_shown_agreement_beyond_chance():
    assert state(card_of(*rows(60, wrong=30)), "agreement beyond chance") == "not met"
    assert state(card_of(*rows(60, wrong=3)), "agreement beyond chance") == "met"


def test_a_second_set_needs_ten_questions_of_each():
    assert state(card_of(*rows(tags={"dataset": ["a", "b"]})), "second set") == "met"
    lone = ["a"] * 55 + ["b"] * 5
    assert state(card_of(*rows(tags={"dataset": lone})), "second set") == "not met"
    assert state(card_of(*rows()), "second set") == "not met"


def test_languages_with_few_questions_are_named():
    few = ["en"] * 55 + ["sw"] * 5
    card = card_of(*rows(tags={"lang": few}))
    assert state(card, "languages") == "not met"
    assert "in sw." in next(item.why for item in card.protocol if item.item == "languages")
    assert state(card_of(*rows(tags={"lang": ["en", "de"]})), "languages") == "met"
    assert state(card_of(*rows()), "languages") == "not applicable"


@pytest.mark.parametrize(
    ("model", "wanted"),
    [
        ("openai/gpt-4o-2024-08-06", "met"),
        ("anthropic/claude-3-5-sonnet-20241022", "met"),
        ("llamacpp/models/qwen.gguf", "met"),
        ("openai/gpt-4o", "not met"),
        ("none", "not applicable"),
    ],
)
def test_a_name_with_a_date_a_file_or_a_digest_pins_the_model(model: str, wanted: str):
    assert state(card_of(*rows(model=model)), "pinned version") == wanted


def with_lengths(per_doubling: float) -> ReportCard:
    """Return the card of a judge of 0 to 10 whose error grows by so much with each doubling of the answer."""
    rng = np.random.default_rng(0)
    judgements, labels = [], []
    for at in range(300):
        doublings = at % 5
        score = round(float(np.clip(3 + rng.integers(0, 2) + per_doubling * doublings, 0, 10)))
        row = judgement(f"q{at}", score, scale=(0, 10))
        judgements.append(row)
        labels.append(
            msgspec.structs.replace(label(f"q{at}", 3), metadata={"answer": "word " * 2**doublings})
        )
    # Two grades by people, or nothing can be compared.
    labels[0] = msgspec.structs.replace(labels[0], score=4)
    return card_of(judgements, labels)


def test_length_is_met_by_a_slope_that_is_small_whatever_its_interval_allows():
    assert state(with_lengths(0.0), "length") == "met"
    biased = with_lengths(1.0)
    assert state(biased, "length") == "not met"
    assert biased.length_slope is not None
    assert biased.length_slope.value == pytest.approx(0.1, abs=0.01)  # one grade of a scale of ten
    few = card_of(*rows())
    assert (state(few, "length"), few.length_slope) == ("not met", None)


def pairs(n: int, n_flips: int, n_one_order: int = 0) -> ReportCard:
    """Return the card of a judge of pairs; the winner changes with the order in the first n_flips, and the
    last n_one_order were asked in one order."""
    judgements, labels = [], []
    for at in range(n):
        grade = at % 2
        orders = ["a", "b"] if at < n_flips else ["ab"[grade]] * 2
        row = judgement(f"q{at}", 0.5 if at < n_flips else grade, judge="pairwise", metric="preference")
        metadata = {"orders": orders} if at < n - n_one_order else {}
        judgements.append(msgspec.structs.replace(row, metadata=metadata))
        labels.append(label(f"q{at}", grade, metric="preference"))
    return card_of(judgements, labels)


def test_no_flip_in_few_pairs_does_not_meet_both_orders():
    # Wilson of 0 of 12: up to 24 %; of 0 of 200: up to 1.9 %.
    assert state(pairs(12, 0), "both orders") == "not met"
    assert state(pairs(200, 0), "both orders") == "met"
    assert state(pairs(200, 60), "both orders") == "not met"
    assert state(card_of(*rows()), "both orders") == "not applicable"


def test_a_steady_judge_whose_verdict_the_order_decides_is_not_validated():
    steady = share(0, 200)
    assert state(with_evidence(pairs(200, 60), retest=steady), "steady and fair") == "not met"
    assert state(with_evidence(pairs(200, 0), retest=steady), "steady and fair") == "met"
    assert state(pairs(200, 0), "steady and fair") == "not applicable"


def test_a_steady_judge_is_called_unfair_only_where_the_order_decides(says):
    steady = share(0, 200)
    for card in (pairs(200, 60), pairs(12, 0), pairs(200, 0, n_one_order=1)):
        with_retest = with_evidence(card, retest=steady)
        says(why(with_retest, "steady and fair"))
        assert state(with_retest, "steady and fair") == state(with_retest, "both orders") == "not met"


def test_people_who_give_one_grade_are_not_called_too_few(says):
    judgements, labels = rows(40)
    twice = [
        msgspec.structs.replace(row, annotator=name, score=1) for row in labels for name in ("ann", "bo")
    ]
    says(why(card_of(judgements, twice), "people among themselves"))
    says(why(card_of(judgements, [*twice[:4], *twice[4::2]]), "people among themselves"))


@pytest.mark.parametrize(("n", "of", "wanted"), [(0, 12, "not met"), (0, 200, "met"), (30, 200, "not met")])
def test_what_others_found_meets_an_item_only_by_its_whole_interval(n: int, of: int, wanted: str):
    card = card_of(*rows())
    found = with_evidence(card, retest=share(n, of), injection=share(n, of))
    assert (state(found, "retest"), state(found, "injection")) == (wanted, wanted)
    changed = [a.item for a, b in zip(found.protocol, card.protocol, strict=True) if a != b]
    assert changed == ["retest", "injection"]
