"""What a look at a log has done is told in lines."""

from ragstone.features.watch._cells import Overview
from ragstone.features.watch._lines import judged_line, read_lines
from ragstone.features.watch._reading import ReadCounts
from ragstone.features.watch.look import WatchSummary
from ragstone.kernel.runs.summary import Calls


def test_what_was_judged_is_told(says):
    overview = Overview(
        n_exchanges=4, first=None, last=None, n_sampled=4, n_judged=2, n_feedback=0, without_time=0,
        in_future=0, metrics=[],
    )  # fmt: skip
    summary = WatchSummary(
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
    says(judged_line(summary))


def test_what_was_read_is_told(says):
    read = ReadCounts(
        rows=9, new=3, again=1, feedback=2, malformed=1, shown=["a:1: broken"], without_question=2,
        without_time=1, unread_feedback=1, anew=["a"],
    )  # fmt: skip
    says("\n".join(read_lines(read)))
