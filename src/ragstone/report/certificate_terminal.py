"""A certificate as the terminal shows it: the first screen, in words."""

from typing import TYPE_CHECKING

from ragstone.dataset.certifying.certificate import Certificate
from ragstone.report.certificate_words import (
    GROUPED,
    accepted,
    asked_closed_book,
    bars,
    documents_line,
    five,
    headline,
    next_steps,
    spent,
    trust,
    trust_question,
)
from ragstone.report.render.terminal import new_table, text
from ragstone.report.review_words import review_sentences
from ragstone.report.wording import count

if TYPE_CHECKING:
    from rich.console import Group, RenderableType
    from rich.table import Table

SHOWN_LOSSES = 6
SHOWN_VALUES = 5  # of a topic, style or language
BAR = 24  # characters of the longest bar


def terminal_certificate(certificate: Certificate) -> "Group":
    """Return how many questions, of how many documents, what was lost and why, and what to look at next."""
    from rich.console import Group

    shaky = bool(certificate.critics) and certificate.critics[0].grade != "good"
    parts: list[RenderableType] = [
        text(headline(certificate), "bold"),
        text(documents_line(certificate), "dim"),
        _funnel(certificate),
        *_losses(certificate),
        text(trust_question(certificate), "bold", before=1),
        text(trust(certificate), "yellow" if shaky else ""),
        *_reviewed(certificate),
        *_covered(certificate),
        *([text("Before you trust this set", "bold", before=1)] if certificate.cautions else []),
        *(text(f"- {caution}", "yellow") for caution in certificate.cautions),
        *(text(f"- {remark}", "dim") for remark in certificate.remarks),
        text("Next", "bold", before=1),
        *(text(f"- {step}") for step in next_steps(certificate)),
        text(f"Cost: {spent(certificate)}.", "dim", before=1),
    ]
    return Group(*parts)


def _funnel(certificate: Certificate) -> "Table":
    lines = bars(certificate)
    most = max(line.n for line in lines) or 1
    table = new_table(("", False), ("", False), ("", True), ("lost", True))
    for line in lines:
        table.add_row(
            text(f"  {line.label}"),
            text("█" * round(BAR * line.n / most), "dim"),
            text(count(line.n), "bold"),
            text(count(line.n_lost) if line.n_lost else "", "dim"),
        )
    return table


def _losses(certificate: Certificate) -> "list[RenderableType]":
    losses = sorted(certificate.funnel.losses, key=lambda lost: -lost.n)
    if not losses:
        return []
    table = new_table(("", True), ("", False))
    table.show_header = False
    for lost in losses[:SHOWN_LOSSES]:
        table.add_row(text(f"  {count(lost.n)}"), text(lost.words))
    n_more = sum(lost.n for lost in losses[SHOWN_LOSSES:])
    if n_more:
        table.add_row(text(f"  {count(n_more)}"), text("other reasons"))
    return [text("Lost, and why", "bold", before=1), table]


def _reviewed(certificate: Certificate) -> "list[RenderableType]":
    if certificate.review is None:
        return []
    return [text("What people said", "bold", before=1), *map(text, review_sentences(certificate.review))]


def _covered(certificate: Certificate) -> "list[RenderableType]":
    coverage = certificate.coverage
    table = new_table(("", False), ("", False))
    table.show_header = False
    if coverage.per_document:
        table.add_row(text("  of a document"), text(five(coverage.per_document)))
    for by, groups in coverage.groups.items():
        shown = [f"{group.value} {accepted(group)}" for group in groups[:SHOWN_VALUES]]
        more = [f"and {count(len(groups) - SHOWN_VALUES)} more"] if len(groups) > SHOWN_VALUES else []
        table.add_row(text(f"  {GROUPED[by].casefold()}"), text(", ".join([*shown, *more])))
    if asked_closed_book(certificate):
        table.add_row(text("  known without a document"), text(asked_closed_book(certificate)))
    if not table.row_count:
        return []
    return [text("What it covers (accepted of written)", "bold", before=1), table]
