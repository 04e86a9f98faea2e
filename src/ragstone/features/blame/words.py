"""Where the lost points of a run went: what blame.json and causes.jsonl hold, and its report."""

from collections.abc import Sequence
from urllib.parse import quote

from ragstone.features.blame._candidate_sentence_table import BENCHED, CHOSEN, MEANING
from ragstone.features.blame._sentence_table import (
    LARGEST,
    NO_PRICE,
    NOT_ADDING,
    OUTCOMES,
    PRICED,
    RETURNED,
    UNANSWERABLE,
    change_text,
    range_of_100,
    signed_of_100,
)
from ragstone.features.blame._stale_sentence_table import STALE_LOST
from ragstone.kernel.document.blocks import (
    Block,
    Cell,
    Column,
    Heading,
    Link,
    Listing,
    Made,
    Notes,
    Paragraph,
    ReportDocument,
    SurfacePart,
    Table,
    table_of,
)
from ragstone.kernel.document.charts import Dots, dot
from ragstone.kernel.document.numbers import count, percent, percent_ends, usd, with_level
from ragstone.kernel.errors import plural
from ragstone.kernel.records import status_counts
from ragstone.kernel.runs.blamed import BLAME, BlameSummary
from ragstone.kernel.runs.causes import BenchedChange, Cause, Caused, ChangePrice, ComponentShare, SystemBlame
from ragstone.kernel.runs.wording import asked_line
from ragstone.kernel.sentences import say

WHAT = {
    "dataset": "the reference, or the documents that the question names",
    "retriever": "nothing useful was retrieved",
    "tools": "a call that was needed failed",
    "model + prompt": "useful passages were retrieved, but the answer is wrong",
    "judge": "judge and second opinion disagree",
    "cannot tell": "the evidence does not decide",
}
OF_AGENTS = {
    "dataset": "the reference, the documents that the question names, or the expected steps",
    "model + prompt": "what was needed was available but not called for, or the answer is wrong",
}
LEAD = (
    "A point is a question. It is lost if the judge scores the answer below the middle of its scale. Each "
    "lost point is assigned to one component, by {}."
)
ASKED_AGAIN = "answers again"  # a role of BlameSummary.models
BY_ANSWERS = "what the model answers when given the right documents and when given none"
BY_CONTEXTS = (
    "whether the contexts have the right document and what the answer makes of them; no model was asked again"
)
LEAD_OF_AGENTS = " If an answer has steps, they decide first."
SHOWN_QUESTIONS = 12  # links behind a cause
SHOWN_CAUSES = 3  # points of each cause in a terminal, with their evidence


def blame_document(
    summary: BlameSummary, causes: Sequence[Caused] = (), *, what_if: bool = False
) -> ReportDocument:
    """Return what a terminal and a notebook show of blame; a page has it within the report of the run.

    what_if: prices were asked for, so a short screen shows them too where they are bounds alone.
    """
    return ReportDocument(
        title=summary.name,
        kind="blame",
        about="where the lost points went",
        version=summary.version,
        blocks=[*blame_blocks(summary, causes, what_if=what_if), Notes(notes(summary)), *_dots(summary)],
        skip=("lost", "shares"),
        made=list(summary.models.items()),
        source=BLAME,
        last=asked_line(summary.calls) if summary.calls else "",
    )


def blame_blocks(summary: BlameSummary, causes: Sequence[Caused], *, what_if: bool = False) -> list[Block]:
    """Return each system's shares and causes, and the notes. causes: those of the run, or none."""
    lead = LEAD.format(BY_ANSWERS if ASKED_AGAIN in summary.models else BY_CONTEXTS)
    return [
        Heading("Where the lost points went", level=3, anchor="lost", where="page"),
        Paragraph(lead + LEAD_OF_AGENTS * any(map(_acts, summary.systems)), tone="lead", where="page"),
        *(
            block
            for row in summary.systems
            for block in _system(row, causes, summary.benched, first=what_if or bool(measured_prices(row)))
        ),
        *([Listing(notes(summary), prose=True, where="page")] if notes(summary) else []),
    ]


def _system(
    row: SystemBlame, causes: Sequence[Caused], benched: Sequence[BenchedChange], *, first: bool
) -> list[Block]:
    """Return what is said of a system. first: prices come before the causes."""
    meanings = WHAT | OF_AGENTS if _acts(row) else WHAT
    what = " ".join(
        f"{share.component.capitalize()}: {meanings[share.component]}." for share in shown_shares(row)
    )
    said = (say(row, STALE_LOST), worth(row), judged_by(row), say(row, UNANSWERABLE), left_out(row))
    sentences = [sentence for sentence in said if sentence]
    changes = [change for change in benched if change.system == row.system]
    candidates = [
        Paragraph(
            " ".join(filter(None, [text, say(change, CHOSEN), say(change, *MEANING)])),
            part="answer" if change.verdict == "better" else "",
        )
        for change in changes
        if (text := say(change, *BENCHED))
    ]
    return [
        Heading(row.system, level=4),
        Paragraph(outcome(row), tone="strong", part="answer"),
        Paragraph(" ".join(sentences)),
        shares_table(row),
        Paragraph(what, tone="muted", where="page"),
        *([*_prices(row, main=True), *candidates] if first else []),
        *_causes(row, causes),
        *([] if first else [*_prices(row, main=False), *candidates]),
    ]


def _acts(row: SystemBlame) -> bool:
    return any(share.component == "tools" for share in row.shares)


def shares_table(row: SystemBlame) -> Table:
    """Return how many points each component has to answer for, and what share of all questions that is."""
    shares = shown_shares(row)
    most = max((share.share.value for share in shares if share.share), default=0.0)

    def points(share: ComponentShare) -> Cell:
        if share.share is None:
            return Cell("")
        return Cell(count(share.n), share=share.share.value / most if most else 0.0)

    columns: list[Made[ComponentShare]] = [
        (Column("Component", text=True, short=""), lambda share: share.component),
        (Column("Points", short="points", bars=True), points),
        (Column("Share", short="share"), share_told),
        ("95 % interval", share_range),
    ]
    return table_of(f"Shares of {row.system}", shares, columns, kind="bars blame")


def _prices(row: SystemBlame, *, main: bool) -> list[Block]:
    """Return what changes would bring; what was measured is an answer, and without it bounds are said.

    main: prices were asked for, or measured.
    """
    if not row.prices:
        unknown = say(row, NO_PRICE) if main else ""
        return [Paragraph(unknown, part="answer")] if unknown else []
    measured = measured_prices(row)
    bounds = [price for price in row.prices if price.change != "right documents, all read"]
    at_most = {"measured": "", "at most": "at most ", "by causes": "at most "}
    basis = {"measured": "measured", "at most": "bound", "by causes": "causes found"}

    def points(price: ChangePrice) -> str:
        return f"{at_most[price.basis]}{signed_of_100(price.points.value)}"

    def by_people(price: ChangePrice) -> str:
        seen = price.people
        return f"{signed_of_100(seen.value)} ({range_of_100(seen)})" if seen else ""

    columns: list[Made[ChangePrice]] = [
        (Column("With", text=True, short=""), change_text),
        (Column("Points of 100", short="points"), points),
        ("95 % interval", lambda price: range_of_100(price.points)),
        (
            Column("Rests on", text=True, short="rests on"),
            lambda price: f"{basis[price.basis]}: {count(price.n_asked)} of {count(price.n)}",
        ),
    ]
    if any(price.people for price in row.prices):
        columns.append((Column("As people see it", short="people"), by_people))
    if any(price.cost_usd is not None for price in row.prices):
        columns.append(("Cost", lambda price: "" if price.cost_usd is None else usd(price.cost_usd)))
    said = [say(price, *PRICED) for price in measured or bounds]
    answers, rest = (said[:1], said[1:]) if measured else ([], said)
    below = " ".join(filter(None, [*rest, say(row, *NOT_ADDING)]))
    title = f"What changes would bring {row.system}"
    return [
        *(Paragraph(answer, part="answer") for answer in answers),
        table_of(title, row.prices, columns, caption="What if", part="main" if main else ""),
        *([Paragraph(below)] if below else []),
    ]


def measured_prices(row: SystemBlame) -> list[ChangePrice]:
    """Return the prices of changes to the system that were measured on lost and on right answers."""
    return [price for price in row.prices if price.basis == "measured" and price.change != "second opinion"]


def _causes(row: SystemBlame, causes: Sequence[Caused]) -> list[Block]:
    """Return the causes with links to their questions; in a terminal with some of their points instead."""
    mine = [cause for cause in causes if cause.system == row.system]
    ours = {cause: [caused for caused in mine if caused.cause == cause] for cause in row.causes}
    if not causes and row.causes:
        return [Paragraph(f"Causes: {', '.join(f'{cause} {count(n)}' for cause, n in row.causes.items())}.")]

    def questions(cause: Cause) -> Cell:
        more = len(ours[cause]) - SHOWN_QUESTIONS
        links = [Link(row.question_id, f"q-{quote(row.question_id)}", row.because) for row in ours[cause]]
        beside = f"and {count(more)} more: filter the questions by this cause" if more > 0 else ""
        return Cell("", beside, links=tuple(links[:SHOWN_QUESTIONS]))

    columns: list[Made[Cause]] = [
        (Column("Cause", text=True), lambda cause: cause),
        ("Points", lambda cause: count(row.causes[cause])),
        (Column("Questions", text=True), questions),
    ]
    brief: list[Block] = []
    for cause, n in row.causes.items():
        points = [f"{row.question_id}: {row.because}" for row in ours[cause]]
        brief += [Heading(f"{cause} ({plural(n, 'point')})", level=3), Listing(points, most=SHOWN_CAUSES)]
    table = [table_of(f"Causes of {row.system}", ours, columns, caption="Causes", where="page")]
    return [*(table if ours else []), SurfacePart(brief, where="terminal")]


def _dots(summary: BlameSummary) -> list[Block]:
    """Return what share of the questions each component has to answer for, by system."""
    dots = [
        dot(share.component, share.share, row.system)
        for row in summary.systems
        for share in row.shares
        if share.share
    ]
    return [Dots(title="Points lost, as a share of the questions", dots=dots)] if dots else []


def judged_by(row: SystemBlame) -> str:
    """Return whose verdict a point is, and whose the second opinion is."""
    model = "" if row.model == "none" else f" ({row.model})"
    second = f", second opinion: {row.second}" if row.second else ""
    return f"Judge: {row.judge}{model}{second}."


def outcome(row: SystemBlame) -> str:
    """Return where the points went, in a sentence or two."""
    return " ".join(filter(None, (say(row, *OUTCOMES), say(row, *LARGEST))))


def worth(row: SystemBlame) -> str:
    """Return what better retrieval could bring back, empty where nobody asked."""
    return say(row, RETURNED)


def share_told(share: ComponentShare) -> str:
    """Return a share, or that it was not measured."""
    if share.share is None:
        return "not measured"
    return percent(share.share.value)


def share_range(share: ComponentShare) -> str:
    """Return the interval of a share in percent, and of how many questions it is one."""
    estimate = share.share
    if estimate is None:
        return "no second opinion" if share.component == "judge" else "no questions"
    if estimate.low is None or estimate.high is None:
        return f"{with_level(estimate)}; of {count(estimate.n)}"
    return f"{percent_ends(estimate)} of {count(estimate.n)}"


def left_out(row: SystemBlame) -> str:
    """Return what was not counted, and why; empty where all was."""
    if not row.left_out:
        return ""
    n = sum(row.left_out.values())
    return f"Left out: {plural(n, 'answer')} ({status_counts(row.left_out)})."


def shown_shares(row: SystemBlame) -> list[ComponentShare]:
    """Return the shares, the largest first; what nobody could assign only where there is some."""
    shares = [share for share in row.shares if share.component != "cannot tell" or share.n]
    return sorted(
        shares,
        key=lambda share: (share.component == "cannot tell", -(share.share.value if share.share else -1.0)),
    )


def notes(summary: BlameSummary) -> list[str]:
    """Return all notes, those on one system with its name where there are several."""
    several = len(summary.systems) > 1
    return [
        *summary.notes,
        *(f"{row.system}: {note}" if several else note for row in summary.systems for note in row.notes),
    ]
