"""A document -> a page that opens anywhere: its templates, style, policy (no request at all) and file."""

import base64
import hashlib
import re
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING

import msgspec

from ragstone.kernel.config import shipped
from ragstone.kernel.document import numbers
from ragstone.kernel.document.blocks import (
    Block,
    Cell,
    Heading,
    Notes,
    ReportDocument,
    RowList,
    SurfacePart,
    Table,
    Tone,
    flat,
    told,
)
from ragstone.kernel.document.charts import Chart, ChartPanels
from ragstone.kernel.document.plots.drawing import page_svgs, svg_address
from ragstone.kernel.document.plots.tables import numbers_of
from ragstone.kernel.document.room import MOST_PROSE, capped_template, fit, is_shortened, whole
from ragstone.kernel.errors import plural

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

TONES: dict[Tone, str] = {
    "strong": "value",
    "muted": "muted small",
    "lead": "lead",
    "outcome": "outcome",
    "warn": "caution",
    "good": "value",
    "bad": "caution",
    "best": "mark-best",
    "open": "mark-not",
}


def render_page(
    document: ReportDocument,
    *,
    script: str = "",
    embedded: Mapping[str, bytes] = {},
    packed: Collection[str] = (),
    forms: bool = False,
    **values: object,
) -> str:
    """Return a document as one file that asks nothing of any network, with scripts for charts and rows alone.

    script: fills the lists of rows of the document from what is embedded: id -> JSON (see script_json), of
    which `packed` is compressed. forms: whether a server takes what its forms ask for. values: of the
    templates of these lists.
    """
    css, drawn = asset("page.css"), draw(document.blocks)
    js = script + drawn.script
    page = (
        environment()
        .get_template("document.html")
        .render(
            values,
            document=document,
            sections=_sections(document.blocks),
            listed=[*contents_of(document.blocks), *([("made", "How it was made")] if document.made else [])],
            drawn=drawn,
            embedded=[
                (name, "text/plain" if name in packed else "application/json", safe(block.decode()))
                for name, block in embedded.items()
            ],
            css=safe(css),
            js=safe(js),
            policy=policy(css, *([js] if js else []), *drawn.scripts(), forms=forms),
        )
    )
    return page.lstrip()  # the doctype comes first; macros leave empty lines before it


def render_blocks(blocks: Iterable[Block], **values: object) -> "Markup":
    """Return blocks as a piece of a page. values: of the templates of its lists of rows."""
    template = environment().get_template("document.html")
    return safe(template.render(values, document=None, sections=_sections(blocks)))


def contents_of(blocks: Iterable[Block]) -> list[tuple[str, str]]:
    """Return the parts of a page that have a name: their anchors, and their headings."""
    parts: dict[str, str] = {}
    for block in flat(blocks, "page"):
        match block:
            case Heading(level=2) if block.anchor:
                parts[block.anchor] = block.words
            case Notes() if block.items:
                parts["notes"] = NOTES_HEADING
            case RowList() if block.heading:
                parts["questions"] = block.heading
    return list(parts.items())


SEPARATORS = re.compile(r"(?<=[/@:])(?=[^\s/@:])|(?<=[_.])(?=[^\W\d_])")


def breakable(text: str) -> "Markup":
    """Return a name, such as that of a model, which breaks after `/ @ : _ .` where there is little room."""
    from markupsafe import Markup

    return Markup("<wbr>").join(SEPARATORS.split(str(fit(text))))


def charts_in(blocks: Iterable[Block]) -> list[Chart]:
    """Return the charts that a page of these blocks draws, those of parts and panels too."""
    charts: list[Chart] = []
    for block in flat(blocks, "page"):
        match block:
            case Chart():
                charts.append(block)
            case SurfacePart():
                charts += charts_in(block.blocks)
            case ChartPanels():
                charts += [chart for panel in block.panels for _, _, chart in panel.charts]
    return charts


def _sections(blocks: Iterable[Block]) -> list[tuple[str, list[Block]]]:
    """Return the blocks by part of the page, with the anchor of each part; empty before the first."""
    parts: list[tuple[str, list[Block]]] = [("", [])]
    for block in flat(blocks, "page"):
        if isinstance(block, Notes):
            parts.append(("notes" if block.items else "", []))
        elif isinstance(block, RowList):
            parts.append(("", []))
        elif isinstance(block, Heading) and block.level == 2:
            parts.append((block.anchor, []))
        parts[-1][1].append(block)
    return parts


NOTES_HEADING = "Before you trust these numbers"
DRAWN_KINDS = frozenset({"matrix", "heat", "bars", "flips"})
"""Tables whose columns say something by their places: they stay tables where there is little room."""


def is_cards(table: Table) -> bool:
    """Return whether a table is a list of cards where there is little room."""
    return not DRAWN_KINDS & {*table.kind.split()}


class Grid(msgspec.Struct, frozen=True):
    """A table as a page draws it. shown: places of its columns; named: of the one that names the rows."""

    shown: list[int]
    rows: list[list[Cell]]
    width: int
    named: int | None


def grid_of(table: Table) -> Grid:
    """Return what a page shows of a table."""
    columns = [at for at, column in enumerate(table.columns) if column.where != "terminal"]
    drawn = sum((table.columns[at].ends is not None) + table.columns[at].bars for at in columns)
    rows = [[each if isinstance(each, Cell) else Cell(each) for each in row] for row in table.rows]
    named = next((at for at in columns if table.columns[at].text), None)
    return Grid(columns, rows, len(columns) + drawn, named)


def safe(text: str) -> "Markup":
    """Keep what is ours, or escaped already (see script_json), from being escaped."""
    from markupsafe import Markup

    return Markup(text)  # noqa: S704


def policy(css: str, *scripts: str, forms: bool = False) -> str:
    """Return a Content-Security-Policy: this style, these scripts or none, and not one request.

    forms: those of its own server aside.
    """
    digests = " ".join(f"'{_digest(script)}'" for script in scripts)
    script = f"script-src {digests}; " if digests else ""
    return (
        f"default-src 'none'; style-src '{_digest(css)}'; {script}"
        f"img-src data:; base-uri 'none'; form-action '{'self' if forms else 'none'}'"
    )


def policy_in(page: str) -> str:
    """Return the policy that a page of ours states, as a server has to send it."""
    start = page.index('content="', page.index("Content-Security-Policy")) + len('content="')
    stated = page[start : page.index('"', start)].replace("&#39;", "'")
    return f"{stated}; frame-ancestors 'none'"


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def asset(name: str) -> str:
    """Return a file of the folder template."""
    return shipped("ragstone.kernel.document", "template", name).read_text("utf-8")


@cache
def environment() -> "Environment":
    """Return the templates, with everything that comes from outside escaped."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    made = Environment(
        loader=FunctionLoader(asset),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=fit,
    )
    made.template_class = capped_template()
    formats = {name: value for name, value in vars(numbers).items() if callable(value)}
    made.globals.update(
        formats,
        plural=plural,
        tones=TONES,
        grid_of=grid_of,
        numbers_of=numbers_of,
        page_svgs=lambda plot: map(safe, page_svgs(plot)),
        in_script=lambda value: safe(script_json(value).decode()),
        svg_address=lambda plot: safe(svg_address(plot)),
        is_cards=is_cards,
        breakable=breakable,
        told=told,
        whole=whole,
        is_shortened=is_shortened,
        most_prose=MOST_PROSE,
    )
    return made


# What a parser of HTML could take for the end of a script, and the line ends of old JavaScript.
UNSAFE_IN_SCRIPT = {
    b"<": b"\\u003c",
    b">": b"\\u003e",
    b"&": b"\\u0026",
    "\u2028".encode(): b"\\u2028",
    "\u2029".encode(): b"\\u2029",
}


def script_json(value: object) -> bytes:
    """Return JSON that can stand in a script element: nothing in it can end that element."""
    json = msgspec.json.encode(value)
    for character, escaped in UNSAFE_IN_SCRIPT.items():
        json = json.replace(character, escaped)
    return json


# File -> SHA-256 of what was published under this version on npm: a changed file is noticed by a test.
LIBRARIES = {
    "vega-6.4.0.min.js": "8f6a3587cf8d4f42c7e08120e3eb05d067e746d554e39d2dcf52acc0bd5ba28f",
    "vega-lite-6.4.3.min.js": "35a9821df838825b05a6a73e9414b58747a1b18321583858ed903c66393a5c7e",
    "vega-interpreter-2.3.2.js": "c0bdb735a63f9276f136e8d90d7fdf5d8e9df8031eb069048fc9975c876fd7f9",
}
# The interpreter is published as a module alone; in a page it is a function that finds Vega beside it.
IMPORT = re.compile(r"import \{([^{}]*)\} from 'vega-util';")
EXPORT = re.compile(r"export \{ expression as expressionInterpreter \};")


class DrawnChart(msgspec.Struct, frozen=True, kw_only=True):
    """What the charts of one page need. script: the page's own; libraries: scripts that it runs later.

    All are empty where there is no chart: such a page does not carry what would draw it.
    """

    specs: "dict[str, Markup]"
    libraries: "list[Markup]"
    script: str

    def scripts(self) -> list[str]:
        """Return what the page's policy has to allow beside its own script."""
        return [str(library) for library in self.libraries]


def draw(blocks: Iterable[Block]) -> DrawnChart:
    """Return what the charts of these blocks need of their page."""
    charts = charts_in(blocks)
    if not charts:
        return DrawnChart(specs={}, libraries=[], script="")
    specs = {chart.name: safe(script_json(chart.spec).decode()) for chart in charts}
    return DrawnChart(specs=specs, libraries=[safe(text) for text in libraries()], script=asset("charts.js"))


@cache
def libraries() -> tuple[str, ...]:
    """Return the scripts that charts.js needs, in the order in which they run."""
    texts = [shipped("ragstone.kernel.document", "vendor", name).read_text("utf-8") for name in LIBRARIES]
    *plain, interpreter = (re.sub(r"\n?//# sourceMappingURL=\S*\s*$", "", text) for text in texts)
    inside = EXPORT.sub("", IMPORT.sub(r"const {\1} = vega;", interpreter))
    return (*plain, f"globalThis.vegaInterpreter = (() => {{\n{inside}\nreturn expression;\n}})();")
