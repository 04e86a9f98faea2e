"""Which modules have pages, and what the navigation shows of them."""

from ragstone.kernel.serve.frame import ROOT

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
    "features.review.pages",
    "features.review.set_pages",
    "features.try_.pages",
    "features.watch.monitor_pages",
    "features.watch.trace_pages",
)
"""The modules of pages, each a PageModule of kernel/extend.py."""

PLACES = (
    ("Runs", f"{ROOT}/"),
    ("Compare", f"{ROOT}/compare"),
    ("Data sets", f"{ROOT}/data"),
    ("Label", f"{ROOT}/label"),
    ("Judges", f"{ROOT}/judges"),
    ("Report cards", f"{ROOT}/cards"),
    ("Monitor", f"{ROOT}/monitor"),
    ("Traces", f"{ROOT}/traces"),
)
"""What the navigation shows of them."""
