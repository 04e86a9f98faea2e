from hypothesis import given
from hypothesis import strategies as st

from ragstone_assistant.tools.plain_text import shortened


def test_a_long_text_ends_with_a_whole_word_and_an_ellipsis():
    assert shortened("apply irrigation only when it is needed", 24) == "apply irrigation only…"
    assert shortened("apply irrigation, then wait for the rain", 19) == "apply irrigation…"
    assert shortened("apply irrigation only", 21) == "apply irrigation only"


def test_the_mark_may_be_another_and_counts():
    assert shortened("one two three four five", 17, " […]") == "one two three […]"


def test_without_spaces_it_is_cut_where_it_must_be():
    assert shortened("玉米" * 20, 5) == "玉米玉米…"


@given(st.text(), st.integers(5, 60))
def test_it_is_never_too_long_and_begins_as_the_text_does(text, most):
    short = shortened(text, most)
    assert len(short) <= most
    assert text.startswith(short.removesuffix("…"))
