"""The name of a file or an output -> its JSON Schema (draft 2020-12), with what each key means."""

from importlib import import_module
from typing import Any

import msgspec

from ragstone.kernel.config import Settings, shipped
from ragstone.kernel.errors import DataError, nearest
from ragstone.kernel.judging.judge import KINDS, LOADED, type_of_kind
from ragstone.kernel.version import __version__

DRAFT = "https://json-schema.org/draft/2020-12/schema"
OUTPUT_VERSION = 1
"""Of what --json prints: a new number where a field goes, or means something else; new fields may come."""
FILES = {"settings": "ragstone.toml", "judge": "the file of a judge"}
ROWS = ("question", "answer", "judgement", "label", "document", "chunk", "ranking")
RESULTS = {
    "run": "kernel.runs.summary:RunSummary",
    "compare": "features.compare.values:Comparison",
    "compare-several": "features.compare.several:SeveralRuns",
    "blame": "kernel.runs.blamed:BlameSummary",
    "attack": "features.attack.words:AttackSummary",
    "bench-answerers": "features.bench.answerers.words:AnswerBenchSummary",
    "bench-judges": "features.bench.judges.words:JudgeBenchSummary",
    "bench-retrievers": "features.bench.retrievers.words:BenchSummary",
    "bench-languages": "features.bench.languages.words:StudySummary",
    "forecast": "kernel.llm.forecast:Forecast",
}
"""What --json prints, as its type. `ragstone judge` prints what `run` does, every command with --forecast
`forecast`."""


def schema_names() -> list[str]:
    """Return the names that `schema_of` takes."""
    return [*FILES, *ROWS, *RESULTS]


def schema_of(name: str) -> dict[str, Any]:
    """Return a schema as a JSON object. Raises DataError for an unknown name."""
    if name == "settings":
        return _headed(_settings(), "ragstone.toml")
    if name == "judge":
        return _headed(_judge(), "A judge file of Ragstone")
    if name in ROWS:
        kind = getattr(import_module("ragstone.kernel.records"), name.capitalize())
        return _headed(msgspec.json.schema(kind), f"A row of Ragstone: {name}")
    if name in RESULTS:
        module, _, kind = RESULTS[name].partition(":")
        made = msgspec.json.schema(getattr(import_module(f"ragstone.{module}"), kind))
        return _headed(made, f"{name}, version {OUTPUT_VERSION} of what --json prints")
    raise DataError(f"There is no schema {name[:80]!r}. {nearest(name[:80], schema_names())}")


def _headed(schema: dict[str, Any], title: str) -> dict[str, Any]:
    return {"$schema": DRAFT, "title": title, "$comment": f"Ragstone {__version__}", **schema}


def _settings() -> dict[str, Any]:
    schema = msgspec.json.schema(Settings)
    definitions = schema["$defs"]
    properties = definitions["Settings"]["properties"]
    for made in ("root", "file"):
        properties.pop(made, None)
    for table, keys in _meanings().items():
        path = "models.price_usd_per_million" if table == "price_usd_per_million" else table
        _explain(definitions, properties, path, keys)
    return schema


def _explain(
    definitions: dict[str, Any], properties: dict[str, Any], table: str, keys: dict[str, str]
) -> None:
    """Put what the keys of a table mean where editors show it: `bench.judges` is a table of a table."""
    schema: dict[str, Any] = {"properties": properties}
    for part in table.split("."):
        if "properties" in schema and part in schema["properties"]:
            schema = _followed(schema["properties"][part], definitions)
        else:  # a kind of the tables below: [systems.NAME] of kind "http"
            schema = _followed(schema.get("mapping", {}).get(part, {}), definitions)
    for key, meaning in keys.items():
        if key in schema.get("properties", {}):
            schema["properties"][key]["description"] = meaning


def _followed(schema: Any, definitions: dict[str, Any]) -> dict[str, Any]:  # noqa: ANN401 - of JSON
    """Return what a reference leads to; of a table of tables the kinds, by name."""
    if isinstance(schema, str):
        return _definition(schema, definitions)
    if "$ref" in schema:
        return _definition(schema["$ref"], definitions)
    inner = schema.get("additionalProperties") or schema.get("items") or {}
    if not isinstance(inner, dict):
        return {}
    if "discriminator" in inner:
        return {"mapping": inner["discriminator"]["mapping"]}
    if "$ref" in inner:
        return _definition(inner["$ref"], definitions)
    options = [option for option in schema.get("anyOf", ()) if "$ref" in option]
    return _definition(options[0]["$ref"], definitions) if len(options) == 1 else {}


def _definition(reference: str, definitions: dict[str, Any]) -> dict[str, Any]:
    definition: dict[str, Any] = definitions[reference.rpartition("/")[2]]
    return definition


def _judge() -> dict[str, Any]:
    kinds, definitions = msgspec.json.schema_components(
        [type_of_kind(kind) for kind in KINDS], ref_template="#/$defs/{name}"
    )
    meanings = _meanings()["judge_file"]
    for reference in kinds:
        properties = definitions[reference["$ref"].rpartition("/")[2]]["properties"]
        for made in LOADED:
            properties.pop(made, None)
        for key, meaning in meanings.items():
            if key in properties:
                properties[key]["description"] = meaning
    return {"anyOf": [*kinds], "$defs": definitions}


def _meanings() -> dict[str, dict[str, str]]:
    """Return table -> key -> what it means, as docs/generate.py takes them from the docs."""
    content = shipped("ragstone.features.schema", "meanings.json").read_bytes()
    return msgspec.json.decode(content, type=dict[str, dict[str, str]])
