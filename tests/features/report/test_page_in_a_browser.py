"""What a reader does with the page: charts, prompts, highlights, causes, keyboard, zoom, print, axe."""

import re
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import msgspec
import pytest
from tests.features.report.test_page import EVIL, evil_everywhere
from tests.support.blamed_rows import CAUSES as CAUSED
from tests.support.blamed_rows import SYSTEM
from tests.support.browser import Tab, opened_tab
from tests.support.tiny_run import (
    DOCUMENTS,
    JUDGEMENTS,
    MODEL,
    QUESTIONS,
    WriteRun,
    card,
    judgement,
    summary_of,
)

import ragstone
from ragstone.features.report.page import write_report
from ragstone.features.run._breakdown import distributions, means_by_tag, rank_systems
from ragstone.kernel.document.html import asset
from ragstone.kernel.engine.call_log import open_call_log
from ragstone.kernel.llm.call_trace import Exchange
from ragstone.kernel.llm.prompt import Message
from ragstone.kernel.records import (
    Answer,
    Context,
    Document,
    Evidence,
    Judgement,
    Question,
    Ranking,
    RankingItem,
    Verdict,
)
from ragstone.kernel.runs import joining
from ragstone.kernel.runs.blamed import CAUSES, BlameSummary, digests
from ragstone.kernel.runs.causes import Caused, SystemBlame
from ragstone.kernel.runs.summary import RunSummary

pytestmark = pytest.mark.browser

SHOWN = "document.getElementById('shown').textContent"
LISTED = "[...document.querySelectorAll('.question')].map((node) => node.id)"
LABELS = "[...new Set([...document.querySelectorAll('.c-label')].map((one) => getComputedStyle(one).fill))]"
PLOTS = (
    "[...document.querySelectorAll('svg.chart')].filter((one) => one.getBoundingClientRect().height).length"
)


def exchange(*replies: str, told: str = "Judge it.", asked: str = "Is it right?") -> Exchange:
    messages = [Message("system", told), Message("user", asked)]
    for reply in replies:
        messages += [Message("assistant", reply), Message("user", "That reply cannot be used.")]
    return Exchange(model=MODEL, messages=tuple(messages[: 2 + max(2 * len(replies) - 1, 0)]))


def keep_calls(folder: Path, *kept: tuple[str, str | None, Exchange]) -> None:
    """Write what was asked: (question, judge or None for an answer, exchange)."""
    with open_call_log(folder) as log:
        for question_id, judge, heard in kept:
            log.keep([heard], question_id=question_id, systems=["rag"], judges=[judge] if judge else [])


def keep_causes(folder: Path, *rows: Caused, systems: Sequence[SystemBlame] = ()) -> None:
    """Write blame as `ragstone blame` leaves it, as far as the list of questions shows it."""
    blamed = BlameSummary(
        name="r", version="0", systems=list(systems), models={}, made_from=digests(folder), notes=[]
    )
    (folder / "blame.json").write_bytes(msgspec.json.encode(blamed))
    (folder / CAUSES).write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))


@pytest.fixture
def full(summary: RunSummary) -> RunSummary:
    """The summary of the tiny run with everything that has a chart."""
    questions = [msgspec.structs.replace(one, tags={"crop": one.id[:1]}) for one in QUESTIONS]
    many = [judgement(f"{n}", "correctness", n % 2) for n in range(40)]
    tagged = [Question(id=f"{n}", question="?", tags={"crop": "ab"[n // 20]}) for n in range(40)]
    return msgspec.structs.replace(
        summary,
        cards=[card(better=True)],
        distributions=distributions(JUDGEMENTS),
        by_tag=means_by_tag(many, [*tagged, *questions]),
    )


def open_first(tab: Tab) -> None:
    tab.page.locator(".question > summary").first.click()
    tab.page.wait_for_selector(".opened")


def test_plots_are_there_without_a_script_in_the_ink_of_the_page(
    write_run: WriteRun, full: RunSummary, tab: Tab
) -> None:
    tab.open(write_report(write_run(summary=full)))
    inks = set()
    for scheme in ("light", "dark"):
        tab.page.emulate_media(color_scheme=scheme)
        assert tab.run(PLOTS) == 4
        assert tab.run("document.querySelector('#means svg').textContent").count("correctness") >= 1
        [ink] = tab.run(LABELS)
        assert ink == tab.run("getComputedStyle(document.body).color")
        inks.add(ink)
    assert len(inks) == 2
    assert not re.search("vega", tab.page.content())
    assert (tab.complaints, tab.requests) == ([], [])


def test_a_plot_is_drawn_for_the_room_that_it_has(write_run: WriteRun, full: RunSummary, tab: Tab) -> None:
    tab.open(write_report(write_run(summary=full)))
    for width, kind in ((1280, "wide"), (390, "narrow")):
        tab.page.set_viewport_size({"width": width, "height": 800})
        assert tab.run(PLOTS) == 4
        assert all(one.is_visible() for one in tab.page.locator(f"svg.chart.{kind}").all())
        sizes = tab.run(
            f"[...document.querySelectorAll('svg.chart.{kind} text')]"
            ".map((one) => one.getBoundingClientRect().height)"
        )
        assert min(sizes) >= 12  # readable
        inside = (
            f"[...document.querySelectorAll('svg.chart.{kind} text')].every((one) => {{"
            "const box = one.getBoundingClientRect();"
            "return box.left >= -4 && box.right <= innerWidth + 4; })"
        )
        assert tab.run(inside)


def test_nothing_moves_while_a_reader_scrolls_past_plots(
    write_run: WriteRun, full: RunSummary, tab: Tab
) -> None:
    tab.open(write_report(write_run(summary=full)))
    tab.run(
        "window.shift = 0; new PerformanceObserver((list) => list.getEntries().forEach((one) => {"
        " window.shift += one.value; })).observe({ type: 'layout-shift', buffered: true });"
    )
    for plot in tab.page.locator("svg.chart.wide").all():
        plot.scroll_into_view_if_needed()
    assert tab.run("window.shift") < 0.01


def test_a_plot_is_downloaded_as_a_file_that_stands_alone(
    write_run: WriteRun, full: RunSummary, tab: Tab
) -> None:
    tab.open(write_report(write_run(summary=full)))
    with tab.page.expect_download() as download:
        tab.page.locator("#means a[download]").click()
    assert download.value.suggested_filename == "means.svg"
    svg = download.value.path().read_text(encoding="utf-8")
    assert ElementTree.fromstring(svg).tag.endswith("svg")
    assert "correctness" in svg
    assert (tab.complaints, tab.requests) == ([], [])


def test_from_a_dark_screen_plots_are_printed_in_ink_on_white(write_run: WriteRun, full: RunSummary) -> None:
    with opened_tab(color_scheme="dark") as tab:
        tab.open(write_report(write_run(summary=full)))
        tab.page.emulate_media(media="print", color_scheme="dark")
        colours = (
            "(({ color, backgroundColor }) => [color, backgroundColor])(getComputedStyle(document.body))"
        )
        assert tab.run(colours) == ["rgb(0, 0, 0)", "rgb(255, 255, 255)"]
        assert tab.run(LABELS) == ["rgb(0, 0, 0)"]
        assert tab.run("getComputedStyle(document.querySelector('.c-dot')).fill") == "rgb(0, 82, 122)"
        assert tab.run("getComputedStyle(document.getElementById('tools')).display") == "none"


@pytest.mark.parametrize("name", ["ink", "muted", "line", "accent"])
def test_charts_are_printed_in_the_colours_that_the_page_is_printed_in(name: str) -> None:
    printed = asset("page.css").partition("@media print")[2]
    [said] = re.findall(rf"--{name}: (#\w+);", printed)
    assert f'{name}: "{said}"' in asset("charts.js")


def test_numbers_of_a_chart_stand_beside_it_as_a_table(
    write_run: WriteRun, full: RunSummary, tab: Tab
) -> None:
    tab.open(write_report(write_run(summary=full)))
    tab.page.locator("#agreement summary").click()
    shown = tab.page.locator("#agreement table").inner_text()
    assert "always right\t0.70\t0.55 to 0.82\t40" in shown


def test_a_question_shows_what_was_asked_and_said_word_for_word(write_run: WriteRun, tab: Tab) -> None:
    folder = write_run()
    contexts = f"[1] {DOCUMENTS[0].text}\n\n[2] {DOCUMENTS[2].text}"
    keep_calls(
        folder,
        ("q1", None, exchange("With fungicide.", told="Answer.", asked=f"<c>{contexts}</c> Say.")),
        ("q2", "faithfulness", exchange("Hard to say <b>!", "Still hard")),
        ("q3", "faithfulness", exchange()),
    )
    tab.open(write_report(folder), "#q-q1")
    tab.page.locator("[id='q-q1'] .calls > summary").click()
    call = tab.page.locator("[id='q-q1'] .call")
    call.wait_for()
    assert call.locator("pre").all_inner_texts() == ["Answer.", f"<c>{contexts}</c> Say.", "With fungicide."]
    tab.page.goto(tab.page.url.replace("#q-q1", "#q-q2"))
    tab.page.locator("[id='q-q2'] .calls > summary").click()
    said = tab.page.locator("[id='q-q2'] .call pre.assistant")
    said.first.wait_for()
    assert said.all_inner_texts() == ["Hard to say <b>!", "Still hard"]  # what no judge could read
    tab.page.goto(tab.page.url.replace("#q-q2", "#q-q3"))
    tab.page.locator("[id='q-q3'] .calls > summary").click()
    tab.page.locator("[id='q-q3'] .call").wait_for()
    assert "No reply came." in tab.page.locator("[id='q-q3'] .call").inner_text()
    assert (tab.complaints, tab.requests) == ([], [])


def test_the_sentence_that_supports_a_statement_is_marked_in_its_context(
    write_run: WriteRun, tab: Tab
) -> None:
    verdicts = [
        Verdict(id=1, statement="Fungicide is used against rust.", supported=True, context=1),
        Verdict(id=2, statement="It is sown in October.", supported=True, context=1),
        Verdict(id=3, statement="Zebras dance.", supported=True, context=2),
        Verdict(id=4, statement="Test the soil.", supported=False, context=2),
    ]
    rows = [judgement("q1", "faithfulness", 0.75, verdicts=verdicts)]
    tab.open(write_report(write_run(judgements=rows, summary=summary_of(rows))), "#q-q1")
    tab.page.wait_for_selector("mark", state="attached")
    marks = tab.run(
        "[...document.querySelectorAll('mark')].map((one) => [one.textContent.trim(), one.title])"
    )
    # Nothing shares a word with the third, and the fourth is supported by nothing.
    assert marks == [
        ["Rust is treated with fungicide.", "supports faithfulness, statement 1"],
        ["Sow in October.", "supports faithfulness, statement 2"],
    ]
    assert "supports statements 1, 2" in tab.page.locator("[data-contexts]").inner_text()
    tab.page.locator(".cite").first.click()
    assert tab.run("document.activeElement.closest('details').classList.contains('cited')") is True


def test_causes_stand_beside_the_question_and_filter_the_list(write_run: WriteRun, tab: Tab) -> None:
    folder = write_run()
    cause = {"system": "rag", "component": "retriever", "because": "No context names <i>maize</i>."}
    keep_causes(folder, Caused(question_id="q2", cause="not retrieved", **cause))
    tab.open(write_report(folder))
    tab.page.select_option("#tool-cause", "not retrieved")
    assert tab.run(LISTED) == ["q-q2"]
    open_first(tab)
    told = tab.page.locator(".causes").inner_text()
    assert "not retrieved (retriever). No context names <i>maize</i>." in told
    tab.page.click("#reset")
    assert tab.run(SHOWN) == "4 questions"


def test_without_blame_there_is_no_filter_of_causes(write_run: WriteRun, tab: Tab) -> None:
    tab.open(write_report(write_run()))
    assert tab.page.locator("#tool-cause").is_hidden()


def tagged_questions() -> list[Question]:
    """Return the questions of the tiny run with languages and crops; one has its language as a tag too."""
    told: list[tuple[str | None, dict[str, str] | None]] = [
        ("en", {"crop": "wheat"}),
        ("ar", {"crop": "ذرة", "lang": "ar"}),
        ("en", None),
        (None, {"crop": "wheat", "lang": "en"}),
    ]
    pairs = zip(QUESTIONS, told, strict=True)
    return [msgspec.structs.replace(one, lang=lang, tags=tags) for one, (lang, tags) in pairs]


def test_list_is_filtered_by_language_and_tag_beside_the_other_filters(write_run: WriteRun, tab: Tab) -> None:
    tab.open(write_report(write_run(questions=tagged_questions())))
    group = tab.page.get_by_role("combobox", name="Group")
    # Languages first, of a key the largest first; the question that says its language twice counts once.
    assert [said.strip() for said in group.locator("option").all_inner_texts()] == [
        "any",
        "lang: \u2068en\u2069 (3)",
        "lang: \u2068ar\u2069 (1)",
        "crop: \u2068wheat\u2069 (2)",
        "crop: \u2068ذرة\u2069 (1)",
    ]
    group.focus()
    tab.page.keyboard.press("ArrowDown")
    tab.until(LISTED, ["q-q1", "q-q3", "q-q4 & 5"])
    assert tab.run(SHOWN) == "3 of 4 questions"
    tab.page.select_option("#tool-found", "first")
    assert tab.run(LISTED) == ["q-q1"]
    tab.page.click("#reset")
    assert tab.run(SHOWN) == "4 questions"
    tab.page.goto(tab.page.url + "#q-q1")
    assert "lang: en" in tab.page.locator("[id='q-q1'] .tag-list").inner_text()
    assert (tab.complaints, tab.requests) == ([], [])


def test_of_many_groups_the_largest_are_offered(write_run: WriteRun, tab: Tab) -> None:
    # 42 values: "twice" is had by two questions, the others by one each.
    questions = [Question(id=f"{n}", question="?", tags={"crop": f"c{n}"}) for n in range(41)]
    questions += [Question(id=f"t{n}", question="?", tags={"crop": "twice"}) for n in range(2)]
    tab.open(write_report(write_run(questions=questions)))
    offered = tab.page.locator("#tool-group option").all_inner_texts()
    assert (len(offered), offered[1]) == (42, "crop: \u2068twice\u2069 (2)")  # "any", 40 values, and the rest
    assert offered[-1] == "2 smaller: use the search"


def test_without_tags_and_languages_there_is_no_filter_of_groups(write_run: WriteRun, tab: Tab) -> None:
    plain = [msgspec.structs.replace(one, tags=None) for one in QUESTIONS]
    tab.open(write_report(write_run(questions=plain)))
    assert tab.page.locator("#tool-group").is_hidden()


def test_everything_can_be_reached_and_opened_by_keyboard(write_run: WriteRun, tab: Tab) -> None:
    tab.open(write_report(write_run()))
    tab.page.keyboard.press("Tab")
    assert tab.run("document.activeElement.className") == "skip"
    tab.page.locator("#tool-search").focus()
    stops = []
    for _ in range(8):
        tab.page.keyboard.press("Tab")
        stops.append(tab.run("document.activeElement.id || document.activeElement.parentElement.id"))
    assert stops[:7] == [
        "tool-judge",
        "tool-result",
        "tool-found",
        "tool-group",
        "tool-sort",
        "reset",
        "q-q1",
    ]
    tab.page.locator(".question > summary").first.focus()
    tab.page.keyboard.press("ArrowDown")
    assert tab.run("document.activeElement.parentElement.id") == "q-q2"
    outline = tab.run("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    tab.page.keyboard.press("Enter")
    tab.page.wait_for_selector("[id='q-q2'] .opened")
    tab.page.keyboard.press("Space")
    assert tab.run("document.getElementById('q-q2').open") is False
    tab.page.keyboard.press("ArrowUp")
    assert tab.run("document.activeElement.parentElement.id") == "q-q1"


def test_enlarged_nothing_is_cut_off_at_the_side(write_run: WriteRun, full: RunSummary, tab: Tab) -> None:
    folder = write_run(summary=full)
    keep_calls(folder, ("q1", "correctness", exchange("x" * 300, told="y" * 300)))
    tab.open(write_report(folder), "#q-q1")
    tab.run("document.querySelectorAll('details').forEach((node) => { node.open = true; })")
    tab.page.locator(".call").wait_for()
    for width in (640, 320):  # 1280 pixels at 200 % and at 400 %
        tab.page.set_viewport_size({"width": width, "height": 500})
        assert tab.run(PLOTS) == 4
        assert tab.run("document.documentElement.scrollWidth") == width


def test_enlarged_the_tables_of_blame_need_no_scrolling(write_run: WriteRun, tab: Tab) -> None:
    folder = write_run()
    keep_causes(folder, *CAUSED, systems=[SYSTEM])
    tab.open(write_report(folder))
    said = "[...document.querySelectorAll('[aria-labelledby=blame] .scroll')].filter((one) => {0})"
    names = said + ".map((one) => one.ariaLabel)"
    cut = "/^(Shares|Causes) of|^Found/.test(one.ariaLabel) && one.scrollWidth > one.clientWidth"
    interval = tab.page.locator(".blame td", has_text="8.0 to 28.0 % of 50")
    for width in (640, 400, 320):
        tab.page.set_viewport_size({"width": width, "height": 500})
        assert len(tab.run(names.format("/^(Shares|Causes) of|^Found/.test(one.ariaLabel)"))) == 3
        assert tab.run(names.format(cut)) == []
        box = interval.bounding_box()
        assert box
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
        bars = tab.run("[...document.querySelectorAll('.blame svg')].map((one) => one.clientWidth)")
        assert min(bars) > 50
        assert tab.run("document.documentElement.scrollWidth") == width


def test_a_sentence_without_support_is_marked_in_the_answer_with_the_reason(
    write_run: WriteRun, tab: Tab
) -> None:
    zebras = "Zebras in the town dance all night and then they\nsleep all day."
    said = f"Rust is treated with fungicide [1]. <b>It</b> is cheap.\n\n{zebras} Sow in October."
    contexts = [Context(text="Rust is treated with fungicide. Sow in October.")]
    row = Answer(question_id="q1", system="rag", question="?", answer=said, contexts=contexts)
    rows = ragstone.judge([row], judges=["grounding", "citations"])
    tab.open(write_report(write_run(answers=[row], judgements=rows, summary=summary_of(rows))), "#q-q1")
    marked = "[...document.querySelectorAll('.split mark')].map((one) => [one.textContent, one.title])"
    # Three sentences cite nothing, which says nothing of whether a context supports them.
    assert tab.run(marked) == [
        ["<b>It</b> is cheap.", "grounding: not in the contexts: cheap, b, it"],
        [zebras, "grounding: not in the contexts: zebras, dance, sleep, night, town"],
    ]
    button = tab.page.locator(".split .lacking").last
    assert button.aria_snapshot() == '- button "not supported"'
    button.focus()
    said = tab.run("getComputedStyle(document.activeElement, '::after').content")
    assert said == '" (grounding: not in the contexts: zebras, dance, sleep, night, town)"'
    assert tab.axe() == []
    button.press("Enter")
    assert tab.run("document.activeElement.textContent").startswith("Not supported: Zebras in the town")
    assert tab.complaints == []


def test_where_a_model_gives_verdicts_those_by_words_mark_nothing_in_the_answer(
    write_run: WriteRun, tab: Tab
) -> None:
    words = [Verdict(id=1, statement="With fungicide.", supported=False)]
    reference = [Verdict(id=1, statement="With fungicide.", supported=False, of="reference")]
    asked = [Verdict(id=1, statement="Rust is treated with fungicide.", supported=True)]
    rows = [
        judgement("q1", "grounding", 0, model="none", verdicts=words),
        judgement("q1", "claims", 0, verdicts=reference),
        judgement("q1", "faithfulness", 1, verdicts=asked),
    ]
    tab.open(write_report(write_run(judgements=rows, summary=summary_of(rows))), "#q-q1")
    assert tab.page.locator(".judged .unsupported").count() == 2
    assert tab.page.locator(".split mark").count() == 0


def test_axe_finds_nothing_to_complain_of(write_run: WriteRun, full: RunSummary, tab: Tab) -> None:
    folder = write_run(summary=full)
    keep_calls(folder, ("q1", "correctness", exchange("{}")))
    keep_causes(
        folder,
        Caused(
            question_id="q1", system="rag", cause="invented", component="model + prompt", because="It is."
        ),
    )
    tab.open(write_report(folder), "#q-q1")
    tab.run("document.querySelectorAll('details').forEach((node) => { node.open = true; })")
    tab.page.locator(".call").wait_for()
    assert tab.findings(1280) == []


def evil_rows(text: str) -> dict[str, object]:
    """Return what evil_everywhere does, and rankings, evidence and languages with the same text."""
    given = evil_everywhere(text)
    question = Question(
        id=text,
        question=text,
        reference=[text, "x" + text],
        document_ids=[text],
        evidence=[Evidence(document_id=text, start=0, end=len(text))],
        lang=text,
        tags={text: text},
    )
    items = [RankingItem(document_id=text, chunk_id=text, score=1.0, text=text)]
    return {
        **given,
        "questions": [question],
        "rankings": [Ranking(question_id=text, retriever=text, items=items)],
        "documents": [Document(id=text, title=text, text=text, lang=text, source=text)],
    }


def evil_summary(text: str, rows: list[Judgement], base: RunSummary) -> RunSummary:
    """Return a summary in which every chart and table holds the text."""
    many = [judgement(f"{n}", text, n % 2, system=f"{n % 2}{text}") for n in range(40)]
    many += [judgement(f"{n}", text, (n + 1) % 2, system=f"{(n + 1) % 2}{text}") for n in range(40)]
    tagged = [Question(id=f"{n}", question="?", tags={text: f"{n % 2}{text}"}) for n in range(40)]
    grouped = [judgement(f"{n}", text, n % 2, system=text, model=text) for n in range(40)]
    metrics = summary_of(rows + many).metrics
    ours = msgspec.structs.replace(card(better=True), judge=text, metric=text, model=text)
    constant = msgspec.structs.replace(ours.constant, name=text) if ours.constant else None
    return msgspec.structs.replace(
        base,
        metrics=summary_of(rows).metrics,
        cards=[msgspec.structs.replace(ours, constant=constant, verdict=text, notes=[text])],
        distributions=distributions(many),
        by_tag=means_by_tag(grouped, tagged),
        systems=rank_systems(metrics[-1], many),
    )


@pytest.mark.parametrize("text", EVIL)
def test_text_from_outside_runs_nothing_in_any_row_chart_prompt_or_cause(
    write_run: WriteRun, tab: Tab, text: str
) -> None:
    given = evil_rows(text)
    base, rows = given["summary"], given["judgements"]
    assert isinstance(base, RunSummary)
    assert isinstance(rows, list)
    folder = write_run(**{**given, "summary": evil_summary(text, rows, base)})
    keep_calls(folder, (text, text, exchange(text, text, told=text, asked=text)))
    keep_causes(
        folder,
        Caused(question_id=text, system=text, cause="invented", component="retriever", because=text),
    )
    tab.open(write_report(folder))
    tab.run("document.querySelectorAll('details').forEach((node) => { node.open = true; })")
    tab.page.wait_for_selector(".opened")
    tab.run("document.querySelectorAll('details').forEach((node) => { node.open = true; })")
    tab.page.wait_for_selector(".call")
    assert tab.run(PLOTS) >= 3
    assert tab.page.locator(".call pre").first.inner_text() == text.strip() or "\u2028" in text
    assert tab.run(
        "window.pwned === undefined && !document.querySelector('img, #list script, svg a, svg script')"
    )
    assert (tab.complaints, tab.requests) == ([], [])


def test_a_page_whose_rows_are_compressed_is_searched_and_opened_alike(
    write_run: WriteRun, tab: Tab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(joining, "PLAIN_BYTES", 0)
    folder = write_run()
    keep_calls(folder, ("q1", "correctness", exchange("{}")))
    tab.open(write_report(folder))
    assert tab.run("document.getElementById('details-0').type") == "text/plain"
    tab.page.fill("#tool-search", "fungicide")
    tab.until(SHOWN, "1 of 4 questions")
    open_first(tab)
    assert "With fungicide." in tab.page.locator(".opened").inner_text()
    assert (tab.complaints, tab.requests) == ([], [])


def test_a_page_without_a_chart_carries_nothing_that_draws(write_run: WriteRun) -> None:
    rows = [judgement("q1", "correctness", 1)]
    nothing = dict.fromkeys(("documents", "questions", "rankings", "answers"))
    page = write_report(write_run(judgements=rows, summary=summary_of(rows), **nothing)).read_text()
    assert len(page) < 70_000  # the libraries that draw have ten times as many
    assert not re.search("data-library|vega", page)
