"""The built-in RAG application: a question and what was retrieved for it -> an answer."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import msgspec

from ragstone.kernel.errors import DataError
from ragstone.kernel.llm import Ask, CallFailed
from ragstone.kernel.records import Answer, Chunk, Context, Document, Question, Ranking, RankingItem
from ragstone.kernel.retrieval.passages import text_of
from ragstone.kernel.retrieval.relevance import Same, relevant_documents
from ragstone.kernel.systems.prompting import AnsweringPrompt, render_question
from ragstone.kernel.systems.rows import unanswered

NO_COPIES: Same = MappingProxyType({})


def contexts_of(
    ranking: Ranking, chunks: Mapping[str, Chunk], documents: Mapping[str, Document] | None = None
) -> list[Context]:
    """Return the texts of a ranking, best first: of its chunks, else of the span or the whole document.

    chunks, documents: by id. A text that the retriever itself brought goes before. Raises DataError for an
    item whose text stands nowhere.
    """
    return [
        Context(
            id=item.chunk_id,
            document_id=item.document_id,
            text=_text_of(item, ranking, chunks, documents or {}),
            score=item.score,
        )
        for item in ranking.items
    ]


def _text_of(
    item: RankingItem, ranking: Ranking, chunks: Mapping[str, Chunk], documents: Mapping[str, Document]
) -> str:
    text = text_of(item, chunks, documents)
    if text is not None:
        return text
    named = f"chunk {item.chunk_id!r}" if item.chunk_id else f"document {item.document_id!r}"
    raise DataError(
        f"the ranking of question {ranking.question_id!r} names {named}, which the corpus lacks. "
        "Retrieve again from these documents."
    )


async def answer_question(
    question: Question,
    contexts: list[Context],
    prompt: AnsweringPrompt,
    ask: Ask,
    *,
    system: str,
    secret: bytes,
) -> Answer:
    """Return the model's answer. A call that fails gives an answer with `error`, and the run goes on."""
    row = unanswered(question, system, contexts)
    try:
        reply = await ask(render_question(prompt, question, contexts, secret))
    except CallFailed as failure:
        return msgspec.structs.replace(row, error=f"{failure.status}: {failure}", usage=failure.usage)
    return msgspec.structs.replace(
        row,
        answer=reply.text.strip(),
        latency_s=reply.latency_s,
        usage=reply.usage,
        cost_usd=reply.cost_usd,
    )


def gold_contexts(
    question: Question,
    documents: Mapping[str, Document],
    chunks_of: Mapping[str, Sequence[Chunk]],
    same: Same = NO_COPIES,
) -> list[Context]:
    """Return the passages that hold the answer: the chunks of its evidence, else the whole document.

    documents: by id. chunks_of: document id -> its chunks. same: where a document that the corpus lacks
    counts as another, e.g. a duplicate that was dropped, that one is given. Empty where the question names no
    document of these.
    """
    named = question.evidence or []
    spans = [
        Context(id=chunk.id, document_id=chunk.document_id, text=chunk.text)
        for span in named
        for chunk in chunks_of.get(span.document_id, ())
        if chunk.start < span.end and span.start < chunk.end
    ]
    there = (name if name in documents else same.get(name, name) for name in relevant_documents(question))
    whole = [
        Context(document_id=name, text=documents[name].text)
        for name in dict.fromkeys(there)
        if name in documents
    ]
    return list({context.id: context for context in spans}.values()) or whole
