"""The workbench on a port of this machine, for a browser."""

from contextlib import AbstractContextManager

from tests.support.in_thread import app_in_thread

from ragstone.config import Settings
from ragstone.workbench.app import create_workbench


def served(settings: Settings) -> AbstractContextManager[str]:
    """Give the address of the workbench of a project until the end of the block."""
    return app_in_thread(create_workbench(settings), timeout_graceful_shutdown=5)
