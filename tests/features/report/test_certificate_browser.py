"""The page of a certificate in a real browser."""

import pytest
from tests.features.build.certificate.test_page import evil_build
from tests.features.report.test_browser import LISTED, SHOWN, choose, open_all
from tests.features.report.test_page import EVIL
from tests.support.browser import Tab
from tests.support.builds import build_of, candidate, passage, ten

from ragstone.features.build.certificate.counting import certify
from ragstone.features.build.certificate.page import write_certificate
from ragstone.kernel.dataset.candidate import Candidate

pytestmark = pytest.mark.browser


def page_of(built, folder):
    return write_certificate(folder, certify(built), built.candidates, force=True)[1]


def test_accepted_questions_come_first_and_open_with_their_evidence(tab: Tab, tmp_path) -> None:
    path = page_of(ten(), tmp_path)
    tab.open(path)
    assert tab.run(SHOWN) == "4 of 10"
    assert tab.run(LISTED) == ["q-d1#1", "q-d1#2", "q-d2#1", "q-d2#5"]
    open_all(tab)
    marks = tab.run("[...document.querySelectorAll('mark')].map((node) => node.textContent)")
    assert marks == ["Rust is treated with fungicide.", "Reap in July.", "Wasser", "Man sät ihn im April"]
    text = tab.run("document.getElementById('list').innerText")
    for said in ("The first sentence says so.", "correct: yes", "Tempting passage", "closed_book: known"):
        assert said in text
    assert tab.complaints == []
    assert tab.requests == []


def test_lost_ones_are_found_by_their_reason(tab: Tab, tmp_path) -> None:
    tab.open(page_of(ten(), tmp_path))
    tab.run(choose("which", "lost"))
    assert tab.run(SHOWN) == "6 of 10"
    tab.run(choose("which", "is-low_score"))
    assert tab.run(LISTED) == ["q-d1#3", "q-d2#4"]
    tab.run(choose("sort", "lowest"))  # 3 and 2
    assert tab.run(LISTED) == ["q-d2#4", "q-d1#3"]
    open_all(tab)
    assert "relevance 2, less than 4" in tab.run("document.querySelector('.opened').innerText")
    tab.run(choose("lang", "=en"))
    assert tab.run(LISTED) == ["q-d1#3"]
    tab.run("document.getElementById('reset').click()")
    assert tab.run(SHOWN) == "10 in all"
    tab.run(choose("style", "=negative"))
    assert tab.run(LISTED) == ["q-d2#5"]


def test_a_link_opens_its_question_though_it_is_lost(tab: Tab, tmp_path) -> None:
    tab.open(page_of(ten(), tmp_path), "#q-d2%234")
    tab.until("document.querySelector('.question[open]')?.id", "q-d2#4")


def test_evidence_after_letters_outside_the_first_plane_is_marked(tab: Tab, tmp_path) -> None:
    one = candidate("d1#1", "Q?", span=(3, 7))
    source = Candidate(
        question=one.question,
        passages=(type(one.passages[0])(document_id="d1", start=0, end=8, text="🌾🌽 root."),),
    )
    tab.open(page_of(build_of([source]), tmp_path))
    open_all(tab)
    assert tab.run("document.querySelector('mark').textContent") == "root"


def test_pages_of_many(tab: Tab, tmp_path) -> None:
    rows = [candidate(f"d1#{n}", f"Question {n}?", of=passage("d1")) for n in range(430)]
    tab.open(page_of(build_of(rows), tmp_path))
    assert tab.run("document.querySelector('[data-pages] span').textContent") == "Page 1 of 9"
    tab.run("document.querySelector(\"[data-step='1']\").click()")
    assert tab.run(LISTED)[0] == "q-d1#50"
    tab.run("location.hash = '#q-d1%23' + 420")
    tab.until("document.querySelector('.question[open]')?.id", "q-d1#420")


def test_text_from_outside_runs_nothing(tab: Tab, tmp_path) -> None:
    for text in EVIL:
        tab.open(page_of(evil_build(text), tmp_path))
        tab.run(choose("which", "any"))
        open_all(tab)
        assert tab.run("window.pwned") is None
        assert tab.complaints == []
        assert tab.run("document.querySelector('.asked').textContent") == text
