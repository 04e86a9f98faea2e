"""Elements of a drawing: text that is escaped and cut to its room, lines, points of a group."""

import re
from collections.abc import Callable, Sequence
from html import escape

import msgspec

from ragstone.kernel.document.plots._text import cut, text_width

WIDE, NARROW = 720, 340  # units of a drawing, which are pixels where there is room for all of it
N_GROUPS = 8
# For a drawing that stands alone, on white: what page.css gives these classes in a page.
GROUP_COLOURS = ("#00527a", "#a34700", "#00664b", "#8f3d70", "#5c4b00", "#404040", "#2f6fb5", "#b0437c")
RAMP_COLOURS = (
    "#8a5a00",
    "#a17b33",
    "#b99c66",
    "#cebb95",
    "#e1d4be",
    "#f1ebe0",
)  # as the opacities of page.css
HALO = 'paint-order="stroke" stroke="#fff" stroke-width="3"'
LONE: dict[str, str] = {
    "c-label": f'fill="#1c1e21" {HALO}',
    "c-muted": f'fill="#5b5f66" {HALO}',
    "c-strong": 'fill="#1c1e21" font-weight="600"',
    "c-grid": 'fill="none" stroke="#dfdbd2"',
    "c-axis": 'fill="none" stroke="#5b5f66"',
    "c-null": 'fill="none" stroke="#1c1e21" stroke-width="1.5"',
    "c-ideal": 'fill="none" stroke="#5b5f66" stroke-width="1.5" stroke-dasharray="4 4"',
    "c-band": 'fill="#f8ebcd"',
    "c-count": 'fill="#d3a548"',
    "c-front": 'fill="none" stroke="#8a5a00" stroke-width="2"',
    "c-place": 'fill="#1c1e21" font-weight="600"',
    **{f"c-line g{at}": f'fill="none" stroke="{c}" stroke-width="2"' for at, c in enumerate(GROUP_COLOURS)},
    **{f"c-dot g{at}": f'fill="{c}" stroke="{c}" stroke-width="1.5"' for at, c in enumerate(GROUP_COLOURS)},
    **{f"c-open g{at}": f'fill="#fff" stroke="{c}" stroke-width="2"' for at, c in enumerate(GROUP_COLOURS)},
    **{f"c-part r{at}": f'fill="{c}" stroke="#fff"' for at, c in enumerate(RAMP_COLOURS)},
}
CLASS = re.compile(r'class="([a-z0-9 -]+)"')


class Sketch(msgspec.Struct, frozen=True):
    """A drawing: its size, and its elements as SVG. box: left, top, right and bottom of where points lie."""

    width: int
    height: int
    parts: list[str]
    box: tuple[float, float, float, float]


def write(x: float, y: float, text: str, kind: str = "label", anchor: str = "", room: float = 1000) -> str:
    """Return a text. anchor: "middle" or "end" of it, else its start, stands at x."""
    at = f' text-anchor="{anchor}"' if anchor else ""
    content = escape(cut(text, room))
    return f'<text class="c-{kind}" x="{place(x)}" y="{place(y)}"{at}>{content}</text>'


def path(d: str, kind: str) -> str:
    """Return a path."""
    return f'<path class="c-{kind}" d="{d}"/>'


def box(x: float, y: float, width: float, height: float, kind: str, tip: str = "") -> str:
    """Return a rectangle."""
    size = f'x="{place(x)}" y="{place(y)}" width="{place(max(width, 0))}" height="{place(max(height, 0))}"'
    return f'<rect class="c-{kind}" {size}>{_tip(tip)}</rect>'


def dot(x: float, y: float, group: int, tip: str, *, is_open: bool = False, r: float = 5) -> str:
    """Return a point in the shape and the colour of its group."""
    kind = f"{'open' if is_open else 'dot'} g{group % N_GROUPS}"
    if group % N_GROUPS == 0:
        at = f'cx="{place(x)}" cy="{place(y)}" r="{place(r)}"'
        return f'<circle class="c-{kind}" {at}>{_tip(tip)}</circle>'
    return f'<path class="c-{kind}" d="{_SHAPES[group % N_GROUPS - 1](x, y, r)}">{_tip(tip)}</path>'


def place(value: float) -> str:
    """Return a number of a drawing, with at most one decimal."""
    return f"{round(value, 1):g}" if abs(value) < 100_000 else f"{value:.0f}"


def _tip(text: str) -> str:
    return f"<title>{escape(cut(text, 900))}</title>" if text else ""


def _polygon(*corners: tuple[float, float]) -> Callable[[float, float, float], str]:
    def shape(x: float, y: float, r: float) -> str:
        return "M" + "L".join(f"{place(x + r * a)} {place(y + r * b)}" for a, b in corners) + "Z"

    return shape


# Of all groups but the first, which has a circle.
_SHAPES: tuple[Callable[[float, float, float], str], ...] = (
    _polygon((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
    _polygon((0, -1.25), (1.25, 0), (0, 1.25), (-1.25, 0)),
    _polygon((0, -1.2), (1.15, 0.9), (-1.15, 0.9)),
    _polygon((0, 1.2), (1.15, -0.9), (-1.15, -0.9)),
    _polygon((0, -1.2), (1.15, -0.35), (0.7, 1), (-0.7, 1), (-1.15, -0.35)),
    _polygon((-0.5, -1.2), (0.5, -1.2), (0.5, 1.2), (-0.5, 1.2)),
    _polygon((-0.6, -1.1), (0.6, -1.1), (1.2, 0), (0.6, 1.1), (-0.6, 1.1), (-1.2, 0)),
)


def legend(names: Sequence[str], width: float, y: float) -> tuple[list[str], float]:
    """Return the names of groups beside their points, in rows, and where the next row would begin."""
    parts: list[str] = []
    x = 8.0
    for at, name in enumerate(names):
        line = cut(name, 200)
        if x > 8 and x + 18 + text_width(line) > width:
            x, y = 8.0, y + 20
        parts += [dot(x + 4, y - 4, at, ""), write(x + 16, y, line)]
        x += 34 + text_width(line)
    return parts, y + 18


def lone(parts: Sequence[str]) -> str:
    """Return elements with the colours in place of the classes that a page gives them."""
    return CLASS.sub(lambda match: LONE.get(match[1], ""), "".join(parts))
