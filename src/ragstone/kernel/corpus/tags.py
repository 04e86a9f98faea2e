"""Tags: what they may be, by a file, and which of them the words of a text name."""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import msgspec

from ragstone.kernel.config import Section, convert_section, parse_toml
from ragstone.kernel.corpus.tokens import tokenize, without_article
from ragstone.kernel.errors import ConfigError

RESERVED = {"lang", "topic", "nonce", "reason"}
"""`lang` and `topic` are tags by themselves; the others are fields of a model's reply."""

ENDING = 2  # letters of another ending
SHORTEST = 5  # letters of a name that is recognised with another ending
_GAP, _TAKEN = "\0", "\1"
_VOWELS = frozenset("aeiouyáéíóúâêîôû")


class TagsFile(Section, frozen=True, kw_only=True):
    """A file of tags: key -> "open", a list of values, or each value with its other names.

    A name that is another value itself is a kind of this one: `wheat = ["trigo", "winter wheat"]`.
    """

    tags: dict[str, Literal["open"] | list[str] | dict[str, list[str]]]


class Tag(msgspec.Struct, frozen=True):
    """A tag: its key, and its values with the names that each goes by; None where any value may be given.

    kinds: value -> other values that are kinds of it, and kinds of these; a text that names one of them
    names it too.
    """

    key: str
    values: dict[str, tuple[str, ...]] | None
    kinds: dict[str, tuple[str, ...]] = {}

    def specific(self, values: Iterable[str]) -> list[str]:
        """Return values without those of which another is a kind: who asks about winter wheat means that."""
        named = dict.fromkeys(values)
        return [value for value in named if named.keys().isdisjoint(self.kinds.get(value, ()))]


def load_tags(path: Path | str) -> list[Tag]:
    """Return the tags of a TOML file. Raises ConfigError naming the line and what to change."""
    file = Path(path).expanduser()
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ConfigError(f"{file}: no such file of tags.") from None
    except (OSError, UnicodeDecodeError) as mistake:
        raise ConfigError(f"{file}: cannot be read ({mistake}).") from None
    declared = convert_section(parse_toml(text, file), TagsFile, file, text).tags
    if not declared:
        raise ConfigError(f'{file}: [tags] is empty. Add a line like: crop = ["maize", "wheat"]')
    tags = []
    for key, values in declared.items():
        wrong = _mistake(key, values)
        if wrong:
            pattern = re.compile(rf"\s*(\[tags\.)?[\"']?{re.escape(key)}[\"']?\s*[=\]]")
            line = next((n for n, line in enumerate(text.splitlines(), 1) if pattern.match(line)), 1)
            raise ConfigError(f"{file}:{line}: {wrong}")
        named = values if isinstance(values, dict) else {value: [] for value in values}
        if values == "open":
            tags.append(Tag(key, None))
            continue
        kinds = {value: _kinds(value, named) for value in named}
        names = {
            value: (value, *(name for name in others if name not in kinds[value]))
            for value, others in named.items()
        }
        tags.append(Tag(key, names, {value: listed for value, listed in kinds.items() if listed}))
    return tags


def _kinds(value: str, names: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return the names of a value that are other values, and the names of these that are: its kinds."""
    found = [value]
    for general in found:
        found += [name for name in names[general] if name in names and name not in (general, *found[1:])]
    return tuple(found[1:])


def _mistake(key: str, values: str | list[str] | dict[str, list[str]]) -> str | None:
    """Return what is wrong with a tag, or None."""
    if not key.isidentifier():
        return f"{key!r} cannot be the key of a tag: write it with letters, digits and _."
    if key in RESERVED:
        return f"{key!r} cannot be the key of a tag, since it already has a meaning. Choose another name."
    if values == "open":
        return None
    if not values:
        return f'{key!r} has no values. List some, or write {key} = "open" for a model to choose freely.'
    if isinstance(values, list) and len(set(values)) < len(values):
        return f"{key!r} lists a value twice."
    owners: dict[str, str] = {}
    names = values if isinstance(values, dict) else {value: [] for value in values}
    for value, others in names.items():
        kinds = _kinds(value, names)
        # What is a kind of itself, by way of others, is none.
        for name in (value, *(name for name in others if value in kinds or name not in kinds)):
            words = _GAP.join(tokenize(name))
            if not words:
                return f"{key!r}: {name!r} holds no letter or digit, so no text can name it."
            if owners.setdefault(words, value) != value:
                return f"{key!r}: {name!r} is a name of {owners[words]!r} and of {value!r}. Delete one."
    return None


def match_tags(text: str, tags: Sequence[Tag]) -> dict[str, list[str]]:
    """Return the values of each closed tag that the text names, in the order of the list; open tags: none.

    A name is found as whole words: case, width and Arabic vowel signs do not matter. Where names overlap the
    longer one is meant: "New York" is not York. Words that are left over are looked at without the article
    and the particles that Arabic writes onto them, and a word of a name of one word may have another ending:
    "tomatoes", "tomates" are tomato and tomate. A form that could be of several values is none. In scripts
    without spaces a name is found wherever its characters stand. What has kinds is named with each of them.
    """
    words = tokenize(text)
    return {tag.key: _named(words, tag) for tag in tags if tag.values is not None}


def _named(words: Sequence[str], tag: Tag) -> list[str]:
    values = tag.values or {}
    names = [(name, value) for value, names in values.items() for name in names]
    named, left = _taken(_joined(words), [(_words_of(name), value) for name, value in names])
    rest = [word for word in left.split(_GAP) if word]
    bare = [word if word == _TAKEN else without_article(word) for word in rest]
    if bare != rest:
        more, left = _taken(_joined(bare), [(_bare_words_of(name), value) for name, value in names])
        named |= more
        rest = [word for word in left.split(_GAP) if word]
    named |= _inflected(rest, names)
    named = with_general(named, tag)
    return [value for value in values if value in named]


def with_general(values: Iterable[str], tag: Tag) -> set[str]:
    """Return values of a tag with those that they are kinds of."""
    named = set(values)
    return named | {value for value, kinds in tag.kinds.items() if named.intersection(kinds)}


def _joined(words: Iterable[str]) -> str:
    return _GAP + _GAP.join(words) + _GAP


def _taken(words: str, names: Sequence[tuple[str, str]]) -> tuple[set[str], str]:
    """Return the values whose names stand among the words, and the words with a mark in place of each."""
    values = set()
    for name, value in sorted(names, key=lambda name: -name[0].count(_GAP)):
        if name in words:
            values.add(value)
            # The gaps stay: they are those of the neighbours too.
            while name in words:
                words = words.replace(name, _GAP + _TAKEN + _GAP)
    return values, words


def _inflected(words: Sequence[str], names: Sequence[tuple[str, str]]) -> set[str]:
    """Return the values that words name with another ending: one that is ENDING letters long at most, behind
    the name, or in place of its last letter if that is a vowel, see `_replaces`."""
    whole: dict[str, set[str]] = {}
    cut: dict[str, set[str]] = {}
    for name, value in names:
        word, without_vowel = _stems_of(name)
        if word:
            whole.setdefault(word, set()).add(value)
        if without_vowel:
            cut.setdefault(without_vowel, set()).add(value)
    values: set[str] = set()
    for word in set(words):
        of_word: list[set[str]] = []
        for end in range(len(word), len(word) - ENDING - 1, -1):
            stem, ending = word[:end], word[end:]
            named = whole.get(stem, set())
            if stem in cut and _replaces(ending, stem):
                named = named | cut[stem]
            of_word += [named] if named else []
        if of_word and len(of_word[0]) == 1:
            values |= of_word[0]
    return values


def _replaces(ending: str, stem: str) -> bool:
    """Say whether an ending can be what another form has for the last vowel of a name.

    In Latin letters it begins with a vowel, and the rest has SHORTEST letters: child is no form of chili,
    nor Indian of Indiana.
    """
    is_latin = unicodedata.name(stem[-1], "").startswith("LATIN")
    return not is_latin or (len(stem) >= SHORTEST and bool(ending) and ending[0] in _VOWELS)


@lru_cache(maxsize=16_384)
def _stems_of(name: str) -> tuple[str, str]:
    """Return what inflected forms of a name begin with: the name, and what is before its last letter if that
    is a vowel; nothing for several words, or a short one."""
    words = [without_article(word) for word in tokenize(name)]
    if len(words) != 1 or len(words[0]) < SHORTEST:
        return "", ""
    word = words[0]
    ends_in_vowel = word[-1] in _VOWELS or unicodedata.category(word[-1]).startswith("M")
    return word, word[:-1] if ends_in_vowel else ""


@lru_cache(maxsize=16_384)
def _bare_words_of(name: str) -> str:
    return _joined(without_article(word) for word in tokenize(name))


@lru_cache(maxsize=16_384)
def _words_of(name: str) -> str:
    """Return a name as it stands among the words of a text: names are the same for every text."""
    return _joined(tokenize(name))


def with_tags(metadata: Mapping[str, Any] | None, tags: Mapping[str, Sequence[str]]) -> dict[str, Any] | None:
    """Return a row's metadata with these tags: one value as text, several as a list, none as no tag.

    Tags that `found` does not name stay. Raises ValueError where `tags` is something else already.
    """
    earlier = (metadata or {}).get("tags") or {}
    if not isinstance(earlier, dict):
        raise ValueError("its metadata has a field 'tags' that is not a table. Rename that column.")
    others = {key: value for key, value in earlier.items() if key not in tags}
    new = {key: values[0] if len(values) == 1 else list(values) for key, values in tags.items() if values}
    rest = {key: value for key, value in (metadata or {}).items() if key != "tags"}
    return {**rest, **({"tags": others | new} if others | new else {})} or None
