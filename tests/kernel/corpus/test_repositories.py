"""Git addresses as sources: cloned once, safely, from a repository of the test's own."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from ragstone.kernel.corpus import _repositories as repositories
from ragstone.kernel.corpus._repositories import cloned, plain, repository_of
from ragstone.kernel.corpus.ingest import read_corpus
from ragstone.kernel.errors import DataError


def git(folder, *arguments):
    people = ("AUTHOR_NAME", "AUTHOR_EMAIL", "COMMITTER_NAME", "COMMITTER_EMAIL")
    names = {f"GIT_{one}": "t@example.org" for one in people}
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, env=os.environ | names)


@pytest.fixture
def origin(tmp_path, monkeypatch):
    """A repository of two commits, with a link that leads out of it; the working folder is elsewhere."""
    folder = tmp_path / "wheat.git"
    (folder / "docs").mkdir(parents=True)
    git(folder, "init", "--initial-branch=main")
    (folder / "docs" / "a.md").write_text("# Wheat\n\nSown in October.")
    (folder / "docs" / "b.exs").write_text("IO.puts 1")
    (folder / "docs" / "passwd.md").symlink_to("/etc/passwd")
    git(folder, "add", ".")
    git(folder, "commit", "-m", "first")
    git(folder, "tag", "v1")
    (folder / "docs" / "a.md").write_text("# Wheat\n\nSown in September.")
    git(folder, "commit", "-am", "second")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return folder


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("https://example.org/a/b.git", ("https://example.org/a/b.git", None)),
        ("https:/example.org/a/b.git", ("https://example.org/a/b.git", None)),
        ("git@example.org:a/b.git", ("git@example.org:a/b.git", None)),
        ("ssh://git@example.org/a/b.git@v1.2", ("ssh://git@example.org/a/b.git", "v1.2")),
        ("git+https://example.org/a/b.git@main", ("https://example.org/a/b.git", "main")),
        ("file:///srv/b.git", ("file:///srv/b.git", None)),
        ("https://example.org/a/b", None),
        ("folder/b.git", None),
        ("-oProxyCommand=x@y:b.git", None),
        ("ext::sh -c x.git", None),
    ],
)
def test_an_address_is_known_by_its_end(source, found):
    assert repository_of(source) == found


def test_a_repository_is_read_as_a_folder_shallow_and_up_to_date(origin):
    address = f"file://{origin}"
    found = read_corpus([address])
    texts = {one.id: one.text for one in found.documents}
    assert texts["wheat/docs/a.md"] == "# Wheat\n\nSown in September."
    assert "root:" not in "".join(texts.values())  # a link is a file that names where it leads
    clone = next(repositories.CACHE.iterdir()) / "wheat"
    assert not (clone / ".git").exists()
    record = json.loads((clone.parent / "clone.json").read_text())
    assert (record["address"], record["ref"], len(record["commit"])) == (address, None, 40)
    (origin / "docs" / "a.md").write_text("Sown in March.")
    git(origin, "commit", "-am", "third")
    assert "Sown in March." in {one.text for one in read_corpus([address]).documents}
    origin.rename(origin.with_name("gone"))  # nobody answers: the clone is used as it is
    assert "Sown in March." in {one.text for one in read_corpus([address]).documents}


def test_a_tag_is_read_and_its_hooks_are_not_run(origin, tmp_path, monkeypatch):
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    (hooks / "post-checkout").write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    (hooks / "post-checkout").chmod(0o755)
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.hooksPath")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", str(hooks))
    place = cloned(f"file://{origin}", "v1")
    assert (place / "docs" / "a.md").read_text() == "# Wheat\n\nSown in October."
    assert not (tmp_path / "ran").exists()


def test_what_cannot_be_cloned_says_so_and_shows_no_password(says, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for address in (f"file://{tmp_path}/none.git", "https://me:secret@127.0.0.1:9/none.git"):
        with pytest.raises(DataError, match="cannot be cloned") as caught:
            read_corpus([address])
        assert "secret" not in str(caught.value)
        assert "git ls-remote" in str(caught.value)
    assert list(repositories.CACHE.iterdir()) == []  # nothing half-done
    assert plain("https://me:secret@host/a.git") == "https://host/a.git"
    monkeypatch.setenv("PATH", "")
    with pytest.raises(DataError) as error:
        read_corpus(["https://127.0.0.1:9/none.git"])
    says(error.value)


def test_braces_in_a_pattern_are_choices(origin):
    sources = [f"{origin}/docs/*.{{exs,mdx}}", f"{origin}/{{docs,src}}/a.{{md,rst}}"]
    assert [one.id.rpartition("/")[2] for one in read_corpus(sources).documents] == ["b.exs", "a.md"]


def test_what_has_not_changed_is_not_cloned_again(origin):
    for ref in (None, "main", "v1"):
        before = cloned(f"file://{origin}", ref)
        (before / "mark").touch()
        assert (cloned(f"file://{origin}", ref) / "mark").exists()
    git(origin, "tag", "--annotate", "--message=two", "v2")
    (cloned(f"file://{origin}", "v2") / "mark").touch()
    assert (cloned(f"file://{origin}", "v2") / "mark").exists()  # the tag has an id of its own
    git(origin, "commit", "--allow-empty", "-m", "third")
    assert not (cloned(f"file://{origin}", "main") / "mark").exists()
    assert (cloned(f"file://{origin}", "v1") / "mark").exists()


PLANTED = """[core]
    repositoryformatversion = 0
    fsmonitor = "touch {ran}; false"
    sshCommand = "touch {ran}; false"
[filter "evil"]
    smudge = "touch {ran}; cat"
[uploadpack]
    packObjectsHook = "touch {ran}; false"
"""


@pytest.mark.long
@pytest.mark.parametrize("where", ["clone", "above", "cache"])
def test_settings_that_came_with_the_folder_are_not_run(origin, tmp_path, where):
    """Planted beside the files of a clone, in the project's own folder, and in the cache."""
    address, ran = f"file://{origin}", tmp_path / "ran"
    place = cloned(address)
    planted = {"clone": place, "above": Path.cwd(), "cache": repositories.CACHE}[where]
    git(planted, "init")
    (planted / ".git" / "config").write_text(PLANTED.format(ran=ran))
    (planted / ".gitattributes").write_text("* filter=evil\n")
    (origin / "docs" / "a.md").write_text("Sown in May.")
    git(origin, "commit", "-am", "third")
    read_corpus([address])
    assert (place / "docs" / "a.md").read_text() == "Sown in May."
    assert not (place / ".git").exists()
    if where == "clone":  # also where nobody answers
        git(place, "init")
        (place / ".git" / "config").write_text(PLANTED.format(ran=ran))
        origin.rename(origin.with_name("gone"))
        assert read_corpus([address]).documents
        assert not (place / ".git").exists()
    assert not ran.exists()


@pytest.mark.parametrize("name", ["", ".", "..", ". ", ".git", "...", " "])
def test_a_name_that_is_no_folder_is_refused(tmp_path, monkeypatch, name, says):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError) as caught:
        cloned(f"file:///x/{name}.git")
    says(caught.value)
    assert "\n" not in str(caught.value)
    assert [*tmp_path.iterdir()] == []
