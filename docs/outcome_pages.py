"""What commands print and say: reference/json.md and how-to/troubleshooting.md. See generate.py."""

import inspect
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import typer
from python_pages import table

from ragstone.cli.app import app_of
from ragstone.features.explain.explaining import Explanation, explanations
from ragstone.features.explain.words import HEADS
from ragstone.features.schema.schemas import OUTPUT_VERSION, RESULTS, printed_by, schema_of

DOCS = Path(__file__).parent

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
needs this gets a new number and a line in the CHANGELOG. The documents do not carry this number:
the field `version` of a run, a bench or blame is Ragstone's. With `--forecast` a command prints
[`forecast`](#forecast). An error is no document: standard error has the message, and the exit code says what
kind it is.

A `?` marks fields that may be absent. Types with a link are at the end of the page.
"""
WHEN = {
    "compare": "for two runs",
    "compare-several": "for more than two runs",
    "bench-judges": "without `--suite`",
    "bench-judges-suite": "with `--suite`",
    "modes": "without `--queue`",
    "modes-queue": "with `--queue`",
    "sample": "without `--feedback`",
    "sample-feedback": "with `--feedback`",
    "note": "for a new note; none with `--remove`",
    "notes": "without a question",
    "agree": "with labels",
    "agree-languages": "without labels, for answers in several languages",
    "agree-gaps": "with `--gaps` or `--again`",
    "judges-test": "for a judge that was tried",
    "judges-test-file": "without `--model`, for a judge that asks one",
    "judges-develop": "without `--test`",
    "judges-develop-test": "with `--test`",
    "import": "for an evaluation set",
    "import-verdicts": "for verdicts of another tool",
    "import-conversations": "with `--conversations`",
    "models": "without the name of a provider",
    "models-of-a-provider": "with the name of a provider",
}
"""Name of a schema -> when a command that prints one of several prints this one."""
FUNCTION = re.compile(r"[,;]\s+see [a-z]+(?:_[a-z]+|\.\w+)+(?=[.;,])|\s+\(see [a-z]+(?:_[a-z]+|\.\w+)+\)")
"""A docstring's pointer to a function of the sources, which a reader of the page does not have."""
PLAIN_TYPES = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true, false",
    "null": "null",
    "object": "object",
    "array": "list",
}


def json_page(made_by: str) -> str:
    """Return json.md: what each command prints with --json, as tables."""
    by_schema: dict[str, list[str]] = {}
    for command in _json_commands(typer.main.get_command(app_of())):
        names = printed_by(command)
        if missing := {*names} - WHEN.keys() if len(names) > 1 else set():
            raise ValueError(f"ragstone {command}: say in WHEN when it prints {', '.join(sorted(missing))}")
        for name in names:
            by_schema.setdefault(name, []).append(f"`ragstone {command}`")
    parts = [f"# What --json prints\n\n{made_by}\n{JSON_OUTPUTS}"]
    inner: dict[str, dict[str, Any]] = {}
    for name in RESULTS:
        schema = schema_of(name)
        definitions = schema["$defs"]
        many = schema.get("type") == "array"
        top = (schema["items"] if many else schema)["$ref"].rpartition("/")[2]
        for kind, made in definitions.items():
            if kind != top and inner.setdefault(kind, made) != made:
                raise ValueError(f"two types of --json are named {kind}")
        printed = ", ".join(by_schema.get(name, ["every command that takes `--forecast`, if it is given"]))
        printed += f", {WHEN[name]}" if name in WHEN else ""
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
    told = ""
    if "description" in made:
        told = FUNCTION.sub("", inspect.cleandoc(made["description"])).replace("<", "&lt;") + "\n\n"
    return f"{told}{table(['field', 'type'], rows)}"


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
ragstone explain "port 8080 of 127.0.0.1 is taken by another server."
ragstone explain over_budget
ragstone explain exit 3
ragstone explain NotInLedger --json
```

`ragstone explain` alone lists all codes. From Python it is `ragstone.explain("over_budget")`, and coding
agents have it as the tool [`explain`](mcp.md).
"""


def troubleshooting_page(made_by: str) -> str:
    """Return troubleshooting.md: the errors that people meet by their text, and what other codes mean."""
    groups: dict[str, list[Explanation]] = {}
    for explanation in explanations():
        groups.setdefault(explanation.group, []).append(explanation)
    parts = [f"# Troubleshooting\n\n{made_by}\n{TROUBLESHOOTING}", f"## {HEADS['error']}\n"]
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
        parts.append(f"## {HEADS[group]}\n\n{table(('code', 'what it is', 'when', 'what to do'), rows)}")
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
