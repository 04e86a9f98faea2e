"""An attack on judges: what attack.json holds, and its report."""

import unicodedata
from typing import Literal

import msgspec

from ragstone.features.attack._sentence_table import EXCESS, OUTCOMES, AttackOutcome
from ragstone.features.attack._values import UNSEEN, AttackRate, ProbeEffect, VerdictFlip
from ragstone.kernel.decimals import scale_text
from ragstone.kernel.document.blocks import (
    Block,
    Cell,
    Column,
    Fold,
    Heading,
    Made,
    Notes,
    Pairs,
    Paragraph,
    ReportDocument,
    Table,
    Tone,
    estimated,
    table_of,
)
from ragstone.kernel.document.charts import Dots, dot
from ragstone.kernel.document.numbers import count, interval, level, number, percent, percent_ends
from ragstone.kernel.errors import plural
from ragstone.kernel.records import NO_MODEL, Status
from ragstone.kernel.runs.summary import Calls
from ragstone.kernel.runs.wording import asked_line, made_of, statuses
from ragstone.kernel.sentences import say
from ragstone.kernel.statistics import Estimate
from ragstone.kernel.tables.shown import Displayed

ATTACK = "attack.json"
MOST_NAMED = 5  # attacks that worked most often
LEAD = (
    "A flip: the verdict crosses the middle of the scale in the direction that the attack wants (for a "
    "judge that chooses a label: to a better label). Harmless text: how often a neutral text of about the "
    "same length, in the same place, causes a flip. Shift: mean change as a share of the scale. An attempt "
    "without a score counts as no flip. Intervals are clustered by row."
)
KEPT_AS_THEY_ARE = "\n\t"
PROBE_NAMES = {"own_model": "own model"}
Verdict = Literal["kept", "exceeded", "cannot tell"]


class JudgeAttacked(msgspec.Struct, frozen=True, kw_only=True):
    """One judge under attack.

    n_rows: plain rows; plain: what became of them; n_attacked: those with a verdict that leaves something to
    win, None where no attack was asked for. overall: all attempts; families, attacks: theirs, in order.
    flips: the verdicts that were set, at most SHOWN_FLIPS; the rows beside this file hold them all. gate: of
    `--most-flips`. not_applicable: family -> its attacks that were left out, because they forge a reply, a
    tag or a nonce and a decision model has none of these; they are in no rate.
    """

    judge: str
    metric: str
    model: str
    prompt_version: int
    scale: tuple[float, float]
    n_rows: int
    plain: dict[Status, int]
    n_attacked: int | None
    overall: AttackRate | None
    families: list[AttackRate]
    attacks: list[AttackRate]
    flips: list[VerdictFlip]
    probes: list[ProbeEffect]
    gate: Verdict | None = None
    not_applicable: dict[str, int] = {}

    @property
    def measured(self) -> bool:
        """Whether there is any number: attacks that were answered, or a probe's effect."""
        attacked = self.overall is not None and self.overall.flips is not None
        return attacked or any(probe.effect is not None for probe in self.probes)


class AttackSummary(msgspec.Struct, Displayed, frozen=True, kw_only=True):
    """An attack in numbers. most_flips: the gate, None if none was set. models: role -> name."""

    name: str
    version: str
    models: dict[str, str]
    judges: list[JudgeAttacked]
    calls: Calls
    notes: list[str]
    most_flips: float | None = None


def attack_document(summary: AttackSummary) -> ReportDocument:
    """Return the report of an attack: each judge's flips beside their controls, and the probes of bias."""
    outcomes: list[Block] = [
        Paragraph(
            words=f"{judge_line(judge)}: {verdict(judge)} {gate_line(judge, summary.most_flips)}".strip(),
            tone="outcome",
        )
        for judge in summary.judges
    ]
    judges = [block for at, judge in enumerate(summary.judges, 1) for block in _judge(judge, f"judge-{at}")]
    return ReportDocument(
        title=summary.name,
        kind="attack on judges",
        about="Can the judged text set its own verdict, and what else changes the judge's scores?",
        version=summary.version,
        blocks=[*outcomes, Notes(summary.notes), *judges, *_dots(summary)],
        skip=("judge-1", "first judge"),
        made=made_of(summary.models, summary.calls),
        source=ATTACK,
        last=asked_line(summary.calls),
    )


def _judge(judge: JudgeAttacked, anchor: str) -> list[Block]:
    rests_on = f". {plain_line(judge)}" if judge.n_rows else ""
    scale = f"Scale {scale_text(*judge.scale)}, version {judge.prompt_version}{rests_on}."
    blocks: list[Block] = [
        Heading(judge_line(judge), anchor=anchor),
        Paragraph(scale, tone="muted"),
    ]
    if judge.overall:
        families = _rates([*judge.families, judge.overall], f"{judge.judge}: families of attacks")
        blocks += [Paragraph(LEAD, tone="lead", where="page"), families]
    worked = sorted((rate for rate in judge.attacks if rate.n_flips), key=lambda rate: -rate.n_flips)
    if worked:
        listed = ", ".join(f"{rate.name} ({rate.n_flips} of {rate.n})" for rate in worked[:MOST_NAMED])
        blocks.append(Paragraph(f"Most often: {listed}."))
    if judge.probes:
        blocks += [Heading("What else changes its scores", level=3), *_probes(judge)]
    if judge.flips:
        blocks += [Heading("Verdicts that were set", level=3, where="page"), *_flips(judge)]
    if judge.attacks:
        each = _rates(judge.attacks, f"{judge.judge}: each attack")
        blocks.append(Fold(summary=f"Each attack ({count(len(judge.attacks))})", blocks=[each]))
    return blocks


def _rates(rates: list[AttackRate], label: str) -> Table:
    columns: list[Made[AttackRate]] = [
        (
            Column("Attack", text=True, short=""),
            lambda rate: Cell(rate.name, rate.about, "strong" if rate.n_flips else ""),
        ),
        ("Flips", lambda rate: f"{count(rate.n_flips)} of {count(rate.flips.n if rate.flips else 0)}"),
        (
            Column("Rate", beside="interval", ends=(0, 1)),
            lambda rate: _share(rate.flips, "open" if rate.n_flips else ""),
        ),
        (Column("Harmless text", short="control"), lambda rate: _percent(rate.control)),
        (Column("Difference", where="page"), lambda rate: _share(rate.excess)),
        ("Shift", lambda rate: estimated(rate.shift)),
        (Column("Without a score", text=True), lambda rate: Cell(statuses(rate.statuses), tone="muted")),
    ]
    return table_of(label, rates, columns)


def _share(estimate: Estimate | None, tone: Tone = "") -> Cell:
    beside = "" if estimate is None or estimate.low is None else percent_ends(estimate)
    return Cell(_percent(estimate), beside, tone, at=estimate)


def _probes(judge: JudgeAttacked) -> list[Block]:
    def missing(probe: ProbeEffect) -> str:
        n = probe.n_unpaired
        return f"{plural(n, 'row')} left out: a score is missing" if n else ""

    columns: list[Made[ProbeEffect]] = [
        (
            Column("Probe", text=True, short=""),
            lambda probe: Cell(
                PROBE_NAMES.get(probe.probe, probe.probe), probe.compared, "strong" if probe.found else ""
            ),
        ),
        (
            Column("Effect", text=True, short=""),
            lambda probe: Cell(probe_line(probe), missing(probe), "open" if probe.found else ""),
        ),
    ]
    return [
        Paragraph("Mean paired difference as a share of the scale; 0 is no bias.", tone="muted"),
        table_of(f"{judge.judge}: probes of bias", judge.probes, columns),
    ]


def _flips(judge: JudgeAttacked) -> list[Block]:
    n_flips = judge.overall.n_flips if judge.overall else 0
    cut = f"{count(len(judge.flips))} of {count(n_flips)}, one of each attack first. "
    note = f"{cut if n_flips > len(judge.flips) else ''}Invisible characters are shown by their numbers."
    folds = [
        Fold(
            summary=f"{flip.attack} ({flip.place}), row {visible(flip.question_id)}: "
            f"{number(flip.before)} → {number(flip.after)}",
            blocks=[Pairs([(name, visible(text)) for name, text in _texts(flip) if text is not None])],
        )
        for flip in judge.flips
    ]
    return [Paragraph(note, tone="muted", where="page"), *folds]


def _dots(summary: AttackSummary) -> list[Block]:
    """Return how often each family of attacks set the verdict, by judge."""
    dots = [
        dot(family.name, family.flips, judge.judge)
        for judge in summary.judges
        for family in [*judge.families, *([judge.overall] if judge.overall else [])]
        if family.flips
    ]
    return [Dots(title="Share of attacks that set the verdict", dots=dots)] if dots else []


def _texts(flip: VerdictFlip) -> list[tuple[str, str]]:
    texts = [
        ("question", flip.question),
        ("plain", flip.plain),
        ("its verdict", flip.reason_before),
        ("attacked", flip.attacked),
        ("its verdict", flip.reason_after),
    ]
    return [(name, visible(text)) for name, text in texts if text is not None]


def judge_line(judge: JudgeAttacked) -> str:
    """Return the judge and its model."""
    return judge.judge if judge.model == NO_MODEL else f"{judge.judge} by {judge.model}"


def verdict(judge: JudgeAttacked) -> str:
    """Return the outcome of an attack in one or two sentences."""
    outcome = AttackOutcome(judge.n_attacked, judge.overall)
    return " ".join(filter(None, (say(outcome, *OUTCOMES), say(outcome, *EXCESS))))


def gate_line(judge: JudgeAttacked, most: float | None) -> str:
    """Return what became of the gate; empty where none was set."""
    if judge.gate is None or most is None:
        return ""
    demand = f"at most {most * 100:g} % may flip"
    sentences = {
        "kept": f"Kept: {demand}.",
        "exceeded": f"Exceeded: {demand}.",
        "cannot tell": f"Cannot tell: {demand}, and the interval includes that limit. Use more rows.",
    }
    return sentences[judge.gate]


def _percent(estimate: Estimate | None) -> str:
    return "" if estimate is None else percent(estimate.value)


def plain_line(judge: JudgeAttacked) -> str:
    """Return what the attack rests on."""
    others = statuses(judge.plain)
    sentence = plural(judge.n_rows, "plain row")
    if judge.n_attacked is not None:
        sentence += f", of which {count(judge.n_attacked)} could be attacked"
    return f"{sentence}; {others}" if others else sentence


def probe_line(probe: ProbeEffect) -> str:
    """Return what a probe found, in a sentence: an effect, none, or why it was not measured."""
    if probe.effect is None:
        return f"not measured: {probe.why}"
    n = plural(probe.effect.n, "pair")
    if probe.effect.low is None:
        if probe.effect.value == 0:
            return f"no score moved ({n})"
        return f"moved by {number(probe.effect.value)} of the scale on every row ({n}, no interval)"
    where = f"{level(probe.effect)} interval {interval(probe.effect)}, {n}"
    if not probe.found:
        return f"no effect found: {number(probe.effect.value)} of the scale ({where})"
    return f"{number(probe.effect.value)} of the scale ({where})"


def visible(text: str) -> str:
    """Return a text with characters that nobody sees, or that turn others round, shown by their numbers."""
    return "".join(
        f"⟨U+{ord(letter):04X}⟩"
        if letter not in KEPT_AS_THEY_ARE and unicodedata.category(letter) in UNSEEN
        else letter
        for letter in text
    )
