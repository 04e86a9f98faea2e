"""Where things lie in a drawing: within its frame, in order, the line of 0 at 0; for any values."""

import math
import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.golden import sentence_in

from ragstone.kernel.document.plots._axes import ticks
from ragstone.kernel.document.plots._pen import NARROW, WIDE
from ragstone.kernel.document.plots._text import cut, text_width
from ragstone.kernel.document.plots.drawing import lone_svg, page_svgs, sketch, svg_address
from ragstone.kernel.document.plots.tables import numbers_of, share_text
from ragstone.kernel.document.plots.values import (
    Frontier,
    Intervals,
    Plot,
    PlotPoint,
    Reliability,
    ShareRow,
    Shares,
    Slopes,
    unbeaten,
)

EVIL = "</title><script>alert(1)</script>\"'&\x1b[31m\u202e" + "w" * 300
NAMES = st.sampled_from(["a", "مساعد عربي", "一个很长的名字" * 9, EVIL, ""])
VALUES = st.one_of(st.none(), st.just(math.nan), st.floats(-1e6, 1e6), st.floats(0, 1))
PRICES = st.one_of(st.none(), st.floats(0, 1e4))
SHARES = st.floats(0, 1)
WIDTHS = (WIDE, NARROW)


@st.composite
def points(draw: st.DrawFn, values=VALUES, prices=PRICES) -> list[PlotPoint]:
    made = []
    for at in range(draw(st.integers(0, 12))):
        value = draw(values)
        ends = (None, None)
        if value is not None and math.isfinite(value) and draw(st.booleans()):
            ends = (value - draw(st.floats(0, 5)), value + draw(st.floats(0, 5)))
        made.append(
            PlotPoint(
                name=draw(NAMES),
                value=value,
                low=ends[0],
                high=ends[1],
                x=draw(prices),
                n=draw(st.one_of(st.none(), st.integers(0, 10**6))),
                group=draw(st.sampled_from(["", "a", "b", EVIL])),
                is_open=draw(st.booleans()),
                place=at if draw(st.booleans()) else None,
            )
        )
    return made


@st.composite
def figures(draw: st.DrawFn):
    some = draw(points())
    shares = draw(points(SHARES, SHARES))
    known = [point for point in some if point.is_known and point.x is not None]
    rows = [
        ShareRow(name=point.name, parts=[("first", point.x or 0.0, 1), ("last", 1 - (point.x or 0.0), None)])
        for point in shares
    ]
    return draw(
        st.sampled_from(
            [
                Intervals(
                    points=some,
                    axis="axis " * draw(st.integers(0, 40)),
                    of="Name",
                    null=(0.0, "none"),
                    band=(-0.1, 0.0, "margin"),
                    is_signed=draw(st.booleans()),
                ),
                Slopes(points=known, before="A", after="B", axis="x", n_same=3, n_more=2, ends=(0, 1)),
                Reliability(points=shares, across="says", upwards="people"),
                Frontier(
                    points=some, unit=draw(st.sampled_from(["usd", "seconds"])), across="x", upwards="y"
                ),
                Frontier(points=shares, unit="share", across="x", upwards="y", is_low_best=True),
                Shares(rows=rows, axis="x", of="n", head="Rank", first="first", last="last"),
            ]
        )
    )


def plot(figure, name: str = "p") -> Plot:
    return Plot(name=name, title=EVIL, figure=figure, said=[EVIL])


def numbers_in(element) -> list[tuple[str, float]]:
    """Return the coordinates of an element: x or y, and the number."""
    found = [("x", float(value)) for name in ("x", "cx") if (value := element.get(name))]
    found += [("y", float(value)) for name in ("y", "cy") if (value := element.get(name))]
    for kind, rest in re.findall(r"([MLHV])([-\d. ]+)", element.get("d") or ""):
        parts = [float(part) for part in rest.split()]
        axes = {"M": "xy", "L": "xy", "H": "x", "V": "y"}[kind]
        found += list(zip(axes, parts, strict=True))
    return found


@pytest.mark.long
@settings(max_examples=150, deadline=None)
@given(figures(), st.sampled_from(WIDTHS))
def test_all_lies_within_the_drawing_whatever_the_values(figure, width):
    drawn = sketch(figure, width)
    root = ElementTree.fromstring(f"<svg>{''.join(drawn.parts)}</svg>")
    for element in root.iter():
        for axis, value in numbers_in(element):
            assert math.isfinite(value)
            assert -10 <= value <= (width if axis == "x" else drawn.height) + 10
    assert "nan" not in re.sub(r"<(title|text)[^>]*>[^<]*", "", "".join(drawn.parts))


@pytest.mark.long
@settings(max_examples=60, deadline=None)
@given(figures())
def test_a_drawing_is_whole_svg_in_which_names_are_text(figure):
    for svg in (*page_svgs(plot(figure)), lone_svg(plot(figure))):
        root = ElementTree.fromstring(svg)
        tags = {element.tag.rpartition("}")[2] for element in root.iter()}
        assert tags <= {"svg", "title", "desc", "g", "path", "rect", "circle", "text"}
        assert not any(name.startswith("on") or "href" in name for el in root.iter() for name in el.attrib)
        assert "\x1b" not in svg
        assert "\u202e" not in svg
    assert "style=" not in "".join(page_svgs(plot(figure)))  # the policy of a page lets no such style be
    assert 'class="' not in lone_svg(plot(figure))  # a file of its own has no style sheet
    head, rows = numbers_of(figure)
    assert all(len(row) == len(head) for row in rows)


def xs_of(svg: str, kind: str) -> list[float]:
    return [float(x) for x in re.findall(rf'<circle class="c-{kind} g0" cx="([-\d.]+)"', svg)]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.floats(-1, 1), st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=30),
    st.sampled_from(WIDTHS),
)
def test_an_interval_holds_its_mean_and_the_null_line_is_at_nothing(rows, width):
    points = [
        PlotPoint(name=f"n{at}", value=value, low=value - down, high=value + up)
        for at, (value, down, up) in enumerate(rows)
    ]
    figure = Intervals(points=points, axis="", of="n", ends=(-0.1, 0.1), null=(0.0, "no difference"))
    drawn = "".join(sketch(figure, width).parts)
    dots = xs_of(drawn, "dot")
    lines = re.findall(r'c-line g0" d="M([-\d.]+) [^"]*H([-\d.]+)"', drawn)
    assert len(dots) == len(lines) == len(points)
    [null] = re.findall(r'c-null" d="M([-\d.]+) ', drawn)
    for (value, _, _), x, (low, high) in zip(rows, dots, lines, strict=True):
        assert float(low) - 0.11 <= x <= float(high) + 0.11
        assert (x - float(null)) * value >= -0.2  # to the right of the line if above 0
    by_value = sorted(zip((row[0] for row in rows), dots, strict=True))
    assert all(a[1] <= b[1] + 0.11 for a, b in pairwise(by_value))


def test_200_systems_are_drawn_as_far_as_they_can_be_read_and_the_table_has_all(says):
    points = [PlotPoint(name=f"system {n}", value=n / 200, low=n / 200, high=n / 200) for n in range(200)]
    figure = Intervals(points=points, axis="", of="System")
    drawn = "".join(sketch(figure, WIDE).parts)
    assert len(xs_of(drawn, "dot")) == 40
    says(sentence_in(drawn, "160 more"))
    assert len(numbers_of(figure)[1]) == 200


@pytest.mark.parametrize("values", [[], [0.5], [0.5, 0.5, 0.5], [math.nan, 0.5], [math.inf]])
@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_one_and_all_alike_can_be_drawn(values, width):
    points = [PlotPoint(name=str(at), value=value, x=value) for at, value in enumerate(values)]
    for figure in (
        Intervals(points=points, axis="", of="n"),
        Frontier(points=points, unit="usd", across="x", upwards="y"),
        Reliability(points=points, across="x", upwards="y"),
    ):
        drawn = sketch(figure, width)
        known = sum(map(math.isfinite, values))
        found = len(re.findall(r"c-(?:dot|open) g", "".join(drawn.parts)))
        assert found == (1 if isinstance(figure, Frontier) and known else known) or found == known
    assert [row[1] for row in numbers_of(Intervals(points=points, axis="", of="n"))[1]].count("unknown") == (
        len(values) - known
    )


def test_moves_that_are_ties_are_said_and_those_not_drawn_are_counted(says):
    points = [PlotPoint(name="q1", x=0.0, value=1.0), PlotPoint(name="q2", x=1.0, value=0.5)]
    figure = Slopes(points=points, before="A", after="B", axis="score", n_same=80, n_more=5, ends=(0, 1))
    drawn = "".join(sketch(figure, WIDE).parts)
    says(sentence_in(drawn, "80 questions"))
    says(sentence_in(drawn, "5 questions"))
    assert numbers_of(figure)[1] == [["q1", "0.00", "1.00", "+1.00"], ["q2", "1.00", "0.50", "−0.50"]]


def test_an_unknown_price_is_listed_and_not_drawn_at_0(says):
    points = [
        PlotPoint(name="free", value=0.4, x=0.0),
        PlotPoint(name="dear", value=0.9, x=0.01),
        PlotPoint(name="secret", value=0.95),
    ]
    figure = Frontier(points=points, unit="usd", across="cost", upwards="mean", nothing="0 USD")
    drawn = "".join(sketch(figure, WIDE).parts)
    says(sentence_in(drawn, "Unknown"))
    assert len(re.findall(r"c-(?:dot|open) g", drawn)) == 2
    assert [row[1] for row in numbers_of(figure)[1]] == ["0 USD", "10.00 USD", "unknown"]
    assert [row[-1] for row in numbers_of(figure)[1]] == ["yes", "yes", ""]


def test_counts_of_bins_are_written_over_their_bars():
    points = [PlotPoint(name=str(n), x=n / 10, value=0.5, low=0.4, high=0.6, n=1000 * n) for n in (1, 5, 9)]
    drawn = "".join(sketch(Reliability(points=points, across="a", upwards="u"), NARROW).parts)
    assert all(f">{n},000</text>" in drawn for n in (1, 5, 9))


def test_points_that_lie_on_each_other_are_named_beside_the_first(says):
    points = [PlotPoint(place=at, name=f"n{at}", x=0.5, value=0.5) for at in range(1, 13)]
    figure = Frontier(points=points, unit="share", across="a", upwards="u")
    says(sentence_in("".join(sketch(figure, WIDE).parts), "under n1</text>"))


@given(points(st.floats(0, 1), st.floats(0, 10)), st.booleans())
def test_unbeaten_are_those_that_no_other_one_beats(some, is_low_best):
    sign = -1 if is_low_best else 1

    def beats(one: PlotPoint, other: PlotPoint) -> bool:
        at_least = one.x <= other.x and sign * one.value >= sign * other.value
        return at_least and (one.x, one.value) != (other.x, other.value)

    expected = [point for point in some if not any(beats(other, point) for other in some)]
    found = unbeaten(some, is_low_best=is_low_best)
    assert sorted(map(id, found)) == sorted(map(id, expected))
    assert [point.x for point in found] == sorted(point.x for point in found)


def test_a_share_that_is_not_all_is_not_rounded_to_all():
    shares = [1.0, 0.9999, 0.99, 0.5, 0.0004, 0.0]
    assert list(map(share_text, shares)) == ["100 %", "over 99 %", "99 %", "50 %", "under 0.1 %", "0 %"]


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6), st.integers(2, 8))
def test_ticks_are_few_round_and_between_the_ends(low, span, most):
    found = ticks(low, low + span, most)
    assert len(found) <= most + 1
    assert all(low - 1e-6 * span <= tick <= low + span * (1 + 1e-6) for tick in found)


@given(st.text(max_size=200), st.floats(20, 300))
def test_a_name_is_cut_to_its_room(text, room):
    assert text_width(cut(text, room)) <= room + 15


def test_a_download_is_the_drawing_itself():
    figure = Intervals(points=[PlotPoint(name="a & b", value=0.5)], axis="x", of="n")
    address = svg_address(plot(figure))
    assert address.startswith("data:image/svg+xml;charset=utf-8,")
    assert not re.search(r'[<>"#&\s]', address.replace(" ", ""))
