"""A look at the store: gaps found once, named by a model if one is chosen; questions for a set."""

import datetime
import json

import msgspec
import pytest
from tests.support.monitor_store import fill, row
from tests.support.scripts import nonce_in, prompt_of, say

from ragstone.features.watch._finding_gaps import look_for_gaps
from ragstone.features.watch._sampling import StoreRows, sample_store
from ragstone.features.watch.watching import watch
from ragstone.kernel.config import DocumentsSection, MonitorSection, Settings
from ragstone.kernel.errors import DataError

TODAY = datetime.date(2026, 3, 10)


def asked(name, question, **given):
    return row(name, question=question, **{"answered": 0, **given})


ROWS = [
    asked("x1", "Which worms do goats get?", user_id="ann"),
    asked("x2", "How do I treat worms of goats?", user_id="bob"),
    asked("x3", "Do goats with worms lose weight?", user_id="cho"),
    asked("x4", "When do I spread lime?", user_id="ann", contexts=[{"text": "Soil.", "document_id": "soil"}]),
    asked("x8", "How much lime does my field need?", user_id="ann"),
    asked("x9", "Is lime good for my field?", user_id="ann"),
    asked("x5", "How is wheat sown?", answered=1, faithfulness=1),
]


def settings(tmp_path, **section):
    return Settings(root=str(tmp_path), monitor=MonitorSection(store="store", canaries=0, **section))


def test_gaps_are_found_in_the_last_days_and_kept(tmp_path):
    with fill(tmp_path / "store", ROWS) as store:
        found = look_for_gaps(store, settings(tmp_path), today=TODAY)
        assert found.gaps[0].n_people == 3
        assert (found.kept.n_missed, found.kept.since) == (6, datetime.date(2026, 2, 2))
        late = [asked("late", "How is wheat sown?", answered=1, day=9)]
    with fill(tmp_path / "store", late) as store:
        later = look_for_gaps(store, settings(tmp_path, gap_days=9), today=TODAY)
        assert later.gaps == []  # asked on 1 March; the last nine days to the 10th begin on the second


def test_a_row_of_2099_does_not_move_the_days_in_which_gaps_are_found(tmp_path):
    odd = [asked("odd", "Is it wet?", answered=1) | {"time": "2099-01-01"}]
    with fill(tmp_path / "store", [*ROWS, *odd]) as store:
        assert look_for_gaps(store, settings(tmp_path), today=TODAY).kept.since == datetime.date(2026, 2, 2)
    summary = watch(settings=settings(tmp_path), today=TODAY)
    assert (summary.overview.in_future, summary.overview.last) == (1, datetime.date(2026, 3, 1))


def test_questions_whose_log_names_no_document_get_the_nearest_of_the_corpus(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "goats.md").write_text("Goats eat leaves.")
    (tmp_path / "docs" / "tea.md").write_text("Tea likes rain.")
    chosen = msgspec.structs.replace(settings(tmp_path), documents=DocumentsSection(paths=["docs"]))
    with fill(tmp_path / "store", ROWS) as store:
        gaps = look_for_gaps(store, chosen, today=TODAY).gaps
    near = {one.document_id for gap in gaps for one in gap.nearest}
    assert "soil" in near
    assert any("goats" in name for name in near)


def name_it(body):
    name = "Worms of goats" if "worms" in prompt_of(body) else "Lime for fields"
    return say(json.dumps({"nonce": nonce_in(body), "reason": "They ask so.", "name": name}))


def test_a_model_names_what_most_people_asked(fake_openai, tmp_path):
    fake_openai.script = name_it
    chosen = msgspec.structs.replace(
        fake_openai.settings(tmp_path), monitor=MonitorSection(store="store", gap_model=fake_openai.model)
    )
    with fill(tmp_path / "store", ROWS) as store:
        found = look_for_gaps(store, chosen, today=TODAY)
        assert found.calls.made == 2
    assert {one.name for one in found.gaps} == {"Worms of goats", "Lime for fields"}


def test_watch_tells_the_gaps_and_looks_again_only_where_something_changed(tmp_path, monkeypatch):
    fill(tmp_path / "store", ROWS).close()
    first = watch(settings=settings(tmp_path), today=TODAY)
    assert first.gaps.gaps[0].n_people == 3
    monkeypatch.setattr("ragstone.features.watch.watching.look_for_gaps", None)
    assert watch(settings=settings(tmp_path), today=TODAY).gaps == first.gaps
    with pytest.raises(TypeError):
        watch(settings=settings(tmp_path, unfaithful_below=0.9), today=TODAY)


def test_questions_of_the_store_become_a_set_with_tags_and_answers(tmp_path, says):
    rows = [
        *ROWS,
        asked("x6", "Call me on +44 20 7946 0958: is rain coming to my field?", tags={"crop": "tea"}),
        asked("x7", "hello"),
    ]
    with fill(tmp_path / "store", rows, keep_personal_data=True) as store:
        found = sample_store(store, 8, by="frequency", settings=settings(tmp_path))
        assert len(found.questions) == 8
        (one,) = [each for each in found.questions if "rain" in each.question]
        assert "7946" not in one.question
        assert one.tags["crop"] == "tea"
        assert {each.question_id for each in found.answers} == {each.id for each in found.questions}
        worst = sample_store(store, 1, by="quality", settings=settings(tmp_path))
        says(worst.questions[0].question)
        assert StoreRows(store)[0]["question_id"] == "x1"
    with fill(tmp_path / "empty", []) as store, pytest.raises(DataError, match="ragstone watch LOG"):
        sample_store(store, settings=settings(tmp_path))
