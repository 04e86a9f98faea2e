"""The workbench on a port of this machine, for a browser."""

from contextlib import AbstractContextManager

from tests.support.in_thread import app_in_thread
from tests.support.workbench import create_workbench

from ragstone.kernel.config import Settings


def served(settings: Settings, port: int = 0) -> AbstractContextManager[str]:
    """Give the address of the workbench of a project until the end of the block."""
    return app_in_thread(create_workbench(settings), port, timeout_graceful_shutdown=5)
