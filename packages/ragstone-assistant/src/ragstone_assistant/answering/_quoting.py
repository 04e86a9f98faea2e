"""Passages -> the sentences of them that answer a question, word for word, with their citations; no model."""

import asyncio
import re
from collections.abc import Sequence
from functools import partial

import msgspec
import numpy as np

from ragstone.kernel.corpus.sentences import sentence_spans
from ragstone.kernel.corpus.tokens import search_terms
from ragstone.kernel.embedding.model import Embed
from ragstone.kernel.systems.declining import UNRELATED, Unheld, is_answer, is_weighed, names_in
from ragstone.kernel.systems.extracting import FIRST, AnswerSentence, best_sentences
from ragstone_assistant.answering.sentences import with_marks
from ragstone_assistant.answering.support import content_words, share_held
from ragstone_assistant.answering.translating import ForeignQuote
from ragstone_assistant.conversation import Citation, Passage
from ragstone_assistant.guards import speaks_to_model, without_contacts
from ragstone_assistant.languages import SPOKEN, language, language_of, phrase

MOST, COMPARED = 2, 20  # sentences that are quoted, and compared
SECOND = 0.8  # of the score of the best one, that another needs to be quoted beside it
FOREIGN = 3  # passages whose sentences are embedded where none is in the language of the question
# Of a sentence in another language than the question: how far its cosine is on its way from that of unrelated
# texts to 1. On xquad, see docs/explanation/assistant-answers.md.
ALIKE = 0.3
FEWEST = 4  # words: a shorter sentence of another language is a title or a date
STATED = frozenset(
    ".!…。！．｡।॥۔።"
)  # end a sentence that states something; no question, heading or line of a table
_CLOSERS = " \n\t\"'”’»)]}*_`」』）"

MOST_HEADING = 8  # words
FENCES = ("```", "~~~")


class Quotes(msgspec.Struct, frozen=True):
    """What is quoted. text: with its marks, empty where no passage answers; citations: the passages that they
    are of. foreign: the quotes that are in another language than the question."""

    text: str
    citations: tuple[Citation, ...]
    foreign: tuple[ForeignQuote, ...] = ()


async def quoted(
    question: str, passages: Sequence[Passage], lang: str, embed: Embed, unheld: Unheld | None = None
) -> Quotes:
    """Return the sentences that answer a question best, each with its mark.

    passages: best first, their text cleaned of what speaks to a model. Those in the user's language are
    quoted before others. Where none of these answers, and there are others, the nearest sentence by its
    vector; a line before quotes in other languages says which ones these are. Whether passages in the user's
    language answer is asked with words and vectors, if the embedder is the packaged one; else with words.
    A question without a letter, such as "2+2", is answered by none; nor is one that names what no document
    does, where there are passages in its language. unheld: asks all documents.
    """
    if not any(map(str.isalpha, question)):
        return Quotes("", ())
    spoken = [_language(passage, lang) for passage in passages]
    own, others = (
        [passage for passage, code in zip(passages, spoken, strict=True) if (code == lang) is is_own]
        for is_own in (True, False)
    )
    if own and unheld is not None:
        nowhere = await asyncio.to_thread(unheld, names_in(question, lang))
        if nowhere:
            return Quotes("", ())
    weighed = embed if is_weighed(embed) else None
    find = partial(_best, lang=lang, embed=weighed, unheld=unheld)
    sentences = (
        await asyncio.to_thread(find, question, own)
        or _best(question, others)
        or await asyncio.to_thread(_alike, question, passages, lang, embed)
    )
    cited: list[Passage] = []
    texts: list[str] = []
    foreign: list[ForeignQuote] = []
    headings: frozenset[str] = frozenset()
    for sentence, passage in sentences:
        prose, block = _without_code(sentence)
        lines = [re.sub(r"\s+", " ", line).strip() for line in prose]
        text = without_contacts("\n".join(filter(None, lines)), lang, [passage.source])
        code = without_contacts(f"\n{block}", lang, [passage.source]) if block else ""
        headings, text = _without_heading(text, headings)
        if any(map(str.isalnum, text)) and not speaks_to_model(text + code):
            cited += [passage] if passage not in cited else []
            number = cited.index(passage) + 1
            # The mark is before the code, which people copy.
            texts.append(with_marks(text, [number]) + code)
            if (code_of := _language(passage, lang)) != lang:
                foreign.append(ForeignQuote(text, code_of, number, passage.source))
    several_lines = any("\n" in text for text in texts)
    citations = tuple(Citation(number=n, passage=passage) for n, passage in enumerate(cited, 1))
    text = ("\n\n" if several_lines else " ").join(texts)
    if text and foreign:
        spoken_in = dict.fromkeys(quote.lang for quote in foreign)
        names = ", ".join(language(code).name if code in SPOKEN else code for code in spoken_in)
        text = phrase("other_language", lang, language=names) + "\n" + text
    return Quotes(text, citations, tuple(foreign))


def _language(passage: Passage, lang: str) -> str:
    """Return the language of a passage; that of the user where its text says too little."""
    return passage.lang or language_of(passage.text, before=lang)


def _best(
    question: str,
    passages: Sequence[Passage],
    *,
    lang: str | None = None,
    embed: Embed | None = None,
    unheld: Unheld | None = None,
) -> list[tuple[str, Passage]]:
    """Return the best sentences, with their passages.

    Whether any answers is asked with the words that carry the question's content; with `embed`, by how
    probable it is that the best one does.
    """
    texts, titles = [passage.text for passage in passages], [passage.title for passage in passages]
    content = content_words(question)
    if embed is None and not (
        best_sentences(" ".join(content) or question, texts, titles=titles)
        or any(_holds_half(content, passage) for passage in passages)
    ):
        return []
    best = ranked(question, texts, titles)
    if (
        embed is not None
        and best
        and not is_answer(question, best[0][0], texts, embed, titles=titles, lang=lang, unheld=unheld)
    ):
        return []
    return [
        (sentence.text, passages[sentence.passage])
        for sentence, score in best
        if score >= SECOND * best[0][1]
    ]


def ranked(question: str, texts: Sequence[str], titles: Sequence[str]) -> list[tuple[AnswerSentence, float]]:
    """Return the best sentences of passages, best first, with what they are ordered by.

    That is half the score of the whole question, and half that of the words that carry its content: on squad2
    and agxqa that finds more answers than either. The score of a sentence is that of the whole question.
    """
    find = partial(best_sentences, passages=texts, titles=titles, most=COMPARED, threshold=0.0)
    shares: dict[AnswerSentence, float] = {}
    scores: dict[AnswerSentence, float] = {}
    for asked in (question, " ".join(content_words(question)) or question):
        for sentence in find(asked):
            bare = msgspec.structs.replace(sentence, score=0.0)
            scores[bare] = scores.get(bare, FIRST / 2 * (sentence.passage == 0)) + sentence.score / 2
            shares.setdefault(bare, sentence.score)
    best = sorted(scores, key=scores.__getitem__, reverse=True)[:MOST]
    return [
        (msgspec.structs.replace(sentence, score=shares[sentence]), scores[sentence]) for sentence in best
    ]


def _holds_half(wanted: Sequence[str], passage: Passage) -> bool:
    """Say whether a sentence, with its title, holds half of the words, however frequent they are."""
    title, text = frozenset(search_terms(passage.title)), passage.text
    spans = sentence_spans(text)
    return any(share_held(wanted, title | set(search_terms(text[start:end]))) >= 0.5 for start, end in spans)


def _without_code(sentence: str) -> tuple[list[str], str]:
    """Return the lines of a sentence outside its first block of code, and the block without its fences.

    The block ends with the last fence of its kind. A bare fence before one that names a language ends a block
    of which the beginning is not there, and is left out; so is one that has no other. Not a pattern: one
    would need quadratic time.
    """
    lines = _without_orphans(sentence.splitlines())
    ends = {mark: at for at, line in enumerate(lines) if (mark := line.rstrip()) in FENCES}
    begin = next((at for at, line in enumerate(lines) if ends.get(line[:3], -1) > at), None)
    if begin is None:
        return lines, ""
    end = ends[lines[begin][:3]]
    return lines[:begin] + lines[end + 1 :], "\n".join(lines[begin + 1 : end]).rstrip()


def _without_orphans(lines: list[str]) -> list[str]:
    """Return the lines without bare fences that begin nothing."""
    fences = [at for at, line in enumerate(lines) if line[:3] in FENCES]
    if not fences or lines[fences[0]].rstrip() not in FENCES:
        return lines
    first = fences[0]
    if len(fences) > 1 and lines[fences[1]].rstrip() == lines[first].rstrip():
        return lines
    return lines[:first] + lines[first + 1 :]


def _without_heading(text: str, headings: frozenset[str]) -> tuple[frozenset[str], str]:
    """Return the headings with that of this text, and the text; without it where it was quoted before.

    A heading is a line of its own, or stands before a colon: `Install tips: As with sensors, ...`.
    """
    heading, mark, rest = text.partition("\n") if "\n" in text else text.partition(": ")
    if (
        not (mark and rest.strip())
        or len(heading.split()) > MOST_HEADING
        or any(end in heading for end in ".!?")
    ):
        return headings, text
    name = heading.strip(" :").casefold()
    return headings | {name}, rest.strip() if name in headings else text


def _alike(question: str, passages: Sequence[Passage], lang: str, embed: Embed) -> list[tuple[str, Passage]]:
    """Return the sentence of another language that is nearest to the question, if it is near enough.

    It states something: a heading, a question or a line of a table that is near answers nothing.
    """
    foreign = [
        (text[start:end], passage)
        for passage in passages[:FOREIGN]
        if _language(passage, lang) != lang
        for text in [passage.text]
        for start, end in sentence_spans(text)
        if len(text[start:end].split()) >= FEWEST and text[start:end].rstrip(_CLOSERS)[-1:] in STATED
    ]
    if not foreign:
        return []
    vectors = embed([*UNRELATED, *(text for text, _ in foreign)], "passage")
    similar = vectors @ embed([question], "query")[0]
    base = float(np.mean(similar[: len(UNRELATED)]))
    best = int(np.argmax(similar[len(UNRELATED) :]))
    likeness = (float(similar[len(UNRELATED) + best]) - base) / (1 - base)
    return [foreign[best]] if likeness >= ALIKE else []
