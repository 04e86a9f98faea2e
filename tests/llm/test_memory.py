"""A ledger that forgets."""

from ragstone.llm.memory import MOST_CHARACTERS, MemoryLedger
from ragstone.llm.prompt import Completion


async def test_the_response_used_least_recently_goes_first() -> None:
    ledger = MemoryLedger(most=2)
    for key in (b"a", b"b"):
        await ledger.put(key, "m", Completion(text=key.decode()))
    assert await ledger.find(b"a") == Completion(text="a")
    await ledger.put(b"c", "m", Completion(text="c"))
    assert (await ledger.find(b"a"), await ledger.find(b"b")) == (Completion(text="a"), None)
    ledger.close()
    assert await ledger.find(b"a") is None


async def test_long_responses_and_those_with_log_probabilities_are_not_kept() -> None:
    ledger = MemoryLedger()
    await ledger.put(b"a", "m", Completion(text="x" * (MOST_CHARACTERS + 1)))
    await ledger.put(b"b", "m", Completion(text="x", logprobs=()))
    assert await ledger.find(b"a") is await ledger.find(b"b") is None
