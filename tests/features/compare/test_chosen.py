"""Comparing on questions that a filter chose: a verdict by what they say, none by results."""

import msgspec
import numpy as np
import pytest
from tests.support.command import ragstone as run_command
from tests.support.golden import sentence_in
from tests.support.judged_runs import answers, judged, questions, write_run
from tests.support.surfaces import shown

import ragstone
from ragstone.features.compare._chosen_sentence_table import (
    BY_QUESTION,
    BY_RESULT,
    MEANS_OF_CHOSEN,
    SENTENCES,
    WHY_NOT,
)
from ragstone.features.compare.comparing import compare
from ragstone.features.compare.several import compare_several, several_document
from ragstone.features.compare.values import ChosenQuestions
from ragstone.features.compare.words import comparison_document
from ragstone.kernel.errors import DataError
from ragstone.kernel.runs.summary import ChosenAnswers, read_summary
from ragstone.kernel.serve.runs import summary_of_rows


def run_of(folder, scores, tags=("maize", "rye"), texts=None):
    asked = [
        msgspec.structs.replace(row, tags={"topic": tags[at % len(tags)]})
        for at, row in enumerate(questions(len(scores)))
    ]
    write_run(folder, judged(scores), said=answers(texts or ["x"] * len(scores)), asked=asked)
    summary = summary_of_rows(folder, folder / "judgements.jsonl")
    (folder / "summary.json").write_bytes(msgspec.json.encode(summary))
    return folder


@pytest.fixture
def runs(tmp_path):
    # Of maize (even places) B is right on all 20, A on none; of rye both are right.
    a = run_of(tmp_path / "a", [0.0, 1.0] * 20)
    b = run_of(tmp_path / "b", [1.0, 1.0] * 20, texts=["y"] * 40)
    return a, b


def test_a_filter_of_questions_has_its_verdict_on_them_alone(runs, says):
    comparison = compare(*runs, where="topic = maize")
    (metric,) = comparison.metrics
    assert (metric.n, metric.verdict, comparison.n_shared) == (20, "better", 20)
    assert comparison.chosen == ChosenQuestions(where="topic = maize", n=20, of=40, by_results=[])
    says(BY_QUESTION.text.format_map(BY_QUESTION.fills(comparison.chosen)))
    rye = compare(*runs, where="topic = rye and question_id != q1 and answerable = none and kind = open")
    assert [(row.n, row.n_changed, row.verdict) for row in rye.metrics] == [(19, 0, "cannot tell")]
    assert rye.chosen.by_results == []


@pytest.mark.parametrize(
    ("where", "columns"),
    [
        ("containment < 0.5", ["containment"]),
        ("containment_status = scored", ["containment_status"]),
        ("answer = x and topic = maize", ["answer"]),
        ("not anywhere ~ 'zzz'", ["anywhere"]),
        ("latency_s > 0 or cost_usd > 1", ["latency_s", "cost_usd"]),
        ("found_rank = none", ["found_rank"]),
    ],
)
def test_a_filter_of_results_has_no_verdict(runs, where, columns):
    comparison = compare(*runs, where=where)
    assert comparison.chosen.by_results == columns
    (metric,) = comparison.metrics
    assert (metric.verdict, metric.p, metric.p_holm) == ("cannot tell", 1.0, 1.0)
    assert metric.difference.low is metric.a.mean.low is metric.outlook is metric.overlap is None
    assert comparison.gate.outcome == "cannot tell"
    assert comparison.retrieval == comparison.spent == []
    text = shown(comparison_document(comparison))
    for word in ("better in", "worse in", "p =", "p <", "interval ", "likely to be found", "Gate: passed"):
        assert word not in text
    assert "No verdict" in text
    assert WHY_NOT.text.split(" (")[0] in " ".join(text.split())


def test_a_tag_that_differs_between_systems_is_a_result(tmp_path):
    a = run_of(tmp_path / "a", [0.0, 1.0] * 20)
    b = run_of(tmp_path / "b", [1.0, 1.0] * 20, tags=("rye", "maize"))
    assert compare(a, b, where="topic = maize").chosen.by_results == ["topic"]


def test_without_an_effect_a_choice_by_results_would_show_one(tmp_path):
    """Two systems that are alike: where A is wrong B is better by chance alone, every time."""
    draw = np.random.default_rng(0)
    a = run_of(tmp_path / "a", draw.integers(0, 2, 200).astype(float).tolist())
    b = run_of(tmp_path / "b", draw.integers(0, 2, 200).astype(float).tolist(), texts=["y"] * 200)
    whole = compare(a, b)
    assert [row.verdict for row in whole.metrics] == ["cannot tell"]
    wrong_in_a = [row.question_id for row in ragstone.read_run(a).judgements if row.score == 0]
    ids = ", ".join(wrong_in_a)
    by_hand = compare(a, b, where=f"question_id in ({ids})")
    assert [row.verdict for row in by_hand.metrics] == ["better"]  # what nobody can tell from ids alone
    assert [row.verdict for row in compare(a, b, where="containment = 0").metrics] == ["cannot tell"]


def test_what_cannot_be_chosen_from_is_refused(runs, tmp_path, says):
    a, b = runs
    for wrong in (
        lambda: compare(a, b, where="topic = oats"),
        lambda: compare(a, b, where="topics = oats"),
        lambda: compare(a / "judgements.jsonl", b, where="topic = maize"),
        lambda: compare(a, b, where="containment = 0", labels=[]),
    ):
        with pytest.raises(DataError) as mistake:
            wrong()
        says(str(mistake.value).replace(str(tmp_path), "there"))


def test_of_the_two_kinds_of_choice_one_sentence_holds():
    by_question = ChosenQuestions(where="topic = maize", n=1, of=2, by_results=[])
    by_result = msgspec.structs.replace(by_question, by_results=["containment"])
    of_pairs = [each for each in SENTENCES if each is not MEANS_OF_CHOSEN]
    assert [each for each in of_pairs if each.holds(by_question)] == [BY_QUESTION]
    assert [each for each in of_pairs if each.holds(by_result)] == [BY_RESULT, WHY_NOT]
    for facts, sentence in ((by_question, BY_QUESTION), (by_result, BY_RESULT)):
        assert sentence.fills(facts).keys() >= sentence.needs.keys()


def test_the_command_says_that_the_questions_were_chosen(runs, says):
    a, b = map(str, runs)
    by_question = run_command("compare", a, b, "--where", "topic = maize")
    assert by_question.code == 0
    says(" ".join(by_question.out.split("A: ")[0].split()))
    by_result = run_command("compare", a, b, "--where", "containment < 0.5", "--gate")
    assert by_result.code == 3
    says(" ".join(by_result.out.split("A: ")[0].split()))
    says(next(line for line in by_result.out.splitlines() if line.startswith("Gate: ")))
    assert run_command("compare", a, b, a, "--where", "topic = maize").code == 2


def with_choice(folder, where):
    """Say in a run's numbers that its answers were chosen from those of another run."""
    chosen = ChosenAnswers(of="all", where=where)
    summary = msgspec.structs.replace(read_summary(folder), chosen=chosen)
    (folder / "summary.json").write_bytes(msgspec.json.encode(summary))
    return folder


@pytest.mark.parametrize("where", ["containment < 0.5", "by hand", "topic = maize and answer ~ x", "flips"])
def test_a_run_of_answers_that_were_chosen_by_results_is_compared_with_none(runs, tmp_path, where, says):
    a, b = runs
    chosen = with_choice(run_of(tmp_path / "c", [0.0] * 40), where)
    wrongs = (
        lambda: compare(chosen, b, shared=True),
        lambda: compare(b, chosen / "judgements.jsonl", shared=True),
        lambda: compare(chosen, b, where="topic = maize"),
        lambda: compare_several([a, b, chosen]),
    )
    for wrong in wrongs:
        with pytest.raises(DataError) as mistake:
            wrong()
        says(str(mistake.value).replace(str(tmp_path), "there"))


def test_a_run_of_answers_that_were_chosen_by_their_questions_says_so(runs, tmp_path, says):
    a, b = runs
    where = "topic = maize or lang = en"
    maize = with_choice(run_of(tmp_path / "c", [0.0] * 20, tags=["maize"]), where)
    comparison = compare(maize, a, shared=True)
    assert comparison.chosen == ChosenQuestions(where=where, n=20, of=40, by_results=[])
    says(sentence_in(shown(comparison_document(comparison)), "chosen by a filter"))
    narrowed = compare(maize, a, shared=True, where="question_id != q1")
    assert narrowed.chosen.where == f"question_id != q1; {where}"
    assert compare(a, b).chosen is msgspec.UNSET


def test_a_tag_that_differs_between_systems_chose_by_results(runs, tmp_path):
    a, _ = runs
    other = with_choice(run_of(tmp_path / "c", [0.0] * 20, tags=["maize"]), "topic = maize")
    rows = answers(["y"] * 20)
    write_run(
        other, judged([0.0] * 20), said=[msgspec.structs.replace(row, tags={"topic": "z"}) for row in rows]
    )
    with pytest.raises(DataError, match="topic = maize"):
        compare(a, other, shared=True)


def test_means_of_chosen_answers_stand_beside_none_of_others(runs, tmp_path, says):
    a, b = runs
    third = run_of(tmp_path / "c", [1.0, 0.0] * 20)
    several = compare_several([a, b, third])
    assert several.chosen is msgspec.UNSET
    assert not MEANS_OF_CHOSEN.holds(several)
    assert "a filter chose" not in shown(several_document(several))
    for run in runs:
        with_choice(run, "topic = maize")
    with pytest.raises(DataError) as mistake:
        compare_several([a, b, third])
    says(mistake.value)
    with_choice(third, "topic = maize")
    several = compare_several([a, b, third])
    assert several.chosen == "topic = maize"
    assert MEANS_OF_CHOSEN.text.format_map(MEANS_OF_CHOSEN.fills(several)) in " ".join(
        shown(several_document(several)).split()
    )
