"""The names of this room that others take from it; each is imported when it is first used."""

from .budget import DEADLINE, Budget, Caps, parse_caps
from .door import Door, open_door
from .failures import CallFailed, NoProbabilities
from .ledger import Ledger
from .ledgers import ledger_place, open_ledger
from .llamacpp import cached_models, resolve_gguf
from .prompt import Ask, Message, Prompt, Reply, Stream
from .response_store import AnyLedger
from .untrusted import MATERIAL, defuse, fence, fenced_prompt, load_secret, row_nonce

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
    "NoProbabilities",
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
