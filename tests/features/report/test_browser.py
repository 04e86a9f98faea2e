"""The list of questions on the page of a run, in a real browser."""

import pytest
from tests.support.browser import Tab, opened_tab
from tests.support.tiny_run import WriteRun, judgement, summary_of

from ragstone.features.report.page import write_report
from ragstone.kernel.records import Answer, Step, Verdict

pytestmark = pytest.mark.browser

SHOWN = "document.getElementById('shown').textContent"
LISTED = "[...document.querySelectorAll('.question')].map((node) => node.id)"


def open_all(tab: Tab) -> None:
    """Open every question, then whatever can be opened in it."""
    tab.run("document.querySelectorAll('details').forEach((node) => { node.open = true; })")
    tab.until("!document.querySelector('.question:not(:has(.opened))')", value=True)
    tab.run("document.querySelectorAll('details').forEach((node) => { node.open = true; })")


def choose(name: str, value: str) -> str:
    return (
        f"(() => {{ const node = document.getElementById('tool-{name}'); node.value = '{value}'; "
        "node.dispatchEvent(new Event('change')); })()"
    )


def test_page_opens_without_a_complaint_or_a_request(tab: Tab, write_run: WriteRun) -> None:
    path = write_report(write_run())
    tab.open(path)
    open_all(tab)
    assert tab.complaints == []
    assert tab.requests == []
    assert tab.run(SHOWN) == "4 questions"
    opened = tab.run("document.querySelector('.opened').innerText")
    for words in (
        "With fungicide.",
        "Same point as the reference.",
        "Not supported: It is cheap.",
        "relevant",
    ):
        assert words in opened


def test_a_verdict_leads_to_the_context_that_supports_it(tab: Tab, write_run: WriteRun) -> None:
    statement = {"statement": "The soil is tested.", "supported": True}
    verdicts = [Verdict(id=1, context=2, **statement), Verdict(id=2, context=9, **statement)]
    used = [Verdict(id=1, statement="Rust is…", supported=False, context=1, of="contexts")]
    claims = [Verdict(id=1, of="answer", **statement), Verdict(id=2, of="reference", **statement)]
    rows = [
        judgement("q1", "faithfulness", 1, verdicts=verdicts),
        judgement("q1", "context_relevance", 0, verdicts=used),
        judgement("q1", "claims", 1, verdicts=claims),
    ]
    tab.open(write_report(write_run(judgements=rows, summary=summary_of(rows))), "#q-q1")
    assert tab.run("[...document.querySelectorAll('.cite')].map((node) => node.textContent)") == [
        "context 2",
        "context 1",
    ]
    opened = tab.run("document.querySelector('.opened').innerText")
    for words in (
        "context 9",
        "Not useful: Rust is…",
        "Statements of the reference",
        "In the answer: The soil",
    ):
        assert words in opened
    soil = "document.querySelectorAll('[data-contexts] .passage')[1]"
    assert tab.run(f"{soil}.open") is False
    tab.run("document.querySelector('.cite').click()")
    assert tab.run(f"{soil}.open && {soil}.classList.contains('cited')") is True
    assert tab.run("document.querySelectorAll('.cited').length") == 1
    assert tab.complaints == []


def test_the_steps_of_an_agent_stand_in_the_detail_with_what_is_wrong_with_them(
    tab: Tab, write_run: WriteRun
) -> None:
    calls = [
        Step(
            tool="weather", arguments={"place": "<b>Molo"}, result="dry " * 100, seconds=0.5, thought="Rain?"
        ),
        Step(tool="price", error="timeout"),
    ]
    wrong = [
        Verdict(id=1, statement="weather(…)", supported=False, reason="not expected", of="steps"),
        Verdict(id=1, statement="soil", supported=False, reason="never called", of="expected_steps"),
    ]
    rows = [judgement("q1", "tool_choice", 0, verdicts=wrong)]
    answer = Answer(question_id="q1", system="rag", answer="It stays dry.", steps=calls)
    run = write_run(judgements=rows, summary=summary_of(rows), answers=[answer])
    tab.open(write_report(run), "#q-q1")
    opened = tab.run("document.querySelector('.opened').innerText")
    for words in (
        "Steps\nRain?\nweather place: <b>Molo · 0.5 s",
        "price\nFailed: timeout",
        "Not right: weather(…)\nnot expected",
        "Expected steps\nNot called: soil\nnever called",
    ):
        assert words in opened
    assert tab.run(
        "[...document.querySelectorAll('details.tool:not([open])')]"
        ".some((one) => one.textContent.includes('dry dry'))"
    )
    assert tab.complaints == []


def test_filters_and_order(tab: Tab, write_run: WriteRun) -> None:
    tab.open(write_report(write_run()))
    tab.run(choose("result", "low"))  # q2: correctness 0. q1 has faithfulness 0.5, the middle.
    assert tab.run(LISTED) == ["q-q2"]
    assert tab.run(SHOWN) == "1 of 4 questions"
    tab.run("document.getElementById('reset').click()")
    tab.run(choose("found", "missed"))
    assert tab.run(LISTED) == ["q-q4 & 5"]
    tab.run("document.getElementById('reset').click()")
    tab.run(choose("judge", "1"))  # faithfulness
    tab.run(choose("result", "is-timeout"))
    assert tab.run(LISTED) == ["q-q3"]
    tab.run("document.getElementById('reset').click()")
    tab.run(choose("sort", "lowest"))  # the worst first, without a score last
    assert tab.run(LISTED)[:2] == ["q-q2", "q-q1"]


def test_search_looks_into_answers_and_tags(tab: Tab, write_run: WriteRun) -> None:
    tab.open(write_report(write_run()))
    for words, found in (
        ("FUNGICIDE", ["q-q1"]),
        ("الإزهار", ["q-q2"]),
        ("crop wheat", ["q-q1"]),
        ("zzz", []),
    ):
        tab.run(f"document.getElementById('tool-search').value = '{words}'")
        tab.run("document.getElementById('tool-search').dispatchEvent(new Event('input'))")
        tab.until(LISTED, found)
    assert tab.run("document.getElementById('nothing').hidden") is False


def test_link_opens_its_question(tab: Tab, write_run: WriteRun) -> None:
    tab.open(write_report(write_run()), "#q-q4%20%26%205")
    assert tab.run("document.getElementById('q-q4 & 5').open") is True
    assert tab.run("document.activeElement.parentElement.id") == "q-q4 & 5"


def test_page_fits_a_phone(write_run: WriteRun) -> None:
    with opened_tab(viewport={"width": 390, "height": 800}, is_mobile=True) as tab:
        tab.open(write_report(write_run()))
        open_all(tab)
        assert tab.run("document.documentElement.scrollWidth") == 390
