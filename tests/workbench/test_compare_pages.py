"""Comparisons, live progress, the list of runs and assets in the workbench."""

import json
import re
import time
from pathlib import Path

import msgspec
import pytest
from tests.support.golden import sentence_in
from tests.support.judged_runs import answers, judged, questions, write_run, write_runs_that_differ
from tests.support.run_progress import told_of_a_run
from tests.support.tiny_run import JUDGEMENTS, summary_of

from ragstone.features.compare.comparing import compare
from ragstone.features.compare.words import metric_told, outcome
from ragstone.kernel.engine.progress_file import FILE, read_progress
from ragstone.kernel.records import Label
from ragstone.kernel.tables import write_rows
from ragstone.workbench.run_pages import lasting, progressed

TOLD = msgspec.structs.replace(told_of_a_run(), made=1200, retries=0)


def two_runs(project: Path) -> None:
    write_run(
        project / "runs" / "a", judged([1] * 8 + [0] * 4), said=answers(["x"] * 12), asked=questions(12)
    )
    write_run(
        project / "runs" / "b", judged([0] * 4 + [1] * 8), said=answers(["y"] * 12), asked=questions(12)
    )


def test_a_comparison_says_what_the_command_says(project, client, says):
    two_runs(project)
    found = compare(project / "runs" / "a", project / "runs" / "b")
    page = client.get("/workbench/compare?a=0/a&b=0/b").text
    assert outcome(found) in page
    assert metric_told(found.metrics[0]) in page
    says(sentence_in(page, "4 questions from right"))  # q0 to q3
    says(sentence_in(page, "4 questions from wrong"))  # q8 to q11
    assert '/workbench/runs/0/b/row?question=q0"' in page
    assert '<a href="/workbench/runs/0/a" dir="auto">a</a>' in page
    assert "What is 8?" in page


def test_labels_of_a_queue_correct_a_comparison(project, client, says):
    two_runs(project)
    labels = [
        Label(question_id=f"q{at}", system="mine", score=1.0, metadata={"run": run})
        for at in range(12)
        for run in "ab"
    ]
    place = project / "labels"
    place.mkdir()
    write_rows(place / "pairs.jsonl", labels, Label)
    page = client.get("/workbench/compare?a=0/a&b=0/b&labels=pairs").text
    says(sentence_in(page, "corrected by people"))
    assert "<option selected>pairs</option>" in page
    assert "corrected by people" not in client.get("/workbench/compare?a=0/a&b=0/b&labels=").text
    outside = client.get("/workbench/compare?a=0/a&b=0/b&labels=../../etc/passwd").text
    says(sentence_in(outside, "There are no"))


def test_the_two_runs_that_are_ticked_are_compared(project, client):
    two_runs(project)
    assert 'formaction="/workbench/compare"' in client.get("/workbench/").text
    ticked, named = (
        re.sub('<meta name="csrf".*', "", client.get(f"/workbench/compare?{query}").text)
        for query in ("run=0/b&run=0/a", "a=0/a&b=0/b")
    )
    assert ticked == named
    assert "3 are ticked" in client.get("/workbench/compare?run=0/b&run=0/a&run=0/c").text


def test_a_comparison_says_what_changed(project, client, says):
    write_runs_that_differ(project / "runs")
    page = client.get("/workbench/compare?a=0/a&b=0/b").text
    says(
        sentence_in(
            page,
            "2 settings",
        )
    )
    assert "<del>-Answer {question}.</del><ins>+Answer {question} &lt;b&gt;briefly&lt;/b&gt;.</ins>" in page
    assert "recall@1 → recall@2" in page
    assert "Seconds, median" in page


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("a=0/a&b=0/a", "are the same run"),
        ("a=0/a&b=0/gone", "There is no run"),
        ("a=0/a&b=0/../../etc", "There is no run"),
        ("a=0/a&b=0/b&metric=nothing", "nothing"),
        ("a=0/a&b=0/b&margin=much", "is not a number"),
        ("a=0/a&b=0/b&margin=7", "margin is 7"),
    ],
)
def test_what_cannot_be_compared_is_told(project, client, query, words):
    two_runs(project)
    page = client.get(f"/workbench/compare?{query}")
    assert page.status_code == 200
    assert words in page.text
    assert 'role="alert"' in page.text


def test_without_a_monitor_the_page_says_how_to_begin(client):
    page = client.get("/workbench/monitor")
    assert page.status_code == 200
    assert "ragstone watch" in page.text


def test_progress_is_told_in_words(says):
    # 30 rows in 15 s are 2.0 a second; the 70 left take 35 s; it began 25 s ago
    found = progressed(TOLD, 1026.0)
    says(found.words)
    assert (found.life, found.share) == ("going on", 0.3)
    assert progressed(None, 0.0).life is None


def test_a_run_that_ended_early_says_how_to_go_on(says):
    stopped = msgspec.structs.replace(TOLD, ended="stopped")
    failed = msgspec.structs.replace(TOLD, ended="failed", words="no such model.")
    for found, words in (
        (stopped, "stopped while judging"),
        (failed, "no such model."),
        (TOLD, "without an error message"),
    ):
        told = progressed(found, 1e9)
        assert words in told.words
        says(sentence_in(told.words, "Run the same"))


@pytest.mark.parametrize(
    ("seconds", "words"), [(1, "1 second"), (40, "40 seconds"), (720, "12 minutes"), (12_600, "3.5 hours")]
)
def test_a_time_is_told_as_people_say_it(seconds, words):
    assert lasting(seconds) == words


def test_a_run_that_goes_on_is_shown_and_asked_for(project, client):
    folder = project / "runs" / "now"
    folder.mkdir()
    found = msgspec.structs.replace(TOLD, updated=time.time())
    (folder / FILE).write_bytes(msgspec.json.encode(found))
    assert read_progress(folder) == found
    assert ">running<" in client.get("/workbench/").text
    page = client.get("/workbench/runs/0/now").text
    assert 'aria-live="polite"' in page
    assert "30 of 100" in page
    told = client.get("/workbench/runs/0/now/progress").json()
    assert (told["life"], told["share"]) == ("going on", 0.3)
    (folder / FILE).write_text(json.dumps({**msgspec.to_builtins(found), "ended": "stopped"}))
    assert "It was stopped" in client.get("/workbench/runs/0/now").text


def test_assets_are_packed_and_asked_for_once(client):
    first = client.get("/workbench/assets/vega.js")
    assert first.headers["content-encoding"] == "gzip"
    again = client.get("/workbench/assets/vega.js", headers={"If-None-Match": first.headers["etag"]})
    assert again.status_code == 304
    for name in ("frame.html", "..%2Fapp.py", "nothing.css", "page.html"):
        assert client.get(f"/workbench/assets/{name}").status_code == 404


def test_the_list_of_runs_is_light(project, client):
    for at in range(60):
        folder = write_run(project / "runs" / f"run-{at}", JUDGEMENTS)
        (folder / "summary.json").write_bytes(msgspec.json.encode(summary_of(JUDGEMENTS)))
    paths = ["/workbench/"] + [
        f"/workbench/assets/{n}" for n in ("page.css", "workbench.css", "workbench.js", "keys.js", "runs.css")
    ]
    sent = 0
    for path in paths:
        with client.stream("GET", path) as reply:
            sent += len(b"".join(reply.iter_raw()))
    assert sent < 80_000


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("/workbench/?at=abc", 400, "The request is not valid. at: "),
        ("/workbench/?order=zz", 422, "There is no order"),
        ("/workbench/nowhere", 404, "There is no such page in the workbench"),
    ],
)
def test_a_request_that_does_not_fit_is_told_in_words(client, path, status, words):
    reply = client.get(path)
    assert (reply.status_code, words in reply.text, "Validation failed" in reply.text) == (
        status,
        True,
        False,
    )


def test_judges_and_systems_are_chosen_from_those_that_the_runs_have(project, client):
    rows = [*judged([1, 0, 1]), *judged([1, 1, 0], "grounding", metric="faithfulness")]
    both = [msgspec.structs.replace(row, system=name) for row in rows for name in ("mine", "other")]
    write_run(project / "runs" / "a", both)
    write_run(project / "runs" / "b", [*rows, *judged([1, 1, 1], "only_b", metric="answered")])
    page = client.get("/workbench/compare?a=0/a&b=0/b").text
    judges = page.partition('<select name="metric">')[2].partition("</select>")[0]
    assert re.findall(r"<option[^>]*>(\w+)</option>", judges) == ["containment", "grounding"]
    systems = page.partition('<select name="system_a">')[2].partition("</select>")[0]
    assert re.findall(r"<option[^>]*>(\w+)</option>", systems) == ["mine", "other"]
    assert 'name="system_b"' not in page  # it has one alone
    assert "selected>nothing" in client.get("/workbench/compare?a=0/a&b=0/b&metric=nothing").text
    chosen = client.get("/workbench/compare?a=0/a&b=0/b&system_a=mine&metric=containment").text
    assert 'class="outcome"' in chosen


def test_cannot_tell_is_said_once_and_the_tests_behind_it_are_folded(project, client, says):
    two_runs(project)
    page = client.get("/workbench/compare?a=0/a&b=0/b").text
    assert "Gate: cannot tell" not in page.partition('<section aria-labelledby="metrics">')[0]
    folded = page.partition("In words: tests")[2].partition("</details>")[0]
    says(sentence_in(folded, "cannot tell, p"))
    assert "cannot tell, p" not in page.replace(folded, "")
