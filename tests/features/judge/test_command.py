import json

import pytest
from tests.support.command import TO_FILE, ragstone
from tests.support.golden import sentence_in
from tests.support.scripts import always, hang, html, say

from ragstone.kernel.records import Judgement
from ragstone.kernel.tables import read_rows

SHEET = ("judge", "answers.jsonl", *TO_FILE)
RELEVANCE = (*SHEET, "--judge", "relevance")
MODEL = ("--model", "openai/fake")


def test_a_baseline_judges_a_sheet_without_model_and_without_ledger(project):
    ran = ragstone(*SHEET, "--judge", "containment")
    assert ran.code == 0
    rows = list(read_rows(project / "judgements.jsonl", Judgement))
    assert [row.score for row in rows] == [0.0, 1.0, 0.0, 1.0, 0.0, 1.0]
    assert "containment" in ran.out
    assert "0.50" in ran.out
    assert "6 of 6" in ran.out
    assert not (project / ".ragstone").exists()


def test_answers_that_failed_are_told_once_for_all_judges(project, says):
    (project / "failed.jsonl").write_text(
        '{"id": "q", "answer": "", "reference": "r", "error": "HTTP 500"}\n'
    )
    ran = ragstone("judge", "failed.jsonl", "--judge", "containment", "--judge", "chrf", *TO_FILE)
    said = " ".join(ran.out.split())
    assert said.count("leave nothing to") == 1
    says(sentence_in(ran.out, "answers failed"))
    assert "judgements failed" not in said


def test_all_answers_by_the_first_judge_come_before_those_by_the_next(project):
    ragstone(*SHEET, "--judge", "containment", "--judge", "relevance", *MODEL)
    rows = list(read_rows(project / "judgements.jsonl", Judgement))
    assert [(row.judge, row.question_id) for row in rows] == [
        (judge, f"q{n}") for judge in ("containment", "relevance") for n in range(6)
    ]


def test_json_is_the_only_thing_on_standard_output(project):
    ran = ragstone(*SHEET, "--judge", "correctness", *MODEL, "--json")
    summary = json.loads(ran.out)
    assert summary["calls"]["made"] == 6
    assert summary["metrics"][0]["statuses"] == {"scored": 6}


def test_offline_answers_from_the_ledger_and_names_the_call_that_it_lacks(project, fake_openai, says):
    command = (*RELEVANCE, *MODEL, "--force")
    ragstone(*command, "--limit", 2)
    fake_openai.forget()
    ran = ragstone(*command, "--offline", "--limit", 3)
    assert fake_openai.n_requests == 0
    assert "2 of 3" in ran.out
    says(list(read_rows("judgements.jsonl", Judgement))[2].error.partition(": ")[0])


def test_questions_and_references_may_stand_in_another_file(project):
    (project / "bare.jsonl").write_text('{"id": "a", "answer": "It is Rome"}\n')
    (project / "questions.jsonl").write_text('{"id": "a", "question": "Capital?", "answer": "Rome"}\n')
    ran = ragstone(
        "judge", "bare.jsonl", "--questions", "questions.jsonl", "--judge", "containment", *TO_FILE
    )
    assert "1.00" in ran.out


def test_a_judge_of_ones_own_is_a_file(project):
    (project / "tone.toml").write_text(
        'name = "tone"\nversion = 1\nkind = "boolean"\ninputs = ["answer"]\nscale = [0, 1]\nsource = "ours"\n'
        'prompt = "Is {answer} polite?"\n'
    )
    ran = ragstone(*SHEET, "--judge", "tone.toml", *MODEL)
    assert ran.code == 0
    assert "tone" in ran.out


def test_strict_ends_with_exit_code_5_where_rows_have_no_score(project, fake_openai, says):
    command = (*RELEVANCE, *MODEL)
    assert ragstone(*command, "--limit", 2).code == 0
    fake_openai.script = always(say("I would rather not say."))
    assert ragstone(*command).code == 0
    assert ragstone(*command, "--strict").code == 5
    rows = list(read_rows(project / "judgements.jsonl", Judgement))
    assert {(row.status, row.score) for row in rows[2:]} == {("unparsable", None)}
    says(rows[2].metadata["raw"])


@pytest.mark.parametrize(
    "reply", ['{"nonce": "x", "reason": "cut o', '{"reason": "r", "score": 250}', "prose"]
)
def test_a_reply_that_cannot_be_used_is_unparsable_and_never_a_score(project, fake_openai, reply):
    fake_openai.script = always(say(reply))
    ragstone(*SHEET, "--judge", "correctness", *MODEL, "--limit", 1)
    [row] = read_rows(project / "judgements.jsonl", Judgement)
    assert (row.status, row.score) == ("unparsable", None)
    assert fake_openai.n_requests == 2  # asked once more


@pytest.mark.long
def test_an_endpoint_that_is_slow_costs_a_timeout_and_not_the_run(project, fake_openai):
    (project / "ragstone.toml").write_text(fake_openai.toml() + "timeout_s = 0.5\n")
    slow_one = "What is 3?"
    fit = fake_openai.script
    fake_openai.script = lambda body: hang() if slow_one in str(body) else fit(body)
    ragstone(*RELEVANCE, *MODEL)
    rows = list(read_rows(project / "judgements.jsonl", Judgement))
    assert [row.status for row in rows] == ["scored"] * 3 + ["timeout"] + ["scored"] * 2


WRONG = {
    "a folder": (("judge", "."), "It is a folder"),
    "empty file": (("judge", "empty.jsonl"), "empty.jsonl: the file is empty"),
    "no JSON": (("judge", "broken.jsonl"), "broken.jsonl:2: not valid JSON"),
    "duplicate ids": (("judge", "twice.jsonl"), "twice.jsonl:2: a second row with question_id 'a'"),
    "format": (("judge", "answers.xyz"), "answers.xyz: no such file"),
    "no model": (RELEVANCE, "Name one with --model"),
    "no such gguf": ((*RELEVANCE, "--model", "llamacpp/smollm"), "llamacpp/smollm: no such file"),
    "budget": ((*RELEVANCE, "--budget", "lots"), "give a number with a unit"),
    "output format": (
        ("judge", "answers.jsonl", "--judge", "containment", "-o", "out.doc"),
        "Use one of: .jsonl",
    ),
    "output exists": (("judge", "answers.jsonl", "--judge", "containment", "-o", "labels.jsonl"), "--force"),
    "settings": (
        ("judge", "answers.jsonl", "--config", "wrong.toml", *TO_FILE),
        "wrong.toml:2: unknown key 'modle'",
    ),
    "no settings": (("judge", "answers.jsonl", "--config", "none.toml", *TO_FILE), "none.toml: no such file"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_use_is_met_with_what_to_do_and_exit_code_2(project, case):
    (project / "empty.jsonl").touch()
    (project / "broken.jsonl").write_text('{"id": "a", "answer": "x"}\n{"id": "b", \n')
    (project / "twice.jsonl").write_text('{"id": "a", "answer": "x"}\n{"id": "a", "answer": "y"}\n')
    (project / "wrong.toml").write_text('[judge]\nmodle = "x"\n')
    before = (project / "labels.jsonl").read_bytes()
    arguments, says = WRONG[case]
    ran = ragstone(*arguments)
    assert ran.code == 2
    assert says in ran.err
    assert "Traceback" not in ran.err
    assert (project / "labels.jsonl").read_bytes() == before


def test_an_endpoint_that_answers_with_pages_stops_the_command(project, fake_openai, says):
    fake_openai.script = always(html())
    ran = ragstone(*RELEVANCE, *MODEL)
    assert ran.code == 2
    says(ran.err.splitlines()[-1])
    assert not (project / "judgements.jsonl").exists()


def test_an_endpoint_that_is_down_stops_the_command(folder, says):
    (folder / "ragstone.toml").write_text('[models."openai/fake"]\nbase_url = "http://127.0.0.1:9/v1"\n')
    (folder / "a.jsonl").write_text('{"id": "a", "question": "x", "answer": "y"}\n')
    ran = ragstone("judge", "a.jsonl", "--judge", "relevance", *MODEL, *TO_FILE)
    assert ran.code == 2
    says(ran.err)


def test_judges_are_asked_in_one_call_when_told_so(project, fake_openai):
    judges = ("--judge", "correctness", "--judge", "faithfulness", "--judge", "relevance")
    ran = ragstone(*SHEET, *judges, *MODEL, "--one-call", "--limit", 2)
    rows = list(read_rows("judgements.jsonl", Judgement))
    assert ran.code == 0
    assert [(row.judge, row.metric) for row in rows[:4]] == [
        ("correctness@together", "correctness"),
        ("relevance@together", "relevance"),
    ] * 2
    assert {row.judge for row in rows[4:]} == {"faithfulness"}
    assert [row.usage.calls if row.usage else None for row in rows[:4]] == [1, None, 1, None]
    together = sum("correctness" in body and "relevance" in body for body in map(str, fake_openai.bodies))
    assert together == 2


def test_a_single_judge_is_asked_as_ever_whatever_one_call_says(project):
    ragstone(*RELEVANCE, *MODEL, "--one-call")
    assert {row.judge for row in read_rows("judgements.jsonl", Judgement)} == {"relevance"}


def test_one_call_may_stand_in_the_settings(project):
    with (project / "ragstone.toml").open("a", encoding="utf-8") as file:
        file.write(
            '\n[judge]\njudges = ["correctness", "relevance"]\nmodel = "openai/fake"\none_call = true\n'
        )
    ragstone(*SHEET, "--limit", 1)
    assert [row.judge for row in read_rows("judgements.jsonl", Judgement)] == [
        "correctness@together",
        "relevance@together",
    ]


def sheet_of_two(project):
    rows = [json.loads(line) for line in (project / "answers.jsonl").read_text("utf-8").splitlines()]
    sheet = [row | {"system": system} for system in ("a", "b") for row in rows]
    sheet = [row | {"answer": row["answer"] + " And more."} if row["system"] == "b" else row for row in sheet]
    (project / "two.jsonl").write_text("".join(json.dumps(row) + "\n" for row in sheet), "utf-8")


def test_two_systems_are_compared_pair_by_pair(project):
    sheet_of_two(project)
    ran = ragstone("judge", "two.jsonl", "--judge", "pairwise", *MODEL, *TO_FILE)
    rows = list(read_rows("judgements.jsonl", Judgement))
    assert ran.code == 0
    assert [(row.question_id, row.system) for row in rows] == [(f"q{n}", "a vs b") for n in range(6)]
    assert all(row.usage.calls == 2 for row in rows)


def test_a_sheet_of_one_system_has_nothing_to_compare(project, says):
    ran = ragstone(*SHEET, "--judge", "pairwise", *MODEL)
    assert ran.code == 2
    says(ran.err)
    assert not (project / "judgements.jsonl").exists()


def test_the_forecast_of_pairs_counts_both_orders(project):
    sheet_of_two(project)
    ran = ragstone("judge", "two.jsonl", "--judge", "pairwise", *MODEL, "--forecast", "--json", *TO_FILE)
    assert sum(model["calls"] for model in json.loads(ran.out)["models"]) == 12


def test_the_sheet_is_not_replaced_by_its_judgements(project, says):
    before = (project / "answers.jsonl").read_bytes()
    ran = ragstone("judge", "answers.jsonl", "--judge", "containment", "-o", "answers.jsonl", "--force")
    assert ran.code == 2
    says(ran.err)
    assert (project / "answers.jsonl").read_bytes() == before


def test_two_different_judges_of_one_name_are_not_one(project, says):
    ragstone("judges", "new", "containment.toml")
    ran = ragstone(*SHEET, "--judge", "containment", "--judge", "containment.toml")
    assert ran.code == 2
    says(ran.err)
    twice = ragstone(*SHEET, "--judge", "containment", "--judge", "containment")
    assert twice.code == 0
