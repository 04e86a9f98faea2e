"""Every page of the workbench for rows of hostile texts: how many characters it has, and may have."""

import re
from pathlib import Path

import msgspec
from tests.support.judged_runs import judged
from tests.support.review_sets import write_set
from tests.support.workbench import Client, create_workbench, opened

from ragstone.kernel.config import load_settings
from ragstone.kernel.records import Answer, Context, Document, Judgement, Question, Turn, Verdict
from ragstone.kernel.runs.joining import MAX_BYTES
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
RUN, LABEL = "/workbench/runs/0/a", "/workbench/label"
PAGES = (
    "/workbench/",
    RUN,
    f"{RUN}/head",
    f"{RUN}/rows",
    f"{RUN}/rows?text=a&order=lowest",
    f"{RUN}/question?question=q1",
    f"{RUN}/calls?question=q1",
    f"{RUN}/report.html",
    "/workbench/runs/trends",
    "/workbench/compare?a=0/a&b=0/b",
    "/workbench/compare/answers?run=0/a&run=0/b",
    "/workbench/data",
    "/workbench/data/ID",
    "/workbench/review",
    "/workbench/review/ID",
    "/workbench/review/ID/question?question=q1",
    "/workbench/judges",
    "/workbench/cards",
    "/workbench/monitor",
    "/workbench/traces",
    LABEL,
    f"{LABEL}/new?run=0/a",
    f"{LABEL}/first",
    f"{LABEL}/first/mine",
    f"{LABEL}/first/items/0",
    f"{LABEL}/first/progress",
    f"{LABEL}/first/adjudicate",
)
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
        rows = judged([(at + low) % 2 for at in range(N)])
        rows = [msgspec.structs.replace(row, rationale=text, verdicts=verdicts) for row in rows]
        write_rows(run / "questions.jsonl", questions, Question)
        write_rows(run / "answers.jsonl", said, Answer)
        write_rows(run / "judgements.jsonl", rows, Judgement)
    write_set(folder / "questions", questions, [Document(id="d", text=text)])
    (folder / "ragstone.toml").write_text('[run]\nname = "mine"\n')


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
        for path in PAGES:
            asked = path.replace("data/ID", f"data/{set_id}").replace("review/ID", f"review/{review_id}")
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
