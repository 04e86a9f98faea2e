"""Repeated answers in a comparison: each question counts once, by the mean of its answers."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

import msgspec

from ragstone.features.compare.matching import JudgedRun
from ragstone.kernel.errors import plural
from ragstone.kernel.judging.repeated import k_of_n_of, question_score
from ragstone.kernel.records import Answer, Judgement, split_repeat


def fold_repeats(side: JudgedRun) -> JudgedRun:
    """Return the run with one judgement for all repeats of an answer; as it is where there are none.

    The score is that of its question, see question_score. What was judged twice stays so, for `match` to
    refuse.
    """
    if all(split_repeat(row.system)[1] == 1 and k_of_n_of(row) is None for row in side.judgements):
        return side
    groups: dict[tuple[object, ...], list[Judgement]] = {}
    folded: list[list[Judgement]] = []
    seen: set[tuple[object, ...]] = set()
    for row in side.judgements:
        system = split_repeat(row.system)[0]
        judged_by = (row.question_id, row.judge, row.metric, row.model, row.prompt_version, row.scale)
        is_again = (row.system, *judged_by) in seen
        seen.add((row.system, *judged_by))
        if is_again or (system, *judged_by) not in groups:
            group: list[Judgement] = []
            folded.append(group)
            groups.setdefault((system, *judged_by), group)
            group.append(row)
        else:
            groups[system, *judged_by].append(row)
    means = []
    for rows in folded:
        score = question_score(rows)
        first = next((row for row in rows if (row.score is None) == (score is None)), rows[0])
        # Of k of n, answers may have scores and their question none.
        status = "scored" if score is not None else "error" if first.status == "scored" else first.status
        system = split_repeat(first.system)[0]
        means.append(msgspec.structs.replace(first, system=system, score=score, status=status))
    return msgspec.structs.replace(side, judgements=means, unfolded=side.judgements)


def answers_by_question(answers: Iterable[Answer]) -> dict[tuple[str, str], list[Answer]]:
    """Return system and question id -> the answer and its repeats, in order."""
    grouped: dict[tuple[str, str], list[tuple[int, Answer]]] = defaultdict(list)
    for row in answers:
        system, number = split_repeat(row.system)
        grouped[system, row.question_id].append((number, row))
    return {key: [row for _, row in sorted(rows, key=lambda each: each[0])] for key, rows in grouped.items()}


def nearest(rows: Iterable[Judgement], score: float) -> Judgement:
    """Return the judgement whose score is nearest to the mean of its question, the first of several."""
    scored = [(abs(row.score - score), row) for row in rows if row.score is not None]
    return min(scored, key=lambda each: each[0])[1]


def repeat_notes(
    a: JudgedRun, b: JudgedRun, systems: Sequence[tuple[str, str]], ids: Iterable[str]
) -> list[str]:
    """Return the note that answers were repeated, how often in each; none where they were not."""
    wanted = set(ids)
    notes: dict[str, None] = {}
    for pair in systems:
        ours, theirs = (_n_answers(side, system, wanted) for side, system in zip((a, b), pair, strict=True))
        if {ours, theirs} == {"1 answer"}:
            continue
        whose = f"{pair[0]}: " if len(systems) > 1 else ""
        counted = (
            f"{ours} to each question" if ours == theirs else f"{ours} to each question in A, {theirs} in B"
        )
        notes[f"{whose}{counted}. A question counts once, by the mean of its answers."] = None
    return list(notes)


def _n_answers(side: JudgedRun, system: str, ids: set[str]) -> str:
    repeats: dict[str, set[int]] = defaultdict(set)
    for row in side.unfolded or side.judgements:
        name, number = split_repeat(row.system)
        if name == system and row.question_id in ids:
            repeats[row.question_id].add(number)
    counts = sorted({len(numbers) for numbers in repeats.values()}) or [1]
    return plural(counts[0], "answer") if len(counts) == 1 else f"{counts[0]} to {counts[-1]} answers"
