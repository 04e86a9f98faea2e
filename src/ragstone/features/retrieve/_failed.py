"""The questions that a retriever fails first: nothing relevant found, or far down."""

from collections.abc import Mapping, Sequence

import msgspec

from ragstone.features.retrieve.trec import Grades
from ragstone.kernel.document.blocks import Block, Column, Heading, Made, table_of
from ragstone.kernel.document.numbers import count, one_line
from ragstone.kernel.records import Question, Ranking
from ragstone.kernel.retrieval.query_measures import QueryMeasures, ranked_documents
from ragstone.kernel.retrieval.relevance import relevant_documents

SHOWN = 5
SHOWN_TEXT = 48  # characters of a question


class FailedQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """A question whose relevant documents stand far down, or nowhere.

    rank: place of the first relevant document, from 1; None where none was found. relevant: their ids, at
    most three. first: the document that stands first instead; None where nothing was found at all.
    """

    question_id: str
    question: str
    rank: int | None
    relevant: list[str]
    first: str | None


def failed_questions(
    queries: QueryMeasures,
    questions: Sequence[Question],
    rankings: Sequence[Ranking],
    grades: Mapping[str, Grades] | None,
) -> list[FailedQuestion]:
    """Return the questions without a relevant document at rank 1, the worst first, then in their order.

    grades: what is relevant, in place of what the questions name.
    """
    ranked = {ranking.question_id: ranked_documents(ranking) for ranking in rankings}
    failed = []
    for question in questions:
        if queries.first_ranks.get(question.id, 1) == 1:
            continue
        relevant = relevant_documents(question)
        if grades is not None:
            relevant = [name for name, grade in grades[question.id].items() if grade > 0]
        failed.append(
            FailedQuestion(
                question_id=question.id,
                question=question.question,
                rank=queries.first_ranks[question.id],
                relevant=relevant[:3],
                first=next(iter(ranked.get(question.id, [])), None),
            )
        )
    return sorted(failed, key=lambda row: -(row.rank or queries.depth + 1))


def failed_blocks(failed: Sequence[FailedQuestion]) -> list[Block]:
    """Return the worst of them as a table, none where every question has its document at rank 1."""
    if not failed:
        return []
    columns: list[Made[FailedQuestion]] = [
        (Column("Question", text=True), lambda row: row.question_id),
        (Column("asks", text=True), lambda row: one_line(row.question, SHOWN_TEXT)),
        (Column("wants", text=True), lambda row: ", ".join(row.relevant)),
        (Column("at rank"), lambda row: "absent" if row.rank is None else count(row.rank)),
        (Column("found first", text=True), lambda row: row.first or "nothing"),
    ]
    more = f", of {count(len(failed))}" if len(failed) > SHOWN else ""
    return [
        Heading(f"The questions that failed first{more}", level=3),
        table_of("Failed questions", list(failed[:SHOWN]), columns, kind=""),
    ]
