"""Judgements and labels -> one report card for each judge: the room's way in."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from ragstone.kernel.agreement._grades import (
    grade_agreements,
    grade_names,
    instructive_disagreements,
)
from ragstone.kernel.agreement._humans import human_agreement, with_alpha
from ragstone.kernel.agreement._sentence_table import (
    NOTES,
    TUNED_LEFT_OUT,
    CardNumbers,
    JudgeBesidePeople,
)
from ragstone.kernel.agreement._unmatched import why_unmatched
from ragstone.kernel.agreement._verdict import (
    Hits,
    best_rival,
    better_than_all,
    constant_baseline,
    nothing_scored,
    verdict,
)
from ragstone.kernel.agreement.card import (
    AnswerGroup,
    Baseline,
    HumanAgreement,
    ReportCard,
    SystemRanking,
    grade_name,
)
from ragstone.kernel.agreement.comparison import (
    PREFERENCE,
    GradeComparison,
    JudgeId,
    MeasuredJudge,
    by_judge,
    check_thresholds,
    hits,
    measure,
    threshold_of,
)
from ragstone.kernel.agreement.corrected import n_drawn_unequally
from ragstone.kernel.agreement.estimates import agreement_estimates, raters_of
from ragstone.kernel.agreement.groups import by_system, by_tags, has_field, rank_systems
from ragstone.kernel.agreement.pairing import GradePairs, Human, Key, human_scores
from ragstone.kernel.agreement.policies import labels_under, mixed_policy_note, voluntary_note
from ragstone.kernel.agreement.probabilities import probabilities_beside
from ragstone.kernel.agreement.protocol import with_protocol
from ragstone.kernel.errors import DataError, takes_rows
from ragstone.kernel.judging.summary import is_category
from ragstone.kernel.judging.tuned import made_with
from ragstone.kernel.records import NO_MODEL, YES_NO, Judgement, Label
from ragstone.kernel.sentences import say
from ragstone.kernel.statistics import RESAMPLES, Estimate, cluster_codes, contingency_table
from ragstone.kernel.statistics.estimate import FEW_CLUSTERS
from ragstone.kernel.tables import Rows

BY_DISTANCE = (
    "signed error",
    "within one",
    "linear kappa",
    "quadratic kappa",
)  # not of mere numbers of labels


@takes_rows(judgements=Judgement, labels=Label)
def report_cards(
    judgements: Iterable[Judgement],
    labels: Iterable[Label],
    *,
    mapping: Mapping[float, float] | None = None,
    threshold: float | Mapping[str, float] | None = None,
    by: Sequence[str] = (),
    policy: str | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Rows[ReportCard]:
    """Return a report card for each judge that labels speak of, in order of first appearance.

    mapping: label value -> judge score, for labels on another scale; labels between two are placed on the
    line between them. threshold: the score from which on a
    judge says 1, for labels of 0 and 1 and a wider scale: one for all judges, or judge -> its own; judges
    that say 0 or 1 do not need it. A judge that cannot be compared grade by grade gets rank correlation
    and a note that says why. by: fields of the rows' metadata to group the answers by, besides their tags and
    `lang`, `language`, `subset` and `dataset`. policy: digest of the instructions whose labels count, `none`
    for labels that name none; without it labels under two policies are an error.
    Raises DataError if nothing can be paired, if every labelled answer was used to tune the judges, for an
    answer judged or labelled twice, for labels under two policies and for a policy that no label has, for a
    label that the mapping lacks, for a threshold or a
    mapping that is not finite, for a threshold off the scale of the judge that it names, for a field of
    `by` that no row has, and if the labels lie off the scale of every judge.
    """
    labels, rows_of = labels_under(labels, policy), by_judge(judgements)
    check_thresholds(threshold, rows_of)
    humans = {metric: human_scores(labels, metric, mapping) for metric in {j.metric for j in rows_of}}

    def measured_in(metric: str, judge: JudgeId) -> MeasuredJudge:
        cut = threshold_of(judge, threshold, rows_of[judge])
        return measure(judge, rows_of[judge], humans[metric], mapped=mapping is not None, threshold=cut)

    everyone = [measured_in(judge.metric, judge) for judge in rows_of]
    measured = [
        judge_measured
        for judge_measured in everyone
        if judge_measured.pairs.statuses or judge_measured.pairs.n_tied or judge_measured.pairs.n_tuned
    ]
    _check(measured, [rows[0] for rows in rows_of.values()], labels)
    _check_fields(by, measured)
    free = [judge for judge in rows_of if judge.model == NO_MODEL]
    paid = {
        judge_measured.judge.metric for judge_measured in measured if judge_measured.judge.model != NO_MODEL
    }
    metrics = {judge_measured.judge.metric for judge_measured in measured}
    rivals = {m: [(judge.judge, hits(measured_in(m, judge))) for judge in free] for m in paid}
    people = {m: human_agreement(humans[m].values(), seed=seed, resamples=resamples) for m in metrics}
    cards = (
        report_card(
            judge_measured,
            [] if judge_measured.judge.model == NO_MODEL else rivals[judge_measured.judge.metric],
            people[judge_measured.judge.metric],
            by=by,
            seed=seed,
            resamples=resamples,
        )
        for judge_measured in measured
    )
    shared = {judge for judge in rows_of if _paid_for_others(judge, rows_of)}
    priced = (
        msgspec.structs.replace(card, usd_per_1000=None) if judge_measured.judge in shared else card
        for card, judge_measured in zip(cards, measured, strict=True)
    )
    return Rows(priced, ReportCard)


def _paid_for_others(judge: JudgeId, rows_of: Mapping[JudgeId, Sequence[Judgement]]) -> bool:
    """Return whether the price of a judge's requests may be that of other judges, too.

    Judges that are asked in one request have its tokens and price in the first one's row.
    """
    if judge.model == NO_MODEL or not any(row.cost_usd for row in rows_of[judge]):
        return False
    priced = {(row.question_id, row.system) for row in rows_of[judge] if row.cost_usd}
    return any(
        row.score is not None
        and not row.cost_usd
        and not (row.usage and row.usage.input)
        and (row.question_id, row.system) in priced
        for other, rows in rows_of.items()
        if other.model == judge.model and other.judge != judge.judge
        for row in rows
    )


def _check(
    measured: Sequence[MeasuredJudge], judgements: Sequence[Judgement], labels: Sequence[Label]
) -> None:
    """Raise DataError if no judge can be measured, or the labels lie off the scale of every one."""
    if not judgements or not labels:
        raise DataError(f"no {'labels' if judgements else 'judgements'} to compare: is this the right file?")
    if not measured:
        why = why_unmatched(judgements, labels)
        raise DataError(f"no label matches a judged answer. {why}")
    if not any(judge_measured.pairs.statuses or judge_measured.pairs.n_tied for judge_measured in measured):
        raise DataError(
            f"all {measured[0].pairs.n_tuned:,} labelled answers are "
            f"{made_with(f'judge {measured[0].judge.judge!r}')}, as examples or to fit a threshold. They "
            "cannot test it: label answers to other questions, or use another judge."
        )
    compared = [
        (judge_measured.judge, judge_measured.comparison)
        for judge_measured in measured
        if judge_measured.comparison
    ]
    if compared and all(comparison.off_scale for _, comparison in compared):
        judge, comparison = compared[0]
        raise DataError(f"judge {judge.judge!r}, metric {judge.metric!r}: {comparison.notes[0]}")


def _check_fields(by: Sequence[str], measured: Sequence[MeasuredJudge]) -> None:
    """Raise DataError for a field that neither labels nor judgements have."""
    for field in by:
        if not any(has_field(judge.pairs, field) for judge in measured):
            raise DataError(
                f"neither labels nor judgements have a field {field!r} to group by. Add a column of that "
                "name to the file of labels, or do not group by it."
            )


def report_card(
    judge: MeasuredJudge,
    rivals: Sequence[tuple[str, Hits]],
    people: HumanAgreement | None,
    *,
    by: Sequence[str] = (),
    seed: int,
    resamples: int,
) -> ReportCard:
    """Return the report card of one judge.

    rivals: name and hits of the judges that ask no model, if this one asks one.
    people: how well annotators agree in this metric. by: further fields to group answers by.
    """
    pairs, comparison = judge.pairs, judge.comparison
    card = _empty_card(judge, people)
    if comparison is None:
        return card
    clusters = cluster_codes(pairs.clusters, len(pairs.keys))
    drawn = {"seed": seed, "resamples": resamples}
    raters = raters_of(pairs, comparison)
    agreement = agreement_estimates(comparison, clusters, raters, seed=seed, resamples=resamples)
    constant = constant_baseline(comparison, clusters, judge.judge.metric, **drawn)
    own_clusters = dict(zip(pairs.keys, pairs.clusters, strict=True))
    no_model = best_rival(hits(judge), rivals, own_clusters, **drawn)
    ranking = None
    numbered = is_category(pairs.rows[0])  # numbers of labels: a mean of them says nothing
    agreement = {name: value for name, value in agreement.items() if not numbered or name not in BY_DISTANCE}
    if judge.judge.metric != PREFERENCE and not numbered:
        ranking = rank_systems(comparison.human, comparison.judge, pairs.systems, clusters, **drawn)
    systems, tags = by_system(comparison, pairs, **drawn), by_tags(comparison, pairs, by, **drawn)
    baselines = [baseline for baseline in (constant, no_model) if baseline]
    confusion: list[list[int]] = []
    if comparison.categories:
        table = contingency_table(comparison.human, comparison.judge, comparison.categories)
        confusion = [[int(n) for n in row] for row in table]
    prices = [0.0 if row.model == NO_MODEL else row.cost_usd for row in pairs.rows]
    known = [price for price in prices if price is not None]
    humans = with_alpha(people, raters, **drawn)
    better, sentence = _conclusion(judge, agreement, baselines, humans, ranking)
    card = msgspec.structs.replace(
        card,
        threshold=comparison.threshold,
        humans=humans,
        agreement=agreement,
        categories=comparison.categories,
        names=grade_names(comparison, judge.judge.metric, pairs.rows),
        confusion=confusion,
        per_grade=grade_agreements(comparison, clusters, **drawn),
        constant=constant,
        no_model=no_model,
        by_system=systems,
        by=tags,
        ranking=ranking,
        disagreements=instructive_disagreements(comparison, pairs),
        better_than_baseline=better,
        verdict=sentence,
        notes=_notes(comparison, pairs, agreement, [systems, *tags.values()]),
        usd_per_1000=1000 * sum(known) / len(known) if len(known) == len(prices) else None,
        **msgspec.structs.asdict(probabilities_beside(comparison, pairs, judge.scale, clusters, **drawn)),
    )
    return with_protocol(card, comparison, pairs, **drawn)


def measured_card(
    rows: Sequence[Judgement],
    humans: Mapping[Key, Human],
    *,
    mapped: bool,
    threshold: float | None,
    seed: int,
) -> tuple[MeasuredJudge, ReportCard]:
    """Return one judge's judgements of one metric beside people's grades, and the card without baselines.

    mapped, threshold: see comparison.compare. Raises DataError for a threshold that its scale has not.
    """
    first = rows[0]
    judge = JudgeId(first.judge, first.metric, first.model, first.prompt_version)
    check_thresholds({} if threshold is None else {judge.judge: threshold}, {judge: rows})
    measured = measure(judge, rows, humans, mapped=mapped, threshold=threshold)
    return measured, report_card(measured, [], None, seed=seed, resamples=RESAMPLES)


def _empty_card(measured: MeasuredJudge, people: HumanAgreement | None) -> ReportCard:
    """Return the card of a judge none of whose judgements can be compared."""
    judge, pairs = measured.judge, measured.pairs
    tuned = say(CardNumbers(n_tuned=pairs.n_tuned), TUNED_LEFT_OUT)
    return ReportCard(
        judge=judge.judge,
        metric=judge.metric,
        model=judge.model,
        prompt_version=judge.prompt_version,
        n=len(pairs.keys),
        statuses=pairs.statuses,
        n_unlabelled=pairs.n_unlabelled,
        n_tied=pairs.n_tied,
        n_unjudged=pairs.n_unjudged,
        n_tuned=pairs.n_tuned,
        scale=measured.scale,
        threshold=None,
        agreement={},
        categories=[],
        confusion=[],
        constant=None,
        no_model=None,
        humans=people,
        by_system=[],
        better_than_baseline=None,
        verdict=nothing_scored(pairs.statuses, pairs.n_tuned),
        notes=[tuned] if tuned else [],
    )


def _conclusion(
    judge: MeasuredJudge,
    agreement: Mapping[str, Estimate],
    baselines: Sequence[Baseline],
    people: HumanAgreement | None,
    ranking: SystemRanking | None,
) -> tuple[bool | None, str]:
    """Return whether the judge beats its baselines, and the verdict."""
    if judge.comparison is None:
        return None, nothing_scored(judge.pairs.statuses, judge.pairs.n_tuned)
    human, grades = judge.comparison.human, judge.comparison.categories
    alike = "exact agreement" in agreement and human.min() == human.max()
    facts = JudgeBesidePeople(
        agreement=agreement,
        baselines=baselines,
        humans=people,
        yes=grade_name(judge.judge.metric, 1.0, grades) if grades == [*YES_NO] else None,
        ranking=ranking,
        only=grade_name(judge.judge.metric, float(human[0]), grades) if alike else None,
    )
    return None if alike else better_than_all(baselines), verdict(facts)


def _notes(
    comparison: GradeComparison,
    pairs: GradePairs,
    agreement: Mapping[str, Estimate],
    tables: Sequence[Sequence[AnswerGroup]],
) -> list[str]:
    numbers = CardNumbers(
        agreement=agreement,
        graded=bool(comparison.categories),
        n=len(pairs.humans),
        n_clusters=len(set(pairs.clusters)),
        unit=pairs.unit,
        small=[
            group.name
            for groups in tables
            if len(groups) > 1
            for group in groups
            if group.n_questions < FEW_CLUSTERS
        ],
        n_tuned=pairs.n_tuned,
        n_unequal=n_drawn_unequally(pairs.humans),
    )
    labels = [label for human in pairs.humans for label in human.labels]
    policies = [*mixed_policy_note(labels), *voluntary_note(labels)]
    return [*comparison.notes, *policies, *filter(None, (say(numbers, note) for note in NOTES))]
