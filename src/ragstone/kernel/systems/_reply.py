"""What an application says to a question: read once, and kept in the ledger in this form."""

import msgspec

from ragstone.kernel.llm.prompt import Completion
from ragstone.kernel.records import Context, Metadata, Step, Usage


class SystemReply(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An application's answer, and contexts and steps where it tells them; metadata: what else it tells."""

    answer: str
    contexts: list[Context] | None = None
    steps: list[Step] | None = None
    metadata: Metadata | None = None


def completion_of(
    reply: SystemReply, *, usage: Usage | None, latency_s: float, cost_usd: float | None
) -> Completion:
    """Return what the ledger keeps of it. usage, cost_usd: None where the application does not tell."""
    return Completion(
        text=msgspec.json.encode(reply).decode(),
        usage=usage or Usage(),
        latency_s=round(latency_s, 4),
        cost_usd=cost_usd,
    )
