"""What a look at a store shows: in a terminal, on a page and as Markdown."""

import datetime

import msgspec
import pytest
from tests.support.monitor_store import BEGIN, fill, row
from tests.support.surfaces import shown

from ragstone.features.watch._document import held_words, monitor_document, trust
from ragstone.features.watch._judged import StoredScore
from ragstone.features.watch._logged import Reader
from ragstone.features.watch.gaps import KeptGaps, Missed, find_gaps
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


def test_what_was_looked_for_and_not_found_is_not_called_unmeasured(look, says):
    day, change, use = datetime.date, msgspec.structs.replace, "Only the use"
    look = change(look, alarms=[])
    long = change(look.overview, first=day(2026, 1, 1), last=day(2026, 3, 1))
    thin = change(look, overview=long, today=day(2026, 3, 1))
    quiet = change(thin, compared="scores")
    for each in (look, thin, change(thin, compared="use"), quiet):
        told_ = " ".join(told(finding_of(each, "Did it change?")))
        says(told_)
        assert (use in told_) == (each.compared == "use")
    no_gaps = KeptGaps(gaps=[], n_gaps=0, n_missed=0, found=day(2026, 3, 1), since=day(2026, 2, 1))
    for scored in (None, [], ["answered"], ["answered", "faithfulness"]):
        missing = change(look, gaps=change(no_gaps, scored=scored))
        says(" ".join(told(finding_of(missing, "What is missing?"))))
    assert finding_of(look, "What is missing?").instead == "Not measured"


@pytest.mark.parametrize(("today", "n"), [(3, 2), (2, 1), (1, 0)])
def test_a_day_that_is_not_over_is_no_complete_one(look, today, n):
    young = msgspec.structs.replace(look, alarms=[], compared="nothing", today=datetime.date(2026, 1, today))
    (sentence,) = finding_of(young, "Did it change?").sentences
    assert sentence.endswith(f"{n} complete day{'' if n == 1 else 's'}.")


@pytest.mark.parametrize(
    ("rows", "word"),
    [
        ([{}], "1 exchange"),
        ([{"user": "u"}], "1 person"),
        ([{"conversation_id": "c"}], "1 conversation"),
        ([{"user": "u", "conversation_id": "c"}], "1 conversation"),
        ([{"conversation_id": "c"}, {"user": "u"}], "1 asker"),
        ([{"conversation_id": "c"}, {}], "1 asker"),
        ([{"user": "u"}, {}], "1 asker"),
    ],
)
def test_who_asked_is_a_person_or_a_conversation_only_where_all_rows_name_one(tmp_path, rows, word):
    section = MonitorSection()
    line = {"question": "Is it lime?", "answer": "No.", "time": "2026-01-01"}
    lines = [{"id": f"x{at}"} | line | row for at, row in enumerate(rows)]
    with MonitorStore(tmp_path, key=b"key") as store:
        store.declare(section)
        store.add(store.adder(section), map(Reader(section, b"key").read, lines))
        seen = look_at(store, section, today=datetime.date(2026, 1, 3), judges=[])
    day = datetime.date(2026, 1, 1)
    gaps = find_gaps([Missed(id="x", question="Is it lime?", why="unanswered", who="p")])
    kept = KeptGaps(gaps=gaps, n_gaps=1, n_missed=1, found=day, since=day)
    seen = msgspec.structs.replace(seen, gaps=kept)
    assert finding_of(seen, "What is missing?").figures[0].value == word
    # Nobody has looked at what exchanges without a time name.
    of_two = find_gaps([Missed(id=x, question="Is it lime?", why="unanswered", who="p") for x in "ab"])
    untimed = msgspec.structs.replace(kept, gaps=of_two, untimed=1)
    seen = msgspec.structs.replace(seen, gaps=untimed)
    assert finding_of(seen, "What is missing?").figures[0].value == "1 asker"


def test_gaps_without_a_time_are_not_said_to_be_since_a_day(look, says):
    day = datetime.date(2026, 2, 1)
    gaps = find_gaps([Missed(id="x", question="Is it lime?", why="unanswered", who="p")])
    kept = KeptGaps(gaps=gaps, n_gaps=1, n_missed=1, found=day, since=day)
    for untimed in (0, 1):
        seen = msgspec.structs.replace(look, gaps=msgspec.structs.replace(kept, untimed=untimed))
        says(finding_of(seen, "What is missing?").figures[0].rests_on)
        assert ("2026-02-01 or without" in shown(monitor_document(seen))) == bool(untimed)


@pytest.mark.parametrize(
    ("days", "each", "compared"), [(40, 5, "scores"), (40, 0, "nothing"), (14, 5, "nothing")]
)
def test_scores_are_compared_where_there_are_some_before_and_after_a_baseline(tmp_path, days, each, compared):
    rows = [row(f"d{at}n{n}", day=at, answered=n % 2) for at in range(days) for n in range(each)]
    with fill(tmp_path, rows or [row("a", answered=1), row("b", answered=0, day=days)]) as store:
        section = MonitorSection(baseline_days=14)
        seen = look_at(store, section, today=BEGIN + datetime.timedelta(days=days), judges=["answered"])
    assert seen.compared == compared


@pytest.mark.parametrize(
    ("judge", "shown_as"),
    [
        ("good 1 none", "good 1 without a model"),
        ("good 1 openai/none", "good 1 openai/none"),
        ("none 1 m", "none 1 m"),
    ],
)
def test_a_judge_without_a_model_is_not_said_to_have_one_called_none(look, judge, shown_as):
    (row, *others) = look.rows
    renamed = msgspec.structs.replace(row, mean=msgspec.structs.replace(row.mean, judge=judge))
    text = shown(monitor_document(msgspec.structs.replace(look, rows=[renamed, *others])))
    assert f"good ({shown_as})" in text


@pytest.mark.parametrize(("judge", "by_people"), [("people", True), ("people_like 1 m", False)])
def test_a_judge_whose_name_begins_with_people_is_none_of_them(look, judge, by_people):
    row = look.rows[0]
    renamed = msgspec.structs.replace(row, mean=msgspec.structs.replace(row.mean, judge=judge))
    assert (trust([renamed]) == "By people.") == by_people


def test_means_of_the_last_days_are_called_so_where_there_are_earlier_ones(look, says):
    assert {figure.label for figure in finding_of(look, "Is it good?").figures} == {"good"}
    early = msgspec.structs.replace(look.overview, first=datetime.date(2025, 10, 1))
    longer = msgspec.structs.replace(look, overview=early)
    (label,) = {figure.label for figure in finding_of(longer, "Is it good?").figures}
    says(label)


def test_exchanges_that_other_judges_have_judged_are_not_counted_as_judged_by_all(look, says):
    earlier = msgspec.structs.replace(look.overview, n_judged=4)
    held = dict(held_words(msgspec.structs.replace(look, overview=earlier, left=4)))
    says(held["in the sample"])
