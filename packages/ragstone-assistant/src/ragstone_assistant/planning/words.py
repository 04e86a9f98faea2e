"""The planner without a model: the nearest tool by its examples and by words, what it needs by the slots.

It calls nothing but the embedder. What it cannot do: two tools for one question, arguments that are neither
the question nor a slot, and a turn that is unclear in another way than its words tell.
"""

import asyncio
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from ragstone.kernel.embedding.model import EmbedSoon, Vectors
from ragstone_assistant._domain import PLACE, Domain
from ragstone_assistant._scope import InScope
from ragstone_assistant.conversation import Emit, TextPiece
from ragstone_assistant.planning._reference import stands_for_nothing
from ragstone_assistant.planning._trust import own_text
from ragstone_assistant.planning.actions import ANSWER, ASK_USER, DECLINE, SEARCH, arguments_of
from ragstone_assistant.planning.loop import asking, standing_question
from ragstone_assistant.planning.slots import place_in
from ragstone_assistant.planning.state import AgentState, Choose, ChosenAction, WrittenReply
from ragstone_assistant.tool import Tool

QUESTIONS = ("question", "query", "text", "topic")  # arguments that are the question itself
PLACES = ("place", "location", "city", "town")
# Of cosine similarity, by which another tool must be nearer than the documents, which answer most questions.
MARGIN = 0.01


def words_chooser(tools: Mapping[str, Tool], embed: EmbedSoon, in_scope: InScope) -> Choose:
    """Return the planner that decides by words and vectors; see the module."""
    near = _Nearest(tools, embed)

    async def choose(state: AgentState) -> ChosenAction:
        if state.taken:
            return _after(state, tools)
        question = standing_question(state.asked, state.lang, state.domain)
        likely = _surely_in_scope(state, question, tools)
        # What names something of the scope or goes on with a conversation is in scope.
        goes_on = bool(state.domain.names_in(state.known).strip()) or len(state.asked.turns) > 1
        if not goes_on and not await in_scope(question, state.lang, likely=likely):
            return ChosenAction(
                action=DECLINE, arguments={"why": "nearer to other subjects than to the scope"}
            )
        name = await near(question, state)
        missing = _missing(state, question, tools[name])
        if missing and state.may_ask:
            return _ask(missing, state.domain.ask(missing[0], state.lang))
        arguments = _filled(state, question, tools[name])
        if arguments is None:
            name, arguments = SEARCH, _filled(state, question, tools[SEARCH]) or {}
        return ChosenAction(action=name, arguments=arguments, thought=f"nearest to the examples of {name}")

    return choose


async def write_by_words(state: AgentState, emit: Emit) -> WrittenReply:
    """Return what the tools themselves tell the user, one after the other."""
    text = own_text(state)
    emit(TextPiece(text))
    return WrittenReply(text=text)


class _Nearest:
    """Finds the tool whose examples are nearest to a question; they are embedded once, when first needed."""

    def __init__(self, tools: Mapping[str, Tool], embed: EmbedSoon) -> None:
        self._tools = tools
        self._examples = [(name, text) for name, tool in tools.items() for text in tool.examples]
        self._embed = embed
        self._vectors: Vectors | None = None
        self._first = asyncio.Lock()

    async def __call__(self, question: str, state: AgentState) -> str:
        """Return the name of a tool. Who tells of trouble wants advice or a video, no figures; who names a
        sensitive term neither, unless the question has words of the tool."""
        scores, lang = await self.scores(question, state.lang), state.lang
        if any(state.domain.speaks_of(question, lang, name) for name in state.domain.planner.advice):
            scores = {name: score for name, score in scores.items() if self._tools[name].advises}
        if state.domain.sensitive.mentioned(question):
            tools = self._tools
            scores = {
                name: score
                for name, score in scores.items()
                if name == SEARCH or ((hint := tools[name].hint) and hint(question, lang).nearer > 0)
            }
        if SEARCH in scores:
            scores[SEARCH] += MARGIN
        return max(scores, key=scores.__getitem__, default=SEARCH)

    async def scores(self, question: str, lang: str) -> dict[str, float]:
        """Return how near each tool with examples is: the cosine of its nearest one, and its words."""
        async with self._first:
            if self._vectors is None and self._examples:
                vectors = await self._embed([text for _name, text in self._examples], "query")
                self._vectors = np.stack(vectors)
        if self._vectors is None:
            return {}
        (vector,) = await self._embed([question], "query")
        cosines: dict[str, float] = {}
        for (name, _text), cosine in zip(self._examples, self._vectors @ vector, strict=True):
            cosines[name] = max(cosines.get(name, -1.0), float(cosine))
        hints = {name: hint for name in cosines if (hint := self._tools[name].hint)}
        return cosines | {name: cosines[name] + hint(question, lang).nearer for name, hint in hints.items()}


def _surely_in_scope(state: AgentState, question: str, tools: Mapping[str, Tool]) -> bool:
    """Say whether a tool or the domain knows its words: then it is not compared with other subjects."""
    hinted = any(tool.hint(question, state.lang).in_scope for tool in tools.values() if tool.hint)
    domain = state.domain
    named = (stands_for_nothing(question, state.lang, domain, name) for name in domain.planner.likely)
    return hinted or any(named)


def _after(state: AgentState, tools: Mapping[str, Tool]) -> ChosenAction:
    """Return what follows on a step: the reply, a question back, or a search where a tool had nothing."""
    last = state.taken[-1]
    if state.missing in state.domain.askable and state.may_ask:
        return _ask([state.missing], asking(state))
    tried = any(taken.step.action == SEARCH for taken in state.taken)
    called = tools.get(last.step.action)
    question = standing_question(state.asked, state.lang, state.domain)
    # No document can stand in for a tool whose words are asked for, e.g. the weather's.
    alone_tells = (
        called is not None
        and not called.documented
        and (called.hint is None or called.hint(question, state.lang).nearer > 0)
    )
    if last.step.status == "done" or tried or alone_tells:
        return ChosenAction(action=ANSWER, arguments={"text": None})
    return ChosenAction(action=SEARCH, arguments=_filled(state, question, tools[SEARCH]) or {})


def _ask(missing: Sequence[str], question: str) -> ChosenAction:
    """Return the question for the first thing that is missing."""
    arguments: dict[str, object] = {"missing": [missing[0]], "question": question}
    return ChosenAction(action=ASK_USER, arguments=arguments, thought=f"missing: {', '.join(missing)}")


def _missing(state: AgentState, question: str, tool: Tool) -> list[str]:
    """Return what has to be asked for, the most important first."""
    lang, known, domain = state.lang, state.known, state.domain
    needs = [_slot(field.name) for field in arguments_of(tool) if field.required]
    lacking = [slot for slot in needs if slot in domain.askable and slot not in known]
    if PLACE in lacking and place_in(question, lang, domain, domain.names_in(known), eager=True):
        lacking.remove(PLACE)
    if not tool.documented:
        return lacking
    for name, slot in domain.slots.items():
        unsaid = any(
            all(stands_for_nothing(question, lang, domain, each) for each in row) for row in slot.missing
        )
        short = slot.fewer_than is None or len(question.split()) < slot.fewer_than
        if unsaid and short and name not in {*known, *lacking}:
            lacking.append(name)
    return lacking


def _days(question: str, lang: str, domain: Domain) -> int | None:
    """Return how many days from today on a question is about; None where it does not say."""
    if domain.speaks_of(question, lang, "tomorrow"):
        return 2
    return 1 if domain.speaks_of(question, lang, "today") else None


def _slot(field: str) -> str:
    return PLACE if field in PLACES else field


def _of_earlier(value: object, field: msgspec.structs.FieldInfo, question: str, domain: Domain) -> bool:
    """Say whether a tag restricts a tool only because an earlier turn named it: of a table it hides rows."""
    slot = domain.slots.get(field.name)
    stays = field.required or field.name in (*QUESTIONS, *PLACES) or (slot is not None and slot.in_scope)
    return isinstance(value, str) and not stays and value.casefold() not in question.casefold()


def _filled(state: AgentState, question: str, tool: Tool) -> dict[str, object] | None:
    """Return arguments for a tool: the question and the slots; None where it needs something else, or none is
    known."""
    arguments: dict[str, object] = {}
    for field in arguments_of(tool):
        slot = _slot(field.name)
        value: str | int | None = state.known.get(slot) or None
        if isinstance(value, str) and slot != PLACE:  # of several the first; a place may lie in another
            value = value.split(", ")[0]
        if field.name in QUESTIONS:
            value = question
        elif field.name == "days":
            value = _days(question, state.lang, state.domain)
        elif slot == PLACE and value is None:
            names = state.domain.names_in(state.known)
            value = place_in(question, state.lang, state.domain, names, eager=True)
        if value is not None and not (
            tool.name != SEARCH and _of_earlier(value, field, question, state.domain)
        ):
            arguments[field.name] = value
        elif field.required:
            return None
    return arguments if _will_do(arguments, tool) else None


def _will_do(arguments: dict[str, object], tool: Tool) -> bool:
    """Say whether a tool takes these arguments; without any, one that has some tells all it knows."""
    if not arguments and tool.arguments.__struct_fields__:
        return False
    try:
        msgspec.convert(arguments, tool.arguments)
    except msgspec.ValidationError:
        return False
    return True
