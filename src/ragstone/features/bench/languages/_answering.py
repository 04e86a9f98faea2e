"""The same questions answered from the contexts of the own language and of all: which answers are right."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import product

import msgspec

from ragstone.features.bench.languages._axes import shared_of, study_prompts
from ragstone.features.bench.languages._rows import StudyRows
from ragstone.features.bench.languages._values import (
    ALL,
    OWN,
    AnsweringCost,
    IndexAnswer,
    LanguageOverlap,
    LanguageVerdict,
    StatementCounts,
    StudyArm,
    WrongAnswer,
)
from ragstone.features.bench.languages._verdicts import (
    Indexes,
    by_lang,
    corrected,
    groups,
    measured_values,
    own_rankings,
    verdict_of,
)
from ragstone.features.compare import error_overlap, given_documents
from ragstone.kernel.config import Sampling
from ragstone.kernel.engine.session import Session
from ragstone.kernel.errors import DataError
from ragstone.kernel.judging.truth import what_is_said
from ragstone.kernel.judging.variant import load_judges
from ragstone.kernel.records import Answer, Chunk, Context, Judgement, Question, references
from ragstone.kernel.retrieval.relevance import relevant_documents
from ragstone.kernel.stages.answer import answer_given
from ragstone.kernel.stages.judge import judge_rows
from ragstone.kernel.systems.rag import contexts_of

ACCURACY = "accuracy"
HALF = 0.5  # containment is 1 or 0


class AnswersOfIndex(msgspec.Struct, frozen=True, kw_only=True):
    """The answers to all questions from the contexts of one kind of index, and whether each is right.

    index: OWN or ALL. right: question id -> whether it is; questions whose answer cannot be scored (a failed
    call, no reference) are not in it.
    """

    arm: StudyArm
    index: str
    answers: list[Answer]
    right: dict[str, bool]


JUDGES = ["containment"]  # what says whether an answer is right, unless the question is true or false
STATEMENTS = "true_false"  # the prompt of true/false questions, where the study names none


async def answer_both(
    indexes: Mapping[str, Indexes], rows: StudyRows, chunks: Sequence[Chunk], session: Session
) -> list[AnswersOfIndex]:
    """Return the answers from the own language's index and from that of all, of each retriever.

    They are asked by every prompt at every temperature of `[bench.languages]`; without prompts, questions of
    kind `true_false` by the prompt of that name, others by `[answer] prompt`. Of each language the first
    `[answer] limit`. Questions in a language without an index are left out. Raises DataError, before a call
    is made, for a true/false question whose reference is neither.
    """
    settings = session.settings
    questions = [
        question
        for lang, some in by_lang(rows.questions).items()
        if lang in rows.langs
        for question in some[: settings.answer.limit]
    ]
    for question in questions:
        if question.kind == "true_false" and question.reference:
            reference_truth(question)
    texts = {chunk.id: chunk for chunk in chunks}
    documents = {document.id: document for document in rows.documents}
    answered = []
    temperatures: list[float | None] = [*map(float, settings.bench.languages.temperatures)]
    for (prompt_name, prompt), temperature, (retriever, of_index) in product(
        study_prompts(settings).items(), dict.fromkeys(temperatures or [None]), indexes.items()
    ):
        arm = StudyArm(retriever=retriever, prompt=prompt_name, temperature=temperature)
        for index, rankings in ((OWN, own_rankings(of_index, questions)), (ALL, of_index[ALL])):
            ranking_of = {ranking.question_id: ranking for ranking in rankings}
            contexts = {
                question.id: contexts_of(ranking_of[question.id], texts, documents) for question in questions
            }
            answers = await _answers(questions, contexts, index, arm, prompt, session)
            judged = {
                row.question_id: row
                async for row in judge_rows(lambda answers=answers: answers, load_judges(JUDGES), session)  # type: ignore[misc]
            }
            rights = {
                question.id: is_right(question, answer, judged.get(question.id))
                for question, answer in zip(questions, answers, strict=True)
            }
            right = {name: value for name, value in rights.items() if value is not None}
            answered.append(AnswersOfIndex(arm=arm, index=index, answers=answers, right=right))
    return answered


async def _answers(
    questions: Sequence[Question],
    contexts: Mapping[str, list[Context]],
    index: str,
    arm: StudyArm,
    prompt: str | None,
    session: Session,
) -> list[Answer]:
    """Return the answers in the order of the questions. prompt: None for that of each question's kind."""
    by_prompt: dict[str, list[Question]] = {}
    for question in questions:
        of_kind = STATEMENTS if question.kind == "true_false" else session.settings.answer.prompt
        by_prompt.setdefault(prompt or of_kind, []).append(question)
    answer_of: dict[str, Answer] = {}
    for name, some in by_prompt.items():
        made = answer_given(
            some,
            lambda question: contexts[question.id],
            session,
            brought_by=f"{arm.retriever}, {index}",
            prompt=name,
            sampling=Sampling(temperature=arm.temperature),
        )
        async for answer in made:
            at = "" if arm.temperature is None else f"/temperature {arm.axes['temperature']}"
            answer_of[answer.question_id] = msgspec.structs.replace(answer, system=answer.system + at)
    return [answer_of[question.id] for question in questions]


def is_right(question: Question, answer: Answer, judgement: Judgement | None) -> bool | None:
    """Return whether an answer is right; None where that cannot be said.

    A true/false question: if it says the same as the reference, in whatever words; an answer that says
    neither is wrong. Others: as the judgement (of `containment`) says. Raises DataError for a reference
    that is neither true nor false.
    """
    if answer.error is not None or not question.reference:
        return None
    if question.kind == "true_false":
        truth = "true" if reference_truth(question) else "false"
        return what_is_said(answer.answer, question.question) == truth
    return None if judgement is None or judgement.score is None else judgement.score >= HALF


def reference_truth(question: Question) -> bool:
    """Return what the reference of a true/false question says. Raises DataError if it says neither."""
    truths = {what_is_said(text) for text in references(question)}
    if len(truths) != 1 or "neither" in truths:
        raise DataError(
            f"question {question.id!r} is of kind true_false, but its reference is {question.reference!r}. "
            "Give `True` or `False`."
        )
    return truths == {"true"}


Pair = tuple[AnswersOfIndex, AnswersOfIndex]


def pairs_of(answered: Iterable[AnswersOfIndex]) -> list[Pair]:
    """Return the answers of each arm from the own language's index, and from that of all."""
    by_arm: dict[StudyArm, dict[str, AnswersOfIndex]] = {}
    for answers in answered:
        by_arm.setdefault(answers.arm, {})[answers.index] = answers
    return [(of_index[OWN], of_index[ALL]) for of_index in by_arm.values()]


def _both_scored(pair: Pair, questions: Sequence[Question]) -> dict[str, list[Question]]:
    """Return the questions that both answers of are scored, by language and all of them."""
    own, together = pair
    return groups([question for question in questions if question.id in own.right.keys() & together.right])


def accuracy_verdicts(
    answered: Sequence[AnswersOfIndex],
    questions: Sequence[Question],
    same: Mapping[str, str],
    *,
    seed: int = 0,
) -> list[LanguageVerdict]:
    """Return all languages against the own one by right answers: of each arm, by language and in all.

    Only questions that both answers of are scored count. McNemar's test, or one that knows of shared
    documents (see compare_rankings); Holm's correction over all verdicts that come back.
    """
    shared = shared_of(questions, same)
    verdicts = []
    for own, together in pairs_of(answered):
        for lang, some in _both_scored((own, together), questions).items():
            values = {
                name: {question.id: float(answers.right[question.id]) for question in some}
                for name, answers in ((ALL, together), (OWN, own))
            }
            queries = measured_values(values, shared, ACCURACY)
            verdicts.append(verdict_of(own.arm, lang, queries, ACCURACY, seed))
    return corrected(verdicts)


def language_overlaps(
    answered: Sequence[AnswersOfIndex],
    questions: Sequence[Question],
    same: Mapping[str, str],
    *,
    seed: int = 0,
) -> list[LanguageOverlap]:
    """Return which of the two indexes' answers are wrong: of each arm, by language and in all.

    Only questions that both answers of are scored count.
    """
    shared = shared_of(questions, same)
    return [
        LanguageOverlap(
            **msgspec.structs.asdict(own.arm),
            lang=lang,
            overlap=error_overlap(
                [(own.right[question.id], together.right[question.id]) for question in some],
                [shared[question.id] for question in some],
                seed=seed,
            ),
        )
        for own, together in pairs_of(answered)
        for lang, some in _both_scored((own, together), questions).items()
    ]


def answering_cost(answers_of_index: AnswersOfIndex, questions: Mapping[str, Question]) -> AnsweringCost:
    """Return what the answers cost, and how many could not be scored."""
    costs = [answer.cost_usd for answer in answers_of_index.answers if answer.error is None]
    known = [cost for cost in costs if cost is not None]
    answered = [(questions[answer.question_id], answer) for answer in answers_of_index.answers]
    return AnsweringCost(
        **msgspec.structs.asdict(answers_of_index.arm),
        index=answers_of_index.index,
        n_answers=len(answers_of_index.answers),
        n_unscored=len(answers_of_index.answers) - len(answers_of_index.right),
        n_neither=sum(
            question.kind == "true_false"
            and answer.error is None
            and what_is_said(answer.answer, question.question) == "neither"
            for question, answer in answered
        ),
        usd=sum(known) if len(known) == len(costs) else None,
    )


def statement_counts(
    answered: Sequence[AnswersOfIndex], questions: Mapping[str, Question]
) -> list[StatementCounts]:
    """Return how many statements were called true, false or neither: of each arm and index, by language."""
    counts = []
    for answers in answered:
        scored = {
            answer.question_id: answer for answer in answers.answers if answer.question_id in answers.right
        }
        statements = [questions[name] for name in scored if questions[name].kind == "true_false"]
        for lang, some in groups(statements).items():
            counts_said = Counter(what_is_said(scored[each.id].answer, each.question) for each in some)
            counts.append(
                StatementCounts(
                    **msgspec.structs.asdict(answers.arm),
                    lang=lang,
                    index=answers.index,
                    n_true=counts_said["true"],
                    n_false=counts_said["false"],
                    n_neither=counts_said["neither"],
                    n_right=sum(answers.right[each.id] for each in some),
                )
            )
    return counts


def wrong_answers(
    pair: Pair, questions: Mapping[str, Question], same: Mapping[str, str], lang_of: Mapping[str, str]
) -> list[WrongAnswer]:
    """Return the questions with a wrong answer, in order, with what was said from either index.

    lang_of: document id -> its language.
    """

    def side(index: AnswersOfIndex, answer: Answer, question: Question) -> IndexAnswer:
        documents = given_documents(answer.contexts or (), relevant_documents(question), same, lang_of)
        return IndexAnswer(
            answer=answer.answer,
            right=index.right.get(question.id),
            found=any(document.copy for document in documents),
            documents=documents,
        )

    own, together = pair
    wrong = []
    for answers in zip(own.answers, together.answers, strict=True):
        question = questions[answers[0].question_id]
        sides = [side(index, answer, question) for index, answer in zip(pair, answers, strict=True)]
        if any(each.right is False for each in sides):
            wrong.append(
                WrongAnswer(
                    **msgspec.structs.asdict(own.arm),
                    question_id=question.id,
                    lang=question.lang,
                    kind=question.kind,
                    question=question.question,
                    reference=references(question),
                    own=sides[0],
                    together=sides[1],
                )
            )
    return wrong
