"""Labels as people bring them -> labels of the metrics that were judged."""

from collections.abc import Collection, Sequence

import msgspec

from ragstone.kernel.records import Label
from ragstone.kernel.tables.names import fold

USUAL = "correctness"
"""What people mean who label answers right or wrong, and name no metric."""


def with_metrics(labels: Sequence[Label], metrics: Collection[str]) -> tuple[list[Label], str | None]:
    """Return labels with their metrics, and what is to be told of it.

    A label that names none speaks of the metric after which its column is named, else of correctness, where
    that was judged beside others; else of whatever metric it is compared with.
    """
    known = {fold(metric): metric for metric in metrics}
    usual = USUAL if USUAL in metrics and len(metrics) > 1 else None
    named = [
        msgspec.structs.replace(
            label,
            metric=known.get(fold(label.metric), label.metric)
            if label.metric
            else _criterion(label, known) or usual,
        )
        for label in labels
    ]
    guessed = [
        named_label
        for named_label, label in zip(named, labels, strict=True)
        if label.metric is None and named_label.metric == usual
    ]
    if usual is None or all(_criterion(label, known) for label in guessed):
        return named, None
    others = ", ".join(sorted(set(metrics) - {USUAL}))
    return named, (
        f"The labels name no metric and are taken for {USUAL}. To compare them with another, use --metric: "
        f"{others}."
    )


def _criterion(label: Label, known: dict[str, str]) -> str | None:
    """Return the metric that the column of a label is named after, None where it is named after none."""
    column = (label.metadata or {}).get("criterion")
    return known.get(fold(column)) if isinstance(column, str) else None
