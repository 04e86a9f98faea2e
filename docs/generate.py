"""The parts of the docs that follow from the code. Run: python docs/generate.py

commands.md, judge-library.md, python.md and the pages of python/ are written whole. Elsewhere a table between
`<!-- table: NAME -->` and `<!-- end -->` is written anew; its last column, the meaning, is kept from the
page. tests/test_docs.py fails while a page differs from what this file makes of it.
"""

import importlib
import inspect
import json
import re
import sys
import textwrap
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, get_args, get_type_hints

import judge_pages
import msgspec
import outcome_pages
import python_pages
from python_pages import table
from typer.models import OptionInfo

from ragstone.cli.app import PANELS, app_of
from ragstone.kernel import config, records
from ragstone.kernel.console.extras import EXTRAS
from ragstone.kernel.judging import judge_names, load_judge
from ragstone.kernel.judging.fields import Example, Member
from ragstone.kernel.judging.judge import KEYS, KINDS, type_of_kind
from ragstone.kernel.judging.rubric import Criterion
from ragstone.kernel.judging.signs import Sign
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
    in_files = dict(BLOCK.findall(found[DOCS / "reference" / "files.md"]))
    rows = {kind.__name__: _plain_meanings(in_files[kind.__name__]) for kind in ROWS}
    written = {
        "reference/commands.md": commands_page(),
        **python_pages.python_pages(MADE, rows),
        "reference/judge-library.md": judge_pages.judge_page(MADE),
        "reference/sentences.md": sentences_page(),
        "reference/json.md": outcome_pages.json_page(MADE),
        "how-to/troubleshooting.md": outcome_pages.troubleshooting_page(MADE),
        "explanation/decisions.md": decisions_page(),
    }
    found[SCHEMA_MEANINGS] = _meanings_of_keys(found)
    return {**found, **{DOCS / name: page for name, page in written.items()}}


def _meanings_of_keys(pages: dict[Path, str]) -> str:
    """Return the meanings of keys of settings and judge files, as `ragstone schema` ships them."""
    tables: dict[str, dict[str, str]] = {}
    for page in pages.values():
        for name, block in BLOCK.findall(page):
            if name in SECTIONS or name == "judge_file":
                tables[name] = _plain_meanings(block)
                tables[name].pop("key", None)
    return json.dumps(dict(sorted(tables.items())), indent=1, ensure_ascii=False) + "\n"


def _plain_meanings(table: str) -> dict[str, str]:
    """Return name -> meaning of a table's rows, without links, which mean nothing elsewhere."""
    plain = re.sub(r"\[([^]]+)]\([^)]+\)", r"\1", table)
    named = {re.sub(r"[`?]", "", key): words for key, words in _meanings(plain).items()}
    return {key: words for key, words in named.items() if key.isidentifier()}


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
        return f"<!-- table: {name} -->\n{table(heads, rows)}<!-- end -->"
    kept = _meanings(before)
    full = [[*row, kept.get(row[0], "")] for row in rows]
    missing = [row[0] for row in full if not row[-1]]
    if missing:
        raise ValueError(f"table {name}: write the meaning of {', '.join(missing)} into its last column")
    return f"<!-- table: {name} -->\n{table([*heads, 'meaning'], full)}<!-- end -->"


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


def setting_examples() -> dict[str, dict[str, str]]:
    """Return table -> key -> an example of its value, as settings_examples.toml has it."""
    found: dict[str, dict[str, str]] = {}
    for line in (DOCS / "settings_examples.toml").read_text(encoding="utf-8").splitlines():
        key, is_value, value = line.partition(" = ")
        if line.startswith("["):
            found[line.strip('[]"')] = {}
        elif is_value and not line.startswith("#"):
            [*found.values()][-1][key] = value
    return found


def without_setting_example() -> list[str]:
    """Return `table.key` of all settings that have neither a default nor an example."""
    shown = setting_examples()
    return [
        f"{name}.{row[0].strip('`')}"
        for name, section in SETTINGS.items()
        for row in _keys(section)[1]
        if row[2] in ("", "required", *EMPTY) and row[0].strip("`") not in shown.get(name, {})
    ]


def _settings(name: str, section: type[msgspec.Struct]) -> tuple[Heads, Rows, bool]:
    """Return the keys of a table of ragstone.toml, with an example where the default is none."""
    examples = setting_examples().get(name, {})
    heads, rows, with_meaning = _keys(section)
    cells = ((row, examples.get(row[0].strip("`"))) for row in rows)
    return [*heads, "example"], [[*row, f"`{shown}`" if shown else ""] for row, shown in cells], with_meaning


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
    "judge_file.signs": Sign,
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
    "retrievers.shortlist": config.ShortlistSettings,
    "retrievers.rerank": config.RerankSettings,
    "retrievers.http": config.HttpSettings,
}
EMPTY = ("`[]`", "`{}`", '`""`')  # defaults that show nothing of what a value looks like
# Table of ragstone.toml -> its type; of those that are tables of tables the inner ones are listed.
SETTINGS = {
    name: kind
    for name, kind in SECTIONS.items()
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct) and not name.startswith("judge_file")
}
TABLES: dict[str, Callable[[], tuple[Heads, Rows, bool]]] = {
    "columns": _columns,
    "judges": _judges,
    "extras": _extras,
    "judge_file": _judge_keys,
    **{kind.__name__: lambda kind=kind: _fields(kind) for kind in ROWS},
    **{name: lambda kind=kind: _keys(kind) for name, kind in SECTIONS.items() if name != "root"},
    **{name: lambda name=name, kind=kind: _settings(name, kind) for name, kind in SETTINGS.items()},
}


def commands_page() -> str:
    """Return commands.md: what `ragstone COMMAND --help` says, as tables that no terminal's width bends."""
    listed: dict[str, list[Sequence[str]]] = {}
    parts = []
    for panel, name, command in _commands():
        about = (inspect.getdoc(command) or "").partition("\n")[0]
        listed.setdefault(panel, []).append([f"[`{name}`](#{name.replace(' ', '-')})", about])
        parts.append(_command(name, command))
    contents = [
        f"**{panel}**\n\n{table(['command', 'what it does'], rows)}" for panel, rows in listed.items()
    ]
    opening = f"{textwrap.fill(str(app_of().info.help), 100)}\n"
    shapes = DOCS / "reference" / "json.md"
    json_too = (
        f"What each prints with `--json` is in [{shapes.name}]({shapes.name}).\n" if shapes.exists() else ""
    )
    return "\n".join([f"# Commands\n\n{MADE}", opening, COMMON, *filter(None, [json_too]), *contents, *parts])


def _commands() -> Iterator[tuple[str, str, Callable[..., object]]]:
    """Yield (panel of the help, name, function) of each command; those of groups come last in their panel."""
    top = app_of()
    for panel in PANELS:
        own = [info for info in top.registered_commands if info.rich_help_panel == panel]
        inside = [
            (f"ragstone {group.typer_instance.info.name}", info)
            for group in top.registered_groups
            if group.rich_help_panel == panel and group.typer_instance
            for info in group.typer_instance.registered_commands
        ]
        for place, info in [*(("ragstone", info) for info in own), *inside]:
            if info.callback:
                command = inspect.unwrap(info.callback)
                yield panel, f"{place} {info.name or command.__name__}", command


def _command(name: str, command: Callable[..., object]) -> str:
    parameters = sorted(_parameters(command), key=lambda parameter: parameter.option)
    places = [p.name if p.default == "required" else f"[{p.name}]" for p in parameters if not p.option]
    options = ["[OPTIONS]"] if len(places) < len(parameters) else []
    usage = " ".join([name, *places, *options])
    rows = [[f"`{p.name}`", p.kind, p.default, p.meaning.replace("|", "\\|")] for p in parameters]
    return (
        f"## {name}\n\n{inspect.getdoc(command)}\n\n```text\n{usage}\n```\n\n"
        f"{table(['name', 'type', 'default', 'meaning'], rows)}"
    )


class Parameter(msgspec.Struct, frozen=True):
    """An argument or option of a command, as a reader sees it."""

    option: bool
    name: str
    kind: str
    default: str
    meaning: str


def _parameters(command: Callable[..., object]) -> Iterable[Parameter]:
    """Yield the parameters of a command; read from its signature, for Typer's inside changes often."""
    hints = get_type_hints(command, include_extras=True)
    for name, parameter in inspect.signature(command).parameters.items():
        kind, typer_info = get_args(hints[name])[:2]
        option = isinstance(typer_info, OptionInfo)
        if option and typer_info.hidden:  # removed: it only says so
            continue
        yield Parameter(
            option,
            ", ".join(_names(typer_info) or ["--" + name.replace("_", "-")]) if option else name.upper(),
            _value_kind(kind),
            _default_shown(parameter),
            typer_info.help or "The file to write.",
        )


def _names(typer_info: OptionInfo) -> list[str]:
    """Return what an option is called; in `Annotated` Typer takes the first name for a default."""
    every = (typer_info.default, *(typer_info.param_decls or ()))
    return [str(name) for name in every if str(name).startswith("-")]


def _value_kind(kind: Any) -> str:  # noqa: ANN401 - a type in any of typing's forms
    """Return what a value is, in a reader's words; the option of a list may be given more than once."""
    choices = re.search(r"Literal\[(.*?)\]", str(kind))
    if choices:
        return ", ".join(f"`{choice}`" for choice in re.findall(r"'([^']*)'", choices[1]))
    names = {"Path": "path", "str": "text", "int": "whole number", "float": "number", "bool": "flag"}
    word = next(word for name, word in names.items() if name in str(kind))
    return f"{word}, repeatable" if "list" in str(kind) else word


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

| exit code | meaning |
| --- | --- |
| 0 | done |
| 1 | done, and worse than asked for (`compare`, `attack`, `agree`, `judges test`, `check`), or an alarm |
| 2 | wrong usage or input (the message says what to change), or stopped with Ctrl-C |
| 3 | cannot tell: the rows do not decide (`compare --gate`, `attack --most-flips`, `agree --trust`) |
| 4 | done, but the budget or the deadline cut some calls off |
| 5 | done, but no row has a score or a set is empty; with `--strict`, some rows could not be scored |
| 143 | stopped by SIGTERM, as with Ctrl-C: finished rows are written, finished calls are in the ledger |
"""


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
        parts.append(f"## {folder.rpartition('.')[2]}: {doc[0].lower()}{doc[1:]}\n\n{table(heads, rows)}")
    return "\n".join(parts)


DECISIONS = "One page each: the problem, the choice, what was rejected, and what would change our mind.\n"


def decisions_page() -> str:
    """Return decisions.md: the headings of docs/decisions/, in their order."""
    headings = (
        (path.name, path.read_text("utf-8").partition("\n")[0].removeprefix("# "))
        for path in sorted((DOCS / "decisions").glob("[0-9]*.md"))
    )
    items = "".join(f"- [{heading}](../decisions/{name})\n" for name, heading in headings)
    return f"# Why it is built this way\n\n{MADE}\n{DECISIONS}\n{items}"


def main() -> None:
    """Write every page that differs; with --cards measure the judges that ask no model first."""
    if "--cards" in sys.argv:
        judge_pages.CARDS.write_text(judge_pages.measured_cards(), encoding="utf-8")
    importlib.invalidate_caches()
    for path, text in pages().items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
