"""The judges that ship and those of the project: what each is told, reads and gives, and how good it is."""

from pathlib import Path

import msgspec
from litestar import Response, get
from litestar.exceptions import NotFoundException
from litestar.params import FromPath

from ragstone.errors import ConfigError, nearest
from ragstone.flows.develop.judge_files import FOLDER, versions
from ragstone.judging import Judge, judge_names, load_judge
from ragstone.judging.judge import every_key
from ragstone.web.workbench.cards import WORDS, FoundCard, cards_of
from ragstone.web.workbench.desk import AtWorkbench, Workbench
from ragstone.web.workbench.frame import page
from ragstone.web.workbench.person import AnyRequest, person_of

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
    ours = [_entry(path.stem, path, cards) for path in _files(bench)]
    return [*ours, *(_entry(name, None, cards) for name in judge_names())]


def _files(bench: Workbench) -> list[Path]:
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


@get("/judges", include_in_schema=False, sync_to_thread=True)
def judges(request: AnyRequest, bench: AtWorkbench) -> Response[str]:
    """Give the list of judges."""
    person_of(request)
    entries = judges_of(bench)
    return page(
        request,
        "judges_list.html",
        "Judges",
        **WORDS,
        ours=[one for one in entries if one.path],
        shipped=[one for one in entries if not one.path],
    )


@get("/judges/{name:str}", include_in_schema=False, sync_to_thread=True)
def judge(request: AnyRequest, bench: AtWorkbench, name: FromPath[str]) -> Response[str]:
    """Give a judge: its prompt, its inputs and scale, its examples, its report cards."""
    person_of(request)
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


ROUTES = (judges, judge)
