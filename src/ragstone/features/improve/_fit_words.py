"""What a cascade with fitted thresholds is expected to do, in words."""

from ragstone.features.improve._thresholds import CascadeFit, FitFigures
from ragstone.kernel.decimals import decimal
from ragstone.kernel.document.blocks import Column, Paragraph, ReportDocument, Row, Table
from ragstone.kernel.document.numbers import count, usd
from ragstone.kernel.errors import plural
from ragstone.kernel.judging.tuned import left_out_text
from ragstone.kernel.records import Usage
from ragstone.kernel.statistics import Estimate
from ragstone.kernel.version import __version__


def fit_document(fit: CascadeFit) -> ReportDocument:
    """Return what `ragstone judges fit` shows: thresholds, agreement with people, and what it takes."""
    primary, fallback = _names(fit)
    every = {"fitted on": fit.in_sample, "cross-validated": fit.cross_validated, "set apart": fit.tested}
    measured = {name: figures for name, figures in every.items() if figures}
    lines = _lines(list(measured.values()), primary, fallback)
    rows: list[Row] = [[f"  {name}", *cells] for name, cells in lines]
    columns = [Column("agreement with people", text=True), *map(Column, measured)]
    return ReportDocument(
        title="",
        kind="cascade",
        about="",
        version=__version__,
        blocks=[
            *(Paragraph(line, part="answer") for line in _thresholds(fit)),
            Table(columns, rows, "Agreement with people"),
            *(Paragraph(line, part="caution") for line in _remarks(fit)),
        ],
    )


def _names(fit: CascadeFit) -> list[str]:
    """Return what tells both judges apart: their names, and the models where one judge asks two."""
    is_one = len({member.judge for member in fit.judge.members}) == 1
    return [
        f"{member.judge} by {member.model}" if is_one and member.model else member.judge
        for member in fit.judge.members
    ]


def _lines(measured: list[FitFigures], primary: str, fallback: str) -> list[tuple[str, list[str]]]:
    """Return the lines of the table: what each is, and its value in each column."""
    return [
        ("the cascade", [_agreement(figures.cascade) for figures in measured]),
        (f"{primary}, where sure", [_agreement(figures.decided) for figures in measured]),
        (f"{primary} alone", [_agreement(figures.cheap) for figures in measured]),
        (f"{fallback} alone", [_agreement(figures.dear) for figures in measured]),
        (f"cascade minus {primary}", [_agreement(figures.cascade_minus_cheap) for figures in measured]),
        (f"cascade minus {fallback}", [_agreement(figures.cascade_minus_dear) for figures in measured]),
        (f"decided by {primary}", [_share(figures) for figures in measured]),
        ("answers", [count(figures.n_answers) for figures in measured]),
        ("questions", [count(figures.n_questions) for figures in measured]),
    ]


def _thresholds(fit: CascadeFit) -> list[str]:
    names = _names(fit)
    primary, fallback = fit.judge.members
    low, high = primary.unsure or (0.0, 0.0)
    handed = (
        "passes nothing on" if low == high == primary.cut else f"passes on scores from {low:g} to {high:g}"
    )
    return [
        f"{names[0]} says yes from {primary.cut:g} on and {handed}.",
        f"{names[1]} says yes from {fallback.cut:g} on.",
    ]


def _remarks(fit: CascadeFit) -> list[str]:
    """Return what money it takes, and what to know of the figures."""
    lines = []
    if fit.dear_alone.calls:
        lines.append(
            f"All these answers take {_taken(fit.spent, fit.spent_usd)}; "
            f"{_taken(fit.dear_alone, fit.dear_alone_usd)} with the expensive judge alone."
        )
    if fit.n_folds_out:
        lines.append(
            f"In {plural(fit.n_folds_out, 'fold')} of the cross-validation no interval reached "
            f"{fit.agreement:g}, so every answer was passed on. More labels give firmer thresholds."
        )
    if fit.n_left_out:
        lines.append(f"{plural(fit.n_left_out, 'labelled answer')} left out: no score by both judges.")
    if fit.n_tuned:
        lines.append(left_out_text(fit.n_tuned))
    return lines


def _agreement(estimate: Estimate | None) -> str:
    if estimate is None:
        return "none"
    if estimate.low is None or estimate.high is None:
        return decimal(estimate.value, 3)
    return f"{decimal(estimate.value, 3)} ({decimal(estimate.low, 3)} to {decimal(estimate.high, 3)})"


def _share(figures: FitFigures) -> str:
    if not figures.n_answers:
        return "0 %"
    return f"{figures.n_decided / figures.n_answers:.0%}".replace("%", " %")


def _taken(usage: Usage, money: float | None) -> str:
    price = "" if money is None else f", {usd(money)}"
    return f"{plural(usage.calls, 'call')}, {plural(usage.input + usage.output, 'token')}{price}"
