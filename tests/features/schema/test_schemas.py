"""Schemas against real files: every ragstone.toml, judge file and output fits, wrong ones do not."""

import json
import re
import tomllib
from pathlib import Path

import jsonschema
import msgspec
import pytest
from tests.support.command import ragstone
from tests.support.golden import check_golden
from tests.support.judged_runs import write_runs_that_differ

from ragstone.features.new.starter import starter_settings
from ragstone.features.schema.schemas import RESULTS, schema_names, schema_of
from ragstone.kernel.errors import DataError

ROOT = Path(__file__).parents[3]
LIBRARY = ROOT / "src" / "ragstone" / "kernel" / "judging" / "library"
STARTERS = ROOT / "src" / "ragstone" / "features" / "judges" / "starter_files"
EXAMPLES = [path for path in (ROOT / "examples").rglob("ragstone.toml") if "runs" not in path.parts]
SETTINGS = [
    starter_settings(None),
    starter_settings("openai/gpt-4o-mini"),
    *(path.read_text() for path in EXAMPLES),
]


def validator(name):
    schema = schema_of(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize("text", SETTINGS)
def test_settings_of_the_project_fit(text):
    validator("settings").validate(tomllib.loads(text))


@pytest.mark.parametrize(
    "text",
    [
        "[retreive]\nk = 5",
        '[retrieve]\nk = "five"',
        "[retrieve]\nkk = 5",
        '[systems.a]\nkind = "htp"\nurl = "x"',
        '[systems.a]\nkind = "http"',
        'root = "/"',
    ],
)
def test_wrong_settings_do_not_fit(text):
    assert list(validator("settings").iter_errors(tomllib.loads(text)))


@pytest.mark.parametrize(
    "path", sorted([*LIBRARY.glob("*.toml"), *STARTERS.glob("*.toml")]), ids=lambda p: p.stem
)
def test_judge_files_fit(path):
    text = re.sub(r"\bNAME\b", "name", path.read_text("utf-8"))
    validator("judge").validate(tomllib.loads(text))


def test_a_judge_file_with_an_unknown_key_does_not_fit():
    keys = tomllib.loads((LIBRARY / "correctness.toml").read_text("utf-8"))
    assert list(validator("judge").iter_errors({**keys, "promt": "?"}))


def test_keys_have_their_meaning_in_every_table():
    definitions = schema_of("settings")["$defs"]
    for section in ("RetrieveSection", "ModelSettings", "HttpSystem", "AnswerersBench", "McpServer", "Price"):
        properties = definitions[section]["properties"]
        lacking = [key for key in properties if "description" not in properties[key] and key != "kind"]
        assert not lacking, section
    kinds = schema_of("judge")["$defs"]
    assert kinds["BooleanJudge"]["properties"]["prompt"]["description"]


@pytest.mark.parametrize("name", schema_names())
def test_every_schema_is_one(name):
    validator(name)


@pytest.mark.parametrize("name", RESULTS)
def test_no_field_of_an_output_goes_unnoticed(name):
    """A field that goes, or means something else, takes a new OUTPUT_VERSION and a line in CHANGELOG.md."""
    definitions = schema_of(name)["$defs"]
    fields = {kind: sorted(made.get("properties", {})) for kind, made in sorted(definitions.items())}
    check_golden(f"schema/{name}.json", msgspec.json.format(msgspec.json.encode(fields), indent=1).decode())


def test_what_commands_print_fits(folder):
    write_runs_that_differ(folder)
    for words, name in (
        (["compare", "a", "b"], "compare"),
        (["compare", "a", "b", "a/judgements.jsonl"], "compare-several"),
        (["judge", "a/answers.jsonl", "--judge", "no_refusal"], "run"),
    ):
        ran = ragstone(*words, "--json")
        assert ran.code == 0, ran.err
        validator(name).validate(json.loads(ran.out))


def test_an_unknown_name_is_told(says):
    with pytest.raises(DataError) as mistake:
        schema_of("setings")
    says(str(mistake.value))


def test_the_command_lists_prints_and_writes(folder, says):
    assert ragstone("schema").out.split() == schema_names()
    says(json.loads(ragstone("schema", "label").out)["title"])
    assert ragstone("schema", "settings", "-o", "s.json").code == 0
    assert json.loads((folder / "s.json").read_text())["$schema"]
    for words in (["schema", "settings", "-o", "s.json"], ["schema", "-o", "other.json"], ["schema", "x"]):
        ran = ragstone(*words)
        assert ran.code == 2
        says(ran.err)
