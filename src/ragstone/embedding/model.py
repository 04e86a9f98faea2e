"""What an embedder is: a function from texts to vectors, and a name that says which vectors."""

from collections.abc import Callable, Sequence
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

Role = Literal["query", "passage"]
"""Whether a text is searched with or searched for: many models embed the two differently."""

Vectors = NDArray[np.float32]
"""(n, d): one row a text, each of length 1."""

Embed = Callable[[Sequence[str], Role], Vectors]
"""n texts and their role -> (n, d) vectors in their order; their dot product is the cosine similarity."""


class EmbeddingModel(msgspec.Struct, frozen=True):
    """A model as a cache sees it: `identity` changes whenever the same text would get another vector.

    `embed` need not normalise, nor cope with an empty list.
    """

    identity: str
    embed: Embed
