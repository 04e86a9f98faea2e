"""Numbers, intervals, shares, times and money in words, the same wherever something is said."""

from collections.abc import Mapping, Sequence

from ragstone.kernel.decimals import (
    decimal,
    signed_decimal,
    signed_decimals,
    telling_places,
    unsigned_decimal,
)
from ragstone.kernel.statistics import Estimate


def number(value: float) -> str:
    """Return a value with two decimals, one from 20 on, with a true minus sign."""
    return decimal(value, _places((value,)))


def numbers(values: Sequence[float]) -> list[str]:
    """Return values as number does, all with as few decimals as the largest of them."""
    return [decimal(value, _places(values)) for value in values]


def _places(values: Sequence[float]) -> int:
    return 1 if any(abs(value) >= 20 for value in values) else 2


def count(n: int) -> str:
    """Return a whole number with its thousands set apart."""
    return f"{n:,}"


def interval(estimate: Estimate) -> str:
    """Return the interval's ends, without its level."""
    if estimate.low is None or estimate.high is None:
        return "no interval"
    return value_range(estimate.low, estimate.high)


def value_range(low: float, high: float) -> str:
    """Return two ends, as `10.0 to 35.0`: both with as many decimals."""
    return " to ".join(numbers((low, high)))


def signed(value: float) -> str:
    """Return a difference with its sign, also that of a gain."""
    return signed_decimal(value, _places((value,)))


def signed_interval(estimate: Estimate) -> str:
    """Return the ends of a difference's interval."""
    if estimate.low is None or estimate.high is None:
        return "no interval"
    return signed_range(estimate.low, estimate.high)


def signed_range(low: float, high: float) -> str:
    """Return the two ends of a difference, as `−5.0 to +35.0`: both with as many decimals."""
    return signed_decimals(low, high, _places((low, high)))


def unsigned(value: float) -> str:
    """Return how large a difference is, for words that say which way."""
    return unsigned_decimal(value, _places((value,)))


def signed_with_ends(difference: Estimate) -> str:
    """Return `+0.12 (−0.03 to +0.27)`."""
    return f"{signed(difference.value)} ({signed_interval(difference)})"


def size_with_ends(value: float, low: float | None, high: float | None) -> str:
    """Return `0.12 (0.03 to 0.21)`, for words that say which way: no plus, but a minus.

    All three have as many decimals as tell them from 0.
    """
    if low is None or high is None:
        return f"{unsigned(value)} (no interval)"
    values = value, low, high
    places = telling_places(values, _places(values))
    size, *ends = (decimal(each, places) for each in values)
    return f"{size} ({' to '.join(ends)})"


def p_value(p: float) -> str:
    """Return a p-value with two decimals, three below 0.1, and a bound below 0.001."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}" if p < 0.1 else f"{p:.2f}"


def p_told(p: float) -> str:
    """Return `p = 0.034`, `p < 0.001`."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}".rstrip("0").rstrip(".")


def people(n: int) -> str:
    """Return `1 person`, `2 people`."""
    return f"{count(n)} {'person' if n == 1 else 'people'}"


def seconds(value: float) -> str:
    """Return a time with two digits and a unit: `0.35 ms`, `12 ms`, `1.4 s`, `320 s`."""
    if value >= 1:
        return f"{value:.1f} s" if value < 10 else f"{value:,.0f} s"
    ms = value * 1000
    return f"{ms:.2f} ms" if ms < 1 else f"{ms:.1f} ms" if ms < 10 else f"{ms:.0f} ms"


def level(estimate: Estimate) -> str:
    """Return the level of an interval, as `95 %`."""
    return f"{estimate.level * 100:g} %"


def with_level(estimate: Estimate | None) -> str:
    """Return `95 % interval 0.68 to 0.76`, empty where there is no estimate."""
    if estimate is None:
        return ""
    if estimate.low is None:
        alike = "all rows are alike, or belong to one group"
        return f"no interval: {'there is one row' if estimate.n == 1 else alike}"
    return f"{level(estimate)} interval {interval(estimate)}"


def with_ends(estimate: Estimate | None) -> str:
    """Return `0.91 (0.89 to 0.93)`, empty where there is no estimate."""
    return f"{number(estimate.value)} ({interval(estimate)})" if estimate else ""


def percent(share: float) -> str:
    """Return a share in per cent, `12 %`, with a decimal below ten."""
    return f"{_percent(share, _percent_places(share))} %"


def percent_ends(estimate: Estimate) -> str:
    """Return the ends of a share's interval, as `12 to 21 %`."""
    if estimate.low is None or estimate.high is None:
        return "no interval"
    return percent_range(estimate.low, estimate.high)


def percent_range(low: float, high: float) -> str:
    """Return two shares in per cent, as `3.1 to 21.4 %`: both with a decimal if one of them has it."""
    places = max(map(_percent_places, (low, high)))
    return f"{_percent(low, places)} to {_percent(high, places)} %"


def _percent(share: float, places: int) -> str:
    return decimal(100 * share, places)


def _percent_places(share: float) -> int:
    return 1 if 0 < abs(100 * share) < 9.95 else 0


def one_line(text: str, most: int) -> str:
    """Return a text on one line of at most so many characters, its beginning if it is longer."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def usd(amount: float) -> str:
    """Return a sum of money; below one dollar with four decimals."""
    return f"{amount:.4f} USD" if amount < 1 else f"{amount:,.2f} USD"


def duration(seconds: float) -> str:
    """Return a time in words: `40 s`, `3 min`, `2.5 h`."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def counted(counts: Mapping[str, int]) -> str:
    """Return the rows of each kind, as `365 questions · 1 answer`. counts: kind, in the plural -> rows."""
    return " · ".join(
        f"{count(n)} {kind.removesuffix('s') if n == 1 else kind}" for kind, n in counts.items() if n
    )
