"""The workbench on a port of this machine, for a browser."""

import contextlib
import threading
import time
from collections.abc import Iterator

from ragstone.config import Settings
from ragstone.workbench.app import create_workbench
from ragstone.workbench.serving import listen


@contextlib.contextmanager
def served(settings: Settings) -> Iterator[str]:
    """Give the address of the workbench of a project until the end of the block."""
    import uvicorn

    bound = listen("127.0.0.1", 0)
    config = uvicorn.Config(
        create_workbench(settings), log_level="error", lifespan="on", timeout_graceful_shutdown=5
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(10)
        bound.close()
