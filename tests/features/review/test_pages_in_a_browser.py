"""A reviewer at work: by keys, with words marked in a document, over a server that is killed."""

import contextlib
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from tests.features.review.rows import DOCUMENTS, MAIS, QUESTIONS, RUST
from tests.support.browser import Tab, opened_tab
from tests.support.review_sets import write_set
from tests.support.served_workbench import served as served_here

from ragstone.features.review.applying import apply_review
from ragstone.features.review.decisions import log_path, read_decisions
from ragstone.kernel.config import Settings

SERVER = """
import sys, uvicorn
from ragstone.kernel.config import Settings
from ragstone.workbench.app import create_workbench
app = create_workbench(Settings(root=sys.argv[1]))
uvicorn.run(app, fd=int(sys.argv[2]), log_level="error")
"""
pytestmark = pytest.mark.browser


@contextlib.contextmanager
def served(folder: Path, listening: socket.socket) -> Iterator[subprocess.Popen[bytes]]:
    """Serve a project in a process of its own, which a test may kill."""
    command = [sys.executable, "-W", "ignore", "-c", SERVER, str(folder), str(listening.fileno())]
    process = subprocess.Popen(command, pass_fds=[listening.fileno()])
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def by_going_on(tab: Tab, *keys: str) -> None:
    """Press keys, and wait for the page that follows."""
    before = tab.page.url
    for key in keys:
        tab.page.keyboard.press(key)
    tab.page.wait_for_url(lambda url: url != before)
    tab.page.wait_for_load_state()


def marks(tab: Tab) -> list[str]:
    return tab.run("[...document.querySelectorAll('.words mark')].map((one) => one.textContent)")


def select(tab: Tab, words: str) -> None:
    """Mark words in the document, as a mouse does."""
    tab.run(
        f"""(() => {{
            const text = document.querySelector(".words"), wanted = {words!r};
            const walker = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
            for (let node = walker.nextNode(); node; node = walker.nextNode()) {{
                const at = node.data.indexOf(wanted);
                if (at < 0) continue;
                const range = document.createRange();
                range.setStart(node, at);
                range.setEnd(node, at + wanted.length);
                getSelection().removeAllRanges();
                getSelection().addRange(range);
                return;
            }}
        }})()"""
    )


@pytest.mark.kill
def test_a_review_by_keys_outlives_a_server_that_is_killed(tmp_path):
    path = write_set(tmp_path / "questions")
    with socket.create_server(("127.0.0.1", 0)) as listening, opened_tab(loopback=True) as tab:
        address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        with served(tmp_path, listening) as process:
            tab.page.goto(f"{address}/workbench/review")
            tab.page.click(".entry a")
            tab.page.click("text=Start")
            tab.page.wait_for_url("**/question?**")
            assert tab.axe() == []
            assert marks(tab) == ["treated with fungicide"]
            # Evidence: behind a character that is two units in the browser, one here.
            tab.page.keyboard.press("e")
            select(tab, "fungicide")
            tab.page.keyboard.press("Escape")  # out of the text, whose keys are letters
            tab.page.keyboard.press("m")
            tab.until("document.querySelectorAll('#edit-evidence q').length", 2)
            tab.page.click("text=Remove >> nth=0")
            tab.until("document.querySelector('#edit-evidence').textContent.includes('treated')", False)
            tab.until(
                "[...document.querySelectorAll('.words mark')].map((one) => one.textContent).join()",
                "fungicide",
            )
            assert tab.axe() == []
            before = tab.page.url
            tab.page.click("text=Save and accept")
            tab.page.wait_for_url(lambda url: url != before)
            # The next one was lost in the build: accepted all the same.
            tab.page.wait_for_selector("text=Lost in the build")
            by_going_on(tab, "a")
            by_going_on(tab, "r", "7", "Enter")
            process.send_signal(signal.SIGKILL)
            process.wait()
        rows = apply_review(QUESTIONS, read_decisions(log_path(path)), DOCUMENTS)
        assert [one.id for one in rows] == ["d1#1", "d1#2"]
        (there,) = rows[0].evidence
        assert RUST[there.start : there.end] == "fungicide"
        with served_here(Settings(root=str(tmp_path))) as address:
            tab.page.goto(f"{address}/workbench/review")
            tab.page.click(".entry a")
            tab.page.wait_for_selector("text=3 of 3 questions decided")
            assert tab.page.inner_text(".progress p").endswith("1 accepted · 1 edited · 1 rejected")
            assert tab.axe() == []
            tab.page.click(f"text={QUESTIONS[2].question}")
            tab.page.wait_for_selector("text=the language is wrong or broken")
            tab.page.wait_for_load_state("load")  # its keys
            tab.page.keyboard.press("u")
            tab.page.wait_for_selector("text=2 of 3 questions decided")
    assert [one.decision for one in read_decisions(log_path(path))] == ["edit", "accept", "reject", "undo"]


def test_on_a_phone_what_was_typed_stays_when_the_server_is_gone_or_another_was_first(tmp_path):
    evil = "<img src=x onerror=document.title='bad'>"
    first = msgspec.structs.replace(QUESTIONS[2], question=evil, tags={evil: evil})
    path = write_set(tmp_path / "questions", [first])
    phone = {"viewport": {"width": 360, "height": 740}, "color_scheme": "dark"}
    with opened_tab(loopback=True, **phone) as tab, served_here(Settings(root=str(tmp_path))) as address:
        tab.page.goto(f"{address}/workbench/review")
        tab.page.click(".entry a")
        tab.page.click("text=Start")
        tab.page.wait_for_url("**/question?**")
        question = tab.page.url
        tab.page.keyboard.press("e")
        tab.page.fill("#edit-question", "मक्का कब?")
        assert tab.axe() == []
        assert tab.run("document.documentElement.scrollWidth") == 360
        assert tab.page.title().startswith(evil)
        select(tab, MAIS[:5])
        tab.page.click("text=Use the marked words")
        tab.until("document.querySelectorAll('#edit-evidence q').length", 2)
        tab.page.context.set_offline(True)
        tab.page.click("text=Save and accept")
        tab.page.wait_for_selector("text=The server does not answer")
        tab.page.context.set_offline(False)
        tab.page.goto(question)
        tab.page.wait_for_selector("text=You typed this earlier")
        assert tab.page.input_value("#edit-question") == "मक्का कब?"
        tab.until("document.querySelectorAll('#edit-evidence q').length", 2)
        # Another person was first.
        other = {"id": "another-one", "question_id": "d2#1", "decision": "accept", "stands": ""}
        tab.run(f"post('{question.partition('/question')[0]}/decide', {msgspec.json.encode(other).decode()})")
        tab.page.click("text=Save and accept")
        tab.page.wait_for_selector("text=has since accepted this question")
        assert tab.axe() == []
        assert len(read_decisions(log_path(path))) == 1
        before = tab.page.url
        tab.page.click("text=Decide anyway")
        tab.page.wait_for_url(lambda url: url != before)
    assert [one.decision for one in read_decisions(log_path(path))] == ["accept", "edit"]
