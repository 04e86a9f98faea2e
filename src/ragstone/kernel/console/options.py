"""The options that several commands share: one meaning, one help text."""

from pathlib import Path
from typing import Annotated

import typer

from ragstone.kernel.config import EngineKind

Config = Annotated[
    Path | None,
    typer.Option("--config", help="Settings file; default: ragstone.toml in this folder, if there is one."),
]
Offline = Annotated[bool, typer.Option("--offline", help="Answer only from the ledger; call no model.")]
KeepFailures = Annotated[
    bool,
    typer.Option("--keep-failures", help="Keep unusable replies of earlier runs; do not ask for them again."),
]
MaskToo = Annotated[
    bool, typer.Option("--mask", help="Show models placeholders instead of personal data, see [privacy].")
]
Bounds = Annotated[
    bool,
    typer.Option(
        "--bounds",
        help=(
            "Show each mean's worst and best case, with its failed rows at the lowest or the highest score; "
            "without this option, only where more than 5 % failed."
        ),
    ),
]
ByBatch = Annotated[
    bool, typer.Option("--batch", help="Use the provider's batch API: cheaper, but takes up to a day.")
]
BudgetCap = Annotated[
    str | None,
    typer.Option(
        "--budget", help="Spend at most this: 500calls, 200000tokens, 5usd, or several with commas."
    ),
]
Deadline = Annotated[
    str | None,
    typer.Option(
        "--deadline", help="Stop after this time: 90s, 30m, 1h30m. Rows not finished by then are timeouts."
    ),
]
Yes = Annotated[
    bool,
    typer.Option(
        "--yes",
        "-y",
        help="Do not ask for confirmation before spending a large sum. Without --budget, forecast nothing.",
    ),
]
ForecastOnly = Annotated[
    bool,
    typer.Option("--forecast", help="Show how many calls it would make and what they cost; call no model."),
]
Limit = Annotated[int | None, typer.Option("--limit", min=1, help="Use only the first N rows.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of all random choices.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")]
Whole = Annotated[
    bool, typer.Option("--all", help="Show everything, not only what fits on a screen of 25 lines.")
]
Trust = Annotated[
    bool, typer.Option("--trust", help="Run the Python code that judge files outside this project name.")
]
Force = Annotated[bool, typer.Option("--force", help="Replace existing files.")]
Strict = Annotated[bool, typer.Option("--strict", help="Exit with code 5 if some rows could not be scored.")]
SYSTEM = "One of [systems], module:function, or a prompt for the built-in RAG: strict, bare, or a .toml file."
AnsweredBy = Annotated[str | None, typer.Option("--system", help=SYSTEM)]
Model = Annotated[
    str | None, typer.Option("--model", help="The model to use: transport/model, e.g. openai/gpt-4o-mini.")
]
Output = Annotated[Path, typer.Option("-o", "--output", help="The file to write.")]
OutputPlace = Annotated[
    str,
    typer.Option(
        "-o", "--output", help="The file to write, or its URL; end with / to write a folder of shards."
    ),
]
Engine = Annotated[
    EngineKind | None,
    typer.Option("--engine", help="local: run in this process; ray: on a Ray cluster, see [engine]."),
]
QuestionsFile = Annotated[Path | None, typer.Option("--questions", help="The evaluation set.")]
DocumentPaths = Annotated[
    list[Path] | None, typer.Option("--documents", help="Files or folders; may be repeated.")
]
Retriever = Annotated[
    str | None, typer.Option("--retriever", help="bm25, dense, hybrid, shortlist, or one of [retrievers].")
]
SeedOfRun = Annotated[
    int | None,
    typer.Option("--seed", min=0, help="Seed of all random choices; default: seed in [run]."),
]
JudgementsFile = Annotated[Path, typer.Argument(help="The judges' scores: a file of judgements, or a run.")]
