"""ragstone.toml -> one frozen `Settings`, with errors that name the line and the fix."""

import json
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

import msgspec

from ragstone.kernel.config.library import read_settings_text
from ragstone.kernel.config.section import Section
from ragstone.kernel.config.sections import Settings
from ragstone.kernel.config.serving import MOVED
from ragstone.kernel.config.systems import SystemSettings
from ragstone.kernel.errors import ConfigError, checks_arguments, nearest
from ragstone.kernel.trust import add_project

DEFAULT_FILE = "ragstone.toml"
OWN = {"root", "file"}  # what settings know of their file, and no table of it


@checks_arguments
def load_settings(path: Path | str | None = None) -> Settings:
    """Return the settings of a file; without one, of ./ragstone.toml, or the defaults if there is none.

    Raises ConfigError naming the line and what to change.
    """
    file = Path(path or DEFAULT_FILE)
    if path is None and not file.exists():
        return Settings()
    add_project(file.expanduser().parent)
    text = read_settings_text(file, "no such file. Make one with: ragstone new DIR")
    tables = parse_toml(text, file)
    for name in OWN & tables.keys():
        raise ConfigError(
            f"{file}:{line_of(text, [name])}: unknown key {name!r}. Paths are relative to this file."
        )
    assistant = tables.get("assistant")
    for key in MOVED.keys() & (assistant if isinstance(assistant, dict) else {}):
        raise ConfigError(f"{file}:{line_of(text, ['assistant', key])}: {MOVED[key]}")
    where = {"root": str(file.parent), "file": str(file)}
    tables = _with_named_system(tables, file, text)
    return _with_model_of_run(convert_section({**tables, **where}, Settings, file, text))


def _with_named_system(tables: dict[str, Any], file: Path, text: str) -> dict[str, Any]:
    """Return the tables in which a system that stands in `[answer]` has a name in `[systems]`: its kind.

    Raises ConfigError for a table that is no system, and where `[systems]` has that name already.
    """
    answer, systems = tables.get("answer"), tables.get("systems", {})
    system = answer.get("system") if isinstance(answer, dict) else None
    if not isinstance(answer, dict) or not isinstance(system, dict) or not isinstance(systems, dict):
        return tables
    keys = ["answer", "system"]
    convert_section(system, SystemSettings, file, text, keys)  # type: ignore[arg-type]  # a union
    name = system["kind"]
    if name in systems:
        raise ConfigError(
            f"{file}:{line_of(text, keys)}: [answer] system is a table, and [systems] has a {name!r} "
            f'already. Write system = "{name}", or give the table another name in [systems].'
        )
    return {**tables, "answer": {**answer, "system": name}, "systems": {**systems, name: system}}


def place_of_key(settings: Settings, keys: list[str]) -> str:
    """Return `ragstone.toml:12`, the line that goes furthest along these keys; without a file their path."""
    try:
        text = Path(settings.file).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return ".".join(keys)
    return f"{settings.file}:{line_of(text, keys)}"


def declared_tables(path: Path | str | None = None) -> set[str]:
    """Return the names of the tables that stand in a file, which has been loaded before; none without one."""
    file = Path(path or DEFAULT_FILE)
    return set(parse_toml(file.read_text(encoding="utf-8-sig"), file)) if file.is_file() else set()


def _with_model_of_run(settings: Settings) -> Settings:
    """Return the settings in which stages that name no model have the one of `[run]`, if it has one."""
    model = settings.run.model
    if model is None:
        return settings
    answer, judge, build = settings.answer, settings.judge, settings.build
    if not (answer.model or answer.sheet or answer.system):
        answer = msgspec.structs.replace(answer, model=model)
    judge = msgspec.structs.replace(judge, model=judge.model or model)
    build = msgspec.structs.replace(build, model=build.model or model)
    assistant = msgspec.structs.replace(settings.assistant, model=settings.assistant.model or model)
    return msgspec.structs.replace(settings, answer=answer, judge=judge, build=build, assistant=assistant)


def choose(settings: Settings, table: str, **given: object) -> Settings:
    """Return the settings with keys of one table replaced by what the caller gave; None is not given.

    Raises ConfigError for a value that the file could not hold either.
    """
    if not isinstance(settings, Settings):
        raise ConfigError(
            f"settings: expected what ragstone.load_settings(path) returns, got {type(settings).__name__}."
        )
    chosen = {key: value for key, value in given.items() if value is not None}
    if not chosen:
        return settings
    section = getattr(settings, table)
    replaced = msgspec.structs.replace(section, **chosen)
    try:
        msgspec.convert(msgspec.to_builtins(replaced), type(section))
    except msgspec.ValidationError as mistake:
        raise ConfigError(f"{', '.join(chosen)}: {mistake}, in the table [{table}].") from None
    return msgspec.structs.replace(settings, **{table: replaced})


SectionT = TypeVar("SectionT", bound=Section)
PLAIN_NAME = re.compile(r"Expected `str` matching regex '\^\[(a-z\]\[a-z0-9_\]|\^\\)[^']*'")
PLAIN_NAME_WORDS = "Expected lower-case letters, digits and `_`, starting with a letter"


MOST_CHARACTERS = 4_000_000
MOST_LEVELS = 100  # of lists and inline tables in one another
MOST_PARTS = 32  # of a dotted key: tomllib needs the square of them

# Comments and texts; one that is not closed ends with its line, or with the file.
_TEXTS = re.compile(
    r'''#[^\n]*+|"""(?:[^"\\]|\\.|"(?!""))*+(?:""")?|"(?:[^"\\\n]|\\[^\n])*+"?|'''
    r"'''(?:[^']|'(?!''))*+(?:''')?|'[^'\n]*+'?",
    re.DOTALL,
)
_KEY = re.compile(r"[\w-]++(?:[ \t]*+\.[ \t]*+[\w-]++)*+")


def _too_much(text: str) -> str | None:
    """Return what is too much in a TOML text, with the fix; or None. What is in its texts does not count."""
    if len(text) > MOST_CHARACTERS:
        return f"it has more than {MOST_CHARACTERS:,} characters. Keep rows in a file of their own."
    bare = _TEXTS.sub(lambda found: "" if found[0][0] == "#" else "s", text)
    level = deepest = 0
    for bracket in re.findall(r"[\[\]{}]", bare):
        level += 1 if bracket in "[{" else -1
        deepest = max(deepest, level)
    if deepest > MOST_LEVELS:
        return f"its lists or tables are nested more than {MOST_LEVELS} deep. Make them flatter."
    for key in _KEY.findall(bare):
        if key.count(".") >= MOST_PARTS:
            return f"the key {key[:40]}… has more than {MOST_PARTS} parts. Make its tables flatter."
    return None


def parse_toml(text: str, file: Path) -> dict[str, Any]:
    """Return the tables of a TOML text; `file` is named in errors. Raises ConfigError.

    What would take tomllib minutes, or more frames than there are, is refused beforehand.
    """
    if problem := _too_much(text):
        raise ConfigError(f"{file}: {problem}")
    try:
        return tomllib.loads(text)
    except ValueError as mistake:  # also a number of more digits than Python reads
        raise ConfigError(f"{file}: not valid TOML: {str(mistake).rstrip('.')}.") from None


def to_toml(value: object) -> str:
    """Return a text, a number, true or false, or a list of these as TOML on one line: JSON, but for DEL."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def convert_section(
    table: dict[str, Any], kind: type[SectionT], file: Path, text: str, within: Sequence[str] = ()
) -> SectionT:
    """Return the table as `kind`; used for every TOML file that Ragstone reads, judges' too.

    within: the keys of the table that it is, where it is not the whole file.

    Raises ConfigError naming file, line and the fix.
    """
    try:
        return msgspec.convert(table, kind)
    except msgspec.ValidationError as mistake:
        message, _, where = str(mistake).partition(" - at `$")
        keys, known = _follow(where.rstrip("`"), table, kind)
        unknown = re.fullmatch(r"Object contains unknown field `(.+)`", message)
        missing = re.fullmatch(r"Object missing required field `(.+)`", message)
        if missing:
            message = f"the key {missing[1]!r} is missing{' in ' + '.'.join(keys) if keys else ''}. Add it."
        elif unknown:
            keys.append(unknown[1])
            message = f"unknown key {unknown[1]!r}. {nearest(unknown[1], known)}"
        elif message.startswith(("Invalid value '", "Invalid enum value '")) and known:
            value = message.split("'")[1]
            message = f"unknown {keys[-1]} {value!r}. {nearest(value, known)}"
        elif (first := re.match(r"[a-z_]+", message)) and first[0] in known and message.endswith("."):
            keys.append(first[0])  # a section's own check of one of its keys: a sentence that begins with it
        elif keys:
            message = message.replace("Expected `object`", "Expected a table")
            message = PLAIN_NAME.sub(PLAIN_NAME_WORDS, message)
            message += f" (key {'.'.join(keys)!r})"
        raise ConfigError(f"{file}:{line_of(text, [*within, *keys])}: {message}") from None


def _follow(path: str, table: dict[str, Any], kind: type[Any]) -> tuple[list[str], list[str]]:
    """Return the keys of a path of msgspec's, e.g. `.models[...].base_url`, and the keys that may follow.

    msgspec says `[...]` for any key of a mapping: the one is meant whose value does not fit. A path ends
    at a list; the keys that may follow are those of its items. Where it ends at a key that has a few values
    only, these are returned; so are those of the key that tells members of a union apart.
    """
    keys: list[str] = []
    for part in re.findall(r"[^.\[\]]+|\[\d+\]|\[\.\.\.\]", path):
        if part == "[...]":
            kind = get_args(kind)[1]
            part = next(key for key, value in table.items() if not _fits(value, kind))
        elif part.startswith("["):
            kind = next(iter(get_args(kind)), kind)
            break
        elif part == _tag_field(kind):
            return [*keys, part], [str(member.__struct_config__.tag) for member in get_args(kind)]
        else:
            kind = _member(kind, table)
            kind = _inner({field.name: field.type for field in msgspec.structs.fields(kind)}[part])
        keys.append(part)
        table = table[part]
    if get_origin(kind) is Literal:
        return keys, list(get_args(kind))
    known = getattr(_member(kind, table), "__struct_fields__", ())
    return keys, [name for name in known if name not in OWN]


def _inner(kind: type[Any]) -> type[Any]:
    """Return the type within `X | None` or `Annotated[X, ...]`."""
    inner = [each for each in get_args(kind) if each is not type(None)]
    innermost: type[Any] = inner[0] if inner and get_origin(kind) in (Union, UnionType, Annotated) else kind
    return innermost


def _tag_field(kind: type[Any]) -> str | None:
    """Return the key that tells the members of a union apart; None for anything else."""
    config = getattr(next(iter(get_args(kind)), None), "__struct_config__", None)
    return config.tag_field if config else None


def _member(kind: type[Any], table: object) -> type[Any]:
    """Return the member of a tagged union that a table is, or the kind itself where it is none."""
    field = _tag_field(kind)
    if field is None or not isinstance(table, dict):
        return kind
    chosen: type[Any] = next(
        (member for member in get_args(kind) if member.__struct_config__.tag == table.get(field)), kind
    )
    return chosen


def _fits(value: object, kind: type[Any]) -> bool:
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return False
    return True


def line_of(text: str, keys: list[str]) -> int:
    """Return the line that goes furthest along the keys: of the last one, or of the table it should be in."""
    table: list[str] = []
    deepest, line_no, in_text = 0, 1, False
    for number, line in enumerate(text.splitlines(), 1):
        if not in_text:
            table, here = _keys_on(line, table)
            if len(here) > deepest and keys[: len(here)] == here:
                deepest, line_no = len(here), number
        in_text ^= (line.count('"""') + line.count("'''")) % 2 == 1
    return line_no


def _keys_on(line: str, table: list[str]) -> tuple[list[str], list[str]]:
    """Return the table that the line is in, and all keys of what it declares; none if it declares nothing."""
    try:
        if line.lstrip().startswith("["):
            table = _nested(tomllib.loads(line))
            return table, table
        name, equals, _ = line.partition("=")
        return table, [*table, *_nested(tomllib.loads(f"{name} = 0"))] if equals else []
    except tomllib.TOMLDecodeError:
        return table, []


def _nested(table: object) -> list[str]:
    """Return the keys of tables that hold one key each, outermost first."""
    keys: list[str] = []
    while isinstance(table, dict | list) and table:
        if isinstance(table, dict):
            keys.append(next(iter(table)))
            table = table[keys[-1]]
        else:
            table = table[0]
    return keys
