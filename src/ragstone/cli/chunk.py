"""`ragstone chunk`: documents -> chunks."""

from pathlib import Path
from typing import Annotated

import typer

from ragstone.cli.console import say, show_json
from ragstone.cli.options import AsJson, Config, Force, Output

Method = Annotated[
    str | None,
    typer.Option("--method", help="whole, fixed, recursive, sentence, heading or semantic."),
]
Size = Annotated[int | None, typer.Option("--size", min=1, help="Most characters in a chunk.")]
Overlap = Annotated[int | None, typer.Option("--overlap", min=0, help="Characters that neighbours share.")]
Percentile = Annotated[
    float | None,
    typer.Option("--percentile", min=0, max=100, help="Of semantic: the share of places that are cut."),
]
Embedder = Annotated[str | None, typer.Option("--embedder", help="Of semantic: what compares sentences.")]


def chunk(
    documents: Annotated[Path, typer.Argument(help="A file of documents.")],
    *,
    output: Output = Path("chunks.jsonl"),
    method: Method = None,
    size: Size = None,
    overlap: Overlap = None,
    percentile: Percentile = None,
    embedder: Embedder = None,
    config: Config = None,
    force: Force = False,
    json: AsJson = False,
) -> None:
    """Cut documents into chunks; offsets are code points. Options go before [chunk] of ragstone.toml."""
    from ragstone.config import choose, load_settings
    from ragstone.engine import cut_documents
    from ragstone.records import Chunk, Document
    from ragstone.tables import check_output, read_rows, write_rows

    check_output(output, force)
    settings = choose(
        load_settings(config),
        "chunk",
        method=method,
        size=size,
        overlap=overlap,
        percentile=percentile,
        embedder=embedder,
    )
    rows = cut_documents(read_rows(documents, Document), settings.chunk, settings)
    n_chunks = write_rows(output, rows, Chunk, force=force)
    if json:
        show_json({"chunks": n_chunks, "output": str(output)})
    else:
        say(f"{n_chunks} chunks in {output}.")
