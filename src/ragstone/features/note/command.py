"""`ragstone note`: write down what you saw of a row of a run or of a trace, or list what has been written."""

import getpass
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from ragstone.kernel.console.options import AsJson, Whole
from ragstone.kernel.console.printing import say, show_blocks, show_json
from ragstone.kernel.errors import DataError, explaining
from ragstone.kernel.runs.folders import is_run

if TYPE_CHECKING:
    from ragstone.kernel.document.blocks import Table
    from ragstone.kernel.runs.notes import Note


def note(
    run: Annotated[
        Path, typer.Argument(help="A run folder, such as runs/mine; or a file or folder of traces.")
    ],
    question: Annotated[
        str | None,
        typer.Argument(help="The id of the question, or of the trace; without it, notes are listed."),
    ] = None,
    text: Annotated[str, typer.Argument(help="What you saw.")] = "",
    *,
    system: Annotated[
        str | None, typer.Option("--system", help="The system whose answer it is about; default: all.")
    ] = None,
    span: Annotated[
        str | None,
        typer.Option("--span", help="For a trace: the span that it is about; default: all of the trace."),
    ] = None,
    tag: Annotated[list[str] | None, typer.Option("--tag", help="A tag for it; may be repeated.")] = None,
    author: Annotated[
        str | None, typer.Option("--author", help="Who writes; default: your user name.")
    ] = None,
    remove: Annotated[str | None, typer.Option("--remove", help="The id of a note to remove.")] = None,
    json: AsJson = False,
    whole: Whole = False,
) -> None:
    """Write a note on a question of a run or on a trace, or list the existing notes.

    Examples:

    - `ragstone note runs/mine`
    - `ragstone note runs/mine q-17 "It names wheat, the question is about maize." --tag "wrong crop"`
    - `ragstone note runs/mine --remove 5f2a9c01b3de`
    - `ragstone note .ragstone/traces 5b8efff798038103d269b633813fc60c "It asked the wrong tool."`
    """
    from ragstone.kernel.runs.notes import add_note, remove_note

    traces = _traces_in(run)
    folder = _folder_of(run, traces, system, span)
    if remove is not None:
        if question is not None:
            raise DataError("--remove deletes a note and takes no question. Leave out one of the two.")
        remove_note(folder, remove)
        say(f"Note {remove} removed.")
    elif question is not None:
        if traces:
            _check_traced(traces, question, span)
        else:
            _check_answered(run, question, system)
        name = author or getpass.getuser()
        made = add_note(folder, question, text, author=name, system=system, span=span, tags=tag or ())
        if json:
            show_json(made)
        else:
            say(f"Note {made.id} written.")
    elif text or system or span or author:
        raise DataError("Name the question that the note is about: ragstone note RUN QUESTION TEXT")
    else:
        _list_notes(run, folder, tag, json=json, whole=whole)


def _folder_of(run: Path, traces: list[Path], system: str | None, span: str | None) -> Path:
    """Return the folder that holds the notes. Raises DataError for options of the other kind, and no run."""
    from ragstone.kernel.config import load_settings
    from ragstone.kernel.runs.summary import read_summary

    if traces and system is not None:
        raise DataError("--system is for runs. For a trace, name a span with --span, or leave both out.")
    if span is not None and not traces:
        raise DataError("--span is for traces. For a run, name a system with --system, or leave both out.")
    if not traces:
        read_summary(run)
        return run
    settings = load_settings()  # the notes of a project's traces are together: the workbench shows them
    return settings.path(settings.workbench.store) / "traces"


def _list_notes(run: Path, folder: Path, tags: list[str] | None, *, json: bool, whole: bool) -> None:
    from ragstone.kernel.runs.notes import read_notes

    notes = [each for each in read_notes(folder) if not tags or set(tags) & set(each.tags)]
    if json:
        show_json(notes)
    elif notes:
        show_blocks([_table(notes)], whole=whole)
    else:
        say(f'No notes. Write one: ragstone note {quote(str(run))} QUESTION "what you saw" --tag WORD')


def _traces_in(place: Path) -> list[Path]:
    """Return the files of spans that a place is, or holds; none of a run."""
    if is_run(place):
        return []
    files = sorted(place.glob("*.jsonl")) if place.is_dir() else [place] if place.is_file() else []
    marks = (b'"resourceSpans"', b'"resourceLogs"')
    traces = []
    for path in files:
        with explaining(f"{path}: cannot be read"), path.open("rb") as file:
            head = file.read(4096)
        traces += [path] if any(mark in head for mark in marks) else []
    return traces


def _check_traced(traces: list[Path], trace: str, span: str | None) -> None:
    """Raise DataError for a trace that no file holds, and for a span that is in none with it."""
    wanted = [f'"{each}"'.lower().encode() for each in (trace, *([span] if span else []))]
    for path in traces:
        with explaining(f"{path}: cannot be read"), path.open("rb") as file:
            if any(all(each in line.lower() for each in wanted) for line in file):
                return
    if span:
        raise DataError(f"There is no span {span!r} of a trace {trace!r} in these traces. Check both ids.")
    raise DataError(
        f"There is no trace {trace!r} in these traces. `ragstone serve` lists them with their ids."
    )


def _check_answered(run: Path, question: str, system: str | None) -> None:
    """Raise DataError for a question that the run does not have, or that the system did not answer."""
    from ragstone.kernel.runs.run import read_run

    content = read_run(run)
    known = content.questions.keys() | content.answers.keys() | content.judgements.keys()
    if question not in known:
        raise DataError(
            f"There is no question {question!r} in {run}. Its ids: ragstone export {quote(str(run))} ids.csv"
        )
    systems = {row.system for row in content.answers.get(question, [])}
    systems |= {row.system for row in content.judgements.get(question, [])}
    if system is not None and system not in systems:
        answered = ", ".join(map(repr, sorted(systems))) or "none"
        raise DataError(f"{system!r} did not answer question {question!r}. Systems that did: {answered}.")


def _table(notes: "list[Note]") -> "Table":
    from ragstone.kernel.document.blocks import Column, Table

    heads = ("id", "question", "about", "note", "tags", "author", "time")
    rows = [
        [n.id, n.question_id, n.system or n.span or "", n.text, ", ".join(n.tags), n.author, n.at[:10]]
        for n in notes
    ]
    return Table([Column(head, text=True) for head in heads], rows, "Notes")
