"""What an agent reads: pages that are short enough, and a fence that no text can close."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.kernel.errors import DataError
from ragstone.mcp.replies import MOST_BYTES, fenced


def test_the_data_is_between_two_lines_with_a_mark(says):
    says(fenced("Two rows.", "a\nb", nonce=lambda: "mark"))


def test_a_page_that_there_is_not_is_told(says):
    with pytest.raises(DataError) as mistake:
        fenced("", "x", 2)
    says(str(mistake.value))


def test_two_replies_have_two_marks():
    assert len({fenced("", "x") for _ in range(20)}) == 20


@given(st.text(max_size=200) | st.text(alphabet="🌽\n\u2028a", max_size=60).map(lambda text: text * 2_000))
def test_pages_hold_all_of_the_text_and_are_short(text):
    parts, page = [], 1
    while True:
        reply = fenced("Said.", text, page, nonce=lambda: "mark")
        assert len(reply.encode()) <= MOST_BYTES
        assert reply.count("\n----- mark") == 2
        parts.append(reply.split("\n----- mark")[1].removeprefix("\n"))
        if f"Continue with page={page + 1}" not in reply:
            break
        page += 1
    left = "".join(parts).replace("\n", "")
    assert left == fenced_alone(text)


def fenced_alone(text: str) -> str:
    """Return what harmless leaves of a text, without its line ends."""
    from ragstone.kernel.errors import harmless

    return (harmless(text).strip() or "(nothing)").replace("\n", "")
