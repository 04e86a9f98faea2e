"""What `ragstone watch` writes beside the store: the work list of gaps, an evaluation set."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ragstone.kernel.console.bars import bars
from ragstone.kernel.console.printing import say

if TYPE_CHECKING:
    from ragstone.features.watch.gaps import KeptGaps
    from ragstone.features.watch.watching import Watcher

Gaps = Annotated[
    Path | None, typer.Option("--gaps", help="Write what the documents lack, as a work list: .csv or .jsonl.")
]
Questions = Annotated[
    Path | None,
    typer.Option("--questions", help="Write stored questions to this file; their answers go next to it."),
]
Count = Annotated[int, typer.Option("--count", min=1, help="Number of questions for --questions.")]
Way = Literal["topic", "random", "rarity", "frequency", "quality"]
By = Annotated[
    Way,
    typer.Option(
        "--by",
        help="For --questions: choose by topic, at random, the rarest, the most asked, or "
        "the least faithful.",
    ),
]


def check_outputs(
    gaps: Path | None, questions: Path | None, sources: Sequence[Path] = (), *, force: bool
) -> None:
    """Check that the files can be written, and that none is or would become the log. Raises DataError."""
    from ragstone.features.sample import answers_beside
    from ragstone.features.watch.gaps import check_gap_list
    from ragstone.kernel.tables import check_output

    if gaps is not None:
        check_gap_list(gaps, force=force)
    if questions is not None:
        check_output(questions, force)
        check_output(answers_beside(questions), force)
    written = [gaps] if gaps is not None else []
    written += [questions, answers_beside(questions)] if questions is not None else []
    _check_apart(written, sources)


def _check_apart(written: Sequence[Path], sources: Sequence[Path]) -> None:
    """Refuse a file that two things are written to, or that is or would become a part of the log."""
    from ragstone.kernel.errors import DataError

    places = [path.resolve() for path in written]
    for at, (path, resolved) in enumerate(zip(written, places, strict=True)):
        if resolved in places[:at]:
            raise DataError(f"{path} is given twice, for gaps and for questions. Give two names.")
        for source in sources:
            log = source.resolve()
            if resolved == log or (log in resolved.parents and log.is_dir()):
                raise DataError(
                    f"{path} is in the log being read ({source}): it would replace the log or be read as "
                    "part of it. Give a path outside the log."
                )


def write_outputs(
    watcher: "Watcher",
    stored: "KeptGaps | None",
    gaps: Path | None,
    questions: Path | None,
    count: int,
    by: Way,
    *,
    force: bool,
) -> None:
    """Write what was asked for, and say where it is."""
    if gaps is not None and stored is not None:
        _write_gap_list(gaps, stored, force=force)
    if questions is not None:
        _write_questions(questions, watcher, count, by, force=force)


def _write_gap_list(path: Path, stored: "KeptGaps", *, force: bool) -> None:
    """Write the work list, and say where it is."""
    from ragstone.features.watch.gaps import write_gaps
    from ragstone.kernel.errors import plural

    write_gaps(path, stored.gaps, force=force)
    cut = (
        f", those that most people asked about, of {stored.n_gaps:,}"
        if stored.n_gaps > len(stored.gaps)
        else ""
    )
    say(f"{plural(len(stored.gaps), 'gap')} in {path}{cut}.")


def _write_questions(path: Path, watcher: "Watcher", count: int, by: Way, *, force: bool) -> None:
    """Write the evaluation set with its answers, and say where they are."""
    from ragstone.features.watch._sampling import sample_store

    sample = sample_store(watcher.store, count, by=by, settings=watcher.settings, progress=bars)
    say(sample.write(path, force=force))
    if sample.summary.missing:
        say(
            f"{sample.summary.missing:,} are missing: the store has no more questions that can be asked on "
            "their own."
        )
