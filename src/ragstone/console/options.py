"""The options that several commands share: one meaning, one help text."""

from pathlib import Path
from typing import Annotated

import typer

from ragstone.config.engine import EngineKind

Config = Annotated[
    Path | None, typer.Option("--config", help="Settings; default ragstone.toml, if there is one here.")
]
Offline = Annotated[bool, typer.Option("--offline", help="Answer from the ledger alone; call no model.")]
KeepFailures = Annotated[
    bool,
    typer.Option(
        "--keep-failures", help="Take unusable replies of earlier runs as they are; ask for none anew."
    ),
]
ByBatch = Annotated[
    bool, typer.Option("--batch", help="By the provider's batch API: cheaper, and takes up to a day.")
]
BudgetCap = Annotated[
    str | None,
    typer.Option("--budget", help="Most to spend: 500calls, 200000tokens, 5usd, or several with commas."),
]
Deadline = Annotated[
    str | None,
    typer.Option("--deadline", help="Most time to take: 90s, 30m, 1h30m. Rows cut off are timeouts."),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before a large sum is spent.")]
ForecastOnly = Annotated[
    bool, typer.Option("--forecast", help="Show what would be asked and what it costs; call no model.")
]
Limit = Annotated[int | None, typer.Option("--limit", min=1, help="Take the first N rows only.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of everything that draws at random.")]
AsJson = Annotated[bool, typer.Option("--json", help="Summary as JSON on standard output.")]
Force = Annotated[bool, typer.Option("--force", help="Replace files that exist.")]
Strict = Annotated[bool, typer.Option("--strict", help="Exit with 5 if some rows could not be scored.")]
SYSTEM = "One of [systems], module:function, or a prompt of the built-in RAG: strict, bare, a .toml file."
AnsweredBy = Annotated[str | None, typer.Option("--system", help=SYSTEM)]
Model = Annotated[str | None, typer.Option("--model", help="transport/model, e.g. openai/gpt-4o-mini.")]
Output = Annotated[Path, typer.Option("-o", "--output", help="The file to write.")]
OutputPlace = Annotated[
    str,
    typer.Option(
        "-o", "--output", help="The file to write, or its URL; with / at its end a folder of shards."
    ),
]
Engine = Annotated[
    EngineKind | None,
    typer.Option("--engine", help="local: this process; ray: the workers of a cluster, see [engine]."),
]
DEFAULT_K = 10  # of `ragstone retrieve`: measures are shown to that depth
QuestionsFile = Annotated[Path | None, typer.Option("--questions", help="The evaluation set.")]
DocumentPaths = Annotated[
    list[Path] | None, typer.Option("--documents", help="Files or folders; may be repeated.")
]
ChunksFile = Annotated[
    Path | None, typer.Option("--chunks", help="Chunks of `ragstone chunk`, in place of cutting documents.")
]
RankingsFile = Annotated[
    Path | None,
    typer.Option("--rankings", help="Measure these, made elsewhere: rows or a TREC run; search nothing."),
]
Retriever = Annotated[
    str | None, typer.Option("--retriever", help="bm25, dense, hybrid, or one of [retrievers].")
]
K_HELP = f"How many results; default {DEFAULT_K}, or k of [retrieve] if larger."
TopK = Annotated[int | None, typer.Option("-k", min=1, help=K_HELP)]
Where = Annotated[
    list[str] | None, typer.Option("--where", help="Only chunks with this tag: TAG=VALUE; may be repeated.")
]
Match = Annotated[
    list[str] | None,
    typer.Option("--match", help="Only chunks with the question's own value of this tag; may be repeated."),
]
Method = Annotated[str | None, typer.Option("--method", help="How documents are cut: see ragstone chunk.")]
Size = Annotated[int | None, typer.Option("--size", min=1, help="Most characters in a chunk.")]
Embedder = Annotated[str | None, typer.Option("--embedder", help="For dense and hybrid.")]
Qrels = Annotated[
    Path | None, typer.Option("--qrels", help="TREC qrels: what is relevant, in place of the questions' own.")
]
Trec = Annotated[Path | None, typer.Option("--trec", help="Write a TREC run file too.")]
SeedOrSettings = Annotated[int | None, typer.Option("--seed", min=0, help="Seed of the intervals.")]
SeedOfRun = Annotated[
    int | None,
    typer.Option("--seed", min=0, help="Seed of everything that draws at random; default: that of [run]."),
]
BuildSources = Annotated[
    list[Path], typer.Argument(help="A file of documents or chunks; or files and folders to ingest.")
]
TestShare = Annotated[
    float | None, typer.Option("--test-share", min=0, max=1, help="Share set apart, by document.")
]
