"""Questions -> an application's answers, judged: what a test of it looks at."""

from collections.abc import Callable, Iterable, Sequence

import msgspec

from ragstone.kernel.config import Settings, choose
from ragstone.kernel.engine.local import run_sync
from ragstone.kernel.engine.session import open_session
from ragstone.kernel.errors import ConfigError, plural
from ragstone.kernel.judging import MetricSummary, question_clusters, summarise
from ragstone.kernel.judging.assertion import EXPECT, OF_ANSWERS, expectations, k_of_n
from ragstone.kernel.judging.judge import Judge
from ragstone.kernel.judging.variant import AnyJudge, load_judges
from ragstone.kernel.llm import CallFailed
from ragstone.kernel.records import Answer, Judgement, Question, name_repeat, split_repeat
from ragstone.kernel.stages.answer import answer_rows
from ragstone.kernel.stages.corpus import ChunkedCorpus, load_corpus
from ragstone.kernel.stages.judge import judge_rows
from ragstone.kernel.stages.retrieve import rank_questions
from ragstone.kernel.systems.chosen import check_repeats, chosen_system, searches, with_system
from ragstone.kernel.systems.rows import with_columns


class CheckedApplication(msgspec.Struct, frozen=True, kw_only=True):
    """What an application answered, what the judges said of it, and a mean for each judge and metric."""

    questions: list[Question]
    answers: list[Answer]
    judgements: list[Judgement]
    metrics: list[MetricSummary]


def check_application(
    questions: Sequence[Question],
    judges: Iterable[AnyJudge],
    settings: Settings,
    *,
    system: str | Callable[..., object],
    model: str | None = None,
    name: str | None = None,
    repeats: int | None = None,
    passes: str | None = None,
) -> CheckedApplication:
    """Return the answers of an application to every question, judged.

    system: one of `[systems]`, `module:function`, or a callable; the built-in application answers from the
    documents that the settings name. model: of the judges, in place of that in `settings`. name: what the
    system is called in the rows. repeats: answers to each question, as many as rows expect (`pass`, "2 of 3")
    if absent; passes: what rows expect that do not say so. Raises as `answer` and `judge` do, and ConfigError
    for rows that expect more answers than there are.
    """
    settings = choose(settings, "answer", repeats=repeats)
    questions = with_passes(questions, passes, load_judges(judges))
    n_repeats = n_answers(questions, repeats, settings.answer.repeats or 1)
    settings = choose(settings, "answer", repeats=n_repeats)
    chosen, callables = chosen_system(choose(settings, "judge", model=model), system)
    check_repeats(chosen)
    chosen, found = with_system(chosen), load_judges(judges)

    async def work() -> tuple[list[Answer], list[Judgement]]:
        async with open_session(chosen) as session:
            session.callables |= callables
            corpus = ChunkedCorpus(documents=[], skipped=[], chunks=[])
            if searches(chosen):
                corpus = load_corpus(chosen, session.embedder)
            documents = corpus.documents
            rankings = (
                await rank_questions(questions, corpus.chunks, session, documents=documents)
                if corpus.chunks
                else []
            )
            made = answer_rows(
                questions, rankings, corpus.chunks, session, documents=documents, repeats=n_repeats
            )
            answers = [
                row
                if name is None
                else msgspec.structs.replace(row, system=name_repeat(name, split_repeat(row.system)[1]))
                async for row in made
            ]
            asked = {question.id: question for question in questions}
            judged = judge_rows(lambda: with_columns(answers, asked), found, session, len(answers))
            return answers, [row async for row in judged]

    answers, judgements = run_sync(work())
    metrics = summarise(judgements, clusters=question_clusters(questions), seed=settings.run.seed)
    return CheckedApplication(
        questions=list(questions), answers=answers, judgements=judgements, metrics=metrics
    )


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
