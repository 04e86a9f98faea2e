"""The judges of a project and those that ship: their list, and one with its prompt and report cards."""

from typing import Any

import msgspec
from litestar import Response, get, post
from litestar.exceptions import NotFoundException
from litestar.params import FromPath, FromQuery, URLEncodedBody

from ragstone.features.agree import cards_of, words_of_cards
from ragstone.features.judges.kept_versions import versions
from ragstone.features.judges.library import (
    OURS,
    JudgeLibrary,
    ListedJudge,
    figure_text,
    judge_files,
    judge_library,
    judges_with,
    named_judges,
    price_text,
    source_told,
)
from ragstone.features.judges.prices import KnownPrices
from ragstone.features.judges.starting import MEANT, begin_judge
from ragstone.kernel.errors import ConfigError, nearest
from ragstone.kernel.serve.frame import OWNER, ROOT, page
from ragstone.kernel.serve.requests import AnyRequest
from ragstone.kernel.serve.state import AppState, AtApp

WORDS: dict[str, Any] = words_of_cards()


def known_prices(_app: AppState) -> KnownPrices:
    """The prices of a workbench that were worked out before."""
    return KnownPrices()


def _library(app: AppState, judges: list[ListedJudge]) -> JudgeLibrary:
    """Return judges of the project that is shown, with their report cards and prices."""
    runs = [entry.folder for entry in app.runs.all()]
    return judge_library(app.settings, cards_of(app), runs, app.part(known_prices), judges=judges)


@get("/judges", sync_to_thread=True)
def judges(request: AnyRequest, app: AtApp, text: FromQuery[str] = "") -> Response[str]:
    """Give the list of judges; text: words that name or description must have."""
    library = _library(app, judges_with(named_judges(app.settings), text))
    groups = list(dict.fromkeys(entry.group for entry in library.judges))
    return page(
        request,
        "features/judges/judges_list.html",
        "Judges",
        **WORDS,
        text=text,
        ours=OURS,
        groups=[(title, [entry for entry in library.judges if entry.group == title]) for title in groups],
        library=library,
        figure_text=figure_text,
        price_text=price_text,
        n_checked=sum(bool(entry.cards) for entry in library.judges),
    )


class NewJudge(msgspec.Struct, frozen=True):
    """What the form of a new judge sends."""

    name: str = ""
    kind: str = ""


@get("/judges/new-judge", guards=[OWNER])
async def new_judge_page(request: AnyRequest) -> Response[str]:
    """Give the page on which a judge is begun."""
    return _new_judge(request, NewJudge(kind="boolean"))


@post("/judges/new-judge", sync_to_thread=True, guards=[OWNER])
def new_judge(request: AnyRequest, app: AtApp, data: URLEncodedBody[NewJudge]) -> Response[str]:
    """Write the starting file of a judge, and go to its editor."""
    name = data.name.strip()
    try:
        file = begin_judge(app.settings, data.kind, name, {path.stem for path in judge_files(app.settings)})
    except ConfigError as mistake:
        return _new_judge(request, data, str(mistake))
    except OSError as mistake:
        return _new_judge(
            request, data, f"Nothing could be written ({mistake.strerror}). Make the folder writable."
        )
    app.audit(request, "began a judge", judge=name, kind=data.kind)
    to = f"{ROOT}/judges/{file.stem}/develop#edit"
    return Response("", status_code=303, media_type="text/plain", headers={"Location": to})


def _new_judge(request: AnyRequest, typed: NewJudge, wrong: str | None = None) -> Response[str]:
    return page(
        request,
        "features/judges/new_judge.html",
        "Write a judge",
        status=422 if wrong else 200,
        name=typed.name,
        kind=typed.kind,
        meant=MEANT,
        wrong=wrong,
    )


@get("/judges/{name:str}", sync_to_thread=True)
def judge(request: AnyRequest, app: AtApp, name: FromPath[str]) -> Response[str]:
    """Give a judge: its prompt, its inputs and scale, its examples, its report cards."""
    entries = named_judges(app.settings)
    chosen = next((entry for entry in entries if entry.name == name), None)
    if chosen is None:
        hint = nearest(name, [entry.name for entry in entries])
        raise NotFoundException(f"There is no judge {name!r} here. {hint}")
    library = _library(app, [chosen])
    (chosen,) = library.judges
    return page(
        request,
        "features/judges/judge.html",
        chosen.name,
        **WORDS,
        one=chosen,
        price=price_text(chosen),
        basis=library.basis(),
        model=library.model,
        judge=chosen.judge,
        says=chosen.judge.every_key() if chosen.judge else {},
        source=source_told(chosen.judge) if chosen.judge else "",
        frozen=sorted(versions(chosen.path)) if chosen.path else [],
    )


ROUTES = (judges, new_judge_page, new_judge, judge)
