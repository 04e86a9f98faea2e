"""What a cascade has saved, in words."""

from ragstone.kernel.document.numbers import count, usd
from ragstone.kernel.errors import plural
from ragstone.kernel.judging.savings import CascadeSavings
from ragstone.kernel.records import Usage


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
