"""`ragstone ingest`: files and folders -> documents."""

from pathlib import Path
from typing import Annotated

import typer

from ragstone.cli.bars import bars
from ragstone.cli.console import say, show_json
from ragstone.cli.options import AsJson, Force, Output


def ingest(
    sources: Annotated[list[Path], typer.Argument(help="Files and folders.")],
    output: Output = Path("documents.jsonl"),
    force: Force = False,
    json: AsJson = False,
) -> None:
    """Turn files and folders (text, Markdown, HTML, PDF, CSV, JSONL) into documents."""
    from ragstone.corpus import Skipped
    from ragstone.corpus import ingest as read_sources
    from ragstone.records import Document
    from ragstone.tables import open_rows

    skipped: list[Skipped] = []
    n_documents = 0
    with open_rows(output, Document, force=force) as write, bars("ingest", None) as advance:
        for found in read_sources(sources):
            if isinstance(found, Skipped):
                skipped.append(found)
            else:
                write(found)
                n_documents += 1
            advance()
    for one in skipped:
        say(f"skipped {one.path}: {one.reason}")
    if json:
        show_json({"documents": n_documents, "skipped": skipped, "output": str(output)})
    else:
        say(f"{n_documents} documents in {output}; {len(skipped)} files skipped.")
