"""A table that is filtered, sorted and paged by its address alone, for any page that lists many rows.

A page makes a `TableAddress` of its request, gives its heads and chips to the macros of table_macros.html and
loads table.css. Every choice is a link or a form that is sent by GET, so a table works with keys, without a
script, and its address is the view. docs/how-to/workbench.md shows it on the rows of runs.
"""

from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

import msgspec

from ragstone.kernel.tables.where import Kind


class TableHead(msgspec.Struct, frozen=True, kw_only=True):
    """The head of a column. href: sorts by it, None where nothing can. way: `ascending`, `descending`, ""."""

    name: str
    kind: Kind
    href: str | None = None
    way: str = ""


class FilterChip(msgspec.Struct, frozen=True):
    """A condition that is in force, and the address without it."""

    words: str
    href: str


class TableAddress(msgspec.Struct, frozen=True):
    """What is chosen, as names and values of an address; names may come several times. at: a page, from 1."""

    query: tuple[tuple[str, str], ...]
    at: int = 1

    def kept(self, *names: str) -> list[tuple[str, str]]:
        """Return what a form sends along: all but these names."""
        return [(name, value) for name, value in self.query if name not in names]

    def href(self, name: str, *values: str) -> str:
        """Return the address with these values of a name in place of those that it has, at the first page."""
        changed = [*self.kept(name), *((name, value) for value in values)]
        return f"?{urlencode(changed)}"

    def heads(
        self,
        columns: Sequence[tuple[str, Kind, bool]],
        order: str,
        named: Mapping[str, str] = {},
    ) -> list[TableHead]:
        """Return the heads of columns given by name, kind and whether rows can be sorted by them.

        named: what is shown in place of a name. order: in force, with `-` before the name from the highest
        down. Numbers sort from the highest down at the first press, texts from A; a press on the column in
        force turns the order.
        """
        heads = []
        for name, kind, sorts in columns:
            directions = {name: "ascending", f"-{name}": "descending"}.get(order, "")
            first = f"-{name}" if kind == "number" else name
            following = {"ascending": f"-{name}", "descending": name}.get(directions, first)
            href = self.href("order", following) if sorts else None
            heads.append(TableHead(name=named.get(name, name), kind=kind, href=href, way=directions))
        return heads

    def chips(self, conditions: Sequence[str]) -> list[FilterChip]:
        """Return a chip for each condition of the filter `where`, whose address leaves it out."""
        return [
            FilterChip(each, self.href("where", " and ".join([*conditions[:at], *conditions[at + 1 :]])))
            for at, each in enumerate(conditions)
        ]
