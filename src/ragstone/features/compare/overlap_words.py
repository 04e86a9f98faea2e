"""Which errors two systems share, as bars with their numbers, and the documents that each answered from."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ragstone.features.compare.overlap import ErrorOverlap, GivenDocument
from ragstone.kernel.document.blocks import Cell, Column, Made, Table, table_of
from ragstone.kernel.document.numbers import count, interval, number
from ragstone.kernel.errors import plural
from ragstone.kernel.statistics import Estimate


class _Bar(NamedTuple):
    """A row of the table: of which overlap, who is wrong, how many questions, and what share of all."""

    group: str
    words: str
    n: int
    share: Estimate


def overlap_table(
    overlaps: Iterable[tuple[str, ErrorOverlap]], *, sides: tuple[str, str] = ("A", "B")
) -> Table:
    """Return the questions that one alone gets wrong, and both do, as bars.

    overlaps: what each is of, and the overlap. sides: what the two are called.
    """
    bars = [
        _Bar(f"{name} ({plural(overlap.n, 'question')})", label, n, share)
        for name, overlap in overlaps
        for label, n, share in (
            (f"only {sides[0]}", overlap.n_only_a, overlap.only_a),
            ("both", overlap.n_both, overlap.both),
            (f"only {sides[1]}", overlap.n_only_b, overlap.only_b),
        )
    ]
    most = max((bar.share.value for bar in bars), default=0.0) or 1.0
    columns: list[Made[_Bar]] = [
        (
            Column("Wrong in", text=True, short="wrong in"),
            lambda bar: Cell(bar.words, short=f"  {bar.words}"),
        ),
        (
            Column("Questions", short="questions", bars=True),
            lambda bar: Cell(count(bar.n), share=bar.share.value / most),
        ),
        (Column("Share", short="share"), lambda bar: number(bar.share.value)),
        (Column("95 % interval", short="interval"), lambda bar: interval(bar.share)),
    ]
    return table_of(
        "Questions that one alone and both get wrong",
        bars,
        columns,
        kind="bars blame",
        group=lambda bar: bar.group,
    )


def documents_told(documents: Sequence[GivenDocument] | None) -> str:
    """Return the documents of an answer in their order, relevant ones marked; empty of unknown ones."""
    if documents is None:
        return ""
    return (
        ", ".join(
            f"{document.document_id} ✓" if document.copy else document.document_id for document in documents
        )
        or "none"
    )
