"""What a conversation holds, read by words: crop, place, season, symptom, other tags, and courtesies."""

import re
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import Literal

import msgspec

from ragstone.assistant.conversation import Asked
from ragstone.assistant.guards import any_of, said
from ragstone.assistant.languages import LANGUAGES, language, language_of, phrase
from ragstone.config import read_library
from ragstone.config.section import Section
from ragstone.corpus.tags import Tag, match_tags
from ragstone.corpus.tokens import tokenize


class Lexicon(Section, frozen=True, kw_only=True):
    """The words of a language, each list separated by `|`; words.toml says what they are for."""

    greeting: str
    thanks: str
    polite: str
    pointing: str
    plants: str
    sick: str
    symptoms: str
    today: str
    tomorrow: str
    before: str
    after: str
    times: str
    things: str


Topic = Literal["pointing", "plants", "sick", "symptoms", "today", "tomorrow", "times"]


@cache
def _lexicons() -> dict[str, Lexicon]:
    return msgspec.convert(read_library("ragstone.assistant", "words.toml"), dict[str, Lexicon])


def words_of(lang: str, topic: str) -> list[str]:
    """Return the words of a list, in English for a language that has none."""
    lexicon = _lexicons()[lang if lang in LANGUAGES else "en"]
    return [word for word in getattr(lexicon, topic).split("|") if word]


@cache
def _pattern(lang: str, topic: str) -> re.Pattern[str]:
    return any_of(words_of(lang, topic))


def speaks_of(text: str, lang: str, topic: Topic) -> str | None:
    """Return the first of these words that a text holds, None where there is none."""
    found = _pattern(lang, topic).search(said(text))
    return found[0].strip() if found else None


def courtesy_in(text: str, lang: str) -> tuple[Literal["greeting", "thanks"], str] | None:
    """Return whether a turn is a greeting or thanks and nothing else, and the language of its words.

    lang: looked at first; a greeting is often the only word, too short to tell its language by.
    """
    words = said(text)
    if len(words) > 120 or not _any_courtesy().search(words):
        return None
    for each in dict.fromkeys((lang, *LANGUAGES)):
        if each not in LANGUAGES:
            continue
        left = _pattern(each, "polite").sub(
            " ", _spaced(_gone(_gone(words, each, "greeting"), each, "thanks"))
        )
        if not _gone(left, each, "polite").strip() and _names(words, each):
            return ("thanks" if _pattern(each, "thanks").search(words) else "greeting"), each
    return None


@cache
def _any_courtesy() -> re.Pattern[str]:
    return any_of(
        word for lang in LANGUAGES for topic in ("greeting", "thanks") for word in words_of(lang, topic)
    )


def _names(words: str, lang: str) -> bool:
    return any(_pattern(lang, topic).search(words) for topic in ("greeting", "thanks"))


def _gone(words: str, lang: str, topic: str) -> str:
    """Return the words without those of a list; its longest phrases first."""
    while (shorter := _spaced(_pattern(lang, topic).sub(" ", words))) != words:
        words = shorter
    return words


def _spaced(words: str) -> str:
    return f" {' '.join(words.split())} "


ASKABLE = ("crop", "place", "season", "symptom")
"""What the assistant has a phrase of its own to ask for."""

SHORT = 4  # words of a reply that is taken as a whole for what was asked for
MOST_NAME = 3  # words of a place's name
REMEMBERED = 4096  # turns whose tags are kept
_PUNCTUATION = " \t\n.,;:!?¿¡()[]\"'«»“”‘’؟،؛।…"

Know = Callable[[Asked], dict[str, str]]


def know_by_words(tags: Sequence[Tag]) -> Know:
    """Return the function that reads a conversation by the tags of a file and by the words of words.toml.

    What a later turn says stands for what an earlier one said; what the user has chosen as a filter, for
    both. A short reply to one of the assistant's own questions is what it asked for.
    """

    @lru_cache(maxsize=REMEMBERED)
    def named(text: str) -> tuple[tuple[str, str], ...]:
        found = match_tags(text, tags)
        return tuple((key, ", ".join(values)) for key, values in found.items() if values)

    def know(asked: Asked) -> dict[str, str]:
        known: dict[str, str] = {}
        before, wanted, listed = None, None, ""
        for turn in asked.turns:
            if turn.role == "assistant":
                lines = turn.text.strip().split("\n")
                wanted, listed = _own_questions().get(lines[-1]), turn.text
                continue
            before = turn_language(turn.text, None, before)
            tagged = named(turn.text)
            known |= dict(_said_in(turn.text, before, wanted, tagged)) | dict(tagged)
            if wanted == "place" and (chosen := _chosen(turn.text, listed)):
                known["place"] = chosen
            wanted = None
        if "region" in known:
            known.setdefault("place", known["region"].split(", ")[0])
        return known | {key: value for key, value in asked.filters.items() if value}

    return know


turn_language = lru_cache(maxsize=REMEMBERED)(language_of)
"""As language_of: a turn's language is asked for at each turn that follows."""


def _chosen(text: str, listed: str) -> str | None:
    """Return the place of a list that a reply names by words of its own; None for none or several."""
    words = set(tokenize(text))
    places = [line.removeprefix("- ") for line in listed.splitlines() if line.startswith("- ")]
    own = [set(tokenize(place)) for place in places]
    shared = set.intersection(*own) if own else set()
    fitting = [place for place, names in zip(places, own, strict=True) if words & (names - shared)]
    return fitting[0] if len(fitting) == 1 else None


@lru_cache(maxsize=REMEMBERED)
def _said_in(
    text: str, lang: str, wanted: str | None, tags: tuple[tuple[str, str], ...]
) -> tuple[tuple[str, str], ...]:
    """Return what one turn says. wanted: what the assistant had asked for just before it."""
    found: dict[str, str] = {}
    tagged = dict(tags)
    taken = tagged.get("crop", "")
    words = text.strip(_PUNCTUATION).split()
    bare = wanted == "place" and len(words) <= SHORT and not _has_preposition(text, lang)
    place = None if bare else place_in(text, lang, taken, eager=wanted == "place")
    if place:
        found["place"] = place
    if speaks_of(text, lang, "symptoms"):
        found["symptom"] = text.strip()
    season = speaks_of(text, lang, "times")
    if season:
        found["season"] = season
    told = wanted is not None and words and wanted not in found
    if told and (wanted == "symptom" or (len(words) <= SHORT and wanted not in tagged)):
        found[str(wanted)] = text.strip(_PUNCTUATION)
    return tuple(found.items())


@cache
def _own_questions() -> dict[str, str]:
    own = {phrase(f"ask_{slot}", lang): slot for lang in LANGUAGES for slot in ASKABLE}
    return own | {phrase("which_place", lang): "place" for lang in LANGUAGES}


def place_in(text: str, lang: str, crop: str = "", *, eager: bool = False) -> str | None:
    """Return the name of a place in a text: what stands behind "in" or "near", or in front of "में".

    In Latin letters it begins with a capital; eager: it need not, for where the weather is asked for, people
    write "in nakuru" too. A month, a crop, a soil and other frequent words are none.
    """
    words = [word.strip(_PUNCTUATION) + ("," if word.endswith((",", "،")) else "") for word in text.split()]
    folded = [" ".join(tokenize(word)) for word in words]
    no_place = _no_places(lang) | set(tokenize(crop))
    for at, length in _behind(folded, words_of(lang, "before")):
        name = _name(words, folded, at + length, no_place, cased=lang not in ("hi", "ar") and not eager)
        if name:
            return name
    if eager and lang not in ("hi", "ar"):  # "Hali ya hewa Dodoma": a name without a word before it
        for at in range(1, len(words)):
            name = _name(words, folded, at, no_place, cased=True)
            if name:
                return name
    for at, _length in _behind(folded, words_of(lang, "after")):
        if at and folded[at - 1] and folded[at - 1] not in no_place and not folded[at - 1].isdigit():
            return words[at - 1].rstrip(",")
    return None


def _has_preposition(text: str, lang: str) -> bool:
    folded = [" ".join(tokenize(word)) for word in text.split()]
    return bool(_behind(folded, words_of(lang, "before") + words_of(lang, "after")))


def _behind(folded: Sequence[str], phrases: Sequence[str]) -> list[tuple[int, int]]:
    """Return where phrases begin among the words, and how many words they have; longer ones first."""
    found: list[tuple[int, int]] = []
    for written in sorted(phrases, key=len, reverse=True):
        parts = [" ".join(tokenize(part)) for part in written.split()]
        starts = range(len(folded) - len(parts) + 1)
        found += [(at, len(parts)) for at in starts if list(folded[at : at + len(parts)]) == parts]
    return found


def _name(
    words: Sequence[str], folded: Sequence[str], at: int, no_place: frozenset[str] | set[str], *, cased: bool
) -> str | None:
    """Return the name that begins at a place among the words, None where none does."""
    name: list[str] = []
    for word, plain in zip(words[at : at + MOST_NAME], folded[at : at + MOST_NAME], strict=True):
        capital = word[:1].isupper()
        if not plain or plain in no_place or plain.isdigit() or (not capital and (cased or name)):
            break
        name.append(word)
    return " ".join(name).rstrip(",") or None  # "Paris, Texas" stays two names


@cache
def _no_places(lang: str) -> frozenset[str]:
    own = language(lang if lang in LANGUAGES else "en").words
    listed = words_of(lang, "times") + words_of(lang, "things") + words_of(lang, "plants")
    return frozenset(tokenize(f"{own} {' '.join(listed)}"))
