"""What developing a judge found: its sentences, which the workbench shows too, and what a terminal shows."""

from ragstone.features.agree import names
from ragstone.features.improve.values import Development, Move, VerdictChange, Version
from ragstone.kernel.decimals import short
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
from ragstone.kernel.document.numbers import (
    count,
    interval,
    number,
    one_line,
    p_told,
    percent,
    signed,
    signed_interval,
    value_range,
)
from ragstone.kernel.errors import plural
from ragstone.kernel.records import STATUS_WORDS, Status
from ragstone.kernel.runs.wording import statuses
from ragstone.kernel.statistics import Estimate, share_unseen
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


def development_document(development: Development) -> ReportDocument:
    """Return what `ragstone judges develop` shows: agreement before and after, then the changed verdicts."""
    more = len(development.changes) - SHOWN
    return ReportDocument(
        title="",
        kind="development of a judge",
        about="",
        version=__version__,
        blocks=[
            Paragraph(headline(development), TONES[development.verdict], part="answer"),
            Paragraph(parts_text(development), "muted"),
            *([_versions(development)] if development.measure else []),
            *([Paragraph(cut, "muted")] if (cut := cut_text(development)) else []),
            Paragraph(changes_text(development)),
            *(block for change in development.changes[:SHOWN] for block in _change(development, change)),
            *([Paragraph(f"  {more} more with --json.", "muted")] if more > 0 else []),
            Listing(development.notes, tone="muted", part="caution"),
        ],
    )


def _versions(development: Development) -> Table:
    def judged(version: Version) -> str:
        failed = statuses(version.statuses)
        return f"{version.card.n} scored" + (f", {failed}" if failed else "")

    columns: list[Made[Version]] = [
        (Column("", text=True), lambda version: f"  {version_name(version)}"),
        (
            MEASURED[development.measure] if development.measure else "",
            lambda version: valued(development, version),
        ),
        ("interval", lambda version: spanned(development, version)),
        (Column("judgements", text=True), judged),
    ]
    before = None if is_same(development) else development.before
    return table_of("Versions", [known for known in (before, development.after) if known], columns)


def _change(development: Development, change: VerdictChange) -> list[Block]:
    old = score_text(development, change.before, change.before_status)
    new = score_text(development, change.after, change.after_status)
    system = "" if change.system == "default" else f", {change.system}"
    head = f"  {change.question_id}{system}: {MOVES[change.move]}: {old} → {new}; "
    rows = [
        ("asked", change.question),
        ("answer", change.answer),
        ("reference", change.reference),
        ("before", change.before_reason),
        ("now", change.after_reason),
        *(("people", reason) for reason in change.human_reasons),
    ]
    tone: Tone = "strong" if change.move in ("worse", "lost") else ""
    return [
        Paragraph(f"{head}people: {people_text(development, change)}", tone),
        *(Paragraph(f"    {what}: {one_line(text, SHOWN_TEXT)}", "muted") for what, text in rows if text),
    ]


def headline(development: Development) -> str:
    """Return what became of agreement, in a sentence."""
    if development.before is None:
        alone = exact(development.after)
        text = "" if alone is None else f" {MEASURED['exact agreement'].capitalize()} {number(alone.value)}"
        text += "" if alone is None else f" ({interval(alone)}), on {plural(alone.n, 'answer')}."
        return f"{version_name(development.after)}: there is no earlier version to compare with.{text}"
    if is_same(development):
        value = f"{valued(development, development.after)}, on {plural(development.n, 'answer')}"
        return (
            f"{version_name(development.after)}: the draft does not differ from that version, so there is "
            "nothing to compare."
        ) + (f" {_measured(development)} {value}." if development.after.value else "")
    names = f"{version_name(development.after)} against {version_name(development.before)}"
    if development.test is None or development.measure is None:
        return f"{names}: cannot tell, nothing can be compared."
    before, after = (valued(development, version) for version in (development.before, development.after))
    text = f"{_measured(development)} {before} before, {after} now"
    gap = development.test.difference
    span = (
        signed_interval(gap) if gap.low is None else f"{gap.level * 100:g} % interval {signed_interval(gap)}"
    )
    moved = f"difference {signed(gap.value)}, {span}"
    word = "cannot tell whether it is better" if development.verdict == "cannot tell" else development.verdict
    return f"{names}: {word}. {text} ({moved}; {test_text(development)})."


def is_same(development: Development) -> bool:
    """Return whether the draft says what the version before says, and so do its verdicts."""
    before = development.before
    return before is not None and before.digest == development.after.digest and not development.changes


def _measured(development: Development) -> str:
    text = MEASURED[development.measure] if development.measure else ""
    return text[:1].upper() + text[1:]


def test_text(development: Development) -> str:
    """Return the test with its p-value, and what it rests on."""
    if development.test is None:
        return ""
    return f"{p_told(development.test.p)}, {development.test.test}, on {plural(development.n, 'answer')}"


def version_name(version: Version) -> str:
    """Return the judge and its number."""
    return f"{version.judge} version {version.version}"


def valued(development: Development, version: Version) -> str:
    """Return a version's agreement; a mean difference is told without its sign."""
    if version.value is None:
        return "unknown"
    return number(abs(version.value.value) if development.measure == "difference" else version.value.value)


def spanned(development: Development, version: Version) -> str:
    """Return the interval of a version's agreement."""
    value = version.value
    if value is None or value.low is None or value.high is None:
        return "no interval"
    if development.measure == "difference":
        return value_range(-value.high, -value.low)
    return interval(value)


def cut_text(development: Development) -> str:
    """Return from which score on a version says the upper grade, where its scores are cut; else nothing."""
    now = development.after.card.threshold
    before = development.before.card.threshold if development.before else now
    if now is None:
        return ""
    earlier = f"; in the version before, {_cut(before)} or more" if before not in (None, now) else ""
    return f"Scores of {_cut(now)} or more count as the upper grade{earlier}."


def _cut(score: float) -> str:
    return short(float(f"{score:.4g}"))


def changes_text(development: Development) -> str:
    """Return how many verdicts changed, and which way."""
    if development.before is None or is_same(development):
        return ""
    if not development.changes:
        n = development.n_answers
        upper = f"; up to {percent(share_unseen(n))} cannot be excluded" if n else ""
        return f"No verdict changed in {plural(n, 'answer')}{upper}."
    parts = [f"{count(n)} {phrase}" for move, phrase in MOVES.items() if (n := development.count(move))]
    return f"{plural(len(development.changes), 'verdict')} changed: {', '.join(parts)}."


def parts_text(development: Development) -> str:
    """Return how the labelled set is split."""
    labelled = (
        f"{plural(development.n_answers, 'labelled answer')} to {plural(development.n_questions, 'question')}"
    )
    beside = f", {count(development.n_neither)} in no part (they tie both)" if development.n_neither else ""
    closed = f"{count(development.n_test)} on the test part, closed{beside}"
    return f"{development.labels}: {labelled} on the dev part; {closed}."


def score_text(development: Development, score: float | None, status: Status) -> str:
    """Return a score as its grade, or why there is none."""
    if score is None:
        return STATUS_WORDS[status]
    return grade_text(development, score)


def grade_text(development: Development, score: float) -> str:
    """Return a score, with what its grade is called where it is one."""
    card = development.after.card
    if score in card.categories and card.threshold is None:
        return names(card)[card.categories.index(score)]
    return _cut(score)


def people_text(development: Development, change: VerdictChange) -> str:
    """Return people's grade, and each of them where they differ."""
    text = grade_text(development, change.human)
    differ = len(set(change.grades)) > 1
    return f"{text} ({', '.join(f'{grade:g}' for grade in change.grades)})" if differ else text


def exact(version: Version) -> Estimate | None:
    """Return a version's exact agreement on all that it has scored, None where grades cannot be compared."""
    return version.card.agreement.get("exact agreement")
