"""A file to be read, and the error of one that cannot be."""

from pathlib import Path

import msgspec


class File(msgspec.Struct, frozen=True):
    """A file and the id that a document made from it has.

    content: the bytes of a file that stands in an archive; `path` is then the archive's path and the name
    in it, for people to read. as_text: the user named the file, so that any ending is read as text.
    """

    path: Path
    id: str
    content: bytes | None = None
    as_text: bool = False

    @property
    def source(self) -> str:
        """Where it is, with `/` on every system: a row that names it may be read on another one."""
        return self.path.as_posix()

    def read_bytes(self) -> bytes:
        """Return what is in the file. Raises OSError."""
        return self.path.read_bytes() if self.content is None else self.content


class Unreadable(ValueError):
    """A file gives no document; the message says why, as a clause that begins with a small letter."""
