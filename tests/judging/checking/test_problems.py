"""What is said of a wrong judge file: one sentence with the fix, and the line where it stands."""

import re
from pathlib import Path

import pytest

from ragstone.errors import ConfigError
from ragstone.judging import parse_judge

RUBRIC = """\
name = "tone"
version = 1
kind = "rubric"
inputs = ["question", "answer"]
scale = [0, 2]
source = "ours"
prompt = "Grade {answer} as a reply to {question}."
shots = 1

[[criteria]]
name = "warmth"
description = "is it warm?"
grades = ["no.", "somewhat.", "yes."]

[[criteria]]
name = "care"
description = "does it take care?"
grades = ["no.", "yes."]

[[examples]]
question = "When?"
answer = "Soon, dear friend."
expected = { warmth = 2, care = 0 }
reason = { warmth = "dear friend", care = "vague" }
"""
BOOLEAN = """\
name = "polite"
version = 1
kind = "boolean"
inputs = ["answer"]
scale = [0, 1]
source = "ours"
prompt = "Is {answer} polite?"

[[examples]]
answer = "Please wait."
expected = true
reason = "It says please."
"""


def problem_of(text):
    with pytest.raises(ConfigError) as caught:
        parse_judge(text, Path("tone.toml"))
    return str(caught.value)


def changed(text, before, after):
    assert before in text
    return text.replace(before, after, 1)


def test_the_files_of_these_tests_are_sound():
    assert parse_judge(RUBRIC, Path("tone.toml")).metrics == ["tone", "warmth", "care"]
    assert parse_judge(BOOLEAN, Path("polite.toml")).shown


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        ("scale = [0, 2]", "scale = [0, 0.5]", r"tone.toml:5: .*whole numbers, e.g. scale = \[0, 3\]"),
        ('name = "care"', 'name = "warmth"', r"tone.toml:10: two criteria are named 'warmth'"),
        ('name = "care"', 'name = "tone"', r"tone.toml:10: .*named 'tone', as is the metric"),
        ("grades = [", "grade = [", r"tone.toml:13: unknown key 'grade'. Did you mean 'grades'"),
        (
            '["question", "answer"]',
            '["questions", "answer"]',
            r"tone.toml:4: unknown inputs 'questions'. Did you",
        ),
        ('["no.", "somewhat.", "yes."]', '["no."]', r"tone.toml:10: .*length >= 2"),
        ("is it warm?", "is it warm, {reference}?", r"tone.toml:7: .*names \{reference\}, which inputs does"),
        ("shots = 1", "shots = 2", r"tone.toml:8: shots = 2, but there is 1 \[\[examples\]\]"),
        ("warmth = 2, care", "warmth = 3, care", r"example 1: expected.warmth = 3: write a whole .* 0 to 2"),
        ("warmth = 2, care", "warmth = 1.5, care", r"example 1: expected.warmth = 1.5: write a whole number"),
        ("care = 0 }", "car = 0 }", r"tone.toml:20: example 1: expected lacks the criterion 'care'"),
        ("care = 0 }", "care = 0, cost = 1 }", r"expected names 'cost', which is none of the criteria"),
        ("{ warmth = 2, care = 0 }", "2", r"expected gives one value for 2 criteria. Write a table with"),
        ('care = "vague"', 'care = " "', r"example 1: reason.care is empty"),
        (', care = "vague"', "", r"example 1: reason lacks the criterion 'care'"),
        ('question = "When?"\n', "", r"example 1: it has no question, which the judge reads"),
        ('question = "When?"', 'question = ""', r"example 1: it has no question, which the judge reads"),
        ('answer = "Soon', 'contexts = ["x"]\nanswer = "Soon', r"has a contexts, which the judge does not"),
        ("shots = 1", "labels = { a = 1, b = 2 }", r"tone.toml:8: labels means nothing .* kind rubric"),
        ("shots = 1", 'reply = "token"', r'tone.toml:8: reply = "token" needs a rubric of one criterion'),
    ],
)
def test_a_wrong_rubric_is_told_with_line_and_fix(before, after, says):
    assert re.search(says, problem_of(changed(RUBRIC, before, after)), re.DOTALL)


def test_a_rubric_without_criteria_says_what_it_lacks():
    text = RUBRIC[: RUBRIC.index("shots")]
    assert problem_of(text) == (
        "tone.toml: a judge of kind rubric needs at least one [[criteria]] with name, description and grades."
    )


def test_a_criterion_alone_may_be_named_like_the_metric_and_needs_no_tables():
    first, second = RUBRIC.index('[[criteria]]\nname = "care"'), RUBRIC.index("[[examples]]")
    one = changed(RUBRIC[:first] + RUBRIC[second:], '"warmth"', '"tone"')
    one = changed(one, "{ warmth = 2, care = 0 }", "2")
    one = changed(one, '{ warmth = "dear friend", care = "vague" }', '"dear friend"')
    assert parse_judge(one, Path("tone.toml")).metrics == ["tone"]


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        (
            "scale =",
            "labels = { a = 1, b = 0 }\nscale =",
            "labels means nothing .* for classify. Take it out",
        ),
        ("scale =", 'aggregate = "rounded_mean"\nscale =', "aggregate means nothing .* kind boolean"),
        ("scale =", 'measure = "chrf"\nscale =', "tone.toml:5: measure means nothing .* it is for lexical"),
        ("scale =", 'verify = "{answer}"\nscale =', "verify means nothing"),
        ("scale =", 'combine = "median"\nscale =', "combine means nothing .* it is for jury"),
        ("expected = true", "expected = 1", "example 1: expected = 1: write true or false"),
        ('reason = "It says please."', 'reason = ""', "example 1: its reason is empty"),
        ('reason = "It says please."', 'reason = { a = "b" }', "reason is a table, which is for rubrics"),
        ('answer = "Please wait."\n', "", "example 1: it has no answer"),
        (
            'kind = "boolean"',
            'kind = "classify"\nlabels = { polite = 1, rude = 0 }',
            "expected = true is none of the labels: polite, rude",
        ),
        ('kind = "boolean"', 'kind = "lexical"\nmeasure = "chrf"', "prompt means nothing .* kind lexical"),
    ],
)
def test_keys_that_mean_nothing_and_wrong_examples_are_told(before, after, says):
    assert re.search(says, problem_of(changed(BOOLEAN, before, after)))


@pytest.mark.parametrize(("expected", "sound"), [("0", True), ("100", True), ("101", False), ("true", False)])
def test_an_example_of_a_percentage_has_a_whole_number_from_0_to_100(expected, sound):
    text = changed(BOOLEAN, 'kind = "boolean"', 'kind = "percentage"')
    text = changed(changed(text, "[0, 1]", "[0, 100]"), "expected = true", f"expected = {expected}")
    if sound:
        assert parse_judge(text, Path("tone.toml")).examples
    else:
        assert "write a whole number from 0 to 100" in problem_of(text)


def test_a_prompt_of_another_wording_is_checked_too():
    text = changed(BOOLEAN, "[[examples]]", '[prompts]\nshort = "Polite?"\n\n[[examples]]')
    assert "declares 'answer', which the prompt does not name" in problem_of(text)
