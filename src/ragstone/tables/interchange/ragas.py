"""Samples of ragas (version 0.4): `EvaluationDataset` and results, as JSONL, CSV or a data set.

Their columns are read without help; here are the ids of passages beside them, and conversations.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ragstone.tables.columns import as_contexts, as_list
from ragstone.tables.said import said_in


def is_ragas(raw: Mapping[str, Any]) -> bool:
    """Say whether an object is a sample of ragas."""
    return "user_input" in raw and bool(
        raw.keys() & {"response", "retrieved_contexts", "reference", "rubrics"}
    )


def read_ragas(rows: Iterable[tuple[int, Any]], _where: str) -> Iterator[tuple[int, Any]]:
    """Yield samples as rows of an answer sheet; what is no object as it is."""
    for number, raw in rows:
        yield number, (_row(raw) if isinstance(raw, dict) else raw)


def _row(sample: Mapping[str, Any]) -> dict[str, Any]:
    row = dict(sample)
    ids, found = sample.get("retrieved_context_ids"), sample.get("retrieved_contexts")
    if ids is not None and found is not None:
        names = as_list(ids)
        try:
            contexts = as_contexts(found) or []
        except TypeError:  # it is told with its place when the row itself is read
            return row
        if len(contexts) == len(names):
            del row["retrieved_context_ids"]
            row["retrieved_contexts"] = [
                {**one, "id": str(name)} for one, name in zip(contexts, names, strict=True)
            ]
    turns = sample.get("user_input")
    if isinstance(turns, str) and turns.lstrip().startswith("[{"):
        turns = as_list(turns)
    if isinstance(turns, list):
        said = [{**turn, "role": turn.get("type")} for turn in turns if isinstance(turn, Mapping)]
        row["user_input"], answer = said_in({"messages": said})
        if row.get("response") is None:
            row["response"] = answer
    return row
