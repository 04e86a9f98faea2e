"""A draft against the version before, frozen versions, counted looks: on a model whose errors are known."""

import json

import msgspec
import pytest
from tests.support.judged_drafts import judge_text, project, verdict_of
from tests.support.scripts import always, fit_schema, prompt_of
from tests.support.surfaces import shown as surface
from tests.support.texts import undated

from ragstone.features.improve._develop_words import cut_text, development_document, score_text
from ragstone.features.improve._labelled_sets import read_labelled
from ragstone.features.improve._store import DevelopmentStore
from ragstone.features.improve.develop import (
    DevelopmentRun,
    develop_judge,
    forecast_run,
    freeze_judge,
    look_at_test,
)
from ragstone.features.improve.judge_files import digest_of, freeze
from ragstone.kernel.errors import ConfigError, DataError, ModelError
from ragstone.kernel.judging import load_judge


@pytest.fixture
def settings(tmp_path, fake_openai):
    """A project with a judge that is lenient with every third bad answer."""
    return project(tmp_path, fake_openai)


@pytest.fixture
def files(tmp_path):
    return {"judge": tmp_path / "judges" / "mine.toml", "labels": tmp_path / "labelled.jsonl"}


def cases_of(settings, files, part):
    """The numbers of the cases in a part; their questions are `What is case N?`."""
    labelled = read_labelled(files["labels"])
    found = labelled.of(DevelopmentStore(settings).split(labelled), part)
    return sorted(int(row.question.split()[-1][:-1]) for row in found.answers)


def in_percent(body):
    made = json.loads(fit_schema(body))
    return json.dumps({**made, "score": 90 if verdict_of(prompt_of(body)) else 20})


def test_what_changed_and_whether_agreement_moved(settings, files):
    freeze_judge(files["judge"], "first", settings=settings)
    files["judge"].write_text(judge_text("blind").replace("version    = 1", "version    = 2"))
    found = develop_judge(**files, settings=settings)
    dev = cases_of(settings, files, "dev")
    # Cases 0 to 14 are bad. Version 1 called those divisible by 3 good; the draft no longer does, and calls
    # the good ones divisible by 3 bad.
    better = {case for case in dev if case < 15 and case % 3 == 0}
    worse = {case for case in dev if case >= 15 and case % 3 == 0}
    moved = {change.move: set() for change in found.changes}
    for change in found.changes:
        moved[change.move].add(int(change.question.split()[-1][:-1]))
    assert moved == {"better": better, "worse": worse}
    assert [change.move for change in found.changes] == ["worse"] * len(worse) + ["better"] * len(better)
    n = len(dev)
    assert found.before.value.value == pytest.approx((n - len(better)) / n)
    assert found.after.value.value == pytest.approx((n - len(worse)) / n)
    assert found.test.difference.value == pytest.approx((len(better) - len(worse)) / n)
    assert (found.n, found.n_answers, found.n_test) == (n, n, 40 - n)
    first = found.changes[0]
    assert (first.before, first.after, first.human) == (1, 0, 1)
    assert first.after_reason == "<b>Because</b> & so."
    assert (found.before.version, found.after.version) == (1, 2)


def test_a_clear_gain_is_called_better_and_a_draft_that_is_as_it_was_frozen_says_so(settings, files, says):
    freeze_judge(files["judge"], "first", settings=settings)
    same = develop_judge(**files, settings=settings)
    assert (same.verdict, same.changes) == ("cannot tell", [])
    says(surface(development_document(same)))
    files["judge"].write_text(judge_text("blind lenient"))
    freeze_judge(files["judge"], "worse on purpose", settings=settings)
    files["judge"].write_text(judge_text("careful"))
    assert develop_judge(**files, settings=settings).verdict == "better"


def test_no_call_is_paid_twice_not_even_after_freezing(settings, files, fake_openai):
    develop_judge(**files, settings=settings)
    n_dev = fake_openai.n_requests
    assert n_dev == len(cases_of(settings, files, "dev"))
    freeze_judge(files["judge"], "first", settings=settings)
    develop_judge(**files, settings=settings)  # the draft is version 1 itself still
    assert fake_openai.n_requests == n_dev
    files["judge"].write_text(judge_text("careful"))
    forecast = forecast_run(DevelopmentRun(**files, settings=settings))
    assert (forecast.calls, forecast.from_ledger) == (n_dev, n_dev)
    found = develop_judge(**files, settings=settings)
    frozen = freeze_judge(files["judge"], "careful", development=found, settings=settings)
    assert fake_openai.n_requests == 2 * n_dev
    develop_judge(frozen.judge, labels=files["labels"], settings=settings)
    assert fake_openai.n_requests == 2 * n_dev


def test_freezing_keeps_every_version_and_writes_what_changed(settings, files, tmp_path, says):
    judges = tmp_path / "judges"
    freeze_judge(files["judge"], "as it came", settings=settings)
    first = (judges / "mine@v1.toml").read_text()
    says(undated(first.splitlines()[0]))
    files["judge"].write_text(judge_text("careful"))
    found = develop_judge(**files, settings=settings)
    frozen = freeze_judge(files["judge"], "asks\nfor care", development=found, settings=settings)
    assert (frozen.version, frozen.path, frozen.kept.name) == (2, files["judge"], "mine@v2.toml")
    text = frozen.path.read_text()
    assert text == frozen.kept.read_text()
    assert (judges / "mine@v1.toml").read_text() == first
    head = text.splitlines()[0]
    says(undated(head))
    assert "version = 7" in text  # the line of the prompt that looks like the key's
    judge = load_judge(frozen.path)
    assert judge.version == 2
    assert judge.tuned_on == found.tuned_on
    files["judge"].write_text(text.replace("careful", "more careful"))
    assert freeze_judge(files["judge"], "more", settings=settings).version == 3


def test_a_file_that_was_never_frozen_keeps_its_number_and_the_text_before_is_kept(settings, files, says):
    old = files["judge"].read_text()
    frozen = freeze(files["judge"], judge_text("careful"), "careful", who="anna", base=digest_of(old))
    assert frozen.version == 2
    assert files["judge"].with_name("mine@v1.toml").read_text() == old
    with pytest.raises(ConfigError) as error:
        freeze(files["judge"], judge_text("other"), "other", who="ben", base=digest_of(old))
    says(error.value)
    assert load_judge(files["judge"]).version == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (judge_text("x").replace("{reference}", "it"), r"mine.toml:.*reference"),
        (judge_text("x").replace("kind ", "kidn "), "kidn"),
        ("name = ", "not valid TOML"),
        (judge_text("x").replace('"mine"', '"correctness"'), "comes with Ragstone"),
    ],
)
def test_an_invalid_judge_is_refused_in_the_loaders_words(settings, files, text, message):
    files["judge"].write_text(text)
    with pytest.raises(ConfigError, match=message):
        freeze_judge(files["judge"], "x", settings=settings)
    assert [file.name for file in files["judge"].parent.iterdir()] == ["mine.toml"]


def test_dev_questions_are_left_out_of_cards_of_a_frozen_judge_and_test_ones_are_not(settings, files):
    found = develop_judge(**files, settings=settings)
    freeze_judge(files["judge"], "first", development=found, settings=settings)
    look = look_at_test(**files, settings=settings)
    assert (look.card.n, look.card.n_tuned) == (len(cases_of(settings, files, "test")), 0)
    again = develop_judge(**files, settings=settings)
    assert again.after.card.n == len(cases_of(settings, files, "dev"))


def test_every_look_at_the_test_part_is_counted_and_freezing_resets_nothing(settings, files, tmp_path, says):
    looks = []
    for words in ("lenient", "careful", "very careful"):
        files["judge"].write_text(judge_text(words))
        freeze_judge(files["judge"], words, settings=settings)
        looks.append(look_at_test(**files, settings=settings))
    assert [look.number for look in looks] == [1, 2, 3]
    says(undated(looks[0].card.notes[0]))
    assert "adaptive overfitting" in looks[2].card.notes[1]
    assert looks[0].card.confusion != looks[1].card.confusion
    assert looks[0].card.disagreements == []  # the answers of the test part stay closed
    assert looks[1].card.agreement["exact agreement"].value == 1
    assert looks[0].card.no_model is not None  # containment stands beside it
    other = tmp_path / "renamed.jsonl"
    other.write_text(files["labels"].read_text())
    assert look_at_test(files["judge"], labels=other, settings=settings).number == 4
    log = (tmp_path / ".ragstone/workbench/development/looks.jsonl").read_text().splitlines()
    assert [json.loads(line)["version"] for line in log] == [1, 2, 3, 3]


def test_a_look_that_the_budget_cuts_off_is_none(settings, files, says):
    with pytest.raises(DataError) as error:
        look_at_test(**files, settings=settings, budget="2calls")
    says(error.value)
    assert DevelopmentStore(settings).looks() == []
    assert look_at_test(**files, settings=settings).number == 1


def test_a_budget_that_is_too_small_leaves_verdicts_out_and_says_so(settings, files, says):
    freeze_judge(files["judge"], "first", settings=settings)
    develop_judge(**files, settings=settings)
    files["judge"].write_text(judge_text("careful"))
    found = develop_judge(**files, settings=settings, budget="3calls")
    assert found.after.statuses["scored"] == 3
    assert found.after.statuses["over_budget"] == found.n_answers - 3
    assert found.count("lost") == found.n_answers - 3
    says(found.notes[0])
    assert found.n == 3


def test_a_model_that_is_away_is_told_and_the_draft_is_kept(settings, files, fake_openai):
    fake_openai.key = "another"
    with pytest.raises(ModelError):
        develop_judge(**files, settings=settings)
    [draft] = DevelopmentStore(settings).drafts("mine")
    assert (draft.outcome.state, draft.text) == ("failed", files["judge"].read_text())


def test_replies_that_cannot_be_read_are_counted(settings, files, fake_openai):
    fake_openai.script = always("I would rather not say.")
    found = develop_judge(**files, settings=settings)
    assert found.after.statuses == {"unparsable": found.n_answers}
    assert (found.after.card.n, found.verdict) == (0, "cannot tell")


def test_a_judge_on_another_scale_than_the_labels_is_compared_by_rank_or_cut(
    settings, files, fake_openai, says
):
    text = judge_text("WHICH").replace('"boolean"', '"percentage"').replace("[0, 1]", "[0, 100]")
    fake_openai.script = in_percent
    files["judge"].write_text(text.replace("WHICH", "lenient"))
    freeze_judge(files["judge"], "first", settings=settings)
    files["judge"].write_text(text.replace("WHICH", "careful"))
    ranked = develop_judge(**files, settings=settings)
    assert ranked.measure == "Spearman"
    assert {change.move for change in ranked.changes} == {"neither"}
    assert any("give a threshold" in note for note in ranked.after.card.notes)
    cut = develop_judge(**files, settings=settings, threshold=50)
    assert (cut.measure, cut.after.value.value) == ("exact agreement", 1)
    assert {change.move for change in cut.changes} == {"better"}
    says(cut_text(cut))
    assert not cut_text(ranked)
    assert {(change.before, change.after) for change in cut.changes} == {(90, 20)}
    assert [score_text(cut, score, "scored") for score in (200 / 3, -1 / 3)] == ["66.67", "−0.3333"]


def test_labels_of_another_metric_are_told(settings, files, says):
    files["judge"].write_text(judge_text("x").replace('"correctness"', '"tone"'))
    rows = [json.loads(line) for line in files["labels"].read_text().splitlines()]
    files["labels"].write_text("".join(json.dumps({**row, "metric": "correctness"}) + "\n" for row in rows))
    with pytest.raises(DataError) as error:
        develop_judge(**files, settings=settings)
    says(error.value)


def test_labels_without_answers_ask_for_the_sheet(settings, files, tmp_path):
    labels = tmp_path / "labels.jsonl"
    labels.write_text('{"question_id": "1", "score": 1}\n')
    with pytest.raises(DataError, match="--answers"):
        develop_judge(files["judge"], labels=labels, settings=settings)


def test_the_split_is_frozen_with_the_digest_of_the_labels(settings, files, tmp_path):
    before = cases_of(settings, files, "test")
    file = tmp_path / ".ragstone/workbench/development/labelled.json"
    frozen = json.loads(file.read_text())
    rows = files["labels"].read_text()
    more = [
        {"question": f"What is case {n}?", "reference": "r", "answer": f"case {n} is good", "human_label": 1}
        for n in range(100, 130)
    ]
    files["labels"].write_text(rows + "".join(json.dumps(row) + "\n" for row in more))
    other_seed = msgspec.structs.replace(settings, run=msgspec.structs.replace(settings.run, seed=9))
    after = cases_of(other_seed, files, "test")
    assert [case for case in after if case < 100] == before
    assert 5 <= len([case for case in after if case >= 100]) <= 25
    again = json.loads(file.read_text())
    assert (again["labels_digest"], again["n_labels"], again["seed"]) == (frozen["labels_digest"], 40, 0)
