"""How documents are cut."""

from typing import Annotated

import msgspec

from ragstone.config.section import Positive, Section


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
