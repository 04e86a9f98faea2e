"""Words that reasons share where grades differ: found where they are, and not where nothing is."""

import msgspec
import numpy as np
import pytest
from tests.support.label_rows import judgement, label

from ragstone.features.agree.flips import flips_of
from ragstone.features.agree.gap_words import flip_lines, gap_evidence, gaps_document, gaps_lead
from ragstone.features.agree.gaps import SpecGaps, spec_gaps
from ragstone.kernel.agreement.grading import report_cards
from ragstone.kernel.agreement.pairing import human_scores
from ragstone.kernel.document.markdown import render_markdown
from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Judgement, Label

USUAL = [f"{chr(97 + a)}{chr(97 + b)}word" for a in range(16) for b in range(16)]


def reasons_of(rng: np.random.Generator, n: int) -> str:
    places = np.minimum(rng.geometric(0.02, n) - 1, len(USUAL) - 1)
    return " ".join(USUAL[place] for place in places)


def noise(
    seed: int,
    n: int = 120,
    *,
    gap: int = 0,
    comments: float = 0.7,
    systems: int = 1,
    lenient: bool = True,
    same_reasons: bool = False,
) -> tuple[list[Judgement], list[Label]]:
    """A judge that errs at random; people who give reasons. gap: answers where people find the unit missing,
    and the judge does not mind."""
    rng = np.random.default_rng(seed)
    judged, labels = [], []
    for at in range(n):
        topic = reasons_of(rng, 4)
        for system in [f"s{s}" for s in range(systems)]:
            in_gap = at < gap
            people = 0.0 if in_gap else float(rng.random() < 0.6)
            error = rng.random() < ((0.35 if people == 0 else 0.1) if lenient else 0.2)
            score = 1.0 if in_gap else 1 - people if error else people
            grade_word = {0.0: "wrong", 1.0: "right"}
            said = f"{topic} {reasons_of(rng, 6)} {grade_word[people]}" + (
                " the unit is missing" if in_gap else ""
            )
            judged.append(
                msgspec.structs.replace(
                    judgement(f"q{at}", score, system=system),
                    rationale=f"{topic} {reasons_of(rng, 9)} {grade_word[score]}",
                )
            )
            row = label(f"q{at}", people, system=system, annotator="ann")
            has_comment = rng.random() < comments or in_gap
            labels.append(msgspec.structs.replace(row, rationale=said if has_comment else None))
    return judged, labels


def only(judged: list[Judgement], labels: list[Label], **given: object) -> SpecGaps:
    [report] = spec_gaps(judged, labels, **given)
    return report


def test_rows_that_share_a_reason_are_a_gap_with_its_words_and_rows(says):
    report = only(*noise(0, gap=16))
    [gap] = report.gaps
    assert set(gap.words) == {"missing", "unit"}
    assert {row.question_id for row in gap.rows} == {f"q{n}" for n in range(16)}
    assert (gap.n_differ, gap.n_agree) == (16, 0)
    assert gap.p < 0.01
    says(gaps_lead(report))
    says(gap_evidence(gap, report))
    page = render_markdown(gaps_document([report]))
    says(page[: page.index("- q1")])
    says(page[page.index("- q15") :])


def test_people_alone_can_disagree_for_the_same_reason():
    rng = np.random.default_rng(1)
    labels = []
    for at in range(80):
        differs = at < 20
        for name, grade in (("ann", 1), ("bo", 0 if differs else 1)):
            said = reasons_of(rng, 5) + (" partly cited" if differs else "")
            labels.append(
                msgspec.structs.replace(label(f"q{at}", grade, annotator=name, metric="m"), rationale=said)
            )
    report = only([], labels)
    assert (report.judge, report.n_differ, len(report.gaps)) == (None, 20, 1)
    assert set(report.gaps[0].words) == {"partly", "cited"}


@pytest.mark.simulation
@pytest.mark.parametrize(
    "given",
    [{}, {"systems": 3, "n": 50}, {"comments": 0.1}, {"lenient": False}, {"n": 30}],
    ids=["lenient judge", "several systems", "few comments", "fair judge", "few rows"],
)
def test_noise_makes_a_gap_in_at_most_one_report_of_twenty(given):
    hits = sum(bool(only(*noise(seed, **given), seed=seed).gaps) for seed in range(40))
    assert hits <= 5  # of 40 at 5 %: 6 or more by chance in 1.4 %; 180 of each kind: benchmarks/gaps.py


def test_words_of_a_grade_are_no_gap_where_a_lenient_judge_makes_them_frequent():
    judged, labels = noise(3, n=200, comments=1.0)
    labels = [
        msgspec.structs.replace(row, rationale="plainly wrong" if row.score == 0 else "fully right")
        for row in labels
    ]
    report = only(judged, labels)
    assert report.n_differ > 20
    assert report.gaps == []


def test_no_reasons_and_no_differences_are_told(says):
    judged, labels = noise(4, comments=0.0)
    bare = [msgspec.structs.replace(row, rationale=None) for row in judged]
    silent = only(bare, labels)
    assert silent.n_silent == silent.n_differ > 0
    says(gaps_lead(silent))
    agreed = only(
        [msgspec.structs.replace(r, score=1.0) for r in bare],
        [msgspec.structs.replace(r, score=1) for r in labels],
    )
    assert (agreed.n_differ, agreed.gaps) == (0, [])
    says(gaps_lead(agreed))
    says(gaps_lead(only(*noise(5))))


def test_reasons_in_scripts_without_spaces_and_other_alphabets_are_read():
    judged, labels = noise(6, gap=16)
    for said in ("单位缺失", "इकाई गायब है"):
        told = [
            msgspec.structs.replace(row, rationale=row.rationale.replace("the unit is missing", said))
            if row.rationale
            else row
            for row in labels
        ]
        [gap] = only(judged, told).gaps
        assert len(gap.rows) == 16


def again(*grades: float, annotator: str = "ann", policy: str | None = "b1") -> list[Label]:
    return [
        msgspec.structs.replace(
            label(f"q{at}", grade, annotator=annotator), metadata={"policy": policy, "again": True}
        )
        for at, grade in enumerate(grades)
    ]


def first(*grades: float, annotator: str = "ann", policy: str | None = "a1") -> list[Label]:
    return [
        msgspec.structs.replace(row, metadata={"policy": policy})
        for row in again(*grades, annotator=annotator)
    ]


def test_flips_are_counted_by_the_same_annotator_and_for_each_text(says):
    before = [*first(0, 0, 0, 1, 1), *first(1, 1, annotator="bo")]
    # ann flips on q0, q1, q3 under b1; under her old text on q0
    rows = flips_of(before, [*again(1, 1, 0, 0, 1), *again(1, 0, 0, policy="a1")], "correctness")
    assert [(row.policy, row.same_text, row.n_flipped, row.n) for row in rows] == [
        ("b1", False, 3, 5),
        ("a1", True, 1, 3),
    ]
    assert rows[0].share.low == pytest.approx(0.2307, abs=1e-4)  # Wilson of 3 of 5
    for line in [*flip_lines(rows), *flip_lines(rows[:1])]:
        says(line)


def test_another_annotators_second_label_is_held_against_the_median_and_ties_are_left_out(says):
    before = [*first(0, 0), *first(1, 0, annotator="bo")]
    [row] = flips_of(before, again(1, 1, annotator="cy"), "correctness")
    assert (row.n, row.n_flipped, row.n_left_out) == (1, 1, 1)
    says(flip_lines([row])[0])


def test_labels_given_again_are_no_sample_and_refused_where_means_are_taken(says):
    for use in (
        lambda: human_scores(again(1), "correctness"),
        lambda: report_cards([judgement("q0", 1)], [*first(1, policy=None)[:0], *again(1)]),
        lambda: flips_of(first(1), [label("other", 1)], "correctness"),
        lambda: flips_of([*first(1), *first(1, policy="c1", annotator="bo")], again(1), "correctness"),
    ):
        with pytest.raises(DataError) as error:
            use()
        says(error.value)
