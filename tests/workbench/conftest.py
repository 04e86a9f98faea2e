"""A project with a folder of runs, and the workbench that shows it."""

from tests.support.served_project import client, project, state
from tests.support.workbench import Client as Client

__all__ = ["client", "project", "state"]

HERE = "http://127.0.0.1"  # a server on this machine refuses every other name
