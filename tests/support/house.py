"""The house in figures: what rooms take from each other, what one feature alone uses, what a module gives.

`python -m tests.support.house` prints them; with --list also the places, with --record it writes them to
tests/house.json, above which none may grow (tests/test_house.py). A room is a folder of kernel/ or features/,
else a top folder or module. Imports inside functions and for typing count too.
"""

import ast
import gc
import json
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PACKAGES = (
    ROOT / "src" / "ragstone",
    ROOT / "packages" / "ragstone-assistant" / "src" / "ragstone_assistant",
)
RECORD = ROOT / "tests" / "house.json"
SHELLS = {"ragstone", "cli", "workbench", "notebook", "pytest", "assistant", "__main__"}
GIVES, TAKES = 12, 25  # names that a module gives to others, and takes from them
SHORT = 5  # lines of a body: a private function with one caller and fewer belongs into it

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Import(NamedTuple):
    """A name that a module takes from another one, which defines it."""

    taker: str
    giver: str
    name: str


@cache
def modules() -> dict[str, Path]:
    """Return each module of both distributions -> its file."""
    return {
        ".".join(path.relative_to(package.parent).with_suffix("").parts).removesuffix(".__init__"): path
        for package in PACKAGES
        for path in sorted(package.rglob("*.py"))
    }


@cache
def tree_of(path: Path) -> ast.Module:
    """Return the syntax tree of a file."""
    gc.disable()  # all of a tree stays: to look for garbage in it takes twice as long as to parse
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    finally:
        gc.enable()


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    """Return every node of a file's syntax tree, in the order of `ast.walk`."""
    return tuple(ast.walk(tree_of(path)))


@cache
def n_lines(module: str) -> int:
    """Return how many lines a module has."""
    return modules()[module].read_text(encoding="utf-8").count("\n")


def room_of(module: str) -> str:
    """Return `kernel.llm`, `features.compare`, `workbench`, or `ragstone_assistant`."""
    package, *parts = module.split(".")
    if package != "ragstone":
        return package
    return ".".join(parts[:2] if parts[:1] in (["kernel"], ["features"]) else parts[:1]) or package


def feature_of(module: str) -> str | None:
    """Return the name of the feature that a module is of, None for others."""
    kind, _, name = room_of(module).partition(".")
    return name if kind == "features" and name else None


@cache
def faces() -> dict[str, dict[str, str]]:
    """Return for each package the names that it hands on -> the module that defines them."""
    found: dict[str, dict[str, str]] = {}
    for module, path in modules().items():
        if path.name != "__init__.py":
            continue
        stub = path.with_suffix(".pyi")
        for node in ast.walk(tree_of(stub if stub.is_file() else path)):
            if isinstance(node, ast.ImportFrom) and node.module:
                giver = f"{module}.{node.module}" if node.level else node.module
                found.setdefault(module, {}).update({one.asname or one.name: giver for one in node.names})
    return found


def _from(module: str, node: ast.ImportFrom) -> str:
    """Return the module that an import names, absolute."""
    if not node.level:
        return node.module or ""
    package = module if modules()[module].name == "__init__.py" else module.rpartition(".")[0]
    above = package.split(".")[: len(package.split(".")) - node.level + 1]
    return ".".join([*above, *([node.module] if node.module else [])])


@cache
def imports() -> tuple[Import, ...]:
    """Return every import of ours by ours; `import a.b` takes the name `b`."""
    return tuple(_imports())


def _imports() -> Iterator[Import]:
    for module, path in modules().items():
        for node in nodes_of(path):
            if isinstance(node, ast.Import):
                taken = [(one.name, one.name.rpartition(".")[2]) for one in node.names]
            elif isinstance(node, ast.ImportFrom):
                start = _from(module, node)
                taken = [(start, one.name) for one in node.names]
                taken = [(f"{at}.{name}" if f"{at}.{name}" in modules() else at, name) for at, name in taken]
            else:
                continue
            for giver, name in taken:
                giver = faces().get(giver, {}).get(name, giver)
                if giver in modules() and giver != module:
                    yield Import(module, giver, name)


def crossing() -> list[Import]:
    """Return the imports that go from one room to another."""
    return [each for each in imports() if room_of(each.taker) != room_of(each.giver)]


def arrows() -> set[tuple[str, str]]:
    """Return the pairs of features of which the first imports the second."""
    pairs = {(feature_of(each.taker), feature_of(each.giver)) for each in imports()}
    return {(first, second) for first, second in pairs if first and second and first != second}


def allowed_arrows() -> set[tuple[str, str]]:
    """Return the arrows that pyproject.toml lists."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    listed = next(each["ignore_imports"] for each in contracts if each["type"] == "independence")
    ends = (arrow.split(" -> ") for arrow in listed)
    return {(first.split(".")[2], second.split(".")[2]) for first, second in ends}


def orphans() -> dict[str, str]:
    """Return each module outside of features that would be left over if one feature went -> that feature."""
    users: dict[str, set[str]] = defaultdict(set)
    for each in imports():
        users[each.giver].add(each.taker)
    owner = {module: feature_of(module) for module in modules()}
    candidates = [
        module
        for module, path in modules().items()
        if owner[module] is None
        and room_of(module).split(".")[0] not in SHELLS
        and path.name != "__init__.py"
    ]
    changed = True
    while changed:
        changed = False
        for module in candidates:
            by = {owner[user] for user in users[module] if room_of(user).split(".")[0] not in SHELLS}
            if owner[module] is None and len(by) == 1 and None not in by:
                owner[module], changed = by.pop(), True
    return {module: feature for module in candidates if (feature := owner[module])}


def opened_from_outside() -> list[Import]:
    """Return the imports of a private module, `_x.py`, by a module of another folder."""
    return [
        each
        for each in imports()
        if (parts := each.giver.split("."))[-1].startswith("_")
        and parts[-1] != "__main__"
        and not f"{each.taker}.".startswith(".".join(parts[:-1]) + ".")
    ]


def functions() -> Iterator[tuple[str, Function]]:
    """Yield (module, function), methods and inner ones too."""
    for module, path in modules().items():
        yield from ((module, node) for node in nodes_of(path) if isinstance(node, Function))


def body_lines(function: Function) -> int:
    """Return how many lines the body has without its docstring."""
    body = function.body[1:] if ast.get_docstring(function, clean=False) is not None else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def small_private() -> list[tuple[str, str]]:
    """Return (module, name) of the private functions with one use in their module and a short body."""
    uses: Counter[tuple[str, str]] = Counter()
    for module, path in modules().items():
        for node in nodes_of(path):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                uses[module, node.id] += 1
            elif isinstance(node, ast.Attribute):
                uses[module, node.attr] += 1
    return [
        (module, node.name)
        for module, node in functions()
        if node.name.startswith("_") and not node.name.startswith("__")
        if body_lines(node) < SHORT and uses[module, node.name] == 1
    ]


def wide() -> tuple[list[str], list[str]]:
    """Return the modules that give more than GIVES names to others, and those that take more than TAKES."""
    given: dict[str, set[str]] = defaultdict(set)
    taken: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for each in imports():
        given[each.giver].add(each.name)
        taken[each.taker].add((each.giver, each.name))
    gives = [module for module, names in given.items() if len(names) > GIVES]
    return gives, [module for module, names in taken.items() if len(names) > TAKES]


def figures() -> dict[str, int]:
    """Return the figures that may not grow."""
    crossings = crossing()
    gives, takes = wide()
    return {
        "names_crossing": len({(each.giver, each.name) for each in crossings}),
        "imports_crossing": len(crossings),
        "orphan_lines": sum(map(n_lines, orphans())),
        "arrows": len(arrows()),
        "modules_giving_too_much": len(gives),
        "modules_taking_too_much": len(takes),
        "small_private_functions": len(small_private()),
    }


def main(words: list[str]) -> None:
    """Print the figures; with --list the places; with --record write them."""
    found = figures()
    print("\n".join(f"{name:<26}{value:>6}" for name, value in found.items()))
    if "--list" in words:
        gives, takes = wide()
        for title, places in (
            ("orphans", [f"{module} ({feature})" for module, feature in sorted(orphans().items())]),
            ("arrows", [f"{first} -> {second}" for first, second in sorted(arrows())]),
            ("giving too much", sorted(gives)),
            ("taking too much", sorted(takes)),
            ("small", [f"{module}.{name}" for module, name in sorted(small_private())]),
        ):
            print(f"\n{title}\n  " + "\n  ".join(places))
    if "--record" in words:
        RECORD.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
