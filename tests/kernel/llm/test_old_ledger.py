"""What was paid for before a change of what is sent is found after it.

The fixture is of commit 3015ac50, whose schemas carried each row's nonce, its ids and all bounds: its ledger
(as SQL), the judgements that it made of three rows by every judge that asks a model, and the keys of the
stages' other calls. Its endpoint was tests/support/fake_openai.py on a port that nothing listens on now.
"""

import json
import sqlite3
from pathlib import Path

import msgspec
import pytest
from tests.support.every_judge import rows_with_every_field
from tests.support.stage_prompts import stage_prompts

import ragstone
from ragstone.kernel.config import ModelSettings, Settings
from ragstone.kernel.judging import judge_names, load_judge
from ragstone.kernel.llm.door import prompt_key

OLD = Path(__file__).parents[2] / "fixtures" / "ledger_3015ac50"
MODEL = "openai/fake"
ROWS = [rows_with_every_field()[number] for number in (0, 1, 5)]


MADE_ANEW = {"right_or_ask"}  # it has another version since


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings of a folder with the old ledger and the secret that its prompts were made with."""
    folder = tmp_path / ".ragstone"
    folder.mkdir()
    (folder / "secret").write_text("5e" * 32)
    (folder / "secret").chmod(0o600)
    with sqlite3.connect(folder / "ledger.sqlite") as ledger:
        ledger.executescript((OLD / "ledger.sql").read_text())
    ledger.close()
    model = ModelSettings(base_url="http://127.0.0.1:18093/v1")
    return Settings(models={MODEL: model}, root=str(tmp_path))


def test_a_ledger_of_the_commit_before_answers_every_judge_and_the_files_are_byte_equal(settings):
    old = (OLD / "judgements.jsonl").read_bytes()
    versions = {row["judge"]: row["prompt_version"] for row in map(json.loads, old.splitlines())}
    names = [name for name in judge_names() if _asks(name) and load_judge(name).version == versions.get(name)]
    assert len(names) >= len(versions) - len(MADE_ANEW)
    old = b"".join(
        line for line in old.splitlines(keepends=True) if json.loads(line)["judge"] not in MADE_ANEW
    )
    made = ragstone.judge(ROWS, judges=names, model=MODEL, settings=settings, offline=True)
    assert b"".join(msgspec.json.encode(one) + b"\n" for one in made) == old
    assert {one.status for one in made} == {"scored", "not_applicable"}  # a call that it lacks is an error


def _asks(name: str) -> bool:
    judge = load_judge(name)
    return judge.needs_model and not judge.needs_embedder


@pytest.mark.parametrize("name", json.loads((OLD / "keys.json").read_text()))
def test_the_other_calls_have_the_keys_that_they_had(name):
    old = json.loads((OLD / "keys.json").read_text())[name]
    assert [prompt_key(MODEL, prompt).hex() for prompt in stage_prompts()[name]] == old
