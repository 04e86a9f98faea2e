"""The libraries that draw charts, as a page carries them: Vega, Vega-Lite and Vega's interpreter, unchanged.

They lie in the folder vendor with their licences. The interpreter evaluates Vega's expressions without
`eval`, which the policy of the page forbids.
"""

import re
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

import msgspec

from ragstone.report.charts import Chart
from ragstone.report.joining import script_json
from ragstone.report.render.html import asset, safe

if TYPE_CHECKING:
    from markupsafe import Markup

# File -> SHA-256 of what was published under this version on npm: a changed file is noticed by a test.
LIBRARIES = {
    "vega-6.4.0.min.js": "8f6a3587cf8d4f42c7e08120e3eb05d067e746d554e39d2dcf52acc0bd5ba28f",
    "vega-lite-6.4.3.min.js": "35a9821df838825b05a6a73e9414b58747a1b18321583858ed903c66393a5c7e",
    "vega-interpreter-2.3.2.js": "c0bdb735a63f9276f136e8d90d7fdf5d8e9df8031eb069048fc9975c876fd7f9",
}
# The interpreter is published as a module alone; in a page it is a function that finds Vega beside it.
IMPORT = re.compile(r"import \{([^{}]*)\} from 'vega-util';")
EXPORT = re.compile(r"export \{ expression as expressionInterpreter \};")


class Drawn(msgspec.Struct, frozen=True, kw_only=True):
    """What the charts of one page need. script: the page's own; libraries: scripts that it runs later.

    All are empty where there is no chart: such a page does not carry what would draw it.
    """

    specs: "dict[str, Markup]"
    libraries: "list[Markup]"
    script: str

    def scripts(self) -> list[str]:
        """Return what the page's policy has to allow beside its own script."""
        return [str(library) for library in self.libraries]


def draw(charts: Sequence[Chart]) -> Drawn:
    """Return what these charts need of their page."""
    if not charts:
        return Drawn(specs={}, libraries=[], script="")
    specs = {chart.name: safe(script_json(chart.spec).decode()) for chart in charts}
    return Drawn(specs=specs, libraries=[safe(text) for text in libraries()], script=asset("charts.js"))


@cache
def libraries() -> tuple[str, ...]:
    """Return the scripts that charts.js needs, in the order in which they run."""
    folder = resources.files("ragstone.report").joinpath("vendor")
    texts = [folder.joinpath(name).read_text(encoding="utf-8") for name in LIBRARIES]
    *plain, interpreter = (re.sub(r"\n?//# sourceMappingURL=\S*\s*$", "", text) for text in texts)
    inside = EXPORT.sub("", IMPORT.sub(r"const {\1} = vega;", interpreter))
    return (*plain, f"globalThis.vegaInterpreter = (() => {{\n{inside}\nreturn expression;\n}})();")
