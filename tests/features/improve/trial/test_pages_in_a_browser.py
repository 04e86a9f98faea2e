"""The playground in a real browser: edit, see the cost, try, read both sides, keep."""

import pytest
from tests.support.browser import opened_tab
from tests.support.served_workbench import served
from tests.support.tried_run import tried_run

pytestmark = pytest.mark.browser


def test_a_prompt_is_edited_tried_and_kept(tmp_path, fake_openai):
    settings = tried_run(tmp_path, fake_openai)
    with served(settings) as address, opened_tab(loopback=True) as tab:
        page = tab.page
        tab.visit(f"{address}/workbench/runs/0/mine")
        page.click("a:has-text('Try a prompt')")
        prompt = page.get_by_label("Prompt", exact=True)
        prompt.fill(prompt.input_value().replace("Be short", "Always shout. Be short"))
        page.click("#prompt summary")
        page.wait_for_selector("#prompts pre:has-text('Always shout')")
        page.uncheck("[name=rows][value=sea]")
        asked = fake_openai.n_requests
        page.click("#run")
        page.wait_for_selector("text=Run: spend this")
        assert "about 4 calls" in page.inner_text("#forecast")
        assert fake_openai.n_requests == asked
        page.click("#run")
        page.wait_for_url("**/try/answer-prompt?trial=1#found")
        table = page.locator("section table").nth(1).inner_text()
        assert "How is the sun?" in table
        assert "containment +1.00" in table
        assert "How is the sea?" not in table
        assert page.is_checked("[value=sun]")
        assert not page.is_checked("[value=sea]")
        assert fake_openai.n_requests == asked + 4
        page.fill("#keep input", "louder")
        page.click("#keep button")
        page.wait_for_selector("text=Kept as prompts/my_strict@v1.toml")
        assert tab.complaints == []
    assert "Always shout" in (tmp_path / "prompts" / "my_strict@v1.toml").read_text()
