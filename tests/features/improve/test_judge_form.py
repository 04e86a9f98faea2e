"""A judge's text as fields, and what is typed into them as text."""

import tomllib
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.features.improve.test_toml_text import TEXTS

from ragstone.features.improve.draft_forms import DraftText, check_draft, messages_of
from ragstone.features.improve.judge_files import parse_draft
from ragstone.features.improve.judge_form import FieldChange, FieldError, changed_text, form_of

FILE = Path("/somewhere/mine.toml")
BOOLEAN = """# Written by hand.
name    = "mine"
version = 4  # the fourth
kind    = "boolean"
inputs  = ["question", "answer"]
scale   = [0, 1]
source  = "own"
prompt  = \"\"\"
Does {answer} reply to {question}?
\"\"\"
"""
RUBRIC = """name = "mine"
version = 1
kind = "rubric"
inputs = ["answer"]
scale = [0, 2]
source = "own"
prompt = "You grade {answer}."

# the first
[[criteria]]
name = "short"
description = "is {answer} short?"
grades = ["no", "so so", "yes"]
"""


def typed(text: str, *place: str | int, value: object, **more: bool) -> str:
    return changed_text(text, [FieldChange(place=[*place], value=value, **more)], FILE)


def checked(text: str, *changes: FieldChange):
    return check_draft(DraftText(text, [*changes]), FILE, lambda new: messages_of(parse_draft(new, FILE)))


def test_a_field_shows_a_value_and_a_change_of_it_leaves_the_rest():
    fields = {tuple(field.place): field for field in form_of(BOOLEAN, FILE).fields}
    prompt = tomllib.loads(BOOLEAN)["prompt"].strip()
    assert fields["prompt",].value == prompt
    assert fields["scale",].input == "fixed"
    assert "function" not in fields["kind",].choices
    changed = typed(BOOLEAN, "source", value="  a paper  ")
    assert changed == BOOLEAN.replace('"own"', '"a paper"')
    assert typed(BOOLEAN, "prompt", value=prompt) == BOOLEAN


def test_what_a_prompt_names_is_what_the_judge_reads(says):
    changed = typed(BOOLEAN, "prompt", value="Does {reference} say what {answer} says?")
    assert tomllib.loads(changed)["inputs"] == ["answer", "reference"]
    assert checked(changed).problem is None
    odd = typed(BOOLEAN, "prompt", value="Does {anwser} reply to {question}?")
    assert tomllib.loads(odd)["inputs"] == ["question"]  # a name that no row has is not declared
    found = checked(odd)
    says(found.problem)
    assert found.place == ["prompt"]
    column = typed(odd, "inputs", value="question, anwser")
    assert checked(column).problem is None
    (meaning,) = (each.meaning for each in checked(column).form.variables if each.name == "anwser")
    says(meaning)


def test_errors_are_those_of_the_loader_with_the_field_at_fault(says):
    found = checked(BOOLEAN, FieldChange(place=["name"], value="Not A Name"))
    assert found.place == ["name"]
    assert found.problem.startswith("mine.toml:2: ")
    assert found.text == BOOLEAN.replace('"mine"', '"Not A Name"')  # the text is what was typed
    found = checked(RUBRIC, FieldChange(place=["criteria", 0, "grades"], value="only one"))
    assert found.place == ["criteria", 0, "grades"]
    found = checked(BOOLEAN.replace('source  = "own"\n', ""))
    assert found.place == ["source"]
    found = checked(RUBRIC, FieldChange(place=["max_tokens"], value="many"))
    assert (found.place, found.text) == (["max_tokens"], RUBRIC)
    says(found.problem)


def test_a_text_that_is_no_toml_has_no_form():
    found = checked("name = ")
    assert found.form is None
    assert found.problem


def test_labels_and_criteria_are_added_and_taken_out():
    more = typed(RUBRIC, "criteria", value="calm", adds=True)
    assert [one["name"] for one in tomllib.loads(more)["criteria"]] == ["short", "calm"]
    assert checked(more).problem is None
    assert typed(more, "criteria", 1, value=None).strip() == RUBRIC.strip()
    with pytest.raises(FieldError, match="already"):
        typed(more, "criteria", value="calm", adds=True)
    with pytest.raises(FieldError, match="a name first"):
        typed(more, "criteria", value=" ", adds=True)
    label = typed(BOOLEAN.replace("boolean", "classify"), "labels", value="good", adds=True)
    assert tomllib.loads(label)["labels"] == {"good": 0}


def test_a_field_that_has_gone_is_refused(says):
    with pytest.raises(FieldError) as error:
        typed(BOOLEAN, "criteria", 0, "name", value="x")
    says(error.value)


def test_a_draft_in_a_browser_cannot_become_python():
    found = checked(
        BOOLEAN.replace("boolean", "function").replace("prompt  =", 'call = "os:system"\nprompt =')
    )
    assert found.problem


@pytest.mark.long
@pytest.mark.parametrize("text", TEXTS)
def test_fields_of_every_judge_that_ships_give_its_own_text_back(text):
    fields = form_of(text, FILE).fields
    changes = [
        FieldChange(place=field.place, value=field.value) for field in fields if field.input != "fixed"
    ]
    assert changed_text(text, changes, FILE) == text


LINES = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), max_size=30)


@given(st.sampled_from(TEXTS), LINES, st.lists(LINES, max_size=3), st.integers(0, 10**6))
def test_what_is_typed_is_what_the_field_then_shows(text, line, lines, number):
    values = {"line": " ".join(line.split()), "prompt": "\n".join(lines).strip("\n"), "number": str(number)}
    for field in form_of(text, FILE).fields:
        if field.input in values and field.place[0] not in ("inputs", "kind"):
            text = changed_text(text, [FieldChange(place=field.place, value=values[field.input])], FILE)
            place = tuple(field.place)
            again = {tuple(each.place): each for each in form_of(text, FILE).fields}
            assert again[place].value == values[field.input]
    msgspec.toml.decode(text)
