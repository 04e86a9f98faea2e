"""Means with people's labels carried into them, in words and as a document."""

from collections.abc import Sequence

from ragstone.kernel.agreement.corrected_mean import FEW_LABELS, RANDOM_SAMPLE, CorrectedMean
from ragstone.kernel.document.blocks import (
    Block,
    Cell,
    Column,
    Heading,
    Listing,
    Made,
    Paragraph,
    ReportDocument,
    estimated,
    table_of,
)
from ragstone.kernel.document.charts import Dots, dot
from ragstone.kernel.document.numbers import count, interval, number
from ragstone.kernel.runs.wording import judge_name
from ragstone.kernel.version import __version__

SHOWN_SENTENCES = 3
TITLE = "What people would give"
LEAD = (
    "The judge's mean, corrected with people's labels of a random sample of the answers (prediction-powered "
    "inference). It is right on average, whatever errors the judge makes. The better the judge, the "
    "narrower the interval; with a useless judge, the interval is as wide as from the labels alone."
)


def halving(mean: CorrectedMean) -> str:
    """Return how many labels in all would halve the interval, in few words; nothing where few cannot tell."""
    if mean.corrected.low is None or (mean.to_halve is None and mean.n_labelled < FEW_LABELS):
        return ""
    return "out of reach" if mean.to_halve is None else count(mean.to_halve)


def labelled_share(mean: CorrectedMean) -> str:
    """Return `100 of 600`, the labelled answers and all."""
    return f"{count(mean.n_labelled)} of {count(mean.n_rows)}"


def corrected_document(means: Sequence[CorrectedMean], title: str = TITLE) -> ReportDocument:
    """Return what `ragstone agree` and a notebook show: each mean beside the judge's and the labels' own."""
    notes = dict.fromkeys([RANDOM_SAMPLE, *(note for mean in means for note in mean.notes)])
    sentences = [
        Paragraph(f"{mean.judge}, {mean.system}: {mean.sentence}") for mean in means[:SHOWN_SENTENCES]
    ]
    return ReportDocument(
        title=title,
        kind="corrected means",
        about="",
        version=__version__,
        blocks=[*_table(means), *sentences, Listing(list(notes), part="caution"), *_dots(means)],
    )


def corrected_blocks(means: Sequence[CorrectedMean]) -> list[Block]:
    """Return the same as a part of the page of a run."""
    return [Heading(TITLE, level=3), Paragraph(LEAD, tone="muted"), *_table(means)]


def _table(means: Sequence[CorrectedMean]) -> list[Block]:
    def raw(mean: CorrectedMean) -> Cell:
        return Cell(number(mean.raw.value) + ("" if mean.same_unit else "*"), interval(mean.raw))

    columns: list[Made[CorrectedMean]] = [
        (Column("Judge and system", text=True, short=""), lambda mean: f"  {mean.system}"),
        (Column("Judge", short="judge"), raw),
        (
            Column("Corrected", short="corrected", beside="interval"),
            lambda mean: estimated(mean.corrected, "strong"),
        ),
        (Column("Labels alone", short="labels", beside="interval"), lambda mean: estimated(mean.human)),
        (Column("Labelled", short="labelled"), labelled_share),
        (Column("Worth in labels", where="page"), lambda mean: count(round(mean.worth))),
        (Column("Labels to halve it", where="page"), halving),
    ]
    footnote = "* on a different scale from the labels: do not compare it with the other two."
    names = [judge_name(mean) for mean in means]
    by_judge = sorted(means, key=lambda mean: names.index(judge_name(mean)))
    return [
        table_of("Corrected means", by_judge, columns, group=judge_name),
        *([] if all(mean.same_unit for mean in means) else [Paragraph(footnote, tone="muted")]),
    ]


def _dots(means: Sequence[CorrectedMean]) -> list[Block]:
    """Return each mean as the judge has it, as labels correct it, and of the labels alone."""
    dots = []
    for mean in means:
        name = f"{judge_name(mean)}, {mean.system}"
        raw = [dot(name, mean.raw, "judge")] if mean.same_unit else []
        dots += [*raw, dot(name, mean.corrected, "corrected"), dot(name, mean.human, "labels alone")]
    title = "What people would give, and what the judge gives"
    return [Dots(title=title, dots=dots, ends=None)] if dots else []
