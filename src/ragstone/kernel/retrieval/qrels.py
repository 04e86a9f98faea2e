"""Files of relevance, as TREC and BEIR have them -> question id -> document id -> grade."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ragstone.kernel.errors import DataError, checks_arguments, explaining, plural
from ragstone.kernel.files.decoding import decode
from ragstone.kernel.files.file import Unreadable

QUESTION = ("query-id", "query_id", "qid", "question_id", "topic")
DOCUMENT = ("corpus-id", "corpus_id", "document_id", "doc_id", "docid", "docno", "pid")
GRADE = ("score", "relevance", "rel", "grade", "label")
LINES = "`question 0 document grade`, or `question document grade` between tabs"
WHOLE = re.compile(r"([+-]?[0-9]{1,18})(?:\.0*)?")


@checks_arguments
def read_qrels(path: Path | str) -> dict[str, dict[str, int]]:
    """Return question id -> document id -> grade, in order of appearance; above 0 is relevant.

    A line is `question 0 document grade`, as trec_eval reads it, or `question document grade` between tabs,
    as in BEIR. A first line of names (`query-id corpus-id score`) says which column is which. A grade is a
    whole number. As `qrels` of evaluate_rankings the grades count in nDCG. Raises DataError by file, line and
    column, and for a document that one question gives two grades.
    """
    try:
        with explaining(f"{path}: cannot be read"):
            text, _ = decode(Path(path).read_bytes())
    except Unreadable as mistake:
        raise DataError(f"{path}: cannot be read ({mistake}).") from None
    lines = [(at, line) for at, line in enumerate(text.split("\n"), 1) if line.strip()]
    named = _named(_cells(lines[0][1]), f"{path}:{lines[0][0]}") if lines else None
    qrels: dict[str, dict[str, int]] = {}
    for number, line in lines[1:] if named else lines:
        cells = _cells(line)
        columns = named or _columns_of(cells, has_tabs=line.strip().count("\t") == 2)
        if columns is None or len(cells) != columns.n:
            wanted = f"the {named.n} columns of the first line" if named else LINES
            raise DataError(
                f"{path}:{number}: expected {wanted}, got {plural(len(cells), 'column')}: "
                f"{line.strip()[:80]!r}."
            )
        question, document, grade = (cells[column] for column in columns[:3])
        for column in (columns.question, columns.document):
            if not cells[column]:
                raise DataError(f"{path}:{number}: column {column + 1} is empty, and holds an id. Add it.")
        whole = WHOLE.fullmatch(grade)
        if whole is None:
            raise DataError(
                f"{path}:{number}: column {columns.grade + 1} is {grade[:40]!r}, and a grade is a "
                "whole number of at most 18 digits."
            )
        if qrels.setdefault(question, {}).setdefault(document, int(whole[1])) != int(whole[1]):
            raise DataError(
                f"{path}:{number}: question {question!r} grades document {document!r} a second time, with "
                "another grade. Delete one of the two lines."
            )
    return qrels


class _QrelsColumns(NamedTuple):
    """The places of a line, from 0, and how many cells it has."""

    question: int
    document: int
    grade: int
    n: int


def _cells(line: str) -> list[str]:
    # Ids of BEIR may hold spaces, so tabs go before.
    return [cell.strip() for cell in line.split("\t")] if line.strip().count("\t") >= 2 else line.split()


def _columns_of(cells: Sequence[str], *, has_tabs: bool) -> _QrelsColumns | None:
    # Three cells between spaces may be a line of TREC without its grade.
    if len(cells) == 3 and has_tabs:
        return _QrelsColumns(0, 1, 2, 3)
    return _QrelsColumns(0, 2, 3, 4) if len(cells) == 4 else None


def _named(cells: Sequence[str], line: str) -> _QrelsColumns | None:
    """Return the columns that a line of names tells, None for a line that is none."""
    names = [cell.lower() for cell in cells]
    if WHOLE.fullmatch(names[-1]) or not {*names} & {*QUESTION, *DOCUMENT, *GRADE}:
        return None
    places = [
        next((names.index(name) for name in known if name in names), None)
        for known in (QUESTION, DOCUMENT, GRADE)
    ]
    question, document, grade = places
    if question is None or document is None or grade is None:
        raise DataError(
            f"{line}: the names {' '.join(cells)!r} do not tell the columns. Name them `query-id`, "
            "`corpus-id` and `score`, or leave the line out."
        )
    return _QrelsColumns(question, document, grade, len(cells))
