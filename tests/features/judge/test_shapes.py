"""Answer sheets in the shapes of other tools and of offices: judged as they are, or as the message says."""

import json
import shlex
import shutil
from pathlib import Path

import pytest
from tests.support.command import TO_FILE, ragstone

SHAPES = Path(__file__).parents[2] / "fixtures" / "shapes"
FILES = sorted(path.name for path in SHAPES.iterdir() if path.name != "README.md")
NO_CONTEXTS = {"langsmith.csv", "test-cases.csv"}
ASKS_FIRST = {"survey.csv"}
"""Files of which nothing can be guessed: the message gives the command."""


def judged(monkeypatch, *arguments):
    """Run `ragstone judge`; where it prints a command to run, run exactly that, and so on."""
    given = ["judge", *arguments]
    for n_run in range(1, 4):
        monkeypatch.setattr("sys.argv", ["ragstone", *given])
        ran = ragstone(*given)
        if "Run:\n" not in ran.err:
            return ran, n_run
        _, *given = shlex.split(ran.err.rpartition("Run:\n")[2].splitlines()[0])
    raise AssertionError(ran.err)


@pytest.mark.parametrize("name", FILES)
def test_it_is_judged_with_no_flag_or_by_the_commands_that_the_messages_print(
    name, tmp_path, monkeypatch, caplog
):
    monkeypatch.chdir(tmp_path)
    shutil.copy(SHAPES / name, name)
    ran, n_runs = judged(monkeypatch, name, "--judge", "containment", "--judge", "grounding", "-o", "j.jsonl")
    assert ran.code == 0
    assert n_runs == (3 if name in ASKS_FIRST else 1)
    rows = [json.loads(line) for line in Path("j.jsonl").read_text().splitlines()]
    missing = 1 if name == "null-answer.parquet" else 0
    statuses = [(row["judge"], row["status"]) for row in rows]
    assert statuses.count(("containment", "scored")) == 3 - missing
    assert statuses.count(("grounding", "scored")) == (0 if name in NO_CONTEXTS else 3 - missing)
    assert statuses.count(("containment", "app_error")) == missing
    right = [row["score"] for row in rows if row["judge"] == "containment" and row["status"] == "scored"]
    assert right == ([1, 0] if missing else [1, 1, 0])


def test_no_guess_is_silent(tmp_path, monkeypatch, caplog, says):
    shutil.copy(SHAPES / "excel-unicode.csv", tmp_path / "a.csv")
    monkeypatch.chdir(tmp_path)
    ragstone("judge", "a.csv", "--judge", "containment")
    says("\n".join(caplog.messages))


NEAR = "question,Model Answer,answer,reference\nWho?,wrong,Ann,Ann\n"


@pytest.mark.parametrize(
    ("sheet", "options", "says"),
    [
        (NEAR, [], None),
        ("question,answer,answer\nWho?,Ann,Bob\n", [], "two columns are named 'answer'. Rename the one"),
        ("question,answer\nWho?,Ann\n", ["--column", "answer=Bot"], "answer=Bot: no such column in a.csv."),
        ("question,answer\nWho?,Ann\n", ["--column", "answer"], "write FIELD=COLUMN, e.g. --column answer="),
        ("question,answer\nWho?,Ann\n", ["--column", "anser=answer"], "there is no field 'anser'. Did you"),
        ("id,answer\n1,Ann\n1,Bob\n", [], "a.csv:3: a second row with question_id '1', system 'default'."),
        ("question,GPT answer,Claude answer\nWho?,A,B.\n", [], "('GPT answer' or 'Claude answer'?)"),
    ],
)
def test_the_first_line_of_a_message_says_what_to_change(sheet, options, says, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text(sheet)
    ran = ragstone("judge", "a.csv", "--judge", "containment", *options, *TO_FILE)
    if says is None:
        assert (ran.code, json.loads(Path("judgements.jsonl").read_text())["score"]) == (0, 1)
    else:
        assert (ran.code, says in ran.err.splitlines()[0]) == (2, True), ran.err


def test_of_several_worksheets_that_fit_one_is_named(tmp_path, monkeypatch, says):
    openpyxl = pytest.importorskip("openpyxl")
    monkeypatch.chdir(tmp_path)
    book = openpyxl.Workbook()
    for name, said in {"May": "Ann", "June": "Bob"}.items():
        sheet = book.active if name == "May" else book.create_sheet()
        sheet.title = name
        for row in (["Question", "Answer", "Reference"], ["Who?", said, "Bob"]):
            sheet.append(row)
    book.save("a.xlsx")
    refused = ragstone("judge", "a.xlsx", "--judge", "containment")
    assert refused.code == 2
    says(refused.err.splitlines()[0])
    assert ragstone("judge", "a.xlsx", "--judge", "containment", "--worksheet", "june", *TO_FILE).code == 0
    assert json.loads(Path("judgements.jsonl").read_text())["score"] == 1


def test_columns_that_were_not_read_are_named_where_nothing_is_scored(tmp_path, monkeypatch, says):
    monkeypatch.chdir(tmp_path)
    for column in ("Was stimmt denn", "so_ist_es"):
        Path("a.csv").write_text(f"question,answer,{column}\nWho?,Ann,Ann\n")
        given = ["judge", "a.csv", "--judge", "containment", "--force"]
        monkeypatch.setattr("sys.argv", ["ragstone", *given])
        ran = ragstone(*given)
        says(ran.err)
        if column == "so_ist_es":
            assert ran.err.endswith("--column reference=NAME --force.\n")
        else:
            judged, n_runs = judge_as_told(monkeypatch, ran)
            assert (judged.code, n_runs) == (0, 1)


def judge_as_told(monkeypatch, ran):
    """Run the command that a message prints, and what that prints."""
    return judged(monkeypatch, *shlex.split(ran.err.rpartition("Run:\n")[2].splitlines()[0])[2:])


def test_a_text_with_a_question_a_line_is_read_where_questions_are_wanted(tmp_path, monkeypatch, says):
    monkeypatch.chdir(tmp_path)
    Path("q.txt").write_bytes(b"\xef\xbb\xbfHow high?\r\n\r\nWho wrote Emma?\r\n")
    Path("d.jsonl").write_text('{"id": "d", "text": "Jane Austen wrote Emma."}\n')
    given = ("--questions", "q.txt", "--documents", "d.jsonl")
    assert ragstone("answer", *given, "--system", "extractive", "-o", "a.jsonl").code == 0
    asked = [json.loads(line)["question"] for line in Path("a.jsonl").read_text().splitlines()]
    assert asked == ["How high?", "Who wrote Emma?"]
    assert ragstone("retrieve", *given).code == 0
    refused = ragstone("judge", "q.txt", "--judge", "containment")
    assert refused.code == 2
    says(refused.err)
