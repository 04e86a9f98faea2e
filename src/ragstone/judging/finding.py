"""What a kind of judge needs, and what it finds."""

from collections.abc import Awaitable, Callable, Mapping

import msgspec

from ragstone.embedding import EmbedSoon
from ragstone.judging.judge import Judge
from ragstone.llm import Ask, CallFailed, Prompt, Reply
from ragstone.records import Answer, Metadata, Status, Usage, Verdict


class Means(msgspec.Struct, frozen=True, kw_only=True):
    """What judges work with: a model to ask and its name, the project's secret, an embedder.

    others: model -> what it is asked with, for the members of juries and cascades that name one of their
    own. A judge that needs none of them works with `Means()`.
    """

    ask: Ask | None = None
    model: str = "none"
    others: Mapping[str, Ask] = {}
    secret: bytes = b""
    embed: EmbedSoon | None = None


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome in one criterion; `score` is on the judge's scale."""

    metric: str
    score: float
    rationale: str | None = None


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome for one answer; `score` is None if and only if the status is not `scored`.

    parts: of a judge with several criteria, one for each, in their order; each becomes a judgement of its own.
    metadata: what else a reader may want to see beside the score.
    """

    score: float | None
    status: Status = "scored"
    label: str | None = None
    rationale: str | None = None
    verdicts: list[Verdict] | None = None
    usage: Usage | None = None
    cost_usd: float | None = None
    parts: tuple[Part, ...] = ()
    metadata: Metadata | None = None


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
