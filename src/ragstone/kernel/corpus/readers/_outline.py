"""Blocks of an Office file -> text with headings and pages."""

from collections.abc import Iterable
from typing import Any

import msgspec

PAGE = "\0"
"""In the text of a block: here a page begins. XML and HTML cannot hold this character."""


class OutlineBlock(msgspec.Struct, frozen=True):
    """A paragraph, a heading (`level` from 1), an item of a list, a row of a table.

    Blocks of the same `kind` that is not empty stand on lines one after the other; a blank line sets the
    others apart.
    """

    text: str
    level: int = 0
    kind: str = ""


class Outline(msgspec.Struct, frozen=True):
    """The text; its headings, as they stand in metadata; the offset of each page's first character."""

    text: str
    headings: list[dict[str, Any]]
    page_starts: list[int]


def lay_out(blocks: Iterable[OutlineBlock]) -> Outline:
    """Return the blocks as one text. Blank ones are left out; pages that begin in them begin after them."""
    pieces: list[str] = []
    outline = Outline("", [], [])
    at = 0
    before: OutlineBlock | None = None
    for block in blocks:
        text = block.text.replace(PAGE, "").strip()
        if not text:
            outline.page_starts.extend([at] * block.text.count(PAGE))
            continue
        if before is not None:
            gap = "\n" if block.kind and block.kind == before.kind else "\n\n"
            # A page that began after the text so far begins with what comes now.
            for n in range(len(outline.page_starts) - 1, -1, -1):
                if outline.page_starts[n] != at:
                    break
                outline.page_starts[n] += len(gap)
            pieces.append(gap)
            at += len(gap)
        outline.page_starts.extend(at + offset for offset in _page_offsets(block.text))
        if block.level:
            title = " ".join(text.split())
            outline.headings.append({"start": at, "level": block.level, "title": title})
        pieces.append(text)
        at += len(text)
        before = block
    return msgspec.structs.replace(outline, text="".join(pieces))


def _page_offsets(text: str) -> list[int]:
    """Return where the pages of a block begin in its text without marks and without space around it."""
    offsets = []
    n_before = 0
    for part in text.split(PAGE)[:-1]:
        n_before += len(part)
        offsets.append(n_before)
    bare = text.replace(PAGE, "")
    blank = len(bare) - len(bare.lstrip())
    return [min(max(offset - blank, 0), len(bare.strip())) for offset in offsets]


def outline_notes(outline: Outline) -> dict[str, Any]:
    """Return the metadata that an outline gives: `headings` and `page_starts`, each if there are any."""
    notes = {"headings": outline.headings, "page_starts": outline.page_starts}
    return {name: value for name, value in notes.items() if value}
