"""Differences and metrics as a comparison writes them."""

from collections.abc import Sequence

from ragstone.features.compare.values import Comparison, GatedMetric, MetricComparison
from ragstone.kernel.decimals import scale_text, short, signed_decimal, signed_decimals, unsigned_decimal
from ragstone.kernel.document.numbers import unsigned
from ragstone.kernel.records import NO_MODEL

Scale = tuple[float, float] | None
UNIT_SCALE = (0.0, 1.0)


def size_on(value: float, scale: Scale) -> str:
    """Return a difference without its sign: in points on a scale of 0 to 1, else beside its scale."""
    if scale == UNIT_SCALE:
        points = unsigned_decimal(100 * value, 1).removesuffix(".0")
        return f"{points} point{'' if points == '1' else 's'}"
    if scale is None:
        return f"{unsigned(value)} in the judge's own unit"
    return unsigned(value) + (
        f" on the scale of {scale_text(*scale)}" if scale[0] else f" of {short(scale[1])}"
    )


def signed_points(value: float) -> str:
    """Return a difference of shares in points, with its sign and one decimal."""
    return signed_decimal(100 * value, 1)


def signed_points_range(low: float, high: float) -> str:
    """Return the two ends of a difference of shares in points, both with as many decimals."""
    return signed_decimals(100 * low, 100 * high, 1)


def metric_name(row: MetricComparison | GatedMetric) -> str:
    """Return the judge, with its metric where that has another name."""
    return row.judge if row.judge == row.metric else f"{row.judge}: {row.metric}"


def name_on_scale(row: MetricComparison) -> str:
    """Return the metric, with its scale where that is not 0 to 1."""
    scale = f" ({scale_text(*row.scale)})" if row.scale and row.scale != UNIT_SCALE else ""
    return f"{metric_name(row)}{scale}"


def full_name(row: MetricComparison, comparison: Comparison) -> str:
    """Return the metric, and the system where several are compared."""
    several = len({metric.b.system for metric in comparison.metrics}) > 1
    return f"{metric_name(row)} of {row.b.system}" if several else metric_name(row)


def listed(names: Sequence[str]) -> str:
    """Return one name, or several with `and` before the last."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def in_order(comparison: Comparison) -> list[MetricComparison]:
    """Return the metrics, those by language models before those without."""
    return sorted(comparison.metrics, key=lambda row: row.model == NO_MODEL)
