"""Judgements on their way past -> means, counts of each status, and statements that lack support."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple, get_args

import msgspec

from ragstone.kernel.errors import takes_rows
from ragstone.kernel.judging.conversation import cluster_of, conversation_of
from ragstone.kernel.judging.repeated import RepeatedRows, RepeatedScores, fold
from ragstone.kernel.records import (
    STATEMENT,
    STATUSES,
    YES_NO,
    Judgement,
    Question,
    Said,
    StatementsOf,
    Status,
    Verdict,
    split_repeat,
)
from ragstone.kernel.statistics import Estimate, mean_bounds, mean_estimate
from ragstone.kernel.tables import Rows
from ragstone.kernel.tables.shown import Displayed

FIRST = 3  # unsupported statements that are kept, of each text


class Unsupported(msgspec.Struct, frozen=True, kw_only=True):
    """The statements of one kind of text that a judge gave verdicts on.

    of: what they were taken from: the answers, the references (a judge of claims), or the contexts, where
    each context is what gets the verdict, of use or not; or the steps of agents. n: all of them; n_rows: the
    judgements that have some. first: (question id, statement) of the first that are not supported.
    """

    of: StatementsOf
    n: int = 0
    n_unsupported: int = 0
    n_rows: int = 0
    first: tuple[tuple[str, str], ...] = ()


def count_verdicts(
    counted: Sequence[Unsupported], question_id: str, verdicts: Sequence[Verdict]
) -> list[Unsupported]:
    """Return the counts with the verdicts of one more judgement, in order of first appearance."""
    counts = {part.of: part for part in counted}
    for of in dict.fromkeys(verdict.of or "answer" for verdict in verdicts):
        before = counts.get(of, Unsupported(of=of))
        own = [verdict for verdict in verdicts if (verdict.of or "answer") == of]
        open_ = [
            # Of a step its number, tool and fault, which a long call would hide.
            (question_id, f"step {verdict.id}: {verdict.statement.partition('(')[0]}: {verdict.reason}")
            if verdict.of == "steps"
            else (question_id, verdict.statement)
            for verdict in own
            if not verdict.supported
        ]
        counts[of] = Unsupported(
            of=of,
            n=before.n + len(own),
            n_unsupported=before.n_unsupported + len(open_),
            n_rows=before.n_rows + 1,
            first=(*before.first, *open_)[:FIRST],
        )
    return list(counts.values())


SHOWN_REASONS = 3
MOST_REASONS = 1000  # a judge that gives every row a reason of its own must not fill the memory


BOUNDS_FROM = 0.05  # share of failed rows above which a mean's bounds stand beside it unasked
NO_FAILURE: tuple[Status, ...] = ("scored", "not_applicable")


def n_failed_rows(statuses: Mapping[Status, int]) -> int:
    """Return how many rows should have a score and have none, for whatever reason."""
    return sum(n for status, n in statuses.items() if status not in NO_FAILURE)


def bounds_of(
    mean: float, statuses: Mapping[Status, int], scale: tuple[float, float] | None
) -> tuple[float, float] | None:
    """Return what a mean of scored rows would be had every failed one the lowest, or the highest score.

    None where no row failed, or the scale is unknown. Rows that are not applicable have no score to miss.
    """
    n_failed = n_failed_rows(statuses)
    return mean_bounds(mean, statuses.get("scored", 0), n_failed, scale) if n_failed and scale else None


class TruthCounts(msgspec.Struct, frozen=True, kw_only=True):
    """How a system's answers to statements turned out.

    true, false: of the statements that are so, how many were called `true`, `false`, or `neither`.
    precision_on_false: share of the statements called false that are; None where none was called so.
    recall_on_false: share of the false statements that were called false; None where there is none.
    """

    true: dict[Said, int]
    false: dict[Said, int]
    precision_on_false: Estimate | None
    recall_on_false: Estimate | None


class SaidOf(NamedTuple):
    """What was said of one statement, and whether it is true. cluster: what it shares with others."""

    truth: bool
    said: Said
    cluster: str


def count_said(rows: Sequence[SaidOf], *, seed: int = 0) -> TruthCounts | None:
    """Return the counts, with intervals clustered as the rows say; None where there are no rows."""
    if not rows:
        return None
    false = [row for row in rows if not row.truth]
    called = [row for row in rows if row.said == "false"]
    tables = [Counter(row.said for row in rows if row.truth == truth) for truth in (True, False)]
    true_counts, false_counts = ({answer: counts[answer] for answer in get_args(Said)} for counts in tables)
    return TruthCounts(
        true=true_counts,
        false=false_counts,
        precision_on_false=mean_estimate(
            [float(not row.truth) for row in called], [row.cluster for row in called], seed=seed
        ),
        recall_on_false=mean_estimate(
            [float(row.said == "false") for row in false], [row.cluster for row in false], seed=seed
        ),
    )


def said_of(row: Judgement) -> tuple[bool, Said] | None:
    """Return whether a statement is true and what a judgement read in its answer; None for other rows."""
    truth = (row.metadata or {}).get(STATEMENT)
    verdict = next((known for known in get_args(Said) if known == row.label), None)
    return (truth, verdict) if isinstance(truth, bool) and verdict and row.score is not None else None


def is_category(row: Judgement) -> bool:
    """Whether a score only numbers the label that it comes with: its scale is not 0 to 1.

    Labels with scores from 0 to 1 are graded by whoever wrote the judge, as right, in part and wrong; their
    mean is a share of what could be had. The mean of 1 remember, 2 understand, ... 6 create is none.
    """
    return row.label is not None and row.scale not in (None, YES_NO)


class MetricSummary(msgspec.Struct, Displayed, frozen=True, kw_only=True):
    """The mean of one judge's scores of one system.

    estimate: the mean of the scored rows, in the units of `scale`, with its interval; None if no row was
    scored, and where `labels` takes its place. labels: of a judge whose scores only number its labels (see
    is_category) each label with the share of the scored rows that got it, in the order of the numbers; empty
    for any other judge. statuses: how many of the `n_rows` judgements ended in each status; the mean's
    denominator is `statuses["scored"]`. reasons: why rows are not applicable, the commonest first; errors:
    why the judge failed. unsupported: of a judge that gives verdicts, what it found of the statements of
    each text. n_documents: of which the scored rows are, where several are of one (a question without a
    document counts as one); they vary together, which widens the interval. None where every row stands
    alone. shares: what they are of, where some are replies of a conversation. bounds: the mean in the worst
    and in the best case, see bounds_of; it follows from the others. truth: of answers to true and false
    statements, what was said of them; None where there are none. repeats: absent where each question was
    answered once; else the mean is over questions, of the means of their answers.
    """

    system: str
    judge: str
    metric: str
    model: str
    prompt_version: int
    scale: tuple[float, float] | None
    estimate: Estimate | None
    n_rows: int
    statuses: dict[Status, int]
    reasons: dict[str, int] = {}
    errors: dict[str, int] = {}
    unsupported: list[Unsupported] = []
    n_documents: int | None = None
    shares: Literal["documents", "conversations"] = "documents"
    bounds: tuple[float, float] | None = None
    truth: TruthCounts | None = None
    labels: dict[str, Estimate] = {}
    repeats: RepeatedScores | msgspec.UnsetType = msgspec.UNSET

    def __post_init__(self) -> None:
        if self.estimate is not None:  # also for summaries that were written before there were bounds
            bounds = bounds_of(self.estimate.value, self.statuses, self.scale)
            if self.repeats is not msgspec.UNSET:
                bounds = self.repeats.bounds
            msgspec.structs.force_setattr(self, "bounds", bounds)


def question_clusters(questions: Iterable[Question], judgements: Iterable[Judgement] = ()) -> dict[str, str]:
    """Return question id -> what it is not independent of: its document, else its conversation.

    That is the first of the documents that the question names. Judged replies of one conversation share
    that of the conversation, or else of the first reply that has one, or else the conversation. A question of
    neither is not in it.
    """
    clusters = {question.id: min(question.document_ids) for question in questions if question.document_ids}
    replies = {row.question_id: whole for row in judgements if (whole := conversation_of(row)) is not None}
    for name, whole in replies.items():
        if name in clusters:
            clusters.setdefault(whole, clusters[name])
    return clusters | {name: clusters.get(whole, whole) for name, whole in replies.items()}


class _MetricGroup:
    """What a mean needs of its rows; the rows themselves are not kept, for there may be millions."""

    def __init__(self, first: Judgement) -> None:
        self.first = first
        self.scores: list[float] = []
        self.clusters: list[str] = []
        self.replies = False
        self.statuses: Counter[Status] = Counter()
        self.reasons: Counter[str] = Counter()
        self.errors: Counter[str] = Counter()
        self.unsupported: list[Unsupported] = []
        self.said: list[SaidOf] = []
        self.labels: list[str] = []  # of a category, in the order of the scores
        self.repeated = RepeatedRows()


class Tally:
    """Judgements on their way past, gathered for their means.

    clusters: question id -> what it shares with others (its document), for honest intervals; a question
    that is not in it stands alone, a reply with its conversation.
    """

    def __init__(self, clusters: Mapping[str, str] | None = None) -> None:
        self._clusters = clusters or {}
        self._groups: dict[tuple[str, str, str, str], _MetricGroup] = {}

    def add(self, row: Judgement) -> None:
        """Count one judgement."""
        system, repeat = split_repeat(row.system)
        key = (system, row.judge, row.metric, row.model)
        group = self._groups.get(key) or self._groups.setdefault(key, _MetricGroup(row))
        group.statuses[row.status] += 1
        group.repeated.add(row, repeat)
        if row.status == "not_applicable" and row.rationale and len(group.reasons) < MOST_REASONS:
            group.reasons[row.rationale] += 1
        if row.error and row.status != "app_error" and len(group.errors) < MOST_REASONS:
            group.errors[row.error] += 1
        if row.verdicts:
            group.unsupported = count_verdicts(group.unsupported, row.question_id, row.verdicts)
        if row.score is not None:
            group.scores.append(row.score)
            cluster = cluster_of(row, self._clusters)
            group.clusters.append(cluster)
            group.replies |= conversation_of(row) is not None
            if row.label is not None and is_category(row):
                group.labels.append(row.label)
            if verdict := said_of(row):
                group.said.append(SaidOf(*verdict, cluster))

    def summaries(self, seed: int = 0) -> list[MetricSummary]:
        """Return a summary for each (system, judge, metric, model), in order of first appearance."""
        return [_summarise(group, seed) for group in self._groups.values()]


@takes_rows(judgements=Judgement)
def summarise(
    judgements: Iterable[Judgement], *, clusters: Mapping[str, str] | None = None, seed: int = 0
) -> Rows[MetricSummary]:
    """Return a summary for each (system, judge, metric, model), repeats of a system as one; see Tally."""
    tally = Tally(clusters)
    for row in judgements:
        tally.add(row)
    return Rows(tally.summaries(seed), MetricSummary)


def _summarise(group: _MetricGroup, seed: int) -> MetricSummary:
    first, n_documents, n_alone = group.first, len(set(group.clusters)), len(group.clusters)
    unit = first.scale is None or first.scale == (0, 1)
    repeats: RepeatedScores | msgspec.UnsetType = msgspec.UNSET
    labels = _shares(group, seed) if group.scores and len(group.labels) == len(group.scores) else {}
    estimate: Estimate | None = None
    if group.repeated.most > 1 or group.repeated.needed:
        rows = group.repeated
        scored = (name for name, score in zip(rows.ids, rows.outcomes, strict=True) if math.isfinite(score))
        shared = dict(zip(scored, group.clusters, strict=True))
        estimate, repeats = fold(first, rows, shared, seed=seed)
        n_alone = len(shared)
        if labels:  # neither a mean of their numbers says anything, nor which of them pass
            estimate, repeats = None, msgspec.structs.replace(repeats, passes=[], passes_from=None)
    elif not labels:
        estimate = mean_estimate(group.scores, group.clusters, seed=seed, proportion=unit)
    return MetricSummary(
        system=split_repeat(first.system)[0],
        judge=first.judge,
        metric=first.metric,
        model=first.model,
        prompt_version=first.prompt_version,
        scale=first.scale,
        estimate=estimate,
        n_rows=group.statuses.total(),
        statuses={status: group.statuses[status] for status in STATUSES if group.statuses[status]},
        reasons=dict(group.reasons.most_common(SHOWN_REASONS)),
        errors=dict(group.errors.most_common(SHOWN_REASONS)),
        unsupported=group.unsupported,
        n_documents=n_documents if n_documents < n_alone else None,
        shares="conversations" if group.replies else "documents",
        truth=count_said(group.said, seed=seed),
        labels=labels,
        repeats=repeats,
    )


def _shares(group: _MetricGroup, seed: int) -> dict[str, Estimate]:
    """Return the share of each label, the lowest number first."""
    numbers: dict[str, list[float]] = {}
    for label, score in zip(group.labels, group.scores, strict=True):
        numbers.setdefault(label, []).append(score)
    shares: dict[str, Estimate] = {}
    for label in sorted(numbers, key=lambda label: (sum(numbers[label]) / len(numbers[label]), label)):
        share = mean_estimate([float(each == label) for each in group.labels], group.clusters, seed=seed)
        if share is not None:
            shares[label] = share
    return shares
