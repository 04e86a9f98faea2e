"""Accounts in a real browser: invited, logged in, a reader who tries to write, a session that ends."""

from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from tests.support.browser import opened_tab
from tests.support.in_thread import app_in_thread
from tests.support.workbench import PASSWORD, Clock, create_workbench

from ragstone.kernel.config import ServeSection, Settings
from ragstone.workbench.accounts import Accounts
from ragstone.workbench.app import side_by_side

pytestmark = pytest.mark.browser

PHONE = {"width": 360, "height": 800}
FORGED = """(path) => fetch(path, { method: "POST", body: JSON.stringify({ role: "owner" }), headers: {
  "Content-Type": "application/json", "X-CSRF-Token": document.querySelector("meta[name=csrf]").content } })
  .then(async (reply) => [reply.status, (await reply.json()).detail])"""


def serving(folder: Path, clock: Clock) -> AbstractContextManager[str]:
    """Give the address of a workbench with accounts, in a thread of this process."""
    serve = ServeSection(host="127.0.0.1", public_url="http://127.0.0.1")
    return app_in_thread(side_by_side(create_workbench(Settings(serve=serve, root=str(folder)), clock), None))


def fill_in(page, **fields: str) -> None:
    for name, value in fields.items():
        page.fill(f"input[name={name}]", value)


def test_invited_logged_in_refused_and_logged_out(tmp_path):
    clock = Clock()
    accounts = Accounts(tmp_path / ".ragstone" / "workbench", 12, clock)
    with serving(tmp_path, clock) as address, opened_tab(loopback=True, viewport=PHONE) as tab:
        page = tab.page
        tab.visit(f"{address}/workbench/invite/{accounts.invite_first('the terminal')}")
        assert tab.findings() == []
        fill_in(page, name="Anna", password=PASSWORD, again=PASSWORD)
        page.keyboard.press("Enter")
        page.get_by_role("link", name="People").click()
        page.get_by_label("reader", exact=False).check()
        page.get_by_role("button", name="Create a link").click()
        link = page.get_by_label("The link for").input_value()
        assert tab.findings() == []
        page.get_by_role("link", name="Audit log").click()
        assert tab.findings() == []
        page.get_by_role("link", name="Anna").click()
        assert tab.findings() == []
        page.get_by_role("button", name="Log out", exact=True).click()
        page.goto(address + link[link.index("/workbench/") :])
        fill_in(page, name="Ben", password=PASSWORD, again=PASSWORD)
        page.keyboard.press("Enter")
        page.get_by_role("link", name="Ben").wait_for()

        # A reader sees nothing to write with, and what a script of theirs sends is refused.
        assert page.get_by_role("link", name="People").count() == 0
        assert page.locator("form[method=post]").count() == 0
        assert page.evaluate(FORGED, "/workbench/people/invite") == [
            *(403, "Ben is a reader here and cannot change anything. An owner can change that."),
        ]

        # The session ends; the page says so to a script, and leads back here after the login.
        page.goto(f"{address}/workbench/account")
        clock.move(hours=12)
        status, told = page.evaluate(FORGED, "/workbench/account/password")
        assert (status, "Log in again" in told) == (401, True)
        page.reload()
        page.get_by_role("heading", name="Log in").wait_for()
        assert tab.findings() == []
        fill_in(page, name="Ben", password="not the password")
        page.keyboard.press("Enter")
        page.get_by_role("alert").wait_for()
        fill_in(page, password=PASSWORD)
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="Your account").wait_for()
        assert all(url.startswith(f"{address}/") for url in tab.requests)
        # What a browser itself notes of the answers above, and nothing of our pages.
        noted = (
            "Failed to load resource",
            "Autofocus processing was blocked",
        )  # a field had the focus already
        assert all(any(words in one for words in noted) for one in tab.complaints), tab.complaints
    accounts.close()
