"""What others' evaluators say stands beside an exchange as it came, and decides nothing."""

import json
import os

import pytest
from tests.support.golden import sentence_in
from tests.support.spans import TRACE, details, evaluation, log_request, request, span

from ragstone.features.watch._document import monitor_document
from ragstone.features.watch._lines import read_lines
from ragstone.features.watch._logged import Masker
from ragstone.features.watch._page import render_monitor
from ragstone.features.watch._reading import take_log
from ragstone.features.watch.look import look_at
from ragstone.features.watch.store import MonitorStore
from ragstone.kernel.config import MonitorSection
from ragstone.kernel.document.markdown import render_markdown
from ragstone.kernel.privacy.masking import own_words

SECTION = MonitorSection()
LONG_AGO = 1_763_900_200.0  # two minutes after the events


@pytest.fixture
def store(tmp_path):
    with MonitorStore(tmp_path / "store", key=b"key") as opened:
        yield opened


def look(store, folder, masker=None, **more):
    return take_log(store, [folder], SECTION, masker, **{"strict": False, "follow": True, **more})


def add(file, *lines):
    with file.open("ab") as opened:
        opened.write(b"".join(line + b"\n" for line in lines))
    os.utime(file, (LONG_AGO, LONG_AGO + len(file.read_bytes()) / 1e6))


def told(store):
    return {one.name: one.evaluations for one in store.each()}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "traces").mkdir()
    return tmp_path / "traces"


def test_an_evaluation_comes_with_the_exchange_later_or_in_another_file_and_counts_once(store, folder):
    good = evaluation("relevance", score__value=4.0, score__label="good")
    add(folder / "traces-1.jsonl", log_request(details("When?", "In May.")), log_request(good))
    first = look(store, folder)
    assert (first.rows, first.new, first.evaluations) == (1, 1, 1)
    late = evaluation("tone", 9, score__value=0.5)
    add(folder / "traces-1.jsonl", log_request(late, evaluation("tone", None)))
    second = look(store, folder)
    assert (second.new, second.again, second.evaluations, second.evaluations_of_nothing) == (0, 1, 2, 1)
    add(folder / "traces-2.jsonl", log_request(evaluation("cost", score__value=2.0)))
    third = look(store, folder)
    assert (third.rows, third.new) == (0, 0)
    said = told(store)[TRACE]
    assert {(one.metric, one.score, one.label) for one in said} == {
        ("relevance", 4.0, "good"),
        ("tone", 0.5, None),
        ("cost", 2.0, None),
    }
    assert {one.evaluator for one in said} == {"tests"}


def test_an_evaluation_that_comes_before_its_exchange_waits_for_it(store, folder):
    add(folder / "traces-1.jsonl", log_request(evaluation("relevance", score__value=1.0)))
    assert look(store, folder).evaluations == 1
    assert told(store) == {}
    add(folder / "traces-2.jsonl", log_request(details("When?", "In May.")))
    look(store, folder)
    assert [one.metric for one in told(store)[TRACE]] == ["relevance"]


def test_of_a_trace_with_several_answers_an_evaluation_of_none_is_shown_with_none(store, folder):
    turns = [
        span(n, openinference__span__kind="AGENT", input__value=f"q{n}?", output__value="a") for n in (1, 20)
    ]
    for turn in turns:
        turn["name"] = "turn"
    add(
        folder / "traces-1.jsonl",
        request(*turns),
        log_request(evaluation("tone", 99), evaluation("cost", 20)),
    )
    assert look(store, folder).new == 2
    metrics = {name: [one.metric for one in said] for name, said in told(store).items()}
    assert metrics == {TRACE: [], f"{TRACE}#2": ["cost"]}


def test_our_own_events_are_not_read_back(store, folder):
    body = log_request(evaluation("faithfulness", score__value=1.0), scope="ragstone")
    add(folder / "traces-1.jsonl", log_request(details("When?", "In May.")), body)
    assert look(store, folder).evaluations == 0
    assert told(store) == {TRACE: []}


def test_they_are_masked(store, folder):
    said = evaluation("tone", explanation="anna@example.com was rude", score__label="Hofladen")
    add(folder / "traces-1.jsonl", log_request(details("When?", "In May.")), log_request(said))
    look(store, folder, Masker(own_words(["Hofladen"])))
    [row] = told(store)[TRACE]
    assert (row.reason, row.label) == ("[email] was rude", "[masked]")


def test_they_are_shown_as_they_came_with_no_interval_and_change_no_mean(store, folder, says):
    more = {"evaluator__source": '{"name": "LLMJudge"}', "evaluator__version": "v2"}
    lines = [log_request(details(f"q{n}?", "a") | {"traceId": f"{n + 1:032x}"}) for n in range(4)]
    for n, fields in enumerate([{"score__value": 4.0}, {"score__value": 2.0}, {"score__label": "bad"}, {}]):
        said = evaluation("relevance", **more, **fields, trace=f"{n + 1:032x}")
        if not fields:
            said["attributes"].append({"key": "error.type", "value": {"stringValue": "timeout"}})
        lines.append(log_request(said))
    add(folder / "traces-1.jsonl", *lines)
    for line in read_lines(look(store, folder)):
        says(line)
    seen = look_at(store, SECTION, today=store.last_day(None), judges=[])
    [summary] = seen.evaluators
    # 4 and 2 of four evaluations: (4 + 2) / 2 = 3; one has a label alone, one an error.
    assert (summary.n, summary.n_scores, summary.n_errors) == (4, 2, 1)
    assert (summary.mean, summary.low, summary.high, summary.labels) == (3.0, 2.0, 4.0, {"bad": 1})
    assert seen.rows == []
    assert seen.alarms == []
    text = render_markdown(monitor_document(seen))
    says(text[text.index("Evaluations by others") :].split("in the log")[0])
    page = render_monitor(seen)
    says(sentence_in(page, "no interval, appear"))


def test_a_store_of_an_older_format_is_brought_up(tmp_path):
    with MonitorStore(tmp_path, key=b"key") as store:
        store.connection.execute("DROP TABLE evaluations")
        store.connection.execute("DROP TABLE spans")
        store.connection.execute("PRAGMA user_version = 3")
        store.connection.commit()
    with MonitorStore(tmp_path, key=b"key") as store:
        assert store.connection.execute("SELECT count(*) FROM evaluations").fetchone() == (0,)
        assert store.connection.execute("SELECT count(*) FROM spans").fetchone() == (0,)


def test_a_row_of_a_log_that_names_a_column_so_is_a_row_as_before(store, folder):
    row = {"question": "When?", "answer": "In May.", "evaluations": [{"name": "x", "score": 1}]}
    (folder / "rows.jsonl").write_text(json.dumps(row) + "\n")
    found = look(store, folder)
    assert (found.new, found.evaluations) == (1, 0)


def test_any_number_of_evaluations_leaves_the_page_short(store, folder):
    many = [evaluation(f"m{n}", n + 1, explanation="long " * 900) for n in range(200)]
    add(folder / "traces-1.jsonl", log_request(details("When?", "In May.")), log_request(*many))
    assert look(store, folder).evaluations == 200
    assert len(told(store)[TRACE]) == 20
    seen = look_at(store, SECTION, today=store.last_day(None), judges=[])
    assert len(seen.evaluators) == 200
    page = render_monitor(seen)
    assert "And 170 more." in page
    assert len(page) < 400_000
