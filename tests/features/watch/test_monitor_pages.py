"""The monitor over HTTP: who may see it, that it is fresh, questions page by page."""

import base64
from contextlib import contextmanager

import msgspec
import pytest
from litestar.testing import TestClient
from tests.support.golden import sentence_in
from tests.support.monitor_store import fill, row
from tests.support.served_assistant import KEYS, URL, Scripted, Time, key
from tests.support.texts import element

from ragstone.features.sample._feedback_answered import CorrectedAnswers
from ragstone.features.sample.feedback import sample_feedback
from ragstone.features.sample.feedback_words import keep_summary
from ragstone.features.watch.monitor_pages import A_PAGE, FRESH_S
from ragstone.features.watch.watching import watch
from ragstone.kernel.config import MonitorSection, Settings
from ragstone.kernel.config.serving import ServeSection
from ragstone.workbench.chat import monitor_routes
from ragstone_assistant.api.app import create_app

ROWS = [
    row(f"x{n}", answered=n % 2, faithfulness=1, tags={"crop": "maize" if n < 30 else "tea"})
    for n in range(60)
]


def settings(tmp_path):
    return Settings(root=str(tmp_path), monitor=MonitorSection(store="store", canaries=0))


@contextmanager
def client_of(tmp_path, keys=None, **serve):
    time = Time()
    app = create_app(
        Scripted().assistant(),
        ServeSection(**serve),
        folder=tmp_path / "served",
        keys=keys,
        routes=monitor_routes(settings(tmp_path), time.clocks().tick),
        clocks=time.clocks(),
    )
    with TestClient(app, base_url=URL, raise_server_exceptions=False) as client:
        client.moves = time
        yield client


def test_without_a_store_it_says_what_to_run(tmp_path):
    with client_of(tmp_path) as client:
        told = client.get("/monitor")
    assert told.status_code == 404
    assert "ragstone watch LOG" in told.json()["detail"]


def test_the_page_says_what_feedback_became_where_somebody_asked_and_nothing_else(tmp_path, says):
    fill(tmp_path / "store", ROWS).close()
    with client_of(tmp_path) as client:
        assert "feedback became" not in client.get("/monitor").text
    exchange = {
        "id": "x1",
        "question": "When is rye sown?",
        "answer": "In May.",
        "correction": "In <b>June</b>.",
    }
    summary = sample_feedback([exchange], settings=settings(tmp_path)).summary
    keep_summary(tmp_path / "store", summary)
    with client_of(tmp_path) as client:
        page = client.get("/monitor").text
    says(sentence_in(page, "What users"))
    says(sentence_in(page, "The log does"))
    named = CorrectedAnswers(
        run="<i>r", system="[m](x) <b>", judge="right", n_questions=1, n=1, right=1, n_checked=0
    )
    keep_summary(tmp_path / "store", msgspec.structs.replace(summary, answered=[named]))
    with client_of(tmp_path) as client:
        page = client.get("/monitor").text
    says(sentence_in(page, "answers 1 of"))


def test_the_page_has_its_own_policy_and_is_made_again_after_some_seconds(tmp_path):
    fill(tmp_path / "store", ROWS).close()
    with client_of(tmp_path) as client:
        first = client.get("/monitor")
        assert first.status_code == 200
        assert "60 exchanges" in first.text
        assert "'sha256-" in first.headers["content-security-policy"]
        assert "form-action 'self'" in first.headers["content-security-policy"]
        assert "/monitor/questions" in first.text
        fill(tmp_path / "store", [*ROWS, row("new", answered=1)]).close()
        assert client.get("/monitor").text == first.text
        client.moves.move(seconds=FRESH_S + 1)
        assert "61 exchanges" in client.get("/monitor").text


def test_only_an_administrator_sees_it_with_a_key_or_with_the_key_as_password(tmp_path):
    fill(tmp_path / "store", ROWS).close()

    def password(name):
        return {"Authorization": "Basic " + base64.b64encode(f"any:{KEYS[name]}".encode()).decode()}

    with client_of(tmp_path, keys=KEYS, admin_keys=["anna"]) as client:
        refused = client.get("/monitor")
        assert refused.status_code == 401
        assert refused.headers["www-authenticate"].startswith("Basic")
        assert client.get("/monitor/questions").status_code == 401
        assert client.get("/monitor", headers={"Authorization": "Basic ***"}).status_code == 401
        assert client.get("/monitor", headers=key("ben")).status_code == 403
        assert client.get("/monitor", headers=key("anna")).status_code == 200
        assert client.get("/monitor", headers=password("anna")).status_code == 200
        # A password is sent by the browser unasked: the API does not take it.
        assert client.get("/v1/documents", headers=password("anna")).status_code == 401


def test_questions_are_paged_and_filtered(tmp_path, says):
    fill(tmp_path / "store", ROWS).close()
    with client_of(tmp_path) as client:
        first = client.get("/monitor/questions").text
        assert first.count('class="question"') == A_PAGE
        says(element(first, "60 questions"))
        second = client.get("/monitor/questions", params={"page": 2}).text
        assert second.count('class="question"') == 10
        assert 'rel="prev"' in second
        tea = client.get("/monitor/questions", params={"tag": "crop", "value": "tea"}).text
        assert "30 questions" in tea
        worst = client.get("/monitor/questions", params={"metric": "answered"}).text
        assert worst.index("Why x0?") < worst.index("Why x59?")
        one = client.get("/monitor/questions", params={"text": "x17"}).text
        assert "1 question," in one
        assert client.get("/monitor/questions", params={"metric": "nothing"}).status_code == 404
        assert client.get("/monitor/questions", params={"page": 0}).status_code == 400
        assert client.get("/monitor/questions", params={"text": "<script>"}).text.count("<script>") == 0


def test_the_questions_of_a_gap_can_be_opened(tmp_path):
    fill(tmp_path / "store", ROWS).close()
    watch(settings=settings(tmp_path))
    with client_of(tmp_path) as client:
        assert "/monitor/questions?gap=1" in client.get("/monitor").text
        opened = client.get("/monitor/questions", params={"gap": "1"}).text
        assert "Why x" in opened
        assert 'name="gap" value="1"' in opened
        assert client.get("/monitor/questions", params={"gap": "999"}).status_code == 404


@pytest.mark.parametrize("path", ["/monitor", "/monitor/questions"])
def test_it_stands_in_no_openapi_document(tmp_path, path):
    with client_of(tmp_path) as client:
        assert path not in client.get("/openapi.json").json()["paths"]
