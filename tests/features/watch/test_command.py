"""`ragstone watch` on a command line: what it tells, its exit codes, killed and stopped."""

import datetime
import json
import signal
import sqlite3
import subprocess
import time
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from tests.support.command import ragstone, started
from tests.support.fake_openai import let_go, serving_as, stats
from tests.support.plain_rows import judgement_row
from tests.support.texts import lines_with

from ragstone.kernel.records import Judgement
from ragstone.kernel.tables import write_rows

N_ROWS = 60
BEGIN = datetime.date(2026, 1, 1)


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def line(n: int, **more: object) -> str:
    row = {"id": f"x{n}", "question": f"Why does field {n} dry out?", "answer": f"It lacks water {n}."}
    return json.dumps({**row, "time": "2026-01-01T10:00:00Z", **more}) + "\n"


def write_log(folder: Path, n_rows: int = N_ROWS) -> None:
    (folder / "log.jsonl").write_text("".join(map(line, range(n_rows))))


def write_settings(folder: Path, base_url: str, more: str = "") -> None:
    (folder / "ragstone.toml").write_text(
        f'[monitor]\nmodel = "openai/fake"\njudges = ["answered"]\ncanaries = 0\n{more}\n'
        f'[models."openai/fake"]\nbase_url = "{base_url}"\nmax_concurrency = 4\n'
    )


@pytest.mark.parametrize(
    ("more", "is_told"), [("", False), ('budget_per_day = "50calls"', True)], ids=["no budget", "a budget"]
)
def test_yes_forecasts_only_where_a_budget_of_the_day_is_set(fake_openai, tmp_path, more, is_told):
    write_log(tmp_path, 2)
    write_settings(tmp_path, fake_openai.base_url, more)
    ran = ragstone("watch", "log.jsonl", "--yes")
    assert (ran.code, "Forecast" in ran.err) == (0, is_told)


def test_what_was_read_and_judged_is_told(fake_openai, tmp_path, says):
    write_log(tmp_path, 5)
    with (tmp_path / "log.jsonl").open("a") as file:
        file.write("{broken\n" + line(9, time="soon"))
    write_settings(tmp_path, fake_openai.base_url)
    ran = ragstone("watch", "log.jsonl", "--all")
    assert ran.code == 0
    says(lines_with(ran.err, "rows read", "not valid JSON", "The time of", "judged now"))
    assert "about 6 calls" in ran.err
    says(lines_with(ran.out, "in the sample"))
    assert "answered=refused" in ran.out
    again = ragstone("watch", "--all")
    assert again.code == 0
    assert again.out == ran.out


def test_what_is_wrong_with_an_option_is_told_before_the_log_is_read(fake_openai, tmp_path, says):
    write_log(tmp_path, 3)
    write_settings(tmp_path, fake_openai.base_url)
    ran = ragstone("watch", "log.jsonl", "--judgements", "nowhere.jsonl")
    assert ran.code == 2
    says(ran.err)
    assert "read" not in ran.err
    for rate in ("0", "1.5", "nan"):
        ran = ragstone("watch", "log.jsonl", "--rate", rate)
        assert (ran.code, ran.out) == (2, "")
        says(ran.err)
    assert not list(tmp_path.rglob("*.sqlite*"))


def test_the_summary_is_json_on_demand(fake_openai, tmp_path):
    write_log(tmp_path, 3)
    write_settings(tmp_path, fake_openai.base_url)
    told = json.loads(ragstone("watch", "log.jsonl", "--json").out)
    assert told["read"]["new"] == told["judged"] == 3
    assert {one["metric"] for one in told["overview"]["metrics"]} >= {"answered", "answered=answered"}
    only = json.loads(ragstone("watch", "log.jsonl", "--forecast", "--json").out)
    assert only["calls"] == 0


def test_options_take_the_place_of_settings(fake_openai, tmp_path):
    write_log(tmp_path, 20)
    write_settings(tmp_path, fake_openai.base_url)
    told = json.loads(
        ragstone(
            "watch", "log.jsonl", "--judge", "relevance", "--budget", "3calls", "--limit", 10, "--json"
        ).out
    )
    assert (told["cut_off"], told["calls"]["made"], told["overview"]["n_exchanges"]) == (True, 3, 10)
    assert {one["metric"] for one in told["overview"]["metrics"]} == {"relevance"}
    few = json.loads(ragstone("watch", "log.jsonl", "--rate", 0.1, "--offline", "--json").out)
    assert few["overview"]["n_sampled"] < 20


@pytest.mark.long
def test_an_open_alarm_is_exit_code_1(fake_openai, tmp_path, says):
    write_settings(tmp_path, fake_openai.base_url)
    with (tmp_path / "log.jsonl").open("w") as file:
        for n in range(80 * 20):
            file.write(line(n, time=(BEGIN + datetime.timedelta(days=n // 20)).isoformat()))
    # 19 of 20 answered a day, and from day 40 on 10 of 20.
    rows = [
        judgement_row(
            question_id=f"x{n}",
            system="log",
            judge="answered",
            metric="answered",
            prompt_version=2,
            score=float(n % 20 < (19 if n < 40 * 20 else 10)),
            scale=(0.0, 1.0),
        )
        for n in range(80 * 20)
    ]
    write_rows(tmp_path / "judgements.jsonl", rows, Judgement)
    ran = ragstone("watch", "log.jsonl", "--judgements", "judgements.jsonl")
    assert ran.code == 1
    says(lines_with(ran.out, "ALARM"))
    says(lines_with(ran.err, "judgements added"))
    assert fake_openai.n_requests == 0


def test_a_users_mistake_is_told_plainly(fake_openai, tmp_path):
    ran = ragstone("watch", "gone.jsonl")
    assert (ran.code, "no such file" in ran.err) == (2, True)
    write_log(tmp_path, 1)
    ran = ragstone("watch", "log.jsonl")
    assert (ran.code, "--model" in ran.err) == (2, True)


def start(folder: Path, *options: str) -> AbstractContextManager[subprocess.Popen[str]]:
    return started("watch", "log.jsonl", *options, cwd=folder, stdout=subprocess.PIPE)


def n_judged(folder: Path) -> int:
    """How many exchanges the store knows as judged."""
    with sqlite3.connect(folder / ".ragstone" / "monitor" / "monitor.sqlite") as db:
        (n,) = db.execute("SELECT count(*) FROM exchanges WHERE done > 0").fetchone()
    db.close()
    return int(n)


def wait_until(holds, what: object = "it did not come") -> None:
    for _ in range(2_400):
        if holds():
            return
        time.sleep(0.05)
    raise AssertionError(what)


@pytest.mark.kill
def test_killed_and_run_again_nothing_is_lost_or_judged_twice(tmp_path):
    with serving_as("--latency", "0.05", "--gate", str(N_ROWS // 2)) as base_url:
        write_settings(tmp_path, base_url)
        write_log(tmp_path)
        with start(tmp_path) as killed:
            wait_until(lambda: stats(base_url)["n_requests"] >= N_ROWS // 2)
            killed.send_signal(signal.SIGKILL)
            killed.communicate()
        let_go(base_url)
        asked_by_killed = stats(base_url)["n_requests"]
        with start(tmp_path) as again:
            again.communicate()
        assert again.returncode == 0
        # Asked again is at most what was in flight (4) or had just come back and was not yet in the ledger.
        assert stats(base_url)["n_requests"] - asked_by_killed <= N_ROWS - N_ROWS // 2 + 8
    with sqlite3.connect(tmp_path / ".ragstone" / "monitor" / "monitor.sqlite") as db:
        assert db.execute("SELECT count(*), sum(done > 0) FROM exchanges").fetchone() == (N_ROWS, N_ROWS)
        assert db.execute("SELECT count(*) FROM scores").fetchone() == (N_ROWS,)
    db.close()


@pytest.mark.kill
def test_followed_until_ctrl_c_it_ends_with_what_there_is(tmp_path, says):
    with serving_as() as base_url:
        write_settings(tmp_path, base_url)
        write_log(tmp_path, 3)
        with start(tmp_path, "--follow", "--all") as following:
            wait_until(lambda: stats(base_url)["n_requests"] == 3)
            with (tmp_path / "log.jsonl").open("a") as file:
                file.write(line(3))
            wait_until(lambda: stats(base_url)["n_requests"] == 4)
            wait_until(lambda: n_judged(tmp_path) == 4)
            time.sleep(0.5)  # in which it says so
            following.send_signal(signal.SIGINT)
            out, err = following.communicate()
    assert following.returncode == 0, err
    says(lines_with(out, "in the log"))
    says(lines_with(err, "row read"))
    assert "Traceback" not in err


def test_judging_a_history_again_was_removed_and_says_what_stays(says):
    ran = ragstone("watch", "--rejudge", "800")
    assert ran.code == 2
    says(ran.err)
