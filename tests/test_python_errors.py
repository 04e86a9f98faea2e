"""A user's mistake in Python is one exception with its sentence, not a page of frames that are ours."""

import traceback
from collections.abc import Callable
from pathlib import Path

import pytest

import ragstone
from ragstone.kernel.errors import RagstoneError

OURS = str(Path(ragstone.__file__).parent)
ROW = {"question": "Is it blue?", "answer": "Yes.", "reference": "Yes.", "contexts": ["It is blue."]}
MOST_FRAMES = 6

MISTAKES: dict[str, Callable[[Path], object]] = {
    "no key": lambda _folder: ragstone.judge([ROW], judges=["correctness"], model="openai/gpt-4o-mini"),
    "unknown model": lambda _folder: ragstone.judge([ROW], judges=["correctness"], model="nobody/nothing"),
    "no model": lambda _folder: ragstone.judge([ROW], judges=["correctness"]),
    "unknown judge": lambda _folder: ragstone.judge([ROW], judges=["corectness"], model="openai/gpt-4o-mini"),
    "no rows but a text": lambda _folder: ragstone.judge("answers.jsonl", judges=["lexical"]),
    "rows without an answer": lambda _folder: ragstone.judge([{"question": "?"}], judges=["containment"]),
    "a file that is not there": lambda folder: list(
        ragstone.read_rows(folder / "none.jsonl", ragstone.Answer)
    ),
    "a run that is not there": lambda folder: ragstone.compare(folder / "a", folder / "b"),
    "a report of no run": lambda folder: ragstone.write_report(folder / "none"),
    "a bad budget": lambda _folder: ragstone.judge([ROW], judges=["lexical"], budget="much"),
    "an unknown system": lambda _folder: ragstone.answer([{"question": "?"}], system="nobody"),
    "an unknown retriever": lambda _folder: ragstone.retrieve([{"question": "?"}], [], retriever="none"),
    "settings that are not there": lambda folder: ragstone.load_settings(folder / "none.toml"),
}


def told(mistake: Exception) -> tuple[str, int]:
    """What Python prints of it, and how many frames of ours are in that."""
    lines = traceback.format_exception(mistake)
    return "".join(lines), sum(f'File "{OURS}' in line for line in lines)


@pytest.fixture(autouse=True)
def without_key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_one_exception_with_few_frames_of_ours(name: str, tmp_path: Path) -> None:
    with pytest.raises(RagstoneError) as caught:
        MISTAKES[name](tmp_path)
    text, n_frames = told(caught.value)
    assert "During handling" not in text
    assert "direct cause" not in text
    assert n_frames <= MOST_FRAMES


@pytest.mark.parametrize("name", ["no key", "unknown model", "unknown judge"])
async def test_so_is_one_in_a_notebook_whose_loop_is_running(name: str, tmp_path: Path) -> None:
    with pytest.raises(RagstoneError) as caught:
        MISTAKES[name](tmp_path)
    text, n_frames = told(caught.value)
    assert "During handling" not in text
    assert n_frames <= MOST_FRAMES
