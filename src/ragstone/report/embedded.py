"""The rows as the page embeds them: an index of lines, details of each question, and shared passages.

The page's script (template/rows.js) reads exactly these fields.
"""

from typing import Literal

import msgspec

from ragstone.records import Verdict

DETAILS_A_BLOCK = 200  # questions; the conversations with models stand in blocks of the same size

Cell = float | str | None  # a score, the status of a judgement without one, or no judgement


class Shown(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Base of what is embedded: absent fields are left out, so that the file stays small."""


class Column(Shown, frozen=True):
    """A judge as the list knows it. caution: why its scores should not be relied on."""

    system: str
    judge: str
    metric: str
    model: str
    low: float | None = None
    high: float | None = None
    caution: str | None = None


class Line(Shown, frozen=True):
    """A question in the list. cells: in the order of the columns.

    found: rank of the first relevant document among what the system was given, 0 if it was not there,
    absent if nobody can tell. Of several systems, the one that came off worst. lang: of the question. causes:
    why points were lost, where blame has been worked out.
    """

    id: str
    cells: list[Cell]
    question: str | None = None
    preview: str | None = None
    tags: dict[str, str] | None = None
    lang: str | None = None
    found: int | None = None
    causes: list[str] | None = None


class Passage(Shown, frozen=True):
    """A text that was retrieved, kept once however many questions it was retrieved for."""

    text: str | None = None
    document: str | None = None
    chunk: str | None = None
    title: str | None = None


class Place(msgspec.Struct, frozen=True, array_like=True):
    """A place of a ranking, or of an answer's contexts. passage: its number in the table of passages."""

    passage: int
    score: float | None
    relevant: bool


class AnswerShown(Shown, frozen=True):
    """An answer. contexts: absent if the sheet does not say; empty if the system was given nothing."""

    system: str
    answer: str
    contexts: list[Place] | None = None
    latency_s: float | None = None
    cost_usd: float | None = None
    error: str | None = None


class RankingShown(Shown, frozen=True):
    """The first places of a ranking of `n`. first_relevant: rank among its documents, 0 if none is there."""

    retriever: str
    places: list[Place]
    n: int
    first_relevant: int | None = None


class JudgementShown(Shown, frozen=True):
    """A judgement; its score or status stands in the line's cell of that column."""

    column: int
    label: str | None = None
    rationale: str | None = None
    verdicts: list[Verdict] | None = None
    error: str | None = None


class CauseShown(Shown, frozen=True):
    """Why a system lost the point, the component that has to answer for it, and the evidence."""

    system: str
    cause: str
    component: str
    because: str


class Detail(Shown, frozen=True):
    """What an opened question shows.

    relevant: ids of the documents that hold its answer, as retrieval counts them. evidence: (document id,
    passage) that hold it.
    """

    references: list[str]
    answers: list[AnswerShown]
    judgements: list[JudgementShown]
    rankings: list[RankingShown]
    relevant: list[str] | None = None
    evidence: list[tuple[str, str]] | None = None
    answerable: Literal[False] | None = None
    causes: list[CauseShown] | None = None


class Index(Shown, frozen=True):
    """The first block: everything that sorting and filtering by judge need.

    packed: the other blocks are compressed.
    """

    columns: list[Column]
    lines: list[Line]
    details_a_block: int
    passages_a_block: int
    packed: bool = False
