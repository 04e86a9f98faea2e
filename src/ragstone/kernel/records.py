"""The rows that flow through Ragstone. Every stage is a function from some of these to others.

A row is frozen. Fields that a reader does not know are kept in `metadata` (see tables.py). Undefined is
`None`, and an absent field is not written. Scores are never NaN: a row without a score has a status that
says why.
"""

import math
import re
from collections.abc import Iterable, Mapping
from numbers import Integral
from typing import Any, Literal, TypeVar, get_args

import msgspec

Status = Literal[
    "scored",
    "not_applicable",
    "abstained",
    "refused",
    "unparsable",
    "timeout",
    "rate_limited",
    "over_budget",
    "app_error",
    "error",
]
STATUSES: tuple[Status, ...] = get_args(Status)

NO_MODEL = "none"
"""The `model` of a judgement for which no language model was asked: that of a baseline."""
YES_NO = (0.0, 1.0)  # the grades of a yes or no, and its scale
OWN_THRESHOLD = "threshold"  # in the metadata of a judgement: from which score on its judge's file says yes
STATEMENT = "statement"  # in the metadata of a judgement: whether the statement is true
Said = Literal["true", "false", "neither"]
"""What an answer says of a statement: the label of a judgement whether it is true."""
JOINT_SUFFIX = "@together"  # behind the name of a judge that was asked in one call with others
K_OF_N = "k_of_n"  # in the metadata of a judgement: how many of how many answers have to pass

Metadata = dict[str, Any]


MOST = 10**9  # tokens of a call, seconds, US dollars: who tells more has a broken counter


def figure_of(value: object) -> float | None:
    """Return a number that somebody else tells, from 0 to 10^9; None for all that is no such number.

    The one check of tokens, seconds and costs on their way in: -1 stands for "unknown" in many places, and
    what is larger fits into no column of a database.
    """
    number: int | float
    if type(value) is int or type(value) is float:  # as all but a few are
        number = value
    elif isinstance(value, bool) or not isinstance(value, Integral | float):
        return None
    else:
        number = value if isinstance(value, float) else int(value)  # NumPy has whole numbers of its own
    return number if 0 <= number <= MOST else None  # of NaN neither is true


def count_of(value: object) -> int | None:
    """Return a whole number as figure_of does, also one that is written as 12.0."""
    number = figure_of(value)
    return int(number) if number is not None and number == int(number) else None


class Row(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What all rows share: frozen, keyword-only, absent fields left out of files.

    A default made by a factory is written all the same: DESIGN.md lists that field as always present.
    """


class Document(Row, frozen=True, kw_only=True):
    """A text of the corpus. `lang` is an ISO 639-1 code, `source` the file that it came from."""

    id: str
    text: str
    title: str | None = None
    lang: str | None = None
    source: str | None = None
    metadata: Metadata | None = None


class Chunk(Row, frozen=True, kw_only=True):
    """A piece of a document: `text == document.text[start:end]`, offsets in code points."""

    id: str
    document_id: str
    text: str
    start: int
    end: int
    metadata: Metadata | None = None

    def __post_init__(self) -> None:
        if self.end - self.start != len(self.text):
            raise ValueError(f"chunk {self.id!r}: {len(self.text)} characters, but [{self.start}:{self.end}]")


class Evidence(Row, frozen=True, kw_only=True):
    """The span of a document that holds an answer: `document.text[start:end]`."""

    document_id: str
    start: int
    end: int


class Question(Row, frozen=True, kw_only=True):
    """A question of an evaluation set.

    reference: the right answer, or a list of alternatives of which any one is right.
    document_ids: documents that hold the answer. answerable: False where the corpus cannot answer it.
    """

    id: str
    question: str
    reference: str | list[str] | None = None
    evidence: list[Evidence] | None = None
    document_ids: list[str] | None = None
    answerable: bool | None = None
    kind: Literal["open", "true_false", "multi"] = msgspec.field(default_factory=lambda: "open")
    lang: str | None = None
    tags: dict[str, str] | None = None
    scores: dict[str, float] | None = None
    metadata: Metadata | None = None


class RankingItem(Row, frozen=True, kw_only=True):
    """One place of a ranking. `start` and `end` are offsets into the document.

    text: what a retriever elsewhere returned, where it is no part of a document of ours.
    """

    document_id: str
    score: float
    chunk_id: str | None = None
    start: int | None = None
    end: int | None = None
    text: str | None = None


class Ranking(Row, frozen=True, kw_only=True):
    """What a retriever returned for a question, best first."""

    question_id: str
    retriever: str
    items: list[RankingItem]
    metadata: Metadata | None = None


class Context(Row, frozen=True, kw_only=True):
    """A text that the answering model was given."""

    text: str
    id: str | None = None
    document_id: str | None = None
    score: float | None = None


class Usage(Row, frozen=True, kw_only=True):
    """Tokens of one or more calls.

    cached: the part of `input` that the provider had in its cache; cache_written: the part that it put
    there, where it charges for that. reasoning: the part of `output` that the model thought with.
    """

    input: int = 0
    output: int = 0
    cached: int = 0
    cache_written: int = 0
    reasoning: int = 0
    calls: int = 1

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            input=self.input + other.input,
            output=self.output + other.output,
            cached=self.cached + other.cached,
            cache_written=self.cache_written + other.cache_written,
            reasoning=self.reasoning + other.reasoning,
            calls=self.calls + other.calls,
        )


def told_usage(
    given: object, made: object, *, cached: object = 0, cache_written: object = 0, reasoning: object = 0
) -> Usage:
    """Return the tokens of a call as somebody else tells them: in and out, and parts of these.

    None is not told, and counts as 0. Where one of the two is no count, none is known: all are 0, which
    budgets take for the most that it can be. So is a part that is none, or that is more than its whole.
    """
    whole = [0 if one is None else count_of(one) for one in (given, made)]
    n_in, n_out = whole
    if n_in is None or n_out is None:
        return Usage()
    n_cached, n_written, n_thought = (count_of(one) or 0 for one in (cached, cache_written, reasoning))
    if n_cached + n_written > n_in:
        n_cached = n_written = 0
    return Usage(
        input=n_in,
        output=n_out,
        cached=n_cached,
        cache_written=n_written,
        reasoning=n_thought if n_thought <= n_out else 0,
    )


def checked_usage(usage: Usage) -> Usage:
    """Return the tokens of one call as told_usage does: of a row that may have been written without it."""
    parts = (usage.input, usage.output, usage.cached, usage.cache_written, usage.reasoning)
    if (
        all(type(one) is int and 0 <= one <= MOST for one in parts)
        and usage.cached + usage.cache_written <= usage.input
        and usage.reasoning <= usage.output
    ):
        return usage
    n_in, n_out, cached, written, thought = parts
    checked = told_usage(n_in, n_out, cached=cached, cache_written=written, reasoning=thought)
    return msgspec.structs.replace(checked, calls=usage.calls)


class Step(Row, frozen=True, kw_only=True):
    """One call of a tool by an agent. result: what came back, as text; seconds: that the call took.

    tokens: of the model's call that chose it, in and out together. thought: why, where the agent told it.
    """

    tool: str
    arguments: dict[str, Any] = {}
    result: str | None = None
    error: str | None = None
    seconds: float | None = None
    tokens: int | None = None
    thought: str | None = None


Role = Literal["system", "user", "assistant", "tool"]


class Turn(Row, frozen=True):
    """One message of a conversation. contexts: what the reply was given; tool_calls: what it had called."""

    role: Role
    content: str = ""
    contexts: list[Context] | None = None
    tool_calls: list[Step] | None = None


class Answer(Row, frozen=True, kw_only=True):
    """An answer of a system to a question; a file of these is an answer sheet.

    turns: the conversation that ends with the answer; the question is then the user's last before it. steps:
    what an agent did on the way, in order.

    `question`, `reference` and `tags` may be carried inline, so that a sheet is judged without another
    file. With `error` set the system failed, `answer` is empty, and judges report `app_error`.
    """

    question_id: str
    answer: str
    system: str = msgspec.field(default_factory=lambda: "default")
    contexts: list[Context] | None = None
    turns: list[Turn] | None = None
    steps: list[Step] | None = None
    latency_s: float | None = None
    usage: Usage | None = None
    cost_usd: float | None = None
    error: str | None = None
    question: str | None = None
    reference: str | list[str] | None = None
    answerable: bool | None = None
    tags: dict[str, str] | None = None
    metadata: Metadata | None = None


StatementsOf = Literal["answer", "reference", "contexts", "steps", "expected_steps"]


class Verdict(Row, frozen=True, kw_only=True):
    """The judge's decision on one atomic statement of an answer.

    context: the number, from 1, of the context that supports it; None if none does or the judge named none.
    of: which text it was taken from, where a judge takes apart both the answer and the reference;
    `contexts` where the verdict is on a context itself, of use or not. `steps` where it is on a call of an
    agent, right or not, and `expected_steps` where it is on one that was to be made.
    score: how much of the statement is supported, from 0 to 1, where the judge compares words.
    """

    id: int
    statement: str
    supported: bool
    reason: str | None = None
    context: int | None = None
    of: StatementsOf | None = None
    score: float | None = None


class Judgement(Row, frozen=True, kw_only=True):
    """What one judge says of one answer. `score` is present if and only if the status is `scored`.

    scale: the lowest and the highest score possible. rationale: the judge's reason, or why there is no score.
    """

    question_id: str
    system: str
    judge: str
    metric: str
    status: Status
    model: str
    prompt_version: int
    score: float | None = None
    scale: tuple[float, float] | None = None
    label: str | None = None
    rationale: str | None = None
    verdicts: list[Verdict] | None = None
    usage: Usage | None = None
    cost_usd: float | None = None
    error: str | None = None
    metadata: Metadata | None = None

    def __post_init__(self) -> None:
        if (self.status == "scored") != (self.score is not None):
            raise ValueError(f"{self.question_id!r}: status {self.status!r} with score {self.score!r}")
        if self.score is not None and not math.isfinite(self.score):
            raise ValueError(f"{self.question_id!r}: score {self.score!r} is not a number")

    @property
    def explanation(self) -> str | None:
        """Why: the judge's words, or the statements that it did not find supported."""
        text = self.rationale or self.error
        if not text and self.verdicts:
            bad = [
                f"{verdict.statement} ({verdict.reason})" if verdict.reason else verdict.statement
                for verdict in self.verdicts
                if not verdict.supported
            ]
            text = "Not supported: " + "; ".join(bad) if bad else "Every statement is supported."
        return text or None


class Label(Row, frozen=True, kw_only=True):
    """What a person says of an answer. Without `metric` it speaks of whatever metric it is compared with."""

    question_id: str
    score: float
    system: str = msgspec.field(default_factory=lambda: "default")
    metric: str | None = None
    annotator: str | None = None
    rationale: str | None = None
    metadata: Metadata | None = None

    def __post_init__(self) -> None:
        if not math.isfinite(self.score):
            raise ValueError(f"{self.question_id!r}: score {self.score!r} is not a number")


_REPEAT = re.compile(r"(.+)@repeat=([2-9]|[1-9][0-9]{1,5})", re.DOTALL | re.ASCII)


def split_repeat(system: str) -> tuple[str, int]:
    """Return the name of a system without the number of its repeat, and that number, 1 for a plain name.

    `rag@repeat=3` is the third answer of `rag` to the same question. Numbers begin at 2 and have no leading
    zero: `rag@repeat=1`, `rag@repeat=02` and `rag@repeat=x` are plain names.
    """
    named = _REPEAT.fullmatch(system)
    return (named[1], int(named[2])) if named else (system, 1)


def name_repeat(system: str, number: int) -> str:
    """Return the system's name in the rows of this repeat, from 1: the inverse of split_repeat."""
    return system if number == 1 else f"{system}@repeat={number}"


AnyRow = Document | Chunk | Question | Ranking | Answer | Judgement | Label


def references(row: Question | Answer) -> list[str]:
    """Return the alternatives of the reference, none of them blank; empty where there is no reference."""
    return alternatives(row.reference)


def alternatives(reference: str | list[str] | None) -> list[str]:
    """Return the alternatives of a reference, none of them blank."""
    given = reference if isinstance(reference, list) else [reference or ""]
    return [text for text in given if text.strip()]


def count_statuses(judgements: Iterable[Judgement]) -> dict[Status, int]:
    """Return how many judgements have each status, in the order of STATUSES, zeros left out."""
    counts = dict.fromkeys(STATUSES, 0)
    for judgement in judgements:
        counts[judgement.status] += 1
    return {status: n for status, n in counts.items() if n}


STATUS_WORDS: dict[Status, str] = {
    "scored": "scored",
    "not_applicable": "not applicable",
    "abstained": "abstained",
    "refused": "refused",
    "unparsable": "unparsable",
    "timeout": "timed out",
    "rate_limited": "rate limited",
    "over_budget": "over budget",
    "app_error": "application failed",
    "error": "error",
}
_Name = TypeVar("_Name", bound=str)  # a status, or another reason
_NOUNS = {"app_error": ("application failure", "application failures"), "error": ("error", "errors")}


def status_counts(counts: Mapping[_Name, int]) -> str:
    """Return how many rows have each status, as `2 timed out, 1 application failure`; zeros are left out.

    A name that is not a status is its own word.
    """
    texts = {str(status): text for status, text in STATUS_WORDS.items()}
    return ", ".join(
        f"{n:,} {_NOUNS[name][n != 1] if name in _NOUNS else texts.get(name, name.replace('_', ' '))}"
        for name, n in counts.items()
        if n
    )
