"""A judge's agreement with people while labels still come in: intervals for every look, and a bar."""

from collections.abc import Iterable, Mapping
from typing import Literal

import msgspec
import numpy as np

from ragstone.kernel.agreement._unmatched import why_unmatched
from ragstone.kernel.agreement.comparison import (
    MeasuredJudge,
    by_judge,
    check_thresholds,
    threshold_of,
)
from ragstone.kernel.agreement.comparison import measure as measure_judge
from ragstone.kernel.agreement.corrected_mean import FEW_LABELS
from ragstone.kernel.agreement.pairing import GradePairs, human_scores, inclusion_of
from ragstone.kernel.agreement.policies import labels_under, without_voluntary
from ragstone.kernel.errors import ConfigError, DataError, nearest, takes_rows
from ragstone.kernel.records import NO_MODEL, YES_NO, Judgement, Label
from ragstone.kernel.statistics import usual_kappa
from ragstone.kernel.statistics.anytime import (
    Betting,
    anytime_interval,
    bet_on_kappa,
    bet_on_mean,
    labels_to_decide,
)
from ragstone.kernel.tables import Rows

MeasureName = Literal["kappa", "agreement", "error"]
TrustVerdict = Literal["trusted", "not trusted", "undecided"]
MEASURES: dict[str, MeasureName] = {"kappa": "kappa", "agreement": "agreement", "error": "error"}


class SequentialAgreement(msgspec.Struct, frozen=True, kw_only=True):
    """A measure of one judge, with an interval that holds at every look while labels come in.

    measure: `kappa` (two grades), `quadratic kappa` (more), `exact agreement` or `signed error` (judge minus
    people, in the unit of the scores). n: labelled answers that it rests on; n_questions: different questions
    among them, or conversations where answers are replies (`unit`). value: of the answers so far, weighted
    where they were drawn with unequal chances; None where undefined. low, high: with chance `level` they hold
    the value of all such answers at every look at once. unequal: the labels were drawn with unequal chances,
    which value and interval make up for. reason: why there is no interval; then low and high are None.
    trust: the bar. verdict: `trusted` if the whole interval lies above it, `not trusted` if below, else
    `undecided`; None without a bar. more: about how many more labels would decide, the median of simulated
    continuations with labels like those so far; None with fewer than 20 labels, or more than 5,000 missing
    (then `far` is true). baseline: it calls no model, and another judge of its metric does.
    """

    judge: str
    metric: str
    model: str
    prompt_version: int
    measure: str
    n: int
    n_questions: int
    unit: str = "question"
    value: float | None = None
    low: float | None = None
    high: float | None = None
    level: float = 0.95
    unequal: bool = False
    reason: str | None = None
    trust: float | None = None
    verdict: TrustVerdict | None = None
    more: int | None = None
    far: bool = False
    baseline: bool = False


@takes_rows(judgements=Judgement, labels=Label)
def sequential_agreement(
    judgements: Iterable[Judgement],
    labels: Iterable[Label],
    *,
    measure: str = "kappa",
    trust: float | None = None,
    mapping: Mapping[float, float] | None = None,
    threshold: float | Mapping[str, float] | None = None,
    policy: str | None = None,
    seed: int = 0,
) -> Rows[SequentialAgreement]:
    """Return for each judge a measure of its agreement that may be looked at after every label.

    labels: in the order in which they came in. Which answers have one so far must not depend on what people
    or the judge gave, other than by the chances that are given as `inclusion`: then the labels of one queue
    are made up for. measure: `kappa`, `agreement` or `error`. trust: a bar above 0 and below 1 that kappa, or
    agreement, is held against. mapping, threshold, policy: as in report_cards. seed: of the simulated
    continuations. Raises ConfigError for a bar or a measure that means nothing, DataError as report_cards
    does for labels that cannot be paired.
    """
    check_trust(measure, trust)
    labels, rows_of = labels_under(labels, policy), by_judge(judgements)
    check_thresholds(threshold, rows_of)
    if not labels or not rows_of:
        raise DataError(f"no {'judgements' if labels else 'labels'} to compare: is this the right file?")
    if len(without_voluntary(labels)) < len(labels):
        raise DataError(
            "some labels are users' thumbs, on answers that these users chose, so no interval holds at every "
            "look. Give labels of answers drawn by `ragstone label` or `ragstone sample --feedback`."
        )
    humans = {metric: human_scores(labels, metric, mapping) for metric in {judge.metric for judge in rows_of}}
    order = {id(label): at for at, label in enumerate(labels)}
    asking = {judge.metric for judge in rows_of if judge.model != NO_MODEL}
    results = []
    for judge, rows in rows_of.items():
        cut = threshold_of(judge, threshold, rows)
        measured = measure_judge(judge, rows, humans[judge.metric], mapped=mapping is not None, threshold=cut)
        if measured.pairs.labelled:
            result = _held_against(*_sequential(measured, MEASURES[measure], order), trust, seed)
            is_baseline = judge.model == NO_MODEL and judge.metric in asking
            results.append(msgspec.structs.replace(result, baseline=is_baseline))
    if not results:
        why = why_unmatched([rows[0] for rows in rows_of.values()], labels)
        raise DataError(f"no label matches a judged answer. {why}")
    return Rows(results, SequentialAgreement)


def check_trust(measure: str, trust: float | None) -> None:
    """Raise ConfigError for a measure that there is not, and for a bar that nothing can be held against."""
    if measure not in MEASURES:
        raise ConfigError(
            f"no measure {measure!r}: give kappa, agreement or error. {nearest(measure, [*MEASURES])}"
        )
    if trust is None:
        return
    if measure == "error":
        raise ConfigError("a bar is for kappa or agreement, not for the signed error: leave one of them out.")
    if not 0 < trust < 1:
        raise ConfigError(f"a bar of {trust:g}: give a {measure} above 0 and below 1, e.g. 0.8.")


def _sequential(
    judge: MeasuredJudge, name: MeasureName, order: Mapping[int, int]
) -> tuple[SequentialAgreement, Betting | None]:
    """Return the measure without a bar, and the bets behind it; no bets where nothing can be measured."""
    pairs = judge.pairs
    grades = judge.comparison.categories if judge.comparison else []
    result = SequentialAgreement(
        judge=judge.judge.judge,
        metric=judge.judge.metric,
        model=judge.judge.model,
        prompt_version=judge.judge.prompt_version,
        measure={"kappa": usual_kappa(grades), "agreement": "exact agreement", "error": "signed error"}[name],
        n=len(pairs.keys),
        n_questions=len(set(pairs.clusters)),
        unit=pairs.unit,
    )
    bets, reason = _bets(judge, name, order)
    if bets is None:
        return msgspec.structs.replace(result, reason=reason), None
    low, high = anytime_interval(bets, result.level)
    return msgspec.structs.replace(result, value=bets.value, low=low, high=high, unequal=bets.unequal), bets


def _bets(
    judge: MeasuredJudge, name: MeasureName, order: Mapping[int, int]
) -> tuple[Betting | None, str | None]:
    """Return the bets on a measure, or why there are none."""
    comparison, pairs = judge.comparison, judge.pairs
    if comparison is None:
        return None, "No labelled answer has a score of this judge."
    drawn, reason = _chances(pairs)
    if reason:
        return None, reason
    # The rows in the order in which their labels came in.
    came = [min(order.get(id(label), 0) for label in human.labels) for human in pairs.humans]
    at = np.argsort(came, kind="stable")
    human, scored, grades = comparison.human[at], comparison.judge[at], comparison.categories
    clusters = [pairs.clusters[row] for row in at]
    chances = None if drawn is None else [drawn[row] for row in at]
    if name == "error":
        low, high = (grades[0], grades[-1]) if grades else judge.scale or (0.0, 0.0)
        if not comparison.same_unit:
            return None, " ".join(comparison.notes[:1])
        if not low <= min(human.min(), scored.min()) <= max(human.max(), scored.max()) <= high:
            return (
                None,
                "The scale of this judge is not known, so the largest possible error is not known either.",
            )
        span = high - low
        return bet_on_mean(scored - human, (-span, span), clusters, chances=chances), None
    if not grades:
        return None, " ".join(comparison.notes[:1])
    if name == "agreement":
        return bet_on_mean(human == scored, YES_NO, clusters, chances=chances), None
    if human.min() == human.max():
        return None, "Kappa needs labels of two different grades: people gave the same one every time."
    steps = np.diff(human)
    if len(human) >= FEW_LABELS and steps.any() and ((steps >= 0).all() or (steps <= 0).all()):
        return None, (
            "The labels are sorted by score, so the order in which they came in is lost, and kappa has no "
            "interval that holds at every look. Give them in their original order."
        )
    return bet_on_kappa(human, scored, grades, clusters, chances=chances), None


def _chances(pairs: GradePairs) -> tuple[list[float] | None, str | None]:
    """Return the chance of each labelled answer in the draw, None for equal ones; or why none can be had."""
    drawn = [
        {(inclusion_of(label), str((label.metadata or {}).get("queue", ""))) for label in human.labels}
        for human in pairs.humans
    ]
    chances = [{chance for chance, _ in own} for own in drawn]
    if all(own == {None} for own in chances):
        return None, None
    queues = {queue for own in drawn for _, queue in own}
    if any(len(own) > 1 or None in own for own in chances) or len(queues) > 1:
        return None, (
            "The labels come from several draws, not all with equal chances, so together they have no "
            "interval that holds at every look. Give the labels of one draw."
        )
    return [chance for own in chances for chance in own if chance is not None], None


def _held_against(
    result: SequentialAgreement, bets: Betting | None, trust: float | None, seed: int
) -> SequentialAgreement:
    """Return the measure held against a bar."""
    if trust is None:
        return result
    result = msgspec.structs.replace(result, trust=trust, verdict="undecided")
    if bets is None or result.low is None or result.high is None:
        return result
    if result.low > trust or result.high < trust:
        return msgspec.structs.replace(result, verdict="trusted" if result.low > trust else "not trusted")
    if result.value is None or result.n < FEW_LABELS:
        return result
    more = labels_to_decide(bets, trust, result.level, seed)
    return msgspec.structs.replace(result, more=None if more is None else max(1, more), far=more is None)
