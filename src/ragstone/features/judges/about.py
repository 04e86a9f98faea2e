"""What each judge that ships measures, in a sentence, and the groups in which they are listed."""

import functools

import msgspec

from ragstone.kernel.config import shipped
from ragstone.kernel.tables.where import folded


class LibraryGroup(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Judges that answer one question of a reader's. judges: name -> what it measures."""

    title: str
    judges: dict[str, str]


class _About(msgspec.Struct, frozen=True):
    group: list[LibraryGroup]


@functools.cache
def groups() -> list[LibraryGroup]:
    """Return the groups of about.toml, in its order."""
    text = shipped("ragstone.features.judges", "about.toml").read_bytes()
    return msgspec.toml.decode(text, type=_About).group


def has_words(text: str, words: str) -> bool:
    """Return whether a text has every word of a search."""
    return all(word in folded(text) for word in folded(words).split())
