"""A run of two systems with answers and judgements, to make queues of: what must stay unseen has marked
names."""

from pathlib import Path

from tests.support.plain_rows import judgement_row

from ragstone.kernel.records import Answer, Context, Document, Evidence, Judgement, Question
from ragstone.kernel.tables import write_rows

SYSTEMS = ("hidden-system-one", "hidden-system-two")
HOSTILE = "<img src=x onerror=\"alert('x')\"><script>alert(1)</script>"
RATIONALE = "what-the-judge-said"


def right(i: int) -> float:
    """Return what people say of the answer number i: three of four are right."""
    return float(i % 4 != 0)


def judged(i: int) -> float:
    """Return what the judge says: wrong about every seventh."""
    return 1 - right(i) if i % 7 == 0 else right(i)


def write_run(folder: Path, n: int = 40, *, scale: tuple[float, float] = (0.0, 1.0)) -> None:
    """Write a run of n questions and twice as many answers, with contexts, evidence and hostile texts."""
    questions = [
        Question(
            id=f"q{i}-id",
            question=f"Question number {i}? {HOSTILE}",
            reference=f"Right answer {i} {HOSTILE}",
            evidence=[Evidence(document_id="d", start=0, end=30)],
            tags={"crop": "tea" if i % 2 else "maize"},
        )
        for i in range(n)
    ]
    answers = [
        Answer(
            question_id=row.id,
            system=system,
            answer=f"Answer {i} by tractor {HOSTILE}",
            contexts=[
                Context(
                    text=f"The ground is tilled in autumn. A tractor pulls answer {i}. {HOSTILE}",
                    id="hidden-c",
                )
            ],
        )
        for i, row in enumerate(questions)
        for system in SYSTEMS
    ]
    judgements = [
        judgement_row(
            question_id=row.id,
            system=system,
            judge="containment",
            model="none",
            score=scale[0] + judged(i) * (scale[1] - scale[0]),
            scale=scale,
            rationale=RATIONALE,
        )
        for i, row in enumerate(questions)
        for system in SYSTEMS
    ]
    write_rows(folder / "questions.jsonl", questions, Question)
    write_rows(folder / "answers.jsonl", answers, Answer)
    write_rows(folder / "judgements.jsonl", judgements, Judgement)
    document = Document(id="d", text="The ground is tilled in autumn. More of it stands here.")
    write_rows(folder / "documents.jsonl", [document], Document)
