"""What a kind of judge needs, and what it finds."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from ragstone.kernel.llm import CallFailed
from ragstone.kernel.records import NO_MODEL, Answer, Context, Judgement, Metadata, Status, Usage, Verdict

if TYPE_CHECKING:
    from ragstone.kernel.embedding.model import EmbedSoon
    from ragstone.kernel.llm import Ask, Prompt, Reply


async def no_model(_prompt: "Prompt") -> "Reply":
    """Raise ValueError: what a judge asks where it was given no model."""
    raise ValueError("the judge asks a model: give one, e.g. --model openai/gpt-4o-mini")


Retrieve = Callable[[str, int | None], Awaitable[list[Context]]]
"""A query and how many (None: as `[retrieve]` says) -> the passages found, best first."""


class Decider(msgspec.Struct, frozen=True, kw_only=True):
    """How decision models are asked, and which models are; see decision.py, which makes it.

    find: what such a model finds for a judge. each: its verdicts on statements, by number.
    """

    decides: Callable[[str], bool]
    find: Callable[..., "Awaitable[Finding]"]
    each: Callable[..., Awaitable[dict[int, Any]]]


class JudgeContext(msgspec.Struct, frozen=True, kw_only=True):
    """What judges work with: a model to ask and its name, the project's secret, an embedder.

    others: model -> what it is asked with, for the members of juries and cascades that name one of their
    own. retrieve: looks passages up, for functions that do. context_tokens: model -> how many tokens prompt
    and reply may have together. decider: where one of the models is a decision model. at_once: how many
    calls the model takes at a time. shares_rows: whether several judges whose prompts begin alike are
    asked about each row. A judge that needs none of them works with `JudgeContext()`. Raises ValueError where
    a model is to be asked without a secret: whoever writes an answer could then reckon its nonce.
    """

    ask: "Ask" = no_model
    model: str = NO_MODEL
    others: Mapping[str, "Ask"] = {}
    secret: bytes = b""
    embed: "EmbedSoon | None" = None
    retrieve: Retrieve | None = None
    context_tokens: Callable[[str], int] | None = None
    decider: Decider | None = None
    at_once: int = 1
    shares_rows: bool = False

    def __post_init__(self) -> None:
        if (self.ask is not no_model or self.others) and not self.secret:
            raise ValueError(
                "judges that ask a model need the project's secret: JudgeContext(secret=load_secret(…))"
            )

    def decides(self, model: str) -> bool:
        """Return whether a model is a decision model."""
        return self.decider is not None and self.decider.decides(model)

    def wrapped(self, wrap: "Callable[[Ask], Ask]") -> "JudgeContext":
        """Return the context with every `ask` in it wrapped."""
        return msgspec.structs.replace(
            self,
            ask=self.ask if self.ask is no_model else wrap(self.ask),
            others={model: wrap(ask) for model, ask in self.others.items()},
        )


class CriterionOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome in one criterion; `score` is on the judge's scale."""

    metric: str
    score: float
    rationale: str | None = None


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome for one answer; `score` is None if and only if the status is not `scored`.

    parts: of a judge with several criteria, one for each, in their order; each becomes a judgement of its
    own. usage, cost_usd: of all its calls. error: what went wrong, where a member of a jury or cascade
    failed.
    metadata: what else a reader may want to see beside the score.
    """

    score: float | None
    status: Status = "scored"
    label: str | None = None
    rationale: str | None = None
    verdicts: list[Verdict] | None = None
    usage: Usage | None = None
    cost_usd: float | None = None
    parts: tuple[CriterionOutcome, ...] = ()
    error: str | None = None
    metadata: Metadata | None = None


NOTHING_TO_COMPARE = "the question is marked unanswerable: there is no reference to compare words with"


def not_applicable(why: str) -> Finding:
    """Return the finding on a row to which a judge does not apply, and for which nobody was asked."""
    return Finding(score=None, status="not_applicable", rationale=why)


def lacks(name: str) -> str:
    """Return what is said of a row that lacks an input of its judge."""
    return f"the row has no {name}"


FindingOf = Callable[[Answer, dict[str, str], JudgeContext], Awaitable[Finding]]
"""Comes to the finding on an answer; see JudgeFields.find."""


class CallCost(msgspec.Struct, frozen=True, kw_only=True):
    """What several calls took together; cost_usd is None if that of one is unknown."""

    usage: Usage
    cost_usd: float | None


def add_costs(paid: "Sequence[Reply | Finding | Judgement | CallCost]") -> CallCost:
    """Return what they took together."""
    costs = [part.cost_usd for part in paid if part.cost_usd is not None]
    return CallCost(
        usage=sum((part.usage for part in paid if part.usage is not None), Usage(calls=0)),
        cost_usd=sum(costs) if len(costs) == len(paid) else None,
    )


def unparsable(message: str, replies: "Sequence[Reply]") -> CallFailed:
    """Return the failure of a judge whose replies were well-formed, yet do not make a judgement."""
    all_kept = all(reply.kept for reply in replies)
    return CallFailed(
        "unparsable", message, raw=replies[-1].text, usage=add_costs(replies).usage, kept=all_kept
    )


def renewing(context: JudgeContext) -> JudgeContext:
    """Return the context with which a judge is asked anew, and takes no reply of an earlier command."""

    def renewed(ask: "Ask") -> "Ask":
        return lambda prompt: ask(msgspec.structs.replace(prompt, renew=True))

    return context.wrapped(renewed)
