"""Who asked, how long answers took and what they cost: counted over all exchanges, judged or not."""

import datetime
import sqlite3

import pytest

from ragstone.features.watch._document import monitor_document
from ragstone.features.watch._logged import ExchangeUsage, Reader
from ragstone.features.watch._use import read_use, use_words
from ragstone.features.watch.look import look_at
from ragstone.features.watch.store import FILE, MonitorStore
from ragstone.kernel.config import MonitorSection
from ragstone.kernel.document.markdown import render_markdown

DAY = datetime.date(2026, 1, 1)


def stored(folder, rows):
    reader = Reader(MonitorSection(), b"key")
    store = MonitorStore(folder, key=b"key")
    named = [{"id": f"x{at}", "question": "Why?", **row} for at, row in enumerate(rows)]
    store.add(store.adder(MonitorSection()), [reader.read(row) for row in named])
    return store


def use_of(folder, rows):
    with stored(folder, rows) as store:
        return read_use(store.connection, datetime.date(2027, 1, 1))


def test_users_and_conversations_are_different_ones_by_day_and_over_all_days(tmp_path):
    use = use_of(
        tmp_path,
        [
            {"time": "2026-01-01", "user_id": "a", "conversation_id": "1"},
            {"time": "2026-01-01", "user_id": "a", "conversation_id": "2"},
            {"time": "2026-01-02", "user_id": "a", "metadata": {"session_id": "3"}},
            {"time": "2026-01-02", "user_id": "b"},
            {"user_id": "c"},  # without a time it is in no day
        ],
    )
    assert [(one.day.day, one.n, one.users, one.conversations) for one in use.periods] == [
        (1, 2, 1, 2),
        (2, 2, 2, 1),
    ]
    # user a asked on both days and is one of two users, not of three
    assert (use.whole.day, use.whole.n, use.whole.users, use.whole.conversations) == (DAY, 4, 2, 3)


def test_users_and_conversations_that_some_rows_name_stand_beside_how_many_do(tmp_path, says):
    rows = [{"user_id": "a", "conversation_id": "1"}, {"user_id": "b"}, {"user_id": "b"}]
    use = use_of(tmp_path, [{"time": "2026-01-01"} | row for row in rows])
    assert (use.whole.n_user, use.whole.n_conversation) == (3, 1)
    says(dict(use_words(use.whole))["who asked"])


def test_latency_tokens_and_cost_stand_beside_how_many_tell_them(tmp_path, says):
    use = use_of(
        tmp_path,
        [
            {"time": "2026-01-01", "latency_s": 1.0, "usage": {"input": 80, "output": 20}, "cost_usd": 0.25},
            {"time": "2026-01-01", "latency_ms": 3000, "usage": {"total_tokens": 300}, "cost_usd": 0.5},
            {"time": "2026-01-01", "latency_s": -1, "cost_usd": "free"},
        ],
    )
    day = use.whole
    # of 1 and 3 seconds the median is 2, and 95 % of the way from 1 to 3 is 2.9
    assert (day.n_latency, day.latency_p50, day.latency_p95) == (2, 2.0, pytest.approx(2.9))
    assert (day.n_tokens, day.tokens, day.n_usd, day.usd) == (2, 200, 2, 0.75)
    says("\n".join(f"{name}: {text}" for name, text in use_words(day)))


@pytest.mark.parametrize(
    ("row", "tokens"),
    [
        ({"usage": {"prompt_tokens": 7, "completion_tokens": 3}}, 10),
        ({"usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}}, 10),
        ({"response": {"usage": {"input_tokens": 7, "output_tokens": 3}}}, 10),
        ({"input_tokens": 7}, 7),
        ({"input": 7, "output": 3}, None),  # columns of texts, for all that one knows
        ({"usage": "much"}, None),
        ({"total_tokens": 1e300}, None),
    ],
)
def test_tokens_are_found_under_the_names_of_several_tools(row, tokens):
    found = Reader(MonitorSection(), b"key").read({"question": "Why?", **row})
    assert found.usage.tokens == tokens


def test_who_asked_is_kept_as_digests_and_the_conversation_comes_first():
    read = Reader(MonitorSection(), b"key").read({"question": "Why?", "user": "ann", "thread_id": 7})
    assert read.usage.who == read.usage.conversation != read.usage.user
    assert "ann" not in repr(read.usage)
    assert ExchangeUsage(user="u").who == "u"


def test_a_long_log_is_shown_by_weeks(tmp_path):
    days = [DAY + datetime.timedelta(days=at) for at in range(186)]
    use = use_of(tmp_path, [{"time": str(day), "user_id": "a"} for day in days])
    assert use.span == "week"
    assert use.periods[0].day == datetime.date(2025, 12, 29)  # the Monday before a Thursday
    assert sum(one.n for one in use.periods) == 186


def test_a_page_shows_only_what_the_log_tells(tmp_path):
    with stored(tmp_path, [{"time": "2026-01-01", "latency_s": 1.0}]) as store:
        look = look_at(store, MonitorSection(), today=DAY, judges=[])
    assert [chart.title for chart in look.use_charts] == ["Latency in seconds"]
    shown = render_markdown(monitor_document(look))
    assert "median 1.0 s" in shown
    assert "Users" not in shown


def test_an_empty_store_has_no_use(tmp_path):
    use = use_of(tmp_path, [])
    assert (use.whole, use.periods, use_words(use.whole)) == (None, [], [])


def test_a_store_of_the_format_before_is_brought_up_and_counts_what_it_held(tmp_path):
    stored(tmp_path, [{"time": "2026-01-01"}]).close()
    db = sqlite3.connect(tmp_path / FILE)
    with db:
        db.execute("DROP TABLE usage")
        db.execute("PRAGMA user_version = 1")
    db.close()
    with MonitorStore(tmp_path) as store:
        use = read_use(store.connection, DAY)
    assert (use.whole.n, use.whole.users, use.whole.latency_p50) == (1, None, None)
