"""In what order each judge of a bench puts the systems: means, conclusions, and where they hold."""

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from ragstone.features.bench.judges.orders import (
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
    means,
    table_of,
)
from ragstone.kernel.document.numbers import count, number
from ragstone.kernel.runs.wording import plural, tau_told, with_left_out
from ragstone.kernel.statistics import Estimate

MOST_PAIRS = 12  # rows of a table where there is little room; a page has all
TONES: dict[OrderVerdict, Tone] = {"holds": "good", "does not hold": "bad", "cannot tell": "open"}
HOLDS = (
    "A judge finds a difference between two systems where a paired test shows it (5 %, by Holm's correction "
    "over the pairs of systems). The order holds if two judges find the same differences. It does not hold "
    "if one finds the opposite of the other. Else it cannot be told."
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
    beside = [block for one in board.elsewhere for block in _elsewhere(one)]
    if not here and not beside:
        return []
    heading = Heading("Does the order of the systems hold?", anchor="orders")
    return [heading, *here, *beside]


def _here(orders: SystemOrders, board: JudgeBoard, choice: JudgeChoice | None) -> list[Block]:
    found = conclusions(orders)
    silent = [pair for pair in orders.pairs if {*pair} not in [{one.better, one.worse} for one in found]]
    nobody = "; ".join(f"{first} and {second}" for first, second in silent)
    about = with_left_out(
        f"Mean of each system on {plural(orders.n_questions, 'question')}",
        {"without a score of every system by every judge": orders.n_left_out},
    )
    return [
        *(Paragraph(said, tone="strong") for said in order_told(orders)),
        Paragraph(HOLDS, tone="muted"),
        _means(orders, board, f"{about}."),
        Listing([f"{name} is left out: it {why}." for name, why in orders.left_out.items()], tone="warn"),
        table_of("Conclusions", found, CONCLUSIONS, caption="Which system is better, and who says so"),
        *([Paragraph(f"Nobody finds a difference between {nobody}.", tone="muted")] if silent else []),
        *_comparisons(orders, choice),
    ]


def order_told(orders: SystemOrders) -> list[str]:
    """Return in a sentence or two how far the orders of the judges agree with people and with each other."""
    with_people = [one for one in orders.comparisons if one.first == PEOPLE]
    others = [one for one in orders.comparisons if one.first != PEOPLE]
    systems = plural(len(orders.systems), "system")
    said = []
    if with_people:
        said.append(f"People's order of {systems}: {_by_verdict(with_people)}.")
    if others:
        pairs = {verdict: sum(one.verdict == verdict for one in others) for verdict in TONES}
        told = ", ".join(f"{verdict} for {n}" for verdict, n in pairs.items() if n)
        said.append(f"Between judges: {told} of {plural(len(others), 'pair')}.")
    found = conclusions(orders)
    kinds = Counter(_what_becomes(one).words for one in found)
    told = f"all share {kinds['all agree']}, {kinds['disputed']} are disputed"
    said.append(
        f"Of {plural(len(found), 'conclusion')}, {told}." if found else "No judge tells two systems apart."
    )
    return said


def _by_verdict(comparisons: Sequence[OrderComparison]) -> str:
    names: dict[OrderVerdict, list[str]] = {}
    for one in comparisons:
        names.setdefault(one.verdict, []).append(one.second)
    return "; ".join(f"{verdict} for {', '.join(names[verdict])}" for verdict in TONES if verdict in names)


def conclusions(orders: SystemOrders) -> list[Conclusion]:
    """Return each pair of systems that anyone tells apart: by people, or else by the first judge that does.

    Those that most judges share come first.
    """
    found = []
    for at, (first, second) in enumerate(orders.pairs):
        said = {order.by: order.tests[at].verdict for order in orders.orders}
        lead = next((verdict for verdict in said.values() if verdict != "cannot tell"), None)
        if lead:
            better, worse = (first, second) if lead == "better" else (second, first)
            found.append(
                Conclusion(
                    better=better,
                    worse=worse,
                    people=said.pop(PEOPLE) == lead if PEOPLE in said else None,
                    shared=[by for by, verdict in said.items() if verdict == lead],
                    opposed=[by for by, verdict in said.items() if verdict not in (lead, "cannot tell")],
                    unsure=[by for by, verdict in said.items() if verdict == "cannot tell"],
                )
            )
    return sorted(found, key=lambda one: (len(one.opposed), len(one.unsure)))


def _what_becomes(one: Conclusion) -> Cell:
    if one.opposed:
        return Cell("disputed", tone="bad")
    if one.unsure or one.people is False:
        return Cell("not by all", tone="open")
    return Cell("all agree", tone="good")


PEOPLE_SAY = {True: "yes", False: "cannot tell", None: ""}
CONCLUSIONS: list[Made[Conclusion]] = [
    (Column("Conclusion", text=True, short=""), lambda one: f"{one.better} over {one.worse}"),
    (Column("", text=True), _what_becomes),
    (Column("People", text=True, short="people"), lambda one: PEOPLE_SAY[one.people]),
    (Column("Judges that agree", short="judges agree"), lambda one: _counted(one.shared)),
    (Column("The opposite", short="opposite"), lambda one: _counted(one.opposed)),
    (Column("Cannot tell", short="cannot tell"), lambda one: _counted(one.unsure)),
]


def _counted(names: Sequence[str]) -> Cell:
    return Cell(count(len(names)), ", ".join(names))


def _means(orders: SystemOrders, board: JudgeBoard, caption: str) -> Block:
    scored = [row.cell for row in board.standings] + [one.cell for one in board.aside]
    cells = {cell.name: cell for cell in scored}
    unscored = any(order.n_unscored for order in orders.orders)

    def scale(order: SystemOrder) -> str:
        return "{:g}-{:g}".format(*cells[order.by].scale) if order.by in cells else ""

    columns: list[Made[SystemOrder]] = [
        (Column("Judge", text=True, short=""), lambda order: order.by),
        (Column("Scale", text=True, short="scale"), scale),
        *means(list(orders.orders[0].means), _of_order),
        *([(Column("Questions without", short="without"), _without)] if unscored else []),
    ]
    return table_of("Mean of each system by each judge", orders.orders, columns, caption=caption)


def _of_order(order: SystemOrder) -> Mapping[str, Estimate]:
    return order.means


def _without(order: SystemOrder) -> str:
    return count(order.n_unscored)


def _comparisons(orders: SystemOrders, choice: JudgeChoice | None) -> list[Block]:
    """Return the pairs of orders; in a terminal those with people, and those that differ in one way."""
    axes = {frozenset((one.first, one.second)): one.axis for one in (choice.contrasts if choice else [])}

    def differ(one: OrderComparison) -> str:
        return axes.get(frozenset((one.first, one.second)), "")

    ordered = sorted(
        orders.comparisons, key=lambda one: (one.first != PEOPLE, differ(one) != "scale", not differ(one))
    )
    columns: list[Made[OrderComparison]] = [
        (Column("Order by", text=True, short="order by"), lambda one: one.first),
        (Column("and by", text=True), lambda one: one.second),
        *([(Column("Differ in", text=True, short="differ in"), differ)] if axes else []),
        *_outcomes(orders.comparisons),
    ]
    caption = "Two orders of the same systems, and what becomes of the conclusions"
    label = "Orders compared"
    told = [one for one in ordered if one.first == PEOPLE or differ(one)] or ordered
    brief = ordered if len(ordered) <= MOST_PAIRS else told[:MOST_PAIRS]
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
    tau: Made[OrderComparison] = (Column("Kendall's tau", short="tau"), lambda one: tau_told(one.tau))
    return [
        (Column("Order", text=True, short=""), lambda one: Cell(one.verdict, tone=TONES[one.verdict])),
        *([tau] if any(one.tau for one in comparisons) else []),
        (Column("Pairs the same", short="same"), lambda one: _pairs(one.same, one)),
        (Column("Reversed", short="reversed"), lambda one: _pairs(one.reversed, one)),
        (Column("Found by one alone", short="by one alone"), lambda one: _pairs(one.alone, one)),
    ]


def _pairs(pairs: Sequence[Better], one: OrderComparison) -> str:
    return f"{count(len(pairs))} of {count(one.n_pairs)}"


def _named(pairs: Sequence[Better]) -> str:
    return "; ".join(f"{better} over {worse}" for better, worse in pairs)


def _elsewhere(one: OrdersElsewhere) -> list[Block]:
    here, there = one.n_questions
    rest = (
        f"{plural(here, 'question')} here, {count(there)} there; {plural(len(one.systems), 'common system')}."
    )
    columns: list[Made[OrderComparison]] = [
        (Column("Judge", text=True, short=""), lambda each: each.first),
        *_outcomes(one.comparisons),
    ]
    turned = [
        f"Reversed there by {each.first}: {_named(each.reversed)}."
        for each in one.comparisons
        if each.reversed
    ]
    table = table_of(f"Orders here and in {one.name}", one.comparisons, columns)
    return [
        Heading(f"Does it carry over to {one.name}?", level=3),
        *(
            [Paragraph(one.why_not)]
            if one.why_not
            else [Paragraph(rest, tone="muted"), table, Listing(turned)]
        ),
        *([Paragraph(judges_told(one.judges))] if one.judges else []),
    ]


def judges_told(judges: OrderComparison) -> str:
    """Return whether the order of the judges, by how far they agree with people, is the same elsewhere."""
    tau = f"Kendall's tau {number(judges.tau.value)}; " if judges.tau else ""
    kinds = {"the same": judges.same, "reversed": judges.reversed, "found in one bench alone": judges.alone}
    told = ", ".join(f"{len(pairs)} {kind}" for kind, pairs in kinds.items())
    of = f"{tau}of {plural(judges.n_pairs, 'pair')} {told}"
    said = f"The order of the judges by agreement with people: {judges.verdict} ({of})."
    return f"{said} Reversed there: {_named(judges.reversed)}." if judges.reversed else said
