"""Tests of pairs of anything: with the sides exchanged, and corrected as one family."""

from collections.abc import Sequence
from typing import TypeVar

import msgspec

from ragstone.agreement.judge_board import CellComparison
from ragstone.experiments.answer_board import CellTest
from ragstone.experiments.paired import PairedComparison
from ragstone.statistics import holm
from ragstone.statistics.paired import PairedTest, Verdict

ALPHA = 0.05

TestedT = TypeVar("TestedT", PairedTest, PairedComparison, CellTest, CellComparison)

OPPOSITE: dict[Verdict, Verdict] = {"better": "worse", "worse": "better", "cannot tell": "cannot tell"}


def exchanged(test: TestedT) -> TestedT:
    """Return what a test says with its two sides exchanged; their names are the caller's to exchange."""
    there = test.difference
    difference = msgspec.structs.replace(
        there,
        value=0.0 - there.value,
        low=None if there.high is None else 0.0 - there.high,
        high=None if there.low is None else 0.0 - there.low,
    )
    return msgspec.structs.replace(test, difference=difference, verdict=OPPOSITE[test.verdict])


def as_family(tests: Sequence[TestedT]) -> list[TestedT]:
    """Return the tests with Holm's correction over all of them, and what each then says."""
    corrected = []
    for test, p_holm in zip(tests, holm([test.p for test in tests]).tolist() if tests else [], strict=True):
        better: Verdict = "better" if test.difference.value > 0 else "worse"
        verdict = better if p_holm <= ALPHA else "cannot tell"
        corrected.append(msgspec.structs.replace(test, p_holm=p_holm, family=len(tests), verdict=verdict))
    return corrected
