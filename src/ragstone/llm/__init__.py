"""The one door to language models: transports, ledger, limits, budget, structured output."""

from ragstone.llm.budget import DEADLINE, Budget, Caps, parse_caps
from ragstone.llm.door import Door, open_door
from ragstone.llm.ledger import Ledger
from ragstone.llm.ledgers import ledger_place, open_ledger
from ragstone.llm.llamacpp import cached_models, resolve_gguf
from ragstone.llm.prompt import Ask, CallFailed, Message, Prompt, Reply, Stream
from ragstone.llm.response_store import AnyLedger
from ragstone.llm.untrusted import MATERIAL, defuse, fence, fenced_prompt, load_secret, row_nonce

__all__ = [
    "DEADLINE",
    "MATERIAL",
    "AnyLedger",
    "Ask",
    "Budget",
    "CallFailed",
    "Caps",
    "Door",
    "Ledger",
    "Message",
    "Prompt",
    "Reply",
    "Stream",
    "cached_models",
    "defuse",
    "fence",
    "fenced_prompt",
    "ledger_place",
    "load_secret",
    "open_door",
    "open_ledger",
    "parse_caps",
    "resolve_gguf",
    "row_nonce",
]
