"""Following a tutorial as a reader does: its blocks in order, downloads, programs in a second terminal.

with following(page, capfd) as lesson:          # in an empty folder
    lesson.addresses                            # {"8000": "http://127.0.0.1:41231"}: what it has started

followed(page).folder                           # what its reader has at the end
"""

import contextlib
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest
from tests import test_docs as docs
from tests.support.once import made_once
from tests.test_docs import FENCE, KINDS, Block, blocks_of

from ragstone.kernel.console import printing

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "tutorials"
TUTORIALS = [page for page in sorted(FOLDER.glob("*.md")) if page.stem != "examples"]
DOWNLOAD = re.compile(r"\]\(data/([^)]+)\)")
PORT = re.compile(r"\b80\d\d\b")
START_S = 60  # until a program listens; a shared machine is slow at times


class Lesson:
    """What became of a tutorial. addresses: those of its programs, by the port that the page names."""

    def __init__(self) -> None:
        self.addresses: dict[str, str] = {}
        self.n_commands = 0
        self.n_checked = 0
        self._ports: dict[str, str] = {}
        self._programs: list[subprocess.Popen[bytes]] = []

    def real(self, text: str) -> str:
        """Return a text of the page with free ports in place of its own."""
        return PORT.sub(lambda match: self._ports.setdefault(match[0], str(_free_port())), text)

    def shown(self, text: str) -> str:
        """Return what was printed, with the page's ports."""
        for page, free in self._ports.items():
            text = re.sub(rf"\b{free}\b", page, text)
        return text

    def start(self, line: str) -> None:
        """Start a program, and wait until it listens."""
        words = shlex.split(self.real(line), comments=True)
        port = PORT.search(line)
        assert port, f"name the port in a comment, so that the test can choose another: {line}"
        free = self._ports[port[0]]
        match words:
            case ["ragstone", *arguments]:
                command = [sys.executable, "-m", "ragstone", *arguments, "--port", free]
            case ["python", *arguments]:
                command = [sys.executable, *arguments]
            case _:
                raise AssertionError(f"a program that no test knows how to start: {line}")
        self._programs.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        end = time.monotonic() + START_S
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", int(free)), 1):
                break
            assert self._programs[-1].poll() is None, f"{line}: ended at once"
            assert time.monotonic() < end, f"{line}: does not listen after {START_S} s"
            time.sleep(0.1)
        self.addresses[port[0]] = f"http://127.0.0.1:{free}"

    def end(self) -> None:
        """End what was started."""
        for program in self._programs:
            program.terminate()
        for program in self._programs:
            program.wait(60)


@contextlib.contextmanager
def following(page: Path, capfd: Any) -> Iterator[Lesson]:  # noqa: ANN401 - pytest's own fixture has no public type
    """Run a tutorial in this folder, and give what it left, with its programs still running."""
    text = page.read_text(encoding="utf-8")
    lesson, printed, names, at = Lesson(), "", {"__name__": "__main__"}, 0
    here = Path.cwd()
    try:
        for block, found in zip(blocks_of(text), FENCE.finditer(text), strict=True):
            for name in DOWNLOAD.findall(text[at : found.start()]):
                shutil.copy(FOLDER / "data" / name, name)
            at = found.end()
            assert block.kind in {*KINDS, "yaml"}, f"{page.name}: an unknown kind of block: {block.kind}"
            if block.kind == "text checked":
                lesson.n_checked += 1
                docs.check_printed(page, block, lesson.shown(printed))
            try:
                _run(lesson, block, names)
            except Exception as mistake:
                out = capfd.readouterr()
                raise AssertionError(f"{page.name}: {mistake}\n{block.text}\n{out.out}{out.err}") from mistake
            printed = capfd.readouterr().out
            docs.save(block._replace(text=lesson.real(block.text)))
        yield lesson
    finally:
        lesson.end()
        os.chdir(here)


class Followed(NamedTuple):
    """What a tutorial left. folder: where its reader is at the end."""

    folder: str
    n_commands: int
    n_checked: int


@pytest.fixture
def followed(
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> Callable[[Path], Followed]:
    """Gives what a tutorial left, followed from an empty folder by a user without a key or a cached model.

    The first test that asks follows it, the others look at its folder and change nothing there.
    """

    def follow(page: Path) -> Followed:
        def fill(place: Path) -> None:
            for folder in ("work", "home"):
                (place / folder).mkdir()
            monkeypatch.setenv("HOME", str(place / "home"))
            monkeypatch.setenv("XDG_CACHE_HOME", str(place / "home" / ".cache"))
            monkeypatch.setenv("COLUMNS", "80")
            monkeypatch.setenv("TZ", "UTC")
            monkeypatch.chdir(place / "work")
            printing.console.cache_clear()
            with following(page, capfd) as lesson:
                left = Followed(str(Path.cwd()), lesson.n_commands, lesson.n_checked)
            (place / "left.json").write_bytes(msgspec.json.encode(left))

        place = made_once(tmp_path_factory, f"tutorial-{page.stem}", fill)
        return msgspec.json.decode((place / "left.json").read_bytes(), type=Followed)

    return follow


def run_ragstone(arguments: list[str]) -> int:
    """Return the exit code of a command in this process, which reads the modules of this folder anew.

    Others of their names, of an earlier command or of another page, are gone.
    """
    path = list(sys.path)
    for module in Path().glob("*.py"):
        sys.modules.pop(module.stem, None)
    try:
        return docs.run_ragstone(arguments)
    finally:
        sys.path[:] = path


def _run(lesson: Lesson, block: Block, names: dict[str, object]) -> None:
    lines = block.text.replace("\\\n", " ").splitlines()
    if block.kind != "sh":
        if block.kind not in ("yaml", "python") or not docs.SAVED.search(block.before):
            KINDS.get(block.kind, lambda *_: None)(block, names)
        return
    lesson.n_commands += len(lines)
    for line in lines:
        if "second terminal" in re.sub(r"\s+", " ", block.before):
            lesson.start(line)
        else:
            _run_line(lesson, line)


def _run_line(lesson: Lesson, line: str) -> None:
    expected = docs.EXIT_CODE.search(line)
    if " && " in line:
        for part in line.split(" && "):
            _run_line(lesson, part)
        return
    code = int(expected[1] if expected else 0)
    match shlex.split(lesson.real(line), comments=True):
        case ["ragstone", *arguments]:
            ended = run_ragstone(arguments)
            assert ended == code, f"{line}: exit code {ended}, not {code}"
        case ["python", *arguments]:
            subprocess.run([sys.executable, *arguments], check=True, timeout=120)
        case ["mkdir", name]:
            Path(name).mkdir()
        case ["cp", "-r", source, target]:
            shutil.copytree(source, target)
        case _:
            docs.run_shell(Block("sh", lesson.real(line), ""), {})


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
