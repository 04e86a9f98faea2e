"""What is turned away before any page: other sites, wrong names, what carries no token, what is too large."""

import pytest
from tests.support.golden import sentence_in
from tests.support.workbench import ADDRESS, LAN, SEEN, create_workbench, opened, peopled, token_in

from ragstone.kernel.config import load_settings
from ragstone.workbench.guard import VISIT, masked, matches, token_of, unmasked

HOME, POSTED = "/workbench/", "/workbench/people/revoke"
FORM = {"id": "1"}


@pytest.fixture
def settings(project):
    return load_settings(project / "ragstone.toml")


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example:8000", "10.0.0.1", "", "[", "localhost.evil"]
)
def test_a_name_that_is_none_of_this_machines_is_refused(client, host):
    assert client.get(HOME, headers={"Host": host}).status_code == 403


@pytest.mark.parametrize(
    "host", ["127.0.0.1:8000", "localhost", "[::1]:8000", "bench.localhost", "LOCALHOST:1"]
)
def test_names_of_this_machine_are_served(client, host):
    assert client.get(HOME, headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "header",
    [
        *(
            "X-Forwarded-For",
            "X-Forwarded-Host",
            "X-Forwarded-Proto",
            "X-Forwarded-Anything",
            "Forwarded",
            "Via",
        ),
        *("X-Real-IP", "CF-Connecting-IP", "True-Client-IP", "X-Client-IP", "Fly-Client-IP"),
    ],
)
def test_a_proxy_that_was_not_told_of_gets_no_owner(client, header):
    told = client.get(HOME, headers={header: "203.0.113.9"})
    assert (told.status_code, "public_url" in told.text) == (403, True)


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:3000"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
        {"Origin": ADDRESS, "Sec-Fetch-Site": "cross-site"},
        {"Origin": "https://evil.example", "Sec-Fetch-Site": "same-origin"},
    ],
)
def test_what_another_site_sends_is_refused_even_with_the_token(client, headers, says):
    told = client.post(POSTED, json={}, headers=headers)
    assert told.status_code == 403
    says(told.json()["detail"])


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Origin": ADDRESS},
        {"Sec-Fetch-Site": "same-origin"},
        {"Origin": "null", "Sec-Fetch-Site": "same-origin"},
    ],
)
def test_what_our_own_pages_send_is_taken(client, headers):
    assert client.post(POSTED, data=FORM, headers=headers).status_code == 404  # nobody logs in here


def test_a_link_may_lead_here_and_an_image_may_not(client):
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert client.get(HOME, headers=link).status_code == 200
    assert client.get(HOME, headers={**link, "Sec-Fetch-Mode": "no-cors"}).status_code == 403


@pytest.mark.parametrize("token", [None, "", "wrong", token_of("of another browser"), "é"])
def test_what_carries_no_token_or_a_wrong_one_is_refused(client, token):
    client.headers.pop("X-CSRF-Token")
    fields = {"csrf": token} if token is not None else {}
    told = client.post(POSTED, data={**FORM, **fields})
    assert (told.status_code, "reload it" in told.text) == (403, True)
    assert client.post(POSTED, json=fields).status_code == 403
    assert client.post(POSTED, files={"file": b"x"}, data=fields).status_code == 403
    assert client.post(POSTED, headers={"X-CSRF-Token": (token or "").encode()}).status_code == 403
    assert client.delete(POSTED).status_code == 403


def test_a_form_carries_its_token_and_one_with_files_is_not_taken(client):
    client.headers.pop("X-CSRF-Token")
    fields = {**FORM, "csrf": token_of(SEEN)}
    assert client.post(POSTED, data=fields).status_code == 404
    # No page of ours sends files in a form.
    assert client.post(POSTED, data=fields, files={"file": b"x"}).status_code == 403


def test_a_browser_keeps_its_token_when_the_server_starts_anew(settings):
    with opened(create_workbench(settings)) as first:
        assert "set-cookie" not in first.get(HOME).headers
    with opened(create_workbench(settings)) as second:
        assert second.post(POSTED, data=FORM).status_code == 404


def test_a_new_browser_is_given_a_token_that_scripts_cannot_read(settings):
    with opened(create_workbench(settings)) as client:
        client.cookies.clear()
        first = client.get(HOME)
        assert first.headers["set-cookie"].startswith(f"{VISIT}=")
        assert "; HttpOnly; SameSite=Lax" in first.headers["set-cookie"]
        assert "set-cookie" not in client.get("/workbench/assets/workbench.css").headers
        sent = token_in(first.text)
        assert unmasked(sent) == token_of(client.cookies[VISIT]) != sent
        assert token_in(client.get(HOME).text) != sent  # another each time, for pages are compressed


def test_a_token_is_known_masked_or_not_and_nothing_else_is():
    token = token_of(SEEN)
    assert matches(token, token)
    assert matches(token, masked(token))
    for forged in (
        "",
        "00",
        token[:-1],
        masked(token)[:-2],
        masked(token_of("another")),
        "ä" * 64,
        "\udcff",
        None,
    ):
        assert not matches(token, forged), forged


def test_all_answers_have_the_headers_that_keep_others_out(client):
    for path in (HOME, "/workbench/nothing", "/workbench/assets/page.css"):
        headers = client.get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        # With "no-referrer" a browser says that a form comes from "null".
        assert headers["referrer-policy"] == "same-origin"
        assert headers["cache-control"] in ("no-store", "no-cache")


def test_a_request_that_is_too_large_is_told(settings, says):
    with opened(create_workbench(settings)) as client:
        told = client.post(POSTED, headers={"Content-Length": "60000000"})
    assert told.status_code == 413
    says(sentence_in(told.text, "60,000,000 bytes;"))


def test_the_public_address_alone_is_served_behind_a_proxy(settings):
    with peopled(settings, host="127.0.0.1", public_url="https://bench.example") as people:
        assert people.visitor("https://bench.example").get("/workbench/login").status_code == 200
        assert people.visitor(ADDRESS).get("/workbench/login").status_code == 200
        told = people.visitor(LAN).get("/workbench/login")
        assert (told.status_code, "https://bench.example" in told.text) == (403, True)
        # The proxy may speak to us by another name: the origin is that of the public address.
        anna = people.person("Anna", "owner")
        anna.base_url = ADDRESS
        assert anna.get(HOME, headers={"X-Forwarded-For": "203.0.113.9"}).status_code == 401


def test_who_is_logged_in_is_told_by_the_session_alone(settings):
    with peopled(settings) as people:
        visitor = people.visitor()
        for header in ("X-Forwarded-User", "Remote-User", "Authorization"):
            assert visitor.get(HOME, headers={header: "Anna"}).status_code == 303
