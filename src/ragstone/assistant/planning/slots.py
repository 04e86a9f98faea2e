"""What a conversation holds of what could be asked for: crop, place, season, symptom, and other tags."""

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from itertools import pairwise

from ragstone.assistant.conversation import Asked
from ragstone.assistant.languages import LANGUAGES, language, language_of, phrase
from ragstone.assistant.planning.lexicon import speaks_of, words_of
from ragstone.corpus.tags import Tag, match_tags
from ragstone.corpus.tokens import search_terms, tokenize

ASKABLE = ("crop", "place", "season", "symptom")
"""What the assistant has a phrase of its own to ask for."""

PREFIX_MARK = "*"  # at the end of a search term that is the beginning of a word
ENDING = 2  # letters by which an inflected word may be longer or shorter than its name
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

    beginnings = {tag.key: _beginnings(tag) for tag in tags}

    @lru_cache(maxsize=REMEMBERED)
    def named(text: str) -> tuple[tuple[str, str], ...]:
        terms = search_terms(text)
        # Without the article that Arabic writes onto a word.
        bare = " ".join(term for term in terms if not term.endswith(PREFIX_MARK))
        found = match_tags(text, tags)
        if not text.isascii():
            without = match_tags(bare, tags)
            found = {key: values or without[key] for key, values in found.items()}
        found |= {key: _inflected(terms, beginnings[key]) for key, values in found.items() if not values}
        return tuple((key, ", ".join(values)) for key, values in found.items() if values)

    def know(asked: Asked) -> dict[str, str]:
        known: dict[str, str] = {}
        before, wanted = None, None
        for turn in asked.turns:
            if turn.role == "assistant":
                wanted = _own_questions().get(turn.text.strip().split("\n")[0])
                continue
            before = turn_language(turn.text, None, before)
            tagged = dict(named(turn.text))
            known |= _said_in(turn.text, before, wanted, tagged) | tagged
            wanted = None
        if "region" in known:
            known.setdefault("place", known["region"])
        return known | {key: value for key, value in asked.filters.items() if value}

    return know


turn_language = lru_cache(maxsize=REMEMBERED)(language_of)
"""As language_of: a turn's language is asked for at each turn that follows."""


def _beginnings(tag: Tag) -> list[tuple[str, int, str]]:
    """Return the first letters of names of one word, the length of the name, and the value."""
    named = [(search_terms(name), value) for value, names in (tag.values or {}).items() for name in names]
    return [(terms[1], len(terms[0]), value) for terms, value in named if len(terms) == 2]


def _inflected(words: Sequence[str], beginnings: Sequence[tuple[str, int, str]]) -> list[str]:
    """Return the values whose names begin as these words do and are about as long: "tomates" is tomate too.

    A word that could be several values is none.
    """
    found: list[str] = []
    for word, letters in pairwise(words):
        if letters.endswith(PREFIX_MARK):
            values = {
                value
                for begins, length, value in beginnings
                if begins == letters and abs(length - len(word)) <= ENDING
            }
            found += values if len(values) == 1 else ()
    return list(dict.fromkeys(found))


def _said_in(text: str, lang: str, wanted: str | None, tagged: dict[str, str]) -> dict[str, str]:
    """Return what one turn says. wanted: what the assistant had asked for just before it."""
    found: dict[str, str] = {}
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
    return found


@cache
def _own_questions() -> dict[str, str]:
    return {phrase(f"ask_{slot}", lang): slot for lang in LANGUAGES for slot in ASKABLE}


def place_in(text: str, lang: str, crop: str = "", *, eager: bool = False) -> str | None:
    """Return the name of a place in a text: what stands behind "in" or "near", or in front of "में".

    In Latin letters it begins with a capital; eager: it need not, for where the weather is asked for, people
    write "in nakuru" too. A month, a crop, a soil and other frequent words are none.
    """
    words = [word.strip(_PUNCTUATION) for word in text.split()]
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
            return words[at - 1]
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
    return " ".join(name) or None


@cache
def _no_places(lang: str) -> frozenset[str]:
    own = language(lang if lang in LANGUAGES else "en").words
    listed = words_of(lang, "times") + words_of(lang, "things") + words_of(lang, "plants")
    return frozenset(tokenize(f"{own} {' '.join(listed)}"))
