"""The starter: a commented ragstone.toml and a small data set."""

from importlib import resources
from pathlib import Path

STARTER = ("ragstone.toml", "documents.jsonl", "questions.jsonl", "labelled.jsonl", "SOURCES.md")
MODEL = "MODEL"  # stands in the starter's ragstone.toml for the model


def copy_starter(folder: Path, model: str) -> None:
    """Copy the starter's files, with the model filled in. Raises DataError; files that exist stay."""
    from ragstone.errors import DataError

    standing = [name for name in STARTER if (folder / name).exists()]
    if standing:
        raise DataError(f"{folder / standing[0]} exists and was not touched. Choose another folder.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in STARTER:
            text = (resources.files("ragstone.console") / "starter_files" / name).read_text(encoding="utf-8")
            text = text.replace(f'"{MODEL}"', f'"{model}"') if name == "ragstone.toml" else text
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as mistake:
        raise DataError(f"{folder}: cannot be written ({mistake.strerror}). Choose another folder.") from None
