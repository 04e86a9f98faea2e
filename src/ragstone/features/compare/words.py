"""Two runs beside each other: their report, in the terminal and for a pull request."""

from collections.abc import Sequence
from pathlib import PurePath
from typing import NamedTuple
from urllib.parse import quote

from ragstone.features.compare._chosen_sentence_table import BY_QUESTION, BY_RESULT, WHY_NOT
from ragstone.features.compare._mode_words import mode_blocks
from ragstone.features.compare._people_words import labelled, people_told
from ragstone.features.compare._plots import difference_plot, intervals_told, move_plots
from ragstone.features.compare._sentence_table import (
    CAUTION,
    COUNTED,
    GATES,
    LOWEST,
    NEEDED,
    OUTCOME,
    SETTINGS,
    VERDICTS,
    ComparedSettings,
    is_unchanged,
)
from ragstone.features.compare._sizes import (
    UNIT_SCALE,
    full_name,
    in_order,
    listed,
    metric_name,
    name_on_scale,
    size_on,
)
from ragstone.features.compare.overlap import GivenDocument
from ragstone.features.compare.overlap_words import documents_told, overlap_table
from ragstone.features.compare.values import (
    ChosenQuestions,
    Comparison,
    Flip,
    Gate,
    MetricComparison,
    RankComparison,
    Side,
    SpentComparison,
    SpentFigures,
)
from ragstone.kernel.agreement.corrected_difference import CorrectedDifference
from ragstone.kernel.decimals import signed_decimal, signed_decimals
from ragstone.kernel.document.blocks import (
    Block,
    Cell,
    Column,
    Diff,
    Fold,
    Heading,
    Link,
    Made,
    Notes,
    Pairs,
    Paragraph,
    ReportDocument,
    SurfacePart,
    Table,
    Tone,
    table_of,
)
from ragstone.kernel.document.charts import Dot, Dots
from ragstone.kernel.document.numbers import count, number, one_line, p_told, signed, signed_interval
from ragstone.kernel.errors import plural
from ragstone.kernel.judging.summary import BOUNDS_FROM
from ragstone.kernel.records import NO_MODEL
from ragstone.kernel.runs.noise import difference_noise
from ragstone.kernel.runs.settings import SettingDifference
from ragstone.kernel.runs.wording import bounds, statuses
from ragstone.kernel.sentences import say
from ragstone.kernel.statistics import Estimate
from ragstone.kernel.statistics.families import ALPHA
from ragstone.kernel.version import __version__

SPENT_WORDS = {"seconds": "Seconds", "tokens": "Tokens", "usd": "USD for 1,000 answers"}
UNKNOWN_WORDS = {"seconds": "Seconds are", "tokens": "Tokens are", "usd": "The cost is"}
BESIDE = Column("B − A", beside="interval", ends=(-1.0, 1.0))
UNCHANGED = "no score differs"
VERDICT = Column("Verdict", text=True, short="")
SHOWN_FLIPS = 20  # of a kind: a comment on GitHub holds 65,536 characters
BRIEF_FLIPS = 3  # in a terminal
FIRST = ("worse", "better", "cannot tell")  # whose flips a terminal shows: those of one metric
LONGEST_ANSWER = 400  # characters on a page
CUT = 66  # characters of a question or an answer on a line there
TONES: dict[str, Tone] = {"better": "good", "worse": "bad", "cannot tell": "strong"}
GATE_TONES: dict[str, Tone] = {"passed": "good", "failed": "bad", "cannot tell": "warn"}


def comparison_document(
    comparison: Comparison,
    *,
    gated: bool = True,
    runs: tuple[str, str] | None = None,
    most: int = SHOWN_FLIPS,
) -> ReportDocument:
    """Return the verdicts, the numbers, what they rest on, and the questions that flipped.

    gated: with what the gate says; in a terminal that is the last line. runs: where a server has the pages of
    A and B, to which questions lead. most: questions of a kind that are shown.
    """
    # In a browser the outcome above has said it.
    is_said = runs is not None and comparison.gate.outcome == "cannot tell" and comparison.gate.margin is None
    rows = in_order(comparison)
    gate = gate_told(comparison.gate) if gated else ""
    chosen = comparison.chosen or None
    if chosen and chosen.by_results:
        return _without_verdict(comparison, chosen, gate, runs, most)
    explained = [
        block
        for row in rows
        for block in (
            Heading(full_name(row, comparison), level=3),
            Paragraph(metric_told(row, comparison.bounds_from), cautions=_cautions(row)),
        )
    ]
    return ReportDocument(
        title="Ragstone: B against A",
        kind="comparison",
        about="",
        version=__version__,
        blocks=[
            Paragraph(outcome(comparison), tone="outcome"),
            *([Paragraph(say(chosen, BY_QUESTION))] if chosen else []),
            *([Paragraph(gate, tone="strong", where="page")] if gated and not is_said else []),
            *_sides(comparison, runs),
            Notes(comparison.notes),
            *_changed(comparison),
            Heading("Metric by metric", anchor="metrics"),
            *difference_plot(comparison),
            _table(comparison),
            # What the plot of a page says of verdicts and intervals, for a terminal, which has no plot.
            *(
                Paragraph(sentence, tone="muted", where="terminal")
                for sentence in [intervals_told(comparison)]
                if sentence
            ),
            *_corrected(comparison),
            *mode_blocks(comparison),
            *map(Paragraph, noise_lines(comparison)),
            *(
                [Fold("In words: the tests, and what it would take to tell", explained)]
                if runs
                else explained
            ),
            *_overlap(comparison),
            *move_plots(comparison),
            *(fold for row in rows for fold in _flips(row, runs, most)),
            SurfacePart(_brief(comparison), where="terminal"),
            *_retrieval(comparison.retrieval),
            *_spent(comparison.spent),
            Paragraph(left_out(comparison), tone="muted"),
            *_dots(comparison),
        ],
        last=gate,
        last_tone=GATE_TONES[comparison.gate.outcome],
    )


def _without_verdict(
    comparison: Comparison, chosen: ChosenQuestions, gate: str, runs: tuple[str, str] | None, most: int
) -> ReportDocument:
    """Return means and flips of questions that results of the systems chose, and why nothing follows."""
    rows = in_order(comparison)
    columns: list[Made[MetricComparison]] = [
        (Column("Metric", text=True, short=""), lambda row: f"  {full_name(row, comparison)}"),
        ("A", lambda row: number(row.a.mean.value)),
        ("B", lambda row: number(row.b.mean.value)),
        (Column("Both scored", short="scored"), lambda row: count(row.n)),
        (Column("Scores that differ", short="differ"), lambda row: count(row.n_changed)),
    ]
    return ReportDocument(
        title="Ragstone: A and B on chosen questions",
        kind="comparison",
        about="",
        version=__version__,
        blocks=[
            Paragraph(say(chosen, BY_RESULT), tone="outcome"),
            Paragraph(say(chosen, WHY_NOT)),
            *_sides(comparison, runs),
            Notes(comparison.notes),
            *_changed(comparison),
            Heading("Means of the chosen questions", anchor="metrics"),
            table_of("Means of both, by metric", rows, columns),
            *(fold for row in rows for fold in _flips(row, runs, most)),
            SurfacePart(_brief(comparison), where="terminal"),
            Paragraph(left_out(comparison), tone="muted"),
        ],
        last=gate,
        last_tone=GATE_TONES[comparison.gate.outcome],
    )


def _sides(comparison: Comparison, runs: tuple[str, str] | None) -> list[Block]:
    """Return which run is A and which is B, of one run which system, with links where a server has pages."""
    pairs = {(row.a.system, row.b.system) for row in comparison.metrics}
    systems = pairs.pop() if comparison.a == comparison.b and len(pairs) == 1 else ("", "")
    named = [f", {system}" if system else "" for system in systems]
    names = (comparison.a, comparison.b)
    if runs is None:
        return [Pairs([(letter, name + own) for letter, name, own in zip("AB", names, named, strict=True)])]
    return [
        Paragraph(f"{letter}{own}: ", link=Link(PurePath(name).name, target))
        for letter, name, own, target in zip("AB", names, named, runs, strict=True)
    ]


def _table(comparison: Comparison) -> Table:
    """Return the metrics, headed by the systems, where there are several, and the model that judged."""
    several = len({systems_told(row) for row in comparison.metrics}) > 1

    def group(row: MetricComparison) -> str:
        by = "Baselines, no model" if row.model == NO_MODEL else f"By {row.model}"
        return f"{systems_told(row)}: {by}" if several else by

    columns: list[Made[MetricComparison]] = [
        (
            Column("Metric", text=True, short=""),
            lambda row: f"  {name_on_scale(row)}",
        ),
        ("A", lambda row: number(row.a.mean.value)),
        ("B", lambda row: number(row.b.mean.value)),
        (BESIDE, lambda row: _difference(row.difference, row.scale)),
        (VERDICT, _judges_verdict),
    ]
    rows = sorted(in_order(comparison), key=systems_told)
    return table_of(
        "Differences", rows, columns, group=group, part="" if labelled(comparison.metrics) else "main"
    )


def noise_lines(comparison: Comparison) -> list[str]:
    """Return the difference over all judges of the metric that says most, and what its noise is made of.

    Empty where each metric was measured once, and where people's labels decide: theirs is no judge's noise.
    """
    if any(row.corrected for row in comparison.metrics):
        return []
    return difference_noise(comparison.components or [])


def _verdict(row: MetricComparison) -> Cell:
    return Cell(UNCHANGED) if is_unchanged(row) else Cell(row.verdict, tone=TONES[row.verdict])


def _judges_verdict(row: MetricComparison) -> Cell:
    """Return what the judge's scores say; where labels decide, it is muted beside what they say."""
    if row.corrected is None or is_unchanged(row):
        return _verdict(row)
    if row.p_holm > ALPHA:
        return Cell("judge: cannot tell", tone="muted")
    is_better = (row.difference.value > 0) != (row.best == "lowest")
    return Cell(f"judge: {'better' if is_better else 'worse'}", tone="muted")


def _corrected(comparison: Comparison) -> list[Block]:
    """Return the differences that people would see beside the judge's; nothing without labels."""
    rows = labelled(in_order(comparison))
    if not rows:
        return []
    columns: list[Made[tuple[MetricComparison, CorrectedDifference]]] = [
        (Column("Metric", text=True, short=""), lambda pair: f"  {full_name(pair[0], comparison)}"),
        (
            Column("Labelled", short="labelled"),
            lambda pair: f"{count(pair[1].n_labelled)} of {count(pair[1].n_rows)}",
        ),
        (Column("Judge's B − A", short="judge's"), lambda pair: signed(pair[0].difference.value)),
        (BESIDE, lambda pair: _difference(pair[1].corrected, pair[1].scale)),
        (VERDICT, lambda pair: _verdict(pair[0])),
    ]
    return [
        Heading("What people would see", anchor="people"),
        table_of("Differences, corrected by people's labels", rows, columns, part="main"),
    ]


def _difference(estimate: Estimate, scale: tuple[float, float] | None) -> Cell:
    width = scale[1] - scale[0] if scale else 0.0
    at = estimate if scale else None
    return Cell(signed(estimate.value), signed_interval(estimate), "strong", at=at, ends=(-width, width))


def _changed(comparison: Comparison) -> list[Block]:
    """Return what differs in the settings, and what follows from that; nothing where it is not known."""
    if comparison.settings is None:
        return []
    several = len({row.decides for row in comparison.settings}) > 1

    def group(row: SettingDifference) -> str:
        if not several:
            return ""
        return "Can move the scores" if row.decides else "Moves no score that is compared"

    columns: list[Made[SettingDifference]] = [
        (Column("Setting", text=True, short=""), lambda row: Cell(row.name, short=f"  {row.name}")),
        (Column("A", text=True), lambda row: _set(row.a)),
        (Column("B", text=True), lambda row: _set(row.b)),
    ]
    table = table_of("Settings that differ", comparison.settings, columns, group=group)
    prompt = [Heading("The prompt, A to B", level=3), Diff(comparison.prompt_diff, "The prompt, A to B")]
    return [
        Heading("What changed", anchor="changed"),
        *([table] if comparison.settings else []),
        Paragraph(say(ComparedSettings(tuple(comparison.settings)), *SETTINGS)),
        *(prompt if comparison.prompt_diff else []),
    ]


def _set(value: str | None) -> Cell:
    return Cell("not set", tone="muted") if value is None else Cell(value)


def _retrieval(rows: Sequence[RankComparison]) -> list[Block]:
    """Return the rank measures of both runs; nothing where one of them ranked nothing."""
    if not rows:
        return []
    columns: list[Made[RankComparison]] = [
        (
            Column("Measure", text=True, short=""),
            lambda row: Cell(
                row.measure,
                f"of {plural(row.n, 'question')}" if row.n != rows[0].n else "",
                short=f"  {row.measure}",
            ),
        ),
        ("A", lambda row: number(row.a.value)),
        ("B", lambda row: number(row.b.value)),
        (
            BESIDE,
            lambda row: Cell("0.00") if row.n_changed == 0 else _difference(row.difference, UNIT_SCALE),
        ),
        (VERDICT, _rank_verdict),
    ]
    name = one_of(rows[0].retriever_a, rows[0].retriever_b)
    holm = f" p is corrected for {rows[0].family} measures (Holm)." if rows[0].family > 1 else ""
    rests_on = f"{name}, on {plural(rows[0].n, 'question')} that both ranked.{holm}"
    return [
        Heading("Retrieval", anchor="retrieval"),
        table_of("Rank measures", rows, columns),
        Paragraph(rests_on, tone="muted"),
    ]


def _rank_verdict(row: RankComparison) -> Cell:
    if row.n_changed == 0:
        return Cell("same")
    return Cell(row.verdict, p_told(row.p_holm), TONES[row.verdict])


class _SpentRow(NamedTuple):
    """A row of the table of what answers took: in what, and the figures."""

    row: SpentComparison
    words: str
    figures: SpentFigures


def _spent(compared: Sequence[SpentComparison]) -> list[Block]:
    """Return what answers took; unknown is told as that."""
    if not compared:
        return []
    rows = [
        _SpentRow(row, f"{SPENT_WORDS[row.what]}{', ' + kind if row.median else ''}", figures)
        for row in compared
        for kind, figures in (("mean", row.mean), ("median", row.median))
        if figures
    ]
    several = len({(row.system_a, row.system_b) for row in compared}) > 1
    columns: list[Made[_SpentRow]] = [
        (
            Column("An answer took", text=True, short=""),
            lambda spent: Cell(spent.words, short=f"  {spent.words}"),
        ),
        ("A", lambda spent: _amount(spent.figures.a.value, spent.row)),
        ("B", lambda spent: _amount(spent.figures.b.value, spent.row)),
        (Column("B − A", beside="interval"), _spent_difference),
        (VERDICT, lambda spent: _spent_verdict(spent.figures)),
    ]

    def group(spent: _SpentRow) -> str:
        return one_of(spent.row.system_a, spent.row.system_b) if several else ""

    unknown = [
        Paragraph(f"{one_of(row.system_a, row.system_b)}: {note}" if several else note, tone="muted")
        for row in compared
        if (note := unknown_told(row))
    ]
    table = [table_of("Seconds, tokens and money", rows, columns, group=group)] if rows else []
    return [Heading("Time and cost of the answers", anchor="spent"), *table, *unknown]


def _kinds(row: MetricComparison) -> list[tuple[str, list[Flip]]]:
    kinds = (
        ("from right to wrong", row.right_to_wrong),
        ("from wrong to right", row.wrong_to_right),
        ("wrong in both", row.wrong_in_both),
    )
    return [(kind, flips) for kind, flips in kinds if flips]


def _flips(row: MetricComparison, runs: tuple[str, str] | None, most: int) -> list[Block]:
    """Return the questions that A, B or both get wrong, to open, with what each answered from."""

    def side(name: str, score: float, answer: str | None, flip: Flip) -> Cell:
        links: tuple[Link, ...] = ()
        if runs:
            target = f"{runs['AB'.index(name)]}/row?question={quote(flip.question_id, safe='')}"
            links = (Link(f"Open in {name}", target),)
        return Cell(number(score), one_line(answer or "", LONGEST_ANSWER), links=links)

    columns: list[Made[Flip]] = [
        (Column("Question", text=True), lambda flip: Cell(flip.question_id, flip.question or "", "strong")),
        (Column("A", text=True), lambda flip: side("A", flip.score_a, flip.answer_a, flip)),
        (Column("B", text=True), lambda flip: side("B", flip.score_b, flip.answer_b, flip)),
    ]
    retrieved: list[Made[Flip]] = [
        (Column("Retrieved by A", text=True), lambda flip: _retrieved(flip.documents_a)),
        (Column("Retrieved by B", text=True), lambda flip: _retrieved(flip.documents_b)),
    ]
    folds: list[Block] = []
    for kind, flips in _kinds(row):
        if any(flip.documents_a or flip.documents_b for flip in flips):
            columns = [*columns[:3], *retrieved]
        head = f"{plural(len(flips), 'question')} {kind} by {metric_name(row)}"
        more = len(flips) - most
        rest = [Paragraph(f"And {count(more)} more.", tone="muted")] if more > 0 else []
        folds.append(Fold(head, [table_of(head, flips[:most], columns, kind="wide flips"), *rest]))
    return folds


def _brief(comparison: Comparison) -> list[Block]:
    """Return the first of these questions, by the metric that says most."""
    crossed = [row for row in in_order(comparison) if _kinds(row)]
    if not crossed:
        return []
    row = min(crossed, key=lambda row: FIRST.index(row.verdict))
    blocks: list[Block] = []
    for kind, flips in _kinds(row):
        blocks.append(Heading(f"{kind.capitalize()} by {full_name(row, comparison)}", level=3))
        blocks += [Paragraph(line) for flip in flips[:BRIEF_FLIPS] for line in _flip(flip)]
        more = len(flips) - BRIEF_FLIPS
        blocks += [Paragraph(f"  and {plural(more, 'question')} more", tone="muted")] if more > 0 else []
    return blocks


def _flip(flip: Flip) -> list[str]:
    title = flip.question_id + (f" · {flip.question}" if flip.question else "")
    sides = (
        ("A", flip.answer_a, flip.score_a, flip.documents_a),
        ("B", flip.answer_b, flip.score_b, flip.documents_b),
    )
    lines = [f"  {one_line(title, CUT)}"]
    for name, label, score, documents in sides:
        lines.append(f"    {name} {number(score)}  {one_line(label or '', CUT)}".rstrip())
        lines += [f"      from {one_line(documents_told(documents), CUT)}"] if documents is not None else []
    return lines


def _documents(flip: Flip) -> list[GivenDocument]:
    return [*(flip.documents_a or ()), *(flip.documents_b or ())]


def _retrieved(documents: Sequence[GivenDocument] | None) -> str:
    return one_line(documents_told(documents), LONGEST_ANSWER)


def _overlap(comparison: Comparison) -> list[Block]:
    """Return which of the two is wrong, metric by metric; nothing where no scale is known."""
    overlaps = [(full_name(row, comparison), row.overlap) for row in in_order(comparison) if row.overlap]
    if not overlaps:
        return []
    wrong = "a score below the middle of the scale"
    if any(row.best == "lowest" for row in comparison.metrics if row.overlap):
        wrong += ", or above it where the lowest is best"
    about = f"Wrong means {wrong}."
    flips = [flip for row in comparison.metrics if row.overlap for _, flips in _kinds(row) for flip in flips]
    if any(document.copy for flip in flips for document in _documents(flip)):
        about += " ✓ marks a document that the question names."
    bare = [*dict.fromkeys(row.judge for row in comparison.metrics if row.overlap and row.model == NO_MODEL)]
    if bare:
        ask, call = ("asks", "it calls") if len(bare) == 1 else ("ask", "they call")
        about += f" {listed(bare)} {ask} no model: people may not agree with what {call} wrong or right."
    return [
        Heading("Errors of one and of both", anchor="errors"),
        Paragraph(about, tone="muted"),
        overlap_table(overlaps),
    ]


def _dots(comparison: Comparison) -> list[Block]:
    """Return the differences as shares of the scale: above 0 the second run is better."""
    several = len({metric.b.system for metric in comparison.metrics}) > 1
    dots = []
    for row in comparison.metrics:
        scale = row.corrected.scale if row.corrected else row.scale
        width = scale[1] - scale[0] if scale else 1.0
        there = row.corrected.corrected if row.corrected else row.difference
        low, high = (end if end is None else end / width for end in (there.low, there.high))
        name = f"{metric_name(row)}, {systems_told(row)}" if several else metric_name(row)
        dots.append(Dot(name=name, value=there.value / width, low=low, high=high, group=row.verdict))
    title = "Second run minus first, as a share of the scale"
    return [Dots(title=title, dots=dots, ends=(-0.1, 0.1))] if dots else []


def outcome(comparison: Comparison) -> str:
    """Return the verdicts as one sentence: what B is better in, worse in, and where nobody can tell.

    Scores that are all the same are no riddle: that is said, with what so few questions can hide.
    """
    line = "; ".join(filter(None, (say(comparison, *clause) for clause in OUTCOME)))
    return line[0].upper() + line[1:] + "."


def systems_told(row: MetricComparison) -> str:
    """Return the system, or both where they have other names."""
    return one_of(row.a.system, row.b.system)


def one_of(a: str, b: str) -> str:
    """Return what both are called, or both names."""
    return a if a == b else f"{a} → {b}"


def size(value: float, row: MetricComparison) -> str:
    """Return a difference of the judge's scores without its sign, see size_on."""
    return size_on(value, row.scale)


def metric_told(row: MetricComparison, least: float = BOUNDS_FROM) -> str:
    """Return the verdict on one metric with all it rests on, as sentences. least: as of wording.bounds."""
    sentences = [
        say(row, *VERDICTS),
        say(row, LOWEST),
        *people_told(row),
        *(say(row, *sentences) for sentences in COUNTED),
        _denominator(row, least),
        *(say(row, *sentences) for sentences in CAUTION),
    ]
    return " ".join(filter(None, sentences))


def _cautions(row: MetricComparison) -> int:
    """Return how many sentences on a metric are cautions, with that on rows that failed."""
    own = [sentences for sentences in CAUTION if sentences is not NEEDED]
    cautions = [*(say(row, *sentences) for sentences in own), _denominator(row, BOUNDS_FROM)]
    return len([sentence for sentence in cautions if sentence])


def _denominator(row: MetricComparison, least: float) -> str:
    """Return who scored how many, where that is not the same everywhere."""
    if not (row.lost or row.gained or _others(row.a) or _others(row.b)):
        return ""
    sides = (f"{name} {_scored(side, least)}" for name, side in (("A", row.a), ("B", row.b)))
    return f"Both scored {count(row.n)}, which are compared: {'; '.join(sides)}."


def _others(side: Side) -> str:
    return statuses(side.statuses)


def _scored(side: Side, least: float) -> str:
    others = "; ".join(filter(None, [_others(side), bounds(side.bounds, side.statuses, least)]))
    total = sum(side.statuses.values())
    return f"{count(side.statuses.get('scored', 0))} of {count(total)}" + (f" ({others})" if others else "")


def unknown_told(row: SpentComparison) -> str:
    """Return how many answers do not say what they took, so that they count nowhere; empty if all do."""
    unknown = " and ".join(
        f"{plural(n, 'answer')} of {name}" for name, n in (("A", row.unknown_a), ("B", row.unknown_b)) if n
    )
    if not unknown:
        return ""
    counted = (
        f": {count(row.n)} {'is' if row.n == 1 else 'are'} compared" if row.n else ", so nothing is compared"
    )
    return f"{UNKNOWN_WORDS[row.what]} unknown for {unknown}{counted}."


def _spent_difference(spent: _SpentRow) -> Cell:
    difference = spent.figures.difference
    low, high, ends = difference.low, difference.high, ""
    if low is not None and high is not None:
        scale, places = UNITS.get(spent.row.what, (1, 2))
        if spent.row.what == "tokens" and round(low) and round(high):  # with thousands set apart
            ends = f"{_signed_amount(low, spent.row)} to {_signed_amount(high, spent.row)}"
        else:
            ends = signed_decimals(scale * low, scale * high, places)
    return Cell(_signed_amount(difference.value, spent.row), ends, "strong")


def _spent_verdict(figures: SpentFigures) -> Cell:
    """Return whether the difference is beyond chance; nothing where too little is known."""
    difference = figures.difference
    if difference.low is None or difference.high is None:
        return Cell("same" if figures.n_changed == 0 else "")
    beyond = "more" if difference.low > 0 else "less" if difference.high < 0 else "cannot tell"
    return Cell(beyond, tone="strong")


UNITS = {"tokens": (1, 0), "usd": (1000, 4)}  # what is spent -> its factor and decimals


def _amount(value: float, row: SpentComparison) -> str:
    if row.what == "tokens":
        return count(round(value))
    return f"{value * 1000:.4f}" if row.what == "usd" else f"{value:.2f}"


def _signed_amount(value: float, row: SpentComparison) -> str:
    if row.what == "tokens" and round(value):
        return f"{'−' if value < 0 else '+'}{_amount(abs(value), row)}"
    scale, places = UNITS.get(row.what, (1, 2))
    return signed_decimal(scale * value, places)


def gate_told(gate: Gate) -> str:
    """Return the gate's word and what decided it."""
    return say(gate, *GATES)


def gate_text(comparison: Comparison) -> str:
    """Return the gate's word and what decided it, and below it the verdict on each metric, a line each."""
    names = (
        row.judge if row.judge == row.metric else f"{row.judge} ({row.metric})" for row in comparison.metrics
    )
    lines = [f"  {name}: {metric_told(row)}" for name, row in zip(names, comparison.metrics, strict=True)]
    return "\n".join([gate_told(comparison.gate), *lines])


def left_out(comparison: Comparison) -> str:
    """Return what was compared, and what stands on one side only."""
    sentences = [f"Compared on {plural(comparison.n_shared, 'question')} that both have"]
    if comparison.n_left_out:
        sentences.append(
            f"; {count(comparison.n_left_out)} that differ, or are in only one of them, are left out"
        )
    for name, only in (("A", comparison.only_a), ("B", comparison.only_b)):
        if only:
            sentences.append(f"; only in {name}: {', '.join(only)}")
    return "".join(sentences) + "."
