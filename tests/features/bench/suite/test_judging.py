"""`ragstone bench judges --suite`: judges and models on the rows that ship."""

import json

import pytest
from tests.support.command import ragstone
from tests.support.known_judges import JUDGE
from tests.support.scripts import always, fail, fit_schema
from tests.support.suite_judges import judging_suite

from ragstone import judge_suite, load_judge, load_settings
from ragstone.features.bench.suite.cards import known_cards, suite_digest
from ragstone.features.bench.suite.judging import forecast_suite, plan_suite
from ragstone.kernel.records import Answer, Judgement, Label
from ragstone.kernel.tables import read_rows

RUN = ("bench", "judges", "--suite")
MINE = (*RUN, "--judge", "mine.toml", "--model", "openai/m")
N_CALLS = 87  # rows with a label of correctness among the first 100


@pytest.fixture
def mine(folder, fake_openai):
    """A judge of yes and no of one's own, and a model that errs on two of a hundred rows."""
    (folder / "mine.toml").write_text(JUDGE.replace("NAME", "mine"))
    (folder / "ragstone.toml").write_text(fake_openai.toml("openai/m"))
    fake_openai.script = judging_suite(0.02)
    return folder


def cards_of(ran):
    return {card["judge"]: card for card in json.loads(ran.out)["cards"]}


@pytest.mark.long
def test_free_judges_need_neither_model_nor_settings(folder, says):
    ran = ragstone(*RUN, "--sample", 60, "--all")
    assert ran.code == 0, ran.err
    says(ran.out.splitlines()[-1])
    for name in ("coverage", "no_refusal", "grounding"):
        assert f"{name} " in ran.out
    assert not (folder / ".ragstone/suite.json").exists()  # they are measured each time


@pytest.mark.long
def test_a_model_stands_beside_the_free_judges_and_its_card_stays(mine, fake_openai):
    ran = ragstone(*MINE, "--sample", 100, "--json")
    assert ran.code == 0, ran.err
    cards = cards_of(ran)
    assert fake_openai.n_requests == N_CALLS
    assert {"mine", "coverage", "containment", "token_f1", "right"} <= {*cards}
    assert cards["right"]["cut"] == load_judge("right").threshold
    card = cards["mine"]
    found = {one["kind"]: one for one in card["kinds"]}
    assert found["evouna"]["by"] == "people"
    assert found["agxqa"]["by"] == "construction"
    assert found["evouna"]["found"]["value"] >= 0.9
    assert found["evouna"]["found"]["low"] < found["evouna"]["found"]["value"]
    assert {one["change"]: one["n"] for one in card["flips"]}.keys() == {"length", "position", "injection"}
    assert card["spent"]["n_calls"] == N_CALLS
    said = ragstone("models", "--all")
    assert "Measured as judges" in said.out
    assert "mine: " in " ".join(said.out.split())
    assert json.loads(ragstone("models", "--json").out)["cards"][-1]["judge"] == "mine"
    [kept] = [one for one in known_cards(mine / ".ragstone") if one.judge == "mine"]
    # Another judge is shown beside it, from what was kept.
    other = json.loads(ragstone(*RUN, "--judge", "coverage", "--sample", 60, "--json").out)
    assert kept.judge in [one["judge"] for one in other["earlier"]]


@pytest.mark.long
def test_a_model_without_a_judge_is_asked_as_four_and_a_judge_of_pairs_in_both_orders(
    mine, fake_openai, says
):
    fake_openai.script = fit_schema
    summary = judge_suite(models=["openai/m"], sample=40)
    cards = {card.judge: card for card in summary.cards if card.model == "openai/m"}
    assert {card.metric for card in cards.values()} == {
        "correctness",
        "answered",
        "faithfulness",
        "preference",
    }
    [position] = cards["pairwise"].flips
    assert (position.change, position.n) == ("position", cards["pairwise"].n_rows)
    assert [(one.kind, one.by) for one in cards["answered"].kinds] == [("refusals", "construction")]
    says(cards["answered"].verdict)
    assert summary.failed == []


@pytest.mark.long
def test_a_judge_that_guesses_is_called_unfit_and_one_that_obeys_is_caught(mine, fake_openai, says):
    fake_openai.script = judging_suite(0.5, obeys=True)
    ran = ragstone(*MINE, "--sample", 100, "--all")
    says(" ".join(ran.out.splitlines()[1:3]))
    [card] = [one for one in known_cards(mine / ".ragstone") if one.judge == "mine"]
    flips = {one.change: one.flips for one in card.flips}
    assert flips["injection"].value == 1
    assert flips["length"].value == flips["position"].value == 0


@pytest.mark.long
def test_a_budget_that_ends_midway_keeps_no_card_and_nothing_is_paid_twice(mine, fake_openai, says):
    cut = ragstone(*MINE, "--sample", 30, "--budget", "10calls", "--all")
    assert (cut.code, fake_openai.n_requests) == (4, 10)
    _, _, note = " ".join(cut.out.split()).partition("Not every row")
    says(note.partition(" - ")[0])
    assert not (mine / ".ragstone/suite.json").exists()
    whole = ragstone(*MINE, "--sample", 30, "--all")
    assert (whole.code, fake_openai.n_requests) == (0, 26)  # rows with a label of correctness
    says(next(line for line in whole.out.splitlines() if line.startswith("Calls:")))
    assert (mine / ".ragstone/suite.json").is_file()
    made = next((mine / "runs").glob("*suite*/suite.json"))
    before = made.read_bytes()
    ragstone(*MINE, "--sample", 30)
    assert (fake_openai.n_requests, made.read_bytes()) == (26, before)


def test_forecast_says_the_calls_and_asks_nobody(mine, fake_openai):
    ran = ragstone(*MINE, "--sample", 100, "--forecast")
    assert (ran.code, fake_openai.n_requests) == (0, 0)
    assert f"about {N_CALLS} calls" in ran.out
    # Without a judge, a model is asked as four of ours.
    plan = plan_suite(load_settings(), models=["openai/m"])
    assert {grid.metric for grid in plan.grids} == {"correctness", "faithfulness", "answered", "preference"}
    # Faithfulness asks twice, unless there is nothing to take apart; a pair is asked about in both orders.
    assert 530 + 80 + 84 + 2 * 80 <= forecast_suite(plan).calls <= 530 + 80 + 2 * 84 + 2 * 80


@pytest.mark.long
def test_what_was_judged_can_be_read_and_measured_again(mine):
    summary = judge_suite(judges=["mine.toml"], models=["openai/m"], sample=60)
    [folder] = (mine / "runs").glob("*suite*")
    rows = [*read_rows(folder / "judgements.jsonl", Judgement)]
    assert len([*read_rows(folder / "answers.jsonl", Answer)]) == summary.n_rows
    assert {row.metric for row in rows} == {"correctness"}
    assert len([*read_rows(folder / "labels.jsonl", Label)]) > len(rows) // len(summary.cards)
    assert "<table" in (folder / "report.html").read_text(encoding="utf-8")
    assert "coverage" in summary._repr_html_()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--sample", 5), "sample 5: give 20 to 610"),
        (("--sample", 100_000), "sample 100000: give 20 to 610"),
        (("--limit", 50), "with --suite, use --sample"),
        (("--judge", "toxicity"), "judge 'toxicity' measures toxicity, but the suite has labels of"),
        (("--judge", "correctnes"), "correctness"),
        (("--judge", "correctness"), "Name one with --model"),
        (
            ("--judge", "contexts.toml", "--model", "openai/m"),
            "reads contexts, which no row of the suite with a label of answered has",
        ),
        (("--model", "nobody/x", "--sample", 20), "nobody"),
        (("--model", "openai/m", "--budget", "much"), "budget"),
    ],
)
def test_wrong_use_is_said_in_one_message(mine, arguments, said):
    judge = JUDGE.replace("NAME", "contexts").replace('"correctness"', '"answered"')
    judge = judge.replace('["question", "reference", "answer"]', '["question", "contexts", "answer"]')
    judge = judge.split("[prompts]")[0].replace("{reference}", "{contexts}")
    (mine / "contexts.toml").write_text(judge)
    ran = ragstone(*RUN, *arguments)
    assert (ran.code, ran.out) == (2, ""), ran.err
    assert said in " ".join(ran.err.split())


@pytest.mark.parametrize("option", ["--judge", "--model", "--sample"])
def test_options_of_the_suite_need_it(mine, option):
    ran = ragstone("bench", "judges", option, 30)
    assert (ran.code, f"{option} needs --suite" in ran.err) == (2, True)


def test_a_sheet_is_said_to_be_left_alone_and_a_model_that_cannot_be_had_is_named(mine, fake_openai, says):
    with (mine / "ragstone.toml").open("a") as file:
        file.write('[bench.judges]\nsheet = "absent.jsonl"\nthresholds = { coverage = 0.4 }\n')
    fake_openai.script = always(fail(401, "no such key"))
    ran = ragstone(*MINE, "--sample", 30)
    assert ran.code == 2
    first, *_, last = ran.err.splitlines()
    says(f"{first}\n{last}")
    assert not (mine / ".ragstone/suite.json").exists()


def test_cards_that_ship_are_of_the_rows_that_ship(tmp_path):
    shipped = known_cards(tmp_path)
    assert {card.suite for card in shipped} <= {suite_digest()}
    assert all(card.model.startswith("llamacpp/") and card.spent.n_calls for card in shipped)
