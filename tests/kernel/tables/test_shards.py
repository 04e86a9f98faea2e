"""Folders of shards: read in order, written whole, gone on with after a death."""

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support import object_store

from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Answer, Label, Question
from ragstone.kernel.tables import _shards as shards
from ragstone.kernel.tables import check_output, open_rows, read_rows, storage, write_rows
from ragstone.kernel.tables._shards import MANIFEST, read_manifest
from ragstone.kernel.tables.storage import entries

ROWS = [Question(id=f"q{n}", question=f"What is {n}?", kind="open") for n in range(7)]


@pytest.fixture(autouse=True)
def _small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "OTHER_ROWS", 3)


@pytest.fixture(params=["local", "memory", pytest.param("s3", marks=pytest.mark.server)])
def folder(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A folder that is not there yet, on each kind of storage."""
    if request.param == "s3":
        with object_store.bucket(monkeypatch) as url:
            yield f"{url}/deep/out/"
    else:
        yield f"{tmp_path}/out/" if request.param == "local" else f"memory://{tmp_path.name}/out/"


def names(folder: str) -> list[str]:
    return [one.name for one in entries(folder)]


def die(folder: str, rows: list[Question], made_from: str = "") -> None:
    """Write rows, and die before they are all."""

    def work() -> None:
        with open_rows(folder, Question, made_from=made_from) as write:
            for row in rows:
                write(row)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        work()


class TestWriting:
    def test_shards_have_so_many_rows_and_are_read_in_order(self, folder: str) -> None:
        assert write_rows(folder, ROWS, Question) == 7
        # 7 rows, 3 a shard: 3 + 3 + 1
        assert names(folder) == [MANIFEST, "part-00000.parquet", "part-00001.parquet", "part-00002.parquet"]
        manifest = read_manifest(folder)
        assert manifest is not None
        assert [shard.n_rows for shard in manifest.shards] == [3, 3, 1]
        assert list(read_rows(folder, Question)) == ROWS

    def test_rows_that_fill_the_shards_leave_no_empty_one(self, folder: str) -> None:
        write_rows(folder, ROWS[:6], Question)
        assert names(folder) == [MANIFEST, "part-00000.parquet", "part-00001.parquet"]

    def test_a_finished_folder_is_replaced_by_force_alone(self, folder: str) -> None:
        write_rows(folder, ROWS, Question)
        with pytest.raises(DataError, match="is finished and was not touched"):
            check_output(folder, force=False)
        write_rows(folder, ROWS[:2], Question, force=True)
        assert names(folder) == [MANIFEST, "part-00000.parquet"]
        assert list(read_rows(folder, Question)) == ROWS[:2]

    def test_a_run_that_died_goes_on_where_it_stopped(
        self, folder: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        die(folder, ROWS[:5], made_from="a")
        assert names(folder) == [MANIFEST, "part-00000.parquet"]
        with pytest.raises(DataError, match=r"has not finished\. Run its command again"):
            list(read_rows(folder, Question))
        check_output(folder, force=False)
        put: list[str] = []
        whole = storage.put_whole
        monkeypatch.setattr(
            shards, "put_whole", lambda content, place: (put.append(str(place)), whole(content, place))
        )
        write_rows(folder, ROWS, Question, made_from="a")
        assert [place.rpartition("/")[2] for place in put] == ["part-00001.parquet", "part-00002.parquet"]
        assert list(read_rows(folder, Question)) == ROWS

    def test_a_shard_whose_rows_have_changed_since_is_made_again(self, folder: str) -> None:
        die(folder, ROWS[:4])
        write_rows(folder, ROWS[::-1], Question)
        assert list(read_rows(folder, Question)) == ROWS[::-1]

    def test_shards_of_other_rows_or_settings_are_refused(self, folder: str) -> None:
        die(folder, ROWS[:4], made_from="a")
        with pytest.raises(DataError, match="made from other rows or settings"):
            write_rows(folder, ROWS, Question, made_from="b")
        write_rows(folder, ROWS, Question, made_from="b", force=True)
        assert list(read_rows(folder, Question)) == ROWS

    def test_a_shard_that_was_cut_off_is_made_again(self, tmp_path: Path) -> None:
        die(f"{tmp_path}/out/", ROWS)
        shard = tmp_path / "out" / "part-00001.parquet"
        shard.write_bytes(shard.read_bytes()[:-20])
        write_rows(f"{tmp_path}/out/", ROWS, Question)
        assert list(read_rows(tmp_path / "out", Question)) == ROWS

    def test_foreign_shards_are_refused_even_by_force(self, tmp_path: Path, says) -> None:
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "theirs.parquet").write_bytes(b"x")
        for force in (False, True):
            with pytest.raises(DataError) as error:
                check_output(f"{tmp_path}/out/", force=force)
            says(error.value)

    def test_shards_without_a_manifest_are_refused(self, tmp_path: Path, says) -> None:
        write_rows(f"{tmp_path}/out/", ROWS, Question)
        (tmp_path / "out" / MANIFEST).unlink()
        with pytest.raises(DataError) as error:
            check_output(f"{tmp_path}/out/", force=False)
        says(error.value)
        check_output(f"{tmp_path}/out/", force=True)

    def test_two_runs_do_not_write_one_folder(self, tmp_path: Path, says) -> None:
        with open_rows(f"{tmp_path}/out/", Question) as write:
            write(ROWS[0])
            with (
                pytest.raises(DataError) as error,
                open_rows(f"{tmp_path}/out/", Question),
            ):
                pass
            says(error.value)

    def test_a_file_of_that_name_is_told(self, tmp_path: Path, says) -> None:
        (tmp_path / "out").write_text("x")
        with pytest.raises(DataError) as error:
            check_output(f"{tmp_path}/out/", force=True)
        says(error.value)


class TestReading:
    def test_jsonl_packed_or_not_is_read_in_the_order_of_names(self, tmp_path: Path) -> None:
        line = '{{"id": "{}", "question": "x", "kind": "open"}}\n'
        for name, id_ in (("b", "2"), ("a", "1")):
            (tmp_path / f"{name}.jsonl.gz").write_bytes(gzip.compress(line.format(id_).encode()))
        (tmp_path / "_SUCCESS").touch()
        assert [row.id for row in read_rows(tmp_path, Question)] == ["1", "2"]
        assert [row.id for row in read_rows(tmp_path / "a.jsonl.gz", Question)] == ["1"]

    def test_several_formats_are_refused(self, tmp_path: Path, says) -> None:
        (tmp_path / "a.jsonl").write_text("{}")
        (tmp_path / "b.parquet").write_text("x")
        with pytest.raises(DataError) as error:
            list(read_rows(tmp_path, Question))
        says(error.value)

    def test_a_mistake_names_its_shard_and_line(self, tmp_path: Path, says) -> None:
        (tmp_path / "a.jsonl").write_text('{"id": "1", "question": "x", "kind": "open"}\n{"id": \n')
        with pytest.raises(DataError) as error:
            list(read_rows(tmp_path, Question))
        says(error.value)

    @pytest.mark.parametrize("name", ["a.parquet", "a.jsonl.gz"])
    def test_a_shard_that_was_cut_off_is_named(self, name: str, tmp_path: Path) -> None:
        place = tmp_path / "rows" / name
        place.parent.mkdir()
        if name.endswith("parquet"):
            write_rows(place, ROWS, Question)
        else:
            place.write_bytes(gzip.compress(b'{"id": "1", "question": "x", "kind": "open"}\n' * 9))
        place.write_bytes(place.read_bytes()[:-9])
        with pytest.raises(DataError, match=rf"{name}: cannot be (read|unpacked)"):
            list(read_rows(tmp_path / "rows", Question))

    def test_a_folder_that_has_lost_a_shard_or_gained_one_is_refused(self, tmp_path: Path) -> None:
        write_rows(f"{tmp_path}/out/", ROWS, Question)
        shard = tmp_path / "out" / "part-00001.parquet"
        content = shard.read_bytes()
        shard.write_bytes(content[:-5])
        with pytest.raises(DataError, match=r"part-00001\.parquet: .* it was cut off or replaced"):
            list(read_rows(tmp_path / "out", Question))
        shard.unlink()
        with pytest.raises(DataError, match=r"part-00001\.parquet is missing"):
            list(read_rows(tmp_path / "out", Question))
        shard.write_bytes(content)
        (tmp_path / "out" / "part-00009.parquet").write_bytes(content)
        with pytest.raises(DataError, match=r"part-00009\.parquet is not among the shards"):
            list(read_rows(tmp_path / "out", Question))

    def test_a_run_and_a_log_are_no_shards(self, tmp_path: Path, says) -> None:
        (tmp_path / "answers.jsonl").write_text('{"question_id": "1", "answer": "x"}\n')
        (tmp_path / "manifest.json").write_text("{}")
        with pytest.raises(DataError) as error:
            list(read_rows(tmp_path, Answer))
        says(error.value)

    def test_an_identity_is_unique_among_all_shards(self, tmp_path: Path, says) -> None:
        for name in "ab":
            (tmp_path / f"{name}.jsonl").write_text('{"id": "1", "question": "x", "kind": "open"}\n')
        with pytest.raises(DataError) as error:
            list(read_rows(tmp_path, Question))
        says(error.value)

    def test_labels_of_several_annotators_may_stand_in_shards(self, tmp_path: Path) -> None:
        for name in "ab":
            (tmp_path / f"{name}.jsonl").write_text(
                '{"question_id": "1", "system": "s", "metric": "m", "score": 1}\n'
            )
        assert len(list(read_rows(tmp_path, Label))) == 2


@pytest.mark.server
def test_storage_that_goes_away_in_the_middle_loses_no_finished_shard(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with object_store.bucket(monkeypatch) as url:

        def rows() -> Iterator[Question]:
            yield from ROWS[:4]
            monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
            object_store.use(monkeypatch, "http://127.0.0.1:9")
            yield from ROWS[4:]

        with pytest.raises(DataError, match=r"no server answers there .* what is finished stays"):
            write_rows(f"{url}/out/", rows(), Question)
        object_store.use(monkeypatch, object_store.address())
        assert names(f"{url}/out/") == [MANIFEST, "part-00000.parquet"]
        write_rows(f"{url}/out/", ROWS, Question)
        assert list(read_rows(f"{url}/out/", Question)) == ROWS
