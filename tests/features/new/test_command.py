"""`ragstone new`: a folder of the starter's files, or one that names what a user has."""

import shutil
from importlib import resources

import pytest
from tests.support.command import ragstone
from tests.support.golden import sentence_in

from ragstone.kernel.config import load_settings
from ragstone.kernel.records import Document
from ragstone.kernel.tables import read_rows

STARTER = resources.files("ragstone.features.new") / "starter_files"


@pytest.fixture
def mine(folder, fake_openai, monkeypatch):
    """A folder with documents and questions of a user's own, and an endpoint that answers."""
    monkeypatch.setenv("OPENAI_BASE_URL", fake_openai.base_url)
    (folder / "my handbook").mkdir()
    for row in read_rows(str(STARTER / "documents.jsonl"), Document):
        (folder / "my handbook" / f"{row.id}.txt").write_text(row.text)
    shutil.copy(str(STARTER / "questions.jsonl"), folder / "asked.jsonl")
    return folder


def test_own_files_are_named_and_run_as_they_are(mine, monkeypatch, says):
    ran = ragstone("new", "np", "--documents", "my handbook", "--questions", "asked.jsonl")
    assert ran.code == 0
    says(sentence_in(ran.err, "Next: cd"))
    assert sorted(path.name for path in (mine / "np").iterdir()) == ["AGENTS.md", "ragstone.toml"]
    settings = load_settings(mine / "np" / "ragstone.toml")
    assert (settings.run.name, settings.documents.paths) == ("np", ["../my handbook"])
    assert settings.questions.path == "../asked.jsonl"
    assert settings.agree.sheet is None
    monkeypatch.chdir(mine / "np")
    assert ragstone("run", "--limit", 2).code == 0
    assert (mine / "np" / "runs" / "np" / "report.html").is_file()


def test_the_current_folder_needs_no_entering(mine, says):
    own = ragstone("new", ".", "--documents", "my handbook", "--questions", "asked.jsonl")
    says(sentence_in(own.err, "Made this folder"))
    assert own.err.rstrip().endswith("Next: ragstone run")
    assert load_settings(mine / "ragstone.toml").run.name == mine.name


def test_documents_alone_lead_to_writing_questions(mine, says):
    ran = ragstone("new", "np", "--documents", "my handbook")
    assert ran.code == 0
    says(ran.err.splitlines()[-1])
    assert load_settings(mine / "np" / "ragstone.toml").questions.path is None


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--questions", "asked.jsonl"], "--documents FILE_OR_FOLDER"),
        (["--documents", "missing"], "missing: there is no such file"),
        (["--documents", "my handbook", "--questions", "missing.jsonl"], "missing.jsonl"),
    ],
)
def test_a_mistake_is_said_and_nothing_is_written(mine, words, said):
    ran = ragstone("new", "np", *words)
    assert (ran.code, said in ran.err) == (2, True)
    assert not (mine / "np").exists()


def test_settings_that_stand_there_stay(mine):
    (mine / "ragstone.toml").write_text("# mine\n")
    ran = ragstone("new", ".", "--documents", "my handbook")
    assert (ran.code, (mine / "ragstone.toml").read_text()) == (2, "# mine\n")
    assert "was not touched" in ran.err


def test_an_agents_file_that_is_there_stays(mine):
    (mine / "np").mkdir()
    (mine / "np" / "AGENTS.md").write_text("Ours.")
    assert ragstone("new", "np", "--documents", "my handbook", "--questions", "asked.jsonl").code == 0
    assert (mine / "np" / "AGENTS.md").read_text() == "Ours."
