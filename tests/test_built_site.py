"""The site as `make site` builds it: its links, its Markdown for programs, its search, and whom it asks.

It is built once for all tests of this file, in some ten seconds. Without MkDocs they skip.
"""

import functools
import http.server
import importlib.util
import json
import os
import re
import subprocess
import sys
import threading
import tomllib
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin

import pytest
from selectolax.lexbor import LexborHTMLParser
from tests.support.browser import opened_tab
from tests.support.once import made_once

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
HERE = "site:/"  # in place of a host, of which the site knows none
LINK = re.compile(r"\]\((?!\w+:|#)([^)\s]+)\)")
LOADS = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}
NO_LOAD = {"canonical", "alternate", "prev", "next"}  # a link of these kinds is followed by people

# What people type, in the words of other tools -> the page that must be among the first three.
SEARCHES = {
    "hallucination": "how-to/hallucinations",
    "guardrail": "how-to/guardrail",
    "custom metric": "how-to/custom-metric",
    "regression test": "how-to/ci",
    "spreadsheet": "tutorials/from-a-spreadsheet",
    "G-Eval": "how-to/g-eval",
    "golden set": "how-to/golden-set",
    "red teaming": "explanation/attacks",
    "annotation": "how-to/labelling",
    "trace": "how-to/serve",
    "drift": "how-to/monitor",
    "A/B test": "how-to/compare",
    "prompt injection": "explanation/attacks",
    "LLM judge": "how-to/writing-judges",
    "synthetic data": "how-to/evaluation-sets",
    "confidence interval": "explanation/statistics",
    "exit code": "reference/commands",
    "context recall": "reference/retrieval-measures",
}


class Page:
    """A page of the site: where its links lead, what it loads, and its anchors."""

    def __init__(self, text: str) -> None:
        tree = LexborHTMLParser(text)
        self.links = [node.attributes["href"] or "" for node in tree.css("a[href]")]
        self.loads: list[str] = []
        self.anchors = {
            node.attributes[name] or "" for name in ("id", "name") for node in tree.css(f"[{name}]")
        }
        for tag, attribute in LOADS.items():
            for node in tree.css(f"{tag}[{attribute}]"):
                followed = NO_LOAD & set((node.attributes.get("rel") or "").split())
                (self.links if followed else self.loads).append(node.attributes[attribute] or "")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the built site."""
    if importlib.util.find_spec("material") is None:
        pytest.skip("needs MkDocs: pip install 'mkdocs-material>=9.5'")

    def build(folder: Path) -> None:
        built = subprocess.run(
            [sys.executable, "-m", "mkdocs", "build", "-q", "--strict", "-d", str(folder)],
            cwd=ROOT,
            env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (built.returncode, built.stdout + built.stderr) == (0, "")

    return made_once(tmp_path_factory, "site", build)


@pytest.fixture(scope="module")
def pages(site):
    """Address -> page, of all that the site has for a browser."""
    return {address_of(path, site): Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}


def address_of(path, site):
    return f"{HERE}/{path.relative_to(site).as_posix().removesuffix('index.html')}"


def wrong_links(base, links, site, pages):
    """Return the links of a page that lead nowhere on the site; those to other hosts are not asked."""
    wrong = []
    for link in dict.fromkeys(links):
        address, anchor = urldefrag(urljoin(base.replace(HERE, "http://site"), link))
        if not address.startswith("http://site/"):
            continue
        page = pages.get(address.replace("http://site", HERE))
        if page is None:
            found = (site / unquote(address.removeprefix("http://site/"))).is_file()
        else:
            found = not anchor or unquote(anchor) in page.anchors
        wrong += [] if found else [link]
    return wrong


@pytest.mark.docs
def test_every_link_and_anchor_of_the_site_leads_somewhere(site, pages):
    wrong = {
        base: found
        for base, page in pages.items()
        if not base.endswith("404.html")  # its links are from the top of a host, wherever it is shown
        and (found := wrong_links(base, page.links + page.loads, site, pages))
    }
    assert wrong == {}
    assert sum(len(page.links) for page in pages.values()) > 10_000


@pytest.mark.docs
def test_a_link_or_an_anchor_that_leads_nowhere_is_found(site, pages):
    links = ["how-to/ci/", "how-to/ci.md", "how-to/nowhere/", "how-to/ci/#nowhere", "https://example.org/"]
    assert wrong_links(f"{HERE}/", links, site, pages) == ["how-to/nowhere/", "how-to/ci/#nowhere"]


@pytest.mark.docs
def test_links_to_the_repository_name_files_and_others_are_encrypted(pages):
    """Other hosts are not asked; what can be known without them is checked."""
    links = {link for page in pages.values() for link in page.links if re.match(r"\w+://", link)}
    local = re.compile(r"http://(localhost|127\.0\.0\.1)\b")
    assert {link for link in links if not link.startswith("https://") and not local.match(link)} == set()
    ours = re.compile(r"https://github\.com/ragstone/ragstone/(?:blob|tree)/main/([^#]+)")
    named = {found[1] for link in links if (found := ours.match(link))}
    assert len(named) > 20
    assert {name for name in named if not (ROOT / name).exists()} == set()


@pytest.mark.docs
def test_pages_load_nothing_from_another_host(site, pages):
    loads = {load for page in pages.values() for load in page.loads}
    assert {load for load in loads if re.match(r"(\w+:)?//", load)} == set()
    styles = "".join(path.read_text(encoding="utf-8") for path in site.rglob("*.css"))
    assert re.findall(r"(?:url\(|@import )[\"']?(?:https?:)?//[^)]*", styles) == []


@pytest.mark.docs
def test_the_site_holds_no_source_and_no_scratch(site):
    endings = {path.suffix for path in site.rglob("*") if path.is_file()}
    expected = {
        ".html",
        ".md",
        ".txt",
        ".css",
        ".csv",
        ".js",
        ".map",
        ".json",
        ".xml",
        ".gz",
        ".png",
        ".webp",
        ".svg",
        ".yml",
    }
    assert endings <= expected
    assert [path for path in site.rglob("*") if "__pycache__" in path.name] == []


@pytest.mark.docs
def test_every_page_has_its_markdown_beside_it_whose_links_resolve(site, pages):
    sources = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}
    assert sources == {path.relative_to(site).as_posix() for path in site.rglob("*.md")}
    for name in sources:
        text = (site / name).read_text(encoding="utf-8")
        assert wrong_links(f"{HERE}/{name}", LINK.findall(without_code(text)), site, pages) == [], name
        assert "<!--" not in without_code(text), name
        html = site / name.removesuffix(".md") / "index.html" if name != "index.md" else site / "index.html"
        assert f'<link rel="alternate " type="text/markdown" href="{beside(name)}">' in html.read_text(
            "utf-8"
        )


def beside(name):
    return name if name == "index.md" else f"../{Path(name).name}"


def without_code(text):
    return re.sub(r"`[^`\n]+`", "", re.sub(r"^ *```.*?^ *```", "", text, flags=re.MULTILINE | re.DOTALL))


@pytest.mark.docs
def test_llms_txt_lists_every_page_with_a_sentence(site, pages):
    text = (site / "llms.txt").read_text(encoding="utf-8")
    assert re.match(r"# Ragstone\n\n> [^\n]+\n\n", text)
    lines = re.findall(r"^- \[[^\n]+\]\(([^)]+)\): (.+)$", text, re.MULTILINE)
    assert wrong_links(f"{HERE}/llms.txt", [link for link, _ in lines], site, pages) == []
    assert {link for link, _ in lines} == {
        "llms-full.txt",
        *(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")),
    }
    assert [link for link, sentence in lines if len(sentence) < 12 or sentence[-1] not in ".?!"] == []
    heads = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert heads == ["Overview", "Tutorials", "How-to", "Reference", "Explanation", "Optional"]
    assert len(text.encode()) < 60_000


@pytest.mark.docs
def test_llms_full_txt_joins_the_pages_and_its_links_resolve(site, pages):
    text = (site / "llms-full.txt").read_text(encoding="utf-8")
    joined = re.findall(r"^<!-- (\S+\.md) -->$", text, re.MULTILINE)
    decisions = {path.relative_to(DOCS).as_posix() for path in (DOCS / "decisions").glob("*.md")}
    assert sorted(joined) == sorted(
        {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")} - decisions
    )
    assert wrong_links(f"{HERE}/", LINK.findall(without_code(text)), site, pages) == []
    size = re.search(r"\(llms-full\.txt\): .* (\d\.\d) MB", (site / "llms.txt").read_text(encoding="utf-8"))
    assert float(size[1]) == pytest.approx(len(text.encode()) / 1e6, abs=0.05)


@pytest.mark.docs
def test_old_addresses_lead_on(site, pages):
    redirects = tomllib.loads((DOCS / "redirects.toml").read_text(encoding="utf-8"))
    for old, new in redirects.items():
        base = f"{HERE}/{old.removesuffix('.md')}/"
        text = (site / old.removesuffix(".md") / "index.html").read_text(encoding="utf-8")
        [target] = set(re.findall(r'url=([^"]+)"', text))
        assert urljoin(base.replace(HERE, "http://s"), target) == f"http://s/{new.removesuffix('.md')}/"
        assert f'location.replace("{target}" + location.hash)' in text


@pytest.mark.docs
def test_keywords_stand_in_the_index_once_for_each_page(site):
    index = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))
    tagged = {entry["location"]: entry["tags"] for entry in index["docs"] if "tags" in entry}
    keywords = tomllib.loads((DOCS / "keywords.toml").read_text(encoding="utf-8"))
    assert tagged == {f"{name.removesuffix('.md')}/": words for name, words in keywords.items()}


@pytest.fixture(scope="module")
def served(site):
    """The address of a server of the site."""
    handler = functools.partial(Quiet, directory=str(site))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Files of a folder, without a line for each."""

    def log_message(self, *_arguments: object) -> None:
        """Say nothing."""


@pytest.mark.browser
@pytest.mark.docs
def test_search_finds_the_words_of_other_tools_and_asks_nobody_else(served):
    with opened_tab(loopback=True) as tab:
        tab.visit(served)
        missed = {}
        for words, page in SEARCHES.items():
            first = found_first(tab, words)
            if f"{served}/{page}/" not in first:
                missed[words] = [address.removeprefix(served) for address in first]
        assert missed == {}
        for address in ("/how-to/ci/", "/reference/judges/", "/python/#judge"):
            tab.visit(served + address)
            tab.page.wait_for_timeout(300)
            assert [url for url in tab.requests if not url.startswith(served)] == []
            assert tab.complaints == []
        assert tab.page.url == f"{served}/reference/python/#judge"


def found_first(tab, words):
    """Return the addresses of the first three pages that the site's search finds."""
    tab.page.focus("input[data-md-component=search-query]")
    tab.page.keyboard.press("Control+A")
    tab.page.keyboard.press("Delete")
    tab.until("document.querySelectorAll('.md-search-result__item').length", 0)
    tab.page.keyboard.insert_text(words)  # at once: a search for the first letters alone would come back late
    tab.page.keyboard.press("End")  # the theme listens to keys
    tab.until("document.querySelectorAll('.md-search-result__item').length >= 3", True)
    items = "[...document.querySelectorAll('.md-search-result__item > a')]"
    script = f"{items}.slice(0, 3).map((link) => link.href.split('?')[0].split('#')[0])"
    return tab.run(script)
