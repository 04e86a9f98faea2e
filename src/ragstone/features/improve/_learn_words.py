"""What learning a judge found: its sentences, its table, and the lines that a new version's file keeps."""

from pathlib import Path

from ragstone.features.improve._develop_words import MEASURED, TONES
from ragstone.features.improve.learned import (
    USUALLY_TOO_FEW,
    CandidateState,
    LearnedCandidate,
    LearnedTest,
    Learning,
    gain,
)
from ragstone.kernel.decimals import signed_decimal, signed_decimals
from ragstone.kernel.document.blocks import Block, Column, Listing, Paragraph, ReportDocument, Row, Table
from ragstone.kernel.document.numbers import count, number, one_line, p_told, signed, signed_interval, usd
from ragstone.kernel.errors import plural
from ragstone.kernel.judging.tuned import left_out_text
from ragstone.kernel.statistics import Estimate
from ragstone.kernel.version import __version__

STATES: dict[CandidateState, str] = {
    "measured": "measured",
    "stopped": "stopped early",
    "refused": "not measured",
    "over_budget": "over budget",
}


def learning_document(learning: Learning) -> ReportDocument:
    """Return what `ragstone judges learn` shows: what became of it, then the table of what was tried."""
    blocks: list[Block] = [
        Paragraph(
            learning_headline(learning),
            TONES["better" if learning.verdict == "better" else "cannot tell"],
            part="answer",
        ),
        Paragraph(set_text(learning), "muted"),
    ]
    if learning.candidates:
        blocks.append(Table(columns_of(learning), rows_of(learning), "What was tried"))
        blocks += [
            Listing(
                [
                    f"{candidate.name}: {one_line(detail(candidate), 300)}"
                    for candidate in learning.candidates
                ],
                tone="muted",
            )
        ]
    if learning.tested is not None:
        blocks.append(Paragraph(tested_text(learning)))
    if learning.new_version is not None:
        name = Path(learning.version_path or "").name
        stands = f"Version {learning.new_version} of {name} is saved next to the previous one."
        blocks.append(Paragraph(stands, where="page"))
    return ReportDocument(
        title="",
        kind="learning of a judge",
        about="",
        version=__version__,
        blocks=[*blocks, Listing(learning.notes, tone="muted", part="caution")],
    )


def learning_headline(learning: Learning) -> str:
    """Return what became of it, in a sentence or two."""
    name = f"{learning.judge} version {learning.version}"
    if learning.verdict == "over budget":
        return (
            f"{name}: the budget was spent before everything was tried, so nothing was chosen and "
            "the test part stays closed. Run again with a larger budget: finished calls are in the "
            "ledger and cost nothing."
        )
    if learning.verdict == "better":
        assert learning.tested is not None
        gap = learning.tested.test.difference
        nearer, toward = learning.tested.nearer, learning.tested.toward
        if learning.by == "probabilities" and nearer is not None and toward is not None:
            return (
                f"{name}: its probabilities are better {learning.chosen}. On the test part people's "
                f"labels favour this step ({p_told(toward.p)}), and the Brier score before minus now "
                f"is {signed_decimal(nearer.difference.value, 3)} (95 % interval "
                f"{_ends3(nearer.difference)}); its verdicts are not shown to agree worse "
                f"({_valued(learning, learning.tested.before)} before, "
                f"{_valued(learning, learning.tested.value)} now; difference {signed(gap.value)}, "
                f"95 % interval {signed_interval(gap)})."
            )
        return (
            f"{name}: better with {learning.chosen}. On the test part {MEASURED[learning.measure]} "
            f"{_valued(learning, learning.tested.before)} before, "
            f"{_valued(learning, learning.tested.value)} now "
            f"(difference {signed(gap.value)}, 95 % interval {signed_interval(gap)})."
        )
    reason = _why_not(learning)
    return f"{name}: no better: keep the judge you have. {reason}{_needed(learning)}"


def _why_not(learning: Learning) -> str:
    if learning.tested is not None and learning.by == "probabilities":
        on_test = (
            f"its verdicts agree worse on the test part ({_difference(learning.tested)})"
            if learning.tested.test.verdict == "worse"
            else "the test part does not show that it is"
        )
        return f"{learning.chosen} was the nearest to people's yes and no on dev; {on_test}."
    if learning.tested is not None:
        on_test = (
            "it agrees worse on the test part"
            if learning.tested.test.verdict == "worse"
            else "the test part does not show a difference"
        )
        return f"{learning.chosen} was the best on dev, but {on_test} ({_difference(learning.tested)})."
    if any(candidate.state == "measured" for candidate in learning.candidates):
        return "No candidate gained more than one standard error on dev, so the test part stays closed."
    return "Nothing could be tried: see the reasons."


def _difference(tested: LearnedTest) -> str:
    return f"{signed(tested.test.difference.value)}, {p_told(tested.test.p)}"


def _needed(learning: Learning) -> str:
    if learning.tested is not None and learning.tested.test.verdict == "worse":
        return ""
    n_all = learning.n_dev + learning.n_test
    few = f" With {count(n_all)} labels that is the usual result." if n_all < 2 * USUALLY_TOO_FEW else ""
    if learning.needed is None or learning.needed_gain is None or learning.by == "probabilities":
        return few
    seen = any(gain(candidate) > 0 for candidate in learning.candidates)
    what = "the gain seen on dev, if it is real" if seen else "some gain"
    return (
        f"{few} Finding {what} ({signed(learning.needed_gain)}) takes about {count(learning.needed)} "
        f"labelled answers (80 % power); there are {count(n_all)}."
    )


def set_text(learning: Learning) -> str:
    """Return what was learned from."""
    cut = f" A score of at least {learning.yes_from:g} is a yes." if learning.yes_from is not None else ""
    tied = (
        (
            f" {plural(learning.n_tied, 'answer')} on which annotators tie "
            f"{'is' if learning.n_tied == 1 else 'are'} left out."
        )
        if learning.n_tied
        else ""
    )
    tuned = f" {left_out_text(learning.n_tuned)}" if learning.n_tuned else ""
    return (
        f"{learning.labels}: {plural(learning.n_dev, 'labelled answer')} to "
        f"{plural(learning.n_questions, 'question')} on the "
        f"dev part, {count(learning.n_test)} on the test part.{cut}{tied}{tuned}"
    )


def columns_of(learning: Learning) -> list[Column]:
    """Return the columns of the table of candidates."""
    return [
        Column("", text=True),
        Column(MEASURED[learning.measure], short="agreement"),
        Column("gain"),
        Column("95 % interval"),
        Column("answers"),
        Column("calls per 1,000"),
        Column("spent"),
        Column("", text=True),
    ]


def rows_of(learning: Learning) -> list[Row]:
    """Return the rows of the table: the judge as it is, then what was tried, in the order of trying."""
    first = next((candidate for candidate in learning.candidates if candidate.n == learning.n_dev), None)
    first = first or next((candidate for candidate in learning.candidates if candidate.before), None)
    rows: list[Row] = []
    if first is not None and first.before is not None:
        as_is = _valued(learning, first.before)
        rows.append(["  as it is", as_is, "", "", count(first.n), _per_thousand(first.before_calls), "", ""])
    return [*rows, *(_row(learning, candidate) for candidate in learning.candidates)]


def _row(learning: Learning, candidate: LearnedCandidate) -> Row:
    gap = candidate.test.difference if candidate.test else None
    paid = "" if candidate.spent_usd is None else f", {usd(candidate.spent_usd)}"
    spent = f"{plural(candidate.spent, 'call')}{paid}" if candidate.spent else "nothing"
    mark = (
        "chosen"
        if candidate.name == learning.chosen
        else ""
        if candidate.state == "measured"
        else STATES[candidate.state]
    )
    return [
        f"  {candidate.name}",
        _valued(learning, candidate.value) if candidate.value else "",
        signed(gap.value) if gap else "",
        signed_interval(gap) if gap and gap.low is not None else "",
        count(candidate.n) if candidate.n else "",
        _per_thousand(candidate.calls) if candidate.n else "",
        spent,
        mark,
    ]


def _per_thousand(calls: float) -> str:
    return count(round(1000 * calls))


def _valued(learning: Learning, value: Estimate) -> str:
    """Return an agreement; a mean difference is told without its sign."""
    return number(abs(value.value) if learning.measure == "difference" else value.value)


def detail(candidate: LearnedCandidate) -> str:
    """Return what a candidate is, and why it was not measured whole."""
    return " ".join(filter(None, [candidate.made and f"{candidate.made.rstrip('.')}.", candidate.why]))


def tested_text(learning: Learning) -> str:
    """Return the one look at the test part, in a sentence."""
    if learning.tested is None:
        return ""
    tested, gap = learning.tested, learning.tested.test.difference
    return (
        f"Test part, look {tested.look}: {learning.chosen} {_valued(learning, tested.value)}, the judge as "
        f"it was {_valued(learning, tested.before)}; difference {signed(gap.value)}, 95 % interval "
        f"{signed_interval(gap)}; "
        f"{p_told(tested.test.p)}, {tested.test.test}, on {plural(tested.n, 'answer')}."
        f"{_errors_text(tested)}"
    )


def _errors_text(tested: LearnedTest) -> str:
    """Return the calibration errors before and after; empty of judges without probabilities."""
    before, after = tested.error_before, tested.error
    if before is None or after is None:
        return ""
    shown = [
        f"{error.value:.3f}" + ("" if error.low is None else f" ({error.low:.3f} to {error.high:.3f})")
        for error in (before, after)
    ]
    nearer = tested.nearer.difference if tested.nearer else None
    brier = (
        ""
        if nearer is None
        else f" Brier score before minus now: {signed_decimal(nearer.value, 3)} ({_ends3(nearer)}); above 0 "
        "means nearer to people now."
    )
    return (
        f" Expected calibration error there, with 95 % intervals: {shown[0]} before, {shown[1]} "
        "now. Chance makes a small one read too high on average, by about 0.03 on 200 answers and "
        f"more on fewer.{brier}"
    )


def _ends3(estimate: Estimate) -> str:
    if estimate.low is None or estimate.high is None:
        return "no interval"
    return signed_decimals(estimate.low, estimate.high, 3)


def history_lines(learning: Learning) -> list[str]:
    """Return the comments at the top of a new version's file: what was tried, what each took and gained."""
    rows = [" | ".join(filter(None, (str(cell).strip() for cell in row))) for row in rows_of(learning)]
    lines = [
        tested_text(learning),
        set_text(learning),
        "What was tried (agreement, gain, interval, answers, calls):",
        *rows,
    ]
    return [
        f"# {''.join(letter if letter.isprintable() else ' ' for letter in line)}" for line in lines if line
    ]
