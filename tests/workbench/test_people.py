"""The page of accounts and invitations."""

import pytest
from tests.support.workbench import link_in, peopled, send

from ragstone.config import load_settings

PEOPLE = "/workbench/people"


@pytest.fixture
def people(project):
    with peopled(load_settings(project / "ragstone.toml")) as found:
        yield found


def test_owners_alone_see_it(people):
    assert people.person("Anna", "owner").get(PEOPLE).status_code == 200
    for role, words in (("annotator", "an annotator"), ("reader", "a reader")):
        told = people.person(role, role).get(PEOPLE)
        assert (told.status_code, f"is {words} here: this needs an owner" in told.text) == (403, True)
        assert f'href="{PEOPLE}"' not in told.text


def test_a_role_is_changed_and_written_down(people):
    anna, ben = people.person("Anna", "owner"), people.person("Ben", "reader")
    assert send(anna, PEOPLE, f"{PEOPLE}/role", name="Ben", role="owner").headers["location"] == PEOPLE
    assert ben.get(PEOPLE).status_code == 200
    assert people.log()[-1]["facts"] == {"name": "Ben", "role": "owner", "before": "reader"}
    assert send(anna, PEOPLE, f"{PEOPLE}/role", name="Ben", role="king").status_code == 400


def test_the_last_owner_stays_and_is_told_so(people):
    anna = people.person("Anna", "owner")
    for action, fields in (("role", {"role": "reader"}), ("remove", {})):
        told = send(anna, PEOPLE, f"{PEOPLE}/{action}", name="Anna", **fields)
        assert (told.status_code, "Anna is the last owner" in told.text) == (422, True)


def test_who_is_removed_is_out_at_once(people):
    anna, ben = people.person("Anna", "owner"), people.person("Ben", "reader")
    send(anna, PEOPLE, f"{PEOPLE}/remove", name="Ben")
    assert ben.get("/workbench/").status_code == 401
    assert "Ben" not in anna.get(PEOPLE).text
    assert people.log()[-1]["action"] == "removed"
    assert "has no account here" in send(anna, PEOPLE, f"{PEOPLE}/renew", name="Ben").text


def test_a_link_is_shown_once_and_can_be_revoked(people):
    anna = people.person("Anna", "owner")
    link = link_in(send(anna, PEOPLE, f"{PEOPLE}/invite", role="annotator").text)
    page = anna.get(PEOPLE).text
    assert link not in page
    assert "Invitation of an <b>annotator</b>" in page
    [open_one] = people.accounts.invitations()
    send(anna, PEOPLE, f"{PEOPLE}/revoke", id=str(open_one.id))
    assert people.visitor().get(link).status_code == 404
    assert [one["action"] for one in people.log()] == ["invited", "invitation revoked"]
    assert link.rpartition("/")[2] not in (people.store / "audit.jsonl").read_text()


def test_names_are_text(people):
    evil = "<script>alert(1)</script>\"'&"
    people.add(evil, "reader")
    page = people.person("Anna", "owner").get(PEOPLE).text
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;&#34;&#39;&amp;" in page


def test_without_accounts_it_says_how_to_have_some(client):
    page = client.get(PEOPLE).text
    assert "ragstone serve --host" in page
    assert "<form" not in page
