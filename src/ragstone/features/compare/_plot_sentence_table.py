"""What the plots of a comparison may say of what is to be seen in them: each sentence with its condition."""

import msgspec

from ragstone.features.compare._sizes import full_name, listed, size_on
from ragstone.features.compare.values import Comparison, MetricComparison, ScoreMoves
from ragstone.kernel.document.numbers import count
from ragstone.kernel.document.plots.tables import share_text
from ragstone.kernel.errors import plural
from ragstone.kernel.sentences import Sentence
from ragstone.kernel.statistics import Estimate


def drawn_difference(row: MetricComparison) -> tuple[Estimate, tuple[float, float] | None]:
    """Return the difference that the verdict follows, with its scale: people's, where they have labelled."""
    if row.corrected:
        return row.corrected.corrected, row.corrected.scale
    return row.difference, row.scale


def _sides(comparison: Comparison) -> dict[str, list[MetricComparison]]:
    """Return the metrics with an interval by where it lies; an end at 0 holds it."""
    sides: dict[str, list[MetricComparison]] = {"above": [], "below": [], "holds": []}
    for row in comparison.metrics:
        estimate, scale = drawn_difference(row)
        if scale is None or estimate.low is None or estimate.high is None:
            continue
        side = "above" if estimate.low > 0 else "below" if estimate.high < 0 else "holds"
        sides[side].append(row)
    return sides


def _beyond(comparison: Comparison) -> list[MetricComparison]:
    sides = _sides(comparison)
    return [*sides["above"], *sides["below"]]


SIDES = {
    "above": "wholly above 0",
    "below": "wholly below 0",
    "holds": "that include 0, the line of no difference",
}


def _counts(comparison: Comparison) -> dict[str, str]:
    sides = _sides(comparison)
    open_rows = [row for row in _beyond(comparison) if row.verdict == "cannot tell"]
    shown_rows = [row for row in sides["holds"] if row.verdict != "cannot tell"]
    family = max((row.family for row in comparison.metrics), default=1)
    return {
        "corrected": f" that are corrected for all {count(family)} metrics" if family > 1 else "",
        "shown": listed([full_name(row, comparison) for row in shown_rows]) if shown_rows else "",
        "intervals": plural(sum(map(len, sides.values())), "interval"),
        "parts": ", ".join(
            f"{count(len(sides[side]))} {direction}" for side, direction in SIDES.items() if sides[side]
        ),
        "metrics": listed([full_name(row, comparison) for row in open_rows]) if open_rows else "",
    }


INTERVALS = "metrics with a scale whose difference has an interval"
ALL_HOLD = Sentence[Comparison](
    code="compare-plot-all-hold-zero",
    text="Each of {intervals} includes 0, the line of no difference.",
    when="two intervals or more are drawn, and none lies wholly on one side of 0",
    holds=lambda comparison: len(_sides(comparison)["holds"]) > 1 and not _beyond(comparison),
    needs={"intervals": INTERVALS},
    fills=_counts,
)
BEYOND = Sentence[Comparison](
    code="compare-plot-beyond-zero",
    text="Intervals of the differences: {parts}.",
    when="two intervals or more are drawn, and at least one lies wholly on one side of 0",
    holds=lambda comparison: sum(map(len, _sides(comparison).values())) > 1 and bool(_beyond(comparison)),
    needs={
        "parts": "how many have both ends above 0, both below 0, and how many others; those there are",
    },
    fills=_counts,
    never_beside=("compare-plot-all-hold-zero",),
)
STILL_OPEN = Sentence[Comparison](
    code="compare-plot-open-beside-zero",
    text="The verdicts rest on tests{corrected}, not on these intervals; they cannot tell for {metrics}.",
    when="an interval lies wholly on one side of 0, and the verdict of its metric is `cannot tell`",
    holds=lambda comparison: any(row.verdict == "cannot tell" for row in _beyond(comparison)),
    needs={
        "corrected": "of how many tests each is corrected for, where there are several",
        "metrics": "metrics for which this is so",
    },
    fills=_counts,
    never_beside=("compare-plot-all-hold-zero",),
)
SHOWN_OVER_ZERO = Sentence[Comparison](
    code="compare-plot-shown-over-zero",
    text="The verdicts rest on tests{corrected}, not on these intervals; they show a difference in {shown}, "
    "whose interval includes 0.",
    when="not compare-plot-open-beside-zero; an interval holds 0, and the verdict of its metric is better or "
    "worse",
    holds=lambda comparison: any(row.verdict != "cannot tell" for row in _sides(comparison)["holds"]),
    needs={
        "corrected": "of how many tests each is corrected for, where there are several",
        "shown": "metrics for which this is so",
    },
    fills=_counts,
)


class DrawnMoves(msgspec.Struct, frozen=True):
    """The questions of one metric, by where their scores went."""

    row: MetricComparison
    moves: ScoreMoves


def _moved(drawn: DrawnMoves) -> dict[str, str]:
    moves = drawn.moves
    n = moves.n_up + moves.n_down + moves.n_same
    furthest = max((abs(move.score_b - move.score_a) for move in moves.largest), default=0.0)
    return {
        "questions": plural(n, "question"),
        "up": count(moves.n_up),
        "down": count(moves.n_down),
        "same": count(moves.n_same),
        "share": share_text(moves.n_same / n) if n else "",
        "furthest": size_on(furthest, drawn.row.scale),
    }


MOVED = Sentence[DrawnMoves](
    code="compare-plot-moves",
    text="Of {questions}, {up} have a higher score in B, {down} a lower one, and {same} ({share}) the same; "
    "the largest move is {furthest}.",
    when="the score of at least one question differs",
    holds=lambda drawn: drawn.moves.n_up + drawn.moves.n_down > 0,
    needs={
        "questions": "questions that both have scored",
        "up": "of these, questions with a higher score in B",
        "down": "of these, questions with a lower score in B",
        "same": "of these, questions with the same score in both",
        "share": "that count as a share of them",
        "furthest": "largest difference of a question, without its sign, on the scale of the metric",
    },
    fills=_moved,
    never_beside=("compare-same-scores",),
)


SENTENCES = (ALL_HOLD, BEYOND, STILL_OPEN, SHOWN_OVER_ZERO, MOVED)
