"""`ragstone retrieve`: questions + documents -> rankings and rank measures; or rankings -> rank measures."""

from pathlib import Path
from typing import TYPE_CHECKING

from ragstone.console.asking import leave, load_for, tell_forecast
from ragstone.console.bars import bars
from ragstone.console.options import (
    DEFAULT_K,
    AsJson,
    BudgetCap,
    ChunksFile,
    Config,
    Deadline,
    DocumentPaths,
    Embedder,
    Engine,
    Force,
    ForecastOnly,
    Limit,
    Match,
    Method,
    Offline,
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
    Yes,
)
from ragstone.console.printing import say, show, show_json

if TYPE_CHECKING:
    from ragstone.config import Settings
    from ragstone.flows.retrieve.ranking import RetrieveSummary


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
    budget: BudgetCap = None,
    deadline: Deadline = None,
    forecast: ForecastOnly = False,
    yes: Yes = False,
    offline: Offline = False,
    engine: Engine = None,
    config: Config = None,
    force: Force = False,
    json: AsJson = False,
) -> None:
    """Rank chunks for every question and measure the ranking, or measure rankings made elsewhere.

    Options go before ragstone.toml. A language model is asked only by a reranker that names one.
    """
    from ragstone.config import choose
    from ragstone.flows.retrieve.ranking import measure_rankings, rank_to_file
    from ragstone.llm import parse_caps
    from ragstone.tables.storage import absolute

    caps = parse_caps(budget, deadline)
    settings = load_for(config, engine)
    settings = choose(settings, "questions", path=questions and absolute(questions), limit=limit)
    settings = choose(settings, "documents", paths=documents and [absolute(path) for path in documents])
    settings = choose(settings, "chunk", method=method, size=size)
    settings = choose(settings, "run", seed=seed)
    declared = {"retriever": retriever, "embedder": embedder, "match": match}
    depth = k or max(DEFAULT_K, settings.retrieve.k)
    settings = choose(settings, "retrieve", k=depth, where=where and parse_tags(where), **declared)
    files = {"chunks": chunks, "qrels": qrels, "trec": trec}
    if rankings is not None:
        _tell(measure_rankings(settings, rankings, **files, k=k, force=force), json)
        return
    _forecast(settings, output, chunks, only=forecast, yes=yes, offline=offline, force=force, json=json)
    summary = rank_to_file(settings, output, **files, caps=caps, offline=offline, force=force, progress=bars)
    _tell(summary, json)
    leave(summary.calls.failed, summary.calls, strict=False)


def parse_tags(given: list[str]) -> dict[str, str]:
    """Return the tags of `TAG=VALUE`. Raises ConfigError for anything else."""
    from ragstone.errors import ConfigError

    tags = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not (key.strip() and equals and value.strip()):
            raise ConfigError(f"--where {text!r}: write TAG=VALUE, e.g. crop=maize.")
        tags[key.strip()] = value.strip()
    return tags


def _forecast(
    settings: "Settings",
    output: str,
    chunks: Path | None,
    *,
    only: bool,
    yes: bool,
    offline: bool,
    force: bool,
    json: bool,
) -> None:
    """Show what rerankers will ask of models, if any does; a large sum is confirmed."""
    from ragstone.flows.retrieve.ranking import forecast_retrieving
    from ragstone.retrieval.rerank import asks_a_model
    from ragstone.tables import check_output

    asking = asks_a_model(settings.retrieve.retriever, settings.retrievers)
    if only or (asking and not offline):
        if not only:
            check_output(output, force)
        tell_forecast(forecast_retrieving(settings, chunks), only=only, yes=yes, json=json)


def _tell(summary: "RetrieveSummary", json: bool) -> None:
    from ragstone.report.terminal import terminal_retrieval
    from ragstone.report.wording import asked_line

    if json:
        show_json(summary)
    else:
        show(terminal_retrieval(summary.retrieval))
    for note in summary.notes:
        say(f"Note: {note}")
    if summary.calls.made or summary.calls.from_ledger:
        say(asked_line(summary.calls))
    if summary.output:
        say(f"{summary.n_rankings} rankings in {summary.output}.")
