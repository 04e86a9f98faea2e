"""The folder of a run that fails: what was made stays, and an empty one goes."""

import asyncio
import contextlib

import pytest

from ragstone.kernel.engine.output import made_and_held, write_stream
from ragstone.kernel.errors import DataError, Stopped
from ragstone.kernel.records import Answer
from ragstone.kernel.tables import open_rows


def fail_in(folder, **files):
    with contextlib.suppress(DataError), made_and_held(folder, "answers.jsonl"):
        for name, text in files.items():
            (folder / name.replace("_", ".")).write_text(text)
        raise DataError("no key")


def test_a_run_that_fails_before_its_first_row_leaves_no_folder(tmp_path):
    fail_in(tmp_path / "runs" / "a", answers_jsonl="copied", progress_json="{}", judgements_jsonl_partial="")
    assert not any(tmp_path.iterdir())


def test_a_run_that_fails_later_keeps_its_rows(tmp_path):
    fail_in(tmp_path / "a", answers_jsonl="copied", judgements_jsonl_partial="{}")
    assert {file.name for file in (tmp_path / "a").iterdir()} == {"answers.jsonl", "judgements.jsonl.partial"}


def test_a_folder_that_was_there_stays(tmp_path):
    (tmp_path / "a").mkdir()
    fail_in(tmp_path / "a", progress_json="{}")
    assert (tmp_path / "a" / "progress.json").is_file()


def test_what_failed_is_told_where_the_folder_is_gone(tmp_path):
    def fail():
        with made_and_held(tmp_path / "a"):
            (tmp_path / "a").rmdir()
            raise DataError("no key")

    with pytest.raises(DataError):
        fail()


@pytest.mark.parametrize("n_rows", [0, 1])
async def test_stopped_it_names_a_file_where_there_is_one(tmp_path, says, n_rows):
    async def rows():
        for _ in range(n_rows):
            yield Answer(question_id="q", answer="a")
        raise asyncio.CancelledError

    with pytest.raises(Stopped) as stopped:
        await write_stream(rows(), tmp_path / "a.jsonl", Answer, n_planned=2)
    says(stopped.value)
    assert (tmp_path / "a.jsonl.partial").exists() == (n_rows > 0)


@pytest.mark.parametrize("n_rows", [0, 1])
def test_rows_so_far_are_kept_and_no_rows_are_no_file(tmp_path, n_rows):
    with contextlib.suppress(DataError), open_rows(tmp_path / "a.jsonl", Answer) as write:
        for _ in range(n_rows):
            write(Answer(question_id="q", answer="a"))
        raise DataError("cut off")
    assert [file.name for file in tmp_path.iterdir()] == ["a.jsonl.partial"][:n_rows]
