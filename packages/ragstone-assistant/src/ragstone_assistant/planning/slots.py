"""What a conversation holds, read by words: a place, the slots of the domain, tags, and courtesies."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Literal

from ragstone.kernel.corpus.tags import Tag, match_tags
from ragstone.kernel.corpus.tokens import tokenize
from ragstone_assistant._domain import PLACE, Domain
from ragstone_assistant.conversation import Asked
from ragstone_assistant.guards import said
from ragstone_assistant.languages import SPOKEN, language, language_of, phrase


def courtesy_in(text: str, lang: str, domain: Domain) -> tuple[Literal["greeting", "thanks"], str] | None:
    """Return whether a turn is a greeting or thanks and nothing else, and the language of its words.

    lang: looked at first; a greeting is often the only word, too short to tell its language by.
    """
    plain = said(text)
    if len(plain) > 120:
        return None
    for each in dict.fromkeys((lang, *SPOKEN)):
        if each not in SPOKEN:
            continue
        greeting, thanks, polite = (domain.pattern(each, name) for name in ("greeting", "thanks", "polite"))
        thanked = thanks.search(plain)
        if not thanked and not greeting.search(plain):
            continue
        left = polite.sub(" ", _spaced(_gone(_gone(plain, greeting), thanks)))
        if not _gone(left, polite).strip():
            return ("thanks" if thanked else "greeting"), each
    return None


def _gone(text: str, pattern: re.Pattern[str]) -> str:
    """Return the words without those of a list; its longest phrases first."""
    while (shorter := _spaced(pattern.sub(" ", text))) != text:
        text = shorter
    return text


def _spaced(text: str) -> str:
    return f" {' '.join(text.split())} "


SHORT = 4  # words of a reply that is taken as a whole for what was asked for
MOST_NAME = 3  # words of a place's name
REMEMBERED = 4096  # turns whose tags are kept
_PUNCTUATION = " \t\n.,;:!?¿¡()[]\"'«»“”‘’؟،؛।…"

Know = Callable[[Asked], dict[str, str]]


def know_by_words(tags: Sequence[Tag], domain: Domain) -> Know:
    """Return the function that reads a conversation by the tags of a file and by the words of the domain.

    What a later turn says stands for what an earlier one said; what the user has chosen as a filter, for
    both. A short reply to one of the assistant's own questions is what it asked for.
    """

    @lru_cache(maxsize=REMEMBERED)
    def named(text: str) -> tuple[tuple[str, str], ...]:
        matching = match_tags(text, tags)
        found = {tag.key: tag.specific(matching.get(tag.key, ())) for tag in tags}
        return tuple((key, ", ".join(values)) for key, values in found.items() if values)

    @lru_cache(maxsize=REMEMBERED)
    def told(text: str, lang: str, wanted: str | None) -> tuple[tuple[str, str], ...]:
        return tuple(_said_in(text, lang, wanted, dict(named(text)), domain).items())

    # What the assistant asks by itself -> the slot that it asks for.
    wanted_by = {domain.ask(slot, lang): slot for lang in SPOKEN for slot in domain.askable}
    if PLACE in domain.slots:
        wanted_by |= {phrase("which_place", lang): PLACE for lang in SPOKEN}

    def know(conversation: Asked) -> dict[str, str]:
        known: dict[str, str] = {}
        before, wanted, listed = None, None, ""
        for turn in conversation.turns:
            if turn.role == "assistant":
                lines = turn.content.strip().split("\n")
                wanted, listed = wanted_by.get(lines[-1]), turn.content
                continue
            before = turn_language(turn.content, None, before)
            known |= dict(told(turn.content, before, wanted)) | dict(named(turn.content))
            if wanted == PLACE and (chosen := _chosen(turn.content, listed)):
                known["place"] = chosen
            wanted = None
        if "region" in known:
            known.setdefault("place", known["region"].split(", ")[0])
        return known | {key: value for key, value in conversation.filters.items() if value}

    return know


turn_language = lru_cache(maxsize=REMEMBERED)(language_of)
"""As language_of: a turn's language is asked for at each turn that follows."""


def _chosen(text: str, listed: str) -> str | None:
    """Return the place of a list that a reply names by words of its own; None for none or several."""
    tokens = set(tokenize(text))
    places = [line.removeprefix("- ") for line in listed.splitlines() if line.startswith("- ")]
    own = [set(tokenize(candidate)) for candidate in places]
    shared = set.intersection(*own) if own else set()
    fitting = [candidate for candidate, names in zip(places, own, strict=True) if tokens & (names - shared)]
    return fitting[0] if len(fitting) == 1 else None


def _said_in(
    text: str, lang: str, wanted: str | None, tagged: Mapping[str, str], domain: Domain
) -> dict[str, str]:
    """Return what one turn says. wanted: what the assistant had asked for just before it."""
    values: dict[str, str] = {}
    parts = text.strip(_PUNCTUATION).split()
    folded = [" ".join(tokenize(word)) for word in text.split()]
    prepositions = domain.words(lang, "before") + domain.words(lang, "after")
    bare = wanted == PLACE and len(parts) <= SHORT and not _behind(folded, prepositions)
    place_name = (
        None if bare else place_in(text, lang, domain, domain.names_in(tagged), eager=wanted == PLACE)
    )
    if place_name:
        values[PLACE] = place_name
    for name, slot in domain.slots.items():
        if slot.words and (heard := domain.speaks_of(text, lang, slot.words)):
            values[name] = text.strip() if slot.keeps == "turn" else heard
    if wanted is not None and parts and wanted not in values:
        whole = domain.slots[wanted].keeps == "turn"
        if whole or (len(parts) <= SHORT and wanted not in tagged):
            values[wanted] = text.strip(_PUNCTUATION)
    return values


def place_in(text: str, lang: str, domain: Domain, names: str = "", *, eager: bool = False) -> str | None:
    """Return the name of a place in a text: what stands behind "in" or "near", or in front of "में".

    In Latin letters it begins with a capital; eager: it need not, for people who are asked for a place
    write "in nakuru" too. A month, one of these other names and frequent words are none.
    """
    parts = [word.strip(_PUNCTUATION) + ("," if word.endswith((",", "،")) else "") for word in text.split()]
    folded = [" ".join(tokenize(word)) for word in parts]
    no_place = _no_places(lang, domain) | set(tokenize(names))
    for at, length in _behind(folded, domain.words(lang, "before")):
        name = _name(parts, folded, at + length, no_place, cased=lang not in ("hi", "ar") and not eager)
        if name:
            return name
    if eager and lang not in ("hi", "ar"):  # "Hali ya hewa Dodoma": a name without a word before it
        for at in range(1, len(parts)):
            name = _name(parts, folded, at, no_place, cased=True)
            if name:
                return name
    for at, _length in _behind(folded, domain.words(lang, "after")):
        if at and folded[at - 1] and folded[at - 1] not in no_place and not folded[at - 1].isdigit():
            return parts[at - 1].rstrip(",")
    return None


def _behind(folded: Sequence[str], phrases: Sequence[str]) -> list[tuple[int, int]]:
    """Return where phrases begin among the words, and how many words they have; longer ones first."""
    spans: list[tuple[int, int]] = []
    for written in sorted(phrases, key=len, reverse=True):
        parts = [" ".join(tokenize(part)) for part in written.split()]
        starts = range(len(folded) - len(parts) + 1)
        spans += [(at, len(parts)) for at in starts if list(folded[at : at + len(parts)]) == parts]
    return spans


def _name(
    parts: Sequence[str], folded: Sequence[str], at: int, no_place: frozenset[str] | set[str], *, cased: bool
) -> str | None:
    """Return the name that begins at a place among the words, None where none does."""
    name: list[str] = []
    for word, plain in zip(parts[at : at + MOST_NAME], folded[at : at + MOST_NAME], strict=True):
        capital = word[:1].isupper()
        if not plain or plain in no_place or plain.isdigit() or (not capital and (cased or name)):
            break
        name.append(word)
    return " ".join(name).rstrip(",") or None  # "Paris, Texas" stays two names


@cache
def _no_places(lang: str, domain: Domain) -> frozenset[str]:
    own = language(lang if lang in SPOKEN else "en").words
    listed = domain.words(lang, "times") + domain.words(lang, "things")
    return frozenset(tokenize(f"{own} {' '.join(listed)}"))
