"""The judges of a project and those that ship: their list, and one with its prompt and report cards."""

from pathlib import Path
from typing import Any

import msgspec
from litestar import Response, get
from litestar.exceptions import NotFoundException
from litestar.params import FromPath, FromQuery

from ragstone.features.agree import FoundCard, cards_of, words_of_cards
from ragstone.features.judges.about import groups_with, has_words, measured_by
from ragstone.features.judges.kept_versions import FOLDER, versions
from ragstone.kernel.errors import ConfigError, nearest
from ragstone.kernel.judging import Judge, judge_names, load_judge
from ragstone.kernel.serve.frame import page
from ragstone.kernel.serve.requests import AnyRequest
from ragstone.kernel.serve.state import AppState, AtApp

WORDS: dict[str, Any] = words_of_cards()


KEYS = (
    "kind",
    "prompt",
    "measure",
    "members",
)  # a TOML file with one of these, a name and a scale is a judge's


class JudgeGroup(msgspec.Struct, frozen=True, kw_only=True):
    """Judges that ship, beneath a title."""

    title: str
    entries: list["JudgeEntry"]


class JudgeEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A judge. path: of its file, None for one that ships. judge: None of a wrong file; wrong: why."""

    name: str
    path: Path | None
    judge: Judge | None
    cards: list[FoundCard]
    wrong: str | None = None
    about: str | None = None


def judges_of(app: AppState) -> list[JudgeEntry]:
    """Return the judges: the project's first, then those that ship, by name."""
    cards = cards_of(app)
    ours = [_entry(path.stem, path, cards) for path in _judge_files(app)]
    return [*ours, *(_entry(name, None, cards) for name in judge_names())]


def _judge_files(app: AppState) -> list[Path]:
    """Return the judges' files: in the folder `judges`, those that ragstone.toml names, those beside it."""
    settings = app.settings
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
        fields = msgspec.toml.decode(path.read_bytes())
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return False
    return (
        isinstance(fields, dict) and {"name", "scale"} <= fields.keys() and any(key in fields for key in KEYS)
    )


def _entry(name: str, path: Path | None, cards: list[FoundCard]) -> JudgeEntry:
    try:
        judge = load_judge(path or name)
    except ConfigError as mistake:
        return JudgeEntry(name=name, path=path, judge=None, cards=[], wrong=str(mistake))
    ours = [card for card in cards if card.card.judge == judge.name]
    about = None if path else measured_by(judge.name)
    return JudgeEntry(name=judge.name, path=path, judge=judge, cards=ours, about=about)


@get("/judges", sync_to_thread=True)
def judges(request: AnyRequest, app: AtApp, text: FromQuery[str] = "") -> Response[str]:
    """Give the list of judges; text: words that name or description must have."""
    entries = judges_of(app)
    shipped = {entry.name: entry for entry in entries if not entry.path}
    found = groups_with(text)
    return page(
        request,
        "features/judges/judges_list.html",
        "Judges",
        **WORDS,
        text=text,
        ours=[each for each in entries if each.path and has_words(each.name, text)],
        shipped=[
            JudgeGroup(title=group.title, entries=[shipped[name] for name in group.judges]) for group in found
        ],
    )


@get("/judges/{name:str}", sync_to_thread=True)
def judge(request: AnyRequest, app: AtApp, name: FromPath[str]) -> Response[str]:
    """Give a judge: its prompt, its inputs and scale, its examples, its report cards."""
    entries = judges_of(app)
    chosen = next((entry for entry in entries if entry.name == name), None)
    if chosen is None:
        hint = nearest(name, [entry.name for entry in entries])
        raise NotFoundException(f"There is no judge {name!r} here{hint}")
    return page(
        request,
        "features/judges/judge.html",
        chosen.name,
        **WORDS,
        one=chosen,
        judge=chosen.judge,
        says=chosen.judge.every_key() if chosen.judge else {},
        frozen=sorted(versions(chosen.path)) if chosen.path else [],
    )


ROUTES = (judges, judge)
