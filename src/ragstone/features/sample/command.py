"""`ragstone sample`: a log of what people asked -> questions."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ragstone.kernel.console.bars import bars
from ragstone.kernel.console.columns import TraceWhere, reads_rows
from ragstone.kernel.console.options import AsJson, Config, Force, Limit, Seed, Strict
from ragstone.kernel.console.printing import UNSCORED, say, show, show_json
from ragstone.kernel.console.repeating import repeatable
from ragstone.kernel.errors import ConfigError, plural

if TYPE_CHECKING:
    from ragstone.features.sample.drawing import GroupShare
    from ragstone.features.sample.sampling import SampleSummary

SHOWN_GROUPS = 20

Logs = Annotated[
    list[Path], typer.Argument(help="Files or folders: JSONL, JSON, CSV, TSV, Parquet; also .gz and rotated.")
]
Output = Annotated[
    Path, typer.Option("-o", "--output", help="The questions file to write; answers go next to it.")
]
Count = Annotated[int, typer.Option("--count", min=1, help="Number of questions.")]
By = Annotated[
    Literal["topic", "tag", "random", "rarity", "frequency", "quality"],
    typer.Option(
        "--by",
        help="Choose a share of each topic or of each value of the tags, at random, the rarest, the most "
        "asked, or the worst.",
    ),
]
Topics = Annotated[
    int | None,
    typer.Option("--topics", min=1, help="For --by topic: number of topics; default: chosen from the log."),
]
Embedder = Annotated[
    str | None,
    typer.Option(
        "--embedder", help="Compare questions by this embedder's vectors instead of by shared terms."
    ),
]
QuestionColumn = Annotated[str | None, typer.Option("--question", help="Column of the question.")]
AnswerColumn = Annotated[str | None, typer.Option("--answer", help="Column of the answer.")]
Quality = Annotated[
    str | None, typer.Option("--quality", help="Column of people's feedback, or a metric of --judgements.")
]
Judgements = Annotated[
    Path | None,
    typer.Option("--judgements", help="Judgements of the log's answers, to use as their quality."),
]
Reference = Annotated[str | None, typer.Option("--reference", help="Column of corrected answers.")]
Tag = Annotated[
    list[str] | None,
    typer.Option(
        "--tag", help="Column that becomes a tag, or `month` for the month of the time; may be repeated."
    ),
]
Time = Annotated[str | None, typer.Option("--time", help="Column of the time, for --tag month.")]
Keep = Annotated[
    bool, typer.Option("--keep-personal-data", help="Do not mask personal data in the files written.")
]
Feedback = Annotated[
    bool,
    typer.Option(
        "--feedback",
        help="Turn users' thumbs and corrections into labels, questions and a queue to label (--count rows).",
    ),
]
Labels = Annotated[
    Path | None,
    typer.Option("--labels", help="For --feedback: the labelled queue, for the share of right answers."),
]
AnsweredBy = Annotated[
    list[Path] | None,
    typer.Option("--run", help="For --feedback: a run with the corrected questions; may be repeated."),
]


@repeatable("sample")
@reads_rows
def sample(
    log: Logs,
    *,
    output: Output = Path("sampled/questions.jsonl"),
    count: Count = 200,
    by: By = "topic",
    topics: Topics = None,
    embedder: Embedder = None,
    question: QuestionColumn = None,
    answer: AnswerColumn = None,
    quality: Quality = None,
    judgements: Judgements = None,
    reference: Reference = None,
    tag: Tag = None,
    time: Time = None,
    feedback: Feedback = False,
    labels: Labels = None,
    run: AnsweredBy = None,
    keep_personal_data: Keep = False,
    limit: Limit = None,
    where: TraceWhere = None,  # noqa: ARG001 - reads_rows lets it hold
    seed: Seed = 0,
    config: Config = None,
    force: Force = False,
    strict: Strict = False,
    json: AsJson = False,
) -> None:
    """Take a sample of questions from a log, without repeats and with personal data masked.

    Examples:

    - `ragstone sample log.jsonl --count 100`
    - `ragstone sample log.csv --by quality --quality thumbs`
    - `ragstone sample log.jsonl --by tag --tag crop --tag month --count 700`
    - `ragstone sample logs --feedback -o feedback/questions.jsonl`
    """
    from ragstone.features.sample.sampling import answers_beside, sample_log
    from ragstone.kernel.config import load_settings
    from ragstone.kernel.tables import check_output, keep_sources

    read: dict[str, Any] = {
        "question": question,
        "answer": answer,
        "quality": quality,
        "reference": reference,
        "limit": limit,
        "seed": seed,
        "keep_personal_data": keep_personal_data,
        "settings": load_settings(config),
    }
    if keep_personal_data:
        say("Personal data is kept (--keep-personal-data): the files may hold names, numbers and passwords.")
    if feedback:
        _check_unused(
            {
                "--by": by != "topic",
                "--topics": topics,
                "--embedder": embedder,
                "--judgements": judgements,
                "--tag": tag,
                "--time": time,
            },
            "it is not for --feedback. Leave it out.",
        )
        from ragstone.features.sample._feedback_command import tell_feedback

        tell_feedback(log, output, count, labels, run or (), read, force=force, json=json, strict=strict)
        return
    _check_unused({"--labels": labels, "--run": run}, "it is for --feedback. Add --feedback.")
    sheet = answers_beside(output)
    keep_sources([output, sheet], log)
    check_output(output, force)
    check_output(sheet, force)
    sampled = sample_log(
        log,
        count,
        by=by,
        topics=topics,
        embedder=embedder,
        judgements=judgements,
        tags=tag or (),
        time=time,
        progress=bars,
        **read,
    )
    files = sampled.write(output, force=force)
    _show_summary(sampled.summary, files, json=json, strict=strict)


def _check_unused(options: dict[str, object], why: str) -> None:
    """Raise ConfigError for the first option that was given."""
    for name, value in options.items():
        if value:
            raise ConfigError(f"{name}: {why}")


def _show_summary(summary: "SampleSummary", files: str, *, json: bool, strict: bool) -> None:
    """Show what the log held, what was taken and is in files, and what to know before trusting it.

    Exits with UNSCORED where strict is set and something is missing.
    """
    if json:
        show_json(summary)
    else:
        _show_counts(summary)
    _say_losses(summary)
    say(files)
    if strict and (summary.missing or summary.log.malformed):
        raise typer.Exit(UNSCORED)


def _show_counts(summary: "SampleSummary") -> None:
    """Show what the log held and what was taken."""
    log = summary.log
    show(
        f"{log.n_rows:9,}  {_noun(log.n_rows, 'row')} of the log",
        f"{log.n_questions:9,}  different {_noun(log.n_questions, 'question')} that can be asked alone; "
        f"repeated by {plural(log.repeats, 'row')} ({log.nearly:,} nearly)",
    )
    for why, n in {"without a question": log.without_question, **_left_out_rows(log.left_out)}.items():
        if n:
            show(f"{n:9,}  rows {why}, left out")
    _show_groups(summary.topics, "about", "topics")
    _show_groups(summary.cells, "with", "cells")
    show("languages: " + ", ".join(f"{n:,} {lang}" for lang, n in summary.languages.items()))
    if summary.masked is not None:
        masked = ", ".join(f"{n:,} {kind}" for kind, n in summary.masked.items())
        show(f"masked in the sample: {masked or 'nothing'}")


def _show_groups(groups: "list[GroupShare]", of: str, noun: str) -> None:
    for group in groups[:SHOWN_GROUPS]:
        show(f"{group.taken:9,}  of {plural(group.n_questions, 'question')} {of} {group.name}")
    if len(groups) > SHOWN_GROUPS:
        show(f"{'':9}  and {len(groups) - SHOWN_GROUPS} {noun} more")


def _left_out_rows(left_out: dict[str, int]) -> dict[str, int]:
    reasons = {
        "small_talk": "that greet, thank, or say yes or no",
        "follow_up": "that continue what was said before",
        "nothing_asked": "without a letter",
        "too_long": "that are longer than a question",
    }
    return {reasons[why]: n for why, n in left_out.items()}


def _say_losses(summary: "SampleSummary") -> None:
    """Say what a reader must know before trusting the sample."""
    log = summary.log
    if log.malformed:
        say(f"{plural(log.malformed, 'row')} cannot be read. The first:\n" + "\n".join(log.shown))
    if log.unread_quality:
        say(f"In {plural(log.unread_quality, 'row')} the quality is not a number, a thumb, or yes or no.")
    if summary.without_quality:
        say(f"Not considered, without a quality: {plural(summary.without_quality, 'question')}.")
    if summary.ungrouped:
        say(f"Left out at random before the topics were made: {plural(summary.ungrouped, 'question')}.")
    if summary.unspoken:
        say(
            f"Nothing was taken from topics or cells with {plural(summary.unspoken, 'row')}: the weights "
            "leave them out. Take more with --count."
        )
    if summary.missing:
        say(f"Missing: {summary.missing:,} of {plural(summary.wanted, 'question')}. The log has no more.")


def _noun(number: int, noun: str) -> str:
    return noun if number == 1 else f"{noun}s"
