"""The extractive application: sentences of what was retrieved for a question, word for word."""

import msgspec

from ragstone.kernel.config import ExtractiveSystem
from ragstone.kernel.records import Answer, Context, Question
from ragstone.kernel.retrieval.extracting import best_sentences
from ragstone.kernel.systems.rows import unanswered


def quote_contexts(
    question: Question, contexts: list[Context], declared: ExtractiveSystem, *, system: str
) -> Answer:
    """Return the answer, with where it stands in `metadata["citations"]`; the refusal where nothing answers.

    contexts: best first. A citation has `context`, the number of the context from 1, `start` and `end` in its
    text, and the `score` of best_sentences.
    """
    sentences = best_sentences(
        question.question,
        [context.text for context in contexts],
        most=declared.sentences,
        threshold=declared.threshold,
    )
    passages = [
        sentence.passage for sentence in sentences
    ]  # that of the best first; in each the order of its text
    sentences = sorted(sentences, key=lambda sentence: (passages.index(sentence.passage), sentence.start))
    citations = [
        {
            "context": sentence.passage + 1,
            "start": sentence.start,
            "end": sentence.end,
            "score": round(sentence.score, 4),
        }
        for sentence in sentences
    ]
    return msgspec.structs.replace(
        unanswered(question, system, contexts),
        answer="\n".join(sentence.text for sentence in sentences) or declared.refusal,
        metadata={"citations": citations} if citations else None,
    )
