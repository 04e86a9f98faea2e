"""Where a page stands in the navigation."""

import pytest

from ragstone.workbench.pages import SECTIONS, place_at


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/workbench", "Runs, All runs"),
        ("/workbench/", "Runs, All runs"),
        ("/workbench/runs/0/wheat", "Runs, All runs"),
        ("/workbench/runs/trends", "Runs, Trends"),
        ("/workbench/compare", "Runs, Compare"),
        ("/workbench/compare/answers", "Runs, Side by side"),
        ("/workbench/review/2d22", "Data, Sets"),
        ("/workbench/label/new", "Data, Labels"),
        ("/workbench/cards/right", "Judges, Report cards"),
        ("/workbench/traces/1/2", "Production, Traces"),
        ("/workbench/people/log", "People, Log"),
        ("/workbench/account", None),
        ("/workbench/comparison", None),
    ],
)
def test_a_page_stands_where_the_longest_path_leads(path, words):
    found = place_at(path, SECTIONS)
    assert (found and ", ".join(each.words for each in found)) == words
