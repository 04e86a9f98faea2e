"""Candidates fitted on scores: the judge calibrated, stacked with others, or asked only where one is unsure.

They ask no model anew: all that they weigh was judged before. Each row is measured on a fit without its
group.
"""

from collections.abc import Collection, Iterator, Sequence

import msgspec
import numpy as np

from ragstone.features.improve._thresholds import Flags, Scored, Thresholds, fit_thresholds, sure_of
from ragstone.features.improve.candidates._stack import (
    StackRows,
    StackWeights,
    crossed_probabilities,
    fit_folds,
    fit_stack,
    stack_judge,
    with_curve,
)
from ragstone.features.improve.candidates.rows import CandidateResult, JudgeScores, LearningRows, refused
from ragstone.features.improve.learned import LearningMethod
from ragstone.kernel.judging.combined import NOTHING_SAID, CascadeJudge
from ragstone.kernel.judging.fields import Member
from ragstone.kernel.judging.judge import judge_names, read_judge
from ragstone.kernel.judging.stack import log_odds_of
from ragstone.kernel.records import Answer
from ragstone.kernel.statistics import Floats

LEAST_SCORED = 0.5  # share of the rows that a free measure must say something of
LEAST_SURE, MOST_SURE = 0.5, 0.95
ISOTONIC = "calibrated, isotonic"
# Answers from which on an isotonic curve is tried. In draws from three judges whose curve is no logistic one
# it came nearer to the true probability than Platt's in 64, 78 and 98 % of the draws of 200, and in 48, 68
# and 84 % of those of 100; Niculescu-Mizil and Caruana (2005, ICML) say a thousand for data at large.
ENOUGH = 200
StackFits = dict[tuple[int, ...], tuple[StackWeights, list[StackWeights]]]
"""Members -> their stack, fitted on all rows and without the questions of each fold."""
CandidateName = tuple[str, int, list[str]]
"""What a candidate's file says of itself: name, version, and the digests of the questions it is fitted on."""
SOURCE = "fitted by `ragstone judges learn` on people's labels of {n} answers"


class MemberScores(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """A judge that may become a member, and what it says of the rows."""

    member: Member
    rows: JudgeScores

    @property
    def failed(self) -> Flags:
        """Where no score is no opinion, (n,): a call failed, or the budget was spent."""
        is_opinion = [
            judgement.score is not None or judgement.status in NOTHING_SAID
            for judgement in self.rows.judgements
        ]
        return ~np.array(is_opinion, dtype=np.bool_)


def free_members(answers: Sequence[Answer], without: Collection[str]) -> list[Member]:
    """Return the measures of words that come with Ragstone and that these rows have the inputs for.

    without: judges that are weighed anyway.
    """
    members = []
    for name in judge_names():
        judge = read_judge(name)
        if judge.kind != "lexical" or name in without or judge.best != "highest":
            continue
        if sum(_has(row, judge.inputs) for row in answers) >= LEAST_SCORED * len(answers):
            members.append(Member(judge=name, loaded=judge))
    return members


def _has(answer: Answer, inputs: Sequence[str]) -> bool:
    fields: dict[str, object] = {
        "question": answer.question,
        "answer": answer.answer,
        "contexts": answer.contexts,
        "reference": answer.reference or None,
    }
    return all(fields.get(name) is not None for name in inputs)


def informative(members: Sequence[MemberScores]) -> list[MemberScores]:
    """Return those whose scores of most rows are there, and differ."""
    telling = []
    for entry in members:
        scores = entry.rows.scores
        known = scores[~np.isnan(scores)]
        if known.size >= LEAST_SCORED * scores.size and np.ptp(known) > 0:
            telling.append(entry)
    return telling


def fitted_candidates(
    methods: Sequence[LearningMethod],
    judge: MemberScores,
    helpers: Sequence[MemberScores],
    free: Sequence[MemberScores],
    rows: LearningRows,
    named: CandidateName,
) -> Iterator[CandidateResult]:
    """Yield the candidates that can be fitted on these scores."""
    asks = judge.rows.judge.needs_model
    everybody = informative([judge, *helpers, *free])
    no_model = [entry for entry in everybody if not entry.rows.judge.needs_model]
    fits: StackFits = {}
    if "calibration" in methods:
        yield _stacked("calibration", "calibrated", [judge], rows, named, fits)
        if np.count_nonzero(~np.isnan(judge.rows.scores)) >= ENOUGH and informative([judge]):
            yield _stacked("calibration", ISOTONIC, [judge], rows, named, fits)
    if "stack" in methods:
        if len(everybody) > 1:
            yield _stacked("stack", "stack", everybody, rows, named, fits)
        else:
            yield refused("stack", "no measure of words tells these answers apart.", rows)
        if asks and no_model:
            yield _stacked("stack", "stack without a model", no_model, rows, named, fits)
    if "cascade" in methods:
        dear = next((entry for entry in [judge, *helpers] if entry.rows.judge.needs_model), None)
        if dear is None:
            yield refused("cascade", "no judge here asks a model, so there is no call to spare.", rows)
        elif not no_model:
            yield refused("cascade", "no measure of words tells these answers apart.", rows)
        else:
            yield _cascade(dear, no_model, rows, named)


def _stacked(
    method: LearningMethod,
    name: str,
    members: Sequence[MemberScores],
    rows: LearningRows,
    named: CandidateName,
    fits: StackFits,
) -> CandidateResult:
    """Return a logistic combination; of one judge alone it is a calibration, Platt's or isotonic.

    fits: those of the same judges, which two calibrations share.
    """
    judges = [entry.rows.judge for entry in members]
    if any(judge.best != "highest" for judge in judges):
        return refused(method, "a judge whose lowest score is the good one cannot be weighed yet.", rows)
    likely_scores = [entry.rows.are_probabilities for entry in members]
    columns = [
        log_odds_of(entry.rows.scores) if is_likely else entry.rows.scores
        for entry, is_likely in zip(members, likely_scores, strict=True)
    ]
    matrix = StackRows(np.stack(columns, axis=1), rows.human, rows.group)
    if method == "calibration" and not informative(members):
        return refused(method, "the judge gave every answer the same score, or gave most none.", rows)
    try:
        key = tuple(map(id, members))
        if key not in fits:
            fits[key] = fit_stack(matrix, judges, seed=rows.seed), fit_folds(matrix, judges, seed=rows.seed)
        weights, folds = fits[key]
        likely, yes_from = crossed_probabilities(matrix, folds, curved=name == ISOTONIC, seed=rows.seed)
    except ValueError:
        return refused(method, "too few answers of one of the grades: some part of the rows has none.", rows)
    weights = with_curve(weights, matrix) if name == ISOTONIC else weights
    own_name, version, tuned_on = named
    stacked = stack_judge(
        own_name,
        [entry.member for entry in members],
        weights,
        source=SOURCE.format(n=len(rows.answers)),
        version=version,
        metric=members[0].rows.judge.measures,
        tuned_on=tuned_on,
        likely=likely_scores,
    )
    used = {member.judge for member in stacked.members}
    failed = np.any([entry.failed for entry in members if entry.member.judge in used], axis=0)
    scores = np.where(failed | np.all(np.isnan(matrix.scores), axis=1), np.nan, likely)
    known = ~np.isnan(scores)
    brier = float(((scores - rows.human)[known] ** 2).mean()) if known.any() else None
    return CandidateResult(
        name=name,
        method=method,
        made="; ".join(f"{member.inner.name} × {member.weight:g}" for member in stacked.members)
        + f"; yes from {stacked.threshold:g}"
        + (f"; Brier score {brier:.3f}" if brier is not None else ""),
        judge=stacked,
        scores=scores,
        asked=np.ones(len(rows.answers), dtype=np.bool_),
        yes_from=yes_from,
        calls=sum(float(entry.rows.calls.mean()) for entry in members if entry.member.judge in used),
        brier=brier,
    )


def _cascade(
    dear: MemberScores,
    cheap: Sequence[MemberScores],
    rows: LearningRows,
    named: CandidateName,
) -> CandidateResult:
    """Return a cascade: the measure that settles most answers, then the judge, asked about the others."""
    n = len(rows.answers)
    whole = _best_band(dear, cheap, rows, np.ones(n, dtype=np.bool_))
    if whole is None:
        return refused("cascade", "no measure of words is sure enough of any answer to spare a call.", rows)
    scores, handed = np.full(n, np.nan), np.ones(n, dtype=np.bool_)
    for number in np.unique(rows.fold):
        inside = rows.fold == number
        # Where nothing is sure, every answer is handed on: that is the judge as it is, with its own
        # threshold.
        band = _best_band(dear, cheap, rows, ~inside)
        verdicts, decided = _said(dear, band, inside)
        scores[inside], handed[inside] = verdicts, ~decided
    first, limits = whole
    own_name, version, tuned_on = named
    inner = (first.rows.judge, dear.rows.judge)
    judge = CascadeJudge(
        name=own_name,
        version=version,
        metric=dear.rows.judge.measures,
        inputs=list(dict.fromkeys(name for inner_judge in inner for name in inner_judge.inputs)),
        scale=(0, 1),
        source=SOURCE.format(n=n),
        tuned_on=tuned_on,
        members=[
            msgspec.structs.replace(first.member, cut=limits.cheap_cut, unsure=limits.unsure),
            msgspec.structs.replace(dear.member, cut=limits.dear_cut),
        ],
    )
    assert limits.unsure is not None
    low, high = limits.unsure
    return CandidateResult(
        name="cascade",
        method="cascade",
        made=f"{inner[0].name}; {inner[1].name} only where that is {low:g} to {high:g}",
        judge=judge,
        scores=scores,
        asked=np.ones(n, dtype=np.bool_),
        yes_from=np.full(n, 0.5),
        calls=float((dear.rows.calls * handed).mean()),
    )


def _best_band(
    dear: MemberScores, cheap: Sequence[MemberScores], rows: LearningRows, chosen: Flags
) -> tuple[MemberScores, Thresholds] | None:
    """Return the measure that hands the fewest answers on, with the thresholds; None if each hands all on.

    What it decides shall agree with people at least as often as the judge that is spared.
    """
    best: tuple[int, MemberScores, Thresholds] | None = None
    for measure in cheap:
        both = chosen & ~np.isnan(measure.rows.scores) & ~np.isnan(dear.rows.scores)
        if not both.any():
            continue
        scored = Scored(
            measure.rows.scores[both], dear.rows.scores[both], rows.human[both] == 1, rows.group[both]
        )
        right = rows.worths(dear.rows.scores, dear.rows.yes_from)[both].mean()
        limits = fit_thresholds(scored, float(np.clip(right, LEAST_SURE, MOST_SURE)))
        if limits is None or limits.unsure is None:
            continue
        n_sure = int(sure_of(scored.cheap, limits.unsure).sum())
        if n_sure and (best is None or n_sure > best[0]):
            best = n_sure, measure, limits
    return best[1:] if best else None


def _said(
    dear: MemberScores, band: tuple[MemberScores, Thresholds] | None, inside: Flags
) -> tuple[Floats, Flags]:
    """Return what a cascade says, 1 or 0, NaN for nothing; and which answers the first judge decided."""
    last = dear.rows.scores[inside]
    if band is None:
        cut = dear.rows.yes_from if dear.rows.yes_from is not None else 0.5
        return np.where(np.isnan(last), np.nan, last >= cut), np.zeros(len(last), dtype=np.bool_)
    first, limits = band
    scores = first.rows.scores[inside]
    decided = ~np.isnan(scores) & sure_of(scores, limits.unsure)
    verdicts = np.where(np.isnan(last), np.nan, last >= limits.dear_cut)
    return np.where(decided, scores >= limits.cheap_cut, verdicts), decided
