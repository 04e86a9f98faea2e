"""The page of a run's failure modes, and the queue that is made on it."""

import getpass

import pytest
from tests.support.golden import sentence_in
from tests.support.moded_run import RUN, write_moded_run
from tests.support.workbench import create_workbench, opened, peopled

import ragstone
from ragstone.features.label.queue import read_queue
from ragstone.features.modes.values import read_modes_summary
from ragstone.kernel.config import load_settings
from ragstone.kernel.runs.modes import MODES_FILE

PAGE = "/workbench/runs/0/mine"


@pytest.fixture
def project(folder):
    (folder / "ragstone.toml").write_text('[run]\nname = "mine"\n')
    write_moded_run(folder)
    return folder


@pytest.fixture
def client(project):
    with opened(create_workbench(load_settings(project / "ragstone.toml"))) as visiting:
        yield visiting


def test_a_run_without_modes_says_how_to_find_them_and_has_no_link(project, client):
    shown = client.get(f"{PAGE}/modes")
    assert shown.status_code == 200
    assert "ragstone modes" in shown.text
    assert f'href="{PAGE}/modes"' not in client.get(PAGE).text


def test_the_page_shows_each_mode_with_rows_and_links_to_them(project, client):
    ragstone.modes(project / RUN)
    assert f'href="{PAGE}/modes"' in client.get(PAGE).text
    shown = client.get(f"{PAGE}/modes").text
    for mode in read_modes_summary(project / RUN).modes:
        assert f'id="{mode.name}"' in shown
        assert mode.question in shown
        assert f'href="{PAGE}/row?question={mode.evidence[0].question_id}"' in shown
    row = client.get(f"{PAGE}/row", params={"question": "q3"})
    assert row.status_code == 200


def test_modes_of_a_run_that_has_changed_are_not_shown(project, client):
    ragstone.modes(project / RUN)
    with (project / RUN / "judgements.jsonl").open("a") as file:
        file.write("\n")
    shown = client.get(f"{PAGE}/modes").text
    assert "has changed since" in shown
    assert 'id="refusals"' not in shown


def test_a_broken_file_is_named_on_the_page(project, client):
    (project / RUN / MODES_FILE).write_text("{")
    shown = client.get(f"{PAGE}/modes")
    assert shown.status_code == 422
    assert "modes.json" in shown.text
    assert client.get(PAGE).status_code == 200


def test_a_queue_of_a_mode_is_labelled_and_counted(project, client, says):
    ragstone.modes(project / RUN)
    made = client.post(f"{PAGE}/modes/queue", json={"mode": "refusals", "n": 30})
    assert made.status_code == 200, made.text
    go = made.json()["go"]
    assert client.post(f"{PAGE}/modes/queue", json={"mode": "refusals", "n": 30}).json()["go"] == go
    progress = client.get(go)
    says(sentence_in(progress.text, "a failure mode"))
    name = go.split("/")[-2]
    queue = read_queue(project / ".ragstone/workbench/queues", name)
    assert (len(queue.items), queue.is_sample, queue.policy) == (
        30,
        True,
        read_modes_summary(project / RUN).modes[0].digest,
    )
    me = getpass.getuser()
    for at, item in enumerate(queue.items):
        score = int(int(item.question_id[1:]) < 14)
        mark = {"place": at, "annotator": me, "kind": "label", "score": score}
        sent = client.post(f"/workbench/label/{name}/marks", json=mark)
        assert sent.status_code == 200, sent.text
    assert client.get(f"/workbench/label/{name}/done").status_code == 200
    counted = {mode.name: mode for mode in ragstone.modes(project / RUN).modes}["refusals"]
    assert counted.n_labelled == 30
    assert counted.prevalence.low <= 14 / 96 <= counted.prevalence.high


@pytest.mark.parametrize("body", [{"mode": "nothing"}, {"mode": "refusals", "n": 0}, {"n": 5}])
def test_a_queue_that_cannot_be_made_is_refused(project, client, body):
    ragstone.modes(project / RUN)
    assert client.post(f"{PAGE}/modes/queue", json=body).status_code in (400, 422)


def test_only_owners_make_queues_and_who_still_labels_sees_no_modes(project):
    ragstone.modes(project / RUN)
    with peopled(load_settings(project / "ragstone.toml")) as people:
        ann, ria = people.person("ann", "annotator"), people.person("ria", "reader")
        assert 'id="refusals"' in ann.get(f"{PAGE}/modes").text
        for visitor in (ann, ria):
            assert visitor.post(f"{PAGE}/modes/queue", json={"mode": "refusals"}).status_code == 403
            assert "Make the queue" not in visitor.get(f"{PAGE}/modes").text
        olga = people.person("olga", "owner")
        assert olga.post(f"{PAGE}/modes/queue", json={"mode": "refusals"}).status_code == 200
        assert 'id="refusals"' not in ann.get(f"{PAGE}/modes").text
        assert 'id="refusals"' in ria.get(f"{PAGE}/modes").text
        assert [line["action"] for line in people.log()].count("queue made") == 1
