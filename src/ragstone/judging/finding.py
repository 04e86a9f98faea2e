"""What a kind of judge needs, and what it finds."""

from collections.abc import Awaitable, Callable

import msgspec

from ragstone.embedding import EmbedSoon
from ragstone.judging.judge import Judge
from ragstone.llm import Ask, CallFailed, Prompt, Reply
from ragstone.records import Answer, Status, Usage, Verdict


class Means(msgspec.Struct, frozen=True, kw_only=True):
    """What judges work with: a model to ask and its name, the project's secret, an embedder.

    A judge that needs none of them works with `Means()`.
    """

    ask: Ask | None = None
    model: str = "none"
    secret: bytes = b""
    embed: EmbedSoon | None = None


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome for one answer; `score` is None if and only if the status is not `scored`."""

    score: float | None
    status: Status = "scored"
    label: str | None = None
    rationale: str | None = None
    verdicts: list[Verdict] | None = None
    usage: Usage | None = None
    cost_usd: float | None = None


FindingOf = Callable[[Judge, Answer, dict[str, str], Means], Awaitable[Finding]]


async def ask_model(judge: Judge, means: Means, prompt: Prompt) -> Reply:
    """Return the model's reply. Raises CallFailed; ValueError if no model was given."""
    if means.ask is None:
        raise ValueError(f"judge {judge.name!r} asks a model: give one, e.g. --model openai/gpt-4o-mini")
    return await means.ask(prompt)


def add_costs(replies: list[Reply]) -> tuple[Usage, float | None]:
    """Return the usage and the cost of several replies; the cost is None if one is unknown."""
    usage = Usage(calls=0)
    costs = []
    for reply in replies:
        usage += reply.usage
        costs.append(reply.cost_usd)
    return usage, None if None in costs else sum(cost for cost in costs if cost is not None)


def unparsable(message: str, replies: list[Reply]) -> CallFailed:
    """Return the failure of a judge whose replies were well-formed, yet do not make a judgement."""
    usage, _ = add_costs(replies)
    return CallFailed("unparsable", message, raw=replies[-1].text, usage=usage)
