"""A hook of MkDocs. What it adds to the site, with the tables that it reads:

- links from a page to files beside docs/ lead to the repository; decisions are listed;
- keywords.toml: the words by which people look for a page, put into the index of the search;
- redirects.toml: a page for each address that was in use before, which leads to the one in use now;
- a Markdown file beside each page (how-to/ci/ and how-to/ci.md), llms.txt and llms-full.txt.
"""

import json
import logging
import os
import posixpath
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
# "text checked" is for tests/test_docs.py; MkDocs takes such a block for no block at all.
FENCE = re.compile(r"^(```\w+) .*$", re.MULTILINE)
OUTSIDE = re.compile(r"\]\(((?:\.\./)+)([^)#]+)(#[^)]*)?\)")
RELATIVE = re.compile(r"\]\((?!\w+:|#|/)([^)#\s]+)")
COMMENT = re.compile(r"<!-- .*? -->\n?")
ANCHOR = re.compile(r'<a id="[^"]*"></a>')
ROW = re.compile(r"^\| \[[^]]+\]\(([^)#]+)\) \|(?:.*\|)? ([^|]+) \|$", re.MULTILINE)
SENTENCE_END = re.compile(r"(?<=[.!?:])\s+(?=[A-Z`])")
DECISIONS = "Decisions"  # a part of the navigation that is for readers of the code
LESS = 0.2  # of what a word in a decision counts in the search, beside a page for users

LOG = logging.getLogger("mkdocs.hooks.site")  # a warning ends the build, which is strict
REDIRECT = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>This page has moved</title>
<meta name="robots" content="noindex">
<link rel="canonical" href="{to}">
<link rel="icon" href="data:,">
<script>location.replace("{to}" + location.hash)</script>
<meta http-equiv="refresh" content="0; url={to}">
</head>
<body><p>This page has moved: <a href="{to}">{to}</a></p></body>
</html>
"""
ABOUT = """\
Ragstone is a Python tool: `pip install ragstone`, then `ragstone demo` runs everything without a key. Each
address below is a page as Markdown; the same address without `.md` is the page for a browser.
"""

# Of the build that is under way: a page's file -> its Markdown as MkDocs reads it, its page; the navigation.
MARKDOWN: dict[str, str] = {}
PAGES: dict[str, Any] = {}
NAVIGATION: list[Any] = []


def on_config(config: Any) -> Any:  # noqa: ANN401 - MkDocs' own type
    """Put every page of decisions/ into the navigation; offer other versions where mike keeps them."""
    decisions = [f"decisions/{path.name}" for path in sorted((DOCS / "decisions").glob("*.md"))]
    config["nav"] = [
        {DECISIONS: decisions} if entry == {DECISIONS: "decisions/"} else entry for entry in config["nav"]
    ]
    if "MIKE_DOCS_VERSION" not in os.environ:
        config.get("extra", {}).pop("version", None)  # the theme would ask for a list that is not there
    return config


def on_nav(nav: Any, **_others: object) -> None:  # noqa: ANN401
    """Forget the build before; keep the navigation, whose order llms.txt has."""
    MARKDOWN.clear()
    PAGES.clear()
    NAVIGATION[:] = nav.items


def on_page_markdown(markdown: str, page: Any, config: Any, **_others: object) -> str:  # noqa: ANN401
    """Return the page as MkDocs reads it: plain fences; links out of docs/ lead to the repository."""
    name = page.file.src_uri
    here = (DOCS / name).parent
    if name.startswith("decisions/"):
        page.meta["search"] = {"boost": LESS}

    def into_repository(match: re.Match[str]) -> str:
        target = (here / (match[1] + match[2])).resolve()
        if target.is_relative_to(DOCS):
            return match[0]
        kind = "tree" if target.is_dir() else "blob"
        return f"]({config['repo_url']}/{kind}/main/{target.relative_to(DOCS.parent)}{match[3] or ''})"

    MARKDOWN[name] = OUTSIDE.sub(into_repository, FENCE.sub(r"\1", markdown))
    return MARKDOWN[name]


def on_post_page(output: str, page: Any, config: Any) -> str:  # noqa: ANN401
    """Return the page, which names its Markdown and asks no other host for the stars of the repository."""
    PAGES[page.file.src_uri] = page
    beside = posixpath.relpath(page.file.src_uri, page.url or ".")
    link = f'<link rel="alternate" type="text/markdown" href="{beside}">'
    # This mark makes the theme's script ask api.github.com, whoever reads.
    quiet = output.replace(' data-md-component="source"', "") if config["repo_url"] else output
    return quiet.replace("</head>", f"{link}</head>", 1)


def on_post_build(config: Any) -> None:  # noqa: ANN401
    """Write Markdown, llms.txt and redirects beside MkDocs' pages; put the keywords into the search."""
    site = Path(config["site_dir"])
    keywords = read_table("keywords.toml")
    for name in keywords.keys() - PAGES.keys():
        LOG.warning("keywords.toml names %s, which is no page", name)
    for name, markdown in MARKDOWN.items():
        beside = site / name
        beside.parent.mkdir(parents=True, exist_ok=True)
        beside.write_text(plain(markdown), encoding="utf-8")
    write_redirects(site)
    add_keywords(site / "search" / "search_index.json", keywords)
    whole = joined()
    (site / "llms-full.txt").write_text(whole, encoding="utf-8")
    (site / "llms.txt").write_text(contents(config, keywords, len(whole.encode())), encoding="utf-8")


def read_table(name: str) -> dict[str, Any]:
    """Return a table beside this file."""
    return tomllib.loads((DOCS / name).read_text(encoding="utf-8"))


def plain(markdown: str) -> str:
    """Return a page without the marks that are for generate.py and for a browser alone."""
    return ANCHOR.sub("", COMMENT.sub("", markdown))


def write_redirects(site: Path) -> None:
    """Write a page for each old address that leads to the one in use now, the part after # included."""
    for old, new in read_table("redirects.toml").items():
        if old in PAGES or new not in PAGES:
            LOG.warning("redirects.toml: %s must be no page, and %s must be one", old, new)
            continue
        address = old.removesuffix(".md")
        target = site / address / "index.html"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(
            REDIRECT.format(to=f"{posixpath.relpath(PAGES[new].url, address)}/"), encoding="utf-8"
        )


def add_keywords(index: Path, keywords: dict[str, list[str]]) -> None:
    """Put each page's keywords into the entry of its top, as tags, which the search weighs most."""
    search = json.loads(index.read_text(encoding="utf-8"))
    of_address = {PAGES[name].url: words for name, words in keywords.items() if name in PAGES}
    for entry in search["docs"]:
        if entry["location"] in of_address:
            entry["tags"] = of_address[entry["location"]]
    index.write_text(json.dumps(search, separators=(",", ":")), encoding="utf-8")


def listed(items: list[Any]) -> Iterator[Any]:
    """Yield the pages of a part of the navigation, those of its parts too."""
    for item in items:
        if item.is_section:
            yield from listed(item.children)
        elif item.is_page:
            yield item


def contents(config: Any, keywords: dict[str, list[str]], size: int) -> str:  # noqa: ANN401
    """Return llms.txt (llmstxt.org): a title, a summary, and each page with a sentence."""
    base = f"{config['site_url'].rstrip('/')}/" if config["site_url"] else ""
    described = {
        posixpath.normpath(target): sentence.strip() for target, sentence in ROW.findall(MARKDOWN["index.md"])
    }

    def line(page: Any) -> str:  # noqa: ANN401
        name = page.file.src_uri
        also = f" Look here for: {', '.join(keywords[name])}." if name in keywords else ""
        sentence = described.get(name) or first_sentence(plain(MARKDOWN[name]))
        ended = sentence if sentence[-1:] in ".?!" else f"{sentence}."
        return f"- [{page.title}]({base}{name}): {ended}{also}\n"

    def part(title: str, pages: list[Any]) -> str:
        return f"## {title}\n\n{''.join(map(line, pages))}"

    top = [item for item in NAVIGATION if item.is_page]
    # What a reader with little room may leave out is called Optional by llmstxt.org.
    sections = [
        part("Optional" if item.title == DECISIONS else item.title, list(listed([item])))
        for item in NAVIGATION
        if item.is_section
    ]
    everything = (
        f"- [All pages]({base}llms-full.txt): all but the decisions, in one file of {size / 1e6:.1f} MB.\n"
    )
    head = f"# {config['site_name']}\n\n> {config['site_description']}\n\n{ABOUT}"
    return "\n".join([head, part("Overview", top) + everything, *sections])


def joined() -> str:
    """Return llms-full.txt: all pages but the decisions, their links from the top of the site."""
    kept = [item for item in NAVIGATION if item.title != DECISIONS]
    parts = []
    for page in listed(kept):
        name = page.file.src_uri
        folder = posixpath.dirname(name)

        def from_top(match: re.Match[str], folder: str = folder) -> str:
            return f"]({posixpath.normpath(posixpath.join(folder, match[1]))}"

        parts.append(f"<!-- {name} -->\n\n{RELATIVE.sub(from_top, plain(MARKDOWN[name])).strip()}\n")
    return "\n".join(parts)


def first_sentence(markdown: str) -> str:
    """Return the first sentence of a page's text, without marks of Markdown."""
    text_alone = re.sub(
        r"^```.*?^```$|^#+ .*?$|\*\*Problem\.\*\* ", "", markdown, flags=re.MULTILINE | re.DOTALL
    )
    texts = (part.strip() for part in text_alone.split("\n\n"))
    text = next((part for part in texts if part and not part.startswith(("|", "!", ">", "-"))), "")
    words = " ".join(re.sub(r"!?\[([^]]*)\]\([^)]*\)", r"\1", text).split())
    return SENTENCE_END.split(words)[0].rstrip(":")
