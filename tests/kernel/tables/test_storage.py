"""Rows at URLs: read and written as files are, with messages that say what to do where they cannot be."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support import object_store

from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Question
from ragstone.kernel.tables import check_output, keep_sources, read_rows, storage, write_rows
from ragstone.kernel.tables.storage import absolute, entries, is_shards, local_path, put_bytes, url_of

ROWS = [Question(id=f"q{n}", question=f"What is {n}?", kind="open") for n in range(5)]


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    with object_store.bucket(monkeypatch) as url:
        yield url


class TestPlaces:
    @pytest.mark.parametrize(
        ("place", "url"),
        [
            ("s3://b/a.jsonl", "s3://b/a.jsonl"),
            (Path("s3://b/a.jsonl"), "s3://b/a.jsonl"),  # as pathlib folds it
            ("S3://b/x/", "s3://b/x/"),
            ("memory://b/a.jsonl", "memory://b/a.jsonl"),
            ("answers.jsonl", None),
            ("/tmp/a:/b.jsonl", None),
            ("c:/rows/a.jsonl", None),
            ("file:///tmp/a.jsonl", None),
        ],
    )
    def test_a_url_is_known_by_its_scheme(self, place: Path | str, url: str | None) -> None:
        assert url_of(place) == url

    def test_a_file_url_is_a_path(self, tmp_path: Path) -> None:
        url = f"file://{tmp_path}/rows.jsonl"
        assert local_path(url) == local_path(Path(url)) == tmp_path / "rows.jsonl"
        write_rows(url, ROWS, Question)
        assert list(read_rows(url, Question)) == list(read_rows(tmp_path / "rows.jsonl", Question)) == ROWS

    def test_a_slash_at_the_end_is_a_folder_of_shards(self) -> None:
        assert is_shards("s3://b/out/")
        assert is_shards("out/")
        assert not is_shards("out")
        assert not is_shards(Path("out/"))

    def test_absolute_leaves_urls_alone(self) -> None:
        assert absolute(Path("s3://b/q.jsonl")) == "s3://b/q.jsonl"
        assert absolute(Path("q.jsonl")) == str(Path.cwd() / "q.jsonl")

    def test_local_rows_do_not_import_fsspec(self, tmp_path: Path) -> None:
        code = (
            "import sys, ragstone; from ragstone.kernel.tables import *\n"
            "from ragstone.kernel.records import Question\n"
            f"write_rows({str(tmp_path / 'a.jsonl')!r}, "
            "[Question(id='1', question='x', kind='open')], Question)\n"
            f"list(read_rows({str(tmp_path / 'a.jsonl')!r}, Question)); assert 'fsspec' not in sys.modules"
        )
        subprocess.run([sys.executable, "-c", code], check=True)


class TestInMemory:
    @pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
    def test_rows_come_back_from_a_url(self, ending: str) -> None:
        url = f"memory://{ending}/rows.{ending}"
        assert write_rows(url, ROWS, Question, force=True) == 5
        assert list(read_rows(url, Question)) == ROWS
        assert [one.name for one in entries(f"memory://{ending}")] == [f"rows.{ending}"]

    def test_json_is_read_too(self) -> None:
        put_bytes(b'[{"id": "q1", "question": "Why?", "kind": "open"}]', "memory://json/rows.json")
        assert [row.id for row in read_rows("memory://json/rows.json", Question)] == ["q1"]

    def test_what_exists_is_not_touched_without_force(self, says) -> None:
        write_rows("memory://kept/rows.jsonl", ROWS, Question, force=True)
        with pytest.raises(DataError) as error:
            check_output("memory://kept/rows.jsonl", force=False)
        says(error.value)
        check_output("memory://kept/rows.jsonl", force=True)

    def test_an_error_leaves_nothing_behind(self) -> None:
        def rows() -> Iterator[Question]:
            yield ROWS[0]
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            write_rows("memory://half/rows.jsonl", rows(), Question)
        assert entries("memory://half") == []

    def test_a_source_is_never_an_output(self, says) -> None:
        with pytest.raises(DataError) as error:
            keep_sources(["s3://b/rows/"], [Path("s3://b/rows")])
        says(error.value)
        keep_sources(["s3://b/rows/", Path("rows")], ["s3://b/other", Path("s3/b/rows")])

    def test_a_url_without_an_ending_says_how_shards_are_written(self, says) -> None:
        with pytest.raises(DataError) as error:
            check_output("memory://b/out", force=False)
        says(error.value)

    def test_an_unknown_scheme_is_named(self) -> None:
        with pytest.raises(DataError, match=r"Protocol not known: s4\. URLs are written s3://BUCKET/PATH"):
            list(read_rows("s4://b/a.jsonl", Question))

    def test_what_is_not_there_is_named(self, says) -> None:
        with pytest.raises(DataError) as error:
            list(read_rows("memory://none/a.jsonl", Question))
        says(error.value)


@pytest.mark.server
class TestS3:
    def test_a_file_goes_there_and_comes_back(self, bucket: str) -> None:
        url = f"{bucket}/rows/a.jsonl"
        check_output(url, force=False)
        assert entries(f"{bucket}/rows") == []  # the trial is gone
        write_rows(url, ROWS, Question)
        assert list(read_rows(Path(url), Question)) == ROWS

    def test_a_bucket_that_does_not_exist_is_told_before_anything_is_written(self, bucket: str) -> None:
        with pytest.raises(DataError, match=r"no such bucket or file .*create the bucket"):
            check_output("s3://nobody-has-this/a.jsonl", force=False)
        with pytest.raises(DataError, match="no such bucket or file"):
            check_output("s3://nobody-has-this/a/", force=False)

    def test_a_bucket_without_permission_says_so(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with object_store.refusing(403, "AccessDenied") as endpoint:
            object_store.use(monkeypatch, endpoint)
            for place in ("s3://theirs/a.jsonl", "s3://theirs/a/"):
                with pytest.raises(DataError, match="these credentials do not allow it"):
                    check_output(place, force=False)
                with pytest.raises(DataError, match="these credentials do not allow it"):
                    list(read_rows(place, Question))

    def test_without_credentials_their_names_are_told(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, bucket: str
    ) -> None:
        import s3fs

        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            monkeypatch.delenv(name)
        monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
        monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
        s3fs.S3FileSystem.clear_instance_cache()
        with pytest.raises(DataError, match=r"there are no credentials\. Set AWS_ACCESS_KEY_ID"):
            check_output(f"{bucket}/a.jsonl", force=False)

    def test_nobody_at_the_endpoint_is_told(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
        object_store.use(monkeypatch, "http://127.0.0.1:9")
        with pytest.raises(DataError, match=r"no server answers there .*AWS_ENDPOINT_URL"):
            check_output("s3://b/a.jsonl", force=False)


def test_errors_of_drivers_that_are_none_of_ours_pass() -> None:
    with pytest.raises(ZeroDivisionError), storage.told("s3://b", "read"):
        raise ZeroDivisionError
