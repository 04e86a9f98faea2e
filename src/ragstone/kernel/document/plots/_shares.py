"""Bars of ordered parts, from the first, which is dark, to the last."""

from ragstone.kernel.document.plots._axes import captions, tick_label
from ragstone.kernel.document.plots._pen import RAMP_COLOURS, WIDE, Sketch, box, path, place, write
from ragstone.kernel.document.plots._text import column, text_width
from ragstone.kernel.document.plots.tables import share_text
from ragstone.kernel.document.plots.values import Shares

MOST, NAMES, VALUES, EDGE = 40, 260, 56, 10


def draw_shares(figure: Shares, width: int) -> Sketch:
    """Return the drawing; beside each bar how long its first part is."""
    rows, beside = figure.rows[:MOST], width >= WIDE
    names = column([row.name for row in rows], NAMES)
    left, right = (names, width - VALUES - EDGE) if beside else (EDGE, width - EDGE)
    parts = [write(0, 16, figure.first)]
    x = text_width(figure.first) + 10
    parts += [box(x + 18 * at, 5, 18, 12, f"part r{at}") for at in range(len(RAMP_COLOURS))]
    parts.append(write(x + 18 * len(RAMP_COLOURS) + 8, 16, figure.last))
    row, top = (28 if beside else 46), 30.0
    bottom = top + row * len(rows)
    for at in range(0, 11, 2 if beside else 5):
        place_x = left + (right - left) * at / 10
        if beside:
            parts.append(path(f"M{place(place_x)} {place(top)}V{place(bottom + 4)}", "grid"))
        parts.append(tick_label(place_x, bottom + 18, f"{10 * at} %", width))
    for at, each in enumerate(rows):
        y, start = top + row * at + (5 if beside else 24), float(left)
        last = max(len(each.parts) - 1, 1)
        for rank, (label, share, _) in enumerate(each.parts):
            wide = share * (right - left)
            tone = round((len(RAMP_COLOURS) - 1) * rank / last)
            if wide > 0:
                parts.append(
                    box(start, y, wide, 18, f"part r{tone}", f"{each.name}: {label}, {share_text(share)}")
                )
            start += wide
        first = share_text(each.parts[0][1]) if each.parts else ""
        if beside:
            parts.append(write(0, y + 13, each.name, room=names))
            parts.append(write(width, y + 13, first, "muted", "end"))
        else:
            parts.append(write(0, y - 6, each.name, room=width - text_width(first) - 8))
            parts.append(write(width, y - 6, first, "muted", "end"))
    axis, height = captions(figure.axis, (left + right) / 2, bottom + 38, width)
    parts += axis
    height -= 6
    if len(figure.rows) > MOST:
        parts.append(write(0, height + 10, f"In the table: {len(figure.rows) - MOST:,} more.", "muted"))
        height += 20
    return Sketch(width, round(height), parts, (left, top, right, bottom))
