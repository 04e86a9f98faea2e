"""Repeated answers: `[answer] repeats`, `answer --repeats`, `answer(repeats=)`, and runs of them."""

import asyncio
import itertools
import json

import pytest
from tests.support.command import ragstone
from tests.support.fake_retriever import serving
from tests.support.scripts import in_turn

import ragstone as rs
from ragstone.kernel.errors import ConfigError
from ragstone.kernel.records import Answer, Document, Question
from ragstone.kernel.runs.joining import columns_of
from ragstone.kernel.runs.summary import read_summary
from ragstone.kernel.tables import read_rows, write_rows

UNKNOWN = "I do not know."


@pytest.fixture
def app():
    """An application behind HTTP that answers the first time it is asked, and then every other time."""
    asked = itertools.count()
    with serving() as server:
        server.script = lambda given: {"answer": given.body["question"] if next(asked) % 2 == 0 else UNKNOWN}
        yield server


@pytest.fixture
def project(folder, app):
    """A folder with three questions and an application that is called one question at a time."""
    questions = [Question(id=f"q{n}", question=f"number {n}", reference=f"number {n}") for n in range(3)]
    write_rows(folder / "questions.jsonl", questions, Question)
    (folder / "ragstone.toml").write_text(
        f"""
[questions]
path = "questions.jsonl"
[answer]
system = "mine"
[judge]
judges = ["containment"]
[systems]
mine = {{ kind = "http", url = "{app.url}", max_concurrency = 1 }}
"""
    )
    return folder


def rows(path="answers.jsonl"):
    return [(row.question_id, row.system, row.answer) for row in read_rows(path, Answer)]


def test_each_question_is_answered_so_often_and_every_answer_is_a_row(project, app, says):
    ran = ragstone("answer", "--repeats", "3")
    assert ran.code == 0
    assert [row[:2] for row in rows()] == [
        (f"q{n}", name) for n in range(3) for name in ("mine", "mine@repeat=2", "mine@repeat=3")
    ]
    assert len(app.asked) == 9
    assert {row[2] for row in rows()} == {"number 0", "number 1", "number 2", UNKNOWN}
    says(ran.err.splitlines()[0])


def test_more_repeats_later_ask_only_for_what_is_missing_and_fewer_lose_nothing(project, app, says):
    assert ragstone("answer").code == 0
    once = (project / "answers.jsonl").read_bytes().splitlines()
    more = ragstone("answer", "--repeats", "3")
    assert (more.code, len(app.asked)) == (0, 9)
    thrice = (project / "answers.jsonl").read_bytes()
    assert thrice.splitlines()[::3] == once  # the first answers are those that were paid for before
    again = ragstone("answer", "--repeats", "3")
    assert (again.code, len(app.asked)) == (0, 9)
    assert (project / "answers.jsonl").read_bytes() == thrice
    fewer = ragstone("answer", "--repeats", "2")
    assert (fewer.code, len(app.asked)) == (2, 9)
    assert (project / "answers.jsonl").read_bytes() == thrice
    says(fewer.err.splitlines()[-1])


def test_the_settings_say_it_too_and_the_option_goes_before(project, app):
    with (project / "ragstone.toml").open() as file:
        text = file.read().replace("[answer]", "[answer]\nrepeats = 2")
    (project / "ragstone.toml").write_text(text)
    assert ragstone("answer").code == 0
    assert len(rows()) == 6
    assert ragstone("answer", "--repeats", "3").code == 0
    assert len(rows()) == 9


def test_a_killed_run_of_repeats_ends_as_an_undisturbed_one(project, app):
    assert ragstone("answer", "--repeats", "3", "--budget", "4calls").code == 4
    assert len(app.asked) == 4
    assert ragstone("answer", "--repeats", "3").code == 0
    assert len(app.asked) == 9
    assert not any(row.error for row in read_rows("answers.jsonl", Answer))


def test_the_forecast_counts_repeats(project, app):
    ran = ragstone("answer", "--repeats", "1000", "--forecast")
    assert "about 3,000 calls" in ran.err + ran.out
    assert len(app.asked) == 0


@pytest.mark.parametrize("wrong", ["0", "-1", "x", "1.5"])
def test_what_is_no_number_of_repeats_is_wrong_use(project, app, wrong):
    ran = ragstone("answer", "--repeats", wrong)
    assert ran.code == 2
    assert "--repeats" in ran.err
    assert len(app.asked) == 0


def test_repeats_of_what_says_the_same_each_time_are_refused(project, says):
    write_rows(project / "docs.jsonl", [Document(id="d", text="number 0 is a number.")], Document)
    for options in (
        ("--system", "extractive", "--documents", "docs.jsonl", "--repeats", "2"),
        ("--users", "personas.toml", "--repeats", "2"),
    ):
        (project / "personas.toml").write_text('[[personas]]\nname = "p"\ngoal = "g"\nscript = ["hello"]\n')
        ran = ragstone("answer", *options)
        assert ran.code == 2
        says(ran.err)
    settings = (project / "ragstone.toml").read_text()
    sheet = '[answer]\nrepeats = 3\nsheet = "answers.jsonl"\n[x]\nsystem'
    (project / "ragstone.toml").write_text(
        settings.replace("[answer]\nsystem", sheet).replace('[x]\nsystem = "mine"\n', "")
    )
    ran = ragstone("run")
    assert ran.code == 2
    says(ran.err)


async def test_python_functions_are_called_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    asked = []

    def app(question):
        asked.append(question)
        return f"answer {len(asked)}"

    found = await asyncio.to_thread(rs.answer, ["one?", "two?"], system=app, repeats=2)
    assert [split.system.rpartition("@")[2] for split in found] == [found[0].system, "repeat=2"] * 2
    assert len({row.answer for row in found}) == len(asked) == 4
    for wrong in (0, -1, True, "2"):
        with pytest.raises(ConfigError, match="repeats"):
            rs.answer(["one?"], system=app, repeats=wrong)


def test_a_function_that_takes_the_row_is_given_the_same_row_each_time(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    seen = []

    def app(question: Question) -> str:
        seen.append(question)
        return "yes"

    rs.answer([Question(id="q", question="?", metadata={"thread": "mine"})], system=app, repeats=3)
    assert seen[0] == seen[1] == seen[2]


@pytest.mark.long
def test_the_built_in_application_draws_anew_at_a_temperature(project, fake_openai, says):
    write_rows(project / "docs.jsonl", [Document(id="d", text="number 0 is a number.")], Document)
    fake_openai.script = in_turn("always the same")
    with (project / "ragstone.toml").open("a") as file:
        file.write(fake_openai.toml())
    asked = ("answer", "--system", "bare", "--documents", "docs.jsonl", "--model", "openai/fake")
    cold = ragstone(*asked, "--repeats", "2", "-o", "cold.jsonl")
    assert (cold.code, fake_openai.n_requests) == (0, 6)
    told = [line for line in cold.err.splitlines() if "word for word" in line or "temperature" in line]
    says("\n".join(told))  # before it is paid for, and after
    text = (project / "ragstone.toml").read_text().replace("[answer]", "[answer]\ntemperature = 0.8")
    (project / "ragstone.toml").write_text(text)
    warm = ragstone(*asked, "--repeats", "2", "-o", "warm.jsonl")
    assert "temperature 0" not in warm.err
    assert fake_openai.bodies[-1]["temperature"] == 0.8


def test_a_run_has_one_mean_a_system_and_its_page_all_answers(project, app, says):
    text = (project / "ragstone.toml").read_text().replace("[answer]", "[answer]\nrepeats = 3")
    (project / "ragstone.toml").write_text(text)
    ran = ragstone("run", "--json")
    assert ran.code == 0
    summary = json.loads(ran.out)
    [metric] = summary["metrics"]
    assert (metric["system"], metric["n_rows"], metric["estimate"]["n"]) == ("mine", 9, 3)
    assert summary["counts"]["answers"] == 9
    assert len(summary["distributions"]) == 1
    assert summary["systems"] is None  # repeats are no rivals
    says("\n".join(note for note in summary["notes"] if "answers to" in note))
    columns = [column.system for column in columns_of(read_summary(project / "runs" / "run"))]
    assert columns == ["mine", "mine@repeat=2", "mine@repeat=3"]
    page = (project / "runs" / "run" / "report.html").read_text()
    assert "pass@k" in page
    assert "mine@repeat=3" in page


def test_runs_that_differ_in_repeats_are_compared_and_the_setting_decides_nothing(project, app):
    (project / "one.toml").write_text((project / "ragstone.toml").read_text() + '[run]\nname = "one"\n')
    text = (project / "ragstone.toml").read_text().replace("[answer]", "[answer]\nrepeats = 3")
    (project / "three.toml").write_text(text + '[run]\nname = "three"\n')
    assert ragstone("run", "one.toml").code == ragstone("run", "three.toml").code == 0
    ran = ragstone("compare", "runs/one", "runs/three", "--json")
    comparison = json.loads(ran.out)
    [setting] = [row for row in comparison["settings"] if "repeats" in row["name"]]
    assert (setting["a"], setting["b"], setting["decides"]) == (None, "3", False)
    assert comparison["metrics"][0]["n"] == 3


def test_a_named_application_keeps_its_name_in_every_repeat(project, fake_openai):
    write_rows(project / "docs.jsonl", [Document(id="d", text="number 0 is a number.")], Document)
    with (project / "ragstone.toml").open("a") as file:
        file.write('chat = { kind = "chat", model = "openai/fake" }\n')
        file.write('rag = { kind = "rag", model = "openai/fake", k = 1 }\n')
        file.write(fake_openai.toml())
    for name in ("chat", "rag"):
        assert (
            ragstone(
                "answer", "--system", name, "--documents", "docs.jsonl", "--repeats", "2", "--force"
            ).code
            == 0
        )
        assert [row[1] for row in rows()][:2] == [name, f"{name}@repeat=2"]
    assert fake_openai.n_requests == 12


def test_blame_looks_at_first_answers_and_says_so(project, app, says):
    rows = [
        Question(id=f"q{n}", question=f"number {n}", reference=f"number {n}", document_ids=["d"])
        for n in range(3)
    ]
    write_rows(project / "questions.jsonl", rows, Question, force=True)
    (project / "found.py").write_text(
        "def reply(question):\n"
        "    return {'answer': 'no', 'contexts': [{'text': 'a number', 'document_id': 'd'}]}\n"
    )
    text = (project / "ragstone.toml").read_text()
    text = text.replace('[answer]\nsystem = "mine"', '[answer]\nrepeats = 3\nsystem = "found:reply"')
    (project / "ragstone.toml").write_text(text)
    assert ragstone("run").code == 0
    [table] = json.loads((project / "runs" / "run" / "summary.json").read_bytes())["blame"]
    assert table["found_wrong"] == 9  # every answer is one that had its document
    ran = ragstone("blame", "runs/run", "--json")
    blamed = json.loads(ran.out)
    assert (blamed["systems"][0]["system"], blamed["systems"][0]["n_lost"]) == ("found:reply", 3)
    says("\n".join(note for note in blamed["notes"] if "first answer" in note))


def test_a_summary_with_and_without_repeats_is_a_row_of_a_frame(project, app):
    for repeats, there in ((1, False), (2, True)):
        answers = rs.answer(["number 0", "number 1"], system=lambda text: text, repeats=repeats)
        metrics = rs.summarise(rs.judge(answers, judges=["no_refusal"]))
        assert (metrics.to_pandas()["repeats"][0] is not None) is there
        assert (metrics.to_polars()["repeats"][0] is not None) is there


def test_questions_for_labels_of_two_runs_are_drawn_of_first_answers(project, app):
    for name, repeats in (("one", 1), ("three", 3)):
        text = (project / "ragstone.toml").read_text().replace("[answer]", f"[answer]\nrepeats = {repeats}")
        (project / f"{name}.toml").write_text(text + f'[run]\nname = "{name}"\n')
        assert ragstone("run", f"{name}.toml").code == 0
    ran = ragstone("label", "runs/one", "runs/three", "--compare", "-n", "2", "-o", "pairs.jsonl")
    assert ran.code == 0
    lines = (project / "pairs.jsonl").read_text().splitlines()
    assert {json.loads(line)["system"] for line in lines} == {"mine"}


def test_all_repeats_go_into_one_batch_each_as_a_call_of_its_own(project, fake_openai):
    write_rows(project / "docs.jsonl", [Document(id="d", text="number 0 is a number.")], Document)
    with (project / "ragstone.toml").open("a") as file:
        file.write(fake_openai.toml() + "batch_poll_s = 0.001\n")
    asked = ("answer", "--system", "bare", "--documents", "docs.jsonl", "--model", "openai/fake")
    assert ragstone(*asked, "--repeats", "3", "--batch").code == 0
    # A model that was never asked is asked one question first, outside of the batch.
    assert sum(len(batch.calls) for batch in fake_openai.batches.made) + fake_openai.n_requests == 9
    assert len(fake_openai.batches.made) == 1
    assert len(rows()) == 9
    assert not any(row.error for row in read_rows("answers.jsonl", Answer))
