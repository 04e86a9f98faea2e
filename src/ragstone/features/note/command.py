"""`ragstone note`: write down what you saw of a row of a run, or list what has been written."""

import getpass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragstone.kernel.console.options import AsJson, Whole
from ragstone.kernel.console.printing import say, show_blocks, show_json
from ragstone.kernel.errors import DataError

if TYPE_CHECKING:
    from ragstone.kernel.document.blocks import Table
    from ragstone.kernel.runs.notes import Note


def note(
    run: Annotated[Path, typer.Argument(help="A run folder, such as runs/mine.")],
    question: Annotated[
        str | None, typer.Argument(help="The id of the question; without it notes are listed.")
    ] = None,
    text: Annotated[str, typer.Argument(help="What you saw.")] = "",
    *,
    system: Annotated[
        str | None, typer.Option("--system", help="The system whose answer it is about; default: all.")
    ] = None,
    tag: Annotated[list[str] | None, typer.Option("--tag", help="A word for it; may be repeated.")] = None,
    author: Annotated[
        str | None, typer.Option("--author", help="Who writes; default: your user name.")
    ] = None,
    remove: Annotated[str | None, typer.Option("--remove", help="The id of a note to remove.")] = None,
    json: AsJson = False,
    whole: Whole = False,
) -> None:
    """Write a note on a question of a run, or list the notes of a run.

    Examples:

    - `ragstone note runs/mine`
    - `ragstone note runs/mine q-17 "It names wheat, the question is about maize." --tag "wrong crop"`
    - `ragstone note runs/mine --remove 5f2a9c01b3de`
    """
    from ragstone.kernel.runs.notes import add_note, read_notes, remove_note
    from ragstone.kernel.runs.run import read_summary

    if remove is not None:
        if question is not None:
            raise DataError("--remove takes the note out, so it takes no question. Leave one of the two out.")
        read_summary(run)
        remove_note(run, remove)
        say(f"Note {remove} removed.")
    elif question is not None:
        _check_answered(run, question, system)
        name = author or getpass.getuser()
        made = add_note(run, question, text, author=name, system=system, tags=tag or ())
        if json:
            show_json(made)
        else:
            say(f"Note {made.id} written.")
    elif text or system or author:
        raise DataError("Name the question that the note is about: ragstone note RUN QUESTION TEXT")
    else:
        read_summary(run)
        notes = [each for each in read_notes(run) if not tag or set(tag) & set(each.tags)]
        if json:
            show_json(notes)
        elif notes:
            show_blocks([_table(notes)], whole=whole)
        else:
            say(f'No notes. Write one: ragstone note {run} QUESTION "what you saw" --tag WORD')


def _check_answered(run: Path, question: str, system: str | None) -> None:
    """Raise DataError for a question that the run does not have, or that the system did not answer."""
    from ragstone.kernel.runs.run import read_run

    content = read_run(run)
    known = content.questions.keys() | content.answers.keys() | content.judgements.keys()
    if question not in known:
        raise DataError(f"There is no question {question!r} in {run}. Its ids: ragstone export {run} ids.csv")
    systems = {row.system for row in content.answers.get(question, [])}
    systems |= {row.system for row in content.judgements.get(question, [])}
    if system is not None and system not in systems:
        answered = ", ".join(map(repr, sorted(systems))) or "none"
        raise DataError(f"{system!r} did not answer question {question!r}. Systems that did: {answered}.")


def _table(notes: "list[Note]") -> "Table":
    from ragstone.kernel.document.blocks import Column, Table

    heads = ("id", "question", "system", "note", "tags", "author", "time")
    rows = [
        [n.id, n.question_id, n.system or "", n.text, ", ".join(n.tags), n.author, n.at[:10]] for n in notes
    ]
    return Table([Column(head, text=True) for head in heads], rows, "Notes")
