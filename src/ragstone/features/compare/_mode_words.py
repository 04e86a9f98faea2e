"""The failure modes of a comparison -> its table and its sentences."""

from ragstone.features.compare._mode_sentence_table import MODE_SENTENCES, is_same
from ragstone.features.compare._sizes import signed_points, signed_points_range
from ragstone.features.compare.values import Comparison, ModeDifference
from ragstone.kernel.document.blocks import Block, Cell, Column, Heading, Made, Paragraph, Tone, table_of
from ragstone.kernel.document.numbers import count, percent
from ragstone.kernel.sentences import say

TONES: dict[str, Tone] = {"fewer": "good", "more": "bad", "cannot tell": "strong"}


def mode_blocks(comparison: Comparison) -> list[Block]:
    """Return the part of a comparison on failure modes; nothing where no run has some."""
    modes = comparison.modes or None
    if modes is None:
        return []
    several = len({(row.system_a, row.system_b) for row in modes.modes}) > 1

    def name(row: ModeDifference) -> str:
        return f"  {row.title} of {row.system_b}" if several else f"  {row.title}"

    def basis(row: ModeDifference) -> str:
        if row.by == "people":
            return f"{count(sum(row.n_labelled))} labels"
        return "its judge"

    def difference(row: ModeDifference) -> Cell:
        low, high = row.difference.low, row.difference.high
        ends = "" if low is None or high is None else signed_points_range(low, high)
        return Cell(signed_points(row.difference.value), ends, "strong")

    columns: list[Made[ModeDifference]] = [
        (Column("Failure mode", text=True, short=""), name),
        ("A", lambda row: percent(row.a.value)),
        ("B", lambda row: percent(row.b.value)),
        (Column("B − A, points", short="points", beside="interval"), difference),
        (Column("By", text=True, rare=True), basis),
        (
            Column("In B", text=True, short=""),
            lambda row: (
                Cell("no verdict differs") if is_same(row) else Cell(row.verdict, tone=TONES[row.verdict])
            ),
        ),
    ]
    spoken = [text for sentence in MODE_SENTENCES if (text := say(modes, sentence))]
    return [
        Heading("Failure modes", anchor="modes"),
        *([table_of("Failure modes of both", modes.modes, columns)] if modes.modes else []),
        *(Paragraph(text, prose=True) for text in spoken),
    ]
