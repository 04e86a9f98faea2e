"""The example in a browser: a button loads it into the project, and its page says how far it is."""

import threading
from pathlib import Path
from typing import Literal

import msgspec
from litestar import Response, get, post

from ragstone.features.demo._example import place_example
from ragstone.features.run import run
from ragstone.kernel.engine.progress_file import read_progress
from ragstone.kernel.errors import RagstoneError
from ragstone.kernel.serve.frame import OWNER, ROOT, page
from ragstone.kernel.serve.requests import AnyRequest
from ragstone.kernel.serve.state import AppState, AtApp

Life = Literal["none", "going on", "done", "failed"]


class DemoProgress(msgspec.Struct, frozen=True, kw_only=True):
    """How far the example is, as live.js reads it. share: of the stage, 0 to 1, None if not known."""

    life: Life
    words: str = ""
    share: float | None = None


class DemoJob:
    """The one load of the example that goes on in this workbench, or went on last."""

    def __init__(self, app: AppState) -> None:
        self._app = app
        self._lock = threading.Lock()
        self._life: Life = "none"
        self._wrong = ""
        self.folder: Path | None = None

    def begin(self) -> bool:
        """Begin to load the example, unless that goes on: then it is not begun twice. Raises DataError."""
        with self._lock:
            if self._life == "going on":
                return False
            name, settings = place_example(self._app.settings)
            self.folder = settings.path("runs") / name
            self._life, self._wrong = "going on", ""

        def work() -> None:
            life: Life = "failed"
            self._wrong = "An unexpected error ended it; the server's log has the traceback."
            try:
                run(settings, offline=True, force=True)  # no key and no network: nothing in it asks a model
                life, self._wrong = "done", ""
            except RagstoneError as mistake:
                self._wrong = str(mistake)
            finally:
                self._life = life

        threading.Thread(target=work, name="ragstone-demo", daemon=True).start()
        return True

    def progress(self) -> DemoProgress:
        """Return how far it is."""
        life = self._life
        if life != "going on" or self.folder is None:
            return DemoProgress(life=life, words=self._wrong)
        there = read_progress(self.folder)
        if there is None:
            return DemoProgress(life=life, words="Getting ready.")
        stage = f"{there.stage[:1].upper()}{there.stage[1:]}"
        total = f" of {there.total:,}" if there.total else ""
        share = there.done / there.total if there.total else None
        return DemoProgress(life=life, words=f"{stage}: {there.done:,}{total} done.", share=share)


def demo_of(app: AppState) -> DemoJob:
    """The example of a workbench."""
    return DemoJob(app)


@get("/demo", sync_to_thread=True, guards=[OWNER])
def demo_page(request: AnyRequest, app: AtApp) -> Response[str]:
    """Give the page of the example: what it is, how far it is, where it is when it is there."""
    return _page(request, app)


def _page(request: AnyRequest, app: AppState, wrong: str = "") -> Response[str]:
    job = app.part(demo_of)
    folder, how_far = job.folder, job.progress()
    entry = next((entry for entry in app.runs.all() if entry.folder == folder), None)
    return page(
        request,
        "features/demo/demo.html",
        "The example",
        status=422 if wrong else 200,
        wrong=wrong,
        how_far=how_far,
        run=entry,
        folder=folder,
    )


@get("/demo/progress", guards=[OWNER])
async def demo_progress(app: AtApp) -> DemoProgress:
    """Give how far the example is."""
    return app.part(demo_of).progress()


@post("/demo", sync_to_thread=True, guards=[OWNER])
def load_demo(request: AnyRequest, app: AtApp) -> Response[str]:
    """Begin to load the example. Asked again while that goes on, show how far it is."""
    try:
        began = app.part(demo_of).begin()
    except RagstoneError as mistake:
        return _page(request, app, str(mistake))
    if began:
        app.audit(request, "loaded the example")
    return Response("", status_code=303, media_type="text/plain", headers={"Location": f"{ROOT}/demo"})


ROUTES = (demo_page, demo_progress, load_demo)
