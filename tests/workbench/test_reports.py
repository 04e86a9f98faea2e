"""Reports of whole runs are made one at a time, and once while the files are the same."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from litestar.exceptions import ServiceUnavailableException

from ragstone.workbench.reports import MOST_WAITING, Reports


def test_those_who_ask_at_once_get_one_report_that_is_made_once(tmp_path):
    made = []

    def make(folder):
        time.sleep(0.05)
        made.append(folder)
        return f"report {len(made)}"

    reports = Reports()
    (tmp_path / "judgements.jsonl").write_text("{}")
    with ThreadPoolExecutor(MOST_WAITING) as pool:
        asked = [pool.submit(reports.html_of, tmp_path, make) for _ in range(MOST_WAITING)]
        assert {one.result() for one in asked} == {"report 1"}
    (tmp_path / "judgements.jsonl").write_text("{}{}")
    assert reports.html_of(tmp_path, make) == "report 2"


def test_a_report_that_cannot_be_made_is_tried_again(tmp_path):
    reports = Reports()
    with pytest.raises(ZeroDivisionError):
        reports.html_of(tmp_path, lambda _: str(1 / 0))
    assert reports.html_of(tmp_path, lambda _: "made") == "made"


def test_too_many_who_wait_are_told_to_come_back(tmp_path):
    reports, go = Reports(), threading.Event()

    def make(_):
        go.wait(60)
        return "made"

    with ThreadPoolExecutor(MOST_WAITING) as pool:
        asked = [pool.submit(reports.html_of, tmp_path, make) for _ in range(MOST_WAITING)]
        while reports._waiting._value:
            time.sleep(0.01)
        with pytest.raises(ServiceUnavailableException) as told:
            reports.html_of(tmp_path, make)
        go.set()
        assert told.value.headers == {"Retry-After": "30"}
        assert {one.result() for one in asked} == {"made"}
