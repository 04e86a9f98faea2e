"""What an embedder is: a function from texts to vectors, and a name that says which vectors."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from ragstone.kernel.errors import ModelError
from ragstone.kernel.llm import CallFailed

Role = Literal["query", "passage"]
"""Whether a text is searched with or searched for: many models embed the two differently."""

Vectors = NDArray[np.float32]
"""(n, d): one row a text, each of length 1."""

Embed = Callable[[Sequence[str], Role], Vectors]
"""n texts and their role -> (n, d) vectors in their order; their dot product is the cosine similarity."""

EmbedSoon = Callable[[Sequence[str], Role], Awaitable[list[Vectors]]]
"""As Embed, for who can wait: n texts and their role -> n vectors."""

Keep = Callable[[Sequence[int], Vectors | CallFailed], None]
"""Takes the vectors of the texts at these positions, or the failure that they share, when they are there."""

ROUNDS = 4  # after the first the length of 384 numbers is right to 0.0001, less than 16 bits tell apart
BATCH = 64  # texts between two writes: what a kill can lose


class TextRefused(CallFailed):
    """The endpoint refuses one text: it is too long, say."""

    def __init__(self, text: str, words: str) -> None:
        super().__init__(
            "error", f"a text of {len(text):,} characters was refused ({words}): {text[:60]!r}..."
        )
        self.text = text


class NotEmbedded(ModelError):
    """A forecast has counted what these texts would cost; vectors of them there are none."""


class EmbeddingModel(msgspec.Struct, frozen=True, kw_only=True):
    """A model as a cache sees it: `identity` changes whenever the same text would get another vector.

    embed: hands each text's vector to Keep, in batches and in any order; need not normalise. prefixes: what
    the model wants to be put before a text of a role. at_once: how many texts are worth being handed over
    together. close: ends what it has open; it is not used after that. half: its vectors of length 1 are
    those that `widened` makes of 16 bits a number, in which they are stored.
    """

    identity: str
    embed: Callable[[Sequence[str], Role, Keep], None]
    prefixes: Mapping[Role, str] = {}
    at_once: int = BATCH
    close: Callable[[], None] = lambda: None
    half: bool = False


def in_batches(
    embed: Callable[[Sequence[str], Role], Vectors],
) -> Callable[[Sequence[str], Role, Keep], None]:
    """Return the `embed` of a model that takes some texts and gives their vectors, one batch at a time."""

    def embed_and_keep(texts: Sequence[str], role: Role, keep: Keep) -> None:
        for start in range(0, len(texts), BATCH):
            batch = range(start, min(start + BATCH, len(texts)))
            keep(batch, embed([texts[at] for at in batch], role))

    return embed_and_keep


def widened(half: NDArray[np.float16]) -> Vectors:
    """Return (n, d) vectors of length 1 from their numbers in 16 bits; zeros stay zeros."""
    wide = half.astype(np.float32)
    lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    lengths[lengths == 0] = 1
    units: Vectors = wide / lengths
    return units


def rounded(units: Vectors) -> Vectors:
    """Return unit vectors that 16 bits a number hold: what `widened` makes of them, narrowed again."""
    for _ in range(ROUNDS):
        half = units.astype(np.float16)
        units = widened(half)
        if np.array_equal(units.astype(np.float16), half):
            break
    return units
