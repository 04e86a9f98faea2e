"""One system of a run with all that was said of it: what each of the records is written from."""

import hashlib
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from ragstone.kernel.agreement.card import BEYOND_CHANCE, ReportCard
from ragstone.kernel.agreement.known_cards import card_of
from ragstone.kernel.errors import DataError, plural
from ragstone.kernel.judging.summary import MetricSummary
from ragstone.kernel.records import NO_MODEL, Answer, Judgement, Question, split_repeat
from ragstone.kernel.runs.joined import FinishedRun
from ragstone.kernel.statistics import Estimate

JudgeKey = tuple[str, str, str]  # judge, metric, model


class JudgedSystem(msgspec.Struct, frozen=True, kw_only=True):
    """A system of a run: its answers and their judgements by (question id, number of the repeat).

    names: of each judge the name that it has in a record, no two alike. finished: when the run's numbers
    were written. others: systems of the run beside this one.
    """

    run: FinishedRun
    name: str
    metrics: list[MetricSummary]
    names: dict[JudgeKey, str]
    questions: dict[str, Question]
    answers: dict[tuple[str, int], Answer]
    judgements: dict[tuple[str, int], list[Judgement]]
    finished: datetime
    others: list[str]

    def judge_facts(self, metric: MetricSummary) -> dict[str, Any]:
        """Return what tells which judge it was: name, metric, version, model, digest of its file."""
        known = self.run.manifest.get("judges", {}).get(metric.judge, {})
        facts = {
            "judge": metric.judge,
            "metric": metric.metric,
            "version": metric.prompt_version,
            "model": None if metric.model == NO_MODEL else metric.model,
            "digest": known.get("digest") if known.get("version") == metric.prompt_version else None,
        }
        return {name: value for name, value in facts.items() if value is not None}

    def card(self, metric: MetricSummary) -> ReportCard | None:
        """Return the report card that the run holds of a judge."""
        return card_of(metric, self.run.summary.cards)

    def scored_as(self, row: Judgement) -> str:
        """Return the name of a judgement's judge."""
        return self.names[row.judge, row.metric, row.model]

    @property
    def answer_model(self) -> str | None:
        """The model that answered, None where the run does not know it."""
        models = self.run.summary.models
        return models.get(f"system {self.name}") or models.get("answer")


def judged_system(run: FinishedRun, system: str | None) -> JudgedSystem:
    """Return a system of a run, its only one where none is named. Raises DataError."""
    systems = list(dict.fromkeys(metric.system for metric in run.summary.metrics))
    if not systems:
        raise DataError(f"{run.folder}: nothing was judged, so there is no record to write.")
    if system is None and len(systems) > 1:
        raise DataError(
            f"{run.folder}: {plural(len(systems), 'system')} ({', '.join(systems[:5])}), but such a record "
            "is for one. Name it with --system."
        )
    name = systems[0] if system is None else system
    if name not in systems:
        raise DataError(f"{run.folder}: no judged system {name!r}. Known: {', '.join(systems)}.")
    metrics = [metric for metric in run.summary.metrics if metric.system == name]
    judgements: dict[tuple[str, int], list[Judgement]] = {}
    for row in run.judgements:
        own, repeat = split_repeat(row.system)
        if own == name:
            judgements.setdefault((row.question_id, repeat), []).append(row)
    answers = {}
    for answer in run.answers:
        own, repeat = split_repeat(answer.system)
        if own == name:
            answers[answer.question_id, repeat] = answer
    return JudgedSystem(
        run=run,
        name=name,
        metrics=metrics,
        names=_names(metrics),
        questions={question.id: question for question in run.questions},
        answers=answers,
        judgements=judgements,
        finished=datetime.fromtimestamp(int((run.folder / "summary.json").stat().st_mtime), UTC),
        others=[other for other in systems if other != name],
    )


def _names(metrics: Sequence[MetricSummary]) -> dict[JudgeKey, str]:
    """Return what judges are called: the metric or the model is in a name only where a judge has several."""
    names: dict[JudgeKey, str] = {}
    for metric in metrics:
        name = metric_name(metric, metrics)
        while name in names.values():
            name += "_"
        names[metric.judge, metric.metric, metric.model] = name
    return names


def metric_name(metric: MetricSummary, others: Iterable[MetricSummary]) -> str:
    """Return the name of a mean beside others: the judge, with what tells it from another of that judge."""
    rows = list(others)
    several = {
        name: len({getattr(row, name) for row in rows if name == "system" or row.judge == metric.judge}) > 1
        for name in ("system", "metric", "model")
    }
    parts = [metric.system] if several["system"] else []
    parts.append(metric.judge)
    return "/".join([*parts, *(getattr(metric, name) for name in ("metric", "model") if several[name])])


def made_from(folder: Path) -> str:
    """Return the digest of all that decided a run and came of it: that of its manifest.

    The summary is not it, for it counts the calls that were made this time.
    """
    manifest = folder / "manifest.json"
    file = manifest if manifest.is_file() else folder / "summary.json"
    return hashlib.blake2b(file.read_bytes(), digest_size=16).hexdigest()


def estimate_text(estimate: Estimate) -> str:
    """Return a value with its interval and denominator: `0.75 (0.6 to 0.86), n 40`."""
    interval = "" if estimate.low is None else f" ({estimate.low:.4g} to {estimate.high:.4g})"
    return f"{estimate.value:.4g}{interval}, n {estimate.n}"


def statuses_text(metric: MetricSummary) -> str:
    """Return how many rows have each status: `scored 2, not_applicable 1`."""
    return ", ".join(f"{status} {n}" for status, n in metric.statuses.items())


def agreement_text(card: ReportCard) -> str:
    """Return what the report card measured: `Cohen's kappa 0.4 (0.2 to 0.6), n 40 labels`."""
    if card.lead is None:
        return f"no measure is defined on {plural(card.n, 'label')}"
    name, estimate = card.lead
    named = f"Cohen's {name}" if name in BEYOND_CHANCE else name
    return f"{named} {estimate_text(estimate)} {'label' if estimate.n == 1 else 'labels'}"


def portable(text: str) -> str:
    """Return a text as a name of a file or folder that every system takes: letters, digits, `-`, `_`, `.`."""
    name = re.sub(r"[^\w.-]+", "_", text).strip("._") or "_"
    return f"{name}_" if name == "data" else name  # reserved by Every Eval Ever
