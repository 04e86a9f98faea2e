"""The example that a button of the workbench loads."""

import threading
import time

import pytest
from tests.support.browser import opened_tab
from tests.support.golden import sentence_in
from tests.support.served_project import client, project
from tests.support.served_workbench import served
from tests.support.workbench import peopled

from ragstone.features.demo import pages
from ragstone.features.demo._example import NAMES, place_example
from ragstone.kernel.config import load_settings
from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Answer
from ragstone.kernel.tables import read_rows

__all__ = ["client", "project"]  # its fixtures

DEMO = "/workbench/demo"


def over(client):
    for _ in range(1200):
        told = client.get(f"{DEMO}/progress").json()
        if told["life"] != "going on":
            return told
        time.sleep(0.1)
    raise AssertionError(told)


@pytest.mark.long
def test_the_button_makes_a_run_of_the_project_without_a_network(project, client, monkeypatch):
    home = client.get("/workbench/").text
    assert 'action="/workbench/demo"' in home
    page = client.post(DEMO, follow_redirects=True)
    assert page.status_code == 200
    assert over(client) == {"life": "done", "words": "", "share": None}
    assert (project / "demo" / "ragstone.toml").is_file()
    answers = [*read_rows(project / "runs" / "demo" / "answers.jsonl", Answer)]
    assert len(answers) == 100
    assert not any(row.cost_usd or row.usage for row in answers)
    page = client.get(DEMO).text
    assert 'href="/workbench/runs/0/demo"' in page
    assert client.get("/workbench/runs/0/demo").status_code == 200
    assert "demo/questions.jsonl" in client.get("/workbench/data").text
    assert 'action="/workbench/demo"' not in client.get("/workbench/").text  # there is a run now
    before = {path: path.read_bytes() for path in (project / "runs" / "demo").glob("*.jsonl")}
    client.post(DEMO)
    assert over(client)["life"] == "done"
    assert before == {path: path.read_bytes() for path in before}
    assert not (project / "demo-2").exists()


def test_two_presses_at_once_load_it_once(client, monkeypatch):
    began, go = [], threading.Event()

    def run(settings, **_options):
        began.append(settings.run.name)
        go.wait(60)

    monkeypatch.setattr(pages, "run", run)
    for _ in range(3):
        assert client.post(DEMO, follow_redirects=True).status_code == 200
    assert client.get(f"{DEMO}/progress").json()["life"] == "going on"
    go.set()
    assert over(client)["life"] == "done"
    assert began == ["demo"]


def test_what_fails_is_told_and_can_be_tried_again(client, monkeypatch):
    reason = "another process has the folder."

    def run(_settings, **_options):
        raise DataError(reason)

    monkeypatch.setattr(pages, "run", run)
    client.post(DEMO)
    assert over(client) == {"life": "failed", "words": reason, "share": None}
    page = client.get(DEMO).text
    assert reason in page
    assert "Try again" in page


def test_a_folder_of_ones_own_is_left_alone(project):
    settings = load_settings(project / "ragstone.toml")
    (project / "demo").mkdir()
    (project / "demo" / "notes.txt").write_text("mine")
    name, made = place_example(settings)
    assert name == "demo-2"
    assert [path.name for path in (project / "demo").iterdir()] == ["notes.txt"]
    assert made.path(made.questions.path) == settings.path("demo-2/questions.jsonl")
    (project / "demo-2" / "ragstone.toml").write_text("# changed\n")
    (project / "runs" / "demo-3").mkdir()  # a run of that name is not overwritten either
    assert place_example(settings)[0] == "demo-4"
    assert place_example(settings)[0] == "demo-4"  # as it was made: used again
    for taken in NAMES:
        (project / taken).mkdir(exist_ok=True)
        (project / taken / "ragstone.toml").write_text("# changed\n")
    with pytest.raises(DataError, match="are taken"):
        place_example(settings)


def test_a_project_that_cannot_be_written_to_says_so(project, client, monkeypatch, says):
    def copy(folder, _model):
        raise DataError(f"{folder}: cannot be written. Choose another folder.")

    monkeypatch.setattr("ragstone.features.demo._example.copy_starter", copy)
    page = client.post(DEMO)
    assert page.status_code == 422
    says(sentence_in(page.text, "Make the project"))
    assert client.get(f"{DEMO}/progress").json()["life"] == "none"


def test_only_owners_load_it(project):
    with peopled(load_settings(project / "ragstone.toml")) as people:
        reader, owner = people.person("rita", "reader"), people.person("olga", "owner")
        assert "/workbench/demo" not in reader.get("/workbench/").text
        assert "/workbench/demo" in owner.get("/workbench/").text
        assert reader.post(DEMO).status_code == 403
        assert reader.get(DEMO).status_code == 403
        assert owner.post(DEMO, headers={"X-CSRF-Token": "forged"}).status_code == 403


@pytest.mark.browser
def test_it_is_loaded_with_keys_alone(project):
    look = {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"}
    with (
        served(load_settings(project / "ragstone.toml")) as address,
        opened_tab(loopback=True, **look) as tab,
    ):
        tab.visit(f"{address}/workbench/")
        assert tab.axe() == []
        tab.page.locator("button:has-text('Load an example')").focus()
        tab.page.keyboard.press("Enter")
        tab.page.wait_for_selector("[data-live]")
        assert tab.axe() == []
        tab.page.wait_for_selector("a:has-text('Open the run')")
        assert tab.axe() == []
        tab.page.locator("a:has-text('Open the run')").press("Enter")
        tab.page.wait_for_url("**/runs/0/demo")
        assert tab.complaints == []
