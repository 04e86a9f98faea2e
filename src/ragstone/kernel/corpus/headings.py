"""Where the headings of a document stand, and the sections that they make."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import PurePath

import msgspec

from ragstone.kernel.corpus.sentences import Span
from ragstone.kernel.records import Document

MARKDOWN = frozenset({".md", ".markdown"})
# Rows of these may hold Markdown; any other ending says what the text is.
ROWS = frozenset({"", ".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet"})
JOINER = " > "

_FRONT_MATTER = re.compile(r"\A---\n.*?\n---(?=\n|\Z)", re.DOTALL)
_LINE = re.compile(r"([^\r\n]*)(?:\r\n?|\n|\Z)")
_FENCE = re.compile(r" {0,3}+(`{3,}+|~{3,}+)(.*+)")
_ATX = re.compile(r" {0,3}+(#{1,6}+)(?:[ \t]++(.*+)|\Z)")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*")
# Stars of emphasis stand in pairs at the ends of words: "10*10 plots" and "5* hotels" hold none.
_EMPHASIS = re.compile(
    r"(?<![\w*])(?P<stars>\*{1,3}+)(?=[^\s*])(?P<inside>[^*]{1,500}+)(?<!\s)(?P=stars)(?![\w*])"
)
_MARKUP = re.compile(r"!?\[([^\]]{0,500}+)\]\([^)]{0,2000}+\)|`{1,3}([^`]{1,500}+)`{1,3}|\{#[^}]{0,200}+\}")
_PARAGRAPH = re.compile(r" {0,3}(?![>#|]|[-*+] |\d{1,9}[.)] )\S")  # a line that an underline makes a heading


class SectionHeading(msgspec.Struct, frozen=True):
    """Where the heading's line begins, its level (1 is the highest) and its text."""

    start: int
    level: int
    title: str


class DocumentSection(msgspec.Struct, frozen=True):
    """A heading and what follows up to the next one; `path` holds the titles from the highest level on."""

    start: int
    end: int
    path: tuple[str, ...]


def is_markdown(document: Document) -> bool:
    """Say whether a document came from a Markdown file, by the ending of its source."""
    return PurePath(document.source or "").suffix.lower() in MARKDOWN


def document_headings(document: Document) -> list[SectionHeading]:
    """Return the headings of a document in order.

    They are those that its reader noted (`metadata["headings"]`, a list of `{"start", "level", "title"}`);
    else, in a Markdown file or a row of a table, those of Markdown. A `headings` of another shape is a
    column of the user's, and is left alone.
    """
    noted = (document.metadata or {}).get("headings")
    if noted:
        try:
            headings = msgspec.convert(noted, list[SectionHeading])
        except msgspec.ValidationError:
            pass
        else:
            inside = [heading for heading in headings if 0 <= heading.start < len(document.text)]
            return sorted(inside, key=lambda heading: heading.start)
    if PurePath(document.source or "").suffix.lower() in MARKDOWN | ROWS:
        return list(markdown_headings(document.text))
    return []


def markdown_headings(text: str) -> Iterator[SectionHeading]:
    """Yield the headings of a Markdown text: `# Title`, and a line underlined with = or -.

    Not those in code between fences, in code that is indented, and in front matter (CommonMark 0.31; an
    underlined paragraph of several lines is none here).
    """
    fence, before, before_start = "", "", 0
    front = _FRONT_MATTER.match(text)
    for match in _LINE.finditer(text, front.end() if front else 0):
        line, start = match[1], match.start()
        opened = _FENCE.match(line)
        if fence:
            closes = opened and opened[1].startswith(fence) and not opened[2].strip()
            fence, before = "" if closes else fence, ""
            continue
        if opened and not (opened[1][0] == "`" and "`" in opened[2]):
            fence, before = opened[1], ""
            continue
        atx = _ATX.match(line)
        underline = _UNDERLINE.fullmatch(line)
        if atx:
            # A # at the end, behind a blank, is no part of the heading.
            title = (atx[2] or "").rstrip(" \t")
            bare = title.rstrip("#")
            title = bare.rstrip(" \t") if bare.endswith((" ", "\t")) else title
            yield SectionHeading(start, len(atx[1]), _plain(title))
        elif underline and before:
            yield SectionHeading(before_start, 1 if "=" in underline[1] else 2, _plain(before))
        # Only the first line of a paragraph may become a heading.
        fresh = not atx and not underline and _PARAGRAPH.match(line) and not _continued(text, start)
        before, before_start = (line, start) if fresh else ("", start)


def _continued(text: str, start: int) -> bool:
    """Say whether the line before is part of the same paragraph."""
    line = text[text.rfind("\n", 0, max(start - 1, 0)) + 1 : start].strip()
    return bool(line) and not line.startswith("#") and not _UNDERLINE.fullmatch(line) and "```" not in line


def _plain(title: str) -> str:
    """Return a heading without the marks of links, code and emphasis."""
    title = _EMPHASIS.sub(lambda match: match["inside"], title)
    return _MARKUP.sub(lambda match: match[1] or match[2] or "", title).strip()


def sections_of(text: str, headings: Sequence[SectionHeading]) -> list[DocumentSection]:
    """Return the sections in order; together they are the whole text. What precedes the first has no path."""
    sections = []
    starts = [heading.start for heading in headings]
    if not starts or text[: starts[0]].strip():
        sections.append(DocumentSection(0, starts[0] if starts else len(text), ()))
    above: list[SectionHeading] = []
    for heading, (start, end) in zip(headings, pairwise([*starts, len(text)]), strict=True):
        above = [*(outer for outer in above if outer.level < heading.level), heading]
        sections.append(DocumentSection(start, end, tuple(outer.title for outer in above if outer.title)))
    return sections


def path_of(span: Span, sections: Sequence[DocumentSection]) -> tuple[str, ...]:
    """Return the headings that all of a span stands under: the beginning that its sections' paths share."""
    first = bisect_right(sections, span[0], key=lambda section: section.start) - 1
    last = bisect_left(sections, span[1], key=lambda section: section.start)
    paths = [section.path for section in sections[max(first, 0) : last]]
    shared: list[str] = []
    for titles in zip(*paths, strict=False):
        if len(set(titles)) > 1:
            break
        shared.append(titles[0])
    return tuple(shared)


def merge_sections(text: str, sections: Sequence[DocumentSection], size: int, tiny: int) -> Iterator[Span]:
    """Yield the sections as spans; one shorter than `tiny` is joined to a neighbour, up to `size` together.

    Neighbours stand under the same parent, or the later is a part of the earlier: a heading with nothing
    but parts goes with the first of them.
    """
    start, end = 0, 0
    path: tuple[str, ...] | None = None
    for section in sections:
        length = len(text[section.start : section.end].strip())
        if path is not None:
            near = section.path[:-1] in (path, path[:-1])
            is_tiny = min(len(text[start:end].strip()), length) < tiny
            if near and is_tiny and section.end - start <= size:
                end = section.end
                path = path if section.path[:-1] == path else section.path
                continue
            yield start, end
        start, end, path = section.start, section.end, section.path
    if path is not None:
        yield start, end
