"""What a retriever's summary says beside its means, the same on the page and in the terminal."""

import msgspec

from ragstone.report.wording import count, number, plural
from ragstone.retrieval.grouping import GroupMeasures
from ragstone.retrieval.summary import RetrievalSummary

HEADLINES = ("hit@1", "recall@5", "mrr")  # shown of groups and batches
SHOWN_VALUES = 20


class Grouping(msgspec.Struct, frozen=True, kw_only=True):
    """The groups that are shown: by what, value -> measures, and how many values more there are."""

    by: str
    groups: dict[str, GroupMeasures]
    n_more: int


def groupings(row: RetrievalSummary) -> list[Grouping]:
    """Return the groups by language and by each tag, of many values those with the most questions.

    A group that holds every question tells nothing that the means do not, and is not shown.
    """
    shown = []
    for by, groups in [("language", row.by_lang), *row.by_tag.items()]:
        if all(group.n_questions == row.n_questions for group in groups.values()):
            continue
        largest = sorted(groups, key=lambda value: -groups[value].n_questions)[:SHOWN_VALUES]
        kept = {value: group for value, group in groups.items() if value in largest}
        shown.append(Grouping(by=by, groups=kept, n_more=len(groups) - len(kept)))
    return shown


def headline_measures(row: RetrievalSummary) -> list[str]:
    """Return the measures that are shown of groups and batches: of HEADLINES those that were measured."""
    return [name for name in HEADLINES if name in row.measures]


def remarks(row: RetrievalSummary) -> list[str]:
    """Return sentences on ties, what has no place, batches and times; none on what is absent."""
    return [text for text in (_ties(row), _unplaced(row), _batches(row), _times(row)) if text]


def _ties(row: RetrievalSummary) -> str:
    if not row.n_tied:
        return ""
    return (
        f"In {plural(row.n_tied, 'question')} a relevant document has the same score as another one; "
        "in another order of equals the measures would differ."
    )


def _unplaced(row: RetrievalSummary) -> str:
    if not row.n_unplaced:
        return ""
    return (
        f"Not measured by characters: {plural(row.n_unplaced, 'question')}, because evidence lies outside "
        "its document or a result does not say where it stands."
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
    told = ", ".join(f"{what} in {number(taken)} s" for what, taken in times.items() if taken is not None)
    return f"{told[0].upper()}{told[1:]}." if told else ""
