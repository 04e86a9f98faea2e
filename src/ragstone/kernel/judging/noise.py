"""Judgements of one metric by several judges, wordings or repeats -> one mean that holds all their noise."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import msgspec

from ragstone.kernel import statistics
from ragstone.kernel.errors import takes_rows
from ragstone.kernel.judging.conversation import cluster_of
from ragstone.kernel.judging.repeated import k_of_n_of
from ragstone.kernel.judging.summary import is_category
from ragstone.kernel.records import JOINT_SUFFIX, NO_MODEL, Judgement, split_repeat
from ragstone.kernel.tables import Rows

SAMPLES = "samples"  # in the metadata of a judgement: how often the judge was asked, and what scores it gave
WORDINGS = ("prompt", "wording")  # options of a judge's name that say which of its prompts was used
Instrument = tuple[str, str, str]
"""A judge's name without the options above, its wording, and the model."""
Scale = tuple[float, float] | None


class MetricComponents(msgspec.Struct, frozen=True, kw_only=True):
    """The mean of one metric over all its judges, wordings and repeats.

    models: that were asked; `none` for a judge without one. judges, wordings: their names. With several
    models, the model is the judge, and each prompt of each judge file a wording; with one, the file is.
    n: scores. calls, cost_usd: what the judgements took; None where a judgement does not say. See
    mean_components for the rest.
    """

    system: str
    metric: str
    scale: tuple[float, float] | None
    models: list[str]
    judges: list[str]
    wordings: list[str]
    n: int
    components: "statistics.MeanComponents"
    calls: int | None = None
    cost_usd: float | None = None


class _Key(NamedTuple):
    """What is measured together. alone: a judge without a model, which is measured by itself."""

    system: str
    metric: str
    scale: Scale
    alone: str


class _Score(NamedTuple):
    """One verdict, and what it was drawn from."""

    question: str
    document: str
    repeat: int
    instrument: Instrument
    value: float


class _Group:
    """The scores of one metric of one system on one scale."""

    def __init__(self) -> None:
        self.scores: list[_Score] = []
        self.calls: int | None = 0
        self.cost_usd: float | None = 0.0


class NoiseTally:
    """Judgements on their way past, gathered by metric for their components.

    clusters: as of Tally. Left out: juries and cascades (their members' noise is in their scores already),
    thresholds of another judge, labels of which none is better, rows without a score, and those of questions
    of whose answers k of n must pass. A judge without a model is pooled with no other.
    """

    def __init__(self, clusters: Mapping[str, str] | None = None) -> None:
        self._clusters = clusters or {}
        self._groups: dict[_Key, _Group] = {}

    def add(self, row: Judgement) -> None:
        """Take one judgement."""
        metadata = row.metadata or {}
        instrument = instrument_of(row)
        has_no_mean = is_category(row) or k_of_n_of(row)
        if row.score is None or instrument is None or "members" in metadata or has_no_mean:
            return
        system, repeat = split_repeat(row.system)
        alone = row.judge if row.model == NO_MODEL else ""
        group = self._groups.setdefault(_Key(system, row.metric, row.scale, alone), _Group())
        samples = metadata.get(SAMPLES)
        drawn = samples.get("scores") if isinstance(samples, dict) else None
        values = [value for value in drawn or () if isinstance(value, int | float)] or [row.score]
        document = cluster_of(row, self._clusters)
        group.scores += [_Score(row.question_id, document, repeat, instrument, value) for value in values]
        calls, cost = row.usage.calls if row.usage else None, row.cost_usd
        group.calls = None if group.calls is None or calls is None else group.calls + calls
        group.cost_usd = None if group.cost_usd is None or cost is None else group.cost_usd + cost

    def components(self, seed: int = 0) -> list[MetricComponents]:
        """Return the mean of each metric of each system that was measured in more than one way."""
        measured = (_measured(key, group, seed) for key, group in self._groups.items())
        return [row for row in measured if row is not None]

    def notes(self) -> list[str]:
        """Return a note for each metric whose judges use different scales, so that no mean holds them all."""
        scales: dict[str, dict[Scale, set[str]]] = {}
        for key, group in self._groups.items():
            if not key.alone:
                judges = {score.instrument[0] for score in group.scores}
                scales.setdefault(key.metric, {}).setdefault(key.scale, set()).update(judges)
        return [
            f"The judges of {metric} use different scales ("
            + "; ".join(
                f"{', '.join(sorted(judges))}: "
                + (f"{scale[0]:g} to {scale[1]:g}" if scale else "none stated")
                for scale, judges in by_scale.items()
            )
            + "), so no mean is taken over all of them. A rubric can be asked on another scale: "
            "NAME@scale=0-10."
            for metric, by_scale in scales.items()
            if len(by_scale) > 1
        ]


@takes_rows(judgements=Judgement)
def noise_components(
    judgements: Iterable[Judgement], *, clusters: Mapping[str, str] | None = None, seed: int = 0
) -> Rows[MetricComponents]:
    """Return the mean of each metric over its judges, wordings and repeats, and what its noise is made of.

    Empty for metrics that one judge measured once, of answers given once. clusters: question id -> what it
    shares with others, as of summarise. See NoiseTally for what is left out.
    """
    tally = NoiseTally(clusters)
    for row in judgements:
        tally.add(row)
    return Rows(tally.components(seed), MetricComponents)


def instrument_of(row: Judgement) -> Instrument | None:
    """Return the judge, wording and model of a judgement; None of a threshold of another judge.

    `correctness@prompt=brief,samples=5` is the judge `correctness` in the wording `brief`.
    """
    name = row.judge.removesuffix(JOINT_SUFFIX)
    base, at, options = name.rpartition("@")
    if not at or "/" in options:
        return name, "", row.model
    chosen = dict(option.partition("=")[::2] for option in options.split(","))
    if "threshold" in chosen:
        return None
    wording = next((chosen.pop(name) for name in WORDINGS if name in chosen), "")
    chosen.pop("samples", None)
    rest = ",".join(f"{name}={value}" if value else name for name, value in chosen.items())
    return (f"{base}@{rest}" if rest else base), wording, row.model


def _measured(key: _Key, group: _Group, seed: int) -> MetricComponents | None:
    scores, scale = group.scores, key.scale
    questions = [score.question for score in scores]
    if len(set(questions)) == len(questions):
        return None
    models = list(dict.fromkeys(score.instrument[2] for score in scores))
    # A file that several models are asked with is a wording: what differs is the prompt.
    judge_of = {
        (name, wording, model): (model, f"{name}@prompt={wording}" if wording else name)
        if len(models) > 1
        else (name, wording)
        for name, wording, model in dict.fromkeys(score.instrument for score in scores)
    }
    kinds = [judge_of[score.instrument] for score in scores]
    components = statistics.mean_components(
        [score.value for score in scores],
        questions,
        answers=[score.repeat for score in scores],
        judges=[judge for judge, _ in kinds],
        wordings=[wording for _, wording in kinds],
        documents=[score.document for score in scores],
        bounds=scale,
        proportion=scale is None or scale == (0, 1),
        seed=seed,
    )
    if components is None:
        return None
    return MetricComponents(
        system=key.system,
        metric=key.metric,
        scale=scale,
        models=models,
        judges=list(dict.fromkeys(judge for judge, _ in kinds)),
        wordings=list(dict.fromkeys(wording for _, wording in kinds)),
        n=len(scores),
        components=components,
        calls=group.calls,
        cost_usd=group.cost_usd,
    )
