"""Kind `signs`: whether a row carries signs of a failure mode: words, tags, and properties that are measured.

No model is asked. The weights and limits are data of the file; `ragstone modes` proposes such files.
"""

import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, ClassVar, Literal

import msgspec

from ragstone.kernel.config import Section
from ragstone.kernel.corpus.tokens import tokenize
from ragstone.kernel.errors import nearest
from ragstone.kernel.judging.fields import ZERO_TO_ONE, Input, JudgeFields, Scale
from ragstone.kernel.judging.finding import Finding, JudgeContext
from ragstone.kernel.judging.lexical import language_match, no_refusal
from ragstone.kernel.records import OWN_THRESHOLD, Answer, references

WordsOf = Literal["question", "answer"]
FEWEST_WORDS = 8  # of an answer that can be cut off: shorter ones are names and numbers
MOST_READ = 20_000  # characters of a text
CLOSED = re.compile(r"[.!?…:;)\]}\"'”’»`|*。！？؟।]\s*(\[\d+\]\s*)*$")
CITED = re.compile(r"\[\d+\]")
DIGITS = re.compile(r"\d")


@functools.lru_cache(maxsize=1024)
def words_of(text: str) -> frozenset[str]:
    """Return the words of a text, as signs compare them: case and punctuation do not count."""
    return frozenset(tokenize(text[:MOST_READ]))


def _contexts(row: Answer) -> frozenset[str] | None:
    """Return the words of all contexts; None where the row does not say what they were."""
    return None if row.contexts is None else words_of("\n".join(one.text for one in row.contexts))


def _cut_off(row: Answer) -> float | None:
    text = row.answer.strip()
    return None if len(text.split()) < FEWEST_WORDS else float(CLOSED.search(text) is None)


def _other_language(row: Answer) -> float | None:
    same = language_match(row.answer, row.question) if row.question else None
    return None if same is None else 1 - same


def _outside(row: Answer) -> float | None:
    spoken, held = words_of(row.answer), _contexts(row)
    return None if not spoken or not held else len(spoken - held) / len(spoken)


def _number_outside(row: Answer) -> float | None:
    held = _contexts(row)
    if not held:
        return None
    known = held | words_of(row.question or "")
    return float(any(DIGITS.search(word) and word not in known for word in words_of(row.answer)))


def _other_number(row: Answer) -> float | None:
    right = {word for text in references(row) for word in words_of(text) if DIGITS.search(word)}
    spoken = {word for word in words_of(row.answer) if DIGITS.search(word)}
    return None if not right else float(bool(spoken) and not spoken & right)


def _missed(row: Answer, held: frozenset[str] | None) -> float | None:
    wanted = words_of(row.question or "")
    return None if not wanted or held is None else len(wanted - held) / len(wanted)


def _no_citation(row: Answer) -> float | None:
    return float(CITED.search(row.answer) is None) if row.contexts and row.answer.strip() else None


class RowProperty(msgspec.Struct, frozen=True):
    """Something that is measured of a row. of: gives the number, None where it cannot be said.

    inputs: what it reads. high, low: what a number above or below a limit means, as the name of a mode;
    one that is yes or no has no `low`.
    """

    of: Callable[[Answer], float | None]
    inputs: tuple[Input, ...]
    high: str
    low: str | None = None


PROPERTIES: Mapping[str, RowProperty] = {
    "empty": RowProperty(lambda row: float(not words_of(row.answer)), ("answer",), "empty answers"),
    "refuses": RowProperty(
        lambda row: 1 - no_refusal(row.answer) if words_of(row.answer) else 0.0, ("answer",), "refusals"
    ),
    "other_language": RowProperty(
        _other_language, ("question", "answer"), "answers in another language than the question"
    ),
    "cut_off": RowProperty(_cut_off, ("answer",), "answers that are cut off"),
    "answer_words": RowProperty(
        lambda row: float(len(row.answer.split())), ("answer",), "long answers", "short answers"
    ),
    "question_words": RowProperty(
        lambda row: float(len((row.question or "").split())), ("question",), "long questions", "short questions"
    ),
    "question_marks": RowProperty(
        lambda row: float(len(re.findall("[?？؟]", row.question or ""))), ("question",), "several questions at once"
    ),
    "no_contexts": RowProperty(
        lambda row: None if row.contexts is None else float(not row.contexts),
        ("contexts",),
        "answers without any context",
    ),
    "outside_contexts": RowProperty(
        _outside, ("answer", "contexts"), "answers with words that no context has"
    ),
    "number_outside_contexts": RowProperty(
        _number_outside, ("question", "answer", "contexts"), "answers with a number that no context has"
    ),
    "other_number": RowProperty(
        _other_number, ("answer", "reference"), "answers with another number than the reference"
    ),
    "question_outside_contexts": RowProperty(
        lambda row: _missed(row, _contexts(row)),
        ("question", "contexts"),
        "contexts that lack words of the question",
    ),
    "question_outside_answer": RowProperty(
        lambda row: _missed(row, words_of(row.answer)) if words_of(row.answer) else None,
        ("question", "answer"),
        "answers that lack words of the question",
        "answers that repeat the question",
    ),
    "no_citation": RowProperty(_no_citation, ("answer", "contexts"), "answers without a citation"),
    "turns": RowProperty(
        lambda row: float(len(row.turns or ())), ("answer",), "long conversations"
    ),
}
"""What can be measured of a row, by its name in a file."""


class Sign(Section, frozen=True, kw_only=True):
    """One sign of a mode; it is there or not.

    weight: the chance, from 0 to 1, that a row with this sign alone has the mode. One of these says what the
    sign is. property: the name of a property, with at_least or at_most: its limit (default: at least 1, for
    those that are yes or no). words: any one of them is in the question or the answer (`of`). begins: the
    words that the question begins with. tag: the name of a tag that has this `value`.
    """

    weight: Annotated[float, msgspec.Meta(gt=0, le=1)]
    property: str | None = None
    at_least: float | None = None
    at_most: float | None = None
    words: list[str] = []
    of: WordsOf = "answer"
    begins: str | None = None
    tag: str | None = None
    value: str | None = None

    def problem(self) -> str | None:
        """Return what is wrong with it, with the fix, or None."""
        kinds = [self.property is not None, bool(self.words), self.begins is not None, self.tag is not None]
        if sum(kinds) != 1:
            return "each sign has exactly one of property, words, begins and tag."
        if self.property is not None and self.property not in PROPERTIES:
            return f"property = {self.property!r}. {nearest(self.property, [*PROPERTIES])}"
        if (self.at_least is not None or self.at_most is not None) and self.property is None:
            return "at_least and at_most are limits of a property. Remove them."
        if (self.tag is None) != (self.value is None):
            return "tag and value belong together. Give both."
        return None

    @property
    def inputs(self) -> tuple[Input, ...]:
        """What a row must have so that the sign can be there."""
        if self.property is not None:
            return PROPERTIES[self.property].inputs
        if self.words:
            return (self.of,)
        return ("question",) if self.begins is not None else ("answer",)

    def is_in(self, row: Answer) -> bool:
        """Return whether a row carries the sign."""
        if self.property is not None:
            value = PROPERTIES[self.property].of(row)
            if value is None:
                return False
            if self.at_most is not None:
                return value <= self.at_most and (self.at_least is None or value >= self.at_least)
            return value >= (1.0 if self.at_least is None else self.at_least)
        if self.words:
            return not words_of(row.answer if self.of == "answer" else row.question or "").isdisjoint(self.words)
        if self.begins is not None:
            return beginning(row.question or "", len(self.begins.split())) == self.begins
        return (row.tags or {}).get(self.tag or "") == self.value

    @property
    def name(self) -> str:
        """What it is, in a few words."""
        if self.property is not None:
            known = PROPERTIES[self.property]
            if known.low is None and self.at_least is None:
                return known.high
            high = self.at_most is None
            limit = self.at_least if high else self.at_most
            return f"{known.high if high else known.low or known.high} ({'≥' if high else '≤'} {limit:g})"
        if self.words:
            named = ", ".join(f"“{word}”" for word in self.words)
            return f"{self.of}s with {named}"
        if self.begins is not None:
            return f"questions that begin with “{self.begins}”"
        return f"{self.tag} is {self.value}"


def beginning(question: str, n: int) -> str:
    """Return the first n words of a question, joined by spaces."""
    return " ".join(tokenize(question[:200])[:n])


class SignsJudge(JudgeFields, frozen=True, kw_only=True, tag="signs"):
    """A judge that looks for signs in a row and asks no model.

    Its score is 1 - product(1 - weight) over the signs that the row carries, 0 without any; from `threshold`
    on the row has the mode.
    """

    signs: Sequence[Sign]
    threshold: float = 0.5

    fixed_scale: ClassVar[Scale | None] = ZERO_TO_ONE
    asks_model: ClassVar[bool] = False

    def _own_problems(self) -> Iterator[tuple[str, str]]:
        if not self.signs:
            yield "signs", "a judge of kind signs needs an entry [[signs]]."
        if not 0 < self.threshold <= 1:
            yield "threshold", f"threshold = {self.threshold:g}: give a number above 0, at most 1."
        for sign in self.signs:
            if problem := sign.problem():
                yield "signs", problem

    def score(self, row: Answer) -> float:
        """Return the score of a row."""
        left = 1.0
        for sign in self.signs:
            if sign.is_in(row):
                left *= 1 - sign.weight
        return round(1 - left, 6)

    async def find(self, answer: Answer, _inputs: dict[str, str], _context: JudgeContext) -> Finding:
        """Return the score, with the signs that the row carries as the rationale."""
        carried = [sign.name for sign in self.signs if sign.is_in(answer)]
        return Finding(
            score=self.score(answer),
            rationale="; ".join(carried) or "none of its signs",
            metadata={OWN_THRESHOLD: self.threshold},
        )
