"""The pages of a judge in development: editor and results, the test part, and what looks have shown."""

from datetime import datetime
from typing import Any

import msgspec
from litestar import Response, get
from litestar.exceptions import NotFoundException
from litestar.params import FromPath, FromQuery

from ragstone.agreement.developing import CAUTION, SEVERAL, Development, Look, Scale, looks_at
from ragstone.errors import ConfigError, RagstoneError
from ragstone.flows.develop.judge_files import JudgeFile, judge_file, versions
from ragstone.flows.develop.labelled import LabelledSet, open_set, sources_of
from ragstone.flows.develop.running import TestLook, looks_so_far
from ragstone.flows.develop.store import DevelopmentStore, Draft
from ragstone.report import developing_words
from ragstone.report.card import contained, words_of_cards
from ragstone.web.workbench.desk import AtWorkbench, Workbench
from ragstone.web.workbench.developing.asked import models_of
from ragstone.web.workbench.frame import AnyRequest, page, person_of

SHOWN_DRAFTS = 50
INTERRUPTED = "The server ended while it ran. Run it again: finished calls are in the ledger."


class SetEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A labelled set as the pages show it. wrong: what keeps it from being used, or None."""

    name: str
    n_dev: int = 0
    n_test: int = 0
    looks: list[Look] = []
    wrong: str | None = None


@get("/judges/{name:str}/develop", include_in_schema=False, sync_to_thread=True)
def develop_page(
    request: AnyRequest, bench: AtWorkbench, name: FromPath[str], draft: FromQuery[int] = 0
) -> Response[str]:
    """Give the page on which a judge is developed. draft: one to look at, default the last."""
    person = person_of(request)
    file, store = _file(bench, name), DevelopmentStore(bench.settings)
    drafts = store.drafts(file.name)
    shown = next((one for one in drafts if one.number == draft), None) if draft else next(iter(drafts), None)
    if draft and shown is None:
        raise NotFoundException(f"{file.name} has no draft {draft}.")
    found = store.development(shown) if shown else None
    job = bench.jobs.of(file.name)
    running = job is not None and job.life == "running"
    sets = [*sources_of(bench.settings)]
    chosen = shown.labels if shown and shown.labels in sets else next(iter(sets), None)
    return page(
        request,
        "develop.html",
        f"Develop {file.name}",
        **_words(found),
        file=file,
        text=_text(file, shown, asked=bool(draft)),
        drafts=drafts[:SHOWN_DRAFTS],
        shown=shown,
        found=found,
        wrong=_wrong(shown, running=running),
        running=running,
        base=drafts[0].number if drafts else 0,
        frozen=versions(file.path),
        sets=sets,
        chosen=_entry(bench, chosen) if chosen else None,
        place=_place(bench, file),
        models=models_of(bench.settings),
        scale=_scale(bench, file, shown),
        owner=person.may("owner"),
    )


@get("/judges/{name:str}/test", include_in_schema=False, sync_to_thread=True)
def closed_page(
    request: AnyRequest, bench: AtWorkbench, name: FromPath[str], labels: FromQuery[str] = ""
) -> Response[str]:
    """Give the page that says what a look at the test part costs, and how many there were."""
    person = person_of(request)
    file, sets = _file(bench, name), [*sources_of(bench.settings)]
    chosen = labels if labels in sets else next(iter(sets), None)
    last = next(iter(DevelopmentStore(bench.settings).drafts(file.name)), None)
    places = DevelopmentStore(bench.settings).looks()
    return page(
        request,
        "develop_test.html",
        f"The test part: {file.name}",
        file=file,
        sets=sets,
        chosen=_entry(bench, chosen) if chosen else None,
        place_of={look.at + look.who + look.digest: place for place, look in enumerate(places, 1)},
        frozen=versions(file.path),
        scale=_scale(bench, file, last),
        models=models_of(bench.settings),
        several=SEVERAL,
        caution=CAUTION,
        owner=person.may("owner"),
        running=(job := bench.jobs.of(file.name)) is not None and job.life == "running",
    )


@get("/judges/{name:str}/looks/{place:int}", include_in_schema=False, sync_to_thread=True)
def look_page(
    request: AnyRequest, bench: AtWorkbench, name: FromPath[str], place: FromPath[int]
) -> Response[str]:
    """Give what a look has shown. Opening it again is no other look: it shows nothing new."""
    person_of(request)
    file, store = _file(bench, name), DevelopmentStore(bench.settings)
    try:
        found = msgspec.json.decode(store.card(place), type=TestLook)
    except (RagstoneError, msgspec.DecodeError) as mistake:
        raise NotFoundException(str(mistake)) from None
    own = found.looks[found.number - 1]
    if own.judge != file.name:
        raise NotFoundException(f"look {place} was not at {file.name}.")
    n_now = len(looks_at(store.looks(), own.questions))
    return page(
        request,
        "develop_look.html",
        f"Look {found.number} at the test part: {file.name}",
        **{**_words(None), "card": contained(found.card)},
        file=file,
        look_number=found.number,
        look=own,
        n_now=n_now,
    )


def _file(bench: Workbench, name: str) -> JudgeFile:
    try:
        return judge_file(bench.settings, name)
    except ConfigError as mistake:
        raise NotFoundException(str(mistake)) from None


def _place(bench: Workbench, file: JudgeFile) -> str:
    """Return the path of a judge's file as ragstone.toml would name it, without its ending."""
    path, root = file.path.with_suffix("").resolve(), bench.settings.path(".").resolve()
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()


def _text(file: JudgeFile, shown: Draft | None, *, asked: bool) -> str:
    """Return what the editor begins with: the draft that is asked for, or at work, else the judge's file."""
    if shown is None or (not asked and (shown.frozen or shown.file != file.digest)):
        return file.text
    return shown.text


def _scale(bench: Workbench, file: JudgeFile, draft: Draft | None) -> Scale:
    """Return how scores met labels in a draft's run; before the first, as `[agree] thresholds` says."""
    if draft is not None:
        return draft.scale
    declared = bench.settings.agree.thresholds
    return Scale(threshold=declared.get(file.name, declared.get(file.name.removeprefix("my_"))))


def _wrong(shown: Draft | None, *, running: bool) -> str | None:
    """Return why a draft has no result, None where it has one, or was not run."""
    if shown is None or shown.outcome.state in ("saved", "done") or running:
        return None
    if shown.outcome.state == "stopped":
        return "The run was stopped. Finished calls are in the ledger: run it again to go on."
    return shown.outcome.words or INTERRUPTED


def _entry(bench: Workbench, name: str) -> SetEntry:
    """Return a labelled set with the sizes of its parts; looking at them writes nothing."""
    try:
        labelled: LabelledSet = open_set(bench.settings, name)
        store = DevelopmentStore(bench.settings)
        parts = store.parts_of(labelled)
    except RagstoneError as mistake:
        return SetEntry(name=name, wrong=str(mistake))
    return SetEntry(
        name=name,
        n_dev=len(labelled.of(parts, "dev").answers),
        n_test=len(labelled.of(parts, "test").answers),
        looks=looks_so_far(labelled, parts, store),
    )


def _words(found: Development | None) -> dict[str, Any]:
    """Return what the templates call, and the card of the draft to show."""
    ours = {
        name: value for name, value in vars(developing_words).items() if callable(value) or name.isupper()
    }
    card = contained(found.after.card) if found else None
    return {**words_of_cards(), **ours, "card": card, "when": when}


def when(at: str) -> str:
    """Return a time of a log as people read it."""
    there = datetime.fromisoformat(at).astimezone()
    return f"{there.day} {there:%B %Y, %H:%M}"


ROUTES = (develop_page, closed_page, look_page)
