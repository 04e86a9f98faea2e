"""Rankings as TREC run files, which trec_eval and its kin read and write; and questions with their qrels."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from ragstone.kernel.errors import DataError, checks_arguments, explaining
from ragstone.kernel.records import Question, Ranking, RankingItem
from ragstone.kernel.retrieval.query_measures import ranked_documents
from ragstone.kernel.tables import partial_path

Grades = Mapping[str, int]
"""Document id -> its grade; above 0 is relevant."""


def write_trec_run(path: Path, rankings: Iterable[Ranking]) -> None:
    """Write rankings as `question Q0 document rank score retriever`, one document a line, best first.

    Chunks become documents, each with the score of its first chunk. The file appears under its name only
    when it is whole. Raises DataError for an id with white space, which the format cannot hold.
    """
    lines = []
    for ranking in rankings:
        scores = {item.document_id: item.score for item in reversed(ranking.items)}
        for rank, document in enumerate(ranked_documents(ranking), 1):
            for name in (ranking.question_id, document, ranking.retriever):
                if name.split() != [name]:
                    raise DataError(
                        f"{path}: {name!r} is empty or holds white space, which TREC files do not allow."
                    )
            score = scores[document]
            lines.append(f"{ranking.question_id} Q0 {document} {rank} {score!r} {ranking.retriever}\n")
    with explaining(f"{path}: could not be written"):
        with partial_path(path).open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(lines)
        partial_path(path).replace(path)


@checks_arguments
def read_trec_run(path: Path | str) -> list[Ranking]:
    """Return one ranking a question and retriever, in order of appearance, best score first.

    As in trec_eval the score decides and the rank column only settles ties. Raises DataError by file and
    line for a line that is none of a run's, and for a document that a ranking names twice.
    """
    by_ranking: dict[tuple[str, str], list[tuple[float, int, str]]] = {}
    for question, document, rank, score, retriever in _run_lines(path):
        by_ranking.setdefault((question, retriever), []).append((-score, rank, document))
    for (question, _), items in by_ranking.items():
        if len({document for _, _, document in items}) < len(items):
            raise DataError(f"{path}: the ranking of question {question!r} names a document twice.")
    return [
        Ranking(
            question_id=question,
            retriever=retriever,
            items=[RankingItem(document_id=document, score=-score) for score, _, document in sorted(items)],
        )
        for (question, retriever), items in by_ranking.items()
    ]


def label_questions(questions: Iterable[Question], qrels: Mapping[str, Grades]) -> list[Question]:
    """Return the questions with the document_ids that the qrels grade above 0; None where there are none."""
    return [
        msgspec.structs.replace(
            question,
            document_ids=[name for name, grade in qrels.get(question.id, {}).items() if grade > 0] or None,
        )
        for question in questions
    ]


def _run_line(cells: Sequence[str]) -> tuple[str, str, int, float, str]:
    question, _, document, rank, score, retriever = cells
    if not math.isfinite(float(score)):
        raise ValueError
    return question, document, int(rank), float(score), retriever


def _run_lines(path: Path | str) -> Iterator[tuple[str, str, int, float, str]]:
    with explaining(f"{path}: cannot be read", "", OSError, UnicodeDecodeError):
        lines = Path(path).read_text(encoding="utf-8-sig").splitlines()
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            yield _run_line(line.split())
        except ValueError:
            raise DataError(
                f"{path}:{number}: expected `question Q0 document rank score retriever`, got {line[:80]!r}."
            ) from None
