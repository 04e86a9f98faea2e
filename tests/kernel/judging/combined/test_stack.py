import json
import math
from importlib import resources

import pytest
from tests.kernel.judging.combined.sheets import ANSWER, Saying, answered, context_of, whole

from ragstone.kernel.errors import ConfigError
from ragstone.kernel.judging import judge_answer, load_judge, parse_judge, question_digest
from ragstone.kernel.judging.stack import StackMember
from ragstone.kernel.judging.variant import load_members
from ragstone.kernel.llm import CallFailed, Reply
from ragstone.kernel.llm.prompt import Alternative, Token
from ragstone.kernel.records import Usage

COVERAGE = StackMember(
    judge="coverage",
    weight=2.0,
    centre=0.5,
    spread=0.25,
    if_high="the reference's words are there",
    if_low="words are missing",
)
REFUSAL = StackMember(judge="no_refusal", weight=1.0, centre=1.0, spread=0.5, if_low="it does not know")
MODEL = StackMember(judge="relevance", weight=1.0, centre=0.0, spread=1.0)


def stack(*members, **own):
    return whole("stack", *members, **{"intercept": -1.0, **own})


async def judged(judge, answer=ANSWER, model=None):
    [row] = await judge_answer(judge, answer, context_of(model))
    return row


async def test_the_score_is_the_logistic_of_the_weighed_scores(says):
    # "Early." holds 1 of the 3 words of "early in the season" without its article: early, in, season.
    # -1 + 2 x (1/3 - 0.5) / 0.25 + 1 x (1 - 1) / 0.5 = -1 - 4/3 = -7/3
    row = await judged(stack(COVERAGE, REFUSAL))
    assert row.score == pytest.approx(1 / (1 + math.exp(7 / 3)), abs=1e-8)
    assert (row.status, row.model) == ("scored", "none")
    says(row.rationale)
    assert [member["judge"] for member in row.metadata["members"]] == ["coverage", "no_refusal"]


async def test_with_a_curve_the_score_is_what_stands_there():
    # -1 + 4 = 3 for a right answer, a probability of 0.953; -7/3 for "Early.", 0.0884.
    right = 1 / (1 + math.exp(-3))
    curve = [(0.1, 0.2), (0.9, 0.5), (1.0, 0.7)]
    judge = stack(COVERAGE, REFUSAL, curve=curve, threshold=0.55)
    row = await judged(judge, answered(answer="Early in the season"))
    assert row.score == pytest.approx(0.5 + 0.2 * (right - 0.9) / 0.1)
    assert row.rationale.startswith("yes: ")
    row = await judged(judge)
    assert (row.score, row.rationale.startswith("no: ")) == (0.2, True)  # left of the first point


async def test_a_member_in_log_odds_counts_by_those_of_its_score():
    # "Early." has a coverage of 1/3: log odds -ln 2. -1 + 2 x (-ln 2 - 0) / 1.
    odds = StackMember(judge="coverage", weight=2.0, centre=0.0, spread=1.0, unit="log odds")
    row = await judged(stack(odds))
    assert row.score == pytest.approx(1 / (1 + math.exp(1 + 2 * math.log(2))), abs=1e-8)
    # A score of 1 counts as 0.999, so that no single member is certain.
    row = await judged(stack(odds), answered(answer="Early in the season"))
    assert row.score == pytest.approx(1 / (1 + math.exp(1 - 2 * math.log(999))), abs=1e-8)


def test_a_member_in_log_odds_has_scores_from_0_to_1(says):
    wide = StackMember(judge="correctness", weight=1.0, centre=0.0, spread=1.0, unit="log odds")
    with pytest.raises(ConfigError) as error:
        stack(wide)
    says(error.value)


async def test_the_rationale_names_what_weighs_most_and_what_speaks_against_it(says):
    # coverage adds 2 x (1 - 0.5) / 0.25 = 4, the refusal (0 - 1) / 0.5 = -2: -1 + 4 - 2 = 1.
    both = answered(answer="I do not know. Early in the season?")
    row = await judged(stack(COVERAGE, REFUSAL), both)
    assert row.score == pytest.approx(1 / (1 + math.exp(-1)), abs=1e-8)
    says(row.rationale)
    row = await judged(stack(COVERAGE, REFUSAL, threshold=0.9), both)
    says(row.rationale)
    silent = await judged(stack(StackMember(judge="coverage", weight=1.0, centre=1 / 3, spread=1.0)))
    says(silent.rationale)


async def test_a_member_without_words_is_named_with_its_score(says):
    row = await judged(stack(StackMember(judge="coverage", weight=1.0, centre=0.0, spread=1.0)))
    says(row.rationale)


async def test_a_member_with_nothing_to_say_counts_as_its_centre():
    mute = StackMember(judge="language_match", weight=1.9, centre=0.5, spread=0.1)
    assert (await judged(stack(COVERAGE, mute))).score == (await judged(stack(COVERAGE))).score


@pytest.mark.parametrize("weight", [2.0, 50.0])  # coverage has 2
async def test_members_with_half_of_the_weight_must_have_something_to_say(weight, says):
    mute = StackMember(judge="language_match", weight=weight, centre=0.5, spread=0.1)
    for judge in (stack(mute), stack(COVERAGE, mute)):
        row = await judged(judge)
        assert (row.status, row.score) == ("not_applicable", None)
        says(row.rationale)


async def test_an_answer_to_an_unanswerable_question_is_not_right_for_being_no_refusal():
    row = await judged(load_judge("right"), answered(answerable=False, reference=None))
    assert (row.status, row.score) == ("not_applicable", None)


async def test_right_says_what_is_missing(says):
    row = await judged(load_judge("right"), answered(reference="in 1912", answer="In 1913, he said."))
    says(row.rationale)
    row = await judged(
        load_judge("right"), answered(reference="the Second World War/WWII", answer="World War 2")
    )
    assert row.score > 0.95


async def test_what_speaks_against_an_answer_is_said_in_the_members_own_words_too(says):
    found = StackMember(judge="match", weight=2.0, centre=0.5, spread=0.3, if_low="words are missing")
    row = await judged(stack(found, intercept=0.0))
    says(row.rationale)
    told = Saying({"verdict": False, "reason": "a very long story " * 20})
    row = await judged(stack(StackMember(judge="relevance", weight=1.0, centre=0.5, spread=1.0)), model=told)
    says(row.rationale)
    assert len(row.rationale) < 200


async def test_a_member_that_failed_makes_no_score(says):
    row = await judged(stack(COVERAGE, MODEL), model=Saying(CallFailed("timeout", "60 s are over")))
    assert (row.status, row.score) == ("timeout", None)
    says(row.error)


async def test_a_model_is_one_more_member_and_paid_for():
    model = Saying({"verdict": True})
    row = await judged(stack(COVERAGE, MODEL), model=model)
    # -1 - 4/3 + 1 = -4/3
    assert row.score == pytest.approx(1 / (1 + math.exp(4 / 3)), abs=1e-8)
    assert (row.usage, row.model, model.n_asked) == (Usage(input=10, output=5), "openai/default", 1)


@pytest.mark.parametrize("name", ["right", "right_asked"])
def test_no_question_that_ships_with_labels_was_fitted_on(name):
    shown = [
        labelled_rows("ragstone.features.new", "starter_files"),
        labelled_rows("ragstone.features.bench", "suite"),
    ]
    questions = {row["question"] for rows in shown for row in rows if row.get("question")}
    assert len(questions) > 100
    assert not {question_digest("", question) for question in questions} & set(load_judge(name).tuned_on)


def labelled_rows(room, folder):
    name = "labelled.jsonl" if folder == "starter_files" else "rows.jsonl"
    text = (resources.files(room) / folder / name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


async def test_right_or_ask_asks_about_doubtful_answers_alone(says):
    asked = []

    async def model(prompt):
        asked.append(prompt)
        yes = Token(
            "yes", math.log(0.9), (Alternative("yes", math.log(0.9)), Alternative("no", math.log(0.1)))
        )
        return Reply(text="yes", value=None, usage=Usage(), latency_s=0.1, cost_usd=0.0, logprobs=(yes,))

    judge = load_judge("right_or_ask")
    sure = await judged(judge, answered(answer="Early in the season."), model)
    assert (asked, sure.metadata["decided_by"]) == ([], "right")
    row = await judged(judge, answered(answer="In the first weeks, if the ground is wet."), model)
    assert (len(asked), row.metadata["decided_by"]) == (1, "right_asked")
    says(row.rationale)
    [_, second] = row.metadata["members"]
    assert [one["judge"] for one in second["members"]] == ["right", "same_answer"]


TEXT = """
name = "mine"
version = 1
kind = "stack"
inputs = ["answer"]
scale = [0, 1]
source = "ours"
intercept = 0.0
"""
MEMBER = '[[members]]\njudge = "no_refusal"\nweight = 1.0\ncentre = 0.5\nspread = 0.5\n'


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (TEXT, r"a stack needs an entry \[\[members\]\]"),
        (TEXT + MEMBER + "cut = 0.5\n", "cut and unsure are for a jury or a cascade"),
        (TEXT + MEMBER.replace("spread = 0.5", "spread = 0"), "spread is above 0"),
        (TEXT + MEMBER.replace("weight = 1.0", "weight = nan"), "weight, centre and spread are finite"),
        (TEXT.replace("intercept = 0.0", "intercept = inf") + MEMBER, "give a finite number"),
        (TEXT + MEMBER.replace("weight = 1.0\n", ""), "weight"),
        (TEXT + "threshold = 1.0\n" + MEMBER, "a probability between 0 and 1"),
        (TEXT + "curve = [[0.1, 0.2]]\n" + MEMBER, "give two or more"),
        (TEXT + "curve = [[0.5, 0.2], [0.5, 0.3]]\n" + MEMBER, "before rising"),
        (TEXT + "curve = [[0.1, 0.3], [0.5, 0.2]]\n" + MEMBER, "after never falling"),
        (TEXT + "curve = [[0.1, 0.0], [0.5, 0.2]]\n" + MEMBER, "both between 0 and 1"),
        (TEXT + "curve = [[0.1, nan], [0.5, 0.2]]\n" + MEMBER, "both between 0 and 1"),
        (TEXT + "curve = [[10, 0.1], [50, 0.2]]\n" + MEMBER, "both between 0 and 1"),
        (TEXT + "curve = [0.1, 0.2]\n" + MEMBER, "curve"),
        (TEXT.replace("[0, 1]", "[0, 10]") + MEMBER, r"a stack judge has scale = \[0, 1\]"),
        (TEXT + MEMBER.replace("1.0", "-1.0"), "a better score would count against the answer"),
        (TEXT + MEMBER.replace("no_refusal", "bias"), "its lowest score is the good one"),
        (TEXT + MEMBER.replace("no_refusal", "pairwise"), "compares two answers"),
        (TEXT.replace("intercept = 0.0\n", "") + MEMBER, "intercept"),
    ],
)
def test_a_wrong_file_is_told(tmp_path, text, says):
    with pytest.raises(ConfigError, match=says):
        load_members(parse_judge(text, tmp_path / "mine.toml"), "mine.toml")
