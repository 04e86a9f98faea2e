import pytest
from hypothesis import given
from hypothesis.strategies import integers, text

from ragstone.features.build._number_change import change_number
from ragstone.kernel.corpus.numbers import numbers_in


def changed(statement, seed="0", beside=()):
    found = change_number(statement, seed, beside)
    return None if found is None else (found.before, found.after)


def values(statement, n=40):
    """Return the values that forty seeds give the one number of a statement."""
    return {int(changed(statement, str(seed))[1].replace(",", "")) for seed in range(n)}


def test_a_number_is_moved_by_a_fifth_to_three_fifths_and_stays_as_round():
    # 50 has steps of 10: a fifth is 10, three fifths are 30.
    assert values("The tank holds 50 litres.") == {20, 30, 40, 60, 70, 80}


def test_the_same_seed_gives_the_same_change_and_the_rest_of_the_statement_stays():
    statement = "The loan of 500 is repaid over 48 months."
    first = change_number(statement, "seed")
    assert first == change_number(statement, "seed")
    assert statement.replace(first.before, first.after, 1) == first.statement != statement


@pytest.mark.parametrize(
    ("statement", "lowest", "highest"),
    [
        ("Members are at least 20 years old.", 21, 40),
        ("It takes less than 20 days.", 2, 19),
        ("It takes no more than 20 days.", 2, 19),
        ("Es dauert mindestens 20 Tage.", 21, 40),
        ("Это занимает не более 20 дней.", 2, 19),
        ("需要至少20天。", 21, 40),
    ],
)
def test_behind_a_bound_it_moves_where_the_statement_does_not_follow_from_the_true_one(
    statement, lowest, highest
):
    assert all(lowest <= value <= highest for value in values(statement))


@pytest.mark.parametrize(
    ("statement", "highest"),
    [
        ("Cover is 85% of the price.", 100),
        ("It opened on 25 March.", 28),
        ("商店于6月开业。", 12),
        ("From 8 am on.", 12),
    ],
)
def test_percentages_days_months_and_hours_stay_what_they_are(statement, highest):
    assert max(values(statement)) <= highest


def test_a_number_behind_a_bound_is_taken_only_where_there_is_no_other():
    taken = {changed("Who has more than 50 pays 20 euros.", str(seed))[0] for seed in range(20)}
    assert taken == {"20"}


def test_up_to_a_percentage_leaves_little_room_and_uses_it():
    assert values("You can borrow up to 85% of it.") <= set(range(86, 101))


def test_a_year_moves_by_years_and_a_sum_of_money_by_more():
    assert all(1979 <= year <= 2009 for year in values("The bank was founded in 1994."))
    assert any(abs(value - 1994) > 300 for value in values("It costs $1994."))


@pytest.mark.parametrize(
    ("statement", "digits"),
    [
        ("यह ऋण ४५ दिनों में मिलता है।", "०१२३४५६७८९"),
        ("المبلغ ٤٠٠ دولار", "٠١٢٣٤٥٦٧٨٩"),
        ("ใช้เวลา ๒๐ วัน", "๐๑๒๓๔๕๖๗๘๙"),
    ],
)
def test_digits_stay_in_their_script(statement, digits):
    before, after = changed(statement)
    assert before != after
    assert set(after) <= set(digits)


@pytest.mark.parametrize("statement", ["The fee is Rs 1,00,000.", "It is 1.234,5 km.", "It is 9.50 long."])
def test_separators_and_decimals_stay_where_they_are(statement):
    before, after = changed(statement)
    assert [at for at, one in enumerate(before) if not one.isdecimal()] == [
        at for at, one in enumerate(after) if not one.isdecimal()
    ]


@pytest.mark.parametrize(
    ("seed", "ordinal"), [(seed, n) for seed in range(5) for n in ("3rd", "12th", "21st")]
)
def test_english_ordinals_keep_their_ending(seed, ordinal):
    _, after = changed(f"It is on the {ordinal} floor.", str(seed))
    number, ending = int(after[:-2]), after[-2:]
    right = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    assert ending == right


def test_one_digit_of_a_telephone_number_is_changed():
    before, after = changed("Call 18002026161.")
    assert len(before) == len(after)
    assert sum(a != b for a, b in zip(before, after, strict=True)) == 1


@pytest.mark.parametrize(
    "statement",
    [
        "It has no number.",
        "One card has 1 owner and 0 fees.",
        "Version 3.11.2 came on 2020-05-12 at 10:30.",
        "It is open 24x7 and does B2B.",
        "Write to box17@bank.example or see 10.0.0.1.",
    ],
)
def test_dates_times_versions_and_zero_and_one_are_left_alone(statement):
    assert changed(statement) is None


def test_a_number_of_the_document_is_not_chosen():
    # 3 can become 2 or 4 only; both stand in the document.
    assert changed("It takes 3 days.", beside=["The 2 of them, and 4 more."]) is None
    assert {changed("It takes 3 days.", str(seed), ["2 of them"])[1] for seed in range(9)} == {"4"}


def test_ends_of_a_range_and_a_number_with_a_unit_can_be_changed():
    assert changed("It takes 24-48 hours.") is not None
    assert changed("It has a 16-digit number.")[0] == "16"


def test_numbers_are_read_in_ascii_digits():
    assert numbers_in("Von ४५ bis 1.000 in 2008年5月") == ["45", "1.000", "2008", "5"]


@given(integers(0, 10**12), text(max_size=20), integers(0, 3))
def test_whatever_the_text_the_change_is_one_number_or_none(number, around, seed):
    statement = f"{around} {number} {around}"
    found = change_number(statement, str(seed))
    if found is not None:
        assert found.before in statement
        assert found.after in found.statement
        assert found.statement != statement
