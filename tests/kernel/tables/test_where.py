"""Filters in words: what they ask of a row, and what is said where they cannot be read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.kernel.errors import DataError
from ragstone.kernel.tables.where import (
    MOST_PARTS,
    Kind,
    bound,
    columns_asked,
    conditions_in,
    holds,
    name_in_filter,
    value_in_filter,
)

COLUMNS: dict[str, Kind] = {
    "correctness": "number",
    "rubric@scale=0-10,shots=2": "number",
    "topic": "text",
    "reference": "text",
    "correctness_status": "text",
    "flips": "yes_no",
}
ROWS = [
    {"correctness": 20.0, "topic": "Maize", "flips": True, "correctness_status": "scored"},
    {"correctness": 80.0, "topic": "wheat", "flips": False, "reference": ["Sow in May", "In May"]},
    {"topic": None, "flips": False, "correctness_status": "timeout", "rubric@scale=0-10,shots=2": 3.0},
]


def kept(text: str) -> list[int]:
    condition = bound(text, COLUMNS)
    return [at for at, row in enumerate(ROWS) if holds(condition, row)]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("correctness < 50", [0]),
        ("correctness >= 20", [0, 1]),
        ("CORRECTNESS > 2e1", [1]),
        ("correctness != 20", [1, 2]),
        ("correctness == 20", [0]),
        ("correctness = none", [2]),
        ("correctness != none", [0, 1]),
        ("correctness in (20, 80)", [0, 1]),
        ("correctness in (20, none)", [0, 2]),
        ("not correctness < 50", [1, 2]),
        ('topic = "maize"', [0]),
        ("topic = MAIZE", [0]),
        ("topic != maize", [1, 2]),
        ("topic in (maize, wheat)", [0, 1]),
        ("topic = none", [2]),
        ("topic ~ 'hea'", [1]),
        ("reference = 'in may'", [1]),
        ("reference ~ sow", [1]),
        ("reference != 'in may'", [0, 2]),
        ("correctness_status = timeout", [2]),
        ("flips", [0]),
        ("not flips", [1, 2]),
        ("flips = false", [1, 2]),
        ("flips != true", [1, 2]),
        ("`rubric@scale=0-10,shots=2` <= 3", [2]),
        ("correctness < 50 and topic = maize and flips", [0]),
        ("correctness > 50 or topic = none and flips", [1]),  # `and` binds closer
        ("(correctness > 50 or topic = none) and not flips", [1, 2]),
        ("topic = 'and'", []),
    ],
)
def test_a_filter_keeps_the_rows_that_meet_it(text, rows):
    assert kept(text) == rows


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "correctness",
        "correctness <",
        "correctness < high",
        "correctness < 'x'",
        "correctness ~ 5",
        "correctness < 1e999",
        "correctness < nan",
        "correctness < none",
        "correctnes < 50",
        "topic < maize",
        "topic",
        "topic = ",
        "flips = maybe",
        "flips ~ true",
        "(correctness < 50",
        "correctness < 50)",
        "correctness < 50 topic = maize",
        "correctness < 50 and",
        "and correctness < 50",
        "correctness in ()",
        "correctness in (1, 2",
        "correctness in 1",
        "not",
        'topic = "maize',
        "correctness < 50; drop table cells",
        "rubric@scale=0-10,shots=2 < 3",
        "& correctness",
    ],
)
def test_what_cannot_be_read_is_named_with_its_place(text, says):
    with pytest.raises(DataError) as refused:
        bound(text, COLUMNS)
    says(str(refused.value))


def test_a_filter_is_bounded():
    with pytest.raises(DataError, match="2,000"):
        bound("x" * 2001, COLUMNS)
    with pytest.raises(DataError, match="100 conditions"):
        bound("not " * (MOST_PARTS + 1) + "flips", COLUMNS)
    bound(" or ".join(["flips"] * MOST_PARTS), COLUMNS)


def test_a_filter_is_the_conditions_that_it_joins():
    def conditions(text: str) -> list[str]:
        return conditions_in(text, COLUMNS_OF_CHIPS)

    assert conditions("  ") == []
    assert conditions("score < 1") == ["score < 1"]
    first, second, third = "score < 1", 'topic = "a and b"', "not (x or score > 2)"
    assert conditions(f"{first} AND {second}   and {third}") == [first, second, third]
    either = "score < 1 or x"
    assert conditions(either) == [f"({either})"]
    with pytest.raises(DataError, match="at character 11"):
        conditions("score < 1 score")


COLUMNS_OF_CHIPS: dict[str, Kind] = {
    "score": "number",
    "topic": "text",
    "x": "yes_no",
    "a b": "number",
    "or": "number",
}


@given(
    st.lists(
        st.sampled_from(
            ["score < 1", "topic = 'and'", "(x or score = 2)", "not x", "`a b` != none", "`or` > 1"]
        ),
        min_size=1,
        max_size=5,
    )
)
def test_joined_again_conditions_are_the_same_filter(parts):
    text = " and ".join(parts)
    conditions = conditions_in(text, COLUMNS_OF_CHIPS)
    assert conditions == parts
    assert bound(" and ".join(conditions), COLUMNS_OF_CHIPS) == bound(text, COLUMNS_OF_CHIPS)


def test_names_and_texts_are_written_as_a_filter_takes_them():
    for name in COLUMNS_OF_CHIPS:
        bound(f"{name_in_filter(name)} != none", COLUMNS_OF_CHIPS)
    assert name_in_filter("or") == "`or`"


@given(st.text("a '\"(=`") | st.text(max_size=20))
def test_a_filter_holds_any_text(text):
    condition = bound(f"topic = {value_in_filter(text)} and topic != none", COLUMNS_OF_CHIPS)
    assert condition.parts[0].values == (text,)


def test_a_filter_tells_which_columns_it_asks_for():
    text = "not (score < 1 or x) and `a b` = 1 and score = none"
    assert columns_asked(text, COLUMNS_OF_CHIPS) == ["score", "x", "a b"]


TIMES: dict[str, Kind] = {"time": "time"}
AT = {"a": 1763856000.0, "b": 1763942399.0, "c": 1763942400.0, "d": None}
"""2025-11-23T00:00:00Z, the last second of that day, the first of the next, and none."""


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("time = 2025-11-23", "ab"),
        ("time != 2025-11-23", "cd"),
        ("time < 2025-11-23", ""),
        ("time <= 2025-11-23", "ab"),
        ("time > 2025-11-23", "c"),
        ("time >= 2025-11-23", "abc"),
        ("time >= 2025-11-23T23", "bc"),
        ("time = 2025-11-23T23:59", "b"),
        ("time <= 2025-11-23T00:00:00Z", "a"),
        ('time > "2025-11-23T00:00"', "bc"),
        ("time = none", "d"),
        ("time != none", "abc"),
        ("not time > 2025-11-23", "abd"),
    ],
)
def test_a_time_is_as_long_as_it_is_written(text, names):
    condition = bound(text, TIMES)
    assert "".join(name for name, at in AT.items() if holds(condition, {"time": at})) == names


@pytest.mark.parametrize(
    "text",
    [
        "time > yesterday",
        "time = 2025-13-01",
        "time ~ 2025",
        "time in (2025-11-23)",
        "time > none",
        "time",
        "time > 2025-11-23 10:00",
    ],
)
def test_what_is_no_time_is_refused(text, says):
    with pytest.raises(DataError) as mistake:
        bound(text, TIMES)
    says(str(mistake.value))
