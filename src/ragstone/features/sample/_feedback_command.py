"""`ragstone sample --feedback`: what users said -> four files; with labels or runs, what these tell."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

from ragstone.features.sample.feedback import FeedbackSample, FeedbackToLabel, sample_feedback
from ragstone.features.sample.feedback_words import feedback_lines, feedback_losses, keep_summary
from ragstone.features.sample.sampling import answers_beside
from ragstone.kernel.console.printing import UNSCORED, say, show, show_json
from ragstone.kernel.errors import ConfigError, plural
from ragstone.kernel.records import Answer, Label, Question
from ragstone.kernel.tables import check_output, keep_sources, read_rows, write_rows


def tell_feedback(
    log: list[Path],
    output: Path,
    count: int,
    labelled: Path | None,
    runs: Sequence[Path],
    read: dict[str, Any],
    *,
    force: bool,
    json: bool,
    strict: bool,
) -> None:
    """Write what feedback became; with labels or runs write nothing, and say what these tell of it."""
    files: dict[type, Path] = {
        Question: output,
        Answer: answers_beside(output),
        Label: output.with_name(f"thumbs{output.suffix}"),
        FeedbackToLabel: output.with_name(f"to-label{output.suffix}"),
    }
    looks = labelled is not None or bool(runs)
    if not looks:
        keep_sources([*files.values()], log)
        if inside := [folder for folder in log if output.resolve().is_relative_to(folder.resolve())]:
            raise ConfigError(
                f"{output} is in the log's folder {inside[0]}: the next command would read it as a part of "
                "the log. Name a file outside with -o."
            )
        for file in files.values():
            check_output(file, force)
    labels = [*read_rows(labelled, Label)] if labelled else None
    sampled = sample_feedback(log, count, labels=labels, runs=runs, **read)
    summary = sampled.summary
    keep_summary(read["settings"].path(read["settings"].monitor.store), summary)
    if json:
        show_json(summary)
    else:
        show(*feedback_lines(summary))
    for line in feedback_losses(summary):
        say(line)
    if not looks:
        _write_feedback(sampled, files, force=force)
    if strict and summary.malformed:
        raise typer.Exit(UNSCORED)


def _write_feedback(sampled: FeedbackSample, files: dict[type, Path], *, force: bool) -> None:
    """Write the rows that there are, and say what to do with them."""
    rows: list[Sequence[Any]] = [sampled.questions, sampled.answers, sampled.thumbs, sampled.queue]
    for (kind, file), some in zip(files.items(), rows, strict=True):
        if some:
            write_rows(file, some, kind, force=force)
    questions, answers, thumbs, queue = files.values()
    if sampled.questions:
        say(
            f"{plural(len(sampled.questions), 'question')} in {questions}. Check them in the workbench first."
        )
    say(f"{plural(len(sampled.answers), 'answer')} in {answers}.")
    if sampled.thumbs:
        say(f"{plural(len(sampled.thumbs), 'thumb')} in {thumbs}, as labels for `ragstone agree`.")
    if sampled.queue:
        say(
            f"{queue}: {plural(len(sampled.queue), 'answer')} to label. Fill in `score` from the top, 1 for "
            "right and 0 for wrong; keep the other columns, and delete the rows that you do not get to. "
            f"Then: ragstone sample LOG --feedback --labels {queue}"
        )
