"""A retriever on a set of questions: what the terminal, the page of a run and a notebook show of it."""

import msgspec

from ragstone.kernel.document.blocks import (
    Block,
    Cell,
    Column,
    Fold,
    Heading,
    Made,
    Paragraph,
    ReportDocument,
    SurfacePart,
    Table,
    estimated,
    table_of,
)
from ragstone.kernel.document.charts import Dots, dot
from ragstone.kernel.document.numbers import count, interval, number, with_ends
from ragstone.kernel.errors import plural
from ragstone.kernel.retrieval.summary import GroupMeasures, RetrievalSummary, ScoreBin, ScoreQuality
from ragstone.kernel.runs.run_rows import SHOWN_RANKS
from ragstone.kernel.runs.wording import measured
from ragstone.kernel.statistics import Estimate
from ragstone.kernel.version import __version__

HEADLINES = ("hit@1", "recall@5", "mrr")  # shown of groups and batches
MAIN = ("hit", "recall", "ndcg", "mrr", "precision", "span_recall", "all_hops", "first_hop")
"""Families of measures that a page shows at once, each at its deepest cutoff, hits at rank 1."""
FEW_MORE = 3  # measures beside those that are no reason to fold
DOTS = ("hit@1", "hit@5", "mrr", "ndcg@10")  # that say most, in the chart of a notebook
SHOWN_VALUES = 20


def retrieval_document(row: RetrievalSummary) -> ReportDocument:
    """Return what `ragstone retrieve` and a notebook show of one retriever."""
    return ReportDocument(
        title=f"{row.retriever}, measured on {measured(row)}",
        kind="retriever",
        about="",
        version=__version__,
        blocks=[*retrieval_blocks(row, "Interval"), *retrieval_dots([row])],
    )


def retrieval_blocks(row: RetrievalSummary, interval_head: str) -> list[Block]:
    """Return the rank measures, first ranks and groups of a retriever, and what to know of them."""
    rests_on = f"Measured on {measured(row)}. The longest ranking has {row.depth} results."
    paragraph = Paragraph(_first_ranks(row), where="terminal")
    every, main = list(row.measures), main_measures(row)
    whole = measures_table(row, every, interval_head)
    folds = len(every) > len(main) + FEW_MORE
    tables = [
        msgspec.structs.replace(whole, where="terminal"),
        SurfacePart(
            [
                measures_table(row, main if folds else every, interval_head),
                *([Fold(f"All {count(len(every))} measures", [whole])] if folds else []),
            ],
            kind="measures",
            where="page",
        ),
        _ranks(row),
    ]
    sentence, curve = score_findings(row.retriever, row.scores) if row.scores else ("", [])
    return [
        Heading(f"Retriever {row.retriever}", level=3, where="page"),
        Paragraph(rests_on, tone="muted", where="page"),
        *([SurfacePart(tables, kind="split"), paragraph] if row.measures else [Paragraph(_unmeasured(row))]),
        *(block for grouping in groupings(row) for block in _grouping(row, grouping)),
        *([Paragraph(sentence), *curve] if sentence else []),
        *(Paragraph(remark) for remark in remarks(row)),
    ]


def main_measures(row: RetrievalSummary) -> list[str]:
    """Return the names of the measures that say most, in their order: one of each family of MAIN."""
    families: dict[str, str] = {}
    for name in row.measures:
        family, _, cutoff = name.partition("@")
        if family != "hit" or cutoff == "1":
            families[family] = name  # cutoffs come in order: the deepest stays
    return [families[family] for family in MAIN if family in families]


def measures_table(row: RetrievalSummary, names: list[str], interval_head: str) -> Table:
    """Return a table of these measures, each with its interval."""

    def fewer(name: str) -> str:
        n = row.measures[name].n
        return f"of {plural(n, 'question')}" if n != row.n_questions else ""

    columns: list[Made[str]] = [
        (Column("Measure", text=True, short=""), lambda name: Cell(name, fewer(name), short=f"  {name}")),
        (Column("Mean", short="mean"), lambda name: Cell(number(row.measures[name].value), tone="strong")),
        (
            Column(interval_head, short="interval", ends=(0, 1)),
            lambda name: Cell(interval(row.measures[name]), at=row.measures[name]),
        ),
        (Column("", text=True, where="terminal"), lambda name: Cell(fewer(name), tone="muted")),
    ]
    return table_of(f"Measures of {row.retriever}", names, columns, kind="")


def _ranks(row: RetrievalSummary) -> Table:
    bars = rank_bars(row)
    most = max(n for _, n in bars) or 1
    columns: list[Made[tuple[str, int]]] = [
        (Column("Rank", text=True), lambda bar: bar[0]),
        (Column("Questions", bars=True), lambda bar: Cell(count(bar[1]), share=bar[1] / most)),
    ]
    caption = "Rank of the first relevant document"
    return table_of(caption, bars, columns, caption=caption, kind="bars", where="page")


def _first_ranks(row: RetrievalSummary) -> str:
    """Return in words how many questions have their first relevant document at each place."""
    bars = rank_bars(row)
    if row.rank_histogram.get("absent", 0) == row.n_questions:
        return "First relevant document: absent from every ranking."
    return f"First relevant document at rank {', '.join(f'{rank}: {count(n)}' for rank, n in bars if n)}."


def _unmeasured(row: RetrievalSummary) -> str:
    """Return why no question was measured."""
    if row.n_questions:
        return "Nothing to measure: the rankings are empty, so nothing was found for any question."
    if row.n_unranked:
        return "Nothing to measure: no question that has a relevant document named has a ranking."
    if row.n_unanswerable and not row.n_unlabelled:
        return "Nothing to measure: no question is answerable."
    answerable = "answerable question" if row.n_unanswerable else "question"
    return f"Nothing to measure: no {answerable} has a relevant document named."


def rank_bars(row: RetrievalSummary) -> list[tuple[str, int]]:
    """Return (place of the first relevant document, questions): ten places, the rest together, and absent."""
    ranks = [(int(rank), n) for rank, n in row.rank_histogram.items() if rank.isdecimal()]
    bars = [(str(rank), n) for rank, n in ranks if rank <= SHOWN_RANKS]
    deeper = [n for rank, n in ranks if rank > SHOWN_RANKS]
    if deeper:
        bars.append((f"{SHOWN_RANKS + 1} to {row.depth}", sum(deeper)))
    return [*bars, ("absent", row.rank_histogram.get("absent", 0))]


class Grouping(msgspec.Struct, frozen=True, kw_only=True):
    """The groups that are shown: by what, value -> measures, and how many values more there are."""

    by: str
    groups: dict[str, GroupMeasures]
    n_more: int


def groupings(row: RetrievalSummary) -> list[Grouping]:
    """Return the groups by language and by each tag, of many values those with the most questions.

    A group that holds every question tells nothing that the means do not, and is not shown.
    """
    tables = []
    for by, groups in [("language", row.by_lang), *row.by_tag.items()]:
        if all(group.n_questions == row.n_questions for group in groups.values()):
            continue
        largest = sorted(groups, key=lambda value: -groups[value].n_questions)[:SHOWN_VALUES]
        largest_groups = {value: group for value, group in groups.items() if value in largest}
        tables.append(Grouping(by=by, groups=largest_groups, n_more=len(groups) - len(largest_groups)))
    return tables


def _grouping(row: RetrievalSummary, grouping: Grouping) -> list[Block]:
    """Return a line for each value: its questions, and a few measures with their intervals."""

    def measure(name: str) -> Made[tuple[str, GroupMeasures]]:
        return name, lambda group: _brief(group[1].measures[name])

    columns: list[Made[tuple[str, GroupMeasures]]] = [
        (Column("", text=True), lambda group: Cell(group[0], short=f"  {group[0]}")),
        (Column("Questions", short="n"), lambda group: count(group[1].n_questions)),
        *map(measure, headline_measures(row)),
    ]
    by = f"By {grouping.by}"
    label = f"{row.retriever} by {grouping.by}"
    more = f"And {plural(grouping.n_more, 'more value')}."
    return [
        table_of(label, grouping.groups.items(), columns, caption=by, kind=""),
        *([Paragraph(more, tone="muted")] if grouping.n_more else []),
    ]


def _brief(estimate: Estimate) -> Cell:
    value, ends = number(estimate.value), interval(estimate)
    return Cell(value, ends, "strong", short=f"{value} {ends:>12}")


def headline_measures(row: RetrievalSummary) -> list[str]:
    """Return the measures that are shown of groups and batches: of HEADLINES those that were measured."""
    return [name for name in HEADLINES if name in row.measures]


def headline_blocks(row: RetrievalSummary) -> list[Block]:
    """Return the headline measures of a retriever, for a pull request; nothing where none was measured."""
    if not headline_measures(row):
        return []
    return [
        Heading(f"Retriever {row.retriever}"),
        measures_table(row, headline_measures(row), "Interval"),
        Paragraph(f"{measured(row)}."),
    ]


def remarks(row: RetrievalSummary) -> list[str]:
    """Return sentences on ties, what has no place, batches and times; none on what is absent."""
    return [text for text in (_ties(row), _unplaced(row), _batches(row), _times(row)) if text]


def score_findings(retriever: str, scores: ScoreQuality) -> tuple[str, list[Block]]:
    """Return whether scores are informative, by AUC and cut-off, and for a page the calibration curve."""
    columns: list[Made[ScoreBin]] = [
        (Column("Scores", text=True), lambda row: f"{row.low:.4g} to {row.high:.4g}"),
        (Column("Relevant", beside="interval", ends=(0, 1)), lambda row: estimated(row.relevant, "strong")),
        ("Passages", lambda row: count(row.relevant.n)),
    ]
    caption = f"{retriever}: share of relevant passages by score, from the lowest"
    curve = table_of(caption, scores.bins, columns, caption=caption, kind="", where="page")
    return scores_told(scores), [curve] if scores.bins else []


def scores_told(scores: ScoreQuality) -> str:
    """Return in words how far scores tell relevant passages from others, and what a cut-off would save."""
    if scores.auc is None:
        return f"Cannot tell whether the scores are informative: {scores.why}."
    sentence = f"Scores separate relevant passages from others with an AUC of {with_ends(scores.auc)}"
    if scores.why:
        return f"{sentence}: {scores.why}."
    if scores.cutoff is None:
        return f"{sentence}; no cut-off that keeps 95 % of the relevant ones drops any."
    cut = scores.cutoff
    return (
        f"{sentence}. A cut-off at {cut.score:.4g} keeps {with_ends(cut.recall)} of the relevant "
        f"ones and drops {with_ends(cut.dropped)} of {number(cut.passages)} passages per question. "
        f"Of those kept, {with_ends(cut.precision)} are relevant; "
        f"{number(cut.precision_before.value)} without it. {plural(cut.n_lost, 'question')} would "
        "lose every relevant passage. It was chosen on these questions."
    )


def _ties(row: RetrievalSummary) -> str:
    if not row.n_tied:
        return ""
    return (
        f"In {plural(row.n_tied, 'question')} a relevant document has the same score as another "
        "one; if ties were ordered differently, the measures would differ."
    )


def _unplaced(row: RetrievalSummary) -> str:
    if not row.n_unplaced:
        return ""
    return (
        f"Not measured by characters: {plural(row.n_unplaced, 'question')}, because the evidence lies "
        "outside its document or cannot be located in it, or a result does not give its position."
    )


def _batches(row: RetrievalSummary) -> str:
    if row.batches is None or not row.batches.spread:
        return ""
    spread = row.batches.spread
    of_each = [
        f"{name} {' / '.join(map(number, (spread[name].low, spread[name].median, spread[name].high)))}"
        for name in headline_measures(row)
    ]
    return (
        f"{count(row.batches.n_spread)} batches of {plural(row.batches.size, 'question')}, "
        f"lowest / median / highest: {'; '.join(of_each)}."
    )


def _times(row: RetrievalSummary) -> str:
    times = {"Indexed": row.index_s, "searched": row.search_s}
    times_text = ", ".join(
        f"{what} in {number(taken)} s" for what, taken in times.items() if taken is not None
    )
    return f"{times_text[0].upper()}{times_text[1:]}." if times_text else ""


def retrieval_dots(rows: list[RetrievalSummary]) -> list[Block]:
    """Return a few rank measures of each retriever as the chart of a notebook."""
    dots = [
        dot(name, row.measures[name], row.retriever)
        for row in rows
        for name in (*DOTS, *row.measures)[: len(DOTS)]
        if name in row.measures
    ]
    return [Dots(title="Rank measures", dots=dots)] if dots else []
