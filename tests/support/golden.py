"""Texts that stay as they are until somebody means to change them: tests/golden."""

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from ragstone.kernel.llm.prompt import Message

GOLDEN = Path(__file__).parent.parent / "golden"


def check_golden(name: str, text: str) -> None:
    """Check that a text is that of a golden file. RAGSTONE_UPDATE_GOLDEN=1 writes the file anew."""
    path = GOLDEN / name
    if os.environ.get("RAGSTONE_UPDATE_GOLDEN") == "1":
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8"), "if this is meant: RAGSTONE_UPDATE_GOLDEN=1 pytest"


def check_prompt(name: str, messages: Iterable[Message]) -> None:
    """Check that messages are those of `prompts/NAME.txt`."""
    text = "\n\n".join(f"--- {message.role}\n{message.content}" for message in messages) + "\n"
    check_golden(f"prompts/{name}.txt", text)


class Sentences:
    """What one test is told, text after text, held against its part of `sentences/MODULE.txt`.

    Folders of the test read `FOLDER` there and ports of local servers `PORT`, lines of
    our sources in logged warnings `LINE`. To write them again, in one
    process: RAGSTONE_UPDATE_GOLDEN=1 pytest -n 0 FILE.
    """

    def __init__(self, file: Path, test: str, folder: Path) -> None:
        self._file, self._test, self._folder = file, test, folder
        self._texts: list[str] = []

    def __call__(self, text: object) -> None:
        """Take a text, or an exception's."""
        plain = str(text).replace(str(self._folder), "FOLDER").strip("\n")
        plain = re.sub(r"^((?:WARNING|ERROR) .*\.py):\d+ ", r"\1:LINE ", plain, flags=re.MULTILINE)
        self._texts.append(re.sub(r"(127\.0\.0\.1|localhost|\[::1\]):\d+", r"\1:PORT", plain))

    def check(self) -> None:
        """Check that all texts are those of the golden file."""
        golden = read_sentences(self._file)
        if os.environ.get("RAGSTONE_UPDATE_GOLDEN") == "1":
            golden[self._test] = self._texts
            write_sentences(self._file, golden)
        assert self._texts == golden.get(self._test), "if this is meant: RAGSTONE_UPDATE_GOLDEN=1 pytest -n 0"


def sentence_in(text: str, begins: str) -> str:
    """Return what stands in one element of a page, or on one line, from its beginning to its end.

    begins: words of it, which stand nowhere before.
    """
    at = text.index(begins)
    start = max(text.rfind(">", 0, at), text.rfind("\n", 0, at)) + 1
    ends = (end for sign in "<\n" if (end := text.find(sign, at)) >= 0)
    return text[start : min(ends, default=len(text))].strip()


def read_sentences(file: Path) -> dict[str, list[str]]:
    """Return test -> its texts, as a file of sentences has them."""
    if not file.is_file():
        return {}
    parts = re.split(r"^=== (.+)\n", file.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    texts = (part.removesuffix("\n\n").removesuffix("\n").split("\n---\n") for part in parts[1::2])
    return dict(zip(parts[::2], texts, strict=True))


def write_sentences(file: Path, golden: dict[str, list[str]]) -> None:
    """Write a file of sentences, its tests in the order of their names."""
    file.parent.mkdir(parents=True, exist_ok=True)
    parts = ["=== " + test + "\n" + "\n---\n".join(texts) + "\n" for test, texts in sorted(golden.items())]
    file.write_text("\n".join(parts), encoding="utf-8")


def sentences_of(module: Path) -> Path:
    """Return the file of sentences of a module of tests."""
    names = module.with_suffix("").parts
    start = max(at for at, name in enumerate(names) if name in ("tests", "assistant_tests"))
    return GOLDEN / "sentences" / f"{'.'.join(names[start:]).removeprefix('tests.')}.txt"


@pytest.fixture
def says(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Sentences]:
    """Takes what the test is told: `says(text)`, `says(error.value)`; see Sentences."""
    heard = Sentences(sentences_of(request.path), request.node.name, tmp_path)
    yield heard
    heard.check()
