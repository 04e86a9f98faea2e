"""A monitor's store with judged exchanges, without a model: what was read and what judges said of it."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec

from ragstone.features.watch._judged import StoredScore
from ragstone.features.watch._logged import Logged, Reader
from ragstone.features.watch.store import MonitorStore
from ragstone.kernel.config import MonitorSection
from ragstone.kernel.records import Status

BEGIN = date(2026, 3, 1)
TAGS = ["crop", "region", "lang", "model", "prompt_version"]
MODEL = "openai/judge"
BEST = {
    "answered": "highest",
    "faithfulness": "highest",
    "relevance": "highest",
    "toxicity": "lowest",
    "question_type": "none",
}


def row(name: str, *, day: int | None = 0, label: str | None = None, **given: object) -> dict[str, Any]:
    """Return a row of a log with the scores of judges under their names; day: after BEGIN.

    label: of `answered`, by default the one that its score has. A score may be a status, as text.
    """
    time = (
        None
        if day is None
        else (datetime.combine(BEGIN, datetime.min.time()) + timedelta(days=day)).isoformat()
    )
    asked = {"id": name, "question": f"Why {name}?", "answer": f"Because of {name}."}
    answered = given.get("answered")
    labels = {0: "refused", 1: "answered"}
    if label is None and isinstance(answered, int | float):
        label = labels.get(int(answered))
    return {**asked, "time": time, "label": label, **given}


def fill(
    folder: Path,
    rows: list[dict[str, Any]],
    tags: Sequence[str] = TAGS,
    *,
    rate: float | None = None,
    keep_personal_data: bool = False,
) -> MonitorStore:
    """Return an open store that holds the rows and their scores."""
    chosen = MonitorSection(tags=[*tags], keep_personal_data=keep_personal_data)
    if rate is not None:
        chosen = msgspec.structs.replace(chosen, rate=rate)
    store = MonitorStore(folder, key=b"k" * 32)
    store.declare(chosen)
    reader = Reader(chosen, b"k" * 32)
    logged = [
        reader.read({k: v for k, v in one.items() if k not in {*BEST, "label"} and v is not None})
        for one in rows
    ]
    store.add(store.adder(chosen), [one for one in logged if isinstance(one, Logged)])
    numbers = dict(store.connection.execute("SELECT name, n FROM exchanges").fetchall())
    scores = [
        (numbers[one["id"]], _scored(metric, one[metric], one["label"]))
        for one in rows
        for metric in BEST
        if metric in one
    ]
    store.keep(scores, best=BEST)
    return store


def _scored(metric: str, said: float | Status, label: str | None) -> StoredScore:
    score = None if isinstance(said, str) else float(said)
    return StoredScore(
        judge=metric,
        version=1,
        model=MODEL,
        metric=metric,
        status=said if isinstance(said, str) else "scored",
        score=score,
        label=label if metric == "answered" and score is not None else None,
        reason=f"Judged {said}.",
    )
