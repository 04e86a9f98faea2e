"""Data frames of `evaluate_dataframe` of phoenix-evals (3.9) -> verdicts.

Beside the columns of the sheet each evaluator has `NAME_execution_details` (status, exceptions), and each
score that it gave a column `SCORE_score`: an object of name, score, label, explanation and kind, or its JSON.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ragstone.kernel.records import NO_MODEL
from ragstone.kernel.tables.columns import as_list
from ragstone.kernel.tables.interchange.assessments import Assessment, answered_in
from ragstone.kernel.tables.interchange.values import decoded, fields_in, id_in, notes_in, scalar_in

Numbered = tuple[int, Any]

DETAILS, SCORE = "_execution_details", "_score"


def read_phoenix_evals(rows: Iterable[Numbered], _where: str) -> Iterator[Numbered]:
    """Yield an Assessment for each score of each row, and for each evaluator that failed and gave none."""
    for number, raw in rows:
        own = {name for name in raw if str(name).endswith((DETAILS, SCORE))}
        sheet = {name: value for name, value in raw.items() if name not in own}
        on = answered_in(sheet)
        ids = {
            name.rpartition(".")[2]: str(value)
            for name, value in sheet.items()
            if name.rpartition(".")[2] in ("span_id", "trace_id") and value
        }
        for name in sorted(own, key=[*raw].index):
            if name.endswith(SCORE):
                result = _object(raw[name])
                if result:
                    yield number, _assessment(number, name.removesuffix(SCORE), result, on, ids)
        for name, error in _failures(raw):
            yield (
                number,
                Assessment(
                    number=number,
                    tool="Phoenix",
                    name=name,
                    error=error,
                    error_type=error[:200],
                    ids=ids,
                    **on,
                ),
            )


def _assessment(
    number: int, name: str, result: Mapping[str, Any], on: Mapping[str, Any], ids: Mapping[str, str]
) -> Assessment:
    kind = str(result.get("kind", result.get("source"))).casefold()
    about = fields_in(result.get("metadata"))
    return Assessment(
        number=number,
        tool="Phoenix",
        name=id_in(result.get("name")) or name,
        value=scalar_in(result.get("score")),
        label=id_in(result.get("label")),
        rationale=id_in(result.get("explanation")),
        by="person" if kind == "human" else "evaluator",
        model=NO_MODEL if kind in ("code", "heuristic") else id_in(about.get("model")),
        ids=ids,
        notes=notes_in(about) | notes_in({"kind": kind, "direction": result.get("direction")}),
        **on,
    )


def _failures(raw: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield each evaluator that gave no score in this row, with the last exception."""
    for column, value in raw.items():
        details = _object(value) if str(column).endswith(DETAILS) else {}
        thrown = details.get("exceptions")
        name = str(column).removesuffix(DETAILS)
        if str(details.get("status")).upper() == "FAILED" and not fields_in(
            decoded(raw.get(f"{name}{SCORE}"))
        ):
            yield name, str(thrown[-1]) if isinstance(thrown, list) and thrown else "the evaluator failed"


def _object(value: object) -> Mapping[str, Any]:
    """Return an object, also from JSON and from what pandas writes into a CSV, as Python prints it."""
    inside = decoded(value)
    if isinstance(inside, str) and inside.startswith("{"):
        listed = as_list(f"[{inside}]")
        inside = listed[0] if len(listed) == 1 else None
    return fields_in(inside)
