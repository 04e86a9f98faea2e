"""A catalogue of videos: its file -> entries, and what each of them is searched by."""

import csv
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from ragstone.errors import ConfigError
from ragstone.records import Document

SHOWN_ERRORS = 10
BETWEEN_TAGS = "|"


class Video(msgspec.Struct, frozen=True, kw_only=True):
    """An entry. tags: words to search by, `|` between them. lang: ISO 639-1. Other columns do not matter."""

    title: str
    url: str
    description: str = ""
    transcript: str = ""
    lang: str = ""
    tags: str = ""

    def __post_init__(self) -> None:
        if not self.title.strip():
            raise ValueError("it has no title")
        if not _is_link(self.url):
            raise ValueError(f"url {self.url[:80]!r} is no link: it must begin with https:// or http://")


def read_videos(path: Path) -> list[Video]:
    """Return the entries of a .csv or .jsonl file, in its order.

    Raises ConfigError for a file that is missing, of another kind or without entries, and for entries without
    a title or a link of http(s), by line, up to ten of them together.
    """
    readers = {".csv": _csv_rows, ".jsonl": _jsonl_rows}
    reader = readers.get(path.suffix.casefold())
    if reader is None or not path.is_file():
        why = "is no catalogue: give a .csv or .jsonl file" if path.is_file() else "is not there"
        raise ConfigError(f"[assistant] videos: {path} {why}.")
    videos: list[Video] = []
    problems: list[str] = []
    try:
        for number, row in reader(path):
            try:
                videos.append(msgspec.convert(row, Video))
            except msgspec.ValidationError as mistake:
                problems.append(f"{path}:{number}: {mistake}")
    except (OSError, UnicodeDecodeError, csv.Error, msgspec.DecodeError) as mistake:
        raise ConfigError(f"[assistant] videos: {path} cannot be read ({mistake}).") from None
    if problems or not videos:
        told = "\n".join(problems[:SHOWN_ERRORS]) or f"{path} has no entries"
        raise ConfigError(f"[assistant] videos: {told}")
    return videos


def document_of(number: int, video: Video) -> Document:
    """Return an entry as the document that it is searched as."""
    tags = video.tags.replace(BETWEEN_TAGS, ", ")
    text = "\n\n".join(part.strip() for part in (video.description, tags, video.transcript) if part.strip())
    return Document(
        id=str(number), text=text or video.title, title=video.title, lang=video.lang or None, source=video.url
    )


def _is_link(url: str) -> bool:
    try:
        address = urlsplit(url)
    except ValueError:
        return False
    return (
        address.scheme in ("http", "https")
        and bool(address.hostname)
        and url.isprintable()
        and " " not in url
    )


def _csv_rows(path: Path) -> Iterator[tuple[int, Mapping[str, str]]]:
    csv.field_size_limit(sys.maxsize)  # a transcript may be longer than the 128 kB of the default
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file, restkey="-", restval="")
        for row in reader:
            yield (
                reader.line_num,
                {key: value for key, value in row.items() if key in Video.__struct_fields__},
            )


def _jsonl_rows(path: Path) -> Iterator[tuple[int, object]]:
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                yield number, msgspec.json.decode(line)
