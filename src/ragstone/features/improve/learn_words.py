"""What learning a judge found: its sentences, its table, and the lines that a new version's file keeps."""

from pathlib import Path

from ragstone.features.compare.words import signed, signed_interval
from ragstone.features.improve.develop_words import MEASURED, TONES
from ragstone.features.improve.learned import (
    USUALLY_TOO_FEW,
    CandidateState,
    LearnedCandidate,
    Learning,
    gain,
)
from ragstone.kernel.document.blocks import Block, Column, Listing, Paragraph, ReportDocument, Row, Table
from ragstone.kernel.document.numbers import count, number, one_line, p_told, usd
from ragstone.kernel.runs.wording import plural
from ragstone.kernel.statistics import Estimate
from ragstone.kernel.version import __version__

STATES: dict[CandidateState, str] = {
    "measured": "measured",
    "stopped": "stopped early",
    "refused": "not measured",
    "over_budget": "over budget",
}


def learning_document(found: Learning) -> ReportDocument:
    """Return what `ragstone judges learn` shows: what became of it, then the table of what was tried."""
    blocks: list[Block] = [
        Paragraph(
            headline_of_learning(found), TONES["better" if found.verdict == "better" else "cannot tell"]
        ),
        Paragraph(set_told(found), "muted"),
    ]
    if found.candidates:
        blocks.append(Table(columns_of(found), rows_of(found), "What was tried"))
        blocks += [
            Listing([f"{one.name}: {one_line(detail(one), 300)}" for one in found.candidates], tone="muted")
        ]
    if found.tested is not None:
        blocks.append(Paragraph(tested_told(found)))
    if found.new_version is not None:
        name = Path(found.version_path or "").name
        stands = f"Version {found.new_version} of {name} stands beside the one before."
        blocks.append(Paragraph(stands, where="page"))
    return ReportDocument(
        title="",
        kind="learning of a judge",
        about="",
        version=__version__,
        blocks=[*blocks, Listing(found.notes, tone="muted")],
    )


def headline_of_learning(found: Learning) -> str:
    """Return what became of it, in a sentence or two."""
    name = f"{found.judge} version {found.version}"
    if found.verdict == "over budget":
        return (
            f"{name}: the budget was spent before all was tried, so nothing was chosen and the test part "
            f"stays "
            "closed. Run again with a larger one: finished calls are in the ledger and cost nothing."
        )
    if found.verdict == "better":
        assert found.tested is not None
        gap = found.tested.test.difference
        return (
            f"{name}: better with {found.chosen}. On the test part {MEASURED[found.measure]} "
            f"{_valued(found, found.tested.before)} before, {_valued(found, found.tested.value)} now "
            f"(difference {signed(gap.value)}, 95 % interval {signed_interval(gap)})."
        )
    reason = _why_not(found)
    return f"{name}: no better: keep the judge you have. {reason}{_needed(found)}"


def _why_not(found: Learning) -> str:
    if found.tested is not None:
        return (
            f"{found.chosen} was the best on dev, and on the test part the difference is no more than chance "
            f"({signed(found.tested.test.difference.value)}, {p_told(found.tested.test.p)})."
        )
    if any(one.state == "measured" for one in found.candidates):
        return "No candidate gained more than one standard error on dev, so the test part stays closed."
    return "Nothing could be tried: see the reasons."


def _needed(found: Learning) -> str:
    n_all = found.n_dev + found.n_test
    few = f" With {count(n_all)} labels that is the usual answer." if n_all < 2 * USUALLY_TOO_FEW else ""
    if found.needed is None or found.needed_gain is None:
        return few
    seen = any(gain(one) > 0 for one in found.candidates)
    what = "the gain seen on dev, if it is real" if seen else "some gain"
    return (
        f"{few} To find {what} ({signed(found.needed_gain)}) four times out of five takes some "
        f"{count(found.needed)} labelled answers; there are {count(n_all)}."
    )


def set_told(found: Learning) -> str:
    """Return what was learned from."""
    cut = f" A score of at least {found.yes_from:g} is a yes." if found.yes_from is not None else ""
    tied = f" {plural(found.n_tied, 'answer')} on which annotators tie are left out." if found.n_tied else ""
    return (
        f"{found.labels}: {plural(found.n_dev, 'labelled answer')} to "
        f"{plural(found.n_questions, 'question')} on the "
        f"dev part, {count(found.n_test)} on the test part.{cut}{tied}"
    )


def columns_of(found: Learning) -> list[Column]:
    """Return the columns of the table of candidates."""
    return [
        Column("", text=True),
        Column(MEASURED[found.measure], short="agreement"),
        Column("gain"),
        Column("95 % interval"),
        Column("answers"),
        Column("calls per 1,000"),
        Column("spent"),
        Column("", text=True),
    ]


def rows_of(found: Learning) -> list[Row]:
    """Return the rows of the table: the judge as it is, then what was tried, in the order of trying."""
    first = next((one for one in found.candidates if one.n == found.n_dev), None)
    first = first or next((one for one in found.candidates if one.before), None)
    rows: list[Row] = []
    if first is not None and first.before is not None:
        as_is = _valued(found, first.before)
        rows.append(["  as it is", as_is, "", "", count(first.n), _per_thousand(first.before_calls), "", ""])
    return [*rows, *(_row(found, one) for one in found.candidates)]


def _row(found: Learning, one: LearnedCandidate) -> Row:
    gap = one.test.difference if one.test else None
    mark = "chosen" if one.name == found.chosen else "" if one.state == "measured" else STATES[one.state]
    return [
        f"  {one.name}",
        _valued(found, one.value) if one.value else "",
        signed(gap.value) if gap else "",
        signed_interval(gap) if gap and gap.low is not None else "",
        count(one.n) if one.n else "",
        _per_thousand(one.calls) if one.n else "",
        _spent(one),
        mark,
    ]


def _per_thousand(calls: float) -> str:
    return count(round(1000 * calls))


def _spent(one: LearnedCandidate) -> str:
    if not one.spent:
        return "nothing"
    paid = "" if one.spent_usd is None else f", {usd(one.spent_usd)}"
    return f"{plural(one.spent, 'call')}{paid}"


def _valued(found: Learning, value: Estimate) -> str:
    """Return an agreement; a mean difference is told without its sign."""
    return number(abs(value.value) if found.measure == "difference" else value.value)


def detail(one: LearnedCandidate) -> str:
    """Return what a candidate is, and why it was not measured whole."""
    return " ".join(filter(None, [one.made and f"{one.made.rstrip('.')}.", one.why]))


def tested_told(found: Learning) -> str:
    """Return the one look at the test part, in a sentence."""
    if found.tested is None:
        return ""
    tested, gap = found.tested, found.tested.test.difference
    return (
        f"Test part, look {tested.look}: {found.chosen} {_valued(found, tested.value)}, the judge as it was "
        f"{_valued(found, tested.before)}; difference {signed(gap.value)}, 95 % interval "
        f"{signed_interval(gap)}; "
        f"{p_told(tested.test.p)}, {tested.test.test}, on {plural(tested.n, 'answer')}."
    )


def history_lines(found: Learning) -> list[str]:
    """Return the comments at the top of a new version's file: what was tried, what each took and gained."""
    rows = [" | ".join(filter(None, (str(cell).strip() for cell in row))) for row in rows_of(found)]
    lines = [
        tested_told(found),
        set_told(found),
        "What was tried (agreement, gain, interval, answers, calls):",
        *rows,
    ]
    return [
        f"# {''.join(letter if letter.isprintable() else ' ' for letter in line)}" for line in lines if line
    ]
