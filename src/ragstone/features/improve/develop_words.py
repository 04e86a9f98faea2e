"""What developing a judge found: its sentences, which the workbench shows too, and what a terminal shows."""

from ragstone.features.agree.words import names
from ragstone.features.compare.words import signed, signed_interval
from ragstone.features.improve.values import Development, Move, VerdictChange, Version
from ragstone.kernel.document.blocks import (
    Block,
    Column,
    Listing,
    Made,
    Paragraph,
    ReportDocument,
    Table,
    Tone,
    table_of,
)
from ragstone.kernel.document.numbers import count, interval, number, one_line, p_told
from ragstone.kernel.records import Status
from ragstone.kernel.runs.wording import STATUS_WORDS, plural, statuses
from ragstone.kernel.statistics import Estimate
from ragstone.kernel.version import __version__

SHOWN = 10  # of the changes; all of them stand in --json
SHOWN_TEXT = 200
TONES: dict[str, Tone] = {"better": "good", "worse": "bad", "cannot tell": "strong"}
MOVES: dict[Move, str] = {
    "worse": "got worse",
    "lost": "no longer scored",
    "better": "got better",
    "gained": "scored now",
    "neither": "no closer to people and no farther",
}
MEASURED = {
    "exact agreement": "exact agreement with people",
    "difference": "mean difference from people",
    "Spearman": "rank correlation with people",
}


def development_document(found: Development) -> ReportDocument:
    """Return what `ragstone judges develop` shows: agreement before and after, then the changed verdicts."""
    more = len(found.changes) - SHOWN
    return ReportDocument(
        title="",
        kind="development of a judge",
        about="",
        version=__version__,
        blocks=[
            Paragraph(headline(found), TONES[found.verdict]),
            Paragraph(parts_told(found), "muted"),
            *([_versions(found)] if found.measure else []),
            Paragraph(changed_told(found)),
            *(block for change in found.changes[:SHOWN] for block in _change(found, change)),
            *([Paragraph(f"  {more} more with --json.", "muted")] if more > 0 else []),
            Listing(found.notes, tone="muted"),
        ],
    )


def _versions(found: Development) -> Table:
    def judged(version: Version) -> str:
        failed = statuses(version.statuses)
        return f"{version.card.n} scored" + (f", {failed}" if failed else "")

    columns: list[Made[Version]] = [
        (Column("", text=True), lambda version: f"  {version_name(version)}"),
        (MEASURED[found.measure] if found.measure else "", lambda version: valued(found, version)),
        ("interval", lambda version: spanned(found, version)),
        (Column("judgements", text=True), judged),
    ]
    return table_of("Versions", [one for one in (found.before, found.after) if one], columns)


def _change(found: Development, change: VerdictChange) -> list[Block]:
    old = score_told(found, change.before, change.before_status)
    new = score_told(found, change.after, change.after_status)
    system = "" if change.system == "default" else f", {change.system}"
    head = f"  {change.question_id}{system}: {MOVES[change.move]}: {old} → {new}; "
    told = [
        ("asked", change.question),
        ("answer", change.answer),
        ("reference", change.reference),
        ("before", change.before_reason),
        ("now", change.after_reason),
        *(("people", reason) for reason in change.human_reasons),
    ]
    tone: Tone = "strong" if change.move in ("worse", "lost") else ""
    return [
        Paragraph(f"{head}people: {human_told(found, change)}", tone),
        *(Paragraph(f"    {what}: {one_line(words, SHOWN_TEXT)}", "muted") for what, words in told if words),
    ]


def headline(found: Development) -> str:
    """Return what became of agreement, in a sentence."""
    if found.before is None:
        alone = exact(found.after)
        told = "" if alone is None else f" {MEASURED['exact agreement'].capitalize()} {number(alone.value)}"
        told += "" if alone is None else f" ({interval(alone)}), on {plural(alone.n, 'answer')}."
        return f"{version_name(found.after)}: there is no earlier version to compare with.{told}"
    names = f"{version_name(found.after)} against {version_name(found.before)}"
    if found.test is None or found.measure is None:
        return f"{names}: cannot tell, nothing can be compared."
    told = f"{MEASURED[found.measure]} {valued(found, found.before)} before, {valued(found, found.after)} now"
    gap = found.test.difference
    span = (
        signed_interval(gap) if gap.low is None else f"{gap.level * 100:g} % interval {signed_interval(gap)}"
    )
    moved = f"difference {signed(gap.value)}, {span}"
    word = "cannot tell whether it is better" if found.verdict == "cannot tell" else found.verdict
    return f"{names}: {word}. {told[0].upper()}{told[1:]} ({moved}; {test_told(found)})."


def test_told(found: Development) -> str:
    """Return the test with its p-value, and what it rests on."""
    if found.test is None:
        return ""
    return f"{p_told(found.test.p)}, {found.test.test}, on {plural(found.n, 'answer')}"


def version_name(version: Version) -> str:
    """Return the judge and its number."""
    return f"{version.judge} version {version.version}"


def valued(found: Development, version: Version) -> str:
    """Return a version's agreement; a mean difference is told without its sign."""
    if version.value is None:
        return "unknown"
    return number(abs(version.value.value) if found.measure == "difference" else version.value.value)


def spanned(found: Development, version: Version) -> str:
    """Return the interval of a version's agreement."""
    value = version.value
    if value is None or value.low is None or value.high is None:
        return "no interval"
    if found.measure == "difference":
        return f"{number(-value.high)} to {number(-value.low)}"
    return interval(value)


def changed_told(found: Development) -> str:
    """Return how many verdicts changed, and which way."""
    if found.before is None:
        return ""
    if not found.changes:
        return f"No verdict changed in {plural(found.n_answers, 'answer')}."
    parts = [f"{count(n)} {words}" for move, words in MOVES.items() if (n := found.count(move))]
    return f"{plural(len(found.changes), 'verdict')} changed: {', '.join(parts)}."


def parts_told(found: Development) -> str:
    """Return how the labelled set is split."""
    kept = f"{plural(found.n_answers, 'labelled answer')} to {plural(found.n_questions, 'question')}"
    beside = f", {count(found.n_neither)} in no part (they tie both)" if found.n_neither else ""
    return f"{found.labels}: {kept} on the dev part; {count(found.n_test)} on the test part, closed{beside}."


def score_told(found: Development, score: float | None, status: Status) -> str:
    """Return a score as its grade, or why there is none."""
    if score is None:
        return STATUS_WORDS[status]
    return grade_told(found, score)


def grade_told(found: Development, score: float) -> str:
    """Return a score, with what its grade is called where it is one."""
    card = found.after.card
    if score in card.categories and card.threshold is None:
        return names(card)[card.categories.index(score)]
    return f"{score:.4g}".replace("-", "−")


def human_told(found: Development, change: VerdictChange) -> str:
    """Return people's grade, and each of them where they differ."""
    said = grade_told(found, change.human)
    differ = len(set(change.grades)) > 1
    return f"{said} ({', '.join(f'{grade:g}' for grade in change.grades)})" if differ else said


def exact(version: Version) -> Estimate | None:
    """Return a version's exact agreement on all that it has scored, None where grades cannot be compared."""
    return version.card.agreement.get("exact agreement")
