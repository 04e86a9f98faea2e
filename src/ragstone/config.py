"""ragstone.toml -> one frozen `Settings`, with errors that name the line and the fix."""

import re
import tomllib
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec

from ragstone.errors import ConfigError, nearest

DEFAULT_JUDGES = ("containment", "token_f1", "correctness", "faithfulness", "relevance", "answered")

Positive = Annotated[int, msgspec.Meta(gt=0)]


class Section(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of the file. An unknown key is an error, never ignored."""


class Price(Section, frozen=True, kw_only=True):
    """US dollars for a million tokens. Tokens from the provider's cache cost `cached`, else as `input`."""

    input: float
    output: float
    cached: float | None = None


class ModelSettings(Section, frozen=True, kw_only=True):
    """How one model is reached. What is absent has the default of its transport (see llm/)."""

    base_url: str | None = None
    api_key_env: str | None = None
    max_concurrency: Positive | None = None
    requests_per_minute: Positive | None = None
    tokens_per_minute: Positive | None = None
    timeout_s: Annotated[float, msgspec.Meta(gt=0)] | None = None
    context_tokens: Positive | None = None
    price_usd_per_million: Price | None = None


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
    try:
        tables: dict[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as mistake:
        raise ConfigError(f"{file}: not valid TOML: {mistake}.") from None
    if "root" in tables:
        raise ConfigError(
            f"{file}:{_line_of(text, 'root')}: unknown key 'root'. Paths are relative to this file."
        )
    return convert_section({**tables, "root": str(file.parent)}, Settings, file, text)


def choose(settings: Settings, table: str, **given: object) -> Settings:
    """Return the settings with keys of one table replaced by what the caller gave; None is not given."""
    chosen = {key: value for key, value in given.items() if value is not None}
    replaced = msgspec.structs.replace(getattr(settings, table), **chosen)
    return msgspec.structs.replace(settings, **{table: replaced})


SectionT = TypeVar("SectionT", bound=Section)


def convert_section(table: dict[str, Any], kind: type[SectionT], file: Path, text: str) -> SectionT:
    """Return the table as `kind`; used for every TOML file that Ragstone reads, judges' too.

    Raises ConfigError naming file, line and the fix.
    """
    try:
        return msgspec.convert(table, kind)
    except msgspec.ValidationError as mistake:
        message, _, where = str(mistake).partition(" - at `$")
        path = where.rstrip("`").lstrip(".")
        unknown = re.fullmatch(r"Object contains unknown field `(.+)`", message)
        if unknown:
            key = unknown[1]
            hint = nearest(key, _known_keys(kind, path))
            message = f"unknown key {key!r}. {hint}"
            path = f"{path}.{key}"
        line = _line_of(text, path)
        raise ConfigError(f"{file}:{line}: {message}" + ("" if unknown else f" (key {path!r})")) from None


def _known_keys(kind: type, path: str) -> list[str]:
    """Return the keys that a table of the file may have, following the dotted `path` through the types."""
    for name in [part for part in path.split(".") if part]:
        if name == "[...]" or not hasattr(kind, "__struct_fields__"):
            break
        kind = {field.name: field.type for field in msgspec.structs.fields(kind)}[name.split("[")[0]]
    # `[...]` stands for a key of a mapping, and only models are tables within one.
    known = kind if hasattr(kind, "__struct_fields__") else ModelSettings
    return [name for name in known.__struct_fields__ if name != "root"]


def _line_of(text: str, path: str) -> int:
    """Return the line where the last key of a dotted path stands, or its table's; 1 if it is not found."""
    keys = [part.split("[")[0] for part in path.split(".") if part]
    table, best = "", 1
    for number, line in enumerate(text.splitlines(), 1):
        header = re.match(r"\s*\[+\s*([\w-]+)", line)
        if header:
            table = header[1]
        in_table = not keys or len(keys) == 1 or table == keys[0]
        if header and keys and table == keys[0]:
            best = number
        if in_table and keys and re.match(rf"\s*[\"']?{re.escape(keys[-1])}[\"']?\s*=", line):
            return number
    return best
