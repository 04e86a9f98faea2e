import os
import re
import sys
import zipfile
from pathlib import Path

import pytest

from ragstone.kernel import corpus, files
from ragstone.kernel.corpus import _extras as extras
from ragstone.kernel.corpus import parallel
from ragstone.kernel.corpus.file import IngestOptions, Skipped
from ragstone.kernel.corpus.ingest import ingest, read_corpus
from ragstone.kernel.errors import DataError, MissingExtra


def write_files(folder, files):
    """Write files, name -> content; return their folder."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


@pytest.fixture
def folder(tmp_path):
    """A folder `docs` with files that can be read and files that cannot."""
    files = {
        "b.txt": b"Second",
        "a.md": b"# First",
        "sub/c.HTML": b"<p>Third",
        "sub/d.csv": b"id,text\nrow,Fourth\n",
        "sub/picture.png": b"\x89PNG",
        "sub/empty.txt": b" \n",
        "sub/noending": b"x",
        "sub/rows.jsonl": b'{"text": "Fifth"}\n{"text": " "}\n',
        ".git/config.txt": b"hidden",
        ".hidden.txt": b"hidden",
    }
    return write_files(tmp_path / "docs", files)


def test_a_folder_is_read_in_a_stable_order_with_stable_ids(folder):
    documents = read_corpus([str(folder)]).documents
    assert [document.id for document in documents] == [
        "docs/a.md",
        "docs/b.txt",
        "docs/sub/c.HTML",
        "row",
        "docs/sub/rows.jsonl#1",
    ]
    assert documents[0].source == str(folder / "a.md")


@pytest.mark.long
def test_broken_files_are_skipped_with_their_reasons_and_stop_nothing(folder, says):
    (folder / "sub" / "broken.pdf").write_bytes(b"%PDF-1.4 nothing")
    skipped = {Path(one.path).name: one.reason for one in read_corpus([folder]).skipped}
    says("\n".join(f"{name}: {reason}" for name, reason in sorted(skipped.items())))


def test_a_file_gives_all_of_its_rows_or_none(tmp_path, says):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"text": "good"}\nbroken\n')
    (skipped,) = ingest([path])
    assert isinstance(skipped, Skipped)
    says(skipped.reason)


def test_ids_from_the_current_folder_have_no_prefix(folder, monkeypatch):
    monkeypatch.chdir(folder)
    assert read_corpus([Path()]).documents[0].id == "a.md"


def test_a_file_that_two_sources_name_is_read_once(folder, says):
    corpus = read_corpus([folder / "a.md", folder])
    assert [document.id for document in corpus.documents][:2] == ["a.md", "docs/b.txt"]
    says(corpus.skipped[0].reason)


def test_a_pattern_after_its_folder_still_names_source_code(tmp_path, says):
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "a.py").write_text("answer = 42\n")
    for sources in (["code", "code/*.py"], ["code/*.py", "code"]):
        corpus = read_corpus([tmp_path / source for source in sources])
        assert [document.text for document in corpus.documents] == ["answer = 42\n"]
        [skipped] = corpus.skipped
        says(skipped.reason)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names are Unicode")
def test_a_file_whose_name_is_not_in_utf8_is_skipped_by_a_name_that_can_be_printed(tmp_path, says):
    (tmp_path / "good.txt").write_text("Good text.")
    (tmp_path / os.fsdecode(b"f\xfcr.txt")).write_text("Text.")
    corpus = read_corpus([tmp_path])
    assert [document.text for document in corpus.documents] == ["Good text."]
    (skipped,) = corpus.skipped
    assert skipped.path.endswith(r"f\udcfcr.txt")
    says(skipped.reason)


def test_a_source_that_does_not_exist_is_an_error(tmp_path, says):
    with pytest.raises(DataError) as error:
        read_corpus([tmp_path / "nowhere"])
    says(error.value)


def test_a_named_file_of_an_unknown_kind_is_an_error_that_lists_the_known(folder, says):
    with pytest.raises(DataError) as error:
        read_corpus([folder / "sub" / "picture.png"])
    says(error.value)


def test_an_id_that_is_twice_in_one_file_is_an_error_that_names_the_file(tmp_path, says):
    (tmp_path / "one.jsonl").write_text('{"id": "same", "text": "x"}\n{"id": "same", "text": "y"}\n')
    with pytest.raises(DataError) as error:
        read_corpus([tmp_path])
    says(error.value)


def test_a_second_document_with_an_id_names_both_places(tmp_path, says):
    for name in ("one.jsonl", "two.jsonl"):
        (tmp_path / name).write_text('{"id": "same", "text": "x"}\n')
    with pytest.raises(DataError) as error:
        read_corpus([tmp_path])
    says(error.value)


@pytest.mark.long
def test_a_missing_package_names_the_command_that_installs_it(folder, monkeypatch):
    (folder / "a.pdf").write_bytes(b"%PDF-1.4 nothing")  # read in a process of its own
    monkeypatch.setattr(parallel, "BEFORE", "sys.modules['pypdfium2'] = None")
    with pytest.raises(MissingExtra, match=r"pip install 'ragstone\[pdf\]'"):
        read_corpus([folder])


def test_all_missing_packages_are_named_at_once_or_their_files_left_out(tmp_path, monkeypatch, says):
    for name in ("a.pdf", "b.PDF", "c.html", "d.txt"):
        (tmp_path / name).write_text("Sow in May.")
    with zipfile.ZipFile(tmp_path / "more.zip", "w") as archive:
        archive.writestr("e.htm", "<p>Reap in August.</p>")
    monkeypatch.setattr(extras, "find_spec", lambda package: None)
    with pytest.raises(MissingExtra) as told:
        read_corpus([tmp_path])
    says(str(told.value))
    assert str(told.value).endswith("pip install 'ragstone[html,pdf]'")
    read = read_corpus([tmp_path], IngestOptions(without_extras=True))
    assert [one.text for one in read.documents] == ["Sow in May."]
    says("\n".join(sorted(one.reason for one in read.skipped)))


def test_every_extra_that_a_reader_needs_is_known():
    rooms = [Path(corpus.__file__).parent, Path(files.__file__).parent]
    sources = [path.read_text() for room in rooms for path in room.rglob("*.py")]
    named = {extra for text in sources for extra in re.findall(r"optional_package\(.*, \"(\w+)\"\)", text)}
    assert named == {extra for _package, extra in extras.NEEDED.values()}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_skipped(folder):
    (folder / "b.txt").chmod(0)
    assert any("Permission denied" in one.reason for one in read_corpus([folder]).skipped)


def ids(sources, **options):
    return [one.id for one in read_corpus(sources, IngestOptions(**options)).documents]


def reasons(sources, **options):
    skipped = read_corpus(sources, IngestOptions(**options)).skipped
    return {Path(one.path).name: one.reason for one in skipped}


@pytest.fixture
def project(tmp_path):
    """A folder `src` with code, text and pictures."""
    files = {
        "main.py": b"import os\n",
        "lib/a.py": b"a = 1\n",
        "lib/deep/b.py": b"b = 1\n",
        "lib/notes.md": b"# Notes",
        "lib/data.xyz": b"some text",
        "lib/picture.png": b"\x89PNG\0\0",
        "Makefile": b"all:\n",
    }
    return write_files(tmp_path / "src", files)


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*.py", ["src/main.py"]),
        ("**/*.py", ["src/main.py", "src/lib/a.py", "src/lib/deep/b.py"]),
        ("lib/*.py", ["lib/a.py"]),
        ("lib/**", ["lib/a.py", "lib/data.xyz", "lib/notes.md", "lib/deep/b.py"]),
        ("lib/[ab].py", ["lib/a.py"]),
        ("lib/[!a]*.??", ["lib/notes.md"]),
    ],
)
def test_a_source_may_be_a_pattern(project, pattern, found):
    assert ids([str(project / pattern)]) == found


def test_a_pattern_has_ids_from_the_folder_before_its_first_wildcard(project, monkeypatch):
    monkeypatch.chdir(project)
    assert ids(["**/a.py"]) == ["lib/a.py"]
    assert ids(["lib/*.py"]) == ["lib/a.py"]


def test_glob_chooses_files_of_folders_in_all_of_them_unless_it_has_a_slash(project):
    assert ids([project], glob=["*.py"]) == ["src/main.py", "src/lib/a.py", "src/lib/deep/b.py"]
    assert ids([project], glob=["lib/*.py", "*.md"]) == ["src/lib/a.py", "src/lib/notes.md"]


def test_code_is_read_whole_with_its_language_where_a_pattern_names_it(project, says):
    (document,) = read_corpus([project / "lib" / "a.py"]).documents
    assert (document.text, document.title, document.lang) == ("a = 1\n", "a.py", None)
    assert document.metadata == {"code": "python"}
    assert read_corpus([project / "Makefile"]).documents[0].metadata == {"code": "make"}
    says(reasons([project])["main.py"])


def test_a_named_file_of_an_unknown_ending_is_read_as_text_if_it_is_text(project, says):
    assert ids([project / "lib" / "data.xyz"]) == ["data.xyz"]
    (project / "lib" / "data.xyz").write_bytes(b"\0\1\2")
    [(name, reason)] = reasons([project / "lib" / "data.xyz"]).items()
    assert name == "data.xyz"
    says(reason)


def test_a_pattern_that_matches_nothing_is_an_error(project, says):
    with pytest.raises(DataError) as error:
        read_corpus([str(project / "*.pyy")])
    says(error.value)
    with pytest.raises(DataError) as error:
        read_corpus([project], IngestOptions(glob=["*.py", "*.rs"]))
    says(error.value)


def test_a_format_of_the_past_names_the_one_to_convert_it_to(tmp_path, says):
    (tmp_path / "old.doc").write_bytes(b"x")
    with pytest.raises(DataError) as error:
        read_corpus([tmp_path / "old.doc"])
    says(error.value)


def test_languages_are_detected_where_a_file_does_not_say_its_own(tmp_path):
    (tmp_path / "a.txt").write_text("Wie viel Wasser braucht der Mais im Sommer?")
    (tmp_path / "b.jsonl").write_text(
        '{"text": "How much water does maize need in summer?"}\n{"text": "Same.", "lang": "xx"}\n'
    )
    assert [one.lang for one in read_corpus([tmp_path]).documents] == ["de", "en", "xx"]


def test_a_file_that_is_too_large_is_refused_before_it_is_read(tmp_path, says):
    path = tmp_path / "huge.jsonl"
    path.touch()
    os.truncate(path, 2_000_000_000)
    says(reasons([tmp_path])["huge.jsonl"])
    (tmp_path / "small.txt").write_text("x" * 1_000_001)
    says(reasons([tmp_path / "small.txt"], max_file_mb=1)["small.txt"])


def test_links_that_lead_in_a_circle_are_not_followed(tmp_path, says):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x.txt").write_text("text")
    (tmp_path / "a" / "loop").symlink_to(tmp_path / "a")
    (tmp_path / "a" / "self.txt").symlink_to(tmp_path / "a" / "self.txt")
    corpus = read_corpus([tmp_path / "a"])
    assert [one.id for one in corpus.documents] == ["a/x.txt"]
    found = {Path(one.path).name: one.reason for one in corpus.skipped}
    says(found["loop"])
    says(found["self.txt"].partition("] ")[2])


def test_a_pipe_is_not_waited_for(tmp_path, says):
    os.mkfifo(tmp_path / "pipe.txt")
    [(name, reason)] = reasons([tmp_path]).items()
    assert name == "pipe.txt"
    says(reason)


def test_duplicates_are_reported_and_dropped_on_request(tmp_path):
    for name in ("a.txt", "b.txt", "c.txt"):
        (tmp_path / name).write_text("Other." if name == "b.txt" else "The same words.")
    corpus = read_corpus([tmp_path])
    assert [(one.id, one.of) for one in corpus.duplicates] == [
        (f"{tmp_path.name}/c.txt", f"{tmp_path.name}/a.txt")
    ]
    assert len(corpus.documents) == 3
    dropped = read_corpus([tmp_path], IngestOptions(duplicates="drop"))
    assert len(dropped.documents) == 2
    assert dropped.documents[0].metadata == {"duplicates": [f"{tmp_path.name}/c.txt"]}


def test_options_are_those_of_the_settings():
    from ragstone.kernel.config import DocumentsSection

    section, options = DocumentsSection(), IngestOptions()
    names = IngestOptions.__struct_fields__
    assert {name: getattr(section, name) or None for name in names} == {
        name: getattr(options, name) or None for name in names
    }


@pytest.mark.parametrize(
    ("pattern", "found", "lacking"),
    [
        ("*.{ex,exs}", ["a.ex", "b.exs"], []),
        ("*.{ex, exs}", ["a.ex", "b.exs"], []),
        ("*.{ ex ,\texs }", ["a.ex", "b.exs"], []),
        ("{a,b}.{ex, {exs,rs}}", ["a.ex", "b.exs"], ["a.exs", "a.rs", "b.ex", "b.rs"]),
        ("*.{ex, rs}", ["a.ex"], ["*.rs"]),
        ("{a b, c}.ex", ["a b.ex"], ["c.ex"]),
        ("{a}.ex", ["a.ex"], []),
        ("a{.ex", ["a{.ex"], []),
        ("a}{.ex", ["a}{.ex"], []),
        ("x, y.ex", ["x, y.ex"], []),
    ],
)
def test_blanks_in_braces_do_not_count_and_an_alternative_without_a_file_is_told(
    tmp_path, caplog, pattern, found, lacking
):
    names = ("a.ex", "b.exs", "a b.ex", "a{.ex", "a}{.ex", "x, y.ex")
    for name in names:
        if name in found or name in ("a.ex", "b.exs"):
            (tmp_path / name).write_text("x = 1\n")
    for glob in ([pattern], None):
        sources = [tmp_path] if glob else [str(tmp_path / pattern)]
        caplog.clear()
        read = read_corpus(sources, IngestOptions(glob=glob or []))
        assert [one.id.rpartition("/")[2] for one in read.documents] == sorted(found)
        said = [f"No file matches {', '.join(map(repr, lacking))}: check the spelling of the pattern."]
        assert caplog.messages == (said if lacking else [])


def test_more_alternatives_than_anybody_means_are_refused(tmp_path):
    with pytest.raises(DataError, match="over 1000 alternatives"):
        read_corpus([tmp_path], IngestOptions(glob=["{a,b}" * 40]))
