"""What a reader must know before trusting a bench of answerers, in plain sentences."""

from collections.abc import Mapping, Sequence

from ragstone.experiments.answer_board import AnswerBoard
from ragstone.flows.bench_answerers.cells import BenchInput, BenchMeans
from ragstone.records import NO_MODEL
from ragstone.report.wording import plural
from ragstone.retrieval.evaluate import missing_documents

FEW_QUESTIONS = 20
SHOWN = 3


def bench_notes(board: AnswerBoard, given: BenchInput, means: BenchMeans) -> list[str]:
    """Return the notes: few questions, documents that are missing, judges nobody has measured, rows lost."""
    notes = []
    if board.n_questions < FEW_QUESTIONS:
        notes.append(
            f"Only {plural(board.n_questions, 'question')}: intervals from so few are wide, and most "
            "differences cannot be told."
        )
    if board.n_unanswerable == board.n_questions:
        notes.append(
            "No question can be answered: that they are refused is what tells the cells apart, and a judge "
            "that compares with a reference scores none of them."
        )
    notes += _missing(missing_documents(given.questions, means.corpus.documents))
    notes += _judges(board)
    notes += _failed(board)
    if given.paired:
        notes.append(f"Left out, for it compares two answers: {', '.join(given.paired)}.")
    return notes


def _missing(missing: Mapping[str, Sequence[str]]) -> list[str]:
    if not missing:
        return []
    more = f" and {len(missing) - SHOWN} more" if len(missing) > SHOWN else ""
    return [
        f"{len(missing)} questions name documents that the corpus lacks: {', '.join(list(missing)[:SHOWN])}"
        f"{more}. What is given as gold is not all that they need."
    ]


def _judges(board: AnswerBoard) -> list[str]:
    notes = []
    unmeasured = [role.judge for role in board.roles if role.model != NO_MODEL and not role.measured]
    if unmeasured:
        notes.append(
            f"Nobody has measured these judges against people with this model: {', '.join(unmeasured)}. Name "
            "answers that people have labelled as sheet in [agree]."
        )
    doubtful = [
        role.judge
        for role in board.roles
        if role.model != NO_MODEL and role.measured and not role.better_than_baseline
    ]
    if doubtful:
        notes.append(f"Not shown to be better than a baseline: {', '.join(doubtful)}.")
    if not any(role.role == "correct" for role in board.roles):
        notes.append(
            "No judge of [judge] measures correctness, so cells are ordered by answered × faithful: an "
            "answer can be faithful to its passages and wrong."
        )
    return notes


def _failed(board: AnswerBoard) -> list[str]:
    lost = {row.cell.name: row.spent.n_failed for row in board.standings if row.spent.n_failed}
    if not lost:
        return []
    told = ", ".join(f"{name} {n}" for name, n in lost.items())
    return [f"Answers that failed are in no mean, and are counted beside it: {told}."]
