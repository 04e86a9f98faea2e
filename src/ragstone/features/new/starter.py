"""The starter: a commented ragstone.toml and a small data set."""

from pathlib import Path

from ragstone.kernel.config import shipped

STARTER = ("ragstone.toml", "documents.jsonl", "questions.jsonl", "labelled.jsonl", "SOURCES.md")
AGENTS = "AGENTS.md"  # what a coding agent has to know; one that is there already stays
MODEL = "MODEL"  # stands in the starter's ragstone.toml for the model
EXAMPLE_MODEL = "openai/gpt-4o-mini"
# What the starter's ragstone.toml says otherwise where no model is named. Each stands in it once.
WITHOUT_MODEL = {
    'model = "MODEL"              #': '# model = "MODEL"            #',
    "limit = 10                   # answer the first questions only; retrieval is measured on all\n": "",
    '# system = "service"         # instead: your own application, one of [systems]': (
        'system = "extractive"        # quotes the documents, without a model; or your own, one of [systems]'
    ),
    '  "containment", "token_f1", "correctness", "context_overlap", "faithfulness", "relevance", '
    '"no_refusal", "answered",': (
        '  "right", "grounding", "no_refusal",  # ask no model; with one: "correctness", "faithfulness"'
    ),
}


def copy_starter(folder: Path, model: str | None) -> None:
    """Copy the starter's files, with the model filled in; without one, answers are quoted from the documents.

    Raises DataError; files that exist stay.
    """
    from ragstone.kernel.errors import DataError, explaining

    standing = [name for name in STARTER if (folder / name).exists()]
    if standing:
        raise DataError(f"{folder / standing[0]} exists and was not touched. Choose another folder.")
    with explaining(f"{folder}: cannot be written", "Choose another folder."):
        folder.mkdir(parents=True, exist_ok=True)
        for name in STARTER:
            text = starter_settings(model) if name == "ragstone.toml" else _starter_file(name)
            (folder / name).write_text(text, encoding="utf-8")
        write_agents(folder)


def write_agents(folder: Path) -> None:
    """Write AGENTS.md, where there is none. Raises OSError."""
    if not (folder / AGENTS).exists():
        (folder / AGENTS).write_text(_starter_file(AGENTS), encoding="utf-8")


def starter_settings(model: str | None) -> str:
    """Return the starter's ragstone.toml for a model, or for none."""
    text = _starter_file("ragstone.toml")
    if model is None:
        for asking, quoting in WITHOUT_MODEL.items():
            text = text.replace(asking, quoting)
    return text.replace(f'"{MODEL}"', f'"{model or EXAMPLE_MODEL}"')


def _starter_file(name: str) -> str:
    return shipped("ragstone.features.new", "starter_files", name).read_text("utf-8")
