"""Which modules have pages, and what the navigation shows of them."""

from ragstone.kernel.serve.frame import ROOT, Place, Section

PAGES = (
    "workbench.asset_routes",
    "workbench.run_list_pages",
    "workbench.run_pages",
    "workbench.side_pages",
    "workbench.account_pages",
    "features.agree.pages",
    "features.improve.pages",
    "features.improve.learn_pages",
    "features.judges.pages",
    "features.label.pages",
    "features.label.item_pages",
    "features.label.instruction_pages",
    "features.note.pages",
    "features.review.pages",
    "features.review.set_pages",
    "features.try_.pages",
    "features.watch.monitor_pages",
    "features.watch.trace_pages",
)
"""The modules of pages, each a PageModule of kernel/extend.py."""

SECTIONS = (
    Section(
        "Runs",
        (
            Place("All runs", f"{ROOT}/", (f"{ROOT}/runs",)),
            Place("Trends", f"{ROOT}/runs/trends"),
            Place("Compare", f"{ROOT}/compare"),
            Place("Side by side", f"{ROOT}/compare/answers"),
        ),
    ),
    Section("Data", (Place("Sets", f"{ROOT}/data", (f"{ROOT}/review",)), Place("Labels", f"{ROOT}/label"))),
    Section("Judges", (Place("Library", f"{ROOT}/judges"), Place("Report cards", f"{ROOT}/cards"))),
    Section("Production", (Place("Monitor", f"{ROOT}/monitor"), Place("Traces", f"{ROOT}/traces"))),
    Section("People", (Place("Accounts", f"{ROOT}/people"), Place("Log", f"{ROOT}/people/log")), "owner"),
)
"""What the navigation shows of them."""
