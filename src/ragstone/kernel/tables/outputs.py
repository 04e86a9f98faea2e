"""Where a command may write, and which one wrote a file: the same may write it again, and adds to it."""

import contextlib
import functools
import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator
from contextvars import ContextVar
from pathlib import Path

import msgspec

from ragstone.kernel.errors import DataError, explaining
from ragstone.kernel.persistence.private import make_folder
from ragstone.kernel.tables.storage import Place, absolute, check_url, exists, fingerprint, local_path, url_of


class CommandRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What a command was: its name, its options and tables of settings with their digests.

    output: the digest of what it wrote; "" before.
    """

    command: str
    options: dict[str, str]
    output: str = ""


class CommandOutputs:
    """The files that one command writes, and the records of who wrote those that stand there."""

    def __init__(self, home: Path, record: Callable[[], CommandRecord], grows: Collection[str]) -> None:
        """home: the folder of the records. grows: options that may change, as long as no row is lost."""
        self._home, self._grows = home, grows
        self._record = functools.cache(record)
        self._before: dict[Path, tuple[str, int, int] | None] = {}
        self._again: dict[Path, bool] = {}  # whether what was asked for has changed
        self._told: dict[Path, str] = {}

    def expect(self, path: Path) -> str | None:
        """Return the digest of a file as it was at first, None where there was none: it will be written."""
        path = path.resolve()
        if path not in self._before:
            self._before[path] = _look(path)
        state = self._before[path]
        return state and state[0]

    def may_replace(self, path: Path, *, grows: bool = True) -> bool:
        """Return whether this command wrote the file that stands there; False where nobody knows who did.

        grows: False for what is not checked row by row. Raises DataError, saying what differs, where it was
        another one, or where the file was changed by somebody since.
        """
        before = self.expect(path)
        try:
            record = msgspec.json.decode(self._place(path).read_bytes(), type=CommandRecord)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            return False
        if record.output != before:
            why = "it was changed since it was written"
        elif record.command != self._record().command:
            why = f"`ragstone {record.command}` wrote it"
        else:
            now = self._record().options
            named = sorted(
                name for name in {*now, *record.options} if now.get(name) != record.options.get(name)
            )
            other = [name for name in named if not (grows and name in self._grows)]
            if not other:
                self._again[path.resolve()] = bool(named)
                return True
            why = f"it was made with another value of {_listed(other)}"
        raise DataError(
            f"{path} exists and was not touched: {why}. Give another name with -o, or --force to replace it."
        )

    def is_again(self, path: Path) -> bool:
        """Return whether the file is written again without having been forced to."""
        return path.resolve() in self._again

    def may_lose(self, path: Path) -> bool:
        """Return whether rows of the file may go: what was asked for is the same, and others come of it."""
        return not self._again.get(path.resolve())

    def tell(self, path: Path, outcome: str) -> None:
        """Keep what has become of the rows of a file."""
        self._told[path.resolve()] = outcome

    def note(self) -> list[str]:
        """Record what was written, and return a sentence for each file that stood there before."""
        sentences, complete = [], []
        for path, before in self._before.items():
            now = _look(path)
            if now is None or now == before:  # not written: only the forecast was shown, or there are no rows
                continue
            record = msgspec.structs.replace(self._record(), output=now[0])
            make_folder(self._home)
            self._place(path).write_bytes(msgspec.json.encode(record))
            if path in self._told:
                sentences.append(f"{_shown(path)} existed: {self._told[path]}.")
            elif before is not None and now[0] == before[0]:
                complete.append(_shown(path))
            elif path in self._again:
                sentences.append(f"{_shown(path)} existed and is written again.")
        if complete:
            verb = "was" if len(complete) == 1 else "were"
            sentences.append(f"{_listed(complete)} {verb} complete: nothing has changed.")
        return sentences

    def _place(self, path: Path) -> Path:
        name = hashlib.blake2b(str(path.resolve()).encode(), digest_size=16).hexdigest()
        return self._home / f"{name}.json"


OUTPUTS: ContextVar[CommandOutputs | None] = ContextVar("outputs", default=None)
"""The outputs of the command that runs; None in a function that is called from Python."""


@contextlib.contextmanager
def outputs_of_command(
    name: str, home: Path, options: Callable[[], dict[str, str]], grows: Collection[str]
) -> Iterator[CommandOutputs]:
    """Give the outputs of a command, which hold until the block ends. options: see CommandRecord.

    home, grows: see CommandOutputs.
    """
    outputs = CommandOutputs(home, lambda: CommandRecord(command=name, options=options()), grows)
    before = OUTPUTS.set(outputs)
    try:
        yield outputs
    finally:
        OUTPUTS.reset(before)


def expect_output(path: Path) -> None:
    """Let the command that runs, if there is one, record that it wrote this file."""
    if outputs := OUTPUTS.get():
        outputs.expect(path)


def may_write(path: Path, force: bool, *, grows: bool = True) -> bool:
    """Return whether there is no such file, or `force`, or the command that runs wrote it.

    Raises DataError as CommandOutputs.may_replace does.
    """
    outputs = OUTPUTS.get()
    if outputs is None:
        return force or not path.exists()
    return outputs.expect(path) is None or force or outputs.may_replace(path, grows=grows)


def _look(path: Path) -> tuple[str, int, int] | None:
    """Return the digest of a file, and what changes whenever it is written; None where there is none."""
    if not path.is_file():
        return None
    status = path.stat()
    return digest_of(path), status.st_ino, status.st_mtime_ns


def digest_of(location: Place) -> str:
    """Return the digest of what stands at a location: see fingerprint."""
    digest = hashlib.blake2b(digest_size=16)
    for piece in fingerprint(location):
        digest.update(piece)
    return digest.hexdigest()


def _shown(path: Path) -> str:
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def _listed(names: list[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


def keep_sources(outputs: Iterable[Place], sources: Iterable[Place]) -> None:
    """Check that no output is a source: `--force` replaces results, never what they are made from.

    To be called before anything is read or paid for. Raises DataError.
    """
    read = {_place(source) for source in sources}
    for path in outputs:
        if _place(path) in read:
            raise DataError(
                f"{path} is an input of this command and would be replaced. Give -o another name."
            )


def _place(location: Place) -> str:
    """Return one name for a place, however it is written."""
    return absolute(location).rstrip("/") if url_of(location) else str(local_path(location).resolve())


def check_place(path: Path, force: bool) -> Path:
    """Return the path if a file of any format may be written there. Raises DataError as check_output does."""
    url = url_of(path)
    if url:
        if not force and exists(url):
            raise DataError(f"{url} exists and was not touched. Give another name, or --force to replace it.")
        check_url(url)
        return path
    path = local_path(path)
    if path.is_dir():
        raise DataError(f"{path} is a folder. Name a file in it.")
    if not may_write(path, force):
        raise DataError(f"{path} exists and was not touched. Give another name, or --force to replace it.")
    with explaining(f"{path}: cannot be written", "Choose a writable folder."):
        make_folder(path.parent)
        if not partial_path(path).exists():
            partial_path(path).touch()
            partial_path(path).unlink()
    return path


def partial_path(path: Path) -> Path:
    """Return where the rows of a file stand until it is whole."""
    return path.with_name(path.name + ".partial")
