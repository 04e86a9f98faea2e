"""Whether a threshold is one of a judge's scale: one rule for all that take one.

On a scale of 0 to 100 a threshold of 0.5 was meant for another scale: nearly every answer would pass. So on a
scale wider than 1 it must be at least 1 % above the lowest score.
"""

LEAST_SHARE = 0.01  # of a wide scale


def fits(threshold: float, scale: tuple[float, float]) -> bool:
    """Return whether scores of this scale are on both sides of the threshold."""
    return scale[0] < threshold <= scale[1] and not is_of_another_scale(threshold, scale)


def is_of_another_scale(threshold: float, scale: tuple[float, float]) -> bool:
    """Return whether a threshold is so low on a wide scale that it was meant for one of 0 to 1."""
    low, high = scale
    return high - low > 1 and low < threshold < low + LEAST_SHARE * (high - low)


def off_scale(judge: str, threshold: float, scale: tuple[float, float]) -> str:
    """Return why a threshold cannot be, and what can."""
    low, high = scale
    stated = f"threshold {threshold:g} of judge {judge!r}: its scale is {low:g} to {high:g}"
    if is_of_another_scale(threshold, scale):
        share = low + threshold * (high - low)
        meant = f"Did you mean {share:g}? " if 0 < threshold <= 1 else ""
        return f"{stated}, so nearly every answer would pass. {meant}Give a score of that scale."
    # 60 on a scale of 0 to 1 was meant in percent.
    share = low + threshold / 100 * (high - low)
    meant = f"Did you mean {share:g}? " if (low, high) == (0, 1) and 1 < threshold <= 100 else ""
    return (
        f"{stated}, so every answer would get the same grade. {meant}Give a score above {low:g} and at most "
        f"{high:g}, or none."
    )
