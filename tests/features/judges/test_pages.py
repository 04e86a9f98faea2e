"""The judges of a project in the workbench."""

from tests.support.served_project import client, project

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
    assert "Did you mean" in missing.text
