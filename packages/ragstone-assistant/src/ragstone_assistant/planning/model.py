"""The planner that asks a model, the writer that does, and what the model is told.

The fixed part of a prompt comes first, then the conversation, then what was done, all of it fenced.
"""

from collections.abc import Sequence

import msgspec

from ragstone.kernel.dataset.languages import language_name
from ragstone.kernel.llm import MATERIAL, Ask, Message, Prompt, Stream, defuse, fence, row_nonce
from ragstone.kernel.records import Turn
from ragstone_assistant.conversation import Emit
from ragstone_assistant.planning._trust import CheckedText
from ragstone_assistant.planning.actions import ASK_USER, Menu
from ragstone_assistant.planning.state import AgentState, Choose, ChosenAction, TakenStep, Write, WrittenReply
from ragstone_assistant.tools.plain_text import shortened

VERSION = "plan-2"
BYTES_A_TOKEN = 3  # fewer than any script needs with the tokenisers of today, so that the budget holds
MOST_TURN = 600  # characters that an earlier reply is condensed to; it stands in the log in full
MOST_OBSERVED = 4000  # characters of an observation

TOLD = """You plan the work of an assistant that answers questions about {scope}.
You know no facts yourself: facts come from tools. Each time you choose one action, and you are then shown \
what came of it.

Actions besides the tools:
- ask_user: ask for what is missing. missing: what it is; question: one short question in the user's language.
- answer: reply to the user. text: the reply in the user's language, at most 120 words, which says only what \
the observations say and repeats their numbers as they stand; null to have it written for you.
- decline: the question has nothing to do with {scope}. why: one sentence.

How to choose:
1. A turn may complete the turns before it ("tomatoes", "in Nakuru"): read them together.
2. If you cannot tell which {slots} is meant, and a useful reply depends on it, \
choose ask_user. Never ask for what the conversation or the list of what is known holds already.
3. Otherwise choose the tool that fits. search_documents answers from the documents; give it a question \
that can be understood by itself, in the user's language.
4. An observation that says that something was wrong: correct the action, or choose another one.
5. When the observations hold what was asked for, choose answer. If a tool failed, do not guess what it \
would have said.

{material}

The tools, described by those who made them:
{tools}"""
FORM = (
    'Reply with one JSON object and nothing else: {"nonce": the code, "thought": one short sentence, '
    '"action": {"do": the name of the action, "with": {its arguments}}}'
)
WRITE = """You write the reply of an assistant that answers questions about {scope}.
Say what the observations say, and nothing else: no number, name or advice that does not stand there. If a \
part of what was asked is not in them, say that it is not known. At most 120 words, in plain sentences, \
without headings. Write in {language}.

{material}"""


def action_prompt(state: AgentState, menu: Menu, secret: bytes, budget: int) -> Prompt:
    """Return the call that chooses the next action. budget: tokens that the conversation may take."""
    scope, slots = state.domain.scope("en"), ", ".join(state.domain.askable) or "thing"
    may_ask = state.may_ask
    fixed = row_nonce(secret, [VERSION, menu.told])
    instructions = TOLD.format(
        scope=scope, slots=slots, material=MATERIAL, tools=fence("tools", menu.told, fixed)
    )
    nonce = _nonce(state, secret)
    language, today = language_name(state.lang), state.today
    situation = f"The user is answered in {language}. Today is {today:%A}, {today.isoformat()}."
    messages = [
        Message("system", f"{instructions}\n\n{FORM}"),
        Message("user", f"{_shown(state, nonce, budget)}\n\n{situation}\n{_next(nonce, may_ask)}"),
    ]
    for taken in state.taken:
        messages += _told_of(taken, nonce, may_ask)
    reply = menu.reply if may_ask else menu.reply_unasking
    return Prompt(messages=tuple(messages), reply=reply, nonce=nonce, max_tokens=700)


def reply_prompt(state: AgentState, secret: bytes, budget: int) -> Prompt:
    """Return the call that writes the reply from what tools have brought."""
    nonce = _nonce(state, secret)
    language = language_name(state.lang)
    instructions = WRITE.format(scope=state.domain.scope("en"), language=language, material=MATERIAL)
    observed = "\n\n".join(
        fence("observation", shortened(observation.text, MOST_OBSERVED), nonce) for observation in state.found
    )
    return Prompt(
        messages=(
            Message("system", instructions),
            Message("user", f"{_shown(state, nonce, budget)}\n\n{observed}\n\nReply in {language}."),
        ),
        max_tokens=400,
    )


def condensed(turns: Sequence[Turn], budget: int) -> list[Turn]:
    """Return the latest turns that fit a budget of tokens, in order; the last always, cut if need be.

    Earlier replies are condensed to their beginning, and of the turns before them the oldest are dropped.
    """
    last = turns[-1]
    longest = max(1, budget * BYTES_A_TOKEN)
    last_text = last.content.encode("utf-8", "replace")[:longest].decode("utf-8", "ignore")
    included = [Turn(last.role, last_text)]
    left = budget - _tokens(last_text)
    for turn in reversed(turns[:-1]):
        text = turn.content
        if turn.role == "assistant":
            text = shortened(text, MOST_TURN)
        left -= _tokens(text)
        if left < 0:
            break
        included.append(Turn(turn.role, text))
    return included[::-1]


def _tokens(text: str) -> int:
    return len(text.encode("utf-8", "replace")) // BYTES_A_TOKEN + 4


def _nonce(state: AgentState, secret: bytes) -> str:
    return row_nonce(secret, [VERSION, *(turn.content for turn in state.asked.turns)])


def _shown(state: AgentState, nonce: str, budget: int) -> str:
    """Return the conversation and what is known from it, each text fenced."""
    parts = [fence(turn.role, turn.content, nonce) for turn in condensed(state.asked.turns, budget)]
    if state.known:
        known = "\n".join(f"{slot}: {value}" for slot, value in state.known.items())
        parts.append(fence("known", known, nonce))
    return "\n".join(parts)


def _next(nonce: str, may_ask: bool) -> str:
    asking = "" if may_ask else f" {ASK_USER} is over: help as well as you can."
    return f'Choose the next action.{asking} The code is "{nonce}".'


def _told_of(taken: TakenStep, nonce: str, may_ask: bool) -> list[Message]:
    """Return a step as the model said it, and what it is told of it."""
    step = taken.step
    chosen = {"nonce": nonce, "thought": step.thought, "action": {"do": step.action, "with": step.arguments}}
    observed = fence("observation", shortened(step.observation, MOST_OBSERVED), nonce)
    note = {"done": "", "failed": "The tool failed.\n", "invalid": "The action could not be taken.\n"}
    return [
        Message("assistant", defuse(msgspec.json.encode(chosen).decode())),
        Message("user", f"{note[step.status]}{observed}\n{_next(nonce, may_ask)}"),
    ]


def model_chooser(menu: Menu, ask: Ask, *, secret: bytes, budget: int) -> Choose:
    """Return the planner that asks a model for each action. budget: see action_prompt."""

    async def choose(state: AgentState) -> ChosenAction:
        reply = await ask(action_prompt(state, menu, secret, budget))
        action, arguments = _action(reply.value.action)
        return ChosenAction(
            action=action,
            arguments=arguments,
            thought=reply.value.thought,
            usage=reply.usage,
            cost_usd=reply.cost_usd,
        )

    return choose


def _action(fields: object) -> tuple[str, dict[str, object]]:
    """Return name and arguments of an action as the model said it; "" for what has no name."""
    fields = fields if isinstance(fields, dict) else {}
    name, arguments = fields.get("do"), fields.get("with")
    return (
        name if isinstance(name, str) else "",
        arguments if isinstance(arguments, dict) else {},
    )


def model_writer(stream: Stream, *, secret: bytes, budget: int) -> Write:
    """Return the writer that asks a model for the reply, sentence by sentence.

    A sentence is heard when it is whole and may be said (see trust.py). The first one that may not ends the
    reply: what follows is what the tools themselves say.
    """

    async def write(state: AgentState, emit: Emit) -> WrittenReply:
        checked = CheckedText(state, emit)
        reply = await stream(reply_prompt(state, secret, budget), checked.hear)
        checked.end()
        return WrittenReply(text=checked.text, usage=reply.usage, cost_usd=reply.cost_usd)

    return write
