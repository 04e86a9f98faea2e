"""What a look at a store shows: in a terminal, on a page and as Markdown."""

import datetime

import msgspec
import pytest
from tests.support.surfaces import shown

from ragstone.features.watch._document import held_words, monitor_document
from ragstone.features.watch._judged import StoredScore
from ragstone.features.watch._logged import Reader
from ragstone.features.watch.gaps import KeptGaps
from ragstone.features.watch.look import look_at
from ragstone.features.watch.store import MonitorStore
from ragstone.kernel.config import MonitorSection
from ragstone.kernel.document.blocks import Findings, told
from ragstone.kernel.document.markdown import render_markdown


@pytest.fixture
def look(tmp_path):
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
        return look_at(store, section, today=datetime.date(2026, 1, 3), judges=["good"])


def test_means_stand_beside_their_denominators_and_the_judges_that_differ(look):
    lines = [line.split() for line in shown(monitor_document(look)).splitlines()]
    # Wilson of 1 of 1: 1 / (1 + 1.96²) = 0.207 to 1; of 0 of 1 the mirror image.
    assert [
        "good",
        "(good",
        "1",
        "a)",
        "1.00",
        "0.21",
        "to",
        "1.00",
        "1",
        "scored;",
        "1",
        "timed",
        "out",
    ] in lines
    assert ["good", "(good", "1", "b)", "0.00", "0.00", "to", "0.79", "1", "scored"] in lines


def test_how_much_there_is_is_told(look, says):
    held = dict(held_words(look))
    says(held["in the log"])
    says(held["without a time"])
    says(held["in the sample"])
    says(shown(monitor_document(look)))


def test_an_empty_store_says_what_to_give_it(tmp_path, says):
    with MonitorStore(tmp_path, key=b"key") as store:
        empty = look_at(store, MonitorSection(), today=datetime.date(2026, 1, 3), judges=[])
    says(shown(monitor_document(empty)))


def test_markdown_holds_means_and_the_numbers_of_every_chart(look, says):
    text = render_markdown(monitor_document(look))
    says(text)


def test_numbers_of_labels_without_an_order_have_shares_and_no_mean(look):
    row = next(row for row in look.rows if row.recent is not None)
    names = ("question_type", "question_type=create")
    rows = [
        msgspec.structs.replace(row, mean=msgspec.structs.replace(row.mean, metric=name, best="none"))
        for name in names
    ]
    lines = [
        line.split()
        for line in shown(monitor_document(msgspec.structs.replace(look, rows=rows))).splitlines()
    ]
    [whole] = [line for line in lines if line[:1] == ["question_type"]]
    [share] = [line for line in lines if line[:1] == ["question_type=create"]]
    assert whole[1:3] == ["by", "label"]
    assert whole[3:] == share[-len(whole[3:]) :]  # both rest on the same rows
    alone = msgspec.structs.replace(look, rows=rows[:1])
    assert "by label" not in shown(monitor_document(alone))  # without labels the number is all there is


def finding_of(look, question):
    (findings,) = (block for block in monitor_document(look).blocks if isinstance(block, Findings))
    return next(each for each in findings.findings if each.question == question)


def with_metrics(look, *names):
    rows = [
        msgspec.structs.replace(row, mean=msgspec.structs.replace(row.mean, metric=name))
        for name in names
        for row in look.rows[:1]
    ]
    return msgspec.structs.replace(look, rows=rows)


def test_what_was_looked_for_and_not_found_is_not_called_unmeasured(look):
    day, look = datetime.date, msgspec.structs.replace(look, alarms=[])
    assert finding_of(look, "Did it change?").instead == "Too early to tell"
    long = msgspec.structs.replace(look.overview, first=day(2026, 1, 1), last=day(2026, 3, 1))
    quiet = msgspec.structs.replace(look, overview=long)
    assert finding_of(quiet, "Did it change?").instead == "No alarm is open"
    assert "No alarm is open. " in " ".join([*told(finding_of(quiet, "Did it change?")), ""])
    no_gaps = KeptGaps(gaps=[], n_gaps=0, n_missed=0, found=day(2026, 3, 1), since=day(2026, 2, 1))
    for names, instead, words in [
        (("answered", "faithfulness"), "No gap was found", "every judged question"),
        (("answered",), "No gap was found", "by answered alone"),
        (("prompt_clarity",), "Not measured", "no exchange was scored"),
    ]:
        missing = finding_of(
            with_metrics(msgspec.structs.replace(look, gaps=no_gaps), *names), "What is missing?"
        )
        assert (missing.instead, words in missing.sentences[0]) == (instead, True)
    assert finding_of(look, "What is missing?").instead == "Not measured"


def test_means_of_the_last_days_are_called_so_where_there_are_earlier_ones(look):
    assert {figure.label for figure in finding_of(look, "Is it good?").figures} == {"good"}
    early = msgspec.structs.replace(look.overview, first=datetime.date(2025, 10, 1))
    longer = msgspec.structs.replace(look, overview=early)
    assert {figure.label for figure in finding_of(longer, "Is it good?").figures} == {"good, last 28 days"}


def test_exchanges_that_other_judges_have_judged_are_not_counted_as_judged_by_all(look):
    earlier = msgspec.structs.replace(look.overview, n_judged=4)
    held = dict(held_words(msgspec.structs.replace(look, overview=earlier, left=4)))
    assert held["in the sample"] == "4 (100 %), 0 judged by all chosen judges, 4 left"
