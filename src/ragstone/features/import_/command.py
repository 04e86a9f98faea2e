"""`ragstone import`: evaluation sets of others -> questions; their verdicts and traces -> rows of ours."""

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from ragstone.kernel.console.bars import bars
from ragstone.kernel.console.columns import TraceWhere, reads_rows
from ragstone.kernel.console.options import AsJson, Force, Limit
from ragstone.kernel.console.printing import UNSCORED, counts_line, say, show_json
from ragstone.kernel.errors import ConfigError, plural

if TYPE_CHECKING:
    from ragstone.features.import_._verdicts import ImportedVerdicts
    from ragstone.features.import_.summary import ImportSummary

SHOWN_TAGS = 8
VERDICTS = "verdicts"

Sources = Annotated[
    list[Path], typer.Argument(help="Files, or a folder in BEIR's layout; several sources make one set.")
]
Folder = Annotated[
    Path,
    typer.Option(
        "-o", "--output", help="The folder to write to; for verdicts also a file, for judgements alone."
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        help="table, squad, beir, trec, faq, hotpotqa, ragas, deepeval, phoenix, langfuse, documents or "
        "verdicts; default: detected from the content.",
    ),
]
Columns = Annotated[
    list[str] | None,
    typer.Option("--column", help="FIELD=COLUMN, e.g. question=Frage or tags.topic=Thema; may be repeated."),
]
Split = Annotated[
    str | None, typer.Option("--split", help="Split of a BEIR folder; default: test, else the only one.")
]
DropRepeats = Annotated[
    bool, typer.Option("--drop-repeats", help="Leave out questions that repeat an earlier one.")
]
Conversations = Annotated[
    bool,
    typer.Option(
        "--conversations", help="Gather the exchanges of a log into conversations: conversations.jsonl."
    ),
]
Strict = Annotated[
    bool, typer.Option("--strict", help="Exit with code 5 if a row was skipped or a verdict has no score.")
]


@reads_rows
def import_(
    sources: Sources,
    *,
    output: Folder = Path("imported"),
    format_: Format = None,
    column: Columns = None,
    split: Split = None,
    limit: Limit = None,
    drop_repeats: DropRepeats = False,
    conversations: Conversations = False,
    where: TraceWhere = None,
    strict: Strict = False,
    force: Force = False,
    json: AsJson = False,
) -> None:
    """Turn existing evaluation sets into questions and documents: tables, SQuAD, BEIR, TREC, FAQ.

    Verdicts of other tools' evaluators become judgements, those of people become labels, and what they judge
    becomes answers: evaluation events of OpenTelemetry, evaluator spans of OpenInference, annotations of
    Phoenix, scores of Langfuse, feedback of LangSmith, assessments of MLflow, results of Azure, Inspect,
    promptfoo, deepeval, ragas and Every Eval Ever. Spans and log events without verdicts become answers.

    Examples:

    - `ragstone import squad-dev.json`
    - `ragstone import faq.xlsx -o imported --column question=Frage`
    - `ragstone import traces.jsonl scores.jsonl -o verdicts`
    - `ragstone import vendor.jsonl -o judgements.jsonl`
    - `ragstone import log/ --conversations`
    """
    if conversations:
        odd = {"--format": format_, "--column": column, "--split": split, "--drop-repeats": drop_repeats}
        _gather(
            sources, output, limit, [name for name, value in odd.items() if value], force=force, json=json
        )
        return
    if format_ in (None, VERDICTS):
        of_sets = (
            ("--column", column),
            ("--split", split),
            ("--limit", limit),
            ("--drop-repeats", drop_repeats),
        )
        used = [name for name, value in of_sets if value]
        if _import_verdicts(
            sources, output, used, forced=format_ == VERDICTS, strict=strict, force=force, json=json
        ):
            return
    if where is not None:
        raise ConfigError("--where chooses among traces, but these sources contain none. Leave it out.")
    from ragstone.features.import_._rows import ImportOptions, parse_columns
    from ragstone.features.import_.importing import import_to_folder

    options = ImportOptions(columns=parse_columns(column or ()), split=split, limit=limit)
    with bars("import", limit) as advance:
        summary = import_to_folder(
            sources,
            output,
            options,
            format=format_,
            drop_repeats=drop_repeats,
            force=force,
            advance=advance,
        )
    if json:
        show_json(summary)
    else:
        for line in _summary_lines(summary):
            say(line)
    if strict and summary.n_skipped:
        raise typer.Exit(UNSCORED)


def _gather(
    sources: list[Path], output: Path, limit: int | None, odd: list[str], *, force: bool, json: bool
) -> None:
    """Write the conversations of logs. odd: the options that are of no use here."""
    from ragstone.features.import_._gathering import GatheredOutput, import_conversations

    if odd:
        raise ConfigError(f"{odd[0]} is for evaluation sets, not for --conversations. Leave it out.")
    n_written, target = import_conversations(sources, output, limit=limit, force=force)
    if json:
        show_json(GatheredOutput(conversations=n_written, output=str(target)))
    else:
        next_step = f"ragstone judge {quote(str(target))} --each-turn --model MODEL"
        say(f"{plural(n_written, 'conversation')} in {target}. Next: {next_step}")


def _import_verdicts(
    sources: list[Path], output: Path, odd: list[str], *, forced: bool, strict: bool, force: bool, json: bool
) -> bool:
    """Write the verdicts of other tools, where the sources hold some, and say whether they do."""
    from ragstone.features.import_._verdicts import import_verdicts, rows_with_verdicts
    from ragstone.kernel.errors import DataError

    rows = rows_with_verdicts(sources)
    if rows is None:
        if forced:
            raise DataError(
                f"{', '.join(map(str, sources))}: no verdict of a known tool was found. `ragstone import "
                "--help` lists the tools."
            )
        return False
    if odd:
        raise ConfigError(f"{odd[0]} is for evaluation sets, and these are verdicts. Leave it out.")
    imported = import_verdicts(rows, sources, output, force=force)
    if json:
        show_json(imported)
    else:
        for line in _verdict_lines(imported):
            say(line)
    if strict and any(status != "scored" for status in imported.statuses):
        raise typer.Exit(UNSCORED)
    return True


def _verdict_lines(imported: "ImportedVerdicts") -> list[str]:
    lines = []
    if imported.judges:
        n = sum(imported.judges.values())
        lines.append(f"{plural(n, 'judgement')}: {counts_line(imported.judges)}")
        lines.append(f"  status: {counts_line({str(status): n for status, n in imported.statuses.items()})}")
    if imported.n_labels:
        who = f", {plural(len(imported.annotators), 'annotator')}" if imported.annotators else ""
        lines.append(f"{plural(imported.n_labels, 'label')} by people{who}")
    if imported.n_answers:
        lines.append(plural(imported.n_answers, "answer"))
    lines.append(f"In {', '.join(imported.output)}.")
    if imported.not_written:
        rest = counts_line(imported.not_written)
        lines.append(f"Not written: {rest}. To write them too, name a folder: -o imported.")
    return lines


def _summary_lines(summary: "ImportSummary") -> list[str]:
    from ragstone.features.import_.summary import remark_text

    read = ", ".join(f"{path} ({name})" for path, name in summary.formats.items())
    lines = [*map(remark_text, summary.remarks), *_repeats(summary), *_missing(summary)]
    lines.append(f"{plural(summary.n_questions, 'question')} from {read}, in {', '.join(summary.output)}.")
    lines += [f"{path} belonged to another set: it is now {path}.old." for path in summary.set_aside]
    counts = {
        "with a reference": summary.n_with_reference,
        "with evidence": summary.n_with_evidence,
        "not answerable": summary.n_unanswerable,
    }
    if summary.n_documents:
        lines.append(f"  documents: {summary.n_documents:,}")
    of_all = " (of all, before repeats were dropped)" if summary.n_dropped else ""
    lines.append(f"  {counts_line(counts)}{of_all}")
    lines.append(f"  languages: {counts_line(summary.languages)}")
    if summary.tags:
        lines.append(f"  tags: {counts_line(dict(list(summary.tags.items())[:SHOWN_TAGS]))}")
    if summary.n_skipped:
        lines.append(f"  skipped: {summary.n_skipped:,}, as listed above")
    return lines


def _repeats(summary: "ImportSummary") -> list[str]:
    few = (
        []
        if summary.near_repeats_sought
        else ["repeats in other words were not looked for: there are too many questions."]
    )
    if not summary.repeats:
        return few
    n_near = sum(not row.exact for row in summary.repeats)
    first = summary.repeats[0]
    done = "left out" if summary.n_dropped else "kept; --drop-repeats leaves them out"
    repeat = "repeats" if len(summary.repeats) == 1 else "repeat"
    return [
        f"{plural(len(summary.repeats), 'question')} {repeat} an earlier one ({n_near:,} in other words), "
        f"e.g. {first.id} repeats {first.of}: {done}.",
        *few,
    ]


def _missing(summary: "ImportSummary") -> list[str]:
    if not summary.missing_documents:
        return []
    n = len(summary.missing_documents)
    return [
        f"{plural(n, 'document')} that questions name {'is' if n == 1 else 'are'} not in the source, e.g. "
        f"{summary.missing_documents[0]!r}: no retriever can find such a document."
    ]
