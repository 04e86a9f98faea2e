"""What a reader must know before trusting a run's numbers, in plain sentences."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from ragstone.agreement import ReportCard
from ragstone.corpus import Skipped
from ragstone.judging import MetricSummary

SHOWN = 3


def plain_notes(
    metrics: Sequence[MetricSummary],
    cards: Sequence[ReportCard] = (),
    skipped: Sequence[Skipped] = (),
    missing: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> list[str]:
    """Return the notes: what the corpus lacks, judgements that failed, judges nobody has measured.

    missing: question id -> documents that it names and the corpus lacks.
    """
    notes = []
    if skipped:
        named = "; ".join(f"{one.path} ({one.reason})" for one in skipped[:SHOWN])
        notes.append(f"{len(skipped)} files gave no document: {named}{_more(skipped)}.")
    if missing:
        notes.append(
            f"{len(missing)} questions name documents that the corpus lacks: "
            f"{', '.join(list(missing)[:SHOWN])}{_more(missing)}. No retriever can find those, so the rank "
            "measures are too low."
        )
    notes += [_failed(metric) for metric in metrics if _n_failed(metric)]
    carded = {(card.judge, card.model) for card in cards}
    judged = {(m.judge, m.model) for m in metrics if m.model != "none" and m.estimate}
    unmeasured = sorted({judge for judge, _ in judged - carded})
    if unmeasured:
        notes.append(
            f"Nobody has measured these judges against people with this model: {', '.join(unmeasured)}. "
            "Label some of the answers and run: ragstone agree judgements.jsonl labels.jsonl"
        )
    return notes


def _n_failed(metric: MetricSummary) -> int:
    return sum(n for status, n in metric.statuses.items() if status not in ("scored", "not_applicable"))


def _failed(metric: MetricSummary) -> str:
    return (
        f"{metric.judge} of {metric.system}: {_n_failed(metric)} of {metric.n_rows} judgements failed, and "
        "the mean leaves them out; the field `error` says why. Run again to retry calls that got no answer."
    )


def _more(rows: Sequence[object] | Mapping[str, object]) -> str:
    return f" and {len(rows) - SHOWN} more" if len(rows) > SHOWN else ""
