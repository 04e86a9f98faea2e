"""The other names and numbers of a corpus, and a text after they are put in, with where its offsets go."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ragstone.dataset.fictional.invented import invent, script_of
from ragstone.dataset.fictional.names import LEFT_ALONE, WORD, Found, find_names
from ragstone.dataset.fictional.quantities import Edit, Quantities, cover, draw_quantities, number_edits

CASED = frozenset({"LATIN", "CYRILLIC", "GREEK"})
UNSPACED = frozenset({"CJK", "KATAKANA", "THAI"})
SHORTEST_STEM = 4  # letters that forms of a name share: "Norman" and "Normandy", "Варшава" and "Варшаве"
LONGEST_ENDING = 5
ENDINGS = {4: 2, 5: 4}  # of stems so short: "Harvard" and "Harvey" are no forms of one name
SHORTEST_SHOUTED = 4  # "WARSAW" is Warsaw; "IT" is not It

_PARTS = re.compile(r"[\s·・‧=＝\u200c-]+")


class Swaps(NamedTuple):
    """What replaces what. words: also in capitals and small letters; phrases by their first word.

    strings: names in scripts without capitals, and the pattern that finds them.
    """

    words: Mapping[str, str]
    phrases: Mapping[str, Sequence[tuple[str, str]]]
    strings: Mapping[str, str]
    pattern: re.Pattern[str] | None
    quantities: Quantities


class Changed(NamedTuple):
    """A text after its edits, which are in order and apart."""

    text: str
    edits: list[Edit]

    def moved(self, start: int, end: int) -> tuple[int, int]:
        """Return where a span of the old text is in the new one; a word that it cuts is taken whole."""
        first, last = start, end
        for edit in self.edits:
            grown = len(edit.new) - (edit.end - edit.start)
            if edit.end <= start:
                first += grown
            elif edit.start < start:
                first += edit.start - start
            if edit.end <= end:
                last += grown
            elif edit.start < end:
                last += edit.end - end + grown
        return first, last


def draw_swaps(
    texts: Sequence[tuple[str, str | None]],
    asked: Sequence[tuple[str, str | None]],
    names: Sequence[str],
    seed: int,
) -> Swaps:
    """Return other names and numbers for those of texts and questions (each with its language), by the seed.

    names: more names than capitals show. A name gets the same other one in any corpus of that seed, unless
    the other is a word of this one.
    """
    given = [name for name in names if script_of(name) not in CASED]
    found = find_names(texts, asked, [name for name in names if script_of(name) in CASED])
    taken = {word.casefold() for text, _ in (*texts, *asked) for word in WORD.findall(text)}
    words = _other_words(found, seed, taken)
    phrases: dict[str, list[tuple[str, str]]] = {}
    for phrase in found.phrases:
        # The last word says what it is: "Super Bowl", "Summer Theatre".
        *first, last = phrase.split(" ")
        others = [_invented(f"{word} {phrase}", word, seed, taken) for word in first]
        new = " ".join([*others, last if first else _invented(last, last, seed, taken)])
        phrases.setdefault(phrase.split(" ")[0], []).append((phrase, new))
    for listed in phrases.values():
        listed.sort(key=lambda pair: (-len(pair[0]), pair))
    parts = sorted({part for name in given for part in _PARTS.split(name) if len(part) > 1})
    strings = {part: _invented(part, part, seed, taken) for part in parts}
    return Swaps(
        words, phrases, strings, _any_of(parts), draw_quantities((text for text, _ in (*texts, *asked)), seed)
    )


def change(text: str, swaps: Swaps) -> Changed:
    """Return a text with other names and numbers, but for code, addresses and paths."""
    left = cover(text, (found.span() for found in LEFT_ALONE.finditer(text)))
    edits = [*number_edits(text, swaps.quantities)]
    edits += [edit for edit in _name_edits(text, swaps) if not any(left[edit.start : edit.end])]
    edits.sort()
    pieces, end = [], 0
    kept = []
    for edit in edits:
        if edit.start >= end:
            pieces += [text[end : edit.start], edit.new]
            end = edit.end
            kept.append(edit)
    return Changed("".join([*pieces, text[end:]]), kept)


def _name_edits(text: str, swaps: Swaps) -> Iterator[Edit]:
    end = 0
    for found in WORD.finditer(text):
        if found.start() < end:
            continue
        old, new = next(
            (pair for pair in swaps.phrases.get(found[0], ()) if _stands_at(text, found.start(), pair[0])),
            (found[0], swaps.words.get(found[0])),
        )
        if new is not None:
            end = found.start() + len(old)
            yield Edit(found.start(), end, new)
    if swaps.pattern is not None:
        for found in swaps.pattern.finditer(text):
            yield Edit(*found.span(), swaps.strings[found[0]])


def _stands_at(text: str, start: int, phrase: str) -> bool:
    end = start + len(phrase)
    return text.startswith(phrase, start) and not text[end : end + 1].isalnum()


def _other_words(found: Found, seed: int, taken: set[str]) -> dict[str, str]:
    """Return other words, those of one stem with one other stem: Norman, Normans, Normandy.

    They are there in capitals too, and in small letters where the texts never have them so.
    """
    others: dict[str, str] = {}
    for stem, members in _stems(found.words):
        endings = [member[len(stem) :] for member in members]
        new = _invented(stem, stem, seed, taken, endings)
        others |= {member: new + ending for member, ending in zip(members, endings, strict=True)}
    shouted = {old.upper(): new.upper() for old, new in others.items() if len(old) >= SHORTEST_SHOUTED}
    small = {old.lower(): new.lower() for old, new in others.items() if old.lower() not in found.small}
    return small | shouted | others


def _stems(words: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield what sorted words share at their beginning, with those that share it; each word once.

    What is too long for a stem (Normannorum beside Norman) is sorted among its like afterwards.
    """
    stem, members, longer = "", list[str](), list[str]()
    for word in words:
        shared = _shared(stem, word)
        if members and _is_stem(shared, [*members, word]):
            stem = shared
            members.append(word)
        elif members and shared == stem and len(stem) >= SHORTEST_STEM:
            longer.append(word)
        else:
            yield from [(stem, members)] if members else []
            yield from _stems(longer)
            stem, members, longer = word, [word], []
    if members:
        yield stem, members
        yield from _stems(longer)


def _is_stem(shared: str, words: Sequence[str]) -> bool:
    ending = max(map(len, words)) - len(shared)
    return len(shared) >= SHORTEST_STEM and ending <= ENDINGS.get(len(shared), LONGEST_ENDING)


def _shared(one: str, other: str) -> str:
    """Return the beginning that two words share."""
    n_same = next((n for n, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), None)
    return one[: min(len(one), len(other)) if n_same is None else n_same]


def _invented(key: str, word: str, seed: int, taken: set[str], endings: Iterable[str] = ("",)) -> str:
    """Return an invented word whose forms are no words of the texts and of no other name, and take them."""
    forms = list(endings)

    def is_free(new: str) -> bool:
        return not any(f"{new}{ending}".casefold() in taken for ending in [*forms, ""])

    new = invent(word, f"{seed} {key}", is_free)
    taken.update(f"{new}{ending}".casefold() for ending in [*forms, ""])
    return new


def _any_of(parts: Sequence[str]) -> re.Pattern[str] | None:
    """Return the pattern of these strings, longest first, whole words where their script has spaces."""
    if not parts:
        return None
    listed = [
        re.escape(part) if script_of(part) in UNSPACED else rf"(?<!\w){re.escape(part)}(?![\w\u0900-\u0d7f])"
        for part in sorted(parts, key=lambda part: (-len(part), part))
    ]
    return re.compile("|".join(listed))
