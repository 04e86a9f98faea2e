"""What users said of answers becomes questions, labels and a queue; nothing of it is taken for more."""

import json
from pathlib import Path

import msgspec
import pytest
from tests.support.command import ragstone as command
from tests.support.judged_runs import judged

import ragstone
from ragstone.kernel.config import MonitorSection, Settings
from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Answer, Label, Question
from ragstone.kernel.tables import read_rows, write_rows

VERDICTS = Path(__file__).parents[2] / "fixtures" / "verdicts"


def exchange(number, **fields):
    question, answer = f"When is crop {number} sown?", f"In week {number}."
    return {"question_id": f"x{number}", "question": question, "answer": answer, **fields}


def thumb(number, score, text=None, metric="thumb", **fields):
    return {
        "question_id": f"x{number}",
        "system": "assistant",
        "metric": metric,
        "score": score,
        "rationale": text,
        **fields,
    }


def sampled(rows, count=10, **options):
    return ragstone.sample_feedback(rows, count, **{"settings": Settings(), **options})


def test_a_correction_becomes_a_question_with_the_words_of_the_user_masked():
    rows = [exchange(1), thumb(1, 0.0, "In April, says Ann. I am Dr. Lee. Call +1 555 234 9999.")]
    sample = sampled(rows)
    [question] = sample.questions
    assert question.question == "When is crop 1 sown?"
    assert question.reference == "In April, says Ann. I am Dr. [name]. Call [phone]."
    assert question.metadata == {"from": "correction", "exchange": "x1", "answer": "In week 1."}
    assert question.lang == "en"
    assert sample.summary.masked == {"name": 1, "phone": 1}
    assert "Lee" in sampled(rows, keep_personal_data=True).questions[0].reference


def test_the_id_of_a_question_is_that_of_a_plain_sample():
    rows = [exchange(1), thumb(1, 0.0, "In April.")]
    plain = ragstone.sample_log(rows[:1], 1, settings=Settings())
    assert [one.id for one in sampled(rows).questions] == [one.id for one in plain.questions]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("In week 1.", "the_same_answer"),
        ("???", "nothing"),
        ("thanks", "nothing"),
        ("a" * 100_000, "too_long"),
    ],
)
def test_a_correction_that_is_no_answer_is_counted_and_makes_no_question(text, why):
    sample = sampled([exchange(1), thumb(1, 0.0, text)])
    assert sample.questions == []
    assert sample.summary.corrections_left_out == {{"nothing": "no_answer"}.get(why, why): 1}
    assert [one.score for one in sample.thumbs] == [0.0]  # the thumb counts all the same


def test_markup_and_controls_in_a_correction_stay_text():
    sample = sampled([exchange(1), thumb(1, 0.0, "<script>alert(1)</script> In \u202eMay\x07.")])
    assert sample.questions[0].reference == "<script>alert(1)</script> In \ufffdMay\ufffd."


def test_corrections_of_follow_ups_and_greetings_make_no_question():
    follow = {"question_id": "x8", "question": "and for wheat?", "answer": "In May."}
    sample = sampled([follow, thumb(8, 0.0, "In October."), exchange(1), thumb(1, 1.0)])
    assert sample.questions == []
    assert sample.summary.corrections_left_out == {"follow_up": 1}
    assert sample.summary.left_out == {"follow_up": 1}


def test_of_two_corrections_of_a_question_the_last_counts_and_the_other_is_counted():
    again = {**exchange(2), "question": "when is crop 1 sown"}
    sample = sampled([exchange(1), again, thumb(1, 0.0, "In April."), thumb(2, 0.0, "In June.")])
    assert [(one.reference, one.metadata["exchange"]) for one in sample.questions] == [("In June.", "x2")]
    assert sample.summary.corrections_left_out == {"an_earlier_one_of_the_question": 1}


def test_the_last_thumb_of_a_person_counts_and_those_of_others_stay():
    rows = [
        exchange(1),
        thumb(1, 1.0, annotator="a"),
        thumb(1, 0.0, annotator="a"),
        thumb(1, 1.0, annotator="b"),
    ]
    sample = sampled(rows)
    assert [(one.annotator, one.score) for one in sample.thumbs] == [("user", 0.0), ("user 2", 1.0)]
    assert (sample.summary.replaced, sample.summary.n_up, sample.summary.n_down) == (1, 0, 1)


def test_a_thumb_down_and_a_correction_after_it_are_one():
    rows = [exchange(1), thumb(1, 0.0), thumb(1, 0.0, "In May."), thumb(1, 0.0, metric="correction")]
    sample = sampled(rows)
    assert [(one.score, one.rationale) for one in sample.thumbs] == [(0.0, "In May.")]
    assert (len(sample.questions), sample.summary.replaced) == (1, 0)


def test_feedback_on_unknown_exchanges_is_counted():
    sample = sampled([exchange(1), thumb(1, 1.0), thumb(77, 0.0, "In May.")])
    assert sample.summary.unknown == 1
    assert sample.questions == []


def test_thumbs_and_corrections_in_the_rows_of_other_applications():
    rows = [
        {"id": 1, "query": "When is rye sown?", "response": "In May.", "feedback": "👍", "user_id": "u"},
        {"id": 2, "query": "When is oat sown?", "response": "In May.", "feedback": {"type": "thumbs_down"}},
        {"id": 3, "query": "When is rice sown?", "response": "In May.", "correction": "In June."},
        {"id": 4, "query": "When is teff sown?", "response": "In May.", "feedback": "5 stars"},
    ]
    sample = sampled(rows)
    assert [(one.question_id, one.score) for one in sample.thumbs] == [("1", 1.0), ("2", 0.0)]
    assert [one.reference for one in sample.questions] == ["In June."]
    assert (sample.summary.n_up, sample.summary.n_down, sample.summary.unread) == (1, 2, 1)


def test_stars_are_thumbs_on_the_scale_of_the_settings():
    rows = [{**exchange(n), "feedback": n} for n in range(1, 7)]
    settings = Settings(monitor=MonitorSection(feedback_scale=(1, 5)))
    sample = sampled(rows, settings=settings)
    assert [one.score for one in sample.thumbs] == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert (sample.summary.n_down, sample.summary.n_up, sample.summary.unread) == (2, 2, 1)


def test_a_thumb_is_a_thumb_on_a_scale_of_stars():
    settings = Settings(monitor=MonitorSection(feedback_scale=(1, 5)))
    rows = [exchange(1), exchange(2), thumb(1, 1.0), thumb(2, 0.0), {**exchange(3), "feedback": True}]
    assert [one.score for one in sampled(rows, settings=settings).thumbs] == [1.0, 0.0, 1.0]


def test_words_with_a_thumb_up_are_a_comment_and_no_reference():
    sample = sampled([exchange(1), thumb(1, 1.0, "Very helpful for my farm.")])
    assert sample.questions == []
    assert sample.thumbs[0].rationale == "Very helpful for my farm."
    assert sample.summary.corrections_left_out == {"a_comment": 1}
    assert (sample.summary.n_up, sample.summary.n_down) == (1, 0)


def test_a_correction_in_the_middle_of_the_scale_is_of_an_answer_that_was_corrected():
    sample = sampled([exchange(1), thumb(1, 0.5, "In May.")])
    assert (len(sample.questions), sample.summary.n_down) == (1, 1)


def test_a_number_is_a_correction():
    assert [one.reference for one in sampled([exchange(1), thumb(1, 0.0, "12")]).questions] == ["12"]


def test_of_two_people_who_corrected_an_exchange_the_one_who_wrote_last_counts():
    rows = [thumb(1, 0.0, text, annotator=who) for who, text in (("a", "May"), ("b", "June"), ("a", "July"))]
    assert [one.reference for one in sampled([exchange(1), *rows]).questions] == ["July"]


def test_an_id_of_two_exchanges_gets_a_number_and_an_exchange_written_again_is_one():
    other = {**exchange(1), "answer": "In week 9.", "feedback": "up"}
    again = {**exchange(1), "feedback": "down"}
    sample = sampled([exchange(1), other, again])
    assert {row.question_id: row.answer for row in sample.queue} == {"x1": "In week 1.", "x1-2": "In week 9."}
    assert [(one.question_id, one.score) for one in sample.thumbs] == [("x1", 0.0), ("x1-2", 1.0)]
    assert sample.summary.n_exchanges == 2


def test_an_id_that_every_exchange_has_takes_no_longer():
    rows = [{**exchange(n), "question_id": "x"} for n in range(3000)]
    assert len({row.question_id for row in sampled([*rows, thumb("", 1.0)], 3000).queue}) == 3000


def test_evaluations_that_users_sent_with_a_trace_are_feedback():
    told = {"name": "user_feedback", "score": 0, "evaluator": "app"}
    judged = {"name": "faithfulness", "score": 0, "evaluator": "judge"}
    row = {"question": "When is rye sown?", "answer": "In May.", "metadata": {"trace_id": "t1"}}
    sample = sampled([{**row, "metadata": {"trace_id": "t1", "evaluations": [told, judged]}}])
    assert [(one.question_id, one.score) for one in sample.thumbs] == [("t1", 0.0)]
    apart = {"evaluations": [told], "metadata": {"trace_id": "t1"}}
    assert len(sampled([row, apart]).thumbs) == 1


@pytest.mark.parametrize("tool", ["langfuse", "langsmith"])
def test_what_users_said_in_traces_of_other_tools_is_feedback_and_what_annotators_said_is_not(
    tmp_path, tool, says
):
    text = (VERDICTS / f"{tool}.jsonl").read_text()
    with pytest.raises(DataError) as error:
        sampled(VERDICTS / f"{tool}.jsonl")
    says(error.value)
    lines = [json.loads(line) for line in text.splitlines()]
    for line in lines:
        if line.get("key") == "correctness" and line["feedback_source"]["type"] == "app":
            line["key"] = "user_feedback"
        for score in line.get("scores") or ():
            if score["name"] == "correctness" and score["source"] == "ANNOTATION":
                score["name"] = "user-feedback"
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    sample = sampled(tmp_path)
    people = [row for row in read_rows(VERDICTS / f"{tool}.jsonl", Label) if row.metric == "correctness"]
    assert len(sample.thumbs) == len(people) > 5
    assert sorted(one.score for one in sample.thumbs) == sorted(row.score for row in people)
    assert sample.summary.unknown == 0


@pytest.mark.parametrize(
    "rows",
    [
        [exchange(1)],
        [thumb(1, 1.0)],
        [exchange(1), thumb(2, 1.0)],
        [exchange(1), thumb(1, 7.0)],
        [{"note": 1}],
    ],
    ids=["no feedback", "feedback alone", "of another log", "off the scale", "no question"],
)
def test_a_log_without_feedback_on_its_exchanges_is_refused(rows, says):
    with pytest.raises(DataError) as refused:
        sampled(rows)
    says(str(refused.value))


def test_thumbs_speak_of_any_judge_and_correct_no_mean():
    rows = [exchange(n) for n in range(40)] + [thumb(n, float(n % 3 > 0)) for n in range(30)]
    sample = sampled(rows)
    judgements = judged({f"x{n}": float(n % 2) for n in range(40)}, system="log")
    [card] = ragstone.report_cards(judgements, sample.thumbs)
    assert card.n == 30
    assert any("correct no mean" in note for note in card.notes)
    assert list(ragstone.corrected_means(judgements, sample.thumbs)) == []
    drawn = [Label(question_id=one.question_id, system="log", score=one.score) for one in sample.thumbs]
    assert len(ragstone.corrected_means(judgements, drawn)) == 1
    assert not any("correct no mean" in note for note in ragstone.report_cards(judgements, drawn)[0].notes)
    with pytest.raises(DataError, match="chose"):
        ragstone.sequential_agreement(judgements, sample.thumbs)


def answered_by_a_run(folder, scores, questions=None):
    """What a log's summary says of a run that asked these questions; in scores None is without an answer."""
    made = questions or sampled(CORRECTED).questions
    texts = {1: "In week {}.", 0: "No idea.", None: ""}
    sheet = [
        Answer(
            question_id=one.id, system="mine", answer=texts[score].format(number + 9), question=one.question
        )
        if score is not None
        else Answer(question_id=one.id, system="mine", answer="", error="down", question=one.question)
        for number, (one, score) in enumerate(zip(made, scores, strict=True))
    ]
    write_rows(folder / "questions.jsonl", made, Question)
    write_rows(folder / "answers.jsonl", sheet, Answer)
    sources = folder / "answers.jsonl", "--questions", folder / "questions.jsonl"
    ran = command("judge", *sources, "--judge", "containment", "--judge", "no_refusal", "-o", folder / "a")
    assert ran.code == 0, ran.err
    return sampled(CORRECTED, runs=[folder / "a"]).summary


CORRECTED = [exchange(n) for n in range(4)] + [thumb(n, 0.0, f"In week {n + 9}.") for n in range(4)]


def test_a_run_says_how_many_corrected_questions_it_answers_right(tmp_path):
    [answered] = answered_by_a_run(tmp_path, [1, 1, 0, None]).answered
    assert (answered.n_questions, answered.n, answered.right, answered.n_checked) == (4, 3, 2, None)
    assert (answered.run, answered.system, answered.judge) == ("a", "mine", "containment")


def test_corrections_count_as_checked_once_a_person_has_accepted_them(tmp_path):
    first, second, third, fourth = sampled(CORRECTED).questions
    reviewed = [
        msgspec.structs.replace(one, metadata={**one.metadata, "review": {"decision": decision}})
        for one, decision in ((first, "accepted"), (second, "edited"), (third, "rejected"))
    ]
    answered_by_a_run(tmp_path, [1, 1, 0, 1])
    write_rows(tmp_path / "a" / "questions.jsonl", [*reviewed, fourth], Question)
    [answered] = sampled(CORRECTED, runs=[tmp_path / "a"]).summary.answered
    assert (answered.n, answered.right, answered.n_checked) == (4, 3, 2)


def test_a_reviewed_question_that_is_of_no_correction_is_not_counted_as_checked(tmp_path):
    made = [
        msgspec.structs.replace(one, metadata={"review": {"decision": "accepted"}})
        for one in sampled(CORRECTED).questions
    ]
    answered_by_a_run(tmp_path, [1, 1, 0, 1])
    write_rows(tmp_path / "a" / "questions.jsonl", made, Question)
    [answered] = sampled(CORRECTED, runs=[tmp_path / "a"]).summary.answered
    assert (answered.n, answered.n_checked) == (4, 0)


def test_a_run_that_asked_other_questions_is_refused(tmp_path, says):
    with pytest.raises(DataError) as refused:
        answered_by_a_run(tmp_path, [1], [Question(id="q0", question="What?", reference="In week 9.")])
    says(str(refused.value))


def test_a_run_without_a_judge_of_correctness_is_refused(tmp_path, says):
    [question] = sampled(CORRECTED).questions[:1]
    sheet = [Answer(question_id=question.id, system="mine", answer="In week 9.")]
    write_rows(tmp_path / "answers.jsonl", sheet, Answer)
    command("judge", tmp_path / "answers.jsonl", "--judge", "no_refusal", "-o", tmp_path / "a")
    with pytest.raises(DataError) as refused:
        sampled(CORRECTED, runs=[tmp_path / "a"])
    says(str(refused.value))
