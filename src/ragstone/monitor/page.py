"""A look at the store -> one HTML page that opens anywhere and asks nothing of any network."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ragstone.monitor import page_words
from ragstone.monitor.look import Look, Open
from ragstone.monitor.showing import ExchangeFilter, ExchangePage, StoredExchange
from ragstone.records import Context
from ragstone.report.render.html import DrawnChart, asset, draw, environment, policy, put_page, safe
from ragstone.report.wording import harmless, one_line
from ragstone.version import __version__

if TYPE_CHECKING:
    from jinja2 import Environment

PAGE = "monitor.html"  # in the folder of the store
SHOWN_GAPS = 20
SHOWN_CONTEXTS, CONTEXT_CUT, TEXT_CUT = 5, 500, 1500
"""Of an exchange on the page; the page of a server cuts nothing."""


def write_monitor(folder: Path, look: Look) -> Path:
    """Write monitor.html into a folder, in place of one that is there, and return its path."""
    return put_page(folder / PAGE, render_monitor(look))


def render_monitor(look: Look, *, served: str | None = None, back: str | None = None) -> str:
    """Return the page. served: where a server has it, with all questions below; back: to where it links."""
    drawn = _quiet(draw([*look.charts, *(chart for panel in look.panels for _, _, chart in panel.charts)]))
    css, js = asset("page.css") + asset("monitor.css"), asset("monitor.js") + drawn.script
    return _render(
        "monitor.html",
        look=look,
        findings=page_words.answers(look),
        gaps=look.shown_gaps[:SHOWN_GAPS],
        metrics=list(dict.fromkeys(panel.metric for panel in look.panels)),
        tags=list(dict.fromkeys(panel.tag for panel in look.panels)),
        low_metrics=sorted({name for one in look.questions for name in one.low}),
        tag_values=sorted({pair for one in look.questions for pair in one.seen.tags.items()}),
        items=look.questions,
        cut=not served,
        served=served,
        back=back,
        drawn=drawn,
        version=__version__,
        css=safe(css),
        js=safe(js),
        policy=_policy(css, js, *drawn.scripts(), served=served is not None),
    )


def render_questions(
    page: ExchangePage,
    items: Sequence[Open],
    chosen: ExchangeFilter,
    *,
    metric: str,
    gap: int,
    choices: Sequence[str],
    tags: Sequence[str],
    served: str = "/monitor",
) -> str:
    """Return a page of questions, as a server shows it: filtered, with links to the pages around it.

    served: where the server has the monitor's page.
    """
    css, js = asset("page.css") + asset("monitor.css"), ""
    tag, value = next(iter(chosen.tags.items()), ("", ""))
    return _render(
        "monitor_questions.html",
        page=page,
        items=items,
        asked={"metric": metric, "tag": tag, "value": value, "text": chosen.text or "", "gap": gap or ""},
        choices=choices,
        tags=tags,
        pages=max(1, -(-page.n // page.size)),
        cut=False,
        served=served,
        version=__version__,
        css=safe(css),
        js=safe(js),
        policy=_policy(css, served=True),
    )


def _render(template: str, **given: object) -> str:
    return _environment().get_template(template).render(_words(), **given)


@cache
def _environment() -> "Environment":
    """Return the templates of all pages; no word of the log turns the direction of a line or is a control."""
    return environment().overlay(finalize=_shown)


def _shown(value: object) -> object:
    """Return what a template shows: texts without unruly characters, our own markup as it is."""
    return harmless(value.replace("\r\n", "\n")) if type(value) is str else value


def _quiet(drawn: DrawnChart) -> DrawnChart:
    specs = {name: safe(harmless(spec)) for name, spec in drawn.specs.items()}
    return msgspec.structs.replace(drawn, specs=specs)


def _policy(css: str, *scripts: str, served: bool) -> str:
    told = policy(css, *scripts)
    return told.replace("form-action 'none'", "form-action 'self'") if served else told


def _words() -> dict[str, object]:
    words = {name: value for name, value in vars(page_words).items() if callable(value) and name[0] != "_"}
    return {
        **words,
        "shown_contexts": shown_contexts,
        "shortened": shortened,
        "one_line": one_line,
        "CAUSES": page_words.CAUSES,
    }


def shown_contexts(seen: StoredExchange, cut: bool) -> list[tuple[str, str]]:
    """Return (document, text) of the contexts that are shown."""
    contexts: Sequence[Context] = seen.contexts or ()
    some = contexts[:SHOWN_CONTEXTS] if cut else contexts
    return [(one.document_id or one.id or "", shortened(one.text, cut, CONTEXT_CUT)) for one in some]


def shortened(text: str, cut: bool, most: int = TEXT_CUT) -> str:
    """Return a text, its beginning where it is longer and is to be cut."""
    return text if not cut or len(text) <= most else text[:most].rstrip() + " …"
