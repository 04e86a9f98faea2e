"""Kind `signs`: whether a row carries signs of a failure mode: words, tags, and properties that are measured.

No model is asked. The weights and limits are data of the file; `ragstone modes` proposes such files.
"""

import functools
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, ClassVar, Literal

import msgspec

from ragstone.kernel.config import Section
from ragstone.kernel.corpus.tokens import tokenize
from ragstone.kernel.errors import nearest
from ragstone.kernel.judging.citation_marks import cited_statements
from ragstone.kernel.judging.fields import ZERO_TO_ONE, Input, JudgeFields, Scale
from ragstone.kernel.judging.finding import Finding, JudgeContext
from ragstone.kernel.judging.lexical import language_match, no_refusal
from ragstone.kernel.records import OWN_THRESHOLD, Answer, references

WordsOf = Literal["question", "answer"]
FEWEST_WORDS = 8  # of an answer that can be cut off: shorter ones are names and numbers
CLOSED = re.compile(r"[.!?…:;)\]}\"'”’»`|*。！？؟।॥۔።։]\s*(\[\d+\]\s*)*$")
DIGITS = re.compile(r"\d")
QUESTION_MARK = re.compile("[?？؟]")


@functools.lru_cache(maxsize=1024)
def words_of(text: str) -> frozenset[str]:
    """Return the words of a text, as signs compare them: case and punctuation do not count."""
    return frozenset(tokenize(text))


def _contexts(row: Answer) -> frozenset[str] | None:
    """Return the words of all contexts; None where the row does not say what they were."""
    if row.contexts is None:
        return None
    return frozenset().union(*(words_of(one.text) for one in row.contexts))


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
    held, (numbers, others) = _contexts(row), _parted(words_of(row.answer))
    if not held:
        return None
    # Where the other words are not in the contexts either, the number is not what is wrong.
    is_alone = 2 * len(others & held) >= len(others)
    return float(is_alone and bool(numbers - held - words_of(row.question or "")))


def _other_number(row: Answer) -> float | None:
    (numbers, others), spoken = _parted(words_of(" ".join(references(row)))), words_of(row.answer)
    is_alone = 2 * len(others & spoken) >= len(others)
    given = _parted(spoken)[0]
    return None if not numbers else float(is_alone and bool(given) and not given & numbers)


def _parted(held: frozenset[str]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the words with a digit, and the others."""
    numbers = frozenset(word for word in held if DIGITS.search(word))
    return numbers, held - numbers


def _missed(row: Answer, held: frozenset[str] | None) -> float | None:
    wanted = words_of(row.question or "")
    return None if not wanted or held is None else len(wanted - held) / len(wanted)


def _no_citation(row: Answer) -> float | None:
    if not row.contexts or not row.answer.strip():
        return None
    return float(not any(statement.cited for statement in cited_statements(row.answer, row.contexts)))


class RowProperty(msgspec.Struct, frozen=True, kw_only=True):
    """Something that is measured of a row. of: gives the number, None where it cannot be said.

    inputs: what it reads. high, low: what it means that the number is large or small, as a title and as a
    clause; what is yes or no has no `low`. In both, {} is the limit.
    """

    of: Callable[[Answer], float | None]
    inputs: tuple[Input, ...]
    high: tuple[str, str]
    low: tuple[str, str] | None = None
    is_number: bool = False


def _words_in(text: str | None) -> float:
    return float(len((text or "").split()))


PROPERTIES: Mapping[str, RowProperty] = {
    "empty": RowProperty(
        of=lambda row: float(not words_of(row.answer)),
        inputs=("answer",),
        high=("empty answers", "it says nothing"),
    ),
    "refuses": RowProperty(
        of=lambda row: 1 - no_refusal(row.answer) if words_of(row.answer) else 0.0,
        inputs=("answer",),
        high=("refusals", "it refuses to answer"),
    ),
    "no_contexts": RowProperty(
        of=lambda row: None if row.contexts is None else float(not row.contexts),
        inputs=("contexts",),
        high=("answers without contexts", "it was given no contexts"),
    ),
    "other_language": RowProperty(
        of=_other_language,
        inputs=("question", "answer"),
        high=("answers in another language", "it is in another language than the question"),
    ),
    "cut_off": RowProperty(
        of=_cut_off,
        inputs=("answer",),
        high=("answers that are cut off", "it ends in the middle of a sentence"),
    ),
    "answer_words": RowProperty(
        of=lambda row: _words_in(row.answer),
        inputs=("answer",),
        high=("long answers", "it has {} words or more"),
        low=("short answers", "it has {} words or fewer"),
        is_number=True,
    ),
    "question_words": RowProperty(
        of=lambda row: _words_in(row.question),
        inputs=("question",),
        high=("long questions", "the question has {} words or more"),
        low=("short questions", "the question has {} words or fewer"),
        is_number=True,
    ),
    "several_questions": RowProperty(
        of=lambda row: float(len(QUESTION_MARK.findall(row.question or "")) > 1),
        inputs=("question",),
        high=("several questions at once", "the question asks several things"),
    ),
    "outside_contexts": RowProperty(
        of=_outside,
        inputs=("answer", "contexts"),
        high=("answers from outside the contexts", "the contexts lack {:.0%} or more of its words"),
        is_number=True,
    ),
    "number_outside_contexts": RowProperty(
        of=_number_outside,
        inputs=("question", "answer", "contexts"),
        high=(
            "numbers that no context has",
            "it has a number that no context has, though they have its other words",
        ),
    ),
    "other_number": RowProperty(
        of=_other_number,
        inputs=("answer", "reference"),
        high=(
            "numbers unlike the reference",
            "its numbers are not those of the reference, though its other words are",
        ),
    ),
    "question_outside_contexts": RowProperty(
        of=lambda row: _missed(row, _contexts(row)),
        inputs=("question", "contexts"),
        high=("contexts about something else", "the contexts lack {:.0%} or more of the question's words"),
        is_number=True,
    ),
    "question_outside_answer": RowProperty(
        of=lambda row: _missed(row, words_of(row.answer)) if words_of(row.answer) else None,
        inputs=("question", "answer"),
        high=("answers without the question's words", "it lacks {:.0%} or more of the question's words"),
        low=("answers that repeat the question", "it lacks only {:.0%} or fewer of the question's words"),
        is_number=True,
    ),
    "no_citation": RowProperty(
        of=_no_citation,
        inputs=("answer", "contexts"),
        high=("answers without a citation", "it cites no context, such as [1]"),
    ),
    "turns": RowProperty(
        of=lambda row: float(len(row.turns or ())),
        inputs=("answer",),
        high=("long conversations", "its conversation has {} turns or more"),
        is_number=True,
    ),
}
"""What can be measured of a row, by its name in a file."""


class Sign(Section, frozen=True, kw_only=True):
    """One sign of a mode; it is there or not.

    weight: the chance, from 0 to 1, that a row with this sign alone has the mode. One of these says what the
    sign is. measure: the name of a property, with at_least or at_most: its limit (default: at least 1, for
    those that are yes or no). words: any one of them is in the question or the answer (`of`). begins: the
    words that the question begins with. tag: the name of a tag that has this `value`.
    """

    weight: Annotated[float, msgspec.Meta(gt=0, le=1)]
    measure: str | None = None
    at_least: float | None = None
    at_most: float | None = None
    words: list[str] = []
    of: WordsOf = "answer"
    begins: str | None = None
    tag: str | None = None
    value: str | None = None

    def problem(self) -> str | None:
        """Return what is wrong with it, with the fix, or None."""
        kinds = [self.measure is not None, bool(self.words), self.begins is not None, self.tag is not None]
        if sum(kinds) != 1:
            return "each sign has exactly one of measure, words, begins and tag."
        if self.measure is not None and self.measure not in PROPERTIES:
            return f"measure = {self.measure!r}. {nearest(self.measure, [*PROPERTIES])}"
        if (self.at_least is not None or self.at_most is not None) and self.measure is None:
            return "at_least and at_most are limits of a measure. Remove them."
        if (self.tag is None) != (self.value is None):
            return "tag and value belong together. Give both."
        if lost := next((word for word in self.words if tokenize(word) != [word]), None):
            return f"words: {lost!r} is never in a text. Write single words, in small letters."
        if self.begins is not None and " ".join(tokenize(self.begins)) != self.begins:
            return f"begins: {self.begins!r} begins no question. Write {' '.join(tokenize(self.begins))!r}."
        return None

    @property
    def inputs(self) -> tuple[Input, ...]:
        """What a row must have so that the sign can be there."""
        if self.measure is not None:
            return PROPERTIES[self.measure].inputs
        if self.words:
            return (self.of,)
        return ("question",) if self.begins is not None else ("answer",)

    def is_in(self, row: Answer) -> bool:
        """Return whether a row carries the sign."""
        if self.measure is not None:
            value = PROPERTIES[self.measure].of(row)
            if value is None:
                return False
            if self.at_most is not None:
                return value <= self.at_most and (self.at_least is None or value >= self.at_least)
            return value >= (1.0 if self.at_least is None else self.at_least)
        if self.words:
            return not words_of(row.answer if self.of == "answer" else row.question or "").isdisjoint(
                self.words
            )
        if self.begins is not None:
            return beginning(row.question or "", len(self.begins.split())) == self.begins
        return (row.tags or {}).get(self.tag or "") == self.value

    @property
    def title(self) -> str:
        """What it is, in a few words."""
        if self.measure is not None:
            return self._meaning[0]
        if self.words:
            return f"{self.of}s with {', '.join(self.words)}"
        if self.begins is not None:
            return f"questions that begin with {self.begins}"
        return f"{self.tag} {self.value}"

    @property
    def clause(self) -> str:
        """What it says of an answer, as the end of a sentence: `it refuses to answer`."""
        if self.measure is not None:
            limit = self.at_least if self.at_most is None else self.at_most
            clause = self._meaning[1]
            return clause if limit is None else clause.format(limit if "%" in clause else f"{limit:g}")
        if self.words:
            named = " or ".join(f"“{word}”" for word in self.words)
            return f"{'it' if self.of == 'answer' else 'the question'} has the word {named}"
        if self.begins is not None:
            return f"the question begins with “{self.begins}”"
        return f"its {self.tag} is “{self.value}”"

    @property
    def _meaning(self) -> tuple[str, str]:
        measured = PROPERTIES[self.measure or ""]
        if self.at_most is None:
            return measured.high
        title, clause = measured.high
        negated = (
            clause.replace("or more", "or less") if measured.is_number else f"it is not so that {clause}"
        )
        return measured.low or (f"no {title}", negated)


def beginning(question: str, n: int) -> str:
    """Return the first n words of a question, joined by spaces."""
    return " ".join(tokenize(question[:200])[:n])


class SignsJudge(JudgeFields, frozen=True, kw_only=True, tag="signs"):
    """A judge that looks for signs in a row and asks no model.

    Its score is 1 - product(1 - weight) over the signs that the row carries, 0 without any, and 0 for a row
    that carries a sign of `unless`, whose weights do not count. From `threshold` on the row has the mode.
    """

    signs: Sequence[Sign]
    unless: Sequence[Sign] = []
    threshold: float = 0.5

    fixed_scale: ClassVar[Scale | None] = ZERO_TO_ONE
    asks_model: ClassVar[bool] = False

    def _own_problems(self) -> Iterator[tuple[str, str]]:
        if not self.signs:
            yield "signs", "a judge of kind signs needs an entry [[signs]]."
        if not 0 < self.threshold <= 1:
            yield "threshold", f"threshold = {self.threshold:g}: give a number above 0, at most 1."
        for sign in (*self.signs, *self.unless):
            if problem := sign.problem():
                yield "signs", problem

    def score(self, row: Answer) -> float:
        """Return the score of a row."""
        return self._looked_at(row)[0]

    async def find(self, answer: Answer, _inputs: dict[str, str], _context: JudgeContext) -> Finding:
        """Return the score, with the signs that the row carries as the rationale."""
        score, carried, against = self._looked_at(answer)
        clauses, others = ("; ".join(sign.clause for sign in some) for some in (carried, against))
        return Finding(
            score=score,
            rationale=(clauses or "none of its signs") + (f", but {others}" if others else ""),
            metadata={OWN_THRESHOLD: self.threshold},
        )

    def _looked_at(self, row: Answer) -> tuple[float, list[Sign], list[Sign]]:
        """Return the score, the signs that a row carries, and those of `unless` if it carries any."""
        carried = [sign for sign in self.signs if sign.is_in(row)]
        against = [sign for sign in self.unless if sign.is_in(row)] if carried else []
        score = 0.0 if against else round(1 - math.prod(1 - sign.weight for sign in carried), 6)
        return score, carried, against
