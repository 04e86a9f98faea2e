"""What `ragstone serve FOLDER` means: a project, or a folder of runs; with an assistant or without."""

from pathlib import Path

import msgspec

from ragstone.assistant.knowledge.knowledge_base import CATALOGUE
from ragstone.config import Settings, declared_tables, load_settings
from ragstone.config.loading import DEFAULT_FILE
from ragstone.errors import DataError

MANIFEST = "manifest.json"


class Project(msgspec.Struct, frozen=True):
    """What is served. assistant: whether there is one beside the workbench."""

    settings: Settings
    assistant: bool


def project_at(folder: Path | None, config: Path | None = None, model: str | None = None) -> Project:
    """Return the project of a folder, default this one.

    A folder that holds runs and no ragstone.toml is shown as it is: labels and accounts are then kept where
    the command runs, with its settings. An assistant is served where `[assistant]` is declared or its
    knowledge base is built, and where a model is given. Raises DataError for a folder that is not there,
    and what load_settings raises.
    """
    if folder is not None and not folder.is_dir():
        raise DataError(f"{folder}: no such folder. Name a project's folder, or one of runs.")
    if folder is not None and config is None:
        if (folder / DEFAULT_FILE).is_file():
            config = folder / DEFAULT_FILE
        elif not _runs_in(folder):
            return _project(Settings(root=str(folder)), declared=False, model=model)
    settings = load_settings(config)
    runs = _runs_in(folder) if folder is not None else None
    if runs is None or (config and folder == config.parent):
        return _project(settings, declared="assistant" in declared_tables(config), model=model)
    shown = msgspec.structs.replace(settings.workbench, runs=[str(runs.resolve())])
    return Project(msgspec.structs.replace(settings, workbench=shown), assistant=model is not None)


def _runs_in(folder: Path) -> Path | None:
    """Return the folder whose folders are runs: this one, or that of the run which it is."""
    if (folder / MANIFEST).is_file():
        return folder.resolve().parent
    return folder if any(folder.glob(f"*/{MANIFEST}")) else None


def _project(settings: Settings, *, declared: bool, model: str | None) -> Project:
    built = (settings.path(settings.assistant.store) / CATALOGUE).is_file()
    return Project(settings, assistant=declared or built or model is not None)
