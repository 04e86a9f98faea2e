"""A study of languages as the terminal shows it, in 100 columns."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragstone.experiments.languages import LanguageVerdict
from ragstone.report import wording
from ragstone.report.render.terminal import new_table, text
from ragstone.report.study import StudySummary
from ragstone.report.study_words import (
    answers_of,
    asked,
    cell_of,
    cost_told,
    difference,
    family,
    indexes,
    measures,
    probability,
    retrievers,
)
from ragstone.report.wording import count, number

if TYPE_CHECKING:
    from rich.console import Group, RenderableType
    from rich.table import Table

STYLES = {"better": "bold", "worse": "bold", "cannot tell": "dim"}


def terminal_study(study: StudySummary) -> "Group":
    """Return the matrices, the verdicts on retrieval and answers, and what they rest on."""
    from rich.console import Group

    parts: list[RenderableType] = [
        text(f"{study.name}: first {study.k} chunks; questions (down) against the index (across)", "bold")
    ]
    for retriever in retrievers(study):
        parts += [text(retriever, "bold", before=1), _matrix(study, retriever)]
    parts += [
        text("Does adding translations of the documents improve retrieval?", "bold", before=1),
        _verdicts(study.verdicts, "MRR"),
        *(text(said, "bold") for said in answers_of(study.verdicts, "MRR")),
        text(family(study.verdicts), "dim"),
        text("And the answers?", "bold", before=1),
        *_answers(study),
        *(text(f"{one.retriever} was not measured: {one.reason}", "yellow") for one in study.failed),
        *([text("Before you trust these numbers", "bold", before=1)] if study.notes else []),
        *(text(f"- {note}") for note in study.notes),
        text(wording.asked_line(study.calls), "dim", before=1),
    ]
    return Group(*parts)


def _matrix(study: StudySummary, retriever: str) -> "Table":
    """Return recall at 1, at k and MRR of each cell, one under the other."""
    names = measures(study)
    table = new_table(("", False), ("", False), *((index, True) for index in indexes(study)), ("n", True))
    for lang in asked(study):
        cells = [cell_of(study, retriever, lang, index) for index in indexes(study)]
        for at, name in enumerate(names):
            table.add_row(
                text(lang if at == 0 else ""),
                text(name, "dim"),
                *(
                    text(number(cell.measures[name].value), "bold" if cell.index == lang else "")
                    for cell in cells
                ),
                text(count(cells[0].n_questions) if at == 0 else "", "dim"),
            )
    return table


def _verdicts(verdicts: Sequence[LanguageVerdict], what: str) -> "Table":
    table = new_table(
        ("", False),
        ("questions", False),
        (f"own {what}", True),
        (f"all {what}", True),
        ("difference", True),
        ("all against own", False),
        ("p", True),
        ("n", True),
    )
    for one in verdicts:
        verdict = one.comparison.verdict
        table.add_row(
            *(text(one.retriever), text(one.lang)),
            *(text(number(one.own.value)), text(number(one.together.value))),
            *(text(difference(one)), text(verdict, STYLES[verdict])),
            *(text(probability(one), "dim"), text(count(one.comparison.n), "dim")),
        )
    return table


def _answers(study: StudySummary) -> "list[RenderableType]":
    if not study.accuracy:
        return [text(study.unanswered or "No answer could be scored.")]
    return [
        _verdicts(study.accuracy, "right"),
        *(text(said, "bold") for said in answers_of(study.accuracy, "accuracy")),
        text(family(study.accuracy), "dim"),
        *(text(f"{one.retriever}, {one.index}: {cost_told(one)}", "dim") for one in study.costs),
        text(f"{wording.plural(study.n_wrong, 'wrong answer')}, in wrong_answers.jsonl.", "dim"),
    ]
