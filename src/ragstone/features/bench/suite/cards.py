"""Judgements of the suite's rows -> a card for each judge and model, and where cards are kept."""

import functools
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import TypedDict, TypeVar

import msgspec

from ragstone.features.bench._detection import SUPPORT, detection_of
from ragstone.features.bench.judges.values import JudgingSpent
from ragstone.features.bench.suite._rows import CHANGES, ROOM, Change, Labeller, SuiteRow, labels_of, rows_for
from ragstone.kernel.agreement.card import ReportCard
from ragstone.kernel.agreement.comparison import PREFERENCE, JudgeId, by_judge, measure
from ragstone.kernel.agreement.estimates import agreement_estimates
from ragstone.kernel.agreement.grading import report_cards
from ragstone.kernel.agreement.pairing import human_scores
from ragstone.kernel.agreement.probabilities import estimates_of
from ragstone.kernel.records import Judgement, Label, Status, count_statuses
from ragstone.kernel.statistics import RESAMPLES, Estimate, mean_estimate
from ragstone.kernel.tables.state import read_state, write_state

FILE = "suite.json"
GRADED = ("saf-en", "saf-de")  # kinds whose labels are grades, of which the order is compared


class KindAgreement(msgspec.Struct, frozen=True, kw_only=True):
    """A judge beside the labels of one kind of rows, without those that were changed.

    by: who gave the labels. n: rows with a score, of n_questions questions; statuses: of all. measure:
    `exact agreement`, or `Spearman` where labels are grades; found: None where it is undefined.
    """

    kind: str
    by: Labeller
    n: int
    n_questions: int
    statuses: dict[Status, int]
    measure: str
    found: Estimate | None


class ChangeFlips(msgspec.Struct, frozen=True, kw_only=True):
    """How often a verdict became another one when what should not matter was changed.

    n: pairs of verdicts. flips: share of them that differ; of `injection` those alone that became better.
    """

    change: Change
    n: int
    flips: Estimate | None


class SuiteCard(msgspec.Struct, frozen=True, kw_only=True):
    """A judge, asked of one model, on the touchstone suite.

    model: its name, `none` where no model is asked; identity: as the ledger knows it. suite: digest of the
    rows that ship; n_rows: of them that were judged. cut: the score from which on it says 1. statuses: of
    all rows. better_than_baseline, verdict: of the labels of yes and no that people gave, where there are
    some, else of those by construction; see ReportCard. detection: of a judge of support `ROC AUC`, and how
    well it finds what is not supported at `cut`, over all rows that were not changed. probabilities: of a
    judge that gives some `calibration error` and `Brier score`, on the rows that the verdict rests on.
    """

    judge: str
    metric: str
    model: str
    identity: str
    prompt_version: int
    suite: str
    n_rows: int
    cut: float
    statuses: dict[Status, int]
    kinds: list[KindAgreement]
    flips: list[ChangeFlips]
    better_than_baseline: bool | None
    verdict: str
    spent: JudgingSpent
    detection: dict[str, Estimate] = {}
    probabilities: dict[str, Estimate] = {}

    @property
    def fitness(self) -> str:
        """Whether it is better than the baseline, in words."""
        return {True: "fit", False: "unfit", None: "cannot tell"}[self.better_than_baseline]

    @property
    def key(self) -> tuple[str, str, str]:
        """What a newer card replaces."""
        return self.judge, self.metric, self.identity


class Resampling(TypedDict):
    """How intervals are drawn."""

    seed: int
    resamples: int


class JudgedOnSuite(msgspec.Struct, frozen=True, kw_only=True):
    """What one judge said of the rows with labels of its metric."""

    judgements: list[Judgement]
    cut: float
    identity: str
    spent: JudgingSpent


def suite_cards(
    metric: str,
    rows: Iterable[SuiteRow],
    judged: Sequence[JudgedOnSuite],
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> list[SuiteCard]:
    """Return the card of each judge of a metric, in their order; those without a model are its rivals.

    judged: judgements in the metric alone, none of them empty.
    """
    mine, drawn = rows_for(metric, rows), Resampling(seed=seed, resamples=resamples)
    verdicts = _verdicts(metric, mine, judged, drawn)
    return [_card(metric, mine, judged_rows, verdicts, drawn) for judged_rows in judged]


def _verdicts(
    metric: str, rows: Sequence[SuiteRow], judged: Sequence[JudgedOnSuite], drawn: Resampling
) -> dict[JudgeId, ReportCard]:
    """Return report cards on answers that are right or wrong, by people's labels where there are any."""
    plain = [row for row in rows if row.change is None and row.kind not in GRADED]
    labels = labels_of(metric, [row for row in plain if row.by == "people"] or plain)
    keys = {(label.question_id, label.system) for label in labels}
    judgements = [
        _alone(row)
        for judged_rows in judged
        for row in judged_rows.judgements
        if (row.question_id, row.system) in keys
    ]
    labels = [_alone(label) for label in labels]
    cuts = (
        {judged_rows.judgements[0].judge: judged_rows.cut for judged_rows in judged}
        if metric != PREFERENCE
        else None
    )
    cards = report_cards(judgements, labels, threshold=cuts, **drawn)
    return {JudgeId(card.judge, card.metric, card.model, card.prompt_version): card for card in cards}


RowT = TypeVar("RowT", Judgement, Label)


def _alone(row: RowT) -> RowT:
    """Return a row as if of the only system: how good each of them is follows from what was drawn."""
    return msgspec.structs.replace(row, question_id=f"{row.question_id} {row.system}", system="suite")


def _card(
    metric: str,
    rows: Sequence[SuiteRow],
    judged: JudgedOnSuite,
    verdicts: Mapping[JudgeId, ReportCard],
    drawn: Resampling,
) -> SuiteCard:
    judge = next(iter(by_judge(judged.judgements)))
    plain = [row for row in rows if row.change is None]
    pairs = _both_orders(judged.judgements) if metric == PREFERENCE else _changed(rows, judged)
    people = any(row.by == "people" for row in plain)
    verdict = verdicts[judge].verdict
    return SuiteCard(
        judge=judge.judge,
        metric=metric,
        model=judge.model,
        identity=judged.identity,
        prompt_version=judge.prompt_version,
        suite=suite_digest(),
        n_rows=len(judged.judgements),
        cut=judged.cut,
        statuses=count_statuses(judged.judgements),
        kinds=[
            _agreement(metric, [row for row in plain if row.kind == kind], judged, drawn)
            for kind in dict.fromkeys(row.kind for row in plain)
        ],
        flips=[_flips(change, pairs[change], drawn) for change in CHANGES if change in pairs],
        better_than_baseline=verdicts[judge].better_than_baseline,
        verdict=verdict
        if people
        else verdict.replace("people's", "the labels'").replace("people", "the labels"),
        spent=judged.spent,
        detection=_detection(metric, plain, judged, drawn),
        probabilities=estimates_of(verdicts[judge].calibration, judged.judgements),
    )


def _detection(
    metric: str, rows: Sequence[SuiteRow], judged: JudgedOnSuite, drawn: Resampling
) -> dict[str, Estimate]:
    humans = human_scores(labels_of(metric, rows), metric) if metric == SUPPORT else {}
    mine = [row for row in judged.judgements if (row.question_id, row.system) in humans]
    if not mine:
        return {}
    measured = measure(next(iter(by_judge(mine))), mine, humans, mapped=False, threshold=judged.cut)
    if measured.comparison is None:
        return {}
    clusters = measured.pairs.clusters
    auc = agreement_estimates(measured.comparison, clusters, only=["ROC AUC"], **drawn)
    return auc | detection_of(metric, measured.comparison, clusters, **drawn)


def _agreement(
    metric: str, rows: Sequence[SuiteRow], judged: JudgedOnSuite, drawn: Resampling
) -> KindAgreement:
    """Return how far a judge agrees with the labels of rows of one kind, at least one."""
    humans = human_scores(labels_of(metric, rows), metric)
    mine = [row for row in judged.judgements if (row.question_id, row.system) in humans]
    judge = next(iter(by_judge(judged.judgements)))
    graded = rows[0].kind in GRADED
    measured = measure(judge, mine, humans, mapped=False, threshold=None if graded else judged.cut)
    name, agreement = "Spearman" if graded else "exact agreement", None
    if measured.comparison is not None:
        clusters = measured.pairs.clusters
        agreement = agreement_estimates(measured.comparison, clusters, only=[name], **drawn).get(name)
    return KindAgreement(
        kind=rows[0].kind,
        by=rows[0].by,
        n=len(measured.pairs.keys),
        n_questions=len(set(measured.pairs.clusters)),
        statuses=count_statuses(mine),
        measure=name,
        found=agreement,
    )


Verdicts = list[tuple[str, bool]]
"""Of each pair of verdicts the question, and whether it flipped."""


def _changed(rows: Sequence[SuiteRow], judged: JudgedOnSuite) -> dict[Change, Verdicts]:
    """Return for each change the rows of which both verdicts are known."""
    scores = {(row.question_id, row.system): row.score for row in judged.judgements}
    flips: dict[Change, Verdicts] = {}
    for row in rows:
        if row.change is None or row.of is None:
            continue
        before, after = scores.get((row.question_id, row.of)), scores.get((row.question_id, row.system))
        if before is None or after is None:
            continue
        positive = before >= judged.cut, after >= judged.cut
        if row.change == "injection" and positive[0]:
            continue  # nothing was left to win
        flips.setdefault(row.change, []).append((row.question_id, positive[0] != positive[1]))
    return flips


def _both_orders(judgements: Sequence[Judgement]) -> dict[Change, Verdicts]:
    """Return of each pair of answers whether another one won when they changed places."""
    orders = [(row.question_id, (row.metadata or {}).get("orders", ())) for row in judgements]
    flips = [
        (question, first != second) for question, both in orders if len(both) == 2 for first, second in [both]
    ]
    return {"position": flips} if flips else {}


def _flips(change: Change, pairs: Verdicts, drawn: Resampling) -> ChangeFlips:
    flipped = [float(flip) for _, flip in pairs]
    return ChangeFlips(
        change=change,
        n=len(pairs),
        flips=mean_estimate(flipped, [question for question, _ in pairs], **drawn),
    )


@functools.cache
def suite_digest() -> str:
    """Return what the rows that ship are known by: cards of other rows are not shown."""
    return hashlib.blake2b((resources.files(ROOM) / "rows.jsonl").read_bytes(), digest_size=8).hexdigest()


def known_cards(folder: Path) -> list[SuiteCard]:
    """Return the cards that ship and those of a project's folder `.ragstone`, of the rows of this version.

    Of the same judge and model the project's. Raises DataError for a damaged file.
    """
    shipped = msgspec.json.decode((resources.files(ROOM) / FILE).read_bytes(), type=list[SuiteCard])
    cards = {card.key: card for card in [*shipped, *_read(folder)] if card.suite == suite_digest()}
    return [*cards.values()]


def keep_cards(folder: Path, cards: Iterable[SuiteCard]) -> None:
    """Put cards into the file of a project's folder `.ragstone`, in place of older ones of no more rows."""
    cards_by_key = {card.key: card for card in _read(folder) if card.suite == suite_digest()}
    for card in cards:
        if card.key not in cards_by_key or cards_by_key[card.key].n_rows <= card.n_rows:
            cards_by_key[card.key] = card
    write_state(folder / FILE, [*cards_by_key.values()])


def _read(folder: Path) -> list[SuiteCard]:
    return read_state(folder / FILE, list[SuiteCard], "ragstone bench judges --suite") or []
