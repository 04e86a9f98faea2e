"""Personal data in objects, lists, and JSON that stands in a text."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.kernel.privacy.values import mask_fields, mask_values


def test_one_value_has_one_placeholder_wherever_it_stands():
    value = {"to": ["a@b.org", "c@d.org"], "said": {"text": "Write to a@b.org.", "n": 3}, "done": True}
    assert mask_values(value) == {
        "to": ["[email-1]", "[email-2]"],
        "said": {"text": "Write to [email-1].", "n": 3},
        "done": True,
    }


@pytest.mark.parametrize(
    ("arguments", "masked"),
    [
        # Behind an escaped line end a number would stand behind a letter, and be none.
        ('{"text": "call\\n0151 23456789"}', '{"text":"call\\n[phone]"}'),
        ('{"phone": 4915123456789, "rows": 1234}', '{"phone":"[phone]","rows":1234}'),
        ('{"phone": "5551234", "order": "5551234"}', '{"phone":"[phone]","order":"5551234"}'),
        ('[{"mail": "a@b.org"}]', '[{"mail":"[email]"}]'),
        ('{"inner": "{\\"mail\\": \\"a@b.org\\"}"}', '{"inner":"{\\"mail\\":\\"[email]\\"}"}'),
    ],
)
def test_arguments_in_json_stay_json(arguments, masked):
    assert json.loads(arguments)
    assert mask_fields([("arguments", arguments)]) == [masked]


def test_json_without_personal_data_is_as_it_was_written():
    text = '{ "crop":  "maize", "n": 123456789 }'
    assert mask_fields([("arguments", text)]) == [text]


@pytest.mark.parametrize(
    "text", ["{not json a@b.org", "[" * 5000 + "a@b.org", "[" * 900 + '"a@b.org"' + "]" * 900]
)
def test_what_only_begins_like_json_is_a_text(text):
    assert mask_fields([("x", text)])[0] == text.replace("a@b.org", "[email]")


def test_the_name_of_a_field_is_read_and_is_no_part_of_it():
    assert mask_fields([("user.phone", "5551234"), ("order", "5551234")]) == ["[phone]", "5551234"]
    assert mask_fields([("a@b.org", "12 cows")]) == ["12 cows"]


texts = st.sampled_from(["a@b.org", "x", "call +49 151 23456789", "", "{", '["y"]', "é"])


@given(
    st.recursive(texts | st.integers() | st.none(), lambda one: st.lists(one) | st.dictionaries(texts, one))
)
def test_what_is_masked_once_stays_so_and_numbers_of_items_too(value):
    masked = mask_values(value)
    assert mask_values(masked) == masked
    if isinstance(value, list | dict):
        assert len(masked) == len(value)
