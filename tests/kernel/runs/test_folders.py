"""What makes a folder a run, and which files of that name are another tool's."""

import os

import pytest

from ragstone.kernel.errors import DataError
from ragstone.kernel.runs.folders import is_ours, is_run
from ragstone.kernel.runs.run import read_manifest
from ragstone.kernel.runs.summary import chosen_in, read_summary

OURS = {"summary.json": '{"counts": {}, "metrics": []}', "manifest.json": '{"judges": {}}'}
OTHERS = {
    "summary.json": [
        '{"total": {"lines": {"pct": 80}}}',
        "[]",
        "3",
        '{"metrics": {"loss": 1}, "counts": {}}',
        '{"a":' * 100_000,
    ],
    "manifest.json": ['{"name": "An app", "icons": []}', '{"judges": ["Anna"]}'],
}


@pytest.mark.parametrize("name", OURS)
def test_a_run_is_known_by_what_its_files_hold_and_not_by_their_names(tmp_path, name):
    assert not is_run(tmp_path)
    for text in OTHERS[name]:
        (tmp_path / name).write_text(text)
        assert not is_run(tmp_path), text
    for text in (OURS[name], OURS[name][:-4], ""):  # one that is cut off is a run that broke
        (tmp_path / name).write_text(text)
        assert is_run(tmp_path), text


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs files that may not be read")
def test_a_file_that_may_not_be_read_may_be_a_runs(tmp_path):
    path = tmp_path / "summary.json"
    path.touch(mode=0)
    assert is_ours(path)


def test_numbers_of_another_tool_are_not_called_a_run_that_broke(tmp_path, says):
    (tmp_path / "summary.json").write_text(OTHERS["summary.json"][0])
    with pytest.raises(DataError) as mistake:
        read_summary(tmp_path)
    says(mistake.value)
    (tmp_path / "summary.json").write_text(OURS["summary.json"])
    with pytest.raises(DataError) as broken:
        read_summary(tmp_path)
    says(broken.value)


def test_bytes_that_are_no_utf8_are_a_damaged_file_and_no_crash(tmp_path, says):
    (tmp_path / "summary.json").write_bytes(
        b'{"name": "\xff", "chosen": {"of": "\xff", "where": "x"}, "counts": {}, "metrics": []}'
    )
    (tmp_path / "manifest.json").write_bytes(b'{"judges": {}, "\xff": 1}')
    assert is_run(tmp_path)
    for read in (read_summary, chosen_in, lambda run: read_manifest(run / "manifest.json")):
        with pytest.raises(DataError) as error:
            read(tmp_path)
        says(str(error.value).replace(str(tmp_path), "HERE"))
    (tmp_path / "summary.json").write_bytes(b'{"counts": {"\xff": 1}, "metrics": []}')
    assert is_ours(tmp_path / "summary.json")
