"""Failure modes in the monitor: asked of the sample, drawn and watched; new ones among what none has."""

import datetime
import json
import random
import shutil
from pathlib import Path

import msgspec
import pytest
from tests.support.command import ragstone as command
from tests.support.golden import sentence_in
from tests.support.monitor_cells import BEGIN, days, dropped

from ragstone.features.watch._alarms import alarm_line, alarms
from ragstone.features.watch._judged import scored_of
from ragstone.features.watch._mode_looks import NEW_MODES_NOTE, ModeLookResult, load_found, new_mode_alarms
from ragstone.features.watch._modes import cells_for_alarms, load_modes
from ragstone.features.watch._uncovered import UNCOVERED, ModeSet
from ragstone.features.watch.store import MonitorStore
from ragstone.features.watch.watching import watch
from ragstone.kernel.config import MonitorSection, load_settings
from ragstone.kernel.judging.variant import load_judges
from ragstone.kernel.records import Judgement

REFUSES = """name = "{name}"
version = 1
kind = "signs"
inputs = ["answer"]
scale = [0, 1]
best = "lowest"
source = "own; for tests"
description = "The answer is wrong, and it refuses."
[[signs]]
weight = 0.9
measure = "refuses"
"""
TODAY = datetime.date(2026, 3, 1)
WORDS = ("maize", "wheat", "rice", "bean", "soil", "water", "field", "plant", "leaf", "root", "seed", "rain")
PASSAGE = "The maize field needs water after the frost."
RIGHT, REFUSAL = "The maize field needs water.", "I do not know, sorry."
INVENTED = "Purple galaxies orbit seventeen bananas tonight."


@pytest.fixture
def project(folder):
    (folder / "ragstone.toml").write_text(
        '[monitor]\njudges = ["grounding"]\nmodes = "modes"\ncanaries = 0\n', encoding="utf-8"
    )
    (folder / "modes").mkdir()
    (folder / "modes" / "refusals.toml").write_text(REFUSES.format(name="refusals"))
    return folder


def write_log(folder, answers, *, name="log.jsonl", begin="2026-01-01", a_day=4):
    """Write a log of answers, so many a day."""
    first = datetime.datetime.fromisoformat(begin)
    rows = [
        {
            "id": f"{name}-{at}",
            "question": f"{random.Random(at).choice(WORDS)} on plot {at}?",
            "answer": answer,
            "user": f"user {at % 97}",
            "time": (first + datetime.timedelta(days=at // a_day, minutes=at % a_day)).isoformat() + "Z",
            "contexts": [{"id": "c", "document_id": "d", "text": PASSAGE}],
        }
        for at, answer in enumerate(answers)
    ]
    (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder / name


def watched(folder, log=(), today=TODAY, **options):
    return watch(log, settings=load_settings(folder / "ragstone.toml"), today=today, **options)


def means(summary):
    return {metric.metric: (metric.whole.mean, metric.whole.n) for metric in summary.overview.metrics}


def test_a_mode_is_asked_of_the_sample_and_what_is_wrong_without_one_is_a_metric(project):
    answers = [RIGHT, RIGHT, REFUSAL, INVENTED] * 3
    found = means(watched(project, write_log(project, answers)))
    assert found["refusals"] == (0.25, 12)
    assert found[UNCOVERED][0] == pytest.approx(3 / found[UNCOVERED][1])  # the invented ones, of all judged


def test_without_the_key_no_mode_is_watched(project):
    (project / "ragstone.toml").write_text('[monitor]\njudges = ["grounding"]\ncanaries = 0\n')
    summary = watched(project, write_log(project, [RIGHT, REFUSAL]))
    assert [*means(summary)] == ["faithfulness"]
    assert summary.modes_left_out == summary.new_modes == []


def test_a_score_of_signs_counts_as_yes_from_its_threshold_on():
    row = {
        "question_id": "q",
        "system": "s",
        "judge": "m",
        "metric": "m",
        "status": "scored",
        "model": "none",
    }
    row |= {"prompt_version": 1, "scale": (0.0, 1.0)}
    scores = [
        scored_of(Judgement(**row, score=score, metadata={"threshold": 0.6}), ["m"]).score
        for score in (0.59, 0.6)
    ]
    assert scores == [0, 1]
    assert scored_of(Judgement(**row, score=0.59), []).score == 0.59


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("broken.toml", 'name = "broken"\nkind = "signs"\n'),
        ("no_toml.toml", "name ="),
        (
            "with_reference.toml",
            REFUSES.format(name="with_reference").replace('"answer"', '"answer", "reference"'),
        ),
        ("best_is_high.toml", REFUSES.format(name="best_is_high").replace("lowest", "highest")),
        ("another.toml", REFUSES.format(name="grounding")),
        (
            "asked.toml",
            'name = "asked"\nversion = 1\nkind = "boolean"\nbest = "lowest"\nscale = [0, 1]\nsource = "own"\n'
            'inputs = ["answer"]\nprompt = "Is it rude? {answer}"\n',
        ),
    ],
)
def test_a_mode_that_cannot_be_watched_is_named_and_the_others_go_on(project, name, text, says):
    (project / "modes" / name).write_text(text)
    summary = watched(project, write_log(project, [RIGHT, REFUSAL, INVENTED, RIGHT]))
    assert means(summary)["refusals"] == (0.25, 4)
    [why] = summary.modes_left_out
    says(why)


def test_a_folder_without_modes_is_named(project, says):
    (project / "modes" / "refusals.toml").unlink()
    [why] = watched(project, write_log(project, [RIGHT])).modes_left_out
    says(why)


def test_a_mode_that_is_added_later_raises_no_alarm_of_days_that_may_have_shown_it(project):
    log = write_log(project, [RIGHT, REFUSAL] * 40)
    watched(project, log)
    (project / "modes" / "late.toml").write_text(REFUSES.format(name="late"))
    watched(project, log)
    write_log(project, [RIGHT, REFUSAL] * 4, name="more.jsonl", begin="2026-01-21")
    summary = watched(project, project / "more.jsonl")
    assert means(summary)["late"] == (0.5, 88)  # the days before are judged and shown
    with MonitorStore(project / ".ragstone" / "monitor") as store:
        first, second = store.mode_sets
        cells = cells_for_alarms(store.cells(tag=""), store.mode_sets)
    assert (first.since, second.since) == (datetime.date.min, datetime.date(2026, 1, 21))
    days_of = {
        metric: min(cell.day for cell in cells if cell.metric == metric) for metric in ("refusals", "late")
    }
    assert days_of == {"refusals": BEGIN, "late": datetime.date(2026, 1, 21)}
    # What is wrong without a mode is another thing with another set of modes: another stream.
    assert {cell.judge for cell in cells if cell.metric == UNCOVERED} == {"modes 1 none", "modes 2 none"}


def test_a_share_without_a_mode_that_rises_is_an_alarm_and_another_set_of_modes_is_none():
    first = ModeSet(since=datetime.date.min, wrong_by=["grounding"], modes={"a": "1"}, model="none")
    second = msgspec.structs.replace(
        first, since=BEGIN + datetime.timedelta(days=60), modes={"a": "1", "b": "2"}
    )
    rises = days(dropped(40, days_after=20, mean=0.05, by=-0.05), metric=UNCOVERED, judge="modes 1 none")
    later = days([0.02] * 30, metric=UNCOVERED, judge="modes 2 none", begin=60, seed=1)
    cells = cells_for_alarms([*rises, *later], [first, second])
    [alarm] = alarms(cells, MonitorSection(), best={UNCOVERED: "lowest"}, new_modes=[])
    assert (alarm.rose, alarm.worse, alarm.how) == (True, True, "logged")
    assert alarm.over == BEGIN + datetime.timedelta(days=60)  # since then other modes are watched


def planted_log(folder, planted_from=45, until=70, a_day=22):
    """Write a log in which answers that are cut off begin on a day, beside refusals and invented ones."""
    rng = random.Random(0)
    answers = []
    for at in range(until * a_day):
        r = rng.random()
        is_new = at // a_day >= planted_from and r > 0.86
        answers.append(
            "Purple galaxies orbit seventeen bananas while the frost sings to the" if is_new
            else REFUSAL if r < 0.05 else INVENTED if r < 0.1
            else f"The {rng.choice(WORDS)} needs water after the frost of the maize field."
        )  # fmt: skip
    return write_log(folder, answers, a_day=a_day)


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("planted")
    (folder / ".ragstone").mkdir()
    (folder / ".ragstone" / "secret").write_text("ab" * 32)  # decides which half each user is in
    (folder / "ragstone.toml").write_text(
        '[monitor]\njudges = ["grounding"]\nmodes = "modes"\ncanaries = 0\n', encoding="utf-8"
    )
    (folder / "modes").mkdir()
    (folder / "modes" / "refusals.toml").write_text(REFUSES.format(name="refusals"))
    return folder, watched(folder, planted_log(folder), today=datetime.date(2026, 3, 12))


@pytest.mark.long
def test_a_new_mode_is_found_soon_and_named_with_a_file_that_is_a_mode(planted, says):
    folder, summary = planted
    [found] = summary.new_modes
    begun = BEGIN + datetime.timedelta(days=45)
    says(found.title)
    assert begun <= found.mode.since <= begun + datetime.timedelta(days=3)
    assert found.mode.looked <= begun + datetime.timedelta(days=21)
    assert found.mode.before.mean < 0.01
    assert 0 < found.mode.after.low < found.mode.after.mean
    assert found.mode.p <= found.mode.alpha < 0.001
    [judge] = load_judges([found.file])
    assert (judge.name, judge.best) == ("answers_that_are_cut_off", "lowest")
    [alarm] = [alarm for alarm in summary.open_alarms if alarm.how == "new mode"]
    assert (alarm.worse, alarm.cause, alarm.raised) == (True, "unknown", found.mode.looked)
    says(alarm_line(alarm).replace(str(folder), "FOLDER"))


@pytest.mark.long
def test_the_page_and_a_terminal_show_modes_and_what_none_of_them_has(planted, says, monkeypatch):
    folder, _ = planted
    page = (folder / ".ragstone" / "monitor" / "monitor.html").read_text()
    assert 'id="modes"' in page
    says(sentence_in(page, "New: answers"))
    monkeypatch.chdir(folder)
    shown = command("watch", "--all").out
    part = shown[shown.index("Failure modes") :].partition("\n\n\n")[0]
    says(part[: part.index("To watch it")])


@pytest.mark.long
def test_a_second_look_finds_nothing_again_and_a_watched_mode_is_over(planted, tmp_path):
    whole, summary = planted
    folder = shutil.copytree(whole, tmp_path / "copy")
    again = watched(folder, today=datetime.date(2026, 3, 12))
    first, second = (
        [msgspec.structs.replace(found, file="") for found in each.new_modes] for each in (summary, again)
    )
    assert first == second
    source = summary.new_modes[0].file
    (folder / "modes" / "answers_that_are_cut_off.toml").write_bytes(Path(source).read_bytes())
    write_log(folder, [RIGHT] * 4, name="next.jsonl", begin="2026-03-12")
    later = watched(folder, folder / "next.jsonl", today=datetime.date(2026, 3, 13))
    [found] = later.new_modes
    assert found.over is not None
    assert not [alarm for alarm in later.open_alarms if alarm.how == "new mode"]
    assert means(later)["answers_that_are_cut_off"][0] > 0.03
    assert [row.over for row in new_mode_alarms(ModeLookResult(modes=later.new_modes))] == [found.over]


def test_what_was_found_is_kept_in_the_store(planted, tmp_path):
    folder = shutil.copytree(planted[0], tmp_path / "copy")
    with MonitorStore(folder / ".ragstone" / "monitor") as store:
        assert store.note(NEW_MODES_NOTE) is not None
        assert len(load_found(store).modes) == 1
        store.keep_note(NEW_MODES_NOTE, msgspec.json.encode(ModeLookResult()))
        assert load_found(store) == ModeLookResult()


def test_a_project_without_modes_loads_none(project):
    settings = load_settings(project / "ragstone.toml")
    none = msgspec.structs.replace(settings, monitor=MonitorSection())
    assert load_modes(none, []).judges == []
    assert [judge.name for judge in load_modes(settings, []).judges] == ["refusals"]
