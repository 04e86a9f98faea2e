"""The text of a judge's file: read again, it is the judge."""

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kernel.judging.combined.sheets import whole

from ragstone.features.improve._judge_text import judge_text
from ragstone.kernel.judging import judge_names, load_judge, parse_judge
from ragstone.kernel.judging.fields import Example
from ragstone.kernel.judging.stack import StackMember
from ragstone.kernel.judging.variant import load_members

FOLDER = Path("/a/folder")


def unloaded(judge):
    if not judge.members:
        return judge
    members = [msgspec.structs.replace(member, loaded=msgspec.UNSET) for member in judge.members]
    return msgspec.structs.replace(judge, members=members)


def read_again(judge):
    return parse_judge(judge_text(judge, FOLDER), FOLDER / "mine.toml")


@pytest.mark.parametrize("name", judge_names())
def test_every_judge_that_ships_is_read_again_as_it_was(name):
    judge = load_judge(name)
    assert unloaded(read_again(judge)) == unloaded(judge)


def test_texts_of_several_lines_stand_as_they_are_read(says):
    text = judge_text(load_judge("answered"), FOLDER)
    says(text)
    assert text.count("\n[[examples]]\n") == 4


@given(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=40),
    st.text("\"\\\n\r\t'{}# a", min_size=1, max_size=12),
)
def test_any_text_survives(one, other):
    judge = load_judge("answered")
    example = Example(expected="refused", reason=f"x{other}", question=f"q{one}", answer=other)
    changed = msgspec.structs.replace(
        judge, prompt=f"{{question}} {{answer}}\n{one}\n{other}".replace("{}", ""), examples=[example]
    )
    if next(changed.problems(), None):
        return  # the text names an input, which is another mistake
    assert read_again(changed) == changed


COVERAGE = StackMember(judge="coverage", weight=2.0, centre=0.5, spread=0.25, if_low="words are missing")
REFUSAL = StackMember(judge="no_refusal", weight=1.0, centre=1.0, spread=0.5, if_low="it does not know")
STACK = """
name = "mine"
version = 1
kind = "stack"
inputs = ["question", "reference", "answer"]
scale = [0, 1]
source = "fitted on labels"
intercept = 0.0

[[members]]
judge = "no_refusal"
weight = 0.5
centre = 0.5
spread = 0.5
"""


def test_a_stack_is_read_as_it_was_written(tmp_path):
    own = tmp_path / "own.toml"
    own.write_text(STACK)
    file = StackMember(judge=str(own), weight=0.5, centre=0.5, spread=1.0)
    curve = [(step / 10, step / 10) for step in range(1, 8)]
    judge = whole(
        "stack",
        COVERAGE,
        REFUSAL,
        file,
        intercept=-1.0,
        tuned_on=["0123456789abcdef"],
        threshold=0.25,
        curve=curve,
    )
    text = judge_text(judge, tmp_path)
    assert (
        "  [0.1, 0.1], [0.2, 0.2], [0.3, 0.3], [0.4, 0.4], [0.5, 0.5],\n  [0.6, 0.6], [0.7, 0.7],\n]\n"
        in text
    )
    assert 'judge   = "own.toml"' in text
    assert load_members(parse_judge(text, tmp_path / "copy.toml"), "copy.toml") == judge
