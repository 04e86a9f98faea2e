"""What a study of languages found, as values: cells, verdicts, and the answers that were wrong."""

from typing import Literal

import msgspec

from ragstone.experiments.paired import PairedComparison
from ragstone.statistics import Estimate

OWN, ALL = "own language", "all languages"


class LanguageCell(msgspec.Struct, frozen=True, kw_only=True):
    """Questions of one language searched in one index.

    lang: of the questions. index: a language, or ALL. measures: recall at 1 and at k, mrr, by the first k
    items. n_absent: questions of which no relevant document is in that index, not even as a copy; they count
    as not found.
    """

    retriever: str
    lang: str
    index: str
    n_questions: int
    n_absent: int
    measures: dict[str, Estimate]


class LanguageVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """All languages together against the question's own, on the same questions.

    lang: of the questions; ALL for those of every language. own, together: the two means. comparison:
    `first` is ALL; p_holm over all verdicts of the study of the same measure.
    """

    retriever: str
    lang: str
    own: Estimate
    together: Estimate
    comparison: PairedComparison


class AnsweringCost(msgspec.Struct, frozen=True, kw_only=True):
    """What the answers of one kind of index cost, as the ledger recorded it; None where a price is unknown.

    n_unscored: answers that are neither right nor wrong. n_neither: answers to true/false questions that
    say neither, which count as wrong.
    """

    retriever: str
    index: str
    n_answers: int
    n_unscored: int
    n_neither: int
    usd: float | None


class GivenDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A document that a wrong answer was made from. copy: whether it is a relevant one, or a copy of one."""

    place: int
    document_id: str
    lang: str | None
    copy: bool


class WrongAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """A wrong answer, and the documents that it was made from, best first."""

    question_id: str
    lang: str | None
    kind: Literal["open", "true_false", "multi"]
    retriever: str
    index: str
    question: str
    reference: list[str]
    answer: str
    found: bool
    documents: list[GivenDocument]
