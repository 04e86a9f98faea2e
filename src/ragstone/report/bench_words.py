"""What a leaderboard says in words, the same on its page and in the terminal."""

from ragstone.experiments.leaderboard import Differing, Leaderboard, Place, Standing, Timing
from ragstone.report.wording import count, number, plural, with_left_out
from ragstone.statistics import Estimate

# Measures without their k, in the order of the columns; those that no configuration has are left out.
COLUMNS = ("span_recall", "span_precision", "recall", "hit", "mrr", "ndcg", "rank_score", "precision", "map")
SHORT = {"span_recall": "span rec", "span_precision": "span prec", "rank_score": "rank score"}

VERDICTS: dict[Place, str] = {
    "best": "best",
    "not distinguishable": "not distinguishable from the best",
    "worse": "worse than the best",
}


def short(measure: str) -> str:
    """Return the name of a measure for the head of a narrow column: `span rec@5`."""
    name, at, k = measure.partition("@")
    return f"{SHORT.get(name, name)}{at}{k}"


def bare(measure: str) -> str:
    """Return the name of a measure without its k."""
    return measure.partition("@")[0]


def columns(board: Leaderboard, k: int) -> list[str]:
    """Return the measures (with their k) that any configuration has at this k, the leading one first."""
    known = {name for row in board.standings for name in row.measures[str(k)]}
    named = {bare(name): name for name in known}
    lead = bare(board.measure)
    return [named[name] for name in (lead, *(each for each in COLUMNS if each != lead)) if name in named]


def lead_of(row: Standing, board: Leaderboard) -> Estimate:
    """Return the mean that a configuration is ordered by."""
    return row.measures[str(board.ks[0])][board.measure]


def seconds(value: float) -> str:
    """Return a time with two digits and a unit: `0.35 ms`, `12 ms`, `1.4 s`, `320 s`."""
    if value >= 1:
        return f"{value:.1f} s" if value < 10 else f"{value:,.0f} s"
    ms = value * 1000
    return f"{ms:.2f} ms" if ms < 1 else f"{ms:.1f} ms" if ms < 10 else f"{ms:.0f} ms"


def throughput(timing: Timing) -> str:
    """Return the questions a second, or that a model sets the pace."""
    if timing.questions_per_s is None:
        return "as the model allows"
    return (
        f"{timing.questions_per_s:.1f}"
        if timing.questions_per_s < 10
        else count(round(timing.questions_per_s))
    )


def indexed(timing: Timing) -> str:
    """Return the time of indexing, and how many vectors were made or at hand."""
    told = [
        f"{count(timing.n_embedded)} texts embedded" if timing.n_embedded else "",
        f"{count(timing.n_cached)} vectors from the store" if timing.n_cached else "",
    ]
    beside = ", ".join(part for part in told if part)
    return seconds(timing.index_s) + (f" ({beside})" if beside else "")


def based_on(board: Leaderboard) -> str:
    """Return how many questions the leaderboard rests on, and how many were left out and why."""
    left_out = {
        "without a relevant document named": board.n_unlabelled,
        "unanswerable": board.n_unanswerable,
        f"without {bare(board.measure)} of every configuration": board.n_left_out,
    }
    return with_left_out(plural(board.n_questions, "question"), left_out)


def outcome(board: Leaderboard) -> str:
    """Return the result in one or two sentences."""
    best = board.standings[0].configuration.name
    alike = [row.configuration.name for row in board.standings if row.verdict == "not distinguishable"]
    n_worse = sum(row.verdict == "worse" for row in board.standings)
    if len(board.standings) == 1:
        return f"{best} is the only configuration that was measured."
    said = f"{best} has the highest {board.measure}"
    if not alike:
        return f"{said}, and every other configuration is worse."
    others = plural(len(alike), "configuration")
    verb = "is" if len(alike) == 1 else "are"
    worse = f" {plural(n_worse, 'configuration')} shown to be worse." if n_worse else ""
    return f"{said}; {others} {verb} not distinguishable from it: {', '.join(alike)}.{worse}"


def family(board: Leaderboard) -> str:
    """Return what the verdicts rest on."""
    if not board.family:
        return ""
    rows = [row.comparison for row in board.standings if row.comparison]
    return (
        f"Compared on the same questions ({rows[0].test} test); Holm's correction over "
        f"{plural(board.family, 'comparison')}, every pair of configurations."
    )


def rank(value: int | None) -> str:
    """Return a place, or that there is none."""
    return "absent" if value is None else str(value)


def difference(row: Standing) -> str:
    """Return how far below the best a configuration is, with the interval; empty for the best."""
    if row.comparison is None:
        return ""
    there = row.comparison.difference
    if there.low is None or there.high is None:
        return number(-there.value)
    return f"{number(-there.value)} ({number(-there.high)} to {number(-there.low)})"


def differing_told(one: Differing) -> str:
    """Return value and place of the first relevant by configuration: `bm25 1.00 (1), dense 0.00 (absent)`."""
    return ", ".join(f"{found.name} {number(found.value)} ({rank(found.rank)})" for found in one.found)
