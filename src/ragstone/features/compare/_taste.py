"""What a comparison without labels cannot exclude: that the judge has a taste for one side."""

from collections.abc import Sequence

import numpy as np

from ragstone.features.compare.matching import JudgedRun
from ragstone.features.compare.values import LabelCost, MetricComparison
from ragstone.kernel.llm.families import model_family
from ragstone.kernel.records import NO_MODEL
from ragstone.kernel.statistics import Estimate, Floats
from ragstone.kernel.statistics.ppi_difference import labelled_pairs_for

SIDES = ("A", "B")
POINTS = 0.05  # of the scale: the half width whose price is named
FOUND = (
    1.959964 + 0.841621
) / 1.959964  # standard errors of a difference found 4 times out of 5, per half width


def taste_notes(compared: Sequence[MetricComparison], a: JudgedRun, b: JudgedRun) -> list[str]:
    """Return what is not excluded where no labels correct the difference; nothing where no score differs.

    Where labels show that a judge favours the side whose model is of its family, that is said too.
    """
    bare = [row for row in compared if row.corrected is None and row.n_changed and not row.same_answers]
    notes = []
    for model in dict.fromkeys(row.model for row in bare if row.model != NO_MODEL):
        rows = [row for row in bare if row.model == model]
        notes += [_in_its_eyes(model, rows), *_kin(model, rows, a, b), *_price(rows)]
    for row in compared:
        if row.corrected:
            notes += _kin(row.model, [row], a, b)
    decided = dict.fromkeys(
        row.judge for row in bare if row.model == NO_MODEL and row.verdict != "cannot tell"
    )
    if decided:
        asks, errs = ("asks", "it errs") if len(decided) == 1 else ("ask", "they err")
        notes.append(
            f"{', '.join(decided)} {asks} no model. That {errs} more on one side, for its length or its "
            "wording, is not excluded without people's labels (--labels)."
        )
    return notes


def _in_its_eyes(model: str, rows: Sequence[MetricComparison]) -> str:
    names = ", ".join(dict.fromkeys(row.judge for row in rows))
    return (
        f"Differences by {names} are in the eyes of {model}: that its taste favours one side is not excluded "
        "without people's labels of both sides' answers (--labels)."
    )


def _kin(model: str, rows: Sequence[MetricComparison], a: JudgedRun, b: JudgedRun) -> list[str]:
    """Return that the judge is of the family of one side's model alone, with what that means here.

    Judges that know their own texts favour them (Panickssery, Bowman and Feng 2024, arXiv:2404.13076). Of
    metrics with labels it is said where they show that the judge favours that side.
    """
    own = model_family(model)
    sentences: dict[str, None] = {}
    for row in rows:
        models = [_answering_model(run, side.system) for run, side in ((a, row.a), (b, row.b))]
        kin = [at for at, name in enumerate(models) if name and own and model_family(name) == own]
        if len(kin) != 1 or not all(models):
            continue
        at = kin[0]
        if row.corrected is None:
            what = "Judges tend to favour their own."
        elif favoured(row.corrected.flattery) == SIDES[at]:
            what = f"People's labels show that {row.judge} favours {SIDES[at]}."
        else:
            continue
        named = f"{models[at]}, which answers in {SIDES[at]}, is of the judge's family ({own})"
        sentences[f"{named}, as {models[1 - at]} is not. {what}"] = None
    return [*sentences]


def favoured(favour: Estimate | None) -> str | None:
    """Return the side that a judge is shown to favour; None of neither."""
    if favour is None or favour.low is None or favour.high is None:
        return None
    return SIDES[1] if favour.low > 0 else SIDES[0] if favour.high < 0 else None


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


def _price(rows: Sequence[MetricComparison]) -> list[str]:
    """Return how many labelled pairs it takes without the judge's help, of the metric that takes most."""
    costs = [(row, row.label_cost) for row in rows if row.label_cost]
    if not costs:
        return []
    most = max(cost.for_half for _, cost in costs)
    unit = "points" if all(row.scale in (None, (0, 1)) for row, _ in costs) else "% of the scale"
    observed = costs[0][1].for_observed if len(costs) == 1 else None
    found = ""
    if observed:
        found = f", and {observed:,} find a difference as large as this one 4 times out of 5"
    return [
        f"By people alone, about {most:,} labelled pairs of answers give ± {POINTS * 100:g} {unit}{found}, "
        "if their scores differ as often as the judge's."
    ]


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
