"""What differs between two versions of a set -> what a terminal shows."""

import json
from collections.abc import Iterator
from typing import Any

from ragstone.features.data.diffing import ChangedField, ChangedRow, RunStanding, SetDiff
from ragstone.kernel.document.blocks import Block, Column, Heading, Listing, Made, Notes, Paragraph, table_of
from ragstone.kernel.document.numbers import count
from ragstone.kernel.errors import plural

SHOWN_ROWS = 4
SHOWN_IDS = 3
LONGEST = 40  # characters of a value


def diff_blocks(diff: SetDiff, *, whole: bool = False) -> list[Block]:
    """Return the counts, the fields, the first changed rows, or all, and which runs compare."""
    return [
        Paragraph(outcome(diff), tone="strong", part="answer"),
        *_listed("Dropped", diff.dropped, whole),
        *_listed("Added", diff.added, whole),
        *_changed(diff, whole),
        *_runs(diff),
        Notes(notes(diff)),
    ]


def outcome(diff: SetDiff) -> str:
    """Return what differs, in a sentence."""
    if not (diff.added or diff.dropped or diff.changed):
        return f"A and B hold the same {count(diff.n_a)} {diff.kind}."
    return (
        f"A has {count(diff.n_a)} {diff.kind}, B has {count(diff.n_b)}: {count(diff.same)} the same, "
        f"{count(len(diff.changed))} changed, {count(len(diff.added))} added, "
        f"{count(len(diff.dropped))} dropped."
    )


def _listed(title: str, names: list[str], whole: bool) -> list[Block]:
    if not names:
        return []
    shown = names if whole else names[:SHOWN_IDS]
    more = len(names) - len(shown)
    return [Paragraph(f"{title}: {', '.join(shown)}{f' and {count(more)} more' * (more > 0)}.")]


def _changed(diff: SetDiff, whole: bool) -> Iterator[Block]:
    if not diff.changed:
        return
    fields = ", ".join(f"{name} in {count(n)}" for name, n in diff.fields.items())
    yield Heading(f"{plural(len(diff.changed), 'row')} changed{f': {fields}' * bool(fields)}", level=3)
    shown = diff.changed if whole else diff.changed[:SHOWN_ROWS]
    more = len(diff.changed) - len(shown)
    yield Listing([*map(_row, shown), *([f"and {count(more)} more: --all shows them"] if more else [])])


def _row(row: ChangedRow) -> str:
    renamed = [f"its id is now {row.id_b}"] if row.id_b else []
    return f"{row.id}: {'; '.join([*renamed, *map(_change, row.changes)])}"


def _change(change: ChangedField) -> str:
    was, now = _on_a_line(change.a), _on_a_line(change.b)
    if was == now:
        return f"{change.field} differs in white space alone"
    return f"{change.field} {_cut(was, now)} → {_cut(now, was)}"


def _on_a_line(value: Any) -> str:  # noqa: ANN401 - of any field
    if isinstance(value, list) and all(isinstance(one, dict) and "document_id" in one for one in value):
        value = ", ".join(f"{one['document_id']} {one.get('start')} to {one.get('end')}" for one in value)
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    return " ".join((value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)).split())


def _cut(text: str, other: str) -> str:
    """Return a text, around the first difference from the other where it is long."""
    if text == "null":
        return "none"
    if len(text) <= LONGEST:
        return f"“{text}”"
    at = next((n for n, pair in enumerate(zip(text, other, strict=False)) if pair[0] != pair[1]), 0)
    first = max(0, min(at - LONGEST // 3, len(text) - LONGEST))
    return (
        f"“{'…' * bool(first)}{text[first : first + LONGEST].strip()}{'…' * (first + LONGEST < len(text))}”"
    )


def _runs(diff: SetDiff) -> list[Block]:
    columns: list[Made[RunStanding]] = [
        (Column("Run", text=True, short="run"), lambda row: row.run),
        (Column("Questions of", text=True, short="questions of"), lambda row: row.version),
        (Column("Questions", short="questions"), lambda row: count(row.n_questions)),
        (Column("Scores compare on", short="scores compare on"), lambda row: count(row.n_scores)),
        (Column("Ranks compare on", short="ranks compare on"), lambda row: count(row.n_ranks)),
    ]
    return [table_of("Runs", diff.runs, columns)] if diff.runs else []


def notes(diff: SetDiff) -> list[str]:
    """Return what to know of the figures of runs."""
    told = []
    partly = [
        row for row in diff.runs if row.version in ("A", "B", "A and B") and row.n_scores < row.n_questions
    ]
    if partly:
        told.append(
            "Where scores compare on fewer questions than a run has, its means do not compare with those of "
            "runs on the other version. `ragstone compare --shared` takes the questions that both have."
        )
    fewer = [row for row in diff.runs if row.n_ranks < row.n_scores]
    if fewer:
        told.append(
            "Ranks: recall, nDCG and other measures of retrieval compare only where the evidence and the "
            "relevant documents are the same."
        )
    unknown = [row.run for row in diff.runs if row.version == "unknown"]
    if unknown:
        told.append(
            f"Nothing can be said of {', '.join(unknown[:SHOWN_IDS])}"
            f"{' and others' * (len(unknown) > SHOWN_IDS)}: the questions are not there, or were changed "
            "since the run."
        )
    if diff.other_documents:
        told.append("The certificates beside A and B say that they were built from different documents.")
    return told
