"""No page grows by more than four times the texts that came in, nor beyond its cap, whatever they are."""

import re
from functools import cache

import pytest
from tests.support.growth import CAP, FILES, GROWTH, HOSTILE, PAGES, TEXTLESS, allowed, sizes
from tests.support.surfaces import every_block
from tests.support.workbench import create_workbench

from ragstone.kernel.config import load_settings
from ragstone.kernel.document.html import render_blocks, render_page


@pytest.fixture(scope="module")
def plain(tmp_path_factory) -> dict[str, int]:
    return sizes(tmp_path_factory.mktemp("plain") / "project", "short")


def test_every_address_of_the_workbench_is_looked_at(tmp_path):
    (tmp_path / "ragstone.toml").write_text('[run]\nname = "mine"\n')
    app = create_workbench(load_settings(tmp_path / "ragstone.toml"))
    given = {
        re.sub(r":\w+}", "}", route.path) for route in app.routes if "GET" in getattr(route, "methods", ())
    }
    paths = {path.partition("?")[0].rstrip("/") for path in PAGES}
    as_pattern = {
        address: re.sub(r"{\w+}", "[^/]+", re.escape(address).replace(r"\{", "{").replace(r"\}", "}"))
        for address in given
    }
    looked_at = {
        address for address, pattern in as_pattern.items() if any(re.fullmatch(pattern, p) for p in paths)
    }
    assert given - looked_at == TEXTLESS | FILES


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.simulation
def test_a_page_of_the_workbench_grows_by_four_times_what_came_in_at_most(tmp_path, plain, name):
    text = HOSTILE[name]
    found = sizes(tmp_path / "project", text)
    grown = {path: size - plain[path] for path, size in found.items()}
    assert {path: n for path, n in grown.items() if n > allowed(path, text)} == {}


@cache
def n_texts() -> int:
    """Return how many texts a document of every block holds."""
    return repr(every_block("\x02")).count("\\x02")


@pytest.mark.long
@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize(
    "render", [render_page, lambda made: render_blocks(made.blocks)], ids=["page", "blocks"]
)
def test_a_report_of_any_block_is_capped(name, render):
    text = HOSTILE[name]
    grown = len(render(every_block(text))) - len(render(every_block("short")))
    assert grown <= min(GROWTH * n_texts() * len(text), CAP)


def test_a_text_that_is_no_longer_than_the_cap_stands_whole_in_a_report():
    text = "Beans need water. " * 200
    assert render_page(every_block(text)).count(text) > 5
    assert 'id="shortened"' not in render_page(every_block(text))
