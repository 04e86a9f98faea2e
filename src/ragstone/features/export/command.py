"""`ragstone export`: a run folder -> one table for other programs, or a run of MLflow."""

import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Annotated

import typer

from ragstone.kernel.console.options import Force
from ragstone.kernel.console.printing import say


def export(
    run: Annotated[Path, typer.Argument(help="A run folder, such as runs/starter.")],
    outputs: Annotated[
        list[Path] | None, typer.Argument(help="Files to write: .csv, .parquet or .jsonl.")
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
    where: Annotated[
        str | None,
        typer.Option("--where", help='Rows to write, e.g. "correctness < 50 and lang = de".'),
    ] = None,
    force: Force = False,
) -> None:
    """Write a run as one table with a row per question and system, or log it to MLflow.

    Examples:

    - `ragstone export runs/mine table.csv`
    - `ragstone export runs/mine -o table.parquet`
    - `ragstone export runs/mine low.csv --where "correctness < 0.5 and not error ~ timeout"`
    - `ragstone export runs/mine --tracking-uri http://localhost:5000 --experiment rag`
    """
    from ragstone.features.export.mlflow import log_to_mlflow
    from ragstone.features.export.table import check_export, export_table, n_cut_by_excel, table_of
    from ragstone.kernel.errors import DataError
    from ragstone.kernel.runs.joined import read_run
    from ragstone.kernel.runs.wording import plural

    mlflow = mlflow or bool(tracking_uri)
    outputs = list(dict.fromkeys([*(outputs or ()), *(output or ())]))
    if not outputs and not mlflow:
        raise DataError("Nothing to write. Name a file, e.g. results.csv, or give --mlflow.")
    if where is not None and not outputs:
        raise DataError("--where chooses the rows of a file. Name one, e.g. results.csv, or leave it out.")
    for path in outputs:
        check_export(path, force, run)
    finished = read_run(run)
    for path in outputs:
        say(f"{path}: {plural(export_table(finished, path, where=where, force=force), 'row')}.")
        cut = n_cut_by_excel(table_of(finished, where)) if path.suffix.lower() == ".csv" else 0
        if cut:
            say(f"Longer than Excel shows (32,767 characters): {plural(cut, 'cell')}; others read all.")
    if mlflow:
        with redirect_stdout(sys.stderr):  # where MLflow says what its page of the run is
            there = log_to_mlflow(finished, tracking_uri=tracking_uri, experiment=experiment)
        done = "updated" if there.updated else "logged"
        say(f"MLflow: run {there.run_id} of experiment {there.experiment} {done}.")
