"""Coverage that forgives: a reference's words, found in the answer in other forms too, the rare ones first.

A word counts as found if it is there, begins alike, or shares most of its pairs of letters; numbers are
compared as values, whatever they are written like, and only exactly.
"""

import functools
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from operator import add
from typing import Literal, NamedTuple

from ragstone.kernel.config import read_library
from ragstone.kernel.corpus.tokens import tokenize, without_article

ARTICLES = frozenset({"a", "an", "the"})
PREFIX = 5
SAME_BEGINNING = 0.85
LEAST_ALIKE = (
    0.65  # Dice; from 0.5 on, as in a probe, names that merely sound alike were taken for each other
)
FEWEST_LETTERS = 4  # of a word that may be found in another form
MOST_SHARING = 50  # words that a pair of letters leads to: what keeps the time linear
SHORT = 10  # words of a reference that an answer may be about and nothing else
STEPS = 10  # into which weights are rounded in the file: e.g. 3 is 0.3
DIGITS = 15  # of a number that is read as a value
LARGEST = 10**12  # a number that "million" and the like may multiply
NUMBER = re.compile(r"(\d+)(?:st|nd|rd|th)?")


@functools.lru_cache(maxsize=4096)  # one reference is compared with the answers of many systems
def words(text: str) -> tuple[str, ...]:
    """Return the words of a text for comparison: those of `tokenize`, without English articles."""
    return tuple(word for word in tokenize(text) if word not in ARTICLES)


class HeldWords(NamedTuple):
    """The words of a text, and how often each is there.

    found: what `_alike` found in it; alternatives of a reference share most of their words.
    """

    text: str
    counts: Counter[str]
    found: dict[str, dict[str, float]]


class WordForms(NamedTuple):
    """Where to look for words of a text that are like another: by beginnings, and by pairs of letters."""

    beginnings: dict[str, list[str]]
    pairs: dict[str, list[str]]


def match(answer: str, reference: str, question: str) -> float:
    """Share of the reference's words, those of the question left out, that the answer has; in [0, 1].

    Words count by how rare they are (see word_weight), and as found if they are there (1), begin with the
    same five letters (0.85) or share at least 0.65 of their pairs of letters (Dice 1945; that share). Number
    words, ordinals and digits are alike, and a number is found only where the same one is. Where the
    reference has no other words than the question, all of them count.
    """
    wanted = _wanted(reference, question)
    if not wanted:
        return float(reference.strip() in answer)
    held = _held(answer)
    weights = [word_weight(word) for word in wanted]
    shares = (max(_alike(word, held).values(), default=0.0) for word in wanted)
    return sum(weight * share for weight, share in zip(weights, shares, strict=True)) / sum(weights)


def focus(answer: str, reference: str, question: str) -> float | None:
    """Share of the answer's words, those of the question left out, that are the reference's; in [0, 1].

    They count and are found as in `match`. An answer that names the reference among much else is seldom right
    by more than luck. None for a reference of more than ten words, which no answer repeats, or of none.
    """
    wanted = spoken(reference)
    if not 0 < len(wanted) <= SHORT:
        return None
    held, (weights, total) = _held(answer), _weights_beside(answer, question)
    if not weights:
        return 0.0
    shares: dict[str, float] = {}
    for word in wanted:
        for like, share in _alike(word, held).items():
            shares[like] = max(share, shares.get(like, 0.0))
    return sum(weights.get(word, 0.0) * share for word, share in shares.items()) / total


@functools.lru_cache(maxsize=16)
def _weights_beside(answer: str, question: str) -> tuple[dict[str, float], float]:
    """Return how much each word of the answer counts that the question has not, and their sum."""
    of_question = _spoken_words(question)
    counts = _held(answer).counts
    weights = {word: n * word_weight(word) for word, n in counts.items() if word not in of_question}
    return weights, sum(weights.values())


def missing(answer: str, reference: str, question: str) -> list[str]:
    """Return the words of the reference that `match` does not find, the weightiest first."""
    held = _held(answer)
    lost = dict.fromkeys(word for word in _wanted(reference, question) if not _alike(word, held))
    return sorted(lost, key=lambda word: -word_weight(word))


def _wanted(reference: str, question: str) -> Sequence[str]:
    of_reference, of_question = spoken(reference), _spoken_words(question)
    return [word for word in of_reference if word not in of_question] or of_reference


@functools.lru_cache(maxsize=16)
def _spoken_words(text: str) -> frozenset[str]:
    return frozenset(spoken(text))


@functools.lru_cache(maxsize=1024)
def spoken(text: str) -> tuple[str, ...]:
    """Return the words of a text with numbers as digits: "twenty-one" is 21, "2nd", "second" and "II" are 2.

    Arabic words are without their article. Beyond such words nothing is read: "1.5 million" stays as it is.
    """
    return tuple(_joined(map(_read, words(text))))


def _bare(word: str) -> str:
    return word if word.isascii() else without_article(word)


class NumberWord(NamedTuple):
    """A word as it stands, the value of a number, and of a number word which part of a number it is."""

    word: str
    value: int | None = None
    part: Literal["unit", "tens", "scale"] | None = None


@functools.lru_cache(maxsize=4096)
def _read(word: str) -> NumberWord:
    word = _bare(word)
    digits = NUMBER.fullmatch(word)
    if digits is None:
        return _numbers().get(word) or NumberWord(word)
    return NumberWord(digits[1], int(digits[1]) if len(digits[1]) <= DIGITS else None)


def _joined(numbers: Iterable[NumberWord]) -> Iterator[str]:
    """Yield the words, number words joined that make one number: tens and a unit, a number and a scale."""
    value, before = None, None
    for word in numbers:
        if value is not None and word.value and word.part == "scale" and value <= LARGEST:
            value *= word.value
        elif value is not None and word.value and (before, word.part) == ("tens", "unit"):
            value += word.value
        else:
            if value is not None:
                yield str(value)
            value = word.value
            if value is None:
                yield word.word
        before = word.part
    if value is not None:
        yield str(value)


@functools.cache
def _numbers() -> dict[str, NumberWord]:
    """Return the number words of all languages; of those that two share, the first table has it."""
    number_words: dict[str, NumberWord] = {}
    for table in read_library("ragstone.kernel.judging", "words/numbers.toml").values():
        rows = [
            NumberWord(text, n, "unit" if n < 10 else None) for n, text in enumerate(table["units"].split())
        ]
        rows += [NumberWord(text, 10 * n, "tens") for n, text in enumerate(table.get("tens", "").split(), 2)]
        rows += [NumberWord(text, n, "scale") for text, n in table["scales"].items()]
        for row in rows:
            for spelling in row.word.split("="):
                for word in words(spelling)[:1]:
                    number_words.setdefault(_bare(word), row)
    return number_words


def word_weight(word: str) -> float:
    """Return how much a word counts, in (0, 1]: little if many texts hold it, 1 if few do.

    It is -ln(share of texts that hold it) / 5, at most 1. A language of which no texts were counted has none
    of its words in the table, so that all of them weigh the same.
    """
    return _weights().get(word, 1.0)


@functools.cache
def _weights() -> dict[str, float]:
    table = read_library("ragstone.kernel.judging", "words/weights.toml")
    return {word: int(step) / STEPS for step, listed in table.items() for word in listed.split()}


@functools.lru_cache(maxsize=16)  # an answer is compared with each alternative of its reference
def _held(text: str) -> HeldWords:
    return HeldWords(text, Counter(spoken(text)), {})


@functools.lru_cache(maxsize=16)  # made for words that are not there as they are: most are
def _forms(text: str) -> WordForms:
    beginnings: dict[str, list[str]] = {}
    in_words: dict[str, list[str]] = defaultdict(list)
    for word in _held(text).counts:
        pairs = _pairs(word)
        if pairs and len(word) >= PREFIX:
            beginnings.setdefault(word[:PREFIX], []).append(word)
        for pair in pairs:
            # A pair's second place in a word counts where the pair itself does.
            if len(in_words[pair[:2]]) < MOST_SHARING or in_words[pair[:2]][-1] is word:
                in_words[pair].append(word)
    return WordForms(beginnings, in_words)


@functools.lru_cache(maxsize=4096)
def _pairs(word: str) -> tuple[str, ...]:
    """Return the pairs of letters by which a word is found in another form, none of a number or a short word.

    All differ: one that comes again has its number behind it, so that two words share as many pairs as are
    equal.
    """
    if len(word) < FEWEST_LETTERS or any(map(str.isdigit, word)):
        return ()
    pairs = tuple(map(add, word, word[1:]))
    if len(set(pairs)) == len(pairs):
        return pairs
    seen: Counter[str] = Counter()
    numbered = []
    for pair in pairs:
        seen[pair] += 1
        numbered.append(pair if seen[pair] == 1 else f"{pair}{seen[pair]}")
    return tuple(numbered)


def _alike(word: str, held: HeldWords) -> dict[str, float]:
    """Return the words of a text that count as this one, with how much; itself alone where it is there."""
    alike = held.found.get(word)
    if alike is None:
        alike = held.found[word] = {word: 1.0} if word in held.counts else _other_forms(word, held.text)
    return alike


def _other_forms(word: str, text: str) -> dict[str, float]:
    pairs = _pairs(word)
    if not pairs:
        return {}
    held = _forms(text)
    shared = Counter(chain.from_iterable(held.pairs[pair] for pair in pairs if pair in held.pairs))
    forms = {
        other: share
        for other, n in shared.items()
        if (share := 2 * n / (len(word) + len(other) - 2)) >= LEAST_ALIKE
    }
    for other in held.beginnings.get(word[:PREFIX], ())[:MOST_SHARING]:
        forms[other] = max(SAME_BEGINNING, forms.get(other, 0.0))
    return forms


def smallest_step(share: float) -> int:
    """Return the step of the table that a word in this share of the texts belongs to."""
    return min(max(round(-math.log(share) * STEPS / 5), 1), STEPS)
