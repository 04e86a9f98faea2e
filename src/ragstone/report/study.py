"""What languages.json holds: everything that the page and the terminal show of a study of languages."""

from pathlib import Path

import msgspec

from ragstone.experiments.answers import AnsweringCost, WrongAnswer
from ragstone.experiments.languages import LanguageCell, LanguageVerdict
from ragstone.report.numbers import read_numbers
from ragstone.report.summary import Calls
from ragstone.tables.shown import Displayed

STUDY = "languages.json"


class FailedRetriever(msgspec.Struct, frozen=True, kw_only=True):
    """A retriever without numbers, and why."""

    retriever: str
    reason: str


class StudySummary(msgspec.Struct, Displayed, frozen=True, kw_only=True):
    """A study of languages in numbers.

    langs: of the indexes. documents, questions: language -> how many. cells: retrieval, of each retriever
    from each index. verdicts: all languages together against the own one, by MRR. accuracy: the same
    verdicts by right answers, where a model answered; else `unanswered` says why there are none. costs: of
    the answers. wrong: the first wrong answers; wrong_answers.jsonl holds all n_wrong of them.
    """

    name: str
    version: str
    langs: list[str]
    k: int
    documents: dict[str, int]
    questions: dict[str, int]
    models: dict[str, str]
    cells: list[LanguageCell]
    verdicts: list[LanguageVerdict]
    failed: list[FailedRetriever]
    accuracy: list[LanguageVerdict]
    costs: list[AnsweringCost]
    wrong: list[WrongAnswer]
    n_wrong: int
    unanswered: str | None
    calls: Calls
    notes: list[str]


def read_study(folder: Path) -> StudySummary:
    """Return what languages.json of a folder holds. Raises DataError, saying what to do."""
    return read_numbers(folder / STUDY, StudySummary, "study", "ragstone bench languages")
