"""The navigation of the pages: its entries, and where a page is in it."""

from collections.abc import Sequence

import msgspec

from ragstone.kernel.config.serving import Role


class NavPage(msgspec.Struct, frozen=True):
    """A page of the navigation. beneath: where more that belong to it begin, beside those below its path."""

    words: str
    path: str
    beneath: tuple[str, ...] = ()


class NavEntry(msgspec.Struct, frozen=True):
    """An entry of the navigation, for those of a role. places: its pages; it opens the first.

    key: the letter that opens it, after g; another for each entry.
    """

    words: str
    key: str
    places: tuple[NavPage, ...]
    role: Role = "reader"


def place_at(path: str, sections: Sequence[NavEntry]) -> tuple[NavEntry, NavPage] | None:
    """Return where a page stands in the navigation; None for one that does not."""
    found = [
        (len(start), section, place)
        for section in sections
        for place in section.places
        for start in (place.path, *place.beneath)
        if path.rstrip("/") == start.rstrip("/") or path.startswith(f"{start}/")
    ]
    return max(found, key=lambda each: each[0])[1:] if found else None
