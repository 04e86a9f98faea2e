"""A file on its way into the corpus."""

from pathlib import Path

import msgspec


class File(msgspec.Struct, frozen=True):
    """A file and the id that a document made from it has."""

    path: Path
    id: str


class Unreadable(ValueError):
    """A file gives no document; the message says why, as a clause that begins with a small letter."""
