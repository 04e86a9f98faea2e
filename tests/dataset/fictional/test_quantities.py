import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.dataset.fictional.quantities import Quantities, draw_quantities, number_edits

MOVED = Quantities(year_shift=-20, added=3)


def with_other_numbers(text, quantities=MOVED):
    end, pieces = 0, []
    for edit in sorted(number_edits(text, quantities)):
        pieces += [text[end : edit.start], edit.new]
        end = edit.end
    return "".join([*pieces, text[end:]])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("in 1874", "in 1854"),
        ("1870-1939", "1850-1919"),
        ("(1922–26)", "(1902–06)"),
        ("the 1930s and 1930's", "the 1910s and 1910's"),
        ("2020-02-29", "2000-02-29"),
        ("17/05/2020 and 17.05.2020", "17/05/2000 and 17.05.2000"),
        ("14 May 1914", "14 May 1894"),
        ("on May 14, 1914", "on May 14, 1894"),
        ("14 de mayo de 1914", "14 de mayo de 1894"),
        ("12 fields", "15 fields"),  # 12 + 3
        ("$12,500", "$15,500"),  # 12,500 + 3,000
        ("7,000,000 km", "7,300,000 km"),
        ("1,00,000 rupees", "1,30,000 rupees"),
        ("98 trees", "101 trees"),
        ("37.6 billion", "40.6 billion"),
        ("a 209-acre field", "a 239-acre field"),
        ("538–710", "568–740"),
        ("60%", "69%"),  # 10 + (60 - 10 + 9) mod 90
        ("95 percent", "14 percent"),  # 10 + (95 - 10 + 9) mod 90 = 10 + 4
        ("between 12 and 15%", "between 21 and 24%"),
        ("50年で", "53年で"),
        ("१९४७ में", "१९२७ में"),
        ("٢٥ كتابا", "٢٨ كتابا"),
    ],
)
def test_a_number_becomes_another_of_its_form(text, expected):
    assert with_other_numbers(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        *("7 fields", "3.75 m", "0.25", "100%", "the 21st", "at 10:30", "1/24", "version 1.17.12", "MP32"),
        *("COVID-19", "the 60's", "x_12", "#42", "`1914`", "https://a.org/2015", "1234567890123", "007"),
        "12 march, 1 may and april 31",
    ],
)
def test_what_is_no_quantity_is_left_alone(text):
    assert with_other_numbers(text) == text


@given(st.integers(10, 10**9), st.integers(10, 10**9), st.integers(2, 7))
def test_larger_numbers_stay_larger(one, other, added):
    moved = Quantities(20, added)

    def number(value):
        return int(with_other_numbers(f"{value:,} fields", moved).split()[0].replace(",", ""))

    assert (one < other) == (number(one) < number(other))
    if len(str(one)) == len(str(other)):
        assert number(one) - number(other) == one - other


@given(st.integers(0, 100), st.integers(2, 7))
def test_a_percentage_stays_one(share, added):
    assert 0 <= int(with_other_numbers(f"{share}%", Quantities(20, added)).rstrip("%")) <= 100


@given(st.lists(st.integers(1000, 2029), max_size=5), st.integers(0, 20))
def test_no_year_is_moved_beyond_this_decade(years, seed):
    moved = draw_quantities([" ".join(map(str, years))], seed)
    assert all(year + moved.year_shift <= 2029 for year in years)
    assert moved.year_shift % 20 == 0 != moved.year_shift
