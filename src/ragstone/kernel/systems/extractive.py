"""The extractive application: sentences of what was retrieved for a question, word for word."""

import msgspec

from ragstone.kernel.config import ExtractiveSystem
from ragstone.kernel.embedding.model import Embed
from ragstone.kernel.files.language import detect_language
from ragstone.kernel.records import Answer, Context, Question
from ragstone.kernel.systems.declining import is_answer
from ragstone.kernel.systems.extracting import AnswerSentence, best_sentences
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
    text, and the `score` of best_sentences. embed: that of `declared.embedder`, if it names one; a question
    without a language is then in the one that its words are in. Raises what the embedder raises.
    """
    texts = [context.text for context in contexts]
    if embed is None:
        sentences = best_sentences(
            question.question, texts, most=declared.sentences, threshold=declared.threshold
        )
    else:
        sentences = _probable(question, texts, declared, embed)
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
    question: Question, texts: list[str], declared: ExtractiveSystem, embed: Embed
) -> list[AnswerSentence]:
    """Return what words alone would quote, or the best sentence, if that is probable enough; else none."""
    text, threshold = question.question, declared.threshold
    first = best_sentences(text, texts, most=1, threshold=0.0)
    lang = question.lang or detect_language(text)
    if not first or not is_answer(text, first[0], texts, embed, threshold=threshold, lang=lang):
        return []
    return best_sentences(text, texts, most=declared.sentences) or first
