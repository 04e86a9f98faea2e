"""Every page of the workbench for rows of hostile texts: how many characters it has, and may have."""

import json
import re
from pathlib import Path
from typing import Any

import msgspec
from tests.support.judged_runs import judged
from tests.support.monitor_store import fill, row
from tests.support.review_sets import write_set
from tests.support.spans import TRACE, as_protobuf, request, span
from tests.support.workbench import Client, create_workbench, opened

import ragstone
from ragstone.features.modes.values import ModesSummary
from ragstone.kernel.config import load_settings
from ragstone.kernel.records import Answer, Context, Document, Judgement, Label, Question, Turn, Verdict
from ragstone.kernel.runs.blamed import digests
from ragstone.kernel.runs.joining import MAX_BYTES
from ragstone.kernel.runs.modes import MODES_FILE, Mode, ModeEvidence
from ragstone.kernel.tables import write_rows

N, KB = 5, 1_000
CAP = 1_200_000  # characters of a page that are texts, their escapes and marks included
GROWTH = 4
HOSTILE = {
    "letters": "a" * 250 * KB,
    "words": "maize and beans " * 16 * KB,
    "brackets": "<" * 250 * KB,
    "ampersands": "&" * 250 * KB,
    "quotes": "\"'" * 125 * KB,
    "emoji": "😀" * 62 * KB,
    "controls": "\x01" * 250 * KB,
    "line separators": "\u2028" * 83 * KB,
    "line ends": "\r\n" * 125 * KB,
    "templates": "{{ 7*7 }}`" * 25 * KB,
    "a few brackets": "<" * 4 * KB,
    "a few quotes": "\"'" * 2 * KB,
}
ASKED = TRACE[::-1]
RUN, LABEL, JUDGE = "/workbench/runs/0/a", "/workbench/label", "/workbench/judges/mine"
PAGES = (
    "/workbench/",
    RUN,
    f"{RUN}/head",
    f"{RUN}/first",
    f"{RUN}/rows",
    f"{RUN}/rows?text=a&order=lowest",
    f"{RUN}/question?question=q1",
    f"{RUN}/row?question=q1",
    f"{RUN}/calls?question=q1",
    f"{RUN}/report.html",
    f"{RUN}/notes?question=q1",
    f"{RUN}/modes",
    "/workbench/rows?run=0/a&run=0/b&order=answer",
    "/workbench/judge?run=0/a",
    "/workbench/runs/trends",
    "/workbench/runs/matrix",
    "/workbench/compare?a=0/a&b=0/b",
    "/workbench/compare/answers?run=0/a&run=0/b",
    "/workbench/data",
    "/workbench/data/ID",
    "/workbench/review",
    "/workbench/review/ID",
    "/workbench/review/ID/question?question=q1",
    "/workbench/review/ID/part?document=d",
    f"{RUN}/try/mine",
    "/workbench/judges",
    f"{JUDGE}",
    f"{JUDGE}/develop",
    f"{JUDGE}/test",
    f"{JUDGE}/job",
    "/workbench/cards",
    "/workbench/cards/ID",
    "/workbench/monitor",
    "/workbench/monitor/questions",
    "/workbench/traces",
    "/workbench/traces?where=text+~+a&order=duration",
    f"/workbench/traces/{TRACE}",
    f"/workbench/traces/{ASKED}",
    f"/workbench/traces/chosen?act=judge&id={ASKED}",
    "/workbench/traces/session?session=s",
    LABEL,
    f"{LABEL}/new?run=0/a",
    f"{LABEL}/first",
    f"{LABEL}/first/mine",
    f"{LABEL}/first/items/0",
    f"{LABEL}/first/progress",
    f"{LABEL}/first/done",
    f"{LABEL}/first/adjudicate",
    f"{LABEL}/first/gaps",
    f"{LABEL}/first/instructions",
)
JUDGE_FILE = """
name = "mine"
version = 1
kind = "boolean"
inputs = ["answer"]
scale = [0, 1]
max_tokens = 200
source = "here"
prompt = {text}
"""
"""A judge's file is the project's own, and edited whole: its texts are short."""
TEXTLESS = {
    "/workbench/runs/{index}/{name}/cells/{number}",
    "/workbench/assets/{name}",
    "/workbench/runs/{index}/{name}/place",
    "/workbench/runs/{index}/{name}/progress",
    "/workbench/judge/job",
    "/workbench/runs/{index}/{name}/try/{what}/job",
    "/workbench/judges/{name}/looks/{place}",  # a card, as /workbench/cards/ID
    "/workbench/login",
    "/workbench/invite/{token}",
    "/workbench/account",
    "/workbench/people",
    "/workbench/people/log",
    "/workbench/judges/new-judge",
    "/workbench/demo",
    "/workbench/demo/progress",
    "/workbench/traces/judge/{name}",
}
FILES = {
    "/workbench/runs/{index}/{name}/question.txt",
    "/workbench/label/{name}/items/{place}/text",
    "/workbench/rows/export/{ending}",
    "/workbench/label/{name}/export/{form}",
    "/workbench/review/{set_id}/reviewed.jsonl",
    "/workbench/traces/{trace_id}/{number}",
    "/workbench/traces/list.jsonl",
}
"""Addresses whose answers hold no text of a row, and those that give it whole, as a file."""
TEXTS_A_ROW = 8  # question, reference, answer, context, turn, and what the judge said


def write_project(folder: Path, text: str) -> None:
    """Write two runs of rows that hold the text wherever one may stand, and their questions as a set."""
    questions = [
        Question(id=f"q{at}", question=f"{at} {text}", reference=text, document_ids=["d"]) for at in range(N)
    ]
    said = [
        Answer(
            question_id=f"q{at}",
            system="mine",
            answer=text,
            contexts=[Context(text=f"{at} {text}", document_id="d")],
            turns=[Turn(role="user", content=text), Turn(role="assistant", content="yes")],
        )
        for at in range(N)
    ]
    verdicts = [Verdict(id=1, statement=text, supported=True, reason=text)]
    for name, low in (("a", 0), ("b", 1)):
        run = folder / "runs" / name
        run.mkdir(parents=True)
        rows = judged(scores := [(at + low) % 2 for at in range(N)])
        rows += judged(scores, "mine", metric="mine", model="openai/any")
        rows = [msgspec.structs.replace(row, rationale=text, verdicts=verdicts) for row in rows]
        write_rows(run / "questions.jsonl", questions, Question)
        told = {"id": "1", "question_id": "q1", "text": text, "author": text, "at": "", "tags": [text]}
        (run / "notes.jsonl").write_bytes(msgspec.json.encode(told) + b"\n")
        write_rows(run / "answers.jsonl", said, Answer)
        write_rows(run / "judgements.jsonl", rows, Judgement)
    mode = Mode(
        name="mine",
        title=text,
        question=text,
        digest="d",
        judge_digest="d",
        kind="signs",
        evidence=[ModeEvidence(question_id="q1", system="mine", quote=text, part="answer")] * N,
        causes={text: 1},
    )
    modes = ModesSummary(
        name="a",
        version="1",
        judge=text,
        metric=text,
        model=text,
        n_answers=N,
        n_wrong=1,
        n_left_out=0,
        modes=[mode],
        made_from=digests(folder / "runs" / "a"),
        notes=[text],
    )
    (folder / "runs" / "a" / MODES_FILE).write_bytes(msgspec.json.encode(modes))
    write_set(folder / "questions", questions, [Document(id="d", text=text)])
    write_labels(folder, said, text)
    (folder / "judges").mkdir()
    (folder / "judges" / "mine.toml").write_text(
        JUDGE_FILE.format(
            text=json.dumps("Is {answer} right? " + text[:KB].replace("{", "("), ensure_ascii=False)
        )
    )
    tool: dict[str, Any] = {
        "openinference__span__kind": "TOOL",
        "input__value": text,
        "output__value": text,
        "kept": text,
    }
    spans = [span(at, parent=at - 1 or None, **tool) for at in range(1, N + 1)]
    model: dict[str, Any] = {
        "openinference__span__kind": "LLM",
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": text,
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": text,
    }
    search: dict[str, Any] = {
        "openinference__span__kind": "RETRIEVER",
        "retrieval.documents.0.document.content": text,
        "retrieval.documents.0.document.metadata": json.dumps({"title": text, "source": text}),
    }
    asked = {"input__value": text, "output__value": text, "session__id": "s", "user__id": text}
    ragstone.store_spans(as_protobuf(request(*spans)), folder / ".ragstone" / "traces")
    kinds = enumerate((asked, model, search), 1)
    spans = [span(at, trace=ASKED, parent=at - 1 or None, **more) for at, more in kinds]
    (folder / ".ragstone" / "traces" / "sent.jsonl").write_bytes(request(*spans) + b"\n")
    told = {"id": "1", "question_id": ASKED, "text": text, "author": text, "at": "", "tags": [text]}
    (folder / ".ragstone" / "workbench" / "traces").mkdir(parents=True)
    (folder / ".ragstone" / "workbench" / "traces" / "notes.jsonl").write_bytes(
        msgspec.json.encode(told) + b"\n"
    )
    logged = [row(f"x{at}", answered=at % 2, question=f"{at} {text}", answer=text) for at in range(N)]
    fill(folder / ".ragstone" / "monitor", logged).close()
    (folder / "ragstone.toml").write_text('[run]\nname = "mine"\n')


def write_labels(folder: Path, said: list[Answer], text: str) -> None:
    """Write labels that hold the text, and the report card of a judge that differs from all of them."""
    texts = {"question": text, "answer": text, "reference": text}
    labels = [
        Label(
            question_id=row.question_id,
            system=row.system,
            metric="correctness",
            score=at % 2,
            annotator="ann",
            rationale=text,
            metadata=texts,
        )
        for at, row in enumerate(said)
    ]
    (folder / "labels").mkdir()
    write_rows(folder / "labels" / "sheet.jsonl", labels, Label)
    rows = [msgspec.structs.replace(row, rationale=text) for row in judged([(at + 1) % 2 for at in range(N)])]
    cards = ragstone.report_cards(rows, labels)
    assert cards[0].disagreements
    (folder / "cards.json").write_bytes(msgspec.json.encode(list(cards)))


def queue_with_differences(client: Client) -> None:
    """Make a queue of the run, with labels of two people who differ on every answer."""
    form = {"name": "first", "run": "0/a", "judge": "containment|correctness", "by": "random", "n": N}
    assert client.post(f"{LABEL}/new", json=form, headers={"Accept": "application/json"}).status_code == 200
    for score, name in ((0, "ann"), (1, "ben")):
        rows = "".join(f'{{"question_id": "q{at}", "system": "mine", "score": {score}}}\n' for at in range(N))
        given = {"file": "labels.jsonl", "text": rows, "annotator": name}
        taken = client.post(f"{LABEL}/first/import", json=given, headers={"Accept": "application/json"})
        assert taken.json()["n_labels"] == N, taken.text


def allowed(path: str, text: str) -> int:
    """Return the characters by which a page of these two runs may grow; the report as one file is of one."""
    is_file = path.endswith("report.html")
    came_in = (1 if is_file else 2) * TEXTS_A_ROW * N * len(text)
    return min(GROWTH * came_in, MAX_BYTES if is_file else CAP)


def sizes(folder: Path, text: str) -> dict[str, int]:
    """Return the characters of each page."""
    folder.mkdir()
    write_project(folder, text)
    found = {}
    with opened(create_workbench(load_settings(folder / "ragstone.toml"))) as client:
        queue_with_differences(client)
        (set_id,) = set(re.findall(r'href="/workbench/data/([^"]+)"', client.get("/workbench/data").text))
        listed = client.get("/workbench/review").text
        review_id = re.findall(r'href="/workbench/review/([^"]+)"', listed)[0]
        card_id = re.findall(r'href="/workbench/cards/([^"]+)"', client.get("/workbench/cards").text)[0]
        ids = {"data": set_id, "review": review_id, "cards": card_id}
        for path in PAGES:
            asked = re.sub(r"(data|review|cards)/ID", lambda part: f"{part[1]}/{ids[part[1]]}", path)
            page = client.get(asked, headers={"Accept": "text/html"})
            assert page.status_code == 200, (path, page.text[:500])
            found[path] = len(page.text)
        check_raw(client, text)
    return found


def check_raw(client: Client, text: str) -> None:
    """Check that what a page shortens can be read whole, as plain text."""
    whole = client.get(f"{RUN}/question.txt?question=q1")
    item = client.get(f"{LABEL}/first/items/0/text")
    for raw in (whole, item):
        assert raw.headers["content-type"] == "text/plain; charset=utf-8"
        assert raw.headers["x-content-type-options"] == "nosniff"
    assert whole.content.count(msgspec.json.encode(text)[1:-1]) >= TEXTS_A_ROW
    assert item.content.count(text.encode()) >= 4  # question, turn, answer, context
    opened_row = client.get(f"{RUN}/question?question=q1").json()
    is_long = len(text) > 20 * KB
    assert opened_row.get("is_cut", False) or not is_long
    assert client.get(f"{LABEL}/first/items/0").json()["is_cut"] or not is_long
    side = client.get("/workbench/compare/answers?run=0/a&run=0/b").text
    assert ('id="shortened"' in side) or not is_long
