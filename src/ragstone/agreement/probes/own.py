"""Own-model preference: does a judge like the answers of its own model better than people do?"""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from ragstone.agreement.probes.effect import ProbeEffect, unmeasured
from ragstone.records import Judgement, Label
from ragstone.statistics import bootstrap_estimates, cluster_codes, cluster_totals
from ragstone.statistics.clusters import Floats

NAME = "own_model"
COMPARED = (
    "judge minus people on answers of the judge's own model, against judge minus people on those of others"
)


def is_own(system: str, model: str) -> bool:
    """Return whether a system's name says that it is this model: `openai/gpt-4o-mini` or `gpt-4o-mini`."""
    name = model.rpartition("/")[2].casefold()
    return name in system.casefold().split("/") or system.casefold() == model.casefold()


def own_model_effect(
    judgements: Sequence[Judgement], labels: Sequence[Label], model: str, seed: int = 0
) -> ProbeEffect:
    """Return how much more lenient the judge is to its own model's answers, as a share of the scale.

    labels: on the judge's scale, or 0 and 1; several of one answer are averaged. Intervals are clustered by
    question. Where the sheet lacks labels, or answers of either kind, the effect says so.
    """
    people: dict[tuple[str, str], list[float]] = defaultdict(list)
    for label in labels:
        people[label.question_id, label.system].append(label.score)
    if not people:
        return unmeasured(NAME, COMPARED, "needs a sheet with people's labels (--sheet FILE)")
    rows = [
        (row.question_id, is_own(row.system, model), _difference(row, people[row.question_id, row.system]))
        for row in judgements
        if row.score is not None and people.get((row.question_id, row.system))
    ]
    usable = [(question, own, difference) for question, own, difference in rows if difference is not None]
    if len(usable) < len(rows):
        return unmeasured(NAME, COMPARED, "the labels lie off the judge's scale, and are not 0 or 1")
    if len({own for _, own, _ in usable}) < 2:
        return unmeasured(
            NAME,
            COMPARED,
            f"needs labelled answers of a system named {model.rpartition('/')[2]} and of another one",
        )
    # Sums of the differences and counts, own ones first: the difference of two means follows from them.
    columns = np.array([[own * d, own, (not own) * d, not own] for _, own, d in usable], dtype=np.float64)
    totals = cluster_totals(columns, cluster_codes([question for question, _, _ in usable], len(usable)))
    estimate = bootstrap_estimates(totals, {NAME: _contrast}, len(usable), seed=seed)[NAME]
    return ProbeEffect(
        probe=NAME, compared=COMPARED, effect=estimate, n_unpaired=len(judgements) - len(usable)
    )


def _contrast(totals: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(totals[:, 0] / totals[:, 1] - totals[:, 2] / totals[:, 3])


def _difference(row: Judgement, given: Sequence[float]) -> float | None:
    """Return judge minus people as a share of the scale, None where the labels do not fit."""
    low, high = row.scale or (0.0, 1.0)
    if row.score is None:
        return None
    label = sum(given) / len(given)
    if all(low <= one <= high for one in given) and not (high > 1 and all(one in (0, 1) for one in given)):
        return (row.score - label) / (high - low)
    if all(one in (0, 1) for one in given):
        return (row.score - low) / (high - low) - label
    return None
