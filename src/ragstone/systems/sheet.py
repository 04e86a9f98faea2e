"""Answer sheets made elsewhere: answers and, where they stand in another file, their questions."""

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from ragstone.records import Answer, Question


def join_questions(answers: Iterable[Answer], questions: Mapping[str, Question]) -> Iterator[Answer]:
    """Yield the answers with what the questions of the same id tell; what a row says itself stays."""
    for answer in answers:
        question = questions.get(answer.question_id)
        if question is None:
            yield answer
            continue
        yield msgspec.structs.replace(
            answer,
            question=answer.question or question.question,
            reference=answer.reference or question.reference,
            answerable=question.answerable if answer.answerable is None else answer.answerable,
            tags=answer.tags or question.tags,
        )
