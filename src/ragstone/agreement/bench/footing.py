"""On what footing the cells of a bench are compared: the same for all, on the same answers.

Each footing gives every answer a worth whose mean is the measure, so that the tests are the same for all.
"""

from collections.abc import Iterable, Mapping, Sequence

import msgspec
import numpy as np

from ragstone.agreement.bench.grid import JudgeCell
from ragstone.agreement.comparison import YES_NO, Comparison, compare
from ragstone.config import AgreementMeasure
from ragstone.errors import DataError
from ragstone.records import Label
from ragstone.statistics import Floats, exact_matches

DIGITS = 9  # places on a line that are meant to be one differ by rounding


class Footing(msgspec.Struct, frozen=True, kw_only=True):
    """How scores meet labels in a whole bench.

    mapped: labels are places on every judge's scale, 0 to 1, and scores are moved there too. mixed: the
    judges' scales differ, labels fit several of them, and nobody has said which one they are of: then only
    the order of the answers is compared.
    """

    mapped: bool
    mixed: bool


def choose_footing(cells: Iterable[JudgeCell], human: Floats, *, mapped: bool) -> Footing:
    """Return the footing on which these cells meet the labels."""
    yes_no = bool(np.isin(human, YES_NO).all())
    fitting = {cell.scale for cell in cells if cell.scale[0] <= human.min() and human.max() <= cell.scale[1]}
    return Footing(mapped=mapped, mixed=len(fitting) > 1 and not yes_no and not mapped)


def footing_notes(footing: Footing, rows: Sequence[Comparison], measure: AgreementMeasure) -> list[str]:
    """Return what keeps more than the order from being compared, and what to do; rows: at least one."""
    human = rows[0].human
    if not footing.mixed:
        told = dict.fromkeys(row.notes[0] for row in rows if row.notes and not row.same_unit)
        hint = "In [bench.judges] that is `thresholds` for labels of 0 and 1, else `mapping`."
        return [*told, hint] if told and measure == "Spearman" else []
    return [
        "The judges' scales differ, and the labels may be of any of them: only the order of the answers is "
        "compared. Say what the labels mean in [bench.judges], e.g. "
        f"`mapping = {{ {human.min():g} = 0, {human.max():g} = 1 }}`."
    ]


def place_labels(labels: Sequence[Label], mapping: Mapping[str, float]) -> list[Label]:
    """Return the labels with their places on a judge's scale, 0 to 1, as scores.

    mapping: label -> place; labels between two are placed on the line between them. Raises DataError for a
    mapping that is none, or a label outside it.
    """
    try:
        points = sorted((float(label), place) for label, place in mapping.items())
    except ValueError:
        raise DataError(f"[bench.judges] mapping has {', '.join(mapping)}: labels are numbers.") from None
    if len(points) < 2:
        raise DataError("[bench.judges] mapping needs at least the lowest and the highest label.")
    known, places = zip(*points, strict=True)
    outside = next((label for label in labels if not known[0] <= label.score <= known[-1]), None)
    if outside is not None:
        raise DataError(
            f"question {outside.question_id!r}: label {outside.score:g} lies outside the mapping "
            f"({known[0]:g} to {known[-1]:g}). Give it the lowest and the highest label that there can be."
        )
    moved = np.round(np.interp([label.score for label in labels], known, places), DIGITS).tolist()
    return [msgspec.structs.replace(label, score=score) for label, score in zip(labels, moved, strict=True)]


def compare_cell(cell: JudgeCell, scores: Floats, human: Floats, footing: Footing) -> Comparison:
    """Return a cell's scores beside people's, answer by answer."""
    low, high = cell.scale
    if footing.mapped:
        moved = np.round((scores - low) / (high - low), DIGITS)
        found = compare(human, moved, (0.0, 1.0), mapped=True, threshold=None)
        # Grades of several scales meet on a line: that two of them are equal there is chance.
        return msgspec.structs.replace(found, categories=[])
    found = compare(human, scores, cell.scale, mapped=False, threshold=cell.threshold)
    if _on_its_scale(found, cell):
        return msgspec.structs.replace(found, same_unit=True, notes=[])
    return msgspec.structs.replace(found, categories=[], same_unit=False) if footing.mixed else found


def _on_its_scale(found: Comparison, cell: JudgeCell) -> bool:
    """Return whether few labels, such as 0, 50 and 100, are of a wide scale: they reach its highest score."""
    human, (low, high) = found.human, cell.scale
    yes_no = bool(np.isin(human, YES_NO).all())
    return not found.same_unit and not yes_no and low <= human.min() and float(human.max()) == high


def worths(comparison: Comparison, measure: AgreementMeasure) -> Floats | None:
    """Return what each answer is worth, the more the better; None where the measure means nothing here.

    Their mean is the exact agreement, the mean difference below 0, or Spearman's correlation (the product of
    the two standardised ranks).
    """
    human, judge = comparison.human, comparison.judge
    if measure == "exact agreement":
        return exact_matches(human, judge) if comparison.categories else None
    if measure == "difference":
        return -np.abs(judge - human) if comparison.same_unit else None
    first, second = _standard_ranks(human), _standard_ranks(judge)
    return None if first is None or second is None else first * second


def _standard_ranks(values: Floats) -> Floats | None:
    """Return mid-ranks with mean 0 and variance 1; None where all values are the same."""
    _, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - counts / 2)[codes]
    spread = float(ranks.std())
    return None if spread == 0 else np.asarray((ranks - ranks.mean()) / spread)


def choose_measure(
    rows: Sequence[Comparison], declared: AgreementMeasure | None
) -> tuple[AgreementMeasure, str]:
    """Return what cells are ordered by, and why. Raises DataError for a declared one that no cell has."""

    def able(measure: AgreementMeasure) -> list[bool]:
        return [worths(row, measure) is not None for row in rows]

    if declared is not None:
        if not any(able(declared)):
            told = " ".join(
                next((row.notes for row in rows if row.notes), ["Their scales differ: give mapping."])
            )
            raise DataError(f"[bench.judges] measure = {declared!r}: no judge can be compared so. {told}")
        return declared, "as measure of [bench.judges] says"
    if all(able("exact agreement")):
        return "exact agreement", "labels and scores are compared grade by grade"
    if all(able("difference")):
        return "difference", "labels and scores are values on one scale"
    return "Spearman", "only the order of the answers can be compared"
