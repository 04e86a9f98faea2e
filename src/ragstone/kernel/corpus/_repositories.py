"""Addresses of git repositories -> folders: cloned once, shallow, into a cache; nothing of them is run."""

import contextlib
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import msgspec

from ragstone.kernel.errors import DataError

CACHE = Path(".ragstone") / "repositories"
PATIENCE_S = 600
RECORD = "clone.json"

_ADDRESS = re.compile(
    r"(?:git\+)?(?P<url>(?:(?:https?|ssh|git|file)://|[\w.-]+@[\w.-]+:)\S+?\.git)/?(?:@(?P<ref>[\w./-]+))?"
)
_SECRET = re.compile(r"(?<=://)[^/@\s]+@")


def repository_of(source: object) -> tuple[str, str | None] | None:
    """Return the address of a repository, and the branch or tag after its `@`; None for any other source.

    `https://HOST/NAME.git`, `git@HOST:NAME.git`, `ssh://…`, `file:///…/NAME.git`, each also with `@REF`. One
    slash after the colon is as good: a path has lost the other.
    """
    text = re.sub(r"^((?:git\+)?(?:https?|ssh|git)):/+", r"\1://", str(source))
    text = re.sub(r"^((?:git\+)?file):/+", r"\1:///", text)
    match = _ADDRESS.fullmatch(text)
    return (match["url"], match["ref"]) if match else None


def cloned(url: str, ref: str | None = None, cache: Path | None = None) -> Path:
    """Return the folder of a repository's files at a branch or tag, by default at its head.

    It is cloned without history, submodules or hooks, and asks for no password: git's own helpers and keys
    are used. Nothing of git stays in the folder, for what stands in a `.git` could be run by the next
    command; `clone.json` beside it says what was cloned. It is cloned again where the repository has another
    commit by now, and used as it is where nobody can be reached. Raises DataError where there is no git, no
    such repository, or nobody answers; credentials in the address are never shown.
    """
    if shutil.which("git") is None:
        raise DataError(f"{plain(url)}: git is not installed. Install it, or name a folder with the files.")
    cache = cache or CACHE
    name = re.split(r"[/:]", url)[-1].removesuffix(".git")
    if name.strip(". ") == "" or name.casefold() == ".git":
        raise DataError(
            f"{plain(url)}: a repository cannot have the name {name!r}. Write the address as the host does: "
            "https://HOST/NAME.git"
        )
    key = hashlib.blake2b(f"{plain(url)}@{ref or ''}".encode(), digest_size=8).hexdigest()
    clone = cache / key / name
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache, prefix=".cloning-") as made:
        if clone.is_dir():
            _bare(clone)  # of an earlier release, or put there by somebody
            head = _head(Path(made), url, ref)
            if head is None or head == _commit_of(clone.parent / RECORD):
                return clone
        folder = Path(made) / "clone"
        folder.mkdir()
        branch = ["--branch", ref] if ref else []
        options = ["--depth=1", "--single-branch", "--no-tags", "--template=", *branch]
        _checked(url, _git(folder, "clone", "--quiet", *options, "--", url, name))
        commit = _git(folder / name, "rev-parse", "--verify", "HEAD").stdout.strip()
        _bare(folder / name)
        record = _Record(address=plain(url), ref=ref, commit=commit)
        (folder / RECORD).write_bytes(msgspec.json.encode(record))
        with contextlib.suppress(FileNotFoundError):
            clone.parent.rename(Path(made) / "before")
        folder.rename(clone.parent)
    return clone


class _Record(msgspec.Struct):
    """What a folder is a clone of; no credentials. commit: empty for a repository without one."""

    address: str
    ref: str | None
    commit: str


def _bare(folder: Path) -> None:
    """Take git's own files, its settings among them, out of a clone."""
    git = folder / ".git"
    if git.is_symlink() or git.is_file():
        git.unlink()
    elif git.is_dir():
        shutil.rmtree(git)


def _head(folder: Path, url: str, ref: str | None) -> str | None:
    """Return the commit that a branch, a tag or the head of a repository is at; None where nobody says."""
    refs = (ref, f"{ref}^{{}}") if ref else ("HEAD",)
    ran = _git(folder, "ls-remote", "--", url, *refs)
    commits = {name: commit for commit, _, name in (line.partition("\t") for line in ran.stdout.splitlines())}
    names = (f"refs/heads/{ref}", f"refs/tags/{ref}^{{}}", f"refs/tags/{ref}") if ref else ("HEAD",)
    return None if ran.returncode else next((commits[name] for name in names if name in commits), "")


def _commit_of(record: Path) -> str | None:
    try:
        return msgspec.json.decode(record.read_bytes(), type=_Record).commit
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None


def plain(url: str) -> str:
    """Return an address without the name and password in it."""
    return _SECRET.sub("", url)


def _git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    safe = ("-c", "core.hooksPath=/dev/null", "-c", "core.symlinks=false", "-c", "protocol.ext.allow=never")
    environment = os.environ | {"GIT_TERMINAL_PROMPT": "0", "GIT_LFS_SKIP_SMUDGE": "1", "LC_ALL": "C"}
    # No settings of a repository above, which whoever passed the folder on may have written.
    environment["GIT_CEILING_DIRECTORIES"] = str(folder.resolve().parent)
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"):  # set within a hook
        environment.pop(name, None)
    environment.setdefault("GIT_SSH_COMMAND", "ssh -o BatchMode=yes")
    try:
        return subprocess.run(
            ["git", *safe, *arguments],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=PATIENCE_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(arguments, 1, "", f"not finished after {PATIENCE_S} seconds")


def _checked(url: str, ran: subprocess.CompletedProcess[str]) -> None:
    if ran.returncode:
        lines = ran.stderr.strip().splitlines() or ["it gives no reason"]
        reason = plain(next((line for line in lines if line.startswith(("fatal:", "ssh:"))), lines[-1]))
        raise DataError(
            f"{plain(url)}: cannot be cloned ({reason}). Check the address and the network, and that git can "
            f"read it: git ls-remote {plain(url)}"
        )
