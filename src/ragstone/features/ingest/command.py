"""`ragstone ingest`: files, folders and archives -> documents."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Literal, cast, get_args

import typer

from ragstone.kernel.console.asking import load_for
from ragstone.kernel.console.bars import bars
from ragstone.kernel.console.options import AsJson, Config, Engine, Force, OutputPlace
from ragstone.kernel.console.printing import counts_line, say, show_json
from ragstone.kernel.console.repeating import repeatable
from ragstone.kernel.errors import plural

if TYPE_CHECKING:
    from ragstone.features.ingest._ingesting import IngestOutput, IngestSummary
    from ragstone.kernel.corpus.duplicates import Duplicate
    from ragstone.kernel.corpus.file import Field, IngestOptions, Skipped

ONE_BY_ONE = 5  # files with the same reason that are named; of more, the first and their number


Sources = Annotated[
    list[str],
    typer.Argument(
        help="Files, folders, .zip archives, URLs, git addresses (https://…/NAME.git), or patterns such as "
        "'src/**/*.{py,md}'."
    ),
]
Glob = Annotated[
    list[str] | None,
    typer.Option("--glob", help="In folders, only files that match, whatever their ending; may be repeated."),
]
Tables = Annotated[
    Literal["rows", "whole"],
    typer.Option("--tables", help="For CSV, XLSX and JSONL: one document per row, or one per table."),
]
Columns = Annotated[
    list[str] | None,
    typer.Option("--column", help="FIELD=COLUMN, e.g. text=Answer; fields: id, text, title, lang, source."),
]
Duplicates = Annotated[
    Literal["report", "drop", "ignore"],
    typer.Option(
        "--duplicates", help="Documents that repeat an earlier one: report them, drop them, or do not check."
    ),
]
MaxFile = Annotated[int, typer.Option("--max-file-mb", min=1, help="Skip files that are larger than this.")]
WithoutExtras = Annotated[
    bool,
    typer.Option("--without-extras", help="Skip files that need a package which is not installed."),
]
Processes = Annotated[
    int | None,
    typer.Option(
        "--processes", min=1, help="Processes that read files; default: one per core where it helps."
    ),
]


@repeatable(grows=["sources"])
def ingest(
    sources: Sources,
    *,
    output: OutputPlace = "documents.jsonl",
    glob: Glob = None,
    tables: Tables = "rows",
    column: Columns = None,
    duplicates: Duplicates = "report",
    max_file_mb: MaxFile = 200,
    without_extras: WithoutExtras = False,
    processes: Processes = None,
    engine: Engine = None,
    config: Config = None,
    force: Force = False,
    json: AsJson = False,
) -> None:
    """Turn files into documents: text, Markdown, HTML, PDF, Word, PowerPoint, Excel, CSV, JSONL, code.

    Examples:

    - `ragstone ingest handbook/ -o documents.jsonl`
    - `ragstone ingest src/ --glob "*.py" --glob "*.md"`
    """
    from ragstone.features.ingest._ingesting import ingest_to_file
    from ragstone.kernel.corpus.file import IngestOptions
    from ragstone.kernel.errors import DataError

    options = IngestOptions(
        glob=glob or (),
        tables=tables,
        columns=_columns(column or ()),
        duplicates=duplicates,
        max_file_mb=max_file_mb,
        without_extras=without_extras,
        processes=processes,
    )
    settings = load_for(config, engine)
    summary = ingest_to_file(sources, output, options, settings, force=force, progress=bars)
    if json:
        show_json(_summary(summary, options, output))
    else:
        for line in _told(summary, options, output):
            say(line)
    if not summary.n_documents:
        why = "every file was skipped, as listed above" if summary.skipped else "the sources contain no file"
        raise DataError(f"no documents: {why}. {output} was not written.")


def _columns(written: Iterable[str]) -> "dict[Field, str | list[str]]":
    """Return field -> columns. Raises ConfigError."""
    from ragstone.kernel.corpus.file import Field
    from ragstone.kernel.errors import ConfigError

    columns: dict[Field, str | list[str]] = {}
    for text in written:
        field, equals, name = text.partition("=")
        if field not in get_args(Field) or not (equals and name):
            raise ConfigError(
                f"--column {text}: write FIELD=COLUMN with a field of {', '.join(get_args(Field))}, "
                "e.g. --column text=Answer"
            )
        before = columns.get(cast("Field", field))
        columns[cast("Field", field)] = (
            name if before is None else [*([before] if isinstance(before, str) else before), name]
        )
    return columns


def _summary(summary: "IngestSummary", options: "IngestOptions", output: str) -> "IngestOutput":
    from ragstone.features.ingest._ingesting import IngestOutput

    return IngestOutput(
        documents=summary.n_documents,
        formats=summary.formats,
        languages=summary.languages,
        skipped=summary.skipped,
        reasons=dict(Counter(file.reason for file in summary.skipped).most_common()),
        duplicates=summary.duplicates,
        dropped=len(summary.duplicates) if options.duplicates == "drop" else 0,
        output=output if summary.n_documents else None,
    )


def _told(summary: "IngestSummary", options: "IngestOptions", output: str) -> list[str]:
    lines = [*_skipped_lines(summary.skipped), *_duplicate_lines(summary.duplicates, options)]
    if summary.n_documents:
        lines += [
            f"{plural(summary.n_documents, 'document')} in {output}.",
            f"  formats: {counts_line(summary.formats)}",
            f"  languages: {counts_line(summary.languages)}",
        ]
    if summary.skipped:
        lines.append(f"  skipped: {len(summary.skipped):,}, as listed above")
    return lines


def _skipped_lines(skipped: "Sequence[Skipped]") -> list[str]:
    """Return a line for each file, but one for many files that were skipped for the same reason."""
    reasons = Counter(file.reason for file in skipped)
    lines = [f"skipped {file.path}: {file.reason}" for file in skipped if reasons[file.reason] <= ONE_BY_ONE]
    for reason, n_files in reasons.most_common():
        if n_files > ONE_BY_ONE:
            first = next(file.path for file in skipped if file.reason == reason)
            lines.append(f"skipped {first} and {n_files - 1:,} more: {reason}")
    return lines


def _duplicate_lines(duplicates: "Sequence[Duplicate]", options: "IngestOptions") -> list[str]:
    if not duplicates:
        return []
    n_near = sum(duplicate.similarity < 1 for duplicate in duplicates)
    first = duplicates[0]
    done = "left out" if options.duplicates == "drop" else "kept; --duplicates drop leaves them out"
    repeat = "repeats" if len(duplicates) == 1 else "repeat"
    return [
        f"{plural(len(duplicates), 'document')} {repeat} an earlier one ({n_near:,} nearly), e.g. {first.id} "
        f"repeats {first.of}: {done}."
    ]
