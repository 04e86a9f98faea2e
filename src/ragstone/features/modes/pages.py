"""The page of a run's failure modes, and the queue that has people check one."""

from pathlib import Path
from typing import Annotated
from urllib.parse import quote, urlencode

import msgspec
from litestar import Response, get, post
from litestar.params import FromPath, JSONBody

from ragstone.features.label import hides_from, keep_drawn
from ragstone.features.modes._plan import plan_modes
from ragstone.features.modes.finding import modes_to_label
from ragstone.features.modes.values import ModesSummary, read_modes_summary
from ragstone.features.modes.words import modes_blocks, notes
from ragstone.kernel.document.blocks import Block, Heading, Link, Notes, Paragraph
from ragstone.kernel.document.html import contents_of, render_blocks
from ragstone.kernel.document.numbers import one_line
from ragstone.kernel.errors import DataError, plural
from ragstone.kernel.runs.modes import MODES_FILE, Mode, read_mode_rows
from ragstone.kernel.serve.frame import OWNER, ROOT, AtPerson, page
from ragstone.kernel.serve.requests import AnyRequest
from ragstone.kernel.serve.state import AtApp, RunFolder, run_folder

SHOWN_ROWS = 5  # of a mode
LONGEST_QUOTE = 200
HIDDEN = (
    "You are labelling answers of this run. Its failure modes are shown once you have labelled all of yours."
)
NONE_YET = (
    "This run has no failure modes yet. Find them with `ragstone modes {run}`, in the project's folder."
)
JUDGED_ANEW = (
    "The run has changed since its failure modes were found. Find them again: `ragstone modes {run}`"
)


@get("/runs/{index:int}/{name:str}/modes", sync_to_thread=True)
def modes(
    request: AnyRequest,
    app: AtApp,
    person: AtPerson,
    folder: RunFolder,
    index: FromPath[int],
    name: FromPath[str],
) -> Response[str]:
    """Give the failure modes of a run, with rows that show each."""
    run_id = f"{index}/{name}"
    summary, why = None, ""
    if hides_from(app, person, run_id):
        why = HIDDEN
    else:
        summary = read_modes_summary(folder)
    if summary is None and not why:
        why = (JUDGED_ANEW if (folder / MODES_FILE).is_file() else NONE_YET).format(run=folder)
    blocks = _blocks(summary, folder, f"{ROOT}/runs/{quote(run_id)}/row") if summary else []
    return page(
        request,
        "features/modes/modes.html",
        f"Failure modes of {name}",
        run_id=run_id,
        why=why,
        modes=summary.modes if summary else [],
        html=render_blocks(blocks) if blocks else "",
        listed=contents_of(blocks),
        may_draw=person.may("owner"),
    )


def _blocks(summary: ModesSummary, folder: Path, rows: str) -> list[Block]:
    """Return the modes as the terminal has them, then each with its question and some of its answers."""
    has_it = read_mode_rows(folder)
    told = notes(summary)
    return [
        *modes_blocks(summary),
        *([Notes(told)] if told else []),
        *(block for mode in summary.modes for block in _mode(mode, has_it.get(mode.name, {}), rows)),
    ]


def _mode(mode: Mode, has_it: dict[tuple[str, str], bool], rows: str) -> list[Block]:
    quoted = [
        (
            evidence.question_id,
            evidence.system,
            f"{evidence.part}: {one_line(evidence.quote, LONGEST_QUOTE)} ",
        )
        for evidence in mode.evidence
    ]
    known = {(question, system) for question, system, _ in quoted}
    quoted += [(*key, "") for key, is_yes in has_it.items() if is_yes and key not in known]
    more = len(quoted) - SHOWN_ROWS
    return [
        Heading(mode.title, anchor=mode.name),
        Paragraph(mode.question, tone="lead"),
        *(
            Paragraph(
                text, link=Link(f"{question} ({system})", f"{rows}?{urlencode({'question': question})}")
            )
            for question, system, text in quoted[:SHOWN_ROWS]
        ),
        *([Paragraph(f"And {plural(more, 'more answer')} by its judge.", tone="muted")] if more > 0 else []),
    ]


class ModeQueue(msgspec.Struct, frozen=True, kw_only=True):
    """Which mode is to be checked, on how many answers."""

    mode: str
    n: Annotated[int, msgspec.Meta(ge=1, le=10_000)] = 60


@post("/runs/{index:int}/{name:str}/modes/queue", sync_to_thread=True, status_code=200, guards=[OWNER])
def queue(
    request: AnyRequest,
    app: AtApp,
    folder: RunFolder,
    index: FromPath[int],
    name: FromPath[str],
    data: JSONBody[ModeQueue],
) -> dict[str, str]:
    """Make the queue that has people check a mode. Raises DataError as `modes_to_label` does."""
    summary = read_modes_summary(folder)
    drawn = modes_to_label(folder, data.mode, n=data.n, settings=app.settings)
    if summary is None or not drawn:
        raise DataError(f"{folder} has no answers to label for {data.mode!r}.")
    plan = plan_modes(folder, app.settings, model=None, judge=summary.judge, labels=())
    texts = {(row.question_id, row.system): row for row in plan.answers}
    question = next(mode.question for mode in summary.modes if mode.name == data.mode)
    run_id = f"{index}/{name}"
    go = keep_drawn(app, run_id, question, drawn, [texts[row.question_id, row.system] for row in drawn])
    app.audit(request, "queue made", queue=str(drawn[0].queue), run=run_id, by="mode", items=len(drawn))
    return {"go": go}


ROUTES = (modes, queue)
GIVEN = {"folder": run_folder}
