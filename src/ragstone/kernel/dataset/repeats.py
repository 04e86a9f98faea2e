"""Questions that repeat an earlier one: in the same words, or in nearly the same."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import msgspec

from ragstone.kernel.config import read_library
from ragstone.kernel.corpus.tokens import tokenize

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


class RepeatWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What corpus/library/function_words.toml says of a language. asking: not used here."""

    drop: str = ""
    asking: str = ""
    same: list[str] = []
    bound: str = ""
    polite: list[str] = []


class Rules(NamedTuple):
    """The same, ready for use; all words folded as `tokenize` folds them."""

    drop: frozenset[str]
    same: Mapping[str, str]
    bound: frozenset[str]
    polite: re.Pattern[str] | None


class RepeatToken(NamedTuple):
    """A word in folded form, and whether capitals in mid-sentence mark it as a name."""

    text: str
    is_name: bool


def exact_form(text: str) -> str:
    """Return the words and symbols of a text in one case with single spaces; the text where it has none."""
    return " ".join(token.text for token in tokens_of(text)) or text.strip()


def tokens_of(text: str) -> list[RepeatToken]:
    """Return the words and symbols of a text in reading order.

    Capitals say nothing where most words begin with one (a title), and nothing of the first word.
    """
    text = unicodedata.normalize("NFKC", text)
    text = _NOT.sub(
        " not", _IRREGULAR.sub(lambda word: _IRREGULAR_NOT[word[0].casefold().replace("’", "'")], text)
    )
    pieces = text.split()
    capitals = [piece.lstrip("\"'“‘«(¿¡[")[:1].isupper() for piece in pieces]
    telling = sum(capitals) * 2 <= len(pieces) + 1
    tokens = []
    for at, piece in enumerate(pieces):
        shouted = len(piece.strip(".,;:?!")) > 1 and piece.isupper()
        is_name = telling and bool(capitals[at] and (at or shouted))
        if piece == "I":  # who asks, or the first of a name
            is_name = is_name and capitals[at - 1] and at > 1
        tokens += [RepeatToken(word, is_name) for word in tokenize(piece)]
        tokens += [RepeatToken(symbol, False) for symbol in _SYMBOLS.findall(piece)]
    return tokens


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
    content, held = [], ""
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
        content.append(held + word)
        held = ""
    if held:
        content.append(held)
    return content or [token.text for token in tokens_of(text)]


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
    codes: dict[str, list[str]] = {}
    for code, forms in _library().items():
        listed = f"{forms.drop} {forms.bound} {' '.join(forms.same)} {' '.join(forms.polite)}"
        for word in dict.fromkeys(tokenize(listed)):
            codes.setdefault(word, []).append(code)
    return codes


@cache
def _rules() -> dict[str, Rules]:
    return {code: _compiled(forms) for code, forms in _library().items()}


def _compiled(forms: RepeatWords) -> Rules:
    same: dict[str, str] = {}
    for line in forms.same:
        first, *others = tokenize(line)
        same |= {first: first} | dict.fromkeys(others, first)
    drop = frozenset(tokenize(forms.drop)).difference(same)
    return Rules(drop, same, frozenset(tokenize(forms.bound)), _any_of(forms.polite))


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
def _library() -> dict[str, RepeatWords]:
    return msgspec.convert(
        read_library("ragstone.kernel.corpus", "function_words.toml"), dict[str, RepeatWords]
    )


# "Did A beat B" and "did B beat A" have the same words. Of neighbours in a ring, a phrase that moved breaks
# at most three pairs, two words that changed places four; neighbours that did are moved both, and no others.
BROKEN_PAIRS = 3
LONGEST = 2000  # characters: a longer text is hardly a question, and repeats only what is the same throughout
COMPARED = 16  # orders of the same words, so that a crafted file cannot take the square of its size


class Repeat(msgspec.Struct, frozen=True):
    """A text, and the earlier one that it repeats. exact: in the same words."""

    number: int
    of: int
    exact: bool


def repeated(texts: Sequence[str]) -> list[int | None]:
    """Return for each text the number of the earlier one that it repeats, None where it repeats none.

    The earlier one repeats none itself. A repetition has the same words, in whatever case and punctuation; or
    differs by politeness, articles and other function words, plurals, and the order of phrases. Texts that
    differ by a number, a name, a negation or any other word are no repetitions. Time grows with the number of
    texts, which are of one language.
    """
    earlier: list[int | None] = [None] * len(texts)
    for repeat in find_repeats(texts):
        earlier[repeat.number] = repeat.of
    return earlier


def find_repeats(texts: Sequence[str]) -> Iterator[Repeat]:
    """Yield what `repeated` returns, with how it is repeated, in order."""
    first: dict[str, int] = {}
    orders: dict[tuple[str, ...], list[tuple[int, list[str]]]] = defaultdict(list)
    for number, text in enumerate(texts):
        form = exact_form(text) if len(text) <= LONGEST else text
        earlier = first.get(form)
        if earlier is not None:
            yield Repeat(number, earlier, exact=True)
            continue
        if len(text) > LONGEST:
            first[form] = number
            continue
        content = content_of(text)
        known = orders[tuple(sorted(content))]
        of = next((n for n, other in known[:COMPARED] if _same_order(content, other)), None)
        first[form] = number if of is None else of
        if of is None:
            known.append((number, content))
        else:
            yield Repeat(number, of, exact=False)


def _same_order(content: Sequence[str], other: Sequence[str]) -> bool:
    """Return whether the same words stand in the same order, or in one that moving a phrase can explain.

    Function words may stand anywhere: "what year was it founded" and "tell me what year it was founded".
    """
    if not content:
        return False
    moving = _languages()
    first, second = ([word for word in side if word not in moving] for side in (content, other))
    n_moved = sum(left != right for left, right in zip(first, second, strict=True))
    if n_moved == 0 or len(first) == 2:
        return True
    pairs = _neighbours(first)
    n_kept = len(pairs & _neighbours(second))
    return n_moved > 2 and n_kept >= max(len(pairs) - BROKEN_PAIRS, 1)


def _neighbours(content: Sequence[str]) -> set[tuple[str, str]]:
    return set(pairwise([*content, content[0]]))
