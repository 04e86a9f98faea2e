"""A sentence against contexts: what of it is not there, as numbers and by name."""

import functools
import re
from collections import defaultdict
from collections.abc import Mapping, Set
from itertools import pairwise
from typing import NamedTuple

from ragstone.kernel.config import read_library
from ragstone.kernel.corpus.sentences import sentence_spans
from ragstone.kernel.corpus.tokens import tokenize
from ragstone.kernel.judging.citation_marks import NAMED_SOURCE
from ragstone.kernel.judging.matching import spoken, word_weight
from ragstone.kernel.judging.refusals import WITHOUT_SPACES
from ragstone.kernel.judging.supported._fields import RecordField, contradicted_fields, read_record
from ragstone.kernel.judging.supported._numbers import HeldNumbers, held_numbers, stated_numbers

FEATURES = ("words", "numbers", "names", "apart", "fields")
"""What is measured of a sentence, in the order of its values.

words: the weights of its words that no context has in any form, summed. numbers: its numbers that no context
has, at most three. names: its capitalised words, but the first, that no context has, at most four. apart:
share of its words, weighted, that are not in the two neighbouring sentences of the contexts that have most
of them. fields: fields of a record that it contradicts, at most two.
"""

STEM = 4  # letters that forms of a word share
SAME_BEGINNING = 5
MOST_FORMS = 1000  # words of one beginning that are compared; natural texts have some hundred at most
LEAST_ALIKE = 0.65  # share of pairs of letters, as in `match`
RARE = 0.6  # weight of a capitalised word that is a name, not "The" or "Monday"
LARGEST = 16  # digits of a number word that is read as a value
MOST_NUMBERS, MOST_NAMES, MOST_FIELDS = 3, 4, 2
CAPITALISED = re.compile(r"[^\W\d_][\w'’]+")
NOUNS_ARE_CAPITALISED = ("de", "lb")
NOT_ALONE = frozenset(["noch", "plus", "point", "ne", "la", "si"])  # deny only beside other words


class HeldPassages(NamedTuple):
    """Contexts, ready to be compared with sentences.

    held: the words of all of them (pairs of characters in scripts without spaces); units: those of each.
    stems: first letters -> words. windows: word -> (context, place) of the pairs of neighbouring
    sentences that have it. values: the words of records, without their keys.
    """

    held: frozenset[str]
    units: list[frozenset[str]]
    stems: dict[str, list[str]]
    windows: dict[str, list[tuple[int, int]]]
    numbers: HeldNumbers
    fields: list[RecordField]
    values: frozenset[str]


class SentenceFeatures(NamedTuple):
    """The values of FEATURES, and what is behind them, as it is written; words are the weightiest first.

    context: the number, from 1, of the context that has most of the sentence's words; 0 where none has any.
    in_record: whether a context is a record.
    """

    values: tuple[float, ...]
    words: list[str]
    numbers: list[str]
    names: list[str]
    fields: list[RecordField]
    context: int
    in_record: bool


@functools.lru_cache(maxsize=32)  # the answers of several systems are given the same contexts
def read_passages(contexts: tuple[str, ...]) -> HeldPassages:
    """Return contexts in the form that sentences are compared with, in time linear in their length."""
    texts: list[str] = []
    fields: list[RecordField] = []
    values: set[str] = set()
    for context in contexts:
        text, own_fields, own_values = read_record(context)
        texts.append(text)
        fields += own_fields
        if own_fields:
            values.update(units_of(own_values))
    windows: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for number, text in enumerate(texts):
        sentences = [frozenset(units_of(text[start:end])) for start, end in sentence_spans(text)]
        pairs = [left | right for left, right in pairwise(sentences)] or sentences
        for at, window in enumerate(pairs):
            for unit in window:
                windows[unit].append((number, at))
    units = [frozenset(units_of(text)) for text in texts]
    held = frozenset[str]().union(*units)
    stems: dict[str, list[str]] = defaultdict(list)
    for unit in sorted(held):
        if len(unit) >= STEM and unit.isalpha():
            stems[unit[:STEM]].append(unit)
    digits = frozenset(word for text in texts for word in tokenize(text) if word.isdecimal())
    spelled = frozenset(float(unit) for unit in held - digits if unit.isdecimal() and len(unit) < LARGEST)
    numbers = held_numbers(texts, spelled)
    return HeldPassages(held, units, dict(stems), dict(windows), numbers, fields, frozenset(values))


def sentence_features(sentence: str, passages: HeldPassages, lang: str | None) -> SentenceFeatures | None:
    """Return the features of a sentence; None where it has no words.

    lang: its language, which decides what a negation is and whether capital letters mean a name.
    """
    sentence = NAMED_SOURCE.sub(" ", sentence)
    stated = list(stated_numbers(sentence))
    numbers = [number.text for number in stated if not passages.numbers.hold(number)]
    # A number that the contexts write otherwise (5 miles are 8 km) is not a word that they lack.
    written = {part for number in stated if number.text not in numbers for part in tokenize(number.text)}
    said = units_of(sentence)
    units = [unit for unit in said if unit in passages.held or not (unit in written or unit.isdecimal())]
    if not said:
        return None
    weights = {unit: word_weight(unit) for unit in units}
    alike = {unit: _held_form(unit, passages) for unit in weights}
    missing = [unit for unit, share in alike.items() if not share]
    names = [] if lang in NOUNS_ARE_CAPITALISED else _lost_names(sentence, passages, written)
    sums: dict[tuple[int, int], float] = defaultdict(float)
    for unit, weight in weights.items():
        for window in passages.windows.get(unit, ()):
            sums[window] += weight
    fields = contradicted_fields(sentence, passages.fields, passages.values, negations(lang))
    shares = [sum(weights[unit] for unit in weights.keys() & own) for own in passages.units]
    return SentenceFeatures(
        values=(
            sum(word_weight(unit) * (1 - alike[unit]) for unit in units),
            min(len(numbers), MOST_NUMBERS),
            min(len(names), MOST_NAMES),
            1 - max(sums.values(), default=0.0) / sum(weights.values()) if weights else 0.0,
            min(len(fields), MOST_FIELDS),
        ),
        words=sorted(missing, key=weights.__getitem__, reverse=True),
        numbers=numbers,
        names=names,
        fields=fields,
        context=shares.index(max(shares)) + 1 if any(shares) else 0,
        in_record=bool(passages.fields),
    )


def units_of(text: str) -> list[str]:
    """Return the words of a text; of a script without spaces, each character with its successor."""
    tokens = spoken(text)
    if not WITHOUT_SPACES.search(text):
        return list(tokens)
    units: list[str] = []
    for token, following in pairwise((*tokens, "")):
        if not WITHOUT_SPACES.match(token):
            units.append(token)
        elif following and WITHOUT_SPACES.match(following):
            units.append(token + following)
    return units or list(tokens)


@functools.cache
def negations(lang: str | None) -> frozenset[str]:
    """Return the single words of a language that deny; those of English where it has no table."""
    tables: Mapping[str, Mapping[str, str]] = read_library("ragstone.kernel.judging", "words/truth.toml")
    table = tables.get(lang or "", tables["en"])
    return frozenset(f"{table['not']}|{table['no']}".split("|")) - NOT_ALONE


def _held_form(unit: str, passages: HeldPassages) -> float:
    """Return how much a word counts as held: 1 as it is, less in another form, 0 where it is not there."""
    if unit in passages.held:
        return 1.0
    if len(unit) < STEM or not unit.isalpha():
        return 0.0
    pairs = set(map("".join, pairwise(unit)))
    best = 0.0
    for other in passages.stems.get(unit[:STEM], [])[:MOST_FORMS]:
        theirs = set(map("".join, pairwise(other)))
        share = 2 * len(pairs & theirs) / (len(pairs) + len(theirs))
        if unit[:SAME_BEGINNING] == other[:SAME_BEGINNING] and len(unit) >= SAME_BEGINNING:
            share = max(share, 0.85)
        best = max(best, share)
    return best if best >= LEAST_ALIKE else 0.0


def _lost_names(sentence: str, passages: HeldPassages, written: Set[str]) -> list[str]:
    """Return the capitalised words behind the first that no context has, as they are written."""
    lost = []
    for match in list(CAPITALISED.finditer(sentence))[1:]:
        parts = tokenize(match[0])
        if match[0][0].isupper() and any(
            word_weight(part) >= RARE and part not in written and not _held_form(part, passages)
            for part in parts
        ):
            lost.append(match[0])
    return list(dict.fromkeys(lost))
