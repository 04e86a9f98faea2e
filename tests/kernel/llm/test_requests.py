"""What is sent for the rows of a judge, or of a stage, differs in the user's message alone.

So a provider compiles one grammar a judge, and its cache of prompts has all that comes before the row.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.support.every_judge import answer_in_any_form, rows_with_every_field
from tests.support.stage_prompts import OWN_MARKS, stage_prompts

import ragstone
from ragstone.kernel.engine.cluster.vllm import row_of
from ragstone.kernel.judging import judge_names, load_judge
from ragstone.kernel.llm import Prompt, llamacpp
from ragstone.kernel.llm import _anthropic as anthropic
from ragstone.kernel.llm import _litellm as litellm
from ragstone.kernel.llm import _openai as openai
from ragstone.kernel.llm.transport import Dialect

ASKING = [
    name for name in judge_names() if load_judge(name).needs_model and not load_judge(name).needs_embedder
]
# Parameters that tell how long a reply may be follow the length of the texts: no grammar, no cache has them.
OF_LENGTH = ("max_tokens", "place")


def sent(rows: list[dict[str, Any]], fake_openai, folder: Path) -> list[dict[str, Any]]:
    """Return the requests of all judges on these rows."""
    fake_openai.forget()
    ragstone.judge(rows, judges=ASKING, model="openai/fake", settings=fake_openai.settings(folder))
    return list(fake_openai.bodies)


def fixed_part(body: dict[str, Any]) -> bytes:
    """Return a request without what the user's message says, byte for byte."""
    messages = [one if one["role"] == "system" else one["role"] for one in body["messages"]]
    return msgspec.json.encode(body | {"messages": messages})


def other_rows() -> list[dict[str, Any]]:
    """Return rows of the same fields about other things."""
    text = json.dumps(rows_with_every_field(), ensure_ascii=False)
    for old, new in (("maize", "quorvel"), ("Maize", "Quorvel"), ("soil", "ostanel"), ("Bohnen", "Brastel")):
        text = text.replace(old, new)
    rows = json.loads(text)
    for number, row in enumerate(rows):
        row["question_id"] = f"o{number // 2}"
        row["contexts"] += [{"text": f"A further passage, number {n}."} for n in range(number + 1)]
    return rows


@pytest.mark.long
@pytest.mark.parametrize("refused", [set(), {"json_schema"}], ids=["schema", "tool"])
def test_all_but_the_users_message_is_byte_equal_for_every_judge(fake_openai, tmp_path, refused):
    fake_openai.script, fake_openai.refuse = answer_in_any_form, refused
    first = sent(rows_with_every_field(), fake_openai, tmp_path / "first")
    second = sent(other_rows(), fake_openai, tmp_path / "second")
    asked_so = [body for body in first + second if not (refused and "response_format" in body)]
    parts = [{fixed_part(body) for body in bodies if body in asked_so} for bodies in (first, second)]
    assert len(first) > len(parts[0]) > 20
    assert parts[0] == parts[1]
    systems = [body["messages"][0]["content"] for body in map(msgspec.json.decode, parts[0])]
    assert len(systems) == len(set(systems))  # one grammar for each prompt of a judge
    assert not re.search(rb"quorvel|Quorvel|ostanel|Brastel", b"".join(parts[1]))


def test_what_a_judge_says_first_is_fixed_and_the_code_comes_last(fake_openai, tmp_path):
    fake_openai.script = answer_in_any_form
    for body in sent(rows_with_every_field(), fake_openai, tmp_path):
        if "response_format" not in body:  # a verdict of one token has no code in its reply
            continue
        assert [message["role"] for message in body["messages"]] == ["system", "user"]
        told = re.search(r'\n\nThe code is "(\w{10})"\.$', body["messages"][1]["content"])
        assert told
        assert told[1] not in fixed_part(body).decode()


# What a local model's grammar holds of the rows themselves, by stage.
OWN_GRAMMAR = {
    "translate": "one for each power of two of a text's length",
    "rerank": "the numbers of its passages",
}

BODIES: dict[str, Callable[[Prompt], dict[str, Any]]] = {
    "openai": lambda prompt: openai._body("m", prompt, Dialect(), stream=False),
    "anthropic": lambda prompt: anthropic._body("m", prompt, Dialect(modes=anthropic.MODES)),
    "anthropic schema": lambda prompt: anthropic._body("m", prompt, Dialect(modes=anthropic.MODES, mode=1)),
    "litellm": lambda prompt: litellm._body(prompt, "json_schema"),
    "llamacpp": lambda prompt: llamacpp._body(prompt),
    "vllm": lambda prompt: row_of(0, prompt) | row_of(0, prompt)["sampling_params"] | {"sampling_params": 0},
}


@pytest.mark.long
@pytest.mark.parametrize("transport", BODIES)
@pytest.mark.parametrize("name", stage_prompts())
def test_all_but_the_users_message_is_byte_equal_for_every_stage_and_transport(name, transport):
    if transport == "llamacpp" and name in OWN_GRAMMAR:
        pytest.skip(f"its grammar is made here, in milliseconds: {OWN_GRAMMAR[name]}")
    prompts = stage_prompts()[name]
    bodies = [msgspec.json.decode(msgspec.json.encode(BODIES[transport](each))) for each in prompts]
    parts = {
        fixed_part({key: value for key, value in body.items() if key not in OF_LENGTH}) for body in bodies
    }
    assert len(prompts) > len(parts) == 1
    assert not any(mark.encode() in part for mark in OWN_MARKS for part in parts)
    assert not any(str(prompt.nonce).encode() in part for prompt in prompts for part in parts)
