"""How good the judges of a run are: measured on people's labels of this run, or of a labelled sheet."""

from collections.abc import Mapping, Sequence

import msgspec

from ragstone.kernel.agreement.card import ReportCard
from ragstone.kernel.agreement.corrected import corrected_means
from ragstone.kernel.agreement.corrected_mean import CorrectedMean
from ragstone.kernel.agreement.grading import report_cards
from ragstone.kernel.agreement.pairing import human_scores
from ragstone.kernel.config import Settings
from ragstone.kernel.engine.session import Session
from ragstone.kernel.errors import ConfigError
from ragstone.kernel.judging import Judge
from ragstone.kernel.judging.thresholds import fits, off_scale
from ragstone.kernel.records import Answer, Judgement, Label
from ragstone.kernel.stages.judge import judge_rows
from ragstone.kernel.tables import read_rows


def check_labels(settings: Settings, judges: Sequence[Judge]) -> None:
    """Raise ConfigError or DataError where `[agree]` has labels or thresholds that cannot be used, before
    judges are paid."""
    declared = settings.agree
    if declared.sheet is not None:
        measured_judges(settings, judges)
    for path in filter(None, (declared.labels, declared.sheet)):
        labels = _labels(settings, path)
        for metric in dict.fromkeys(label.metric or "" for label in labels):
            human_scores(labels, metric)
    for judge in judges:
        threshold = declared.thresholds.get(judge.name)
        if threshold is not None and not fits(threshold, judge.scale):
            raise ConfigError(f"[agree] thresholds: {off_scale(judge.name, threshold, judge.scale)}")


def corrected_of_run(
    settings: Settings, judgements: Sequence[Judgement], clusters: Mapping[str, str]
) -> list[CorrectedMean]:
    """Return the means corrected by `[agree] labels`; none without them.

    Labels of `[agree] sheet` are of other answers: they can measure a judge, and correct nothing here.
    clusters: question id -> what it shares with others.
    """
    if settings.agree.labels is None:
        return []
    return corrected_means(
        judgements,
        _labels(settings, settings.agree.labels),
        threshold=settings.agree.thresholds,
        clusters=clusters,
        seed=settings.run.seed,
    )


async def cards_of(
    settings: Settings,
    judges: Sequence[Judge],
    session: Session,
    judgements: Sequence[Judgement] | None = None,
) -> list[ReportCard]:
    """Return the report cards of judges.

    Those of judgements from `[agree] labels`, and those from `[agree] sheet`, which the judges of its metric
    judge too.
    """
    labels, sheet = settings.agree.labels, settings.agree.sheet
    cards = _cards(settings, judgements, labels) if judgements is not None and labels else []
    if sheet is None:
        return cards
    measured = measured_judges(settings, judges)
    answers = list(read_rows(settings.path(sheet), Answer))
    judged = judge_rows(lambda: answers, measured, session, len(answers))
    return cards + _cards(settings, [row async for row in judged], sheet)


def measured_judges(settings: Settings, judges: Sequence[Judge]) -> list[Judge]:
    """Return the judges of the metric of `[agree]`. Raises ConfigError if there are none."""
    metric = settings.agree.metric
    measured = [judge for judge in judges if metric is None or metric in judge.metrics]
    if not measured:
        raise ConfigError(f"[agree] metric = {metric!r}: none of the judges in [judge] measures it.")
    return measured


def _cards(settings: Settings, judgements: Sequence[Judgement], path: str) -> list[ReportCard]:
    labels = _labels(settings, path)
    return report_cards(judgements, labels, threshold=settings.agree.thresholds, seed=settings.run.seed)


def _labels(settings: Settings, path: str) -> list[Label]:
    metric = settings.agree.metric
    return [
        msgspec.structs.replace(label, metric=label.metric or metric)
        for label in read_rows(settings.path(path), Label)
    ]
