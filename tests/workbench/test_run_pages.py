"""The page of a run and its rows: what the report shows, filtered, sorted and paged by the server."""

import gzip
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import msgspec
import pytest
from tests.support.golden import sentence_in
from tests.support.served_project import made_project, served
from tests.support.tiny_run import (
    ANSWERS,
    DOCUMENTS,
    JUDGEMENTS,
    QUESTIONS,
    RANKINGS,
    card,
    judgement,
    summary_of,
)
from tests.support.workbench import create_workbench, opened, peopled
from tests.workbench.conftest import Client

from ragstone.features.report.page import write_report
from ragstone.features.run.pipeline import correction_notes
from ragstone.kernel.config import AgreeSection, load_settings
from ragstone.kernel.llm.prompt import Message
from ragstone.kernel.records import Answer, Context, Document, Judgement, Question, Ranking
from ragstone.kernel.runs.asked import AskedCall
from ragstone.kernel.runs.summary import RunSummary
from ragstone.kernel.tables import write_rows
from ragstone.workbench.run_pages import browser_notes

RUN = "/workbench/runs/0/wheat"
EVIL = "</script><script>alert('x')</script>\"><img src=x onerror=alert(1)>"
ROWS: dict[str, tuple[list, type]] = {
    "documents": (DOCUMENTS, Document),
    "questions": (QUESTIONS, Question),
    "rankings": (RANKINGS, Ranking),
    "answers": (ANSWERS, Answer),
    "judgements": (JUDGEMENTS, Judgement),
}


def write(folder: Path, ending: str = ".jsonl", summary: RunSummary | None = None) -> Path:
    """Write the tiny run of the report's tests."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, (rows, row_type) in ROWS.items():
        write_rows(folder / f"{name}{ending}", rows, row_type, force=True)
    (folder / "summary.json").write_bytes(msgspec.json.encode(summary or summary_of(JUDGEMENTS)))
    return folder


@pytest.fixture
def run(project: Path) -> Path:
    return write(project / "runs" / "wheat")


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A client of a project with that run, for tests that only read it."""
    project = made_project(tmp_path_factory.mktemp("read"))
    write(project / "runs" / "wheat")
    with served(project) as client:
        yield client


def ids(client: Client, **query: object) -> list[str]:
    found = client.get(f"{RUN}/rows", params=query)
    assert found.status_code == 200, found.text
    return [line["id"] for line in found.json()["lines"]]


def test_the_page_shows_what_the_static_report_shows(run, client):
    page = client.get(RUN).text
    static = write_report(run).read_text()
    for part in ("Is it right?", "What is to blame?", "How far can the judge be trusted?", "How it was made"):
        assert part in static
    between = re.compile(r'<div class="answers">.*?<section aria-labelledby="questions">', re.DOTALL)
    (shown,) = between.findall(page)
    (told,) = between.findall(static)
    squeezed = [
        " ".join(text.replace('<p id="rows-wrong" class="notice bad" role="alert" hidden></p>', "").split())
        for text in (shown, told)
    ]
    assert squeezed[0] == squeezed[1]


def test_the_page_has_no_style_and_no_script_of_its_own(run, client):
    (run / "summary.json").write_bytes(
        msgspec.json.encode(msgspec.structs.replace(summary_of(JUDGEMENTS), cards=[card(better=True)]))
    )
    reply = client.get(RUN)
    assert "'unsafe-inline'" not in reply.headers["content-security-policy"]
    assert "<style" not in reply.text
    assert " style=" not in reply.text
    for attributes, content in re.findall(r"<script([^>]*)>(.*?)</script>", reply.text, re.DOTALL):
        assert 'src="/workbench/assets/' in attributes or 'type="application/json"' in attributes, content
    for source in re.findall(r'(?:src|href)="(/workbench/assets/[^"]+)"', reply.text):
        assert client.get(source).status_code == 200


@pytest.mark.parametrize("ending", [".jsonl", ".parquet"])
def test_rows_are_those_of_the_report_whatever_the_files_are(project, client, ending):
    folder = write(project / "runs" / "wheat", ending)
    found = client.get(f"{RUN}/rows").json()
    assert found["n"] == found["of"] == 4
    write(folder, ".jsonl")
    page = write_report(folder).read_text()
    embedded = re.search(r'<script type="application/json" id="index">(.*?)</script>', page, re.DOTALL)
    assert embedded
    assert found["lines"] == json.loads(embedded[1])["lines"]


def test_an_opened_question_is_that_of_the_report(run, client):
    page = write_report(run).read_text()
    blocks = {
        name: json.loads(text)
        for name, text in re.findall(
            r'<script type="application/json" id="((?:details|passages)-0)">(.*?)</script>', page, re.DOTALL
        )
    }
    texts = [passage.get("text") for passage in blocks["passages-0"]]
    for place, question in enumerate(QUESTIONS):
        found = client.get(f"{RUN}/question", params={"question": question.id}).json()
        ours, theirs = found["detail"], blocks["details-0"][place]
        given = [passage.get("text") for passage in found["passages"]]
        names = [[one["document"] for one in some] for some in (found["passages"], blocks["passages-0"])]
        for mine, other in zip(ours["answers"], theirs["answers"], strict=True):
            assert [given[at] for at, *_ in mine.pop("contexts")] == [
                texts[at] for at, *_ in other.pop("contexts")
            ]
        for mine, other in zip(ours["rankings"], theirs["rankings"], strict=True):
            # by their documents: the report has a text for each that some other question was given
            assert [names[0][at] for at, *_ in mine.pop("places")] == [
                names[1][at] for at, *_ in other.pop("places")
            ]
        assert ours == theirs


# The judges, in the order of the rows: 0 correctness, 1 faithfulness, 2 containment (a baseline).
# q1: 1, 0.5, 1; q2: 0, unparsable, 1; q3: not applicable, timeout, not applicable; q4 & 5: app_error by all.
@pytest.mark.long
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, ["q1", "q2", "q3", "q4 & 5"]),
        ({"judge": 0, "result": "low"}, ["q2"]),
        ({"judge": 0, "result": "high"}, ["q1"]),
        ({"result": "high"}, ["q1"]),
        ({"judge": 2, "result": "high"}, ["q1", "q2"]),
        ({"result": "unscored"}, ["q2", "q3", "q4 & 5"]),
        ({"judge": 1, "result": "is-timeout"}, ["q3"]),
        ({"result": "absent"}, []),
        ({"judge": 1, "low": 0.4, "high": 0.6}, ["q1"]),
        ({"judge": 0, "low": 0.5}, ["q1"]),
        ({"found": "first"}, ["q1"]),
        ({"found": "missed"}, ["q4 & 5"]),
        ({"found": "unknown"}, ["q3"]),
        ({"tag": "crop", "value": "wheat"}, ["q1"]),
        ({"text": "FUNGICIDE rust"}, ["q1"]),
        ({"text": "الذرة"}, ["q2"]),
        ({"text": "' OR 1=1 --"}, []),
        # by the worst share of the models' scores: q2 has 0, q1 has 0.5; those without a score come last
        ({"order": "lowest"}, ["q2", "q1", "q3", "q4 & 5"]),
        ({"order": "highest"}, ["q1", "q2", "q3", "q4 & 5"]),
        # not found first, then the deepest; what nobody can tell last
        ({"order": "rank"}, ["q4 & 5", "q2", "q1", "q3"]),
        ({"at": 7}, ["q1", "q2", "q3", "q4 & 5"]),
    ],
)
def test_rows_are_filtered_and_sorted(reader, query, expected):
    assert ids(reader, **query) == expected


def test_the_menu_of_results_counts_questions(reader):
    found = reader.get(f"{RUN}/rows", params={"judge": 0}).json()["results"]
    assert found == {
        "low": 1,
        "high": 1,
        "unscored": 2,
        "is-scored": 2,
        "is-not_applicable": 1,
        "is-app_error": 1,
    }


@pytest.mark.parametrize(
    "query",
    [
        {"judge": 9},
        {"judge": -1},
        {"result": "x"},
        {"found": "x"},
        {"low": "nan"},
        {"order": "x"},
        {"at": -1},
    ],
)
def test_a_filter_that_there_is_not_is_told(reader, query):
    reply = reader.get(f"{RUN}/rows", params=query, headers={"Accept": "application/json"})
    assert reply.status_code in (400, 422)
    assert reply.json()["detail"]


def test_a_question_is_found_by_its_id(reader):
    assert reader.get(f"{RUN}/place", params={"question": "q4 & 5"}).json() == {"page": 0}
    for what in ("place", "question"):
        assert reader.get(f"{RUN}/{what}", params={"question": "gone"}).status_code == 404


def test_rows_are_never_stale(run, client):
    assert ids(client, judge=0, result="low") == ["q2"]
    path = run / "judgements.jsonl"
    stat = path.stat()
    text = path.read_text()
    changed = text.replace('"score":0.0', '"score":1.0').replace('"score":0,', '"score":1,')
    assert len(changed) == len(text) != 0
    assert changed != text
    path.write_text(changed)
    # of the same length, and with the time of before: the inode's own time still tells
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert ids(client, judge=0, result="low") == []


def test_an_index_is_kept_and_those_of_earlier_states_are_not(run, project, client):
    ids(client)
    (first,) = (project / ".ragstone/workbench/rows").rglob("*.duckdb")
    ids(client, order="lowest")
    assert list((project / ".ragstone/workbench/rows").rglob("*.duckdb")) == [first]
    with (run / "judgements.jsonl").open("a") as file:
        file.write(msgspec.json.encode(judgement("q9", "correctness", 1)).decode() + "\n")
    assert ids(client)[-1] == "q9"
    (second,) = (project / ".ragstone/workbench/rows").rglob("*.duckdb")
    assert second != first


def test_an_index_that_cannot_be_read_is_made_anew(run, project, client):
    ids(client)
    (kept,) = (project / ".ragstone/workbench/rows").rglob("*.duckdb")
    with opened(create_workbench(load_settings(project / "ragstone.toml"))) as another:
        kept.write_bytes(b"of another program")
        assert ids(another) == ["q1", "q2", "q3", "q4 & 5"]


def test_a_bad_row_is_told_by_file_and_line(run, client, says):
    with (run / "judgements.jsonl").open("a") as file:
        file.write('\n{"question_id": 7}\n')
    reply = client.get(f"{RUN}/rows", headers={"Accept": "application/json"})
    assert reply.status_code == 422
    says(sentence_in(reply.json()["detail"], "judgements.jsonl:14: not"))


def test_rows_of_a_run_that_goes_on_are_those_that_are_whole(project, client, says):
    folder = project / "runs" / "wheat"
    folder.mkdir()
    lines = [msgspec.json.encode(row) + b"\n" for row in ANSWERS]
    (folder / "answers.jsonl.partial").write_bytes(b"".join(lines[:2]) + lines[2][:20])
    assert ids(client) == ["q1", "q2"]
    says(sentence_in(client.get(RUN).text, "There are no"))


def test_judgements_alone_get_their_means(project, client, says):
    folder = project / "runs" / "wheat"
    folder.mkdir()
    write_rows(folder / "judgements.jsonl", JUDGEMENTS, Judgement)
    page = client.get(RUN).text
    says(sentence_in(page, "the means were"))
    says(sentence_in(page, "2 scored of"))
    assert ids(client) == ["q1", "q2", "q3", "q4 & 5"]


def test_conversations_are_those_of_the_question(run, client):
    assert client.get(f"{RUN}/calls", params={"question": "q1"}).json() == {"shared": [], "calls": []}
    rows = [
        AskedCall(
            question_id=question.id,
            systems=["rag"],
            judges=["correctness"],
            model="openai/fake",
            messages=(
                Message("system", "Judge it."),
                Message("user", f"Asked: {question.question}"),
                Message("assistant", "yes"),
            ),
        )
        for question in QUESTIONS
    ]
    (run / "calls.jsonl.gz").write_bytes(
        gzip.compress(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))
    )
    found = client.get(f"{RUN}/calls", params={"question": "q3"}).json()
    assert found["shared"] == ["Judge it."]
    (call,) = found["calls"]
    assert call["messages"] == [
        ["system", [0]],
        ["user", ["Asked: Who won the cup?"]],
        ["assistant", ["yes"]],
    ]
    (run / "calls.jsonl.gz").write_bytes(gzip.compress(msgspec.json.encode(rows[0]) + b"\n"))
    assert client.get(f"{RUN}/calls", params={"question": "q3"}).json()["calls"] == []


def test_the_report_is_served_as_one_file_with_its_own_policy(run, client):
    reply = client.get(f"{RUN}/report.html")
    assert reply.text == write_report(run).read_text()
    assert "sha256-" in reply.headers["content-security-policy"]


def test_texts_names_and_tags_of_a_run_are_text(project, client):
    name = EVIL.replace("/", "")
    folder = project / "runs" / name
    rows = [
        msgspec.structs.replace(row, rationale=EVIL, system=EVIL, judge=EVIL, model=EVIL)
        for row in JUDGEMENTS[:4]
    ]
    folder.mkdir()
    write_rows(folder / "judgements.jsonl", rows, Judgement)
    asked = [Question(id="q1", question=EVIL, reference=EVIL, tags={EVIL: EVIL})]
    write_rows(folder / "questions.jsonl", asked, Question)
    said = [Answer(question_id="q1", system=EVIL, answer=EVIL, contexts=[Context(text=EVIL)])]
    write_rows(folder / "answers.jsonl", said, Answer)
    summary = summary_of(rows)
    (folder / "summary.json").write_bytes(
        msgspec.json.encode(msgspec.structs.replace(summary, name=EVIL, notes=[EVIL], models={EVIL: EVIL}))
    )
    address = quote(name, safe="")
    for path in ("/workbench/", f"/workbench/runs/0/{address}", "/workbench/compare", "/workbench/data"):
        page = client.get(path)
        assert page.status_code == 200
        assert "alert(" in page.text or path.endswith("data")
        assert "<script>alert" not in page.text
        assert "<img" not in page.text
    for what in ("rows", "head", "question?question=q1"):
        reply = client.get(f"/workbench/runs/0/{address}/{what}")
        assert reply.headers["content-type"].startswith("application/json")


def test_the_page_leads_an_owner_to_a_queue_of_its_answers(project):
    write(project / "runs" / "wheat")
    link = 'href="/workbench/label/new?run=0/wheat">Label answers: 2 judges not measured</a>'
    with peopled(load_settings(project / "ragstone.toml")) as people:
        assert link in people.person("olga", "owner").get(RUN).text
        assert "Label answers" not in people.person("rita", "reader").get(RUN).text


def test_a_judge_with_a_report_card_is_not_called_unmeasured(run, client, says):
    measured = msgspec.structs.replace(summary_of(JUDGEMENTS), cards=[card(better=True)])
    (run / "summary.json").write_bytes(msgspec.json.encode(measured))
    says(sentence_in(client.get(RUN).text, "Label answers:"))


def test_notes_name_what_can_be_done_in_the_browser(says):
    notes = [
        "Not measured against people with this model: a, b. "
        "Label some of the answers and run: ragstone agree 'runs/x y/judgements.jsonl' labels.jsonl",
        "There is no baseline for faithfulness. --judge grounding calls no model and costs nothing.",
        *correction_notes([], AgreeSection(sheet="labelled.jsonl")),
        "12 answers failed.",
    ]
    said = browser_notes(notes, may_label=True)
    assert not any(sign in " ".join(said) for sign in ("ragstone ", "--judge", "[agree]", "`"))
    says(said[0])
    says(said[2])
    assert said[3] == notes[3]
    # Where nobody may label there is no button: the commands are all that there is.
    assert browser_notes(notes, may_label=False) == notes
