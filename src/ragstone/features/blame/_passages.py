"""Contexts, and where a document holds the answer -> whether they hold it: documents come in parts."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from ragstone.features.blame._asked import STEM
from ragstone.kernel.corpus.tokens import function_words, tokenize
from ragstone.kernel.judging.lexical import lacking_words
from ragstone.kernel.judging.matching import words
from ragstone.kernel.records import Answer, Chunk, Context, Document, Evidence, Question, references
from ragstone.kernel.retrieval.relevance import relevant_documents

ENOUGH_WORDS = 3  # of a reference that counts wherever it is found: shorter ones are in many documents
# Chosen on the development half of benchmarks/blame_people.jsonl.
OF_DOCUMENT = 1 / 3  # of the reference's words that its document has: with fewer, contexts lack the answer
OF_REFERENCE = 0.6  # of its words: with fewer, the document says it in other words, or not at all


class HeldAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """Whether contexts hold the answer, and by what that is known.

    by: `evidence`, the span that the question names; `reference`, its words one after the other; `words`,
    the share of its words that contexts and document have, where the document says it in another order.
    """

    held: bool
    by: str
    in_contexts: float = 1.0
    in_document: float = 1.0


def held_answer(
    answer: Answer,
    question: Question,
    documents: Mapping[str, Document],
    chunks_of: Mapping[str, Sequence[Chunk]],
    same: Mapping[str, str],
) -> HeldAnswer | None:
    """Return whether the contexts of an answer hold what the question asks for; None where that is unknown.

    documents, chunks_of: of the corpus, by the document's id. same: see same_documents. Held: they say
    a reference word for word, from a relevant document or, if it has ENOUGH_WORDS, from any; or one has
    half of the evidence. Not held: no context has; or a relevant document says the reference word for word,
    and no context does; or they have less than OF_DOCUMENT of those of its words that the document has.
    Unknown: no contexts, one that is from a copy, which may say it in another language, no relevant document
    in the corpus, or too few words of the reference in them. Time: linear in these texts.
    """
    contexts, wanted = answer.contexts or [], [tokenize(text) for text in references(question)]
    if not contexts or question.answerable is False:
        return None
    relevant = relevant_documents(question)
    if any(_verbatim(words, contexts, relevant) for words in wanted):
        return HeldAnswer(held=True, by="reference")
    of = {context.document_id for context in contexts if context.document_id}
    if any(
        same.get(name, name) == same.get(right, right)
        for name in of.difference(relevant)
        for right in relevant
    ):
        return None
    spans = [_covered(span, contexts, documents, chunks_of) for span in question.evidence or ()]
    if True in spans:
        return HeldAnswer(held=True, by="evidence")
    if spans and None not in spans:
        return HeldAnswer(held=False, by="evidence")
    whole = [tokenize(documents[name].text) for name in relevant if name in documents]
    if any(_stands_in(words, text) for words in wanted for text in whole):
        return HeldAnswer(held=False, by="reference")
    return _by_words(wanted, [tokenize(context.text) for context in contexts], whole)


def says_reference(question: Question, passages: Iterable[Context]) -> bool:
    """Return whether passages have a reference's numbers and at least OF_REFERENCE of its words.

    That much is no proof that they support it, but too much for a judge of words to doubt it: references that
    people write in their own words would all be doubtful.
    """
    held = [word for context in passages for word in tokenize(context.text)]
    terms = _terms(held)
    return any(
        bool(wanted := _terms(words))
        and len(wanted & terms) >= OF_REFERENCE * len(wanted)
        and all(word in held for word in words if word.isdecimal())
        for words in map(tokenize, references(question))
    )


def words_outside(answer: Answer) -> str:
    """Return the words of an answer that no context has, those that say most first; at most five."""
    return lacking_words(
        words(answer.answer), {word for context in answer.contexts or () for word in words(context.text)}
    )


def _verbatim(words: Sequence[str], contexts: Iterable[Context], relevant: Sequence[str]) -> bool:
    return any(
        _stands_in(words, tokenize(context.text))
        for context in contexts
        if len(words) >= ENOUGH_WORDS or context.document_id in relevant
    )


def _stands_in(words: Sequence[str], text: Sequence[str]) -> bool:
    return bool(words) and f" {' '.join(words)} " in f" {' '.join(text)} "


def _covered(
    span: Evidence,
    contexts: Sequence[Context],
    documents: Mapping[str, Document],
    chunks_of: Mapping[str, Sequence[Chunk]],
) -> bool | None:
    """Return whether a context has half of the evidence; None where it is unknown what part a context is."""
    document = documents.get(span.document_id)
    if document is None or any(context.document_id is None for context in contexts):
        return None
    chunks = {chunk.id: chunk.start for chunk in chunks_of.get(span.document_id, ())}
    unknown = False
    for context in contexts:
        if context.document_id != span.document_id:
            continue
        start = chunks.get(context.id or "", document.text.find(context.text))
        unknown |= start < 0
        common = min(start + len(context.text), span.end) - max(start, span.start)
        if start >= 0 and 2 * common >= span.end - span.start:
            return True
    return None if unknown else False


def _by_words(
    wanted: Iterable[Sequence[str]], contexts: Iterable[Sequence[str]], whole: Iterable[Sequence[str]]
) -> HeldAnswer | None:
    """Return what shares of words say, of the reference that the documents have most of."""
    held, there = (
        _terms(word for text in contexts for word in text),
        _terms(w for text in whole for w in text),
    )
    shares = [
        (len(terms & there) / len(terms), len(terms & held) / len(terms))
        for terms in map(_terms, wanted)
        if terms
    ]
    in_document, in_contexts = max(shares, default=(0.0, 0.0))
    if in_document < OF_REFERENCE:
        return None
    return HeldAnswer(
        held=in_contexts >= OF_DOCUMENT * in_document,
        by="words",
        in_contexts=in_contexts,
        in_document=in_document,
    )


def _terms(words: Iterable[str]) -> set[str]:
    """Return what words mean something, each by its first letters, which its inflected forms share."""
    return {word[:STEM] for word in words if word not in function_words()}
