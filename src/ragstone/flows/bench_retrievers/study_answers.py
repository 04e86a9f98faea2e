"""The same questions answered from the contexts of the own language and of all, and judged."""

from collections.abc import Mapping, Sequence

import msgspec

from ragstone.engine.local import map_in_order
from ragstone.engine.session import Session
from ragstone.experiments.answers import Answered, is_right, reference_truth
from ragstone.experiments.languages import ALL, OWN, Indexes, by_lang, own_rankings
from ragstone.flows.bench_retrievers.study_rows import StudyRows
from ragstone.llm import Ask
from ragstone.records import Answer, Chunk, Document, Judgement, Question, Ranking
from ragstone.stages.judge import judge_rows, load_judges
from ragstone.systems.prompting import AnsweringPrompt, load_prompt
from ragstone.systems.rag import answer_question, contexts_of

JUDGES = ["containment"]  # what says whether an answer is right, unless the question is true or false
STATEMENTS = "true_false"  # the prompt of true/false questions


class Answering(msgspec.Struct, frozen=True, kw_only=True):
    """What answers are made with; the prompts by kind of question."""

    ask: Ask
    secret: bytes
    statements: AnsweringPrompt
    others: AnsweringPrompt
    chunks: Mapping[str, Chunk]
    documents: Mapping[str, Document]


async def answer_both(
    indexes: Mapping[str, Indexes], rows: StudyRows, chunks: Sequence[Chunk], session: Session
) -> list[Answered]:
    """Return the answers from the own language's index and from that of all, of each retriever.

    Questions of kind `true_false` are asked by the prompt of that name, others by `[answer] prompt`; of each
    language the first `[answer] limit`. Questions in a language without an index are left out. Raises
    DataError, before a call is made, for a true/false question whose reference is neither.
    """
    settings = session.settings.answer
    asked = [
        question
        for lang, some in by_lang(rows.questions).items()
        if lang in rows.langs
        for question in some[: settings.limit]
    ]
    for question in asked:
        if question.kind == "true_false" and question.reference:
            reference_truth(question)
    means = Answering(
        ask=await session.models.ask(settings.model or ""),
        secret=session.secret(),
        statements=load_prompt(STATEMENTS),
        others=load_prompt(session.settings.named(settings.prompt)),
        chunks={chunk.id: chunk for chunk in chunks},
        documents={document.id: document for document in rows.documents},
    )
    answered = []
    for retriever, of_index in indexes.items():
        for index, rankings in ((OWN, own_rankings(of_index, asked)), (ALL, of_index[ALL])):
            answers = await _answers(asked, rankings, means, session, f"{retriever}, {index}")
            judged = {
                row.question_id: row
                async for row in judge_rows(lambda answers=answers: answers, load_judges(JUDGES), session)  # type: ignore[misc]
            }
            answered.append(
                Answered(
                    retriever=retriever, index=index, answers=answers, right=_right(asked, answers, judged)
                )
            )
    return answered


async def _answers(
    asked: Sequence[Question],
    rankings: Sequence[Ranking],
    means: Answering,
    session: Session,
    system: str,
) -> list[Answer]:
    by_question = {ranking.question_id: ranking for ranking in rankings}
    model = (session.settings.answer.model or "").rpartition("/")[2]

    async def work(question: Question) -> Answer:
        contexts = contexts_of(by_question[question.id], means.chunks, means.documents)
        prompt = means.statements if question.kind == "true_false" else means.others
        named = f"{system}/{prompt.name}/{model}"
        return await answer_question(question, contexts, prompt, means.ask, system=named, secret=means.secret)

    with session.progress(f"answer {system}", len(asked), session.state) as advance:
        answers = []
        async for answer in map_in_order(work, asked, session.models.stop):
            advance()
            answers.append(answer)
    return answers


def _right(
    asked: Sequence[Question], answers: Sequence[Answer], judged: Mapping[str, Judgement]
) -> dict[str, bool]:
    found = {
        question.id: is_right(question, answer, judged.get(question.id))
        for question, answer in zip(asked, answers, strict=True)
    }
    return {name: right for name, right in found.items() if right is not None}
