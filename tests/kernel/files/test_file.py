"""Where a file is, as rows name it."""

from pathlib import PurePosixPath, PureWindowsPath

import pytest

from ragstone.kernel.corpus.reading import READERS
from ragstone.kernel.files.file import File

TEXTS = {
    ".md": b"# Wheat\n\nSown in October.",
    ".txt": b"Sown in October.",
    ".html": b"<html><body><main><p>Sown in October.</p></main></body></html>",
    ".rst": b"Wheat\n=====\n\nSown in October.",
    ".adoc": b"= Wheat\n\nSown in October.",
}


@pytest.mark.parametrize("ending", TEXTS)
def test_a_document_that_is_read_on_windows_names_its_source_as_elsewhere(ending):
    path = PureWindowsPath(f"C:\\farm\\docs\\wheat{ending}")
    document = next(iter(READERS[ending](File(path, "wheat", TEXTS[ending]))))
    assert document.source == f"C:/farm/docs/wheat{ending}"


def test_a_backslash_in_a_name_is_no_separator_elsewhere():
    assert File(PurePosixPath("docs/a\\b.md"), "a").source == "docs/a\\b.md"
