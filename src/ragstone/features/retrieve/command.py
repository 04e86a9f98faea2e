"""`ragstone retrieve`: questions + documents -> rankings and rank measures; or rankings -> rank measures."""

from typing import TYPE_CHECKING

from ragstone.kernel.console.asking import Asking, asks_models, leave
from ragstone.kernel.console.columns import reads_rows
from ragstone.kernel.console.options import (
    DEFAULT_K,
    ChunksFile,
    DocumentPaths,
    Embedder,
    Limit,
    Match,
    Method,
    OutputPlace,
    Qrels,
    QuestionsFile,
    RankingsFile,
    Retriever,
    SeedOrSettings,
    Size,
    TopK,
    Trec,
    Where,
)
from ragstone.kernel.console.printing import say, show, show_json
from ragstone.kernel.console.repeating import repeatable

if TYPE_CHECKING:
    from ragstone.features.retrieve.ranking import RetrieveSummary


@repeatable("chunk", "retrieve", "retrievers", grows=["questions", "limit"])
@reads_rows
@asks_models("engine", without=["strict"])
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

    settings = choose(asking.settings(), "questions", path=questions and absolute(questions), limit=limit)
    settings = choose(settings, "documents", paths=documents and [absolute(path) for path in documents])
    settings = choose(settings, "chunk", method=method, size=size)
    settings = choose(settings, "run", seed=seed)
    declared = {"retriever": retriever, "embedder": embedder, "match": match}
    depth = k or max(DEFAULT_K, settings.retrieve.k)
    settings = choose(settings, "retrieve", k=depth, where=where and parse_tags(where), **declared)
    files = {"chunks": chunks, "qrels": qrels, "trec": trec}
    if rankings is not None:
        _tell(measure_rankings(settings, rankings, **files, k=k, force=asking.force), asking.json)
        return
    free = not asks_a_model(settings.retrieve.retriever, settings.retrievers)
    asking.tell_forecast(lambda: forecast_retrieving(settings, chunks), output, free=free)
    summary = rank_to_file(settings, output, **files, how=asking.session, force=asking.force)
    _tell(summary, asking.json)
    leave(summary.calls.failed, summary.calls, strict=False)


def parse_tags(given: list[str]) -> dict[str, str]:
    """Return the tags of `TAG=VALUE`. Raises ConfigError for anything else."""
    from ragstone.kernel.errors import ConfigError

    tags = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not (key.strip() and equals and value.strip()):
            raise ConfigError(f"--where {text!r}: write TAG=VALUE, e.g. crop=maize.")
        tags[key.strip()] = value.strip()
    return tags


def _tell(summary: "RetrieveSummary", json: bool) -> None:
    import msgspec

    from ragstone.features.retrieve.failed import failed_blocks
    from ragstone.features.retrieve.words import retrieval_document
    from ragstone.kernel.document.terminal import render_terminal
    from ragstone.kernel.runs.wording import asked_line

    if json:
        show_json(summary)
    else:
        document = retrieval_document(summary.retrieval)
        blocks = [*document.blocks, *failed_blocks(summary.failed)]
        show(render_terminal(msgspec.structs.replace(document, blocks=blocks)))
    for note in summary.notes:
        say(f"Note: {note}")
    if summary.calls.made or summary.calls.from_ledger:
        say(asked_line(summary.calls))
    if summary.output:
        say(f"{summary.n_rankings} rankings in {summary.output}.")
