"""`[bench]`: what `ragstone bench` compares.

```toml
[bench.retrievers]
chunkers = [{ method = "whole" }, { method = "recursive", size = 600 }]
retrievers = ["bm25", "dense", "hybrid"]
rerankers = ["none", "openai/gpt-4o-mini"]
k = [5, 10]

[bench.languages]
retrievers = ["bm25", "dense"]
```
"""

import msgspec

from ragstone.config.chunk import ChunkSection
from ragstone.config.section import Positive, Section


class RetrieversBench(Section, frozen=True, kw_only=True):
    """The grid of `ragstone bench retrievers`: every combination of these.

    chunkers: default `[chunk]` alone. embedders: default that of `[retrieve]` alone. rerankers: `none`, or
    what `by` of a rerank retriever may be. k: chunks that count; one search at the largest serves all.
    measure: what the leaderboard is ordered by, at the first k.
    """

    chunkers: list[ChunkSection] | None = None
    embedders: list[str] | None = None
    retrievers: list[str] = msgspec.field(default_factory=lambda: ["bm25", "dense", "hybrid"])
    rerankers: list[str] = msgspec.field(default_factory=lambda: ["none"])
    k: list[Positive] = msgspec.field(default_factory=lambda: [5, 10])
    measure: str | None = None


class LanguagesBench(Section, frozen=True, kw_only=True):
    """The study of `ragstone bench languages`.

    retrievers: those whose indexes are compared. langs: only these languages, default all that documents
    have. k: chunks that count, and that an answer is made from.
    """

    retrievers: list[str] = msgspec.field(default_factory=lambda: ["bm25", "dense"])
    langs: list[str] | None = None
    k: Positive = 5


class BenchSection(Section, frozen=True, kw_only=True):
    """`[bench]`: one table for each kind of bench."""

    retrievers: RetrieversBench = RetrieversBench()
    languages: LanguagesBench = LanguagesBench()
