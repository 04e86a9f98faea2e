"""The site of docs/: every page has its place in the navigation, and links to code lead to the repository."""

import importlib.util
import json
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


SETTINGS_OF_MKDOCS = {
    "site_name": "X",
    "site_description": "What X is.",
    "site_url": None,
    "repo_url": "HERE",
}


@pytest.fixture
def built(hook, tmp_path):
    """The hook in a build of three pages, and the folder of the site."""
    pages = {
        "index.md": "# X\n\n| page | what |\n| --- | --- |\n| [One](how-to/one.md) | How do I? |\n",
        "how-to/one.md": "# One\n\nSee [two](two.md#x). More.\n",
        "how-to/two.md": "# Two\n\n<!-- note -->\n```sh\nls\n```\n\nWhat [two](one.md) does. It is long.\n",
    }
    hook.on_nav(SimpleNamespace(items=[]))
    for name, text in pages.items():
        address = name.removesuffix("index.md").replace(".md", "/")
        page = SimpleNamespace(
            file=SimpleNamespace(src_uri=name), url=address, meta={}, title=text[2:].partition("\n")[0]
        )
        page.is_page, page.is_section = True, False
        hook.on_page_markdown(text, page, SETTINGS_OF_MKDOCS)
        hook.on_post_page("<head></head>", page, SETTINGS_OF_MKDOCS)
    one, two = hook.PAGES["how-to/one.md"], hook.PAGES["how-to/two.md"]
    part = SimpleNamespace(title="How-to", children=[one, two], is_page=False, is_section=True)
    hook.NAVIGATION[:] = [hook.PAGES["index.md"], part]
    (tmp_path / "search").mkdir()
    entries = [{"location": "how-to/one/", "title": "One"}, {"location": "how-to/one/#x", "title": "X"}]
    (tmp_path / "search" / "search_index.json").write_text(json.dumps({"docs": entries}))
    return hook, tmp_path


def tables_of(monkeypatch, hook, keywords, redirects):
    tables = {"keywords.toml": keywords, "redirects.toml": redirects}
    monkeypatch.setattr(hook, "read_table", tables.__getitem__)


def test_llms_txt_takes_a_sentence_from_the_index_else_from_the_page(built, monkeypatch):
    hook, site = built
    tables_of(monkeypatch, hook, {"how-to/one.md": ["a", "b c"]}, {})
    hook.on_post_build({**SETTINGS_OF_MKDOCS, "site_dir": str(site)})
    lines = (site / "llms.txt").read_text().splitlines()
    assert "- [One](how-to/one.md): How do I? Look here for: a, b c." in lines
    assert "- [Two](how-to/two.md): What two does." in lines
    hook.on_post_build({**SETTINGS_OF_MKDOCS, "site_url": "https://x.org/1/", "site_dir": str(site)})
    assert "- [Two](https://x.org/1/how-to/two.md): What two does." in (site / "llms.txt").read_text()


def test_pages_are_written_as_markdown_and_joined_with_links_from_the_top(built, monkeypatch):
    hook, site = built
    tables_of(monkeypatch, hook, {}, {})
    hook.on_post_build({**SETTINGS_OF_MKDOCS, "site_dir": str(site)})
    assert (site / "how-to/two.md").read_text().startswith("# Two\n\n```sh\n")
    assert "See [two](how-to/two.md#x)" in (site / "llms-full.txt").read_text()


def test_keywords_are_tags_of_the_top_of_a_page_alone(built, monkeypatch):
    hook, site = built
    tables_of(monkeypatch, hook, {"how-to/one.md": ["a"]}, {})
    hook.on_post_build({**SETTINGS_OF_MKDOCS, "site_dir": str(site)})
    top, section = json.loads((site / "search/search_index.json").read_text())["docs"]
    assert top["tags"] == ["a"]
    assert "tags" not in section


@pytest.mark.parametrize(
    ("keywords", "redirects", "warning"),
    [
        ({"how-to/three.md": ["a"]}, {}, "keywords.toml names how-to/three.md, which is no page"),
        ({}, {"old.md": "how-to/three.md"}, "old.md must be no page, and how-to/three.md must be one"),
        (
            {},
            {"how-to/one.md": "how-to/two.md"},
            "how-to/one.md must be no page, and how-to/two.md must be one",
        ),
    ],
)
def test_a_table_that_names_no_page_warns_and_so_ends_the_build(
    built, monkeypatch, caplog, keywords, redirects, warning
):
    hook, site = built
    tables_of(monkeypatch, hook, keywords, redirects)
    hook.on_post_build({**SETTINGS_OF_MKDOCS, "site_dir": str(site)})
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert warning in caplog.text
    assert not (site / "old").exists()


def test_the_theme_is_kept_from_asking_for_stars_and_for_versions_that_are_not_there(hook, monkeypatch):
    page = SimpleNamespace(file=SimpleNamespace(src_uri="how-to/ci.md"), url="how-to/ci/")
    shown = hook.on_post_page('<head></head><a data-md-component="source">', page, {"repo_url": "HERE"})
    link = '<link rel="alternate" type="text/markdown" href="../ci.md">'
    assert shown == f"<head>{link}</head><a>"
    monkeypatch.delenv("MIKE_DOCS_VERSION", raising=False)
    assert hook.on_config({"nav": [], "extra": {"version": {"provider": "mike"}}})["extra"] == {}
    monkeypatch.setenv("MIKE_DOCS_VERSION", "{}")
    assert hook.on_config({"nav": [], "extra": {"version": {}}})["extra"] == {"version": {}}
