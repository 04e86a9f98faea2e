"""A model for tests of the agent: the actions that it chooses, given out in order, and what it was told."""

from collections.abc import Callable
from typing import Any

from ragstone.kernel.llm import CallFailed, Prompt, Reply
from ragstone.kernel.llm.schema import validate
from ragstone.kernel.records import Usage

Said = dict[str, Any] | str | CallFailed


class ScriptedPlanner:
    """An `ask` that chooses these actions one after the other, and the last one again and again.

    An action is `{"do": NAME, "with": ARGUMENTS}`; a text is what the model says that cannot be read; a
    CallFailed is raised. stream: says the texts of `written`, word by word.
    """

    def __init__(self, *actions: Said, written: str | CallFailed = "") -> None:
        self.actions = list(actions)
        self.written = written
        self.prompts: list[Prompt] = []

    async def ask(self, prompt: Prompt) -> Reply:
        self.prompts.append(prompt)
        action = self.actions.pop(0) if len(self.actions) > 1 else self.actions[0]
        if isinstance(action, CallFailed):
            raise action
        if isinstance(action, str):
            raise CallFailed("unparsable", f"no JSON object in the reply {action!r}", raw=action)
        assert prompt.reply is not None
        said = {"nonce": prompt.nonce, "thought": "next", "action": action}
        value = validate(said, prompt.reply, prompt.nonce)
        return _reply(str(said), value)

    async def stream(self, prompt: Prompt, on_text: Callable[[str], None]) -> Reply:
        self.prompts.append(prompt)
        if isinstance(self.written, CallFailed):
            raise self.written
        for piece in self.written.replace(" ", " \0").split("\0"):
            on_text(piece)
        return _reply(self.written, None)


def _reply(text: str, value: object) -> Reply:
    return Reply(text=text, value=value, usage=Usage(input=10, output=5), latency_s=0.1, cost_usd=0.5)
