"""Old commands, settings and files work, or say in one sentence what to do instead.

docs/explanation/deprecations.md is the policy. What a release had is recorded in tests/fixtures/released; what goes
is entered below with the sentence that answers for it. The project of commit 3015ac50, version 0.1.0 in
development, is one that a user may still have: settings, a judge, a finished run, a log and its monitor.
"""

import json
import re
import shutil
import sqlite3
from pathlib import Path

import pytest
from tests.support.command import ragstone as run
from tests.support.released import RECORDS, promised

import ragstone
from ragstone.kernel.config import load_settings
from ragstone.kernel.errors import ConfigError

OLD = Path(__file__).parent / "fixtures" / "project_3015ac50"

# A command or an option that is gone -> how it was called, and what its sentence says.
GONE_COMMANDS = {
    "watch --rejudge": (("watch", "--rejudge", "800"), r"--rejudge was removed\. .*leave the option out"),
}
# A key of ragstone.toml that is gone -> lines that have it, and what its sentence says.
GONE_SETTINGS = {
    f"assistant.{name}": (f"[assistant]\n{line}\n", rf"\[assistant\] {name} no longer exists: .*tools = ")
    for name, line in {
        "crops": 'crops = "crops.csv"',
        "videos": 'videos = "videos.csv"',
        "weather": "weather = { timeout_s = 5 }",
    }.items()
}
# A public name of Python, a field, a judge or an extra that is gone -> what is used instead, named in CHANGELOG.
GONE_NAMES: dict[str, dict[str, str]] = {"rows": {}, "judges": {}, "extras": {}, "python": {}}


@pytest.mark.parametrize("record", sorted(RECORDS.glob("*.json")), ids=lambda path: path.stem)
def test_what_a_release_had_is_still_there_or_on_the_list_of_what_is_gone(record):
    now = promised()
    gone = {"commands": GONE_COMMANDS, "settings": GONE_SETTINGS, **GONE_NAMES}
    for kind, names in json.loads(record.read_text("utf-8")).items():
        missing = set(names) - set(now[kind]) - gone[kind].keys()
        assert not missing, f"{kind} of {record.stem} that nobody answers for: {sorted(missing)}"


def test_the_record_holds_what_people_use():
    """A record that was written of half of the program would hold nothing."""
    [first, *_others] = sorted(RECORDS.glob("*.json"))
    had = {kind: set(names) for kind, names in json.loads(first.read_text("utf-8")).items()}
    assert {"run", "judge --budget", "bench judges --model", "people invite --role"} <= had["commands"]
    assert {"run.seed", "models.NAME.base_url", "serve.otlp.folder", "ledger.url"} <= had["settings"]
    assert {"judgement.status", "answer.contexts.text", "label.annotator"} <= had["rows"]
    assert {"faithfulness", "containment", "right"} <= had["judges"]
    assert {"judge", "Settings", "read_rows", "open_assistant"} <= had["python"]
    assert {"serve", "postgres"} <= had["extras"]


def test_a_release_is_recorded_before_it_is_made():
    assert ragstone.__version__ in {path.stem for path in RECORDS.glob("*.json")}


@pytest.mark.parametrize("name", GONE_COMMANDS)
def test_a_command_that_is_gone_says_what_to_do(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words, sentence = GONE_COMMANDS[name]
    ran = run(*words)
    assert ran.code == 2 and re.search(sentence, " ".join(ran.err.split())), ran.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", GONE_SETTINGS)
def test_a_setting_that_is_gone_says_what_to_write(name, tmp_path):
    lines, sentence = GONE_SETTINGS[name]
    (tmp_path / "ragstone.toml").write_text(lines, "utf-8")
    with pytest.raises(ConfigError, match=sentence):
        load_settings(tmp_path / "ragstone.toml")


@pytest.mark.parametrize("kind", GONE_NAMES)
def test_a_name_that_is_gone_is_in_changelog_with_what_replaces_it(kind):
    changes = (Path(__file__).parents[1] / "CHANGELOG.md").read_text("utf-8")
    for name, instead in GONE_NAMES[kind].items():
        assert name in changes and instead in changes, name


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the old project, where it is run."""
    shutil.copytree(OLD, tmp_path / "project")
    (tmp_path / "project" / "runs").mkdir()
    (tmp_path / "project" / "run").rename(tmp_path / "project" / "runs" / "old")
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "project"


def test_settings_and_a_judge_of_an_old_project_are_read(project):
    settings = load_settings(project / "ragstone.toml")
    assert (settings.run.name, settings.judge.judges) == ("old", ["containment", "token_f1", "no_refusal"])
    shown = run("judges", "show", "mine.toml")
    assert shown.code == 0 and re.search(r"polite.*version 1", " ".join(shown.out.split()))


def test_an_old_run_is_reported_compared_blamed_and_exported(project):
    before = {path.name: path.read_bytes() for path in (project / "runs" / "old").glob("*.jsonl")}
    assert len(before) == 6
    for words in (
        ("report", "runs/old"),
        ("blame", "runs/old"),
        ("judge", "answers.jsonl", "--questions", "questions.jsonl", "--judge", "containment"),
        ("compare", "runs/old", "runs/answers"),
        ("export", "runs/old", "-o", "table.csv"),
    ):
        ran = run(*words)
        assert ran.code in (0, 1, 3), f"{words}: {ran.err[-800:]}"
    page = (project / "runs" / "old" / "report.html").read_text("utf-8")
    assert "token_f1" in page
    assert len((project / "table.csv").read_text("utf-8").splitlines()) == 7  # a header, six answers
    after = {name: (project / "runs" / "old" / name).read_bytes() for name in before}
    assert after == before  # nothing that was paid for is changed by looking at it


def test_an_old_run_is_never_replaced_unasked(project):
    before = (project / "runs" / "old" / "judgements.jsonl").read_bytes()
    ran = run("run", "--yes")
    assert (project / "runs" / "old" / "judgements.jsonl").read_bytes() == before
    assert ran.code == 0 or "--force to replace it" in ran.err, ran.err
    assert run("run", "--yes", "--force").code == 0
    after = (project / "runs" / "old" / "judgements.jsonl").read_bytes()
    made = [json.loads(line) for line in after.splitlines()]
    old = [json.loads(line) for line in before.splitlines()]
    scores = [
        {(row["question_id"], row["judge"]): (row["status"], row.get("score")) for row in rows}
        for rows in (made, old)
    ]
    assert scores[0] == scores[1] and len(scores[0]) == 18


def test_an_old_monitor_goes_on_where_it_was(project):
    (project / ".ragstone" / "monitor").mkdir(parents=True)
    with sqlite3.connect(project / ".ragstone" / "monitor" / "monitor.sqlite") as store:
        store.executescript((project / "monitor.sql").read_text("utf-8"))
    store.close()
    watched = ("watch", "logs", "--judge", "grounding", "--yes")
    seen = run(*watched)
    assert seen.code == 0 and "0 exchanges judged now" in seen.out + seen.err, seen.err
    with (project / "logs" / "log.jsonl").open("a", encoding="utf-8") as log:
        row = {"question": "Q4?", "answer": "In May.", "contexts": ["Maize is sown in May."]}
        log.write(json.dumps(row | {"time": "2026-11-24T10:00:00Z"}) + "\n")
    assert "1 exchange judged now" in (grown := run(*watched)).out + grown.err
