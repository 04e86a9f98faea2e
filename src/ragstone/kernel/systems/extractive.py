"""The extractive application: sentences of what was retrieved for a question, word for word."""

import msgspec

from ragstone.kernel.config import ExtractiveSystem
from ragstone.kernel.embedding.model import Embed
from ragstone.kernel.records import Answer, Context, Question
from ragstone.kernel.retrieval.declining import answer_probability, answer_weights
from ragstone.kernel.retrieval.extracting import THRESHOLD, AnswerSentence, best_sentences
from ragstone.kernel.systems.rows import unanswered


def quote_contexts(
    question: Question,
    contexts: list[Context],
    declared: ExtractiveSystem,
    *,
    system: str,
    embed: Embed | None = None,
) -> Answer:
    """Return the answer, with where it stands in `metadata["citations"]`; the refusal where nothing answers.

    contexts: best first. A citation has `context`, the number of the context from 1, `start` and `end` in its
    text, and the `score` of best_sentences. embed: that of `declared.embedder`, if it names one. Raises what
    the embedder raises.
    """
    texts = [context.text for context in contexts]
    if embed is None:
        sentences = best_sentences(
            question.question, texts, most=declared.sentences, threshold=declared.threshold
        )
    else:
        sentences = _probable(question.question, texts, declared, embed)
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


def _probable(
    question: str, texts: list[str], declared: ExtractiveSystem, embed: Embed
) -> list[AnswerSentence]:
    """Return the best sentences, if the first of them is probable enough to answer; else none.

    Beside it are quoted those that words alone would quote, or would quote beside one as good as it.
    """
    found = best_sentences(question, texts, most=declared.sentences, threshold=0.0)
    enough = answer_weights().threshold if declared.threshold is None else declared.threshold
    if not found or answer_probability(question, found[0], texts, embed) < enough:
        return []
    least = min(THRESHOLD, found[0].score)
    return [sentence for sentence in found if sentence.score >= least]
