"""The site of docs/: every page has its place in the navigation, and links to code lead to the repository."""

import importlib.util
import re
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest

DOCS = Path(__file__).parents[1] / "docs"
SETTINGS = (DOCS.parent / "mkdocs.yml").read_text("utf-8")


@pytest.fixture(scope="module")
def hook():
    """The hook of MkDocs, which is no module of the package."""
    spec = importlib.util.spec_from_file_location("site_hook", DOCS / "site.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_page_has_its_place_once():
    listed = Counter(re.findall(r"^ +- ([\w/-]+\.md)$", SETTINGS, re.MULTILINE))
    pages = (path for path in DOCS.rglob("*.md") if path.parent.name != "decisions")
    assert listed == Counter(str(path.relative_to(DOCS)) for path in pages)


def test_decisions_are_listed_in_order(hook):
    config = hook.on_config({"nav": ["index.md", {"Decisions": "decisions/"}]})
    pages = config["nav"][1]["Decisions"]
    assert len(pages) == len(list((DOCS / "decisions").glob("*.md")))
    assert pages == sorted(pages)


@pytest.mark.parametrize(
    ("page", "markdown", "becomes"),
    [
        (
            "files.md",
            "[x](../src/ragstone/kernel/records.py)",
            "[x](HERE/blob/main/src/ragstone/kernel/records.py)",
        ),
        ("files.md", "[x](../src/ragstone/kernel/llm)", "[x](HERE/tree/main/src/ragstone/kernel/llm)"),
        ("files.md", "[x](../README.md#two-commands)", "[x](HERE/blob/main/README.md#two-commands)"),
        ("files.md", "[x](judges.md)", "[x](judges.md)"),
        ("decisions/0001-msgspec-and-no-scipy.md", "[x](../judges.md)", "[x](../judges.md)"),
        ("files.md", "```text checked\na\n```", "```text\na\n```"),
    ],
)
def test_a_page_is_made_as_mkdocs_reads_it(hook, page, markdown, becomes):
    given = SimpleNamespace(file=SimpleNamespace(src_uri=page), meta={})
    assert hook.on_page_markdown(markdown, given, {"repo_url": "HERE"}) == becomes
