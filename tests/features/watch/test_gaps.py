"""Knowledge gaps: who is counted, what is grouped, what stands first."""

import csv
import json
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.monitor_store import BEGIN, fill, row

from ragstone.features.watch.gaps import (
    COLUMNS,
    MOST_KEPT,
    Gap,
    GapExample,
    Missed,
    NearDocument,
    find_gaps,
    keep_gaps,
    load_gaps,
    missed_in,
    scored_in,
    write_gaps,
)
from ragstone.kernel.errors import DataError

LIME = (
    "When do I spread lime on my field?",
    "How much lime does my field need?",
    "Is lime good for my field?",
)
GOATS = ("Which worms do goats get?", "How do I treat worms of goats?", "Do goats with worms lose weight?")


def missed(question, number=0, **given_):
    return Missed(id=f"q{number}", question=question, **{"why": "unanswered", "who": f"p{number}", **given_})


def test_nothing_missed_is_no_gap():
    assert find_gaps([]) == []


def test_one_question_is_a_gap_named_by_itself():
    (gap,) = find_gaps([missed("Does snow harm garlic?", day=date(2026, 3, 4), lang="en", weight=10.0)])
    assert (gap.name, gap.n_people, gap.estimated, gap.langs) == (
        "Does snow harm garlic?",
        1,
        10.0,
        {"en": 1},
    )
    assert gap.first == gap.last == date(2026, 3, 4)


def test_what_most_people_asked_stands_first_though_one_person_asked_more_often():
    # Lime: one person, nine times. Goats: three people, once each.
    rows = [missed(LIME[n % 3], n, who="same") for n in range(9)]
    rows += [missed(question, 20 + n) for n, question in enumerate(GOATS)]
    first, second = find_gaps(rows, n_topics=2)
    assert (first.n_people, first.n_questions) == (3, 3)
    assert (second.n_people, second.n_questions) == (1, 9)
    assert "goats" in first.name.casefold()
    assert "lime" in second.name.casefold()


def test_questions_with_the_same_words_are_one_example():
    rows = [
        missed("Which worms do goats get?", 1),
        missed("which worms do GOATS get", 2),
        missed(GOATS[1], 3),
    ]
    (gap,) = find_gaps(rows, n_topics=1)
    assert [(one.question, one.n_people, one.ids) for one in gap.examples] == [
        ("Which worms do goats get?", 2, ("q1", "q2")),
        ("How do I treat worms of goats?", 1, ("q3",)),
    ]


def test_why_and_the_nearest_documents_are_counted():
    rows = [
        missed(GOATS[0], 1, nearest=("sheep.pdf", "sheep.pdf", "cattle.pdf")),
        missed(GOATS[1], 2, nearest=("sheep.pdf",), why="unfaithful"),
    ]
    (gap,) = find_gaps(rows, n_topics=1)
    assert (gap.unanswered, gap.unfaithful) == (1, 1)
    assert [(near.document_id, near.n_questions) for near in gap.nearest] == [
        ("sheep.pdf", 2),
        ("cattle.pdf", 1),
    ]


def test_a_question_that_shares_no_word_is_a_gap_by_itself():
    rows = [missed(question, n) for n, question in enumerate((*LIME, *GOATS))] + [missed("¿Nieve y ajo?", 9)]
    assert "¿Nieve y ajo?" in [gap.name for gap in find_gaps(rows)]


def test_questions_without_a_word_are_kept_apart_by_their_characters():
    assert {gap.name for gap in find_gaps([missed("???", 1), missed("!!!", 2)])} == {"???", "!!!"}


@given(
    st.lists(
        st.tuples(st.sampled_from((*LIME, *GOATS, "?", "Does snow harm garlic?")), st.integers(0, 4)),
        max_size=20,
    )
)
def test_every_exchange_is_in_exactly_one_gap(asked):
    rows = [missed(question, n, who=str(who)) for n, (question, who) in enumerate(asked)]
    gaps = find_gaps(rows)
    assert sum(gap.n_questions for gap in gaps) == len(rows)
    assert sum(gap.unanswered + gap.unfaithful for gap in gaps) == len(rows)
    assert [gap.n_people for gap in gaps] == sorted((gap.n_people for gap in gaps), reverse=True)


def why(store, **given):
    return {one.id: one.why for one in missed_in(store.connection, **given)}


def test_what_a_judge_or_the_log_calls_unanswered_is_missed_and_what_contexts_do_not_support(tmp_path):
    with fill(
        tmp_path,
        [
            row("good", answered=1, faithfulness=1),
            row("refused", answered=0),
            row("own", tags={"kind": "refusal"}),
            row("made up", answered=1, faithfulness=0.4),
            row("half", answered=1, faithfulness=0.5),
            row("both", answered=0, faithfulness=0),
        ],
    ) as store:
        assert why(store) == {
            "refused": "unanswered",
            "own": "unanswered",
            "made up": "unfaithful",
            "both": "unanswered",
        }
        assert why(store, unfaithful_below=0.6)["half"] == "unfaithful"


def test_no_document_is_missing_where_the_application_failed_asked_back_or_declined(tmp_path):
    with fill(
        tmp_path,
        [
            row("asks", answered=0, label="asked_back"),
            row("asks unsupported", answered=0, label="asked_back", faithfulness=0),
            row("failed", answered=0, error="HTTP 503"),
            *(row(kind, answered=0, tags={"kind": kind}) for kind in ("question", "declined", "greeting")),
        ],
    ) as store:
        assert why(store) == {}


@pytest.mark.parametrize("text", ["Hello!", "thanks", "ok", "hola", "???", "नमस्ते"])
def test_a_greeting_is_no_gap_whatever_was_said_to_it(tmp_path, text):
    rows = [row("small", answered=0, faithfulness=0, question=text), row("why", answered=0, question="Why?")]
    with fill(tmp_path, rows) as store:
        assert why(store) == {"why": "unanswered"}  # a follow-up is a question still


def test_a_judged_one_stands_for_one_over_its_chance_and_a_refusal_of_the_log_for_itself(tmp_path):
    rows = [row(f"j{n}", answered=0) for n in range(40)]
    rows += [row(f"r{n}", tags={"kind": "refusal"}) for n in range(3)]
    with fill(tmp_path, rows, rate=0.25) as store:
        store.connection.execute("UPDATE exchanges SET chance = 0.25 WHERE name LIKE 'j%'")
        weights = {one.id: one.weight for one in missed_in(store.connection)}
    assert {weights[f"j{n}"] for n in range(40)} == {4.0}
    assert {weights[f"r{n}"] for n in range(3)} == {1.0}


def test_days_before_are_left_out_and_those_without_a_time_stay(tmp_path):
    with fill(
        tmp_path,
        [row("old", answered=0), row("new", answered=0, day=5), row("never", answered=0, day=None)],
    ) as store:
        assert set(why(store, since=BEGIN.replace(day=6))) == {"new", "never"}


def test_days_in_the_future_are_in_no_gap(tmp_path):
    rows = [row("now", answered=0), row("then", answered=0, faithfulness=0, day=9)]
    rows.append(row("own", day=9, tags={"kind": "refusal"}))
    with fill(tmp_path, rows) as store:
        assert set(why(store, until=BEGIN)) == {"now"}
        assert scored_in(store.connection, since=BEGIN, until=BEGIN) == ["answered"]


def test_metrics_that_show_gaps_count_where_they_have_a_score_of_these_days(tmp_path):
    rows = [row("a", answered="timeout", faithfulness=1, day=None), row("b", relevance=1)]
    with fill(tmp_path, rows) as store:
        assert scored_in(store.connection, since=BEGIN, until=BEGIN) == ["faithfulness"]


def test_who_asked_and_the_documents_of_its_contexts_are_told(tmp_path):
    contexts = [
        {"text": "A.", "document_id": "b.pdf"},
        {"text": "B.", "document_id": "a.pdf"},
        {"text": "C.", "document_id": "b.pdf"},
        {"text": "D."},
    ]
    rows = [row(f"x{n}", answered=0, user_id="ann", tags={"lang": "sw"}, contexts=contexts) for n in (1, 2)]
    with fill(tmp_path, [*rows, row("x3", answered=0)]) as store:
        one, two, other = missed_in(store.connection)
    assert one.who == two.who != other.who
    assert (one.nearest, one.lang, one.day) == (("b.pdf", "a.pdf"), "sw", BEGIN)
    assert (other.nearest, other.lang) == ((), None)


def gap(name="Lime", **given):
    example = GapExample(
        question="=HYPERLINK(1)\nsecond", n_people=2, why="unanswered", ids=("x1", "x2", "x3", "x4")
    )
    fields = {
        "name": name,
        "terms": ("lime",),
        "n_people": 2,
        "n_questions": 4,
        "estimated": 16.04,
        "unanswered": 3,
        "unfaithful": 1,
        "langs": {"en": 3, "sw": 1},
        "examples": (example,),
        "nearest": (NearDocument(document_id="@soil.pdf", n_questions=2),),
        "first": BEGIN,
        "last": None,
    }
    return Gap(**fields | given)


def test_the_table_holds_no_formula_and_has_columns_to_fill(tmp_path):
    path = write_gaps(tmp_path / "gaps.csv", [gap("+cmd"), gap("Worms")])
    with path.open(encoding="utf-8-sig", newline="") as file:
        first, second = csv.DictReader(file)
    assert list(first) == [*COLUMNS, "guarded_cells"]
    assert first["gap"] == "'+cmd"
    assert first["example questions"] == "'=HYPERLINK(1)\nsecond"
    assert first["nearest documents"] == "'@soil.pdf"
    assert (first["rank"], first["exchanges estimated"], first["languages"]) == ("1", "16.0", "en 3, sw 1")
    assert (first["first day"], first["last day"]) == ("2026-03-01", "")
    assert first["exchange ids"] == "x1 x2 x3"
    assert (second["rank"], second["gap"]) == ("2", "Worms")


def test_json_lines_hold_everything(tmp_path):
    path = write_gaps(tmp_path / "gaps.jsonl", [gap()])
    (told,) = map(json.loads, path.read_text().splitlines())
    assert (told["rank"], told["name"], told["examples"][0]["n_people"]) == (1, "Lime", 2)
    with pytest.raises(DataError, match="--force"):
        write_gaps(path, [gap()])
    with pytest.raises(DataError, match=r"\.csv"):
        write_gaps(tmp_path / "gaps.xls", [gap()])


def test_the_gaps_found_last_are_kept(tmp_path):
    with fill(tmp_path, []) as store:
        assert load_gaps(store) is None
        kept = keep_gaps(store, [gap(str(n)) for n in range(MOST_KEPT + 5)], found=BEGIN, since=BEGIN)
        assert load_gaps(store) == kept
    assert (len(kept.gaps), kept.n_gaps, kept.n_missed) == (500, 505, 2020)
