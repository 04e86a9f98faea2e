"""A run whose index takes a while shows its first rows meanwhile, and gets its filters without a reload."""

import threading

import pytest
from tests.support.browser import opened_tab
from tests.support.served_workbench import served
from tests.workbench.test_run_pages import write

from ragstone.kernel.config import load_settings
from ragstone.kernel.errors import DataError
from ragstone.kernel.serve.rows import indexes, indexing

SHOWN = "document.getElementById('shown').textContent"
FOCUSED = "document.activeElement.closest('details')?.id"


@pytest.fixture
def held_back(monkeypatch):
    """The index of any run is made once this is set; half of it has been read until then."""
    go = threading.Event()
    make = indexing.make_index

    def slow(files, target):
        yield indexing.HowFar(50, 100)
        go.wait(60)
        yield from make(files, target)

    monkeypatch.setattr(indexes, "make_index", slow)
    yield go
    go.set()


@pytest.fixture
def large(monkeypatch):
    monkeypatch.setattr(indexes._IndexTask, "is_large", lambda _task: True)
    monkeypatch.setattr(indexes._IndexTask, "_made_beside", lambda _task: False)


@pytest.mark.browser
def test_first_rows_are_shown_and_filters_come_without_a_reload(project, held_back, large):
    write(project / "runs" / "wheat")
    with served(load_settings(project / "ragstone.toml")) as address, opened_tab(loopback=True) as tab:
        tab.visit(f"{address}/workbench/runs/0/wheat")
        said = (
            "The first 4 questions, with the scores read so far. Filters, counts and all rows follow in about"
        )
        tab.until(f"{SHOWN}.startsWith({said!r})", value=True)
        assert tab.run("document.querySelectorAll('#list > li').length") == 4
        assert tab.run("document.querySelector('#list .chip b').textContent")
        for name in ("tools", "where-help", "reset"):
            assert tab.run(f"document.getElementById('{name}').hidden")
        assert tab.run("document.getElementById('list').getAttribute('aria-busy')") == "true"
        assert tab.axe() == []
        tab.page.focus("#list li:nth-child(2) summary")
        tab.page.keyboard.press("Enter")  # it opens once its rows can be found
        second = tab.run(FOCUSED)
        held_back.set()
        tab.until(SHOWN, "4 questions")
        for name in ("tools", "where-help", "reset"):
            assert not tab.run(f"document.getElementById('{name}').hidden")
        assert not tab.run("document.getElementById('list').hasAttribute('aria-busy')")
        tab.until("document.querySelectorAll('#list details[open] .opened').length", 1)
        assert tab.run(FOCUSED) == second
        tab.page.fill("#tool-where", "correctness < 0.5")
        tab.until(f"{SHOWN}.endsWith(' of 4 questions')", value=True)


@pytest.mark.browser
def test_a_question_that_is_opened_while_the_rows_are_on_their_way_stays_open(project, held_back, large):
    write(project / "runs" / "wheat")
    with served(load_settings(project / "ragstone.toml")) as address, opened_tab(loopback=True) as tab:
        on_their_way = []
        tab.page.route("**/wheat/rows?*", lambda route: on_their_way.append(route))
        tab.visit(f"{address}/workbench/runs/0/wheat")
        tab.until("document.querySelectorAll('#list > li').length", 4)
        with tab.page.expect_request("**/wheat/rows?*"):
            held_back.set()
        tab.page.focus("#list li:nth-child(2) summary")
        tab.page.keyboard.press("Enter")
        second = tab.run(FOCUSED)
        on_their_way[0].continue_()
        tab.until(SHOWN, "4 questions")
        tab.until("document.querySelectorAll('#list details[open] .opened').length", 1)
        assert tab.run(FOCUSED) == second


@pytest.mark.browser
def test_rows_that_the_address_does_not_ask_for_are_not_shown_meanwhile(project, held_back, large):
    write(project / "runs" / "wheat")
    with served(load_settings(project / "ragstone.toml")) as address, opened_tab(loopback=True) as tab:
        tab.visit(f"{address}/workbench/runs/0/wheat?where=correctness+%3C+0.5")
        tab.until(f"{SHOWN}.startsWith('The run is being indexed. Its rows appear in')", value=True)
        assert tab.run("document.querySelectorAll('#list > li').length") == 0
        held_back.set()
        tab.until(f"{SHOWN}.endsWith(' of 4 questions')", value=True)


@pytest.mark.browser
def test_an_index_that_cannot_be_made_is_explained(project, monkeypatch):
    def broken(files, target):
        yield indexing.HowFar(50, 100)
        raise DataError("answers.jsonl:7: not a row (it ends). Restore the file, or repeat the run.")

    monkeypatch.setattr(indexes, "make_index", broken)
    write(project / "runs" / "wheat")
    with served(load_settings(project / "ragstone.toml")) as address, opened_tab(loopback=True) as tab:
        tab.visit(f"{address}/workbench/runs/0/wheat")
        wrong = "document.getElementById('rows-wrong').textContent"
        tab.until(f"{wrong}.includes('answers.jsonl:7: not a row')", value=True)


def test_the_page_of_a_run_waits_for_no_index(project, held_back, large, client):
    write(project / "runs" / "wheat")
    run = "/workbench/runs/0/wheat"
    assert client.get(run).status_code == 200
    while not client.get(f"{run}/first?shown=true").json()["making"]["share"]:
        pass
    first = client.get(f"{run}/first").json()
    assert first["making"]["share"] == pytest.approx(0.4)
    assert first["making"]["remaining_s"] > 0
    assert [line["id"] for line in first["lines"]] == ["q1", "q2", "q3", "q4 & 5"]
    assert all("found" not in line and "causes" not in line for line in first["lines"])
    assert client.get(f"{run}/first?shown=true").json()["lines"] == []
    held_back.set()
    rows = client.get(f"{run}/rows").json()
    assert [line["question"] for line in rows["lines"]] == [line["question"] for line in first["lines"]]
    assert [line["cells"] for line in rows["lines"]] == [line["cells"] for line in first["lines"]]
    assert client.get(f"{run}/first").json() == {"making": None, "columns": [], "lines": []}
