"""The run that tests of reports have is exported here."""

from tests.support.tiny_run import summary, write_run

__all__ = ["summary", "write_run"]
