"""The command `ragstone`: which flow answers to which name. A flow is imported when its name is called."""

import sys
from collections.abc import Iterable
from importlib import import_module
from typing import Any

import typer

from ragstone.console.printing import end_on_sigterm, told_plainly, write_any_text

HELP = (
    "A touchstone for retrieval-augmented generation: is it right, what is to blame, and how far can "
    "the judge be trusted?"
)
SETTINGS = {"help_option_names": ["-h", "--help"]}

# Name -> where it stands, a function or an app of its own; of a group its help and its commands. In the order
# of the help.
COMMANDS: dict[str, str | tuple[str, dict[str, str]]] = {
    "demo": "flows.run.demo:demo",
    "new": "flows.new.command:new",
    "run": "flows.run.command:run",
    "ingest": "flows.ingest.command:ingest",
    "tag": "flows.tag.command:tag",
    "sample": "flows.sample.command:sample",
    "translate": "flows.translate.command:translate",
    "chunk": "flows.chunk.command:chunk",
    "retrieve": "flows.retrieve.command:retrieve",
    "answer": "flows.answer.command:answer",
    "judge": "flows.judge.command:judge",
    "label": "flows.label.command:label",
    "agree": "flows.agree.command:agree",
    "compare": "flows.compare.command:compare",
    "attack": "flows.attack.command:attack",
    "blame": "flows.blame.command:blame",
    "report": "flows.report.command:report",
    "review": "flows.review.command:review",
    "watch": "flows.watch.command:watch",
    "serve": "workbench.serve_command:serve",
    "export": "flows.export.command:export",
    "models": "flows.models.command:models",
    "doctor": "flows.doctor.command:doctor",
    "import": "flows.import_.command:import_",
    "judges": (
        "The judges there are; what one sends to its model; a new one; a first try.",
        {
            "list": "flows.judges.command:list_",
            "show": "flows.judges.command:show_",
            "new": "flows.judges.command:new",
            "test": "flows.judges.command:try_out",
            "develop": "flows.develop.command:develop",
            "fit": "flows.fit.command:fit",
        },
    ),
    "ledger": "flows.ledger.command:ledger",
    "bench": (
        "A grid of ragstone.toml: which is better, and is that more than chance?",
        {
            "retrievers": "flows.bench_retrievers.command:retrievers",
            "languages": "flows.bench_retrievers.command:languages",
            "judges": "flows.bench_judges.command:judges",
            "answerers": "flows.bench_answerers.command:answerers",
        },
    ),
    "build": (
        "Documents to an evaluation set, checked, and with a certificate.",
        {
            "questions": "flows.build.command:questions",
            "facts": "flows.build.command:facts",
        },
    ),
    "assistant": "flows.assistant.command:assistant",
    "people": "workbench.people_command:people",
}


def app_of(names: Iterable[str] = COMMANDS) -> typer.Typer:
    """Return the app with these commands and groups; the others are not imported."""
    app = typer.Typer(
        name="ragstone",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode="markdown",  # in that of rich, "[retrieve]" is a style and vanishes
        context_settings=SETTINGS,
        help=HELP,
    )
    app.callback(invoke_without_command=True)(_version)
    for name in names:
        place = COMMANDS[name]
        if isinstance(place, tuple):
            about, commands = place
            group = typer.Typer(name=name, no_args_is_help=True, context_settings=SETTINGS, help=about)
            for each, inner in commands.items():
                group.command(each)(told_plainly(_found(inner)))
            app.add_typer(group)
            continue
        command = _found(place)
        if isinstance(command, typer.Typer):
            app.add_typer(command)
        else:
            app.command(name)(told_plainly(command))
    return app


def _found(place: str) -> Any:  # noqa: ANN401 - a command, or an app of its own
    module, _, name = place.partition(":")
    return getattr(import_module(f"ragstone.{module}"), name)


def _version(
    show: bool = typer.Option(False, "--version", help="Print the version and stop.", is_eager=True),
) -> None:
    """Print the version if it is asked for."""
    if show:
        from ragstone.version import __version__

        typer.echo(__version__)
        raise typer.Exit


def main() -> None:
    """Run the command line."""
    write_any_text()
    end_on_sigterm()
    called = next((word for word in sys.argv[1:] if not word.startswith("-")), None)
    app_of([called] if called in COMMANDS else COMMANDS)()
