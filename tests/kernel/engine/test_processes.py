"""Rows of judges that compute, by several processes: the bytes of one, whatever happens to a process."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

import ragstone
from ragstone.kernel.config import Settings, choose
from ragstone.kernel.engine import processes, sharing
from ragstone.kernel.engine.processes import open_processes
from ragstone.kernel.engine.session import open_session
from ragstone.kernel.engine.sharing import map_on_cores
from ragstone.kernel.errors import RagstoneError
from ragstone.kernel.judging.variant import load_judges
from ragstone.kernel.records import Answer
from ragstone.kernel.stages import judge as stage
from ragstone.kernel.stages.judge import JUDGING

N_ROWS = 400
JUDGES = ["right", "token_f1", "grounding", "contains_any"]


def answers(n: int = N_ROWS) -> list[Answer]:
    """Answers of all that a judge may meet: right, wrong, failed, without a reference."""
    rows = [
        Answer(
            question_id=f"q{number}",
            system="s",
            question="When is maize side-dressed with nitrogen?",
            reference=None if number % 7 == 3 else ["At V6, before rapid uptake.", f"Week {number}"],
            answer=f"Side-dress in week {number % 50}, at the V6 stage.",
            contexts=[ragstone.Context(text=f"Maize takes up nitrogen rapidly after V6; week {number}.")],
            metadata={"expect": "V6" if number % 2 else "V7"},
        )
        for number in range(n)
    ]
    rows[5] = msgspec.structs.replace(rows[5], error="timeout: the application did not answer")
    return rows


@pytest.fixture
def at_once(monkeypatch, tmp_path):
    """Two cores, and processes that are started for few rows; returns the file of those that were."""
    started = tmp_path / "started"
    monkeypatch.setattr(processes, "n_cores", lambda: 2)
    monkeypatch.setattr(sharing, "ALONE_S", 0.0)
    monkeypatch.setattr(sharing, "WORTH_S", 0.0)
    monkeypatch.setattr(sharing, "TRIED", 1)
    monkeypatch.setattr(processes, "BEFORE", f"print('started', file=open({str(started)!r}, 'a'))")
    monkeypatch.chdir(tmp_path)
    return started


def judged(rows: list[Answer], judges=JUDGES, settings: Settings | None = None) -> bytes:
    return msgspec.json.encode(list(ragstone.judge(rows, judges=judges, settings=settings or Settings())))


def n_started(started: Path) -> int:
    return len(started.read_text().splitlines()) if started.exists() else 0


@pytest.mark.long
def test_two_processes_give_the_bytes_of_one(at_once):
    rows = answers()
    several = judged(rows)
    assert n_started(at_once) == 2  # the judges share them
    assert several == judged(rows, settings=choose(Settings(), "engine", workers=1))
    assert n_started(at_once) == 2


def test_few_rows_stay_in_the_process(monkeypatch, at_once):
    monkeypatch.setattr(sharing, "ALONE_S", 0.5)
    monkeypatch.setattr(sharing, "WORTH_S", 2.0)
    judged(answers())
    assert n_started(at_once) == 0


def test_what_computes_waits_for_nothing_so_that_few_rows_in_flight_do_not_slow_it(monkeypatch):
    begun, most = 0, 0
    real = stage.judge_row

    async def counted(*given, **more):
        nonlocal begun, most
        begun += 1
        most = max(most, begun)
        try:
            return await real(*given, **more)
        finally:
            begun -= 1

    monkeypatch.setattr(stage, "judge_row", counted)
    one = choose(Settings(), "engine", workers=1)
    judged(answers(100), JUDGES[1:], one)
    assert most == 1
    judged(answers(100), JUDGES[:1], one)  # its members are tasks, which the loop runs in one turn
    assert most <= sharing.TRIED


def test_judges_that_ask_or_run_a_function_stay_in_the_process(at_once, fake_openai, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", fake_openai.base_url)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    seen = []

    def own(answer: str) -> float:
        seen.append(answer)
        return 1.0

    rows = answers(20)
    list(ragstone.judge(rows, judges=["correctness", own], model="openai/fake", settings=Settings()))
    assert n_started(at_once) == 0
    assert len(seen) == 19  # but for the one that failed


@pytest.mark.long
def test_they_work_in_a_running_loop_as_a_notebook_has_one(at_once):
    async def cell() -> bytes:
        return judged(answers(100))

    assert len(msgspec.json.decode(asyncio.run(cell()))) == 400
    assert n_started(at_once) == 2


@pytest.mark.kill
@pytest.mark.parametrize("by", ["script", "-c"])
def test_they_work_in_a_script_without_a_main_guard_and_by_c(by, at_once, tmp_path):
    code = (
        "import ragstone\nfrom ragstone.kernel.engine import processes, sharing\n"
        "sharing.ALONE_S = sharing.WORTH_S = 0\nprocesses.n_cores = lambda: 2\n"
        f"processes.BEFORE = {processes.BEFORE!r}\n"
        "row = {'question': 'When?', 'answer': 'At V6.', 'reference': 'At V6'}\n"
        "rows = [row | {'id': f'q{n}'} for n in range(3000)]\n"
        "print(sum(row.score for row in ragstone.judge(rows, judges=['match'])))\n"
    )
    (tmp_path / "script.py").write_text(code)
    arguments = ["script.py"] if by == "script" else ["-c", code]
    ran = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, cwd=tmp_path)
    assert (ran.stdout, ran.stderr) == ("3000.0\n", "")
    assert n_started(at_once) == 2


def test_where_no_process_can_be_started_rows_are_computed_here(at_once, monkeypatch):
    rows = answers(60)
    here = judged(rows, settings=choose(Settings(), "engine", workers=1))
    monkeypatch.setattr(processes, "BEFORE", "raise SystemExit(3)")
    assert judged(rows) == here


DIES = """
import os, signal
from pathlib import Path
from ragstone.kernel.stages import judge as stage
real = stage.judge_row
async def judge_row(group, row, *args):
    marker = Path({marker!r} + row.question_id)
    if row.question_id == "q60" and not ({once} and marker.exists()):
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return await real(group, row, *args)
stage.judge_row = judge_row
"""


@pytest.mark.kill
def test_a_process_that_dies_is_replaced_and_its_rows_are_computed_again(at_once, monkeypatch, tmp_path):
    rows = answers(200)
    one = judged(rows, ["right"], choose(Settings(), "engine", workers=1))
    marker = f"{tmp_path}/died-"
    monkeypatch.setattr(processes, "BEFORE", DIES.format(marker=marker, once=True))
    assert judged(rows, ["right"]) == one
    assert Path(f"{marker}q60").exists()


@pytest.mark.kill
def test_rows_that_kill_every_process_end_the_run_with_one_sentence(at_once, monkeypatch, tmp_path, says):
    monkeypatch.setattr(processes, "BEFORE", DIES.format(marker=f"{tmp_path}/died-", once=False))
    monkeypatch.setattr(processes, "MOST_ROWS", 8)
    with pytest.raises(RagstoneError) as error:
        judged(answers(200), ["right"])
    says(error.value)
    assert _children() == []


FAILS = """
from ragstone.kernel.errors import DataError
from ragstone.kernel.judging import lexical
real = lexical.MEASURES["token_f1"]
def measure(answer, reference):
    if "week 40" in answer:
        raise {error}
    return real(answer, reference)
lexical.MEASURES["token_f1"] = measure
"""


def test_the_unforeseen_is_a_status_of_its_row_alone(at_once, monkeypatch):
    monkeypatch.setattr(processes, "BEFORE", FAILS.format(error="ZeroDivisionError('by zero')"))
    rows = msgspec.json.decode(judged(answers(100), ["token_f1"]))
    failed = [row for row in rows if row["status"] == "error"]
    assert [row["question_id"] for row in failed] == ["q40", "q90"]
    assert failed[0]["error"].startswith("Traceback")
    assert "by zero" in failed[0]["error"]
    assert len(rows) == 100


async def test_an_error_that_ends_the_run_comes_after_the_rows_before_it(at_once, monkeypatch):
    monkeypatch.setattr(processes, "BEFORE", FAILS.format(error="DataError('no such table')"))
    made = []

    async def judge_all() -> None:
        async with opened(["token_f1"]) as (session, beside):
            async for judgements in map_on_cores(_nothing, numbered(answers(100)), 100, session.stop, beside):
                made.extend(judgements)

    with pytest.raises(ragstone.DataError, match="no such table"):
        await judge_all()
    assert len(made) == 39  # the first row was computed here


@pytest.mark.long
async def test_rows_are_read_as_they_are_needed(at_once, monkeypatch):
    monkeypatch.setattr(processes, "MOST_ROWS", 10)
    read = []

    def rows():
        for pair in numbered(answers(2000)):
            read.append(pair)
            yield pair

    async with opened(["match"]) as (session, beside):
        made = map_on_cores(_nothing, rows(), 2000, session.stop, beside)
        for _ in range(2):
            await anext(made)
        await asyncio.sleep(1)
        # The one that was tried, and the blocks of 10 that two processes have or that wait for them.
        assert len(read) <= 1 + 10 * (processes.AHEAD * 2 + 1)
        await made.aclose()
    assert _children() == []


@pytest.mark.kill
def test_ctrl_c_keeps_finished_rows_leaves_no_process_and_no_traceback(tmp_path):
    (tmp_path / "answers.jsonl").write_bytes(msgspec.json.Encoder().encode_lines(answers(60_000)))
    code = (
        "from ragstone.kernel.engine import processes, sharing\n"
        "sharing.ALONE_S = 0\nprocesses.n_cores = lambda: 2\n"
        "processes.BEFORE = \"print('started', file=open('started', 'a'))\"\n"
        "from ragstone.__main__ import main; main()"
    )
    command = [sys.executable, "-c", code, "judge", "answers.jsonl", "--judge", "match", "--judge", "right"]
    run = subprocess.Popen(
        [*command, "-o", "j.jsonl"], cwd=tmp_path, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    while n_started(tmp_path / "started") < 2:
        assert run.poll() is None
        asyncio.run(asyncio.sleep(0.05))
    written = tmp_path / "j.jsonl.partial"
    while not written.exists() or not written.stat().st_size:
        assert run.poll() is None
        asyncio.run(asyncio.sleep(0.05))
    group = run.pid
    os.killpg(group, signal.SIGINT)  # as a terminal does: all processes hear it
    _, said = run.communicate(timeout=60)
    assert run.returncode == 2
    assert "Traceback" not in said
    last = said.strip().rpartition("\n")[2]
    assert last.startswith("ragstone: stopped. ")
    assert "are in j.jsonl.partial" in last
    n_finished = int(last.split()[2])
    partial = written.read_bytes().splitlines()
    assert 0 < len(partial) == n_finished < 120_000
    with pytest.raises(ProcessLookupError):
        os.killpg(group, 0)


def numbered(rows: list[Answer]) -> list[tuple[int, Answer]]:
    return [(0, row) for row in rows]


async def _nothing(_row: object) -> list[object]:
    return []


class opened:  # noqa: N801 - used as a function is
    """Give a session and the processes of judges."""

    def __init__(self, judges: list[str]) -> None:
        self._judges = load_judges(judges)

    async def __aenter__(self):
        self._session = open_session(Settings())
        session = await self._session.__aenter__()
        self._processes = open_processes(JUDGING, session, judges=self._judges)
        beside = await self._processes.__aenter__()

        async def opened() -> processes.RowProcesses:
            return beside

        return session, opened

    async def __aexit__(self, *mistake: object) -> None:
        await self._processes.__aexit__(*mistake)
        await self._session.__aexit__(*mistake)


def _children() -> list[str]:
    """Return the commands of processes that still compute rows for this one."""
    listed = subprocess.run(
        ["ps", "--ppid", str(os.getpid()), "-o", "args="], capture_output=True, text=True
    ).stdout
    return [line for line in listed.splitlines() if "engine.processes" in line]
