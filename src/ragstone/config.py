"""ragstone.toml -> one frozen `Settings`, with errors that name the line and the fix."""

import re
import tomllib
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

import msgspec

from ragstone.errors import ConfigError, nearest

DEFAULT_JUDGES = ("containment", "token_f1", "correctness", "faithfulness", "relevance", "answered")

Positive = Annotated[int, msgspec.Meta(gt=0)]
NotNegative = Annotated[float, msgspec.Meta(ge=0)]


class Section(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of the file. An unknown key is an error, never ignored."""


class Price(Section, frozen=True, kw_only=True):
    """US dollars for a million tokens. Tokens from the provider's cache cost `cached`, else as `input`."""

    input: NotNegative
    output: NotNegative
    cached: NotNegative | None = None


class ModelSettings(Section, frozen=True, kw_only=True):
    """How one model is reached. What is absent has the default of its transport (see llm/)."""

    base_url: str | None = None
    api_key_env: str | None = None
    api_key_file: str | None = None
    max_concurrency: Positive | None = None
    requests_per_minute: Positive | None = None
    tokens_per_minute: Positive | None = None
    timeout_s: Annotated[float, msgspec.Meta(gt=0)] | None = None
    context_tokens: Positive | None = None
    price_usd_per_million: Price | None = None
    batch_discount: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.0
    batch_poll_s: Annotated[float, msgspec.Meta(gt=0)] | None = None


class RunSection(Section, frozen=True, kw_only=True):
    """`[run]`: the folder `runs/NAME` and the seed of everything that draws at random."""

    name: Annotated[str, msgspec.Meta(pattern=r"^[\w.-]+$")] = "run"
    seed: int = 0


class DocumentsSection(Section, frozen=True, kw_only=True):
    """`[documents]`: files and folders that make the corpus."""

    paths: list[str] = []


class QuestionsSection(Section, frozen=True, kw_only=True):
    """`[questions]`: the evaluation set. `limit` takes its first rows only."""

    path: str | None = None
    limit: Positive | None = None


class ChunkSection(Section, frozen=True, kw_only=True):
    """`[chunk]`: how documents are cut; sizes in characters."""

    method: str = "recursive"
    size: Positive = 1200
    overlap: Annotated[int, msgspec.Meta(ge=0)] = 0


class RetrieveSection(Section, frozen=True, kw_only=True):
    """`[retrieve]`: which retriever brings how many chunks for each question."""

    retriever: str = "bm25"
    k: Positive = 5
    embedder: str = "packaged"


class AnswerSection(Section, frozen=True, kw_only=True):
    """`[answer]`: the built-in application (`model`, `prompt`), or a `sheet` of answers made elsewhere.

    limit: only the first questions are answered and judged; retrieval is measured on all of them.
    """

    model: str | None = None
    prompt: str = "strict"
    sheet: str | None = None
    limit: Positive | None = None


class JudgeSection(Section, frozen=True, kw_only=True):
    """`[judge]`: names of shipped judges or paths of judge files, and the model that they ask."""

    judges: list[str] = msgspec.field(default_factory=lambda: list(DEFAULT_JUDGES))
    model: str | None = None


class AgreeSection(Section, frozen=True, kw_only=True):
    """`[agree]`: what people say, for the judges' report cards.

    labels: a file of labels of this run's answers. sheet: a file of other answers that people have
    labelled; the judges judge it too, and are measured on it. metric: what labels without a metric speak
    of. thresholds: judge -> score from which on it says 1, where labels are 0 or 1 and its scale is wider.
    """

    labels: str | None = None
    sheet: str | None = None
    metric: str | None = None
    thresholds: dict[str, float] = {}


class Settings(Section, frozen=True, kw_only=True):
    """All of ragstone.toml. `root` is the folder that its paths are relative to."""

    run: RunSection = RunSection()
    documents: DocumentsSection = DocumentsSection()
    questions: QuestionsSection = QuestionsSection()
    chunk: ChunkSection = ChunkSection()
    retrieve: RetrieveSection = RetrieveSection()
    answer: AnswerSection = AnswerSection()
    judge: JudgeSection = JudgeSection()
    agree: AgreeSection = AgreeSection()
    models: dict[str, ModelSettings] = {}
    root: str = "."

    def path(self, name: str) -> Path:
        """Return a path of the file as seen from here."""
        return Path(self.root) / Path(name).expanduser()

    def named(self, name: str) -> str | Path:
        """Return the name of something that ships, or the path of a .toml file as seen from here."""
        return self.path(name) if name.endswith(".toml") else name


DEFAULT_FILE = "ragstone.toml"


def load_settings(path: Path | str | None = None) -> Settings:
    """Return the settings of a file; without one, of ./ragstone.toml, or the defaults if there is none.

    Raises ConfigError naming the line and what to change.
    """
    file = Path(path or DEFAULT_FILE)
    if path is None and not file.exists():
        return Settings()
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ConfigError(f"{file}: no such file. Make one with: ragstone new DIR") from None
    except (OSError, UnicodeDecodeError) as mistake:
        raise ConfigError(f"{file}: cannot be read ({mistake}).") from None
    tables = parse_toml(text, file)
    if "root" in tables:
        raise ConfigError(
            f"{file}:{_line_of(text, ['root'])}: unknown key 'root'. Paths are relative to this file."
        )
    return convert_section({**tables, "root": str(file.parent)}, Settings, file, text)


def choose(settings: Settings, table: str, **given: object) -> Settings:
    """Return the settings with keys of one table replaced by what the caller gave; None is not given."""
    chosen = {key: value for key, value in given.items() if value is not None}
    replaced = msgspec.structs.replace(getattr(settings, table), **chosen)
    return msgspec.structs.replace(settings, **{table: replaced})


SectionT = TypeVar("SectionT", bound=Section)


def parse_toml(text: str, file: Path) -> dict[str, Any]:
    """Return the tables of a TOML text; `file` is named in errors. Raises ConfigError."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as mistake:
        raise ConfigError(f"{file}: not valid TOML: {mistake}.") from None


def convert_section(table: dict[str, Any], kind: type[SectionT], file: Path, text: str) -> SectionT:
    """Return the table as `kind`; used for every TOML file that Ragstone reads, judges' too.

    Raises ConfigError naming file, line and the fix.
    """
    try:
        return msgspec.convert(table, kind)
    except msgspec.ValidationError as mistake:
        message, _, where = str(mistake).partition(" - at `$")
        keys, known = _follow(where.rstrip("`"), table, kind)
        unknown = re.fullmatch(r"Object contains unknown field `(.+)`", message)
        if unknown:
            keys.append(unknown[1])
            message = f"unknown key {unknown[1]!r}. {nearest(unknown[1], known)}"
        elif keys:
            message = message.replace("Expected `object`", "Expected a table")
            message += f" (key {'.'.join(keys)!r})"
        raise ConfigError(f"{file}:{_line_of(text, keys)}: {message}") from None


def _follow(path: str, table: dict[str, Any], kind: type[Any]) -> tuple[list[str], list[str]]:
    """Return the keys of a path of msgspec's, e.g. `.models[...].base_url`, and the keys that may follow.

    msgspec says `[...]` for any key of a mapping: the one is meant whose value does not fit. A path ends
    at a list.
    """
    keys: list[str] = []
    for part in re.findall(r"[^.\[\]]+|\[\d+\]|\[\.\.\.\]", path):
        if part == "[...]":
            kind = get_args(kind)[1]
            part = next(key for key, value in table.items() if not _fits(value, kind))
        elif part.startswith("["):
            break
        else:
            kind = _inner({field.name: field.type for field in msgspec.structs.fields(kind)}[part])
        keys.append(part)
        table = table[part]
    known = getattr(kind, "__struct_fields__", ())
    return keys, [name for name in known if name != "root"]


def _inner(kind: type[Any]) -> type[Any]:
    """Return the type within `X | None` or `Annotated[X, ...]`."""
    inner = [each for each in get_args(kind) if each is not type(None)]
    found: type[Any] = inner[0] if inner and get_origin(kind) in (Union, UnionType, Annotated) else kind
    return found


def _fits(value: object, kind: type[Any]) -> bool:
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return False
    return True


def _line_of(text: str, keys: list[str]) -> int:
    """Return the line that goes furthest along the keys: of the last one, or of the table it should be in."""
    table: list[str] = []
    deepest, found, in_text = 0, 1, False
    for number, line in enumerate(text.splitlines(), 1):
        if not in_text:
            table, here = _keys_on(line, table)
            if len(here) > deepest and keys[: len(here)] == here:
                deepest, found = len(here), number
        in_text ^= (line.count('"""') + line.count("'''")) % 2 == 1
    return found


def _keys_on(line: str, table: list[str]) -> tuple[list[str], list[str]]:
    """Return the table that the line is in, and all keys of what it declares; none if it declares nothing."""
    header = re.match(r"\s*(\[+.*?\]+)\s*(#.*)?$", line)
    try:
        if header:
            table = _nested(tomllib.loads(header[1]))
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
