"""What the terminal shows of a look: alarms, means with their denominators, and how much there is."""

import datetime

import msgspec
import pytest
from rich.console import Console

from ragstone.config import MonitorSection
from ragstone.monitor.judged import StoredScore
from ragstone.monitor.logged import Reader
from ragstone.monitor.look import WatchSummary
from ragstone.monitor.reading import ReadCounts
from ragstone.monitor.store import MonitorStore
from ragstone.monitor.terminal import held_lines, judged_line, read_lines, terminal_watched
from ragstone.report.summary import Calls

FIRST = datetime.date(2026, 1, 1)


@pytest.fixture
def summary(tmp_path):
    section = MonitorSection()
    reader = Reader(section, b"key")
    times = ["2026-01-01", "2026-01-01", "2026-01-02", None]
    rows = [reader.read({"id": f"x{n}", "question": "Why?", "time": when}) for n, when in enumerate(times)]
    with MonitorStore(tmp_path, key=b"key") as store:
        store.declare(section)
        store.add(store.adder(section), rows)

        def score(model, **more):
            return StoredScore(judge="good", version=1, model=model, metric="good", **more)

        store.keep(
            [
                (1, score("a", status="scored", score=1.0)),
                (2, score("a", status="timeout")),
                (3, score("b", status="scored", score=0.0)),
            ],
            best={},
        )
        overview = store.overview()
    return WatchSummary(
        store="s",
        read=ReadCounts(),
        judged=2,
        given=0,
        unplaced=0,
        left=1,
        cut_off=True,
        overview=overview,
        calls=Calls(made=1),
        alarms=[],
        canaries=True,
    )


def shown(summary):
    console = Console(width=100, record=True)
    with console.capture() as captured:
        console.print(terminal_watched(summary))
    return captured.get()


def test_means_stand_beside_their_denominators_and_the_judges_that_differ(summary):
    lines = [line.split() for line in shown(summary).splitlines()]
    # Wilson of 1 of 1: 1 / (1 + 1.96²) = 0.207 to 1; of 0 of 1 the mirror image.
    assert ["good", "(good", "1", "a)", "1.000", "0.207", "to", "1.000", "1", "1", "timed", "out"] in lines
    assert ["good", "(good", "1", "b)", "0.000", "0.000", "to", "0.793", "1"] in lines


def test_how_much_there_is_is_told(summary):
    assert held_lines(summary) == [
        "4 exchanges, 2026-01-01 to 2026-01-02; 4 in the sample, 0 judged by all judges, 1 left.",
        "1 exchange without a time: in no trend and no mean here.",
    ]


def test_exchanges_with_a_time_in_the_future_are_told(summary):
    late = msgspec.structs.replace(summary.overview, in_future=2)
    assert held_lines(msgspec.structs.replace(summary, overview=late))[-1] == (
        "2 exchanges with a time in the future: in no trend and no mean."
    )


def test_what_was_judged_is_told(summary):
    assert judged_line(summary) == (
        "2 exchanges judged now, 1 call; canaries judged again; the budget of the day is spent: the rest is "
        "judged on a later day."
    )


def test_what_was_read_is_told():
    read = ReadCounts(
        rows=9, new=3, again=1, feedback=2, malformed=1, shown=["a:1: broken"], without_question=2,
        without_time=1, unread_feedback=1, anew=["a"],
    )  # fmt: skip
    assert read_lines(read) == [
        "9 rows read: 3 new, 1 known already, 2 of feedback.",
        "2 rows without a question, left out.",
        "1 row without a time under a name that is known.",
        "The feedback of 1 row is not on its scale, feedback_scale of [monitor].",
        "a: replaced or cut off since the last time; read anew.",
        "1 row cannot be read, the first of them:",
        "  a:1: broken",
    ]
