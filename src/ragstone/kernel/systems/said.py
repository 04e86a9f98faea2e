"""What an application says to a question: read once, kept in the ledger in this form, and made an Answer."""

from collections.abc import Callable

import msgspec

from ragstone.kernel.llm import Ask, CallFailed, Prompt, Reply
from ragstone.kernel.llm.limits import GivenUp
from ragstone.kernel.llm.prompt import Completion
from ragstone.kernel.records import Answer, Context, Metadata, Question, Step, Usage
from ragstone.kernel.systems.rows import unanswered

# For a forecast alone: a system that tells its contexts is taken to tell so many, each as long as an answer.
CONTEXTS = 3
ASSUMPTION = f"Applications of [systems] that tell contexts are taken to tell {CONTEXTS} of them."


class SystemReply(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An application's answer, and contexts and steps where it tells them; metadata: what else it tells."""

    answer: str
    contexts: list[Context] | None = None
    steps: list[Step] | None = None
    metadata: Metadata | None = None


Read = Callable[[Reply], SystemReply]


def completion_of(
    said: SystemReply, *, usage: Usage | None, latency_s: float, cost_usd: float | None
) -> Completion:
    """Return what the ledger keeps of it. usage, cost_usd: None where the application does not tell."""
    return Completion(
        text=msgspec.json.encode(said).decode(),
        usage=usage or Usage(),
        latency_s=round(latency_s, 4),
        cost_usd=cost_usd,
    )


def read_said(reply: Reply, question: Question, *, tells_contexts: bool) -> SystemReply:
    """Return what a completion of completion_of holds; for a reply that was made up, one of its kind."""
    if reply.usage.calls:
        return msgspec.json.decode(reply.text, type=SystemReply)
    # Each question's own, for the calls of judges that are alike are counted once.
    contexts = [Context(text=f"{question.id} {number}. {reply.text}") for number in range(CONTEXTS)]
    return SystemReply(answer=reply.text, contexts=contexts if tells_contexts else None)


async def answer_by(ask: Ask, prompt: Prompt, question: Question, *, system: str, read: Read) -> Answer:
    """Return a system's answer. A call that fails gives an answer with `error`, and the run goes on.

    So does a call that is not made, since the system has answered nothing for so long. Tokens that the
    system did not tell are unknown, not none.
    """
    asked = unanswered(question, system)
    try:
        reply = await ask(prompt)
    except CallFailed as failure:
        return msgspec.structs.replace(asked, error=f"{failure.status}: {failure}", usage=failure.usage)
    except GivenUp as why:
        return msgspec.structs.replace(asked, error=f"error: it was given up: {why}")
    said, usage = read(reply), reply.usage
    return msgspec.structs.replace(
        asked,
        answer=said.answer.strip(),
        contexts=said.contexts,
        steps=said.steps,
        latency_s=reply.latency_s,
        usage=None if usage.calls and not usage.input + usage.output else usage,
        cost_usd=reply.cost_usd,
        metadata=said.metadata,
    )
