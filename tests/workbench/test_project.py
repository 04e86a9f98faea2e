"""What `ragstone serve FOLDER` shows, and whether there is an assistant."""

import pytest

from ragstone.kernel.config.serving import CATALOGUE
from ragstone.kernel.errors import DataError
from ragstone.workbench.serving import project_at


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run_in(folder, file="manifest.json"):
    folder.mkdir(parents=True)
    text = {"manifest.json": '{"judges": {}}', "summary.json": '{"counts": {}, "metrics": []}'}[file]
    (folder / file).write_text(text)


def test_an_empty_folder_has_the_workbench_alone(here):
    found = project_at([])
    assert (found.assistant, found.settings.root) == (False, ".")


def test_an_assistant_that_is_declared_built_or_given_a_model_is_served(here):
    assert project_at([], model="openai/x").assistant
    store = here / ".ragstone" / "assistant"
    store.mkdir(parents=True)
    (store / CATALOGUE).touch()
    assert project_at([]).assistant
    (here / "a").mkdir()
    (here / "a" / "ragstone.toml").write_text('[run]\nmodel = "openai/x"\n')
    assert not project_at([here / "a"]).assistant
    (here / "a" / "ragstone.toml").write_text("[assistant]\n")
    assert project_at([here / "a"]).assistant
    assert project_at([], here / "a" / "ragstone.toml").assistant


def test_a_project_is_opened_from_elsewhere(here):
    run_in(here / "a" / "runs" / "one")
    (here / "a" / "ragstone.toml").write_text('[workbench]\nlabels = "ours"\n')
    settings = project_at([here / "a"]).settings
    assert settings.path(settings.workbench.labels) == here / "a" / "ours"
    (here / "a" / "ragstone.toml").unlink()
    assert project_at([here / "a"]).settings.path("runs") == here / "a" / "runs"


@pytest.mark.parametrize("file", ["manifest.json", "summary.json"])  # the second alone: of `ragstone judge`
def test_a_folder_of_runs_is_shown_as_it_is_and_labels_are_kept_here(here, file):
    run_in(here / "elsewhere" / "one", file)
    (here / "ragstone.toml").write_text('[workbench]\nannotator = "Anna"\n[assistant]\n')
    for named in (here / "elsewhere", here / "elsewhere" / "one"):  # a run means those beside it too
        found = project_at([named])
        assert found.settings.workbench.runs == [str(here / "elsewhere")]
        assert found.settings.workbench.annotator == "Anna"
        assert found.settings.root == "."
        assert not found.assistant


def test_files_of_another_tool_make_no_folder_a_run(here):
    for folder in ("app", "app/coverage"):
        (here / folder).mkdir()
        (here / folder / "summary.json").write_text('{"total": {}}')
        (here / folder / "manifest.json").write_text('{"name": "An app"}')
    assert project_at([here / "app"]).settings.root == str(here / "app")  # a project without runs


def test_a_folder_that_is_not_there_is_told(here, says):
    with pytest.raises(DataError) as error:
        project_at([here / "nothing"])
    says(error.value)
