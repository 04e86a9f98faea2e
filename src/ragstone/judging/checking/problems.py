"""What is wrong with a judge's file, beyond its types: in one sentence, with the fix."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from ragstone.errors import nearest
from ragstone.judging.checking.keys import idle_key
from ragstone.judging.checking.parts import (
    problem_of_criteria,
    problem_of_examples,
    problem_of_grades,
    problem_of_shots,
)
from ragstone.judging.lexical import KNOWN

if TYPE_CHECKING:
    from ragstone.judging.judge import Judge

FIXED_SCALES: dict[str, tuple[float, float]] = {
    "boolean": (0, 1),
    "lexical": (0, 1),
    "percentage": (0, 100),
    "statements": (0, 1),
    "pairwise": (0, 1),
}

MOST_LABELS = 20  # as many tokens as endpoints list


def problem_of(judge: "Judge") -> str | None:
    """Return what is wrong with a judge, in one sentence, or None."""
    found = key_and_problem(judge)
    return found[1] if found else None


def key_and_problem(judge: "Judge") -> tuple[str, str] | None:
    """Return the key of the file that is wrong and, in one sentence, what is wrong with it; or None."""
    for key, check in CHECKS:
        problem = check(judge)
        if problem:
            return key, problem
    return idle_key(judge)


def _problem_of_scale(judge: "Judge") -> str | None:
    low, high = judge.scale
    if low >= high:
        return f"scale = [{low:g}, {high:g}]: give the lowest score first, then a higher one."
    fixed = FIXED_SCALES.get(judge.kind, judge.scale)
    if judge.scale != fixed:
        return f"a {judge.kind} judge has scale = [{fixed[0]:g}, {fixed[1]:g}]."
    return problem_of_grades(judge)


def _problem_of_measure(judge: "Judge") -> str | None:
    if judge.kind == "lexical" and judge.measure not in KNOWN:
        return f"measure = {judge.measure!r}. {nearest(str(judge.measure), KNOWN)}"
    return None


def _problem_of_asking(judge: "Judge") -> str | None:
    """Return what keeps the judge from being asked in several samples, or by a single token."""
    if judge.samples > 1 and not judge.temperature:
        return "samples above 1 at temperature 0 are all the same: give a temperature, e.g. 0.7."
    if judge.reply != "token":
        return None
    if judge.samples > 1 or judge.temperature:
        return 'reply = "token" reads the model\'s own probabilities: leave out temperature and samples.'
    low, high = judge.scale
    digits = len(judge.criteria) == 1 and 0 <= low < high <= 9
    if judge.kind == "rubric" and not digits:
        return 'reply = "token" needs a rubric of one criterion, on a scale of one-digit grades from 0 to 9.'
    if judge.kind == "classify" and len(judge.labels or {}) > MOST_LABELS:
        return f'reply = "token" tells at most {MOST_LABELS} labels apart.'
    if judge.kind not in ("rubric", "classify", "boolean"):
        return f'a {judge.kind} judge has no reply = "token": boolean, classify and rubric judges have.'
    return None


def _problem_of_labels(judge: "Judge") -> str | None:
    if judge.kind != "classify":
        return None
    low, high = judge.scale
    if not judge.labels or len(judge.labels) < 2:
        return "a judge of kind classify needs a table [labels] with at least two entries `label = score`."
    off = [label for label, score in judge.labels.items() if not low <= score <= high]
    if off:
        return f"the score of label {off[0]!r} lies off the scale [{low:g}, {high:g}]."
    return None


def _problem_of_members(judge: "Judge") -> str | None:
    """Return what its own file shows of it; whether members can be loaded and fit: see members.py."""
    if not judge.members and judge.kind not in ("jury", "cascade"):
        return None
    if judge.kind not in ("jury", "cascade"):
        return f"a {judge.kind} judge has no members. Take them out, or write kind = 'jury' or 'cascade'."
    if len(judge.members) < 2:
        return f"a {judge.kind} needs at least two entries [[members]]."
    if judge.samples > 1 or judge.temperature or judge.reply == "token":
        return (
            "temperature, samples and reply are its members' own: write them there, "
            "e.g. judge = 'answered@token'."
        )
    *firsts, last = judge.members
    if judge.kind == "jury" and any(member.unsure for member in judge.members):
        return "unsure is for a cascade: the members of a jury all judge. Take it out."
    if judge.kind == "cascade" and last.unsure:
        return f"the last member, {last.judge!r}, has nobody to hand an answer on to. Take out its unsure."
    lacking = [member.judge for member in firsts if not member.unsure]
    if judge.kind == "cascade" and lacking:
        return (
            f"member {lacking[0]!r} needs unsure = [from, to]: the scores with which it hands an answer on."
        )
    return None


def _problem_of_prompts(judge: "Judge") -> str | None:
    if judge.members or not judge.needs_model:  # whether members need one is not asked: they may be missing
        return None
    two_prompts = judge.kind == "statements" and not judge.checks_contexts
    for name in ["prompt", "verify"] if two_prompts else ["prompt"]:
        if not getattr(judge, name):
            return f"a judge of kind {judge.kind} needs a {name}."
    problem = _problem_of_sides(judge) if judge.kind == "statements" else None
    if problem:
        return problem
    return _problem_of_names(judge, judge.prompt or "")


def _problem_of_wordings(judge: "Judge") -> str | None:
    for name, text in judge.prompts.items():
        problem = _problem_of_names(judge, text)
        if problem:
            return f"prompts.{name}: {problem}"
    return None


def _problem_of_sides(judge: "Judge") -> str | None:
    """Return what a judge of kind `statements` has nothing to check by, or nothing to show it with."""
    if judge.checks_contexts and judge.verify:
        return "a judge of contexts alone has no verify: its prompt asks for the verdict on each context."
    if judge.checks_claims and not {"answer", "reference"}.issubset(judge.inputs):
        return (
            "a judge of kind statements checks against contexts, or answer and reference against each other: "
            "add what it checks by to inputs."
        )
    if not judge.checks_contexts and judge.verify and "{statements}" not in judge.verify:
        return "verify does not name {statements}. Write {statements} where it speaks of what to check."
    return None


def _problem_of_names(judge: "Judge", prompt: str) -> str | None:
    """Return where a prompt and the declared inputs differ, or None."""
    criteria = [text for one in judge.criteria for text in (one.description, *one.grades)]
    told = "\n".join([prompt, judge.verify or "", *criteria])
    named = set(re.findall(r"\{(\w+)\}", told)) - {"statements"}
    if judge.kind == "pairwise":
        if judge.samples > 1:
            return "a pairwise judge is asked once in each order: leave out samples."
        if "contexts" in judge.inputs:
            return "a pairwise judge reads question, reference and answer: each answer has its own contexts."
        if lacking := {"answer_1", "answer_2"} - named:
            return f"the prompt does not name {{{min(lacking)}}}, one of the two answers to compare."
        named = named - {"answer_1", "answer_2"} | {"answer"}
    undeclared, unused = named - set(judge.inputs), set(judge.inputs) - named
    if undeclared:
        return f"the prompt names {{{min(undeclared)}}}, which inputs does not declare. Add it to inputs."
    if unused:
        return (
            f"inputs declares {min(unused)!r}, which the prompt does not name. Write {{{min(unused)}}} in it."
        )
    return None


# The key that a check is about -> the check. The first that finds something is told.
CHECKS: tuple[tuple[str, Callable[["Judge"], str | None]], ...] = (
    ("scale", _problem_of_scale),
    ("reply", _problem_of_asking),
    ("measure", _problem_of_measure),
    ("members", _problem_of_members),
    ("labels", _problem_of_labels),
    ("criteria", problem_of_criteria),
    ("prompt", _problem_of_prompts),
    ("prompts", _problem_of_wordings),
    ("shots", problem_of_shots),
    ("examples", problem_of_examples),
)
