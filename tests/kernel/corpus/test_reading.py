"""One file that its reader stumbles over, among others."""

from pathlib import Path

import pytest

from ragstone.kernel.corpus import reading
from ragstone.kernel.corpus.file import IngestOptions, Skipped
from ragstone.kernel.errors import MissingExtra
from ragstone.kernel.files.file import File


def failing(monkeypatch: pytest.MonkeyPatch, mistake: Exception) -> list[object]:
    def read(_file: File) -> list[object]:
        raise mistake

    monkeypatch.setattr(reading, "READERS", {".txt": read})
    return list(reading.read_file(File(Path("a.txt"), "a", b"text"), IngestOptions()))


@pytest.mark.parametrize(
    "mistake", [ValueError("no digits"), KeyError("a"), AttributeError("b"), OverflowError()]
)
def test_an_unforeseen_mistake_costs_that_file_alone_and_says_where_it_was(monkeypatch, mistake):
    (skipped,) = failing(monkeypatch, mistake)
    assert isinstance(skipped, Skipped)
    assert f"failed with {type(mistake).__name__}: {mistake} (test_reading.py, line " in skipped.reason


@pytest.mark.parametrize("mistake", [ModuleNotFoundError("ragstone.lost"), MissingExtra("a", "pdf")])
def test_what_is_no_fault_of_the_file_is_raised(monkeypatch, mistake):
    with pytest.raises(type(mistake)):
        failing(monkeypatch, mistake)
