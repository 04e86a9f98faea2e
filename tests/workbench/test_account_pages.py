"""Login, invitations, one's own account and the page of all accounts, as a browser goes through them."""

import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.support.golden import sentence_in
from tests.support.workbench import PASSWORD, hashed, link_in, peopled, send, token_in

from ragstone.kernel.config import load_settings
from ragstone.workbench import passwords
from ragstone.workbench.guard import SESSION, own_path

LOGIN, HOME = "/workbench/login", "/workbench/"


@pytest.fixture
def people(project):
    with peopled(load_settings(project / "ragstone.toml")) as found:
        yield found


def log_in(client, name="Anna", password=PASSWORD, **fields):
    return send(client, LOGIN, name=name, password=password, **fields)


def cookie(response):
    return response.headers["set-cookie"]


def test_the_first_owner_comes_in_by_the_link_and_invites_others(people, says):
    anna = people.visitor()
    link = f"/workbench/invite/{people.accounts.invite_first('the terminal')}"
    page = anna.get(link).text
    assert "an <b>owner</b>" in page
    came = send(anna, link, name="Anna", password=PASSWORD, again=PASSWORD)
    assert (came.status_code, came.headers["location"]) == (303, HOME)
    assert "Anna" in anna.get(HOME).text
    shown = send(anna, "/workbench/people", "/workbench/people/invite", role="reader").text
    says(sentence_in(shown, "shown only now"))
    ben = people.visitor()
    assert send(ben, link_in(shown), name="Ben", password=PASSWORD, again=PASSWORD).status_code == 303
    assert [(one.name, one.role) for one in people.accounts.people()] == [
        ("Anna", "owner"),
        ("Ben", "reader"),
    ]
    assert [one["action"] for one in people.log()] == [
        *("invitation accepted", "invited", "invitation accepted"),
    ]


def test_an_invitation_works_once(people, says):
    link = f"/workbench/invite/{people.accounts.invite('owner', 'a test')}"
    late = people.visitor()
    token = token_in(late.get(link).text)
    send(people.visitor(), link, name="Anna", password=PASSWORD, again=PASSWORD)
    again = late.post(link, data={"csrf": token, "name": "Eve", "password": PASSWORD, "again": PASSWORD})
    assert again.status_code == 404
    says(sentence_in(again.text, "used or revoked,"))
    assert people.accounts.find("Eve") is None


def test_an_expired_invitation_is_told(people):
    link = f"/workbench/invite/{people.accounts.invite('owner', 'a test')}"
    people.clock.move(days=7)
    assert people.visitor().get(link).status_code == 404
    assert people.visitor().get("/workbench/invite/none-at-all").status_code == 404


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"password": "short", "again": "short"}, "at least 10 characters"),
        ({"password": "x" * 1001, "again": "x" * 1001}, "at most 1000 characters"),
        ({"password": PASSWORD, "again": PASSWORD + "?"}, "The two passwords differ"),
        ({"name": "  "}, "A name has 1 to 64 characters"),
        ({"name": "aNNa"}, "is taken"),
    ],
)
def test_what_does_not_do_is_told_and_the_link_stays_open(people, fields, told):
    people.add("Anna", "owner")
    link = f"/workbench/invite/{people.accounts.invite('reader', 'a test')}"
    visitor = people.visitor()
    given = {"name": "Ben", "password": PASSWORD, "again": PASSWORD}
    refused = send(visitor, link, **{**given, **fields})
    assert (refused.status_code, told in refused.text) == (422, True)
    assert PASSWORD not in refused.text
    assert send(visitor, link, **given).status_code == 303


def test_two_who_take_the_same_name_at_once_make_one_account(people):
    links = [f"/workbench/invite/{people.accounts.invite('reader', 'a test')}" for _ in range(4)]
    visitors = [people.visitor() for _ in links]
    fields = {"name": "Ben", "password": PASSWORD, "again": PASSWORD}
    with ThreadPoolExecutor(4) as threads:
        came = threads.map(lambda one: send(*one, **fields).status_code, zip(visitors, links, strict=True))
    assert sorted(came) == [303, 422, 422, 422]
    assert len(people.accounts.people()) == 1


def test_two_who_use_one_invitation_at_once_make_one_account(people):
    link = f"/workbench/invite/{people.accounts.invite('owner', 'a test')}"
    visitors = {name: people.visitor() for name in ("Ben", "Carl", "Dora")}
    fields = {"password": PASSWORD, "again": PASSWORD}
    with ThreadPoolExecutor(3) as threads:
        came = threads.map(
            lambda one: send(one[1], link, name=one[0], **fields).status_code, visitors.items()
        )
    assert min(came) == 303
    assert len(people.accounts.people()) == 1


def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(people):
    people.add("Anna", "owner")
    came = log_in(people.visitor())
    assert came.status_code == 303
    assert re.fullmatch(rf"{SESSION}=[\w-]{{43}}; Path=/; HttpOnly; SameSite=Lax", cookie(came))


def test_behind_https_cookies_go_over_https_alone(project):
    settings = load_settings(project / "ragstone.toml")
    with peopled(settings, host="127.0.0.1", public_url="https://bench.example") as people:
        people.add("Anna", "owner")
        visitor = people.visitor("https://bench.example")
        came = log_in(visitor)
        assert cookie(came).startswith("__Host-ragstone_session=")
        assert cookie(came).endswith("; Path=/; HttpOnly; SameSite=Lax; Secure")
        assert visitor.get(HOME).status_code == 200
        shown = send(visitor, "/workbench/people", "/workbench/people/invite", role="reader").text
        assert 'value="https://bench.example/workbench/invite/' in shown


def test_a_name_and_a_password_that_are_wrong_are_told_alike(people):
    people.add("Anna", "owner")
    unknown, wrong = log_in(people.visitor(), "Eve"), log_in(people.visitor(), password="not the password")
    assert unknown.status_code == wrong.status_code == 401
    assert unknown.text.replace("Eve", "Anna") == re.sub(
        token_in(wrong.text), token_in(unknown.text), wrong.text
    )


def test_a_name_that_nobody_has_takes_a_hash_as_well(people, monkeypatch):
    """The work is counted, not the time: each login verifies one argon2id hash of the same parameters."""
    people.add("Anna", "owner")
    verified = []
    hasher = type(passwords.is_password.__globals__["_hasher"]())
    verify = hasher.verify

    def counting(self, known, given):
        verified.append(known.rpartition("$")[0].rpartition("$")[0])
        return verify(self, known, given)

    monkeypatch.setattr(hasher, "verify", counting)
    log_in(people.visitor(), "Eve")
    log_in(people.visitor(), password="not the password")
    log_in(people.visitor())
    assert len(verified) == 3
    assert set(verified) == {hashed().rpartition("$")[0].rpartition("$")[0]}
    assert verified[0].startswith("$argon2id$")


def test_a_session_that_somebody_else_chose_is_not_taken_over(people):
    people.add("Anna", "owner")
    anna = people.visitor()
    anna.cookies.set(SESSION, "chosen-by-eve")
    came = log_in(anna)
    assert "chosen-by-eve" not in cookie(came)
    eve = people.visitor()
    eve.cookies.set(SESSION, "chosen-by-eve")
    assert eve.get(HOME).status_code == 303


def test_a_new_login_ends_the_session_before(people):
    anna = people.person("Anna", "owner")
    before = anna.cookies[SESSION]
    send(anna, "/workbench/account", LOGIN, name="Anna", password=PASSWORD)
    stale = people.visitor()
    stale.cookies.set(SESSION, before)
    assert stale.get(HOME).status_code == 303


def test_a_cookie_that_was_changed_is_no_session(people):
    anna = people.person("Anna", "owner")
    token = anna.cookies[SESSION]
    for changed in (token[:-1] + ("A" if token[-1] != "A" else "B"), token + "A", "", "é", "x" * 5000):
        visitor = people.visitor()
        header = [(b"Cookie", f"{SESSION}={changed}".encode())]
        assert visitor.get(HOME, headers=header).status_code == 303


def test_passwords_cannot_be_tried_for_long(people):
    people.add("Anna", "owner")
    codes = [log_in(people.visitor(), password=f"guess number {n}").status_code for n in range(12)]
    assert codes == [401] * passwords.MOST_OF_NAME + [429, 429]
    assert "15 minutes" in log_in(people.visitor()).text  # the right one is not looked at either
    people.clock.move(minutes=16)
    assert log_in(people.visitor()).status_code == 303


def test_one_name_is_one_name_however_it_is_written(people):
    people.person("Rae", "owner")
    spelt = ["Rae" + " " * n for n in range(5)] + ["rAE", "Ｒａｅ", "\tRae", "Rae\u00a0", "RAE"]
    codes = [log_in(people.visitor(), name, "wrong password").status_code for name in spelt]
    assert codes == [401] * passwords.MOST_OF_NAME
    assert log_in(people.visitor(), "Rae   ", "wrong password").status_code == 429


def test_one_address_cannot_try_many_names(people):
    codes = [log_in(people.visitor(), f"name {n}").status_code for n in range(21)]
    assert codes == [401] * passwords.MOST_OF_ADDRESS + [429]


def test_logins_that_succeed_do_not_count(people):
    people.add("Anna", "owner")
    assert {log_in(people.visitor()).status_code for _ in range(22)} == {303}


def test_one_network_of_ipv6_is_one_address():
    assert passwords.network_of("2001:db8::1") == passwords.network_of("2001:db8::ffff:1")
    assert passwords.network_of("2001:db8::1") != passwords.network_of("2001:db8:0:1::1")
    assert passwords.network_of("10.0.0.1") != passwords.network_of("10.0.0.2")
    assert passwords.network_of("testclient") == "testclient"


def test_one_comes_back_to_the_page_that_was_asked_for(people):
    people.add("Anna", "owner")
    visitor = people.visitor()
    sent = visitor.get("/workbench/people/log?page=2")
    assert sent.headers["location"] == "/workbench/login?next=/workbench/people/log%3Fpage%3D2"
    page = visitor.get(sent.headers["location"]).text
    assert 'name="next" value="/workbench/people/log?page=2"' in page
    came = log_in(visitor, next="/workbench/people/log?page=2")
    assert came.headers["location"] == "/workbench/people/log?page=2"
    assert visitor.get("/workbench/login?next=/workbench/people").headers["location"] == "/workbench/people"


@pytest.mark.long
@pytest.mark.parametrize(
    "evil",
    [
        *("https://evil.example/", "//evil.example", "/\\evil.example", "/workbench//evil.example"),
        *(
            "/workbench/\\..\\..",
            "javascript:alert(1)",
            "/workbench.evil.example",
            "evil",
            "",
            "/",
            "/v1/models",
        ),
        *("/workbench/\r\nSet-Cookie: a=b", "/workbench/\x00", "\t//evil.example", " /workbench/"),
        '/workbench/"><script>',
    ],
)
def test_a_login_leads_only_to_our_own_pages(people, evil):
    people.add("Anna", "owner")
    assert own_path(evil) == HOME
    visitor = people.visitor()
    assert log_in(visitor, next=evil).headers["location"] == HOME
    assert visitor.get(LOGIN, params={"next": evil}).headers["location"] == HOME


def test_a_path_of_any_language_is_come_back_to(people):
    people.add("Anna", "owner")
    came = log_in(people.visitor(), next="/workbench/runs/0/maïs?q=ü")
    assert came.headers["location"] == "/workbench/runs/0/ma%C3%AFs?q=%C3%BC"


def test_logout_ends_the_session_not_only_the_cookie(people):
    anna, elsewhere = people.person("Anna", "owner"), people.person("Anna", "owner")
    kept = anna.cookies[SESSION]
    left = send(anna, "/workbench/account", "/workbench/logout")
    assert left.headers["location"] == LOGIN
    assert "Max-Age=0" in cookie(left)
    stale = people.visitor()
    stale.cookies.set(SESSION, kept)
    assert stale.get(HOME).status_code == 303
    assert elsewhere.get(HOME).status_code == 200


def test_logout_everywhere_ends_all_sessions(people):
    anna, elsewhere = people.person("Anna", "owner"), people.person("Anna", "owner")
    send(anna, "/workbench/account", "/workbench/logout/everywhere")
    assert elsewhere.get(HOME).status_code == 401


def test_a_password_is_changed_by_who_knows_it_and_ends_other_sessions(people, says):
    anna, elsewhere = people.person("Anna", "reader"), people.person("Anna", "reader")
    path, new = "/workbench/account", "another horse battery"

    def change(**fields):
        return send(
            anna, path, f"{path}/password", **{"old": PASSWORD, "password": new, "again": new, **fields}
        )

    says(sentence_in(change(old="not the password").text, "current password"))
    says(sentence_in(change(password="short", again="short").text, "10 characters"))
    assert "differ" in change(again=PASSWORD).text
    assert change().status_code == 303
    assert anna.get(path).status_code == 200
    assert elsewhere.get(path).status_code == 401
    assert log_in(people.visitor()).status_code == 401
    assert log_in(people.visitor(), password=new).status_code == 303


def test_a_lost_password_is_set_anew_by_a_link_that_works_once(people, says):
    owner, ben = people.person("Anna", "owner"), people.person("Ben", "annotator")
    shown = send(owner, "/workbench/people", "/workbench/people/renew", name="Ben").text
    link, new = link_in(shown), "another horse battery"
    visitor = people.visitor()
    says(sentence_in(visitor.get(link).text, "new password for"))
    assert send(visitor, link, password=new, again=new).status_code == 303
    assert ben.get(HOME).status_code == 401
    assert people.visitor().get(link).status_code == 404
    assert log_in(people.visitor(), "Ben", new).status_code == 303


def test_a_session_that_ended_is_told_to_a_script_with_the_way_back(people):
    anna = people.person("Anna", "annotator")
    people.clock.move(hours=12)
    page = "http://bench.lan:8000/workbench/label/queue?item=3"
    told = anna.post("/workbench/label/save", json={}, headers={"Referer": page})
    assert told.status_code == 401
    assert told.json()["login"] == "/workbench/login?next=/workbench/label/queue%3Fitem%3D3"
    assert "Log in again" in told.json()["detail"]
    elsewhere = anna.post("/workbench/label/save", json={}, headers={"Referer": "http://evil.example/x"})
    assert elsewhere.json()["login"] == LOGIN


def test_a_form_that_was_sent_too_late_leads_to_the_login_and_back(people):
    anna = people.person("Anna", "owner")
    del anna.headers["X-CSRF-Token"]
    people.clock.move(hours=12)
    page = "http://bench.lan:8000/workbench/people"
    sent = anna.post("/workbench/people/invite", data={"role": "reader"}, headers={"Referer": page})
    assert (sent.status_code, sent.headers["location"]) == (303, "/workbench/login?next=/workbench/people")


def test_what_was_written_in_a_page_is_sent_after_a_new_login_by_the_same_person_only(people):
    anna = people.person("Anna", "owner")
    token = anna.headers.pop("X-CSRF-Token")
    people.clock.move(hours=12)
    log_in(anna)
    form = {"csrf": token, "role": "reader"}
    assert anna.post("/workbench/people/invite", data=form).status_code == 200
    people.add("Ben", "owner")
    send(anna, "/workbench/account", "/workbench/logout")
    log_in(anna, "Ben")
    assert anna.post("/workbench/people/invite", data=form).status_code == 403


def test_the_log_holds_who_failed_but_no_password_and_no_name_that_may_be_one(people):
    people.add("Anna", "owner")
    log_in(people.visitor(), "my secret password", "x" * 10)
    log_in(people.visitor(), "anna", "wrong and secret")
    log_in(people.visitor(), "anna")
    assert [(one["who"], one["action"], one["facts"]) for one in people.log()] == [
        ("", "login failed", {"name": None}),
        ("", "login failed", {"name": "Anna"}),
        ("Anna", "login", {"role": "owner"}),
    ]
    assert "secret" not in (people.store / "audit.jsonl").read_text()


def test_without_accounts_there_is_nobody_to_log_in(client):
    client.follow_redirects = False
    assert client.get(LOGIN).headers["location"] == HOME
    assert client.get("/workbench/account").status_code == 404
    assert client.get("/workbench/invite/x").status_code == 404
    assert client.post("/workbench/logout").status_code == 404


PEOPLE = "/workbench/people"


def test_owners_alone_see_it(people, says):
    assert people.person("Anna", "owner").get(PEOPLE).status_code == 200
    for role in ("annotator", "reader"):
        told = people.person(role, role).get(PEOPLE)
        assert told.status_code == 403
        says(sentence_in(told.text, "this needs an"))
        assert f'href="{PEOPLE}"' not in told.text


def test_a_role_is_changed_and_written_down(people):
    anna, ben = people.person("Anna", "owner"), people.person("Ben", "reader")
    assert send(anna, PEOPLE, f"{PEOPLE}/role", name="Ben", role="owner").headers["location"] == PEOPLE
    assert ben.get(PEOPLE).status_code == 200
    assert people.log()[-1]["facts"] == {"name": "Ben", "role": "owner", "before": "reader"}
    assert send(anna, PEOPLE, f"{PEOPLE}/role", name="Ben", role="king").status_code == 400


def test_the_last_owner_stays_and_is_told_so(people, says):
    anna = people.person("Anna", "owner")
    for action, fields in (("role", {"role": "reader"}), ("remove", {})):
        told = send(anna, PEOPLE, f"{PEOPLE}/{action}", name="Anna", **fields)
        assert told.status_code == 422
        says(sentence_in(told.text, "Anna is the"))


def test_who_is_removed_is_out_at_once(people, says):
    anna, ben = people.person("Anna", "owner"), people.person("Ben", "reader")
    send(anna, PEOPLE, f"{PEOPLE}/remove", name="Ben")
    assert ben.get("/workbench/").status_code == 401
    assert "Ben" not in anna.get(PEOPLE).text
    assert people.log()[-1]["action"] == "removed"
    says(sentence_in(send(anna, PEOPLE, f"{PEOPLE}/renew", name="Ben").text, "has no account"))


def test_a_link_is_shown_once_and_can_be_revoked(people, says):
    anna = people.person("Anna", "owner")
    link = link_in(send(anna, PEOPLE, f"{PEOPLE}/invite", role="annotator").text)
    page = anna.get(PEOPLE).text
    assert link not in page
    says(sentence_in(page, "Invitation for"))
    assert "<b>annotator</b>" in page
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
