"""Words that a native engineer stumbles over stay out of what users read: messages, help, pages, docs."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "ragstone"
SHOWN = {".html", ".js"}  # templates and their scripts
MADE = {"commands.md", "judge-library.md", "python", "python.md"}  # from the source, docstrings among it
OLDER = {"decisions", *MADE}  # of their day

STILTED = re.compile(
    r"\b(anew|hitherto|thereof|whence|dear one|dear judge|parted by|one and the same|open no more"
    r"|logged in no more|how far it is|take them in|speaks? of it|labels? speaks? of"
    r"|nobody can tell|come to (its|their) end|is no (number|finite|file|address|placeholder)"
    r"|(times|questions) of (5|10|100)|leave --\w+ away)\b",
    re.IGNORECASE,
)


def sentences() -> Iterator[tuple[str, str]]:
    """Yield (place, text) of everything that a user may read, but for docstrings and comments."""
    for path in SOURCE.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        own = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings and notes
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Constant)
                and isinstance(node.value, str)
                and " " in node.value
                and node not in own
            ):
                yield f"{path}:{node.lineno}", node.value
    pages = [path for path in SOURCE.rglob("*") if path.suffix in SHOWN and "vendor" not in path.parts]
    pages += [path for path in (ROOT / "docs").rglob("*.md") if not OLDER & {*path.parts}]
    for path in [*pages, ROOT / "README.md", ROOT / "CONTRIBUTING.md"]:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            yield f"{path}:{number}", line


def test_what_users_read_has_no_stilted_words() -> None:
    assert [(place, found[0]) for place, text in sentences() if (found := STILTED.search(text))] == []


@pytest.mark.parametrize(
    "bad", ["Count anew", "it asks the dear one", "the threshold is no number", "4 times of 5"]
)
def test_the_list_finds(bad: str) -> None:
    assert STILTED.search(bad)
