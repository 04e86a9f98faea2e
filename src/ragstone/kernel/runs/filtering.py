"""What a filter in words can ask of a run's rows (see tables/where.py), and the rows that it leaves."""

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping
from typing import Any

import msgspec

from ragstone.kernel.records import Judgement, alternatives
from ragstone.kernel.tables.where import Kind, bound, holds

FLIPS = "flips"
ANYWHERE = "anywhere"  # all texts of a row that a search looks through
PLAIN: dict[str, Kind] = {
    **dict.fromkeys(("question_id", "system", "question", "reference", "answer", "kind", "lang"), "text"),
    "answerable": "yes_no",
    **dict.fromkeys(("found_rank", "latency_s", "input_tokens", "output_tokens", "cost_usd"), "number"),
    "error": "text",
    ANYWHERE: "search",
}


class FilterColumns(msgspec.Struct, frozen=True, kw_only=True):
    """kinds: name -> kind of what a filter may ask of rows. tags: key of a tag -> its name among them."""

    kinds: dict[str, Kind]
    tags: dict[str, str]


def filter_columns(
    judges: Iterable[str], tags: Iterable[str], *, blamed: bool, several: bool, noted: bool
) -> FilterColumns:
    """Return what a filter may ask of the rows of a run.

    judges: as the joined table names them. A tag that is named like a column has `tags.` in front. blamed:
    whether causes are known. several: whether there are several systems, whose verdicts may differ (`flips`).
    noted: whether somebody has written notes.
    """
    kinds = PLAIN | dict.fromkeys(("cause", "component", "because") if blamed else (), "text")
    kinds |= dict.fromkeys(("notes", "note_tags") if noted else (), "text")
    if several:
        kinds[FLIPS] = "yes_no"
    for name in judges:
        kinds |= {name: "number", f"{name}_status": "text"}
    taken = {name.casefold() for name in kinds}
    named = {key: f"tags.{key}" if key.casefold() in taken else key for key in tags}
    return FilterColumns(kinds=kinds | dict.fromkeys(named.values(), "text"), tags=named)


def rows_left(
    table: Iterable[dict[str, Any]], columns: FilterColumns, flipped: Container[str], text: str
) -> list[dict[str, Any]]:
    """Return the rows of the joined table that a filter leaves.

    flipped: questions of which `flips` is true. Raises DataError, see tables/where.py.
    """
    condition = bound(text, columns.kinds)

    searches = ANYWHERE in text.lower()

    def cells(row: dict[str, Any]) -> dict[str, Any]:
        tags = {columns.tags[key]: value for key, value in (row["tags"] or {}).items()}
        texts = {ANYWHERE: _searched(row)} if searches else {}
        return row | tags | texts | {FLIPS: row["question_id"] in flipped}

    return [row for row in table if holds(condition, cells(row))]


def _searched(row: Mapping[str, Any]) -> str:
    """Return the texts of a row that a search looks through, as the index of a run has them."""
    tags = [part for pair in (row["tags"] or {}).items() for part in pair]
    texts = [row["question_id"], row["question"], row["answer"], row["lang"], "lang", *tags]
    return "\n".join(
        [*filter(None, texts if row["lang"] else texts[:3] + tags), *alternatives(row["reference"])]
    )


def flipped_questions(judgements: Mapping[str, Iterable[Judgement]]) -> set[str]:
    """Return the questions of which a judge scores one system above the middle of its scale, another below.

    judgements: by question id. The middle itself counts as above, as everywhere.
    """
    flipped = set()
    for question_id, rows in judgements.items():
        sides: dict[tuple[str, str, str], set[bool]] = defaultdict(set)
        for row in rows:
            if row.score is not None and row.scale is not None:
                sides[row.judge, row.metric, row.model].add(row.score >= sum(row.scale) / 2)
        if any(len(each) > 1 for each in sides.values()):
            flipped.add(question_id)
    return flipped
