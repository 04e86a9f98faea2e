"""Names of columns that are none of the known ones, and near enough to be guessed: `Model Answer`, `Anwser`.

A guess is told to the user, so this table may be wider than that of names.py. It holds words, not names (see
words.py): of a column's words those that say nothing (`model`, `text`) are dropped, and the rest must all be
of one field. What a name only hints at is proposed, and not taken: see proposals.py.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from ragstone.kernel.records import Answer, Document, Label, Question
from ragstone.kernel.tables import _words as words
from ragstone.kernel.tables.names import accepted_names, fold

_IDLE = words.SPEAKER | words.IDLE


class _Rule(NamedTuple):
    """A column is near a field if all its words but the idle ones are allowed, and one is telling."""

    field: str
    telling: frozenset[str]
    allowed: frozenset[str]
    least: int = 1  # words


_RIGHT_ANSWER = words.RIGHT | words.ANSWER
_REFERENCE = words.GOLD | _RIGHT_ANSWER
_GRADED = words.SCORE | {"correct", "human"}
_ASKED = _Rule("question", words.QUESTION, words.QUESTION | words.USER)
_NEAR: Mapping[type, tuple[_Rule, ...]] = {
    Answer: (
        _Rule("reference", words.GOLD, _REFERENCE),
        _Rule("reference", words.RIGHT, _RIGHT_ANSWER, least=2),
        _Rule("answer", words.ANSWER, words.ANSWER),
        _ASKED,
        _Rule("contexts", words.CONTEXTS, words.CONTEXTS),
    ),
    Question: (_Rule("reference", words.GOLD | words.ANSWER, _REFERENCE), _ASKED),
    Label: (_Rule("score", _GRADED - {"human"}, _GRADED), _ASKED),
    Document: (_Rule("text", words.TEXT - {"text"}, words.TEXT),),
}
_WORD = re.compile(r"[^\s\d_!-/:-@\[-`{-~]+")
_STEP = re.compile(r"[./]")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_SHORTEST = 6  # letters of a name in which one may be wrong


def near_field(column: str, row_type: type) -> str | None:
    """Return the field that a column's name is near to, None where it is near to none.

    Of a path (`inputs.ground_truth`) the whole tells more than its end, which is looked at second.
    """
    *folders, last = _STEP.split(column)
    for name in (column, last) if folders else (column,):
        for rule in _NEAR.get(row_type, ()):
            known = {fold(accepted) for accepted in accepted_names(row_type, rule.field)}
            there = words_of(name) - (_IDLE - rule.allowed)
            if there & rule.telling and there <= rule.allowed and len(there) >= rule.least:
                return rule.field
            folded = fold(name)
            if (folders and folded in known) or (
                len(folded) >= _SHORTEST and any(_one_slip(folded, accepted) for accepted in known)
            ):
                return rule.field
    return None


def words_of(column: str) -> frozenset[str]:
    """Return the words of a column's name as words.py has them."""
    return frozenset(words.bare(word) for word in _WORD.findall(_CAMEL.sub(" ", column)))


def _one_slip(name: str, other: str) -> bool:
    """Return whether texts differ by one letter too many, too few or wrong, or by two in the other order."""
    short, long = sorted((name, other), key=len)
    at = next((n for n, pair in enumerate(zip(short, long, strict=False)) if pair[0] != pair[1]), len(short))
    if len(long) - len(short) == 1:
        return short[at:] == long[at + 1 :]
    if len(long) != len(short) or at == len(short):
        return False
    swapped = short[at : at + 2] == long[at : at + 2][::-1] and short[at + 2 :] == long[at + 2 :]
    return swapped or short[at + 1 :] == long[at + 1 :]
