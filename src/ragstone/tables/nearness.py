"""Names of columns that are none of the known ones, and near enough to be guessed: `Model Answer`, `Anwser`.

A guess is told to the user, so this table may be wider than that of names.py. It holds words, not names: of a
column's words those that say nothing (`model`, `text`, `user`) are dropped, and the rest must all be of one
field. Words of other languages are those that sheets of offices have at their head.
"""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ragstone.records import Answer, Document, Label, Question
from ragstone.tables.names import accepted_names, fold


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ANSWER = _words(
    "answer response output reply completion prediction generation antwort respuesta réponse risposta "
    "resposta antwoord svar ответ 回答 答案"
)
_QUESTION = _words(
    "question query prompt input utterance frage pregunta domanda pergunta vraag fråga вопрос 問題 问题 質問"
)
_GOLD = _words(
    "reference gold golden ideal truth target solution muster musterantwort sollantwort referenz referencia "
    "référence riferimento"
)
_RIGHT = _words("expected correct expert right human true")
_CONTEXTS = _words(
    "context passage document doc chunk source evidence snippet excerpt kontext quelle textstelle fuente"
)
_SCORE = _words(
    "score label rating grade verdict mark judgement judgment assessment evaluation bewertung urteil"
)
_TEXT = _words("text content passage document body article page")
_SPEAKER = _words("model ai llm bot chatbot rag system assistant agent app gpt claude gemini llama mistral")
_IDLE = _SPEAKER | _words(
    "generated predicted final text actual our the a an of by from user customer client used retrieved "
    "retrieval relevant top list full raw original given value"
)


class _Rule(NamedTuple):
    """A column is near a field if all its words but the idle ones are allowed, and one is telling."""

    field: str
    telling: frozenset[str]
    allowed: frozenset[str]
    least: int = 1  # words


_GRADED = _SCORE | {"correct", "human"}
_ASKED = _Rule("question", _QUESTION, _QUESTION)
_NEAR: Mapping[type, tuple[_Rule, ...]] = {
    Answer: (
        _Rule("reference", _GOLD, _GOLD | _RIGHT | _ANSWER),
        _Rule("reference", _RIGHT, _RIGHT | _ANSWER, least=2),
        _Rule("answer", _ANSWER, _ANSWER),
        _ASKED,
        _Rule("contexts", _CONTEXTS, _CONTEXTS),
    ),
    Question: (_Rule("reference", _GOLD | _ANSWER, _GOLD | _RIGHT | _ANSWER), _ASKED),
    Label: (_Rule("score", _GRADED - {"human"}, _GRADED), _ASKED),
    Document: (_Rule("text", _TEXT - {"text"}, _TEXT),),
}
_WORD = re.compile(r"[^\W\d_]+")
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
            known = {fold(one) for one in accepted_names(row_type, rule.field)}
            if _by_words(name, rule) or (folders and fold(name) in known) or _misspelled(fold(name), known):
                return rule.field
    return None


def names_speaker(column: str) -> bool:
    """Say whether a column's name speaks of an application: it may hold what that said."""
    return bool(_SPEAKER & {word.casefold() for word in _WORD.findall(_CAMEL.sub(" ", column))})


def _by_words(name: str, rule: _Rule) -> bool:
    words = {_singular(word.casefold()) for word in _WORD.findall(_CAMEL.sub(" ", name))}
    words -= _IDLE - rule.allowed
    return bool(words & rule.telling) and words <= rule.allowed and len(words) >= rule.least


def _singular(word: str) -> str:
    return word[:-1] if word.endswith("s") and len(word) > 3 else word


def _misspelled(name: str, known: Iterable[str]) -> bool:
    return len(name) >= _SHORTEST and any(_one_slip(name, one) for one in known)


def _one_slip(one: str, other: str) -> bool:
    """Return whether texts differ by one letter too many, too few or wrong, or by two in the other order."""
    short, long = sorted((one, other), key=len)
    at = next((n for n, pair in enumerate(zip(short, long, strict=False)) if pair[0] != pair[1]), len(short))
    if len(long) - len(short) == 1:
        return short[at:] == long[at + 1 :]
    if len(long) != len(short) or at == len(short):
        return False
    swapped = short[at : at + 2] == long[at : at + 2][::-1] and short[at + 2 :] == long[at + 2 :]
    return swapped or short[at + 1 :] == long[at + 1 :]
