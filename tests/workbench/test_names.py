"""Which names people may take, and under which form they are found."""

import pytest
from hypothesis import given
from hypothesis.strategies import text

from ragstone.kernel.errors import DataError
from ragstone.workbench.names import checked_name, look_alike, name_key


@pytest.mark.parametrize(
    "name",
    [
        "",
        "   ",
        "x" * 65,
        "Anna\u202eneB",
        "An\x00na",
        "a\u200bnna",
        "\ud800",
        "Doe, Jane",
        "Adjudicator Ann",
        "Raе",  # the last letter is Cyrillic
        "Αlice",  # Greek
        "Ann٣",  # a digit of Arabic
        "An\u034fna",
        "Ann\ufe0fa",
        "\u3164",
    ],
)
def test_names_that_would_look_like_others_are_refused(name):
    with pytest.raises(DataError):
        checked_name(name)


@pytest.mark.parametrize(
    "name", ["Åsa", "می‌خواهم", "ක්‍ෂ", "李雷", "O'Brien <b>", "x" * 64, "Вова 2", "田中 ケンさん", "김 Kim"]
)
def test_names_of_the_world_are_names(name):
    assert checked_name(name) == name


@given(text())
def test_a_name_is_kept_as_it_is_or_refused(name):
    try:
        kept = checked_name(name)
    except DataError:
        return
    assert checked_name(kept) == kept
    assert "\n" not in kept


@given(text())
def test_a_name_is_found_however_it_is_spaced_and_looks_like_itself(name):
    assert name_key(f"  {name}\t") == name_key(name)
    assert look_alike(name, f" {name} ")
