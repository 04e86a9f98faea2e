import pytest
from tests.support.scripted_judge import Scripted

from ragstone.dataset.candidate import Candidate, Loss, Passage
from ragstone.dataset.critique import critique
from ragstone.judging.critic import critic_names, load_critics
from ragstone.judging.render import UNANSWERABLE
from ragstone.llm import CallFailed
from ragstone.records import Question

PASSAGE = Passage(document_id="d", start=0, end=32, text="Sensors are installed in spring.", title="Sensors")
CANDIDATE = Candidate(
    question=Question(id="d#1", question="When are sensors installed?", reference="In spring."),
    passages=(PASSAGE,),
)
ALL = load_critics(critic_names())


async def judged(ask, candidate=CANDIDATE, critics=ALL, **changed):
    settings = {"audience": "farmers", "threshold": 4, "secret": b"secret", "one_call": False} | changed
    return await critique(candidate, critics, ask=ask, **settings)


def said(score, reason="So it is."):
    return {"reason": reason, "score": score}


async def test_scores_reasons_and_versions_are_kept():
    found = await judged(Scripted(said(5, "There."), said(4, "Useful."), said(5, "Named.")))
    assert found.loss is None
    assert found.question.scores == {"groundedness": 5, "relevance": 4, "stand_alone": 5}
    assert found.question.metadata == {
        "rationales": {"groundedness": "There.", "relevance": "Useful.", "stand_alone": "Named."},
        "critics": {"groundedness": 1, "relevance": 1, "stand_alone": 1},
    }


async def test_below_the_threshold_on_one_critic_is_lost_with_its_reason():
    found = await judged(Scripted(said(5), said(5), said(2, "It points at nothing.")))
    assert found.loss == Loss(reason="low_score", detail="stand_alone 2 < 4: It points at nothing.")
    assert found.question.scores == {"groundedness": 5, "relevance": 5, "stand_alone": 2}


async def test_below_the_threshold_on_several_critics_names_them_all():
    found = await judged(Scripted(said(1, "No."), said(3, "Hardly."), said(5)))
    assert found.loss == Loss(reason="low_score", detail="groundedness 1 < 4: No.; relevance 3 < 4: Hardly.")


@pytest.mark.parametrize(("threshold", "lost"), [(3, False), (4, True)])
async def test_the_threshold_is_the_lowest_score_that_passes(threshold, lost):
    found = await judged(Scripted(said(3), said(3), said(3)), threshold=threshold)
    assert (found.loss is not None) == lost


async def test_a_failed_call_is_never_accepted_and_never_a_score():
    found = await judged(Scripted(said(5), CallFailed("timeout", "no reply within 60 s"), said(5)))
    assert found.loss == Loss(reason="not_criticised", detail="relevance: timeout, no reply within 60 s")
    assert found.question.scores == {"groundedness": 5, "stand_alone": 5}


async def test_a_low_score_decides_whatever_else_failed():
    found = await judged(Scripted(said(2, "No."), CallFailed("timeout", "late"), said(5)))
    assert found.loss == Loss(reason="low_score", detail="groundedness 2 < 4: No.")


async def test_one_that_is_lost_already_is_not_asked_about():
    lost = Candidate(question=CANDIDATE.question, passages=(PASSAGE,), loss=Loss(reason="duplicate"))
    ask = Scripted()
    assert await judged(ask, lost) is lost
    assert ask.prompts == []


async def test_an_unanswerable_question_is_judged_by_the_critics_that_are_made_for_it():
    question = Question(id="d#2", question="Who makes the sensors?", answerable=False)
    ask = Scripted(said(5), said(5))
    found = await judged(ask, Candidate(question=question, passages=(PASSAGE,)))
    assert found.question.scores == {"relevance": 5, "stand_alone": 5}
    assert found.loss is None
    assert len(ask.prompts) == 2


async def test_a_critic_of_answers_is_told_that_an_unanswerable_question_has_none(tmp_path):
    (tmp_path / "mine.toml").write_text(
        'name = "mine"\nversion = 1\ninputs = ["question", "answer"]\nscale = [1, 5]\nsource = "x"\n'
        'prompt = "{question} {answer}"\n',
        encoding="utf-8",
    )
    ask = Scripted(said(5))
    question = Question(id="d#2", question="Who makes the sensors?", answerable=False)
    candidate = Candidate(question=question, passages=(PASSAGE,))
    await judged(ask, candidate, load_critics([tmp_path / "mine.toml"]))
    assert UNANSWERABLE in ask.prompts[0].messages[1].content


async def test_the_passage_is_shown_under_its_title_and_two_passages_are_numbered():
    other = Passage(document_id="e", start=0, end=4, text="Corn.")
    two = Candidate(question=CANDIDATE.question, passages=(PASSAGE, other))
    one_ask, two_ask = Scripted(said(5)), Scripted(said(5))
    await judged(one_ask, critics=ALL[:1])
    await judged(two_ask, two, critics=ALL[:1])
    assert "\nSensors\n\nSensors are installed in spring.\n" in one_ask.prompts[0].messages[1].content
    shown = two_ask.prompts[0].messages[1].content
    assert "\n[1] Sensors\n\nSensors are installed in spring.\n\n[2] Corn.\n" in shown


async def test_one_call_makes_one_call():
    reply = {f"{name}_{part}": value for name in critic_names() for part, value in said(5).items()}
    ask = Scripted(reply)
    found = await judged(ask, one_call=True)
    assert len(ask.prompts) == 1
    assert found.question.scores == {"groundedness": 5, "relevance": 5, "stand_alone": 5}


async def test_alternatives_of_the_answer_are_all_shown():
    question = Question(id="q", question="When?", reference=["In spring.", "In May."])
    ask = Scripted(said(5))
    await judged(ask, Candidate(question=question, passages=(PASSAGE,)), critics=ALL[:1])
    assert "Any one of these is right:\n- In spring.\n- In May." in ask.prompts[0].messages[1].content
