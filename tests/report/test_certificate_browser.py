"""The page of a certificate in a real browser."""

import pytest
from tests.report.test_browser import LISTED, SHOWN, Browser, browser, choose, pytestmark  # noqa: F401
from tests.report.test_certificate import evil_build
from tests.report.test_page import EVIL
from tests.support.builds import build_of, candidate, passage, ten

from ragstone.dataset.candidate import Candidate
from ragstone.dataset.certifying.certificate import certify
from ragstone.report.certificate import write_certificate


def page_of(built, folder):
    return write_certificate(folder, certify(built), built.candidates, force=True)[1]


async def test_accepted_questions_come_first_and_open_with_their_evidence(browser: Browser, tmp_path) -> None:  # noqa: F811
    path = page_of(ten(), tmp_path)
    await browser.open(path)
    assert await browser.run(SHOWN) == "4 of 10"
    assert await browser.run(LISTED) == ["q-d1#1", "q-d1#2", "q-d2#1", "q-d2#5"]
    await browser.open_all()
    marks = await browser.run("[...document.querySelectorAll('mark')].map((node) => node.textContent)")
    assert marks == ["Rust is treated with fungicide.", "Reap in July.", "Wasser", "Man sät ihn im April"]
    text = await browser.run("document.getElementById('list').innerText")
    for said in ("The first sentence says so.", "correct: yes", "Tempting passage", "closed_book: known"):
        assert said in text
    assert browser.complaints() == []
    assert browser.requests() == [path.as_uri()]


async def test_lost_ones_are_found_by_their_reason(browser: Browser, tmp_path) -> None:  # noqa: F811
    await browser.open(page_of(ten(), tmp_path))
    await browser.run(choose("which", "lost"))
    assert await browser.run(SHOWN) == "6 of 10"
    await browser.run(choose("which", "is-low_score"))
    assert await browser.run(LISTED) == ["q-d1#3", "q-d2#4"]
    await browser.run(choose("sort", "lowest"))  # 3 and 2
    assert await browser.run(LISTED) == ["q-d2#4", "q-d1#3"]
    await browser.open_all()
    assert "relevance 2, less than 4" in await browser.run("document.querySelector('.opened').innerText")
    await browser.run(choose("lang", "=en"))
    assert await browser.run(LISTED) == ["q-d1#3"]
    await browser.run("document.getElementById('reset').click()")
    assert await browser.run(SHOWN) == "10 in all"
    await browser.run(choose("style", "=negative"))
    assert await browser.run(LISTED) == ["q-d2#5"]


async def test_a_link_opens_its_question_though_it_is_lost(browser: Browser, tmp_path) -> None:  # noqa: F811
    await browser.open(page_of(ten(), tmp_path), "#q-d2%234")
    await browser.until("document.querySelector('.question[open]')?.id", "q-d2#4")


async def test_evidence_after_letters_outside_the_first_plane_is_marked(browser: Browser, tmp_path) -> None:  # noqa: F811
    one = candidate("d1#1", "Q?", span=(3, 7))
    source = Candidate(
        question=one.question,
        passages=(type(one.passages[0])(document_id="d1", start=0, end=8, text="🌾🌽 root."),),
    )
    await browser.open(page_of(build_of([source]), tmp_path))
    await browser.open_all()
    assert await browser.run("document.querySelector('mark').textContent") == "root"


async def test_pages_of_many(browser: Browser, tmp_path) -> None:  # noqa: F811
    rows = [candidate(f"d1#{n}", f"Question {n}?", of=passage("d1")) for n in range(430)]
    await browser.open(page_of(build_of(rows), tmp_path))
    assert await browser.run("document.querySelector('[data-pages] span').textContent") == "Page 1 of 9"
    await browser.run("document.querySelector(\"[data-step='1']\").click()")
    assert (await browser.run(LISTED))[0] == "q-d1#50"
    await browser.run("location.hash = '#q-d1%23' + 420")
    await browser.until("document.querySelector('.question[open]')?.id", "q-d1#420")


@pytest.mark.parametrize("text", EVIL)
async def test_text_from_outside_runs_nothing(browser: Browser, tmp_path, text: str) -> None:  # noqa: F811
    await browser.open(page_of(evil_build(text), tmp_path))
    await browser.run(choose("which", "any"))
    await browser.open_all()
    assert await browser.run("window.pwned") is None
    assert browser.complaints() == []
    assert await browser.run("document.querySelector('.asked').textContent") == text
