"""A short answer beside a reference: is it right, and could anybody have guessed it?"""

import re
from collections.abc import Iterable
from functools import cache

import msgspec

from ragstone.kernel.config import read_library
from ragstone.kernel.corpus.tokens import tokenize
from ragstone.kernel.judging.lexical import alternatives, containment, token_f1
from ragstone.kernel.judging.matching import words
from ragstone.kernel.records import Question, references

# The answer may say a little more than the reference: a sentence and not a paragraph.
MORE_WORDS = 12
LONG = 6  # words: from here on a reference is a sentence, which nobody repeats word for word
ALIKE, SHORT_ALIKE = 0.5, 0.6  # token F1
OPENING = 12  # characters
LIST, ITEM_WORDS = 3, 3  # items at least, of so few words each: not commas in a sentence

_ITEMS = re.compile(r"(?<!\d),|,(?!\d)|[;/、，；،\n]")  # the comma of 1,000 parts nothing


class ShortAnswers(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"either": "or"}):
    """What library/short_answers.toml says."""

    yes: str
    no: str
    yes_unspaced: str
    no_unspaced: str
    negation: str
    no_is_a_preposition: list[str]
    either: str
    or_unspaced: str
    between: str
    between_unspaced: str
    unknown: list[str]


def answers_correctly(answer: str, question: Question) -> bool:
    """Return whether an answer is one of the question's references, in words and without a way out.

    Right is an answer that holds a reference and little else, or nearly the same words as it (token F1). "I
    do not know", a list of possible answers, another number, and a negation that the reference lacks are
    wrong; yes or no is compared by the word that comes first. Of "A / B" either part is right, and of a name
    of two words either word.
    """
    if not answer.strip() or says_unknown(answer):
        return False
    possible = alternatives(references(question), " / ")
    return any(_matches(answer, reference, question) for reference in possible)


def says_unknown(answer: str) -> bool:
    """Return whether an answer says that it is none ("I do not know"), at its beginning or in a few words."""
    match = _unknown().search(answer.replace("’", "'"))
    return match is not None and (match.start() <= OPENING or len(words(answer)) <= MORE_WORDS)


def is_guessable(question: Question) -> bool:
    """Return whether few answers are possible: yes or no, true or false, or one of two that are offered."""
    answers = references(question)
    if question.kind == "true_false" or any(polarity(reference) is not None for reference in answers):
        return True
    return offers_choice(question.question) and any(
        containment(question.question, reference) for reference in answers
    )


def offers_choice(text: str) -> bool:
    """Return whether a text offers two things, "A or B"."""
    return bool(_offered().search(text))


def compares_two(text: str) -> bool:
    """Return whether a text asks which of two, "between A and B"."""
    return bool(_between().search(text))


def polarity(text: str, more: bool = False) -> bool | None:
    """Return what a text says that is yes (True) or no (False); None for any other.

    A comma or full stop may follow ("No, it is not"); "No interest" is no answer to a yes-no question. more:
    whatever may follow.
    """
    plain = text.strip()
    match = _polar().match(plain)
    if not match or not (more or re.match(r"(?:[^\w\s]|$)", plain[match.end() :])):
        return None
    return match["yes"] is not None


def _matches(answer: str, reference: str, question: Question) -> bool:
    wanted = polarity(reference)
    if wanted is not None:
        return polarity(answer, more=True) == wanted
    answer_words, expected, question_words = words(answer), words(reference), words(question.question)
    numbers = {word for word in expected if word.isdigit()}
    if _hedged(answer, reference, question) or not numbers <= set(answer_words):
        return False
    if len(expected) >= LONG:
        return token_f1(answer, reference) >= ALIKE
    if containment(answer, reference):
        return sum(word not in {*expected, *question_words} for word in answer_words) <= MORE_WORDS
    return (
        bool(answer_words and containment(reference, answer)) and token_f1(answer, reference) >= SHORT_ALIKE
    )


def _hedged(answer: str, reference: str, question: Question) -> bool:
    """Return whether an answer names more possible answers than the reference, or denies what it asserts.

    What it repeats of the question says neither.
    """
    if offers_choice(answer) and not offers_choice(reference) and not offers_choice(question.question):
        return True
    denying = _negations(question.lang).difference(words(question.question))
    if denying.isdisjoint(words(answer)) != denying.isdisjoint(words(reference)):
        return True
    n_items, n_expected = (len(_ITEMS.findall(text)) + 1 for text in (answer, reference))
    return n_items >= LIST and n_items > n_expected and len(words(answer)) <= n_items * ITEM_WORDS


@cache
def _library() -> ShortAnswers:
    return msgspec.convert(read_library("ragstone.kernel.dataset", "short_answers.toml"), ShortAnswers)


@cache
def _polar() -> re.Pattern[str]:
    listed = _library()
    yes, no = _any_of(listed.yes.split()), _any_of(listed.no.split())
    yes_unspaced, no_unspaced = _any_of(listed.yes_unspaced.split()), _any_of(listed.no_unspaced.split())
    # "No. 5" is a number. Longer words first, and of those without spaces the denied ones: 不是 holds 是.
    return re.compile(
        rf"\W*(?:(?P<no>{no}(?!\w|\.?\s*\d)|{no_unspaced})|(?P<yes>{yes}(?!\w)|{yes_unspaced}))",
        re.IGNORECASE,
    )


@cache
def _offered() -> re.Pattern[str]:
    return _wholeof(_library().either, _library().or_unspaced)


@cache
def _between() -> re.Pattern[str]:
    return _wholeof(_library().between, _library().between_unspaced)


@cache
def _unknown() -> re.Pattern[str]:
    spaced = [phrase for phrase in _library().unknown if " " in phrase or phrase.isascii()]
    unspaced = [phrase for phrase in _library().unknown if phrase not in spaced]
    return re.compile(rf"(?<!\w){_any_of(spaced)}(?!\w)|{_any_of(unspaced)}", re.IGNORECASE)


@cache
def _negations(lang: str | None) -> frozenset[str]:
    listed = frozenset(tokenize(_library().negation))
    return listed - {"no"} if lang in _library().no_is_a_preposition else listed


def _wholeof(spaced: str, unspaced: str) -> re.Pattern[str]:
    whole, parts = _any_of(spaced.split()), _any_of(unspaced.split())
    return re.compile(rf"(?<!\w){whole}(?!\w)|{parts}", re.IGNORECASE)


def _any_of(phrases: Iterable[str]) -> str:
    return f"(?:{'|'.join(map(re.escape, sorted(phrases, key=len, reverse=True)))})"
