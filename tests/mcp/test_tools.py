"""Twenty tasks that people give a coding agent, each solved through the tools alone; and wrong calls."""

import json

import pytest
from tests.support.judged_runs import answers, judged, questions, write_run
from tests.support.scripts import fail, in_turn

from ragstone.features.bench.finished import kind_of_bench
from ragstone.kernel.config import load_settings
from ragstone.kernel.errors import ConfigError, DataError
from ragstone.kernel.records import Judgement, Label
from ragstone.kernel.serve.runs import Runs
from ragstone.kernel.tables import write_rows
from ragstone.mcp.project import AgentProject
from ragstone.mcp.tools import Tools


def data(reply: str) -> str:
    """Return what is between the lines of a reply's fence."""
    return reply.split("\n----- ")[1].partition("\n")[2]


def whole(tool, *arguments, **named) -> str:
    """Return the data of all pages of a reply."""
    pages, page = [], 1
    while True:
        reply = tool(*arguments, **named, page=page)
        pages.append(data(reply))
        if f"Continue with page={page + 1}" not in reply:
            return "\n".join(pages)
        page += 1


def rows(tool, *arguments, **named):
    return [json.loads(line) for line in whole(tool, *arguments, **named).splitlines()]


def test_which_runs_are_there(tools, says):
    names = [line.split(":")[0] for line in data(tools.list_runs()).splitlines()]
    assert sorted(names) == ["- after", "- before", "- starter"]
    says(data(tools.list_runs("aft")))


def test_which_files_can_be_judged(tools):
    listed = data(tools.list_files())
    assert "- after.jsonl (" in listed
    assert "people.jsonl" in listed
    assert "linked.jsonl" not in listed


def test_how_good_is_the_last_run(tools):
    assert "Is it right?" in whole(tools.read_report, "starter")


def test_why_is_there_no_card(tools):
    with pytest.raises(DataError, match="propose_labels"):
        tools.read_card("after")


def test_a_card_is_missing_for_one_of_two_reasons(tools, says):
    for judge in ("containment", "containmnt"):
        with pytest.raises(DataError) as mistake:
            tools.read_card("after", judge)
        says(mistake.value)


def test_a_run_whose_numbers_cannot_be_read_is_told_from_one_without(tmp_path):
    (tmp_path / "ragstone.toml").write_text("")
    for name, text in (("damaged", "{"), ("older", '{"counts": {}, "metrics": []}')):
        (tmp_path / "runs" / name).mkdir(parents=True)
        (tmp_path / "runs" / name / "summary.json").write_text(text)
    for name, file in (
        ("begun", "answers.jsonl.partial"),
        ("coverage", "summary.json"),
        ("notes", "todo.md"),
    ):
        (tmp_path / "runs" / name).mkdir(parents=True)
        (tmp_path / "runs" / name / file).write_text("{}")  # the last two are no runs
    tools = Tools(AgentProject(load_settings(tmp_path / "ragstone.toml")))
    listed = dict(line.split(": ", 1) for line in data(tools.list_runs()).splitlines())
    assert listed.keys() == {"- damaged", "- older", "- begun"}
    assert listed["- begun"] == "no numbers yet"
    assert all(listed[name].startswith("its numbers cannot be read (") for name in ("- damaged", "- older"))


def test_two_systems_of_one_run_are_compared(tmp_path, says):
    (tmp_path / "ragstone.toml").write_text("")
    sides = [judged([1.0] * 9 + [0.0], system="a"), judged([0.0] * 9 + [1.0], system="b")]
    write_run(tmp_path / "runs" / "mine", [row for rows_ in sides for row in rows_])
    tools = Tools(AgentProject(load_settings(tmp_path / "ragstone.toml")))
    with pytest.raises(DataError) as mistake:
        tools.compare_runs("mine", "mine")
    says(str(mistake.value).partition("A and B")[2])
    assert "**worse**" in tools.compare_runs("mine", "mine", system_a="a", system_b="b")


def test_is_this_judge_fit(tools):
    card = whole(tools.measure_judge, "after", "people.jsonl")
    assert "containment" in card
    assert "kappa" in card


def test_is_that_judge_fit_by_files_alone(tools, folder):
    judgements = (folder / "runs" / "after" / "judgements.jsonl").read_bytes()
    (folder / "given.jsonl").write_bytes(judgements)
    assert "kappa" in whole(tools.measure_judge, "given.jsonl", "people.jsonl")
    (folder / "given.jsonl").unlink()


def test_what_is_measured_is_a_run_or_a_file(tools, says):
    assert "kappa" in whole(tools.measure_judge, "runs/after/", "people.jsonl")
    with pytest.raises(DataError) as mistake:
        tools.measure_judge("aftr", "people.jsonl")
    says(mistake.value)


def test_which_answers_are_wrong(tools):
    found = rows(tools.find_rows, "after", where="containment < 0.5")
    assert [row["question_id"] for row in found] == ["q3", *(f"q{at}" for at in range(30, 40))]
    assert set(found[0]) == {"question_id", "system", "question", "answer", "containment", "token_f1"}


def test_which_columns_can_be_asked_for(tools):
    with pytest.raises(DataError, match="containment_rationale"):
        tools.find_rows("after", columns=["reasons"])
    (row,) = rows(tools.find_rows, "after", where='question_id = "q1"', columns=["reference"])
    assert row == {"reference": "number 1"}


def test_why_has_this_answer_no_point(tools):
    (row,) = json.loads(whole(tools.read_row, "after", "q35"))
    assert (row["answer"], row["reference"], row["containment"]) == ("number 36", "number 35", 0.0)


def test_which_answers_do_the_systems_disagree_on(tools):
    with pytest.raises(DataError, match="flips"):
        tools.find_rows("after", where="flips")


def test_is_the_new_run_better(tools):
    reply = tools.compare_runs("before", "after")
    assert "The gate: passed." in reply
    assert "**better**" in reply


def test_why_did_the_gate_fail(tools):
    reply = tools.compare_runs("after", "before", metric="containment")
    assert "The gate: failed." in reply
    assert "**Gate: failed: worse" in data(reply)


def test_would_a_wider_margin_pass(tools):
    assert "The gate: passed." in tools.compare_runs("after", "before", margin=0.9)


def test_which_ten_answers_should_a_person_label(tools):
    chosen = rows(tools.propose_labels, "after")
    assert len({row["question_id"] for row in chosen}) == 10
    assert {row["metric"] for row in chosen} == {"correctness"}


def test_which_five_more(tools):
    chosen = rows(tools.propose_labels, "after", n=5, labels="people.jsonl")
    assert len(chosen) == 5
    assert all(int(row["question_id"][1:]) < 20 for row in chosen)


def test_which_judge_measures_refusals(tools):
    assert "no_refusal" in data(tools.list_judges("refus"))


def test_a_search_that_finds_nothing_says_so_and_lists_what_there_is(tools, says):
    for listing in (tools.list_judges, tools.list_runs):
        found = listing("größe")
        says(found.partition(" Everything between")[0])
        assert data(found) == data(listing())


def test_what_would_a_run_cost(tools):
    assert "nothing to ask" in tools.forecast()


@pytest.mark.long
def test_what_does_this_message_mean(tools, says):
    reply = tools.explain("ragstone: port 8080 of 127.0.0.1 is taken by another server. Stop it.")
    assert "port-in-use" in data(reply)
    assert "--port 0" in data(reply)
    assert "cannot-tell (gate)" in data(tools.explain("cannot tell"))
    with pytest.raises(DataError) as error:
        tools.explain("over_bugdet")
    says(error.value)


@pytest.mark.long
def test_an_explanation_of_a_long_text_is_short(tools):
    with pytest.raises(DataError) as mistake:
        tools.explain("wheat and maize " * 20_000)
    assert len(str(mistake.value)) < 300
    assert len(tools.explain("labels match nothing").encode()) < 20_000


def test_set_up_an_evaluation_of_this_endpoint(tools, folder):
    text = data(tools.draft_evaluation("http://localhost:8000/ask", contexts="$.sources[*]"))
    (folder / "drafted.toml").write_text(text.rpartition("\n")[0])
    settings = load_settings(folder / "drafted.toml")
    assert settings.systems["application"].contexts == "$.sources[*]"
    (folder / "drafted.toml").unlink()


@pytest.mark.parametrize(
    "wrong",
    [{"url": "not an address"}, {"answer": "$.["}, {"contexts": "$["}, {"judges": []}, {"judges": ["nope"]}],
    ids=str,
)
def test_what_run_would_not_take_is_not_drafted(tools, wrong, says):
    with pytest.raises((ConfigError, DataError)) as mistake:
        tools.draft_evaluation(**{"url": "http://localhost:8000/ask"} | wrong)
    says(str(mistake.value).partition(" Known: ")[0])


def test_what_ragstone_wrote_is_not_said_to_come_from_files(tools):
    for own in (tools.explain("cannot tell"), tools.draft_evaluation("http://localhost:8000/ask")):
        assert "files" not in own.partition("\n")[0]
    assert "files" in tools.list_runs().partition("\n")[0]


def test_judge_this_sheet_without_a_model(folder, says):
    tools = Tools(AgentProject(load_settings(folder / "ragstone.toml")), budget_usd=0.0)
    reply = tools.judge("before.jsonl", ["rouge_l"])
    says(reply.partition(" read_report")[0])
    assert "- rouge_l" in data(reply)


def test_what_has_no_score_is_counted_and_its_row_says_why(tmp_path, says):
    (tmp_path / "ragstone.toml").write_text("")
    sheet = [
        {"id": "a", "question": "q?", "answer": "x", "reference": "x"},
        {"id": "b", "question": "r?", "answer": "y"},
    ]
    (tmp_path / "sheet.jsonl").write_text("\n".join(map(json.dumps, sheet)))
    tools = Tools(AgentProject(load_settings(tmp_path / "ragstone.toml")), budget_usd=0.0)
    told = data(tools.judge("sheet.jsonl", ["containment"]))
    says(told)
    found = rows(tools.find_rows, "sheet")
    assert [row.get("containment") for row in found] == [1.0, None]
    assert [row.get("containment_status") for row in found] == [None, "not_applicable"]


@pytest.mark.long
def test_calls_whose_cost_is_not_known_use_up_the_budget(tmp_path, fake_openai, says):
    price = "price_usd_per_million = { input = 1.0, output = 1.0 }"
    model = f'{fake_openai.toml()}{price}\n[judge]\nmodel = "openai/fake"\n'
    (tmp_path / "ragstone.toml").write_text(model)
    sheet = [{"id": f"q{at}", "question": "q?", "answer": f"x{at}", "reference": "x"} for at in range(60)]
    (tmp_path / "sheet.jsonl").write_text("\n".join(map(json.dumps, sheet)))
    tools = Tools(AgentProject(load_settings(tmp_path / "ragstone.toml")), budget_usd=1.0)
    with pytest.raises(DataError, match="limit = -1"):  # refused before anybody is asked: nothing is spent
        tools.judge("sheet.jsonl", ["correctness"], limit=-1)
    fake_openai.script = in_turn(*["{}"] * 4, fail(401, "no such key"))
    with pytest.raises(DataError) as mistake:
        tools.judge("sheet.jsonl", ["correctness"])
    says(mistake.value)
    n_asked = fake_openai.n_requests
    with pytest.raises(ConfigError, match="is spent"):
        tools.judge("sheet.jsonl", ["correctness"])
    assert fake_openai.n_requests == n_asked


@pytest.mark.long
def test_a_model_without_a_price_is_no_matter_of_another_unit(tmp_path, fake_openai):
    (tmp_path / "ragstone.toml").write_text(fake_openai.toml() + '[judge]\nmodel = "openai/fake"\n')
    (tmp_path / "sheet.jsonl").write_text('{"question": "q?", "answer": "x", "reference": "x"}\n')
    tools = Tools(AgentProject(load_settings(tmp_path / "ragstone.toml")), budget_usd=1.0)
    for _ in range(2):  # and nothing is spent by it
        with pytest.raises(DataError) as mistake:
            tools.judge("sheet.jsonl", ["correctness"])
        assert "price_usd_per_million" in str(mistake.value)
        assert "calls or tokens" not in str(mistake.value)
        assert "Forecast" not in str(mistake.value)


def test_a_run_with_a_file_that_leads_elsewhere_is_no_run(tmp_path):
    root = tmp_path / "project"
    root.mkdir()
    (root / "ragstone.toml").write_text("")
    elsewhere = write_run(tmp_path / "secret", judged([1.0]), said=answers(["secret"]), asked=questions(1))
    write_run(root / "runs" / "mine", judged([1.0]), said=answers(["a"]))
    (root / "runs" / "mine" / "questions.jsonl").symlink_to(elsewhere / "questions.jsonl")
    write_run(root / "runs" / "inside", judged([1.0]), said=answers(["a"]))
    (root / "runs" / "inside" / "questions.jsonl").symlink_to(root / "runs" / "inside" / "answers.jsonl")
    project = AgentProject(load_settings(root / "ragstone.toml"))
    assert [run.name for run in project.runs()] == ["inside"]


def test_runs_of_one_name_are_told_apart_by_their_folders_whatever_is_added(tmp_path):
    (tmp_path / "ragstone.toml").write_text('[workbench]\nruns = ["runs", "more"]\n')
    for parent in ("runs", "more"):
        write_run(tmp_path / parent / "mine", judged([1.0]))
    project = AgentProject(load_settings(tmp_path / "ragstone.toml"))
    assert project.run("mine#2") == tmp_path / "more" / "mine"
    write_run(tmp_path / "runs" / "newest", judged([1.0]))
    write_run(tmp_path / "runs" / "mine", judged([0.0]))
    assert project.run("mine#2") == tmp_path / "more" / "mine"


def test_cards_of_several_judges_begin_with_their_names(tmp_path):
    (tmp_path / "ragstone.toml").write_text("")
    rows_ = [*judged([1, 0] * 10), *judged([0, 1] * 10, "match")]
    labels = [
        Label(question_id=f"q{at}", system="mine", metric="correctness", score=(at + 1) % 2)
        for at in range(20)
    ]
    write_rows(tmp_path / "judgements.jsonl", rows_, Judgement)
    write_rows(tmp_path / "labels.jsonl", labels, Label)
    tools = Tools(AgentProject(load_settings(tmp_path / "ragstone.toml")))
    table = data(tools.measure_judge("judgements.jsonl", "labels.jsonl")).split("| --- |\n")[1]
    assert [line.split(":")[0] for line in table.splitlines()[:2]] == ["| containment", "| match"]


def test_a_judge_that_asks_a_model_needs_a_budget_that_is_left(tools, folder, says):
    with pytest.raises(ConfigError) as mistake:
        tools.judge("before.jsonl", ["correctness"])
    says(str(mistake.value))
    nothing = Tools(AgentProject(load_settings(folder / "ragstone.toml")), budget_usd=0.0)
    with pytest.raises(ConfigError) as mistake:
        nothing.judge("before.jsonl", ["correctness"])
    says(str(mistake.value))


@pytest.mark.parametrize(
    "name", ["../elsewhere", "/etc", "runs/../../elsewhere", "outside", ".", "", "before\0", "x" * 100_000]
)
def test_a_name_that_leads_elsewhere_is_no_run(tools, name):
    with pytest.raises(DataError, match="no run"):
        tools.read_report(name)


@pytest.mark.parametrize(
    "name",
    ["../elsewhere/labels.jsonl", "/etc/passwd", "linked.jsonl", "runs/before/answers.jsonl", "", "\0"],
)
def test_a_name_that_leads_elsewhere_is_no_file(tools, name, says):
    with pytest.raises(DataError) as mistake:
        tools.measure_judge("after", name)
    says(mistake.value)


@pytest.mark.parametrize(
    "name", ["code.py:steal", "/etc/judge.toml", "../judge.toml", "--config", "-o", ".hidden"]
)
def test_a_judge_is_a_name_and_neither_file_nor_code(folder, name, says):
    tools = Tools(AgentProject(load_settings(folder / "ragstone.toml")), budget_usd=1.0)
    with pytest.raises(DataError) as mistake:
        tools.judge("before.jsonl", [name])
    says(str(mistake.value).partition(" Known: ")[0])


def test_a_run_that_changes_is_read_again(tools, folder):
    before = rows(tools.find_rows, "before")
    path = folder / "runs" / "before" / "answers.jsonl"
    content = path.read_text()
    path.write_text(content.replace("number 1", "number 1, I think"))
    assert rows(tools.find_rows, "before") != before
    path.write_text(content)


def test_an_agent_and_the_workbench_know_the_same_folders_as_runs(tmp_path):
    files = {
        "declared": ("manifest.json", '{"judges": {}}'),
        "going": ("progress.json", "{"),
        "rows": ("answers.jsonl", ""),
        "texts": ("documents.jsonl", ""),  # not a run
        "another tool's": ("summary.json", '{"of": "cars"}'),
    }
    for name, (file, text) in files.items():
        (tmp_path / "runs" / name).mkdir(parents=True)
        (tmp_path / "runs" / name / file).write_text(text)
    (tmp_path / "ragstone.toml").write_text("")
    project = AgentProject(load_settings(tmp_path / "ragstone.toml"))
    listed = Runs([tmp_path / "runs"], kind_of_bench, lambda: 0.0).all()
    named = {run.name for run in project.runs()}
    assert named == {entry.name for entry in listed} == {"declared", "going", "rows"}
