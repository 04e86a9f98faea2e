"""Grades of relevance, in the two forms that files have them in."""

from pathlib import Path

from ragstone.dataset.importing.text import open_text
from ragstone.errors import DataError

HEADER = frozenset({"query-id", "query_id", "qid", "question_id"})


def read_graded(path: Path) -> dict[str, dict[str, int]]:
    """Return question id -> document id -> grade, in the order of the file.

    A line is `question 0 document grade`, as trec_eval reads it, or `question document grade` with tabs, as
    in BEIR; a header is passed over. Raises DataError by file and line, and for a document that a question
    grades twice, differently.
    """
    found: dict[str, dict[str, int]] = {}
    with open_text(path) as file:
        for number, line in enumerate(file, 1):
            cells = _cells(line)
            if not cells or (number == 1 and cells[0] in HEADER):
                continue
            try:
                question, document, grade = cells[0], cells[-2], int(float(cells[-1]))
            except (ValueError, IndexError):
                grade = None
            if grade is None or len(cells) not in (3, 4):
                raise DataError(
                    f"{path}:{number}: expected `question 0 document grade` or `question document grade`, "
                    f"got {line.strip()[:80]!r}."
                )
            if found.setdefault(question, {}).setdefault(document, grade) != grade:
                raise DataError(
                    f"{path}:{number}: question {question!r} grades document {document!r} a second time, and "
                    "otherwise. Delete one of the two lines."
                )
    return found


def _cells(line: str) -> list[str]:
    """Return the cells of a line: ids of BEIR may hold spaces, so that tabs go before."""
    line = line.strip()
    return [cell.strip() for cell in line.split("\t")] if line.count("\t") >= 2 else line.split()
