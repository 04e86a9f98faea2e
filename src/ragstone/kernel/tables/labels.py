"""Which column of a file holds people's score, and what the words of labels stand for.

A column is people's score if it is named as one (names.py, nearness.py), if it is named after what judges
measure, or if the user says so. Nothing else is: a reference of `true` is no opinion on an answer.
"""

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from ragstone.kernel.errors import ColumnsError, DataError
from ragstone.kernel.records import Label
from ragstone.kernel.tables.columns import ColumnPlan, field_of, is_absent
from ragstone.kernel.tables.names import fold
from ragstone.kernel.tables.proposals import is_grade

_METRICS = (
    *("correctness", "faithfulness", "relevance", "answer_relevance", "context_relevance"),
    *("context_sufficiency", "completeness", "coverage", "conciseness", "clarity", "readability", "fluency"),
    *("coherence", "helpfulness", "usefulness", "toxicity", "bias", "safety", "tone", "similarity"),
    *("preference", "answered", "resolved", "task_done", "citations", "hallucination", "prompt_clarity"),
    *("focus", "claims", "sameness", "asked_back", "knowledge_retained", "stays_on_topic", "stays_in_role"),
    *("repeats_itself", "contradicts_itself", "cites_sources", "tool_choice", "tool_arguments"),
    *("tool_errors", "plan_quality", "step_efficiency", "true_false", "question_type", "language_match"),
    "rubric",
)
CRITERIA: Mapping[str, str | None] = {
    **{fold(name): name for name in _METRICS},
    **dict.fromkeys(("accuracy", "rightness"), "correctness"),
    "groundedness": "faithfulness",
    "relevancy": "relevance",
    fold("answer_relevancy"): "answer_relevance",
    **dict.fromkeys(("quality", "overall", "satisfaction"), None),
}
"""What a column of scores may be named after (as `fold` has it) -> the metric that such labels are of.

The metrics of shipped judges that people label, and others; None where a name says nothing of the metric.
"""

STATEMENTS = "true_false"
"""The kind of a question that is a statement, and the metric of its truth, which `build facts` writes."""

_SCORE_UNIT, _PERCENT = "score_unit", "%"
"""What a label's metadata say of a score that was written in percent, which is a share of any scale."""

MEANT: dict[str, str] = {
    **dict.fromkeys(("good", "great", "excellent", "helpful", "ok", "supported", "faithful", "gut"), "1"),
    **dict.fromkeys(("bad", "poor", "unhelpful", "unsupported", "unfaithful", "schlecht"), "0"),
    **dict.fromkeys(("partial", "partially", "partly", "mixed", "fair", "teilweise"), "0.5"),
}
"""What labels may stand for that say neither right nor wrong: proposed, never taken."""


def with_label_score(plan: ColumnPlan, raw: Mapping[str, Any]) -> ColumnPlan:
    """Return the plan of labels that have no column named as a score.

    Of a statement it is its truth. Else it is the only column named after what judges measure
    (`Correctness`), whose name is kept as `criterion`.
    """
    if is_statement(raw):
        return ColumnPlan(plan.fields | {"score": ("reference",)}, plan.guesses | {"reference": "score"})
    grades = [name for name in plan.spare(raw) if fold(name) in CRITERIA and is_grade(raw[name])]
    if len(grades) != 1:
        return plan
    return ColumnPlan(plan.fields | {"score": (grades[0],)}, plan.guesses | {grades[0]: "score"})


def note_metric(row: dict[str, Any], raw: Mapping[str, Any], plan: ColumnPlan, *, chosen: bool) -> None:
    """Give a label of a statement its metric; of others keep the name of a column that is no usual score's.

    A column that is named after a metric holds labels of that one, unless the row names its own. chosen: the
    user named the column of the score, whatever it is called. Raises ValueError for a question among
    statements: its reference is no label.
    """
    column = next(iter(plan.fields.get("score", ())), None)
    if column == "reference" and not chosen:
        if not is_statement(raw):
            raise ValueError("a question that is not a statement: its reference is not a label")
        row["metric"] = STATEMENTS
    elif column is not None and field_of(column, Label) is None:
        row["metadata"] = {**row.get("metadata", {}), "criterion": column}
        if not chosen and (metric := CRITERIA.get(fold(column))):
            row["metric"] = metric


def note_unit(row: dict[str, Any], raw: Mapping[str, Any], plan: ColumnPlan) -> None:
    """Keep that a score was written in percent."""
    written = (raw.get(column) for column in plan.fields.get("score", ()))
    first = next((value for value in written if not is_absent(value)), None)
    if isinstance(first, str) and first.rstrip().endswith(_PERCENT):
        row["metadata"] = {**row.get("metadata", {}), _SCORE_UNIT: _PERCENT}


def is_in_percent(label: Label) -> bool:
    """Say whether a label's score was written in percent, as note_unit keeps it."""
    return (label.metadata or {}).get(_SCORE_UNIT) == _PERCENT


def check_people(where: str, raw: Mapping[str, Any]) -> None:
    """Raise DataError for a judge's scores in place of people's."""
    if raw.keys() >= {"judge", "status", "prompt_version"}:
        raise DataError(
            f"{where}: these are judgements of {raw['judge']!r}, not labels by people. To use them as labels "
            "anyway, add --column score=score."
        )


def is_statement(raw: Mapping[str, Any]) -> bool:
    """Say whether a row is a statement that `build facts` wrote, whose reference is its truth."""
    return raw.get("kind") == STATEMENTS and "reference" in raw


def words_error(where: str, words: Mapping[str, int], known: Mapping[str, float] = {}) -> ColumnsError:
    """Return what is wrong with labels that are words, with scores to start from where they can be told.

    known: the words that have a score. Beside them, and where two words would have one score, nothing is
    proposed: such a guess would merge grades, or be on another scale. So would 0.5, which is half of 0 to 1
    alone, while 0 and 1 are wrong and right on any scale.
    """
    meant = [MEANT.get(word.casefold().split()[0], "?") for word in words]
    if known or len(set(meant)) < len(meant) or "0.5" in meant:
        meant = ["?"] * len(meant)
    option = ["--map", ",".join(f"{word}={score}" for word, score in zip(words, meant, strict=True))]
    counts = ", ".join(f"{word} ({n:,})" for word, n in words.items())
    return ColumnsError(
        f"{where}: labels are words: {counts}. Give the score of each on the judge's scale: "
        f"{shlex.join(option)} where the command takes it, `mapping` in [bench.judges], else numbers in the "
        "file.",
        option if "?" not in meant else [],
    )


def in_percent(labels: Sequence[Label]) -> bool:
    """Return whether all labels were written in percent, and so say themselves where on a scale they are."""
    return bool(labels) and all(map(is_in_percent, labels))
