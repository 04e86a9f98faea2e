"""The playground: a prompt of a run, edited and tried on rows beside what the run has."""

import json
import re

import pytest
from tests.support.fake_openai import FakeOpenAI
from tests.support.golden import sentence_in
from tests.support.tried_run import files_in, judge_text, prompt_text, tried_run
from tests.support.workbench import create_workbench, opened, peopled

from ragstone.kernel.config import load_settings

OWN = "/workbench/runs/0/mine/try"
ROWS = ["moon", "sun"]


@pytest.fixture
def settings(tmp_path, fake_openai):
    return tried_run(tmp_path, fake_openai)


@pytest.fixture
def client(settings):
    with opened(create_workbench(settings)) as visiting:
        yield visiting


def done(client, what="tone"):
    """Return the state of the job of a prompt when it is over."""
    while True:
        job = client.get(f"{OWN}/{what}/job").json()
        if job["life"] != "running":
            return job


def tried(client, what, text, rows=ROWS, **more):
    begun = client.post(f"{OWN}/{what}/run", json={"text": text, "rows": rows, **more})
    assert begun.status_code == 201, begun.text
    return done(client, what)


def test_the_page_of_a_run_leads_to_its_prompts(client):
    assert f"{OWN}/answer-prompt" in client.get("/workbench/runs/0/mine").text
    assert f"{OWN}/tone" in client.get(f"{OWN}/answer-prompt").text
    shown = client.get(f"{OWN}/tone")
    assert "Be strict." in shown.text
    assert "the sun?" in shown.text
    assert client.get(f"{OWN}/containment").status_code == 404  # it asks nobody
    assert client.get(f"{OWN}/nothing").status_code == 404


def test_the_forecast_comes_first_and_asks_nobody(client, fake_openai):
    asked = fake_openai.n_requests
    found = client.post(f"{OWN}/tone/forecast", json={"text": judge_text("lenient"), "rows": ROWS}).json()
    assert found["calls"] == 2
    assert "about 2 calls" in found["lines"][0]
    assert fake_openai.n_requests == asked


def test_old_and_new_stand_side_by_side_and_the_run_is_as_it_was(client, tmp_path, fake_openai, says):
    before, asked = files_in(tmp_path / "runs"), fake_openai.n_requests
    job = tried(client, "tone", judge_text("lenient"))
    assert (job["life"], job["calls"]) == ("done", 2)
    shown = client.get(f"{OWN}/tone?trial={job['number']}").text
    assert "tone 0.00" in shown
    assert "tone 1.00" in shown
    assert "+1.00" in shown
    assert "Be lenient." in shown  # the draft stays in the editor
    assert "<b>Because</b>" not in shown
    assert files_in(tmp_path / "runs") == before
    again = tried(client, "tone", judge_text("lenient"))
    assert (again["life"], again["calls"], fake_openai.n_requests - asked) == ("done", 0, 2)
    says(sentence_in(client.get(f"{OWN}/tone?trial=99").text, "This trial"))


def test_the_answer_prompt_is_tried_and_kept_as_a_new_file(client, tmp_path, says):
    text = prompt_text("Always shout.")
    what = "answer-prompt"
    saved = client.get(f"{OWN}/{what}").text
    assert "my_strict" in saved
    assert "you know besides" in saved
    job = tried(client, what, text)
    shown = client.get(f"{OWN}/{what}?trial={job['number']}").text
    assert "containment −1.00" in shown.replace("&#8722;", "−")  # the moon's reference is "quiet"
    assert "containment +1.00" in shown
    keep = {"text": text, "change": "louder"}
    kept = client.post(f"{OWN}/{what}/keep", json=keep)
    assert kept.json() == {"path": "prompts/my_strict@v1.toml"}
    first = (tmp_path / "prompts" / "my_strict@v1.toml").read_text()
    assert "louder" in first.splitlines()[0]
    says(sentence_in(client.post(f"{OWN}/{what}/keep", json=keep).text, "holds this"))
    more = {"text": prompt_text("shout, please"), "change": "politer"}
    assert client.post(f"{OWN}/{what}/keep", json=more).json() == {"path": "prompts/my_strict@v2.toml"}
    assert (tmp_path / "prompts" / "my_strict@v1.toml").read_text() == first
    assert tried(client, what, text)["calls"] == 0  # the draft was asked as the version that it became


def test_a_judge_is_kept_as_its_next_version(client, tmp_path):
    keep = {"text": judge_text("lenient"), "change": "milder"}
    kept = client.post(f"{OWN}/tone/keep", json=keep)
    assert kept.json() == {"path": "judges/tone@v2.toml"}
    assert "strict" in (tmp_path / "judges" / "tone@v1.toml").read_text()
    assert "nothing has changed" in client.post(f"{OWN}/tone/keep", json=keep).text


@pytest.mark.long
@pytest.mark.parametrize(
    ("what", "given", "words"),
    [
        ("tone", {"rows": []}, "no row is chosen"),
        ("tone", {"rows": ["mars"]}, "no answer to"),
        ("tone", {"rows": [f"q{n}" for n in range(51)]}, "at most 50 rows"),
        ("tone", {"text": "kind = "}, "tone.toml"),
        ("tone", {"text": "x" * 200_001}, "more than a prompt may have"),
        ("tone", {"model": "openai/other"}, "neither in ragstone.toml"),
        ("tone", {"budget": "much"}, "much"),
        ("tone", {"text": 'kind = "function"\nname = "tone"'}, "tone.toml"),
        ("answer-prompt", {"text": prompt_text("{secret}")}, "must name {question}"),
        ("answer-prompt", {"text": prompt_text("x").replace("my_strict", "strict")}, "comes with Ragstone"),
        ("answer-prompt", {"model": "openai/other"}, "neither in ragstone.toml"),
    ],
)
def test_what_cannot_be_tried_is_told_and_nobody_is_asked(client, fake_openai, what, given, words):
    asked = fake_openai.n_requests
    text = judge_text("lenient") if what == "tone" else prompt_text("shout")
    for step in ("forecast", "run"):
        sent = {"text": text, "rows": ROWS, **given}
        if step == "forecast" and "budget" in given:
            continue
        reply = client.post(f"{OWN}/{what}/{step}", json=sent, headers={"Accept": "application/json"})
        assert reply.status_code == 422, reply.text
        assert words in reply.json()["detail"]
    assert fake_openai.n_requests == asked


def test_a_check_names_the_line_or_shows_what_is_sent(client):
    wrong = client.post(f"{OWN}/tone/check", json={"text": 'name = "tone"\nversion = "x"'}).json()
    assert wrong["problem"]
    for what, text in (("tone", judge_text("lenient")), ("answer-prompt", prompt_text("shout"))):
        sent = client.post(f"{OWN}/{what}/check", json={"text": text}).json()
        assert sent["problem"] is None
        assert any(message["role"] == "user" for message in sent["prompts"])
    assert "the moon?" in str(sent["prompts"])


def test_only_owners_spend_and_a_reader_sees_what_was_found(settings, fake_openai: FakeOpenAI):
    with peopled(settings) as people:
        owner, reader = people.person("Ola", "owner"), people.person("Rea", "reader")
        job = tried(owner, "tone", judge_text("lenient"))
        asked = fake_openai.n_requests
        shown = reader.get(f"{OWN}/tone?trial={job['number']}").text
        assert "+1.00" in shown
        assert "<textarea" not in shown
        for step in ("check", "forecast", "run", "stop", "keep"):
            sent = {"text": judge_text("mild"), "rows": ROWS, "change": "x"}
            assert reader.post(f"{OWN}/tone/{step}", json=sent).status_code == 403
        assert fake_openai.n_requests == asked


def test_the_runs_own_model_is_tried_where_ragstone_toml_names_none(settings, tmp_path):
    toml = tmp_path / "ragstone.toml"
    toml.write_text(toml.read_text().replace('model = "openai/fake"\n', ""))
    with opened(create_workbench(load_settings(toml))) as client:
        for what in ("tone", "answer-prompt"):
            assert "none is set" not in client.get(f"{OWN}/{what}").text
        assert tried(client, "tone", judge_text("lenient"))["life"] == "done"


def without_model(tmp_path, table=""):
    """Return the workbench of the same run beside a project that names no model."""
    (tmp_path / "ragstone.toml").write_text(f'[run]\nname = "x"\n{table}')
    return opened(create_workbench(load_settings(tmp_path / "ragstone.toml")))


@pytest.mark.long
@pytest.mark.parametrize("what", ["answer-prompt", "tone"])
def test_the_model_of_the_run_is_offered_where_the_project_names_none(
    tmp_path, settings, what, monkeypatch, says
):
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    manifest = tmp_path / "runs" / "mine" / "manifest.json"
    told = json.loads(manifest.read_text())
    for stage in ("answer", "judge"):
        told["settings"][stage]["model"] = None  # as where it was named in another way
    manifest.write_text(json.dumps(told))
    with without_model(tmp_path) as client:
        page = client.get(f"{OWN}/{what}?row=sea").text
        assert '<option value="openai/fake">' in page
        says(re.search(r"The run asked .*?</p>", page)[0])
        text = judge_text("x") if what == "tone" else prompt_text("x")
        sent = {"text": text, "rows": ["sea"], "model": "openai/fake"}
        assert client.post(f"{OWN}/{what}/forecast", json=sent).status_code == 200


def test_an_address_is_told_only_where_the_project_asks_elsewhere(client, tmp_path, monkeypatch):
    assert "The run asked" not in client.get(f"{OWN}/tone").text
    told = json.loads((tmp_path / "runs" / "mine" / "manifest.json").read_text())
    url = told["settings"]["models"]["openai/fake"]["base_url"]
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    with without_model(tmp_path) as other:
        assert "The run asked" not in other.get(f"{OWN}/tone").text


def test_a_run_and_a_project_without_a_model_say_where_to_write_one(tmp_path, settings, says):
    run = tmp_path / "runs" / "mine"
    for file, key in ((run / "manifest.json", "settings"), (run / "summary.json", "models")):
        told = json.loads(file.read_text())
        told[key] = {}
        file.write_text(json.dumps(told))
    with without_model(tmp_path) as client:
        sent = {"text": prompt_text("x"), "rows": ["sea"]}
        reply = client.post(
            f"{OWN}/answer-prompt/forecast", json=sent, headers={"Accept": "application/json"}
        )
    assert reply.status_code == 422
    says(reply.json()["detail"])


def test_a_try_begins_with_the_row_that_it_was_opened_for(client):
    page = client.get(f"{OWN}/tone?row=sea").text
    assert re.findall(r'value="(\w+)" checked', page) == ["sea"]
    assert '/runs/0/mine/row?question=sea"' in page
    assert len(re.findall(r'name="rows" value="\w+" checked', client.get(f"{OWN}/tone?row=gone").text)) == 3
