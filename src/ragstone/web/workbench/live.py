"""How far a run is that goes on, in words, and how to go on with one that was stopped."""

import msgspec
from litestar import get
from litestar.params import FromPath

from ragstone.engine.progress_file import Life, RunProgress, read_progress
from ragstone.report.wording import count, usd
from ragstone.web.workbench.desk import AtWorkbench
from ragstone.web.workbench.person import AnyRequest, person_of
from ragstone.web.workbench.runs import find_run

AGAIN = "Run the same command again to go on: what is in the ledger is not asked or paid for twice."


class Progressed(msgspec.Struct, frozen=True, kw_only=True):
    """How far a run is. life: None where it is finished. share: of the stage, 0 to 1, None if unknown."""

    life: Life | None
    words: str
    share: float | None = None


def progressed(found: RunProgress | None, now: float) -> Progressed:
    """Return the progress of a run in words. found: None of one that is finished. now: seconds since 1970."""
    if found is None:
        return Progressed(life=None, words="The run is finished.")
    share = found.done / found.total if found.total else None
    life = found.life(now)
    match life:
        case "going on":
            words = _going(found)
        case "stopped":
            words = f"It was stopped while {found.stage}, {_rows(found)}. {AGAIN}"
        case "failed":
            why = found.words or "no reason was given."
            words = f"It failed while {found.stage}, {_rows(found)}: {why} {AGAIN}"
        case "dead":
            words = f"Its process ended without a word while {found.stage}, {_rows(found)}. {AGAIN}"
    return Progressed(life=life, words=words, share=share)


def _rows(found: RunProgress) -> str:
    return f"{count(found.done)} of {count(found.total)} done" if found.total else f"{count(found.done)} done"


def _going(found: RunProgress) -> str:
    rate, left = found.rate(), found.remaining_s()
    speed = [f"{rate:.1f} a second" if rate < 10 else f"{rate:,.0f} a second"] if rate else []
    speed += [f"about {lasting(left)} left"] if left is not None else []
    spent = "cost unknown" if found.spent_usd is None else usd(found.spent_usd)
    retries = f", {count(found.retries)} of them retries" if found.retries else ""
    calls = f"{count(found.made)} calls made{retries}, {count(found.in_flight)} in flight, {spent}"
    stage = found.stage[:1].upper() + found.stage[1:]
    began = f"Began {lasting(found.updated - found.started)} ago"
    return f"{stage}: {', '.join([_rows(found), *speed])}. {calls}. {began}."


def lasting(seconds: float) -> str:
    """Return a time as `40 seconds`, `12 minutes`, `3.5 hours`."""
    if seconds < 90:
        return f"{max(seconds, 0):.0f} second{'' if round(seconds) == 1 else 's'}"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"


@get("/runs/{index:int}/{name:str}/progress", include_in_schema=False, sync_to_thread=True)
def progress(
    request: AnyRequest, bench: AtWorkbench, index: FromPath[int], name: FromPath[str]
) -> Progressed:
    """Give how far a run is."""
    person_of(request)
    return progressed(read_progress(find_run(bench, f"{index}/{name}")), bench.now())


ROUTES = (progress,)
