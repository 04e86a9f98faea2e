"""The runs of a project, as a list."""

from litestar import Response, get

from ragstone.web.workbench.desk import AtWorkbench
from ragstone.web.workbench.frame import page
from ragstone.web.workbench.person import AnyRequest


@get("/", include_in_schema=False)
async def runs(request: AnyRequest, bench: AtWorkbench) -> Response[str]:
    """Give the list of runs."""
    found = [file.parent.name for folder in bench.runs for file in sorted(folder.glob("*/manifest.json"))]
    return page(request, "runs.html", "Runs", runs=found)


ROUTES = (runs,)
