"""Schemas against real files: every ragstone.toml, judge file and output fits, wrong ones do not."""

import json
import re
import tomllib
from pathlib import Path

import jsonschema
import msgspec
import pytest
from tests.support.command import check_json, every_command, ragstone, validator_of
from tests.support.golden import check_golden
from tests.support.judged_runs import write_runs_that_differ
from tests.support.ledgers import make_ledger

from ragstone.features.new.starter import starter_settings
from ragstone.features.schema.schemas import PRINTED, RESULTS, printed_by, schema_names, schema_of
from ragstone.kernel.errors import DataError

ROOT = Path(__file__).parents[3]
LIBRARY = ROOT / "src" / "ragstone" / "kernel" / "judging" / "library"
STARTERS = ROOT / "src" / "ragstone" / "features" / "judges" / "starter_files"
EXAMPLES = [path for path in (ROOT / "examples").rglob("ragstone.toml") if "runs" not in path.parts]
META_SCHEMA = jsonschema.Draft202012Validator(jsonschema.Draft202012Validator.META_SCHEMA)
SETTINGS = [
    starter_settings(None),
    starter_settings("openai/gpt-4o-mini"),
    *(path.read_text() for path in EXAMPLES),
]


@pytest.mark.parametrize("text", SETTINGS)
def test_settings_of_the_project_fit(text):
    validator_of("settings").validate(tomllib.loads(text))


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
    assert list(validator_of("settings").iter_errors(tomllib.loads(text)))


@pytest.mark.long
@pytest.mark.parametrize(
    "path", sorted([*LIBRARY.glob("*.toml"), *STARTERS.glob("*.toml")]), ids=lambda p: p.stem
)
def test_judge_files_fit(path):
    text = re.sub(r"\bNAME\b", "name", path.read_text("utf-8"))
    validator_of("judge").validate(tomllib.loads(text))


def test_a_judge_file_with_an_unknown_key_does_not_fit():
    keys = tomllib.loads((LIBRARY / "correctness.toml").read_text("utf-8"))
    assert list(validator_of("judge").iter_errors({**keys, "promt": "?"}))


def test_keys_have_their_meaning_in_every_table():
    definitions = schema_of("settings")["$defs"]
    for section in ("RetrieveSection", "ModelSettings", "HttpSystem", "AnswerersBench", "McpServer", "Price"):
        properties = definitions[section]["properties"]
        lacking = [key for key in properties if "description" not in properties[key] and key != "kind"]
        assert not lacking, section
    kinds = schema_of("judge")["$defs"]
    assert kinds["BooleanJudge"]["properties"]["prompt"]["description"]


def test_no_name_is_of_two_schemas():
    assert len(schema_names()) == len({*schema_names()})


@pytest.mark.long
def test_every_schema_is_one():
    schemas = {name: dict(schema_of(name)) for name in schema_names()}
    parts = {(name, ""): schema for name, schema in schemas.items()}
    parts |= {(name, at): part for name, one in schemas.items() for at, part in one.pop("$defs").items()}
    once = {msgspec.json.encode(part): (where, part) for where, part in parts.items()}  # most are in several
    for where, part in once.values():
        assert not [*META_SCHEMA.iter_errors(part)], where


@pytest.mark.parametrize("name", RESULTS)
def test_no_field_of_an_output_goes_unnoticed(name):
    """A field that goes, or means something else, takes a new OUTPUT_VERSION and a line in CHANGELOG.md."""
    definitions = schema_of(name)["$defs"]
    fields = {kind: sorted(made.get("properties", {})) for kind, made in sorted(definitions.items())}
    check_golden(f"schema/{name}.json", msgspec.json.format(msgspec.json.encode(fields), indent=1).decode())


def json_commands(node=None, words=()):
    """Yield every command that takes --json, as its words."""
    node = node or every_command()
    for name, child in getattr(node, "commands", {}).items():
        yield from json_commands(child, (*words, name))
    if any("--json" in option.opts for option in node.params):
        yield " ".join(words)


def test_every_command_that_takes_json_has_a_schema_and_no_schema_is_of_none():
    commands = [*json_commands()]
    assert len(commands) > 40
    names = {name for command in commands for name in printed_by(command)}
    assert names | {"forecast"} == {*RESULTS}
    assert PRINTED.keys() <= {*commands}


RUN_ELSEWHERE = {
    "agree": "agree/test_command.py",
    "answer": "answer/test_repeats.py",
    "ask": "ask/test_command.py",
    "attack": "attack/test_command.py",
    "check": "check/test_sets.py",
    "simulate": "simulate/test_distil.py",
    "bench answerers": "bench/answerers/test_command.py",
    "bench judges": "bench/judges/test_command.py",
    "bench languages": "bench/retrievers/test_command.py",
    "bench retrievers": "bench/retrievers/test_command.py",
    "blame": "blame/test_command.py",
    "build facts": "build/test_command.py",
    "build questions": "build/test_command.py",
    "build refresh": "build/test_refresh.py",
    "data diff": "data/test_diffing.py",
    "doctor": "doctor/test_command.py",
    "import": "import_/test_command.py",
    "modes": "modes/test_command.py",
    "judges develop": "improve/test_develop_command.py",
    "judges fit": "improve/test_fit_command.py",
    "judges learn": "improve/test_learn_command.py",
    "retrieve": "retrieve/test_command.py",
    "review": "review/test_command.py",
    "sample": "sample/test_command.py",
    "show": "show/test_command.py",
    "tag": "tag/test_command.py",
    "translate": "translate/test_command.py",
    "try": "improve/trial/test_trying.py",
    "watch": "watch/test_command.py",
}
"""Command -> a test that runs it with --json; tests.support.command holds each output against its schema."""


ASSISTANT = ROOT / "packages" / "ragstone-assistant" / "assistant_tests" / "command" / "test_command.py"
RUN_HERE = [
    ["demo", "demo", "--limit", "2", "--offline"],
    ["run", "demo/ragstone.toml", "--force"],
    ["judge", "a/answers.jsonl", "--judge", "no_refusal"],
    ["judge", "a/answers.jsonl", "--judge", "correctness", "--model", "openai/gpt-4o-mini", "--forecast"],
    ["compare", "a", "b"],
    ["compare", "a", "b", "a/judgements.jsonl"],
    ["note", "demo/runs/starter", "QUESTION", "It names wheat."],
    ["note", "demo/runs/starter"],
    ["judges", "list"],
    ["judges", "show", "correctness"],
    ["judges", "show", "own.py:own"],
    ["judges", "test", "containment"],
    ["judges", "test", "correctness"],
    ["models"],
    ["models", "openai"],
    ["ingest", "d.md"],
    ["chunk", "documents.jsonl"],
    ["ledger", "export", "all.jsonl"],
    ["ledger", "import", "all.jsonl"],
    ["ledger", "prune", "--older-than", "1d", "--yes"],
    ["ledger", "show"],
    ["ledger"],
    ["people", "list"],
    ["explain", "timeout"],
    ["explain"],
]


@pytest.mark.long
def test_what_commands_print_fits(folder):
    """Each output is held against its schema where it is printed: see tests.support.command."""
    write_runs_that_differ(folder)
    Path("d.md").write_text("# Wheat\n\nWheat is sown in October.\n")
    Path("own.py").write_text(
        "import ragstone\n\n\n@ragstone.judge_function()\ndef own(answer):\n    return 1.0\n"
    )
    make_ledger(folder / ".ragstone" / "ledger.sqlite", [])
    for words in RUN_HERE:
        rows = Path("demo/runs/starter/answers.jsonl")
        question = rows.is_file() and json.loads(rows.read_text().splitlines()[0])["question_id"]
        ran = ragstone(*[question if word == "QUESTION" else word for word in words], "--json")
        assert ran.code == 0, (words, ran.err)
        assert ran.out[:1] in ("{", "["), words


def test_every_command_is_run_with_json_by_a_test():
    here = {
        command
        for words in RUN_HERE
        for command in json_commands()
        if [*command.split()] == words[: len(command.split())]
    }
    elsewhere = {**{name: ROOT / "tests" / "features" / file for name, file in RUN_ELSEWHERE.items()}}
    elsewhere |= {f"assistant {name}": ASSISTANT for name in ("build", "list", "remove")}
    assert here | elsewhere.keys() == {*json_commands()}
    for command, file in elsewhere.items():
        text = file.read_text(encoding="utf-8")
        assert '"--json"' in text, command
        assert f'"{command.split()[-1]}"' in text, (command, file)


def test_an_output_that_does_not_fit_is_refused():
    card = {"conversations": 1, "output": "x"}
    check_json(["import", "x", "--json"], json.dumps(card))
    for wrong in ({**card, "output": 1}, {"conversations": 1}, []):
        with pytest.raises(AssertionError):
            check_json(["import", "x", "--json"], json.dumps(wrong))


def test_an_unknown_name_is_told(says):
    with pytest.raises(DataError) as mistake:
        schema_of("setings")
    says(str(mistake.value))


def test_the_command_lists_prints_and_writes(folder, says):
    listed = ragstone("schema").out.splitlines()
    assert len(listed) <= 25
    assert {*schema_names()} <= {*re.findall(r"[a-z-]+(?=,|$)", "\n".join(listed), re.MULTILINE)}
    says(json.loads(ragstone("schema", "label").out)["title"])
    assert ragstone("schema", "settings", "-o", "s.json").code == 0
    assert json.loads((folder / "s.json").read_text())["$schema"]
    for words in (["schema", "settings", "-o", "s.json"], ["schema", "-o", "other.json"], ["schema", "x"]):
        ran = ragstone(*words)
        assert ran.code == 2
        says(ran.err)
