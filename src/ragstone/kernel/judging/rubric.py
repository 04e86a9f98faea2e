"""Kind `rubric`: criteria on one scale of whole numbers, each with a reason of its own, in one call."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import floor
from typing import Annotated, Any, ClassVar, Literal

import msgspec

from ragstone.kernel.config import Section
from ragstone.kernel.errors import nearest
from ragstone.kernel.judging._token import Option, TokenJudge
from ragstone.kernel.judging.examples import of_criterion, whole
from ragstone.kernel.judging.fields import Name
from ragstone.kernel.judging.finding import CriterionOutcome, Finding
from ragstone.kernel.judging.render import Field, graded_fields

HALF = Fraction(1, 2)


class Criterion(Section, frozen=True, kw_only=True):
    """One criterion of a rubric, scored by itself.

    grades: what each grade means, from the lowest to the highest, evenly spaced over the scale. weight: its
    part of the composite; only the ratio of the weights counts.
    """

    name: Name
    description: str
    grades: Annotated[list[str], msgspec.Meta(min_length=2)]
    weight: Annotated[float, msgspec.Meta(gt=0)] = 1.0


class RubricJudge(TokenJudge, frozen=True, kw_only=True, tag="rubric"):
    """A judge that grades by one or more criteria.

    criteria and aggregate: the score is the weighted mean of the criteria, or that mean rounded to the
    nearest whole number, halves up. optional: criteria by which it grades only where a variant names them.
    """

    criteria: list[Criterion] = []
    aggregate: Literal["mean", "rounded_mean"] = "mean"
    optional: list[Name] = []

    reply_word: ClassVar[str] = "digit, {} to {}"

    @property
    def metrics(self) -> list[str]:
        """The metrics of its judgements: its score's, then those of several criteria."""
        return [self.measures, *(self._names if len(self._names) > 1 else [])]

    @property
    def asked(self) -> list[Criterion]:
        """The criteria that it grades by."""
        return [criterion for criterion in self.criteria if criterion.name not in self.optional]

    @property
    def _names(self) -> list[str]:
        return [criterion.name for criterion in self.asked]

    @property
    def ends(self) -> tuple[int, int]:
        """The lowest and the highest grade."""
        low, high = self.scale
        return int(low), int(high)

    def _own_problems(self) -> Iterator[tuple[str, str]]:
        low, high = self.scale
        if not (float(low).is_integer() and float(high).is_integer()):
            yield (
                "scale",
                f"scale = [{low:g}, {high:g}]: the grades of a rubric are whole numbers, e.g. "
                "scale = [0, 3].",
            )
        names = [criterion.name for criterion in self.criteria]
        if not names:
            yield (
                "criteria",
                "a judge of kind rubric needs at least one [[criteria]] with name, description and grades.",
            )
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            yield "criteria", f"two criteria are named {twice[0]!r}. Give one of them another name."
        if len(names) > 1 and self.measures in names:
            yield (
                "criteria",
                f"a criterion is named {self.measures!r}, as is the metric of the whole. "
                "Rename the criterion, or give the whole another metric.",
            )
        unknown = next((name for name in self.optional if name not in names), None)
        if unknown is not None:
            yield (
                "optional",
                f"optional names {unknown!r}, which is not a criterion. {nearest(unknown, names)}",
            )
        if not self._names:
            yield "optional", "every criterion is optional. Remove from optional those that always count."

    def _problem_of_token(self) -> str | None:
        low, high = self.scale
        if len(self.asked) == 1 and 0 <= low < high <= 9:
            return super()._problem_of_token()
        return 'reply = "token" needs a rubric of one criterion, on a scale of one-digit grades from 0 to 9.'

    def _problem_of_expected(self, expected: object) -> str | None:
        if len(self.asked) == 1 and not isinstance(expected, Mapping):
            return self._problem_of_score(expected)
        scores = expected.items() if isinstance(expected, Mapping) else ()
        problems = (self._problem_of_score(score, name) for name, score in scores)
        return self._problem_of_table(expected, "expected") or next(filter(None, problems), None)

    def _problem_of_reason(self, reason: object) -> str | None:
        if len(self.asked) == 1 and not isinstance(reason, Mapping):
            return super()._problem_of_reason(reason)
        texts = reason.items() if isinstance(reason, Mapping) else ()
        blank = (f"reason.{name} is empty. Write one." for name, text in texts if not str(text).strip())
        return self._problem_of_table(reason, "reason") or next(blank, None)

    def _problem_of_table(self, table: object, key: str) -> str | None:
        """Return where a table of an example differs from the criteria, or None."""
        names = self._names
        if not isinstance(table, Mapping):
            return f"{key} gives one value for {len(names)} criteria. Write a table with {', '.join(names)}."
        lacking = [name for name in names if name not in table]
        if lacking:
            return f"{key} lacks the criterion {lacking[0]!r}. Add it."
        known = [criterion.name for criterion in self.criteria]
        unknown = [name for name in table if name not in known]
        if unknown:
            return f"{key} names {unknown[0]!r}, which is not one of the criteria: {', '.join(known)}."
        return None

    def _texts_beside(self) -> list[str]:
        return [text for criterion in self.asked for text in (criterion.description, *criterion.grades)]

    def instructions(self) -> str:
        """Return what the model is told: the prompt, then every criterion with what each grade means."""
        return f"{super().instructions()}\n\n{criteria_text(self)}"

    def reply_fields(self) -> list[Field]:
        """Return the fields of the reply: for each criterion a reason, then a grade."""
        low, high = self.ends
        return [
            field for name in self._names for field in graded_fields(f"{name}_", low, high, "one sentence")
        ]

    def reply_of(self, expected: object, reason: object) -> dict[str, object]:
        """Return the fields of a reply with these grades, in their order."""
        return {
            field: value
            for name in self._names
            for field, value in (
                (f"{name}_reason", of_criterion(reason, name)),
                (f"{name}_score", whole(of_criterion(expected, name))),
            )
        }

    def finding_of(self, values: Mapping[str, Any]) -> Finding:
        """Return the composite of the grades, with a part for each criterion.

        The composite is the mean of the grades by their weights; with `rounded_mean` it is rounded to the
        nearest whole number, halves up. Of a single criterion it is the grade, and the rationale is the
        reason.
        """
        parts = tuple(
            CriterionOutcome(
                metric=name,
                score=float(values[f"{name}_score"]),
                rationale=values[f"{name}_reason"].strip() or None,
            )
            for name in self._names
        )
        if len(parts) == 1:
            return Finding(score=parts[0].score, rationale=parts[0].rationale)
        score, rationale = composite(self, [part.score for part in parts])
        return Finding(score=score, rationale=rationale, parts=parts)

    def options(self) -> list[Option]:
        """Return what the model may say in one token: a digit for each grade."""
        low, high = self.ends
        return [Option(str(grade), grade, float(grade)) for grade in range(low, high + 1)]

    def _token_sections(self) -> list[str]:
        return [_criterion_text(self, self.asked[0])]


def composite(judge: RubricJudge, grades: Sequence[float]) -> tuple[float, str]:
    """Return the composite of the criteria's grades, and how it came about."""
    # Fractions: as floats, grades whose mean is a half may come out below it, and be rounded down.
    weights = [Fraction(str(criterion.weight)) for criterion in judge.asked]
    mean = sum(weight * Fraction(grade) for weight, grade in zip(weights, grades, strict=True)) / sum(weights)
    equal = len(set(weights)) == 1
    grades_given = [
        f"{criterion.name} {grade:g}" + ("" if equal else f" (weight {criterion.weight:g})")
        for criterion, grade in zip(judge.asked, grades, strict=True)
    ]
    explained = f"{'mean' if equal else 'weighted mean'} of {', '.join(grades_given)}: {float(mean):.4g}"
    if judge.aggregate == "mean":
        return float(mean), explained
    rounded = floor(mean + HALF)
    return float(rounded), f"{explained}, rounded to the nearest whole number, halves up: {rounded}"


def criteria_text(judge: RubricJudge) -> str:
    """Return every criterion with what each grade means, as the prompt has it after the judge's own words."""
    criteria = "\n\n".join(_criterion_text(judge, criterion) for criterion in judge.asked)
    low, high = judge.ends
    what = "For each criterion, give" if len(judge.asked) > 1 else "Give"
    between = (
        " The numbers between those described are for cases between."
        if any(len(grade_texts(criterion, low, high)) <= high - low for criterion in judge.asked)
        else ""
    )
    request = f"{what} first the reason in one sentence, then the grade, a whole number from {low} to {high}."
    return f"{criteria}\n\n{request}{between}"


def _criterion_text(judge: RubricJudge, criterion: Criterion) -> str:
    grades = grade_texts(criterion, *judge.ends).items()
    lines = [f"- {grade}: {' Or: '.join(texts)}" for grade, texts in grades]
    return "\n".join([f"{criterion.name}: {criterion.description.strip()}", *lines])


def grade_texts(criterion: Criterion, low: int, high: int) -> dict[int, list[str]]:
    """Return grade -> its descriptions, lowest first: spread evenly over the scale, halves up.

    On a scale with fewer numbers than descriptions several stand at one number; on one with more, numbers
    between have none.
    """
    last = len(criterion.grades) - 1
    texts_of: dict[int, list[str]] = {}
    for number, text in enumerate(criterion.grades):
        grade = floor(low + Fraction(number * (high - low), last) + HALF)
        texts_of.setdefault(grade, []).append(text.strip())
    return texts_of
