"""What the terminal shows -> HTML for a notebook's cell: the same words and tables, in light and dark.

So every summary has one wording: whatever a command prints, a notebook can show.
"""

import re
from collections.abc import Iterable
from html import escape
from io import StringIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.style import Style
    from rich.table import Column, Table
    from rich.text import Text

# Characters that would act on a terminal or turn the direction of a line, as the command line drops them.
UNRULY = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
PLAIN_WIDTH = 100
# No colour of text or ground is set: both are the notebook's, so that light and dark work.
STYLE = """\
.ragstone{font-size:13px;line-height:1.4;max-width:72rem}
.ragstone p{margin:0;white-space:pre-wrap;text-align:left}
.ragstone p.gap{margin-top:.8em}
.ragstone table{border-collapse:collapse;margin:.4em 0;font-size:inherit;color:inherit}
.ragstone th,.ragstone td{border:0;padding:.15em .7em .15em 0;text-align:left;vertical-align:top;\
white-space:pre-wrap;max-width:32rem;overflow-wrap:anywhere}
.ragstone thead th{border-bottom:1px solid currentColor;font-weight:normal;opacity:.75}
.ragstone .right{text-align:right;font-variant-numeric:tabular-nums}
.ragstone .dim{opacity:.75}
.ragstone .warn{border-left:3px solid #d97706;padding-left:.4em}
"""


def fragment(parts: "Iterable[RenderableType]") -> str:
    """Return what rich would print as one element of HTML. It holds no script and no address."""
    body = "".join(_html(part) for part in parts)
    return f'<style>{STYLE}</style>\n<div class="ragstone">\n{body}</div>\n'


def plain(parts: "Iterable[RenderableType]") -> str:
    """Return what rich would print as plain text, 100 columns wide."""
    console = _console()
    for part in parts:
        console.print(part)
    file = console.file
    assert isinstance(file, StringIO)
    lines = (line.rstrip() for line in harmless(file.getvalue()).splitlines())
    return "\n".join(lines).rstrip()


def _console() -> "Console":
    from rich.console import Console

    return Console(
        file=StringIO(),
        width=PLAIN_WIDTH,
        color_system=None,
        highlight=False,
        markup=False,
        force_jupyter=False,  # else rich hands what it prints to the notebook, in place of to the file
    )


def harmless(words: str) -> str:
    """Return the words with U+FFFD for each character that no page and no terminal should be given."""
    return UNRULY.sub("\ufffd", words)


def _html(part: "RenderableType") -> str:
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    if isinstance(part, Group):
        return "".join(map(_html, part.renderables))
    if isinstance(part, Table):
        return _table(part)
    if isinstance(part, str):
        return _paragraph(Text(part))
    if isinstance(part, Text):
        return _paragraph(part)
    return f"<pre>{escape(plain([part]))}</pre>\n"


def _paragraph(text: "Text") -> str:
    """Return a line of words; one that begins with a line break stands apart from what is above it."""
    words = text.plain.strip("\n")
    if not words.strip():
        return ""
    kinds = [*(["gap"] if text.plain.startswith("\n") else []), *_kinds(_base(text))]
    inner = _spans(text)
    return f'<p dir="auto"{_class(kinds)}>{inner}</p>\n'


def _table(table: "Table") -> str:
    """Return a table with the cells of rich's, its heads and its alignment."""
    heads = "".join(_cell("th", column.header, column) for column in table.columns)
    rows = zip(*(list(column.cells) for column in table.columns), strict=True)
    body = "".join(
        "<tr>" + "".join(_cell("td", cell, column) for cell, column in zip(row, table.columns, strict=True))
        + "</tr>\n"
        for row in rows
    )  # fmt: skip
    head = f"<thead><tr>{heads}</tr></thead>\n" if table.show_header else ""
    return f"<table>\n{head}<tbody>\n{body}</tbody>\n</table>\n"


def _cell(tag: str, content: "RenderableType", column: "Column") -> str:
    from rich.text import Text

    kinds = ["right"] if column.justify == "right" else []
    if isinstance(content, str):
        content = Text(content)
    inner = _html(content)
    if isinstance(content, Text):
        kinds += _kinds(_base(content))
        inner = _spans(content)
    return f'<{tag} dir="auto"{_class(kinds)}>{inner}</{tag}>'


def _spans(text: "Text") -> str:
    """Return the words, those in bold marked so."""
    words = []
    for segment in text.render(_console()):
        if segment.text:
            inner = escape(harmless(segment.text))
            words.append(f"<b>{inner}</b>" if segment.style and segment.style.bold else inner)
    told = "".join(words).strip("\n")
    return f"<b>{told}</b>" if _base(text).bold and told.strip() else told


def _base(text: "Text") -> "Style":
    from rich.style import Style

    return Style.parse(text.style) if isinstance(text.style, str) else text.style


def _kinds(style: "Style") -> list[str]:
    warned = style.color is not None and style.color.name in ("yellow", "red")
    return [*(["dim"] if style.dim else []), *(["warn"] if warned else [])]


def _class(kinds: list[str]) -> str:
    return f' class="{" ".join(kinds)}"' if kinds else ""
