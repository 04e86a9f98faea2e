"""What the page of a run embeds: an index of lines, details, shared passages, conversations with models.

The page's script (template/rows.js) reads exactly these fields. Conversations are compressed, and what the
page holds anyway (instructions that every row shares, contexts, answers, references, questions) is named in
them in place of being repeated, so that ten thousand questions with their prompts fit into one file.
"""

import base64
import gzip
from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from ragstone.kernel.errors import plural
from ragstone.kernel.records import Answer, Question, Role, Verdict, references
from ragstone.kernel.runs.asked import AskedCall
from ragstone.kernel.runs.run import Run

DETAILS_A_BLOCK = 200  # questions; the conversations with models stand in blocks of the same size

Cell = float | str | None  # a score, the status of a judgement without one, or no judgement


class ShownView(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Base of what is embedded: absent fields are left out, so that the file stays small."""


class ColumnView(ShownView, frozen=True):
    """A judge as the list knows it. caution: why its scores should not be relied on."""

    system: str
    judge: str
    metric: str
    model: str
    low: float | None = None
    high: float | None = None
    caution: str | None = None


class LineView(ShownView, frozen=True):
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


class PassageView(ShownView, frozen=True):
    """A text that was retrieved, kept once however many questions it was retrieved for."""

    text: str | None = None
    document: str | None = None
    chunk: str | None = None
    title: str | None = None


class EvidenceView(msgspec.Struct, frozen=True, array_like=True):
    """A place of a ranking, or of an answer's contexts. passage: its number in the table of passages."""

    passage: int
    score: float | None
    relevant: bool


class StepShown(ShownView, frozen=True):
    """A call of a tool by an agent; its arguments as text."""

    tool: str
    arguments: str | None = None
    result: str | None = None
    error: str | None = None
    seconds: float | None = None
    thought: str | None = None


class TurnShown(ShownView, frozen=True):
    """A turn. place: in the conversation, from 1. judged: whether it is the reply that was judged."""

    place: int
    role: Role
    content: str
    contexts: list[str] | None = None
    steps: list[StepShown] | None = None
    judged: bool | None = None


class AnswerShown(ShownView, frozen=True):
    """An answer. contexts: absent if the sheet does not say; empty if the system was given nothing.

    steps: the first of n_steps calls; absent if the sheet says nothing of them. turns: the last of its
    conversation.
    """

    system: str
    answer: str
    contexts: list[EvidenceView] | None = None
    steps: list[StepShown] | None = None
    n_steps: int = 0
    turns: list[TurnShown] | None = None
    latency_s: float | None = None
    cost_usd: float | None = None
    error: str | None = None


class RankingShown(ShownView, frozen=True):
    """The first places of a ranking of `n`. first_relevant: rank among its documents, 0 if none is there."""

    retriever: str
    places: list[EvidenceView]
    n: int
    first_relevant: int | None = None


class JudgementShown(ShownView, frozen=True):
    """A judgement; its score or status stands in the line's cell of that column."""

    column: int
    label: str | None = None
    rationale: str | None = None
    verdicts: list[Verdict] | None = None
    error: str | None = None


class CauseShown(ShownView, frozen=True):
    """Why a system lost the point, the component that has to answer for it, and the evidence."""

    system: str
    cause: str
    component: str
    because: str


class DetailView(ShownView, frozen=True):
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


class Index(ShownView, frozen=True):
    """The first block: everything that sorting and filtering by judge need.

    packed: the other blocks are compressed.
    """

    columns: list[ColumnView]
    lines: list[LineView]
    details_a_block: int
    passages_a_block: int
    packed: bool = False


LEVEL = 4  # of rows like ours the higher levels save less than a twentieth, and take twice as long


def packed(json: bytes) -> bytes:
    """Return JSON as the page unpacks it (template/rows.js); the same bytes for the same JSON."""
    return base64.b64encode(gzip.compress(json, compresslevel=LEVEL, mtime=0))


Kept = Literal["all", "those without a score", "none"]

# A part of a message: its words; the number of a text that many messages share; or a text of the question:
# its own, an answer's, the contexts given to an answer (by the answer's place), or a reference's.
Part = str | int | tuple[Literal["question", "answer", "contexts", "reference"], int]

SHORTEST = 24  # characters that are worth a name instead


class CallShown(ShownView, frozen=True):
    """One conversation: messages as (role, parts)."""

    systems: list[str]
    judges: list[str]
    model: str
    messages: list[tuple[str, list[Part]]]


class CallsShown(msgspec.Struct, frozen=True):
    """Conversations with models: the texts that messages number, and the conversations."""

    shared: list[str]
    calls: list[CallShown]

    @classmethod
    def spelled_out(cls, logged: Iterable[AskedCall]) -> "CallsShown":
        """Return conversations with all spelled out but the texts that several share."""
        shared: dict[str, int] = {}
        calls = [_shown(call, [], shared) for call in logged]
        return cls(list(shared), calls)


class Prompts(msgspec.Struct, frozen=True, kw_only=True):
    """What to embed: gzip in base64, of JSON. shared: the texts that parts number.

    blocks: of DETAILS_A_BLOCK questions each. kept: which conversations are there; n: how many the run had.
    """

    shared: str
    blocks: list[str]
    kept: Kept
    n: int

    def size(self) -> int:
        """Return the bytes that these take in the page."""
        return len(self.shared) + sum(map(len, self.blocks))

    def cut_note(self) -> str:
        """Return which conversations the page could not hold, in a sentence; empty where it holds all."""
        if self.kept == "all":
            return ""
        every = f"the {plural(self.n, 'conversation')} with models"
        which = "none" if self.kept == "none" else "only those whose judgements have no score"
        return f"Of {every}, this file shows {which}; calls.jsonl.gz, next to it, has them all."


NOTHING = Prompts(shared="", blocks=[], kept="all", n=0)


def embed_prompts(calls: Iterable[AskedCall], run: Run, ids: Sequence[str], room: int) -> Prompts:
    """Return the conversations in at most `room` bytes: all, else those without a score, else none.

    ids: the questions in the order of the page. Those without a score are of rows that a judge could not
    read or the application did not answer: what was said word for word stands nowhere else in the page.
    """
    shared: dict[str, int] = {}
    by_question: dict[str, list[CallShown]] = {}
    known: tuple[str, list[tuple[str, Part]]] = ("", [])
    n = 0
    for call in calls:
        n += 1
        if known[0] != call.question_id:
            known = (call.question_id, _known_texts(run, call.question_id))
        by_question.setdefault(call.question_id, []).append(_shown(call, known[1], shared))
    if not n:
        return NOTHING
    unscored = _unscored(run)
    for kept, chosen in (
        ("all", by_question),
        ("those without a score", _without_score(by_question, unscored)),
    ):
        made = _encoded(chosen, ids, shared, kept, n)  # type: ignore[arg-type]
        if made.size() <= room:
            return made
    return Prompts(shared="", blocks=[], kept="none", n=n)


def _known_texts(run: Run, question_id: str) -> list[tuple[str, Part]]:
    """Return the texts of a question that the page holds, the longest first."""
    question, answers = run.questions.get(question_id), run.answers.get(question_id, [])
    sources: list[Question | Answer] = [*([question] if question else []), *answers]
    alternatives = next((references(row) for row in sources if references(row)), [])
    first_question = next((row.question for row in sources if row.question), None)
    texts: list[tuple[str, Part]] = [(text, ("reference", at)) for at, text in enumerate(alternatives)]
    texts += [(answer.answer, ("answer", at)) for at, answer in enumerate(answers)]
    if first_question:
        texts.append((first_question, ("question", 0)))
    for at, answer in enumerate(answers):
        numbered = "\n\n".join(f"[{n}] {context.text}" for n, context in enumerate(answer.contexts or (), 1))
        texts.append((numbered, ("contexts", at)))
    return sorted((pair for pair in texts if len(pair[0]) >= SHORTEST), key=lambda pair: -len(pair[0]))


def _shown(call: AskedCall, known: Sequence[tuple[str, Part]], shared: dict[str, int]) -> CallShown:
    messages: list[tuple[str, list[Part]]] = []
    for message in call.messages:
        if message.role == "system":
            parts: list[Part] = [shared.setdefault(message.content, len(shared))]
        elif message.role == "user":
            parts = _parts(message.content, known)
        else:
            parts = [message.content]
        messages.append((message.role, parts))
    return CallShown(systems=call.systems, judges=call.judges, model=call.model, messages=messages)


def _parts(content: str, known: Sequence[tuple[str, Part]]) -> list[Part]:
    """Return a text with what is known named in it, each text where it first stands."""
    for text, name in known:
        at = content.find(text)
        if at >= 0:
            before, after = content[:at], content[at + len(text) :]
            return [*_parts(before, known), name, *_parts(after, known)]
    return [content] if content else []


def _unscored(run: Run) -> dict[str, set[tuple[str, str]]]:
    """Return question id -> (judge, system) of the judgements without a score that a model was asked for."""
    return {
        question_id: {(row.judge, row.system) for row in rows if row.score is None}
        for question_id, rows in run.judgements.items()
        if any(row.score is None for row in rows)
    }


def _without_score(
    by_question: dict[str, list[CallShown]], unscored: dict[str, set[tuple[str, str]]]
) -> dict[str, list[CallShown]]:
    return {
        question_id: [
            call
            for call in calls
            if unscored[question_id] & {(judge, of) for judge in call.judges for of in call.systems}
        ]
        for question_id, calls in by_question.items()
        if question_id in unscored
    }


def _encoded(
    by_question: dict[str, list[CallShown]], ids: Sequence[str], shared: dict[str, int], extent: Kept, n: int
) -> Prompts:
    blocks = [
        _block([by_question.get(question_id, []) for question_id in ids[start : start + DETAILS_A_BLOCK]])
        for start in range(0, len(ids), DETAILS_A_BLOCK)
    ]
    return Prompts(shared=_block(list(shared)), blocks=blocks, kept=extent, n=n)


def _block(rows: object) -> str:
    return packed(msgspec.json.encode(rows)).decode()


def question_ids(run: Run) -> list[str]:
    """Return the ids in the order of the page: questions first, then those that only other rows name."""
    return list(dict.fromkeys([*run.questions, *run.answers, *run.judgements]))
