"""Short ways to write the rows of these tests."""

from collections.abc import Sequence

from tests.support.plain_rows import judgement_row

from ragstone.kernel.records import Judgement, Label


def judgement(question: str, score: float | None, **fields: object) -> Judgement:
    usual = {"system": "default", "judge": "rubric", "model": "openai/m", "scale": (0, 1)}
    return judgement_row(question_id=question, score=score, **{**usual, **fields})  # type: ignore[arg-type]


def label(
    question: str,
    score: float,
    *,
    system: str = "default",
    metric: str | None = None,
    annotator: str | None = None,
    text: str | None = None,
) -> Label:
    return Label(
        question_id=question,
        system=system,
        metric=metric,
        score=score,
        annotator=annotator,
        metadata={"question": text} if text else None,
    )


def sheets(
    human: Sequence[float],
    scores: Sequence[float],
    *,
    judge: str = "rubric",
    model: str = "openai/m",
    scale: tuple[float, float] = (0, 1),
) -> tuple[list[Judgement], list[Label]]:
    """Return judgements and labels of questions q0, q1, …"""
    judgements = [
        judgement(f"q{i}", score, judge=judge, model=model, scale=scale) for i, score in enumerate(scores)
    ]
    return judgements, [label(f"q{i}", score) for i, score in enumerate(human)]
