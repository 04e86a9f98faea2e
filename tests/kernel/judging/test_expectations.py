"""All judges that assert: a row that expects something else is no failure of theirs."""

import asyncio

import pytest

from ragstone.kernel.judging import judge_names, load_judge
from ragstone.kernel.judging.assertion import CHECKS, THRESHOLD, AssertionJudge
from ragstone.kernel.judging.finding import JudgeContext
from ragstone.kernel.judging.judging import judge_answer
from ragstone.kernel.records import Answer
from ragstone.kernel.tables.reading import parse_row

SHIPPED = [name for name in judge_names() if isinstance(load_judge(name), AssertionJudge)]
GOOD = {
    "regex": "a", "contains_all": ["a"], "contains_any": ["a"],
    "at_least": {"n": 1, "of": ["a", "b"]}, "valid_json": True, "max_latency": 9,
    "max_cost": 9, "max_words": 9, "cites_sources": 1,
}  # fmt: skip


def status(name: str, expect: object) -> str:
    row = {"question": "q?", "answer": "a text", "contexts": ["a text"], "latency_s": 1, "cost_usd": 1}
    own = row if expect is None else {**row, "expect": expect}
    return asyncio.run(judge_answer(load_judge(name), parse_row(own, Answer), JudgeContext()))[0].status


@pytest.mark.parametrize("name", SHIPPED)
def test_an_assertion_needs_its_entry_in_a_row_that_expects_something(name: str) -> None:
    check = load_judge(name).check
    assert status(name, {check: GOOD[check]}) == "scored"
    for other in GOOD.keys() - {check}:
        assert status(name, {other: GOOD[other]}) == "not_applicable", other


@pytest.mark.parametrize("name", SHIPPED)
def test_without_any_expectation_only_what_is_usual_is_expected(name: str) -> None:
    usual = CHECKS[load_judge(name).check].usual
    wanted = "not_applicable" if usual is None else "scored"
    assert status(name, None) == status(name, {}) == wanted


def test_all_checks_are_walked() -> None:
    assert {load_judge(name).check for name in SHIPPED} == CHECKS.keys() == GOOD.keys()
    assert THRESHOLD not in CHECKS
