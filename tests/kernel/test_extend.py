"""What a feature may register stands in tables, and what these name is there."""

from importlib import import_module

import pytest
from litestar.handlers import BaseRouteHandler

from ragstone.kernel.corpus.reading import READERS
from ragstone.kernel.judging.fields import JudgeFields
from ragstone.kernel.judging.judge import KINDS, type_of_kind
from ragstone.workbench.pages import PAGES


@pytest.mark.parametrize("name", PAGES)
def test_a_module_of_pages_has_routes_and_gives_what_they_ask_for(name):
    module = import_module(f"ragstone.{name}")
    assert all(isinstance(route, BaseRouteHandler) for route in module.ROUTES)
    assert all(map(callable, getattr(module, "GIVEN", {}).values()))


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_of_judge_is_a_struct_that_says_how_it_judges(kind):
    assert type_of_kind(kind).find is not JudgeFields.find


def test_a_reader_is_called_with_a_file():
    assert all(callable(read) for read in READERS.values())
