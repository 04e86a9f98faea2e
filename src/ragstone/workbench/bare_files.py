"""Files of judgements and of answers that are in no run -> runs of the workbench, which link to them."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from ragstone.kernel.config import Settings
from ragstone.kernel.errors import DataError
from ragstone.kernel.persistence.private import make_folder
from ragstone.kernel.records import Answer, Judgement
from ragstone.kernel.tables import read_rows
from ragstone.kernel.tables.formats import ending_of

LINKS = "files"  # the folder of the workbench's store that holds these runs


def links_in(settings: Settings) -> Path:
    """Return the folder whose folders are runs of bare files."""
    return settings.path(settings.workbench.store) / LINKS


def link_files(settings: Settings, files: Sequence[Path]) -> list[Path]:
    """Make a run of each file of judgements; of answers where there are none. Return the runs' folders.

    A sheet of answers beside judgements gives them their texts. Nothing is copied: a run holds links, so a
    file that changes is shown as it is. The same file is the same run the next time, so that labels find it.
    Raises DataError for a file that is neither, or is not there.
    """
    kinds = {file: _kind_of(file) for file in dict.fromkeys(files)}
    sheets = [file for file, kind in kinds.items() if kind == "answers"]
    judged = [file for file, kind in kinds.items() if kind == "judgements"]
    if judged and len(sheets) > 1:
        raise DataError(
            f"{sheets[1]}: a second answer sheet, but judgements belong to one. Name one sheet, or serve "
            "the other by itself."
        )
    parent = make_folder(links_in(settings))
    if not judged:
        return [_linked(parent, {"answers": sheet}) for sheet in sheets]
    texts = dict(zip(["answers"], sheets, strict=False))
    return [_linked(parent, {"judgements": file, **texts}) for file in judged]


def link_cell(settings: Settings, bench: Path, judgements: str) -> str:
    """Make a run of one cell of a bench of answerers, and return the name of its folder among the links.

    judgements: the name of its file. The list of runs leaves it out: it is a part of the bench. Raises
    DataError where the file is gone.
    """
    name = Path(judgements).name
    files = {"judgements": bench / name, "answers": bench / name.replace("judgements-", "answers-", 1)}
    files["questions"] = bench / "questions.jsonl"
    if not files["judgements"].is_file():
        raise DataError(f"{files['judgements']} is gone, so its rows cannot be shown. Run the bench again.")
    folder = (
        make_folder(links_in(settings)) / f".{bench.name}-{name.removesuffix(ending_of(files['judgements']))}"
    )
    for kind, file in files.items():
        if file.is_file():
            _link(make_folder(folder) / f"{kind}{ending_of(file)}", file)
    return folder.name


def rows_location(folder: Path) -> str:
    """Return where the rows of a run stand, for people: its folder, or the files that it links to."""
    links = sorted(file.readlink() for file in folder.iterdir() if file.is_symlink())
    return ", ".join(map(str, links)) or str(folder)


def _kind_of(file: Path) -> str:
    kinds: dict[str, Callable[[], Iterable[object]]] = {
        "judgements": lambda: read_rows(file, Judgement),
        "answers": lambda: read_rows(file, Answer),
    }
    wrong = []
    for kind, read in kinds.items():
        try:
            if any(True for _ in read()):
                return kind
        except DataError as mistake:
            wrong.append(f"As {kind}: {str(mistake).splitlines()[0].removeprefix(f'{file}:')}")
    raise DataError(" ".join([f"{file}: the file has neither judgements nor answers.", *wrong]))


def _linked(parent: Path, files: dict[str, Path]) -> Path:
    """Return the run of these files; the first of them tells which run it is."""
    (kind, main), *_ = files.items()
    name = main.name.removesuffix(ending_of(main)) or kind
    number = 1
    while True:
        folder = parent / (name if number == 1 else f"{name}-{number}")
        own = folder / f"{kind}{ending_of(main)}"
        if not folder.exists() or (own.is_symlink() and own.readlink() == main.resolve()):
            break
        number += 1
    for kind, file in files.items():
        _link(make_folder(folder) / f"{kind}{ending_of(file)}", file)
    return folder


def _link(link: Path, file: Path) -> None:
    """Let the link lead to the file; it is left as it is where it does. Raises DataError where it cannot."""
    if link.is_symlink() and link.readlink() == file.resolve():
        return
    link.unlink(missing_ok=True)
    try:
        link.symlink_to(file.resolve())
    except OSError as mistake:
        folder = link.parent
        raise DataError(
            f"{file}: {folder} could not link to it ({mistake.strerror}). Put a copy into its own folder, "
            f"as runs/{folder.name.lstrip('.')}/{link.name}, and serve that: ragstone serve runs"
        ) from None
