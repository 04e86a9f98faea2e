"""What people's labels make of a difference, in words: each sentence beside its condition."""

from collections.abc import Sequence

from ragstone.features.compare._taste import favoured
from ragstone.features.compare.values import LengthSlope, MetricComparison
from ragstone.kernel.agreement.corrected_difference import CorrectedDifference
from ragstone.kernel.document.numbers import count, level, number, plural
from ragstone.kernel.statistics import Estimate

Scale = tuple[float, float] | None
UNIT_SCALE = (0.0, 1.0)


def size_on(value: float, scale: Scale) -> str:
    """Return a difference without its sign: in points on a scale of 0 to 1, else beside its scale."""
    if scale == UNIT_SCALE:
        points = f"{abs(value) * 100:.1f}".removesuffix(".0")
        return f"{points} point{'' if points == '1' else 's'}"
    if scale is None:
        return f"{number(abs(value))} in the judge's own unit"
    low, high = scale
    return number(abs(value)) + (f" on the scale of {low:g} to {high:g}" if low else f" of {high:g}")


def people_told(row: MetricComparison) -> list[str]:
    """Return what people would see, how sure that is, and whom the judge favours; nothing without labels."""
    people = row.corrected
    if people is None:
        return []
    there = people.corrected
    interval = "no interval: too few pairs are labelled"
    if there.low is not None and there.high is not None:
        interval = f"{level(there)} interval {signed(there.low)} to {signed(there.high)}"
    judges = signed(row.difference.value)
    return [
        f"People would see {signed(there.value)} ({interval}); the judge sees {judges}.",
        f"People have labelled both answers to {count(people.n_labelled)} of "
        f"{plural(people.n_rows, 'question')}.",
        *_worth(people),
        *favour_told(people.flattery, people.scale),
        *(_length(row.length, people.scale) if row.length else []),
        *(_outlook(people) if row.verdict == "cannot tell" else []),
        *people.notes,
    ]


def _worth(people: CorrectedDifference) -> list[str]:
    """Return what the judge adds to the labels; nothing where there is no interval, or nothing to add."""
    if people.corrected.low is None or people.n_labelled == people.n_rows:
        return []
    pairs = plural(people.n_labelled, "labelled pair")
    if round(people.worth) > people.n_labelled:
        return [f"With the judge, {pairs} are worth {count(round(people.worth))}."]
    return [f"The judge's scores make it no surer than {pairs} alone."]


def favour_told(favour: Estimate | None, scale: Scale) -> list[str]:
    """Return whom the judge favours beside what people say, or how far that is not excluded."""
    if favour is None or favour.low is None or favour.high is None:
        return []
    side = favoured(favour)
    if side:
        near, far = sorted((abs(favour.low), abs(favour.high)))
        return [
            f"The judge favours {side} by {size_on(favour.value, scale)} beyond "
            "what people "
            f"give ({level(favour)} interval {size_on(near, scale)} to {size_on(far, scale)})."
        ]
    return [
        f"That it favours one side is not shown: up to {size_on(favour.high, scale)} for B and "
        f"{size_on(favour.low, scale)} for A are not excluded."
    ]


def _length(length: LengthSlope, scale: Scale) -> list[str]:
    slope = length.slope
    if slope.low is None or slope.high is None:
        return []
    if slope.low > 0 or slope.high < 0:
        near, far = sorted((abs(slope.low), abs(slope.high)))
        more = "more" if slope.low > 0 else "less"
        return [
            f"It gives an answer that is twice as long {size_on(slope.value, scale)} {more} than people do "
            f"({size_on(near, scale)} to {size_on(far, scale)}); B's answers are {number(length.ratio)} "
            "times as long as "
            "A's."
        ]
    most = max(abs(slope.low), abs(slope.high))
    return [
        f"Nor that it favours length: up to {size_on(most, scale)} for an answer twice as long are not "
        "excluded."
    ]


def _outlook(people: CorrectedDifference) -> list[str]:
    """Return what labels it takes to tell more; nothing where there is no interval."""
    if people.corrected.low is None or not people.corrected.value:
        return []
    if people.to_decide is None:
        return [
            f"Labels of all {plural(people.n_rows, 'question')} would not find a difference as small as this "
            "one 4 times out of 5: that takes more questions."
        ]
    halve = "" if people.to_halve is None else f"; to halve the interval takes {count(people.to_halve)}"
    return [
        f"A difference as large as this one would be found 4 times out of 5 with "
        f"{count(people.to_decide)} labelled pairs in all{halve}."
    ]


def signed(value: float) -> str:
    """Return a difference with its sign, also that of a gain."""
    text = number(value)
    return text if text.startswith("−") or float(text) == 0 else f"+{text}"


def labelled(rows: Sequence[MetricComparison]) -> list[tuple[MetricComparison, CorrectedDifference]]:
    """Return the metrics that labels correct."""
    return [(row, row.corrected) for row in rows if row.corrected]
