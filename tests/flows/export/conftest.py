"""The run that tests of reports have is exported here."""

from tests.report.conftest import summary, write_run

__all__ = ["summary", "write_run"]
