"""`ragstone chunk`: documents -> chunks."""

from pathlib import Path
from typing import Annotated

import typer

from ragstone.kernel.console.asking import load_for
from ragstone.kernel.console.bars import bars
from ragstone.kernel.console.columns import reads_rows
from ragstone.kernel.console.options import AsJson, Config, Engine, Force, OutputPlace
from ragstone.kernel.console.printing import say, show_json
from ragstone.kernel.console.repeating import repeatable
from ragstone.kernel.errors import plural

Method = Annotated[
    str | None,
    typer.Option("--method", help="How to cut: whole, fixed, recursive, sentence, heading or semantic."),
]
Size = Annotated[int | None, typer.Option("--size", min=1, help="Maximum characters per chunk.")]
Overlap = Annotated[
    int | None, typer.Option("--overlap", min=0, help="Characters that neighbouring chunks share.")
]
Percentile = Annotated[
    float | None,
    typer.Option(
        "--percentile", min=0, max=100, help="For semantic: percentage of the sentence boundaries to cut at."
    ),
]
Embedder = Annotated[
    str | None, typer.Option("--embedder", help="For semantic: the embedder that compares sentences.")
]


@repeatable("chunk", grows=["documents"])
@reads_rows
def chunk(
    documents: Annotated[Path, typer.Argument(help="A file of documents, or a folder of shards.")],
    *,
    output: OutputPlace = "chunks.jsonl",
    method: Method = None,
    size: Size = None,
    overlap: Overlap = None,
    percentile: Percentile = None,
    embedder: Embedder = None,
    engine: Engine = None,
    config: Config = None,
    force: Force = False,
    json: AsJson = False,
) -> None:
    """Cut documents into chunks. Options override [chunk] in ragstone.toml; offsets are code points.

    Examples:

    - `ragstone chunk documents.jsonl --size 800 --overlap 100`
    - `ragstone chunk documents.jsonl --method heading`
    """
    from ragstone.features.chunk._chunking import ChunkOutput, chunk_to_file
    from ragstone.kernel.config import choose

    settings = choose(
        load_for(config, engine),
        "chunk",
        method=method,
        size=size,
        overlap=overlap,
        percentile=percentile,
        embedder=embedder,
    )
    n_chunks = chunk_to_file(documents, output, settings.chunk, settings, force=force, progress=bars)
    if json:
        show_json(ChunkOutput(chunks=n_chunks, output=output))
    else:
        say(f"{plural(n_chunks, 'chunk')} in {output}.")
