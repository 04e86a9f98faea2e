"""What intervals of a run hold: the noise of questions, answers, judges, wordings; what would narrow them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragstone.kernel.decimals import scale_text
from ragstone.kernel.document.blocks import Block, Cell, Column, Heading, Made, Paragraph, table_of
from ragstone.kernel.document.numbers import (
    count,
    interval,
    level,
    number,
    percent,
    signed,
    signed_interval,
    usd,
)
from ragstone.kernel.errors import plural
from ragstone.kernel.judging.noise import MetricComponents
from ragstone.kernel.records import NO_MODEL
from ragstone.kernel.runs.headlines import HEADLINE_METRICS
from ragstone.kernel.runs.summary import RunSummary

if TYPE_CHECKING:
    from ragstone.kernel.statistics import Source

FEW = 5  # questions, judges or wordings, up to which their share in the noise is a rough one
WORTH = 0.95  # of the half width: what narrows it less is not advised
NOISE_OF: "dict[Source, str]" = {
    "questions": "the choice of questions",
    "answers": "answers that differ when they are generated again",
    "judges": "the choice of judges",
    "wordings": "the wording of the judges",
    "repeats": "verdicts that differ when a judge is asked again",
}
DRAWN: "tuple[Source, ...]" = ("questions", "judges", "wordings")  # few of them tell little of the others
KIND: "dict[Source, str]" = {
    "questions": "question",
    "answers": "answer",
    "judges": "judge",
    "wordings": "wording",
    "repeats": "verdict",
}


def noise_blocks(summary: RunSummary) -> list[Block]:
    """Return which noise the intervals hold, and the means that hold that of judges and wordings too.

    Nothing where questions alone make noise: answers quoted from documents, judged without a model.
    """
    measured = summary.components or []
    line = held_noise(summary)
    blocks: list[Block] = [Paragraph(line, tone="muted")] if line else []
    if not measured:
        return blocks
    pooled = [row for row in measured if row.components.estimate.method == "components"]
    several = len({metric.system for metric in summary.metrics}) > 1

    def name(row: MetricComponents) -> str:
        unit = f" ({scale_text(*row.scale)})" if row.scale and row.scale != (0, 1) else ""
        return (f"{row.system}: " if several else "") + row.metric + unit

    columns: list[Made[MetricComponents]] = [
        (Column("", text=True), name),
        ("mean", lambda row: Cell(number(row.components.estimate.value), tone="strong")),
        (f"{drawn_of(pooled)} like these", lambda row: interval(row.components.estimate)),
        ("these alone", lambda row: interval(row.components.fixed)),
        (Column("", text=True), measured_by),
    ]
    if pooled:
        blocks.append(Heading("Over all judges and wordings", level=3))
        blocks.append(table_of("Means over all judges and wordings", pooled, columns))
    sentence = noise_sentence(measured, several=several)
    return [*blocks, Paragraph(sentence)] if sentence else blocks


def difference_noise(rows: Sequence[MetricComponents]) -> list[str]:
    """Return the difference of two runs over all judges of the metric that says most, and its noise in words.

    rows: of the differences, B minus A. Empty where nothing was measured twice.
    """
    pooled = [row for row in rows if row.components.estimate.method == "components"][:1]
    lines = [
        f"Over {measured_by(row)} of {row.metric}, B − A is {signed(row.components.estimate.value)}, "
        f"{level(row.components.estimate)} interval {signed_interval(row.components.estimate)} for "
        f"{drawn_of(pooled)} like these, {signed_interval(row.components.fixed)} for these alone."
        for row in pooled
    ]
    return [line for line in (*lines, noise_sentence(rows, of="B − A in")) if line]


def drawn_of(rows: Sequence[MetricComponents]) -> str:
    """Return what was drawn beside questions: `judges`, `wordings`, or `judges and wordings`."""
    kinds: tuple[Source, ...] = ("judges", "wordings")
    return " and ".join(kind for kind in kinds if any(row.components.levels[kind] > 1 for row in rows))


def held_noise(summary: RunSummary) -> str:
    """Return which noise the intervals of single judges hold and which they lack; empty where it is none.

    Of answers in a sheet nobody knows whether they would come out the same again.
    """
    if not any(metric.estimate and metric.estimate.low is not None for metric in summary.metrics):
        return ""
    systems = {
        role: name for role, name in summary.models.items() if role == "answer" or role.startswith("system ")
    }
    quoted = bool(systems) and set(systems.values()) == {"extractive"}
    by_model = any(metric.model != NO_MODEL and metric.estimate for metric in summary.metrics)
    measured = {
        source for row in summary.components or () for source, n in row.components.levels.items() if n > 1
    }
    repeated = "answers" in measured
    lacking = [
        *(["new answers"] if not (quoted or repeated) and (systems or by_model) else []),
        *(["another judge"] if by_model and not {"judges", "wordings"} & measured else []),
    ]
    held = f"the noise of questions{' and new answers' if repeated else ''}"
    if lacking:
        return f"Intervals include {held}, not of {' or '.join(lacking)}."
    return f"Intervals of single judges include {held}." if measured - {"questions"} else ""


def noise_sentence(
    rows: Sequence[MetricComponents], *, several: bool = False, of: str = "the mean of"
) -> str:
    """Return the largest share in the noise of the metric that says most, what would narrow it, and the cost.

    several: other systems are there, so the system is named. of: what is taken of the metric. Empty where
    nothing was measured twice.
    """
    ranks = {name: at for at, name in enumerate(HEADLINE_METRICS)}
    row = min(
        rows, key=lambda row: (row.models == [NO_MODEL], ranks.get(row.metric, len(ranks))), default=None
    )
    noise = row.components if row else None
    if row is None or noise is None or not noise.shares.keys() | {"questions"} <= noise.levels.keys():
        return ""  # of a summary that another program wrote, too
    source = max(noise.shares, key=lambda name: noise.shares[name])
    few = [name for name in (source, "questions") if noise.levels[name] <= FEW and name in DRAWN]
    whose = row.metric + (f" by {row.judges[0]}" if row.models == [NO_MODEL] else "")
    whose += f" of {row.system}" if several else ""
    lead = f"Of the variance of {of} {whose}, {percent(noise.shares[source])} comes from {NOISE_OF[source]}"
    lead += f" (a rough share, from {plural(noise.levels[few[0]], KIND[few[0]])})" if few else ""
    uneven = (
        ""
        if noise.balanced
        else " The number of verdicts differs between questions; the interval allows for that."
    )
    half = noise.doubled[source]
    if half > WORTH * noise.half_width:
        return f"{lead}.{uneven}"
    effect = f"about {percent(1 - half / noise.half_width)} narrower"
    if noise.estimate.method == "components":  # else the interval beside it is another one, see `fixed`
        width = row.scale[1] - row.scale[0] if row.scale else None
        now = f"± {number(noise.half_width)}"
        now = now if width is None or noise.half_width < width else "the whole scale"
        effect = f"about ± {number(half)} instead of {now}"
    sentence = f"{lead}: {_twice(row, source)} would make the interval {effect}"
    if source != "questions":
        more = noise.questions_instead[source]
        price = _cost(row, (more or 0) / noise.levels["questions"])
        instead = (
            f"so would {plural(more, 'more question')} ({price})"
            if more
            else "many times as many questions would not"
        )
        sentence += f"; {instead}"
    return f"{sentence}.{uneven}"


def _twice(row: MetricComponents, source: "Source") -> str:
    """Return what twice as many of a source are, and what they cost."""
    levels, price = row.components.levels, _cost(row, 1)
    n = levels[source]
    if source == "repeats":
        return f"to ask each judge {count(2 * n)} times ({price})"
    if source == "answers":
        new = plural(n * levels["questions"], "more answer")
        return f"{count(2 * n)} answers to each question ({new}, {price})"
    return f"{plural(n, 'more ' + KIND[source])} ({price})"


def _cost(row: MetricComponents, times: float) -> str:
    """Return what so many times the judgements of a metric cost in calls and money, as far as it is known."""
    n = row.n if not row.calls else row.calls
    price = f", {usd(row.cost_usd * times)}" if row.cost_usd else ""
    return f"{plural(round(n * times), 'more call' if row.calls else 'more judgement')}{price}"


def measured_by(row: MetricComponents) -> str:
    """Return `3 judges × 2 wordings`."""
    levels = row.components.levels
    return " × ".join(
        plural(levels[source], kind)
        for source, kind in KIND.items()
        if source != "questions" and levels[source] > 1
    )
