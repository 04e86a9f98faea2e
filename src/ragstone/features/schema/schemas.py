"""The name of a file or an output -> its JSON Schema (draft 2020-12), with what each key means."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

import msgspec

from ragstone.kernel.config import Settings, shipped
from ragstone.kernel.errors import DataError, nearest
from ragstone.kernel.judging.judge import KINDS, LOADED, type_of_kind
from ragstone.kernel.version import __version__

DRAFT = "https://json-schema.org/draft/2020-12/schema"
OUTPUT_VERSION = 1
"""Of what --json prints, in each schema's $id. Within a version fields are added; none goes, changes its type
or means something else. What has to takes a new number."""
FILES = {"settings": "ragstone.toml", "judge": "the file of a judge"}
ROWS = ("question", "answer", "judgement", "label", "document", "chunk", "ranking")
RESULTS = {
    "run": "kernel.runs.summary:RunSummary",
    "ask": "features.ask.asking:AskedQuestion",
    "compare": "features.compare.values:Comparison",
    "compare-several": "features.compare.several:SeveralRuns",
    "try": "features.improve.trial._words:PromptTrial",
    "blame": "kernel.runs.blamed:BlameSummary",
    "modes": "features.modes.values:ModesSummary",
    "modes-queue": "list features.label.labelling:ToLabel",
    "show": "kernel.runs.joining:OpenedRows",
    "note": "kernel.runs.notes:Note",
    "notes": "list kernel.runs.notes:Note",
    "bench-answerers": "features.bench.answerers.words:AnswerBenchSummary",
    "bench-judges": "features.bench.judges.words:JudgeBenchSummary",
    "bench-judges-suite": "features.bench.suite.words:SuiteSummary",
    "bench-retrievers": "features.bench.retrievers.words:BenchSummary",
    "bench-languages": "features.bench.languages.words:StudySummary",
    "agree": "list features.agree._output:CardOutput",
    "agree-languages": "list features.agree._output:LanguagesOutput",
    "agree-gaps": "features.agree._output:GapsOutput",
    "judges-list": "list features.judges._output:JudgeLine",
    "judges-show": "features.judges._output:JudgeOutput",
    "judges-test": "features.judges.testing:JudgeTest",
    "judges-test-file": "features.judges._output:CheckedFile",
    "judges-develop": "features.improve.values:Development",
    "judges-develop-test": "features.improve.develop:TestLook",
    "judges-learn": "features.improve.learned:Learning",
    "judges-fit": "features.improve.fit:FitOutput",
    "attack": "features.attack.words:AttackSummary",
    "import": "features.import_.summary:ImportSummary",
    "import-verdicts": "features.import_._verdicts:ImportedVerdicts",
    "import-conversations": "features.import_._gathering:GatheredOutput",
    "build": "features.build.certificate.page:BuildOutput",
    "build-refresh": "features.build.refresh:RefreshSummary",
    "data-diff": "features.data.diffing:SetDiff",
    "check": "features.check.sets:SetCheck",
    "review": "features.review.reviewing:ReviewOutput",
    "sample": "features.sample.sampling:SampleSummary",
    "sample-feedback": "features.sample.feedback:FeedbackSummary",
    "simulate": "features.simulate.distil:Distillation",
    "translate": "features.translate.translating:TranslatingSummary",
    "tag": "features.tag.tagging:TaggingSummary",
    "watch": "features.watch.look:WatchSummary",
    "ingest": "features.ingest._ingesting:IngestOutput",
    "chunk-summary": "features.chunk._chunking:ChunkOutput",
    "retrieve": "features.retrieve.ranking:RetrieveSummary",
    "answer-summary": "features.answer.answering:AnswerSummary",
    "doctor": "list features.doctor.command:Check",
    "models": "features.models._output:ModelsOutput",
    "models-of-a-provider": "kernel.llm.catalogue:ProviderEntry",
    "ledger": "features.ledger._account:Account",
    "ledger-export": "features.ledger._archive:ExportOutput",
    "ledger-import": "features.ledger._archive:ImportOutput",
    "ledger-prune": "features.ledger._archive:Pruned",
    "explain": "list features.explain.explaining:Explanation",
    "people": "workbench.people_command:PeopleOutput",
    "assistant-build": "ragstone_assistant.knowledge.entry:BuildResult",
    "assistant-list": "list ragstone_assistant.knowledge.entry:Entry",
    "assistant-remove": "ragstone_assistant.building:RemoveOutput",
    "forecast": "kernel.llm.forecast:Forecast",
}
"""Name -> the type of what --json prints; `list` for a list of it."""
PRINTED = {
    "demo": ("run",),
    "judge": ("run",),
    "compare": ("compare", "compare-several"),
    "modes": ("modes", "modes-queue"),
    "note": ("note", "notes"),
    "agree": ("agree", "agree-languages", "agree-gaps"),
    "bench judges": ("bench-judges", "bench-judges-suite"),
    "judges test": ("judges-test", "judges-test-file"),
    "judges develop": ("judges-develop", "judges-develop-test"),
    "import": ("import", "import-verdicts", "import-conversations"),
    "build questions": ("build",),
    "build facts": ("build",),
    "chunk": ("chunk-summary",),
    "answer": ("answer-summary",),
    "sample": ("sample", "sample-feedback"),
    "models": ("models", "models-of-a-provider"),
    "ledger show": ("ledger",),
    "people list": ("people",),
}
"""Command -> the schemas of what it prints, where they are not the one of its own name. With --forecast every
command prints `forecast`."""
REMOVED_WITH = "ragstone_assistant"  # a distribution of its own, which may not be there


def schema_names() -> list[str]:
    """Return the names that `schema_of` takes."""
    without = () if find_spec(REMOVED_WITH) else (REMOVED_WITH,)
    results = [name for name, place in RESULTS.items() if not place.rpartition(" ")[2].startswith(without)]
    return [*FILES, *ROWS, *results]


def printed_by(command: str) -> tuple[str, ...]:
    """Return the names of the schemas of what a command prints with --json, such as `judges test`."""
    return PRINTED.get(command, (command.replace(" ", "-"),))


def schema_of(name: str) -> dict[str, Any]:
    """Return a schema as a JSON object. Raises DataError for an unknown name."""
    if name == "settings":
        return _headed(name, _settings(), "ragstone.toml")
    if name == "judge":
        return _headed(name, _judge(), "A judge file of Ragstone")
    if name in ROWS:
        kind = getattr(import_module("ragstone.kernel.records"), name.capitalize())
        return _headed(name, msgspec.json.schema(kind), f"A row of Ragstone: {name}")
    if name in schema_names():
        made = msgspec.json.schema(result_type(name))
        for definition in made["$defs"].values():  # settings in an output forbid keys; an output may grow
            if definition.get("additionalProperties") is False:
                del definition["additionalProperties"]
        return _headed(name, made, f"{name}, version {OUTPUT_VERSION} of what --json prints")
    raise DataError(f"There is no schema {name[:80]!r}. {nearest(name[:80], schema_names())}")


def result_type(name: str) -> Any:  # noqa: ANN401 - a struct, or a list of one
    """Return the type of what --json prints, by the name of its schema."""
    many, _, place = RESULTS[name].rpartition(" ")
    module, _, kind = place.partition(":")
    package = module if module.startswith(REMOVED_WITH) else f"ragstone.{module}"
    made: Any = getattr(import_module(package), kind)
    return list.__class_getitem__(made) if many else made


def _headed(name: str, schema: dict[str, Any], title: str) -> dict[str, Any]:
    return {
        "$schema": DRAFT,
        "$id": f"urn:ragstone:schema:{name}:{OUTPUT_VERSION}",
        "title": title,
        "$comment": f"Ragstone {__version__}",
        **schema,
    }


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
