"""What is wrong with the criteria or the examples of a judge's file: in one sentence, with the fix."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ragstone.judging.checking.keys import ONE_CALL

if TYPE_CHECKING:
    from ragstone.judging.judge import Example, Judge


def problem_of_criteria(judge: "Judge") -> str | None:
    """Return what is wrong with the criteria of a rubric, or None."""
    if judge.kind != "rubric":
        return None
    names = [criterion.name for criterion in judge.criteria]
    if not names:
        return "a judge of kind rubric needs at least one [[criteria]] with name, description and grades."
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        return f"two criteria are named {twice[0]!r}. Give one of them another name."
    if len(names) > 1 and judge.measures in names:
        return (
            f"a criterion is named {judge.measures!r}, as is the metric of the whole. "
            "Rename the criterion, or give the whole another metric."
        )
    return None


def problem_of_grades(judge: "Judge") -> str | None:
    """Return what is wrong with the scale of a rubric, or None."""
    low, high = judge.scale
    if judge.kind == "rubric" and not (float(low).is_integer() and float(high).is_integer()):
        return f"scale = [{low:g}, {high:g}]: the grades of a rubric are whole numbers, e.g. scale = [0, 3]."
    return None


def problem_of_shots(judge: "Judge") -> str | None:
    """Return what is wrong with the number of examples that are shown, or None."""
    if judge.shots is not None and judge.shots > len(judge.examples):
        held = len(judge.examples)
        return (
            f"shots = {judge.shots}, but there {'is' if held == 1 else 'are'} {held or 'no'} [[examples]]. "
            "Add examples, or show fewer."
        )
    return None


def problem_of_examples(judge: "Judge") -> str | None:
    """Return what is wrong with the first wrong example, or None."""
    if judge.kind not in ONE_CALL:
        return None  # where examples mean nothing
    for number, example in enumerate(judge.examples, 1):
        problem = (
            _problem_of_texts(judge, example)
            or _problem_of_expected(judge, example)
            or _problem_of_reason(judge, example)
        )
        if problem:
            return f"example {number}: {problem}"
    return None


def _problem_of_texts(judge: "Judge", example: "Example") -> str | None:
    """Return which input an example lacks, or has too many, or None. An answer may be empty."""
    for name in ("question", "reference", "answer", "contexts"):
        text = getattr(example, name)
        missing = text is None or (name in ("question", "reference") and not text)
        if name in judge.inputs and missing:
            return f"it has no {name}, which the judge reads. Add it."
        if name not in judge.inputs and text is not None:
            return f"it has a {name}, which the judge does not read. Take it out, or add it to inputs."
    return None


def _problem_of_expected(judge: "Judge", example: "Example") -> str | None:
    expected = example.expected
    if judge.kind == "boolean":
        return None if isinstance(expected, bool) else f"expected = {_toml(expected)}: write true or false."
    if judge.kind == "classify":
        labels = judge.labels or {}
        return (
            None
            if expected in labels
            else f"expected = {_toml(expected)} is none of the labels: {', '.join(labels)}."
        )
    if judge.kind == "rubric" and (len(judge.criteria) > 1 or isinstance(expected, Mapping)):
        return _problem_of_table(judge, expected, "expected") or next(
            filter(None, (_problem_of_score(judge, score, name) for name, score in _items(expected))), None
        )
    return _problem_of_score(judge, expected)


def _problem_of_score(judge: "Judge", score: object, criterion: str = "") -> str | None:
    """Return why a score is none that a reply could hold, or None."""
    low, high = judge.scale
    named = f"expected.{criterion}" if criterion else "expected"
    whole = isinstance(score, int | float) and not isinstance(score, bool) and float(score).is_integer()
    if not whole or not low <= float(str(score)) <= high:
        return f"{named} = {_toml(score)}: write a whole number from {low:g} to {high:g}."
    return None


def _problem_of_reason(judge: "Judge", example: "Example") -> str | None:
    reason = example.reason
    if judge.kind == "rubric" and (len(judge.criteria) > 1 or isinstance(reason, Mapping)):
        problem = _problem_of_table(judge, reason, "reason")
        blank = [name for name, text in _items(reason) if not str(text).strip()]
        return problem or (f"reason.{blank[0]} is empty. Write one." if blank else None)
    if not isinstance(reason, str):
        return f"reason is a table, which is for rubrics. A {judge.kind} judge gives one text."
    return None if reason.strip() else "its reason is empty. Write one."


def _problem_of_table(judge: "Judge", given: object, key: str) -> str | None:
    """Return where a table of an example differs from the criteria, or None."""
    names = [criterion.name for criterion in judge.criteria]
    if not isinstance(given, Mapping):
        return f"{key} gives one value for {len(names)} criteria. Write a table with {', '.join(names)}."
    lacking = [name for name in names if name not in given]
    if lacking:
        return f"{key} lacks the criterion {lacking[0]!r}. Add it."
    unknown = [name for name in given if name not in names]
    if unknown:
        return f"{key} names {unknown[0]!r}, which is none of the criteria: {', '.join(names)}."
    return None


def _items(given: object) -> list[tuple[str, object]]:
    return list(given.items()) if isinstance(given, Mapping) else []


def _toml(value: object) -> str:
    """Return a value as the file has it."""
    return (
        str(value).lower()
        if isinstance(value, bool)
        else f"{value:g}"
        if isinstance(value, float)
        else repr(value)
    )
