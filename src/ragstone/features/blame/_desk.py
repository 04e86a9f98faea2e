"""What has to be known of lost points -> asked of models and judges, and only of these points."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

import msgspec

from ragstone.features.blame._causes import KnownAnswer, PointFacts, needs_memory, observed
from ragstone.features.blame._passages import held_answer, says_reference, words_outside
from ragstone.features.blame._plan import BlamePlan, may_ask
from ragstone.features.blame._points import CountedPoint, Points
from ragstone.features.blame._steps import AgentSteps, has_figures, read_steps, results_of, telling_result
from ragstone.kernel.engine.session import Session
from ragstone.kernel.judging import Judge, load_judge
from ragstone.kernel.records import NO_MODEL, Answer, Context, Judgement, Question, references
from ragstone.kernel.retrieval.relevance import relevant_documents
from ragstone.kernel.runs.breakdown import found_relevant, is_right
from ragstone.kernel.stages.answer import answer_given
from ragstone.kernel.stages.judge import judge_context, judge_rows
from ragstone.kernel.systems.rag import gold_contexts
from ragstone.kernel.systems.rows import with_columns

CLOSED_BOOK = (
    "closed_book"  # the prompt that asks for what a model knows: the others tell it to read passages
)
REFERENCE = "reference"  # the system of a reference that is judged as if it were an answer
RESULTS = "results"  # `results of …`: the system of what a system's tools brought, judged like its answer
HELD = "match"  # tells whether that holds the reference, where no model does
WORD_JUDGES = ("grounding", "context_overlap")  # count the words of an answer that the contexts have
WORDS = "token_f1"  # tells whether two answers say the same, where no model does
Key = tuple[str, str]
"""An answer: (question id, system)."""


class ChangedAnswers(msgspec.Struct, frozen=True, kw_only=True):
    """Answers that were made again and judged. wanted: their questions; right: those with a verdict.

    cost_usd: of answers and judgements; None where a price is unknown.
    """

    wanted: Sequence[str] = ()
    right: Mapping[str, bool] = {}
    cost_usd: float | None = None


class BlameCoordinator:
    """Asks, and hands on all that was answered and judged. everything: also what answers decide.

    answers, judgements: get what was made, for the files. With `everything` a forecast hears the most that
    can be asked: which calls are needed depends on replies.
    """

    def __init__(
        self,
        plan: BlamePlan,
        session: Session,
        *,
        answers: list[Answer],
        judgements: list[Judgement],
        everything: bool = False,
    ) -> None:
        self.plan = plan
        self.session = session
        self.everything = everything
        self._made_answers = answers
        self._made_judgements = judgements
        self._texts: dict[str, str] | None = None

    async def told(
        self, judge: Judge, answers: Sequence[Answer], *, model: str | None = None
    ) -> dict[Key, bool]:
        """Return whether a judge gives each answer its point; one that has no score is not in it.

        What the run's judgements say, and those made here, is not asked again. model: in place of that of
        `[judge]`.
        """
        asks = judge.model_name(model or self.plan.settings.judge.model or NO_MODEL)
        known = {
            (row.question_id, row.system): row
            for row in (*self.plan.run.judgements, *self._made_judgements)
            if (row.judge, row.metric, row.model) == (judge.name, judge.measures, asks)
        }
        judgements = [known[key] for key in map(_key, answers) if key in known]
        left = [answer for answer in answers if _key(answer) not in known]
        if left and (model is not None or may_ask(self.plan, judge)):
            context = await judge_context(self.session, [judge], model) if model else None
            rows = judge_rows(lambda: left, [judge], self.session, len(left), context=context)
            made = [row async for row in rows if row.metric == judge.measures]
            self._made_judgements += made
            judgements += made
        return {
            (row.question_id, row.system): is_right(row.score, row.scale)
            for row in judgements
            if row.score is not None
        }

    async def again(
        self, names: Sequence[str], passages: Mapping[str, list[Context]], brought_by: str, model: str
    ) -> ChangedAnswers:
        """Return whether a model's answers from these passages are right. What was answered so is taken.

        names: ids of questions. brought_by: the first part of the name of the system that answers.
        """
        ends = f"{brought_by}/", f"/{model.rpartition('/')[2]}"
        rows = {
            row.question_id: row
            for row in self._made_answers
            if row.system.startswith(ends[0]) and row.system.endswith(ends[1])
        }
        left = [self.plan.run.questions[name] for name in names if name not in rows]
        answers = await self._answers(left, passages, brought_by, self.plan.prompt, model)
        rows |= {row.question_id: row for row in answers}
        wanted = {name: rows[name] for name in names if name in rows}
        right = await self.told(self.plan.judge, [row for row in wanted.values() if row.error is None])
        lead, systems = self.plan.judge, {(name, row.system) for name, row in wanted.items()}
        spent = [row.cost_usd for row in wanted.values()] + [
            row.cost_usd
            for row in self._made_judgements
            if (row.question_id, row.system) in systems
            and (row.judge, row.metric) == (lead.name, lead.measures)
            and row.model != NO_MODEL
        ]
        costs = [cost for cost in spent if cost is not None]
        return ChangedAnswers(
            wanted=names,
            right={name: given for (name, _), given in right.items()},
            cost_usd=sum(costs) if spent and len(costs) == len(spent) else None,
        )

    async def facts(self, points: Mapping[str, Points], second: str) -> dict[str, list[PointFacts]]:
        """Return what is known of every point that is lost or doubted: system -> facts.

        The model is asked again with the right passages in hand; where that does not help, its answer, and
        the reference, are judged against them; last it is asked without any, where that decides.
        """
        answers = {_key(answer): answer for answer in self.plan.run.answers}
        wanted = {
            (point.question_id, system): point
            for system, of_system in points.items()
            for point in of_system.counted
            if point.lost or point.doubted
        }
        # What a model makes of evidence that is stale tells nothing of a lost point.
        lost = [
            key
            for key, point in wanted.items()
            if point.lost and point.answerable and key[0] not in self.plan.stale
        ]
        gold, reference = await self._in_hand(list(dict.fromkeys(name for name, _ in lost)))
        rows = [answers[key] for key in lost]
        answered = await self.told(self.plan.refusal, rows)
        supported = await self.told(self.plan.support, [row for row in rows if row.contexts])
        steps = await self._steps(rows)
        facts = {
            key: self._known(
                point,
                answers[key],
                second,
                gold=gold.get(key[0]),
                reference=reference.get(key[0]),
                answered=answered.get(key),
                supported=supported.get(key),
                steps=steps.get(key),
            )
            for key, point in wanted.items()
        }
        facts |= await self._from_memory({key: facts[key] for key in lost})
        return {system: [facts[key] for key in facts if key[1] == system] for system in points}

    def _known(
        self,
        point: CountedPoint,
        answer: Answer,
        second: str,
        *,
        gold: KnownAnswer | None,
        reference: bool | None,
        answered: bool | None,
        supported: bool | None,
        steps: AgentSteps | None,
    ) -> PointFacts:
        question, run = self._question(answer), self.plan.run
        return PointFacts(
            point=point,
            answer=KnownAnswer(
                text=answer.answer,
                right=not point.lost,
                refused=None if answered is None else not answered,
                # Nothing supports an answer that was made from nothing.
                supported=False if answer.contexts == [] else supported,
                lacking=self._lacking(answer, supported),
            ),
            relevant=relevant_documents(question),
            found=self._found(answer, question),
            held=held_answer(answer, question, run.documents, run.chunks_of, run.same),
            gold=gold,
            reference=reference,
            second=second,
            steps=steps,
            stale=self.plan.stale.get(answer.question_id, ""),
            unclear=self.plan.unclear.get(answer.question_id, ""),
        )

    def _lacking(self, answer: Answer, supported: bool | None) -> str | None:
        """Return the words that no context has; None where another judge than one of words decided."""
        if supported is None or self.plan.support.name not in WORD_JUDGES:
            return None
        return words_outside(answer)

    def _found(self, answer: Answer, question: Question) -> bool | None:
        run = self.plan.run
        named = found_relevant(answer, question, run.same)
        if named is not None or not answer.contexts:
            return named
        if self._texts is None:
            self._texts = {name: plain(document.text) for name, document in run.documents.items()}
        return found_by_text(answer, question, self._texts, run.same)

    async def _in_hand(self, names: Sequence[str]) -> tuple[dict[str, KnownAnswer], dict[str, bool]]:
        """Return the answers with the right passages in hand, and whether these support the reference."""
        run, plan = self.plan.run, self.plan
        questions = [run.questions[name] for name in names if name in run.questions]
        passages = {
            question.id: gold_contexts(question, run.documents, run.chunks_of) for question in questions
        }
        questions = [question for question in questions if passages[question.id]]
        rows = await self._answers(questions, passages, "gold", plan.prompt)
        right = await self.told(plan.judge, rows)
        wrong = [row for row in rows if self.everything or right.get(_key(row)) is False]
        answered = await self.told(plan.refusal, wrong)
        supported = await self.told(plan.support, wrong)
        gold = {
            row.question_id: KnownAnswer(
                text=row.answer,
                right=right.get(_key(row)),
                refused=None if _key(row) not in answered else not answered[_key(row)],
                supported=supported.get(_key(row)),
                lacking=self._lacking(row, supported.get(_key(row))),
            )
            for row in rows
            if row.error is None
        }
        helped = {name for name, question in gold.items() if question.right}
        doubtful = [question for question in questions if self.everything or question.id not in helped]
        return gold, await self._references(doubtful, passages)

    async def _steps(self, rows: Sequence[Answer]) -> dict[Key, AgentSteps]:
        """Return what steps tell of those answers that carry some, or of which some were expected.

        What the tools brought holds the reference where it has the reference's figures, and would have got
        the point in place of the answer.
        """
        steps_of: dict[Key, AgentSteps] = {}
        passed_on: dict[Key, Answer] = {}
        for row in with_columns(rows, self.plan.run.questions):
            steps, question = read_steps(row), self._question(row)
            if steps is None:
                continue
            retrieved = self._found(row, question)
            if row.contexts and retrieved is False:  # then it was not the failure that left it without
                steps = msgspec.structs.replace(steps, failed=None)
            steps_of[_key(row)] = steps
            results = results_of(row)
            if results and references(question) and not retrieved and steps.departure is None:
                passed_on[_key(row)] = msgspec.structs.replace(
                    row,
                    system=f"{RESULTS} of {row.system}",
                    answer="\n\n".join(results),
                    question=question.question,
                    reference=question.reference,
                )
        lead = self.plan.judge
        if not self.plan.reads_reference:
            return steps_of
        judge = lead if may_ask(self.plan, lead) else load_judge(HELD)
        held = await self.told(judge, [row for row in passed_on.values() if has_figures(row)])
        for key, row in passed_on.items():
            holds = held.get(_key(row)) if has_figures(row) else False
            steps_of[key] = msgspec.structs.replace(steps_of[key], holds=holds, brought=telling_result(row))
        return steps_of

    async def _references(
        self, questions: Sequence[Question], passages: Mapping[str, list[Context]]
    ) -> dict[str, bool]:
        """Return whether the right passages support the reference, judged as if it were an answer."""
        if not self.plan.reads_reference:  # then the reference has lost no point
            return {}
        judge = self.plan.support
        if not may_ask(self.plan, judge):
            judge = load_judge("grounding")
        rows = [
            Answer(
                question_id=question.id,
                system=REFERENCE,
                answer=_likeliest(references(question), passages[question.id]),
                contexts=passages[question.id],
                question=question.question,
            )
            for question in questions
            if references(question)
        ]
        supported = {name: right for (name, _), right in (await self.told(judge, rows)).items()}
        if judge.needs_model:
            return supported
        return {
            question.id: supported[question.id] or says_reference(question, passages[question.id])
            for question in questions
            if question.id in supported
        }

    async def _from_memory(self, facts: Mapping[Key, PointFacts]) -> dict[Key, PointFacts]:
        """Return the facts of those points that the closed-book answer decides on, with what it says."""
        undecided = {key: fact for key, fact in facts.items() if self.everything or needs_memory(fact)}
        questions = list(dict.fromkeys(name for name, _ in undecided))
        closed_questions = [
            self.plan.run.questions[name] for name in questions if name in self.plan.run.questions
        ]
        closed = await self._answers(closed_questions, {}, "none", CLOSED_BOOK)
        memory = {row.question_id: row for row in closed if row.error is None}
        known = await self.told(self.plan.refusal, list(memory.values()))
        # Do closed-book answers say what the answers say, which are here their references?
        rows = {
            key: msgspec.structs.replace(
                memory[key[0]],
                system=f"{memory[key[0]].system} beside {key[1]}",
                reference=observed(fact).text,
            )
            for key, fact in undecided.items()
            if key[0] in memory and observed(fact).text.strip()
        }
        lead = self.plan.judge
        judge = lead if lead.needs_model and self.plan.reads_reference else load_judge(WORDS)
        same = await self.told(judge, list(rows.values()))
        decided = {}
        for key, row in rows.items():
            if _key(row) in same:
                says = same[_key(row)] and known.get(_key(memory[key[0]])) is not False
                decided[key] = msgspec.structs.replace(undecided[key], memory=row.answer, same=says)
        return decided

    async def _answers(
        self,
        questions: Sequence[Question],
        passages: Mapping[str, list[Context]],
        condition: str,
        prompt: str,
        model: str | None = None,
    ) -> list[Answer]:
        model = model or self.plan.model
        if model is None or not questions:
            return []
        rows = answer_given(
            questions,
            lambda question: passages.get(question.id, []),
            self.session,
            brought_by=condition,
            model=model,
            prompt=prompt,
        )
        made = [row async for row in rows]
        self._made_answers += made
        return made

    def _question(self, answer: Answer) -> Question:
        found = self.plan.run.questions.get(answer.question_id)
        if found is not None:
            return found
        question = answer.question or ""
        return Question(id=answer.question_id, question=question, reference=answer.reference)


def _key(answer: Answer) -> Key:
    return answer.question_id, answer.system


def _likeliest(alternatives: Sequence[str], passages: Iterable[Context]) -> str:
    """Return the alternative that stands in the passages, else the first: any one of them is right."""
    text = " ".join(context.text for context in passages).casefold()
    return next(
        (alternative for alternative in alternatives if alternative.casefold() in text), alternatives[0]
    )


LEAST = 20  # characters of a context that can tell which document it is from


def found_by_text(
    answer: Answer,
    question: Question,
    texts: Mapping[str, str],
    same: Mapping[str, str] = MappingProxyType({}),
) -> bool | None:
    """Return whether a context stands in a relevant document, for contexts that do not name theirs.

    texts: document id -> its text, with single spaces (see plain). None where that does not tell: the
    corpus lacks the relevant documents, or some context stands in none of its documents.
    """
    named = {*(question.document_ids or ()), *(span.document_id for span in question.evidence or ())}
    relevant = {same.get(name, name) for name in named}
    right = [text for name, text in texts.items() if same.get(name, name) in relevant]
    if not right or answer.contexts is None or question.answerable is False:
        return None
    contexts = [plain(context.text) for context in answer.contexts]
    if any(
        len(context_text) >= LEAST and context_text in text for context_text in contexts for text in right
    ):
        return True
    placed = all(
        len(context_text) >= LEAST and any(context_text in text for text in texts.values())
        for context_text in contexts
    )
    return False if placed else None


def plain(text: str) -> str:
    """Return a text with single spaces between its words."""
    return " ".join(text.split())
