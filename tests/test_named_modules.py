"""Modules that the source names by text, which no tool follows: every one of them is there.

The names are found in the syntax trees: `ragstone.room.module`, `module:NAME` from the package, from the
module that names it or from one of its rooms, and code that is handed to another process as a text.
"""

import ast
import re
from functools import cache
from importlib import import_module
from importlib.util import find_spec

import pytest
from tests.support import house

from ragstone.cli.app import COMMANDS
from ragstone.kernel.corpus.reading import PACKED, READERS
from ragstone.kernel.judging.judge import KINDS
from ragstone.kernel.tables.interchange.recognise import FORMATS

OURS = re.compile(r"ragstone(?:_assistant)?(?:\.[a-z_]\w*)+(?::[A-Za-z_]\w*)?")
PLACE = re.compile(r"(?!\d)\w+(?:\.(?!\d)\w+)*:[A-Za-z_]\w*")
LOGGERS = {"getLogger", "get_tracer"}
OTHERS = {  # texts of these shapes that name no module of ours
    "ragstone.toml": "a file",
    "ragstone.made_from": "a tag of MLflow",
    "ragstone.run": "a tag of MLflow",
    "ragstone.version": "a tag of MLflow",
    "ragstone.status": "an attribute of OpenTelemetry",
    "ragstone.prompt_version": "an attribute of OpenTelemetry",
    "ragstone.score.min": "an attribute of OpenTelemetry",
    "ragstone.score.max": "an attribute of OpenTelemetry",
    "ragstone.answer": "a tag of MLflow",
    "ragstone.question_id": "an attribute of a span",
    "ragstone.reference": "an attribute of a span",
    "ragstone.system": "an attribute of a span",
    "about:blank": "an address",
    "py:module": "a directive of Sphinx",
    "py:currentmodule": "a directive of Sphinx",
    "NAME.py:NAME": "an example, as others of a user's own modules",
    "farm_tools.crops:crop_table": "an example",
    "farm_tools.weather:weather": "an example",
    "farm_tools.videos:find_videos": "an example",
}


@cache
def named() -> list[tuple[str, str]]:
    """Return (module, text) of each text in the source that looks like the name of a module."""
    found = []
    for module, path in house.modules().items():
        passed_over = {
            id(argument)
            for call in house.nodes_of(path)
            if isinstance(call, ast.Call) and getattr(call.func, "attr", "") in LOGGERS
            for argument in call.args
        }
        found += [
            (module, node.value)
            for node in house.nodes_of(path)
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in passed_over
            if OURS.fullmatch(node.value) or PLACE.fullmatch(node.value)
        ]
    return found


def is_there(text: str, module: str) -> bool:
    """Return whether a name leads to something, from the package or from a room around who names it."""
    path, _, name = text.partition(":")
    rooms = module.split(".")
    starts = (
        [""] if path.startswith("ragstone") else [".".join(rooms[:n]) + "." for n in range(1, len(rooms) + 1)]
    )
    for start in starts:
        try:
            found = import_module(f"{start}{path}")
        except ModuleNotFoundError as mistake:
            if not (mistake.name or "").startswith("ragstone"):
                raise
            continue
        if not name or hasattr(found, name):
            return True
    return False


@pytest.mark.house
def test_every_module_that_the_source_names_by_text_is_there():
    every = named()
    ours = [(text, module) for module, text in every if text not in OTHERS]
    lost = [f"{module}: {text}" for text, module in ours if not is_there(text, module)]
    assert not lost
    texts = {text for _, text in every}
    for table in ("kernel.files.xlsx:read_xlsx", "rubric:RubricJudge", "promptfoo:read_promptfoo"):
        assert table in texts
    assert "ragstone.notebook" in texts


def test_a_name_that_leads_nowhere_is_found():
    assert not is_there("corpus.readers.xlsx:read_xlsx", "ragstone.kernel.corpus.reading")
    assert not is_there("kernel.files.xlsx:read_lost", "ragstone.kernel.corpus.reading")
    assert not is_there("ragstone.kernel.corpus.lost", "ragstone.kernel.corpus.reading")


@pytest.mark.house
def test_what_a_table_names_is_a_place_that_the_search_finds():
    groups = [[place] if isinstance(place, str) else place[1].values() for place in COMMANDS.values()]
    commands = [place for group in groups for place in group]
    tables = {
        *commands,
        *KINDS.values(),
        *filter(None, (place for form in FORMATS for place in (form.answers, form.verdicts))),
    }
    assert tables <= {text for _, text in named()}


@pytest.mark.parametrize("ending", READERS)
def test_every_reader_opens(ending, tmp_path):
    from ragstone.kernel.files.file import File, Unreadable

    file = tmp_path / f"a{ending}"
    file.write_bytes(b"")
    try:
        list(READERS[ending](File(file, "a")))
    except Unreadable:
        assert ending in (*PACKED, ".jsonl", ".ndjson", ".csv", ".tsv", ".html", ".htm", ".xhtml")


IMPORTED = re.compile(r"(?:^|[;\n])\s*from (ragstone[\w.]*) import ([\w, ]+)(?=;|$)")


@pytest.mark.house
def test_code_for_another_process_imports_what_is_there():
    n_found = 0
    for file in house.modules().values():
        constants = (one for one in house.nodes_of(file) if isinstance(one, ast.Constant))
        texts = (one.value for one in constants if isinstance(one.value, str))
        for module, names in (found for text in texts for found in IMPORTED.findall(text)):
            for name in map(str.strip, names.split(",")):
                n_found += 1
                there = hasattr(import_module(module), name) or find_spec(f"{module}.{name}")
                assert there, f"{file}: from {module} import {name}"
    assert n_found > 0
