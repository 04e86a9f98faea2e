"""What people's labels make of a difference, in words; each sentence is in the table."""

from collections.abc import Sequence

from ragstone.features.compare._people_sentence_table import (
    FAVOURING,
    OUTLOOKS,
    SEEN_BY_PEOPLE,
    Favour,
    PeopleFacts,
)
from ragstone.features.compare.values import MetricComparison
from ragstone.kernel.agreement.corrected_difference import CorrectedDifference
from ragstone.kernel.sentences import say


def people_told(row: MetricComparison) -> list[str]:
    """Return what people would see, how sure that is, and whom the judge favours; nothing without labels."""
    people = row.corrected
    if people is None:
        return []
    facts, favour = PeopleFacts(row, people), Favour(people.flattery, people.scale, row.length)
    lines = [say(facts, *sentences) for sentences in SEEN_BY_PEOPLE]
    lines += [say(favour, *sentences) for sentences in FAVOURING]
    lines.append(say(facts, *OUTLOOKS))
    return [line for line in (*lines, *people.notes) if line]


def labelled(rows: Sequence[MetricComparison]) -> list[tuple[MetricComparison, CorrectedDifference]]:
    """Return the metrics that labels correct."""
    return [(row, row.corrected) for row in rows if row.corrected]
