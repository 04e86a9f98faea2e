"""Exchanges are kept once, judged once, and shown; cells are the sums of their scores, worked by hand."""

import datetime
import sqlite3

import msgspec
import pytest
from tests.support.monitor_store import TAGS, fill
from tests.support.monitor_store import row as monitor_row

from ragstone.features.watch._cells import DayCell
from ragstone.features.watch._judged import StoredScore
from ragstone.features.watch._logged import Feedback, Reader
from ragstone.features.watch._showing import ExchangeFilter
from ragstone.features.watch.look import store_spent
from ragstone.features.watch.store import MonitorStore, has_store
from ragstone.kernel.config import MonitorSection
from ragstone.kernel.errors import DataError
from ragstone.kernel.llm import Caps
from ragstone.kernel.records import Context

KEY = b"key"
FIRST, SECOND = datetime.date(2026, 1, 1), datetime.date(2026, 1, 2)


def row(n, day=1, **more):
    given = {
        "id": f"x{n}",
        "question": f"Why {n}?",
        "answer": f"So {n}.",
        "time": f"2026-01-0{day}T10:00:00Z",
    }
    return Reader(MonitorSection(tags=TAGS), KEY).read({**given, **more})


def opened(tmp_path, rows=(), **section):
    store = MonitorStore(tmp_path / "store", key=KEY)
    chosen = MonitorSection(tags=TAGS, **section)
    store.declare(chosen)
    store.add(store.adder(chosen), rows)
    return store


def score(value=None, judge="answered", **more):
    given = {"judge": judge, "version": 2, "model": "m", "metric": judge, "status": "scored"}
    return StoredScore(**{**given, "score": value, **more})


def keep(store, *scores, judges=("answered",)):
    """Keep (name, score) pairs."""
    numbers = {seen.name: seen.n for seen in store.each()}
    placed = [(numbers[name], one) for name, one in scores]
    return store.keep(placed, best={}, judges=list(judges), finished=[n for n, _ in placed])


def test_an_exchange_is_kept_once_however_often_it_is_read(tmp_path):
    with opened(tmp_path) as store:
        adder = store.adder(MonitorSection(tags=TAGS))
        assert store.add(adder, [row(1), row(1), row(2)]) == 2
        assert store.add(adder, [row(2), row(3)]) == 1
        assert store.overview().n_exchanges == 3
    assert has_store(tmp_path / "store")
    assert not has_store(tmp_path)
    with opened(tmp_path) as again:
        assert again.add(again.adder(MonitorSection(tags=TAGS)), [row(1)]) == 0
        assert again.key == KEY  # digests stay the same


def test_what_is_shown_of_an_exchange_is_all_that_is_known(tmp_path):
    said = row(
        1, contexts=[{"text": "It rains.", "id": "c1", "document_id": "d", "score": 0.5}], crop="maize"
    )
    with opened(tmp_path, [said]) as store:
        keep(store, ("x1", score(1.0, label="answered", reason="It says so.")))
        store.add(store.adder(MonitorSection()), [Feedback(name="x1", feedback=0.0, correction="In May.")])
        (seen,) = store.exchanges().rows
    assert (seen.name, seen.question, seen.answer, seen.tags) == ("x1", "Why 1?", "So 1.", {"crop": "maize"})
    assert seen.time == datetime.datetime(2026, 1, 1, 10, tzinfo=datetime.UTC)
    assert seen.contexts == [Context(text="It rains.", id="c1", document_id="d", score=0.5)]
    assert (seen.feedback, seen.correction, seen.chance) == (0.0, "In May.", 1.0)
    assert seen.scores == [score(1.0, label="answered", reason="It says so.")]


def test_passages_are_kept_once(tmp_path):
    rows = [row(n, contexts=["It rains.", f"It is {n}."]) for n in range(5)]
    with opened(tmp_path, rows) as store:
        (n,) = store.connection.execute("SELECT count(*) FROM passages").fetchone()
        assert n == 6
        assert store.answers([2])[2].contexts == [Context(text="It rains."), Context(text="It is 1.")]


def test_cells_are_the_sums_of_a_day_by_tag(tmp_path):
    rows = [row(1, crop="maize"), row(2, crop="maize"), row(3, crop="rice"), row(4, day=2, crop="rice")]
    with opened(tmp_path, rows) as store:
        keep(
            store, ("x1", score(1.0)), ("x2", score(0.5)), ("x3", score(status="refused")), ("x4", score(0.0))
        )
        cells = {(cell.day, cell.tag, cell.value): cell for cell in store.cells(metric="answered")}
        assert store.cells(metric="answered", tag="crop", since=SECOND) == [cells[SECOND, "crop", "rice"]]
        assert store.cells(until=FIRST, tag="") == [cells[FIRST, "", ""]]
    # Every exchange is judged, so every weight is 1: w = n = 2, wx = 1 + 0.5, w2x2 = 1 + 0.25.
    expected = {"n": 2, "w": 2.0, "wx": 1.5, "w2": 2.0, "w2x": 1.5, "w2x2": 1.25}
    whole = DayCell(
        day=FIRST,
        tag="",
        value="",
        metric="answered",
        judge="answered 2 m",
        statuses={"refused": 1},
        **expected,
    )
    assert cells[FIRST, "", ""] == whole
    assert cells[FIRST, "crop", "maize"] == msgspec.structs.replace(
        whole, tag="crop", value="maize", statuses={}
    )
    nothing = dict.fromkeys(expected, 0)
    assert cells[FIRST, "crop", "rice"] == msgspec.structs.replace(whole, tag="crop", value="rice", **nothing)
    assert cells[SECOND, "", ""].wx == 0.0
    assert len(cells) == 5


def test_labels_become_shares(tmp_path):
    rows = [row(n) for n in range(4)]
    with opened(tmp_path, rows) as store:
        store.declare_labels(score(1.0), ["answered", "refused", "asked_back"], {})
        labels = ["answered", "answered", "refused", None]
        scores = [score(1.0, label=label) if label else score(status="timeout") for label in labels]
        keep(store, *((f"x{n}", one) for n, one in enumerate(scores)))
        shares = {cell.metric: (cell.wx, cell.n) for cell in store.cells(tag="")}
    assert shares == {
        "answered": (3.0, 3),
        "answered=answered": (2.0, 3),
        "answered=refused": (1.0, 3),
        "answered=asked_back": (0.0, 3),
    }


def test_what_people_say_is_a_metric_whenever_they_say_it(tmp_path):
    with opened(tmp_path, [row(1, feedback="up"), row(2)]) as store:
        adder = store.adder(MonitorSection(tags=TAGS))
        assert [(cell.metric, cell.judge, cell.wx, cell.n) for cell in store.cells(tag="")] == [
            ("feedback", "people", 1.0, 1)
        ]
        store.add(adder, [Feedback(name="x2", feedback=0.0), Feedback(name="x3", feedback=1.0)])
        store.add(adder, [row(3)])  # its feedback was there before it
        (cell,) = store.cells(tag="")
        assert (cell.wx, cell.n) == (2.0, 3)
        assert store.overview().n_feedback == 3
        assert [seen.name for seen in store.exchanges(ExchangeFilter(feedback_at_most=0.0)).rows] == ["x2"]


def test_cells_follow_the_tags_of_the_settings(tmp_path):
    with opened(tmp_path, [row(1, crop="maize", region="north")]) as store:
        keep(store, ("x1", score(1.0)))
        assert {cell.tag for cell in store.cells()} == {"", "crop", "region"}
        store.declare(MonitorSection(tags=["region"]))
        assert {cell.tag for cell in store.cells()} == {"", "region"}


def test_an_exchange_without_a_time_is_judged_and_in_no_cell(tmp_path):
    with opened(tmp_path, [row(1, time=None)]) as store:
        assert [due.n for due in store.due(["answered"])] == [1]
        keep(store, ("x1", score(1.0)))
        assert store.cells() == []
        assert (store.overview().without_time, store.overview().n_judged) == (1, 1)


def test_the_newest_day_is_judged_first_and_nothing_twice(tmp_path):
    rows = [row(n, day=1 + n % 2) for n in range(6)]
    with opened(tmp_path, rows) as store:
        names = {seen.n: seen.name for seen in store.each()}
        listed = [names[due.n] for due in store.due(["answered"])]
        assert {*listed[:3]} == {"x1", "x3", "x5"}
        keep(store, ("x1", score(1.0)), ("x3", score(status="not_applicable")))
        assert store.count_due(["answered"]) == 4
        # A second judge lacks all six, and those two lack only that one.
        lacking = {names[due.n]: due.judges for due in store.due(["answered", "relevance"])}
        assert len(lacking) == 6
        assert lacking["x1"] == ("relevance",)
        assert lacking["x5"] == ("answered", "relevance")


def test_a_judge_that_could_not_answer_is_asked_three_times_at_most(tmp_path):
    with opened(tmp_path, [row(1)]) as store:
        for left in (1, 1, 0):
            keep(store, ("x1", score(status="timeout")))
            assert store.count_due(["answered"]) == left
        (cell,) = store.cells(tag="")
        assert cell.statuses == {"timeout": 1}


def test_what_the_budget_cut_off_is_still_due(tmp_path):
    with opened(tmp_path, [row(1)]) as store:
        assert keep(store, ("x1", score(status="over_budget"))) == set()
        assert store.count_due(["answered"]) == 1
        assert store.cells() == []


def test_a_judge_asked_together_with_others_is_the_same_judge(tmp_path):
    with opened(tmp_path, [row(1)]) as store:
        assert keep(store, ("x1", score(1.0, judge="answered@together", metric="answered"))) == {1}


def test_a_higher_rate_takes_what_the_lower_one_took_and_more(tmp_path):
    rows = [row(n) for n in range(200)]
    with opened(tmp_path, rows, rate=0.2) as store:
        few = {due.n for due in store.due(["answered"])}
        keep(store, *((f"x{n - 1}", score(1.0)) for n in few))
        (before,) = store.cells(tag="")
        store.declare(MonitorSection(rate=0.5))
        more = {due.n for due in store.due(["answered"])}
        (cell,) = store.cells(tag="")
        store.declare(MonitorSection(rate=0.1))  # a lower one leaves what was taken
        assert {due.n for due in store.due(["answered"])} == more
    assert 20 < len(few) < 60
    assert 35 < len(more) < 90
    assert not few & more
    assert before.w == pytest.approx(len(few) * 5)
    # Of the larger sample a part is judged yet, at random: together they stand for what all would stand for.
    assert cell.w == pytest.approx((len(few) + len(more)) * 2)


def test_scores_made_elsewhere_find_their_exchange_by_its_id(tmp_path):
    no_id = Reader(MonitorSection(tags=TAGS), KEY)
    twice = [no_id.read({"question": "Why?", "answer": text, "time": 1.7e9}) for text in ("So.", "No.")]
    with opened(tmp_path, [row(1), *twice], rate=0.001) as store:
        given = [("x1", score(1.0)), (twice[0].name, score(0.0)), (f"{twice[0].name}-2", score(0.5))]
        assert store.take_in([*given, ("gone", score(1.0))], best={}) == 3
        store.finish(["answered"])
        found = {seen.answer: seen.scores[0].score for seen in store.each()}
        assert found == {"So 1.": 1.0, "So.": 0.0, "No.": 0.5}
        assert store.overview().n_judged == 3
        assert {seen.chance for seen in store.each()} == {1.0}


def test_filters_and_pages(tmp_path):
    rows = [row(n, day=1 + n // 3, crop="maize" if n % 2 else "rice") for n in range(6)]
    with opened(tmp_path, rows) as store:
        scores = [score(n / 5, label="answered" if n > 2 else "refused") for n in range(5)]
        keep(store, *((f"x{n}", one) for n, one in enumerate(scores)), ("x5", score(status="refused")))

        def names(**chosen):
            return {seen.name for seen in store.exchanges(ExchangeFilter(**chosen)).rows}

        assert names(text="WHY 3") == {"x3"}
        assert names(text="%") == set()
        assert names(tags={"crop": "maize"}, since=SECOND) == {"x3", "x5"}
        assert names(until=FIRST) == {"x0", "x1", "x2"}
        assert names(metric="answered", label="refused") == {"x0", "x1", "x2"}
        assert names(metric="answered", status="refused") == {"x5"}
        assert names(metric="answered", at_least=0.2, at_most=0.4) == {"x1", "x2"}
        assert names(metric="relevance") == set()
        assert names(names=("x1", "x4")) == {"x1", "x4"}
        page = store.scored("answered", page=2, size=2)
        assert ([seen.name for seen in page.rows], page.n) == (["x2", "x3"], 5)


def test_the_worst_of_a_judge_whose_lowest_score_is_best_are_the_highest(tmp_path):
    with opened(tmp_path, [row(1), row(2)]) as store:
        toxic = [(1, score(0.0, judge="toxicity")), (2, score(1.0, judge="toxicity"))]
        store.keep(toxic, best={"toxicity": "lowest"})
        assert [seen.n for seen in store.scored("toxicity").rows] == [2, 1]
        assert store.best() == {"toxicity": "lowest"}


def test_a_cost_that_is_unknown_is_never_0(tmp_path):
    with MonitorStore(tmp_path) as store:
        store.spend(FIRST, 4, 1000, 0.25)
        store.spend(FIRST, 1, 100, None)
        store.spend(FIRST, 1, 100, 0.25)
        assert store_spent(store, FIRST) == (6, 1200, None)
        assert store.left_of(Caps(calls=10, usd=1.0), FIRST) == Caps(calls=4, usd=0.0)
        assert store_spent(store, SECOND) == (0, 0, 0.0)


def test_the_budget_of_a_day_is_what_is_left_of_it(tmp_path):
    with opened(tmp_path) as store:
        caps = Caps(calls=10, usd=1.0)
        store.spend(FIRST, 4, 1000, 0.25)
        store.spend(FIRST, 2, 1000, 0.25)
        assert store.left_of(caps, FIRST) == Caps(calls=4, usd=0.5)
        assert store.left_of(caps, SECOND) == caps
        assert store.left_of(Caps(tokens=1500), FIRST) == Caps(tokens=0)


def test_a_batch_is_kept_whole_or_not_at_all(tmp_path):
    with opened(tmp_path) as store:
        broken = msgspec.structs.replace(row(2), name=object())
        with pytest.raises(DataError, match="cannot be used"):
            store.add(store.adder(MonitorSection(tags=TAGS)), [row(1), broken])
        assert store.overview().n_exchanges == 0


def test_a_store_that_is_none_or_of_a_newer_ragstone_is_refused(tmp_path, says):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "monitor.sqlite").write_text("This is no database, and was never one. " * 50)
    with pytest.raises(DataError, match="move it aside"):
        MonitorStore(tmp_path / "a")
    MonitorStore(tmp_path / "b").close()
    with sqlite3.connect(tmp_path / "b" / "monitor.sqlite") as db:
        db.execute("PRAGMA user_version = 99")
    db.close()
    with pytest.raises(DataError) as error:
        MonitorStore(tmp_path / "b")
    says(error.value)


def test_values_beyond_a_number_are_shown_together(tmp_path, monkeypatch):
    monkeypatch.setattr("ragstone.features.watch._cells.MOST_VALUES", 2)
    with opened(tmp_path, [row(n, crop=f"crop {n}") for n in range(4)]) as store:
        keep(store, *((f"x{n}", score(1.0)) for n in range(4)))
        counts = {cell.value: cell.n for cell in store.cells(tag="crop")}
    assert counts == {"crop 0": 1, "crop 1": 1, "(other values)": 2}


def test_a_row_of_2099_is_in_no_mean_and_ends_no_log(tmp_path):
    rows = [monitor_row("x1", answered=1), monitor_row("x2", day=1, answered=1)]
    rows += [monitor_row("odd", answered=0, tags={"crop": "tea"}) | {"time": "2099-01-01"}]
    with fill(tmp_path, rows) as store:
        held = store.overview(datetime.date(2026, 3, 1))  # a clock may go a day ahead
        assert (held.n_exchanges, held.in_future, held.last) == (3, 1, datetime.date(2026, 3, 2))
        (answered,) = (one.whole for one in held.metrics if one.metric == "answered")
        assert (answered.mean, answered.n) == (1.0, 2)
        earlier = store.overview(datetime.date(2020, 1, 1))  # a wrong clock: the last that there is
        assert (earlier.in_future, earlier.last) == (0, datetime.date(2099, 1, 1))
        assert store.overview().last == datetime.date(2099, 1, 1)


def test_a_store_of_the_format_before_does_not_know_when_its_scores_were_made(tmp_path):
    def on(days):
        return FIRST + datetime.timedelta(days=days)

    score = StoredScore(judge="j", version=1, model="m", metric="j", status="scored", score=1.0)

    def stored(n):
        return "INSERT INTO exchanges (n, digest, name, day, draw, chance) VALUES (?, ?, ?, ?, 0.1, 1)", (
            n,
            str(n).encode(),
            str(n),
            FIRST.toordinal() + n // 2,
        )

    with MonitorStore(tmp_path) as store:
        with store.connection as db:
            for n in range(4):
                db.execute(*stored(n))
        store.keep([(0, score), (2, score)], best={}, on=on(100))
        assert store.judged_on() == {("j", "j 1 m"): {day: (on(100), on(100)) for day in (FIRST, SECOND)}}
        store.keep([(3, score)], best={}, on=on(103))
        assert store.judged_on()["j", "j 1 m"][SECOND] == (on(100), on(103))
        with store.connection as db:
            db.execute("DROP TABLE judged_on")
            db.execute("PRAGMA user_version = 2")
    with MonitorStore(tmp_path) as store:
        store.keep([(1, score)], best={}, on=on(101))
        assert store.judged_on() == {("j", "j 1 m"): {FIRST: None, SECOND: None}}
