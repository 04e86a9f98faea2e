"""A model for tests of judges: a list of replies, given out in order, and the prompts that asked for them."""

from typing import Any

from ragstone.kernel.llm import CallFailed, Prompt, Reply
from ragstone.kernel.llm.schema import validate
from ragstone.kernel.records import Usage


class Scripted:
    """An `ask` that gives the replies one after the other; a CallFailed among them is raised."""

    def __init__(self, *replies: dict[str, Any] | CallFailed) -> None:
        self.replies = list(replies)
        self.prompts: list[Prompt] = []

    async def __call__(self, prompt: Prompt) -> Reply:
        self.prompts.append(prompt)
        reply = self.replies.pop(0)
        if isinstance(reply, CallFailed):
            raise reply
        assert prompt.reply is not None
        value = validate({"nonce": prompt.nonce, **reply}, prompt.reply, prompt.nonce)
        return Reply(
            text=str(reply), value=value, usage=Usage(input=10, output=5), latency_s=0.1, cost_usd=0.5
        )
