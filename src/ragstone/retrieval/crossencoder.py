"""Reranking by a cross-encoder, through sentence-transformers: each passage is read with the question."""

import asyncio
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ragstone.errors import MissingExtra, ModelError
from ragstone.records import Metadata
from ragstone.retrieval.means import Reorder

PREFIX = "cross-encoder/"


async def order_by_cross_encoder(model: str, *, offline: bool) -> Reorder:
    """Return a function that orders passages by the cross-encoder's score, ties in their first order.

    model: a folder, or a name on the hub, from where it is loaded once unless `offline`. A text that is too
    long for it is cut by its own tokeniser. Raises MissingExtra, and ModelError where it cannot be loaded or
    gives more than one score a passage.
    """
    encoder = await asyncio.to_thread(_load, model, offline)
    one_at_a_time = asyncio.Lock()

    async def order(question: str, texts: Sequence[str]) -> tuple[list[int], Metadata]:
        pairs = [(question, text) for text in texts]
        async with one_at_a_time:
            scores = np.asarray(await asyncio.to_thread(encoder.predict, pairs, show_progress_bar=False))
        if scores.shape != (len(texts),) or not np.isfinite(scores).all():
            raise ModelError(
                f"{PREFIX}{model} gave an array of shape {scores.shape} for {len(texts)} passages, or "
                "numbers that are not finite. Use a cross-encoder with one label."
            )
        return np.argsort(-scores, kind="stable").tolist(), {}

    return order


@lru_cache(maxsize=1)
def _load(model: str, offline: bool) -> Any:  # noqa: ANN401 - the package is optional
    try:
        from sentence_transformers import CrossEncoder
    except ImportError:
        raise MissingExtra(f"the reranker {PREFIX}{model}", "sentence-transformers") from None
    try:
        return CrossEncoder(model, local_files_only=offline)
    except (OSError, ValueError) as mistake:
        reason = next(iter(str(mistake).strip().splitlines()), type(mistake).__name__)
        raise ModelError(
            f"{PREFIX}{model}: cannot be loaded ({reason}). Name a folder that holds the model, or one of a "
            "hub that can be reached."
        ) from None
