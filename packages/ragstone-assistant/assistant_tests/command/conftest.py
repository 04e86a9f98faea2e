"""Files are read in the process of the tests here too."""

from assistant_tests.conftest import _reading_here

__all__ = ["_reading_here"]
