"""At which temperature a model is asked, and who decides it."""

import msgspec
import pytest
from tests.support.doors import Model, door_to, prompt

from ragstone.kernel.config import (
    AnswerSection,
    ModelSettings,
    RagSystem,
    Sampling,
    load_settings,
    sampling_of,
)
from ragstone.kernel.llm import Prompt
from ragstone.kernel.llm.door import prompt_key
from ragstone.kernel.llm.prompt import sampled

ASKED = prompt()


@pytest.mark.parametrize(
    ("of_prompt", "of_model", "default", "sent"),
    [
        (None, None, 0.0, 0.0),
        (None, 0.3, 0.0, 0.3),
        (0.7, 0.3, 0.0, 0.7),
        (0.0, 0.3, 0.0, 0.0),  # somebody asked for 0: that is not the same as nobody asked
        (None, None, None, None),  # a system under test
        (None, 0.3, None, 0.3),
    ],
)
async def test_the_prompt_goes_before_the_models_settings_and_those_before_the_default(
    of_prompt, of_model, default, sent, tmp_path
):
    asked = msgspec.structs.replace(ASKED, temperature=of_prompt, default_temperature=default)
    model = Model()
    with door_to(model.send, tmp_path, settings=ModelSettings(temperature=of_model)) as door:
        await door.ask(asked)
    assert model.asked[0].temperature == sent


def test_what_decides_a_reply_is_in_its_key_and_the_room_to_think_is_not():
    def key(extra: dict | None = None, **of_prompt: object) -> bytes:
        return prompt_key("a", msgspec.structs.replace(ASKED, **of_prompt), extra or {})

    assert key() == key(temperature=0.0) == key(room=4096) == key(renew=True)
    others = [
        key(temperature=0.1),
        key(top_p=0.5),
        key({"reasoning_effort": "low"}),
        key({"reasoning_effort": "high"}),
        key(max_tokens=None),
        key(default_temperature=None),
    ]
    assert len({key(), *others}) == 7
    assert key({"a": 1, "b": {"c": 2, "d": 3}}) == key({"b": {"d": 3, "c": 2}, "a": 1})


async def test_an_ask_with_a_sampling_leaves_prompts_their_own_temperature():
    heard: list[Prompt] = []

    async def ask(asked: Prompt) -> None:
        heard.append(asked)

    drawn = sampled(ask, Sampling(temperature=0.2, max_tokens=9))
    await drawn(ASKED)
    await drawn(msgspec.structs.replace(ASKED, temperature=0.7))
    assert [(one.temperature, one.max_tokens) for one in heard] == [(0.2, 9), (0.7, 9)]
    assert sampled(ask, Sampling()) is ask


def test_a_system_goes_before_the_table_of_answers():
    answer = AnswerSection(temperature=0.3, top_p=0.9)
    assert sampling_of(RagSystem(temperature=0.0, max_tokens=80), answer) == Sampling(
        temperature=0.0, top_p=0.9, max_tokens=80
    )


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("extra = { temperature = 1 }", "extra names 'temperature', which is set by the key temperature"),
        ('headers = { "X-Team" = " " }', "headers: 'X-Team' has no value"),
    ],
)
def test_a_mistake_in_extra_or_headers_is_told_with_its_line(line, words, tmp_path):
    file = tmp_path / "ragstone.toml"
    file.write_text(f'[models."openai/x"]\ntimeout_s = 9\n{line}\n')
    with pytest.raises(Exception, match=words) as caught:
        load_settings(file)
    assert str(caught.value).startswith(f"{file}:3: ")
