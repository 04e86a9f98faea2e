"""A hook of MkDocs: links from a page to files beside docs/ lead to the repository; decisions are listed."""

import re
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
# "text checked" is for tests/test_docs.py; MkDocs takes such a block for no block at all.
FENCE = re.compile(r"^(```\w+) .*$", re.MULTILINE)
OUTSIDE = re.compile(r"\]\(((?:\.\./)+)([^)#]+)(#[^)]*)?\)")


def on_config(config: Any) -> Any:  # noqa: ANN401 - MkDocs' own type, which development does not install
    """Put every page of decisions/ into the navigation, in order."""
    decisions = [f"decisions/{path.name}" for path in sorted((DOCS / "decisions").glob("*.md"))]
    config["nav"] = [
        {"Decisions": decisions} if entry == {"Decisions": "decisions/"} else entry for entry in config["nav"]
    ]
    return config


def on_page_markdown(markdown: str, page: Any, config: Any, **_others: object) -> str:  # noqa: ANN401
    """Return the page as MkDocs reads it: plain fences; links out of docs/ lead to the repository."""
    here = (DOCS / page.file.src_uri).parent

    def into_repository(match: re.Match[str]) -> str:
        target = (here / (match[1] + match[2])).resolve()
        if target.is_relative_to(DOCS):
            return match[0]
        kind = "tree" if target.is_dir() else "blob"
        return f"]({config['repo_url']}/{kind}/main/{target.relative_to(DOCS.parent)}{match[3] or ''})"

    return OUTSIDE.sub(into_repository, FENCE.sub(r"\1", markdown))
