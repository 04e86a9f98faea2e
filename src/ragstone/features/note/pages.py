"""Notes on the questions of a run, in the workbench."""

from typing import Annotated

import msgspec
from litestar import get, post
from litestar.exceptions import NotFoundException, PermissionDeniedException
from litestar.params import FromQuery, JSONBody

from ragstone.kernel.document.room import PageRoom, length_in_json
from ragstone.kernel.runs.notes import Note, add_note, read_notes, remove_note
from ragstone.kernel.serve.frame import ANNOTATOR, AtPerson
from ragstone.kernel.serve.requests import AnyRequest
from ragstone.kernel.serve.state import AtApp, RunFolder, run_folder


class NoteForm(msgspec.Struct, frozen=True, kw_only=True):
    """A note as a form sends it. tags: with commas between them. system: empty for all."""

    question: str
    text: Annotated[str, msgspec.Meta(max_length=20_000)] = ""
    tags: Annotated[str, msgspec.Meta(max_length=2_000)] = ""
    system: str = ""


class NotesShown(msgspec.Struct, frozen=True, kw_only=True):
    """The notes on a question. mine: ids that this person may remove. tags: those used in the run."""

    notes: list[Note]
    mine: list[str]
    tags: list[str]


@get("/runs/{index:int}/{name:str}/notes", sync_to_thread=True)
def notes(folder: RunFolder, person: AtPerson, question: FromQuery[str]) -> NotesShown:
    """Give the notes on a question."""
    every = read_notes(folder)
    ours = [note for note in every if note.question_id == question]
    mine = [note.id for note in ours if person.may("owner") or note.author == person.name]
    tags = sorted({tag for note in every for tag in note.tags})
    return PageRoom(length_in_json).fitted(NotesShown(notes=ours, mine=mine, tags=tags))


@post("/runs/{index:int}/{name:str}/notes", sync_to_thread=True, status_code=200, guards=[ANNOTATOR])
def write(app: AtApp, folder: RunFolder, person: AtPerson, data: JSONBody[NoteForm]) -> Note:
    """Write a note. Raises DataError, NotFoundException for a question that the run has not."""
    with app.indexes.of(folder) as index:
        if index.place_of(data.question) is None:
            raise NotFoundException(f"There is no question {data.question!r} in this run: reload the page.")
        systems = {system for (system,) in index.con.execute("SELECT DISTINCT system FROM pairs").fetchall()}
    if data.system and data.system not in systems:
        raise NotFoundException(f"There is no system {data.system!r} in this run: reload the page.")
    return add_note(
        folder,
        data.question,
        data.text,
        author=person.name,
        system=data.system or None,
        tags=data.tags.split(","),
    )


class NoteToRemove(msgspec.Struct, frozen=True):
    """A note by its id."""

    id: str


@post("/runs/{index:int}/{name:str}/notes/remove", sync_to_thread=True, status_code=200, guards=[ANNOTATOR])
def remove(
    request: AnyRequest, app: AtApp, folder: RunFolder, person: AtPerson, data: JSONBody[NoteToRemove]
) -> dict[str, str]:
    """Remove a note of this person's; an owner removes any. Raises DataError where it is gone."""
    note = next((each for each in read_notes(folder) if each.id == data.id), None)
    if note is not None and note.author != person.name and not person.may("owner"):
        raise PermissionDeniedException(f"{note.author} wrote this note: they or an owner can remove it.")
    remove_note(folder, data.id)
    app.audit(
        request, "note removed", run=folder.name, question=note.question_id if note else "", note=data.id
    )
    return {"removed": data.id}


ROUTES = (notes, write, remove)
GIVEN = {"folder": run_folder}
