"""Judging on workers of a real Ray, one that is started once for all tests."""

import threading
import time
from pathlib import Path

import pytest
from tests.support.fake_openai import FakeOpenAI
from tests.support.ray import kill_a_worker
from tests.support.scripts import fail, fit_schema, in_turn

from ragstone.features.judge._sheet import AnswerSheet
from ragstone.features.judge.judging import judge_sheet
from ragstone.kernel.config import choose
from ragstone.kernel.engine.session import PLAIN, SessionOptions
from ragstone.kernel.errors import ModelError
from ragstone.kernel.judging.variant import load_judges
from ragstone.kernel.llm import Caps
from ragstone.kernel.llm.learnt import learnt_in, read_entries
from ragstone.kernel.records import Answer, Judgement
from ragstone.kernel.runs.summary import RunSummary
from ragstone.kernel.tables import read_rows, write_rows

pytestmark = pytest.mark.server


def sheet(folder: Path, n: int) -> Path:
    """Write a sheet of n answers; every fifth lacks its reference, and is not applicable."""
    path = folder / "answers.jsonl"
    rows = (
        Answer(
            question_id=f"q{number}",
            system="mine",
            question=f"Field {number}: when is maize side-dressed?",
            reference=None if number % 5 == 4 else "At V5 to V6.",
            answer=f"At V6, in field {number}.",
        )
        for number in range(n)
    )
    write_rows(path, rows, Answer)
    return path


def judged(
    fake: FakeOpenAI,
    folder: Path,
    kind: str,
    n: int,
    *,
    judges: tuple[str, ...] = ("correctness",),
    how: SessionOptions = PLAIN,
    ledger: str | None = None,
    **of_model: object,
) -> tuple[bytes, RunSummary]:
    """Return the file that judging n answers makes in a new folder, and its summary."""
    folder.mkdir(exist_ok=True)
    settings = choose(fake.settings(root=folder, **of_model), "judge", model=fake.model)
    settings = choose(settings, "engine", kind=kind, workers=2, block_rows=8)
    settings = choose(settings, "ledger", url=ledger)
    output = folder / "judgements.jsonl"
    summary = judge_sheet(AnswerSheet(sheet(folder, n)), output, load_judges(judges), settings, how=how)
    return output.read_bytes(), summary


def test_the_file_is_the_local_engines_and_so_are_the_numbers(ray_here, fake_openai, tmp_path):
    judges = ("containment", "correctness")
    here, told = judged(fake_openai, tmp_path / "local", "local", 60, judges=judges)
    asked = fake_openai.n_requests
    there, told_there = judged(fake_openai, tmp_path / "ray", "ray", 60, judges=judges)
    assert there == here
    assert fake_openai.n_requests == 2 * asked
    assert told_there.calls.made == told.calls.made == 48
    assert told_there.calls.usage == told.calls.usage
    assert told_there.models == told.models
    assert told_there.metrics == told.metrics


def test_a_killed_worker_loses_no_row_and_pays_again_only_for_what_was_in_flight(
    ray_here, fake_openai, tmp_path
):
    here, _told = judged(fake_openai, tmp_path / "local", "local", 300)
    fake_openai.forget()
    fake_openai.latency_s = 0.05
    killed: list[int | None] = []

    def kill() -> None:
        while fake_openai.n_requests < 60:
            time.sleep(0.01)
        killed.append(kill_a_worker())

    killer = threading.Thread(target=kill)
    killer.start()
    there, _told = judged(fake_openai, tmp_path / "ray", "ray", 300, max_concurrency=8)
    killer.join()
    assert killed[0] is not None
    assert there == here
    assert fake_openai.n_asked_again <= 8  # what was in flight


def test_what_workers_learn_of_a_model_is_kept_and_no_later_run_pays_for_it(ray_here, fake_openai, tmp_path):
    refusal = fail(400, "Unsupported value: 'temperature' does not support 0 with this model.")
    fake_openai.script = lambda body: refusal if "temperature" in body else fit_schema(body)
    folder = tmp_path / "ray"
    judged(fake_openai, folder, "ray", 40)
    (learnt,) = learnt_in(read_entries(folder / ".ragstone")).values()
    assert not learnt.temperature
    assert fake_openai.n_requests > 32
    for name in (".ragstone/ledger.sqlite", "answers.jsonl", "judgements.jsonl"):
        (folder / name).unlink()
    fake_openai.n_requests = 0
    judged(fake_openai, folder, "ray", 40)
    assert fake_openai.n_requests == 32


def test_a_cap_of_calls_holds_over_both_workers(ray_here, fake_openai, tmp_path):
    made, told = judged(fake_openai, tmp_path / "ray", "ray", 50, how=SessionOptions(Caps(calls=11)))
    assert fake_openai.n_requests == told.calls.made == 11
    assert told.calls.failed == {"over_budget": 29}  # 50 rows, of which 10 lack a reference
    rows = list(read_rows(tmp_path / "ray" / "judgements.jsonl", Judgement))
    assert [row.question_id for row in rows] == [f"q{number}" for number in range(50)]
    assert sum(row.status == "over_budget" for row in rows) == 29
    assert made


def test_a_model_that_does_not_exist_is_said_in_the_words_of_the_local_engine(
    ray_here, fake_openai, tmp_path
):
    fake_openai.script = in_turn(fail(404, "The model 'fake' does not exist", code="model_not_found"))
    with pytest.raises(ModelError) as here:
        judged(fake_openai, tmp_path / "local", "local", 20)
    with pytest.raises(ModelError) as there:
        judged(fake_openai, tmp_path / "ray", "ray", 20)
    assert str(there.value) == str(here.value)


def test_workers_with_a_database_pay_each_call_once_and_whoever_comes_after_them_pays_nothing(
    ray_here, postgres, fake_openai, tmp_path
):
    url = postgres.url(postgres.new_schema())
    there, told = judged(fake_openai, tmp_path, "ray", 60, ledger=url)
    assert told.calls.made == fake_openai.n_requests == 48  # 60 rows, of which 12 lack a reference
    for made in tmp_path.glob("*.jsonl"):
        made.unlink()
    here, told_here = judged(fake_openai, tmp_path, "local", 60, ledger=url)
    assert here == there
    assert (told_here.calls.made, told_here.calls.from_ledger) == (0, 48)
    assert fake_openai.n_requests == 48
