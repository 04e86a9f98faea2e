"""The parts of the docs that follow from the code. Run: python docs/generate.py

commands.md and python.md are written whole. Elsewhere a table between `<!-- table: NAME -->` and
`<!-- end -->` is written anew; its last column, the meaning, is kept from the page. tests/test_docs.py
fails while a page differs from what this file makes of it.
"""

import ast
import importlib
import inspect
import json
import re
import textwrap
import tomllib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_type_hints

import msgspec
import typer
from typer.models import OptionInfo

import ragstone
from ragstone.cli.app import app_of
from ragstone.features.explain.explaining import Explanation, explanations
from ragstone.features.explain.words import HEADS
from ragstone.features.schema.schemas import OUTPUT_VERSION, RESULTS, printed_by, schema_of
from ragstone.kernel import config, errors, records
from ragstone.kernel.console.extras import EXTRAS
from ragstone.kernel.judging import judge_names, load_judge
from ragstone.kernel.judging.fields import Example, Member
from ragstone.kernel.judging.judge import KEYS, KINDS, type_of_kind
from ragstone.kernel.judging.rubric import Criterion
from ragstone.kernel.sentences import Sentence, tables
from ragstone.kernel.tables.names import ALIASES, accepted_names, fields_of

DOCS = Path(__file__).parent
ROOT = DOCS.parent
MADE = "<!-- Written by docs/generate.py (`make docs`): edit docstrings and help texts instead. -->\n"
BLOCK = re.compile(r"<!-- table: ([\w.]+) -->\n(.*?)<!-- end -->", re.DOTALL)

SCHEMA_MEANINGS = ROOT / "src" / "ragstone" / "features" / "schema" / "meanings.json"

TREE = re.compile(r"<!-- tree -->\n(.*?)<!-- end -->", re.DOTALL)

Rows = Iterable[Sequence[str]]
Heads = Sequence[str]


def pages() -> dict[Path, str]:
    """Return every page as it should be. Raises ValueError where a table lacks a meaning."""
    in_kinds = (path for path in DOCS.rglob("*.md") if path.parent.name != "decisions")
    with_tables = [ROOT / "README.md", *sorted(in_kinds)]
    found = {path: fill_tables(path.read_text(encoding="utf-8")) for path in with_tables}
    contributing = ROOT / "CONTRIBUTING.md"
    found[contributing] = TREE.sub(lambda _: tree(), contributing.read_text(encoding="utf-8"))
    written = {
        "reference/commands.md": commands_page(),
        "reference/python.md": python_page(),
        "reference/sentences.md": sentences_page(),
        "how-to/troubleshooting.md": troubleshooting_page(),
        "reference/json.md": json_page(),
    }
    found[SCHEMA_MEANINGS] = _meanings_of_keys(found)
    return {**found, **{DOCS / name: page for name, page in written.items()}}


def _meanings_of_keys(pages: dict[Path, str]) -> str:
    """Return the meanings of keys of settings and judge files, as `ragstone schema` ships them."""
    tables: dict[str, dict[str, str]] = {}
    for page in pages.values():
        for name, table in BLOCK.findall(page):
            if name in SECTIONS or name == "judge_file":
                plain = re.sub(r"\[([^]]+)]\([^)]+\)", r"\1", table)  # a link means nothing in an editor
                named = {re.sub(r"[`?]", "", key): words for key, words in _meanings(plain).items()}
                tables[name] = {key: words for key, words in named.items() if key.isidentifier()}
                tables[name].pop("key", None)
    return json.dumps(dict(sorted(tables.items())), indent=1, ensure_ascii=False) + "\n"


def tree() -> str:
    """Return CONTRIBUTING's list: the kernel's rooms in the order of their floors, features, shells."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    rooms = [f"kernel.{room}" for room in reversed(contracts[1]["layers"])]
    features = sorted(
        f"features.{path.parent.name}"
        for path in (ROOT / "src" / "ragstone" / "features").glob("*/__init__.py")
    )
    shells = ["cli", "workbench", "mcp", "notebook", "pytest", "assistant"]
    every = ["kernel", *rooms, "features", *features, *shells]
    return f"<!-- tree -->\n```text\nsrc/ragstone/\n{''.join(map(_tree_line, every))}```\n<!-- end -->"


def _tree_line(place: str) -> str:
    """Return a line of the tree: the name of a folder or file, and the first line of its docstring."""
    module = importlib.import_module(f"ragstone.{place}")
    name = place.rpartition(".")[2] + ("/" if hasattr(module, "__path__") else ".py")
    indent = "  " * (place.count(".") + 1)
    return f"{indent}{name:<{17 - len(indent)}} {str(module.__doc__).splitlines()[0].rstrip('.')}\n"


def fill_tables(page: str) -> str:
    """Return the page with its tables written anew."""
    return BLOCK.sub(lambda found: _filled(found[1], found[2]), page)


def _filled(name: str, before: str) -> str:
    heads, rows, with_meaning = TABLES[name]()
    if not with_meaning:
        return f"<!-- table: {name} -->\n{_table(heads, rows)}<!-- end -->"
    kept = _meanings(before)
    full = [[*row, kept.get(row[0], "")] for row in rows]
    missing = [row[0] for row in full if not row[-1]]
    if missing:
        raise ValueError(f"table {name}: write the meaning of {', '.join(missing)} into its last column")
    return f"<!-- table: {name} -->\n{_table([*heads, 'meaning'], full)}<!-- end -->"


def _table(heads: Heads, rows: Rows) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def _meanings(table: str) -> dict[str, str]:
    """Return first cell -> last cell of a table as it stands."""
    rows = [re.split(r"(?<!\\)\|", line.strip().strip("|")) for line in table.splitlines()]
    return {cells[0].strip(): cells[-1].strip() for cells in rows if len(cells) > 1}


def _fields(kind: type[msgspec.Struct]) -> tuple[Heads, Rows, bool]:
    """Return the fields of a row type: a `?` marks those that may be absent."""
    rows = [
        [f"`{field.name}`" + ("" if field.required else "?"), _type_name(field.type)]
        for field in msgspec.structs.fields(kind)
    ]
    return ["field", "type"], rows, True


def _keys(section: type[msgspec.Struct]) -> tuple[Heads, Rows, bool]:
    """Return the keys of a table of ragstone.toml or of a judge file, with their defaults."""
    rows = [
        [f"`{field.name}`", _type_name(field.type), _default(field)]
        for field in msgspec.structs.fields(section)
    ]
    return ["key", "type", "default"], rows, True


def _judge_keys() -> tuple[Heads, Rows, bool]:
    """Return the keys of judges' files, with the default that each has where the kind has the key."""
    rows = {row[0]: row for kind in reversed(KINDS) for row in _keys(type_of_kind(kind))[1]}
    rows["`kind`"] = ["`kind`", ", ".join(f"`{kind}`" for kind in KINDS), "required"]
    return ["key", "type", "default"], [rows[f"`{key}`"] for key in KEYS], True


def _default(field: msgspec.structs.FieldInfo) -> str:
    if field.required:
        return "required"
    value = field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()
    return "" if value is None else f"`{msgspec.json.encode(value).decode()}`"


def _type_name(kind: Any) -> str:  # noqa: ANN401 - a type in any of typing's forms
    """Return a type in a reader's words."""
    if isinstance(kind, type) and kind in WORDS:
        return WORDS[kind]
    arguments = [argument for argument in getattr(kind, "__args__", ()) if argument is not type(None)]
    origin = str(getattr(kind, "__origin__", ""))
    if hasattr(kind, "__metadata__"):
        return _type_name(arguments[0] if arguments else kind.__origin__)
    if "Literal" in origin:
        return ", ".join(f"`{choice}`" for choice in arguments)
    if "list" in origin or "Sequence" in origin:
        return f"list of {_type_name(arguments[0])}"
    if "tuple" in origin:
        return f"[{', '.join(_type_name(argument) for argument in arguments)}]"
    if "dict" in origin:
        return f"table of {_type_name(arguments[1])}"
    if arguments:
        return " or ".join(_type_name(argument) for argument in arguments)
    return "anything" if kind is Any else f"`{kind.__name__}`"


WORDS = {str: "text", int: "whole number", float: "number", bool: "true, false"}


def _extras() -> tuple[Heads, Rows, bool]:
    """Return what each extra is for."""
    return ["extra", "for"], [[f"`{name}`", extra.purpose] for name, extra in EXTRAS.items()], False


def _columns() -> tuple[Heads, Rows, bool]:
    """Return what other tools' columns are read as."""
    rows = []
    for row_type in ALIASES:
        for field in dict.fromkeys((*fields_of(row_type), *ALIASES[row_type])):
            others = accepted_names(row_type, field)[1:]
            if others:
                names = ", ".join(f"`{name}`" for name in others)
                rows.append([row_type.__name__, f"`{field}`", names])
    return ["row", "field", "also read from, the first that holds a value"], rows, False


def _judges() -> tuple[Heads, Rows, bool]:
    """Return the judges that come with Ragstone, those without a model first."""
    judges = sorted(map(load_judge, judge_names()), key=lambda judge: (judge.needs_model, judge.name))
    rows = [
        [
            f"`{judge.name}`",
            judge.kind,
            judge.metric or judge.name,
            ", ".join(judge.inputs),
            f"{judge.scale[0]:g} to {judge.scale[1]:g}",
        ]
        for judge in judges
    ]
    return ["judge", "kind", "metric", "reads", "scale"], rows, True


ROWS = (
    *(records.Document, records.Chunk, records.Question, records.Ranking, records.Answer),
    *(records.Judgement, records.Label, records.RankingItem, records.Context, records.Usage),
    *(records.Turn, records.Step),
    *(records.Evidence, records.Verdict),
)
SECTIONS = {
    **{field.name: field.type for field in msgspec.structs.fields(config.Settings)},
    "models": config.ModelSettings,
    "price_usd_per_million": config.Price,
    "judge_file.criteria": Criterion,
    "judge_file.examples": Example,
    "judge_file.members": Member,
    "build.facts": config.FactsSection,
    "translate.http": config.HttpTranslator,
    "bench.retrievers": config.RetrieversBench,
    "bench.languages": config.LanguagesBench,
    "bench.judges": config.JudgesBench,
    "bench.answerers": config.AnswerersBench,
    "serve.otlp": config.OtlpSection,
    "assistant.log": config.LogSection,
    "assistant.mcp": config.McpServer,
    "systems.rag": config.RagSystem,
    "systems.extractive": config.ExtractiveSystem,
    "systems.chat": config.ChatSystem,
    "systems.http": config.HttpSystem,
    "systems.python": config.PythonSystem,
    "systems.sheet": config.SheetSystem,
    "retrievers.dense": config.DenseSettings,
    "retrievers.hybrid": config.HybridSettings,
    "retrievers.rerank": config.RerankSettings,
    "retrievers.http": config.HttpSettings,
}
TABLES: dict[str, Callable[[], tuple[Heads, Rows, bool]]] = {
    "columns": _columns,
    "judges": _judges,
    "extras": _extras,
    "judge_file": _judge_keys,
    **{kind.__name__: lambda kind=kind: _fields(kind) for kind in ROWS},
    **{name: lambda kind=kind: _keys(kind) for name, kind in SECTIONS.items() if name != "root"},
}


def commands_page() -> str:
    """Return commands.md: what `ragstone COMMAND --help` says, as tables that no terminal's width bends."""
    parts = [f"# Commands\n\n{MADE}", f"{textwrap.fill(str(app_of().info.help), 100)}\n", COMMON]
    groups = [group.typer_instance for group in app_of().registered_groups if group.typer_instance]
    for place, commands in [
        ("ragstone", app_of()),
        *((f"ragstone {group.info.name}", group) for group in groups),
    ]:
        for info in commands.registered_commands:
            if info.callback:
                command = inspect.unwrap(info.callback)
                parts.append(_command(f"{place} {info.name or command.__name__}", command))
    return "\n".join(parts)


def _command(name: str, command: Callable[..., object]) -> str:
    parameters = sorted(_parameters(command), key=lambda parameter: parameter.option)
    places = [
        p.spelling if p.default == "required" else f"[{p.spelling}]" for p in parameters if not p.option
    ]
    options = ["[OPTIONS]"] if len(places) < len(parameters) else []
    usage = " ".join([name, *places, *options])
    rows = [[f"`{p.spelling}`", p.told.replace("|", "\\|"), p.default] for p in parameters]
    return (
        f"## {name}\n\n{inspect.getdoc(command)}\n\n```text\n{usage}\n```\n\n"
        f"{_table(['', 'meaning', 'default'], rows)}"
    )


class Parameter(msgspec.Struct, frozen=True):
    """An argument or option of a command, as a reader sees it."""

    option: bool
    spelling: str
    told: str
    default: str


def _parameters(command: Callable[..., object]) -> Iterable[Parameter]:
    """Yield the parameters of a command; read from its signature, for Typer's inside changes often."""
    hints = get_type_hints(command, include_extras=True)
    for name, parameter in inspect.signature(command).parameters.items():
        kind, told = get_args(hints[name])[:2]
        option = isinstance(told, OptionInfo)
        if option and told.hidden:  # removed: it only says so
            continue
        words = _value_word(kind)
        spelling = f"{', '.join(_names(told) or ['--' + name])} {words}".strip() if option else name.upper()
        yield Parameter(option, spelling, told.help or "The file to write.", _default_shown(parameter))


def _names(told: OptionInfo) -> list[str]:
    """Return what an option is called; in `Annotated` Typer takes the first name for a default."""
    return [str(name) for name in (told.default, *(told.param_decls or ())) if str(name).startswith("-")]


def _value_word(kind: Any) -> str:  # noqa: ANN401 - a type in any of typing's forms
    names = {"Path": "PATH", "str": "TEXT", "int": "N", "float": "X", "Literal": "TEXT", "bool": ""}
    return next(word for name, word in names.items() if name in str(kind))


def _default_shown(parameter: inspect.Parameter) -> str:
    if parameter.default is inspect.Parameter.empty:
        return "required"
    return "" if parameter.default in (None, False) else f"`{parameter.default}`"


COMMON = """\
Results go to standard output, everything else to standard error. With `--json`, standard output is one
JSON document. A result takes at most 25 lines at 80 columns, in a pipe too; where that leaves something
out, the last line says so, and `--all` shows everything. Progress bars appear if standard error is a
terminal. `ragstone --version` prints the version; `--help` after a command prints its part of this page,
of a long one the options that most people need, and `--help-all` every option.

What is printed with `--json` is described in [json.md](json.md). `ragstone explain` says more about a
message, a status or an exit code; [troubleshooting](../how-to/troubleshooting.md) has the errors that people
meet.

| exit code | meaning |
| --- | --- |
| 0 | done |
| 1 | done, and a gate failed: worse (`compare --gate`, `attack --gate`) |
| 2 | wrong usage or input (the message says what to change), or stopped with Ctrl-C |
| 3 | cannot tell: the rows do not decide (with `--gate`) |
| 4 | done, but the budget or the deadline cut some calls off |
| 5 | done, but an evaluation set is empty or, with `--strict`, some rows could not be scored |
| 143 | stopped by SIGTERM, as with Ctrl-C: finished rows are written, finished calls are in the ledger |
"""


# Where a name is defined -> the heading that it stands under, in the order of the page.
HEADINGS = {
    "Stages": ("kernel.stages", *map("features.{}".format, ("answer", "judge", "retrieve", "tag", "sample"))),
    "What a user does": ("features",),
    "Progress": ("kernel.console",),
    "Files": ("kernel.tables",),
    "Corpus": ("kernel.corpus",),
    "Evaluation sets": ("kernel.dataset",),
    "Retrieval": ("kernel.retrieval",),
    "Judges": ("kernel.judging",),
    "How good the judge is": ("kernel.agreement",),
    "The assistant": ("assistant",),
    "Watching an application": ("features.watch",),
    "Runs and reports": ("kernel.runs", "features.report"),
    "Statistics": ("kernel.statistics",),
    "Models": ("kernel.llm",),
    "Settings": ("kernel.config",),
    "Rows": ("kernel.records",),
    "Errors": ("kernel.errors",),
}
OPENING = """\
`import ragstone` gives the names below and opens, reads and calls nothing. The stages are functions from
rows to rows; the rows are frozen structs (of `msgspec`), made with keyword arguments. Functions that ask a
model are synchronous, and work in a script as well as in a notebook whose event loop is running.

```python
import ragstone

judgements = ragstone.judge(
    [{"question": "Who wrote Emma?", "reference": "Jane Austen", "answer": "It was Jane Austen."}],
    judges=["containment", "token_f1"],
)
for metric in ragstone.summarise(judgements):
    print(metric.judge, metric.estimate.value, metric.statuses)
```
"""


def python_page() -> str:
    """Return python.md: the public API from the docstrings of the names in __init__.pyi."""
    under: dict[str, list[str]] = {heading: [] for heading in HEADINGS}
    for room, name in public_names():
        heading = _heading_of(room)
        if heading is not None:
            under[heading].append(name)
    parts = [f"# The Python API\n\n{MADE}", OPENING]
    for heading, names in under.items():
        parts.append(f"## {heading}\n")
        parts += [_entry(name) for name in sorted(names, key=lambda name: name[0].isupper())]
    return "\n".join(parts)


SENTENCES = """A report, a card or a comparison says only what its numbers bear. Each sentence below has its
words, with the names of its numbers in braces; when it may be said; what it needs; and what it is never said
beside. The program has no other copy of it: the condition is computed before the sentence is said. Please
hold us to it: if a report says one of them where its condition does not hold, that is a bug.

Tests walk the table. Each sentence is said in a recorded text. Random cards, reports and comparisons are
made, and each of their sentences is checked against the rows by another calculation. No text holds two that
must not be said together. Heads of tables, errors and advice on options are not in the table, and not yet
the sentences of every feature.
"""


def sentences_page() -> str:
    """Return sentences.md: every sentence that interprets numbers, by the folder that says it."""
    parts = [f"# What a report may say\n\n{MADE}\n{SENTENCES}"]
    heads = ("code", "sentence", "said only when", "numbers", "never beside")
    folders: dict[str, list[Sentence[Any]]] = {}
    for folder, own in tables():
        folders.setdefault(folder, []).extend(own)
    for folder, sentences in folders.items():
        doc = str(importlib.import_module(f"ragstone.{folder}").__doc__).splitlines()[0].rstrip(".")
        rows = [
            (
                f"`{sentence.code}`",
                sentence.text,
                sentence.when,
                "; ".join(f"*{name}*: {needed}" for name, needed in sentence.needs.items()),
                ", ".join(f"`{code}`" for code in sentence.never_beside),
            )
            for sentence in sentences
        ]
        parts.append(f"## {folder.rpartition('.')[2]}: {doc[0].lower()}{doc[1:]}\n\n{_table(heads, rows)}")
    return "\n".join(parts)


JSON_OUTPUTS = f"""Every command with `--json` prints one JSON document on standard output, and everything
else on standard error. What it prints has a JSON Schema (draft 2020-12), made from the struct that is
written:

```sh
ragstone schema
ragstone schema run -o run.schema.json
```

The `$id` of a schema ends in its version, now {OUTPUT_VERSION}:
`urn:ragstone:schema:run:{OUTPUT_VERSION}`. Within a version fields may be added, so a reader should ignore
those that it does not know; none is removed, renamed, given another type or another meaning. A change that
needs this gets a new number and a line in the CHANGELOG. The documents themselves carry no version. With
`--forecast` every command prints [`forecast`](#forecast). An error is no document: standard error has the
message, and the exit code says what kind it is.

A `?` marks fields that may be absent. Types with a link are at the end of the page.
"""
PLAIN_TYPES = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true, false",
    "null": "null",
    "object": "object",
    "array": "list",
}


def json_page() -> str:
    """Return json.md: what each command prints with --json, as tables."""
    by_schema: dict[str, list[str]] = {}
    for command in _json_commands(typer.main.get_command(app_of())):
        for name in printed_by(command):
            by_schema.setdefault(name, []).append(f"`ragstone {command}`")
    parts = [f"# What --json prints\n\n{MADE}\n{JSON_OUTPUTS}"]
    inner: dict[str, dict[str, Any]] = {}
    for name in RESULTS:
        schema = schema_of(name)
        definitions = schema["$defs"]
        many = schema.get("type") == "array"
        top = (schema["items"] if many else schema)["$ref"].rpartition("/")[2]
        for kind, made in definitions.items():
            if kind != top and inner.setdefault(kind, made) != made:
                raise ValueError(f"two types of --json are named {kind}")
        printed = ", ".join(by_schema.get(name, ["every command with `--forecast`"]))
        shape = "A list; each item:" if many else "An object:"
        parts.append(f"## {name}\n\nPrinted by {printed}. {shape}\n\n{_shape(definitions[top])}")
    parts.append("# Types\n")
    parts += [
        f"## {kind}\n\n{_shape(made)}" for kind, made in sorted(inner.items()) if kind.lower() not in RESULTS
    ]
    return "\n".join(parts)


def _json_commands(node: Any, words: tuple[str, ...] = ()) -> Iterable[str]:  # noqa: ANN401 - of click
    for name, child in getattr(node, "commands", {}).items():
        yield from _json_commands(child, (*words, name))
    if any("--json" in option.opts for option in node.params):
        yield " ".join(words)


def _shape(made: dict[str, Any]) -> str:
    """Return what a struct of a schema is, and its fields as a table."""
    if "properties" not in made:
        return f"{_json_type(made)}\n"
    required = set(made.get("required", ()))
    rows = [
        [f"`{field}`" + ("" if field in required else "?"), _json_type(kind)]
        for field, kind in made["properties"].items()
    ]
    told = _readable(inspect.cleandoc(made["description"])) + "\n\n" if "description" in made else ""
    return f"{told}{_table(['field', 'type'], rows)}"


def _json_type(kind: dict[str, Any]) -> str:
    """Return a type of a JSON Schema in a reader's words."""
    if "$ref" in kind:
        name = kind["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in kind:
        return " or ".join(map(_json_type, kind["anyOf"]))
    if "enum" in kind:
        return ", ".join(f"`{value}`" for value in kind["enum"])
    if kind.get("type") == "array" and kind.get("items"):
        return f"list of {_json_type(kind['items'])}"
    if kind.get("type") == "array" and "prefixItems" in kind:
        return f"[{', '.join(map(_json_type, kind['prefixItems']))}]"
    if kind.get("type") == "object" and isinstance(kind.get("additionalProperties"), dict):
        return f"object of {_json_type(kind['additionalProperties'])}"
    return PLAIN_TYPES.get(kind.get("type", ""), "anything")


TROUBLESHOOTING = """Paste the message into `ragstone explain`: it finds the error with your own names and
numbers in it, and says what it means, what to do and where to read more. It also takes a status, a cause, an
exit code, the outcome of a gate, the code of a note, and the class of an error:

```sh
ragstone explain "port 8080 of 127.0.0.1 is taken: another server runs there."
ragstone explain over_budget
ragstone explain exit 3
ragstone explain NotInLedger --json
```

`ragstone explain` alone lists all codes. From Python it is `ragstone.explain("over_budget")`, and coding
agents have it as the tool [`explain`](mcp.md).
"""


def troubleshooting_page() -> str:
    """Return troubleshooting.md: the errors that people meet by their text, and what other codes mean."""
    groups: dict[str, list[Explanation]] = {}
    for explanation in explanations():
        groups.setdefault(explanation.group, []).append(explanation)
    parts = [f"# Troubleshooting\n\n{MADE}\n{TROUBLESHOOTING}", f"## {HEADS['error']}\n"]
    for each in groups["error"]:
        texts = "; ".join(f"`{message}`" for message in each.messages)
        example = f"\n```text\n{each.example}\n```\n" if each.example else ""
        parts.append(
            f"### {each.title}\n\nCode `{each.code}`, `{each.error}`. The message has: {texts}.\n\n"
            f"{each.meaning}\n\n"
            f"**When:** {each.when}\n\n**What to do:** {each.do} More: {_page_link(each.page)}.\n{example}"
        )
    for group in ("status", "cause", "gate", "exit code", "error class"):
        rows = [
            (f"`{each.code}`", each.title, each.when, f"{each.do} {_page_link(each.page)}")
            for each in groups[group]
        ]
        parts.append(f"## {HEADS[group]}\n\n{_table(('code', 'what it is', 'when', 'what to do'), rows)}")
    parts.append(
        f"## {HEADS['note']}\n\nTheir words and conditions: [sentences](../reference/sentences.md).\n"
    )
    return "\n".join(parts)


def _page_link(page: str) -> str:
    """Return a link from a how-to page to another page of docs, named as its heading is."""
    path, _, _ = page.partition("#")
    title = (DOCS / path).read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
    here = page.removeprefix("how-to/") if page.startswith("how-to/") else f"../{page}"
    return f"[{title}]({here})"


def _heading_of(room: str) -> str | None:
    """Return the heading that a room's names stand under: that of the room, else of the folder it is in."""
    for place in (room, room.partition(".")[0]):
        for heading, rooms in HEADINGS.items():
            if place in rooms:
                return heading
    return None


def public_names() -> list[tuple[str, str]]:
    """Return (room, name) of everything that __init__.pyi exports, in its order."""
    tree = ast.parse(Path(ragstone.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    return [
        (".".join((node.module or "").split(".")[:2]), alias.asname or alias.name)
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    ]


def _entry(name: str) -> str:
    value = getattr(ragstone, name)
    told = _readable(inspect.getdoc(value) or "")
    if value is ragstone.RagstoneError:
        tree = str(errors.__doc__).split("\n\n")[1]
        return f"### {name}\n\n```text\n{tree.strip()}\n```\n"
    if inspect.isclass(value) and issubclass(value, Exception):
        return f"### {name}\n\n{told}\n"
    if isinstance(value, UnionType):
        members = "\n    | ".join(member.__name__ for member in get_args(value))
        return f"### {name}\n\n```pyi\n{name} = (\n    {members}\n)\n```\n\n{_members(value)}\n"
    signature = _fields_as_code(value) if inspect.isclass(value) else _signature(value)
    return f"### {name}\n\n```pyi\n{signature}\n```\n\n{told}\n"


def _members(union: UnionType) -> str:
    """Return what the members of a union are, each after those whose keys it has too."""
    kinds = dict.fromkeys(kind for member in get_args(union) for kind in reversed(member.__mro__[:-4]))
    told = {kind.__name__: _readable(inspect.getdoc(kind) or "") for kind in kinds}
    return "\n\n".join(f"**{name}**: {text}" for name, text in told.items())


def _signature(function: Callable[..., object]) -> str:
    """Return a function's signature as its source has it, one parameter a line if it is long."""
    node = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    return _signature_of(node)


def _signature_of(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    parameters = [_code(argument) for argument in node.args.args]
    first = len(parameters) - len(node.args.defaults)
    for place, default in enumerate(node.args.defaults, first):
        parameters[place] += f" = {_code(default)}"
    if node.args.kwonlyargs:
        parameters.append("*")
    for argument, given in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True):
        parameters.append(_code(argument) + (f" = {_code(given)}" if given else ""))
    returns = f" -> {_code(node.returns)}" if node.returns else ""
    line = f"def {node.name}({', '.join(parameters)}){returns}: ..."
    if len(line) <= 100:
        return line
    body = "".join(f"    {parameter},\n" for parameter in parameters)
    return f"def {node.name}(\n{body}){returns}: ..."


def _code(node: ast.AST) -> str:
    return ast.unparse(node).replace("'", '"')


def _fields_as_code(kind: type) -> str:
    """Return a struct's fields as its source has them, those of the structs that it extends included."""
    node = ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0]
    assert isinstance(node, ast.ClassDef)
    fields = [_code(part) for part in node.body if isinstance(part, ast.AnnAssign)]
    own = [
        f"@property\ndef {part.name}(self) -> {_code(part.returns)}: ..."
        for part in node.body
        if isinstance(part, ast.FunctionDef) and part.returns and _is_property(part)
    ]
    methods = [
        f"# {(ast.get_docstring(part) or '').partition(chr(10))[0]}\n{_signature_of(part)}"
        for part in node.body
        if isinstance(part, ast.FunctionDef) and part.returns and _is_public_method(part)
    ]
    return f"class {node.name}:\n" + textwrap.indent("\n".join([*fields, *own, *methods]) or "...", "    ")


def _is_public_method(node: ast.FunctionDef) -> bool:
    return not (node.name.startswith("_") or node.decorator_list)


def _is_property(node: ast.FunctionDef) -> bool:
    return any(isinstance(mark, ast.Name) and mark.id == "property" for mark in node.decorator_list)


def _readable(told: str) -> str:
    """Return a docstring as Markdown: its paragraphs as they are."""
    return told.replace("<", "&lt;")


def main() -> None:
    """Write every page that differs."""
    importlib.invalidate_caches()
    for path, text in pages().items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
