"""The same questions answered from the contexts of the own language and of all: which answers are right."""

from collections.abc import Mapping, Sequence

import msgspec

from ragstone.engine.local import map_in_order
from ragstone.engine.session import Session
from ragstone.errors import DataError
from ragstone.experiments.languages import (
    ALL,
    OWN,
    AnsweringCost,
    GivenDocument,
    LanguageVerdict,
    WrongAnswer,
)
from ragstone.flows.bench_retrievers.languages import (
    Indexes,
    by_lang,
    compare_values,
    corrected,
    groups,
    own_rankings,
)
from ragstone.flows.bench_retrievers.study_rows import StudyRows
from ragstone.judging.truth import says_true
from ragstone.llm import Ask
from ragstone.records import Answer, Chunk, Document, Judgement, Question, Ranking, references
from ragstone.retrieval.relevance import relevant_documents
from ragstone.stages.judge import judge_rows, load_judges
from ragstone.systems.prompting import AnsweringPrompt, load_prompt
from ragstone.systems.rag import answer_question, contexts_of

ACCURACY = "accuracy"
HALF = 0.5  # containment is 1 or 0


class AnswersOfIndex(msgspec.Struct, frozen=True, kw_only=True):
    """The answers to all questions from the contexts of one kind of index, and whether each is right.

    index: OWN or ALL. right: question id -> whether it is; questions whose answer cannot be scored (a failed
    call, no reference) are not in it.
    """

    retriever: str
    index: str
    answers: list[Answer]
    right: dict[str, bool]


JUDGES = ["containment"]  # what says whether an answer is right, unless the question is true or false
STATEMENTS = "true_false"  # the prompt of true/false questions


class AnsweringDeps(msgspec.Struct, frozen=True, kw_only=True):
    """What answers are made with; the prompts by kind of question."""

    ask: Ask
    secret: bytes
    statements: AnsweringPrompt
    others: AnsweringPrompt
    chunks: Mapping[str, Chunk]
    documents: Mapping[str, Document]


async def answer_both(
    indexes: Mapping[str, Indexes], rows: StudyRows, chunks: Sequence[Chunk], session: Session
) -> list[AnswersOfIndex]:
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
    deps = AnsweringDeps(
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
            answers = await _answers_from(asked, rankings, deps, session, f"{retriever}, {index}")
            judged = {
                row.question_id: row
                async for row in judge_rows(lambda answers=answers: answers, load_judges(JUDGES), session)  # type: ignore[misc]
            }
            answered.append(
                AnswersOfIndex(
                    retriever=retriever,
                    index=index,
                    answers=answers,
                    right=_scored_right(asked, answers, judged),
                )
            )
    return answered


async def _answers_from(
    asked: Sequence[Question],
    rankings: Sequence[Ranking],
    deps: AnsweringDeps,
    session: Session,
    system: str,
) -> list[Answer]:
    by_question = {ranking.question_id: ranking for ranking in rankings}
    model = (session.settings.answer.model or "").rpartition("/")[2]

    async def work(question: Question) -> Answer:
        contexts = contexts_of(by_question[question.id], deps.chunks, deps.documents)
        prompt = deps.statements if question.kind == "true_false" else deps.others
        named = f"{system}/{prompt.name}/{model}"
        return await answer_question(question, contexts, prompt, deps.ask, system=named, secret=deps.secret)

    with session.progress(f"answer {system}", len(asked), session.state) as advance:
        answers = []
        async for answer in map_in_order(work, asked, session.models.stop):
            advance()
            answers.append(answer)
    return answers


def _scored_right(
    asked: Sequence[Question], answers: Sequence[Answer], judged: Mapping[str, Judgement]
) -> dict[str, bool]:
    found = {
        question.id: is_right(question, answer, judged.get(question.id))
        for question, answer in zip(asked, answers, strict=True)
    }
    return {name: right for name, right in found.items() if right is not None}


def is_right(question: Question, answer: Answer, judgement: Judgement | None) -> bool | None:
    """Return whether an answer is right; None where that cannot be said.

    A true/false question: if it says the same as the reference, in whatever words; an answer that says
    neither is wrong. Others: as the judgement (of `containment`) says. Raises DataError for a reference
    that is neither true nor false.
    """
    if answer.error is not None or not question.reference:
        return None
    if question.kind == "true_false":
        return says_true(answer.answer, question.question) is reference_truth(question)
    return None if judgement is None or judgement.score is None else judgement.score >= HALF


def reference_truth(question: Question) -> bool:
    """Return what the reference of a true/false question says. Raises DataError if it says neither."""
    said = {says_true(text) for text in references(question)}
    if len(said) != 1 or None in said:
        raise DataError(
            f"question {question.id!r} is of kind true_false, but its reference is {question.reference!r}. "
            "Give `True` or `False`."
        )
    return bool(said.pop())


def accuracy_verdicts(
    answered: Sequence[AnswersOfIndex],
    questions: Sequence[Question],
    same: Mapping[str, str],
    *,
    seed: int = 0,
) -> list[LanguageVerdict]:
    """Return all languages against the own one by right answers: of each retriever, by language and in all.

    Only questions that both answers of are scored count. McNemar's test, or one that knows of shared
    documents (see compare_rankings); Holm's correction over all verdicts that come back.
    """
    by_key = {(one.retriever, one.index): one.right for one in answered}
    shared = {q.id: min(same.get(name, name) for name in relevant_documents(q) or [q.id]) for q in questions}
    verdicts = []
    for retriever in dict.fromkeys(one.retriever for one in answered):
        own, together = by_key[retriever, OWN], by_key[retriever, ALL]
        both = [question for question in questions if question.id in own and question.id in together]
        for lang, some in groups(both).items():
            names = [question.id for question in some]
            verdicts.append(
                compare_values(
                    retriever,
                    lang,
                    {name: float(together[name]) for name in names},
                    {name: float(own[name]) for name in names},
                    shared,
                    measure=ACCURACY,
                    seed=seed,
                )
            )
    return corrected(verdicts)


def answering_cost(one: AnswersOfIndex, questions: Mapping[str, Question]) -> AnsweringCost:
    """Return what the answers cost, and how many could not be scored."""
    costs = [answer.cost_usd for answer in one.answers if answer.error is None]
    known = [cost for cost in costs if cost is not None]
    asked = [(questions[answer.question_id], answer) for answer in one.answers]
    return AnsweringCost(
        retriever=one.retriever,
        index=one.index,
        n_answers=len(one.answers),
        n_unscored=len(one.answers) - len(one.right),
        n_neither=sum(
            question.kind == "true_false"
            and answer.error is None
            and says_true(answer.answer, question.question) is None
            for question, answer in asked
        ),
        usd=sum(known) if len(known) == len(costs) else None,
    )


def wrong_answers(
    one: AnswersOfIndex,
    questions: Mapping[str, Question],
    same: Mapping[str, str],
    lang_of: Mapping[str, str],
) -> list[WrongAnswer]:
    """Return the wrong answers, in order, each with the documents that it was made from.

    lang_of: document id -> its language.
    """
    wrong = []
    for answer in one.answers:
        if one.right.get(answer.question_id) is not False:
            continue
        question = questions[answer.question_id]
        relevant = {same.get(name, name) for name in relevant_documents(question)}
        documents = [
            GivenDocument(
                place=place,
                document_id=context.document_id or "",
                lang=lang_of.get(context.document_id or ""),
                copy=same.get(context.document_id or "", context.document_id) in relevant,
            )
            for place, context in enumerate(answer.contexts or (), 1)
        ]
        wrong.append(
            WrongAnswer(
                question_id=question.id,
                lang=question.lang,
                kind=question.kind,
                retriever=one.retriever,
                index=one.index,
                question=question.question,
                reference=references(question),
                answer=answer.answer,
                found=any(document.copy for document in documents),
                documents=documents,
            )
        )
    return wrong
