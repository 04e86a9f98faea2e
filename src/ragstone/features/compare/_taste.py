"""What a comparison without labels cannot exclude: that the judge has a taste for one side."""

from collections.abc import Sequence

import numpy as np

from ragstone.features.compare._people_sentence_table import (
    KIN,
    MAY_ERR,
    NOT_EXCLUDED,
    POINTS,
    PRICE,
    Kin,
    Taste,
)
from ragstone.features.compare.matching import JudgedRun
from ragstone.features.compare.values import LabelCost, MetricComparison
from ragstone.kernel.llm.families import model_family
from ragstone.kernel.records import NO_MODEL
from ragstone.kernel.sentences import say
from ragstone.kernel.statistics import Floats
from ragstone.kernel.statistics.ppi_difference import labelled_pairs_for

FOUND = (
    1.959964 + 0.841621
) / 1.959964  # standard errors of a difference found 4 times out of 5, per half width


def taste_notes(compared: Sequence[MetricComparison], a: JudgedRun, b: JudgedRun) -> list[str]:
    """Return what is not excluded where no labels correct the difference; nothing where no score differs.

    Where labels show that a judge favours the side whose model is of its family, that is said too. Judges
    that know their own texts favour them (Panickssery, Bowman and Feng 2024, arXiv:2404.13076).
    """
    bare = [row for row in compared if row.corrected is None and row.n_changed and not row.same_answers]
    notes: list[str] = []
    for model in dict.fromkeys(row.model for row in bare if row.model != NO_MODEL):
        taste = Taste(model, tuple(row for row in bare if row.model == model))
        kin = dict.fromkeys(say(_kin(row, a, b), *KIN) for row in taste.rows)
        notes += [say(taste, NOT_EXCLUDED), *kin, say(taste, *PRICE)]
    notes += [say(_kin(row, a, b), *KIN) for row in compared if row.corrected]
    decided = tuple(row for row in bare if row.model == NO_MODEL and row.verdict != "cannot tell")
    notes.append(say(Taste(NO_MODEL, decided), MAY_ERR))
    return [note for note in notes if note]


def _kin(row: MetricComparison, a: JudgedRun, b: JudgedRun) -> Kin:
    models = _answering_model(a, row.a.system), _answering_model(b, row.b.system)
    families = tuple(model_family(model) if model else None for model in models)
    return Kin(row, models, (families[0], families[1]), model_family(row.model))


def _answering_model(run: JudgedRun, system: str) -> str | None:
    """Return the model that a system answers with, as the manifest tells; None where it does not."""
    if run.manifest is None:
        return None
    declared = run.manifest.settings.get("systems", {}).get(system)
    if isinstance(declared, dict):
        model = declared.get("model")
        if isinstance(model, str):
            return model
        if declared.get("kind") != "rag":
            return None
    elif len({row.system for row in run.judgements}) > 1 or run.manifest.settings.get("answer", {}).get(
        "system"
    ):
        return None
    return run.manifest.models.get("answer")


def label_cost(differences: Floats, width: float) -> LabelCost:
    """Return what people's labels of both answers would cost.

    differences: the judge's, at least one. width: of its scale.
    """
    sd, mean = float(np.std(differences)), abs(float(np.mean(differences)))
    return LabelCost(
        half=POINTS * width,
        for_half=labelled_pairs_for(sd, POINTS * width, width=width),
        for_observed=labelled_pairs_for(sd, mean / FOUND, width=width) if mean > 0 else None,
    )
