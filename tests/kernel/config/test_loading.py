"""Text of TOML, written and read."""

import tomllib

from hypothesis import given
from hypothesis import strategies as st

from ragstone.kernel.config import to_toml

texts = st.text() | st.text(st.characters(max_codepoint=0x9F))  # control characters often


@given(
    texts
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
)
def test_a_value_comes_back_from_its_line(value):
    line = to_toml(value)
    assert tomllib.loads(f"key = {line}") == {"key": value}
    assert "\n" not in line


@given(st.lists(texts))
def test_a_list_of_texts_comes_back_from_its_line(values):
    assert tomllib.loads(f"key = {to_toml(values)}") == {"key": values}
