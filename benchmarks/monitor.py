"""What the monitor's page takes on a large log: benchmarks/monitor_log.py, its judgements planted.

    python benchmarks/monitor.py [ROWS] [FOLDER]        # default 340000, a temporary folder

Where the folder holds a filled store already it is used. Printed are wall and CPU seconds and the peak of
memory of the whole process, each step in a process of its own: looking for gaps; from the filled store to
the written page; the page over HTTP, first and again, and a page of the worst questions; the first paint in
Chromium, where there is one (playwright).
"""

import asyncio
import datetime
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from monitor_log import JUDGES, judgement_rows, log_rows, measure, read, take, write_jsonl  # type: ignore[import-not-found]

TODAY = datetime.date(2026, 6, 20)  # the day after the last of the log
STORE = "plain"


def fill(folder: Path, n_rows: int) -> None:
    """Make the log and its judgements, and read both into a store."""
    write_jsonl(folder / "log.jsonl", log_rows(n_rows))
    write_jsonl(folder / "judgements.jsonl", judgement_rows(n_rows))
    measure("read the log", n_rows, read, folder, STORE, False)
    measure("take judgements in", n_rows * len(JUDGES), take, folder, STORE)


def gaps(folder: Path) -> object:
    """Look for gaps in the last 28 days of the log."""
    from ragstone.features.watch._finding_gaps import look_for_gaps
    from ragstone.features.watch.store import MonitorStore
    from ragstone.kernel.config import MonitorSection, Settings

    settings = Settings(root=str(folder), monitor=MonitorSection(store=STORE))
    with MonitorStore(folder / STORE) as store:
        found = look_for_gaps(store, settings, today=TODAY)
        return f"{found.kept.n_missed:,} exchanges, {found.kept.n_gaps:,} gaps"


def page(folder: Path) -> object:
    """Write the page, from opening the store on."""
    from ragstone.features.watch._page import write_monitor
    from ragstone.features.watch.look import look_at
    from ragstone.features.watch.store import MonitorStore
    from ragstone.kernel.config import MonitorSection

    with MonitorStore(folder / STORE) as store:
        look = look_at(store, MonitorSection(), today=TODAY, judges=list(JUDGES))
        written = write_monitor(folder, look)
    return f"{written.stat().st_size / 1e6:.1f} MB, {len(look.open_alarms)} open alarm"


def served(folder: Path) -> object:
    """Return the seconds of requests to a server on this machine, in the order they were made."""
    import urllib.request

    import uvicorn

    from ragstone.kernel.config import MonitorSection, Settings
    from ragstone.kernel.config.serving import ServeSection
    from ragstone.kernel.serve.server import address_of, listen
    from ragstone.workbench.chat import monitor_routes
    from ragstone_assistant.api.app import create_app

    settings = Settings(root=str(folder), monitor=MonitorSection(store=STORE))
    nobody: Any = None  # the monitor's routes ask no assistant
    app = create_app(nobody, ServeSection(), folder=folder / "served", routes=monitor_routes(settings))
    bound = listen("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[bound])), daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    told = []
    for path in ("/monitor", "/monitor", "/monitor/questions?metric=faithfulness", "/monitor/questions"):
        before = time.perf_counter()
        with urllib.request.urlopen(address_of(bound) + path, timeout=60) as response:
            response.read()
        told.append(f"{path} {time.perf_counter() - before:.2f} s")
    server.should_exit = True
    thread.join(10)
    return ", ".join(told)


def paint(folder: Path) -> object:
    """Return when Chromium has painted the page for the first time, and when it was loaded: milliseconds."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return "needs playwright"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        tab: Any = browser.new_page()
        tab.goto((folder / "monitor.html").resolve().as_uri(), wait_until="load")
        first = tab.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        loaded = tab.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")
        browser.close()
    return f"first paint {first:.0f} ms, loaded {loaded:.0f} ms"


def main() -> None:
    """Fill a store where there is none, and measure."""
    n_rows = int(sys.argv[1]) if len(sys.argv) > 1 else 340_000
    folder = Path(sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp(prefix="ragstone-monitor-"))
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / STORE).is_dir():
        fill(folder, n_rows)
    measure("look for gaps", n_rows, gaps, folder)
    for _ in range(3):
        measure("store to page", n_rows, page, folder)
    measure("over HTTP", n_rows, served, folder)
    measure("in Chromium", n_rows, paint, folder)


if __name__ == "__main__":
    main()
