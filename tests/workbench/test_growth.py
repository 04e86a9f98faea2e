"""No page grows by more than four times the texts that came in, nor beyond its cap, whatever they are."""

import pytest
from tests.support.growth import CAP, GROWTH, HOSTILE, allowed, sizes
from tests.support.surfaces import every_block

from ragstone.kernel.document.html import render_blocks, render_page


@pytest.fixture(scope="module")
def plain(tmp_path_factory) -> dict[str, int]:
    return sizes(tmp_path_factory.mktemp("plain") / "project", "short")


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.simulation
def test_a_page_of_the_workbench_grows_by_four_times_what_came_in_at_most(tmp_path, plain, name):
    text = HOSTILE[name]
    found = sizes(tmp_path / "project", text)
    grown = {path: size - plain[path] for path, size in found.items()}
    assert {path: n for path, n in grown.items() if n > allowed(path, text)} == {}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize(
    "render", [render_page, lambda made: render_blocks(made.blocks)], ids=["page", "blocks"]
)
def test_a_report_of_any_block_is_capped(name, render):
    text, short = HOSTILE[name], "short"
    grown = len(render(every_block(text))) - len(render(every_block(short)))
    n_texts = every_block("\x02").__repr__().count("\\x02")
    assert grown <= min(GROWTH * n_texts * len(text), CAP)


def test_a_text_that_is_no_longer_than_the_cap_stands_whole_in_a_report():
    text = "Beans need water. " * 200
    assert render_page(every_block(text)).count(text) > 5
    assert 'id="shortened"' not in render_page(every_block(text))
