"""Text of any script -> tokens, and tokens -> the terms that lexical search matches on.

No language is guessed and no word list is used for these: the same function serves every language, so that a
question and a document in the same language always meet.
"""

import re
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import islice, pairwise
from operator import add, itemgetter

from ragstone.kernel.config import read_library

PREFIX = 5
_PLANES = (range(0x33480), range(0xE0100, 0xE01F0))  # where letters, digits and marks can be
WORD, UNSPACED = 0, 1  # what re.split gives in turn: text between the separators, and the separators

# Han, Hiragana, Katakana, Thai, Lao, Myanmar and Khmer are written without spaces between words.
_UNSPACED = re.compile(
    "([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\ua9e0-\ua9ff\uaa60-\uaa7f\uf900-\ufaff\U0001b000-\U0001b16f\U00020000-\U0003ffff]+)"
)
_ASCII_WORD = re.compile("[0-9A-Za-z]+")
_THOUSANDS = re.compile(r",(?<=\d,)(?=\d{3}(?!\d))")
# The article and the particles written onto it, after light10 (Larkey, Ballesteros and Connell 2007).
_BEGINS_ARTICLE = "\u0648\u0628\u0643\u0641\u0627\u0644"
_ARABIC_ARTICLE = re.compile("^(?:[\u0648\u0628\u0643\u0641]?\u0627\u0644|\u0644\u0644)(?=...)")

# Joiners, soft hyphens and direction marks stand inside words.
_JOINERS = (
    "\u00ad\u061c\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e"
    "\u2060\u2061\u2062\u2063\u2064\u2066\u2067\u2068\u2069\ufeff"
)
# Vowel signs are left out of most Arabic texts, and the spelling of some letters varies with the writer.
_ARABIC_VOWELS = "\u0640\u0670" + "".join(map(chr, range(0x64B, 0x653)))
# Turkish I has been folded to i before, so its dotless small letter becomes i too.
_FOLD = str.maketrans("أإآٱىئؤةکیı_", "ااااييوهكيi ", _JOINERS + _ARABIC_VOWELS)
_FOLDED = re.compile(f"[{''.join(map(chr, _FOLD))}]")  # none of them means anything inside the brackets


def tokenize(text: str) -> list[str]:
    """Return the words of a text in reading order; scripts without spaces give one token a character.

    Letters, digits and the marks that belong to them form words (so Hindi vowel signs do not cut them),
    everything else separates. Compatibility forms and case are folded (NFKC, casefold), and so are Arabic
    vowel signs and alef spellings; "1,000" becomes "1000". Other diacritics stay: they tell Vietnamese and
    Spanish words apart. A character keeps its marks (Thai vowels and tones). Nothing but punctuation
    gives an empty list.
    """
    folded = _folded(text)
    if folded.isascii():  # to list the letters of all scripts takes 30 ms
        return _ASCII_WORD.findall(folded)
    tokens: list[str] = []
    for word in _word_pattern().findall(folded):
        if word.isascii():
            tokens.append(word)
            continue
        for kind, run in _runs(word):
            tokens += _clusters(run) if kind == UNSPACED else [run]
    return tokens


def token_spans(text: str) -> list[tuple[int, int, str]]:
    """Return the tokens of a text with their places: (start, end, folded), in reading order.

    Cut as `tokenize` cuts, but for what it joins: "1,000" gives two tokens, and so does a word with a soft
    hyphen.
    """
    spans: list[tuple[int, int, str]] = []
    folded: dict[str, str] = {}  # words come again, and to fold one takes long
    for word in _word_pattern().finditer(text):
        if word[0].isascii():
            # Most words; an underscore belongs to none, and the pattern does not take it.
            spans.append((word.start(), word.end(), word[0].lower()))
            continue
        at = word.start()
        for kind, run in _runs(word[0]):
            for piece in _clusters(run) if kind == UNSPACED else [run]:
                if piece not in folded:
                    folded[piece] = _folded(piece)
                spans.append((at, at + len(piece), folded[piece]))
                at += len(piece)
    return spans


def search_terms(text: str) -> list[str]:
    """Return the terms that lexical search indexes a text by, in reading order, repeats included.

    A word gives itself and, from five letters on, its first five as `abcde*`, which inflected forms share
    in most languages (for Turkish: Can et al. 2008, JASIST 59:407). A character of a script without spaces
    gives itself and the pair with its successor.

    Mean BM25 recall@1 over five English packs and xquad in ten languages: words 0.798, words with English
    stemming 0.807, words and prefixes 0.824; with both, 0.825, which is not worth a stemmer.
    """
    terms: list[str] = []
    _add_terms(_word_pattern().findall(_folded(text)), terms)
    return terms


def spaced_terms_of_all(texts: Sequence[str]) -> tuple[list[str], list[int], dict[int, str]]:
    """Return the search_terms of all texts, text after text, how many each has, and what was left out.

    texts: without line breaks. Folded together, short ones take a third of the time. Those with a character
    of a script without spaces are left out: position -> text, folded; of these see `kinds_of_characters`.
    """
    terms: list[str] = []
    ends = [0]
    unspaced: dict[int, str] = {}
    find = _word_pattern().findall
    for position, text in enumerate(_folded("\n".join(texts)).split("\n") if texts else []):
        if not text.isascii() and _UNSPACED.search(text):
            unspaced[position] = text
        else:
            _add_terms((text,) if text.isalnum() else find(text), terms)
        ends.append(len(terms))
    return terms, [end - start for start, end in pairwise(ends)], unspaced


SEPARATOR, LETTER, CHARACTER, MARK = range(4)


@cache
def kinds_of_characters() -> bytes:
    """Return of each code point what it is in a folded text.

    LETTER: of words (or a digit, or a mark on them). CHARACTER and MARK: of a script without spaces; a run of
    these is cut before each CHARACTER.
    """
    kinds = bytearray(sys.maxunicode + 1)
    for plane in _PLANES:
        characters = "".join(map(chr, plane))
        changes = (
            (_word_pattern(), SEPARATOR, LETTER),
            (_UNSPACED, LETTER, CHARACTER),
            (_mark_pattern(), CHARACTER, MARK),
        )
        for pattern, before, after in changes:
            change = bytes.maketrans(bytes([before]), bytes([after]))
            for run in pattern.finditer(characters):
                place = slice(plane.start + run.start(), plane.start + run.end())
                kinds[place] = kinds[place].translate(change)
    return bytes(kinds)


def word_terms(word: str) -> list[str]:
    """Return the search terms of a word, folded as `tokenize` folds it."""
    terms: list[str] = []
    _add_terms((word,), terms)
    return terms


def _add_terms(words: Iterable[str], terms: list[str]) -> None:
    """Append the search terms of words that are folded."""
    for word in words:
        if not word.isascii():
            if unspaced := _UNSPACED.search(word):
                if len(unspaced[0]) == len(word):
                    _add_characters(word, terms)
                else:
                    _add_runs(word, terms)
                continue
            if word[0] in _BEGINS_ARTICLE:
                word = without_article(word)
        terms.append(word)
        if len(word) >= PREFIX and not word.isdigit():
            terms.append(word[:PREFIX] + "*")


def _add_runs(word: str, terms: list[str]) -> None:
    """Append the search terms of a word some of whose characters are written without spaces."""
    for kind, run in _runs(word):
        if kind == UNSPACED:
            _add_characters(run, terms)
        else:
            _add_terms((run,), terms)


def _add_characters(run: str, terms: list[str]) -> None:
    """Append the characters of a run without spaces, and the pairs of neighbours."""
    characters = _clusters(run)
    terms += characters
    terms += map(add, characters, islice(characters, 1, None))


def without_article(word: str) -> str:
    """Return a word, folded as `tokenize` folds it, without the Arabic article and its particles."""
    return _ARABIC_ARTICLE.sub("", word)


@cache
def function_words(langs: tuple[str, ...] = ()) -> frozenset[str]:
    """Return the words that say little of what a question asks, as `tokenize` gives them.

    langs: codes of languages; those of all tables of library/function_words.toml together if none is given,
    for texts mix them.
    """
    tables = read_library("ragstone.kernel.corpus", "function_words.toml")
    listed = [
        f"{table.get('drop', '')} {table.get('asking', '')} {' '.join(table.get('same', []))}"
        for lang, table in tables.items()
        if not langs or lang in langs
    ]
    return frozenset(tokenize(" ".join(listed)))


def _folded(text: str) -> str:
    if not text.isascii():
        # Line by line, for most need no change, and one that does costs ten times as much.
        text = "\n".join([unicodedata.normalize("NFKC", line) for line in text.split("\n")])
    # The dotted capital of Turkish casefolds to i and a combining dot.
    text = text.casefold().replace("i\u0307", "i")
    return _THOUSANDS.sub("", _FOLDED.sub(lambda letter: letter[0].translate(_FOLD), text))


def _runs(word: str) -> list[tuple[int, str]]:
    """Split a word where the script changes between spaced and unspaced."""
    return [(at % 2, run) for at, run in enumerate(_UNSPACED.split(word)) if run]


def _clusters(run: str) -> list[str]:
    """Split a run into characters, each with the combining marks that follow it."""
    return _cluster_pattern().findall(run) if _mark_pattern().search(run) else list(run)


@cache
def _word_pattern() -> re.Pattern[str]:
    # Every character is listed, because `\w` inside the class keeps re from making it one table lookup.
    return re.compile(f"[{_ranges('LNM')}]+")


@cache
def _cluster_pattern() -> re.Pattern[str]:
    return re.compile(f".(?:{_mark_pattern().pattern})?", re.DOTALL)


@cache
def _mark_pattern() -> re.Pattern[str]:
    return re.compile(f"[{_ranges('M')}]+")


def _ranges(kinds: str) -> str:
    """Return the characters of these kinds (L letters, N numbers, M marks) as the inside of a class of re."""
    runs = ((plane, *run.span()) for plane in _PLANES for run in re.finditer(f"[{kinds}]+", _kinds_in(plane)))
    return "".join(f"\\U{plane[start]:08x}-\\U{plane[end - 1]:08x}" for plane, start, end in runs)


@cache
def _kinds_in(plane: range) -> str:
    """Return the first letter of the category of each character."""
    return "".join(map(itemgetter(0), map(unicodedata.category, map(chr, plane))))
