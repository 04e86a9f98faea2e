"""The text of a judge's file: read again, it is the judge."""

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.kernel.judging import judge_names, load_judge, parse_judge
from ragstone.kernel.judging.fields import Example
from ragstone.kernel.judging.writing import judge_text

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
