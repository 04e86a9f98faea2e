"""A run that asked corrected questions -> how many of them it answers right."""

from pathlib import Path

import msgspec

from ragstone.kernel.errors import DataError
from ragstone.kernel.runs.breakdown import is_right
from ragstone.kernel.runs.run import read_run

METRIC = "correctness"  # what a person, or a judge, says of an answer
FROM_CORRECTION = "correction"  # `from` in the metadata of a question that a correction became


class CorrectedAnswers(msgspec.Struct, frozen=True, kw_only=True):
    """How many corrected questions a run answers right by a judge. n: those that the judge scored.

    n_questions: corrected questions that the run asked. n_checked: of those n, corrections that a person has
    accepted or edited; None for a run without its questions.
    """

    run: str
    system: str
    judge: str
    n_questions: int
    n: int
    right: int
    n_checked: int | None


def answers_of_run(folder: Path, corrected: set[str]) -> list[CorrectedAnswers]:
    """Return what a run's systems answer right, by its judges of correctness. Raises DataError."""
    run = read_run(folder)
    asked = [name for name in run.answers if name in corrected]
    if not asked:
        raise DataError(
            f"{folder}: the run asked no question that this log's corrections became. Run the questions file "
            "first."
        )
    metrics = [row for row in run.summary.metrics if row.metric == METRIC and row.estimate is not None]
    if not metrics:
        raise DataError(
            f"{folder}: no judge of {METRIC} has scored its answers, so nothing says which are right. Judge "
            "them with one, e.g. --judge right."
        )
    checked = {
        name
        for name in asked
        if name in run.questions
        and (notes := run.questions[name].metadata or {}).get("from") == FROM_CORRECTION
        and isinstance(review := notes.get("review"), dict)
        and review.get("decision") in ("accepted", "edited")
    }
    rows = []
    for metric in metrics:
        scored = [
            row
            for name in asked
            for row in run.judgements.get(name, ())
            if (row.judge, row.model, row.system) == (metric.judge, metric.model, metric.system)
            and row.score is not None
        ]
        if scored:
            rows.append(
                CorrectedAnswers(
                    run=folder.name,
                    system=metric.system,
                    judge=metric.judge,
                    n_questions=len(asked),
                    n=len(scored),
                    right=sum(is_right(row.score or 0.0, row.scale) for row in scored),
                    n_checked=sum(row.question_id in checked for row in scored) if run.questions else None,
                )
            )
    return rows
