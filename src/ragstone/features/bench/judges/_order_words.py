"""In what order each judge of a bench puts the systems: means, conclusions, and where they hold."""

from collections import Counter
from collections.abc import Sequence
from operator import attrgetter

import msgspec

from ragstone.features.bench._words import means
from ragstone.features.bench.judges._orders import (
    PEOPLE,
    Better,
    OrderComparison,
    OrdersElsewhere,
    OrderVerdict,
    SystemOrder,
    SystemOrders,
)
from ragstone.features.bench.judges.values import JudgeBoard, JudgeChoice
from ragstone.kernel.document.blocks import (
    Block,
    Cell,
    Column,
    Heading,
    Listing,
    Made,
    Paragraph,
    Tone,
    table_of,
)
from ragstone.kernel.document.numbers import count, number
from ragstone.kernel.errors import plural
from ragstone.kernel.runs.wording import tau_told, with_left_out

MOST_PAIRS = 12  # rows of a table where there is little room; a page has all
TONES: dict[OrderVerdict, Tone] = {"holds": "good", "does not hold": "bad", "cannot tell": "open"}
HOLDS = (
    "A judge finds a difference between two systems where a paired test shows it (5 %, by Holm's correction "
    "over the pairs of systems). The order holds if two judges find the same differences. It does not hold "
    "if one finds the opposite of the other. Otherwise the verdict is “cannot tell”."
)


class Conclusion(msgspec.Struct, frozen=True, kw_only=True):
    """That `better` is better than `worse`, and which judges come to it, to the opposite, or to neither.

    people: whether people come to it; they never oppose it, for what people say is the conclusion. None
    where the labels are too few.
    """

    better: str
    worse: str
    people: bool | None
    shared: list[str]
    opposed: list[str]
    unsure: list[str]


def order_blocks(board: JudgeBoard, choice: JudgeChoice | None) -> list[Block]:
    """Return what the judges say of the systems, and whether it holds for other judges, scales and data."""
    orders = board.orders
    here = _here(orders, board, choice) if orders else []
    beside = [block for use_case in board.elsewhere for block in _elsewhere(use_case)]
    if not here and not beside:
        return []
    heading = Heading("Does the order of the systems hold?", anchor="orders")
    return [heading, *here, *beside]


def _here(orders: SystemOrders, board: JudgeBoard, choice: JudgeChoice | None) -> list[Block]:
    told_apart = conclusions(orders)
    pairs = [{conclusion.better, conclusion.worse} for conclusion in told_apart]
    silent = [pair for pair in orders.pairs if {*pair} not in pairs]
    nobody = "; ".join(f"{first} and {second}" for first, second in silent)
    about = with_left_out(
        f"Mean of each system on {plural(orders.n_questions, 'question')}",
        {"without a score of every system by every judge": orders.n_left_out},
    )
    return [
        *(Paragraph(sentence, tone="strong") for sentence in order_text(orders)),
        Paragraph(HOLDS, tone="muted"),
        _means(orders, board, f"{about}."),
        Listing([f"{name} is left out: it {why}." for name, why in orders.left_out.items()], tone="warn"),
        table_of("Conclusions", told_apart, CONCLUSIONS, caption="Which system is better, and who says so"),
        *([Paragraph(f"No judge finds a difference between {nobody}.", tone="muted")] if silent else []),
        *_comparisons(orders, choice),
    ]


def order_text(orders: SystemOrders) -> list[str]:
    """Return in a sentence or two how far the orders of the judges agree with people and with each other."""
    with_people = [comparison for comparison in orders.comparisons if comparison.first == PEOPLE]
    others = [comparison for comparison in orders.comparisons if comparison.first != PEOPLE]
    systems = plural(len(orders.systems), "system")
    sentences = []
    if with_people:
        names: dict[OrderVerdict, list[str]] = {}
        for comparison in with_people:
            names.setdefault(comparison.verdict, []).append(comparison.second)
        by_verdict = [f"{verdict} for {', '.join(names[verdict])}" for verdict in TONES if verdict in names]
        sentences.append(f"People's order of {systems}: {'; '.join(by_verdict)}.")
    if others:
        pairs = {verdict: sum(comparison.verdict == verdict for comparison in others) for verdict in TONES}
        text = ", ".join(f"{verdict} for {n}" for verdict, n in pairs.items() if n)
        sentences.append(f"Between judges: {text} of {plural(len(others), 'pair')}.")
    told_apart = conclusions(orders)
    kinds = Counter(_what_becomes(conclusion).words for conclusion in told_apart)
    text = f"all share {kinds['all agree']}, {kinds['disputed']} are disputed"
    sentences.append(
        f"Of {plural(len(told_apart), 'conclusion')}, {text}."
        if told_apart
        else "No judge tells two systems apart."
    )
    return sentences


def conclusions(orders: SystemOrders) -> list[Conclusion]:
    """Return each pair of systems that anyone tells apart: by people, or else by the first judge that does.

    Those that most judges share come first.
    """
    told_apart = []
    for at, (first, second) in enumerate(orders.pairs):
        verdicts = {order.by: order.tests[at].verdict for order in orders.orders}
        lead = next((verdict for verdict in verdicts.values() if verdict != "cannot tell"), None)
        if lead:
            better, worse = (first, second) if lead == "better" else (second, first)
            told_apart.append(
                Conclusion(
                    better=better,
                    worse=worse,
                    people=verdicts.pop(PEOPLE) == lead if PEOPLE in verdicts else None,
                    shared=[by for by, verdict in verdicts.items() if verdict == lead],
                    opposed=[by for by, verdict in verdicts.items() if verdict not in (lead, "cannot tell")],
                    unsure=[by for by, verdict in verdicts.items() if verdict == "cannot tell"],
                )
            )
    return sorted(told_apart, key=lambda conclusion: (len(conclusion.opposed), len(conclusion.unsure)))


def _what_becomes(conclusion: Conclusion) -> Cell:
    if conclusion.opposed:
        return Cell("disputed", tone="bad")
    if conclusion.unsure or conclusion.people is False:
        return Cell("not by all", tone="open")
    return Cell("all agree", tone="good")


PEOPLE_SAY = {True: "yes", False: "cannot tell", None: ""}
CONCLUSIONS: list[Made[Conclusion]] = [
    (
        Column("Conclusion", text=True, short=""),
        lambda conclusion: f"{conclusion.better} over {conclusion.worse}",
    ),
    (Column("", text=True), _what_becomes),
    (Column("People", text=True, short="people"), lambda conclusion: PEOPLE_SAY[conclusion.people]),
    (Column("Judges that agree", short="judges agree"), lambda conclusion: _counted(conclusion.shared)),
    (Column("The opposite", short="opposite"), lambda conclusion: _counted(conclusion.opposed)),
    (Column("Cannot tell", short="cannot tell"), lambda conclusion: _counted(conclusion.unsure)),
]


def _counted(names: Sequence[str]) -> Cell:
    return Cell(count(len(names)), ", ".join(names))


def _means(orders: SystemOrders, board: JudgeBoard, caption: str) -> Block:
    scored = [row.cell for row in board.standings] + [aside.cell for aside in board.aside]
    cells = {cell.name: cell for cell in scored}
    unscored = any(order.n_unscored for order in orders.orders)
    without: Made[SystemOrder] = (
        Column("Questions without", short="without"),
        lambda order: count(order.n_unscored),
    )

    def scale(order: SystemOrder) -> str:
        return "{:g}-{:g}".format(*cells[order.by].scale) if order.by in cells else ""

    columns: list[Made[SystemOrder]] = [
        (Column("Judge", text=True, short=""), lambda order: order.by),
        (Column("Scale", text=True, short="scale"), scale),
        *means(list(orders.orders[0].means), attrgetter("means")),
        *([without] if unscored else []),
    ]
    return table_of("Mean of each system by each judge", orders.orders, columns, caption=caption)


def _comparisons(orders: SystemOrders, choice: JudgeChoice | None) -> list[Block]:
    """Return the pairs of orders; in a terminal those with people, and those that differ in one way."""
    contrasts = choice.contrasts if choice else []
    axes = {frozenset((contrast.first, contrast.second)): contrast.axis for contrast in contrasts}

    def differ(comparison: OrderComparison) -> str:
        return axes.get(frozenset((comparison.first, comparison.second)), "")

    ordered = sorted(
        orders.comparisons,
        key=lambda comparison: (
            comparison.first != PEOPLE,
            differ(comparison) != "scale",
            not differ(comparison),
        ),
    )
    columns: list[Made[OrderComparison]] = [
        (Column("Order by", text=True, short="order by"), lambda comparison: comparison.first),
        (Column("and by", text=True), lambda comparison: comparison.second),
        *([(Column("Differ in", text=True, short="differ in"), differ)] if axes else []),
        *_outcomes(orders.comparisons),
    ]
    caption = "Two orders of the same systems, and how the conclusions change"
    label = "Orders compared"
    instructive = [
        comparison for comparison in ordered if comparison.first == PEOPLE or differ(comparison)
    ] or ordered
    brief = ordered if len(ordered) <= MOST_PAIRS else instructive[:MOST_PAIRS]
    more = len(ordered) - len(brief)
    return [
        table_of(label, brief, columns, caption=caption, where="terminal"),
        *(
            [Paragraph(f"  and {count(more)} more, in the report", tone="muted", where="terminal")]
            if more
            else []
        ),
        table_of(label, ordered, columns, caption=caption, where="page"),
    ]


def _outcomes(comparisons: Sequence[OrderComparison]) -> list[Made[OrderComparison]]:
    """Return the columns of what becomes of an order; tau of two systems says no more than their pair."""
    tau: Made[OrderComparison] = (
        Column("Kendall's tau", short="tau"),
        lambda comparison: tau_told(comparison.tau),
    )
    return [
        (
            Column("Order", text=True, short=""),
            lambda comparison: Cell(comparison.verdict, tone=TONES[comparison.verdict]),
        ),
        *([tau] if any(comparison.tau for comparison in comparisons) else []),
        (Column("Pairs the same", short="same"), lambda comparison: _pairs(comparison.same, comparison)),
        (Column("Reversed", short="reversed"), lambda comparison: _pairs(comparison.reversed, comparison)),
        (
            Column("Found by one alone", short="by one alone"),
            lambda comparison: _pairs(comparison.alone, comparison),
        ),
    ]


def _pairs(pairs: Sequence[Better], comparison: OrderComparison) -> str:
    return f"{count(len(pairs))} of {count(comparison.n_pairs)}"


def _named(pairs: Sequence[Better]) -> str:
    return "; ".join(f"{better} over {worse}" for better, worse in pairs)


def _elsewhere(use_case: OrdersElsewhere) -> list[Block]:
    here, there = use_case.n_questions
    common = plural(len(use_case.systems), "common system")
    rest = f"{plural(here, 'question')} here, {count(there)} there; {common}."
    columns: list[Made[OrderComparison]] = [
        (Column("Judge", text=True, short=""), lambda each: each.first),
        *_outcomes(use_case.comparisons),
    ]
    turned = [
        f"Reversed there by {each.first}: {_named(each.reversed)}."
        for each in use_case.comparisons
        if each.reversed
    ]
    table = table_of(f"Orders here and in {use_case.name}", use_case.comparisons, columns)
    return [
        Heading(f"Does it carry over to {use_case.name}?", level=3),
        *(
            [Paragraph(use_case.why_not)]
            if use_case.why_not
            else [Paragraph(rest, tone="muted"), table, Listing(turned)]
        ),
        *([Paragraph(judges_text(use_case.judges))] if use_case.judges else []),
    ]


def judges_text(judges: OrderComparison) -> str:
    """Return whether the order of the judges, by how far they agree with people, is the same elsewhere."""
    tau = f"Kendall's tau {number(judges.tau.value)}; " if judges.tau else ""
    kinds = {"the same": judges.same, "reversed": judges.reversed, "found in one bench alone": judges.alone}
    counts = ", ".join(f"{len(pairs)} {kind}" for kind, pairs in kinds.items())
    of = f"{tau}of {plural(judges.n_pairs, 'pair')} {counts}"
    sentence = f"The order of the judges by agreement with people: {judges.verdict} ({of})."
    return f"{sentence} Reversed there: {_named(judges.reversed)}." if judges.reversed else sentence
