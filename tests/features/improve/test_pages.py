"""The page of a judge in development: run, compare, freeze, look; two people at once; a reader; odd texts."""

import contextlib
import getpass
import json
import time
from pathlib import Path

import msgspec
import pytest
from tests.support.golden import sentence_in
from tests.support.judged_drafts import judge_text, project
from tests.support.learned_judges import learning_project
from tests.support.scripts import always
from tests.support.texts import element
from tests.support.workbench import create_workbench, opened

from ragstone.features.improve._store import DevelopmentStore
from ragstone.features.improve.judge_files import copy_of, digest_of, judge_file
from ragstone.kernel.config import ModelSettings, load_settings
from ragstone.kernel.judging import judge_names, load_judge, parse_judge
from ragstone.kernel.serve.frame import Person
from ragstone.workbench import guard

OWN = "/workbench/judges/mine"
NOTHING = {"labels": "labelled", "threshold": "", "mapping": "", "model": "", "budget": ""}


@pytest.fixture
def settings(tmp_path, fake_openai):
    return project(tmp_path, fake_openai)


@contextlib.contextmanager
def at(settings):
    """A client whose requests are those of the page's scripts."""
    with opened(create_workbench(settings)) as client:
        client.headers["Accept"] = "application/json"
        yield client


@pytest.fixture
def client(settings):
    """A client of the one user of this machine."""
    with at(settings) as client:
        yield client


def ended(client, name="mine"):
    """The judge's job when it is over."""
    for _ in range(3_000):
        job = client.get(f"/workbench/judges/{name}/job").json()
        if job["life"] != "running":
            return job
        time.sleep(0.02)
    raise AssertionError("the job does not end")


def said(reply):
    """What a reply says did not work: of a draft that was saved, or of none."""
    found = reply.json()
    return found.get("words") or found["detail"]


def ran(client, text, base=0, **more):
    reply = client.post(f"{OWN}/run", json={**NOTHING, "text": text, "base": base, **more})
    assert reply.status_code == 201, reply.text
    return ended(client)


def frozen(client, draft, change="first"):
    return client.post(f"{OWN}/freeze", json={"draft": draft, "change": change})


@pytest.mark.long
def test_a_draft_is_run_frozen_and_looked_at_twice(client, settings, tmp_path, fake_openai, says):
    assert ran(client, judge_text("lenient"))["life"] == "done"
    assert frozen(client, 1).json() == {"version": 1, "path": str(tmp_path / "judges" / "mine.toml")}
    job = ran(client, judge_text("careful"), base=1)
    assert (job["life"], job["number"]) == ("done", 2)
    html = client.get(f"{OWN}/develop").text
    assert "got better" in html
    assert "mine version 2" in html
    assert "&lt;b&gt;Because&lt;/b&gt; &amp; so." in html
    assert "<b>Because" not in html
    assert frozen(client, 2, "careful").json()["version"] == 2
    for number in (1, 2):
        assert f"look {number}" in client.get(f"{OWN}/test?labels=labelled").text
        client.post(f"{OWN}/test", json=NOTHING)
        place = ended(client)["number"]
        html = client.get(f"{OWN}/looks/{place}").text
        says(sentence_in(html, f"Look {number} at this"))
    says(sentence_in(client.get(f"{OWN}/looks/1").text, "of 2 so"))
    assert len(DevelopmentStore(settings).looks()) == 2


def test_the_forecast_asks_nobody_and_gives_a_budget(client, fake_openai):
    found = client.post(f"{OWN}/forecast", json={**NOTHING, "text": judge_text("careful"), "base": 0}).json()
    assert fake_openai.n_requests == 0
    assert found["lines"][0].startswith("Forecast: about ")
    assert found["budget"] == f"{found['calls'] + found['calls'] // 4}calls" or found["budget"].endswith(
        "calls"
    )


@pytest.mark.long
@pytest.mark.parametrize(
    ("text", "problem", "line"),
    [
        ("name = ", "not valid TOML", None),
        ("kind = 3\nname == 1\n", "not valid TOML", 2),
        (judge_text("x").replace("kind ", "kidn "), "kidn", 5),
        (judge_text("x").replace("{reference}", "it"), "reference", None),
        (judge_text("{nonsense}"), "nonsense", None),
    ],
)
def test_a_text_that_is_no_judge_is_told_with_its_line(client, text, problem, line):
    found = client.post(f"{OWN}/check", json={"text": text}).json()
    assert problem in found["problem"]
    if line:
        assert found["line"] == line
    reply = client.post(f"{OWN}/run", json={**NOTHING, "text": text, "base": 0})
    assert (reply.status_code, problem in said(reply)) == (422, True)
    html = client.get(f"{OWN}/develop").text  # nothing that was typed is lost
    assert "Draft 1:" in html
    assert ran(client, judge_text("mended"), base=reply.json()["draft"])["life"] == "done"


def test_a_judge_shows_what_its_model_is_sent(client):
    found = client.post(f"{OWN}/check", json={"text": judge_text("SAY IT")}).json()
    assert found["problem"] is None
    assert any("SAY IT" in prompt["content"] for prompt in found["prompts"])


def test_two_people_at_once_the_second_is_told_and_loses_nothing(client, settings, says):
    ran(client, judge_text("lenient"))
    reply = client.post(f"{OWN}/run", json={**NOTHING, "text": judge_text("careful"), "base": 0})
    assert reply.status_code == 409
    assert (reply.json()["draft"], reply.json()["running"]) == (2, False)
    says(said(reply).replace(getpass.getuser(), "SOMEBODY"))
    [second, first] = DevelopmentStore(settings).drafts("mine")
    assert (second.text, first.text) == (judge_text("careful"), judge_text("lenient"))
    assert ran(client, judge_text("careful"), base=2)["life"] == "done"
    assert len(DevelopmentStore(settings).drafts("mine")) == 2


def test_a_draft_of_a_file_that_changed_since_is_not_frozen(client, tmp_path, says):
    ran(client, judge_text("careful"))
    (tmp_path / "judges" / "mine.toml").write_text(judge_text("edited by hand"))
    reply = frozen(client, 1)
    assert reply.status_code == 422
    says(said(reply))
    assert (tmp_path / "judges" / "mine.toml").read_text() == judge_text("edited by hand")


def test_a_budget_that_is_too_small_is_told(client, says):
    ran(client, judge_text("careful"), budget="3calls")
    html = client.get(f"{OWN}/develop").text
    says(element(html, "The budget"))


def test_a_model_that_is_away_is_told_and_the_draft_stays(client, fake_openai):
    fake_openai.key = "another"
    job = ran(client, judge_text("careful"))
    assert job["life"] == "failed"
    assert "Incorrect API key" in job["words"]
    assert "Incorrect API key" in client.get(f"{OWN}/develop").text


@pytest.mark.long
def test_a_run_is_stopped_and_goes_on_from_the_ledger(client, settings, fake_openai, says):
    fake_openai.latency_s = 0.3
    model = settings.models["openai/fake"]
    assert model.max_concurrency is None or model.max_concurrency > 1
    client.post(f"{OWN}/run", json={**NOTHING, "text": judge_text("careful"), "base": 0})
    client.post(f"{OWN}/stop", json={})
    assert ended(client)["life"] == "stopped"
    says(element(client.get(f"{OWN}/develop").text, "was stopped"))
    fake_openai.latency_s = 0
    assert ran(client, judge_text("careful"), base=1)["life"] == "done"
    assert fake_openai.n_asked_again == 0


@pytest.mark.long
def test_a_second_run_of_a_judge_waits_for_the_first(client, fake_openai, says):
    fake_openai.latency_s = 0.5
    client.post(f"{OWN}/run", json={**NOTHING, "text": judge_text("careful"), "base": 0})
    reply = client.post(f"{OWN}/run", json={**NOTHING, "text": judge_text("other"), "base": 1})
    assert reply.status_code == 422
    says(said(reply).replace(getpass.getuser(), "SOMEBODY"))
    client.post(f"{OWN}/stop", json={})
    ended(client)


@pytest.mark.long
def test_a_draft_that_a_server_left_running_is_told_as_interrupted(client, settings, says):
    ran(client, judge_text("careful"))
    store = DevelopmentStore(settings)
    [draft] = store.drafts("mine")
    running = msgspec.structs.replace(draft, outcome=msgspec.structs.replace(draft.outcome, state="running"))
    with at(settings) as restarted:
        store.put_draft(running)
        html = restarted.get(f"{OWN}/develop").text
    says(element(html, "The server ended"))
    assert "careful" in html


def test_no_labels_no_model_and_a_name_that_is_none(tmp_path, settings, says):
    bare = msgspec.structs.replace(
        settings,
        agree=type(settings.agree)(),
        judge=type(settings.judge)(),
        models={},
    )
    with at(bare) as client:
        html = client.get(f"{OWN}/develop").text
        says(element(html, "no labels yet"))
        says(element(html, "No model"))
        reply = client.post(f"{OWN}/run", json={**NOTHING, "text": judge_text("x"), "base": 0})
        assert (reply.status_code, "none is named" in said(reply)) == (422, True)
        assert client.get("/workbench/judges/nothing_of_that/develop").status_code == 404
        assert client.get("/workbench/judges/..%2fmine/develop").status_code == 404


def test_a_judge_that_ships_is_developed_as_a_copy_under_a_name_of_its_own(client, tmp_path, fake_openai):
    html = client.get("/workbench/judges/correctness/develop").text
    assert "my_correctness" in html
    assert 'name       = "my_correctness"'.replace('"', "&#34;") in html
    own = "/workbench/judges/my_correctness"
    text = copy_of("correctness")
    fake_openai.script = always('{"nonce": "0", "reason": "r", "score": 100}')
    sent = {**NOTHING, "text": text, "base": 0, "threshold": "50"}
    assert client.post(f"{own}/run", json=sent).status_code == 201
    assert ended(client, "my_correctness")["life"] == "done"
    assert client.post(f"{own}/freeze", json={"draft": 1, "change": "a copy"}).json()["version"] == 1
    judge = load_judge(tmp_path / "judges" / "my_correctness.toml")
    assert (judge.name, judge.metric, judge.version) == ("my_correctness", "correctness", 1)
    assert not (tmp_path / "judges" / "correctness.toml").exists()


@pytest.mark.parametrize("name", judge_names())
def test_every_judge_that_ships_can_be_copied(name):
    judge = parse_judge(copy_of(name), Path(f"my_{name}.toml"))
    assert (judge.name, judge.measures) == (f"my_{name}", load_judge(name).measures)


def test_texts_from_outside_are_shown_as_text(client, tmp_path, fake_openai):
    evil = '<script>alert(1)</script>" onload="x'
    rows = [json.loads(line) for line in (tmp_path / "labelled.jsonl").read_text().splitlines()]
    for row in rows:
        row["question"] += evil
        row["answer"] += evil
        row["rationale"] = evil
        row["system"] = evil
    (tmp_path / "labelled.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    ran(client, judge_text("lenient"))
    frozen(client, 1, evil)
    ran(client, judge_text("careful </textarea><script>alert(2)</script>"), base=1)
    for path in ("develop", "develop?draft=1", "test"):
        html = client.get(f"{OWN}/{path}").text
        assert "<script>alert" not in html
        assert 'onload="x' not in html
    client.post(f"{OWN}/test", json=NOTHING)
    html = client.get(f"{OWN}/looks/{ended(client)['number']}").text
    assert "<script>alert" not in html
    assert (tmp_path / "judges" / "mine.toml").read_text().count("\n# ") <= 2


def test_a_reader_and_an_annotator_see_results_and_change_nothing(settings, monkeypatch):
    with at(settings) as owner:
        ran(owner, judge_text("lenient"))
    for role in ("reader", "annotator"):
        monkeypatch.setattr(guard, "Person", lambda name, _role, role=role: Person(name, role))
        with at(settings) as client:
            html = client.get(f"{OWN}/develop").text
            assert "Draft 1:" in html
            assert "<textarea" not in html
            assert 'id="freeze"' not in html
            assert 'id="look"' not in client.get(f"{OWN}/test").text
            body = {**NOTHING, "text": judge_text("x"), "base": 1}
            for path, sent in (
                ("run", body),
                ("forecast", body),
                ("check", {"text": "x"}),
                ("freeze", {"draft": 1, "change": "x"}),
                ("test", NOTHING),
                ("test/forecast", NOTHING),
                ("stop", {}),
            ):
                assert client.post(f"{OWN}/{path}", json=sent).status_code == 403, path
    assert DevelopmentStore(settings).looks() == []


def test_the_threshold_of_the_settings_is_the_one_to_begin_with(settings):
    cut = msgspec.structs.replace(
        settings, agree=msgspec.structs.replace(settings.agree, thresholds={"mine": 2.5})
    )
    with at(cut) as client:
        assert 'value="2.5"' in client.get(f"{OWN}/develop").text


def test_a_model_of_no_transport_is_not_offered(settings):
    named = {"away/model": ModelSettings(), "openai/kept": ModelSettings()}
    with at(msgspec.structs.replace(settings, models=named)) as client:
        page = client.get(f"{OWN}/develop").text
    assert ("away/model" in page, "openai/kept" in page) == (False, True)


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        ({"threshold": "half"}, "is not a number"),
        ({"mapping": "1:2"}, "write LABEL=SCORE"),
        ({"model": "openai/unheard_of"}, "is not in ragstone.toml"),
        ({"budget": "lots"}, "give a number with a unit"),
        ({"labels": "labeled"}, "labelled"),
        ({"text": judge_text("x").replace('"mine"', '"other"')}, "this page develops mine"),
        ({"text": "#" * 200_001}, "more than a prompt may have"),
    ],
)
def test_what_cannot_be_run_is_told(client, sent, message):
    reply = client.post(f"{OWN}/run", json={**NOTHING, "text": judge_text("x"), "base": 0, **sent})
    assert (reply.status_code, message in said(reply)) == (422, True), reply.text


def test_a_draft_that_was_not_run_is_not_frozen(client, fake_openai, says):
    fake_openai.key = "another"
    ran(client, judge_text("careful"))
    reply = frozen(client, 1)
    assert reply.status_code == 422
    says(said(reply))
    assert frozen(client, 7).status_code == 422
    assert client.get(f"{OWN}/develop?draft=7").status_code == 404
    assert client.get(f"{OWN}/looks/7").status_code == 404


@pytest.mark.long
def test_a_judge_learns_from_labels_and_the_page_shows_the_same_table(tmp_path_factory, fake_openai, says):
    folder = tmp_path_factory.mktemp("learning")
    learning_project(folder, fake_openai, contained=True)
    (folder / "ragstone.toml").write_text(
        (folder / "ragstone.toml").read_text() + '[agree]\nsheet = "labelled.jsonl"\n'
    )
    settings = load_settings(folder / "ragstone.toml")
    asked = {**NOTHING, "methods": ["calibration", "stack"]}
    with at(settings) as client:
        assert "Learning from" in client.get(f"{OWN}/develop").text
        expected = client.post(f"{OWN}/learn/forecast", json=asked).json()
        assert (fake_openai.n_requests, expected["lines"][0][:9]) == (0, "Forecast:")
        for wrong, words in (
            ({"methods": ["stak"]}, "unknown way to learn"),
            ({"yes_from": "many"}, "yes from 'many' is not a number"),
            ({"labels": "nothing"}, "there is no labelled set"),
            ({"threshold": "9"}, "threshold 9"),
        ):
            reply = client.post(f"{OWN}/learn/forecast", json={**asked, **wrong})
            assert (reply.status_code, words in said(reply)) == (422, True), reply.text
        assert client.post(f"{OWN}/learn", json=asked).status_code == 201
        job = ended(client)
        assert (job["life"], job["what"], job["number"]) == ("done", "learn", 2)
        html = client.get(f"{OWN}/develop").text
    says(element(html, "mine version 1: better"))
    assert "calibrated" in html
    assert load_judge(folder / "judges" / "mine.toml").kind == "stack"


def test_a_text_is_kept_as_a_version_without_a_run(client, settings, tmp_path, fake_openai, says):
    own = "/workbench/judges/mine"
    file = tmp_path / "judges" / "mine.toml"
    text = file.read_text()
    before = fake_openai.n_requests
    changed = client.post(
        f"{own}/check", json={"text": text, "changes": [{"place": ["source"], "value": "a paper"}]}
    )
    draft = changed.json()["text"]
    assert draft != text
    base = digest_of(text)
    kept = client.post(f"{own}/keep", json={"text": draft, "change": "its source", "base": base})
    assert kept.json()["path"] == "mine.toml"
    number = kept.json()["version"]
    assert "a paper" in (tmp_path / "judges" / f"mine@v{number}.toml").read_text()
    again = client.post(
        f"{own}/keep", json={"text": draft.replace("a paper", "b"), "change": "x", "base": base}
    )
    assert again.status_code == 422
    says(again.json()["detail"])
    for wrong, told in (
        (draft.replace('"mine"', '"other"'), "this page develops mine"),
        ("kind = ", "not valid TOML"),
        (draft, "nothing has changed since version"),
    ):
        refused = client.post(f"{own}/keep", json={"text": wrong, "change": "x"})
        assert (refused.status_code, told in refused.json()["detail"]) == (422, True), refused.json()
    assert fake_openai.n_requests == before


def test_a_judge_that_ships_is_kept_as_a_copy(client, tmp_path):
    own = "/workbench/judges/relevance"
    text = judge_file(load_settings(tmp_path / "ragstone.toml"), "relevance").text
    kept = client.post(f"{own}/keep", json={"text": text, "change": "a copy", "base": ""})
    assert kept.json() == {"version": 1, "path": "my_relevance.toml"}


def test_a_starting_file_that_nobody_changed_is_no_version(client, tmp_path):
    client.post("/workbench/judges/new-judge", data={"name": "fair", "kind": "boolean"})
    text = (tmp_path / "judges" / "fair.toml").read_text()
    body = {"text": text.replace("own wording", "ours"), "change": "ours", "base": digest_of(text)}
    assert client.post("/workbench/judges/fair/keep", json=body).json()["version"] == 1
    assert sorted(path.name for path in (tmp_path / "judges").glob("fair*")) == ["fair.toml", "fair@v1.toml"]
