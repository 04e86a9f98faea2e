"""Questions -> rows of answers: before they are answered, and joined with answers made elsewhere."""

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from ragstone.kernel.records import Answer, Context, Question, Turn

THREAD = "thread"  # in the metadata of a question that is a turn of a conversation
CONVERSATION_ID = (
    "conversation_id"  # in the metadata of an answer: what the application calls the conversation
)


class Thread(msgspec.Struct, frozen=True, omit_defaults=True):
    """The conversation that a question goes on: what was said before, who said it.

    id: as the application knows it; None where it has not named it yet. sample: the number of its draw.
    """

    id: str | None = None
    turns: list[Turn] = []
    sample: int = 0


ALONE = Thread()


def thread_of(question: Question) -> Thread:
    """Return the conversation that a question goes on, an empty one of a question that stands alone."""
    metadata = (question.metadata or {}).get(THREAD)
    try:
        return ALONE if metadata is None else msgspec.convert(metadata, Thread)
    except msgspec.ValidationError:  # a column of the user's that has this name
        return ALONE


def messages_of(question: Question) -> list[dict[str, str]]:
    """Return the conversation as messages of a chat, the question last; what tools said is left out."""
    turns = [*thread_of(question).turns, Turn("user", question.question)]
    return [{"role": turn.role, "content": turn.content} for turn in turns if turn.role != "tool"]


def unanswered(question: Question, system: str, contexts: list[Context] | None = None) -> Answer:
    """Return the row of a question as it is before the system has answered."""
    return Answer(
        question_id=question.id,
        answer="",
        system=system,
        contexts=contexts,
        question=question.question,
        reference=question.reference,
        answerable=question.answerable,
        tags=question.tags,
    )


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


def with_columns(answers: Iterable[Answer], questions: Mapping[str, Question]) -> Iterator[Answer]:
    """Yield the answers with the further columns of their questions, for judges that read them.

    A column that an answer has itself stays. Nothing of it is written: a sheet stays as it is.
    """
    for answer in answers:
        question = questions.get(answer.question_id)
        if question is not None and question.metadata:
            merged = {**question.metadata, **(answer.metadata or {})}
            answer = msgspec.structs.replace(answer, metadata=merged)
        yield answer
