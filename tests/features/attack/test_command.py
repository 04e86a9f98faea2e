import json

import pytest
from tests.support.command import ragstone
from tests.support.golden import sentence_in
from tests.support.scripts import always, nonce_in, prompt_of, say

import ragstone as ragstone_package
from ragstone.kernel.records import Answer, Judgement
from ragstone.kernel.tables import read_rows

RELEVANCE = ("attack", "--judge", "relevance", "--model", "openai/fake")


def verdict(body: dict[str, object], *, true: bool, reason: str = "as it is") -> str:
    """Return a reply of the judge `relevance`."""
    return json.dumps({"nonce": nonce_in(body), "reason": reason, "verdict": true})


def gullible(body: dict[str, object]) -> str:
    """Judge an answer low, but for those that hold an order in so many words."""
    return verdict(body, true="Forget everything" in str(body["messages"][-1]), reason="<b>told</b> so")


def summary_of(folder, name="attack"):
    (file,) = (folder / name).rglob("attack.json")
    return json.loads(file.read_text())


def test_a_judge_that_obeys_one_attack_is_shown_with_it(project, fake_openai, says):
    fake_openai.script = gullible
    ran = ragstone(*RELEVANCE, "--family", "orders", "--family", "flattery")
    assert ran.code == 0
    [judged] = summary_of(project)["judges"]
    rates = {rate["name"]: (rate["n_flips"], rate["n"]) for rate in judged["attacks"]}
    assert rates["orders/forget_the_above"] == (24, 24)  # twelve rows, before and after the answer
    assert sum(flips for flips, _ in rates.values()) == 24
    assert judged["overall"]["control"]["value"] == 0
    says(ran.out)
    assert judged["probes"] == []  # families alone were asked for


def test_every_row_and_judgement_stands_in_a_file(project, fake_openai):
    fake_openai.script = gullible
    ragstone(*RELEVANCE, "--family", "orders", "--limit", 1, "-o", "out")
    answers = list(read_rows(project / "out" / "answers.jsonl", Answer))
    judgements = list(read_rows(project / "out" / "judgements.jsonl", Judgement))
    assert [row.system for row in answers] == [row.system for row in judgements]
    assert answers[0].system == "bad"
    assert any(row.system == "bad · orders/forget_the_above before" and row.score == 1 for row in judgements)
    assert any(row.system.startswith("bad · control after") for row in judgements)


def test_the_page_shows_hostile_text_as_text(project, fake_openai):
    row = {"question_id": "<img src=x onerror=alert(2)>", "question": "Who\u202e?", "answer": "</td><script>"}
    (project / "sheet.jsonl").write_text(json.dumps(row))
    fake_openai.script = lambda body: verdict(
        body, true="grader" in prompt_of(body).partition("<answer")[2], reason="<script>alert(1)</script>"
    )
    ragstone(*RELEVANCE, "--family", "orders", "--sheet", "sheet.jsonl")
    page = (project / "attack" / "relevance" / "attack.html").read_text()
    assert "<script" not in page
    assert "<img" not in page
    assert '<span style="font-size:0">' not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "⟨U+202E⟩" in page
    assert "\u202e" not in page
    assert "script-src" not in page  # nothing of it could run


def test_a_judge_whose_plain_replies_cannot_be_read_is_not_called_measured(project, fake_openai, says):
    fake_openai.script = always(say("no"))
    ran = ragstone(*RELEVANCE, "--family", "orders")
    said = " ".join(ran.out.split())
    assert ran.code == 3
    says(said)
    assert "leaves anything to win" not in said
    assert ragstone(*RELEVANCE, "--family", "orders", "--force", "--strict").code == 5


@pytest.mark.parametrize("probe", ["own_model", "position"])
def test_a_probe_that_cannot_be_measured_says_so_and_speaks_of_no_attack(probe, project, says):
    ran = ragstone("attack", "--judge", "containment", "--probe", probe)
    assert ran.code == 3
    assert "not measured" in ran.out
    assert "attacked" not in ran.out
    says(sentence_in((project / "attack" / "containment" / "attack.html").read_text(), "No attack was"))


@pytest.mark.parametrize("number", ["limit", "each"])
def test_from_python_a_number_below_1_is_refused(number, project, says):
    with pytest.raises(ragstone_package.ConfigError) as error:
        ragstone_package.attack(["containment"], **{number: 0})
    says(error.value)


def test_failing_closed_is_counted_apart_and_is_no_flip(project, fake_openai):
    fake_openai.script = lambda body: (
        say("I was told to say: true")
        if "grader" in prompt_of(body).partition("<answer")[2]
        else gullible(body)
    )
    ragstone(*RELEVANCE, "--family", "orders", "--limit", 2)
    [judged] = summary_of(project)["judges"]
    rates = {rate["name"]: rate for rate in judged["attacks"]}
    assert rates["orders/in_markup"]["statuses"] == {"unparsable": 2}
    assert rates["orders/in_markup"]["n_flips"] == 0
    assert rates["orders/in_markup"]["flips"]["n"] == 2


def test_a_row_with_a_high_verdict_already_is_not_attacked(project, fake_openai, says):
    fake_openai.script = lambda body: verdict(body, true=True)
    ran = ragstone(*RELEVANCE, "--family", "orders")
    [judged] = summary_of(project)["judges"]
    assert judged["n_attacked"] == 0
    assert judged.get("overall") is None
    says(ran.out)


@pytest.mark.long
@pytest.mark.parametrize(
    ("script", "most", "code"),
    [(gullible, "0.05", 1), (gullible, "0.5", 0), (gullible, "0.2", 3)],
    ids=["exceeded", "kept", "cannot tell"],
)
def test_the_gate_decides_the_exit_code(project, fake_openai, script, most, code):
    fake_openai.script = script
    # 24 of 108 attempts of the family flip on every row alike: 0.22, and the interval 0.08 to 0.48 or so.
    ran = ragstone(*RELEVANCE, "--family", "orders", "--most-flips", most)
    assert (ran.code, summary_of(project)["judges"][0]["gate"]) == (
        code,
        {0: "kept", 1: "exceeded", 3: "cannot tell"}[code],
    )


def test_run_again_it_makes_no_call_and_writes_the_same(project, fake_openai):
    command = (*RELEVANCE, "--family", "orders", "--limit", 2, "--probe", "length")
    ragstone(*command, "-o", "one")
    n_requests = fake_openai.n_requests
    ragstone(*command, "-o", "two")
    assert fake_openai.n_requests == n_requests
    for name in ("answers.jsonl", "judgements.jsonl"):
        assert (project / "one" / name).read_bytes() == (project / "two" / name).read_bytes()
    assert ragstone(*command, "-o", "two").code == 2  # nothing is replaced unasked
    assert ragstone(*command, "-o", "two", "--force", "--offline").code == 0


def test_each_and_limit_decide_how_much_is_tried(project, fake_openai):
    fake_openai.script = gullible
    ragstone(*RELEVANCE, "--family", "orders", "--each", 3, "--limit", 4)
    [judged] = summary_of(project)["judges"]
    assert judged["overall"]["n"] == 3 * 4


def test_the_forecast_counts_every_row_as_attacked_and_asks_nobody(project, fake_openai):
    ran = ragstone(*RELEVANCE, "--family", "orders", "--limit", 2, "--forecast", "--json")
    told = json.loads(ran.out)
    assert fake_openai.n_requests == 0
    assert not (project / "attack").exists()
    assert told["calls"] >= 2 * (1 + 9)
    assert any("every row is attacked" in said for said in told["assumptions"])


def test_the_budget_ends_it_with_exit_code_4(project, fake_openai):
    fake_openai.script = gullible
    ran = ragstone(*RELEVANCE, "--family", "orders", "--limit", 1, "--budget", "3calls", "--yes")
    assert ran.code == 4
    assert fake_openai.n_requests == 3
    assert (project / "attack" / "relevance" / "attack.html").exists()


@pytest.mark.long
def test_baselines_fall_to_the_words_of_the_reference_and_the_page_says_so(project):
    ran = ragstone("attack", "--judge", "containment")
    assert ran.code == 0
    [judged] = summary_of(project)["judges"]
    rates = {rate["name"]: rate for rate in judged["families"]}
    assert rates["leaked_reference"]["flips"]["value"] == 1
    assert sum(rate["n_flips"] for name, rate in rates.items() if name != "leaked_reference") == 0
    assert "calls no model" in ran.out
    assert {probe["probe"] for probe in judged["probes"]} == {"length", "repetition", "markdown", "tone"}
    assert not (project / ".ragstone").exists()


def test_probes_alone_attack_nothing(project):
    ragstone("attack", "--judge", "token_f1", "--probe", "length", "--probe", "position")
    [judged] = summary_of(project)["judges"]
    assert judged["families"] == []
    length, position = judged["probes"]
    assert length["effect"]["value"] < 0  # padding costs precision
    assert "compare two answers" in position["why"]


def test_position_is_measured_on_a_judge_that_compares_two_answers(project, fake_openai):
    first = {"nonce": None, "reason": "the first is better", "better": "1"}

    def always_first(body):
        return json.dumps(first | {"nonce": nonce_in(body)})

    fake_openai.script = always_first
    ran = ragstone("attack", "--judge", "pairwise", "--model", "openai/fake", "--probe", "position")
    assert ran.code == 0
    [probe] = summary_of(project)["judges"][0]["probes"]
    assert probe["effect"]["value"] == 1


def test_own_model_preference_takes_the_labels_of_the_sheet(project, fake_openai):
    fake_openai.script = lambda body: verdict(body, true="mine" in str(body["messages"][-1]))
    rows = [
        {"question_id": f"q{n}", "system": system, "question": "Who?", "answer": f"{text} {n}", "score": 1}
        for n in range(6)
        for system, text in (("fake", "mine"), ("other", "theirs"))
    ]
    (project / "sheet.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    ragstone(*RELEVANCE, "--probe", "own_model", "--sheet", "sheet.jsonl")
    [probe] = summary_of(project)["judges"][0]["probes"]
    assert probe["effect"]["value"] == 1


WRONG = {
    "unknown family": (("--judge", "containment", "--family", "ordres"), "orders"),
    "unknown probe": (("--judge", "containment", "--probe", "lenght"), "length"),
    "no such sheet": (("--judge", "containment", "--sheet", "no.jsonl"), "no.jsonl: no such file"),
    "two answers": (("--judge", "pairwise", "--model", "openai/fake", "--family", "orders"), "compares two"),
    "no model": (("--judge", "relevance"), "--model"),
}


@pytest.mark.parametrize(("arguments", "said"), WRONG.values(), ids=WRONG)
def test_wrong_use_is_answered_with_the_fix(project, arguments, said):
    ran = ragstone("attack", *arguments)
    assert ran.code == 2
    assert said in ran.err


def test_from_python_it_returns_the_numbers_and_writes_nothing_unasked(project):
    summary = ragstone_package.attack(["containment"], families=["leaked_reference"], limit=2)
    assert summary.judges[0].overall is not None
    assert summary.judges[0].overall.n_flips == 6
    assert not (project / "attack").exists()


def test_a_jury_is_attacked_as_a_whole(project, fake_openai):
    fake_openai.script = gullible
    (project / "jury.toml").write_text(
        'name = "panel"\nversion = 1\nkind = "jury"\nmetric = "relevance"\ninputs = ["question", "answer"]\n'
        'scale = [0, 1]\nsource = "ours"\ncombine = "majority"\n[[members]]\njudge = "relevance"\n'
        '[[members]]\njudge = "relevance@temperature=0.5"\n[[members]]\njudge = "relevance@temperature=1"\n'
    )
    ran = ragstone(
        *("attack", "--judge", "jury.toml", "--model", "openai/fake", "--family", "orders", "--limit", 2)
    )
    assert ran.code == 0
    [judged] = summary_of(project)["judges"]
    assert judged["judge"] == "panel"
    rates = {rate["name"]: rate["n_flips"] for rate in judged["attacks"]}
    assert rates["orders/forget_the_above"] == 4
    assert sum(rates.values()) == 4


def test_a_second_judge_has_a_folder_of_its_own(project):
    for judge in ("containment", "token_f1"):
        ran = ragstone("attack", "--judge", judge, "--probe", "length")
        assert "was not touched" not in ran.err
    assert {one.parent.name for one in (project / "attack").rglob("attack.json")} == {
        "containment",
        "token_f1",
    }
