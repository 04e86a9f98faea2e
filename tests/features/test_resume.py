"""Killed and stopped runs: in processes of their own."""

import signal
from pathlib import Path

import pytest
from tests.support.command import TO_FILE, ragstone, started
from tests.support.fake_openai import let_go, serving_as, stats, wait_for

from ragstone.kernel.records import Answer
from ragstone.kernel.tables import read_rows, write_rows

pytestmark = pytest.mark.kill

N_ANSWERS = 60
COMMAND = ["judge", "answers.jsonl", "--judge", "relevance", *TO_FILE]


def make_project(folder: Path, base_url: str) -> None:
    answers = [
        Answer(question_id=f"q{n}", question=f"What is {n}?", answer=f"{n}.") for n in range(N_ANSWERS)
    ]
    write_rows(folder / "answers.jsonl", answers, Answer)
    (folder / "ragstone.toml").write_text(
        '[judge]\nmodel = "openai/fake"\n'
        f'[models."openai/fake"]\nbase_url = "{base_url}"\nmax_concurrency = 4\n'
    )


def test_killed_and_run_again_no_finished_call_is_repeated_and_the_file_is_that_of_a_quiet_run(
    tmp_path, monkeypatch
):
    disturbed, quiet = tmp_path / "disturbed", tmp_path / "quiet"
    with serving_as("--gate", str(N_ANSWERS // 2)) as base_url:
        for folder in (disturbed, quiet):
            (folder / ".ragstone").mkdir(parents=True)
            (folder / ".ragstone" / "secret").write_text("00" * 32)
            make_project(folder, base_url)
        with started(*COMMAND, cwd=disturbed) as killed:
            wait_for(base_url, "n_requests", N_ANSWERS // 2, killed)
            killed.send_signal(signal.SIGKILL)
            killed.communicate()
        let_go(base_url)
        assert not (disturbed / "judgements.jsonl").exists()
        monkeypatch.chdir(disturbed)
        assert ragstone(*COMMAND).code == 0
        # What was in flight when it was killed (4 at most) had been sent, and no answer had come back; or it
        # had, and was not committed yet.
        assert stats(base_url)["n_requests"] <= N_ANSWERS + 8
        monkeypatch.chdir(quiet)
        assert ragstone(*COMMAND).code == 0
    assert (disturbed / "judgements.jsonl").read_bytes() == (quiet / "judgements.jsonl").read_bytes()


@pytest.mark.parametrize("ignoring", [False, True], ids=["", "in the background"])
def test_sigterm_ends_with_one_sentence_and_loses_nothing(tmp_path, monkeypatch, ignoring):
    with serving_as("--gate", str(N_ANSWERS // 2)) as base_url:
        make_project(tmp_path, base_url)
        before = signal.signal(signal.SIGINT, signal.SIG_IGN if ignoring else signal.default_int_handler)
        # As a shell starts `ragstone judge ... &`: it ignores Ctrl-C.
        with started(*COMMAND, cwd=tmp_path) as stopped:
            signal.signal(signal.SIGINT, before)
            wait_for(base_url, "n_requests", N_ANSWERS // 2, stopped)
            stopped.terminate()
            let_go(base_url)
            _, said = stopped.communicate()
        assert stopped.returncode == 143
        assert said.splitlines()[-1].endswith(
            " of 60 judgements are in judgements.jsonl.partial. "
            "Finished calls are in the ledger: run the same command again to continue."
        )
        monkeypatch.chdir(tmp_path)
        assert ragstone(*COMMAND).code == 0
        assert stats(base_url)["n_requests"] <= N_ANSWERS + 4


def test_conversations_of_users_are_gone_on_with_and_no_turn_is_asked_for_twice(tmp_path, monkeypatch):
    disturbed, quiet = tmp_path / "disturbed", tmp_path / "quiet"
    command = ["answer", "--users", "personas.toml", "--system", "bot", "-o", "talks.jsonl"]
    n_calls = 20 * 3
    with serving_as("--gate", str(n_calls // 2)) as base_url:
        for folder in (disturbed, quiet):
            make_project(folder, base_url)
            with (folder / "ragstone.toml").open("a") as file:
                file.write('[systems.bot]\nkind = "chat"\nmodel = "openai/fake"\n')
            users = "".join(
                f'[[personas]]\nname = "u{n}"\ngoal = "g"\nscript = ["I am {n}", "b", "c"]\n'
                for n in range(20)
            )
            (folder / "personas.toml").write_text(users)
        with started(*command, cwd=disturbed) as killed:
            wait_for(base_url, "n_requests", n_calls // 2, killed)
            killed.send_signal(signal.SIGKILL)
            killed.communicate()
        let_go(base_url)
        monkeypatch.chdir(disturbed)
        assert ragstone(*command).code == 0
        assert stats(base_url)["n_requests"] <= n_calls + 8
        monkeypatch.chdir(quiet)
        assert ragstone(*command).code == 0

    def said(folder: Path) -> list[object]:
        return [(row.turns, row.metadata) for row in read_rows(folder / "talks.jsonl", Answer)]

    assert said(disturbed) == said(quiet)
    monkeypatch.chdir(disturbed)
    assert ragstone(*command, "-o", "again.jsonl", "--offline").code == 0
    assert (disturbed / "again.jsonl").read_bytes() == (disturbed / "talks.jsonl").read_bytes()
