"""The page of a judge in a real browser: edit the prompt, run, see the change, freeze, look twice."""

import pytest
from tests.support.browser import opened_tab
from tests.support.golden import sentence_in
from tests.support.judged_drafts import project
from tests.support.served_workbench import served

pytestmark = pytest.mark.browser


@pytest.fixture
def settings(tmp_path, fake_openai):
    return project(tmp_path, fake_openai)


def run(page, number):
    """Press run twice: the first press shows what it asks."""
    page.click("#run")
    page.wait_for_selector("text=Run: spend this")
    page.click("#run")
    page.wait_for_url(f"**/develop?draft={number}#found")


def freeze(page, words, version):
    page.fill("#freeze input", words)
    page.click("#freeze button")
    page.wait_for_selector(f"text=was frozen as version {version}")


def test_a_judge_is_edited_run_frozen_and_looked_at(settings, tmp_path):
    with served(settings) as address, opened_tab(loopback=True) as tab:
        page, own = tab.page, f"{address}/workbench/judges/mine"
        tab.visit(f"{own}/develop")
        run(page, 1)
        freeze(page, "as it came", 1)
        page.click("#as-text summary")
        page.fill("#text", page.input_value("#text").replace("lenient", "blind"))
        page.click("#prompt summary")
        page.wait_for_selector("#prompts pre:has-text('blind')")
        run(page, 2)
        changes = page.locator("article.change").all_inner_texts()
        assert "got worse" in changes[0]
        assert "right → wrong · people: right" in changes[0].replace("\n", " ")
        assert "got better" in changes[-1]
        assert "mine version 2 against mine version 1: cannot tell" in page.inner_text(".verdict >> nth=0")
        freeze(page, "blind", 2)
        for number in (1, 2):
            page.goto(f"{own}/test")
            page.click("#look button.main")
            assert page.url.endswith("/test")  # not before it is confirmed
            page.check("#look [name=sure]")
            page.click("#look button.main")
            page.wait_for_url("**/looks/*")
            assert f"Look {number} at this test part, of {number} so far" in page.inner_text("#count")
        assert tab.complaints == []
    assert "as it came" in (tmp_path / "judges" / "mine@v1.toml").read_text()


def test_typed_text_outlives_the_page_and_the_server(settings):
    with opened_tab(loopback=True) as tab:
        page = tab.page
        with served(settings) as address:
            tab.visit(f"{address}/workbench/judges/mine/develop")
            page.click("#as-text summary")
            page.fill("#text", page.input_value("#text").replace("lenient", "half a thought"))
            tab.until("localStorage.length", 1)
            page.goto(f"{address}/workbench/judges/mine/develop")
            assert "half a thought" in page.input_value("#text")
            assert page.is_visible("#restored")
            page.click("#discard")
            assert "lenient" in page.input_value("#text")
            page.click("#as-text summary")
            page.fill("#text", page.input_value("#text").replace("kind ", "kidn "))
            page.wait_for_selector("#problem:has-text('mine.toml:5: unknown key')")
            assert page.inner_text("#numbers b") == "5"
            page.fill("#text", "kept")
        assert tab.complaints == []
        page.click("#run")
        page.wait_for_selector("#said:visible")  # the server is away
        assert page.input_value("#text") == "kept"
        tab.until("JSON.parse(Object.values(localStorage)[0]).text", "kept")


def test_the_pages_fit_a_phone_and_need_no_mouse(settings):
    phone = {"viewport": {"width": 360, "height": 740}}
    with served(settings) as address, opened_tab(loopback=True, **phone) as tab:
        page = tab.page
        tab.visit(f"{address}/workbench/judges/mine/develop")
        page.focus("#as-text summary")
        page.keyboard.press("Enter")
        page.focus("#text")
        page.keyboard.press("Control+Enter")
        page.wait_for_selector("text=Run: spend this")
        page.keyboard.press("Control+Enter")
        page.wait_for_url("**/develop?draft=1#found")
        freeze(page, "first", 1)
        page.goto(f"{address}/workbench/judges/mine/test")
        page.focus("#look [name=sure]")
        page.keyboard.press("Space")
        page.keyboard.press("Enter")
        page.wait_for_url("**/looks/1")
        assert tab.complaints == []
        for path in ("develop?draft=1", "test", "looks/1"):
            page.goto(f"{address}/workbench/judges/mine/{path}")
            assert tab.run("document.documentElement.scrollWidth") == 360
            tab.run("document.querySelectorAll('details').forEach((node) => { node.open = true; })")
            assert tab.axe() == []


def test_a_judge_learns_after_its_forecast_was_on_the_screen(settings):
    phone = {"viewport": {"width": 360, "height": 740}}
    with served(settings) as address, opened_tab(loopback=True, **phone) as tab:
        page = tab.page
        tab.visit(f"{address}/workbench/judges/mine/develop")
        for method in ("cascade", "examples", "prompt"):
            page.uncheck(f"#learn [value={method}]")
        page.click("#learn button.main")
        page.wait_for_selector("text=Learn: spend this")
        page.click("#learn button.main")
        page.wait_for_selector("[aria-labelledby=learned] table")
        assert "calibrated" in page.inner_text("[aria-labelledby=learned]")
        assert tab.run("document.documentElement.scrollWidth") == 360
        assert tab.complaints == []
        assert tab.axe() == []


def test_a_judge_is_begun_and_written_in_fields(settings, tmp_path, says):
    phone = {"viewport": {"width": 360, "height": 740}}
    with served(settings) as address, opened_tab(loopback=True, **phone) as tab:
        page = tab.page
        tab.visit(f"{address}/workbench/judges")
        page.click("a:has-text('Write a judge')")
        assert tab.findings() == []
        page.fill("#name", "No name")
        page.check("[value=classify]")
        page.click("button:has-text('Begin')")
        says(page.inner_text("#wrong"))
        assert page.is_checked("[value=classify]")
        page.fill("#name", "fair")
        page.keyboard.press("Enter")
        page.wait_for_selector("#fields .variables")
        prompt = page.get_by_label("Prompt", exact=True)
        typed = "Is {anwser} friendly, dry or rude? Think of this: "
        prompt.fill(typed)
        page.wait_for_selector(".unknown:has-text('{anwser} is not a name')")
        assert page.get_attribute("[data-variable=answer]", "aria-pressed") == "false"
        page.wait_for_selector(".wrong:has-text('inputs does not declare')")  # in the words of the loader
        assert prompt.get_attribute("aria-invalid") == "true"
        assert tab.findings() == []
        page.click("button:has-text('Write {answer}')")
        prompt.press("Control+End")
        page.click("[data-variable=answer]")
        assert prompt.input_value() == typed.replace("{anwser}", "{answer}") + "{answer}"
        page.get_by_label("What it measures").fill("Whether the answer is friendly.")
        page.get_by_label("Add a label: its name").fill("warm")
        page.click("button:has-text('Add a label')")
        page.get_by_label("warm", exact=True).fill("0,75")
        page.click("#prompt summary")
        page.wait_for_selector("#prompts pre:has-text('Think of this: <answer>')")
        page.click("#as-text summary")
        text = "document.getElementById('text').value"
        tab.until(f"{text}.includes('warm = 0.75') && {text}.includes('friendly.\"')", True)
        says(sentence_in(page.input_value("#text"), "# of question"))  # a comment of the file
        page.fill("#keep input", "a first wording")
        page.click("#keep button")
        page.wait_for_selector("text=Kept as version 1")
        assert tab.findings() == []
        page.goto(f"{address}/workbench/judges?text=friendly")
        page.wait_for_selector("text=Whether the answer is friendly.")
        assert [told for told in tab.complaints if "422" not in told] == []
    kept = (tmp_path / "judges" / "fair@v1.toml").read_text()
    assert kept == (tmp_path / "judges" / "fair.toml").read_text()
    says(sentence_in(kept, "# label ="))
