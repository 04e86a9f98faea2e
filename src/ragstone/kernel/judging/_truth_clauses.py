"""What one clause says of a statement: read by the words of its language, and only if all of them are known.

The words are those of words/truth.toml. A word that is neither there nor in the statement leaves a clause
unread: "It is scarcely true" must not be read as true because `scarcely` is on no list.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import accumulate, pairwise
from typing import Literal

import msgspec

from ragstone.kernel.config import read_library

Clause = Literal["true", "false", "open", "doubt", "denial", "unread", "nothing"]
"""What a clause says. open: of the statement, but neither true nor false. doubt, denial: a doubt or a
negation and no verdict ("possibly", "it is not"). unread: it has a verdict, and words that are not known."""

UNSPACED = ("zh", "ja", "ko", "th")  # cut into the longest words of the table
STEM = 5  # letters that two forms of a word of the statement share
LISTS = ("true", "false", "yes", "no", "not", "maybe", "asks", "known", "that", "but")
_CONTENT: frozenset[str] = frozenset()
_KNOWN = frozenset(["known"])
_STATEMENT = frozenset(["statement"])
# Vowel signs of Arabic, its long stroke, nuktas, the dot of Turkish İ, and joiners: written or left out.
_LEFT_OUT = re.compile("[\u064b-\u0655\u0670\u0640\u093c\u09bc\u0307\u200b-\u200f\u2060\ufeff]")
_SAME = str.maketrans("’‘ʼ`´أإآٱىيكı", "'''''ااااییکi")
_ELISION = re.compile(r"(?<!\w)([cdjlmnst]|qu|un|quest|dell|nell|all|dall|sull)'(?=\w)")
_SCRIPTS = {
    "ja": re.compile("[\u3040-\u30ff]"),
    "ko": re.compile("[\u1100-\u11ff\uac00-\ud7af]"),
    "th": re.compile("[\u0e00-\u0e7f]"),
    "zh": re.compile("[\u3400-\u9fff]"),
}
_EDGES = " \t'-–·•~_#=>|/\\"


class Phrase(msgspec.Struct, frozen=True):
    """A word or phrase, and the lists that hold it; none for what is no word of the table."""

    text: str
    lists: frozenset[str]


class Lexicon(msgspec.Struct, frozen=True):
    """The words of a language.

    phrases: with one space between words, or none. words: all that occur in them. longest: first word, or
    letter -> how many of them the longest phrase has that begins with it.
    """

    lang: str
    phrases: dict[str, frozenset[str]]
    words: frozenset[str]
    longest: dict[str, int]


def folded(text: str) -> str:
    """Return a text as it is compared: without case, and without marks that may be left out."""
    plain = unicodedata.normalize("NFKC", text).casefold().translate(_SAME)
    plain = unicodedata.normalize("NFC", _LEFT_OUT.sub("", plain))
    return _ELISION.sub(r"\1' ", plain)


def read_clause(clause: str, statement: str = "", answer: str = "") -> Clause:
    """Return what a clause says, in the language that knows most of its words.

    Of several it is the one that knows most words of the answer. Where they still differ, one word alone is
    the reply that it is in one of them. All texts are folded.
    """
    readings, fewest, known = dict[str, Clause](), len(clause), _statement_words(statement)
    verdicts_in = _languages(clause, "true", "false", "yes", "no")
    langs = dict.fromkeys((*verdicts_in, *_languages(clause, "not", "maybe")))
    for at_least, lang in sorted((_n_unknown(clause, lang, known), lang) for lang in langs):
        if at_least and lang not in verdicts_in:
            continue
        if at_least > fewest:
            break
        tokens = _of_statement(_tokens(clause, lang), known, spaced=lang not in UNSPACED)
        unknown = sum(not token.lists for token in tokens)
        if unknown <= fewest:
            readings = (readings if unknown == fewest else {}) | {lang: _read(tokens)}
            fewest = unknown
    if len({*readings.values()}) > 1:
        in_answer = {lang: _n_unknown(answer, lang, known) for lang in readings}
        least = min(in_answer.values())
        readings = {lang: reading for lang, reading in readings.items() if in_answer[lang] == least}
    best = {*readings.values()} - {"nothing"}
    if best == {"false", "denial"}:
        return "false"
    replies = best & {"true", "false"}
    if len(replies) == 1 and len(_words(answer or clause)) == 1:
        return replies.pop()
    return best.pop() if len(best) == 1 else "open" if best else "nothing"


def begins(clause: str, name: Literal["but", "that"]) -> bool:
    """Say whether a clause begins with a word of this list; with `that` only where it is no pronoun."""
    if name == "but" and any(map(clause.startswith, _unspaced_buts())):
        return True
    first = _first_words().get(next(iter(_words(clause)), ""), {})
    readings = (_tokens(clause, lang) for lang, lists in first.items() if name in lists)
    return any(
        name in (lists := tokens[0].lists) and (name == "but" or "known" not in lists) for tokens in readings
    )


@cache
def _unspaced_buts() -> list[str]:
    return [word for lang in UNSPACED for word, lists in _lexicons()[lang].phrases.items() if "but" in lists]


def is_hedged(clause: str) -> bool:
    """Say whether a clause holds a negation, a doubt or a denial, whatever else it says."""
    signs = {"not", "maybe", "no", "false"}
    readings = (_tokens(clause, lang) for lang in _languages(clause, *signs))
    return any(signs & token.lists for tokens in readings for token in tokens)


def is_frame(text: str) -> bool:
    """Say whether a text has no words but those that say nothing of a statement."""
    spoken = _words(text)
    return not spoken or any(
        all("known" in token.lists for token in _tokens(text, lang)) for lang in _lexicons()
    )


@cache
def _lexicons() -> dict[str, Lexicon]:
    lexicons = {}
    for lang, row in read_library("ragstone.kernel.judging", "words/truth.toml").items():
        phrases: dict[str, set[str]] = {}
        for name in LISTS:
            for phrase in filter(None, row.get(name, "").split("|")):
                joint = "" if lang in UNSPACED else " "
                phrases.setdefault(joint.join(folded(phrase).split()), set()).add(name)
        longest: dict[str, int] = {}
        for phrase in phrases:
            units = phrase if lang in UNSPACED else phrase.split()
            longest[units[0]] = max(longest.get(units[0], 0), len(units))
        frozen = {phrase: frozenset(names) for phrase, names in phrases.items()}
        known_words = frozenset(word for phrase in phrases for word in phrase.split())
        lexicons[lang] = Lexicon(lang, frozen, known_words, longest)
    return lexicons


@cache
def _first_words() -> dict[str, dict[str, frozenset[str]]]:
    """Return for each word that begins a phrase: language -> the lists of such phrases."""
    index: dict[str, dict[str, frozenset[str]]] = {}
    for lang, lexicon in _lexicons().items():
        if lang not in UNSPACED:
            for phrase, lists in lexicon.phrases.items():
                of_word = index.setdefault(phrase.split(maxsplit=1)[0], {})
                of_word[lang] = of_word.get(lang, _CONTENT) | lists
    return index


@lru_cache(maxsize=1024)
def _languages(clause: str, *lists: str) -> list[str]:
    """Return the languages that a clause may be in: of its script, else those with a telling word in it."""
    for lang, script in _SCRIPTS.items():
        if script.search(clause):
            return ["zh", "ja"] if lang == "zh" else [lang]
    index = _first_words()
    entries = (index.get(word, {}) for word in _words(clause))
    telling = frozenset(lists)
    return list(dict.fromkeys(lang for langs in entries for lang, names in langs.items() if names & telling))


@lru_cache(maxsize=1024)
def _words(clause: str) -> list[str]:
    stripped = (word if word.endswith("'") else word.strip(_EDGES) for word in clause.split())
    return [word for word in stripped if any(map(str.isalnum, word))]


@lru_cache(maxsize=1024)
def _tokens(clause: str, lang: str) -> list[Phrase]:
    """Return the clause cut into the longest phrases of the language; digits before a verdict are known."""
    lexicon, unspaced = _lexicons()[lang], lang in UNSPACED
    units: Sequence[str] = "".join(_words(clause)) if unspaced else _words(clause)
    tokens: list[Phrase] = []
    at, joint, decided = 0, "" if unspaced else " ", False
    while at < len(units):
        for length in range(min(lexicon.longest.get(units[at], 0), len(units) - at), 0, -1):
            text = joint.join(units[at : at + length])
            if lists := lexicon.phrases.get(text):
                break
        else:
            text, length = units[at], 1
            lists = _KNOWN if text.isdigit() and tokens and not decided else _CONTENT
        tokens.append(Phrase(text, lists))
        decided = decided or not lists.isdisjoint(("true", "false"))
        at += length
    return tokens


class StatementWords(msgspec.Struct, frozen=True):
    """The words of a statement, and the beginnings of long ones, which their other forms share."""

    words: tuple[str, ...] = ()
    beginnings: frozenset[str] = frozenset()

    def __contains__(self, word: str) -> bool:
        return word in self.words or word[:STEM] in self.beginnings


@lru_cache(maxsize=256)
def _statement_words(statement: str) -> StatementWords:
    spoken = tuple(_words(statement))
    return StatementWords(spoken, frozenset(word[:STEM] for word in spoken if len(word) >= STEM))


@lru_cache(maxsize=1024)  # of the answer it is asked for each clause
def _n_unknown(clause: str, lang: str, known: StatementWords) -> int:
    """Return how many words of a clause a language cannot know; phrases may leave more of them."""
    if lang in UNSPACED:
        return 0
    of_lang = _lexicons()[lang].words
    return sum(word not in of_lang and not word.isdigit() and word not in known for word in _words(clause))


def _of_statement(tokens: list[Phrase], known: StatementWords, *, spaced: bool) -> list[Phrase]:
    """Return the tokens with those of the statement known, and what is between two of them as it is there."""
    joint = " " if spaced else ""
    whole = f"{joint}{joint.join(known.words)}{joint}"
    repeated = [
        at
        for at, token in enumerate(tokens)
        if not token.lists and (token.text in known if spaced else token.text in whole)
    ]
    marked = list(tokens)
    for start, end in pairwise(repeated):
        between = joint.join(token.text for token in tokens[start : end + 1])
        if f"{joint}{between}{joint}" in whole:
            marked[start + 1 : end] = [Phrase(token.text, _KNOWN) for token in tokens[start + 1 : end]]
    for at in repeated:
        marked[at] = Phrase(tokens[at].text, _STATEMENT)
    return marked


def _read(tokens: Sequence[Phrase]) -> Clause:
    """Return what the tokens of one language say."""
    places = _verdict_places(tokens)
    before, rest = _cut(tokens, places)
    if any(not token.lists for token in before):
        return "unread" if places else "nothing"
    if before and "asks" in before[0].lists and "true" not in before[0].lists:
        return "open"
    if len(before) > 1 and any("maybe" in token.lists for token in before):
        return "open" if places or _replies(before) else "doubt"
    places = [at for at in places if at < len(before)]
    if not places:
        value = _reply(before)
        return "open" if value == "true" and any("no" in token.lists for token in rest) else value
    values = _values(before, places)
    if len(values) > 1 or _contrary(rest, values):
        return "open"
    return _agreed(before, places, values.pop())


def _verdict_places(tokens: Sequence[Phrase]) -> list[int]:
    """Return where verdicts are: beside no word of the statement or an unknown one, as in `the correct dose`.

    `so` and its like are a verdict only where there is no other.
    """
    verdicts = [at for at, token in enumerate(tokens) if {"true", "false"} & token.lists]
    whole = [
        at
        for at in verdicts
        if not any(_names(token) for token in (*tokens[max(0, at - 1) : at], *tokens[at + 1 : at + 2]))
    ]
    return [at for at in whole if "known" not in tokens[at].lists] or whole


def _names(token: Phrase) -> bool:
    return not token.lists or "statement" in token.lists


def _cut(tokens: Sequence[Phrase], places: Sequence[int]) -> tuple[Sequence[Phrase], Sequence[Phrase]]:
    """Return the tokens up to a `that` or `because` behind the first verdict, and those behind it."""
    first = places[0] if places else next(iter(_replies(tokens)), len(tokens))
    for at in range(first + 1, len(tokens)):
        if "that" in tokens[at].lists:
            return tokens[:at], tokens[at:]
    return tokens, ()


def _replies(tokens: Sequence[Phrase]) -> list[int]:
    return [
        at for at, token in enumerate(tokens) if {"yes", "no"} & token.lists and "known" not in token.lists
    ]


def _values(tokens: Sequence[Phrase], places: Sequence[int]) -> set[Clause]:
    """Return what the verdicts say, each with the negations of its clause."""
    denials = [negation for negation, token in enumerate(tokens) if "not" in token.lists]
    named = [0, *accumulate(map(_names, tokens))]
    values: set[Clause] = set()
    for at in places:
        denied = [negation for negation in (*denials[:2], *denials[-2:]) if negation != at]
        if at and "no" in tokens[at - 1].lists:  # `not at all true`
            denied.append(at - 1)
        is_true = "true" in tokens[at].lists
        if not denied:
            values.add("true" if is_true else "false")
            continue
        near = named[min(at, *denied)] == named[max(at, *denied)]
        values.add("false" if near and is_true else "open")
    return values


def _contrary(rest: Sequence[Phrase], values: set[Clause]) -> bool:
    """Say whether what follows on `that` has a verdict or a reply of its own that says something else."""
    denies = any("no" in token.lists and "not" not in token.lists for token in rest)
    return denies or any(values.isdisjoint(rest[at].lists) for at in _verdict_places(rest))


def _agreed(tokens: Sequence[Phrase], places: Sequence[int], value: Clause) -> Clause:
    """Return the value, unless a reply in the same clause says otherwise (`no it is true`)."""
    verdicts = frozenset(places)
    replies = {
        name
        for at in _replies(tokens)
        if at not in verdicts and "not" not in tokens[at].lists and at + 1 not in verdicts
        for name in ("yes", "no")
        if name in tokens[at].lists
    }
    agrees = {"true": "yes", "false": "no"}
    return value if value == "open" or replies <= {agrees[value]} else "open"


def _reply(tokens: Sequence[Phrase]) -> Clause:
    """Return what a clause without a verdict says: `yes`, `no it isn't`, `the answer is no`."""
    if len(tokens) == 1:
        (token,) = tokens
        for name in ("no", "yes"):
            if name in token.lists:
                return "false" if name == "no" else "true"
    ends = [at for at in _replies(tokens) if at in (0, len(tokens) - 1)]
    replies = {name for at in ends for name in ("yes", "no") if name in tokens[at].lists}
    denied = any("not" in token.lists for at, token in enumerate(tokens) if at not in ends)
    if replies == {"no"}:
        return "false"
    if replies == {"yes"} and not denied:
        return "true"
    if replies:
        return "open"
    doubted = any("maybe" in token.lists for token in tokens)
    return "denial" if denied else "doubt" if doubted else "nothing"
