"""Candidates -> candidates that critics have judged, those below the threshold lost."""

from collections.abc import Sequence

import msgspec

from ragstone.dataset.candidate import Candidate, Passage, lose, noted
from ragstone.judging.critic import Critic, CriticScore, criticise
from ragstone.judging.render import UNANSWERABLE
from ragstone.llm import Ask
from ragstone.records import Question, references


async def critique(
    candidate: Candidate,
    critics: Sequence[Critic],
    *,
    audience: str,
    threshold: int,
    ask: Ask,
    secret: bytes,
    one_call: bool,
) -> Candidate:
    """Return the candidate with the critics' scores, lost where one of them is below the threshold.

    Scores stand in `question.scores`, reasons in metadata `rationales`, versions in metadata `critics`, each
    by critic. A score below the threshold (1 to 5) loses it as `low_score`; without one, a call that failed
    as `not_criticised`, so that nothing is accepted unseen. One that is lost already is returned as it is,
    nobody asked. A question that the documents do not answer is judged by the critics that are made for it.
    """
    if candidate.loss is not None:
        return candidate
    asked = [
        critic for critic in critics if critic.for_unanswerable or candidate.question.answerable is not False
    ]
    if not asked:
        return candidate
    inputs = {
        "audience": audience,
        "context": shown_passages(candidate.passages),
        "question": candidate.question.question,
        "answer": _answer(candidate.question),
    }
    found = await criticise(asked, inputs, ask=ask, secret=secret, one_call=one_call)
    return _judged(candidate, found, threshold)


def shown_passages(passages: Sequence[Passage]) -> str:
    """Return passages as critics see them: under their titles, and numbered where there are several."""
    texts = [f"{one.title}\n\n{one.text}" if one.title else one.text for one in passages]
    if len(texts) == 1:
        return texts[0]
    return "\n\n".join(f"[{number}] {text}" for number, text in enumerate(texts, 1))


def _judged(candidate: Candidate, found: Sequence[CriticScore], threshold: int) -> Candidate:
    scores = {one.critic: float(one.score) for one in found if one.score is not None}
    judged = noted(
        candidate,
        rationales={one.critic: one.rationale for one in found if one.score is not None},
        critics={one.critic: one.version for one in found},
    )
    question = msgspec.structs.replace(judged.question, scores=(judged.question.scores or {}) | scores)
    judged = msgspec.structs.replace(judged, question=question)
    low = [one for one in found if one.score is not None and one.score < threshold]
    if low:
        # A low score decides, whatever another critic would have said had its call not failed.
        said = "; ".join(f"{one.critic} {one.score} < {threshold}: {one.rationale}" for one in low)
        return lose(judged, "low_score", said)
    failed = [f"{one.critic}: {one.status}, {one.rationale}" for one in found if one.score is None]
    return lose(judged, "not_criticised", "; ".join(failed)) if failed else judged


def _answer(question: Question) -> str:
    given = references(question)
    if not given:
        return UNANSWERABLE
    return (
        given[0]
        if len(given) == 1
        else "Any one of these is right:\n" + "\n".join(f"- {one}" for one in given)
    )
