"""What every page is made with: templates, the style, a policy that forbids requests, the file."""

import base64
import hashlib
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from ragstone.errors import DataError
from ragstone.report import wording
from ragstone.report.corrected import corrected_of, halving, labelled_share
from ragstone.report.findings import rank_bars, told
from ragstone.report.retrieval import groupings, headline_measures, remarks

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup


def put_page(path: Path, page: str) -> Path:
    """Write a page in place of one that is there, whole or not at all, and return its path."""
    partial = path.with_name(f"{path.name}.partial")
    try:
        partial.write_text(page, encoding="utf-8", newline="\n")
        partial.replace(path)
    except OSError as mistake:
        raise DataError(
            f"{path}: could not be written ({mistake.strerror}). "
            "Make room, or make the folder writable, then run again."
        ) from None
    return path


def safe(text: str) -> "Markup":
    """Keep what is ours, or escaped already (see script_json), from being escaped."""
    from markupsafe import Markup

    return Markup(text)  # noqa: S704


def policy(css: str, *scripts: str) -> str:
    """Return a Content-Security-Policy: this style, these scripts or none, and not one request."""
    digests = " ".join(f"'{_digest(script)}'" for script in scripts)
    script = f"script-src {digests}; " if digests else ""
    return (
        f"default-src 'none'; style-src '{_digest(css)}'; {script}"
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def policy_in(page: str) -> str:
    """Return the policy that a page of ours states, as a server has to send it."""
    start = page.index('content="', page.index("Content-Security-Policy")) + len('content="')
    stated = page[start : page.index('"', start)].replace("&#39;", "'")
    return f"{stated}; frame-ancestors 'none'"


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def asset(name: str) -> str:
    """Return a file of the folder template."""
    return resources.files("ragstone.report").joinpath("template", name).read_text(encoding="utf-8")


@cache
def environment() -> "Environment":
    """Return the templates, with everything that comes from outside escaped."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    made = Environment(
        loader=FunctionLoader(asset),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    words = {name: value for name, value in vars(wording).items() if callable(value)}
    made.globals.update(words, rank_bars=rank_bars, told=told)
    made.globals.update(groupings=groupings, headline_measures=headline_measures, remarks=remarks)
    made.globals.update(corrected_of=corrected_of, halving=halving, labelled_share=labelled_share)
    return made
