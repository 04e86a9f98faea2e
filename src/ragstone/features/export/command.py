"""`ragstone export`: a run folder -> one table for other programs, or a run of MLflow."""

import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragstone.kernel.console.options import Force
from ragstone.kernel.console.printing import say

if TYPE_CHECKING:
    from ragstone.kernel.runs.joined import FinishedRun


def export(
    run: Annotated[Path, typer.Argument(help="A run folder, such as runs/starter.")],
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
    traces: Annotated[
        bool,
        typer.Option(
            "--traces", help="Also log each answer to MLflow as a trace, with its judgements as feedback."
        ),
    ] = False,
    system: Annotated[
        str | None,
        typer.Option("--system", help="Of .eval, .yaml and data: which system, where the run has several."),
    ] = None,
    organization: Annotated[
        str | None, typer.Option("--organization", help="Of data: whose system it is.")
    ] = None,
    dataset: Annotated[
        str | None, typer.Option("--dataset", help="Of .yaml: the benchmark on the Hub, OWNER/NAME.")
    ] = None,
    where: Annotated[
        str | None,
        typer.Option("--where", help='Rows to write, e.g. "correctness < 50 and lang = de".'),
    ] = None,
    force: Force = False,
) -> None:
    """Write a run as a table, as a record that other programs read, or log it to MLflow.

    Examples:

    - `ragstone export runs/mine table.csv`
    - `ragstone export runs/mine -o table.parquet`
    - `ragstone export runs/mine low.csv --where "correctness < 0.5 and not error ~ timeout"`
    - `ragstone export runs/mine mine.eval`
    - `ragstone export runs/mine data --organization "Example Farming"`
    - `ragstone export runs/mine --tracking-uri http://localhost:5000 --experiment rag`
    """
    from ragstone.features.export.mlflow import log_to_mlflow
    from ragstone.features.export.records import check_records, export_record, record_kind
    from ragstone.features.export.table import check_export, export_table
    from ragstone.kernel.errors import DataError
    from ragstone.kernel.runs.joined import read_run
    from ragstone.kernel.runs.wording import plural

    mlflow = mlflow or traces or bool(tracking_uri)
    outputs = list(dict.fromkeys([*(outputs or ()), *(output or ())]))
    if not outputs and not mlflow:
        raise DataError("Nothing to write. Name a file, e.g. results.csv, or give --mlflow.")
    records = [path for path in outputs if record_kind(path)]
    fields = {"system": system, "organization": organization, "dataset": dataset}
    if where is not None and len(records) == len(outputs):
        raise DataError("--where chooses the rows of a table. Name one, e.g. results.csv, or leave it out.")
    for path in outputs:
        if path not in records:
            check_export(path, force, run)
    finished = read_run(run)
    check_records(finished, records, **fields, force=force)
    for path in outputs:
        if path in records:
            record = export_record(finished, path, **fields, force=force)
            say(f"{record.paths[0]}: {plural(record.n, record.what)}.")
        else:
            say(f"{path}: {plural(export_table(finished, path, where=where, force=force), 'row')}.")
            _tell_cut_cells(finished, path, where)
    if mlflow:
        with redirect_stdout(sys.stderr):  # where MLflow says what its page of the run is
            there = log_to_mlflow(finished, tracking_uri=tracking_uri, experiment=experiment, traces=traces)
        done = "updated" if there.updated else "logged"
        added = f" {plural(there.n_feedback, 'judgement')} added to its traces." if traces else ""
        say(f"MLflow: run {there.run_id} of experiment {there.experiment} {done}.{added}")


def _tell_cut_cells(run: "FinishedRun", path: Path, where: str | None) -> None:
    """Say how many cells of a CSV Excel cuts."""
    from ragstone.features.export.table import n_cut_by_excel, table_of
    from ragstone.kernel.runs.wording import plural

    cut = n_cut_by_excel(table_of(run, where)) if path.suffix.lower() == ".csv" else 0
    if cut:
        say(f"Longer than Excel shows (32,767 characters): {plural(cut, 'cell')}; others read all.")
