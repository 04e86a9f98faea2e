"""A quote and its translation -> what the translation says otherwise, as far as that can be checked by rules.

A wrong dose is worse than none: in doubt the two differ.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Literal, NamedTuple

from ragstone.kernel.config import read_library
from ragstone.kernel.corpus.numbers import NUMBER, stated_values
from ragstone.kernel.corpus.tokens import tokenize, without_article
from ragstone.kernel.translation.checks import find_fault
from ragstone_assistant.guards import any_of

Difference = Literal["words", "numbers", "units", "dates", "names", "negations", "unchecked"]
"""What is not that of the quote. words: it is not, or only in part, in the language that was asked for, or of
an odd length. unchecked: there are no words of one of the two languages to check by."""

_SIGNS = {"%": " percentsign ", "٪": " percentsign ", "/": " slashsign "}
_DEGREES = {"c": " celsiussign ", "f": " fahrenheitsign "}
_DEGREE = re.compile(r"[°º]\s?([CF])\b|([℃℉])")
_NUMBERED_MONTHS = {
    "zh": re.compile(r"(?<!个)(\d{1,2})\s*月"),
    "vi": re.compile(r"\btháng\s+(\d{1,2})\b", re.IGNORECASE),
}
# In English May and March are months only with a capital; where one begins a sentence, what follows shows it.
_VERBS = re.compile(r"(?:^|[.!?:]\s+)(?:May|March)\b(?!\s*(?:\d|to\b|and\b|through\b|or\b|,|-|–))")
_LATIN_WORD = re.compile(r"(?<![0-9A-Za-zÀ-ɏ])[A-Za-zÀ-ɏ][0-9A-Za-zÀ-ɏ]*")
_CAPITALISED = re.compile(r"(?<![^\W_])[^\W\d_][\w'’-]+")
_SENTENCE_ENDS = '.!?:;…•*"“”«»([–—-'
_NOUNS_ARE_CAPITALISED = ("de", "lb")
_HEADING = 0.6  # share of capitalised words from which the words before a colon are a heading
_LATIN = ("en", "es", "fr", "pt", "it", "de", "nl", "tr", "id", "vi", "sw")
_BEGINNING = 3  # letters by which a name is recognised in another language: Kenya, Kenia


class StatedFacts(NamedTuple):
    """What a text says that a translation must say too, in its order but the units.

    numbers: the values that each may have, those of 1 left out; n_ones: how many are 1; has_one: whether a
    word may stand for a 1. months: 1 to 12.
    """

    numbers: list[frozenset[float]]
    n_ones: int
    has_one: bool
    units: Counter[str]
    months: list[int]
    n_negations: int


def find_difference(
    text: str,
    translated: str,
    source: str,
    target: str,
) -> Difference | None:
    """Return what a translation says otherwise than the text, None where no difference is seen.

    Numbers and months must be the same in the same order, units and negations as many of each. Names in
    capitals or with digits, and other words with a capital within a sentence, must be there; in another
    script in their own letters.
    """
    if source not in _tables() or target not in _tables():
        return "unchecked"
    if find_fault(text, translated, target) is not None:
        return "words"
    one, other = _facts(text, source), _facts(translated, target)
    ones_differ = (one.n_ones > other.n_ones and not other.has_one) or (
        other.n_ones > one.n_ones and not one.has_one
    )
    if ones_differ or len(one.numbers) != len(other.numbers):
        return "numbers"
    if not all(first & second for first, second in zip(one.numbers, other.numbers, strict=True)):
        return "numbers"
    if one.units != other.units:
        return "units"
    if one.months != other.months:
        return "dates"
    if one.n_negations != other.n_negations:
        return "negations"
    return None if _keeps_names(text, translated, source, target) else "names"


def _facts(text: str, lang: str) -> StatedFacts:
    marked, months_in_order = _with_months(text, lang)
    marked = _DEGREE.sub(
        lambda sign: _DEGREES[unicodedata.normalize("NFKC", sign[1] or sign[2])[-1].lower()], marked
    )
    for sign, word in _SIGNS.items():
        marked = marked.replace(sign, word)
    values: list[frozenset[float]] = []

    def placed(number: re.Match[str]) -> str:
        values.extend(stated_values(number[0]))
        return f" qnum{len(values) - 1}q "

    tokens = tokenize(NUMBER.sub(placed, marked))
    if lang == "ar":
        tokens = [without_article(token) for token in tokens]
    plain = f" {' '.join(tokens)} "
    patterns = _patterns(lang)
    numbers = [
        values[int(found["digits"])] if found["digits"] else frozenset({patterns.spelled[found[0].strip()]})
        for found in patterns.numbers.finditer(plain)
    ]
    return StatedFacts(
        numbers=[each for each in numbers if 1.0 not in each],
        n_ones=sum(1.0 in each for each in numbers),
        has_one=patterns.one.search(plain) is not None,
        units=_units(plain),
        months=months_in_order(plain),
        n_negations=len(patterns.negations.findall(plain)),
    )


class _Patterns(NamedTuple):
    """The words of a language, as patterns for `tokens between single spaces`."""

    numbers: re.Pattern[str]
    spelled: Mapping[str, float]
    one: re.Pattern[str]
    months: Mapping[str, re.Pattern[str]]
    negations: re.Pattern[str]


@cache
def _tables() -> dict[str, dict[str, object]]:
    """Return what the file has of each language."""
    tables = read_library("ragstone_assistant", "translations.toml")
    return {name: table for name, table in tables.items() if "numbers" in table}


@cache
def _patterns(lang: str) -> _Patterns:
    table = read_library("ragstone_assistant", "translations.toml")[lang]
    named = [*enumerate(table["numbers"].split(), 2)]
    named += [(10 * n, names) for n, names in enumerate(table["tens"].split(), 2)]
    spelled = {
        " ".join(tokenize(name.replace("_", " "))): float(value)
        for value, names in named
        for name in names.split("=")
    }
    words = "|".join(re.escape(name) for name in sorted(spelled, key=len, reverse=True))
    forms = "".join(f"|(?:{form}) " for form in table.get("no_forms", []))
    return _Patterns(
        numbers=re.compile(rf"(?<= )(?:qnum(?P<digits>\d+)q{f'|(?:{words})' if words else ''})(?= )"),
        spelled=spelled,
        one=any_of(table["one"].split("|")),
        months={str(n): _counted(names.split("=")) for n, names in enumerate(table["months"].split(), 1)},
        negations=re.compile(f"(?<= )(?:{_counted(table['no'].split('|')).pattern}{forms})"),
    )


def _counted(phrases: Sequence[str]) -> re.Pattern[str]:
    """Return the pattern of `any_of` without the space before: two phrases may stand together."""
    return re.compile(f"(?<= ){any_of(phrases).pattern[1:]}")


def _with_months(text: str, lang: str) -> tuple[str, "_MonthsOf"]:
    """Return a text with months that a number names, and English ones, set apart; and what lists them."""
    if lang in _NUMBERED_MONTHS:
        text = _NUMBERED_MONTHS[lang].sub(lambda month: f" qmonth{month[1]}q ", text)
    elif lang == "en":
        text = _VERBS.sub(lambda verb: verb[0].replace("May", "might").replace("March", "walk"), text)
        text = re.sub(r"\bmay\b", "might", text)
        text = re.sub(r"\bmarch\b", "walk", text)
    return text, _MonthsOf(lang)


class _MonthsOf:
    """Lists the months of a text in their order."""

    def __init__(self, lang: str) -> None:
        self._months = _patterns(lang).months

    def __call__(self, plain: str) -> list[int]:
        """Return the months of a text between single spaces."""
        placed = [(found.start(), int(found[1])) for found in re.finditer(r" qmonth(\d+)q ", plain)]
        for n, pattern in self._months.items():
            placed += [(found.start(), int(n)) for found in pattern.finditer(plain)]
        return [month for _, month in sorted(placed)]


@cache
def _unit_patterns() -> dict[str, list[re.Pattern[str]]]:
    """Return unit -> the patterns of its words."""
    library = read_library("ragstone_assistant", "translations.toml")
    patterns: dict[str, list[re.Pattern[str]]] = {}
    for table in ("units", "symbols"):
        for unit, written in library[table].items():
            patterns.setdefault(unit, []).append(_counted(written.split("|")))
    before = "|".join(library["per"]["words"].split("|"))
    for unit, written in library["short_symbols"].items():
        patterns.setdefault(unit, []).append(
            re.compile(rf"(?<= )(?:qnum\d+q|slashsign|{before}) (?:{written}) ")
        )
    return patterns


def _units(plain: str) -> Counter[str]:
    found = {
        unit: sum(len(pattern.findall(plain)) for pattern in patterns)
        for unit, patterns in _unit_patterns().items()
    }
    return Counter({unit: n for unit, n in found.items() if n})


def _keeps_names(text: str, translated: str, source: str, target: str) -> bool:
    coded, kept = _coded_names(text), _coded_names(translated)
    present = {token.casefold() for token in _LATIN_WORD.findall(translated)}
    if not coded <= present or not kept <= {token.casefold() for token in _LATIN_WORD.findall(text)}:
        return False
    if source in _NOUNS_ARE_CAPITALISED:
        return True
    folded = {_plain(token) for token in present}
    for name in _capitalised_names(text, source):
        if target not in _LATIN and name.casefold() not in present:
            return False
        if not any(token.startswith(_plain(name)[:_BEGINNING]) for token in folded):
            return False
    return True


def _coded_names(text: str) -> set[str]:
    """Return the words with two capitals, or with letters before or between digits: NPK, CropWat, P2O5."""
    return {
        name.casefold()
        for name in _LATIN_WORD.findall(text)
        if sum(letter.isupper() for letter in name) > 1 or any(letter.isdecimal() for letter in name)
    }


def _capitalised_names(text: str, lang: str) -> list[str]:
    """Return the words with a capital within sentences; of a heading before a colon none."""
    names: list[str] = []
    for line in text.splitlines():
        heading, mark, _rest = line.partition(":")
        words = heading.split()
        n_capital = sum(word[:1].isupper() for word in words)
        start = len(heading) if mark and n_capital >= _HEADING * len(words) else 0
        for match in _CAPITALISED.finditer(line, start):
            name = match[0]
            if not name[0].isupper():
                continue
            before = line[: match.start()].rstrip()
            if not before or before[-1] in _SENTENCE_ENDS:
                continue
            if not any(
                pattern.search(f" {' '.join(tokenize(name))} ") for pattern in _patterns(lang).months.values()
            ):
                names.append(re.split(r"['’-]", name)[0])
    return names


def _plain(token: str) -> str:
    """Return a word without case and accents."""
    decomposed = unicodedata.normalize("NFKD", token.casefold())
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))
