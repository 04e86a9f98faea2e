"""How many simulated users met their goal, worked by hand."""

import pytest

from ragstone.features.simulate.goals import summarise_goals
from ragstone.kernel.records import Answer
from ragstone.kernel.statistics import wilson_interval


def row(name, met, n_turns=2, ended="silence", persona=None):
    noted = {"persona": persona or name, "goal_met": met, "n_turns": n_turns, "ended": ended}
    return Answer(question_id=name, answer="", metadata=noted)


def test_the_share_is_of_those_of_which_it_is_known_and_failures_are_counted():
    rows = [
        row("a", True, 2, "goal"),
        row("b", True, 3, "goal"),
        row("c", False),
        row("d", None, ended="error"),
        Answer(question_id="e", answer="no conversation"),
        Answer(question_id="f", answer="", metadata={"persona": "x"}),
    ]
    found = summarise_goals(rows)
    assert (found.n, found.n_personas, found.n_unknown, found.missed) == (4, 4, 1, ["c"])
    assert (found.met.value, found.met.n) == (pytest.approx(2 / 3), 3)
    assert (found.met.low, found.met.high) == pytest.approx(wilson_interval(2, 3))
    assert found.turns.value == 2.5
    assert found.ended == {"goal": 2, "silence": 1, "error": 1}


def test_conversations_of_one_persona_are_one_cluster():
    alone = summarise_goals([row(f"a{n}", n < 6) for n in range(12)])
    together = summarise_goals([row(f"a{n}", n < 6, persona=str(n // 3)) for n in range(12)])
    assert alone.met.value == together.met.value == 0.5
    assert together.met.high - together.met.low > alone.met.high - alone.met.low


def test_of_nothing_nothing_is_said():
    found = summarise_goals([])
    assert (found.n, found.met, found.turns, found.ended) == (0, None, None, {})
