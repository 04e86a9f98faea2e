"""Which of a sheet's columns could be meant for a field that none was found for: by its name and its values.

A proposal is a command that the user is told to run, so both must speak for the column, and nothing against
it. Where two columns could be meant, or none could, nothing is proposed and all columns are listed.
"""

import math
from collections.abc import Collection, Iterable, Mapping

from ragstone.kernel.tables import _words as words
from ragstone.kernel.tables._nearness import words_of
from ragstone.kernel.tables.columns import PASSAGE, as_number, is_absent

_LONGEST_GRADE = 30  # characters; what is longer is a sentence
_LONGEST_QUESTION = 1000
_LONG_WORD = 5  # letters of a word that may be a part of a compound: `Hotlinefrage`, `Antworttext`

_TELLING: Mapping[str, frozenset[str]] = {
    "reference": words.GOLD | words.RIGHT | words.FITS,
    "answer": words.ANSWER | words.SAYS,
    "question": words.QUESTION | words.ASKS,
    "contexts": words.CONTEXTS | words.ORIGIN,
    "score": words.SCORE,
}


def could_hold(field: str, columns: Mapping[str, Iterable[object]]) -> dict[str, str]:
    """Return the columns that a field could be in, each with the reason, as a clause.

    columns: name -> values of some rows, of columns that are read as no field.
    """
    reasons: dict[str, str] = {}
    for name, values in columns.items():
        there = [value for value in values if not is_absent(value) and value != ""]
        told_by = _telling_word(name, field)
        if told_by and there and all(_fits(value, field) for value in there):
            reasons[name] = f"its name has {told_by!r}, and its values are {_KINDS.get(field, 'texts')}"
    return reasons


_KINDS = {"contexts": "passages", "score": "numbers or single words", "question": "short texts"}


def _telling_word(column: str, field: str) -> str | None:
    """Return the word of a name that speaks of a field; None where another speaks of another one."""
    if field.endswith("id"):
        return "id" if column.casefold().endswith("id") else None
    if field == "text":
        return _word_of(column, words.TEXT)
    telling = {name: word for name in _TELLING if (word := _word_of(column, _TELLING[name]))}
    if field == "answer" and not telling:
        telling = {"answer": word} if (word := _word_of(column, words.SPEAKER)) else {}
    if "reference" in telling:  # the right answer is a reference
        telling.pop("answer", None)
    if telling.keys() != {field} or (field != "question" and words_of(column) & words.USER):
        return None
    return telling[field]


def _word_of(column: str, telling: Collection[str]) -> str | None:
    there = words_of(column)
    return min(there & set(telling), default=None) or next(
        (
            word
            for word in sorted(there)
            if any(
                len(known) >= _LONG_WORD and (word.startswith(known) or word.endswith(known))
                for known in telling
            )
        ),
        None,
    )


def _fits(value: object, field: str) -> bool:
    if field.endswith("id"):
        return isinstance(value, str | int)
    if field == "score":
        return is_grade(value) or (isinstance(value, str) and len(value) < _LONGEST_GRADE)
    if not isinstance(value, str):
        return field in ("contexts", "reference") and isinstance(value, list)
    least, most = {"contexts": (PASSAGE, math.inf), "question": (1, _LONGEST_QUESTION)}.get(
        field, (1, math.inf)
    )
    return least <= len(value.strip()) <= most and not (field == "question" and is_grade(value))


def is_grade(value: object) -> bool:
    """Say whether a value is a number, or a word that stands for one."""
    if is_absent(value):
        return False
    try:
        as_number(value)
    except (TypeError, ValueError):
        return False
    return True
