"""The command `ragstone`: which feature answers to which name. It is imported when its name is called."""

import errno
import gc
import logging
import os
import sys
from collections.abc import Iterable
from importlib import import_module
from importlib.util import find_spec
from io import TextIOWrapper
from typing import Any

import typer

from ragstone.cli.brief_help import BriefCommand
from ragstone.kernel.console.printing import WRONG_USE, end_on_sigterm, say, told_plainly
from ragstone.kernel.errors import MissingExtra, harmless

HELP = (
    "A touchstone for retrieval-augmented generation: is it right, what is to blame, and how far can "
    "the judge be trusted?"
)
SETTINGS = {"help_option_names": ["-h", "--help"]}
ANY_WORDS = {"ignore_unknown_options": True, "allow_extra_args": True}

ASSISTANT = "ragstone_assistant.command:assistant"  # a distribution of its own

# Name -> where it stands, a function or an app of its own; of a group its help and its commands. In the order
# of the help.
Commands = dict[str, str | tuple[str, dict[str, str]]]
PANELS: dict[str, Commands] = {
    "Start": {
        "demo": "features.demo.command:demo",
        "new": "features.new.command:new",
        "doctor": "features.doctor.command:doctor",
        "models": "features.models.command:models",
    },
    "Evaluate": {
        "run": "features.run.command:run",
        "judge": "features.judge.command:judge",
        "ask": "features.ask.command:ask",
        "compare": "features.compare.command:compare",
        "report": "features.report.command:report",
        "try": "features.improve.trial.command:try_",
        "blame": "features.blame.command:blame",
        "modes": "features.modes.command:modes",
        "bench": (
            "Compare a grid from ragstone.toml: which is better, and is that more than chance?",
            {
                "retrievers": "features.bench.command:retrievers",
                "languages": "features.bench.command:languages",
                "judges": "features.bench.command:judges",
                "answerers": "features.bench.command:answerers",
            },
        ),
        "show": "features.show.command:show",
        "note": "features.note.command:note",
        "export": "features.export.command:export",
    },
    "Trust the judge": {
        "label": "features.label.command:label",
        "agree": "features.agree.command:agree",
        "judges": (
            "Manage judges: list, create, test, improve.",
            {
                "list": "features.judges.command:list_",
                "show": "features.judges.command:show_",
                "new": "features.judges.command:new",
                "test": "features.judges.command:try_out",
                "develop": "features.improve.develop_command:develop",
                "learn": "features.improve.learn_command:learn",
                "fit": "features.improve.fit_command:fit",
            },
        ),
        "attack": "features.attack.command:attack",
    },
    "Build sets": {
        "import": "features.import_.command:import_",
        "build": (
            "Turn documents into a checked evaluation set with a certificate.",
            {
                "questions": "features.build.command:questions",
                "facts": "features.build.command:facts",
                "refresh": "features.build.command:refresh",
            },
        ),
        "check": "features.check.command:check",
        "review": "features.review.command:review",
        "data": (
            "Compare versions of an evaluation set.",
            {
                "diff": "features.data.command:diff",
            },
        ),
        "sample": "features.sample.command:sample",
        "simulate": "features.simulate.command:simulate",
        "translate": "features.translate.command:translate",
        "tag": "features.tag.command:tag",
    },
    "Watch and serve": {
        "serve": "workbench.serve_command:serve",
        "watch": "features.watch.command:watch",
        "assistant": ASSISTANT,
        "mcp": "mcp.command:mcp",
    },
    "One stage of a run": {
        "ingest": "features.ingest.command:ingest",
        "chunk": "features.chunk.command:chunk",
        "retrieve": "features.retrieve.command:retrieve",
        "answer": "features.answer.command:answer",
    },
    "Upkeep": {
        "ledger": "features.ledger.command:ledger",
        "schema": "features.schema.command:schema",
        "explain": "features.explain.command:explain",
        "people": "workbench.people_command:people",
    },
}
COMMANDS: Commands = {name: place for panel in PANELS.values() for name, place in panel.items()}


def app_of(names: Iterable[str] = COMMANDS) -> typer.Typer:
    """Return the app with these commands and groups; the others are not imported."""
    app = typer.Typer(
        name="ragstone",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode="markdown",  # in that of rich, "[retrieve]" is a style and vanishes
        context_settings=SETTINGS,
        help=HELP,
    )
    app.callback(invoke_without_command=True)(_version)
    panel_of = {name: panel for panel, commands in PANELS.items() for name in commands}
    for name in names:
        place, panel = COMMANDS[name], panel_of[name]
        if isinstance(place, tuple):
            about, commands = place
            group = typer.Typer(name=name, no_args_is_help=True, context_settings=SETTINGS, help=about)
            for each, inner in commands.items():
                group.command(each, cls=BriefCommand)(told_plainly(_found(inner), _code_for))
            app.add_typer(group, rich_help_panel=panel)
            continue
        command = _found(place)
        if isinstance(command, typer.Typer):
            app.add_typer(command, rich_help_panel=panel)
        else:
            settings = ANY_WORDS if command is assistant else None
            app.command(name, cls=BriefCommand, rich_help_panel=panel, context_settings=settings)(
                told_plainly(command, _code_for)
            )
    return app


def _found(place: str) -> Any:  # noqa: ANN401 - a command, or an app of its own
    if place == ASSISTANT and find_spec(ASSISTANT.partition(".")[0]) is None:
        return assistant
    module, _, name = place.partition(":")
    return getattr(import_module(module if place == ASSISTANT else f"ragstone.{module}"), name)


def _code_for(message: str) -> str | None:
    """Return the code of a message that `ragstone explain` says more about, where that feature is there."""
    if find_spec("ragstone.features.explain") is None:
        return None
    return import_module("ragstone.features.explain.explaining").code_for(message)  # type: ignore[no-any-return]


def assistant() -> None:
    """Manage the documents that the assistant answers from (needs the extra `assistant`)."""
    raise MissingExtra("the assistant", "assistant")


def _version(
    show: bool = typer.Option(False, "--version", help="Print the version and exit.", is_eager=True),
) -> None:
    """Print the version if it is asked for."""
    if show:
        from ragstone.kernel.version import __version__

        typer.echo(__version__)
        raise typer.Exit


def main() -> None:
    """Run the command line."""
    gc.set_threshold(50_000)  # of what a start makes nearly all stays: the collector would walk it 90 times
    # Windows pipes and old locales lack characters, and what was measured must be written there too: as `?`.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    end_on_sigterm()
    _tell_readings()
    called = next((word for word in sys.argv[1:] if not word.startswith("-")), None)
    names = [called] if called in COMMANDS else [] if sys.argv[1:] == ["--version"] else COMMANDS
    try:
        app_of(names)()
    except OSError as mistake:
        if mistake.errno != errno.ENOSPC:
            raise
        say("ragstone: no space is left for the output. Free some and run the same command again.")
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nor is there for what still waits
        raise SystemExit(WRONG_USE) from None
    finally:
        gc.freeze()  # the process ends: the collector need not walk what goes with it


def _tell_readings() -> None:
    """Print what readers of files have guessed on standard error, each guess once."""
    printed: set[str] = set()

    def is_new(record: logging.LogRecord) -> bool:
        text = harmless(record.getMessage())
        record.msg, record.args = text, ()
        is_known = text in printed
        printed.add(text)
        return not is_known

    handler = logging.StreamHandler()
    handler.addFilter(is_new)
    logger = logging.getLogger("ragstone.tables")
    logger.addHandler(handler)
    logger.propagate = False
