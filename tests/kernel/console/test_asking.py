"""The forecast before a command that asks a model, what a terminal is asked, and how commands end."""

import json

import msgspec
import pytest
from tests.support.command import TO_FILE, ragstone
from tests.support.golden import sentence_in

from ragstone.kernel.console import asking
from ragstone.kernel.document.numbers import duration
from ragstone.kernel.llm.forecast import Forecast
from ragstone.kernel.records import Document, Judgement, Question
from ragstone.kernel.runs.summary import Calls
from ragstone.kernel.tables import read_rows, write_rows

JUDGE = ("judge", "answers.jsonl", "--judge", "correctness", "--model", "openai/fake", *TO_FILE)
PRICE = "price_usd_per_million = { input = 5000, output = 20_000 }\n"


@pytest.fixture
def terminal(monkeypatch):
    """Let the command believe that a person sits before it, and say what it answers."""
    monkeypatch.setattr(asking, "on_terminal", lambda: True)

    def says(word: str) -> list[str]:
        asked: list[str] = []

        def confirm(text: str, **_options: object) -> bool:
            asked.append(text)
            return word == "y"

        monkeypatch.setattr(asking.typer, "confirm", confirm)
        return asked

    return says


def forecast(calls: int, cost_usd: float | None) -> Forecast:
    return Forecast(
        calls=calls, from_ledger=0, input=0, output=0, cost_usd=cost_usd, duration_s=None, models=[]
    )


def test_before_a_run_the_forecast_stands_on_standard_error(project, says):
    ran = ragstone(*JUDGE)
    assert ran.code == 0
    first, grounds = ran.err.splitlines()[:2]
    says(first)
    says(grounds)
    assert "no earlier call" in grounds
    assert "Forecast" not in ran.out


def test_calls_in_the_ledger_are_subtracted_and_earlier_ones_tell_the_time(project):
    ragstone(*JUDGE, "--limit", 2, "-o", "pilot.jsonl")
    ran = ragstone(*JUDGE)
    assert ran.err.startswith("Forecast: about 4 calls (and 2 calls in the ledger), ")
    assert "lengths and times as in 2 earlier calls" in ran.err
    assert ragstone(*JUDGE, "--force").err.startswith("Forecast: nothing to ask; 6 calls in the ledger.")


def test_baselines_and_offline_runs_have_no_forecast(project):
    assert "Forecast" not in ragstone("judge", "answers.jsonl", "--judge", "containment", *TO_FILE).err
    assert "Forecast" not in ragstone(*JUDGE, "--offline", "-o", "offline.jsonl").err


def test_with_nobody_to_ask_a_forecast_is_made_for_a_budget_alone(project):
    assert "Forecast" not in ragstone(*JUDGE, "--yes", "--limit", 1).err
    assert "Forecast" in ragstone(*JUDGE, "--yes", "--budget", "9calls", "--force").err
    assert "Forecast" in ragstone(*JUDGE, "--yes", "--forecast").out


@pytest.mark.parametrize("command", [JUDGE, ("run",), ("answer",)])
def test_forecast_alone_makes_no_call_and_writes_no_rows(project, fake_openai, command):
    with (project / "ragstone.toml").open("a") as file:
        file.write(
            '[documents]\npaths = ["d.jsonl"]\n[questions]\npath = "q.jsonl"\n[answer]\n'
            'model = "openai/fake"\n[judge]\nmodel = "openai/fake"\njudges = ["correctness"]\n'
        )
    write_rows(project / "d.jsonl", [Document(id="d", text="Wheat is sown in autumn.")], Document)
    write_rows(project / "q.jsonl", [Question(id="q", question="When?", reference="Autumn")], Question)
    before = sorted(project.rglob("*.jsonl"))
    ran = ragstone(*command, "--forecast", "--json")
    assert ran.code == 0
    found = msgspec.json.decode(ran.out, type=Forecast)
    assert found.calls == {"judge": 6, "run": 2, "answer": 1}[command[0]]
    assert found.models[0].cost_usd is None
    assert fake_openai.n_requests == 0
    assert sorted(project.rglob("*.jsonl")) == before
    assert ragstone(*command, "--forecast").out.startswith(f"Forecast: about {found.calls} call")


def test_a_large_sum_is_asked_about_and_no_means_that_nobody_is_asked(project, fake_openai, terminal, says):
    with (project / "ragstone.toml").open("a") as file:
        file.write(PRICE)
    asked = terminal("n")
    ran = ragstone(*JUDGE)
    assert ran.code == 2
    assert asked == ["Go on?"]
    says(sentence_in(ran.err, "no model was"))
    assert fake_openai.n_requests == 0
    assert not (project / "judgements.jsonl").exists()


def test_yes_goes_on_on_the_terminal_or_as_an_option(project, fake_openai, terminal):
    with (project / "ragstone.toml").open("a") as file:
        file.write(PRICE)
    asked = terminal("n")
    assert ragstone(*JUDGE, "--yes", "--limit", 3).code == 0
    assert asked == []
    asked = terminal("y")
    assert ragstone(*JUDGE, "--force").code == 0
    assert asked == ["Go on?"]
    assert fake_openai.n_requests == 6


def test_where_nobody_sits_a_large_sum_is_shown_and_spent(project, fake_openai, says):
    with (project / "ragstone.toml").open("a") as file:
        file.write(PRICE)
    ran = ragstone(*JUDGE)
    assert ran.code == 0
    assert fake_openai.n_requests == 6
    says(ran.err)


def test_a_small_sum_is_not_asked_about(project, terminal):
    asked = terminal("n")
    assert ragstone(*JUDGE).code == 0
    assert asked == []


@pytest.mark.parametrize(
    ("calls", "cost_usd", "large"),
    [(1000, 1.0, False), (1, 1.01, True), (1001, 0.0, True), (100, None, False), (101, None, True)],
)
def test_what_a_large_sum_is(calls, cost_usd, large):
    assert asking.is_large(forecast(calls, cost_usd)) is large


def test_a_mistake_in_the_output_is_told_before_anybody_is_asked(project, terminal):
    asked = terminal("n")
    ran = ragstone(*JUDGE, "-o", "labels.jsonl")
    assert (ran.code, asked) == (2, [])
    assert "Forecast" not in ran.err


@pytest.mark.long
def test_the_deadline_ends_a_run_with_timeouts_a_valid_file_and_exit_code_4(project, fake_openai, says):
    fake_openai.latency_s = 0.35
    (project / "ragstone.toml").write_text(fake_openai.toml() + "max_concurrency = 2\n")
    ran = ragstone(*JUDGE, "--deadline", "0.9s", "--json")
    assert ran.code == 4
    rows = list(read_rows(project / "judgements.jsonl", Judgement))
    assert {row.status for row in rows} == {"scored", "timeout"}
    late = [row for row in rows if row.status == "timeout"]
    says("\n".join(sorted({row.error for row in late})))
    assert json.loads(ran.out)["calls"]["late"] == len(late)
    fake_openai.latency_s = 0.0
    assert ragstone(*JUDGE, "--deadline", "1m", "--force").code == 0


def test_a_deadline_without_a_unit_is_wrong_use(project, says):
    ran = ragstone(*JUDGE, "--deadline", "30")
    assert ran.code == 2
    says(ran.err)


def test_the_line_before_the_next_step_says_how_rows_ended_what_was_asked_and_what_it_cost(project, says):
    ragstone(*JUDGE, "--limit", 2, "-o", "pilot.jsonl")
    ran = ragstone(*JUDGE, "--budget", "3calls")
    says(ran.err.splitlines()[-2])
    says(ran.err.splitlines()[-1])


@pytest.mark.parametrize(
    ("statuses", "late", "strict", "code"),
    [
        ({"scored"}, 0, True, None),
        ({"scored", "over_budget"}, 0, False, 4),
        ({"scored", "timeout"}, 0, False, None),
        ({"scored", "timeout"}, 3, True, 4),
        ({"scored", "timeout"}, 0, True, 5),
    ],
)
def test_exit_codes(statuses, late, strict, code):
    if code is None:
        asking.leave(statuses, Calls(late=late), strict=strict)
    else:
        with pytest.raises(asking.typer.Exit) as end:
            asking.leave(statuses, Calls(late=late), strict=strict)
        assert end.value.exit_code == code


@pytest.mark.parametrize(
    ("seconds", "words"), [(0, "1 s"), (89.4, "89 s"), (90, "2 min"), (5399, "90 min"), (9000, "2.5 h")]
)
def test_durations_in_words(seconds, words):
    assert duration(seconds) == words
