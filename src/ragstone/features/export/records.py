"""A run -> records that other programs read: Inspect, Every Eval Ever, the Hugging Face Hub."""

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from ragstone.features.export import _eval_results as eval_results
from ragstone.features.export import _every_eval_ever as every_eval_ever
from ragstone.features.export._inspect_log import write_inspect_log
from ragstone.features.export._judged_system import JudgedSystem, judged_system, made_from
from ragstone.kernel.errors import ConfigError, checks_arguments, explaining
from ragstone.kernel.runs.joined import FinishedRun
from ragstone.kernel.tables import check_place, partial_path

RECORDS = {
    ".eval": "a log of Inspect",
    ".yaml": "results for the Hugging Face Hub",
    "data": "a folder of Every Eval Ever",
}
"""Ending of a file, or name of a folder, -> what is written there."""


class ExportedRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What was written. paths: the files. n: samples of a log, instances, or results for the Hub.

    what: these in a word.
    """

    paths: list[Path]
    n: int
    what: str


def record_kind(path: Path) -> str | None:
    """Return which of RECORDS a path names, None for none of them."""
    kind = path.suffix.lower() if path.suffix else path.name
    return ".yaml" if kind == ".yml" else kind if kind in RECORDS else None


@checks_arguments
def export_record(
    run: FinishedRun,
    path: Path | str,
    *,
    system: str | None = None,
    organization: str | None = None,
    dataset: str | None = None,
    force: bool = False,
) -> ExportedRecord:
    """Write one system of a run as a record of another program, and return what was written.

    path: `NAME.eval` for a log of Inspect, `NAME.yaml` for `.eval_results` of the Hugging Face Hub, a folder
    called `data` for Every Eval Ever. system: which one, where the run has several. organization: whose
    system it is, for Every Eval Ever; dataset: OWNER/NAME of the benchmark, for the Hub. Scales, numbers and
    intervals are the run's own; docs/how-to/export.md says what each format cannot hold. Raises DataError
    for a file that exists if `force` is not given, and for a run in which nothing was judged; ConfigError for
    a path of another kind, and where the organization or the benchmark is missing.
    """
    path = Path(path)
    kind, paths, judged = _plan(
        run, path, system=system, organization=organization, dataset=dataset, force=force
    )
    digest = made_from(run.folder)
    with explaining(f"{path}: could not be written", "Free some disk space, then run again."), _whole(paths):
        if kind == "data":
            n = every_eval_ever.write_every_eval_ever(judged, (paths[0], paths[1]), organization or "")
            return ExportedRecord(paths=[each for each in paths if each.is_file()], n=n, what="instance")
        if kind == ".eval":
            n, what = write_inspect_log(judged, partial_path(path), digest), "sample"
        else:
            n, what = eval_results.write_eval_results(judged, partial_path(path), dataset or ""), "result"
        partial_path(path).replace(path)
    return ExportedRecord(paths=paths, n=n, what=what)


def check_records(
    run: FinishedRun,
    paths: Sequence[Path],
    *,
    system: str | None,
    organization: str | None,
    dataset: str | None,
    force: bool,
) -> None:
    """Raise DataError or ConfigError as export_record would, before anything is written.

    Also where there are no paths, and options that are of records alone.
    """
    options = {"--system": system, "--organization": organization, "--dataset": dataset}
    given = [option for option, value in options.items() if value]
    if given and not paths:
        raise ConfigError(
            f"{', '.join(given)}: only for .eval, .yaml and data. Leave it out, or name one of these."
        )
    for path in paths:
        _plan(run, path, system=system, organization=organization, dataset=dataset, force=force)


def _plan(
    run: FinishedRun,
    path: Path,
    *,
    system: str | None,
    organization: str | None,
    dataset: str | None,
    force: bool,
) -> tuple[str, list[Path], JudgedSystem]:
    """Return the kind of the record, the files that it has, and what it is written from."""
    kind = record_kind(path)
    if kind is None:
        raise ConfigError(
            f"{path}: not a record. Name a file that ends in .eval or .yaml, or a folder called data."
        )
    judged = judged_system(run, system)
    paths = [path]
    if kind == ".yaml":
        eval_results.check_dataset(dataset)
    if kind == "data":
        if not organization or not any(letter.isalnum() for letter in organization):
            raise ConfigError(
                "Every Eval Ever names the organization behind a system. Give it with --organization, e.g. "
                "--organization 'Example Farming'."
            )
        paths = [*every_eval_ever.record_paths(judged, path, organization, made_from(run.folder))]
    for each in paths:
        check_place(each, force)
    return kind, paths, judged


@contextlib.contextmanager
def _whole(paths: list[Path]) -> Iterator[None]:
    """Within the block files are written beside their places; what an error leaves of them goes."""
    try:
        yield
    finally:
        for path in paths:
            partial_path(path).unlink(missing_ok=True)
