"""`ragstone assistant`: the documents that the assistant answers from."""

import contextlib
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragstone.kernel.console.asking import load_for
from ragstone.kernel.console.options import AsJson, Config
from ragstone.kernel.console.printing import say, show, show_json, told_plainly
from ragstone.kernel.document.numbers import duration
from ragstone.kernel.errors import plural

if TYPE_CHECKING:
    from ragstone_assistant.knowledge.entry import Advance, BuildResult, Entry, Stage

SHOWN_VALUES = 10
NAMED = 5  # files of a kind that are named; of more, their number

LONG_S = 600  # of a build: what takes longer is said, with the way round it
SEEN_S = 20  # of it, before anything can be said
FOUND_BY_WORDS = (
    "Nothing was embedded: a question embeds the passages that words find ([assistant] shortlist). A "
    "question in another language than the documents finds little."
)

EMBEDDING = (
    "most of it to embed passages. With shortlist = 50 below [assistant] in ragstone.toml, a build embeds "
    "none, and a question embeds those that words find. That does not help where questions and documents are "
    "in different languages. Ctrl-C stops the build and keeps what is done."
)
READING = "most of it to read files. Ctrl-C stops the build and keeps what is done."

assistant = typer.Typer(
    name="assistant",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="The documents that the assistant answers from. `ragstone serve` starts it.",
)


def build(
    documents: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Files, folders or .zip archives; default: paths in [documents], else those of "
            "the last build."
        ),
    ] = None,
    *,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            help="A model that names the topics, as transport/model; without one, their most common "
            "terms do.",
        ),
    ] = None,
    config: Config = None,
    json: AsJson = False,
) -> None:
    """Read, tag, cut and embed new and changed documents; drop those whose file is gone.

    Examples:

    - `ragstone assistant build handbook/`
    - `ragstone assistant build --config assistant.toml`
    """
    from ragstone_assistant.building import build_knowledge

    settings = load_for(config)
    with _bars() as advance:
        forecast = BuildForecast(advance) if settings.assistant.shortlist is None else advance
        built = build_knowledge(documents or [], settings, forecast, model)
    if json:
        show_json(built)
    else:
        _tell(built)
    for line in [f"skipped {skipped.path}: {skipped.reason}" for skipped in built.skipped]:
        say(line)
    if settings.assistant.shortlist is not None:
        say(FOUND_BY_WORDS)
        if model:
            say("--model names topics, and with a shortlist there are none.")


def list_(*, config: Config = None, json: AsJson = False) -> None:
    """Show the documents, with their tags and topics."""
    from ragstone_assistant.building import list_knowledge

    entries = list_knowledge(load_for(config))
    if json:
        show_json(entries)
        return
    show(*map(_line, entries))
    n_passages = sum(entry.n_passages for entry in entries)
    say(f"{plural(len(entries), 'document')}, {plural(n_passages, 'passage')}.")


def remove(
    names: Annotated[
        list[str], typer.Argument(help="Ids that `list` shows, or a folder of them: leaflets/old/")
    ],
    *,
    config: Config = None,
    json: AsJson = False,
) -> None:
    """Remove documents; each stays out until you build its own file again."""
    from ragstone_assistant.building import RemoveOutput, remove_from_knowledge

    removed = remove_from_knowledge(names, load_for(config))
    if json:
        show_json(RemoveOutput(removed=removed))
        return
    show(*(f"removed {name}" for name in removed))


assistant.command("build")(told_plainly(build))
assistant.command("list")(told_plainly(list_))
assistant.command("remove")(told_plainly(remove))


class BuildForecast:
    """An Advance that says once, when the first seconds show it, that a build will take long.

    It names the shortlist where most of these seconds went into embedding: it does not help where files are
    slow to read. A class: it keeps when each stage began. clock: in seconds.
    """

    def __init__(self, advance: "Advance", clock: Callable[[], float] = time.monotonic) -> None:
        self._advance = advance
        self._clock = clock
        self._began: dict[str, tuple[float, float]] = {}  # of a stage: when, and what was embedded by then
        self._embedded_s = 0.0
        self._last = clock()
        self._is_silent = False

    def __call__(self, stage: "Stage", done: int, total: int) -> None:
        """Pass on how far the build is, and say it if it is slow."""
        self._advance(stage, done, total)
        now = self._clock()
        if stage == "passages" and done:
            self._embedded_s += now - self._last
        self._last = now
        if not done:
            self._began[stage] = (now, self._embedded_s)
            return
        began, embedded_by_then_s = self._began[stage]
        took_s = now - began
        if self._is_silent or took_s < SEEN_S:
            return
        left_s = took_s / done * (total - done)
        if left_s >= LONG_S:
            self._is_silent = True
            embeds = self._embedded_s - embedded_by_then_s > took_s / 2
            say(f"This build will take about {duration(left_s)} more, {EMBEDDING if embeds else READING}")


@contextlib.contextmanager
def _bars() -> "Iterator[Advance]":
    """Show a bar for the files and one for the texts of the file at hand, where there is a terminal."""
    if not sys.stderr.isatty():
        yield lambda _stage, _done, _total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description:<10}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        tasks = {stage: progress.add_task(stage, total=None) for stage in ("files", "passages")}
        yield lambda stage, done, total: progress.update(tasks[stage], completed=done, total=total)


def _tell(built: "BuildResult") -> None:
    for kind, names in (("new", built.new), ("changed", built.changed), ("removed", built.removed)):
        if names:
            listed = f": {', '.join(names)}" if len(names) <= NAMED else ""
            show(f"{len(names):6,}  {kind}{listed}")
    show(f"{built.n_unchanged:6,}  unchanged")
    if built.skipped:
        show(f"{len(built.skipped):6,}  skipped, see below")
    if built.left_out:
        show(
            f"{len(built.left_out):6,}  left out because they were removed; name the file itself to "
            "include it"
        )
    show(
        f"{plural(built.n_documents, 'document')}, {plural(built.n_passages, 'passage')}; "
        f"{plural(built.n_embedded, 'text')} embedded now."
    )
    show(f"languages: {_listed(built.languages)}")
    for key, counts in built.tags.items():
        show(f"{key}: {_listed(counts)}; {plural(built.untagged[key], 'document')} without one")
    if built.topics:
        show(f"{plural(len(built.topics), 'topic')}: {_listed(built.topics, '; ')}")


def _listed(counts: Mapping[str, int], between: str = ", ") -> str:
    listed = between.join(f"{value} {n:,}" for value, n in list(counts.items())[:SHOWN_VALUES])
    more = f" and {len(counts) - SHOWN_VALUES:,} more" if len(counts) > SHOWN_VALUES else ""
    return f"{listed or 'nothing'}{more}"


def _line(entry: "Entry") -> str:
    tags = [f"{key} {', '.join(values)}" for key, values in entry.tags.items()]
    parts = [entry.lang or "", f"{entry.n_pages} pages" if entry.n_pages else "", *tags, entry.topic or ""]
    title = "" if entry.title == entry.id else f"  {entry.title}"
    return f"{entry.id}{title}  ({'; '.join([plural(entry.n_passages, 'passage'), *filter(None, parts)])})"
