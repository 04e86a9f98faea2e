"""On what basis the cells of a bench are compared: the same for all, on the same answers."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec
import numpy as np

from ragstone.agreement.comparison import YES_NO, Comparison, compare
from ragstone.agreement.judge_board import JudgeCell
from ragstone.config import AgreementMeasure
from ragstone.errors import DataError
from ragstone.records import Label
from ragstone.statistics import Floats

DIGITS = 9  # places on a line that are meant to be one differ by rounding


class Basis(msgspec.Struct, frozen=True, kw_only=True):
    """How scores meet labels in a whole bench.

    mapped: labels are places on every judge's scale, 0 to 1, and scores are moved there too. mixed: the
    judges' scales differ, labels fit several of them, and nobody has said which one they are of: then only
    the order of the answers is compared.
    """

    mapped: bool
    mixed: bool


def choose_basis(cells: Iterable[JudgeCell], human: Floats, *, mapped: bool) -> Basis:
    """Return the footing on which these cells meet the labels."""
    yes_no = bool(np.isin(human, YES_NO).all())
    fitting = {cell.scale for cell in cells if cell.scale[0] <= human.min() and human.max() <= cell.scale[1]}
    return Basis(mapped=mapped, mixed=len(fitting) > 1 and not yes_no and not mapped)


def basis_notes(footing: Basis, rows: Sequence[Comparison], measure: AgreementMeasure) -> list[str]:
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


def compare_cell(cell: JudgeCell, scores: Floats, human: Floats, footing: Basis) -> Comparison:
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
