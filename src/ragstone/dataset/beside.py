"""Where the answers of an evaluation set stand: beside it."""

from pathlib import Path


def answers_beside(output: Path) -> Path:
    """Return where the answers go: answers.jsonl for questions.jsonl, x.answers.jsonl for x.jsonl."""
    stem = (
        output.stem.replace("questions", "answers")
        if "questions" in output.stem
        else f"{output.stem}.answers"
    )
    return output.with_name(stem + output.suffix)
