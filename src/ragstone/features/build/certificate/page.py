"""A certificate of an evaluation set: its files, its report, and the section of a run's report on it."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from ragstone.features.build._built import Built
from ragstone.features.build.certificate._cautions import noun_of
from ragstone.features.build.certificate._rows import embed_candidates
from ragstone.features.build.certificate.funnel import n_lost
from ragstone.features.build.certificate.wording import (
    FIFTHS,
    FOUND,
    GRADES,
    GROUPED,
    MOST_VALUES,
    accepted,
    asked_closed_book,
    bars,
    declared_rows,
    documents_line,
    fitting,
    five,
    headline,
    kinds_of,
    leading,
    next_steps,
    not_written,
    review_sentences,
    spent,
    trust,
    trust_question,
    what_was_lost,
)
from ragstone.features.build.files import CERTIFICATE_PAGE
from ragstone.kernel.dataset.candidate import Candidate
from ragstone.kernel.dataset.certificate import FILTER, Certificate, CriticVerdict
from ragstone.kernel.dataset.split import Side
from ragstone.kernel.document.blocks import (
    Block,
    Cell,
    Column,
    Figure,
    Findings,
    Fold,
    Heading,
    HeadlineFinding,
    Listing,
    Made,
    Pairs,
    Paragraph,
    ReportDocument,
    Row,
    RowList,
    SurfacePart,
    Table,
    Tone,
    table_of,
)
from ragstone.kernel.document.charts import Dot, Dots
from ragstone.kernel.document.html import asset, render_page
from ragstone.kernel.document.numbers import count, interval, number, percent
from ragstone.kernel.document.output import put_text
from ragstone.kernel.records import Question
from ragstone.kernel.runs.run import CERTIFICATE, Certified
from ragstone.kernel.runs.summary import Calls
from ragstone.kernel.statistics import Estimate
from ragstone.kernel.tables import check_place
from ragstone.kernel.tables.shown import Displayed

SHOWN_LOSSES = 6  # in a terminal
SHOWN_VALUES = 5  # of a topic, style or language there
TONES: dict[str | None, Tone] = {"good": "best", "chance": "open"}
MEASURED_ON = (
    "To test the critics, copies of sound questions were given a defect, shown to the critics, and then "
    "removed. Recall: share of the defects that were rejected. Precision: share of the rejected "
    "questions that had a defect. There are as many defects as sound questions."
)
MIDDLE = (
    "The median; in brackets, the quartiles and the extremes. For scripts without spaces between words, "
    "characters are counted."
)


class BuildOutput(msgspec.Struct, frozen=True, kw_only=True):
    """What `ragstone build --json` prints: the certificate, what was asked, and the files written."""

    certificate: Certificate
    calls: Calls
    files: list[str]


class EvaluationSet(msgspec.Struct, Displayed, frozen=True, kw_only=True):
    """What `ragstone build` gives back: the accepted questions, in the order of their documents.

    built: every candidate, the lost ones among them. sides: question id -> `dev` or `test`, where a share is
    set apart. files: those that were written. calls: what was asked of models now, and what came from the
    ledger.
    """

    questions: list[Question]
    certificate: Certificate
    built: Built
    calls: Calls
    sides: dict[str, Side] = {}
    files: list[Path] = []

    @property
    def is_whole(self) -> bool:
        """Whether there are as many questions as wanted, or some of each document, and no call failed."""
        if self.calls.failed or self.built.failed or not self.questions:
            return False
        if self.built.declared.count is not None:
            return not self.certificate.funnel.n_short
        asked_about = {name for question in self.questions for name in question.document_ids or ()}
        return asked_about >= set(self.built.document_ids)


def write_certificate(
    folder: Path, certificate: Certificate, candidates: Sequence[Candidate], *, force: bool = False
) -> list[Path]:
    """Write certificate.json and certificate.html into a folder, and return their paths.

    candidates: what the certificate is of, which the page shows. Raises DataError where one of the files
    exists and `force` is not given, or where it cannot be written.
    """
    numbers, page = folder / CERTIFICATE, folder / CERTIFICATE_PAGE
    for path in (numbers, page):
        check_place(path, force)
    put_text(numbers, msgspec.json.format(msgspec.json.encode(certificate), indent=2).decode() + "\n")
    put_text(page, render_certificate(certificate, candidates))
    return [numbers, page]


def render_certificate(certificate: Certificate, candidates: Sequence[Candidate]) -> str:
    """Return the page of a certificate, with the candidates to open."""
    rows = embed_candidates(candidates, certificate.declared.threshold)
    funnel = certificate.funnel
    cut_note = (
        f"To keep the page small, it shows {count(rows.n_accepted)} of {count(funnel.n_accepted)} accepted "
        f"and {count(rows.n_lost)} of {count(n_lost(funnel))} lost, from the first document to the last. "
        "The `.all` file has all of them."
    )
    is_whole = rows.n_accepted == funnel.n_accepted and rows.n_lost == n_lost(funnel)
    details = {f"details-{at}": block for at, block in enumerate(rows.details)}
    return render_page(
        certificate_document(certificate),
        script="".join(map(asset, ("certificate.js", "elements.js", "list.js"))),
        embedded={"index": rows.index, **details, "passages": rows.passages},
        cut_note="" if is_whole else cut_note,
        noun=noun_of(certificate.kind),
    )


def certificate_document(certificate: Certificate) -> ReportDocument:
    """Return how many questions, of how many documents, what was lost and why, and what to look at next."""
    noun = noun_of(certificate.kind)
    reviewed: list[Block] = []
    if certificate.review is not None:
        sentences = review_sentences(certificate.review)
        reviewed = [
            Heading("What people said", anchor="review"),
            *(Paragraph(sentence, part="answer") for sentence in sentences),
        ]
    lead = leading(certificate)
    shaky = bool(lead and lead.grade != "good") and not _is_cautioned(certificate)
    return ReportDocument(
        title=headline(certificate),
        kind="certificate of an evaluation set",
        about="",
        version=certificate.version,
        blocks=[
            Paragraph(what_was_lost(certificate), tone="muted", where="page"),
            Findings(findings=_findings(certificate)),
            SurfacePart(_notes(certificate, anchor="notes"), where="page"),
            *_lost(certificate),
            Heading(trust_question(certificate), level=3, where="terminal"),
            Paragraph(trust(certificate), tone="warn" if shaky else "", where="terminal"),
            SurfacePart(_critics(certificate), where="page"),
            *reviewed,
            SurfacePart(_scores(certificate, noun), where="page"),
            SurfacePart(_covered(certificate, noun), where="page"),
            *_covered_briefly(certificate),
            SurfacePart(_notes(certificate), where="terminal"),
            Heading("Next", level=3, where="terminal"),
            Listing(next_steps(certificate), where="terminal", part="main"),
            RowList(template="certificate_questions.html", heading=f"Every {noun}"),
            *certificate_dots(certificate),
        ],
        skip=("questions", f"{noun}s"),
        made=[
            *certificate.models.items(),
            *declared_rows(certificate),
            ("seed", str(certificate.seed)),
            ("cost", spent(certificate)),
            ("digest of the documents", certificate.documents_digest),
            (f"digest of the {noun}s", certificate.questions_digest),
        ],
        source=CERTIFICATE,
        last=f"Cost: {spent(certificate)}.",
    )


def certified_blocks(certified: Certified) -> list[Block]:
    """Return the section of a run's report on the certificate of its questions."""
    certificate = certified.certificate
    misfit = fitting(certified.fit, certificate)
    source = f"From {CERTIFICATE}; {CERTIFICATE_PAGE} beside the {noun_of(certificate.kind)}s shows every one"
    critics = [Heading("Its critics, measured on planted defects", level=3), _critic_table(certificate)]
    known: list[Block] = [
        Paragraph(headline(certificate), tone="outcome"),
        *([] if _is_cautioned(certificate) else [Paragraph(trust(certificate))]),
        *_cautions(certificate),
        _funnel(certificate),
        *(critics if certificate.critics else []),
        Paragraph(f"{source}, including the lost ones.", tone="muted"),
    ]
    return [
        Heading("Evaluation set", anchor="set"),
        *([Paragraph(misfit, tone="warn")] if misfit else []),
        *(known if certified.fit.n_certified else []),
    ]


def certificate_dots(certificate: Certificate) -> list[Block]:
    """Return how many questions were left after each step, as the chart of a notebook."""
    dots = [Dot(name=bar.label, value=bar.n) for bar in bars(certificate)]
    most = max((dot.value for dot in dots), default=0.0)
    return [Dots(title="Questions left after each step", dots=dots, ends=(0.0, most or 1.0))]


def _findings(certificate: Certificate) -> list[HeadlineFinding]:
    funnel, lead, noun = certificate.funnel, leading(certificate), noun_of(certificate.kind)
    wanted = "" if funnel.n_wanted is None else f"{count(funnel.n_wanted)} were wanted, "
    many = Figure("accepted", count(funnel.n_accepted), "", f"{wanted}{count(funnel.n_written)} written")
    grade = GRADES[lead.grade].capitalize() if lead and lead.grade else ""
    critics = ("critics", "Every critic") if certificate.critics else ("made", "How it was made")
    return [
        HeadlineFinding(
            "How many?", [many], [documents_line(certificate)], anchor="lost", link="What was lost, and why"
        ),
        HeadlineFinding(
            trust_question(certificate),
            [],
            [trust(certificate)],
            anchor=critics[0],
            link=critics[1],
            instead=grade or "Not measured",
        ),
        HeadlineFinding(
            "What next?", [], next_steps(certificate), anchor="questions", link=f"Every {noun}", instead=""
        ),
    ]


def _notes(certificate: Certificate, anchor: str = "") -> list[Block]:
    if not (certificate.cautions or certificate.remarks):
        return []
    return [
        Heading("Before you trust this set", level=2 if anchor else 3, anchor=anchor),
        *_cautions(certificate),
        *([Listing(certificate.remarks, tone="muted", prose=True)] if certificate.remarks else []),
    ]


def _is_cautioned(certificate: Certificate) -> bool:
    """Whether a caution says already what the leading verdict on the critics says."""
    lead = leading(certificate)
    return lead is not None and any(lead.words in caution for caution in certificate.cautions)


def _cautions(certificate: Certificate) -> list[Block]:
    return [Listing(certificate.cautions, tone="warn", prose=True)] if certificate.cautions else []


def _lost(certificate: Certificate) -> list[Block]:
    """Return what is left after each step, then the losses with examples; in a terminal without these."""
    funnel = certificate.funnel
    losses = sorted(funnel.losses, key=lambda lost: -lost.n)
    folds = [
        Fold(
            f"{count(lost.n)} · {lost.words} · {percent(lost.n / funnel.n_written)} of those written",
            [
                Listing(
                    [
                        (example.question or "(empty)") + (f" · {example.detail}" if example.detail else "")
                        for example in lost.examples
                    ]
                )
            ],
        )
        for lost in losses
    ]
    more = sum(lost.n for lost in losses[SHOWN_LOSSES:])
    n_unwritten, why_unwritten = not_written(certificate)
    unwritten = f"Not written: {count(n_unwritten)} ({why_unwritten})" if n_unwritten else why_unwritten
    brief = [(n_unwritten, f"not written ({why_unwritten})")] * bool(n_unwritten)
    brief += [(lost.n, lost.words) for lost in losses[:SHOWN_LOSSES]] + [(more, "other reasons")] * bool(more)
    columns: list[Made[tuple[int, str]]] = [
        ("", lambda row: f"  {count(row[0])}"),
        (Column("", text=True), lambda row: row[1]),
    ]
    terminal = [
        Heading("Lost, and why", level=3),
        table_of("Lost, and why", brief, columns),
    ]
    return [
        Heading("What was lost, and why", anchor="lost", where="page"),
        _funnel(certificate),
        *([Paragraph(f"{unwritten}.", where="page")] if why_unwritten else []),
        *folds,
        *(
            [Paragraph("Nothing that was written was lost.", where="page")]
            if funnel.n_written and not losses
            else []
        ),
        *([SurfacePart(terminal, where="terminal")] if brief else []),
    ]


def _funnel(certificate: Certificate) -> Table:
    lines = bars(certificate)
    most = max(line.n for line in lines) or 1
    rows: list[Row] = [
        [
            Cell(line.label, short=f"  {line.label}"),
            Cell(count(line.n), tone="strong", share=line.n / most, pale=line.n_lost / most),
            Cell(count(line.n_lost) if line.n_lost else "", tone="muted"),
        ]
        for line in lines
    ]
    columns = [
        Column("Step", text=True, short=""),
        Column("Left", short="", bars=True),
        Column("Lost", short="lost"),
    ]
    return Table(
        columns, rows, "What is left after each step", documents_line(certificate), "bars full", part="main"
    )


def _critics(certificate: Certificate) -> list[Block]:
    if not certificate.critics:
        return []
    kinds = kinds_of(certificate)
    return [
        Heading("The critics, measured on planted defects", anchor="critics"),
        Paragraph(MEASURED_ON, tone="lead"),
        _critic_table(certificate),
        *([_kind_table(certificate, kinds)] if kinds else []),
    ]


def _critic_table(certificate: Certificate) -> Table:
    def verdict_cell(verdict: CriticVerdict) -> Cell:
        failed = (
            f"; {count(verdict.measured.n_failed)} without a usable score"
            if verdict.measured.n_failed
            else ""
        )
        grade = GRADES[verdict.grade] if verdict.grade else "not measured"
        return Cell(grade, verdict.words + failed, TONES.get(verdict.grade, ""))

    columns: list[Made[CriticVerdict]] = [
        (Column("Critic", text=True), lambda verdict: _critic(verdict.critic)),
        (Column("Verdict", text=True), verdict_cell),
        (Column("Recall", ends=(0, 1)), lambda verdict: _measured(verdict.measured.recall)),
        ("Precision", lambda verdict: _measured(verdict.measured.precision)),
        ("Sound ones rejected", lambda verdict: _measured(verdict.rejection)),
    ]
    return table_of("Critics on planted defects", certificate.critics, columns, kind="wide critics")


def _critic(name: str) -> str:
    return "all critics together" if name == FILTER else name


def _measured(estimate: Estimate | None) -> Cell:
    """Return a share with its interval, a dash where it is undefined."""
    return Cell(number(estimate.value), interval(estimate), "strong", at=estimate) if estimate else Cell("–")


def _kind_table(certificate: Certificate, kinds: Sequence[str]) -> Table:
    """Return how many defects of each kind each critic caught; not every critic is made for each."""

    def caught(verdict: CriticVerdict, name: str) -> Cell:
        kind = next((measured for measured in verdict.kinds if measured.kind == name), None)
        if kind is None:
            return Cell("–", tone="muted")
        often = bool(kind.n_defects) and kind.n_caught * 2 >= kind.n_defects
        text = f"{count(kind.n_caught)} of {count(kind.n_defects)}"
        return Cell(text, interval(kind.recall) if kind.recall else "", "open" if often else "")

    columns = [Column("", text=True), *(Column(kind.replace("_", " ")) for kind in kinds)]
    rows: list[Row] = [
        [_critic(verdict.critic), *(caught(verdict, kind) for kind in kinds)]
        for verdict in certificate.critics
    ]
    return Table(columns, rows, "Kinds of defects", "Caught of each kind of defect", "matrix kinds")


def _scores(certificate: Certificate, noun: str) -> list[Block]:
    """Return how often each critic gave each score."""
    if not certificate.scores:
        return []
    threshold = certificate.declared.threshold
    tables: list[Block] = []
    for row in certificate.scores:
        most = max(row.counts) or 1
        lines: list[Row] = [
            [str(grade), Cell(count(n), share=n / most, tone="muted" if grade < threshold else "")]
            for grade, n in sorted(enumerate(row.counts, 1), reverse=True)
        ]
        columns = [Column("Score", text=True), Column(count(row.n), bars=True)]
        tables.append(Table(columns, lines, f"Scores of {row.critic}", row.critic, "bars"))
    reached = f"Every {noun} that reached the critics, including the lost ones. Below {threshold} it is lost."
    return [
        Heading("Scores by critic", anchor="scores"),
        Paragraph(reached, tone="lead"),
        SurfacePart(tables, kind="tables"),
    ]


def _covered(certificate: Certificate, noun: str) -> list[Block]:
    """Return of how many documents the set is, how long its texts are, and which groups it has."""
    coverage, funnel = certificate.coverage, certificate.funnel
    most = coverage.most
    how_found = ", ".join(f"{count(n)} {FOUND[name]}" for name, n in coverage.found.items())
    repeats = certificate.near_duplicates
    pairs = {
        "documents": f"{count(coverage.n_covered)} of {count(funnel.n_documents - funnel.n_empty)} with text",
        f"{noun}s of such a document": coverage.per_document and five(coverage.per_document),
        "most come from": f"{most[0]}: {count(most[1])}" if most and most[1] > 1 else "",
        f"length of the {noun}s": coverage.question_lengths and f"{five(coverage.question_lengths)} words",
        "length of the answers": coverage.answer_lengths and f"{five(coverage.answer_lengths)} words",
        "evidence found": how_found,
        "repeats among what was written": repeats and percent(repeats.value),
        "known without a document": asked_closed_book(certificate),
        **{
            GROUPED[by].lower(): several[0].value
            for by, several in coverage.groups.items()
            if len(several) == 1
        },
    }
    groups = [_group_table(certificate, by) for by, several in coverage.groups.items() if len(several) > 1]
    return [
        Heading("What it covers", anchor="covers"),
        Pairs([(name, text) for name, text in pairs.items() if text]),
        Paragraph(MIDDLE, tone="muted"),
        SurfacePart([*groups, *_positions(certificate)], kind="tables"),
    ]


def _group_table(certificate: Certificate, by: str) -> Table:
    groups = certificate.coverage.groups[by]
    most = max(group.n_written for group in groups) or 1
    rows: list[Row] = [
        [
            group.value,
            Cell(
                accepted(group),
                share=group.n_accepted / most,
                pale=(group.n_written - group.n_accepted) / most,
            ),
        ]
        for group in groups[:MOST_VALUES]
    ]
    more = len(groups) - MOST_VALUES
    rows += [[f"and {count(more)} more in {CERTIFICATE}"]] if more > 0 else []
    columns = [Column("", text=True), Column("accepted", bars=True)]
    return Table(columns, rows, GROUPED[by], GROUPED[by], "bars")


def _positions(certificate: Certificate) -> list[Block]:
    """Return how many pieces of evidence stand in each fifth of their document."""
    positions = certificate.coverage.positions
    placed = sum(positions.fifths)
    if not placed:
        return []
    most = max(*positions.fifths, placed / 5)
    rows: list[Row] = [
        [name, Cell(count(n), share=n / most)] for name, n in zip(FIFTHS, positions.fifths, strict=True)
    ]
    whole = f" {count(positions.n_whole)} rest on a whole document." if positions.n_whole else ""
    rows.append([f"An even spread would be {placed / 5:g} in each.{whole}"])
    columns = [Column("", text=True), Column("accepted", bars=True)]
    caption = "Where the evidence is in its document"
    return [Table(columns, rows, caption, caption, "bars")]


def _covered_briefly(certificate: Certificate) -> list[Block]:
    """Return the same for a terminal: the most frequent values alone."""
    coverage, closed_book = certificate.coverage, asked_closed_book(certificate)
    rows: list[Row] = [["  of a document", five(coverage.per_document)]] if coverage.per_document else []
    for by, groups in coverage.groups.items():
        values = [f"{group.value} {accepted(group)}" for group in groups[:SHOWN_VALUES]]
        more = [f"and {count(len(groups) - SHOWN_VALUES)} more"] if len(groups) > SHOWN_VALUES else []
        rows.append([f"  {GROUPED[by].casefold()}", ", ".join([*values, *more])])
    rows += [["  known without a document", closed_book]] if closed_book else []
    if not rows:
        return []
    title = "What it covers (accepted of written)"
    columns = [Column("", text=True), Column("", text=True)]
    return [Heading(title, level=3, where="terminal"), Table(columns, rows, title, where="terminal")]
