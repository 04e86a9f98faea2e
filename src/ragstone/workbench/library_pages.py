"""The data sets of a project, its judges and those that ship, their report cards; and the monitor."""

import hashlib
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
from litestar import Response, get
from litestar.exceptions import NotFoundException
from litestar.params import FromPath

from ragstone.features.agree.words import contained, words_of_cards
from ragstone.features.build.certificate.page import certified_blocks
from ragstone.features.build.certificate.wording import headline
from ragstone.features.improve.judge_files import FOLDER, versions
from ragstone.kernel.agreement.card import ReportCard
from ragstone.kernel.document.html import render_blocks
from ragstone.kernel.errors import ConfigError, nearest
from ragstone.kernel.judging import Judge, judge_names, load_judge
from ragstone.kernel.judging.judge import every_key
from ragstone.kernel.records import Question
from ragstone.kernel.serve.problems import RefusedRequest
from ragstone.kernel.serve.requests import AnyRequest
from ragstone.kernel.tables import read_rows
from ragstone.workbench.desk import AtWorkbench, Workbench
from ragstone.workbench.frame import page, query_of
from ragstone.workbench.monitor_routes import QuestionsAsked, monitor_page

SAMPLE = 20
NOTHING = 404


@get("/data", sync_to_thread=True)
def data(request: AnyRequest, bench: AtWorkbench) -> Response[str]:
    """Give the list of data sets."""
    return page(request, "data.html", "Data sets", headline=headline, sets=bench.sets.all())


@get("/data/{set_id:str}", sync_to_thread=True)
def data_set(request: AnyRequest, bench: AtWorkbench, set_id: FromPath[str]) -> Response[str]:
    """Give a data set: its certificate, and its first questions."""
    one = next((found for found in bench.sets.all() if found.id == set_id), None)
    if one is None:
        raise NotFoundException("There is no such data set, or it has changed: see the list of data sets.")
    rows = [] if one.wrong else list(islice(read_rows(one.path, Question), SAMPLE))
    certificate = render_blocks(certified_blocks(one.certified)) if one.certified else ""
    return page(request, "data_set.html", one.name, one=one, rows=rows, certificate=certificate)


IN_PROJECT = ("*.json", "*/*.json")  # the project's folder, and those right below it
WORDS: dict[str, Any] = words_of_cards()
MOST_BYTES = 20_000_000  # of a file that may hold cards


class FoundCard(msgspec.Struct, frozen=True, kw_only=True):
    """A report card. id: how pages address it. runs: (id, name) of those that hold it; files: their names."""

    id: str
    card: ReportCard
    runs: list[tuple[str, str]] = []
    files: list[str] = []


def cards_of(bench: Workbench) -> list[FoundCard]:
    """Return the report cards of a project, each once, by the name of the judge."""
    found: dict[str, FoundCard] = {}
    for entry in bench.runs.all():
        for card in entry.cards:
            one = _found(found, card)
            found[one.id] = msgspec.structs.replace(one, runs=[*one.runs, (entry.id, entry.name)])
    for path in _card_files(bench):
        for card in _cards_in(path):
            one = _found(found, card)
            found[one.id] = msgspec.structs.replace(one, files=[*one.files, path.name])
    return sorted(found.values(), key=lambda one: (one.card.judge, one.card.metric, one.card.model))


def _found(found: dict[str, FoundCard], card: ReportCard) -> FoundCard:
    digest = hashlib.sha256(msgspec.json.encode(card)).hexdigest()[:12]
    return found.get(digest) or FoundCard(id=digest, card=card)


def _card_files(bench: Workbench) -> list[Path]:
    root = bench.settings.path(".")
    named = [bench.settings.path(bench.settings.monitor.cards)] if bench.settings.monitor.cards else []
    others = [
        path for pattern in IN_PROJECT for path in sorted(root.glob(pattern)) if not bench.runs.hold(path)
    ]
    return list({path.resolve(): path for path in [*named, *others] if path.is_file()}.values())


def _cards_in(path: Path) -> list[ReportCard]:
    """Return the cards of a file; none of one that holds something else."""
    try:
        if path.stat().st_size > MOST_BYTES:
            return []
        return msgspec.json.decode(path.read_bytes(), type=list[ReportCard])
    except (OSError, msgspec.DecodeError):
        return []


@get("/cards", sync_to_thread=True)
def cards(request: AnyRequest, bench: AtWorkbench) -> Response[str]:
    """Give the list of report cards."""
    return page(request, "cards.html", "Report cards", **WORDS, found=cards_of(bench))


@get("/cards/{card_id:str}", sync_to_thread=True)
def card(request: AnyRequest, bench: AtWorkbench, card_id: FromPath[str]) -> Response[str]:
    """Give a report card."""
    one = next((found for found in cards_of(bench) if found.id == card_id), None)
    if one is None:
        raise NotFoundException("This report card no longer exists: see the list of report cards.")
    return page(request, "card_page.html", one.card.judge, **WORDS, one=one, card=contained(one.card))


KEYS = (
    "kind",
    "prompt",
    "measure",
    "members",
)  # a TOML file with one of these, a name and a scale is a judge's


class JudgeEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A judge. path: of its file, None for one that ships. judge: None of a wrong file; wrong: why."""

    name: str
    path: Path | None
    judge: Judge | None
    cards: list[FoundCard]
    wrong: str | None = None


def judges_of(bench: Workbench) -> list[JudgeEntry]:
    """Return the judges: the project's first, then those that ship, by name."""
    cards = cards_of(bench)
    ours = [_entry(path.stem, path, cards) for path in _judge_files(bench)]
    return [*ours, *(_entry(name, None, cards) for name in judge_names())]


def _judge_files(bench: Workbench) -> list[Path]:
    """Return the judges' files: in the folder `judges`, those that ragstone.toml names, those beside it."""
    settings = bench.settings
    root = settings.path(".")
    named = [
        str(name).rpartition("@")[0] or str(name) for name in settings.judge.judges if ".toml" in str(name)
    ]
    beside = [path for path in sorted(root.glob("*.toml")) if _is_judge(path)]
    inside = [path for path in sorted((root / FOLDER).glob("*.toml")) if "@v" not in path.name]
    every = [*inside, *(settings.path(name) for name in named), *beside]
    return list({path.resolve(): path for path in every if path.is_file()}.values())


def _is_judge(path: Path) -> bool:
    try:
        found = msgspec.toml.decode(path.read_bytes())
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return False
    return isinstance(found, dict) and {"name", "scale"} <= found.keys() and any(key in found for key in KEYS)


def _entry(name: str, path: Path | None, cards: list[FoundCard]) -> JudgeEntry:
    try:
        judge = load_judge(path or name)
    except ConfigError as mistake:
        return JudgeEntry(name=name, path=path, judge=None, cards=[], wrong=str(mistake))
    ours = [one for one in cards if one.card.judge == judge.name]
    return JudgeEntry(name=judge.name, path=path, judge=judge, cards=ours)


@get("/judges", sync_to_thread=True)
def judges(request: AnyRequest, bench: AtWorkbench) -> Response[str]:
    """Give the list of judges."""
    entries = judges_of(bench)
    return page(
        request,
        "judges_list.html",
        "Judges",
        **WORDS,
        ours=[one for one in entries if one.path],
        shipped=[one for one in entries if not one.path],
    )


@get("/judges/{name:str}", sync_to_thread=True)
def judge(request: AnyRequest, bench: AtWorkbench, name: FromPath[str]) -> Response[str]:
    """Give a judge: its prompt, its inputs and scale, its examples, its report cards."""
    entries = judges_of(bench)
    one = next((entry for entry in entries if entry.name == name), None)
    if one is None:
        hint = nearest(name, [entry.name for entry in entries])
        raise NotFoundException(f"There is no judge {name!r} here{hint}")
    return page(
        request,
        "judge.html",
        one.name,
        **WORDS,
        one=one,
        judge=one.judge,
        says=every_key(one.judge) if one.judge else {},
        frozen=sorted(versions(one.path)) if one.path else [],
    )


@get("/monitor")
async def monitor(request: AnyRequest, bench: AtWorkbench) -> Response[str]:
    """Give the page of the monitor; where nothing is monitored, how to begin."""
    try:
        return monitor_page(await bench.monitor.page())
    except RefusedRequest as refused:
        if refused.status_code != NOTHING:
            raise
        return page(request, "no_monitor.html", "Monitor")


@get("/monitor/questions")
async def questions(request: AnyRequest, bench: AtWorkbench) -> Response[str]:
    """Give a page of questions: the newest, or the worst in a metric."""
    return monitor_page(await bench.monitor.questions(query_of(request, QuestionsAsked)))


ROUTES = (data, data_set, cards, card, judges, judge, monitor, questions)
