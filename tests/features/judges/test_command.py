import json
import re

import msgspec
import pytest
from tests.support.command import ragstone
from tests.support.golden import sentence_in
from tests.support.scripts import always, say

from ragstone.kernel.judging import judge_names, load_judge
from ragstone.kernel.judging.judge import KINDS

POLITE = """\
name = "polite"
version = 1
kind = "boolean"
inputs = ["answer"]
scale = [0, 1]
source = "ours"
prompt = "Is {answer} polite?"

[[examples]]
answer = "Please wait."
expected = true
reason = "It says please."

[[examples]]
answer = "Go away."
expected = false
reason = "It is curt."
"""


def nonce_of(body):
    return re.search(r'The code is "(\w+)"', body["messages"][-1]["content"])[1]


def replies(choose):
    """Return a script that answers by a function of the prompt's text."""
    return lambda body: json.dumps({"nonce": nonce_of(body), **choose(body["messages"][-1]["content"])})


def test_list_names_every_judge_with_what_it_measures(folder, says):
    out = ragstone("judges", "list", "--all").out
    assert [name for name in judge_names() if f"\n{name} " in f"\n{out}"] == judge_names()
    says(ragstone("judges", "list", "contexts", "share").out)
    missing = ragstone("judges", "list", "astrology")
    assert missing.code == 2
    says(missing.err)


def test_list_as_json(folder):
    listed = {row["name"]: row for row in json.loads(ragstone("judges", "list", "--json").out)}
    assert listed["containment"] == {
        "name": "containment",
        "kind": "lexical",
        "metric": "correctness",
        "about": "Whether a reference is in the answer, word for word.",
        "reads": ["reference", "answer"],
        "scale": [0, 1],
        "needs_model": False,
        "group": "Is it right, without a model?",
        "path": None,
        "card": None,
        "n_cards": 0,
        "price": None,
    }
    assert listed["rubric"]["needs_model"] is True


@pytest.mark.parametrize("name", judge_names())
def test_every_judge_can_be_shown(name, folder):
    shown = json.loads(ragstone("judges", "show", name, "--json").out)
    assert bool(shown["prompts"]) == load_judge(name).needs_model
    assert shown["metrics"] == load_judge(name).metrics


def test_show_of_a_cascade_takes_a_row_that_its_first_member_hands_on(folder):
    prompts = json.loads(ragstone("judges", "show", "right_answer", "--json").out)["prompts"]
    assert "Sugar beet." in prompts[0]["messages"][-1]["content"]  # the right answer, containment decides


def test_show_says_with_which_model_a_threshold_was_fitted(folder):
    assert "fitted    with Qwen2.5-Coder-1.5B" in ragstone("judges", "show", "right_answer").out


def test_show_says_so_where_no_example_row_reaches_the_model(folder, says):
    (folder / "never.toml").write_text(
        'name = "never"\nversion = 1\nkind = "cascade"\nmetric = "correctness"\n'
        'inputs = ["question", "reference", "answer"]\nscale = [0, 1]\nsource = "ours"\n'
        '[[members]]\njudge = "token_f1"\ncut = 0.5\nunsure = [0.01, 0.02]\n'
        '[[members]]\njudge = "relevance"\n'
    )
    ran = ragstone("judges", "show", "never.toml")
    assert (ran.code, "--- call" in ran.out) == (0, False)
    says(ran.err)


def test_show_prints_the_prompt_as_the_model_gets_it(folder, says):
    ran = ragstone("judges", "show", "rubric@scale=0-10,shots=1")
    shown = json.loads(ragstone("judges", "show", "rubric@scale=0-10,shots=1", "--json").out)
    [prompt] = shown["prompts"]
    assert [message["role"] for message in prompt["messages"]] == ["system", "user"]
    for message in prompt["messages"]:
        assert message["content"] in ran.out  # not a line of it broken
    says(sentence_in(ran.out, "1 shown of"))
    assert "rubric@scale=0-10,shots=1, version 1" in ran.out
    assert prompt["schema"]["properties"]["correctness_score"] == {
        "type": "integer",
        "enum": list(range(11)),
    }


def test_show_makes_no_call_and_leaves_no_trace(project, fake_openai, says):
    ran = ragstone("judges", "show", "faithfulness")
    says(sentence_in(ran.out, "call 2, user"))
    assert "made-up reply" in ran.err
    assert fake_openai.n_requests == 0
    assert not (project / ".ragstone").exists()


def test_show_takes_a_file_and_tells_what_is_wrong_with_it(folder, says):
    (folder / "polite.toml").write_text(POLITE)
    says(ragstone("judges", "show", "polite.toml").out)
    (folder / "polite.toml").write_text(POLITE.replace("expected = true", "expected = 1"))
    ran = ragstone("judges", "show", "polite.toml")
    assert (ran.code, ran.out) == (2, "")
    says(ran.err)


@pytest.mark.parametrize("kind", KINDS)
def test_new_writes_a_valid_commented_file_of_every_kind(kind, folder):
    ran = ragstone("judges", "new", "mine.toml", "--kind", kind)
    assert ran.code == 0
    judge = load_judge("mine.toml")
    assert (judge.name, judge.kind) == ("mine", kind)
    assert (folder / "mine.toml").read_text().startswith("# ")
    assert json.loads(ragstone("judges", "show", "mine.toml", "--json").out)["judge"]["kind"] == kind


@pytest.mark.parametrize("kind", ["assertion", "boolean", "lexical", "function"])
def test_new_says_a_next_command_that_has_what_it_needs(kind, folder, says):
    says(ragstone("judges", "new", f"{kind}s.toml", "--kind", kind).err)


def test_new_never_replaces_a_file_without_force(folder, says):
    (folder / "mine.toml").write_text("precious")
    ran = ragstone("judges", "new", "mine.toml")
    assert ran.code == 2
    says(ran.err)
    assert (folder / "mine.toml").read_text() == "precious"
    assert ragstone("judges", "new", "mine.toml", "--force").code == 0
    assert load_judge("mine.toml").kind == "boolean"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["mine.txt"], "the name of a judge file ends in .toml"),
        (["My-Judge.toml"], "My-Judge.toml:2"),
        (["mine.toml", "--kind", "rubrik"], "Did you mean 'rubric'"),
    ],
)
def test_new_writes_nothing_where_it_is_told_nonsense(arguments, says, folder):
    ran = ragstone("judges", "new", *arguments)
    assert ran.code == 2
    assert says in ran.err
    assert list(folder.iterdir()) == []


def test_without_a_model_the_file_is_checked_and_the_prompt_shown(project, fake_openai, says):
    (project / "polite.toml").write_text(POLITE)
    ran = ragstone("judges", "test", "polite.toml")
    assert (ran.code, fake_openai.n_requests) == (0, 0)
    assert "Is <answer> polite?" in ran.out
    says(ran.err)
    (project / "polite.toml").write_text(POLITE.replace("{answer}", "it"))
    assert ragstone("judges", "test", "polite.toml").code == 2


def test_each_example_is_judged_without_being_shown(project, fake_openai):
    (project / "polite.toml").write_text(POLITE)
    fake_openai.script = replies(lambda _text: {"reason": "So it seems.", "verdict": True})
    ran = ragstone("judges", "test", "polite.toml", "--model", "openai/fake", "--json")
    assert ran.code == 0  # an example that goes otherwise is shown, and no failure
    tried = json.loads(ran.out)
    assert [(row["row"], row["expected"], row["given"]) for row in tried["rows"]] == [
        ("example 1", "true", "true"),
        ("example 2", "false", "true"),
    ]
    assert tried["rows"][0]["reason"] == "So it seems."
    systems = [body["messages"][0]["content"] for body in fake_openai.bodies]
    assert sorted(("Please wait." in text, "Go away." in text) for text in systems) == [
        (False, True),
        (True, False),
    ]


def test_the_examples_of_a_rubric_are_compared_criterion_by_criterion(project, fake_openai):
    grades = {
        field: value
        for name in ("correctness", "completeness", "readability")
        for field, value in ((f"{name}_reason", "x"), (f"{name}_score", 3))
    }
    fake_openai.script = replies(lambda _text: grades)
    tried = json.loads(ragstone("judges", "test", "rubric", "--model", "openai/fake", "--json").out)
    second = [row for row in tried["rows"] if row["row"] == "example 2"]
    # .6 x 1 + .2 x 1 + .2 x 3 = 1.4
    assert [(row["metric"], row["expected"], row["given"]) for row in second] == [
        ("rubric", "1.4", "3"),
        ("correctness", "1", "3"),
        ("completeness", "1", "3"),
        ("readability", "3", "3"),
    ]


def easy(text):
    return {"reason": "x", "score": 100 if "Red clover." in text else 0}


def test_easy_rows_that_go_as_expected_leave_exit_code_0(project, fake_openai, says):
    fake_openai.script = replies(easy)
    ran = ragstone("judges", "test", "correctness", "--model", "openai/fake")
    assert ran.code == 0
    assert "easy: right" in ran.out
    says(ran.err)


def test_an_easy_row_that_goes_wrong_is_exit_code_1(project, fake_openai, says):
    fake_openai.script = replies(lambda _text: {"reason": "x", "score": 80})
    ran = ragstone("judges", "test", "correctness", "--model", "openai/fake")
    assert ran.code == 1
    assert "80 (wrong)" in ran.out
    says(ran.err)


def test_what_cannot_be_scored_is_exit_code_5(project, fake_openai):
    fake_openai.script = always(say("I would rather not say."))
    ran = ragstone("judges", "test", "correctness", "--model", "openai/fake", "--json")
    assert ran.code == 5
    tried = json.loads(ran.out)
    assert tried["unscored"] == 4
    assert {row["status"] for row in tried["rows"]} == {"unparsable"}
    assert "given" not in tried["rows"][0] or tried["rows"][0]["given"] is None


def test_a_baseline_is_tried_without_a_model(project, fake_openai):
    ran = ragstone("judges", "test", "containment", "--json")
    assert ran.code == 0
    assert [row["given"] for row in json.loads(ran.out)["rows"]] == ["1", "0", "0", "0"]
    assert fake_openai.n_requests == 0


def test_a_sheet_is_judged_as_well(project):
    ran = ragstone("judges", "test", "containment", "answers.jsonl", "--json")
    rows = json.loads(ran.out)["rows"]
    assert [(row["row"], row["given"]) for row in rows if "easy" not in row["row"]] == [
        (f"q{n} (mine)", "1" if n % 2 else "0") for n in range(6)
    ]


def test_offline_and_budget_are_obeyed(project, fake_openai):
    command = ("judges", "test", "correctness", "--model", "openai/fake", "--json")
    ran = ragstone(*command, "--budget", "1calls")
    statuses = [row["status"] for row in json.loads(ran.out)["rows"]]
    assert sorted(statuses) == ["over_budget"] * 3 + ["scored"]
    n_requests = fake_openai.n_requests
    ragstone(*command, "--offline")
    assert fake_openai.n_requests == n_requests


def test_easy_rows_have_the_inputs_of_every_judge_that_they_are_for():
    from ragstone.features.judges._easy import easy_rows
    from ragstone.kernel.judging.inputs import gather_inputs

    for name in judge_names():
        judge = load_judge(name)
        for _name, answer, _expected in easy_rows(judge):
            assert not isinstance(gather_inputs(judge, answer), str)
    other = msgspec.structs.replace(load_judge("relevance"), metric="warmth")
    assert easy_rows(other) == []


def test_a_jury_with_a_similarity_in_it_can_be_shown(folder):
    ragstone("judges", "new", "mine.toml", "--kind", "jury")
    text = (folder / "mine.toml").read_text()
    (folder / "mine.toml").write_text(text.replace('"containment"', '"similarity"'))
    assert ragstone("judges", "show", "mine.toml").code == 0


def test_where_there_is_nothing_to_try_a_sheet_is_asked_for(project, says):
    ran = ragstone("judges", "test", "pairwise", "--model", "openai/fake")
    assert (ran.code, ran.out) == (0, "")
    says(ran.err)


def test_a_pairwise_judge_is_tried_on_a_sheet_of_two_systems(project, says):
    from ragstone.kernel.records import Answer
    from ragstone.kernel.tables import read_rows, write_rows

    mine = list(read_rows("answers.jsonl", Answer))[:2]
    other = [msgspec.structs.replace(row, system="other", answer="Nobody knows.") for row in mine]
    write_rows("two.jsonl", [*mine, *other], Answer)
    ran = ragstone("judges", "test", "pairwise", "two.jsonl", "--model", "openai/fake", "--json")
    rows = json.loads(ran.out)["rows"]
    says("\n".join([row["row"] for row in rows]))


def test_a_jury_whose_members_name_their_models_needs_no_other(project, fake_openai):
    ragstone("judges", "new", "mine.toml", "--kind", "jury")
    text = (project / "mine.toml").read_text()
    judge = 'judge = "correctness"\n'
    assert judge in text
    text = text.replace(judge, judge + 'model = "openai/fake"\n')
    text = text.replace('"correctness@prompt=points"', '"correctness@prompt=points"\nmodel = "openai/fake"')
    (project / "mine.toml").write_text(text)
    assert ragstone("judges", "test", "mine.toml", "--json").code in (0, 1)
    assert fake_openai.n_requests > 0


def test_show_says_which_criteria_are_graded_only_on_request(folder, says):
    [line] = [
        line
        for line in ragstone("judges", "show", "prompt_clarity").out.splitlines()
        if line.startswith("criteria")
    ]
    says(line)
