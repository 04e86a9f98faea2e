"""Report cards -> one page that opens anywhere and asks nothing of any network."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from ragstone.agreement import Calibration, Group, ReportCard
from ragstone.report import card_words
from ragstone.report.card_bidi import contained
from ragstone.report.render.html import asset, environment, policy, put_page, safe
from ragstone.statistics import Estimate
from ragstone.version import __version__

SIDE, EDGE = 300, 36  # of the calibration plot: its square, and the room for its labels
WIDTH = 240  # of a line of the plot of biases


class Dot(msgspec.Struct, frozen=True):
    """A bin of the calibration plot: where it stands, the ends of its interval, its radius, its words."""

    x: float
    y: float
    low: float
    high: float
    radius: float
    words: str


class Line(msgspec.Struct, frozen=True):
    """An estimate drawn on a scale that is shared with others: the places of 0, its ends and its value."""

    zero: float
    low: float
    high: float
    at: float


def write_cards(path: Path, cards: Sequence[ReportCard]) -> Path:
    """Write the cards as a page, in place of one that is there. Raises DataError where it cannot be."""
    return put_page(path, render_cards(cards))


def render_cards(cards: Sequence[ReportCard]) -> str:
    """Return the cards as one HTML document."""
    css = asset("page.css") + style()
    return (
        environment()
        .get_template("card.html")
        .render(
            words_of_cards(),
            cards=[contained(card) for card in cards],
            version=__version__,
            css=safe(css),
            policy=policy(css),
        )
    )


def style() -> str:
    """Return what cards need beside the style of every page."""
    return asset("bench.css") + asset("card.css")


def words_of_cards() -> dict[str, object]:
    """Return what the templates of a card call: its words, its drawings, and their measures."""
    words = {name: value for name, value in vars(card_words).items() if callable(value) or name.isupper()}
    return {
        **words,
        "contained": contained,
        "dots": dots,
        "bias_line": bias_line,
        "shade": shade,
        "side": SIDE,
        "edge": EDGE,
    }


def shade(n: int, row: Sequence[int]) -> int:
    """Return how dark a cell of the confusion matrix is, 0 to 5: by its share of people's grade."""
    total = sum(row)
    return round(5 * n / total) if total else 0


def dots(calibration: Calibration) -> list[Dot]:
    """Return the bins of the calibration plot: the mean score to the right, the share of right upwards."""
    most = max(found.right.n for found in calibration.bins)
    return [
        Dot(
            x=_to_right(found.mean),
            y=_upwards(found.right.value),
            low=_upwards(found.right.value if found.right.low is None else found.right.low),
            high=_upwards(found.right.value if found.right.high is None else found.right.high),
            radius=round(3 + 7 * (found.right.n / most) ** 0.5, 1),
            words=f"score {found.low:.1f} to {found.high:.1f}: {card_words.with_interval(found.right)} right "
            f"of {found.right.n:,}",
        )
        for found in calibration.bins
    ]


def _to_right(share: float) -> float:
    return round(EDGE + share * SIDE, 1)


def _upwards(share: float) -> float:
    return round(8 + (1 - share) * SIDE, 1)


def bias_line(estimate: Estimate, groups: Sequence[Group]) -> Line:
    """Return where a bias stands on the scale that holds those of all groups and 0."""
    ends = [0.0]
    for group in groups:
        if group.bias:
            found = (group.bias.value, group.bias.low, group.bias.high)
            ends += [end for end in found if end is not None]
    low, high = min(ends), max(ends)
    room = (high - low) or 1.0

    def place(value: float | None) -> float:
        return round(8 + (WIDTH - 16) * ((estimate.value if value is None else value) - low) / room, 1)

    return Line(place(0.0), place(estimate.low), place(estimate.high), place(estimate.value))
