"""The planner that asks a model, and the writer that does."""

from ragstone.assistant.conversation import Emit
from ragstone.assistant.planning.actions import Menu
from ragstone.assistant.planning.prompts import action_prompt, reply_prompt
from ragstone.assistant.planning.state import Choose, Chosen, State, Write, Written
from ragstone.assistant.planning.trust import CheckedText
from ragstone.llm import Ask, Stream


def model_chooser(menu: Menu, ask: Ask, *, scope: str, secret: bytes, budget: int) -> Choose:
    """Return the planner that asks a model for each action. budget: see action_prompt."""

    async def choose(state: State) -> Chosen:
        reply = await ask(action_prompt(state, menu, scope, secret, budget))
        action, arguments = _action(reply.value.action)
        return Chosen(
            action=action,
            arguments=arguments,
            thought=reply.value.thought,
            usage=reply.usage,
            cost_usd=reply.cost_usd,
        )

    return choose


def _action(said: object) -> tuple[str, dict[str, object]]:
    """Return name and arguments of an action as the model said it; "" for what has no name."""
    said = said if isinstance(said, dict) else {}
    name, arguments = said.get("do"), said.get("with")
    return (
        name if isinstance(name, str) else "",
        arguments if isinstance(arguments, dict) else {},
    )


def model_writer(stream: Stream, *, scope: str, secret: bytes, budget: int) -> Write:
    """Return the writer that asks a model for the reply, sentence by sentence.

    A sentence is heard when it is whole and may be said (see trust.py). The first one that may not ends the
    reply: what follows is what the tools themselves say.
    """

    async def write(state: State, emit: Emit) -> Written:
        checked = CheckedText(state, emit)
        reply = await stream(reply_prompt(state, scope, secret, budget), checked.hear)
        checked.end()
        return Written(text=checked.text, usage=reply.usage, cost_usd=reply.cost_usd)

    return write
