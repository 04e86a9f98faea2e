"""Which modules have pages, what the navigation shows of them, and where a page is in it."""

from collections.abc import Sequence

import msgspec

from ragstone.kernel.config.serving import Role
from ragstone.kernel.serve.frame import ROOT

PAGES = (
    "workbench.asset_routes",
    "workbench.run_list_pages",
    "workbench.run_pages",
    "workbench.compare_pages",
    "workbench.row_table_pages",
    "workbench.judge_pages",
    "workbench.row_pages",
    "workbench.matrix_pages",
    "workbench.side_pages",
    "workbench.account_pages",
    "features.agree.pages",
    "features.demo.pages",
    "features.improve.pages",
    "features.improve.learn_pages",
    "features.judges.pages",
    "features.label.pages",
    "features.label.item_pages",
    "features.label.done_pages",
    "features.label.instruction_pages",
    "features.modes.pages",
    "features.note.pages",
    "features.review.pages",
    "features.review.set_pages",
    "features.improve.trial.pages",
    "features.watch.monitor_pages",
    "features.watch.trace_pages",
    "features.watch.trace_act_pages",
)
"""The modules of pages, each a PageModule of kernel/extend.py."""


class NavPage(msgspec.Struct, frozen=True):
    """A page of the navigation. beneath: where more that belong to it begin, beside those below its path."""

    words: str
    path: str
    beneath: tuple[str, ...] = ()


class NavEntry(msgspec.Struct, frozen=True):
    """An entry of the navigation, for those of a role. places: its pages; it opens the first.

    key: the letter that opens it, after g; another for each entry.
    """

    words: str
    key: str
    places: tuple[NavPage, ...]
    role: Role = "reader"


SECTIONS = (
    NavEntry(
        "Runs",
        "r",
        (
            NavPage("All runs", f"{ROOT}/", (f"{ROOT}/runs", f"{ROOT}/demo")),
            NavPage("Rows", f"{ROOT}/rows", (f"{ROOT}/judge",)),
            NavPage("Trends", f"{ROOT}/runs/trends"),
            NavPage("Matrix", f"{ROOT}/runs/matrix"),
            NavPage("Compare", f"{ROOT}/compare"),
            NavPage("Side by side", f"{ROOT}/compare/answers"),
        ),
    ),
    NavEntry(
        "Data",
        "d",
        (NavPage("Sets", f"{ROOT}/data", (f"{ROOT}/review",)), NavPage("Labels", f"{ROOT}/label")),
    ),
    NavEntry("Judges", "j", (NavPage("Library", f"{ROOT}/judges"), NavPage("Report cards", f"{ROOT}/cards"))),
    NavEntry("Production", "p", (NavPage("Monitor", f"{ROOT}/monitor"), NavPage("Traces", f"{ROOT}/traces"))),
    NavEntry(
        "People", "e", (NavPage("Accounts", f"{ROOT}/people"), NavPage("Log", f"{ROOT}/people/log")), "owner"
    ),
)
"""What the navigation shows of them."""


def place_at(path: str, sections: Sequence[NavEntry]) -> tuple[NavEntry, NavPage] | None:
    """Return where a page stands in the navigation; None for one that does not."""
    found = [
        (len(start), section, place)
        for section in sections
        for place in section.places
        for start in (place.path, *place.beneath)
        if path.rstrip("/") == start.rstrip("/") or path.startswith(f"{start}/")
    ]
    return max(found, key=lambda each: each[0])[1:] if found else None
