"""What a study of languages found, as values: cells, verdicts, and the answers that were wrong."""

from typing import Literal

import msgspec

from ragstone.features.bench.retrievers.paired import PairedComparison
from ragstone.features.compare import ErrorOverlap, GivenDocument
from ragstone.kernel.statistics import Estimate

Axis = Literal["similarity", "prompt", "temperature"]
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


class StudyArm(msgspec.Struct, frozen=True, kw_only=True):
    """With what answers are made: a retriever and, where the study declares them, a prompt and a temperature.

    The rows of a study begin with it.
    """

    retriever: str
    prompt: str | None = None
    temperature: float | None = None

    @property
    def axes(self) -> dict[Axis, str]:
        """Axis -> its value, as text, of those that are declared."""
        temperature = None if self.temperature is None else f"{self.temperature:g}"
        values: dict[Axis, str | None] = {"prompt": self.prompt, "temperature": temperature}
        return {axis: value for axis, value in values.items() if value is not None}

    @property
    def arm(self) -> str:
        """What it is called: `bm25`, or with prompt and temperature `bm25 · mine at 0.1`."""
        at = "" if self.temperature is None else f" at {self.temperature:g}"
        return (f"{self.retriever} · {self.prompt}" if self.prompt else self.retriever) + at


class LanguageVerdict(StudyArm, frozen=True, kw_only=True):
    """All languages together against the question's own, on the same questions.

    lang: of the questions; ALL for those of every language. own, together: the two means. comparison:
    `first` is ALL; p_holm over all verdicts of the study of the same measure.
    """

    lang: str
    own: Estimate
    together: Estimate
    comparison: PairedComparison


class LanguageOverlap(StudyArm, frozen=True, kw_only=True):
    """Which answers are wrong: A is from the own language's index, B from that of all.

    lang: of the questions; ALL for those of every language.
    """

    lang: str
    overlap: ErrorOverlap


class AxisVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """A similarity, prompt or temperature against the first that is declared, on the same questions.

    By right answers, a similarity by MRR too. value, against: the two, their means in `mean` and `baseline`.
    A question counts by its mean over both indexes and all that the study combines the two with. comparison:
    `first` is `value`; p_holm over all verdicts of this kind.
    """

    axis: Axis
    value: str
    against: str
    mean: Estimate
    baseline: Estimate
    comparison: PairedComparison


class AnsweringCost(StudyArm, frozen=True, kw_only=True):
    """What the answers of one kind of index cost, as the ledger recorded it; None where a price is unknown.

    n_unscored: answers that are neither right nor wrong. n_neither: answers to true/false questions that
    say neither, which count as wrong.
    """

    index: str
    n_answers: int
    n_unscored: int
    n_neither: int
    usd: float | None


class StatementCounts(StudyArm, frozen=True, kw_only=True):
    """What the answers from one kind of index say of the statements (true/false questions) of a language.

    lang: of the statements; ALL for those of every language. n_right: of all three, those that say the same
    as the reference. Answers that failed, and statements without a reference, are left out.
    """

    lang: str
    index: str
    n_true: int
    n_false: int
    n_neither: int
    n_right: int

    @property
    def n(self) -> int:
        """How many answers are counted."""
        return self.n_true + self.n_false + self.n_neither


class IndexAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer from one kind of index.

    right: None where it could not be scored. found: whether a document that it was made from is relevant, or
    a copy of one.
    """

    answer: str
    right: bool | None
    found: bool
    documents: list[GivenDocument]


class WrongAnswer(StudyArm, frozen=True, kw_only=True):
    """A question with a wrong answer from one of the two indexes or both, and what both said."""

    question_id: str
    lang: str | None
    kind: Literal["open", "true_false", "multi"]
    question: str
    reference: list[str]
    own: IndexAnswer
    together: IndexAnswer
