"""Files are read in this process, which starts sooner; `processes` has a test use real ones."""

import pytest
from tests.support.reading_here import ReadHere

from ragstone.kernel.corpus.parallel import ReadingProcess
from ragstone_assistant.knowledge import _building as building
from ragstone_assistant.knowledge import uploads


@pytest.fixture(autouse=True)
def _reading_here(monkeypatch):
    for module in (building, uploads):
        monkeypatch.setattr(module, "ReadingProcess", ReadHere)


@pytest.fixture
def processes(monkeypatch, _reading_here):
    for module in (building, uploads):
        monkeypatch.setattr(module, "ReadingProcess", ReadingProcess)
