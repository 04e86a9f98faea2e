"""How many cores there are; helper processes that start, answer, die and end."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ragstone.kernel.processes import HelperProcess, death, n_cores

ECHO = "from ragstone.kernel.processes import answer_messages\nanswer_messages(lambda message: message[::-1])"


@pytest.fixture
def helper():
    helper = HelperProcess(ECHO)
    yield helper
    helper.end()
    helper.rest(5)


def test_a_process_answers_one_message_after_the_other(helper):
    assert helper.start()
    large = b"ab" * 500_000
    assert [helper.ask(message) for message in (b"abc", b"", large)] == [b"cba", b"", large[::-1]]


@pytest.mark.kill
def test_one_that_died_is_started_again_unless_it_was_ended(helper):
    assert helper.start()
    helper._process.kill()
    assert helper.ask(b"abc") is None
    assert death(helper.rest(5)) == "signal 9"
    assert not helper.running
    assert helper.start()
    assert helper.ask(b"abc") == b"cba"
    helper.end()
    helper.rest(5)
    assert not helper.start()


def test_a_process_whose_code_fails_is_none(helper, monkeypatch):
    broken = HelperProcess("raise SystemExit(3)")
    assert not broken.start()
    monkeypatch.setattr(sys, "frozen", True, raising=False)  # its executable is the program itself
    assert not helper.start()


def test_a_process_that_no_memory_is_left_for_is_none(helper, monkeypatch):
    def full(*_args: object, **_kwargs: object) -> None:
        raise OSError(12, "Cannot allocate memory")

    monkeypatch.setattr(subprocess, "Popen", full)
    assert not helper.start()


def test_what_a_library_prints_does_not_come_between_the_replies():
    helper = HelperProcess(
        "import sys\nfrom ragstone.kernel.processes import answer_messages\n"
        "def answer(message):\n    print('told', file=sys.stdout, flush=True)\n    return message\n"
        "answer_messages(answer)"
    )
    try:
        assert helper.start()
        assert helper.ask(b"abc") == b"abc"
    finally:
        helper.end()
        helper.rest(5)


@pytest.mark.kill
def test_a_helper_ends_with_the_process_that_started_it():
    script = (
        "import os\nfrom ragstone.kernel.processes import HelperProcess\n"
        f"helper = HelperProcess({ECHO!r})\nhelper.start()\nprint(helper._process.pid, flush=True)\n"
        "os.kill(os.getpid(), 9)"
    )
    parent = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    pid = int(parent.stdout)
    for _ in range(600):
        if not _lives(pid):
            return
        subprocess.run(["sleep", "0.1"])
    raise AssertionError("the helper lives on")


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False


@pytest.fixture
def eight(monkeypatch):
    """A machine of eight cores."""
    monkeypatch.delattr(os, "process_cpu_count", raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)


def written(root: Path, **files: str) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


@pytest.mark.parametrize(
    ("files", "n"),
    [
        ({}, 8),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "max 100000\n"}, 8),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "300000 100000\n"}, 3),
        # 2.5 cores are three processes, and half a core is one.
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "250000 100000\n"}, 3),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "50000 100000\n"}, 1),
        # The group around it allows less than its own.
        (
            {
                "proc/self/cgroup": "0::/pod/box\n",
                "sys/fs/cgroup/pod/box/cpu.max": "600000 100000\n",
                "sys/fs/cgroup/pod/cpu.max": "200000 100000\n",
            },
            2,
        ),
        (
            {
                "proc/self/cgroup": "3:memory:/box\n2:cpu,cpuacct:/box\n",
                "sys/fs/cgroup/cpu/box/cpu.cfs_quota_us": "400000\n",
                "sys/fs/cgroup/cpu/box/cpu.cfs_period_us": "100000\n",
                "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
                "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
            },
            4,
        ),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "what is this\n"}, 8),
    ],
)
def test_cores_are_those_of_the_affinity_and_of_the_quota(files, n, eight, tmp_path):
    assert n_cores(written(tmp_path, **files)) == n


def test_affinity_counts(monkeypatch, tmp_path):
    monkeypatch.delattr(os, "process_cpu_count", raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {5}, raising=False)
    assert n_cores(tmp_path) == 1
