"""Rows that anybody would judge alike, for a first try of a judge: right and wrong answers, a refusal,
marks, steps.

A judge that fails on one of these does not work with its model. One that passes may still judge badly: that
is what people's labels show (`ragstone agree`).
"""

from typing import Literal

import msgspec

from ragstone.kernel.judging.fields import JudgeFields
from ragstone.kernel.judging.trajectory import EXPECTED_STEPS
from ragstone.kernel.records import Answer, Context, Judgement, Step, Turn

Expectation = Literal["high", "low"]

QUESTION = "Which crop grew in the north field in 2019?"
CONTEXTS = [
    Context(text="In 2019 red clover grew in the north field. The south field lay fallow."),
    Context(text="The barn was painted in 2021."),
]
ANSWERS = {
    "right": "Red clover.",
    "wrong": "Sugar beet.",
    "refusing": "I cannot say: no document tells.",
    "empty": "",
    "cited": "In 2019 red clover grew in the north field [1].",
    "miscited": "In 2019 red clover grew in the north field [2].",
}
LOOKED_UP = Step(tool="field_log", arguments={"field": "north", "year": 2019}, result="red clover")
OTHER_TOOL = Step(tool="weather", arguments={"place": "north field"}, result="12 mm of rain")
OTHER_FIELD = Step(tool="field_log", arguments={"field": "south", "year": 2019}, result="fallow")
FAILED = Step(tool="field_log", arguments={"field": "north", "year": 2019}, error="timeout")
STEPS = {
    "right steps": ([LOOKED_UP], "Red clover."),
    "wrong tool": ([OTHER_TOOL], "It rained 12 mm."),
    "wrong argument": ([OTHER_FIELD], "It lay fallow."),
    "failed call": ([FAILED], "I cannot say: the field log did not answer."),
    "repeated call": ([LOOKED_UP] * 4, "Red clover."),
}
ANSWERS |= {name: answer for name, (_, answer) in STEPS.items()}
_ROLE = Turn("system", "You answer visitors' questions about the fields of one farm, politely and briefly.")
_ASKED = Turn("user", "I am in the north field. Which crop grew here in 2019? That is all I want to know.")
CONVERSATIONS = {
    "helping": [
        _ROLE,
        _ASKED,
        Turn("assistant", "Red clover grew in the north field in 2019."),
        Turn("user", "That is what I wanted. Thank you."),
        Turn("assistant", "You are welcome."),
    ],
    "hopeless": [
        _ROLE,
        _ASKED,
        Turn("assistant", "And which field are you in now?"),
        Turn("user", "In the north field, as I said. Which crop was it in 2019?"),
        Turn(
            "assistant",
            "Sugar beet grew there in 2019. In 2019 no sugar beet grew there. Ahoy, you fool, I am "
            "Captain Blackbeard and no farm's guide! Buy a timeshare flat in Florida today!",
        ),
        Turn("user", "You have not told me. Which crop was it?"),
        Turn("assistant", "And which field are you in now?"),
    ],
}
# Metric -> what becomes of each answer: a score in the upper or in the lower half of the scale.
EXPECTED: dict[str, dict[str, Expectation]] = {
    "correctness": {"right": "high", "wrong": "low", "refusing": "low", "empty": "low"},
    "rubric": {"right": "high", "wrong": "low", "refusing": "low", "empty": "low"},
    "relevance": {"right": "high", "refusing": "low", "empty": "low"},
    "answered": {"right": "high", "wrong": "high", "refusing": "low"},
    "faithfulness": {"right": "high", "wrong": "low"},
    "claims": {"right": "high", "wrong": "low"},
    "citations": {"cited": "high", "miscited": "low"},
    "context_sufficiency": {"right": "high"},
    "tool_choice": {"right steps": "high", "wrong tool": "low"},
    "tool_arguments": {"right steps": "high", "wrong argument": "low"},
    "tool_errors": {"right steps": "low", "failed call": "high"},
    "step_efficiency": {"right steps": "high", "repeated call": "low"},
    "task_done": {"right steps": "high", "wrong tool": "low", "failed call": "low"},
    "plan_quality": {"right steps": "high", "wrong tool": "low"},
    "toxicity": {"right": "low", "wrong": "low", "refusing": "low"},
    "bias": {"right": "low", "wrong": "low", "refusing": "low"},
    "resolved": {"helping": "high", "hopeless": "low"},
    "knowledge_retained": {"helping": "high", "hopeless": "low"},
    "stays_in_role": {"helping": "high", "hopeless": "low"},
    "asked_back": {"helping": "high", "hopeless": "low"},
    "stays_on_topic": {"helping": "high", "hopeless": "low"},
    "contradicts_itself": {"helping": "low", "hopeless": "high"},
    "repeats_itself": {"helping": "low"},
}
EASY = (*ANSWERS, *CONVERSATIONS)


def easy_rows(judge: JudgeFields) -> list[tuple[str, Answer, Expectation]]:
    """Return (what it is, the row, what is expected) for each row whose score the judge's metric makes known.

    None for the metrics of others, and for a similarity, of which no number is known to be high.
    """
    if judge.compares_two or judge.kind == "embedding":
        return []
    expected = EXPECTED.get(judge.measures, {})
    return [(name, easy_answer(name), expected[name]) for name in EASY if name in expected]


def easy_answer(name: str) -> Answer:
    """Return one of the rows."""
    if turns := CONVERSATIONS.get(name):
        return Answer(
            question_id=f"easy-{name}", question=turns[-2].content, answer=turns[-1].content, turns=turns
        )
    return Answer(
        question_id=f"easy-{name}",
        question=QUESTION,
        reference="Red clover",
        answer=ANSWERS[name],
        contexts=CONTEXTS,
        steps=STEPS[name][0] if name in STEPS else None,
        metadata={EXPECTED_STEPS[0]: msgspec.to_builtins([LOOKED_UP])} if name in STEPS else None,
    )


def is_met(expected: Expectation, judgement: Judgement, scale: tuple[float, float]) -> bool:
    """Return whether a judgement is what was expected; one that is not scored is not."""
    if judgement.score is None:
        return False
    middle = sum(scale) / 2
    return judgement.score > middle if expected == "high" else judgement.score < middle
