"""Bytes that are no UTF-8: msgspec raises UnicodeDecodeError for them, which is no DecodeError."""

import ast

import msgspec
import pytest
from tests.support import house

from ragstone.features.label.queue import queue_path, read_queue
from ragstone.kernel.engine import progress_file
from ragstone.kernel.errors import DataError
from ragstone.kernel.runs.blamed import CAUSES, read_causes

BAD = b'{"id": "\xff"}'
CAUGHT = {"UnicodeDecodeError", "ValueError", "Exception"}
# What is decoded there is a text, or protobuf, or the errors are the caller's (`logs.reading`).
TEXTS = {
    "ragstone.features.blame._asked",
    "ragstone.features.import_._sheets",
    "ragstone.features.import_._tables",
    "ragstone.features.review.pages",
    "ragstone.features.watch._log_records",
    "ragstone.features.watch.otlp_decoding",
    "ragstone.kernel.judging.assertion",
    "ragstone.kernel.judging.trajectory",
    "ragstone.kernel.privacy.values",
    "ragstone.kernel.tables.cells",
    "ragstone.kernel.tables.columns",
    "ragstone.kernel.tables.interchange.graded",
    "ragstone.kernel.tables.interchange.values",
    "ragstone.kernel.tables.logs.reading",
    "ragstone.workbench.row_table_pages",
    "ragstone_assistant.knowledge._catalogue",
}


def test_bad_utf_8_is_another_error():
    with pytest.raises(UnicodeDecodeError) as error:
        msgspec.json.decode(BAD)
    assert not isinstance(error.value, msgspec.DecodeError)


def test_damaged_state_is_none_or_an_error_that_names_the_file(tmp_path):
    for path in (tmp_path / progress_file.FILE, tmp_path / CAUSES, queue_path(tmp_path, "mine")):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(BAD)
    assert progress_file.read_progress(tmp_path) is None
    with pytest.raises(DataError, match=CAUSES):
        read_causes(tmp_path)
    with pytest.raises(DataError, match="mine"):
        read_queue(tmp_path, "mine")


@pytest.mark.house
def test_who_catches_what_cannot_be_decoded_catches_bad_utf_8_too():
    missing = {
        module
        for module, path in house.modules().items()
        for node in house.nodes_of(path)
        if isinstance(node, ast.Try)
        if "DecodeError" in (caught := names(node)) and not caught & CAUGHT
    }
    assert missing == TEXTS


def names(node: ast.Try) -> set[str]:
    """Return the names of the errors that a `try` catches, without their modules."""
    types = [handler.type for handler in node.handlers]
    return {
        one.attr if isinstance(one, ast.Attribute) else one.id
        for kind in types
        for one in (kind.elts if isinstance(kind, ast.Tuple) else [kind])
        if isinstance(one, ast.Attribute | ast.Name)
    }
