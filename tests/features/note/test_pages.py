"""Notes in the workbench."""

import pytest
from tests.support.browser import opened_tab
from tests.support.served_project import client, project
from tests.support.served_workbench import served
from tests.support.workbench import peopled
from tests.workbench.test_run_pages import EVIL, write

from ragstone.kernel.config import load_settings
from ragstone.kernel.runs.notes import add_note, read_notes

__all__ = ["client", "project"]  # its fixtures

RUN = "/workbench/runs/0/wheat"


@pytest.fixture
def run(project):
    return write(project / "runs" / "wheat")


def sent(client, path, **body):
    return client.post(f"{RUN}/{path}", json=body, headers={"Accept": "application/json"})


def test_a_note_is_written_shown_found_and_removed(run, client):
    made = sent(client, "notes", question="q1", text=" Names wheat. ", tags="wrong crop, ,Wrong  crop")
    assert made.status_code == 200, made.text
    note = made.json()
    assert (note["text"], note["tags"]) == ("Names wheat.", ["wrong crop", "Wrong crop"])
    shown = client.get(f"{RUN}/notes", params={"question": "q1"}).json()
    assert [each["id"] for each in shown["notes"]] == shown["mine"] == [note["id"]]
    rows = client.get(f"{RUN}/rows", params={"where": "note_tags = 'wrong crop'"}).json()
    assert [line["id"] for line in rows["lines"]] == ["q1"]
    assert "notes" in client.get(f"{RUN}/head").json()["filters"]
    assert sent(client, "notes/remove", id=note["id"]).status_code == 200
    assert read_notes(run) == []
    gone = sent(client, "notes/remove", id=note["id"])
    assert (gone.status_code, "removed meanwhile" in gone.json()["detail"]) == (422, True)


@pytest.mark.long
@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"question": "q1"}, 422),
        ({"question": "q1", "text": "x" * 10_001}, 422),
        ({"question": "q1", "text": "x", "tags": "t" * 61}, 422),
        ({"question": "nobody", "text": "x"}, 404),
        ({"question": "q1", "text": "x", "system": "nobody"}, 404),
        ({"text": "x"}, 400),
    ],
)
def test_a_note_that_cannot_be_kept_is_refused(run, client, body, status):
    assert sent(client, "notes", **body).status_code == status
    assert read_notes(run) == []


def test_who_may_write_and_remove(project):
    folder = write(project / "runs" / "wheat")
    other = add_note(folder, "q1", "mine", author="somebody else")
    with peopled(load_settings(project / "ragstone.toml")) as people:
        ria, ann = people.person("ria", "reader"), people.person("ann", "annotator")
        assert sent(ria, "notes", question="q1", text="x").status_code == 403
        assert ria.get(f"{RUN}/notes", params={"question": "q1"}).status_code == 200
        made = sent(ann, "notes", question="q1", text="x").json()
        assert made["author"] == "ann"
        assert sent(ann, "notes/remove", id=other.id).status_code == 403
        assert sent(ann, "notes/remove", id=made["id"]).status_code == 200
        assert sent(people.person("olga", "owner"), "notes/remove", id=other.id).status_code == 200
        assert [line["action"] for line in people.log()] == ["note removed"] * 2


@pytest.mark.browser
def test_notes_are_written_and_removed_in_a_browser(project):
    folder = write(project / "runs" / "wheat")
    add_note(folder, "q1", EVIL, author=EVIL, tags=[EVIL[:50]])
    with served(load_settings(project / "ragstone.toml")) as address, opened_tab(loopback=True) as tab:
        tab.visit(f"{address}{RUN}#q-q1")
        tab.page.locator(".notes form").wait_for()
        assert EVIL in tab.run("document.querySelector('.notes li').textContent")
        tab.page.fill(".notes textarea", "Names wheat.")
        tab.page.fill(".notes input", "wrong crop")
        tab.page.click(".notes form button")
        tab.until("document.querySelectorAll('.notes li').length", 2)
        assert tab.axe() == []
        tab.page.click(".notes li:first-child button")
        tab.until("document.querySelectorAll('.notes li').length", 1)
        tab.page.click(".notes form button")
        tab.until(
            "document.querySelector('.notes [role=alert]').textContent.startsWith('The note is empty')",
            value=True,
        )
        assert [note.text for note in read_notes(folder)] == ["Names wheat."]
        assert len(tab.complaints) == 1  # the browser's own, of the note that was refused
