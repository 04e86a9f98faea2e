import functools
import inspect

import msgspec
import numpy as np
import pytest
from tests.support.plain_rows import judgement_row

from ragstone.features.improve import fit as fitting
from ragstone.features.improve._thresholds import FOLDS
from ragstone.features.improve.fit import fit_cascade, write_cascade
from ragstone.kernel.errors import ConfigError, DataError
from ragstone.kernel.judging import JudgeContext, judge_answer, load_judge, parse_judge, question_digest
from ragstone.kernel.records import Answer, Label, Usage

N = 400
loaded = functools.lru_cache(load_judge)


def judgement(n, judge, score, **changes):
    given = loaded(judge)
    row = judgement_row(
        question_id=f"q{n}",
        system="mine",
        judge=judge,
        metric=given.measures,
        model="openai/big" if given.needs_model else "none",
        prompt_version=given.version,
        score=float(score),
        scale=given.scale,
        usage=Usage(input=100, output=20) if given.needs_model else None,
        cost_usd=0.01 if given.needs_model else None,
    )
    return msgspec.structs.replace(row, **changes)


def label(n, score, **changes):
    return msgspec.structs.replace(
        Label(question_id=f"q{n}", system="mine", metric="correctness", score=float(score)), **changes
    )


def given(n_rows=N, seed=0):
    """Return judgements and labels: containment's 1 is always right, of its 0 half are wrong.

    The dear judge gives 40 to 100 where people say yes, and 0 to 30 where they say no.
    """
    draws = np.random.default_rng(seed)
    yes = np.arange(n_rows) % 4 != 0
    cheap = np.where(np.arange(n_rows) % 2 == 0, 0.0, 1.0)  # every second one: half of the zeros are a yes
    dear = np.where(yes, draws.integers(40, 101, n_rows), draws.integers(0, 31, n_rows))
    judgements = [judgement(n, "containment", cheap[n]) for n in range(n_rows)]
    judgements += [judgement(n, "correctness", dear[n]) for n in range(n_rows)]
    return judgements, [label(n, yes[n]) for n in range(n_rows)]


def test_a_cascade_of_two_judges_is_fitted_and_says_what_to_expect():
    judgements, labels = given()
    fit = fit_cascade(judgements, labels, cheap="containment", agreement=0.9, name="steps")
    cheap, dear = fit.judge.members
    assert (cheap.judge, cheap.model, cheap.cut, cheap.unsure) == ("containment", None, 0.5, (0.0, 0.0))
    assert (dear.judge, dear.model, dear.unsure) == ("correctness", "openai/big", None)
    assert 30 < dear.cut <= 40
    # Half of the answers are 1, all right; the others go to the dear judge, which is always right.
    found = fit.in_sample
    assert (found.n_answers, found.n_questions, found.n_decided) == (N, N, N // 2)
    assert (found.cascade.value, found.decided.value, found.dear.value) == (1.0, 1.0, 1.0)
    assert found.cheap.value == 0.75  # a quarter of all are zeros that people call right
    assert found.cascade_minus_cheap.value == 0.25
    # 400 calls of 120 tokens at 0.01 USD with the dear judge alone; half of them are asked.
    assert (fit.spent, fit.dear_alone) == (
        Usage(input=20_000, output=4_000, calls=200),
        Usage(input=40_000, output=8_000, calls=400),
    )
    assert (fit.spent_usd, fit.dear_alone_usd) == (pytest.approx(2.0), pytest.approx(4.0))
    assert (fit.judge.metric, fit.judge.inputs) == ("correctness", ["reference", "answer", "question"])
    assert (fit.tested, fit.n_left_out) == (None, 0)


def test_questions_set_apart_are_measured_and_not_fitted_on():
    judgements, labels = given()
    fit = fit_cascade(judgements, labels, cheap="containment", agreement=0.9, test_share=0.25, seed=3)
    assert (fit.in_sample.n_questions, fit.tested.n_questions) == (300, 100)
    tuned = set(fit.judge.tuned_on)
    assert len(tuned) == 300
    assert tuned <= {question_digest(f"q{n}") for n in range(N)}
    again = fit_cascade(judgements, labels, cheap="containment", agreement=0.9, test_share=0.25, seed=3)
    other = fit_cascade(judgements, labels, cheap="containment", agreement=0.9, test_share=0.25, seed=4)
    assert (fit == again, set(other.judge.tuned_on) == tuned) == (True, False)


def test_answers_of_one_question_are_in_one_part_and_in_one_fold():
    judgements, labels = given()
    labels = [
        msgspec.structs.replace(one, metadata={"question": f"Question {n // 4}?"})
        for n, one in enumerate(labels)
    ]
    fit = fit_cascade(judgements, labels, cheap="containment", agreement=0.9, test_share=0.5)
    assert (fit.tested.n_questions, fit.tested.n_answers) == (N // 8, N // 2)
    assert question_digest("", "question 0?") in fit.judge.tuned_on or any(
        question_digest("", f"Question {n}?") in fit.judge.tuned_on for n in range(N // 4)
    )


def test_cross_validation_decides_each_answer_by_thresholds_fitted_without_it():
    # The dear judge's scores have nothing to do with people's: in sample its cut looks better than it is.
    draws = np.random.default_rng(5)
    judgements, labels = given()
    judgements = [
        row
        if row.judge == "containment"
        else msgspec.structs.replace(row, score=float(draws.integers(0, 101)))
        for row in judgements
    ]
    fit = fit_cascade(judgements, labels, cheap="containment", agreement=0.9)
    assert fit.cross_validated.n_answers == N
    assert fit.cross_validated.cascade.value < fit.in_sample.cascade.value
    assert fit.n_folds_out == 0


def test_folds_without_an_interval_hand_everything_on_and_are_counted():
    # 39 right of 39 show 0.91, the 31 of four folds only 0.89.
    judgements, labels = given(78)
    fit = fit_cascade(judgements, labels, cheap="containment", agreement=0.9)
    assert fit.n_folds_out == FOLDS
    assert (fit.cross_validated.n_decided, fit.cross_validated.decided) == (0, None)
    assert fit.in_sample.n_decided == 39


def test_the_dear_judges_cut_is_fitted_on_what_it_will_be_asked():
    # Where containment says 1 the dear judge gives 20 to good answers; where it says 0, good ones get 60 and
    # bad ones 40: a cut for all answers is 10, and right for 3 of 4; of those handed on 50 parts all.
    n_rows = 400
    judgements, labels = given(n_rows)
    dear = [20.0 if n % 2 else 60.0 if n % 4 else 40.0 for n in range(n_rows)]
    judgements = [*judgements[:n_rows], *(judgement(n, "correctness", dear[n]) for n in range(n_rows))]
    fit = fit_cascade(judgements, labels, cheap="containment", agreement=0.9)
    assert fit.judge.members[1].cut == 50
    assert fit.in_sample.cascade.value == 1.0
    assert fit.in_sample.dear.value < 1.0


def test_a_cheap_judge_that_is_good_enough_alone_hands_nothing_on():
    judgements, labels = given()
    labels = [label(n, n % 2) for n in range(N)]
    fit = fit_cascade(judgements, labels, cheap="containment", agreement=0.9)
    assert fit.judge.members[0].unsure == (0.5, 0.5)
    assert fit.in_sample.n_decided == N


def test_labels_that_are_grades_need_to_be_told_which_are_a_yes(says):
    judgements, labels = given()
    grades = [msgspec.structs.replace(one, score=one.score * 2 + 1) for one in labels]
    with pytest.raises(DataError) as error:
        fit_cascade(judgements, grades, cheap="containment")
    says(error.value)
    fit = fit_cascade(judgements, grades, cheap="containment", agreement=0.9, yes_from=2)
    assert fit.in_sample.cascade.value == 1.0


def test_labels_of_another_metric_are_not_looked_at(says):
    judgements, labels = given()
    others = [msgspec.structs.replace(one, metric="tone", score=7.0) for one in labels]
    fit = fit_cascade(judgements, [*labels, *others], cheap="containment", agreement=0.9)
    assert fit.in_sample.n_answers == N
    with pytest.raises(DataError) as error:
        fit_cascade(judgements, others, cheap="containment")
    says(error.value)


def test_answers_that_a_judge_did_not_score_are_left_out_and_counted():
    judgements, labels = given()
    judgements[0] = msgspec.structs.replace(judgements[0], status="error", score=None)
    del judgements[N + 1]
    fit = fit_cascade(judgements, labels, cheap="containment", agreement=0.9)
    assert (fit.in_sample.n_answers, fit.n_left_out) == (N - 2, 2)


def test_answers_whose_questions_a_judge_was_tuned_on_are_counted_apart(says):
    judgements, labels = given()
    tuned = [msgspec.structs.replace(row, metadata={"tuned": True}) for row in judgements[:5]]
    fit = fit_cascade([*tuned, *judgements[5:]], labels, cheap="containment", agreement=0.9)
    assert (fit.in_sample.n_answers, fit.n_left_out, fit.n_tuned) == (N - 5, 0, 5)
    with pytest.raises(DataError) as error:
        fit_cascade([*tuned, *judgements[5:]], labels, cheap="containment", agreement=0.999)
    says(error.value)


def test_an_unknown_price_stays_unknown():
    judgements, labels = given()
    judgements[-1] = msgspec.structs.replace(judgements[-1], cost_usd=None)
    assert fit_cascade(judgements, labels, cheap="containment", agreement=0.9).dear_alone_usd is None


def test_two_models_of_one_judge_are_told_apart(says):
    judgements, labels = given()
    small = [
        msgspec.structs.replace(
            row, judge="correctness", model="openai/small", prompt_version=2, score=row.score * 100
        )
        for row in judgements[:N]
    ]
    small = [msgspec.structs.replace(row, prompt_version=load_judge("correctness").version) for row in small]
    rows = [*small, *judgements[N:]]
    with pytest.raises(ConfigError) as error:
        fit_cascade(rows, labels, cheap="correctness")
    says(error.value)
    fit = fit_cascade(rows, labels, cheap="correctness by openai/small", agreement=0.9)
    assert [member.model for member in fit.judge.members] == ["openai/small", "openai/big"]


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"cheap": "token_f1"}, DataError, "no judgement by token_f1 .* it holds containment"),
        ({"cheap": "contain"}, ConfigError, "unknown judge 'contain'"),
        ({"cheap": "containment", "dear": "containment"}, ConfigError, "the same. Name two different judges"),
        ({"cheap": "containment", "agreement": 1}, ConfigError, "agreement 1: give a share"),
        ({"cheap": "containment", "test_share": 1}, ConfigError, "test share 1: give a share"),
        ({"cheap": "containment", "name": "My cascade"}, ConfigError, "name 'My cascade'"),
        (
            {"cheap": "containment", "agreement": 0.999},
            DataError,
            r"no scores of containment are sure enough.*\(reached: 0.98\).*takes at least 3838 decided",
        ),
        ({"cheap": "containment", "yes_from": -1}, DataError, "people said yes for all 400 answers"),
    ],
)
def test_what_cannot_be_fitted_is_told(options, error, says):
    judgements, labels = given()
    with pytest.raises(error, match=says):
        fit_cascade(judgements, labels, **options)


def test_an_answer_that_was_judged_twice_is_told(says):
    judgements, labels = given()
    with pytest.raises(DataError) as error:
        fit_cascade([*judgements, judgement(0, "containment", 1)], labels, cheap="containment", agreement=0.9)
    says(error.value)


def test_a_jury_of_several_models_may_be_the_cheap_judge(tmp_path):
    members = "".join(f"[[members]]\njudge = 'correctness'\nmodel = 'openai/{name}'\n" for name in "ab")
    text = "name = 'panel'\nversion = 1\nkind = 'jury'\nmetric = 'correctness'\nscale = [0, 1]\n"
    (tmp_path / "panel.toml").write_text(f"{text}inputs = ['reference', 'answer']\nsource = 'x'\n{members}")
    judgements, labels = given()
    judgements = [
        msgspec.structs.replace(row, judge="panel", model="openai/a + openai/b")
        if row.judge == "containment"
        else row
        for row in judgements
    ]
    fit = fit_cascade(judgements, labels, cheap=tmp_path / "panel.toml", agreement=0.9)
    assert [member.model for member in fit.judge.members] == [None, "openai/big"]
    assert fit.in_sample.cascade.value == 1.0


def test_a_third_judge_makes_the_dear_one_a_question(says):
    judgements, labels = given()
    third = [judgement(n, "token_f1", 0.5) for n in range(N)]
    with pytest.raises(ConfigError) as error:
        fit_cascade([*judgements, *third], labels, cheap="containment")
    says(error.value)
    with pytest.raises(DataError) as error:
        fit_cascade([*judgements, *third], labels, cheap="containment", dear="token_f1")
    says(error.value)
    with pytest.raises(ConfigError) as error:
        fit_cascade(judgements[:N], labels, cheap="containment")
    says(error.value)


def test_judgements_of_an_older_version_are_not_taken_for_the_judge_of_today(says):
    judgements, labels = given()
    old = [msgspec.structs.replace(row, prompt_version=99) for row in judgements]
    with pytest.raises(DataError) as error:
        fit_cascade(old, labels, cheap="containment")
    says(error.value)


def test_the_file_is_read_as_the_cascade_that_was_fitted(tmp_path):
    judgements, labels = given()
    fit = fit_cascade(judgements, labels, cheap="containment", agreement=0.9, name="steps")
    write_cascade(fit, tmp_path / "steps.toml")
    assert load_judge(tmp_path / "steps.toml") == fit.judge


def test_a_judge_from_a_file_is_named_from_where_the_cascade_stands(tmp_path, monkeypatch):
    own = """
name = "mine"
version = 1
kind = "lexical"
metric = "correctness"
inputs = ["reference", "answer"]
scale = [0, 1]
measure = "containment"
source = "ours"
"""
    (tmp_path / "judges").mkdir()
    (tmp_path / "judges" / "mine.toml").write_text(own)
    parse_judge(own, tmp_path / "mine.toml")
    judgements, labels = given()
    judgements = [
        msgspec.structs.replace(row, judge="mine") if row.judge == "containment" else row
        for row in judgements
    ]
    monkeypatch.chdir(tmp_path)
    fit = fit_cascade(judgements, labels, cheap="judges/mine.toml", dear="correctness", agreement=0.9)
    write_cascade(fit, tmp_path / "cascade.toml")
    assert 'judge  = "judges/mine.toml"' in (tmp_path / "cascade.toml").read_text()
    monkeypatch.chdir("/")
    assert load_judge(tmp_path / "cascade.toml").members[0].judge == str(tmp_path / "judges" / "mine.toml")


async def test_a_row_that_it_was_fitted_on_says_so():
    judgements, labels = given()
    fit = fit_cascade(judgements, labels, cheap="containment", agreement=0.9)
    answer = Answer(question_id="q1", question="Not in the labels?", reference="x", answer="x")
    [row] = await judge_answer(fit.judge, answer, JudgeContext())
    assert (row.score, row.metadata["tuned"]) == (1.0, True)
    new = msgspec.structs.replace(answer, question_id="new")
    assert "tuned" not in (await judge_answer(fit.judge, new, JudgeContext()))[0].metadata


def test_the_default_agreement_is_what_the_command_says():
    from ragstone.features.improve import fit_command as judges_fit

    assert inspect.signature(judges_fit.fit).parameters["agreement"].default == fitting.DEFAULT_AGREEMENT


@pytest.mark.pack
def test_on_tq600_a_cascade_of_two_baselines_clears_the_floor_of_containment(shared_data):
    """Fitted on one half of the questions, measured on the other."""
    from itertools import chain

    import ragstone

    sheet = shared_data / "evouna" / "tq600.jsonl"
    answers = list(ragstone.read_rows(sheet, Answer))
    judgements = ragstone.judge(answers, judges=["containment", "token_f1"])
    labels = ragstone.read_rows(sheet, Label)
    fit = fit_cascade(judgements, chain(labels), cheap="containment", test_share=0.5)
    assert fit.tested.decided.value > 0.99
    assert fit.tested.cascade.value - fit.tested.cheap.value > 0.015
    assert 0.7 < fit.tested.n_decided / fit.tested.n_answers < 0.8
