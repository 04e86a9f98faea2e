"""What people write down about the rows of a run, in their own words and tags: notes.jsonl in its folder.

Notes on traces are of the same kind, in a folder of their own: `question_id` is then the id of the trace.

A note is never edited: it is removed, and another one written, so that two people never change one at once.
"""

import secrets
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from ragstone.kernel.errors import DataError
from ragstone.kernel.persistence.row_file import RowFile

NOTES = "notes.jsonl"
LONGEST, LONGEST_TAG, MOST_TAGS = 10_000, 60, 20


class Note(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A note on a question, or on the answer of one system; or on a trace, or a span of it.

    at: UTC, as 2026-11-27T01:02:03Z.
    """

    id: str
    question_id: str
    text: str
    author: str
    at: str
    system: str | None = None
    tags: list[str] = []
    span: str | None = None


def note_file(folder: Path) -> RowFile[Note]:
    """Return the notes of a run, shared by threads and processes; the file need not be there yet."""
    return RowFile(folder / NOTES, lambda note: note.id, lambda row: msgspec.convert(row, Note))


def read_notes(folder: Path) -> list[Note]:
    """Return the notes of a run in the order in which they were written. Raises DataError."""
    return note_file(folder).rows()


def add_note(
    folder: Path,
    question_id: str,
    text: str,
    *,
    author: str,
    system: str | None = None,
    span: str | None = None,
    tags: Sequence[str] = (),
) -> Note:
    """Write a note on a question, or on one system's answer to it, and return it as it is kept.

    Of a trace question_id is its id, and span that of a span in it.

    Raises DataError for a note that is empty or too long, and where it cannot be written.
    """
    kept_tags = list(dict.fromkeys(tag for each in tags if (tag := " ".join(each.split()))))
    if not text.strip() and not kept_tags:
        raise DataError("The note is empty: write what you saw, or give it a tag.")
    if len(text) > LONGEST:
        raise DataError(f"The note has {len(text):,} characters: write at most {LONGEST:,}.")
    if len(kept_tags) > MOST_TAGS or any(len(tag) > LONGEST_TAG for tag in kept_tags):
        raise DataError(f"Give a note at most {MOST_TAGS} tags, each of at most {LONGEST_TAG} characters.")
    note = Note(
        id=secrets.token_hex(6),
        question_id=question_id,
        text=text.strip(),
        author=author,
        at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        system=system,
        tags=kept_tags,
        span=span,
    )
    note_file(folder).put([note])
    return note


def remove_note(folder: Path, note_id: str) -> None:
    """Remove a note. Raises DataError where there is none of this id."""
    if not note_file(folder).remove(note_id):
        raise DataError(f"There is no note {note_id!r} in {folder}: it may have been removed meanwhile.")


def note_columns(notes: Iterable[Note], system: str) -> dict[str, Any]:
    """Return what the joined table has of the notes on a question for a system: `notes` and `note_tags`."""
    ours = [each for each in notes if each.system in (None, system)]
    tags = list(dict.fromkeys(tag for each in ours for tag in each.tags))
    return {"notes": [each.text for each in ours if each.text] or None, "note_tags": tags or None}
