"""`ragstone chunk`: documents -> chunks."""

from pathlib import Path
from typing import Annotated

import typer

from ragstone.cli.console import say, show_json
from ragstone.cli.options import AsJson, ChunkMethod, ChunkSize, Force, Output


def chunk(
    documents: Annotated[Path, typer.Argument(help="A file of documents.")],
    *,
    output: Output = Path("chunks.jsonl"),
    method: ChunkMethod = "recursive",
    size: ChunkSize = 1200,
    overlap: Annotated[int, typer.Option("--overlap", min=0, help="Characters that neighbours share.")] = 0,
    force: Force = False,
    json: AsJson = False,
) -> None:
    """Cut documents into chunks; offsets are code points into the document."""
    from ragstone.corpus import chunk_documents
    from ragstone.records import Chunk, Document
    from ragstone.tables import read_rows, write_rows

    rows = chunk_documents(read_rows(documents, Document), method, size, overlap)
    n_chunks = write_rows(output, rows, Chunk, force=force)
    if json:
        show_json({"chunks": n_chunks, "output": str(output)})
    else:
        say(f"{n_chunks} chunks in {output}.")
