"""`ragstone retrieve`: questions + documents -> rankings and rank measures; or rankings -> rank measures."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragstone.kernel.console.asking import Asking, asks_models, leave
from ragstone.kernel.console.columns import reads_rows
from ragstone.kernel.console.options import DocumentPaths, Limit, OutputPlace, QuestionsFile, Retriever
from ragstone.kernel.console.printing import say, show_found
from ragstone.kernel.console.repeating import repeatable
from ragstone.kernel.errors import plural

if TYPE_CHECKING:
    from ragstone.features.retrieve.ranking import RetrieveSummary

DEFAULT_K = 10  # of `ragstone retrieve`: measures are shown to that depth
ChunksFile = Annotated[
    Path | None,
    typer.Option("--chunks", help="Chunks from `ragstone chunk`, instead of cutting documents."),
]
RankingsFile = Annotated[
    Path | None,
    typer.Option(
        "--rankings", help="Measure these rankings (rows, or a TREC run file) instead of searching."
    ),
]
K_HELP = f"How many results; default {DEFAULT_K}, or k of [retrieve] if larger."
TopK = Annotated[int | None, typer.Option("-k", min=1, help=K_HELP)]
Where = Annotated[
    list[str] | None, typer.Option("--where", help="Only chunks with this tag: TAG=VALUE; may be repeated.")
]
Match = Annotated[
    list[str] | None,
    typer.Option("--match", help="Only chunks with the question's value of this tag; may be repeated."),
]
Method = Annotated[str | None, typer.Option("--method", help="How to cut documents: see `ragstone chunk`.")]
Size = Annotated[int | None, typer.Option("--size", min=1, help="Maximum characters per chunk.")]
Embedder = Annotated[str | None, typer.Option("--embedder", help="Embedder for dense and hybrid.")]
Qrels = Annotated[
    Path | None,
    typer.Option(
        "--qrels", help="Qrels of TREC or BEIR: the relevant documents, instead of the questions' own."
    ),
]
Trec = Annotated[Path | None, typer.Option("--trec", help="Also write a TREC run file.")]
SeedOrSettings = Annotated[
    int | None, typer.Option("--seed", min=0, help="Seed of the confidence intervals.")
]


@repeatable("chunk", "retrieve", "retrievers", grows=["questions", "limit"])
@reads_rows
@asks_models("engine", "whole", without=["strict"])
def retrieve(
    *,
    questions: QuestionsFile = None,
    documents: DocumentPaths = None,
    chunks: ChunksFile = None,
    rankings: RankingsFile = None,
    retriever: Retriever = None,
    k: TopK = None,
    where: Where = None,
    match: Match = None,
    method: Method = None,
    size: Size = None,
    embedder: Embedder = None,
    qrels: Qrels = None,
    trec: Trec = None,
    output: OutputPlace = "rankings.jsonl",
    limit: Limit = None,
    seed: SeedOrSettings = None,
    asking: Asking,
) -> None:
    """Rank chunks for every question and measure the ranking, or measure rankings made elsewhere.

    Options override ragstone.toml. Only a reranker that names a language model calls one.

    Examples:

    - `ragstone retrieve --questions questions.jsonl --documents handbook/`
    - `ragstone retrieve --questions questions.jsonl --rankings run.trec --qrels qrels.txt`
    """
    from ragstone.features.retrieve.ranking import forecast_retrieving, measure_rankings, rank_to_file
    from ragstone.kernel.config import choose
    from ragstone.kernel.retrieval.rerank import asks_a_model
    from ragstone.kernel.tables.storage import absolute

    settings = asking.settings(
        questions={"path": questions and absolute(questions), "limit": limit},
        documents={"paths": documents and [absolute(path) for path in documents]},
        chunk={"method": method, "size": size},
        run={"seed": seed},
    )
    declared = {"retriever": retriever, "embedder": embedder, "match": match}
    depth = k or max(DEFAULT_K, settings.retrieve.k)
    settings = choose(settings, "retrieve", k=depth, where=where and parse_tags(where), **declared)
    files = {"chunks": chunks, "qrels": qrels, "trec": trec}
    if rankings is not None:
        _tell(measure_rankings(settings, rankings, **files, k=k, force=asking.force), asking)
        return
    free = not asks_a_model(settings.retrieve.retriever, settings.retrievers)
    asking.tell_forecast(lambda: forecast_retrieving(settings, chunks), output, free=free)
    summary = rank_to_file(settings, output, **files, how=asking.session, force=asking.force)
    _tell(summary, asking)
    leave(summary.calls.failed, summary.calls, strict=False)


def parse_tags(pairs: list[str]) -> dict[str, str]:
    """Return the tags of `TAG=VALUE`. Raises ConfigError for anything else."""
    from ragstone.kernel.errors import ConfigError

    tags = {}
    for text in pairs:
        key, equals, value = text.partition("=")
        if not (key.strip() and equals and value.strip()):
            raise ConfigError(f"--where {text!r}: write TAG=VALUE, e.g. crop=maize.")
        tags[key.strip()] = value.strip()
    return tags


def _tell(summary: "RetrieveSummary", asking: Asking) -> None:
    import msgspec

    from ragstone.features.retrieve._failed import failed_blocks
    from ragstone.features.retrieve.words import retrieval_document
    from ragstone.kernel.runs.wording import asked_line

    document = retrieval_document(summary.retrieval)
    blocks = [*document.blocks, *failed_blocks(summary.failed)]
    document = msgspec.structs.replace(document, blocks=blocks)
    show_found(summary, lambda: document, json=asking.json, whole=asking.whole)
    for note in summary.notes:
        say(f"Note: {note}")
    if summary.calls.made or summary.calls.from_ledger:
        say(asked_line(summary.calls))
    if summary.output:
        say(f"{plural(summary.n_rankings, 'ranking')} in {summary.output}.")
