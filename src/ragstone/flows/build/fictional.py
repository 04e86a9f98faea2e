"""The fictional variant of a set: names are found, by a model where no capitals show them; its files."""

import functools
from collections.abc import Sequence
from pathlib import Path

from ragstone.dataset.build_files import fictional_paths
from ragstone.dataset.fictional.fiction import fictionalise
from ragstone.dataset.fictional.names import list_names
from ragstone.engine.session import Session
from ragstone.llm import Ask, CallFailed
from ragstone.records import Document, Question
from ragstone.tables import write_rows

FEW_CASED = 0.1  # of the letters of a text: below, its script has no capitals that would show names


async def write_fiction(
    documents: Sequence[Document],
    questions: Sequence[Question],
    output: Path,
    session: Session,
    *,
    force: bool,
) -> list[Path]:
    """Write documents and questions with other names, dates and numbers, and return the paths.

    In scripts without capitals the writing model lists the names of each document; where that call fails,
    the names of this document stay as they are.
    """
    declared = session.settings.build
    uncased = [document for document in documents if not has_capitals(document.text)]
    names: list[list[str]] = []
    if uncased and declared.model is not None:
        ask, secret = await session.ask(declared.model), session.secret()
        names = await session.each("names", functools.partial(_names, ask=ask, secret=secret), uncased)
    given = list(dict.fromkeys(name for some in names for name in some))
    fiction = fictionalise(documents, questions, seed=session.settings.run.seed, names=given)
    paths = fictional_paths(output)
    write_rows(paths[0], fiction.documents, Document, force=force)
    write_rows(paths[1], fiction.questions, Question, force=force)
    return paths


def has_capitals(text: str) -> bool:
    """Return whether a text is in a script that has capitals."""
    letters = [character for character in text if character.isalpha()]
    n_cased = sum(character.lower() != character.upper() for character in letters)
    return n_cased > FEW_CASED * len(letters)


async def _names(document: Document, ask: Ask, secret: bytes) -> list[str]:
    try:
        return await list_names(document, ask=ask, secret=secret)
    except CallFailed:  # counted with the other calls; a name that stays is no wrong name
        return []
