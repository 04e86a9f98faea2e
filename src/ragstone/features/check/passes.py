"""How many answers to a question are asked for, and how many of them must hold what the row expects."""

from collections.abc import Iterable, Sequence

import msgspec

from ragstone.kernel.errors import ConfigError, plural
from ragstone.kernel.judging.assertion import EXPECT, OF_ANSWERS, expectations, k_of_n
from ragstone.kernel.judging.judge import Judge
from ragstone.kernel.llm import CallFailed
from ragstone.kernel.records import Question


def with_passes(questions: Sequence[Question], passes: str | None, judges: Iterable[Judge]) -> list[Question]:
    """Return the questions with how many of their answers must pass, where they do not say so themselves.

    passes: such as `2 of 3`; None leaves them as they are. Raises ConfigError for what is no such text, and
    where no judge checks what rows expect.
    """
    if passes is None:
        return list(questions)
    try:
        k_of_n({OF_ANSWERS: passes})
    except CallFailed as mistake:
        raise ConfigError(f"passes: {mistake}") from None
    if not any(judge.kind == "assertion" for judge in judges):
        raise ConfigError(
            f"passes = {passes!r} is for judges that check what a row expects, such as contains_all, but no "
            "such judge is used. Leave out passes."
        )
    stated = []
    for question in questions:
        expects = {OF_ANSWERS: passes, **expectations(question.metadata)}
        metadata = {**(question.metadata or {}), EXPECT: expects}
        stated.append(msgspec.structs.replace(question, metadata=metadata))
    return stated


def n_answers(questions: Sequence[Question], stated: int | None, usual: int) -> int:
    """Return how often to answer each question. usual: where nobody states it, and rows expect no more.

    Raises ConfigError where rows expect more answers than are stated.
    """
    most, whose = 1, ""
    for question in questions:
        try:
            needed = k_of_n(expectations(question.metadata))
        except CallFailed as mistake:
            raise ConfigError(f"question {question.id!r}: {mistake}") from None
        if needed and needed[1] > most:
            most, whose = needed[1], f"question {question.id!r} expects {needed[0]} of {needed[1]} answers"
    if stated is not None and stated < most:
        raise ConfigError(
            f"{whose} to pass, and each question is answered {plural(stated, 'time')}: give repeats={most}, "
            "or leave out repeats."
        )
    return stated or max(most, usual)
