"""A card says no more than its numbers: random cards, each sentence recomputed from the rows."""

from collections import Counter
from itertools import combinations

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.label_rows import judgement, label
from tests.support.sentences import forbidden, said

from ragstone.kernel.agreement import grading
from ragstone.kernel.agreement._sentence_table import (
    LEANINGS,
    NOTES,
    ORDER_OF_SYSTEMS,
    CardNumbers,
    JudgeBesidePeople,
    SystemPairs,
)
from ragstone.kernel.agreement._verdict import verdict
from ragstone.kernel.agreement.card import Baseline, ReportCard
from ragstone.kernel.agreement.protocol import with_evidence
from ragstone.kernel.records import Judgement, Label
from ragstone.kernel.sentences import say
from ragstone.kernel.statistics import Estimate

Rows = tuple[list[Judgement], list[Label]]
# Notes that say how scores and labels were made comparable: settings, and what to set.
SETTINGS = (
    "counts as 1",
    "Until then it has no",
    "give a mapping",
    "Too many different scores",
    "threshold",
)


@st.composite
def labelled_rows(draw: st.DrawFn) -> Rows:
    """Return judgements and labels of a few questions by a few systems, some with two annotators."""
    highest = draw(st.sampled_from([1, 2, 4]))
    grades = st.integers(0, highest)
    systems = "abc"[: draw(st.integers(1, 3))]
    n = draw(st.integers(1, 14))
    bias = draw(st.sampled_from(["random", "same", "up", "down", "one"]))
    model = draw(st.sampled_from(["openai/m", "none"]))
    judgements, labels = [], []
    for at in range(n):
        for system in systems:
            human = draw(grades)
            judge = {
                "random": draw(grades),
                "same": human,
                "up": min(human + 1, highest),
                "down": max(human - 1, 0),
                "one": highest,
            }[bias]
            judgements.append(judgement(f"q{at}", judge, system=system, model=model, scale=(0, highest)))
            labels.append(label(f"q{at}", human, system=system, annotator="ann"))
            if draw(st.integers(0, 3)) == 0:
                labels.append(label(f"q{at}", draw(grades), system=system, annotator="ben"))
    return judgements, labels


def scores(judgements: list[Judgement], labels: list[Label]) -> list[tuple[str, str, float, float]]:
    """Return question, system, people's grade and the judge's, of the answers that annotators settle."""
    known = {row.score for row in labels}
    rows = []
    for row in judgements:
        own = [one.score for one in labels if (one.question_id, one.system) == (row.question_id, row.system)]
        grade = float(np.median(own))
        if len(own) == 1 or grade in known:
            assert row.score is not None
            rows.append((row.question_id, row.system, grade, row.score))
    return rows


def means(rows: list[tuple[str, str, float, float]], column: int) -> dict[str, float]:
    return {
        system: float(np.mean([row[column] for row in rows if row[1] == system]))
        for system in {row[1] for row in rows}
    }


def concordance(human: list[float], judge: list[float]) -> float:
    """Return the covariance of the mid-ranks: it has the sign of Spearman's correlation."""

    def ranks(values: list[float]) -> list[float]:
        return [sum(b < a for b in values) + sum(b == a for b in values) / 2 for a in values]

    return float(np.cov(ranks(human), ranks(judge))[0, 1]) if len(human) > 1 else 0.0


def check_verdict(code: str, card: ReportCard, rows: list[tuple[str, str, float, float]]) -> None:
    """Check one sentence of a verdict against the rows themselves, by another way than the code's."""
    if not rows:
        assert code == "nothing-scored", code
        return
    human, judge = [row[2] for row in rows], [row[3] for row in rows]
    hits = sum(a == b for a, b in zip(human, judge, strict=True))
    grade, most = min(Counter(human).items(), key=lambda item: (-item[1], item[0]))
    # A judge that errs nowhere is not told from the constant where that errs on few questions.
    missed = {row[0] for row in rows if row[2] != grade}
    error = float(np.mean(judge) - np.mean(human))
    people, by_judge = means(rows, 2), means(rows, 3)
    systems = [*combinations(people, 2)]

    def sign(of: dict[str, float], a: str, b: str) -> int:
        return 0 if np.isclose(of[a], of[b]) else (1 if of[a] > of[b] else -1)

    apart = [(a, b) for a, b in systems if sign(people, a, b)]
    n_tied = sum(sign(by_judge, a, b) == 0 for a, b in apart)
    n_reversed = sum(sign(by_judge, a, b) == -sign(people, a, b) for a, b in apart)
    ties_all = all(sign(by_judge, a, b) == 0 for a, b in systems)
    conditions = {
        "labels-all-alike": len({*human}) == 1,
        "judge-better": hits > most,
        "judge-no-better": hits <= most,
        "judge-better-than-some": False,  # these rows have one baseline
        "judge-cannot-tell": (len({*human}) > 1 and hits < len(rows)) or len(missed) < 6,
        "judge-lenient": error > 0 and {*human, *judge} <= {0, 1},
        "judge-harsh": error < 0 and {*human, *judge} <= {0, 1},
        "judge-lenient-grades": error > 0,
        "judge-harsh-grades": error < 0,
        "systems-tied-by-judge": ties_all,
        "systems-tied-by-people": not apart and not ties_all,
        "order-same": len(apart) == len(systems) and not n_tied and not n_reversed,
        "order-kept": 0 < len(apart) < len(systems) and not n_tied and not n_reversed,
        "order-reversed": n_reversed > 0 and not n_tied,
        "order-tied": n_tied > 0 and not n_reversed,
        "order-reversed-and-tied": n_tied > 0 and n_reversed > 0,
        "people-agree": card.humans is not None,
        "people-agree-kappa-undefined": card.humans is not None,
        "nothing-scored": False,
        "ranks-unknown": len({*human}) == 1 or len({*judge}) == 1,
        "ranks-no-interval": len({*human}) > 1 and len({*judge}) > 1,
        "ranks-alike": concordance(human, judge) > 0,
        "ranks-reversed": concordance(human, judge) < 0,
        "ranks-cannot-tell": len({*human}) > 1 and len({*judge}) > 1,
    }
    assert conditions[code], (code, card.verdict, rows)


def check_note(code: str, rows: list[tuple[str, str, float, float]]) -> None:
    human, judge = {row[2] for row in rows}, {row[3] for row in rows}
    questions = {row[0] for row in rows}
    conditions = {
        "kappa-undefined": len(human | judge) == 1,
        "correlation-undefined": len(human) == 1 or len(judge) == 1,
        "few-questions": len(questions) < 10,
        "few-questions-in-groups": len(questions) >= 10,
    }
    assert conditions[code], code


@pytest.mark.long
@settings(max_examples=120, deadline=None)
@given(labelled_rows())
def test_no_card_says_what_its_rows_do_not_bear(rows: Rows):
    (card,) = grading.report_cards(*rows, resamples=60)
    pairs = scores(*rows)
    codes = said(card.verdict)
    for code in codes:
        check_verdict(code, card, pairs)
    told = [note for note in card.notes if not any(words in note for words in SETTINGS)]
    notes = [code for note in told for code in said(note)]
    for code in notes:
        check_note(code, pairs)
    assert not forbidden([*codes, *notes])
    # What is said is also not left out where it holds.
    assert ("few-questions" in notes) is (0 < len({row[0] for row in pairs}) < 10)
    one_grade = len({grade for row in pairs for grade in row[2:]}) == 1
    assert ("kappa-undefined" in notes) is (one_grade and bool(card.categories))
    error = card.agreement.get("signed error")
    away = error and error.low is not None and error.high is not None and not error.low <= 0 <= error.high
    assert any("lenient" in code or "harsh" in code for code in codes) is bool(
        away and len({row[2] for row in pairs}) > 1
    )
    if card.categories and len({row[2] for row in pairs}) == 1:
        assert codes == ["labels-all-alike"]


@pytest.mark.long
@settings(max_examples=60, deadline=None)
@given(labelled_rows())
def test_no_item_of_the_protocol_says_more_than_the_card(rows: Rows):
    (card,) = grading.report_cards(*rows, resamples=60)
    state = {item.item: item.state for item in card.protocol}
    for item in card.protocol:
        assert len(said(item.why.removesuffix("."))) == 1
    if not card.protocol:
        assert card.n == 0
        return
    lead = card.agreement.get("quadratic kappa") or card.agreement.get("kappa")
    met = state["agreement beyond chance"] == "met"
    assert met == bool(lead and lead.low is not None and card.better_than_baseline)
    narrow = lead and lead.low is not None and lead.high is not None and (lead.high - lead.low) / 2 <= 0.1
    assert (state["enough labels"] == "met") == bool(narrow)
    twice = {(row.question_id, row.system) for row in rows[1] if row.annotator == "ben"}
    assert not (state["people among themselves"] == "met" and len(twice) < 10)
    assert (state["retest"] == "not applicable") == (card.model == "none")


def estimate(value: float, low: float | None = None, high: float | None = None, n: int = 120) -> Estimate:
    return Estimate(value=value, low=low, high=high, n=n, method="bootstrap")


def rival(name: str, better: bool | None) -> Baseline:
    return Baseline(
        name=name, n=120, exact_agreement=estimate(0.7), judge=0.8, difference=estimate(0.1), better=better
    )


GRADED = {"kappa": estimate(0.4, 0.2, 0.6), "exact agreement": estimate(0.8, 0.7, 0.9)}


def test_better_than_one_rival_and_not_shown_for_the_other(says):
    rivals = [rival("always yes", True), rival("words", None)]
    says(verdict(JudgeBesidePeople(agreement=GRADED, baselines=rivals)))


@pytest.mark.parametrize(
    "error", [estimate(0.3, 0.1, 0.5), estimate(-0.3, -0.5, -0.1), estimate(0.1, -0.1, 0.3)]
)
@pytest.mark.parametrize("yes", ["right", None])
def test_a_leaning_is_said_on_the_side_of_its_interval_alone(error: Estimate, yes: str | None, says):
    says(say(JudgeBesidePeople(agreement=GRADED | {"signed error": error}, yes=yes), *LEANINGS) or "nothing")


@pytest.mark.parametrize(
    "systems",
    [
        SystemPairs(3, 0, 0, 0, False, True, True),
        SystemPairs(3, 0, 0, 0, True, True, True),
        SystemPairs(3, 2, 0, 0, False, False, True),
        SystemPairs(3, 3, 0, 0, False, False, False),
        SystemPairs(3, 3, 0, 2, False, False, False),
        SystemPairs(3, 3, 1, 1, False, False, False),
        SystemPairs(3, 3, 1, 0, False, False, False),
    ],
)
def test_each_order_of_systems_has_one_sentence(systems: SystemPairs, says):
    assert sum(sentence.holds(systems) for sentence in ORDER_OF_SYSTEMS) == 1
    says(say(systems, *ORDER_OF_SYSTEMS))


def test_each_note_of_a_card(says):
    full = CardNumbers(
        agreement={}, graded=True, n=40, n_clusters=20, small=["sw", "rw"], n_tuned=2, n_unequal=10
    )
    for note in NOTES:
        says(f"{note.code}: {say(full, note) or 'not said'}")
    for note in NOTES:
        plain = CardNumbers(agreement={**GRADED, "Spearman": estimate(0.4)}, graded=True, n=40, n_clusters=20)
        assert say(plain, note) == ""


def cards() -> list[ReportCard]:
    """Return cards whose protocol has every state that rows of this test can give."""
    made = []
    for model in ("openai/m", "openai/m-2024-08-06", "none"):
        for wrong in (0, 30):
            judgements = [
                judgement(f"q{at}", at % 2 if at >= wrong else 1 - at % 2, model=model) for at in range(60)
            ]
            labels = [label(f"q{at}", at % 2) for at in range(60)]
            made += grading.report_cards(judgements, labels, resamples=100)
    pairs = [label(f"q{at}", at % 2, metric="preference") for at in range(200)]
    for n_flips, known in ((0, 200), (40, 200), (0, 199)):
        rows = []
        for at in range(200):
            orders = ["a", "b"] if at < n_flips else ["ab"[at % 2]] * 2
            row = judgement(f"q{at}", at % 2, judge="pairwise", metric="preference")
            rows.append(msgspec.structs.replace(row, metadata={"orders": orders} if at < known else {}))
        made += grading.report_cards(rows, pairs, resamples=100)
    alike = grading.report_cards([judgement("q0", 1)], [label("q0", 1)], resamples=50)
    lengths = []
    for steep in (0, 1):
        rows = [judgement(f"q{at}", at % 2 + 3 + steep * (at % 4), scale=(0, 10)) for at in range(200)]
        texts = [
            msgspec.structs.replace(
                label(f"q{at}", at % 2 + 3),
                metadata={"answer": "x" * 2 ** (at % 4), "lang": "en" if at else "sw"},
            )
            for at in range(200)
        ]
        lengths += grading.report_cards(rows, texts, resamples=100)
    labels = [
        msgspec.structs.replace(
            label(f"q{at}", at % 2 if at < 20 else 1), metadata={"lang": "en" if at < 20 else "de"}
        )
        for at in range(40)
    ]
    rows = [judgement(f"q{at}", at % 2 if at < 20 else 1) for at in range(40)]
    return [*made, *alike, *lengths, *grading.report_cards(rows, labels, resamples=100)]


@pytest.mark.long
def test_every_state_of_the_protocol_in_words(says):
    found = {item.why for card in cards() for item in card.protocol}
    for n in (0, 40):
        share = estimate(n / 200, n / 200 * 0.6, 0.015 + n / 200 * 1.4, 200)
        found |= {
            item.why
            for card in cards()
            for item in with_evidence(card, retest=share, injection=share).protocol
        }
    for why in sorted(found):
        says(why)
