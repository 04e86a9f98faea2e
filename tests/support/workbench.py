"""A client of the workbench, as a page of its own is: from this machine, with the token that POSTs carry.

with opened(create_workbench(settings)) as client:
    client.post("/workbench/label", json={...})
"""

from litestar import Litestar
from litestar.testing import TestClient

from ragstone.web.workbench.visits import VISIT, token_of

ADDRESS = "http://127.0.0.1:8000"
SEEN = "a-browser-that-was-here-before"


def opened(app: Litestar) -> TestClient[Litestar]:
    """Return a client of the one user of this machine; it enters and leaves the application's life."""
    client = TestClient(app, base_url=ADDRESS)
    client.cookies.set(VISIT, SEEN)
    client.headers["X-CSRF-Token"] = token_of(SEEN)
    return client
