"""A question -> its words as they count for telling whether two questions are the same."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

import msgspec

from ragstone.config import read_library
from ragstone.corpus.tokens import tokenize

# What tokenize leaves out and yet tells questions apart: "C++" and "C#", "|>" and "~H", "€" and "$".
_SYMBOLS = re.compile(
    r"(?<![-+#%$€£¥₹°=<>*/\\^~|&@])[-+#%$€£¥₹°=<>*/\\^~|&@]*[+#%$€£¥₹°=<>*\\^~|&@]|(?<!\S)[-−](?=\d)"
)
_NOT = re.compile(r"(?<=\w)n['’]t\b", re.IGNORECASE)
_IRREGULAR = re.compile(r"\b(?:ca|wo|sha)n['’]t\b|\bcannot\b", re.IGNORECASE)
_IRREGULAR_NOT = {"can't": "can not", "won't": "will not", "shan't": "shall not", "cannot": "can not"}
_HAS_LETTER = re.compile(r"[^\W\d_]")

PLURAL_IN_S = frozenset({"en", "es", "fr", "pt"})
SHORTEST_PLURAL = 4


class Words(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What library/function_words.toml says of a language."""

    drop: str = ""
    same: list[str] = []
    bound: str = ""
    polite: list[str] = []


class Rules(NamedTuple):
    """The same, ready for use; all words folded as `tokenize` folds them."""

    drop: frozenset[str]
    same: Mapping[str, str]
    bound: frozenset[str]
    polite: re.Pattern[str] | None


class Token(NamedTuple):
    """A word in folded form, and whether capitals in mid-sentence mark it as a name."""

    text: str
    is_name: bool


def exact_form(text: str) -> str:
    """Return the words and symbols of a text in one case with single spaces; the text where it has none."""
    return " ".join(token.text for token in tokens_of(text)) or text.strip()


def tokens_of(text: str) -> list[Token]:
    """Return the words and symbols of a text in reading order.

    Capitals say nothing where most words begin with one (a title), and nothing of the first word.
    """
    text = unicodedata.normalize("NFKC", text)
    text = _NOT.sub(" not", _IRREGULAR.sub(_expanded, text))
    pieces = text.split()
    capitals = [piece.lstrip("\"'“‘«(¿¡[")[:1].isupper() for piece in pieces]
    telling = sum(capitals) * 2 <= len(pieces) + 1
    found = []
    for place, piece in enumerate(pieces):
        shouted = len(piece.strip(".,;:?!")) > 1 and piece.isupper()
        is_name = telling and bool(capitals[place] and (place or shouted))
        if piece == "I":  # who asks, or the first of a name
            is_name = is_name and capitals[place - 1] and place > 1
        found += [Token(word, is_name) for word in tokenize(piece)]
        found += [Token(symbol, False) for symbol in _SYMBOLS.findall(piece)]
    return found


def content_of(text: str) -> list[str]:
    """Return the words of a text that make the question what it is, in reading order.

    Without politeness and function words of its language, spellings of one word (`which`, `what`) as one,
    plurals of small letters as singulars, and a word that turns another (`not`, `from`) joined to it. All
    words where nothing else is left. Names and numbers stay as they are.
    """
    rules, language = _rules_for(text)
    if rules is None:
        return [token.text for token in tokens_of(text)]
    plain = rules.polite.sub(" ", text) if rules.polite else text
    found, held = [], ""
    for token in tokens_of(plain):
        if token.is_name:
            word = token.text
        elif token.text in rules.bound:
            held += f"{token.text}>"
            continue
        elif token.text in rules.drop:
            continue
        else:
            word = rules.same.get(token.text) or _singular(token.text, language)
        found.append(held + word)
        held = ""
    if held:
        found.append(held)
    return found or [token.text for token in tokens_of(text)]


@cache
def function_words() -> frozenset[str]:
    """Return the function words of all languages of library/function_words.toml, folded."""
    return frozenset(_languages())


def _expanded(found: re.Match[str]) -> str:
    return _IRREGULAR_NOT[found[0].casefold().replace("’", "'")]


def _singular(word: str, language: str) -> str:
    """Return a word without the s of a plural, where its language makes plurals so."""
    if language not in PLURAL_IN_S or len(word) < SHORTEST_PLURAL or not word.endswith("s"):
        return word
    if language == "en":
        if word.endswith(("ss", "us", "is")):
            return word
        if word.endswith("ies") and len(word) > SHORTEST_PLURAL:
            return word[:-3] + "y"
        if word.endswith(("ches", "shes", "xes", "sses", "zes")):
            return word[:-2]
    return word[:-1]


def _rules_for(text: str) -> tuple[Rules | None, str]:
    """Return the rules of the language whose function words are most frequent in a text, and its code.

    Not the declared language, which half of all files lack: the same text always gets the same rules.
    """
    votes: dict[str, int] = {}
    languages = _languages()
    for word in {token.text for token in tokens_of(text)}:
        for code in languages.get(word, ()):
            votes[code] = votes.get(code, 0) + 1
    if not votes:
        return None, ""
    best = max(_rules(), key=lambda code: votes.get(code, 0))  # the first of the file, of equals
    return _rules()[best], best


@cache
def _languages() -> dict[str, list[str]]:
    """Return for each function word the languages that have it, the first ones of the file first."""
    found: dict[str, list[str]] = {}
    for code, words in _library().items():
        listed = f"{words.drop} {words.bound} {' '.join(words.same)} {' '.join(words.polite)}"
        for word in dict.fromkeys(tokenize(listed)):
            found.setdefault(word, []).append(code)
    return found


@cache
def _rules() -> dict[str, Rules]:
    return {code: _compiled(words) for code, words in _library().items()}


def _compiled(words: Words) -> Rules:
    same: dict[str, str] = {}
    for line in words.same:
        first, *others = tokenize(line)
        same |= {first: first} | dict.fromkeys(others, first)
    drop = frozenset(tokenize(words.drop)).difference(same)
    return Rules(drop, same, frozenset(tokenize(words.bound)), _any_of(words.polite))


def _any_of(phrases: Sequence[str]) -> re.Pattern[str] | None:
    """Return the pattern of any of these phrases, longest first, whole words where words have spaces."""
    if not phrases:
        return None
    listed = "|".join(re.escape(phrase).replace("'", "['’]") for phrase in sorted(phrases, key=len)[::-1])
    edges = (
        (r"(?<!\w)", r"(?!\w)") if _HAS_LETTER.search(phrases[0]) and " " in "".join(phrases) else ("", "")
    )
    return re.compile(f"{edges[0]}(?:{listed}){edges[1]}", re.IGNORECASE)


@cache
def _library() -> dict[str, Words]:
    return msgspec.convert(read_library("ragstone.dataset", "function_words.toml"), dict[str, Words])
