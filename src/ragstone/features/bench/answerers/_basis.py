"""In whose eyes the places of a bench of answerers are: its judge's, or people's by their labels."""

import math
from collections.abc import Sequence

from ragstone.features.bench.answerers._values import (
    AnswerBoard,
    AnswerStanding,
    LabelBasis,
    Role,
    short_model,
)
from ragstone.kernel.document.numbers import number, with_ends
from ragstone.kernel.errors import plural
from ragstone.kernel.llm.families import model_family
from ragstone.kernel.records import NO_MODEL
from ragstone.kernel.statistics.ppi_difference import labelled_pairs_for

IN_ITS_EYES = "according to the judge"
HALF_WIDTH = 0.1  # of the scale: half of the interval whose price in labels is said


def basis_text(board: AnswerBoard) -> str:
    """Return in whose eyes places and differences are, and what that leaves open.

    Empty where nothing is compared.
    """
    if not board.comparisons and not board.contrasts and all(r.verdict == "alone" for r in board.standings):
        return ""
    lead = next((role for role in board.roles if role.role == "correct"), None)
    judge = board.measure
    if lead:
        judge = lead.name if lead.model == NO_MODEL else f"{lead.name} by {lead.model}"
    if board.labels is None or not board.labels.conditions:
        taste = (
            f"Places and differences are as {judge} sees them: it cannot be excluded that its errors favour "
            "one cell."
        )
        return " ".join(filter(None, [taste, _kin(board, lead), _labels_cost(board)]))
    return " ".join(_by_labels(board, board.labels, judge))


def _by_labels(board: AnswerBoard, labels: LabelBasis, judge: str) -> list[str]:
    sentences = [
        f"Places under {' and '.join(labels.conditions)} follow the differences that people would see: "
        f"those by {judge}, corrected by {plural(labels.n, 'label')} of {labels.file}. They hold if the "
        "labelled questions are a random sample."
    ]
    conditions = dict.fromkeys(row.cell.condition for row in board.standings)
    others = [condition for condition in conditions if condition not in labels.conditions]
    if others:
        sentences.append(
            f"Under {' and '.join(others)}, where no two cells are labelled, they follow the judge alone."
        )
    if board.contrasts:
        sentences.append("What the conditions cost follows the judge alone.")
    if any(row.verdict == "stopped" for row in board.standings):
        sentences.append("That a cell stopped early follows from the judge's scores alone.")
    if labels.n_elsewhere:
        sentences.append(f"{plural(labels.n_elsewhere, 'label')} of other systems left out.")
    return sentences


def _labels_cost(board: AnswerBoard) -> str:
    """Return how many labelled pairs exclude it at most; empty where no two cells are compared.

    Without the judge's help, and with people's grades of two answers as wide apart as those can be that do
    not go against each other: all at the ends of the scale, which makes the variance half of its width
    squared.
    """
    if not board.comparisons:
        return ""
    width = board.scale[1] - board.scale[0]
    half = HALF_WIDTH * width
    n = labelled_pairs_for(width / math.sqrt(2), half, width=width)
    source = "given with --labels or as labels of [bench.answerers], would exclude it"
    if n >= board.n_questions:
        return f"Labels of both answers to all {plural(board.n_questions, 'question')}, {source}."
    return (
        f"Labels of both answers to {plural(n, 'question')} at most, {source}: the difference of two cells "
        f"is then known to ± {number(half)}."
    )


def _kin(board: AnswerBoard, lead: Role | None) -> str:
    """Return which cells' models are of the judge's family, where some are and some are not; else nothing.

    Judges that know their own texts favour them (Panickssery, Bowman and Feng 2024, arXiv:2404.13076).
    """
    family = model_family(lead.model) if lead else None
    models = dict.fromkeys(row.cell.model for row in board.standings if row.cell.model)
    kin = [short_model(model) for model in models if model_family(model) == family]
    others = [short_model(model) for model in models if model_family(model) != family]
    if family is None or not kin or not others:
        return ""
    verb = "is" if len(kin) == 1 else "are"
    return (
        f"{' and '.join(kin)} {verb} of the judge's own model family ({family}); {' and '.join(others)} "
        f"{'is' if len(others) == 1 else 'are'} not. Judges tend to favour their own family."
    )


def best_by_labels(rows: Sequence[AnswerStanding]) -> str:
    """Return what people's labels make of the cells of a condition: the best, where a difference is shown."""
    first = rows[0]
    n_worse = sum(row.verdict == "worse" for row in rows)
    alike = _names(rows, "not distinguishable")
    without, stopped = _names(rows, "no labels"), _names(rows, "stopped")
    ends = [
        *([f"no labels of {', '.join(without)}"] if without else []),
        *([f"{plural(len(stopped), 'cell')} stopped early"] if stopped else []),
    ]
    if not n_worse:
        rest = ", ".join(alike)
        open_ = f"people's labels do not tell {first.cell.label} from {rest}" if rest else "nothing is shown"
        return "; ".join([open_, *ends])
    best = first.cell.label
    if first.people:
        best += f", which people would give {with_ends(first.people)},"
    if not alike and not ends:
        return f"by people's labels, {best} is better than {'the other' if n_worse == 1 else 'all others'}"
    clear = f"by people's labels, {best} is better than {plural(n_worse, 'other')}"
    return "; ".join([clear, *([f"no clear difference from {', '.join(alike)}"] if alike else []), *ends])


def _names(rows: Sequence[AnswerStanding], verdict: str) -> list[str]:
    return [row.cell.label for row in rows if row.verdict == verdict]
