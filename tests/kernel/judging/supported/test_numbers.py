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
        ("1 500", "1500 personnes", True),  # fr, es, ru, sv, pl: a space, often one that is thin or joins
        ("1500", "1 500 personnes", True),
        ("1\u00a0500", "1\u202f500 человек", True),
        ("1\u2009500", "1 500 personer", True),
        ("1 500", "1.500 Menschen", True),
        ("12 345 678", "12,345,678", True),
        ("1 500,5", "1500,5 złotych", True),
        ("1’500", "1500 Franken", True),
        ("1 500 kg", "1,5 t", True),
        ("1 500 kg", "1 500 g", False),
        ("1 500", "1 600 personnes", False),
        ("1 500", "15 000 personnes", False),
        ("1 500", "| 1 | 500 |", True),  # perhaps two numbers
        ("1\u00a0500", "| 1 | 500 |", False),
        ("500", "1 500 personnes", True),
        ("500", "1\u00a0500 personnes", False),
        ("0.125 kg", "125 g", True),
        ("1,00,000", "100000 rupees", True),
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


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("en 2020 500 personnes", ["2020", "500"]),
        ("1 500 2 000", ["1 500", "2 000"]),
        ("2.5 100", ["2.5", "100"]),
        ("06 123 456", ["06", "123 456"]),
        ("1 5000", ["1", "5000"]),
        ("1 500, 3", ["1 500", "3"]),
        ("le 3 mars, 1 500 kg", ["3", "1 500 kg"]),
    ],
)
def test_a_space_groups_threes_of_digits(text, numbers):
    assert [number.text for number in stated_numbers(text)] == numbers


def test_number_words_of_contexts_hold_a_number():
    [number] = stated_numbers("3")
    assert held_numbers([], frozenset({3.0})).hold(number)
