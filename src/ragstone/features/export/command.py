"""`ragstone export`: a run folder -> tables and records for other programs, MLflow, events of OTLP."""

import sys
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragstone.kernel.console.options import Force
from ragstone.kernel.console.printing import say
from ragstone.kernel.errors import DataError, plural

if TYPE_CHECKING:
    from ragstone.kernel.runs.joined import FinishedRun
    from ragstone.kernel.tables import Rows


def export(
    run: Annotated[
        Path,
        typer.Argument(help="A run folder, such as runs/starter; for --otlp also a file of judgements."),
    ],
    outputs: Annotated[
        list[Path] | None,
        typer.Argument(
            help="What to write: a table (.csv, .parquet, .jsonl), a log of Inspect (.eval), results for the "
            "Hugging Face Hub (.yaml), a folder `data` of Every Eval Ever."
        ),
    ] = None,
    *,
    output: Annotated[
        list[Path] | None, typer.Option("-o", "--output", help="The same; may be repeated.")
    ] = None,
    mlflow: Annotated[
        bool, typer.Option("--mlflow", help="Log the run to MLflow: numbers, table and report.")
    ] = False,
    tracking_uri: Annotated[
        str | None,
        typer.Option("--tracking-uri", help="Address of the MLflow store; default: MLFLOW_TRACKING_URI."),
    ] = None,
    experiment: Annotated[
        str | None,
        typer.Option(
            "--experiment", help="MLflow experiment; default: MLFLOW_EXPERIMENT_NAME, else ragstone."
        ),
    ] = None,
    otlp: Annotated[
        str | None,
        typer.Option(
            "--otlp",
            metavar="URL",
            help="Send each judgement as a log event to this OpenTelemetry collector, e.g. "
            "http://localhost:4318. What was sent before is not sent again, except with --force.",
        ),
    ] = None,
    answers: Annotated[
        Path | None,
        typer.Option("--answers", help="For --otlp: the answers whose traces the events belong to."),
    ] = None,
    traces: Annotated[
        bool,
        typer.Option(
            "--traces", help="Also log each answer to MLflow as a trace, with its judgements as feedback."
        ),
    ] = False,
    system: Annotated[
        str | None,
        typer.Option("--system", help="For .eval, .yaml and data: which system, if the run has several."),
    ] = None,
    organization: Annotated[
        str | None,
        typer.Option("--organization", help="For data: whose system it is, e.g. 'Example Farming'."),
    ] = None,
    dataset: Annotated[
        str | None, typer.Option("--dataset", help="For .yaml: the benchmark on the Hub, OWNER/NAME.")
    ] = None,
    where: Annotated[
        str | None,
        typer.Option("--where", help='Rows to write, e.g. "correctness < 50 and lang = de".'),
    ] = None,
    view: Annotated[
        str | None,
        typer.Option("--view", help="A saved view, whose rows, order and columns are written (views/)."),
    ] = None,
    force: Force = False,
) -> None:
    """Write a run as a table or a record for other programs, log it to MLflow, or send its judgements.

    Examples:

    - `ragstone export runs/mine table.csv`
    - `ragstone export runs/mine -o table.parquet`
    - `ragstone export runs/mine low.csv --where "correctness < 50 and not error ~ timeout"`
    - `ragstone export runs/mine low.csv --view "low scores"`
    - `ragstone export runs/mine mine.eval`
    - `ragstone export runs/mine data --organization "Example Farming"`
    - `ragstone export runs/mine --tracking-uri http://localhost:5000 --experiment rag`
    - `ragstone export judgements.jsonl --otlp http://localhost:4318`
    """
    from ragstone.features.export._collector import endpoint_of
    from ragstone.features.export.records import check_records, export_record, record_kind
    from ragstone.features.export.table import check_export, table_of, write_table
    from ragstone.kernel.runs.joined import read_run

    mlflow = mlflow or traces or bool(tracking_uri)
    outputs = list(dict.fromkeys([*(outputs or ()), *(output or ())]))
    if not outputs and not mlflow and otlp is None:
        raise DataError("Nothing to write. Name a file, e.g. results.csv, or give --mlflow or --otlp.")
    records = [path for path in outputs if record_kind(path)]
    fields = {"system": system, "organization": organization, "dataset": dataset}
    _check_options(where, view, answers, otlp, has_table=len(records) < len(outputs))
    if otlp is not None:
        endpoint_of(otlp)  # an address that is none is told before anything is written
    if otlp is not None and not outputs and not mlflow:
        _send(run, otlp, answers, anew=force)
        return
    for path in outputs:
        if path not in records:
            check_export(path, force, run)
    finished = read_run(run)
    check_records(finished, records, **fields, force=force)
    table = cache(lambda: table_of(finished, where, view))
    for path in outputs:
        if path in records:
            record = export_record(finished, path, **fields, force=force)
            say(f"{record.paths[0]}: {plural(record.n, record.what)}.")
        else:
            say(f"{path}: {plural(write_table(table(), path, force=force, folder=run), 'row')}.")
            _tell_cut_cells(table(), path)
    if mlflow:
        _log(finished, tracking_uri, experiment, traces=traces)
    if otlp is not None:
        _send(run, otlp, answers, anew=force)


def _check_options(
    where: str | None, view: str | None, answers: Path | None, otlp: str | None, *, has_table: bool
) -> None:
    """Raise DataError for an option without what it is about."""
    for option, value in (("--where", where), ("--view", view)):
        if value is not None and not has_table:
            raise DataError(
                f"{option} chooses the rows of a table. Name one, e.g. results.csv, or leave it out."
            )
    if where is not None and view is not None:
        raise DataError("--view has its own filter: give --where or --view, not both.")
    if answers is not None and otlp is None:
        raise DataError("--answers says which traces the events belong to: give it with --otlp.")


def _log(run: "FinishedRun", tracking_uri: str | None, experiment: str | None, *, traces: bool) -> None:
    """Log a run to MLflow, and tell where it is."""
    from ragstone.features.export.mlflow import log_to_mlflow

    with redirect_stdout(sys.stderr):  # where MLflow says what its page of the run is
        there = log_to_mlflow(run, tracking_uri=tracking_uri, experiment=experiment, traces=traces)
    done = "updated" if there.updated else "logged"
    added = f" {plural(there.n_feedback, 'judgement')} added to its traces." if traces else ""
    say(f"MLflow: run {there.run_id} of experiment {there.experiment} {done}.{added}")


def _send(source: Path, url: str, answers: Path | None, *, anew: bool) -> None:
    """Send the events of judgements, and tell what became of them. Raises DataError for rejected ones."""
    from ragstone.features.export.events import send_judgements
    from ragstone.kernel.console.bars import bars

    outcome = send_judgements(source, url, answers=answers, anew=anew, progress=bars)
    if outcome.sent or not outcome.before:
        say(f"{outcome.url}: {plural(outcome.sent, 'event')} sent.")
    if outcome.before:
        say(f"{plural(outcome.before, 'event')} had been sent there before; --force sends them again.")
    if outcome.cut:
        say(f"{plural(outcome.cut, 'text')} longer than 32,000 characters: only the beginning was sent.")
    if outcome.rejected:
        raise DataError(
            f"{outcome.url}: the collector rejected {outcome.rejected:,} of "
            f"{plural(outcome.sent + outcome.before, 'event')} ({outcome.message or 'it does not say why'}). "
            "OTLP forbids sending these again: change what it accepts, then export with --force."
        )


def _tell_cut_cells(table: "Rows[dict[str, Any]]", path: Path) -> None:
    """Say how many cells of a CSV Excel cuts."""
    from ragstone.features.export.table import n_cut_by_excel

    cut = n_cut_by_excel(table) if path.suffix.lower() == ".csv" else 0
    if cut:
        say(f"Longer than Excel shows (32,767 characters): {plural(cut, 'cell')}; other programs show all.")
