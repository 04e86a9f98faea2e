"""The page of one row: what it holds, where it is in its list, what it leaves out, who may see what."""

import json
import re
from pathlib import Path

import msgspec
import pytest
from tests.support.golden import sentence_in
from tests.support.judged_runs import judged, write_run
from tests.support.rich_row import ANSWERS, SYSTEMS, judgements, write_rich_run
from tests.support.run_progress import told_of_a_run
from tests.support.served_project import client, project
from tests.support.workbench import Client, peopled
from tests.workbench.test_run_pages import EVIL, write

import ragstone
from ragstone.kernel.config import load_settings
from ragstone.kernel.engine.progress_file import FILE
from ragstone.kernel.records import Answer, Context, Label, Question, Turn, Verdict
from ragstone.kernel.tables import write_rows

__all__ = ["client", "project"]  # its fixtures

ROW = "/workbench/runs/0/rich/row"
FIRST = "q 1/a"
AS_PAGE = {"Accept": "text/html"}


@pytest.fixture
def rich(project: Path) -> Path:
    return write_rich_run(project)


def shown(client: Client, question: str = FIRST, at: str = ROW, **query: object) -> tuple[str, dict]:
    """Return the page, and the row that is embedded in it."""
    page = client.get(at, params={**query, "question": question}, headers=AS_PAGE)
    assert page.status_code == 200, page.text[:800]
    embedded = re.search(r'<script type="application/json" id="given">(.*?)</script>', page.text, re.DOTALL)
    assert embedded
    return page.text, json.loads(embedded[1])


def place(page: str) -> str:
    return sentence_in(page, "Row ") if "Row " in page else sentence_in(page, "Not among")


def test_the_page_shows_the_value_that_python_gives(rich, client, project):
    _, given = shown(client)
    row = ragstone.read_run(rich).row(FIRST, labels=project / "labels" / "sheet.jsonl")
    ours = json.loads(msgspec.json.encode(row))
    # The page has judges that ask no model last, and asks for notes by another address.
    for value in (given, ours):
        value.pop("notes", None)
        value["said"] = sorted(
            [[value["columns"][one["column"]], value["line"]["cells"][one["column"]], {**one, "column": 0}]
             for one in value["detail"].pop("judgements")],
            key=str,
        )  # fmt: skip
        value["labels"] = sorted(({**one, "source": ""} for one in value["labels"]), key=str)
        del value["columns"], value["line"]["cells"]
    assert given == ours
    assert given["differences"]["against"] == "hybrid"
    assert [one["score"] for one in given["labels"]] == [2.0, 5.0]  # of three: one is of another answer


def test_a_row_knows_its_place_in_the_list_and_its_neighbours(rich, client, says):
    page, _ = shown(client)
    says(place(page))
    assert 'rel="prev"' not in page
    assert f'rel="next" href="{ROW}?question=q2"' in page
    page, _ = shown(client, "q3")
    assert re.findall(r'rel="(\w+)" href="[^"]*question=(\w+)"', page) == [("prev", "q2"), ("next", "q4")]


def test_the_filter_and_the_order_of_the_list_hold(rich, client, says):
    query = {"where": "grade >= 4 and question ~ tested", "order": "highest"}
    listed = [line["id"] for line in client.get("/workbench/runs/0/rich/rows", params=query).json()["lines"]]
    assert len(listed) == 5
    seen, at = [], listed[0]
    while at:
        page, _ = shown(client, at, **query)
        seen.append(at)
        says(place(page))
        assert "where=grade+%3E%3D+4" in re.search(r'id="to-list" href="([^"]*)"', page)[1]
        after = re.search(r'rel="next" href="[^"]*order=highest&amp;[^"]*question=([^"]+)"', page)
        at = after[1] if after else ""
    assert seen == listed
    page, _ = shown(client, **query)
    says(place(page))
    assert f'&amp;question={listed[0]}">First match' in page


def test_a_filter_that_cannot_be_read_is_told_and_the_row_is_there(rich, client, says):
    page, given = shown(client, where="garde < 2")
    assert given["line"]["id"] == FIRST
    assert "Row 1" not in page
    says(sentence_in(page, "The filter, at character 1"))


def test_a_row_that_has_gone_leads_somewhere(rich, client, says):
    gone = client.get(ROW, params={"question": "q-old", "where": "grade < 4"}, headers=AS_PAGE)
    assert gone.status_code == 404
    says(sentence_in(gone.text, "This row is"))
    says(re.sub("<[^>]+>", "", re.search(r'role="alert">(.*)</p>', gone.text)[1]))
    assert 'href="/workbench/runs/0/rich?where=grade+%3C+4#questions"' in gone.text
    assert 'href="/workbench/runs/0/rich#questions"' in gone.text
    assert (
        client.get(ROW.replace("rich", "poor"), params={"question": "q"}, headers=AS_PAGE).status_code == 404
    )
    assert client.get(ROW, headers=AS_PAGE).status_code == 400


def test_the_others_are_compared_with_the_system_of_the_address(rich, client, says):
    page, given = shown(client, system="bm25")
    assert given["differences"]["against"] == "bm25"
    spans = given["differences"]["spans"][list(SYSTEMS).index("bm25")]
    assert [SYSTEMS["bm25"][start:end] for start, end in spans] == ["when", "about 12", "Sow early."]
    page, given = shown(client, system="nobody")
    assert given["differences"]["against"] == "hybrid"
    says(sentence_in(page, "&#39;nobody&#39; did"))


def test_answers_that_are_shortened_have_no_marks(project, client):
    long = [
        msgspec.structs.replace(row, answer=f"{row.system} {'word ' * 2_900} {'x' * 8_000}")
        for row in ANSWERS
    ]
    rich = write_rich_run(project)
    write_rows(rich / "answers.jsonl", long, Answer, force=True)
    _, given = shown(client)
    assert "differences" not in given
    assert given["detail"]["answers"][0]["answer"].endswith("…")


def huge(folder: Path, text: str) -> None:
    """Write a row with a context of 2 MB, 520 judgements and 200 turns; every text of it holds `text`."""
    turns = [Turn(role="user" if at % 2 == 0 else "assistant", content=f"{at} {text}") for at in range(200)]
    contexts = [Context(text=f"{at} {text}", document_id="d") for at in range(150)]
    said = [
        Answer(question_id="q0", system=f"s{at}", answer=f"{at} {text}", contexts=contexts, turns=turns)
        for at in range(8)
    ]
    contexts.insert(0, Context(text=text * (2_000_000 // len(text)), document_id="d"))
    said[0] = msgspec.structs.replace(said[0], contexts=contexts)
    verdicts = [Verdict(id=at, statement=f"{at} {text}", supported=at > 3, reason=text) for at in range(1, 9)]
    rows = [
        msgspec.structs.replace(row, rationale=f"{number} {text}", verdicts=verdicts)
        for answer in said
        for number in range(65)
        for row in judged([number % 2], f"judge_{number}", system=answer.system, model="openai/any")
    ]
    assert len(rows) == 520
    write_run(folder, rows, said=said, asked=[Question(id="q0", question=text, reference=text)])


@pytest.mark.simulation
@pytest.mark.parametrize(
    "text",
    ["a word " * 300, "<" * 2_000, "\"&'" * 700, "\u2028\u202e" * 700, EVIL * 20, "x" * 5_000],
    ids=["words", "brackets", "quotes", "line separators", "script", "one word"],
)
def test_a_huge_row_stays_small_on_the_wire_and_pages_its_judgements(project, client, text, says):
    huge(project / "runs" / "huge", text)
    at = "/workbench/runs/0/huge/row"
    page, given = shown(client, "q0", at)
    assets = set(re.findall(r'(?:src|href)="(/workbench/assets/[^"]+)"', page))
    loaded = sum(len(client.get(asset).content) for asset in assets)
    assert len(page.encode()) + loaded < 300_000
    assert len(given["detail"]["judgements"]) == len(given["columns"]) == 60
    says(sentence_in(page, "Judgements 1 to"))
    assert 'id="less"' in page
    says(sentence_in(page, "of its long"))
    assert "<img" not in page
    seen = 60
    while text.startswith("a word") and (
        after := re.search(r'href="([^"]*judged=\d+)#judged">Next judgements', page)
    ):
        page, given = shown(client, "q0", at, judged=int(after[1].rpartition("=")[2]))
        assert len(page.encode()) + loaded < 300_000
        seen += len(given["detail"]["judgements"])
    assert seen == (520 if text.startswith("a word") else 60)
    assert {place[0] for row in given["detail"]["answers"] for place in row["contexts"]} <= set(
        range(len(given["passages"]))
    )


def test_a_row_of_a_run_that_goes_on(project, client, says):
    folder = project / "runs" / "now"
    folder.mkdir()
    (folder / FILE).write_bytes(msgspec.json.encode(told_of_a_run()))
    write_rows(folder / "questions.jsonl", [Question(id="q0", question="Why?")], Question)
    lines = b"".join(msgspec.json.encode(row) + b"\n" for row in judged([1]))
    (folder / "judgements.jsonl.partial").write_bytes(lines + b'{"question_id": "q1", "sys')
    page, given = shown(client, "q0", "/workbench/runs/0/now/row")
    assert given["line"]["cells"] == [1.0]
    assert given["detail"]["answers"] == []
    says(place(page))


def test_labels_that_cannot_be_read_are_told_and_the_row_is_there(rich, client, project, says):
    (project / "labels" / "broken.jsonl").write_text('{"question_id": "q 1/a", "score": "high"}\n')
    page, given = shown(client)
    assert len(given["labels"]) == 2
    says(sentence_in(page, "broken.jsonl").replace(str(project), "PROJECT"))


def queue_of(people) -> None:
    owner = people.person("Olga", "owner")
    form = {"name": "first", "run": "0/rich", "judge": "grade|correctness", "by": "random", "n": 18}
    made = owner.post("/workbench/label/new", json=form, headers={"Accept": "application/json"})
    assert made.status_code == 200, made.text


@pytest.fixture
def people(project, rich):
    (project / "labels" / "sheet.jsonl").unlink()
    with peopled(load_settings(project / "ragstone.toml")) as everybody:
        queue_of(everybody)
        yield everybody


def item_of(person: Client, system: str = "bm25") -> int:
    """Return the place of the first row's answer in the queue, from the link of the page."""
    page, _ = shown(person, system=system)
    link = re.search(r'id="label" href="/workbench/label/first\?item=(\d+)"', page)
    assert link, page[:3000]
    return int(link[1])


def give(person: Client, name: str, at: int, score: int) -> None:
    mark = {"place": at, "annotator": name, "kind": "label", "score": score}
    sent = person.post("/workbench/label/first/marks", json=mark, headers={"Accept": "application/json"})
    assert sent.status_code == 200, sent.text


def test_an_annotator_sees_no_label_of_a_queue_that_they_have_not_finished(people, says):
    ann, ben = people.person("Ann", "annotator"), people.person("Ben", "annotator")
    olga = people.person("Olga", "owner")
    at = item_of(ann)
    give(ann, "Ann", at, 2)
    page, given = shown(ben, system="bm25")
    assert "labels" not in given
    says(sentence_in(page, "is hidden until"))
    assert [one["annotator"] for one in shown(olga)[1]["labels"]] == ["Ann"]
    for place in range(18):
        if place != at:
            give(ben, "Ben", place, 5)
    give(ben, "Ben", at, 4)
    _, given = shown(ben, system="bm25")
    # They differ, and nobody has settled it: who gave what is not told, to owners neither.
    both = [(one["score"], one.get("annotator")) for one in given["labels"] if one["system"] == "bm25"]
    assert both == [(2.0, None), (4.0, None)]
    assert both == [
        (one["score"], one.get("annotator")) for one in shown(olga)[1]["labels"] if one["system"] == "bm25"
    ]
    settled = olga.post("/workbench/label/first/decide", json={"place": at, "score": 2})
    assert settled.status_code in (200, 201), settled.text
    named = {one.get("annotator") for one in shown(ben)[1]["labels"] if one["system"] == "bm25"}
    assert {"Ann", "Ben"} < named


def test_an_owner_makes_a_queue_of_one_answer_and_nobody_else(rich, client, project, says):
    page, _ = shown(client, system="agent")
    says(re.search(r'<[^>]* id="label"[^>]*>', page)[0])
    sent = {"run": "0/rich", "question": FIRST, "system": "agent"}
    made = client.post("/workbench/label/pick", json=sent, headers={"Accept": "application/json"})
    assert (made.status_code, made.json()) == (200, {"go": "/workbench/label/picked-rich"})
    page, _ = shown(client, system="agent")
    assert 'id="label" href="/workbench/label/picked-rich?item=0"' in page
    assert 'data-system="bm25"' in shown(client, system="bm25")[0]
    item = client.get("/workbench/label/picked-rich/items/0").json()
    assert item["answer"] == SYSTEMS["agent"]
    mark = {"place": 0, "annotator": "root", "kind": "label", "score": 5}
    mark["annotator"] = re.search(r'<span class="who" dir="auto">([^<]*)</span>', page)[1]
    assert client.post("/workbench/label/picked-rich/marks", json=mark).status_code == 200
    (label,) = ragstone.read_rows(project / "labels" / "picked-rich.jsonl", Label)
    assert label.metadata["chosen"] == "by hand"
    progress = client.get("/workbench/label/picked-rich/progress").text
    assert "people would give" not in progress
    says(sentence_in(progress, "a random sample"))
    # It is no part of a sample: no mean is corrected by it, and a new draw does not count it.
    with pytest.raises(ragstone.RagstoneError) as mistake:
        ragstone.report_cards(judgements(ANSWERS), [label])
    says(mistake.value)
    form = {"name": "drawn", "run": "0/rich", "judge": "grade|correctness", "by": "random", "n": 18}
    assert client.post("/workbench/label/new", json=form).status_code == 200
    assert len(client.get("/workbench/label/drawn/mine").json()["places"]) == 18


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        ({"question": "q9", "system": "bm25"}, 422),
        ({"question": FIRST, "system": "x"}, 422),
        ({"question": FIRST}, 400),
    ],
)
def test_what_cannot_be_picked_is_told(rich, client, sent, status, says):
    made = client.post(
        "/workbench/label/pick", json={"run": "0/rich", **sent}, headers={"Accept": "application/json"}
    )
    assert made.status_code == status
    says(made.json()["detail"])
    assert not (client.get("/workbench/label/picked-rich").is_success)


def test_who_may_do_what(project, rich):
    with peopled(load_settings(project / "ragstone.toml")) as everybody:
        reader, annotator = everybody.person("Rea", "reader"), everybody.person("Ann", "annotator")
        page, given = shown(reader)
        for id_ in ("label", "try", "note"):
            assert f'id="{id_}"' not in page
        assert len(given["labels"]) == 2
        page, _ = shown(annotator)
        assert 'id="note"' in page
        assert 'id="label"' not in page
        sent = {"run": "0/rich", "question": FIRST, "system": "agent"}
        assert annotator.post("/workbench/label/pick", json=sent).status_code == 403


def test_a_question_without_an_answer_or_a_judge_is_a_row_too(project, client):
    folder = write(project / "runs" / "bare")
    (folder / "answers.jsonl").unlink()
    _, given = shown(client, "q1", "/workbench/runs/0/bare/row")
    assert given["detail"]["answers"] == []
    assert "differences" not in given
