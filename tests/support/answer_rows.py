"""Answers and judgements of cells that are written down, for the bench of answerers."""

from ragstone.features.bench.answerers._board import BoardInput, make_board
from ragstone.features.bench.answerers._conditions import Passages
from ragstone.features.bench.answerers._planning import AnswerGrid, AnswerRows
from ragstone.features.bench.answerers._values import AnswerCell
from ragstone.kernel.records import Answer, Judgement, Question

# What is judged -> judge, metric, model and scale.
JUDGES = {
    "correct": ("correctness", "correctness", "m", (0, 100)),
    "contained": ("containment", "correctness", "none", (0, 1)),
    "answered": ("no_refusal", "answered", "none", (0, 1)),
    "faithful": ("faithfulness", "faithfulness", "m", (0, 1)),
    "relevant": ("relevance", "relevance", "m", (0, 1)),
}


def cell(name, *, model="good", prompt="strict", condition="gold"):
    return AnswerCell(name=name, model=model, prompt=prompt, condition=condition, told=prompt or "")


def grid_of(*cells):
    return AnswerGrid(cells=list(cells), conditions=list(dict.fromkeys(one.condition for one in cells)))


def questions_of(n, *, unanswerable=0, tags=None):
    """Return n questions on a document each, then unanswerable ones."""
    answerable = [
        Question(
            id=f"q{at}",
            question=f"{at}?",
            reference="x",
            document_ids=[f"d{at}"],
            tags=tags[at] if tags else None,
        )
        for at in range(n)
    ]
    return answerable + [
        Question(id=f"q{at}", question=f"{at}?", answerable=False) for at in range(n, n + unanswerable)
    ]


def judged(name, *, condition="gold", seconds=0.1, **scores):
    """Return a cell's rows: for each thing that is judged, the scores of q0, q1 and so on, None for none."""
    n = max(map(len, scores.values()))
    answers = [
        Answer(question_id=f"q{at}", answer="a", system=name, latency_s=seconds, cost_usd=0.001)
        for at in range(n)
    ]
    judgements = []
    for what, values in scores.items():
        judge, metric, model, scale = JUDGES[what]
        judgements += [
            Judgement(
                question_id=f"q{at}",
                system=name,
                judge=judge,
                metric=metric,
                model=model,
                prompt_version=1,
                scale=scale,
                status="not_applicable" if value is None else "scored",
                score=value,
            )
            for at, value in enumerate(values)
        ]
    return AnswerRows(answers=answers, judgements=judgements)


def board_of(rows, *, grid=None, questions=None, failed=(), tags=None, condition="gold"):
    """Return the board of these rows; without a grid all cells are of one condition."""
    grid = grid or grid_of(*(cell(name, model=name, condition=condition) for name in rows))
    n = max((len(one.answers) for one in rows.values()), default=1)
    questions = questions or questions_of(n)
    return make_board(
        BoardInput(
            grid=grid,
            rows=rows,
            failed=failed,
            questions=questions,
            passages=Passages(documents={}, chunks={}, chunks_of={}),
            tags=tags,
            files=dict.fromkeys(rows, "judgements.jsonl"),
        )
    )
