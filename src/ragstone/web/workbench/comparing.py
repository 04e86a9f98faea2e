"""Two runs beside each other: what `ragstone compare` says of them, in the same words, and what changed."""

from typing import Annotated

import msgspec
from litestar import Response, get
from litestar.exceptions import HTTPException
from litestar.params import FromQuery, QueryParameter

from ragstone.errors import RagstoneError
from ragstone.experiments.compared import Comparison
from ragstone.flows.compare.comparing import compare
from ragstone.report import compare as compare_words
from ragstone.web.workbench.desk import AtWorkbench, Workbench
from ragstone.web.workbench.frame import page
from ragstone.web.workbench.person import AnyRequest, person_of
from ragstone.web.workbench.rows.files import rows_file
from ragstone.web.workbench.runs import find_run, runs_of

SHOWN_FLIPS = 100
WORDS = {
    f"compare_{name}": getattr(compare_words, name)
    for name in (
        *("outcome", "in_order", "full_name", "systems_told", "signed", "signed_interval", "metric_told"),
        *("spent_told", "left_out", "gate_told"),
    )
}


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be compared: two runs by id, and as of `ragstone compare`."""

    a: str = ""
    b: str = ""
    metric: str = ""
    system_a: str = ""
    system_b: str = ""
    margin: float | None = None
    shared: bool = False


@get("/compare", include_in_schema=False, sync_to_thread=True)
def compare_page(
    request: AnyRequest,
    bench: AtWorkbench,
    *,
    a: FromQuery[str] = "",
    b: FromQuery[str] = "",
    metric: FromQuery[str] = "",
    system_a: FromQuery[str] = "",
    system_b: FromQuery[str] = "",
    margin: Annotated[str, QueryParameter(max_length=20)] = "",
    shared: FromQuery[bool] = False,
) -> Response[str]:
    """Give the form, and what B is against A where both are chosen."""
    person_of(request)
    asked = Asked(
        a=a, b=b, metric=metric.strip(), system_a=system_a.strip(), system_b=system_b.strip(), shared=shared
    )
    found, wrong = None, None
    if a and b:
        try:
            found = compared(bench, msgspec.structs.replace(asked, margin=_share(margin)))
        except (RagstoneError, HTTPException) as mistake:
            wrong = mistake.detail if isinstance(mistake, HTTPException) else str(mistake)
    runs = [entry for entry in runs_of(bench) if rows_file(entry.folder, "judgements")]
    return page(
        request,
        "compare.html",
        "Compare",
        **WORDS,
        runs=runs,
        asked=asked,
        margin=margin,
        found=found,
        wrong=wrong,
        shown_flips=SHOWN_FLIPS,
    )


def compared(bench: Workbench, asked: Asked) -> Comparison:
    """Return the comparison. Raises what compare raises, NotFoundException for a run that is not there."""
    return compare(
        find_run(bench, asked.a),
        find_run(bench, asked.b),
        metrics=[asked.metric] if asked.metric else [],
        system_a=asked.system_a or None,
        system_b=asked.system_b or None,
        margin=asked.margin,
        shared=asked.shared,
        seed=bench.settings.run.seed,
    )


def _share(text: str) -> float | None:
    """Return the margin. Raises HTTPException for what is no number."""
    if not text.strip():
        return None
    try:
        return float(text)
    except ValueError:
        raise HTTPException(
            f"The margin {text!r} is no number: give a share of the scale, such as 0.02."
        ) from None


ROUTES = (compare_page,)
