"""Events of judgements while a log is watched: one each, and nobody waits for the collector."""

import datetime
import json
import time

import msgspec
import pytest
from tests.features.export.test_events import SPAN, TRACE, judgement
from tests.support.command import ragstone
from tests.support.golden import sentence_in
from tests.support.otlp import collecting_logs, rejecting, values
from tests.support.spans import details, log_request

from ragstone.features.export import EventStream, _collector, stream
from ragstone.features.watch.watching import Watcher, watch
from ragstone.kernel.config import MonitorSection, Settings
from ragstone.kernel.engine.digests import digest_of
from ragstone.kernel.errors import ConfigError
from ragstone.kernel.judging.variant import load_judge

TODAY = datetime.date(2026, 3, 1)


@pytest.fixture
def collector(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(_collector, "backoff_s", lambda *_: 0.0)
    monkeypatch.setattr(stream, "LINGER_S", 0.05)
    with collecting_logs() as listening:
        yield listening


def log(tmp_path, n=5):
    rows = [
        {"id": f"x{k}", "question": f"Why {k}?", "answer": f"So {k}.", "contexts": [f"So {k}."]}
        for k in range(n)
    ]
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_each_judgement_of_a_watch_is_an_event_with_the_name_of_its_exchange(collector, tmp_path):
    settings = Settings(monitor=MonitorSection(judges=["grounding"], otlp=collector.url), root=str(tmp_path))
    began = time.time()
    summary = watch(log(tmp_path), settings=settings, today=TODAY)
    assert (summary.events.sent, summary.events.lost) == (5, 0)
    assert sorted(one["ragstone.question_id"] for one in collector.attributes()) == [
        f"x{n}" for n in range(5)
    ]
    versions = {one["gen_ai.evaluation.evaluator.version"] for one in collector.attributes()}
    assert versions == {digest_of(load_judge("grounding"))}
    ended = time.time()
    assert all(began <= record.time_unix_nano / 1e9 <= ended for _, record in collector.records)
    again = watch(log(tmp_path), settings=settings, today=TODAY)
    assert (again.events.sent, len(collector.records)) == (0, 5)


def test_events_of_traced_exchanges_belong_to_their_spans(collector, tmp_path, says):
    (tmp_path / "traces.jsonl").write_bytes(log_request(details("When?", "In May.", 5)) + b"\n")
    ran = ragstone("watch", "traces.jsonl", "--judge", "grounding", "--otlp", collector.url)
    assert ran.code == 0
    says(sentence_in(ran.err, "1 event sent"))
    [(_, record)] = collector.records
    assert (record.trace_id.hex(), record.span_id.hex()) == (TRACE, f"{5:016x}")
    assert values(record.attributes)["error.type"] == "not_applicable"  # it has no contexts


def test_a_collector_that_is_down_costs_events_and_no_judgement(tmp_path, monkeypatch, says):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(_collector, "backoff_s", lambda *_: 0.0)
    ran = ragstone("watch", log(tmp_path), "--judge", "grounding", "--otlp", "http://127.0.0.1:9")
    assert ran.code == 0
    says(sentence_in(ran.err, "5 exchanges judged"))
    says(sentence_in(ran.err, "0 events sent"))


def test_nobody_waits_for_a_collector_that_hangs_and_what_does_not_fit_is_counted(collector, monkeypatch):
    monkeypatch.setattr(stream, "MOST_WAITING", 100)
    monkeypatch.setattr(stream, "LAST_S", 0.2)
    collector.go.clear()  # who waited for it would wait for ever
    events = EventStream(collector.url)
    for n in range(500):
        events.offer(judgement(n), "1", f"x{n}", "", "")
    assert events.counts().lost == 400
    counts = events.close()
    assert (counts.sent, counts.lost) == (0, 500)
    assert events.close() == counts


def test_texts_that_are_too_much_together_are_not_kept(collector, monkeypatch):
    monkeypatch.setattr(stream, "MOST_CHARACTERS", 50_000)
    monkeypatch.setattr(stream, "LAST_S", 60)
    collector.go.clear()
    events = EventStream(collector.url)
    for n in range(4):
        events.offer(judgement(n, rationale="word " * 5000), "1", f"x{n}", TRACE, SPAN)
    collector.go.set()
    assert events.close().lost == 3


def test_what_the_collector_rejects_is_said_and_what_comes_later_is_sent(collector):
    collector.reply = lambda number, n: (200, {}, rejecting(1, "quota")) if number == 1 else (200, {}, b"")
    events = EventStream(collector.url)
    events.offer(judgement(1), "1", "x1", "", "")
    while not events.counts().sent:
        time.sleep(0.01)
    events.offer(judgement(2), "1", "x2", "", "")
    counts = events.close()
    assert (counts.sent, counts.rejected, counts.why, len(collector.records)) == (2, 1, "quota", 2)


def test_an_address_that_is_none_is_refused_before_the_log_is_read(tmp_path, monkeypatch, says):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError) as error:
        Watcher(
            Settings(monitor=MonitorSection(judges=["grounding"], otlp="collector:4318"), root=str(tmp_path))
        )
    says(error.value)
    ran = ragstone("watch", log(tmp_path), "--judge", "grounding", "--otlp", "http://c/v1/metrics")
    assert ran.code == 2
    says(ran.err)


def test_without_a_collector_nothing_is_said_of_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    summary = watch(log(tmp_path), judges=["grounding"])
    assert summary.events is None
    assert b'"events":null' in msgspec.json.encode(summary)
