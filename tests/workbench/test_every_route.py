"""Every route of the workbench, whatever room it is of: who may not, what is refused, what is escaped."""

import json
import re

import msgspec
import pytest
from litestar.routes import HTTPRoute
from tests.support.judged_runs import write_run
from tests.support.tiny_run import JUDGEMENTS, summary_of
from tests.support.workbench import create_workbench, opened, peopled

from ragstone.kernel.config import load_settings
from ragstone.workbench.guard import FREE, OWN

EVIL = "<script>alert('x')</script><img src=x onerror=\"alert(1)\">'\"&{{7*7}}"
VALUES = {
    "str": ("0", "..", "%2e%2e%2fetc", "x" * 300),
    "int": ("0",),
    "path": ("0/nothing", "../../etc/passwd"),
}
LEAVES_SHUT = (303, 401)


@pytest.fixture
def settings(project):
    return load_settings(project / "ragstone.toml")


def routes(app):
    """Return (method, path) of all routes, with something in place of their parameters."""
    found = []
    for route in app.routes:
        assert isinstance(route, HTTPRoute), f"{route.path}: the guard lets nothing in but HTTP"
        path = re.sub(r"\{\w+:(\w+)\}", lambda kind: VALUES.get(kind[1], VALUES["str"])[0], route.path)
        found += [(method, path) for method in sorted(route.methods) if method not in ("OPTIONS", "HEAD")]
    return found


def test_nobody_gets_anything_without_a_login(settings):
    with peopled(settings) as people:
        visitor = people.visitor()
        for method, path in routes(people.app):
            if FREE.fullmatch(path):
                continue
            answered = visitor.request(method, path)
            assert answered.status_code in LEAVES_SHUT, f"{method} {path}"
            assert answered.headers.get("location", "/workbench/login").startswith("/workbench/login")
            asked = visitor.request(method, path, headers={"Accept": "application/json"})
            assert (asked.status_code, asked.json()["login"][:16]) == (401, "/workbench/login"), (
                f"{method} {path}"
            )


def test_a_reader_changes_nothing(settings):
    with peopled(settings) as people:
        reader = people.person("Rea", "reader")
        tried = 0
        for method, path in routes(people.app):
            if method == "GET" or path in OWN:
                continue
            assert reader.request(method, path, json={}).status_code == 403, f"{method} {path}"
            assert reader.request(method, path, data={"name": "Rea"}).status_code == 403, f"{method} {path}"
            tried += 1
        assert tried >= 6


DEEP = b"[" * 100_000 + b"]" * 100_000
UNREADABLE = (
    DEEP,
    b'{"a":' * 100_000,
    b'{"name": "\xff"}',
    b'{"name": "\\ud800"}',
    b"{",
    b"null",
    b"1e999",
    b"",
)
SENT_AS = (
    "application/json",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "text/x-\x00",
)


@pytest.mark.long
def test_a_body_that_cannot_be_read_is_a_mistake_of_who_sends_it(settings):
    with peopled(settings) as people:
        owner = people.person("Olga", "owner")
        tried = 0
        for method, path in routes(people.app):
            if method == "GET" or path.startswith(
                "/workbench/log"
            ):  # which reads no body, or ends the session
                continue
            for kind in SENT_AS:
                for body in UNREADABLE:
                    answered = owner.request(
                        method, path, content=body, headers={"Content-Type": kind.encode()}
                    )
                    assert answered.status_code < 500, (path, kind, body[:20])
                    tried += 1
        assert tried > 300


@pytest.mark.parametrize("role", ["annotator", "owner"])
def test_nothing_is_taken_without_the_token(settings, role):
    with peopled(settings) as people:
        person = people.person("Anna", role)
        del person.headers["X-CSRF-Token"]
        for method, path in routes(people.app):
            if method != "GET":
                assert person.request(method, path, json={}).status_code == 403, f"{method} {path}"
                assert person.request(method, path, data={"csrf": "x" * 64}).status_code == 403, (
                    f"{method} {path}"
                )


def test_an_annotator_changes_no_accounts(settings):
    with peopled(settings) as people:
        anna = people.person("Anna", "annotator")
        for method, path in routes(people.app):
            if path.startswith("/workbench/people"):
                fields = {"id": "1", "name": "Anna", "role": "owner"}
                assert (
                    anna.request(method, path, data=fields if method == "POST" else None).status_code == 403
                )
        assert people.accounts.find("Anna").role == "annotator"


@pytest.mark.long
def test_paths_that_lead_elsewhere_lead_nowhere(settings):
    with opened(create_workbench(settings)) as client:
        for route in client.app.routes:
            for kind in set(re.findall(r"\{\w+:(\w+)\}", route.path)) & VALUES.keys():
                for value in VALUES[kind]:
                    path = re.sub(r"\{\w+:\w+\}", value, route.path)
                    if "GET" in route.methods:
                        answered = client.get(path)
                        assert answered.status_code < 500, path
                        assert "root:" not in answered.text


def evil_run(folder):
    """Write a run whose every text is markup."""

    def spoiled(value, key=""):
        match value:
            case dict():
                return {name: spoiled(one, name) for name, one in value.items()}
            case list():
                return [spoiled(one, key) for one in value]
            case str() if key in ("question", "answer", "reference", "rationale", "text", "title", "error"):
                return EVIL + value
        return value

    write_run(folder, JUDGEMENTS)
    summary = json.loads(msgspec.json.encode(summary_of(JUDGEMENTS)))
    summary["name"] = EVIL
    (folder / "summary.json").write_text(json.dumps(summary))
    for file in folder.glob("*.jsonl"):
        rows = [json.dumps(spoiled(json.loads(line))) for line in file.read_text().splitlines()]
        file.write_text("\n".join(rows) + "\n")


@pytest.mark.long
def test_no_page_shows_a_text_as_markup(project):
    (project / "ragstone.toml").write_text(f"[workbench]\nannotator = {json.dumps(EVIL)}\n")
    evil_run(project / "runs" / "evil")
    (project / "questions.jsonl").write_text(json.dumps({"id": "q", "question": EVIL, "kind": "open"}) + "\n")
    pages = 0
    with opened(create_workbench(load_settings(project / "ragstone.toml"))) as client:
        for route in client.app.routes:
            if "GET" not in route.methods or "assets" in route.path:
                continue
            path = re.sub(r"\{name:\w+\}", "evil", re.sub(r"\{\w+:int\}", "0", route.path))
            for query in ("", f"?q={EVIL}&text={EVIL}&page=1&next={EVIL}"):
                page = client.get(re.sub(r"\{\w+:\w+\}", "0", path) + query)
                if page.headers.get("content-type", "").startswith("text/html"):
                    pages += 1
                    assert "<script>alert" not in page.text, path
                    assert "<img src=x" not in page.text, path
                    assert "&amp;49" not in page.text, path
    assert pages >= 6
