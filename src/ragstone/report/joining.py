"""Rows of a run, joined by question id -> the blocks of JSON that the page embeds.

Three kinds of block, so that the page opens fast: one index with a short line a question; details, parsed
when a question of theirs is opened; texts, each kept once however many questions were given it.
"""

from collections.abc import Iterable, Sequence, Set

import msgspec

from ragstone.records import Answer, Judgement, Question, Ranking, Verdict, references
from ragstone.report.embedded import (
    AnswerShown,
    Cell,
    Column,
    Detail,
    Index,
    JudgementShown,
    Line,
    Passage,
    RankingShown,
)
from ragstone.report.run import SHOWN_RANKS, Run
from ragstone.report.wording import caution
from ragstone.retrieval import ranked_documents

PREVIEW = 160  # characters of an answer that a line of the list shows
DETAILS_A_BLOCK = 200
TEXTS_A_BLOCK = 400
MAX_BYTES = 28_000_000  # of embedded rows, so that the file stays under 30 MB

# Longest passage and longest other text, tried in turn until the rows fit.
CUTS: tuple[tuple[int | None, int | None], ...] = (
    (None, None),
    (2000, 8000),
    (1000, 4000),
    (500, 1000),
    (250, 500),
    (100, 250),
    (50, 100),
)


class Blocks(msgspec.Struct, frozen=True, kw_only=True):
    """The JSON to embed. passage_cut and text_cut: lengths that texts were cut to, so that it fits."""

    index: bytes
    details: list[bytes]
    texts: list[bytes]
    passage_cut: int | None
    text_cut: int | None


def embed_rows(run: Run, max_bytes: int = MAX_BYTES) -> Blocks:
    """Return the rows of a run as JSON of at most `max_bytes`, with texts cut only where that is needed.

    Texts are not cut below the last of CUTS, even if the rows are then still too many.
    """
    blocks = _Join(run, *CUTS[0]).blocks()
    for cuts in CUTS[1:]:
        if sum(map(len, (blocks.index, *blocks.details, *blocks.texts))) <= max_bytes:
            break
        blocks = _Join(run, *cuts).blocks()
    return blocks


class _Join:
    """One pass over the questions. Gathers the table of texts and the titles of the documents shown."""

    def __init__(self, run: Run, passage_cut: int | None, text_cut: int | None) -> None:
        self.run = run
        self.passage_cut = passage_cut
        self.text_cut = text_cut
        self.texts: dict[str, int] = {}
        self.titles: dict[str, str] = {}
        self.columns = [
            Column(
                system=metric.system,
                judge=metric.judge,
                metric=metric.metric,
                model=metric.model,
                low=metric.scale and metric.scale[0],
                high=metric.scale and metric.scale[1],
                caution=caution(metric, run.summary),
            )
            for metric in run.summary.metrics
        ]
        self.places = {(c.system, c.judge, c.metric, c.model): i for i, c in enumerate(self.columns)}

    def blocks(self) -> Blocks:
        ids = list(dict.fromkeys([*self.run.questions, *self.run.answers, *self.run.judgements]))
        details = [self.detail(question_id) for question_id in ids]
        index = Index(
            columns=self.columns,
            lines=[self.line(*pair) for pair in zip(ids, details, strict=True)],
            details_a_block=DETAILS_A_BLOCK,
            texts_a_block=TEXTS_A_BLOCK,
            titles=self.titles,
        )
        return Blocks(
            index=msgspec.json.encode(index),
            details=_in_blocks(details, DETAILS_A_BLOCK),
            texts=_in_blocks(list(self.texts), TEXTS_A_BLOCK),
            passage_cut=self.passage_cut,
            text_cut=self.text_cut,
        )

    def line(self, question_id: str, detail: Detail) -> Line:
        cells: list[Cell] = [None] * len(self.columns)
        for row in self.run.judgements.get(question_id, []):
            cells[self.place(row)] = row.status if row.score is None else row.score
        sources = self.sources(question_id)
        text = next((row.question for row in sources if row.question), None)
        return Line(
            id=question_id,
            cells=cells,
            question=self.short(text),
            preview=_cut(" ".join(detail.answers[0].answer.split()), PREVIEW) if detail.answers else None,
            tags=next((row.tags for row in sources if row.tags), None),
            found=_worst_rank(detail),
        )

    def detail(self, question_id: str) -> Detail:
        run, sources = self.run, self.sources(question_id)
        relevant = _relevant_documents(run.questions.get(question_id))
        for document in relevant:
            self.keep_title(document)
        alternatives = next((references(row) for row in sources if references(row)), [])
        evidence = [(document, self.cut(text)) for document, text in run.evidence.get(question_id, [])]
        return Detail(
            references=[self.cut(text) for text in alternatives],
            answers=[self.answer(row, relevant) for row in run.answers.get(question_id, [])],
            judgements=[self.judgement(row) for row in run.judgements.get(question_id, [])],
            rankings=[self.ranking(row, relevant) for row in run.rankings.get(question_id, [])],
            relevant=sorted(relevant) or None,
            evidence=evidence or None,
            answerable=False if any(row.answerable is False for row in sources) else None,
        )

    def sources(self, question_id: str) -> list[Question | Answer]:
        """Return the rows that may carry the question's text, reference and tags, the question first."""
        question = self.run.questions.get(question_id)
        return [*([question] if question else []), *self.run.answers.get(question_id, [])]

    def answer(self, row: Answer, relevant: Set[str]) -> AnswerShown:
        passages = []
        for context in row.contexts or []:
            chunk = self.run.chunks.get(context.id or "")
            document = context.document_id or (chunk.document_id if chunk else None)
            passages.append(self.passage(context.text, document, context.id, context.score, relevant))
        return AnswerShown(
            system=row.system,
            answer=self.cut(row.answer),
            contexts=None if row.contexts is None else passages,
            latency_s=row.latency_s,
            cost_usd=row.cost_usd,
            error=self.short(row.error),
        )

    def ranking(self, row: Ranking, relevant: Set[str]) -> RankingShown:
        items = []
        for item in row.items[:SHOWN_RANKS]:
            chunk = self.run.chunks.get(item.chunk_id or "")
            text = chunk.text if chunk else None
            items.append(self.passage(text, item.document_id, item.chunk_id, item.score, relevant))
        return RankingShown(
            retriever=row.retriever,
            items=items,
            n=len(row.items),
            first_relevant=_first_rank(ranked_documents(row), relevant),
        )

    def passage(
        self,
        text: str | None,
        document: str | None,
        chunk: str | None,
        score: float | None,
        relevant: Set[str],
    ) -> Passage:
        self.keep_title(document)
        number = None
        if text is not None:
            number = self.texts.setdefault(_cut(text, self.passage_cut), len(self.texts))
        return Passage(
            text=number, document=document, chunk=chunk, score=score, relevant=document in relevant
        )

    def judgement(self, row: Judgement) -> JudgementShown:
        verdicts = [
            Verdict(
                id=verdict.id,
                statement=self.cut(verdict.statement),
                supported=verdict.supported,
                reason=self.short(verdict.reason),
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

    def keep_title(self, document: str | None) -> None:
        if document in self.run.titles:
            self.titles[document] = self.run.titles[document]

    def cut(self, text: str) -> str:
        return _cut(text, self.text_cut)

    def short(self, text: str | None) -> str | None:
        return self.cut(text) if text else None


def _cut(text: str, length: int | None) -> str:
    return text if length is None or len(text) <= length else text[:length].rstrip() + "…"


def _in_blocks(rows: Sequence[object], size: int) -> list[bytes]:
    return [msgspec.json.encode(rows[start : start + size]) for start in range(0, len(rows), size)]


def _relevant_documents(question: Question | None) -> set[str]:
    """Return what retrieval measures by: the documents named, and none where the corpus cannot answer."""
    if question is None or question.answerable is False:
        return set()
    return set(question.document_ids or ())


def _first_rank(documents: Iterable[str | None], relevant: Set[str]) -> int | None:
    """Return the rank of the first relevant document, 0 if there is none, None if nobody can tell."""
    if not relevant:
        return None
    listed = list(documents)
    rank = next((rank for rank, document in enumerate(listed, 1) if document in relevant), 0)
    return None if rank == 0 and None in listed else rank


def _worst_rank(detail: Detail) -> int | None:
    """Return the rank among the contexts or, where no answer has any, among the rankings."""
    relevant = set(detail.relevant or ())
    given = [answer.contexts for answer in detail.answers if answer.contexts is not None]
    ranks = [_first_rank([passage.document for passage in passages], relevant) for passages in given]
    if not given:
        ranks = [ranking.first_relevant for ranking in detail.rankings]
    known = [rank for rank in ranks if rank is not None]
    return None if not known else 0 if 0 in known else max(known)
