"""The planner that asks a model, and the writer that does."""

from ragstone.assistant.conversation import Emit, Text
from ragstone.assistant.planning.actions import Menu
from ragstone.assistant.planning.numbers import split_sentences, unfounded
from ragstone.assistant.planning.prompts import action_prompt, reply_prompt
from ragstone.assistant.planning.state import Choose, Chosen, State, Write, Written
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

    A sentence is heard when it is whole and its numbers stand in the observations or in the user's words. The
    first one that brings a number of its own ends the reply: what follows is the observations' own text.
    """

    async def write(state: State, emit: Emit) -> Written:
        checked = _Checked(state, emit)
        reply = await stream(reply_prompt(state, scope, secret, budget), checked.hear)
        checked.end()
        return Written(text=checked.text, usage=reply.usage, cost_usd=reply.cost_usd)

    return write


def sources_of(state: State) -> list[str]:
    """Return the texts in which the numbers of a reply must stand."""
    users = [turn.text for turn in state.asked.turns if turn.role == "user"]
    return [observation.text for observation in state.found] + users


def own_text(state: State) -> str:
    """Return what the tools themselves say, oldest first."""
    return "\n\n".join(dict.fromkeys(found.text.strip() for found in state.found))


class _Checked:
    """Passes on the sentences of a reply until one brings a number that stands nowhere."""

    def __init__(self, state: State, emit: Emit) -> None:
        self.text = ""
        self._state = state
        self._sources = sources_of(state)
        self._emit = emit
        self._rest = ""
        self._trusted = True

    def hear(self, piece: str) -> None:
        """Take the next piece of the model's text."""
        sentences, self._rest = split_sentences(self._rest + piece)
        for sentence in sentences:
            self._pass(sentence)

    def end(self) -> None:
        """Take the end of the text: what is left is a sentence, and no text at all is the tools' own."""
        self._pass(self._rest.rstrip())
        self._trusted = self._trusted and bool(self.text.strip())
        if not self._trusted:
            self._say(("\n\n" if self.text else "") + own_text(self._state))

    def _pass(self, sentence: str) -> None:
        self._trusted = self._trusted and not unfounded(sentence, self._sources)
        if self._trusted:
            self._say(sentence)

    def _say(self, text: str) -> None:
        if text:
            self.text += text
            self._emit(Text(text))
