"""A run's judgements in parts: by group, by score, by system, and by whether what was needed was found."""

from collections.abc import Mapping
from types import MappingProxyType

import msgspec

from ragstone.kernel.judging import MetricSummary
from ragstone.kernel.records import Answer, Question
from ragstone.kernel.statistics import Estimate
from ragstone.kernel.statistics.paired import BoardPlace, PairedTest

FEWEST = 5  # questions of a group that is shown by itself: the mean of fewer says next to nothing


class GroupedMeans(msgspec.Struct, frozen=True, kw_only=True):
    """The means of one tag's values. by: the tag, or `language`.

    groups: value -> a summary for each system, judge and metric that asked a model (or, if none did, for
    each), values sorted. n_small, n_small_rows: values with fewer than FEWEST judged questions, which are not
    among the groups, and the questions that carry them.
    """

    by: str
    groups: dict[str, list[MetricSummary]]
    n_small: int = 0
    n_small_rows: int = 0


class Bin(msgspec.Struct, frozen=True, kw_only=True):
    """The rows whose score is `low` (where low == high), or from low to below high, the last up to high."""

    low: float
    high: float
    n: int


class Distribution(msgspec.Struct, frozen=True, kw_only=True):
    """The scored rows of one judge and system by their score, lowest first, empty bins among them."""

    system: str
    judge: str
    metric: str
    model: str
    bins: list[Bin]


class SystemStanding(msgspec.Struct, frozen=True, kw_only=True):
    """A system's place. estimate: its mean on the questions of the board, in units of the judge's scale.

    comparison: of the best with this one, None for the best itself; verdict: `worse` only where the
    difference from the best is shown.
    """

    place: int
    system: str
    estimate: Estimate
    verdict: BoardPlace
    comparison: PairedTest | None = None


class SystemsBoard(msgspec.Struct, frozen=True, kw_only=True):
    """The systems of a run in the order of one judge's mean, on the questions that it scored of them all.

    n_left_out: questions that it scored of some system and not of every one. family: the comparisons that
    Holm's correction is over, those of every pair, because the best was chosen by the same numbers.
    """

    judge: str
    metric: str
    model: str
    n_questions: int
    n_left_out: int
    family: int
    standings: list[SystemStanding]


def is_right(score: float, scale: tuple[float, float] | None) -> bool:
    """Return whether a score is at or above the middle of its scale."""
    return score >= (sum(scale) / 2 if scale else 0.5)


class FoundAndRight(msgspec.Struct, frozen=True, kw_only=True):
    """A system's answers by whether they had what they needed and whether they were right.

    found: a relevant document (`Question.document_ids` or `evidence`) was among the answer's contexts;
    missed: none was. right: the judge's score is at or above the middle of its scale; wrong: below it.
    Counted are answers that this judge scored, whose question names relevant documents and whose contexts
    name theirs; all other answers of the system are `n_left_out`. A wrong answer that was found is to be
    blamed on the prompt or the model, one that was missed on the retriever.
    """

    system: str
    judge: str
    metric: str
    model: str
    found_right: int
    found_wrong: int
    missed_right: int
    missed_wrong: int
    n_left_out: int


def found_relevant(
    answer: Answer, question: Question | None, same: Mapping[str, str] = MappingProxyType({})
) -> bool | None:
    """Return whether a relevant document is among the contexts; None where one side does not say."""
    if question is None or answer.contexts is None or question.answerable is False:
        return None
    named = {*(question.document_ids or ()), *(span.document_id for span in question.evidence or ())}
    relevant = {same.get(name, name) for name in named}
    context_ids = [context.document_id for context in answer.contexts]
    if not relevant or None in context_ids:
        return None
    return any(same.get(name, name) in relevant for name in context_ids if name)
