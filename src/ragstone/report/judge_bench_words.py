"""What a bench of judges says in words, the same on its page and in the terminal."""

from collections.abc import Sequence

from ragstone.agreement.bench.board import CellComparison, JudgeBoard, JudgeStanding, Place
from ragstone.agreement.bench.cells import Spread
from ragstone.agreement.bench.choice import CheaperWithExamples, Choice, Contrast, Fit, Price
from ragstone.agreement.bench.grid import LeftOut
from ragstone.report.bench_words import seconds
from ragstone.report.judge_bench import JudgeBenchSummary
from ragstone.report.wording import count, interval, number, plural, statuses, usd, with_left_out
from ragstone.statistics import Estimate

# The columns of the leaderboard after its own measure, those that any cell has.
COLUMNS = (
    "exact agreement",
    "difference",
    "within one",
    "quadratic kappa",
    "kappa",
    "ROC AUC",
    "Spearman",
    "signed error",
)
NOTHING = "none"  # the price of a judge that asks no model


def columns(board: JudgeBoard) -> list[str]:
    """Return the measures beside the leading one that any cell has, in order."""
    known = {name for row in board.standings for name in row.agreement}
    return [name for name in COLUMNS if name in known and name != board.measure]


def measure_name(board: JudgeBoard) -> str:
    """Return the leading measure in words; a difference of percentages is called so."""
    if board.measure != "difference":
        return board.measure
    percent = not board.mapped and all(row.cell.scale == (0, 100) for row in board.standings)
    return "percentage difference from people" if percent else "mean difference from people"


def direction(board: JudgeBoard) -> str:
    """Return which way is better, where a reader could doubt it."""
    return "the lower the better" if board.measure == "difference" else ""


def ordered_by(board: JudgeBoard) -> str:
    """Return what decided for the measure, and what the bench rests on."""
    lower = f" ({direction(board)})" if direction(board) else ""
    mapped = ", compared from 0 to 1 as the mapping says" if board.mapped else ""
    why = f"Ordered by {measure_name(board)}{lower}: {board.why}{mapped}."
    return f"{why} Measured on {based_on(board)}. {family(board)}"


def based_on(board: JudgeBoard) -> str:
    """Return how many answers the bench rests on, and how many were left out and why."""
    left_out = {
        "that a judge was made with": board.n_tuned,
        "on which annotators tied": board.n_tied,
        "without a score of every cell": board.n_unscored,
    }
    told = f"{plural(board.n, 'answer')} to {plural(board.n_questions, 'question')}"
    return with_left_out(told, left_out)


def family(board: JudgeBoard) -> str:
    """Return what the verdicts rest on."""
    if not board.comparisons:
        return ""
    return (
        f"Compared on the same answers ({board.comparisons[0].test} test); Holm's correction over "
        f"{plural(len(board.comparisons), 'comparison')}, every pair of cells."
    )


def recommendation(summary: JudgeBenchSummary) -> list[str]:
    """Return the result, a few plain sentences."""
    board, choice = summary.board, summary.choice
    if choice is None:
        return ["No cell could be placed: see what was measured apart, and why."]
    said = [_best(board), *_alike(choice, board)]
    if choice.judge is None:
        none = "could be measured" if board.failed else "is in the grid"
        return [*said, f"No judge that asks a model {none}."]
    return said + _against_baseline(choice)


def _best(board: JudgeBoard) -> str:
    first = board.standings[0]
    agrees = "is nearest to people" if board.measure == "difference" else "agrees best with people"
    return f"{first.cell.name} {agrees}: {measure_name(board)} {with_interval(first.value)}."


def _alike(choice: Choice, board: JudgeBoard) -> list[str]:
    if len(board.standings) == 1:
        return ["It is the only cell that was measured."]
    if not choice.alike:
        return ["Every other cell is worse."]
    said = [f"Not distinguishable from it: {', '.join(choice.alike)}."]
    if choice.cheapest is None or choice.price is None:
        return [*said, "Which of these is the cheapest is not known: prices and times are missing."]
    cheapest = next(row for row in board.standings if row.cell.name == choice.cheapest)
    price = told_price(cheapest, choice.price)
    if choice.cheapest == choice.best:
        return [*said, f"It is also the cheapest of these ({price})."]
    return [*said, f"The cheapest of these: {choice.cheapest} ({price})."]


def _against_baseline(choice: Choice) -> list[str]:
    if choice.baseline is None:
        return []
    better = [fit for fit in choice.fits if fit.verdict == "better"]
    if better:
        fit = next((each for each in better if each.cell == choice.judge), better[0])
        return [f"{fit.cell} is better than {fit.rival}, the best without a model, by {by(fit.comparison)}."]
    best = next(fit for fit in choice.fits if fit.cell == choice.judge)
    reach = best.comparison.difference
    if choice.beats_baseline == "worse" or reach.high is None:
        return [f"No judge that asks a model is better than {choice.baseline}, which asks none."]
    return [
        f"No judge that asks a model is shown to be better than {choice.baseline}, which asks none: the "
        f"difference of the best of them, {choice.judge}, is {with_interval(reach)}. More labels may tell."
    ]


def told_price(row: JudgeStanding, price: Price) -> str:
    """Return what a judgement costs, by this price."""
    if not row.spent.n_calls:
        return "it asks no model"
    if price == "cost":
        return cost_each(row)
    return (
        f"{seconds_each(row)} a judgement" if price == "seconds" else f"{tokens_each(row)} tokens a judgement"
    )


def cost_each(row: JudgeStanding) -> str:
    """Return US dollars for a thousand judgements."""
    if not row.spent.n_calls:
        return NOTHING
    each = row.spent.usd_each
    if each is None:
        return "unknown"
    return f"{usd(1000 * each)} for 1,000" if each else "0 USD"


def usd_for_1000(row: JudgeStanding) -> str:
    """Return US dollars for a thousand judgements with two digits, for a narrow column."""
    if not row.spent.n_calls:
        return NOTHING
    each = row.spent.usd_each
    return "unknown" if each is None else f"{float(f'{1000 * each:.2g}'):,g}"


def seconds_each(row: JudgeStanding) -> str:
    """Return the time of a judgement's calls."""
    if not row.spent.n_calls:
        return NOTHING
    each = row.spent.seconds_each
    return "unknown" if each is None else seconds(each)


def tokens_each(row: JudgeStanding) -> str:
    """Return the tokens of a judgement, in and out together."""
    if not row.spent.n_calls:
        return NOTHING
    return count(round((row.spent.input + row.spent.output) / max(1, row.spent.n_judged)))


def failed_told(row: JudgeStanding) -> str:
    """Return the statuses of judgements without a score; empty where there are none."""
    return statuses(row.statuses)


def n_failed(row: JudgeStanding) -> str:
    """Return how many judgements have no score, of how many; empty where there are none."""
    n = sum(row.statuses.values())
    lost = n - row.statuses.get("scored", 0)
    return f"{count(lost)} of {count(n)}" if lost else ""


def repeated(board: JudgeBoard) -> list[JudgeStanding]:
    """Return the cells that were judged several times."""
    return [row for row in board.standings if row.spread]


def runs_told(spread: Spread) -> str:
    """Return the measure of each run."""
    return ", ".join(number3(value) for value in spread.values)


def changed_told(spread: Spread) -> str:
    """Return the share of answers whose score changed, in percent, with its interval."""
    low, high = spread.changed.low, spread.changed.high
    ends = f" ({100 * low:.1f} to {100 * high:.1f})" if low is not None and high is not None else ""
    return f"{100 * spread.changed.value:.1f} %{ends}"


def number3(value: float) -> str:
    """Return a value with three decimals, for what is smaller than the second one."""
    return f"{value:z.3f}".replace("-", "−")


def fit_told(fit: Fit) -> str:
    """Return whether a judge is worth its model: yes, no or cannot tell, and by how much."""
    failed = f"; {count(fit.n_failed)} of {count(fit.n)} judgements failed" if fit.n_failed else ""
    match fit.verdict:
        case "better":
            return f"yes: better than {fit.rival} by {by(fit.comparison)}{failed}"
        case "worse":
            return f"no: worse than {fit.rival} by {by(fit.comparison)}{failed}"
        case _:
            there = with_interval(fit.comparison.difference)
            return f"cannot tell it from {fit.rival}: the difference is {there}{failed}"


def contrast_told(one: Contrast) -> str:
    """Return which of two cells is better that differ in one way alone."""
    first, second = one.values
    if one.verdict == "cannot tell":
        return f"{one.axis} {first} or {second}: cannot tell ({difference(one.comparison)})"
    better, worse = (first, second) if one.verdict == "better" else (second, first)
    return f"{one.axis} {better} is better than {worse} by {by(one.comparison)}"


def difference(comparison: CellComparison) -> str:
    """Return how large a difference is, or that nothing tells the two apart."""
    there = comparison.difference
    if there.low is None and not there.value:
        return "alike on every answer"
    return f"difference {with_interval(there)}"


def contrast_where(one: Contrast) -> str:
    """Return what is the same in both cells of a contrast: the judge, and the model unless that differs."""
    judge, _, model = one.first.partition(" · ")
    base, _, said = judge.partition("@")
    kept = ",".join(part for part in said.split(",") if part and not part.startswith(f"{one.axis}="))
    judge = f"{base}@{kept}" if kept else base
    return judge if one.axis == "model" or not model else f"{judge} by {model}"


def in_one_line(apart: Sequence[LeftOut]) -> list[LeftOut]:
    """Return what was not measured, those with the same reason as one."""
    names: dict[str, list[str]] = {}
    for one in apart:
        names.setdefault(one.reason, []).append(one.name)
    return [LeftOut(name="; ".join(alike), reason=reason) for reason, alike in names.items()]


def examples_told(one: CheaperWithExamples) -> str:
    """Return whether a cheaper model with examples does as well as a dearer one without."""
    less = "at no price" if one.ratio is None else f"{one.ratio:,.1f} times cheaper ({one.price})"
    if one.verdict == "cannot tell":
        said = f"cannot be told apart ({difference(one.comparison)})"
    else:
        said = f"{one.verdict} by {by(one.comparison)}"
    return f"{one.cheaper}, {less}, against {one.dearer}: {said}"


def by(comparison: CellComparison) -> str:
    """Return how large a difference is, without its sign."""
    there = comparison.difference
    if there.value >= 0:
        return with_interval(there)
    ends = (
        f" ({number(-there.high)} to {number(-there.low)})"
        if there.low is not None and there.high is not None
        else ""
    )
    return number(-there.value) + ends


def with_interval(estimate: Estimate) -> str:
    """Return `0.91 (0.87 to 0.94)`."""
    beside = f" ({interval(estimate)})" if estimate.low is not None else ""
    return f"{number(estimate.value)}{beside}"


def against_best(row: JudgeStanding) -> str:
    """Return how much a cell falls short of the best, with the interval; empty for the best."""
    return "" if row.comparison is None else by(row.comparison)


def totals(summary: JudgeBenchSummary) -> str:
    """Return what all cells took together: calls, tokens and cost."""
    spent = [row.spent for row in summary.board.standings]
    calls = sum(one.n_calls for one in spent)
    if not calls:
        return "no model was asked"
    tokens = (
        f"{count(sum(one.input for one in spent))} tokens in, {count(sum(one.output for one in spent))} out"
    )
    costs = [one.cost_usd for one in spent]
    known = [cost for cost in costs if cost is not None]
    read = " and ".join(sorted(set(summary.list_prices.values())))
    listed = f" at list prices read on {read}" if read else ""
    cost = f"{usd(sum(known))}{listed}" if len(known) == len(costs) else "cost unknown"
    return f"{plural(calls, 'call')}, {tokens}, {cost}"


MARKS: dict[Place, str] = {"best": "best", "not distinguishable": "= best?", "worse": "worse"}


def mark(place: Place) -> str:
    """Return a verdict for a narrow column."""
    return MARKS[place]
