"""A number as text: its decimals, a true minus sign, and the sign of a difference, by one rule.

Zero has no sign. A difference has one, and so has each end of its interval; one that is not 0 is not shown
as 0.
"""

from collections.abc import Sequence

MOST = 6  # decimals; what would take more is the noise of floating point


def decimal(value: float, places: int = 2) -> str:
    """Return a value with so many decimals: `0.00`, `−0.12`."""
    return f"{value:z.{places}f}".replace("-", "−")


def short(value: float) -> str:
    """Return a value with as many digits as it has, six at most: `1`, `−0.5`."""
    return f"{value:zg}".replace("-", "−")


def scale_text(low: float, high: float) -> str:
    """Return the two ends of a scale: `0 to 1`, `−1 to 1`."""
    return f"{short(low)} to {short(high)}"


def signed_decimal(value: float, places: int = 2) -> str:
    """Return a difference with so many decimals, or as many as tell it from 0: `+0.12`, `+0.004`."""
    return _with_sign(value, telling_places((value,), places))


def unsigned_decimal(value: float, places: int = 2) -> str:
    """Return how large a difference is, for words that say which way: `0.12`, `0.004`."""
    return decimal(abs(value), telling_places((value,), places))


def signed_decimals(low: float, high: float, places: int = 2) -> str:
    """Return the two ends of a difference, as signed_decimal does, both with as many decimals."""
    telling = telling_places((low, high), places)
    return f"{_with_sign(low, telling)} to {_with_sign(high, telling)}"


def telling_places(values: Sequence[float], places: int) -> int:
    """Return how many decimals it takes, from `places` on, to show no value as 0 that is not."""
    apart = [abs(value) for value in values if round(value, MOST)]
    return next((n for n in range(places, MOST) if all(round(value, n) for value in apart)), MOST)


def _with_sign(value: float, places: int) -> str:
    text = decimal(value, places)
    return text if text.startswith("−") or not text.strip("0.") else f"+{text}"
