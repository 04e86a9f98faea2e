"""What is learnt from a refusal, without an endpoint; whole endpoints are tried in test_dialects.py."""

import msgspec
import pytest
from tests.support.doors import prompt

from ragstone.kernel.llm.transport import MODES, Dialect, refused_extra

ASKED = msgspec.structs.replace(prompt(max_tokens=100), room=4000)


def learnt(words: str, asked_for=ASKED, **of_dialect: object) -> tuple[bool, Dialect]:
    """Whether a refusal teaches something, and the dialect afterwards."""
    dialect = Dialect(**of_dialect)
    return dialect.learn(words, dialect.copy(), asked_for), dialect


@pytest.mark.parametrize(
    ("words", "limit"),
    [
        ("max_tokens is too large: 20480. This model supports at most 1638 completion tokens", 1638),
        ("max_tokens: 4100 > 2000, which is the maximum allowed number of output tokens for x", 2000),
        ("max_tokens for `x` must be less than or equal to 3000", 3000),
        ("Invalid max_tokens value, the valid range of max_tokens is [1, 4096]", 4096),
        # No number of the model's own: half of it.
        ("input length and `max_tokens` exceed context limit: 199759 + 4100 > 200000", 2050),
        ("This model's maximum context length is 8192 tokens. However, you requested 8203 tokens", 2050),
        ("Input tokens exceed the configured limit of 272000 tokens.", 2050),
    ],
)
def test_a_limit_is_as_high_as_the_refusal_lets_it_be(words, limit):
    again, dialect = learnt(words)
    assert again
    assert dialect.limit(ASKED) == limit


def test_what_the_reply_may_take_does_not_give_way():
    words = "This model's maximum context length is 8192 tokens"
    dialect, limits = Dialect(), []
    while dialect.learn(words, dialect.copy(), ASKED):
        limits.append(dialect.limit(ASKED))
    assert limits == [2050, 1025, 512, 256, 128, 100]


def test_less_room_beside_one_prompt_is_no_limit_of_another():
    _, dialect = learnt("exceed context limit: 199759 + 4100 > 200000 max_tokens")
    other = msgspec.structs.replace(prompt("Another.", max_tokens=100), room=4000)
    assert (dialect.limit(ASKED), dialect.limit(other)) == (2050, 4100)


@pytest.mark.parametrize(
    ("words", "field"),
    [
        (
            "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
            "max_completion_tokens",
        ),
        # That one is about the number, whichever name it has.
        (
            "'max_tokens' or 'max_completion_tokens' is too large: 4100. This model's maximum context",
            "max_tokens",
        ),
    ],
)
def test_the_name_of_the_limit_is_learnt_from_its_refusal_alone(words, field):
    again, dialect = learnt(words)
    assert again
    assert dialect.tokens_field == field


@pytest.mark.parametrize(
    "words",
    [
        "response_format.type `json_schema` is unavailable now",
        "Thinking mode does not support this tool_choice",
        "compiled grammar is too large",
        "'messages' must contain the word 'json', to use 'response_format' of type 'json_object'.",
    ],
)
def test_a_way_of_asking_gives_way_to_the_next_until_none_is_left(words):
    dialect = Dialect()
    for way in MODES[1:]:
        assert dialect.learn(words, dialect.copy(), ASKED)
        assert dialect.way == way
    assert not dialect.learn(words, dialect.copy(), ASKED)


def test_a_way_that_has_worked_stays():
    dialect = Dialect()
    dialect.took(dialect.copy(), ASKED)
    assert not dialect.learn("the schema is too long", dialect.copy(), ASKED)
    assert dialect.way == "json_schema"


def test_calls_in_flight_that_are_refused_together_go_one_way_further_and_not_several():
    dialect = Dialect()
    in_flight = [dialect.copy() for _ in range(3)]
    assert [dialect.learn("no json_schema here", asked, ASKED) for asked in in_flight] == [True] * 3
    assert dialect.way == "tool"


def test_sampling_is_dropped_only_where_it_was_sent():
    assert learnt("`top_p` is not supported") == (False, Dialect())
    wanted = msgspec.structs.replace(ASKED, top_p=0.9, temperature=0.5)
    again, dialect = learnt("`top_p` is not supported", wanted)
    assert (again, dialect.top_p, dialect.temperature) == (True, False, True)
    again, dialect = learnt("`temperature` is deprecated for this model.", wanted)
    assert (again, dialect.top_p, dialect.temperature) == (True, True, False)


@pytest.mark.parametrize(
    ("words", "field"),
    [
        ("Unrecognized request argument supplied: thinking", "thinking"),
        ("Unknown parameter: 'reasoning.effort'.", "reasoning"),
        ("reasoning_effort: Extra inputs are not permitted", None),
        ("no word of it", None),
    ],
)
def test_a_refused_field_of_extra_is_named_by_its_whole_name(words, field):
    assert refused_extra(words, {"thinking": 1, "reasoning": {}}) == field
