"""Kind `rubric`: criteria on one scale of whole numbers, each with a reason of its own, in one call."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import floor
from typing import Annotated, Any

import msgspec

from ragstone.judging.finding import Finding, Part
from ragstone.judging.judge import Criterion, Judge
from ragstone.judging.replies import REASON, Field

HALF = Fraction(1, 2)


def rubric_fields(judge: Judge) -> list[Field]:
    """Return the fields of the reply: for each criterion a reason, then a grade."""
    low, high = _ends(judge)
    grade = Annotated[int, msgspec.Meta(ge=low, le=high)]
    return [
        field
        for criterion in judge.criteria
        for field in (
            Field(f"{criterion.name}_reason", REASON, "one sentence"),
            Field(f"{criterion.name}_score", grade, f"a whole number from {low} to {high}"),
        )
    ]


def rubric_finding(judge: Judge, values: Mapping[str, Any]) -> Finding:
    """Return the composite of the grades, with a part for each criterion.

    The composite is the mean of the grades by their weights; with `rounded_mean` it is rounded to the nearest
    whole number, halves up. Of a single criterion it is the grade, and the rationale is the reason.
    """
    parts = tuple(
        Part(
            metric=criterion.name,
            score=float(values[f"{criterion.name}_score"]),
            rationale=values[f"{criterion.name}_reason"].strip() or None,
        )
        for criterion in judge.criteria
    )
    if len(parts) == 1:
        return Finding(score=parts[0].score, rationale=parts[0].rationale)
    score, rationale = _composite(judge, [part.score for part in parts])
    return Finding(score=score, rationale=rationale, parts=parts)


def _composite(judge: Judge, grades: Sequence[float]) -> tuple[float, str]:
    """Return the composite of the criteria's grades, and how it came about."""
    # Fractions: as floats, grades whose mean is a half may come out below it, and be rounded down.
    weights = [Fraction(str(criterion.weight)) for criterion in judge.criteria]
    mean = sum(weight * Fraction(grade) for weight, grade in zip(weights, grades, strict=True)) / sum(weights)
    equal = len(set(weights)) == 1
    given = [
        f"{criterion.name} {grade:g}" + ("" if equal else f" (weight {criterion.weight:g})")
        for criterion, grade in zip(judge.criteria, grades, strict=True)
    ]
    said = f"{'mean' if equal else 'weighted mean'} of {', '.join(given)}: {float(mean):.4g}"
    if judge.aggregate == "mean":
        return float(mean), said
    rounded = floor(mean + HALF)
    return float(rounded), f"{said}, rounded to the nearest whole number, halves up: {rounded}"


def criteria_text(judge: Judge) -> str:
    """Return every criterion with what each grade means, as the prompt has it after the judge's own words."""
    criteria = "\n\n".join(_criterion_text(judge, criterion) for criterion in judge.criteria)
    low, high = _ends(judge)
    what = "For each criterion, give" if len(judge.criteria) > 1 else "Give"
    between = (
        " The numbers between those described are for cases between."
        if any(len(grade_texts(criterion, low, high)) <= high - low for criterion in judge.criteria)
        else ""
    )
    asked = f"{what} first the reason in one sentence, then the grade, a whole number from {low} to {high}."
    return f"{criteria}\n\n{asked}{between}"


def _criterion_text(judge: Judge, criterion: Criterion) -> str:
    grades = grade_texts(criterion, *_ends(judge)).items()
    lines = [f"- {grade}: {' Or: '.join(texts)}" for grade, texts in grades]
    return "\n".join([f"{criterion.name}: {criterion.description.strip()}", *lines])


def grade_texts(criterion: Criterion, low: int, high: int) -> dict[int, list[str]]:
    """Return grade -> its descriptions, lowest first: spread evenly over the scale, halves up.

    On a scale with fewer numbers than descriptions several stand at one number; on one with more, numbers
    between have none.
    """
    last = len(criterion.grades) - 1
    found: dict[int, list[str]] = {}
    for place, text in enumerate(criterion.grades):
        grade = floor(low + Fraction(place * (high - low), last) + HALF)
        found.setdefault(grade, []).append(text.strip())
    return found


def _ends(judge: Judge) -> tuple[int, int]:
    low, high = judge.scale
    return int(low), int(high)
