"""The traces that were sent, or that a file holds: the newest, and the tree of one with its times."""

import json

from litestar import Response, get
from litestar.exceptions import NotFoundException
from litestar.params import FromPath, FromQuery

from ragstone.monitor.traces import find_trace, newest_traces, trace_files
from ragstone.workbench.desk import AtWorkbench
from ragstone.workbench.frame import AnyRequest, page

TRACES_A_PAGE = 50
LONGEST_ASKED = 160
DEEPEST = 12  # steps that are set in


@get("/traces", sync_to_thread=True)
def traces(request: AnyRequest, bench: AtWorkbench, at: FromQuery[int] = 1) -> Response[str]:
    """Give a page of the traces, the newest first."""
    at = max(1, at)
    files = trace_files(bench.traces)
    found, more = newest_traces(files, TRACES_A_PAGE * (at - 1), TRACES_A_PAGE)
    return page(
        request,
        "traces.html",
        "Traces",
        tree=None,
        found=found,
        at=at,
        n_pages=at + more,
        folders=[str(one) for one in bench.traces],
        longest=LONGEST_ASKED,
        lasted=lasted,
    )


@get("/traces/{trace_id:str}", sync_to_thread=True)
def trace(request: AnyRequest, bench: AtWorkbench, trace_id: FromPath[str]) -> Response[str]:
    """Give the tree of a trace."""
    tree = find_trace(trace_files(bench.traces), trace_id)
    if tree is None:
        raise NotFoundException(f"No span of the trace {trace_id} is here.")
    title = tree.summary.name or tree.summary.id
    return page(request, "traces.html", title, tree=tree, deepest=DEEPEST, lasted=lasted, indented=indented)


def lasted(seconds: float | None) -> str:
    """Return a time as it is read: `12 ms`, `1.25 s`; a dash where it is not known."""
    if seconds is None:
        return "–"
    return f"{seconds * 1000:.3g} ms" if seconds < 1 else f"{seconds:,.2f} s"


def indented(text: str) -> str:
    """Return JSON with its objects set in; any other text as it is."""
    if text[:1] not in ("{", "["):
        return text
    try:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return text


ROUTES = (traces, trace)
