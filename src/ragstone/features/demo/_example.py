"""The example that a demo runs: the starter's data, answers that are quoted, judges that compare words."""

import msgspec

from ragstone.features.new import copy_starter, starter_settings
from ragstone.kernel.config import Settings, load_settings
from ragstone.kernel.errors import DataError

NAMES = ("demo", *(f"demo-{number}" for number in range(2, 10)))
FILE = "ragstone.toml"


def quoting(settings: Settings) -> Settings:
    """Return the settings in which nobody is asked: answers are quoted, and judges compare words."""
    answer = msgspec.structs.replace(settings.answer, system="extractive")
    judge = msgspec.structs.replace(settings.judge, judges=["right", "grounding", "no_refusal"])
    return msgspec.structs.replace(settings, answer=answer, judge=judge)


def place_example(project: Settings) -> tuple[str, Settings]:
    """Copy the example's files into a folder of a project; return its name and the settings of its run.

    The run is one of the project's, `runs/NAME`, so that it is listed with the others. A folder that is there
    is used again if the example made it, and is left alone otherwise: then the next name is taken. Raises
    DataError where none is free, or nothing can be written.
    """
    name = next((name for name in NAMES if _is_free(project, name)), None)
    if name is None:
        raise DataError(
            f"The folders {NAMES[0]} to {NAMES[-1]} of this project are taken. Rename one of them."
        )
    folder = project.path(name)
    if not (folder / FILE).exists():
        try:
            copy_starter(folder, None)
        except DataError as mistake:
            raise DataError(
                f"{folder}: nothing could be written. Make the project's folder writable."
            ) from mistake
    made = quoting(load_settings(folder / FILE))

    def beneath(path: str | None) -> str | None:
        return path and f"{name}/{path}"

    return name, msgspec.structs.replace(
        made,
        root=project.root,
        run=msgspec.structs.replace(made.run, name=name),
        documents=msgspec.structs.replace(
            made.documents, paths=[f"{name}/{path}" for path in made.documents.paths]
        ),
        questions=msgspec.structs.replace(made.questions, path=beneath(made.questions.path)),
        agree=msgspec.structs.replace(made.agree, sheet=beneath(made.agree.sheet)),
    )


def _is_free(project: Settings, name: str) -> bool:
    """Return whether the example may stand there: nothing is there, or the example that was put there."""
    folder = project.path(name)
    if not folder.exists():
        return not (project.path("runs") / name).exists()
    try:
        return (folder / FILE).read_text("utf-8") == starter_settings(None)
    except (OSError, UnicodeDecodeError):
        return folder.is_dir() and not any(folder.iterdir()) and not (project.path("runs") / name).exists()
