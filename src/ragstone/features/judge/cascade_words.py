"""What a cascade has saved, and what one with fitted thresholds is expected to do, in words."""

from typing import TYPE_CHECKING

from ragstone.kernel.document.blocks import Column, Paragraph, ReportDocument, Row, Table
from ragstone.kernel.document.numbers import count, usd
from ragstone.kernel.judging.savings import CascadeSavings
from ragstone.kernel.records import Usage
from ragstone.kernel.runs.wording import plural
from ragstone.kernel.statistics import Estimate
from ragstone.kernel.version import __version__

if TYPE_CHECKING:
    from ragstone.kernel.judging.fitting import CascadeFit, FitFigures


def savings_line(saved: CascadeSavings) -> str:
    """Return who decided how many rows, what that took, and what the last member alone would have taken."""
    shares = [
        f"{member.name} decided {count(member.n_decided)} ({_percent(member.n_decided, saved.n_rows)})"
        for member in saved.members
    ]
    undecided = [f"{count(saved.n_undecided)} have no score"] if saved.n_undecided else []
    line = f"Cascade {saved.judge}, {plural(saved.n_rows, 'row')}: {'; '.join(shares + undecided)}."
    last = saved.members[-1]
    if not last.n_asked:
        return f"{line} {last.name} was never asked, so its cost is not known."
    if saved.last_alone is None:
        return line
    return (
        f"{line} It took {_taken(saved.spent, saved.spent_usd)}; {last.name} for every row would have taken "
        f"about {_taken(saved.last_alone, saved.last_alone_usd)}: {_difference(saved)}."
    )


def fit_document(fit: "CascadeFit") -> ReportDocument:
    """Return what `ragstone judges fit` shows: thresholds, agreement with people, and what it takes."""
    cheap, dear = fit.judge.members
    all_figures = {
        "fitted on": fit.in_sample,
        "cross-validated": fit.cross_validated,
        "set apart": fit.tested,
    }
    by_name = {name: figures for name, figures in all_figures.items() if figures}
    rows: list[Row] = [
        [f"  {name}", *cells] for name, cells in _lines(list(by_name.values()), cheap.judge, dear.judge)
    ]
    columns = [Column("agreement with people", text=True), *map(Column, by_name)]
    return ReportDocument(
        title="",
        kind="cascade",
        about="",
        version=__version__,
        blocks=[
            *map(Paragraph, _thresholds(fit)),
            Table(columns, rows, "Agreement with people"),
            *map(Paragraph, _remarks(fit)),
        ],
    )


def _lines(columns: "list[FitFigures]", cheap: str, dear: str) -> list[tuple[str, list[str]]]:
    """Return the lines of the table: what each is, and its value in each column."""
    return [
        ("the cascade", [_agreement(figures.cascade) for figures in columns]),
        ("cheap, where sure", [_agreement(figures.decided) for figures in columns]),
        (f"{cheap} alone", [_agreement(figures.cheap) for figures in columns]),
        (f"{dear} alone", [_agreement(figures.dear) for figures in columns]),
        ("cascade minus cheap", [_agreement(figures.cascade_minus_cheap) for figures in columns]),
        ("cascade minus dear", [_agreement(figures.cascade_minus_dear) for figures in columns]),
        ("decided by the cheap", [_percent(figures.n_decided, figures.n_answers) for figures in columns]),
        ("answers", [count(figures.n_answers) for figures in columns]),
        ("questions", [count(figures.n_questions) for figures in columns]),
    ]


def _thresholds(fit: "CascadeFit") -> list[str]:
    cheap, dear = fit.judge.members
    low, high = cheap.unsure or (0.0, 0.0)
    handed = "passes nothing on" if low == high == cheap.cut else f"passes on scores from {low:g} to {high:g}"
    return [
        f"{cheap.judge} says yes from {cheap.cut:g} on and {handed}.",
        f"{dear.judge} says yes from {dear.cut:g} on.",
    ]


def _remarks(fit: "CascadeFit") -> list[str]:
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
        lines.append(f"{plural(fit.n_left_out, 'labelled answer')} without a score by both judges left out.")
    return lines


def _agreement(estimate: Estimate | None) -> str:
    if estimate is None:
        return "none"
    known = "" if estimate.low is None else f" ({estimate.low:.3f} to {estimate.high:.3f})"
    return f"{estimate.value:.3f}{known}".replace("-", "−")


def _taken(usage: Usage, money: float | None) -> str:
    price = "" if money is None else f", {usd(money)}"
    return f"{plural(usage.calls, 'call')}, {plural(usage.input + usage.output, 'token')}{price}"


def _difference(saved: CascadeSavings) -> str:
    """Return the part that was saved: of the money where it is known, else of the tokens."""
    alone = saved.last_alone or Usage(calls=0)
    if saved.spent_usd is not None and saved.last_alone_usd:
        less = saved.last_alone_usd - saved.spent_usd
        whole, what = saved.last_alone_usd, f"of the money ({usd(abs(less))})"
    else:
        whole = float(alone.input + alone.output)
        less, what = whole - saved.spent.input - saved.spent.output, "of the tokens"
    if not whole:
        return "nothing to save"
    return f"{_percent(abs(less), whole)} {what} {'saved' if less >= 0 else 'more than that'}"


def _percent(part: float, whole: float) -> str:
    return f"{part / whole:.0%}".replace("%", " %") if whole else "0 %"
