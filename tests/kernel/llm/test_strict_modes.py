"""No schema that we send has a keyword that a provider's strict mode refuses; the table has its sources."""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.support.every_judge import answer_in_any_form, rows_with_every_field
from tests.support.scripts import schema_in
from tests.support.stage_prompts import stage_prompts

import ragstone
from ragstone.kernel.judging import judge_names, load_judge
from ragstone.kernel.llm.schema import CHECKED_BY_US, KEYWORDS

TABLE: dict[str, dict[str, Any]] = tomllib.loads(
    (Path(__file__).parent / "strict_modes.toml").read_text("utf-8")
)
MOST_ENUM = 1000  # values of all lists together, as OpenAI limits them


def keywords_in(node: object) -> Iterator[str]:
    """Yield the keywords of a schema; names of fields and of types are none."""
    if not isinstance(node, dict):
        return
    for key, value in node.items():
        yield key
        if key in ("properties", "$defs"):
            for inner in value.values():
                yield from keywords_in(inner)
        elif key == "anyOf":
            for inner in value:
                yield from keywords_in(inner)
        elif key == "items":
            yield from keywords_in(value)


def objects_in(node: object) -> Iterator[dict[str, Any]]:
    """Yield the objects of a schema."""
    if isinstance(node, dict):
        if "properties" in node and node.get("type") == "object":
            yield node
        for value in node.values():
            yield from objects_in(value)
    if isinstance(node, list):
        for value in node:
            yield from objects_in(value)


@pytest.mark.parametrize("provider", TABLE)
def test_each_provider_takes_all_that_we_send_and_refuses_nothing_of_it(provider):
    table = TABLE[provider]
    assert set(table["takes"]) >= KEYWORDS
    assert not KEYWORDS & set(table["refuses"])
    assert table["source"].startswith("https://")


def test_what_one_of_them_refuses_is_left_to_us_or_never_written_by_us():
    assert not KEYWORDS & CHECKED_BY_US
    refused = {keyword for table in TABLE.values() for keyword in table["refuses"]}
    structure = {"oneOf", "not", "if", "allOf", "const", "default", "contains", "minContains", "maxContains"}
    structure |= {"dependentRequired", "dependentSchemas", "patternProperties", "propertyNames"}
    assert refused - CHECKED_BY_US == structure


def check(schema: dict[str, Any], name: str) -> None:
    """Fail where the schema is not what all strict modes take."""
    assert set(keywords_in(schema)) <= KEYWORDS, name
    for each in objects_in(schema):
        assert each["required"] == list(each["properties"]), name
        assert each["additionalProperties"] is False, name
    assert msgspec.json.encode(schema).count(b",") < MOST_ENUM, name


def test_every_judge_is_asked_by_a_schema_that_all_take(fake_openai, tmp_path):
    fake_openai.script = answer_in_any_form
    asking = [name for name in judge_names() if load_judge(name).needs_model]
    asking = [name for name in asking if not load_judge(name).needs_embedder]
    rows, settings = rows_with_every_field(), fake_openai.settings(tmp_path)
    ragstone.judge(rows, judges=asking, model="openai/fake", settings=settings)
    ragstone.judge(
        rows, judges=["correctness", "rubric"], model="openai/fake", settings=settings, one_call=True
    )
    schemas = {msgspec.json.encode(found): found for found in map(schema_in, fake_openai.bodies) if found}
    assert len(schemas) > 12
    for text, schema in schemas.items():
        check(schema, text.decode())


@pytest.mark.parametrize("name", stage_prompts())
def test_every_stage_asks_by_a_schema_that_all_take(name):
    for prompt in stage_prompts()[name]:
        assert prompt.schema is not None
        check(msgspec.json.decode(prompt.schema), name)
