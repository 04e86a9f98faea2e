"""Documents -> the passages that questions are written from, and how many of each, in which styles."""

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

import msgspec
import numpy as np

from ragstone.features.build._styles import DialogueTurn
from ragstone.kernel.corpus.chunking import chunk_documents
from ragstone.kernel.corpus.tokens import tokenize
from ragstone.kernel.dataset.candidate import SourcePassage
from ragstone.kernel.files.language import detect_language
from ragstone.kernel.records import Chunk, Document

ENOUGH = 40  # words of prose (or code) from which on a passage has something to ask about
MOSTLY = 0.5  # of a passage's words: where fewer stand in lines that say something, it is a list of contents
TITLE_END = " > "  # between the document's title and the headings in force

# Lines that say nothing by themselves: "Sowing ..... 12", a list item that is nothing but a link, a heading.
_LEADER = re.compile(r"(?<!\.)(?<!\.\s)(?:\.\s?){4,}+\s*+\d++\s*+$")
_NAVIGATION = re.compile(r"[-*+\d.)\s]*+\[[^\]]*+\]\([^)]*+\)[\s.,;|]*+|\s*+#{1,6}(?:\s.*+)?+")


class Cut(msgspec.Struct, frozen=True, kw_only=True):
    """The passages, in the order of the rows; ids of documents without text, and of those that were split."""

    passages: list[SourcePassage]
    empty: list[str]
    split: list[str]


def cut_passages(rows: Iterable[Document | Chunk], longest: int) -> Cut:
    """Return passages no longer than `longest` characters: `text == document.text[start:end]`, always.

    A document that fits is one passage; a longer one is cut at its headings, and where a section is too
    long at paragraphs, sentences, words. A chunk is one passage, cut if it is longer. The language is the
    row's, else detected on its text. The title is the document's, then the headings in force. Of chunks
    `document_length` is the furthest end among those of their document: a lower bound.

    Raises DataError for a document that holds half a surrogate pair.
    """
    passages: list[SourcePassage] = []
    lengths: defaultdict[str, int] = defaultdict(int)
    pieces: defaultdict[str, int] = defaultdict(int)
    split: dict[str, None] = {}
    for row in rows:
        document, offset = (row, 0) if isinstance(row, Document) else (_as_document(row), row.start)
        parts = list(_passages_of(document, offset, longest))
        passages += parts
        pieces[document.id] += len(parts)
        lengths[document.id] = max(lengths[document.id], offset + len(document.text))
        if len(parts) > 1:
            split[document.id] = None
    return Cut(
        passages=[
            msgspec.structs.replace(passage, document_length=lengths[passage.document_id])
            for passage in passages
        ],
        empty=[name for name, n in pieces.items() if not n],
        split=list(split),
    )


def _passages_of(document: Document, offset: int, longest: int) -> Iterator[SourcePassage]:
    fits = len(document.text) <= longest
    lang: str | None = None
    for chunk in chunk_documents([document], "whole" if fits else "heading", longest):
        lang = lang or document.lang or detect_language(document.text)
        notes = chunk.metadata or {}
        topic = notes.get("topic")
        yield SourcePassage(
            document_id=document.id,
            start=chunk.start + offset,
            end=chunk.end + offset,
            text=chunk.text,
            title=_title(document.title, notes.get("headings")),
            lang=lang,
            topic=topic if isinstance(topic, str) else None,
        )


def _title(title: str | None, trail: object) -> str | None:
    """Return the title and the headings under it, without a first heading that repeats it."""
    if not isinstance(trail, str) or not trail:
        return title
    if not title or trail == title or trail.startswith(title + TITLE_END):
        return trail
    return title + TITLE_END + trail


def _as_document(chunk: Chunk) -> Document:
    """Return a chunk as if it were a whole document."""
    notes = chunk.metadata or {}
    title, lang, headings = (
        value if isinstance(value := notes.get(key), str) else None for key in ("title", "lang", "headings")
    )
    return Document(
        id=chunk.document_id, text=chunk.text, title=_title(title, headings), lang=lang, metadata=notes
    )


def choose_passages(
    passages: Sequence[SourcePassage], n: int, rng: np.random.Generator
) -> list[tuple[SourcePassage, int]]:
    """Return which passages of one document are shown, in order, and how many questions each is asked for.

    As many as there are questions, drawn from all parts of the document; with fewer passages than that
    each is asked for its share. Those with little to say, such as lists of contents and short rests, are
    taken only where there is nothing else. rng: decides which; the same state gives the same choice.
    """
    good = [passage for passage in passages if has_substance(passage.text)] or list(passages)
    n_shown = min(n, len(good))
    if n_shown == 0:
        return []
    bounds = [len(good) * part // n_shown for part in range(n_shown + 1)]
    chosen = [good[int(rng.integers(first, last))] for first, last in pairwise(bounds)]
    more = set(rng.permutation(n_shown)[: n % n_shown].tolist())
    return [(passage, n // n_shown + (at in more)) for at, passage in enumerate(chosen)]


def has_substance(text: str) -> bool:
    """Say whether a text has ENOUGH words, and most of them in lines that say something."""
    n_words = len(tokenize(text))
    telling = (
        line for line in text.split("\n") if not _NAVIGATION.fullmatch(line) and not _LEADER.search(line)
    )
    n_telling = len(tokenize("\n".join(telling)))
    return n_telling >= ENOUGH and n_telling >= MOSTLY * n_words


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """What one call asks for: n questions on a passage, in this turn.

    avoid: questions that are there already. sample: how often the passage's document was asked before.
    """

    passage: SourcePassage
    turn: DialogueTurn
    n: int
    avoid: tuple[str, ...] = ()
    sample: int = 0


def plan_orders(
    passages: Sequence[SourcePassage],
    turns: Sequence[DialogueTurn],
    wanted: Mapping[str, int],
    *,
    seed: int,
    sample: int = 0,
    written: Mapping[str, Sequence[str]] | None = None,
) -> list[Order]:
    """Return the calls that ask each document for as many questions as are wanted of it.

    wanted: document id -> questions, in the order of the calls; the turns go round, from document to document
    and from question to question. written: document id -> its questions so far.
    """
    of_document: dict[str, list[SourcePassage]] = defaultdict(list)
    for passage in passages:
        of_document[passage.document_id].append(passage)
    orders = []
    for first, (document_id, n) in enumerate(wanted.items()):
        chosen = choose_passages(of_document[document_id], n, own_rng(seed, document_id, sample))
        counts: dict[tuple[int, int], int] = defaultdict(int)
        number = first
        for which, (_passage, n_here) in enumerate(chosen):
            for _ in range(n_here):
                counts[which, number % len(turns)] += 1
                number += 1
        avoid = tuple((written or {}).get(document_id, ()))
        orders += [
            Order(passage=chosen[which][0], turn=turns[turn], n=n_here, avoid=avoid, sample=sample)
            for (which, turn), n_here in counts.items()
        ]
    return orders


def shuffled(document_ids: Sequence[str], seed: int) -> list[str]:
    """Return the ids in an order of the seed, which does not depend on the order in which they are given."""
    return sorted(document_ids, key=lambda name: (_digest(f"{seed}\n{name}"), name))


def own_rng(seed: int, document_id: str, sample: int = 0) -> np.random.Generator:
    """Return a generator of this document's own: what is drawn for it does not depend on the others."""
    return np.random.default_rng([seed, sample, _digest(document_id)])


def _digest(text: str) -> int:
    return int.from_bytes(
        hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big"
    )
