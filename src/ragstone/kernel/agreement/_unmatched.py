"""Why no label is for an answer that was judged: labels say what they are of, and so does the message."""

import re
import shlex
from collections.abc import Collection, Sequence

from ragstone.kernel.judging.conversation import conversation_of
from ragstone.kernel.records import Judgement, Label

SHOWN = 3
STATEMENTS = "true_false"  # the metric of the truth of statements
_NUMBERED = re.compile(r"row-\d+")  # the id of a row that has neither an id nor a question


def why_unmatched(judgements: Sequence[Judgement], labels: Sequence[Label]) -> str:
    """Return what keeps the two apart, most likely first, and what to do; both have rows."""
    metrics = {row.metric for row in judgements}
    labelled = {label.metric for label in labels if label.metric}
    same_answers = {(row.question_id, row.system) for row in judgements}
    alike = any((label.question_id, label.system) in same_answers for label in labels)
    if labelled == {STATEMENTS} and STATEMENTS not in metrics:
        return (
            "The labels say which statements are true, not which answers are right; the judgements are of "
            f"{_listed(metrics)}. Such labels test a judge of statements: run `ragstone judge FILE --judge "
            f"{STATEMENTS}` and compare that. To test this judge, label its answers: `ragstone label`."
        )
    questions = {row.question_id for row in judgements}
    if (
        labelled
        and not labelled & metrics
        and (alike or any(label.question_id in questions for label in labels))
    ):
        return (
            f"The labels are for {_listed(labelled)}, the judgements for {_listed(metrics)}. Judge the "
            f"answers with a judge of {_listed(labelled)}. If the labels mean something else, "
            + _of_another(labels)
        )
    if any(label.question_id in questions for label in labels):
        systems = {row.system for row in judgements}, {label.system for label in labels}
        return (
            f"The judgements are for {_listed(systems[0], 'system')}, the labels for "
            f"{_listed(systems[1], 'system')}. Use the same system name in both files."
        )
    ids = f"Judgements: {_examples(judgements)}. Labels: {_examples(labels)}."
    if conversation_of(judgements[0]) is not None:
        return f"{ids} The judgements are for single replies: label replies, or judge without --each-turn."
    if all(_NUMBERED.fullmatch(label.question_id) for label in labels):
        return (
            f"{ids} The labels have no known column of ids or questions. Name it as for `ragstone judge`: "
            "--column question=COLUMN."
        )
    return f"{ids} Use the same question ids and systems in both files."


def _of_another(labels: Sequence[Label]) -> str:
    """Return how to say that labels are of another metric than they, or their column, say."""
    columns = {str((label.metadata or {}).get("criterion")) for label in labels if label.metric} - {"None"}
    if not columns:
        return "leave the column `metric` out."
    return f"say so: {shlex.join(['--column', f'score={min(columns)}'])}."


def _listed(names: Collection[str], what: str = "") -> str:
    listed = ", ".join(sorted(names)[:SHOWN]) + (", …" if len(names) > SHOWN else "")
    return f"{what}{'s' * (len(names) > 1)} {listed}" if what else listed


def _examples(rows: Sequence[Judgement] | Sequence[Label]) -> str:
    return "; ".join(
        f"question {row.question_id!r}, system {row.system!r}, metric {row.metric!r}" for row in rows[:2]
    )
