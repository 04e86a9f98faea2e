"""The built-in RAG application: a question and what was retrieved for it -> an answer."""

from collections.abc import Mapping

import msgspec

from ragstone.errors import DataError
from ragstone.llm import Ask, CallFailed
from ragstone.records import Answer, Chunk, Context, Question, Ranking
from ragstone.systems.prompting import AnsweringPrompt, render_question


def contexts_of(ranking: Ranking, chunks: Mapping[str, Chunk]) -> list[Context]:
    """Return the texts of a ranking's chunks, best first. Raises DataError for a chunk that is not there."""
    contexts = []
    for item in ranking.items:
        chunk = chunks.get(item.chunk_id or "")
        if chunk is None:
            raise DataError(
                f"the ranking of question {ranking.question_id!r} names chunk {item.chunk_id!r}, which the "
                "corpus lacks. Retrieve again from these chunks."
            )
        contexts.append(
            Context(id=chunk.id, document_id=chunk.document_id, text=chunk.text, score=item.score)
        )
    return contexts


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
    asked = Answer(
        question_id=question.id,
        answer="",
        system=system,
        contexts=contexts,
        question=question.question,
        reference=question.reference,
        answerable=question.answerable,
        tags=question.tags,
    )
    try:
        reply = await ask(render_question(prompt, question, contexts, secret))
    except CallFailed as failure:
        return msgspec.structs.replace(asked, error=f"{failure.status}: {failure}", usage=failure.usage)
    return msgspec.structs.replace(
        asked,
        answer=reply.text.strip(),
        latency_s=reply.latency_s,
        usage=reply.usage,
        cost_usd=reply.cost_usd,
    )
