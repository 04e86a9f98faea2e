"""What the charts of a report may say of what is to be seen in them: each sentence with its condition."""

from collections.abc import Sequence

import msgspec

from ragstone.kernel.agreement.card import ReportCard
from ragstone.kernel.document.numbers import number, percent, percent_ends, value_range
from ragstone.kernel.document.plots.tables import share_text
from ragstone.kernel.document.plots.values import PlotPoint, ShareRow
from ragstone.kernel.errors import plural
from ragstone.kernel.runs.wording import judge_name
from ragstone.kernel.sentences import Sentence

DIGITS = 12  # means that differ only after so many digits are one, and tie
MOST_NAMED = 3


class DrawnMeans(msgspec.Struct, frozen=True):
    """The means of one chart, as shares of their scales. n_left_out: with fewer rows, that are not drawn."""

    points: Sequence[PlotPoint]
    n_left_out: int = 0

    @property
    def ordered(self) -> list[PlotPoint]:
        """From the lowest to the highest."""
        return sorted(self.points, key=_value)

    @property
    def is_one_widest(self) -> bool:
        """Whether all have an interval, and one is wider than all others by a hundredth of the scale."""
        widths = [_width(point) for point in self.by_width]
        return len(self.points) == len(widths) > 1 and widths[0] > widths[1] + 0.01

    @property
    def by_width(self) -> list[PlotPoint]:
        """Those with an interval, the widest first."""
        return sorted((point for point in self.points if point.low is not None), key=_width, reverse=True)

    @property
    def has_groups(self) -> bool:
        """Whether they are of several systems or judges, so that no order of all says anything."""
        return len({point.group for point in self.points}) > 1


def _value(point: PlotPoint) -> float:
    return round(point.value or 0.0, DIGITS)


def _width(point: PlotPoint) -> float:
    return (point.high or 0.0) - (point.low or 0.0)


def _widest(means: DrawnMeans) -> dict[str, str]:
    point = means.by_width[0]
    return {
        "name": f"{point.name} ({point.group})" if means.has_groups else point.name,
        "ends": value_range(point.low or 0.0, point.high or 0.0),
        "rows": plural(point.n or 0, "row"),
    }


WIDEST = Sentence[DrawnMeans](
    code="chart-widest-interval",
    text="{name} is known least precisely: its interval, {ends}, is the widest, on {rows}.",
    when="two means or more are drawn, each has an interval (a mean without one is known less "
    "precisely), and one is wider than all others by a hundredth of the scale",
    holds=lambda means: means.is_one_widest,
    needs={
        "name": "judge, with the system where there are several",
        "ends": "95 % interval of the mean, as a share of the judge's scale",
        "rows": "scored rows",
    },
    fills=_widest,
)


def _outer(means: DrawnMeans) -> dict[str, str]:
    low, high = means.ordered[0], means.ordered[-1]
    n = plural(len(means.points), "value")
    return {
        "n": f"the {n} with the most rows" if means.n_left_out else n,
        "low": _those_with(low, means),
        "least": number(low.value or 0.0),
        "high": _those_with(high, means),
        "most": number(high.value or 0.0),
    }


def _those_with(point: PlotPoint, means: DrawnMeans) -> str:
    """Return the names of all that have the mean of this one."""
    names = [each.name for each in means.points if _value(each) == _value(point)]
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


OUTER = Sentence[DrawnMeans](
    code="chart-lowest-and-highest-value",
    text="Of {n}, the lowest mean is {least} ({low}), and the highest {most} ({high}). Among this many, the "
    "lowest and the highest are partly chance: look at their intervals.",
    when="three values or more of a tag have a mean, of one judge and one system, and they are not all alike",
    holds=lambda means: (
        len(means.points) > 2
        and not means.has_groups
        and _value(means.ordered[0]) != _value(means.ordered[-1])
    ),
    needs={
        "n": "values of the tag that have a mean; those drawn where there are more",
        "low": "the values with the lowest mean",
        "least": "that mean, as a share of the scale",
        "high": "the values with the highest mean",
        "most": "that mean",
    },
    fills=_outer,
    never_beside=("chart-widest-interval",),
)


def _alike(rows: Sequence[ShareRow]) -> tuple[float, dict[str, str]]:
    """Return the share of the score that one judge gave most often, and what is said of it."""
    name, score, share, n = max(
        (
            (row.name, label, share, sum(n or 0 for _, _, n in row.parts))
            for row in rows
            for label, share, _ in row.parts
        ),
        key=lambda part: part[2],
    )
    return share, {"judge": name, "score": score, "share": share_text(share), "rows": plural(n, "row")}


def _several(rows: Sequence[ShareRow]) -> list[ShareRow]:
    return [row for row in rows if sum(n or 0 for _, _, n in row.parts) > 1]


ALIKE = Sentence[Sequence[ShareRow]](
    code="chart-scores-alike",
    text="{judge} gave {score} in {share} of {rows}.",
    when="a judge gave one score, or scores of one bin, to more than half of two rows or more; of several "
    "judges one with the largest share",
    holds=lambda rows: bool(judged := _several(rows)) and _alike(judged)[0] > 0.5,
    needs={
        "judge": "the judge, with the system where there are several",
        "score": "the score, or the ends of its bin",
        "share": "share of the scored rows",
        "rows": "rows that the judge scored",
    },
    fills=lambda rows: _alike(_several(rows))[1],
)


def _constant(card: ReportCard) -> dict[str, str]:
    mine, constant = card.agreement.get("exact agreement"), card.constant
    if mine is None or constant is None:
        return {}
    return {
        "judge": judge_name(card),
        "share": percent(mine.value),
        "ends": percent_ends(mine),
        "constant": constant.name,
        "least": percent(constant.exact_agreement.value),
    }


CONSTANT = Sentence[ReportCard](
    code="chart-agreement-beside-constant",
    text="{judge} gives the same grade as people in {share} ({ends}) of the answers; {constant} would "
    "in {least}.",
    when="the card has an exact agreement and that of the most frequent grade",
    holds=lambda card: bool(card.constant and card.agreement.get("exact agreement")),
    needs={
        "judge": "the judge",
        "share": "exact agreement",
        "ends": "its 95 % interval",
        "constant": "the baseline that always gives the most frequent grade",
        "least": "exact agreement of that baseline",
    },
    fills=_constant,
)
SENTENCES = (WIDEST, OUTER, ALIKE, CONSTANT)
