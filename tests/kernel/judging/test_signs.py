import pytest

from ragstone.kernel.errors import ConfigError
from ragstone.kernel.judging import JudgeContext, judge_answer, parse_judge
from ragstone.kernel.judging.signs import PROPERTIES, Sign, SignsJudge
from ragstone.kernel.records import Answer, Context

FILE = """
name = "mode"
version = 1
kind = "signs"
inputs = ["answer"]
scale = [0, 1]
best = "lowest"
source = "own"
"""
SIGN = '\n[[signs]]\nweight = 0.5\nmeasure = "refuses"\n'


def row(
    answer="It is 3 cm.", question="How deep is maize sown?", contexts=("Maize is sown 3 cm deep.",), **more
):
    found = None if contexts is None else [Context(text=text) for text in contexts]
    return Answer(question_id="q", answer=answer, question=question, contexts=found, **more)


def judge(*signs, unless=()):
    return SignsJudge(
        name="mode", version=1, inputs=["answer"], scale=(0, 1), source="", signs=signs, unless=unless
    )


@pytest.mark.parametrize(
    ("measure", "with_it", "without"),
    [
        ("empty", row(" ..."), row()),
        ("refuses", row("I do not know."), row()),
        ("refuses", row("Ich weiß es leider nicht."), row("")),
        (
            "other_language",
            row("Der Mais wird drei Zentimeter tief gesät."),
            row("Maize is sown in the early spring."),
        ),
        (
            "cut_off",
            row("Maize is sown when the soil is warm and the"),
            row("Maize is sown when the soil is warm, early."),
        ),
        ("cut_off", row("Maize is sown when the soil is warm and the"), row("in early spring")),
        ("no_contexts", row(contexts=()), row()),
        ("no_contexts", row(contexts=()), row(contexts=None)),
        ("number_outside_contexts", row("It is 5 cm."), row()),
        ("number_outside_contexts", row("It is 5 cm."), row("Rice has paddies of 5 ha.")),
        ("other_number", row("It is 5 cm.", reference="3 cm"), row(reference="3 cm")),
        ("other_number", row("It is 5 cm.", reference="3 cm"), row("deep", reference="3 cm")),
        ("several_questions", row(question="How deep? And when?"), row()),
        ("no_citation", row(), row("It is 3 cm [1].")),
        ("no_citation", row("It is 3 cm [7]."), row("It is 3 cm (source 1).")),  # there is one context
        ("no_citation", row("It is depths[1] = 3 cm."), row("It is 3 cm【1】.")),
    ],
)
def test_what_is_yes_or_no_is_told_from_the_row(measure, with_it, without):
    sign = Sign(weight=1, measure=measure)
    assert (sign.is_in(with_it), sign.is_in(without)) == (True, False)


@pytest.mark.parametrize(
    ("measure", "value"),
    [
        ("answer_words", 3),
        ("question_words", 5),
        ("turns", 0),
        ("outside_contexts", 1 / 4),  # “It is 3 cm.”: only “it” is in no context
        ("question_outside_contexts", 1 / 5),  # “how”
        ("question_outside_answer", 4 / 5),  # all but “is”
    ],
)
def test_numbers_are_worked_by_hand(measure, value):
    told = row(
        "It is 3 cm." if "outside" in measure else "Three cm deep.", contexts=("Maize is sown 3 cm deep.",)
    )
    assert PROPERTIES[measure].of(told) == pytest.approx(value)


def test_each_property_is_in_the_docs():
    from pathlib import Path

    page = (Path(__file__).parents[3] / "docs" / "reference" / "judge-files.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in page for name in PROPERTIES)


def test_words_beginnings_and_tags_are_signs():
    assert Sign(weight=1, words=["maize", "corn"], of="question").is_in(row())
    assert not Sign(weight=1, words=["maize"]).is_in(row())
    assert Sign(weight=1, begins="how deep").is_in(row())
    assert not Sign(weight=1, begins="deep").is_in(row())
    assert Sign(weight=1, tag="crop", value="maize").is_in(row(tags={"crop": "maize"}))
    assert not Sign(weight=1, tag="crop", value="maize").is_in(row())


def test_limits_hold_on_their_side():
    assert Sign(weight=1, measure="answer_words", at_least=4).is_in(row("It is 3 cm."))
    assert not Sign(weight=1, measure="answer_words", at_least=5).is_in(row("It is 3 cm."))
    assert Sign(weight=1, measure="answer_words", at_most=4).is_in(row("It is 3 cm."))
    assert not Sign(weight=1, measure="answer_words", at_least=2, at_most=3).is_in(row("It is 3 cm."))


def test_a_limit_that_is_not_exceeded_is_said_as_such(says):
    for measure, most in (("refuses", 0), ("outside_contexts", 0.1), ("turns", 3), ("answer_words", 3)):
        sign = Sign(weight=1, measure=measure, at_most=most)
        says(f"{sign.title}: {sign.clause}")


async def test_the_score_is_the_chance_of_any_sign_and_none_where_something_rules_it_out(says):
    short, deep = Sign(weight=0.5, measure="answer_words", at_most=4), Sign(weight=0.8, words=["cm"])
    assert judge(short, deep).score(row()) == pytest.approx(1 - 0.5 * 0.2)
    assert judge(short, deep, unless=[Sign(weight=1, words=["3"])]).score(row()) == 0
    [told] = await judge_answer(judge(short, deep), row(), JudgeContext())
    assert told.metadata == {"threshold": 0.5}
    says(told.rationale)


@pytest.mark.parametrize(
    "text",
    [
        FILE + "signs = []\n",
        FILE + '\n[[signs]]\nweight = 0.5\nmeasure = "refuse"\n',
        FILE + "\n[[signs]]\nweight = 0.5\n",
        FILE + '\n[[signs]]\nweight = 0.5\nwords = ["a"]\nbegins = "b"\n',
        FILE + '\n[[signs]]\nweight = 0.5\nwords = ["a"]\nat_least = 2\n',
        FILE + '\n[[signs]]\nweight = 0.5\ntag = "crop"\n',
        FILE + '\n[[signs]]\nweight = 1.5\nmeasure = "refuses"\n',
        FILE + "threshold = 2\n" + SIGN,
        FILE + '\n[[signs]]\nweight = 0.5\nwords = ["frost", "Kenya"]\n',
        FILE + '\n[[signs]]\nweight = 0.5\nwords = ["drip irrigation"]\n',
        FILE + '\n[[signs]]\nweight = 0.5\nbegins = "What is"\n',
    ],
)
def test_a_wrong_file_says_what_to_change(text, says, tmp_path):
    with pytest.raises(ConfigError) as mistake:
        parse_judge(text, tmp_path / "mode.toml")
    says(mistake.value)


def test_a_number_of_a_late_passage_is_in_the_contexts():
    passages = [Context(text="sow the maize early " * 1_500), Context(text="Sow the maize 37 cm deep.")]
    row = Answer(
        question_id="q", system="s", question="How?", answer="Sow the maize 37 cm deep.", contexts=passages
    )
    assert PROPERTIES["number_outside_contexts"].of(row) == 0
    assert PROPERTIES["outside_contexts"].of(row) == 0


@pytest.mark.parametrize("end", ["۔", "।", "።", "."])
def test_a_sentence_may_end_in_the_full_stop_of_any_script(end):
    row = Answer(question_id="q", system="s", answer="one two three four five six seven eight nine" + end)
    assert PROPERTIES["cut_off"].of(row) == 0
