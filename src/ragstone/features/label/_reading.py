"""The files that `ragstone label` names -> the rows to label: by how they are chosen, drawn or paired."""

from collections.abc import Sequence
from pathlib import Path

from ragstone.features.label._choosing import SPREAD_EVENLY, AnswerWay
from ragstone.features.label.labelling import (
    ToLabel,
    chosen_to_label,
    gaps_to_label,
    next_to_label,
    pairs_to_label,
)
from ragstone.kernel.errors import ConfigError
from ragstone.kernel.records import Answer, Judgement, Label
from ragstone.kernel.runs.joined import read_run
from ragstone.kernel.stages.given import answers_of, judgements_of
from ragstone.kernel.tables import read_rows


def drawn_rows(
    judgements: Path,
    labels: Path | None,
    sheet: Path | None,
    *,
    by: AnswerWay,
    strata: Sequence[str] | None,
    metric: str | None,
    count: int,
    seed: int,
) -> list[ToLabel]:
    """Return the answers that a sample draws next, in the order of the judgements."""
    return next_to_label(
        (row for row in read_rows(judgements_of(judgements), Judgement) if metric in (None, row.metric)),
        read_rows(labels, Label) if labels else (),
        n=count,
        answers=read_rows(sheet, Answer) if sheet else (),
        by=by,
        strata=strata or SPREAD_EVENLY,
        seed=seed,
    )


def chosen_rows(
    run: Path, labels: Path | None, where: str, count: int | None, metric: str | None, seed: int
) -> list[ToLabel]:
    """Return the answers of a run that a filter chooses."""
    return chosen_to_label(
        read_run(run), where, read_rows(labels, Label) if labels else (), n=count, metric=metric, seed=seed
    )


def pair_rows(
    a: Path,
    b: Path | None,
    labels: Path | None,
    systems: tuple[str | None, str | None],
    *,
    metric: str | None,
    count: int,
    seed: int,
) -> list[ToLabel]:
    """Return both answers of two systems to questions, of two files of judgements or of one."""
    if b is not None and b.resolve() == a.resolve():
        b = None
    sheets = [answers_of(path) if path else None for path in (a, b)]
    return pairs_to_label(
        list(read_rows(judgements_of(a), Judgement)),
        list(read_rows(judgements_of(b), Judgement)) if b else None,
        list(read_rows(labels, Label)) if labels else (),
        n=count,
        answers_a=read_rows(sheets[0], Answer) if sheets[0] else (),
        answers_b=read_rows(sheets[1], Answer) if sheets[1] else (),
        system_a=systems[0],
        system_b=systems[1],
        runs=(a.name, b.name if b else ""),
        metric=metric,
        seed=seed,
    )


def gap_rows(
    judgements: Path, labels: Path | None, sheet: Path | None, metric: str | None, count: int, seed: int
) -> list[ToLabel]:
    """Return labelled answers whose grades differ for the same reason. Raises ConfigError without labels."""
    if labels is None:
        raise ConfigError("--gaps needs existing labels. Name their file after the judgements.")
    return gaps_to_label(
        read_rows(judgements_of(judgements), Judgement),
        read_rows(labels, Label),
        n=count,
        answers=read_rows(sheet, Answer) if sheet else (),
        metric=metric,
        seed=seed,
    )
