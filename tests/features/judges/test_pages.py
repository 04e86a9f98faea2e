"""The judges of a project in the workbench."""

from pathlib import Path

from tests.support.golden import sentence_in
from tests.support.served_project import client, project
from tests.support.workbench import peopled

from ragstone.kernel.config import load_settings

__all__ = ["client", "project"]  # its fixtures

EVIL = "<script>alert('x')</script>"


def test_judges_are_those_that_ship_and_those_of_the_project(project, client):
    (project / "judges").mkdir()
    (project / "judges" / "strict.toml").write_text(
        'name = "strict"\nversion = 3\nkind = "boolean"\ninputs = ["answer"]\nscale = [0, 1]\n'
        f'source = "ours"\nprompt = "Is {{answer}} right? {EVIL}"\n'
    )
    (project / "judges" / "wrong.toml").write_text('name = "wrong"\n')
    page = client.get("/workbench/judges").text
    for name in ("strict", "wrong", "faithfulness", "containment"):
        assert f'href="/workbench/judges/{name}"' in page
    page = client.get("/workbench/judges/strict").text
    assert "&lt;script&gt;" in page
    assert EVIL not in page
    assert "Develop it" in page
    assert "Develop a copy" in client.get("/workbench/judges/faithfulness").text
    assert "wrong.toml" in client.get("/workbench/judges/wrong").text
    asks_none = "calls no model"
    says = {"rubric": "Criteria", "answered": "refused", "containment": asks_none, "similarity": asks_none}
    for name, told in {**says, "claims": "Then, for each statement", "sameness": "members"}.items():
        assert told in client.get(f"/workbench/judges/{name}").text  # each kind has keys of its own
    missing = client.get("/workbench/judges/faithfulnes")
    assert missing.status_code == 404
    assert "here. Did you mean" in missing.text


def test_the_page_that_a_judge_names_as_its_source_is_there(project, client):
    page = client.get("/workbench/judges/right").text
    assert "see docs/reference/judges.md" in page
    assert (Path(__file__).parents[3] / "docs" / "reference" / "judges.md").is_file()


def test_a_judge_is_begun_from_a_starting_file_and_none_is_overwritten(project, client):
    new = "/workbench/judges/new-judge"
    page = client.get(new).text
    assert 'value="rubric"' in page
    assert 'value="function"' not in page  # Python from a browser would be run here

    def begin(name, kind="boolean"):
        return client.post(new, data={"name": name, "kind": kind}, follow_redirects=False)

    reply = begin("fair", "rubric")
    assert (reply.status_code, reply.headers["location"]) == (303, "/workbench/judges/fair/develop#edit")
    text = (project / "judges" / "fair.toml").read_text()
    assert 'name      = "fair"' in text
    assert client.get("/workbench/judges/fair").status_code == 200
    assert client.get("/workbench/judges/fair/develop").status_code == 200
    for name, told in {
        "fair": "There is a judge named fair here",
        "correctness": "comes with Ragstone",
        "": "not a name for a judge",
        "../out": "not a name for a judge",
        'x" # ': "not a name for a judge",
        "A": "not a name for a judge",
        "x" * 61: "not a name for a judge",
    }.items():
        refused = begin(name)
        assert refused.status_code == 422
        assert told in refused.text
    for kind in ("function", "", "nonsense"):
        assert "Choose a kind." in begin("other", kind).text
    assert [path.name for path in (project / "judges").iterdir()] == ["fair.toml"]
    assert (project / "judges" / "fair.toml").read_text() == text


def test_only_owners_begin_and_keep_judges(project):
    with peopled(load_settings(project / "ragstone.toml")) as people:
        ann = people.person("ann", "annotator")
        assert "Write a judge" not in ann.get("/workbench/judges").text
        assert ann.get("/workbench/judges/new-judge").status_code == 403
        assert (
            ann.post("/workbench/judges/new-judge", data={"name": "x", "kind": "boolean"}).status_code == 403
        )
        body = {"text": "x", "change": "y"}
        assert ann.post("/workbench/judges/correctness/keep", json=body).status_code == 403
        owner = people.person("olga", "owner")
        forged = {"X-CSRF-Token": "forged"}
        assert owner.post("/workbench/judges/correctness/keep", json=body, headers=forged).status_code == 403
    assert not (project / "judges").exists()


def test_that_nobody_checked_a_judge_is_said_once(project, client, says):
    page = client.get("/workbench/judges").text
    assert page.count("checked against people") == 1
    says(sentence_in(page, "No model is"))
    assert page.count("no model</span>") > 20
