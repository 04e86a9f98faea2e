"""Numbers as text: one rule for the sign of zero and of a difference."""

import re
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

import ragstone
from ragstone.kernel.decimals import (
    decimal,
    short,
    signed_decimal,
    signed_decimals,
    unsigned_decimal,
)

SOURCES = Path(ragstone.__file__).parent
OWN_SIGN = re.compile(r'replace\("-", "−"\)|:\+z?\.\d|:\+g|["\']\+["\'] if')


def test_zero_has_no_sign_whatever_it_was_rounded_from():
    assert [decimal(-0.001), short(-0.0), signed_decimal(0.0, 3), signed_decimal(-1e-12)] == [
        "0.00",
        "0",
        "0.000",
        "0.00",
    ]


def test_a_difference_has_its_sign_and_so_has_each_end():
    assert [signed_decimal(0.12), signed_decimal(-0.12)] == ["+0.12", "−0.12"]
    assert signed_decimals(0.0, 1.2) == "0.00 to +1.20"
    assert signed_decimals(-5, 35, 1) == "−5.0 to +35.0"


def test_what_is_not_0_is_not_shown_as_0():
    assert signed_decimal(0.0013) == "+0.001"
    assert signed_decimals(0.00109, 0.1) == "+0.001 to +0.100"
    assert signed_decimals(-0.0004, 0.15) == "−0.0004 to +0.1500"


def test_a_size_has_no_sign_and_is_not_0_either():
    assert [unsigned_decimal(-0.12), unsigned_decimal(-0.0013), unsigned_decimal(0)] == [
        "0.12",
        "0.001",
        "0.00",
    ]


@given(st.floats(-100, 100), st.floats(-100, 100))
def test_ends_beside_0_are_told_from_it(low, high):
    for value, text in zip((low, high), signed_decimals(low, high).split(" to "), strict=True):
        sign = "" if abs(value) < 1e-6 and not text.strip("0.") else "+" if value > 0 else "−"
        assert text == sign + text.lstrip("+−")


def test_no_other_place_writes_signs():
    places = [path for path in SOURCES.rglob("*.py") if OWN_SIGN.search(path.read_text(encoding="utf-8"))]
    assert sorted(path.relative_to(SOURCES).as_posix() for path in places) == [
        "kernel/decimals.py",
        "kernel/document/plots/_axes.py",  # the marks of an axis, with the decimals of their step
    ]
