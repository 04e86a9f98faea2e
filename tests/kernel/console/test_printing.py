import pytest
from tests.support.command import TO_FILE, ragstone

from ragstone.kernel.errors import harmless
from ragstone.kernel.records import Answer
from ragstone.kernel.tables import write_rows

UNRULY = ["\x1b[31m", "\x07", "\x9b2J", "\u202e", "\u2066", "\r", "\x00"]


@pytest.mark.parametrize("text", UNRULY)
def test_no_character_that_does_something_to_a_terminal_is_left(text):
    said = harmless(f"a{text}b")
    assert text[0] not in said
    assert said.startswith("a\ufffd")
    assert said.endswith("b")


def test_words_of_any_script_lines_and_tabs_stay_as_they_are():
    text = "a\tb\nक्षेत्र 中文 عربي é"
    assert harmless(text) == text


def test_a_name_from_outside_does_nothing_to_the_terminal(project):
    name = "\x1b[31mred\u202e"
    hostile = Answer(question_id="q", system=name, question="?", reference="x", answer="x")
    other = Answer(question_id="q", system="plain", question="?", reference="x", answer="x")
    write_rows("hostile.jsonl", [hostile, other], Answer)
    ran = ragstone("judge", "hostile.jsonl", "--judge", "containment", *TO_FILE)
    assert ran.code == 0
    assert "red" in ran.out
    assert "\x1b" not in ran.out + ran.err
    assert "\u202e" not in ran.out + ran.err
