"""Numbers, times and quantities."""

import pytest

from ragstone.kernel.judging.supported._numbers import held_numbers, stated_numbers


@pytest.mark.parametrize(
    ("stated", "context", "is_held"),
    [
        ("2 kg", "2,000 g of seed", True),
        ("2 kg", "2 g of seed", False),
        ("2 kg", "2 of them", True),
        ("5 miles", "8 km", True),  # 5 x 1.609344 = 8.05, less than 1 % from 8
        ("5 miles", "7.5 km", False),
        ("10 acres", "4.05 ha", True),
        ("68 °F", "20 °C", True),
        ("68 °F", "25 °C", False),
        ("2 weeks", "14 days", True),
        ("90 minutes", "1.5 hours", True),
        ("1.500", "1,500 people", True),
        ("1,5", "1.5 t", True),
        ("1.5", "15", False),
        ("17:30", "5:30 pm", True),
        ("11 AM", "11:00-23:00", True),
        ("11 AM", "23:00", False),
        ("٣", "3", True),
        ("१२", "12", True),
        ("12345678901234567890", "12345678901234567890", True),
        ("12345678901234567891", "12345678901234567890", False),
        ("3", "three", False),  # words come as `spelled`, below
    ],
)
def test_what_contexts_hold(stated, context, is_held):
    [number] = stated_numbers(stated)
    assert held_numbers([context], frozenset()).hold(number) is is_held


def test_number_words_of_contexts_hold_a_number():
    [number] = stated_numbers("3")
    assert held_numbers([], frozenset({3.0})).hold(number)
