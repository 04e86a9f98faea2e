"""`ragstone try` and `try_prompt`: a changed prompt on rows of a run, beside what the run has."""

import json
import re

import pytest
from tests.support.command import ragstone
from tests.support.scripts import fail
from tests.support.tried_run import answering, files_in, judge_text, prompt_text, tried_run

import ragstone as rs
from ragstone.kernel.errors import RagstoneError


@pytest.fixture
def settings(tmp_path, fake_openai):
    return tried_run(tmp_path, fake_openai)


@pytest.fixture
def run(settings, tmp_path):
    return tmp_path / "runs" / "mine"


def written(folder, name, text):
    path = folder / name
    path.write_text(text)
    return path


def test_a_prompt_answers_again_and_the_runs_judges_judge_what_it_says(run, settings, tmp_path, fake_openai):
    before, asked = files_in(run), fake_openai.n_requests
    prompt = written(tmp_path, "loud.toml", prompt_text("Always shout."))
    found = rs.try_prompt(run, prompt=prompt, settings=settings)
    assert [(row.question_id, row.before, row.after) for row in found.rows] == [
        ("moon", "quiet", "LOUD"),
        ("sun", "quiet", "LOUD"),
        ("sea", "quiet", "LOUD"),
    ]
    moved = {row.question_id: {one.name: one.difference for one in row.scores} for row in found.rows}
    # The reference of the moon was in the old answer, that of the sun is in the new one, "both" in neither.
    assert moved == {
        "moon": {"tone": 1.0, "containment": -1.0},
        "sun": {"tone": 1.0, "containment": 1.0},
        "sea": {"tone": 1.0, "containment": 0.0},
    }
    assert fake_openai.n_requests - asked == found.calls.made == 6  # three answers, three verdicts
    assert files_in(run) == before
    again = rs.try_prompt(run, prompt=prompt, settings=settings)
    assert (again.calls.made, again.rows) == (0, found.rows)
    assert fake_openai.n_requests - asked == 6


def test_a_judge_judges_the_saved_answers_of_the_rows_that_are_named(run, settings, tmp_path):
    judge = written(
        tmp_path, "my_tone.toml", judge_text("lenient").replace('"tone"', '"my_tone"\nmetric = "tone"')
    )
    found = rs.try_prompt(run, judge=judge, questions=["sea", "moon"], settings=settings)
    told = [
        (row.question_id, row.before, row.after, [s.difference for s in row.scores]) for row in found.rows
    ]
    assert told == [("moon", "quiet", "quiet", [1.0]), ("sea", "quiet", "quiet", [1.0])]
    assert (found.calls.made, found.notes) == (2, [])


def test_the_forecast_says_what_is_then_asked(run, settings, tmp_path, fake_openai):
    from ragstone.features.improve.trial.trying import draft_of, forecast_trial, trial_task

    prompt = written(tmp_path, "loud.toml", prompt_text("Always shout."))
    asked = fake_openai.n_requests
    task = trial_task(run, draft_of(prompt, None), settings)
    assert forecast_trial(task, settings).calls == 6
    assert fake_openai.n_requests == asked
    rs.try_prompt(run, prompt=prompt, settings=settings)
    done = forecast_trial(task, settings)
    assert (done.calls, done.from_ledger) == (0, 6)


def test_what_fails_has_its_status_and_the_budget_holds(run, settings, tmp_path, fake_openai):
    prompt = written(tmp_path, "loud.toml", prompt_text("Always shout."))
    fake_openai.script = lambda body: (
        fail(400, "no") if "Always" in str(body) and "sun" in str(body) else answering(body)
    )
    found = rs.try_prompt(run, prompt=prompt, settings=settings)
    sun = found.rows[1]
    assert sun.error
    assert {score.after.status for score in sun.scores} == {"app_error"}
    assert all(score.difference is None for score in sun.scores)
    cut = rs.try_prompt(
        run, prompt=written(tmp_path, "b.toml", prompt_text("shout!")), settings=settings, budget="2calls"
    )
    assert cut.calls.made == 2
    assert "over_budget" in (cut.rows[2].error or "")


def test_the_command_prints_both_sides_and_their_difference(run, settings, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(tmp_path, "loud.toml", prompt_text("Always shout."))
    forecast = ragstone("try", "runs/mine", "--prompt", "loud.toml", "--limit", "2", "--forecast")
    assert "about 4 calls" in forecast.out
    ran = ragstone("try", "runs/mine", "--prompt", "loud.toml", "--limit", "2")
    assert ran.code == 0, ran.err
    assert "my_strict" in ran.out
    assert "+1.00" in ran.out
    assert "ragstone compare" in ran.out
    again = ragstone("try", "runs/mine", "--judge", "judges/tone.toml", "--question", "sun", "--json")
    told = json.loads(again.out)
    assert [score["after"]["score"] for row in told["rows"] for score in row["scores"]] == [0.0]


def test_wrong_input_is_told_in_a_sentence(run, settings, tmp_path):
    prompt = written(tmp_path, "loud.toml", prompt_text("shout"))
    sheet = tmp_path / "empty"
    sheet.mkdir()
    for given, words in (
        ({}, "name what is tried"),
        ({"prompt": prompt, "judge": "tone"}, "name what is tried"),
        ({"prompt": written(tmp_path, "x.toml", 'name = "x"')}, "x.toml"),
        ({"prompt": tmp_path / "gone.toml"}, "gone.toml"),
        ({"judge": "nonsense"}, "nonsense"),
        ({"prompt": prompt, "questions": ["mars"]}, "no answer to 'mars'"),
        ({"prompt": prompt, "limit": 51}, "at most 50 rows"),
        ({"prompt": prompt, "run": sheet}, "no answers to try a prompt on"),
        ({"prompt": prompt, "run": tmp_path / "nothing"}, "no answers to try a prompt on"),
        ({"prompt": prompt, "model": "nonsense/x"}, "nonsense"),
        ({"prompt": prompt, "budget": "much"}, "much"),
    ):
        with pytest.raises(RagstoneError, match=words):
            rs.try_prompt(given.pop("run", run), settings=settings, **given)


def test_a_run_without_scores_of_the_judge_says_so(run, settings, tmp_path, says):
    judge = written(tmp_path, "other.toml", judge_text("lenient").replace('"tone"', '"other"'))
    found = rs.try_prompt(run, judge=judge, settings=settings, limit=1)
    assert [score.before for score in found.rows[0].scores] == [None]
    says(found.notes[0])


MAY_COME = "may come from"
NOTE = re.compile(f"The saved scores [^:]*: [^.]*{MAY_COME}[^.]*[.]")


def resaved(run, **changed):
    """Change the saved judgements of the judge `tone`."""
    file = run / "judgements.jsonl"
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    changed_rows = [row | changed if row["judge"] == "tone" else row for row in rows]
    file.write_text("".join(json.dumps(row) + "\n" for row in changed_rows))


def tried_with_tone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = ragstone("try", "runs/mine", "--judge", "judges/tone.toml", "--limit", "1", "--all")
    assert done.code == 0, done.err
    return done.out


def test_no_difference_is_taken_between_two_scales(run, settings, tmp_path, monkeypatch, says):
    resaved(run, scale=[0, 100], score=40.0)
    found = rs.try_prompt(run, judge=tmp_path / "judges" / "tone.toml", settings=settings, limit=1)
    assert [score.difference for score in found.rows[0].scores] == [None]
    says(tried_with_tone(tmp_path, monkeypatch))


def test_scores_by_another_model_are_said_to_be(run, settings, tmp_path, monkeypatch, says):
    assert MAY_COME not in tried_with_tone(tmp_path, monkeypatch)
    resaved(run, model="openai/older")
    told = " ".join(tried_with_tone(tmp_path, monkeypatch).split())
    assert MAY_COME in told
    says(NOTE.search(told)[0])


def test_new_answers_judged_by_another_version_are_said_to_be(run, tmp_path, monkeypatch, says):
    monkeypatch.chdir(tmp_path)
    written(tmp_path, "loud.toml", prompt_text("Always shout."))
    resaved(run, prompt_version=7)
    told = " ".join(ragstone("try", "runs/mine", "--prompt", "loud.toml", "--all").out.split())
    says(NOTE.search(told)[0])
    # A judge that is tried may have another version.
    assert MAY_COME not in tried_with_tone(tmp_path, monkeypatch)
