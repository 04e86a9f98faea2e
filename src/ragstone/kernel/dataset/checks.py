"""What can be said against a question without asking a model."""

import re
import unicodedata
from collections.abc import Callable
from functools import cache
from itertools import takewhile
from typing import NamedTuple

import msgspec

from ragstone.kernel.config import read_library
from ragstone.kernel.corpus.tokens import tokenize
from ragstone.kernel.dataset.answers import compares_two, offers_choice, polarity, says_unknown
from ragstone.kernel.dataset.candidate import Candidate
from ragstone.kernel.judging.lexical import context_overlap
from ragstone.kernel.judging.matching import words
from ragstone.kernel.records import Question, references

QUESTION_MARKS = re.compile("[?？؟՞፧⁇⁈⁉‽;¿꘏]|(?<=[\u0370-\u03ff\u1f00-\u1fff]);")
STOPS = frozenset(".。।۔…！!:：,")
# Languages whose questions begin with the question word: further on, it may belong to a statement.
ASKING_FIRST = frozenset({"de", "el", "en", "es", "fr", "it", "nl", "pl", "pt", "ro", "ru", "uk"})
NEAR_THE_BEGINNING = 2  # words
UNSPACED = frozenset({"zh", "ja", "ko", "th"})


class Forms(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What library/question_forms.toml says of a language."""

    asking: str
    first: str = ""


class CheckWords(NamedTuple):
    """The same as sets; `parts` is the pattern of a script without spaces."""

    asking: frozenset[str]
    first: frozenset[str]
    parts: re.Pattern[str] | None


def asks_something(text: str, lang: str | None) -> bool:
    """Return whether a text asks: by a question mark, a question word, or an order ("Explain ...").

    A single word asks nothing. Without a stop at its end a text may be a search ("causes of the trail of
    tears"), and asks; with one ("The river, which flows north.") a question word must stand near its
    beginning, where the language puts it there. Without a language the words of all languages count; in a
    language that is not in library/question_forms.toml every text is taken to ask.
    """
    tokens = tokenize(text)
    if len(tokens) < 2:
        return False
    if QUESTION_MARKS.search(text):
        return True
    forms = _forms()
    if lang is not None and lang not in forms:
        return True
    codes = forms if lang is None else (lang, "en")
    return any(_asks(text, tokens, code) for code in codes)


def _asks(text: str, tokens: list[str], code: str) -> bool:
    forms = _forms()[code]
    if forms.parts is not None:
        return bool(forms.parts.search(text))
    behind = takewhile(lambda sign: not (sign.isalnum() or sign == "_"), reversed(text))
    if not any(sign in STOPS for sign in behind):
        return any(character.isalpha() and character < "\u0e00" for character in text)
    heard = tokens[:NEAR_THE_BEGINNING] if code in ASKING_FIRST else tokens
    return not forms.asking.isdisjoint(heard) or tokens[0] in forms.first


@cache
def _forms() -> dict[str, CheckWords]:
    library = msgspec.convert(
        read_library("ragstone.kernel.dataset", "question_forms.toml"), dict[str, Forms]
    )
    ready = {}
    for code, forms in library.items():
        parts = re.compile("|".join(map(re.escape, forms.asking.split()))) if code in UNSPACED else None
        asking, first = frozenset(tokenize(forms.asking)), frozenset(tokenize(forms.first))
        ready[code] = CheckWords(asking, first, parts)
    return ready


LOOKED_AT = 20_000  # characters; a question has some hundred


class Phrases(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What library/mentions.toml says of a language."""

    noun: str
    phrases: list[str]


def mention_of_context(text: str, lang: str | None = None, within: int | None = None) -> str | None:
    """Return the words by which a text speaks of its passage, author or figure, in any of 23 languages.

    None where it speaks of none. lang: its phrases and the English ones are looked for; all where it is None
    or not among them. within: only words that begin in so many characters from the start.
    """
    patterns = _patterns()
    tried = (
        [patterns[code] for code in dict.fromkeys((lang, "en"))] if lang in patterns else patterns.values()
    )
    composed = unicodedata.normalize("NFC", text).strip()[:LOOKED_AT]
    for pattern in tried:
        match = pattern.search(composed)
        if match and (within is None or match.start() <= within):
            return match[0].strip()
    return None


@cache
def _patterns() -> dict[str | None, re.Pattern[str]]:
    """Return one pattern a language, in the order of the file."""
    library = msgspec.convert(read_library("ragstone.kernel.dataset", "mentions.toml"), dict[str, Phrases])
    return {
        code: re.compile("|".join(_edged(phrase, listed.noun) for phrase in listed.phrases), re.IGNORECASE)
        for code, listed in library.items()
    }


def _edged(phrase: str, noun: str) -> str:
    """Return a phrase as a pattern that begins and ends where words do; one that ends in ~ needs no edges."""
    spaced = phrase.removesuffix("~").replace("{noun}", noun).replace(" ", r"\s+")
    spaced = spaced.replace(r"\s+?", r"\s*")  # a space that may be missing
    return f"(?:{spaced})" if phrase.endswith("~") else rf"(?<!\w)(?:{spaced})(?!\w)"


# People's questions in six packs have at most 54 words, 99 of 100 of a bank's own answers at most 370.
LONGEST_QUESTION = 60
LONGEST_ANSWER = 400
# xquad's questions have 10 words in English, 16 characters in Chinese, 40 in Thai.
CHARACTERS_A_WORD = 2
SHORTEST_EVIDENCE = 3  # words
ANSWER_TO_EVIDENCE = 3  # times as long an answer as its evidence says what the evidence does not
SHORTEST_GIVEN = 4  # characters of an answer that gives itself away
HELD = 0.5  # of an answer's words: where the evidence has them, it is long enough
OPENING = (
    12  # characters: an answer that begins so speaks of the passage; further on a document speaks of itself
)

_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]"
)

Check = Callable[[Candidate], str | None]


def length_in_words(text: str) -> int:
    """Return the number of words of a text; two characters of a script without spaces count as one word."""
    tokens = tokenize(text)
    n_characters = sum(bool(_UNSPACED.match(token)) for token in tokens)
    return len(tokens) - n_characters + -(-n_characters // CHARACTERS_A_WORD)


def evidence_of(candidate: Candidate) -> list[str]:
    """Return the texts of the question's evidence that stand in the candidate's passages."""
    return [
        passage.text[span.start - passage.start : span.end - passage.start]
        for span in candidate.question.evidence or ()
        for passage in candidate.passages
        if passage.document_id == span.document_id and passage.start <= span.start < span.end <= passage.end
    ]


def _empty(candidate: Candidate) -> str | None:
    question = candidate.question
    if not tokenize(question.question):
        return "no question"
    if question.answerable is False:
        return None
    answers = references(question)
    if not any(map(tokenize, answers)):
        return "no answer"
    return f"the answer is {answers[0]!r}" if all(map(says_unknown, answers)) else None


def _too_long(candidate: Candidate) -> str | None:
    n_words = length_in_words(candidate.question.question)
    if n_words > LONGEST_QUESTION:
        return f"question: {n_words} words, at most {LONGEST_QUESTION}"
    n_words = max(map(length_in_words, references(candidate.question)), default=0)
    return f"answer: {n_words} words, at most {LONGEST_ANSWER}" if n_words > LONGEST_ANSWER else None


def _no_question(candidate: Candidate) -> str | None:
    question = candidate.question
    if question.kind == "true_false" or asks_something(question.question, question.lang):
        return None
    return question.question


def _mentions_context(candidate: Candidate) -> str | None:
    question = candidate.question
    mention = mention_of_context(question.question, question.lang)
    if mention is not None:
        return mention
    openings = (mention_of_context(answer, question.lang, OPENING) for answer in references(question))
    mention = next(filter(None, openings), None)
    return None if mention is None else f"answer: {mention}"


def _answer_in_question(candidate: Candidate) -> str | None:
    question = candidate.question
    text = question.question
    if question.kind == "true_false" or offers_choice(text) or compares_two(text):
        return None
    return next((answer for answer in references(question) if _gives_away(question, answer)), None)


def _gives_away(question: Question, reference: str) -> bool:
    """Return whether the answer stands in the question, word for word; yes, no, "two" and 2 may well do."""
    plain = " ".join(words(reference))
    if len(plain) < SHORTEST_GIVEN and not _UNSPACED.match(plain):
        return False
    if polarity(reference) is not None or plain.replace(" ", "").isdigit():
        return False
    return f" {plain} " in f" {' '.join(words(question.question))} "


def _evidence_too_short(candidate: Candidate) -> str | None:
    texts, answers = evidence_of(candidate), references(candidate.question)
    if not texts or not answers:
        return None
    evidence = " ".join(texts)
    n_words = length_in_words(evidence)
    least = min(length_in_words(answer) for answer in answers)
    if n_words >= max(SHORTEST_EVIDENCE, least / ANSWER_TO_EVIDENCE):
        return None
    held = max(context_overlap(answer, evidence) for answer in answers)
    return None if held >= HELD else f"{evidence!r} for an answer of {least} words"


CHECKS: dict[str, Check] = {
    "empty": _empty,
    "too_long": _too_long,
    "no_question": _no_question,
    "mentions_context": _mentions_context,
    "answer_in_question": _answer_in_question,
    "evidence_too_short": _evidence_too_short,
}
