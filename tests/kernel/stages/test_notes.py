from types import SimpleNamespace

import msgspec
import pytest
from tests.kernel.judging.test_repeated import needing, repeats
from tests.support.plain_rows import judgement_row

from ragstone.kernel.config import (
    RetrieveSection,
)
from ragstone.kernel.judging import load_judge, summarise
from ragstone.kernel.records import NO_MODEL, Ranking
from ragstone.kernel.stages.notes import (
    failure_notes,
    fitted_notes,
    judgements_alone,
    plain_notes,
    unscored_note,
)
from ragstone.kernel.stages.retrieve import ranking_notes


def judged(metric, model, judge="one"):
    return judgement_row(judge=judge, metric=metric, model=model, score=1.0)


def test_a_metric_that_only_a_model_has_judged_is_told_of_its_baseline(says):
    notes = plain_notes(summarise([judged("correctness", "openai/m"), judged("answered", "openai/m")]))
    says("\n".join(notes))


def test_with_a_baseline_beside_it_or_none_to_be_had_nothing_is_said():
    rows = [judged("correctness", "openai/m"), judged("correctness", NO_MODEL, "coverage")]
    assert not any(
        "There is no baseline" in note for note in plain_notes(summarise([*rows, judged("relevance", "m")]))
    )


def test_rows_that_lack_what_a_judge_reads_are_counted_with_what_to_do(says):
    lacking = judgement_row(
        question_id="q2",
        judge="one",
        status="not_applicable",
        model=NO_MODEL,
        rationale="the row has no reference",
    )
    [note] = plain_notes(summarise([judged("correctness", NO_MODEL), lacking]))
    says(note)


def test_a_threshold_fitted_with_another_model_is_told_unless_a_card_or_that_model_is_there(says):
    judge = load_judge("right_answer")

    def notes_with(model, cards=()):
        return fitted_notes([judge], summarise([judged("correctness", model, "right_answer")]), cards)

    [note] = notes_with("openai/gpt-4o")
    says(note)
    metrics = summarise([judged("correctness", "openai/gpt-4o", "right_answer")])
    assert note in plain_notes(metrics, judges=[judge])
    assert notes_with("llamacpp/qwen2.5-coder-1.5b-instruct-q4_k_m") == []
    assert notes_with(NO_MODEL) == []
    card = SimpleNamespace(judge="right_answer", model="openai/gpt-4o")
    assert notes_with("openai/gpt-4o", [card]) == []
    assert len(notes_with("openai/other", [card])) == 1


def test_answers_that_failed_are_told_once_and_not_as_failures_of_each_judge(says):
    rows = [
        msgspec.structs.replace(judged("correctness", NO_MODEL, judge), status="app_error", score=None)
        for judge in ("containment", "chrf")
    ]
    [failed] = [note for note in judgements_alone("sheet", summarise(rows), []).notes if "failed" in note]
    says(failed)
    assert not [note for note in plain_notes(summarise(rows)) if "failed" in note]
    scored = judgements_alone("sheet", summarise([judged("correctness", NO_MODEL)]), [])
    assert not [note for note in scored.notes if "failed" in note]


def test_questions_that_were_fused_by_document_are_counted(says):
    rankings = [
        Ranking(question_id=name, retriever="both", items=[], metadata=noted)
        for name, noted in {"a": {"fused_by": "document"}, "b": None, "c": {"error": "slow"}}.items()
    ]
    [fused] = [note for note in ranking_notes(rankings, [], RetrieveSection()) if "fused" in note]
    says(fused)
    assert not any("fused" in note for note in ranking_notes(rankings[1:], [], RetrieveSection()))


def test_the_note_on_unmeasured_judges_names_the_file_where_the_reader_stands(says):
    metrics = summarise([judged("correctness", "openai/m"), judged("correctness", NO_MODEL, "coverage")])
    [note] = plain_notes(metrics, judgements="runs/my run/judgements.jsonl")
    says(note)


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("/home/me/runs/a/judgements.jsonl", "runs/a/judgements.jsonl"),
        ("out/verdicts.jsonl", "verdicts.jsonl"),
        ("a", "judgements.jsonl"),
    ],
)
def test_so_does_that_of_judgements_alone(name, file):
    metrics = summarise([judged("correctness", "openai/m")])
    assert f"ragstone agree {file} labels.jsonl" in judgements_alone(name, metrics, []).notes[0]


def test_repeated_answers_are_told_once_a_system_with_how_they_count(says):
    both = repeats([1, 0], [0, 0]) + repeats([1, 0], [0, 0], judge="token_f1")
    told = [note for note in plain_notes(summarise(both)) if "answers to each" in note]
    assert len(told) == 1
    says(told[0])
    says(plain_notes(summarise(repeats([1, 0, 1], [0, None, None], [1, None, 0])))[0])
    assert not any("answers to each" in note for note in plain_notes(summarise(repeats([1, 0]))))


def test_how_many_questions_say_k_of_n_is_told_and_which_have_too_few_answers(says):
    for rows in (
        needing(repeats([1, 1], [0, 1], [1, 0]), 2, 3),
        needing(repeats([1], [0], [1]), 2, 3),
        needing(repeats([1, 1], [0, 1]), 2, 3),
        needing(repeats([1]), 2, 3),
    ):
        says("\n".join(note for note in plain_notes(summarise(rows)) if "must pass" in note))


def failing(**n_failed):
    """Four judgements of each metric, of which so many failed."""
    return summarise(
        [
            judgement_row(
                question_id=f"q{at}",
                judge="rubric",
                metric=metric,
                model="openai/m",
                status="unparsable" if at < n else "scored",
                score=None if at < n else 1.0,
            )
            for metric, n in n_failed.items()
            for at in range(4)
        ]
    )


def test_criteria_that_fail_alike_are_told_once_and_others_by_name(says):
    assert len(failure_notes(failing(clarity=1, tone=1))) == 1
    for n_failed in ({"tone": 1}, {"clarity": 1, "tone": 1}, {"clarity": 1, "tone": 2}):
        says("\n".join(failure_notes(failing(**n_failed))))
    says("\n".join(failure_notes(failing(clarity=1, tone=1, depth=0))))


def test_a_mean_that_is_not_there_leaves_nothing_out(says):
    says("\n".join(failure_notes(failing(tone=4)) + failure_notes(failing(tone=3))))


def test_a_run_without_a_score_says_why_it_has_none(says):
    (one,) = summarise([judgement_row(judge="kind", metric="kind", score=1.0)])
    labels = [msgspec.structs.replace(one, estimate=None, labels={"thanks": one.estimate})]
    no_step = judgement_row(
        question_id="q1", judge="steps", status="not_applicable", score=None, rationale="it took no step"
    )
    no_reference = msgspec.structs.replace(no_step, rationale="the row has no reference")
    failed = failing(tone=4)
    for metrics in ([], labels, summarise([no_step]), summarise([no_reference]), failed):
        says(unscored_note(metrics))
    # What failed is told, though another judge gave what it gives, or had nothing to judge.
    for others in (labels, summarise([no_step])):
        assert unscored_note([*others, *failed]) == unscored_note(failed)
