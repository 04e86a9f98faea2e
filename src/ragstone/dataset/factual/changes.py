"""Two statements -> what was changed from one to the other, and whether it is the change asked for."""

import difflib
import re
import unicodedata
from collections.abc import Iterable, Sequence

import msgspec

from ragstone.config.build import Change
from ragstone.dataset.factual.negation import count_negations, is_negated
from ragstone.dataset.factual.numbers import numbers_in

MOST_SHARE = 0.4  # of the longer statement's words: what a small change may touch
ALWAYS = 3  # words that it may touch in the shortest statement
MOST_RUNS = {"negation": 2, "number": 1, "entity": 1, "relation": 2}  # places: `accepts`, `does not accept`

UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
# Words with what belongs to them; in scripts without spaces each character with its marks.
_TOKEN = re.compile(
    rf"[{UNSPACED}][\u0e31\u0e34-\u0e3a\u0e47-\u0e4e]*|\d+(?:[.,٫٬]\d+)*|(?:(?![{UNSPACED}\d])[^\W_]|[\u0300-\u036f"
    rf"\u0900-\u0903\u093a-\u094f\u0980-\u0983\u09bc-\u09d7\u064b-\u0670])+(?:['’][^\W\d_]+)?"
)


class Changed(msgspec.Struct, frozen=True):
    """What stood there, and what stands there now; several places are joined by ` … `."""

    before: str
    after: str


def words_of(text: str) -> list[str]:
    """Return the words of a text, without punctuation, in reading order."""
    return _TOKEN.findall(unicodedata.normalize("NFC", text))


def same_words(text: str) -> str:
    """Return a text's words in one case: what two statements share that say the same in the same words."""
    return " ".join(words_of(text)).casefold()


def check_change(before: str, after: str, kind: Change, lang: str | None) -> Changed | str:
    """Return what was changed from a statement to another, or why that is not the change asked for."""
    old, new = words_of(before), words_of(after)
    runs = _runs(old, new)
    if not runs:
        return "nothing was changed"
    n_touched = max(sum(len(a) for a, _ in runs), sum(len(b) for _, b in runs))
    if n_touched > max(ALWAYS, MOST_SHARE * max(len(old), len(new))):
        return f"{n_touched} of {len(old)} words were changed"
    if len(runs) > MOST_RUNS[kind]:
        return f"{len(runs)} places were changed"
    denied = count_negations(before, lang) != count_negations(after, lang) or is_negated(*_flat(runs), lang)
    if denied != (kind == "negation"):
        return "a negation was changed" if denied else "no negation was put in or taken out"
    mistake = _CHECKS[kind](runs, lang)
    if mistake is not None:
        return mistake
    return Changed(_joined(a for a, _ in runs), _joined(b for _, b in runs))


Runs = Sequence[tuple[list[str], list[str]]]


def _runs(old: Sequence[str], new: Sequence[str]) -> list[tuple[list[str], list[str]]]:
    """Return the places that differ: the words there before and after, either of them may be none."""
    folded_old, folded_new = ([word.casefold() for word in words] for words in (old, new))
    matcher = difflib.SequenceMatcher(None, folded_old, folded_new, autojunk=False)
    return [(list(old[a:b]), list(new[c:d])) for tag, a, b, c, d in matcher.get_opcodes() if tag != "equal"]


def _number(runs: Runs, _lang: str | None) -> str | None:
    for before, after in runs:
        if len(before) != 1 or len(after) != 1 or not (numbers_in(before[0]) and numbers_in(after[0])):
            return "something else than a number was changed"
    return None


def _negation(runs: Runs, lang: str | None) -> str | None:
    """A word that is gone for nothing, and denied nothing, was lost in copying."""
    lost = [word for before, after in runs if not after for word in before]
    if lost and not count_negations(" ".join(lost), lang):
        return f"more than a negation was taken out: {' '.join(lost)}"
    return None


def _entity(runs: Runs, _lang: str | None) -> str | None:
    before, after = runs[0]
    if not before or not after:
        return "a name was put in or taken out, not replaced"
    if _numbers(before) or _numbers(after):
        return None if _letters(before) and _letters(after) else "a number was changed, not a name"
    if not (_letters(before) and _letters(after)):
        return "no name was changed"
    return None


def _relation(runs: Runs, lang: str | None) -> str | None:
    before, after = _flat(runs)
    if not before or not after:
        return "words were put in or taken out, not replaced"
    if _numbers(before) != _numbers(after):
        return "a number was changed, not a relation"
    if (lang or "")[:2] != "de" and _names(before) != _names(after):  # German writes nouns as names
        return "a name was changed, not a relation"
    return None


_CHECKS = {"number": _number, "negation": _negation, "entity": _entity, "relation": _relation}


def _flat(runs: Runs) -> tuple[list[str], list[str]]:
    return [word for before, _ in runs for word in before], [word for _, after in runs for word in after]


def _numbers(words: Iterable[str]) -> list[str]:
    return [number for word in words for number in numbers_in(word)]


def _letters(words: Iterable[str]) -> bool:
    return any(character.isalpha() for word in words for character in word)


def _names(words: Iterable[str]) -> list[str]:
    return [word for word in words if word[:1].isupper()]


def _joined(runs: Iterable[Sequence[str]]) -> str:
    return " … ".join(" ".join(run) for run in runs if run)
