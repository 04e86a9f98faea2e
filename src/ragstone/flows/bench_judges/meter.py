"""What the calls of one judge took, as the ledger recorded it."""

import math

import msgspec

from ragstone.agreement.bench.cells import Spent
from ragstone.judging import JudgeContext
from ragstone.llm import Ask, CallFailed, Prompt, Reply
from ragstone.records import Usage

SAMPLES = 1000  # numbers of draws that one run of a judge may take


class Meter:
    """Listens to calls. Sums do not depend on the order in which the replies came in."""

    def __init__(self) -> None:
        self._usage = Usage(calls=0)
        self._seconds: list[float | None] = []
        self._costs: list[float | None] = []

    def metered(self, means: JudgeContext, run: int = 0) -> JudgeContext:
        """Return the means, listened to. run: the number of the repetition, from 0.

        Each run asks anew: it draws samples of its own, so the ledger does not answer one for the other.
        """
        return means.wrapped(lambda ask: self._metered(ask, run))

    def _metered(self, ask: Ask, run: int) -> Ask:
        async def metered(prompt: Prompt) -> Reply:
            numbered = msgspec.structs.replace(prompt, sample=prompt.sample + run * SAMPLES)
            try:
                reply = await ask(numbered)
            except CallFailed as failure:
                if failure.usage is not None:
                    self._usage += failure.usage
                raise
            self._usage += reply.usage
            self._seconds.append(reply.latency_s)
            self._costs.append(reply.cost_usd)
            return reply

        return metered

    def spent(self, n_judged: int) -> Spent:
        """Return what was heard; n_judged: judgements that it was spent on."""
        return Spent(
            n_judged=n_judged,
            n_calls=self._usage.calls,
            input=self._usage.input,
            output=self._usage.output,
            seconds=_sum(self._seconds),
            cost_usd=_sum(self._costs),
        )


def _sum(parts: list[float | None]) -> float | None:
    """Return the sum, the same in any order; None where a part of it is unknown."""
    known = [part for part in parts if part is not None]
    return math.fsum(known) if len(known) == len(parts) else None
