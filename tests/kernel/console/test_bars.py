"""Progress on standard error: what it says, and that it is silent where nobody looks."""

import io
import sys

from ragstone.kernel.console.bars import asked_now, bars
from ragstone.kernel.engine.progress import State
from ragstone.kernel.llm import Budget
from ragstone.kernel.records import Usage


class Terminal(io.StringIO):
    """Standard error as a terminal has it."""

    def isatty(self) -> bool:
        return True


def test_on_a_terminal_done_rate_in_flight_retries_and_money_are_drawn(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    state = State(made=10)
    with bars("judge correctness", 4, lambda: state) as advance:
        advance()
        state = State(made=12, in_flight=2, retries=1, spent_usd=0.5)
    drawn = terminal.getvalue()
    assert "judge correctness" in drawn
    assert "1/4" in drawn
    assert "2 in flight · 1 retries · 0.5000 USD spent" in drawn


def test_where_nobody_looks_nothing_is_drawn(capsys):
    with bars("judge correctness", 4, State) as advance:
        advance()
    assert capsys.readouterr() == ("", "")


def test_the_state_in_words_worked_by_hand(says):
    # 30 calls in 4 s are 7.5 a second.
    state = State(made=30, in_flight=64, retries=0, spent_usd=None)
    says(asked_now(state, 30, 4.0))


def test_a_run_without_a_price_has_spent_an_unknown_sum():
    from ragstone.kernel.llm.prompt import Completion

    budget = Budget()
    assert budget.spent_usd == 0
    budget.count(Completion(text="", usage=Usage(input=5)), None)
    assert budget.spent_usd is None
