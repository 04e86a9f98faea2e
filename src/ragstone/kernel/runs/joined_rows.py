"""The rows of a run, joined by question and system -> one table, and what a filter leaves of several."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ragstone.kernel.records import Answer, Context, Question
from ragstone.kernel.retrieval.query_measures import ranked_documents
from ragstone.kernel.runs.filtering import FilterColumns, filter_columns, flipped_questions, rows_left
from ragstone.kernel.runs.notes import Note, note_columns
from ragstone.kernel.runs.run_rows import RunRows
from ragstone.kernel.tables import Rows
from ragstone.kernel.tables.where import Kind

JudgeKey = tuple[str, str, str]  # judge, metric, model

FIRST: dict[str, Any] = {
    "question_id": str,
    "system": str,
    "question": str | None,
    "reference": str | list[str] | None,
    "answer": str | None,
    "answerable": bool | None,
    "kind": str | None,
    "lang": str | None,
    "tags": dict[str, str] | None,
    "found_rank": int | None,
}
OF_JUDGE: dict[str, Any] = {"": float | None, "_status": str | None, "_rationale": str | None}
LAST: dict[str, Any] = {
    "latency_s": float | None,
    "input_tokens": int | None,
    "output_tokens": int | None,
    "cost_usd": float | None,
    "error": str | None,
    "contexts": list[Context] | None,
}
OF_NOTES: dict[str, Any] = {"notes": list[str] | None, "note_tags": list[str] | None}
OF_CAUSE: dict[str, Any] = {"cause": str | None, "component": str | None, "because": str | None}


def joined(run: RunRows, names: Mapping[JudgeKey, str] | None = None) -> Rows[dict[str, Any]]:
    """Return a dict for each question and system, all with the same names in the same order.

    Rows stand in the order of the questions, those of a question in the order of its answers. Of each judge
    there are three columns: its name holds the score (None where there is none), NAME_status and
    NAME_rationale why. The name gets the metric or the model added where a judge has several. found_rank:
    the place of the first relevant document among the answer's contexts, 0 if it is not among them, None if
    nobody can tell. input_tokens, output_tokens, cost_usd: of the answer, not of the judges. cause, component
    and because are there if `ragstone blame` has looked at the run, and filled for lost points; notes and
    note_tags if somebody has written notes on it. names: the columns of judges, where `run` holds only some
    questions of a run.
    """
    judges = _judges_of(run) if names is None else names
    of_causes = OF_CAUSE if run.causes else {}
    columns = FIRST | of_causes
    columns |= {f"{name}{part}": kind for name in judges.values() for part, kind in OF_JUDGE.items()}
    columns |= LAST | (OF_NOTES if run.notes else {})
    blank = dict.fromkeys(columns)
    notes: dict[str, list[Note]] = defaultdict(list)
    for note in run.notes:
        notes[note.question_id].append(note)
    ids = dict.fromkeys([*run.questions, *run.answers, *run.judgements])
    rows = [
        blank
        | _first(run, question_id, system)
        | _scores(run, question_id, system, judges)
        | (note_columns(notes[question_id], system) if run.notes else {})
        for question_id in ids
        for system in _systems(run, question_id)
    ]
    return Rows(rows, columns)


def _judges_of(run: RunRows) -> dict[JudgeKey, str]:
    return judge_names((row.judge, row.metric, row.model) for rows in run.judgements.values() for row in rows)


def judge_names(judgements: Iterable[JudgeKey]) -> dict[JudgeKey, str]:
    """Return the column of each judge, no two alike, nor like another column, though case be ignored."""
    keys = list(dict.fromkeys(judgements))
    taken = {name.casefold() for name in FIRST | LAST | OF_CAUSE | OF_NOTES}
    names: dict[JudgeKey, str] = {}
    for key in keys:
        judge, metric, model = key
        alike = [other for other in keys if other[0] == judge]
        name = judge
        if len({other[1] for other in alike}) > 1:
            name += f" {metric}"
        if len({other[2] for other in alike}) > 1:
            name += f" {model}"
        while not taken.isdisjoint(f"{name}{part}".casefold() for part in OF_JUDGE):
            name += "_"
        taken |= {f"{name}{part}".casefold() for part in OF_JUDGE}
        names[key] = name
    return names


def _systems(run: RunRows, question_id: str) -> Iterable[str]:
    """Return the systems that answered a question, or whose answers to it were judged."""
    answered = [row.system for row in run.answers.get(question_id, [])]
    return dict.fromkeys([*answered, *(row.system for row in run.judgements.get(question_id, []))])


def _first(run: RunRows, question_id: str, system: str) -> dict[str, Any]:
    question = run.questions.get(question_id)
    answers = [row for row in run.answers.get(question_id, []) if row.system == system]
    answer = answers[0] if answers else None
    sources = [row for row in (question, answer) if row is not None]
    cause = next((row for row in run.causes.get(question_id, []) if row.system == system), None)
    return {
        "question_id": question_id,
        "system": system,
        **{
            name: next((value for row in sources if (value := getattr(row, name)) is not None), None)
            for name in ("question", "reference", "answerable", "tags")
        },
        "kind": question.kind if question else None,
        "lang": question.lang if question else None,
        "found_rank": _found_rank(run, question, answer) if question else None,
        **(_of_answer(answer) if answer else {}),
        **({name: getattr(cause, name) for name in OF_CAUSE} if cause else {}),
    }


def _of_answer(answer: Answer) -> dict[str, Any]:
    usage = answer.usage
    return {
        "answer": answer.answer,
        "latency_s": answer.latency_s,
        "input_tokens": usage.input if usage else None,
        "output_tokens": usage.output if usage else None,
        "cost_usd": answer.cost_usd,
        "error": answer.error,
        "contexts": answer.contexts,
    }


def _found_rank(run: RunRows, question: Question, answer: Answer | None) -> int | None:
    """Return the rank among the answer's contexts or, where it has none, in the run's only ranking."""
    relevant = set(question.document_ids or ())
    if not relevant or question.answerable is False:
        return None
    rankings = run.rankings.get(question.id, [])
    if answer is not None and answer.contexts is not None:
        listed = [_document_of(context, run) for context in answer.contexts]
    elif len(rankings) == 1:
        listed = list(ranked_documents(rankings[0]))
    else:
        return None
    rank = next((rank for rank, document in enumerate(listed, 1) if document in relevant), 0)
    return None if rank == 0 and None in listed else rank


def _document_of(context: Context, run: RunRows) -> str | None:
    chunk = run.chunks.get(context.id or "")
    return context.document_id or (chunk.document_id if chunk else None)


def _scores(run: RunRows, question_id: str, system: str, judges: Mapping[JudgeKey, str]) -> dict[str, Any]:
    columns: dict[str, Any] = {}
    for row in run.judgements.get(question_id, []):
        if row.system == system:
            name = judges[row.judge, row.metric, row.model]
            values = (row.score, row.status, row.rationale or row.error)
            columns |= dict(zip((f"{name}{part}" for part in OF_JUDGE), values, strict=True))
    return columns


def rows_where(
    runs: Sequence[RunRows], condition: str
) -> tuple[list[Rows[dict[str, Any]]], dict[str, Kind], dict[str, str]]:
    """Return the rows of each run that a filter leaves, what it may ask, and which of that are tags: name ->
    key.

    A filter may ask for the columns of any of the runs: one that a run lacks is empty there. Raises
    DataError.
    """
    tables = [joined(run) for run in runs]
    columns = [
        filter_columns(
            _judges_of(run).values(),
            dict.fromkeys(key for row in table for key in row["tags"] or ()),
            blamed=bool(run.causes),
            noted=bool(run.notes),
            several=len({row["system"] for row in table}) > 1,
        )
        for run, table in zip(runs, tables, strict=True)
    ]
    kinds = {name: kind for each in reversed(columns) for name, kind in each.kinds.items()}
    rows = [
        Rows(
            rows_left(
                table,
                FilterColumns(kinds=kinds, tags=each.tags),
                flipped_questions(run.judgements),
                condition,
            ),
            table.of,
        )
        for run, table, each in zip(runs, tables, columns, strict=True)
    ]
    return rows, kinds, {name: key for each in columns for key, name in each.tags.items()}
