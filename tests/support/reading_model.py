"""A model for tests of judges that reads what it is shown: a statement is supported if it stands there."""

import re

import msgspec
from tests.support import scripts

from ragstone.kernel.llm import Prompt, Reply
from ragstone.kernel.records import Usage


def fenced(name: str, prompt: Prompt) -> str:
    """Return the text of an input as the prompt shows it."""
    return scripts.fenced(name, prompt.messages[-1].content)


class ReadingModel:
    """An `ask` that takes texts apart at full stops and finds statements word for word.

    limit: characters of contexts or reference that it refuses to be shown in one call.
    """

    def __init__(self, limit: int = 10**9) -> None:
        self.prompts: list[Prompt] = []
        self.limit = limit

    async def __call__(self, prompt: Prompt) -> Reply:
        self.prompts.append(prompt)
        assert prompt.reply is not None
        fields = prompt.reply.__struct_fields__
        shown = fenced("contexts", prompt) or fenced("reference", prompt)
        assert len(shown) <= self.limit
        if fields == ("statements",):
            made = [part.strip() for part in fenced("answer", prompt).split(".") if part.strip()]
            value = {"statements": [{"id": n, "statement": text} for n, text in enumerate(made, 1)]}
        elif fields == ("verdicts",):
            value = {"verdicts": self.verdicts(prompt, shown)}
        else:
            value = {"reason": "r", "verdict": "ENOUGH" in shown}
        usage = Usage(input=10, output=5)
        reply = msgspec.convert(value, prompt.reply)
        return Reply(text="", value=reply, usage=usage, latency_s=0.1, cost_usd=0.5)

    def verdicts(self, prompt: Prompt, shown: str) -> list[dict[str, object]]:
        found_blocks = re.findall(r"\[(\d+)\] (.*?)(?=\n\n\[|\Z)", shown, re.DOTALL)
        blocks = [(int(number), text) for number, text in found_blocks]
        asked = re.findall(r"^(\d+)\. (.*)$", fenced("statements", prompt), re.MULTILINE)
        if not asked:  # contexts are judged themselves
            return [{"id": n, "reason": "r", "useful": "USEFUL" in text} for n, text in blocks]
        found = []
        for number, text in asked:
            place = next((n for n, block in blocks if text in block), 0)
            one = {"id": int(number), "reason": f"call {len(self.prompts)}", "supported": text in shown}
            found.append(one | ({"context": place} if blocks else {}))
        return found
