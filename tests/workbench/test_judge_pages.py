"""Judging what a filter leaves, from the browser: the forecast first, then a job, then a run of its own."""

import pytest
from tests.support.golden import sentence_in
from tests.support.tried_run import files_in, judge_text, tried_run
from tests.support.workbench import create_workbench, opened, peopled

from ragstone.kernel.records import Judgement
from ragstone.kernel.tables import read_rows

OWN = "/workbench/judge"
LOW = {"run": "0/mine", "where": "containment < 0.5"}
SCRIPT = {"Accept": "application/json"}


@pytest.fixture
def settings(tmp_path, fake_openai):
    made = tried_run(tmp_path, fake_openai)
    soft = judge_text("lenient").replace('"tone"', '"soft"')
    (tmp_path / "judges" / "soft.toml").write_text(soft)
    return made


@pytest.fixture
def client(settings):
    with opened(create_workbench(settings)) as visiting:
        yield visiting


def done(client):
    while True:
        job = client.get(f"{OWN}/job?run=0/mine").json()
        if job["life"] != "running":
            return job


def test_the_form_says_how_many_answers_and_offers_the_judges(client, says):
    page = client.get(OWN, params=LOW).text
    assert "2 answers" in page  # LOUD and both are not quiet
    assert 'value="tone"' in page
    assert 'value="token_f1"' in page
    assert 'value="mine-chosen"' in page
    for where, begins in (("containment = 7", "No answer matches"), ("nothing < 7", "there is no")):
        says(sentence_in(client.get(OWN, params=LOW | {"where": where}).text, begins))
    assert client.get(OWN, params=LOW | {"run": "0/gone"}).status_code == 404


def test_the_forecast_asks_nobody_and_the_job_makes_a_run_of_its_own(client, tmp_path, fake_openai, says):
    before, asked = files_in(tmp_path / "runs" / "mine"), fake_openai.n_requests
    form = LOW | {"judges": ["soft", "token_f1"], "name": "lows"}
    expected = client.post(f"{OWN}/forecast", json=form).json()
    assert expected["calls"] == 2
    assert fake_openai.n_requests == asked
    begun = client.post(f"{OWN}/run", json=form | {"budget": expected["budget"]}, headers=SCRIPT)
    assert (begun.status_code, begun.json()) == (201, {"go": "0/lows"})
    job = done(client)
    assert (job["life"], job["number"]) == ("done", 2)
    rows = list(read_rows(tmp_path / "runs" / "lows" / "judgements.jsonl", Judgement))
    assert {(row.judge, row.status) for row in rows} == {("soft", "scored"), ("token_f1", "scored")}
    assert len(rows) == 4
    assert files_in(tmp_path / "runs" / "mine") == before
    page = client.get("/workbench/runs/0/lows")
    assert page.status_code == 200
    says(sentence_in(page.text, "that a filter"))
    # The name is taken now; and the same judge of the same answers costs nothing.
    again = client.post(f"{OWN}/run", json=form, headers=SCRIPT)
    assert again.status_code == 422
    says(again.json()["detail"])
    n = fake_openai.n_requests
    assert client.post(f"{OWN}/forecast", json=form).json()["calls"] == 0
    assert fake_openai.n_requests == n


def test_a_cap_is_kept_and_what_it_cut_off_says_so(client, tmp_path):
    form = LOW | {"judges": ["soft"], "name": "capped", "budget": "1calls", "where": ""}
    assert client.post(f"{OWN}/run", json=form, headers=SCRIPT).status_code == 201
    done(client)
    statuses = [row.status for row in read_rows(tmp_path / "runs/capped/judgements.jsonl", Judgement)]
    assert sorted(statuses) == ["over_budget", "over_budget", "scored"]


@pytest.mark.long
@pytest.mark.parametrize(
    "wrong",
    [
        {"judges": []},
        {"judges": ["nobody"]},
        {"judges": ["../../etc/passwd"]},
        {"judges": ["token_f1"], "name": "../out"},
        {"judges": ["token_f1"], "name": ""},
        {"judges": ["token_f1"], "name": "mine"},
        {"judges": ["token_f1"], "where": "nothing < 1"},
        {"judges": ["token_f1"], "where": "containment = 7"},
        {"judges": ["token_f1"], "model": "openai/unknown"},
        {"judges": ["token_f1"], "budget": "much"},
    ],
)
def test_what_cannot_be_judged_is_refused_and_writes_nothing(client, tmp_path, wrong, says):
    before = files_in(tmp_path / "runs")
    reply = client.post(
        f"{OWN}/run", json=LOW | {"judges": ["token_f1"], "name": "new"} | wrong, headers=SCRIPT
    )
    assert reply.status_code == 422, reply.text
    assert files_in(tmp_path / "runs") == before
    says(reply.json()["detail"].replace(str(tmp_path), "there")[:110])


def test_only_owners_judge(settings):
    with peopled(settings) as people:
        ann = people.person("ann", "annotator")
        assert ann.get(OWN, params=LOW).status_code == 403
        form = LOW | {"judges": ["token_f1"], "name": "new"}
        for part in ("forecast", "run", "stop?run=0/mine"):
            assert ann.post(f"{OWN}/{part}", json=form).status_code == 403
