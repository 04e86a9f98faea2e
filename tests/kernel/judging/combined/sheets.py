"""Judges made of others for tests, and a model that knows what to say of which answer."""

from pathlib import Path

import msgspec

from ragstone.kernel.judging import JudgeContext, parse_judge
from ragstone.kernel.judging.fields import Member
from ragstone.kernel.judging.judge import Judge, type_of_kind
from ragstone.kernel.judging.variant import load_members
from ragstone.kernel.llm import CallFailed, Prompt, Reply
from ragstone.kernel.llm.schema import validate
from ragstone.kernel.records import Answer, Usage

ANSWER = Answer(
    question_id="q1",
    system="mine",
    question="When should sensors be installed?",
    reference="early in the season",
    answer="Early.",
)
TONE = """
name = "tone"
version = 1
kind = "percentage"
inputs = ["answer"]
scale = [0, 100]
source = "ours"
prompt = "How polite is {answer}?"
"""


def whole(kind: str, *members: Member, scale=(0, 1), name: str = "whole", **own: str) -> Judge:
    """Return a jury or a cascade. own: keys of its kind."""
    judge = type_of_kind(kind)(
        name=name,
        version=1,
        inputs=["question", "reference", "answer"],
        scale=scale,
        source="a test",
        members=list(members),
        **own,
    )
    return load_members(judge, name)


class Saying:
    """A model that says one thing whenever it is asked, and counts."""

    def __init__(self, said: dict | CallFailed | Exception) -> None:
        self.said = said
        self.n_asked = 0

    async def __call__(self, prompt: Prompt) -> Reply:
        self.n_asked += 1
        if isinstance(self.said, Exception):
            raise self.said
        value = validate(
            {"nonce": prompt.nonce, "reason": "so it is", **self.said}, prompt.reply, prompt.nonce
        )
        return Reply(text="", value=value, usage=Usage(input=10, output=5), latency_s=0.1, cost_usd=0.5)


def context_of(default=None, **others) -> JudgeContext:
    """Return a context with a default model `openai/default`, and others by their name after `openai/`."""
    return JudgeContext(
        ask=default,
        model="openai/default" if default else "none",
        others={f"openai/{name}": ask for name, ask in others.items()},
        secret=b"secret",
    )


def write_judge(path: Path, text: str = TONE) -> Path:
    """Write a judge's file, checked."""
    parse_judge(text, path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def answered(**changes) -> Answer:
    """Return the answer with other fields."""
    return msgspec.structs.replace(ANSWER, **changes)
