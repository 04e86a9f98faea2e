"""Texts -> vectors at an OpenAI-compatible endpoint: one request and its reply."""

import base64
import binascii
import contextlib
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from ragstone.kernel.errors import ModelError, plural
from ragstone.kernel.llm._openai_reply import NOT_TOLD, read_counts
from ragstone.kernel.llm._site import Site, exchange, raise_for
from ragstone.kernel.llm.failures import Unreachable
from ragstone.kernel.records import Usage, count_of, told_usage


class EmbeddedBatch(msgspec.Struct, frozen=True, kw_only=True):
    """The vectors of a request, (n, d), one a text in their order, as the endpoint gave them; its tokens."""

    vectors: NDArray[np.float32]
    usage: Usage
    cost_usd: float | None = None  # no endpoint of embeddings tells it


class _Vector(msgspec.Struct):
    embedding: list[float] | str  # a text is base64 of little-endian float32
    index: int | None = None


class _EmbeddingsResponse(msgspec.Struct):
    data: list[_Vector]
    usage: msgspec.Raw = NOT_TOLD


DECODER = msgspec.json.Decoder(_EmbeddingsResponse)


async def post_texts(site: Site, model: str, texts: Sequence[str], dimensions: int | None) -> EmbeddedBatch:
    """Return the vectors of some texts.

    Raises CallFailed for this request, BadRequest where the endpoint refuses it, and ModelError when no
    request can succeed: no key, or replies that are no vectors of these texts.
    """
    site.check_key()
    body: dict[str, Any] = {"model": model, "input": list(texts)}
    if dimensions is not None:
        body["dimensions"] = dimensions
    response, content = await exchange(site, "POST", "/embeddings", data=_encode(body))
    if response.status != 200:
        raise_for(site, response.status, response.headers, content)
    try:
        decoded = DECODER.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise Unreachable(
            f"{site.name} returned no readable embeddings: {site.excerpt(content)}. base_url usually ends in "
            f"/v1, and {model!r} must be a model that embeds."
        ) from None
    counts = read_counts(decoded.usage)
    return EmbeddedBatch(
        vectors=_vectors(decoded.data, len(texts), f"{site.name}, model {model!r}"),
        usage=told_usage(count_of(counts.get("prompt_tokens")) or counts.get("total_tokens"), 0),
    )


def _encode(body: dict[str, Any]) -> bytes:
    try:
        return msgspec.json.encode(body)
    except UnicodeEncodeError:  # half of a surrogate pair, which UTF-8 has no bytes for
        whole = [text.encode("utf-8", "replace").decode() for text in body["input"]]
        return msgspec.json.encode(body | {"input": whole})


def _vectors(embeddings: list[_Vector], n_texts: int, where: str) -> NDArray[np.float32]:
    """Return the vectors in the order of the texts. Raises ModelError for anything but one for each."""
    advice = "Use another model or endpoint: these would make wrong rankings."
    if len(embeddings) != n_texts:
        raise ModelError(
            f"{where}: gave {plural(len(embeddings), 'vector')} for {plural(n_texts, 'text')}. {advice}"
        )
    if any(vector.index is not None for vector in embeddings):
        if sorted(-1 if vector.index is None else vector.index for vector in embeddings) != list(
            range(n_texts)
        ):
            raise ModelError(f"{where}: its vectors are not numbered as the texts are. {advice}")
        embeddings = sorted(embeddings, key=lambda vector: vector.index or 0)
    rows = [_numbers(vector.embedding) for vector in embeddings]
    lengths = sorted({len(row) for row in rows})
    if len(lengths) > 1 or not lengths[0]:
        raise ModelError(f"{where}: gave vectors of {' and '.join(map(str, lengths))} numbers. {advice}")
    vectors = np.stack(rows)
    if not np.isfinite(vectors).all():
        raise ModelError(f"{where}: gave vectors with numbers that are not finite. {advice}")
    return vectors


def _numbers(embedding: list[float] | str) -> NDArray[np.float32]:
    """Return one vector; none of its numbers where it is no base64 of such."""
    if isinstance(embedding, str):
        with contextlib.suppress(binascii.Error, ValueError):
            return np.frombuffer(base64.b64decode(embedding, validate=True), dtype="<f4").astype(np.float32)
        return np.zeros(0, dtype=np.float32)
    with np.errstate(over="ignore"):  # what is too large for float32 is infinite, and told
        return np.asarray(embedding, dtype=np.float32)
