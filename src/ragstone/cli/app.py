"""The command `ragstone`: which flow answers to which name. A flow is imported when its name is called."""

import errno
import gc
import os
import sys
from collections.abc import Iterable
from importlib import import_module
from typing import Any

import typer

from ragstone.console.printing import (
    WRONG_USE,
    end_on_sigterm,
    say,
    tell_readings,
    told_plainly,
    write_any_text,
)

HELP = (
    "A touchstone for retrieval-augmented generation: is it right, what is to blame, and how far can "
    "the judge be trusted?"
)
SETTINGS = {"help_option_names": ["-h", "--help"]}

# Name -> where it stands, a function or an app of its own; of a group its help and its commands. In the order
# of the help.
Commands = dict[str, str | tuple[str, dict[str, str]]]
PANELS: dict[str, Commands] = {
    "Start": {
        "demo": "flows.run.demo:demo",
        "new": "flows.new.command:new",
        "doctor": "flows.doctor.command:doctor",
        "models": "flows.models.command:models",
    },
    "Evaluate": {
        "run": "flows.run.command:run",
        "ingest": "flows.ingest.command:ingest",
        "chunk": "flows.chunk.command:chunk",
        "retrieve": "flows.retrieve.command:retrieve",
        "ask": "flows.ask.command:ask",
        "answer": "flows.answer.command:answer",
        "judge": "flows.judge.command:judge",
        "try": "flows.try_.command:try_",
        "compare": "flows.compare.command:compare",
        "blame": "flows.blame.command:blame",
        "bench": (
            "Compare a grid from ragstone.toml: which is better, and is that more than chance?",
            {
                "retrievers": "flows.bench_retrievers.command:retrievers",
                "languages": "flows.bench_retrievers.command:languages",
                "judges": "flows.bench_judges.command:judges",
                "answerers": "flows.bench_answerers.command:answerers",
            },
        ),
        "report": "flows.report.command:report",
        "export": "flows.export.command:export",
    },
    "Trust the judge": {
        "judges": (
            "Manage judges: list, create, test, improve.",
            {
                "list": "flows.judges.command:list_",
                "show": "flows.judges.command:show_",
                "new": "flows.judges.command:new",
                "test": "flows.judges.command:try_out",
                "develop": "flows.develop.command:develop",
                "learn": "flows.develop.learn_command:learn",
                "fit": "flows.fit.command:fit",
            },
        ),
        "label": "flows.label.command:label",
        "agree": "flows.agree.command:agree",
        "attack": "flows.attack.command:attack",
    },
    "Build sets": {
        "build": (
            "Turn documents into a checked evaluation set with a certificate.",
            {
                "questions": "flows.build.command:questions",
                "facts": "flows.build.command:facts",
            },
        ),
        "review": "flows.review.command:review",
        "import": "flows.import_.command:import_",
        "sample": "flows.sample.command:sample",
        "translate": "flows.translate.command:translate",
        "tag": "flows.tag.command:tag",
    },
    "Watch and serve": {
        "serve": "workbench.serve_command:serve",
        "watch": "flows.watch.command:watch",
        "assistant": "flows.assistant.command:assistant",
    },
    "Upkeep": {
        "ledger": "flows.ledger.command:ledger",
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
                group.command(each)(told_plainly(_found(inner)))
            app.add_typer(group, rich_help_panel=panel)
            continue
        command = _found(place)
        if isinstance(command, typer.Typer):
            app.add_typer(command, rich_help_panel=panel)
        else:
            app.command(name, rich_help_panel=panel)(told_plainly(command))
    return app


def _found(place: str) -> Any:  # noqa: ANN401 - a command, or an app of its own
    module, _, name = place.partition(":")
    return getattr(import_module(f"ragstone.{module}"), name)


def _version(
    show: bool = typer.Option(False, "--version", help="Print the version and exit.", is_eager=True),
) -> None:
    """Print the version if it is asked for."""
    if show:
        from ragstone.version import __version__

        typer.echo(__version__)
        raise typer.Exit


def main() -> None:
    """Run the command line."""
    gc.set_threshold(50_000)  # of what a start makes nearly all stays: the collector would walk it 90 times
    write_any_text()
    end_on_sigterm()
    tell_readings()
    called = next((word for word in sys.argv[1:] if not word.startswith("-")), None)
    try:
        app_of([called] if called in COMMANDS else COMMANDS)()
    except OSError as mistake:
        if mistake.errno != errno.ENOSPC:
            raise
        say("ragstone: no space is left where the output goes. Make room and run the same command again.")
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nor is there for what still waits
        raise SystemExit(WRONG_USE) from None
    finally:
        gc.freeze()  # the process ends: the collector need not walk what goes with it
