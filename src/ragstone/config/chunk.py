"""How documents are cut."""

from typing import Annotated

import msgspec

from ragstone.config.section import Positive, Section


class ChunkSection(Section, frozen=True, kw_only=True):
    """`[chunk]`: how documents are cut; sizes in characters."""

    method: str = "recursive"
    size: Positive = 1200
    overlap: Annotated[int, msgspec.Meta(ge=0)] = 0
