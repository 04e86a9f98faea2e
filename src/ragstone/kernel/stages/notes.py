"""What a reader must know of judgements before trusting their numbers, in plain sentences."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from shlex import quote
from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec import UNSET
from msgspec.structs import replace

from ragstone.kernel.config import Settings
from ragstone.kernel.document.numbers import count
from ragstone.kernel.errors import plural
from ragstone.kernel.judging import Judge, MetricSummary, Tally
from ragstone.kernel.judging.fields import members_of
from ragstone.kernel.judging.finding import lacks
from ragstone.kernel.judging.noise import NoiseTally
from ragstone.kernel.judging.savings import CascadeSavings, CascadeTally
from ragstone.kernel.records import NO_MODEL, Judgement
from ragstone.kernel.runs.summary import Calls, RunSummary
from ragstone.kernel.version import __version__

if TYPE_CHECKING:
    from ragstone.kernel.agreement.card import ReportCard
    from ragstone.kernel.corpus.file import Skipped
    from ragstone.kernel.engine.session import Session

MOST_MESSAGE = 300  # characters of a message


def masking_notes(settings: Settings) -> list[str]:
    """Return the note that models saw placeholders, none where nothing was masked."""
    if not settings.privacy.mask:
        return []
    return [
        "Models were shown placeholders instead of personal data. A name is found only where a text says "
        "that it is one."
    ]


SHOWN = 3
AGAIN = "When that is solved, run the same command again: only they are asked again."
NO_FAILURE_OF_JUDGES = ("scored", "not_applicable", "app_error")
BY_ID = "or as a file of questions with the same ids: --questions FILE."
# What a judge reads of a row -> where it comes from.
COLUMNS = {
    "reference": f"Put references into a column `reference` of the answer sheet, {BY_ID}",
    "question": f"Put questions into a column `question` of the answer sheet, {BY_ID}",
    "contexts": "Put contexts, the texts that the answer was made from, into its column `contexts`.",
}
# Metric -> the judge without a model that is named where none stands beside a language model.
BASELINES = {"correctness": "containment", "faithfulness": "grounding", "answered": "no_refusal"}


def plain_notes(
    metrics: Sequence[MetricSummary],
    cards: "Sequence[ReportCard]" = (),
    skipped: "Sequence[Skipped]" = (),
    missing: Mapping[str, Sequence[str]] = MappingProxyType({}),
    *,
    judges: Iterable[Judge] = (),
    judgements: str = "judgements.jsonl",
) -> list[str]:
    """Return the notes: what the corpus lacks, judgements that failed, judges nobody has measured.

    missing: question id -> documents that it names and the corpus lacks. judges: whose thresholds may have
    been fitted with another model. judgements: their file, as whoever
    reads the notes names it.
    """
    notes = []
    if skipped:
        named = "; ".join(f"{file.path} ({file.reason})" for file in skipped[:SHOWN])
        n = "1 file or row" if len(skipped) == 1 else f"{count(len(skipped))} files or rows"
        notes.append(f"{n} gave no document: {named}{_more(skipped)}.")
    if missing:
        verb = "names" if len(missing) == 1 else "name"
        notes.append(
            f"{plural(len(missing), 'question')} {verb} documents that the corpus lacks: "
            f"{', '.join(list(missing)[:SHOWN])}{_more(missing)}. No retriever can find those, so the rank "
            "measures are too low."
        )
    notes += failure_notes(metrics)
    notes += repeat_notes(metrics)
    notes += lacking_notes(metrics)
    carded = {(card.judge, card.model) for card in cards}
    judged = {(m.judge, m.model) for m in metrics if m.model != NO_MODEL and m.statuses.get("scored")}
    unmeasured = sorted({judge for judge, _ in judged - carded})
    if unmeasured:
        notes.append(
            f"Not measured against people with this model: {', '.join(unmeasured)}. "
            f"Label some of the answers and run: ragstone agree {quote(judgements)} labels.jsonl"
        )
    # A language model alone has judged what a baseline could have judged too.
    by_model = {metric.metric for metric in metrics if metric.model != NO_MODEL}
    free = {metric.metric for metric in metrics if metric.model == NO_MODEL}
    if alone := [metric for metric in BASELINES if metric in by_model - free]:
        baselines = " ".join(f"--judge {BASELINES[metric]}" for metric in alone)
        notes.append(
            f"There is no baseline for {', '.join(alone)}. {baselines} calls no model and costs nothing: if "
            "a language model does no better, do not pay for it."
        )
    return notes + fitted_notes(judges, metrics, cards)


def failure_notes(metrics: Sequence[MetricSummary]) -> list[str]:
    """Return the notes on judgements that failed; criteria of a judge that fail alike have one together."""
    n_criteria = Counter((metric.judge, metric.model, metric.system) for metric in metrics)
    alike: dict[tuple[tuple[str, str, str], int, int, str], list[str]] = {}
    for metric in metrics:
        if n := _n_failed(metric):
            left_out = "the mean leaves them out" if metric.statuses.get("scored") else "there is no mean"
            why = (
                f"{left_out}; the field `error` says why{':' if metric.errors else '.'} "
                f"{commonest_error(Counter(metric.errors))}{AGAIN}"
            )
            key = (metric.judge, metric.model, metric.system), n, metric.n_rows, why
            alike.setdefault(key, []).append(metric.metric)
    notes = []
    for ((judge, model, system), n, n_rows, why), names in alike.items():
        of = "" if len(names) == n_criteria[judge, model, system] else f": {', '.join(names)}"
        each = " of each criterion" if len(names) > 1 else ""
        notes.append(f"{judge}{of} of {system}: {n} of {plural(n_rows, 'judgement')}{each} failed, and {why}")
    return notes


def repeat_notes(metrics: Sequence[MetricSummary]) -> list[str]:
    """Return a note for each system with repeated answers: how many, and how they count."""
    notes = []
    for name in dict.fromkeys(metric.system for metric in metrics):
        known = [m.repeats for m in metrics if m.system == name and m.repeats is not UNSET]
        repeats = max(known, key=lambda repeats: repeats.n_questions, default=None)
        if repeats is None or repeats.most == 1:
            continue
        fewer = f" ({repeats.n_fewer} of {repeats.n_questions} have fewer)" if repeats.n_fewer else ""
        notes.append(
            f"{name}: {repeats.most} answers to each question{fewer}. A mean counts a question once, by the "
            f"mean of its answers: its interval is that of {plural(repeats.n_questions, 'question')}."
        )
    for metric in metrics:
        if metric.repeats is not UNSET and metric.repeats.n_k_of_n:
            n, short = metric.repeats.n_k_of_n, metric.repeats.n_short
            note = (
                f"{metric.judge} of {metric.system}: `pass` in `expect` says, for {plural(n, 'question')}, "
                "how many answers must pass. Such a question counts 1 if that many do, else 0."
            )
            if short:
                note += (
                    f" Not counted: {plural(short, 'question')} with fewer answers than `pass` names. Answer "
                    "with --repeats."
                )
            notes.append(note)
    return notes


def lacking_notes(metrics: Sequence[MetricSummary]) -> list[str]:
    """Return a note for each judge some of whose rows lack what it reads, with what to do about it."""
    # The criteria of a rubric share their rows: the first metric of a judge counts them.
    firsts = {(metric.judge, metric.system): metric for metric in reversed(metrics)}
    n_rows: Counter[str] = Counter()
    n_lacking: Counter[tuple[str, str]] = Counter()
    for metric in reversed(firsts.values()):
        n_rows[metric.judge] += metric.n_rows
        for name in COLUMNS:
            n_lacking[metric.judge, name] += metric.reasons.get(lacks(name), 0)
    alike: dict[tuple[int, int, str], list[str]] = {}
    for (judge, name), n in n_lacking.items():
        alike.setdefault((n, n_rows[judge], name), []).append(judge)
    return [
        f"{', '.join(judges)}: {n} of {plural(of, 'row')} {'has' if n == 1 else 'have'} no {name}, so there "
        f"is no score for {'it' if n == 1 else 'them'}. "
        f"{COLUMNS[name]}"
        for (n, of, name), judges in alike.items()
        if n
    ]


def unscored_note(metrics: Sequence[MetricSummary]) -> str:
    """Return why a run without a score has none, and what to do."""
    if not metrics:
        return "Judge its answers first: ragstone judge RUN/answers.jsonl --judge correctness -o RUN"
    scoring = [metric for metric in metrics if not metric.labels]
    if not scoring:
        return (
            "Its judges give labels that mean neither right nor wrong: judge its answers with a judge of "
            "right and wrong, e.g. correctness."
        )
    why = (
        "The field `error` of judgements.jsonl says why; run again to retry calls that failed."
        if any(map(_n_failed, scoring))
        else "The field `rationale` of judgements.jsonl says why."
    )
    return " ".join(lacking_notes(scoring)) or why


def fitted_notes(
    judges: Iterable[Judge], metrics: Sequence[MetricSummary], cards: "Sequence[ReportCard]" = ()
) -> list[str]:
    """Return a note for each judge asked of another model than its thresholds were fitted with.

    None where a report card says how good it is with this one.
    """
    pairs = {(metric.judge, metric.model): None for metric in metrics if metric.model != NO_MODEL}
    for card in cards:
        pairs.pop((card.judge, card.model), None)
    return [
        f"The threshold of {fitted.name} was fitted with {fitted.fitted_with}, and {model} was asked, with "
        "which it may separate right from wrong less well. Labels of some of the answers show how well: "
        "ragstone agree."
        for judge in judges
        for fitted in judge.identities()
        for name, model in pairs
        if name == judge.name and not fitted.was_fitted_with(model)
    ]


def _n_failed(metric: MetricSummary) -> int:
    """Return how many judgements failed by the judge; those of answers that failed are told by themselves."""
    return sum(n for status, n in metric.statuses.items() if status not in NO_FAILURE_OF_JUDGES)


def failures_line(metrics: Sequence[MetricSummary]) -> str:
    """Return how many judgements failed, the commonest reason, and what to do; "" where none failed."""
    failed = sum(map(_n_failed, metrics))
    if not failed:
        return ""
    errors = Counter[str]()
    for metric in metrics:
        errors.update(metric.errors)
    return f"{plural(failed, 'judgement')} failed{':' if errors else '.'} {commonest_error(errors)}{AGAIN}"


def commonest_error(errors: Counter[str]) -> str:
    """Return the commonest reason as a sentence, how often it is where there are others; "" of none."""
    if not errors:
        return ""
    message, n_alike = errors.most_common(1)[0]
    text = message if len(message) <= MOST_MESSAGE else message[:MOST_MESSAGE] + " …"
    alike = f"The commonest reason, {n_alike} times: " if n_alike > 1 else "One of the reasons: "
    alike = alike if len(errors) > 1 else ""
    return f"{alike}{text.removesuffix('.')}. "


def _more(rows: Sequence[object] | Mapping[str, object]) -> str:
    return f" and {len(rows) - SHOWN} more" if len(rows) > SHOWN else ""


def judgements_alone(
    name: str,
    metrics: list[MetricSummary],
    cascades: list[CascadeSavings],
    noise: NoiseTally | None = None,
    *,
    seed: int = 0,
) -> RunSummary:
    """Return what judgements alone say: their means, what cascades saved, and what to know of them.

    name: of the run, or the path of the judgements' file. noise: of the same judgements.
    """
    parts = Path(name).parts  # no more of the path, which is another one on each machine
    file = "/".join(parts[-3:] if parts[-3:-2] == ("runs",) else parts[-1:])
    by_system = {metric.system: (metric.statuses.get("app_error", 0), metric.n_rows) for metric in metrics}
    failed_answers = [  # system_notes also knows which
        f"{system}: {n} of {n_rows} answers failed, and leave nothing to judge; the field `error` says why."
        for system, (n, n_rows) in by_system.items()
        if n
    ]
    return RunSummary(
        name=name,
        version=__version__,
        models={},
        counts={"judgements": sum(metric.n_rows for metric in metrics)},
        retrieval=[],
        metrics=metrics,
        cards=[],
        calls=Calls(),
        notes=failed_answers
        + plain_notes(metrics, judgements=file if Path(name).suffix else "judgements.jsonl")
        + (noise.notes() if noise else []),
        cascades=cascades,
        components=(noise and noise.components(seed)) or UNSET,
    )


class JudgementTally:
    """Counts judgements as they stream past, for the numbers of the answers that a session judges."""

    def __init__(self) -> None:
        self._scores, self._cascades, self._noise = Tally(), CascadeTally(), NoiseTally()

    def add(self, row: Judgement) -> None:
        """Count one judgement."""
        self._scores.add(row)
        self._cascades.add(row)
        self._noise.add(row)

    def summary(self, name: str, session: "Session", judges: Sequence[Judge], n_answers: int) -> RunSummary:
        """Return the numbers, what they cost, and what to know of them. name: as of judgements_alone."""
        seed = session.settings.run.seed
        alone = judgements_alone(
            name, self._scores.summaries(seed), self._cascades.savings(), self._noise, seed=seed
        )
        return replace(
            alone,
            models=session.roles(members_of(judges)),
            counts={"answers": n_answers, **alone.counts},
            calls=session.calls(),
            notes=alone.notes + fitted_notes(judges, alone.metrics) + masking_notes(session.settings),
        )
