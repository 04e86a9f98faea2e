"""A judge in several languages: as a document."""

from collections.abc import Sequence

import msgspec

from ragstone.features.agree._parity import LanguageParity
from ragstone.features.agree.words import difference_cell
from ragstone.kernel.document.blocks import (
    Column,
    Heading,
    Made,
    Paragraph,
    ReportDocument,
    estimated,
    table_of,
)
from ragstone.kernel.document.numbers import count, p_value
from ragstone.kernel.errors import plural
from ragstone.kernel.records import NO_MODEL
from ragstone.kernel.version import __version__

LEAD = (
    "The same questions and answers in another language, paired. A different score comes from the judge, "
    "the translation or chance, including what the judge changes when asked again in the same language."
)


def parity_document(rows: Sequence[LanguageParity], untold: int = 0) -> ReportDocument:
    """Return what `ragstone agree` shows of languages, a row at least. untold: answers without one."""
    base = rows[0].base

    def name(row: LanguageParity) -> str:
        judge = row.judge if row.judge == row.metric else f"{row.judge}: {row.metric}"
        return judge if row.model == NO_MODEL else f"{judge} ({row.model})"

    columns: list[Made[LanguageParity]] = [
        (Column("Language", text=True, short=""), lambda row: f"  {row.lang}"),
        (Column("Pairs", short="pairs"), lambda row: count(row.n)),
        (Column("Different grade", short="flips", beside="interval"), lambda row: estimated(row.flips)),
        (
            Column(f"Minus {base}", short=f"minus {base}", beside="interval"),
            lambda row: difference_cell(row.difference, tone="strong"),
        ),
        (Column("p (Holm)", where="page"), lambda row: "" if row.p_holm is None else p_value(row.p_holm)),
        (Column("Scores are", text=True, short="scores are"), lambda row: row.verdict),
        (
            Column("left out", where="terminal"),
            lambda row: count(row.unpaired + row.unpaired_base + row.unscored),
        ),
        (Column(f"Not in {base}", where="page"), lambda row: count(row.unpaired)),
        (Column(f"Only in {base}", where="page"), lambda row: count(row.unpaired_base)),
        (Column("Without a score", where="page"), lambda row: count(row.unscored)),
    ]
    lost = f" {plural(untold, 'answer')} without a language, left out." if untold else ""
    return ReportDocument(
        title=f"Is the judge the same in every language as in {base}?",
        kind="languages",
        about="",
        version=__version__,
        blocks=[
            Paragraph(LEAD + lost, tone="muted"),
            table_of("Languages", rows, columns, group=name),
        ],
    )


def with_parity(document: ReportDocument, parity: Sequence[ReportDocument]) -> ReportDocument:
    """Return a document with what others say below it."""
    more = [block for part in parity for block in (Heading(part.title), *part.blocks)]
    return msgspec.structs.replace(document, blocks=[*document.blocks, *more])
