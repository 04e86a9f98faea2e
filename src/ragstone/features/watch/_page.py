"""A look at the store -> one HTML page that opens anywhere and asks nothing of any network."""

from collections.abc import Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from ragstone.features.watch._document import SHOWN_GAPS, monitor_document
from ragstone.features.watch._showing import ExchangeFilter, ExchangePage, StoredExchange
from ragstone.features.watch.look import Look, Open
from ragstone.kernel.document.blocks import Link, ReportDocument, RowList
from ragstone.kernel.document.html import asset, render_page
from ragstone.kernel.document.output import put_text
from ragstone.kernel.errors import harmless
from ragstone.kernel.records import Context
from ragstone.kernel.version import __version__

PAGE = "monitor.html"  # in the folder of the store
SHOWN_CONTEXTS, CONTEXT_CUT, TEXT_CUT = 5, 500, 1500
"""Of an exchange on the page; the page of a server cuts nothing."""

ShownT = TypeVar("ShownT")


def write_monitor(folder: Path, look: Look) -> Path:
    """Write monitor.html into a folder, in place of one that is there, and return its path."""
    return put_text(folder / PAGE, render_monitor(look))


class MonitorView(msgspec.Struct, frozen=True):
    """A page of the monitor: what it says, and the values of the templates of its rows."""

    document: ReportDocument
    values: dict[str, Any]


def render_monitor(look: Look) -> str:
    """Return the page as one file."""
    return render_view(monitor_view(look))


def render_view(view: MonitorView) -> str:
    """Return a page as one file; where a server has it, it takes what its forms ask for."""
    script = "" if view.document.skip[0] == "list" else asset("monitor.js")
    return render_page(view.document, script=script, forms=bool(view.values["served"]), **view.values)


def monitor_view(look: Look, *, served: str = "") -> MonitorView:
    """Return the overview. served: where a server has it, with all questions below."""
    look = clean(look, Look)
    values = {
        "low_metrics": sorted({name for question in look.questions for name in question.low}),
        "tag_values": sorted({pair for question in look.questions for pair in question.seen.tags.items()}),
        "gaps": look.shown_gaps[:SHOWN_GAPS],
        "items": look.questions,
        "cut": not served,
        "served": served,
        "shown_contexts": shown_contexts,
        "shortened": shortened,
    }
    return MonitorView(monitor_document(look, served=served), values)


def questions_view(
    page: ExchangePage,
    items: Sequence[Open],
    chosen: ExchangeFilter,
    *,
    metric: str,
    gap: int,
    choices: Sequence[str],
    tags: Sequence[str],
    served: str = "/monitor",
) -> MonitorView:
    """Return a page of questions, as a server shows it: filtered, with links to the pages around it.

    served: where the server has the monitor's page.
    """
    tag, value = next(iter(chosen.tags.items()), ("", ""))
    query = {"metric": metric, "tag": tag, "value": value, "text": chosen.text or "", "gap": str(gap or "")}
    document = ReportDocument(
        title="Questions",
        kind="monitor",
        about="",
        version=__version__,
        blocks=[RowList(template="monitor_questions.html")],
        skip=("list", "questions"),
        back=Link("Back to the overview", served),
    )
    values = {
        "page": page,
        "items": clean(list(items), list[Open]),
        "asked": clean(query, dict[str, str]),
        "choices": clean(list(choices), list[str]),
        "tags": clean(list(tags), list[str]),
        "pages": max(1, -(-page.n // page.size)),
        "cut": False,
        "served": served,
        "shown_contexts": shown_contexts,
        "shortened": shortened,
    }
    return MonitorView(document, values)


def clean(value: ShownT, kind: type[ShownT]) -> ShownT:
    """Return a value in whose texts no word of the log turns the direction of a line or is a control."""
    return msgspec.convert(
        _harmless(msgspec.to_builtins(value, str_keys=False, builtin_types=(date, datetime))), kind
    )


def _harmless(value: object) -> object:
    if isinstance(value, str):
        return harmless(value)
    if isinstance(value, dict):
        return {_harmless(key): _harmless(each) for key, each in value.items()}
    return [_harmless(each) for each in value] if isinstance(value, list | tuple) else value


def shown_contexts(seen: StoredExchange, cut: bool) -> list[tuple[str, str]]:
    """Return (document, text) of the contexts that are shown."""
    contexts: Sequence[Context] = seen.contexts or ()
    some = contexts[:SHOWN_CONTEXTS] if cut else contexts
    return [
        (context.document_id or context.id or "", shortened(context.text, cut, CONTEXT_CUT))
        for context in some
    ]


def shortened(text: str, cut: bool, most: int = TEXT_CUT) -> str:
    """Return a text, its beginning where it is longer and is to be cut."""
    return text if not cut or len(text) <= most else text[:most].rstrip() + " …"
