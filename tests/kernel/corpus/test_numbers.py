import pytest

from ragstone.kernel.corpus.numbers import held_values, stated_values


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("2.5 t", [{2.5}]),
        ("2,5 t", [{2.5}]),
        ("1,000 plants", [{1000.0, 1.0}]),
        ("1.500 plantas", [{1500.0, 1.5}]),
        ("1.250,75 €", [{1250.75}]),
        ("0.125 kg", [{0.125}]),
        ("١٫٥٠٠", [{1.5}]),
        ("1\u00a0500,5", [{1500.5}]),
        ("१२० किलो", [{120.0}]),
        ("٢٫٥ طن", [{2.5}]),
        ("1. Sow 3 seeds", [{3.0}]),
        ("no number", []),
    ],
)
def test_numbers_are_read_in_every_way_that_they_may_be_meant(text, values):
    assert stated_values(text) == values


def test_a_passage_holds_its_number_words_too():
    assert held_values("five to 10 pounds") == {5.0, 10.0}
    assert held_values("cinco litros") == {5.0}
    assert 7.0 in held_values("सात दिन")
