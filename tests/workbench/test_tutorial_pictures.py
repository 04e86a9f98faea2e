"""The pictures of the tutorials show what a reader has before them who has followed the page.

Each tutorial is followed in an empty folder, and then its pages are looked at. RAGSTONE_UPDATE_GOLDEN=1 takes
the pictures anew: look before you keep them.
"""

import re
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.support.browser import opened_tab
from tests.support.pictures import IMAGES, check_picture
from tests.support.tutorials import TUTORIALS, followed

pytestmark = pytest.mark.browser
__all__ = ["followed"]

WIDTH = 860  # pixels of the window: letters stay readable where a page shows it 700 wide


class Shot(NamedTuple):
    """A picture: what is opened, what is done there, and the rectangle from one element to another.

    page: a file of the folder. before: a script.
    first, last: CSS selectors; from the top of the first to the bottom of the last. most: pixels of height.
    """

    page: str
    first: str
    last: str
    before: str = ""
    most: int = 1100
    width: int = WIDTH


SHOTS = {
    "first-report": {
        "first-report": Shot("runs/starter/report.html", "header", "div.answers", width=1100, most=800),
        "first-report-question": Shot(
            "runs/starter/report.html",
            "#q-agxqa-q20",
            "#q-agxqa-q20",
            before="document.getElementById('q-agxqa-q20').open = true",
            most=822,
        ),
    },
    "from-a-spreadsheet": {
        "from-a-spreadsheet": Shot(
            "runs/quiz-bot/report.html", "details.question >> nth=3", "details.question >> nth=8"
        ),
    },
    "watch-production": {
        "watch-production": Shot(
            ".ragstone/monitor/monitor.html", "#alarms", "figure.plotted >> nth=1", most=1000
        ),
    },
    "trust-your-judge": {
        "trust-your-judge": Shot("card.html", "#card-1", "table.heat"),
    },
}


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_pictures_of_a_tutorial_are_what_its_reader_sees(page, followed):
    if page.stem not in SHOTS:
        pytest.skip("this page has no picture")
    folder = Path(followed(page).folder)
    for name, shot in SHOTS[page.stem].items():
        take(name, (folder / shot.page).as_uri(), shot)


def take(name, address, shot):
    size = {"width": shot.width, "height": 1400}
    with opened_tab(loopback=True, viewport=size, reduced_motion="reduce", color_scheme="light") as tab:
        tab.page.goto(address, wait_until="networkidle")
        if shot.before:
            tab.run(shot.before)
            tab.page.wait_for_timeout(300)
        first, last = (tab.page.locator(one).first for one in (shot.first, shot.last))
        height = last.bounding_box()["y"] + last.bounding_box()["height"] - first.bounding_box()["y"]
        tab.page.set_viewport_size({"width": shot.width, "height": round(height) + 400})
        tab.run_with(
            "(pixels) => window.scrollTo(0, pixels)",
            first.bounding_box()["y"] - 80 + tab.run("window.scrollY"),
        )
        top, bottom = first.bounding_box(), last.bounding_box()
        end = min(bottom["y"] + bottom["height"] + 12, top["y"] + shot.most)
        clip = {"x": 0.0, "y": max(top["y"] - 12, 0.0), "width": float(shot.width)}
        check_picture(tab, f"tutorials/{name}", {**clip, "height": end - clip["y"]})


def test_each_picture_is_of_its_tutorial_and_says_in_words_what_is_to_be_seen():
    shown = {
        page.stem: dict(
            re.findall(r"!\[([^\]]*)\]\(\.\./images/tutorials/([\w-]+)\.webp\)", page.read_text("utf-8"))
        )
        for page in TUTORIALS
    }
    assert {page: set(pictures.values()) for page, pictures in shown.items() if pictures} == {
        page: set(shots) for page, shots in SHOTS.items()
    }
    assert {file.stem for file in (IMAGES / "tutorials").iterdir()} == {
        n for one in SHOTS.values() for n in one
    }
    assert all(len(words.split()) >= 8 for pictures in shown.values() for words in pictures)
