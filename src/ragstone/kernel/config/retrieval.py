"""Tables of ragstone.toml for how documents are cut and found: [chunk], [retrievers].

`[retrievers]`: a name and a short line for each retriever.

```toml
[retrievers]
meaning = { kind = "dense", index = "faiss" }
both    = { kind = "hybrid", of = ["bm25", "meaning"], weights = [0.4, 0.6] }
quick   = { kind = "shortlist", candidates = 50 }
ordered = { kind = "rerank", of = "both", by = "openai/gpt-4o-mini", depth = 20 }
mine    = { kind = "http", url = "http://localhost:8000/search" }
```
"""

from typing import Annotated, Any, Literal

import msgspec

from ragstone.kernel.config.section import NotNegative, Positive, Seconds, Section


class ChunkSection(Section, frozen=True, kw_only=True):
    """`[chunk]`: how documents are cut; sizes in characters.

    percentile, embedder: of the method `semantic`. The embedder is not that of `[retrieve]`: chunks must not
    change with the retriever that they are searched by.
    """

    method: str = "recursive"
    size: Positive = 1200
    overlap: Annotated[int, msgspec.Meta(ge=0)] = 0
    percentile: Annotated[float, msgspec.Meta(ge=0, le=100)] = 20.0
    embedder: str = "packaged"


class Bm25Settings(Section, frozen=True, kw_only=True, tag_field="kind", tag="bm25"):
    """Lexical search."""


Similarity = Literal["cosine", "dot", "l2"]


class DenseSettings(Section, frozen=True, kw_only=True, tag_field="kind", tag="dense"):
    """Search by the similarity of vectors.

    embedder: default `[retrieve] embedder`. index: `exact` (in memory), `faiss`, `qdrant`. url: of a Qdrant
    server, by default a folder in `.ragstone`; api_key_env: the environment variable with its key.
    collection: of Qdrant, by default named by what is in it. similarity: the cosine; or by the vectors as the
    embedder gives them, of whatever length: their inner product, or minus their squared distance.
    """

    embedder: str | None = None
    index: Literal["exact", "faiss", "qdrant"] = "exact"
    url: str | None = None
    api_key_env: str | None = None
    collection: str | None = None
    similarity: Similarity = "cosine"


class HybridSettings(Section, frozen=True, kw_only=True, tag_field="kind", tag="hybrid"):
    """Several retrievers fused.

    fusion: `scores`: the sum of their standard scores; `ranks`: of their reciprocal ranks, where scores mean
    little. weights: one for each of `of`; by default all count alike.
    """

    of: list[str] = msgspec.field(default_factory=lambda: ["bm25", "dense"])
    fusion: Literal["scores", "ranks"] = "scores"
    weights: list[NotNegative] | None = None


class ShortlistSettings(Section, frozen=True, kw_only=True, tag_field="kind", tag="shortlist"):
    """The first places of a retriever by words, fused with the similarity of their vectors.

    of: the retriever that proposes. candidates: how many of its places are embedded for a question, where
    their vectors are not stored yet; no other chunk is. embedder: default `[retrieve] embedder`.
    """

    of: str = "bm25"
    candidates: Annotated[int, msgspec.Meta(ge=2, le=1000)] = 50
    embedder: str | None = None


class RerankSettings(Section, frozen=True, kw_only=True, tag_field="kind", tag="rerank"):
    """The first `depth` places of a retriever in a new order.

    by: a model of the door (`transport/model`), which sees them as one list, or a cross-encoder
    (`cross-encoder/NAME`).
    """

    of: str = "bm25"
    by: str
    depth: Positive = 20


class HttpSettings(Section, frozen=True, kw_only=True, tag_field="kind", tag="http"):
    """A retriever behind HTTP.

    request: the JSON body, in which `{question}`, `{k}`, `{lang}` and `{tag.NAME}` are filled in; an empty
    one makes it a GET. The same may stand in `url`. items: JSONPath of the results, best first; document_id,
    chunk_id, text, score: JSONPath of each within a result. api_key_env: the environment variable with the
    key, sent as bearer, or as `{key}` where that stands in the template or in `headers`. max_concurrency:
    calls at once. timeout_s: for one call.
    """

    url: str
    request: dict[str, Any] = msgspec.field(default_factory=lambda: {"query": "{question}", "k": "{k}"})
    headers: dict[str, str] = {}
    items: str = "$.results[*]"
    document_id: str = "$.document_id"
    chunk_id: str | None = "$.chunk_id"
    text: str | None = "$.text"
    score: str | None = "$.score"
    api_key_env: str | None = None
    max_concurrency: Positive = 8
    timeout_s: Seconds = 30


RetrieverSettings = (
    Bm25Settings | DenseSettings | HybridSettings | ShortlistSettings | RerankSettings | HttpSettings
)
