"""A conversation -> the next reply: choose an action, take it, look at what came of it, until there is one.

ReAct (Yao et al. 2023, ICLR). The function that chooses is a parameter: a model
(model.py) or words and vectors (words.py).
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import date

import msgspec

from ragstone.kernel.corpus.tokens import tokenize
from ragstone.kernel.errors import ModelError, RagstoneError
from ragstone.kernel.llm import CallFailed
from ragstone.kernel.records import Turn
from ragstone_assistant._domain import PLACE, Domain
from ragstone_assistant.answering.answering import instead
from ragstone_assistant.answering.emergency import emergency_reply
from ragstone_assistant.conversation import Asked, Doing, Emit, Kind, Passage, Respond, Said, TextPiece
from ragstone_assistant.guards import without_contacts, without_instructions
from ragstone_assistant.languages import language_of, phrase
from ragstone_assistant.planning._reference import goes_on
from ragstone_assistant.planning._trust import own_text, plain, trusted
from ragstone_assistant.planning.actions import (
    DECLINE,
    SEARCH,
    Answer,
    AskUser,
    Menu,
    read_arguments,
)
from ragstone_assistant.planning.model import VERSION
from ragstone_assistant.planning.slots import Know, courtesy_in, turn_language
from ragstone_assistant.planning.state import AgentState, Choose, ChosenAction, Trace, Write
from ragstone_assistant.tool import Observation, Situation

LISTED = "- "  # before each of several places that the user chooses from
MOST_LISTED, MOST_ASKING = 4, 300  # lines and characters of a question back


def asking(state: AgentState) -> str:
    """Return what the last tool tells the user is missing, and behind it the question; "" for nothing.

    Of a list of places, as many as have room.
    """
    called = [taken.observation for taken in state.taken if taken.observation is not None]
    if state.missing not in state.domain.askable:
        return ""
    lines = [line for line in called[-1].told.splitlines() if line]
    listed = [line for line in lines if line.startswith(LISTED)]
    several = listed and state.missing == PLACE
    question = phrase("which_place", state.lang) if several else state.domain.ask(state.missing, state.lang)
    included = [line for line in lines if line not in listed] + listed[:MOST_LISTED]
    while included and len("\n".join([*included, question])) > MOST_ASKING:
        included.pop()
    return "\n".join([*included, question])


# What a tool that answers has less of the time limit, so that it can end with what is there.
MARGIN_S, MARGIN = 3.0, 0.2
MOST_ASKED = 2  # questions back in a row; then it helps as well as it can
MOST_QUESTION = 320  # characters of a question back
FEW_WORDS = 3
MOST_SOUGHT = 1000  # characters of a question that is searched for
QUESTION_MARKS = ("?", "？", "؟")
REPEATED = (
    "This was done already, with the same arguments: see what came of it above. Choose another action, or "
    "answer from what there is."
)


class Agent(msgspec.Struct, frozen=True, kw_only=True):
    """What the loop works with.

    domain: what it is about. most_steps: actions chosen for one reply. time_limit_s: of the whole reply,
    streaming included. model: that plans and writes, as the ledger knows it; "" where words do.
    """

    menu: Menu
    choose: Choose
    write: Write
    domain: Domain
    most_steps: int
    time_limit_s: float
    model: str = ""


async def reply_to(
    agent: Agent, conversation: Asked, lang: str, today: date, emit: Emit, *, known: dict[str, str]
) -> Said:
    """Return the reply to the last turn. Raises nothing but CancelledError.

    known: what the conversation holds of what could be asked for, see State.
    What is in flight when the time is over is cancelled, and so it is when the caller is.
    """
    trace, started = Trace(emit), time.perf_counter()
    limit_s = agent.time_limit_s
    state = AgentState(
        asked=conversation,
        lang=lang,
        today=today,
        deadline=asyncio.get_running_loop().time() + limit_s - min(MARGIN_S, limit_s * MARGIN),
        domain=agent.domain,
        known=known,
        may_ask=n_asked(conversation) < MOST_ASKED,
    )
    try:
        async with asyncio.timeout(limit_s):
            try:
                outcome = await _loop(agent, state, trace)
            except RagstoneError as failure:
                outcome = await _failed(agent, _now(state, trace), trace, failure)
    except TimeoutError:
        outcome = _best(_now(state, trace), trace, "time_limit", f"not done within {limit_s:g} s")
    if not outcome.text.startswith(trace.heard):  # what was read stays said
        outcome = msgspec.structs.replace(outcome, text=f"{trace.heard}\n\n{outcome.text}")
    trace.say(outcome.text)
    if trace.usage.calls and not outcome.model:  # no document was answered from
        outcome = msgspec.structs.replace(outcome, model=agent.model, prompt_version=VERSION)
    return msgspec.structs.replace(
        outcome,
        steps=trace.steps,
        usage=trace.usage,
        cost_usd=trace.cost_usd,
        latency_s=round(time.perf_counter() - started, 4),
    )


def n_asked(conversation: Asked) -> int:
    """Return how many of the latest replies in a row were questions back, see is_question."""
    n = 0
    for turn in reversed(conversation.turns):
        if turn.role == "assistant":
            if not is_question(turn):
                break
            n += 1
    return n


def is_question(turn: Turn) -> bool:
    """Say whether a turn of the assistant asks something back: it is short, cites nothing and asks.

    What is asked may be explained behind it: "Which place do you mean? Please name the nearest town."
    """
    asks = any(mark in turn.content for mark in QUESTION_MARKS)
    return asks and len(turn.content) <= MOST_QUESTION and "[1]" not in turn.content


def standing_question(conversation: Asked, lang: str, domain: Domain) -> str:
    """Return what the user wants to know: the last turn, after those that it completes.

    A turn completes the one before it where the assistant asked back in between, and where it cannot be
    understood alone: it is too short ("And in Dakar?"), or refers to what was named ("What do they cost?").
    Of very long turns it is the beginning.
    """
    parts: list[str] = []
    for turn in reversed(conversation.turns):
        if turn.role == "user":
            if parts and courtesy_in(turn.content, lang, domain):
                break
            parts.append(turn.content.strip())
        elif (
            (not is_question(turn) or parts[-1].endswith(QUESTION_MARKS))
            and len(tokenize(parts[-1])) > FEW_WORDS
            and not goes_on(parts[-1], lang, domain)
        ):
            break  # what follows stands alone
    return "\n".join(reversed(parts))[:MOST_SOUGHT]


async def _loop(agent: Agent, state: AgentState, trace: Trace) -> Said:
    for _step in range(agent.most_steps):
        now = _now(state, trace)
        chosen = await _choose(agent, now, trace)
        if chosen is None:
            if len(trace.steps) > 1 and not any(step.action for step in trace.steps[-2:]):
                break  # nothing that can be read, twice in a row
            continue
        same = (chosen.action, chosen.arguments)
        n_before = sum((step.action, step.arguments) == same for step in trace.steps)
        if n_before > 1:
            break
        if n_before:
            trace.invalid(chosen, REPEATED)
            continue
        outcome = await _take(agent, now, chosen, trace)
        if outcome is not None:
            return outcome
    return _best(_now(state, trace), trace, "step_limit", f"no reply in {len(trace.taken)} steps")


async def _choose(agent: Agent, state: AgentState, trace: Trace) -> ChosenAction | None:
    """Return the next action; None where the model did not say it in the form asked for, which is noted."""
    try:
        chosen = await agent.choose(state)
    except CallFailed as failure:
        if failure.status != "unparsable":
            raise
        if failure.usage is not None:
            trace.spend(failure.usage, None)
        trace.invalid(ChosenAction(action=""), str(failure))
        return None
    trace.spend(chosen.usage, chosen.cost_usd)
    return chosen


async def _take(agent: Agent, state: AgentState, chosen: ChosenAction, trace: Trace) -> Said | None:
    """Take an action; return the reply if it ends the loop."""
    try:
        arguments = read_arguments(agent.menu, chosen.action, chosen.arguments)
    except ValueError as mistake:
        trace.invalid(chosen, str(mistake))
        return None
    if isinstance(arguments, AskUser):
        return _ask_user(state, chosen, arguments, trace)
    if chosen.action == DECLINE:
        trace.closing(chosen)
        return _declined(state)
    if isinstance(arguments, Answer):
        return await _answer(agent, state, chosen, arguments, trace)
    return await _call(agent, state, chosen, arguments, trace)


def _ask_user(state: AgentState, chosen: ChosenAction, asking: AskUser, trace: Trace) -> Said | None:
    useless = {taken.observation.missing for taken in state.taken if taken.observation}
    held = {slot: state.known[slot] for slot in asking.missing if slot in state.known and slot not in useless}
    if not state.may_ask:
        trace.invalid(chosen, f"The user was asked {MOST_ASKED} times in a row. Help as well as you can.")
        return None
    if len(held) == len(set(asking.missing)):
        known = ", ".join(f"{slot} = {value}" for slot, value in held.items())
        trace.invalid(chosen, f"The conversation holds this already: {known}. Do not ask for it.")
        return None
    trace.closing(chosen)
    return _question(state, asking.missing[0], asking.question)


def _question(state: AgentState, missing: str, question: str) -> Said:
    """Return a question back: the model's, or our own phrase where that may not be said.

    Small models ask in English, whatever the user speaks.
    """
    question = question.strip()
    own = "\n".join(line for line in question.splitlines() if not line.startswith(LISTED))
    foreign = language_of(own, None, state.lang) != state.lang
    if not question or foreign or plain(question, state) != question or not trusted(question, state):
        question = state.domain.ask(missing, state.lang)
    elif not any(mark in question for mark in QUESTION_MARKS):
        question += "؟" if state.lang == "ar" else "?"
    return Said(text=question, kind="question", lang=state.lang)


async def _answer(
    agent: Agent, state: AgentState, chosen: ChosenAction, answer: Answer, trace: Trace
) -> Said | None:
    """Reply from what tools have brought; where none was called, the documents are searched first."""
    if not state.taken or not any(taken.observation for taken in state.taken):
        search = ChosenAction(
            action=SEARCH,
            arguments={"question": standing_question(state.asked, state.lang, state.domain)},
            thought=chosen.thought,
        )
        if SEARCH not in agent.menu.tools:
            trace.invalid(chosen, "No tool was called yet, so nothing is known. Call one, or decline.")
            return None
        return await _take(agent, state, search, trace)
    trace.closing(chosen)
    if not state.found and state.missing in state.domain.askable:
        return _question(state, state.missing, answer.text or asking(state))
    if not state.found:
        return _best(state, trace, "tool_unavailable", "")
    text = (answer.text or "").strip()
    if not text:
        written = await agent.write(state, trace.emit)
        trace.spend(written.usage, written.cost_usd)
        text = written.text
    else:
        text = plain(text, state) if trusted(text, state) else own_text(state)
    return _from_found(state, "\n\n".join([text, *_not_found(state)]))


async def _call(
    agent: Agent, state: AgentState, chosen: ChosenAction, arguments: msgspec.Struct, trace: Trace
) -> Said | None:
    """Call a tool; return its reply if it has written one, after what other tools have brought before."""
    tool = agent.menu.tools[chosen.action]
    lead = "".join(f"{text}\n\n" for text in [own_text(state)] if text)
    trace.emit(Doing(chosen.action, tool.doing.get(state.lang, tool.doing.get("en", ""))))
    started = time.perf_counter()
    situation = Situation(
        asked=state.asked,
        lang=state.lang,
        today=state.today,
        emit=_led(trace, lead),
        deadline=state.deadline,
    )
    observation = _without_orders(await tool.call(arguments, situation))
    trace.observed(chosen, observation, time.perf_counter() - started)
    reply = observation.reply
    if reply is None:
        return None
    kind: Kind = "answer" if lead and reply.kind == "refusal" else reply.kind
    return msgspec.structs.replace(
        reply,
        text=lead + reply.text,
        kind=kind,
        links=(*_links(state), *reply.links),
    )


def _without_orders(observation: Observation) -> Observation:
    """Return what a tool brought without sentences that speak to a model; a reply of its own is checked."""
    if observation.reply is not None:
        return observation
    text, user_text = without_instructions(observation.text), without_instructions(observation.told)
    return msgspec.structs.replace(observation, text=text, told=user_text)


def _led(trace: Trace, lead: str) -> Emit:
    """Return a listener that lets `lead` be heard before the first piece of text."""

    def emit(event: object) -> None:
        if lead and not trace.heard and not isinstance(event, Doing):
            trace.say(lead)
        trace.emit(event)  # type: ignore[arg-type]

    return emit


def _from_found(state: AgentState, text: str) -> Said:
    """Return the reply that rests on what tools have brought."""
    sensitive = state.domain.sensitive
    if sensitive.mentioned(text):
        text += f"\n\n{sensitive.caution(state.lang)}"
    elif sensitive.mentioned(standing_question(state.asked, state.lang, state.domain)):
        text += f"\n\n{sensitive.refusal(state.lang)}"
    passages = tuple(passage for observation in state.found for passage in observation.passages)
    return Said(text=text, kind="answer", lang=state.lang, passages=passages, links=_links(state))


def _links(state: AgentState) -> tuple[tuple[str, str], ...]:
    return tuple(dict.fromkeys(link for observation in state.found for link in observation.links))


def _not_found(state: AgentState) -> list[str]:
    """Return what each tool says that failed and brought nothing later: nobody guesses its result."""
    last = {taken.step.action: taken.observation for taken in state.taken if taken.observation}
    failed = [
        without_contacts(step.told, state.lang)
        or phrase("documents_unavailable" if name == SEARCH else "tool_unavailable", state.lang)
        for name, step in last.items()
        if step.failed
    ]
    return list(dict.fromkeys(failed))


def _declined(state: AgentState) -> Said:
    text = state.domain.say("declined", state.lang)
    return Said(text=text, kind="declined", lang=state.lang)


def _best(state: AgentState, trace: Trace, reason: str, error: str) -> Said:
    """Return the best reply that there is without another call.

    What the user has begun to read stays, and its end is marked; else what the tools have brought stands for
    itself; else what failed is named; else the reason.
    """
    if trace.heard:
        in_time = reason != "time_limit"
        text = f"{trace.heard}\n\n{phrase('cut_off' if in_time else 'stopped_early', state.lang)}"
        if in_time:
            return Said(text=text, kind="unavailable", lang=state.lang, error=error)
        return Said(text=text, kind="answer", lang=state.lang)
    if state.found:
        return _from_found(state, "\n\n".join([own_text(state), *_not_found(state)]))
    failed = [taken.step.observation for taken in state.taken if taken.step.status == "failed"]
    text = "\n\n".join(_not_found(state)) or phrase(reason, state.lang)
    return Said(
        text=text, kind="unavailable", lang=state.lang, error="; ".join([*failed, *filter(None, [error])])
    )


async def _failed(agent: Agent, state: AgentState, trace: Trace, failure: RagstoneError) -> Said:
    """Return the reply where the model failed. A provider's own refusal declines the question.

    Where no tool was called yet, the documents are quoted, as far as they answer.
    """
    error = str(failure)
    if isinstance(failure, CallFailed):
        error = f"{failure.status}: {failure}"
        if failure.usage is not None:
            trace.spend(failure.usage, None)
        if failure.status == "refused" and not state.found:
            return _declined(state)
    called = trace.heard or any(taken.observation for taken in state.taken)
    if isinstance(failure, ModelError) and SEARCH in agent.menu.tools and not called:
        outcome = await _quoted(agent, state, trace)
        if outcome is not None and outcome.kind == "answer":
            return instead(outcome, failure, lambda _note: None)
    return _best(state, trace, "model_unavailable", error)


async def _quoted(agent: Agent, state: AgentState, trace: Trace) -> Said | None:
    """Return what the documents say to the question, word for word; nothing is heard of it yet."""
    wanted: dict[str, object] = {"question": standing_question(state.asked, state.lang, state.domain)}
    search = agent.menu.tools[SEARCH]
    trace.emit(Doing(SEARCH, search.doing.get(state.lang, "")))
    situation = Situation(
        asked=state.asked, lang=state.lang, today=state.today, deadline=state.deadline, quoting=True
    )
    started = time.perf_counter()
    observation = await search.call(read_arguments(agent.menu, SEARCH, wanted), situation)
    chosen = ChosenAction(action=SEARCH, arguments=wanted, thought="")
    trace.observed(chosen, observation, time.perf_counter() - started)
    return observation.reply


def _now(state: AgentState, trace: Trace) -> AgentState:
    return msgspec.structs.replace(state, taken=trace.taken)


LONG = 4000  # characters; more are not read in the loop that answers everybody
_READER = ThreadPoolExecutor(1, "ragstone-long")
LOOKED_BACK = 3  # earlier turns of the user by which the language of a turn that tells nothing is known


def respond_with(agent: Agent, know: Know, tag_keys: Sequence[str], today: Callable[[], date]) -> Respond:
    """Return the function that replies to conversations.

    know: reads what a conversation holds; what it says of tag_keys are tags of the question. today: read for
    each reply.
    """

    def read(conversation: Asked) -> tuple[str, Said | None, dict[str, str]]:
        lang = conversation_language(conversation)
        texts = [turn.content for turn in conversation.turns if turn.role == "user"]
        before = texts[-2] if len(texts) > 1 else ""
        first = emergency_reply(texts[-1], lang, agent.domain.sensitive, before)
        first = first or _courtesy(conversation, lang, agent.domain)
        return lang, first, know(conversation)

    async def respond(conversation: Asked, emit: Emit) -> Said:
        if sum(len(turn.content) for turn in conversation.turns) > LONG:
            lang, outcome, known = await asyncio.get_running_loop().run_in_executor(
                _READER, read, conversation
            )
        else:
            lang, outcome, known = read(conversation)
        if outcome is None:
            outcome = await reply_to(agent, conversation, lang, today(), emit, known=known)
        else:
            emit(TextPiece(outcome.text))
        tags = {key: known[key] for key in tag_keys if key in known}
        tags |= question_tags(outcome.lang, outcome.passages) | outcome.tags
        return msgspec.structs.replace(outcome, tags=tags)

    return respond


def conversation_language(conversation: Asked) -> str:
    """Return the language to answer in: the user's choice, else that of the last turn that tells."""
    texts = [turn.content for turn in conversation.turns if turn.role == "user"][-LOOKED_BACK:]
    before = None
    for text in texts[:-1]:
        before = turn_language(text, None, before)
    return turn_language(texts[-1], conversation.lang, before)


def question_tags(lang: str, passages: Sequence[Passage]) -> dict[str, str]:
    """Return the tags that every question has: its language, and the topic of the nearest passage, if any."""
    topic = passages[0].tags.get("topic") if passages else None
    return {"lang": lang} | ({"topic": topic} if topic else {})


def _courtesy(conversation: Asked, lang: str, domain: Domain) -> Said | None:
    """Return the reply to a greeting or to thanks; None for any other turn.

    "OK" in reply to a question of the assistant is none: it says yes.
    """
    started = time.perf_counter()
    courtesy = courtesy_in(conversation.question, lang, domain)
    earlier = [turn for turn in conversation.turns[:-1] if turn.role == "assistant"]
    if courtesy is None or (courtesy[0] == "thanks" and earlier and is_question(earlier[-1])):
        return None
    kind, spoken = courtesy
    if conversation.lang is None and not earlier:
        lang = spoken
    text = domain.say(kind, lang)
    return Said(
        text=text,
        kind="greeting",
        lang=lang,
        cost_usd=0.0,
        latency_s=round(time.perf_counter() - started, 4),
    )
