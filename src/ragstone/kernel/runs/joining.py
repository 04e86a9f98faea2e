"""Rows of a run, joined by question id -> the blocks of JSON that the page embeds.

Three kinds of block, so that the page opens fast: one index with a short line a question; details, parsed
when a question of theirs is opened; passages, each kept once however many questions it was retrieved for.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from pathlib import Path

import msgspec

from ragstone.kernel.document.html import script_json
from ragstone.kernel.document.numbers import count
from ragstone.kernel.document.room import LONGEST_ESCAPE, MOST_A_TEXT, MOST_TIMES, SHORT, shortened
from ragstone.kernel.errors import DataError, nearest
from ragstone.kernel.records import (
    NO_MODEL,
    Answer,
    Judgement,
    Question,
    Ranking,
    Verdict,
    name_repeat,
    references,
)
from ragstone.kernel.retrieval.query_measures import ranked_documents
from ragstone.kernel.runs.asked import AskedCall, read_asked
from ragstone.kernel.runs.causes import Caused
from ragstone.kernel.runs.differing import WordDifferences, word_differences
from ragstone.kernel.runs.embedded import (
    DETAILS_A_BLOCK,
    NOTHING,
    AnswerShown,
    CauseShown,
    Cell,
    ColumnView,
    DetailView,
    EvidenceView,
    Index,
    JudgementShown,
    LineView,
    PassageView,
    Prompts,
    RankingShown,
    ShownView,
    embed_prompts,
    packed,
    question_ids,
)
from ragstone.kernel.runs.labelled import LabelShown, labels_of_row
from ragstone.kernel.runs.notes import Note
from ragstone.kernel.runs.run import Run
from ragstone.kernel.runs.run_rows import SHOWN_RANKS
from ragstone.kernel.runs.summary import RunSummary
from ragstone.kernel.runs.thread import step_shown, thread_shown
from ragstone.kernel.runs.wording import caution

PREVIEW = 160  # characters of an answer that a line of the list shows
PASSAGES_A_BLOCK = 400
SHOWN_STEPS = 100  # calls of an agent
PLAIN_BYTES = 10_000_000  # of details and passages; above, they are compressed and leave room for prompts
FEW_BYTES = 100_000  # of details and passages; below, they are not compressed for their escapes
MOST_NAMED = 30  # ids of questions, where one is asked for that is not there
MAX_BYTES = 28_000_000  # of embedded rows, so that the file stays under 30 MB

# Lengths that texts are cut to, tried in turn until the rows fit: passages first, for a judge's reasons are
# what a reader comes for.
PASSAGE_CUTS = (None, 4000, 2000, 1500, 1000, 700, 500, 350, 250)
TEXT_CUTS = (None, 2000, 1000, 500, 250, 100)


class JoinedBlocks(msgspec.Struct, frozen=True, kw_only=True):
    """What to embed, from script_json. passage_cut and text_cut: what texts were cut to, so that it fits;
    question_cut: a question was too long for the list.

    packed: details and passages are compressed, see packing.py; the index never is. prompts: the
    conversations with models, the first to be left out where there is no room.
    """

    index: bytes
    details: list[bytes]
    passages: list[bytes]
    passage_cut: int | None
    text_cut: int | None
    question_cut: bool = False
    packed: bool = False
    prompts: Prompts = NOTHING

    def cut_note(self) -> str:
        """Return what the page could not hold, in sentences; empty where it holds everything."""
        long = (
            "Very long questions are shortened here: questions.jsonl or answers.jsonl, next to this file, "
            "has the full texts."
        )
        notes = [self._cut_texts(), long if self.question_cut else "", self.prompts.cut_note()]
        return " ".join(note for note in notes if note)

    def _cut_texts(self) -> str:
        cuts = {"retrieved passages": self.passage_cut, "all other texts": self.text_cut}
        parts = [f"{what} up to {count(length)} characters" for what, length in cuts.items() if length]
        if not parts:
            return ""
        cut = " and ".join(parts)
        return f"To keep this file small, it shows {cut}. Full texts are in the files next to it."


def embed_all(run: Run, calls: Iterable[AskedCall], max_bytes: int = MAX_BYTES) -> JoinedBlocks:
    """Return the rows as embed_rows does, and the conversations with models in what room they leave."""
    blocks = embed_rows(run, max_bytes)
    room = max_bytes - sum(map(len, (blocks.index, *blocks.details, *blocks.passages)))
    if blocks.passage_cut is not None or blocks.text_cut is not None:
        room = 0
    prompts = embed_prompts(calls, run, question_ids(run), room)
    return msgspec.structs.replace(blocks, prompts=prompts)


def embed_rows(run: Run, max_bytes: int = MAX_BYTES) -> JoinedBlocks:
    """Return the rows of a run in at most `max_bytes`: plain while they are few, else compressed.

    Texts are cut only where compressed they are still too many, and not below the last of the lengths above,
    even if they are then too many still.
    """
    for text_cut in TEXT_CUTS:
        join = _Join(run, text_cut, columns_of(run.summary))
        opened = [join.detail(question_id) for question_id in join.ids]
        details = _in_blocks(opened, DETAILS_A_BLOCK)
        passages = _in_blocks(join.passages, PASSAGES_A_BLOCK)
        plain = (
            text_cut is None
            and sum(map(len, (*details, *passages))) <= min(PLAIN_BYTES, max_bytes // 2)
            and not _is_mostly_escapes(details, passages)
        )
        index = join.index(opened, packed=not plain)
        if plain:
            return JoinedBlocks(
                index=index,
                details=details,
                passages=passages,
                passage_cut=None,
                text_cut=None,
                question_cut=join.question_cut,
            )
        details = list(map(packed, details))
        left = max_bytes - sum(map(len, (index, *details)))
        for passage_cut in PASSAGE_CUTS if left > 0 else PASSAGE_CUTS[-1:]:
            cut = _in_blocks(
                [
                    msgspec.structs.replace(row, text=row.text and _cut(row.text, passage_cut))
                    for row in join.passages
                ],
                PASSAGES_A_BLOCK,
            )
            blocks = JoinedBlocks(
                index=index,
                details=details,
                passages=list(map(packed, cut)),
                passage_cut=passage_cut,
                text_cut=text_cut,
                question_cut=join.question_cut,
                packed=True,
            )
            if sum(map(len, blocks.passages)) <= left:
                return blocks
    return blocks


class RowVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """A judgement of a row. score: None unless the status is `scored`. reason: why, or what went wrong.

    verdicts: on the statements, contexts or steps that it judged one by one.
    """

    system: str
    judge: str
    metric: str
    model: str
    status: str
    score: float | None
    scale: tuple[float, float] | None
    reason: str | None
    verdicts: list[Verdict]


class OpenedRows(ShownView, frozen=True, kw_only=True):
    """One question, whole: its line, what it opens to, and the passages that both number.

    is_cut: long texts are shortened; the server has its rows as plain text. What follows is filled by
    `whole`, since a list of questions does not need it. columns: the judges, in the order of the line's
    cells. differences: between the answers. labels: people's, of these answers. notes: people's, on the
    question or on an answer. calls: what was asked of models, see with_calls.
    """

    line: LineView
    detail: DetailView
    passages: list[PassageView]
    is_cut: bool | None = None
    columns: list[ColumnView] = msgspec.field(default_factory=list)
    differences: WordDifferences | None = None
    labels: list[LabelShown] = msgspec.field(default_factory=list)
    notes: list[Note] = msgspec.field(default_factory=list)
    calls: list[AskedCall] = msgspec.field(default_factory=list)

    def with_calls(self, folder: Path) -> "OpenedRows":
        """Return the row with what was asked of models for it, from its run's folder. Raises DataError."""
        calls = [call for call in read_asked(folder) if call.question_id == self.line.id]
        return msgspec.structs.replace(self, calls=calls)

    def whole(
        self,
        columns: Sequence[ColumnView],
        *,
        labels: Sequence[LabelShown] = (),
        notes: Iterable[Note] = (),
        system: str | None = None,
    ) -> "OpenedRows":
        """Return the question with all that its own page and `ragstone show` say of it.

        columns: those that it was opened with. system: that the other answers are compared with.
        """
        texts = [(answer.system, "" if answer.error else answer.answer) for answer in self.answers]
        return msgspec.structs.replace(
            self,
            columns=list(columns),
            differences=word_differences(texts, system),
            labels=list(labels),
            notes=[note for note in notes if note.question_id == self.line.id],
        )

    @property
    def question(self) -> str:
        """What was asked; the id of the question where no file has its text."""
        return self.line.question or self.line.id

    @property
    def answers(self) -> list[AnswerShown]:
        """What each system answered."""
        return self.detail.answers

    @property
    def references(self) -> list[str]:
        """The right answers, of which any one is right; none where nobody wrote one."""
        return self.detail.references

    @property
    def verdicts(self) -> list[RowVerdict]:
        """What each judge gave each answer, judges that ask no model last."""
        rows = [
            RowVerdict(
                system=(column := self.columns[row.column]).system,
                judge=column.judge,
                metric=column.metric,
                model=column.model,
                score=None if isinstance(cell := self.line.cells[row.column], str) else cell,
                status=cell if isinstance(cell, str) else "scored",
                scale=None if column.low is None or column.high is None else (column.low, column.high),
                reason=row.rationale or row.error or row.label,
                verdicts=row.verdicts or [],
            )
            for row in self.detail.judgements
        ]
        return sorted(rows, key=lambda row: row.model == NO_MODEL)

    def passage(self, evidence: EvidenceView) -> PassageView:
        """Return the passage at a place of an answer's contexts, or of a ranking."""
        return self.passages[evidence.passage]


def open_question(run: Run, question_id: str, columns: Sequence[ColumnView]) -> OpenedRows:
    """Return a question of a run, whole. columns: of all its judgements; run: may hold no other question."""
    join = _Join(run, None, columns)
    join.is_served = True  # whole: the server has room for one question, or shortens it
    detail = join.detail(question_id)
    return OpenedRows(line=join.line(question_id, detail), detail=detail, passages=join.passages)


def row_of(
    run: Run,
    question_id: str,
    files: Mapping[str, Path],
    *,
    system: str | None = None,
    must_read: bool = False,
) -> tuple[OpenedRows, list[str]]:
    """Return a question of a run that has been read, whole, and what is wrong with files of labels.

    files: see labels_of_row. must_read: a file of labels that is missing or wrong is an error. Raises
    DataError for a question or a system that the run does not have.
    """
    known = question_ids(run)
    if question_id not in known:
        hint = nearest(question_id, known) if len(known) <= MOST_NAMED else f"One of its ids is {known[0]!r}."
        raise DataError(f"There is no question {question_id!r} in this run. {hint}")
    columns = columns_of(run.summary)
    opened = open_question(run, question_id, columns)
    check_system(opened, system, columns)
    answers = {row.system: row.answer for row in run.answers.get(question_id, [])}
    if must_read and (missing := next((path for path in files.values() if not path.is_file()), None)):
        raise DataError(f"{missing}: no such file. Name a file of people's labels.")
    labels, wrong = labels_of_row(files, question_id, answers)
    if wrong and must_read:
        raise DataError(wrong[0])
    return opened.whole(columns, labels=labels, notes=run.notes, system=system), wrong


def check_system(opened: OpenedRows, system: str | None, columns: Sequence[ColumnView]) -> None:
    """Raise DataError for a system that neither answered the question nor was judged on it."""
    judged = [columns[row.column].system for row in opened.detail.judgements]
    systems = list(dict.fromkeys([*(answer.system for answer in opened.answers), *judged]))
    if system is not None and system not in systems:
        named = ", ".join(map(repr, systems)) or "none"
        raise DataError(f"{system!r} did not answer question {opened.line.id!r}. Systems that did: {named}.")


def _is_mostly_escapes(*blocks: Sequence[bytes]) -> bool:
    """Return whether most of the JSON is escapes, of six characters each: then it is compressed."""
    every = [block for kind in blocks for block in kind]
    n_escaped = sum(block.count(b"\\u00") + block.count(b"\\u202") for block in every)
    n_bytes = sum(map(len, every))
    return n_bytes > FEW_BYTES and LONGEST_ESCAPE * n_escaped > n_bytes / 2


def columns_of(summary: RunSummary) -> list[ColumnView]:
    """Return the judges as the list of questions knows them, in the order of the summary.

    Each repeat of an answer has columns of its own.
    """
    return [
        ColumnView(
            system=name_repeat(metric.system, number),
            judge=metric.judge,
            metric=metric.metric,
            model=metric.model,
            low=metric.scale and metric.scale[0],
            high=metric.scale and metric.scale[1],
            caution=caution(metric, summary),
        )
        for metric in summary.metrics
        for number in range(1, 2 if metric.repeats is msgspec.UNSET else metric.repeats.most + 1)
    ]


class _Join:
    """One pass over the questions, which gathers the table of passages as it goes."""

    def __init__(self, run: Run, text_cut: int | None, columns: Sequence[ColumnView]) -> None:
        self.run = run
        self.text_cut = text_cut
        self.is_served = False
        self.question_cut = False
        self.passages: list[PassageView] = []
        self._numbers: dict[tuple[str | None, ...], int] = {}
        self.columns = list(columns)
        self.places = {(c.system, c.judge, c.metric, c.model): i for i, c in enumerate(self.columns)}

        self.ids = question_ids(run)

    def index(self, details: Sequence[DetailView], *, packed: bool) -> bytes:
        index = Index(
            columns=self.columns,
            lines=[self.line(*pair) for pair in zip(self.ids, details, strict=True)],
            details_a_block=DETAILS_A_BLOCK,
            passages_a_block=PASSAGES_A_BLOCK,
            packed=packed,
        )
        return script_json(index)

    def line(self, question_id: str, detail: DetailView) -> LineView:
        cells: list[Cell] = [None] * len(self.columns)
        for row in self.run.judgements.get(question_id, []):
            cells[self.place(row)] = row.status if row.score is None else row.score
        question, sources = self.run.questions.get(question_id), self.sources(question_id)
        text = next((row.question for row in sources if row.question), None)
        first = next(iter(detail.answers), None)
        return LineView(
            id=question_id,
            cells=cells,
            question=text and (self.cut(text) if self.is_served else self.listed(text)),
            preview=preview(first.answer or first.error or "") if first else None,
            tags=next((row.tags for row in sources if row.tags), None),
            lang=question.lang if question else None,
            found=self.worst_rank(detail),
            causes=list(dict.fromkeys(caused.cause for caused in self.run.causes.get(question_id, [])))
            or None,
        )

    def detail(self, question_id: str) -> DetailView:
        run, sources = self.run, self.sources(question_id)
        relevant = relevant_documents(run.questions.get(question_id))
        alternatives = next((references(row) for row in sources if references(row)), [])
        evidence = [(document, self.cut(text)) for document, text in run.evidence.get(question_id, [])]
        return DetailView(
            references=[self.cut(text) for text in alternatives],
            answers=[self.answer(row, relevant) for row in run.answers.get(question_id, [])],
            judgements=[self.judgement(row) for row in run.judgements.get(question_id, [])],
            rankings=[self.ranking(row, relevant) for row in run.rankings.get(question_id, [])],
            relevant=sorted(relevant) or None,
            evidence=evidence or None,
            answerable=False if any(row.answerable is False for row in sources) else None,
            causes=[self.cause(row) for row in run.causes.get(question_id, [])] or None,
        )

    def cause(self, row: Caused) -> CauseShown:
        return CauseShown(
            system=row.system, cause=row.cause, component=row.component, because=self.cut(row.because)
        )

    def sources(self, question_id: str) -> list[Question | Answer]:
        """Return the rows that may carry the question's text, reference and tags, the question first."""
        question = self.run.questions.get(question_id)
        return [*([question] if question else []), *self.run.answers.get(question_id, [])]

    def answer(self, row: Answer, relevant: Set[str]) -> AnswerShown:
        places = []
        for context in row.contexts or []:
            chunk = self.run.chunks.get(context.id or "")
            document = context.document_id or (chunk.document_id if chunk else None)
            number = self.number(document, context.id, context.text)
            places.append(EvidenceView(passage=number, score=context.score, relevant=document in relevant))
        steps = [step_shown(step, self.cut) for step in (row.steps or ())[:SHOWN_STEPS]]
        return AnswerShown(
            system=row.system,
            answer=self.cut(row.answer),
            contexts=None if row.contexts is None else places,
            steps=None if row.steps is None else steps,
            n_steps=len(row.steps or ()),
            turns=thread_shown(row, self.cut),
            latency_s=row.latency_s,
            cost_usd=row.cost_usd,
            error=self.short(row.error),
        )

    def ranking(self, row: Ranking, relevant: Set[str]) -> RankingShown:
        places = []
        for item in row.items[:SHOWN_RANKS]:
            chunk = self.run.chunks.get(item.chunk_id or "")
            number = self.number(item.document_id, item.chunk_id, chunk.text if chunk else None)
            relevant_here = item.document_id in relevant
            places.append(EvidenceView(passage=number, score=item.score, relevant=relevant_here))
        return RankingShown(
            retriever=row.retriever,
            places=places,
            n=len(row.items),
            first_relevant=first_rank(ranked_documents(row), relevant),
        )

    def number(self, document: str | None, chunk: str | None, text: str | None) -> int:
        """Return a passage's number in the table. Without a text it is the one last seen under these ids."""
        key = (document, chunk, text)
        if key not in self._numbers:
            title = self.run.titles.get(document or "")
            self._numbers[key] = len(self.passages)
            self.passages.append(PassageView(text=text, document=document, chunk=chunk, title=title))
        if text is not None:
            self._numbers[document, chunk, None] = self._numbers[key]
        return self._numbers[key]

    def worst_rank(self, detail: DetailView) -> int | None:
        contexts = [answer.contexts for answer in detail.answers if answer.contexts is not None]
        documents = [[self.passages[view.passage].document for view in places] for places in contexts]
        return worst_rank(
            documents, [row.first_relevant for row in detail.rankings], set(detail.relevant or ())
        )

    def judgement(self, row: Judgement) -> JudgementShown:
        verdicts = [
            msgspec.structs.replace(
                verdict, statement=self.cut(verdict.statement), reason=self.short(verdict.reason)
            )
            for verdict in row.verdicts or []
        ]
        return JudgementShown(
            column=self.place(row),
            label=self.short(row.label),
            rationale=self.short(row.rationale),
            verdicts=verdicts or None,
            error=self.short(row.error),
        )

    def place(self, row: Judgement) -> int:
        return self.places[row.system, row.judge, row.metric, row.model]

    def listed(self, text: str) -> str:
        """Return a question for the index of a file, which is never compressed."""
        most = min(MOST_A_TEXT, SHORT + MOST_TIMES * len(text))
        short, is_cut = shortened(self.cut(text), most, lambda each: len(script_json(each)) - 2)
        self.question_cut |= is_cut
        return short

    def cut(self, text: str) -> str:
        return _cut(text, self.text_cut)

    def short(self, text: str | None) -> str | None:
        return self.cut(text) if text else None


def _cut(text: str, length: int | None) -> str:
    return text if length is None or len(text) <= length else text[:length].rstrip() + "…"


def preview(text: str) -> str | None:
    """Return the start of an answer, or of the reason why there is none; None of nothing."""
    start = " ".join(text[: 4 * PREVIEW].split())
    return _cut(start if len(start) > PREVIEW else " ".join(text.split()), PREVIEW) or None


def _in_blocks(rows: Sequence[object], size: int) -> list[bytes]:
    return [script_json(rows[start : start + size]) for start in range(0, len(rows), size)]


def worst_rank(
    contexts: Sequence[Sequence[str | None]], ranked: Sequence[int | None], relevant: Set[str]
) -> int | None:
    """Return the worst rank of the first relevant document: 0 where it is missing, None if nobody can tell.

    contexts: the documents of those of each answer; ranked: first_rank of each ranking, for where no answer
    has contexts.
    """
    ranks = [first_rank(listed, relevant) for listed in contexts] if contexts else ranked
    known = [rank for rank in ranks if rank is not None]
    return None if not known else 0 if 0 in known else max(known)


def relevant_documents(question: Question | None) -> set[str]:
    """Return what retrieval measures by: the documents named, and none where the corpus cannot answer."""
    if question is None or question.answerable is False:
        return set()
    return set(question.document_ids or ())


def first_rank(listed: Sequence[str | None], relevant: Set[str]) -> int | None:
    """Return the rank of the first relevant document, 0 if there is none, None if nobody can tell."""
    if not relevant:
        return None
    rank = next((rank for rank, document in enumerate(listed, 1) if document in relevant), 0)
    return None if rank == 0 and None in listed else rank
