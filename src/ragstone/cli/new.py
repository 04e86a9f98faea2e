"""`ragstone new`: a folder to start from."""

from importlib import resources
from pathlib import Path
from typing import Annotated

import typer

from ragstone.cli.console import say

STARTER = ("ragstone.toml", "documents.jsonl", "questions.jsonl", "labelled.jsonl", "SOURCES.md")
MODEL = "MODEL"  # stands in the starter's ragstone.toml for the model


def new(folder: Annotated[Path, typer.Argument(help="Where; made if it is not there.")]) -> None:
    """Make a folder with a commented ragstone.toml and a small data set, ready for `ragstone run`."""
    from ragstone.cli.default_model import choose_model

    model, why = choose_model()
    copy_starter(folder, model)
    say(f"Made {folder}. It asks {model} ({why}); `model` in [run] of ragstone.toml names it.")
    say(f"Next: cd {folder} && ragstone run")


def copy_starter(folder: Path, model: str) -> None:
    """Copy the starter's files, with the model filled in. Raises DataError; files that exist stay."""
    from ragstone.errors import DataError

    standing = [name for name in STARTER if (folder / name).exists()]
    if standing:
        raise DataError(f"{folder / standing[0]} exists and was not touched. Choose another folder.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in STARTER:
            text = (resources.files("ragstone.cli") / "starter" / name).read_text(encoding="utf-8")
            text = text.replace(f'"{MODEL}"', f'"{model}"') if name == "ragstone.toml" else text
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as mistake:
        raise DataError(f"{folder}: cannot be written ({mistake.strerror}). Choose another folder.") from None
