"""A log is read on, judged once within the budget of a day, and its canaries are judged again."""

import datetime
import json

import msgspec
import pytest
from tests.support.fake_openai import FakeOpenAI
from tests.support.plain_rows import judgement_row

from ragstone.features.watch._judged import StoredScore
from ragstone.features.watch._judging import load_canaries
from ragstone.features.watch._reading import ReadCounts
from ragstone.features.watch.store import MonitorStore
from ragstone.features.watch.watching import Watcher, followed, watch
from ragstone.kernel.config import MonitorSection
from ragstone.kernel.errors import ConfigError, DataError, ModelError
from ragstone.kernel.records import Judgement
from ragstone.kernel.tables import read_rows, write_rows

TODAY = datetime.date(2026, 3, 1)
TOMORROW = datetime.date(2026, 3, 2)
JUDGES = ["answered", "relevance"]


def line(n, **more):
    row = {"id": f"x{n}", "question": f"Why does field {n} dry out?", "answer": f"It needs water {n}."}
    return json.dumps(row | {"time": f"2026-02-{n % 3 + 1:02d}T10:00:00Z", "crop": "maize"} | more) + "\n"


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text("".join(line(n) for n in range(6)))
    return path


def settings(fake: FakeOpenAI, tmp_path, **section):
    section = {"judges": JUDGES, "model": fake.model, "canaries": 0, **section}
    return msgspec.structs.replace(fake.settings(tmp_path), monitor=MonitorSection(**section))


def test_a_log_is_judged_once_and_only_new_rows_later(fake_openai, tmp_path, log):
    chosen = settings(fake_openai, tmp_path)
    first = watch(log, settings=chosen, today=TODAY)
    assert (first.read.new, first.judged, first.left, first.calls.made) == (6, 6, 0, 12)
    again = watch(log, settings=chosen, today=TODAY)
    assert (again.read.rows, again.judged, again.calls.made) == (0, 0, 0)
    with log.open("a") as file:
        file.write(line(6))
    more = watch([log], settings=chosen, today=TODAY)
    assert (more.read.new, more.judged, more.calls.made, fake_openai.n_requests) == (1, 1, 2, 14)
    means = {one.metric: one.whole.n for one in more.overview.metrics}
    assert means["answered"] == means["relevance"] == means["answered=refused"] == 7
    assert watch(settings=chosen, today=TODAY).overview == more.overview  # without a log it only looks


def test_a_lost_store_is_judged_again_from_the_ledger(fake_openai, tmp_path, log):
    first = watch(log, settings=settings(fake_openai, tmp_path), today=TODAY)
    other = watch(log, settings=settings(fake_openai, tmp_path, store="other"), offline=True, today=TODAY)
    assert other.judged == 6
    assert other.overview == first.overview
    assert fake_openai.n_requests == 12


def test_offline_leaves_due_what_the_ledger_lacks(fake_openai, tmp_path, log):
    found = watch(log, settings=settings(fake_openai, tmp_path), offline=True, today=TODAY)
    assert (found.judged, found.left, found.overview.metrics) == (0, 6, [])


def test_a_rate_judges_a_part_and_a_higher_one_the_rest(fake_openai, tmp_path, log):
    chosen = settings(fake_openai, tmp_path)
    MonitorStore(tmp_path / chosen.monitor.store, key=b"key").close()  # its draws take two of the six
    few = watch(log, rate=0.5, settings=chosen, today=TODAY)
    assert few.judged == few.overview.n_sampled == 2
    assert watch(settings=chosen, today=TODAY).overview == few.overview  # a look changes no rate
    whole = watch(log, rate=1.0, settings=chosen, today=TODAY)
    assert few.judged + whole.judged == 6
    assert fake_openai.n_requests == 12


@pytest.mark.long
def test_the_budget_of_a_day_holds_over_runs_and_the_rest_is_judged_later(fake_openai, tmp_path, log):
    chosen = settings(fake_openai, tmp_path, budget_per_day="5calls")
    first = watch(log, settings=chosen, today=TODAY)
    assert (first.cut_off, first.calls.made, first.left) == (True, 5, 6)
    again = watch(log, settings=chosen, today=TODAY)
    assert (again.calls.made, fake_openai.n_requests) == (0, 5)
    later = watch(log, settings=chosen, today=TOMORROW)
    assert later.calls.made == 5
    rest = watch(log, budget="100calls", settings=chosen, today=TOMORROW)
    assert (rest.left, rest.cut_off, fake_openai.n_requests) == (0, False, 12)


def test_judgements_made_elsewhere_are_taken_in_and_nobody_is_asked(fake_openai, tmp_path, log):
    def row(n, judge, score, **more):
        given = {"question_id": f"x{n}", "system": "log", "judge": judge, "metric": judge, "status": "scored"}
        return Judgement(**given, model="m", prompt_version=1, score=score, scale=(1.0, 3.0), **more)

    rows = [row(n, judge, 2.0) for n in range(5) for judge in JUDGES] + [row(77, "answered", 1.0)]
    write_rows(tmp_path / "judgements.jsonl", rows, Judgement)
    chosen = settings(fake_openai, tmp_path)
    found = watch(log, judgements=tmp_path / "judgements.jsonl", settings=chosen, today=TODAY)
    assert (found.given, found.unplaced, found.left, fake_openai.n_requests) == (10, 1, 1, 0)
    assert {one.metric: one.whole.mean for one in found.overview.metrics} == dict.fromkeys(JUDGES, 0.5)
    assert watch(log, settings=chosen, today=TODAY).calls.made == 2  # the sixth
    write_rows(tmp_path / "other.csv", rows[:1], Judgement)
    assert watch(judgements=[tmp_path / "other.csv"], settings=chosen, today=TODAY).given == 1
    (tmp_path / "bad.jsonl").write_text('{"question_id": "x1"}\n')
    with pytest.raises(DataError, match=r"bad\.jsonl:1"):
        watch(judgements=tmp_path / "bad.jsonl", settings=chosen, today=TODAY)


def test_personal_data_reaches_neither_the_store_nor_a_judge(fake_openai, tmp_path):
    log = tmp_path / "log.jsonl"
    log.write_text(line(1, question="I am at ann@example.org, why is field 1 dry?"))
    watch(log, settings=settings(fake_openai, tmp_path), today=TODAY)
    assert not any("ann@example.org" in prompt for prompt in fake_openai.prompts)
    assert b"ann@example.org" not in (tmp_path / ".ragstone" / "monitor" / "monitor.sqlite").read_bytes()
    kept = settings(fake_openai, tmp_path, store="kept", keep_personal_data=True)
    watch(log, settings=kept, today=TODAY)
    assert any("ann@example.org" in prompt for prompt in fake_openai.prompts)


def test_following_waits_for_rows_until_it_is_stopped(fake_openai, tmp_path, log):
    chosen = settings(fake_openai, tmp_path)

    def append(*numbers):
        with log.open("a") as file:
            file.write("".join(map(line, numbers)))

    def rotate():
        append(7)  # written after the last look, and before the file got another name
        log.rename(tmp_path / "log.jsonl.1")

    steps = iter([lambda: None, lambda: append(6), rotate, lambda: append(8)])

    def pause():
        step = next(steps, None)
        if step is None:
            raise KeyboardInterrupt
        step()

    with Watcher(chosen) as watcher:
        watcher.judge(watcher.read([log]), asking=True, today=TODAY)
        seen = list(followed(watcher, [log], today=TODAY, pause=pause))
    assert [(one.read.new, one.judged) for one in seen] == [(1, 1), (1, 1), (1, 1)]
    assert seen[-1].overview.n_exchanges == 9


def test_following_does_not_ask_a_failing_judge_again_and_again(fake_openai, tmp_path, log):
    fake_openai.script = lambda _body: "no JSON"
    chosen = settings(fake_openai, tmp_path)
    with Watcher(chosen) as watcher:
        watcher.judge(watcher.read([log]), asking=True, today=TODAY)
        assert not watcher.waits(TODAY)
    statuses = [one.whole.statuses for one in watch(settings=chosen, today=TODAY).overview.metrics]
    assert {"unparsable": 6} in statuses


def test_a_folder_is_read_with_its_feedback(fake_openai, tmp_path):
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "exchanges-1.jsonl").write_text(line(1) + line(2))
    said = {"question_id": "x1", "system": "assistant", "metric": "thumb", "score": 1}
    (folder / "feedback-1.jsonl").write_text(json.dumps(said) + "\n")
    found = watch(folder, settings=settings(fake_openai, tmp_path), today=TODAY)
    assert (found.read.new, found.read.feedback, found.overview.n_feedback) == (2, 1, 1)
    assert [one.whole.mean for one in found.overview.metrics if one.judge == "people"] == [1.0]


def test_only_the_first_rows_are_read_where_that_is_wanted_and_the_others_later(fake_openai, tmp_path, log):
    chosen = settings(fake_openai, tmp_path)
    assert watch(log, limit=2, settings=chosen, today=TODAY).judged == 2
    rest = watch(log, settings=chosen, today=TODAY)
    assert (rest.read.new, rest.read.again, rest.judged) == (4, 2, 4)


def test_canaries_are_frozen_and_judged_again_when_they_are_due(fake_openai, tmp_path, log):
    chosen = settings(fake_openai, tmp_path, canaries=4, canary_days=7)
    watch(log, settings=chosen, today=TODAY)
    with Watcher(chosen) as watcher:
        frozen = load_canaries(watcher.store)
        assert frozen is not None
        assert (len(frozen.answers), frozen.frozen, frozen.rounds) == (4, TODAY, [])
        assert not watcher.waits(TOMORROW)
    later = watch(log, settings=chosen, today=TODAY + datetime.timedelta(days=7))
    # Four answers by two judges, asked anew although the ledger has the same calls.
    assert (later.canaries, later.calls.made, later.calls.from_ledger) == (True, 8, 0)
    with Watcher(chosen) as watcher:
        known = load_canaries(watcher.store)
        assert known is not None
        assert [one.day for one in known.rounds] == [TODAY + datetime.timedelta(days=7)]
        assert not watcher.waits(TODAY + datetime.timedelta(days=8))
        assert watcher.waits(TODAY + datetime.timedelta(days=14))


def _history(tmp_path, n_days=60, each=4):
    """A log of so many days, and scores of then: of four three are right before the middle, one since."""
    log, then = tmp_path / "old.jsonl", tmp_path / "then.jsonl"
    day = [datetime.date(2026, 1, 1) + datetime.timedelta(days=at // each) for at in range(n_days * each)]
    log.write_text("".join(line(at, time=f"{one}T10:00:00Z") for at, one in enumerate(day)))
    rows = [
        judgement_row(
            question_id=f"x{at}",
            score=float((at % each > 0) == (at < len(day) / 2)),
            metric="relevance",
            judge="relevance",
            model="old",
        )
        for at in range(len(day))
    ]
    write_rows(then, rows, Judgement)
    return log, then


def test_a_history_that_was_judged_at_once_leaves_the_application_alone(fake_openai, tmp_path, says):
    """The log of months is judged in one run: the judge of its first days is that of its last."""
    log, then = _history(tmp_path)
    chosen = settings(fake_openai, tmp_path, judges=["relevance"], alpha=0.5)
    with Watcher(chosen) as watcher:
        watcher.read([log])
        numbers = {row.question_id: float(row.score) for row in read_rows(then, Judgement)}
        scores = [
            (
                n,
                StoredScore(
                    judge="relevance", version=1, model="m", metric="relevance", status="scored", score=s
                ),
            )
            for n, s in enumerate(numbers.values(), 1)
        ]
        watcher.store.keep(scores, best={"relevance": "highest"}, on=TODAY)
        [alarm] = watcher.alarms(TODAY)
        assert alarm.cause == "application"
        says(alarm.says)
        watcher.store.keep(scores[:9], best={"relevance": "highest"})  # and some of them by nobody knows whom
        assert [alarm.cause for alarm in watcher.alarms(TODAY)] == ["unknown"]


def test_scores_made_elsewhere_are_not_frozen_for_nobody_knows_how_old_they_are(fake_openai, tmp_path):
    log, then = _history(tmp_path, 10)
    chosen = settings(fake_openai, tmp_path, judges=["relevance"], canaries=4)
    watch(log, judgements=then, settings=chosen, today=TODAY)
    with log.open("a") as file:
        file.writelines(line(900 + at) for at in range(3))
    watch(log, settings=chosen, today=TODAY)
    with Watcher(chosen) as watcher:
        assert load_canaries(watcher.store) is None
    with log.open("a") as file:
        file.write(line(910))
    watch(log, settings=chosen, today=TODAY)
    with Watcher(chosen) as watcher:
        frozen = load_canaries(watcher.store)
        assert frozen is not None
        assert {one.scores["relevance"].judge for one in frozen.answers} == {
            f"relevance 1 {fake_openai.model}"
        }


def test_what_is_wrong_is_told_before_anything_is_asked(fake_openai, tmp_path, log, says):
    chosen = settings(fake_openai, tmp_path)
    with pytest.raises(ConfigError, match="reference"):
        watch(log, judges=["correctness"], settings=chosen, today=TODAY)
    with pytest.raises(ConfigError, match="second answer"):
        watch(log, judges=["pairwise"], settings=chosen, today=TODAY)
    with pytest.raises(ConfigError, match="rate"):
        watch(log, rate=2.0, settings=chosen, today=TODAY)
    with pytest.raises(ModelError, match="--model"):
        watch(log, settings=settings(fake_openai, tmp_path, model=None), today=TODAY)
    with pytest.raises(DataError) as error:
        watch(tmp_path / "no_log.jsonl", judgements="no.jsonl", settings=chosen, today=TODAY)
    says(error.value)
    nothing = tmp_path / "nothing.jsonl"
    nothing.write_text('{"a": "Why does it rain?"}\n{"b": 2}\n')
    fresh = settings(fake_openai, tmp_path, store="fresh")
    with pytest.raises(DataError, match="columns: a, b"):
        watch(nothing, settings=fresh, today=TODAY)
    named = settings(fake_openai, tmp_path, store="fresh", question="a")
    assert watch(nothing, offline=True, settings=named, today=TODAY).read.new == 1
    nothing.write_text("{broken\n")
    with pytest.raises(DataError) as error:
        watch(nothing, settings=settings(fake_openai, tmp_path, store="s"), today=TODAY)
    says(error.value)
    assert fake_openai.n_requests == 0


def test_a_forecast_is_of_what_is_due(fake_openai, tmp_path, log):
    with Watcher(settings(fake_openai, tmp_path)) as watcher:
        watcher.read([log])
        assert watcher.forecast().calls == 12
        watcher.judge(watcher.read([log]), asking=True, today=TODAY)
        assert watcher.forecast().calls == 0


def test_two_processes_do_not_pay_for_the_same(fake_openai, tmp_path, log):
    chosen = settings(fake_openai, tmp_path)
    with Watcher(chosen) as one, Watcher(chosen) as other:
        one.read([log])
        with pytest.raises(DataError, match="wait for it"):
            other.read([log])
        other.judge(ReadCounts(), asking=False, today=TODAY)  # looking is free
    with Watcher(chosen) as later:
        assert later.read([log]).rows == 0
