"""What the user names -> the files that it stands for, in a stable order; nothing is read yet."""

import logging
import os
import re
import stat
import zipfile
from collections.abc import Generator, Iterable, Iterator, Sequence, Set
from pathlib import Path, PurePosixPath

import msgspec

from ragstone.kernel.corpus._extras import check_extras, left_out
from ragstone.kernel.corpus._repositories import cloned, repository_of
from ragstone.kernel.corpus.file import IngestOptions, Skipped
from ragstone.kernel.corpus.reading import READERS, reader_of
from ragstone.kernel.errors import DataError
from ragstone.kernel.files.file import File, Unreadable
from ragstone.kernel.files.zips import opened, read_entry
from ragstone.kernel.tables.storage import find, local_path, url_of

LOG = logging.getLogger(__name__)

ARCHIVE = ".zip"
MOST_ALTERNATIVES = 1000
_MAGIC = re.compile(r"[*?[{]")


class ArchiveEntry(msgspec.Struct, frozen=True):
    """A file in an archive, as `file` calls it; its name there, and its unpacked size."""

    file: File
    archive: Path
    name: str
    n_bytes: int


Found = File | ArchiveEntry | Skipped


class Pattern(msgspec.Struct, frozen=True):
    """A pattern of the user's: as written, and what it means. alternatives: of its braces, if it has any."""

    written: str
    meaning: re.Pattern[str]
    alternatives: tuple["Pattern", ...] = ()

    def matches(self, path: PurePosixPath) -> bool:
        """Return whether a path below the folder matches; one without a slash speaks of names."""
        return self.meaning.fullmatch(str(path)) is not None


def files_of(sources: Iterable[Path | str], options: IngestOptions) -> list[Found]:
    """Return the files that sources stand for, each once, and what is passed over with a reason.

    The address of a git repository stands for a clone of it. Raises DataError for a source that does not
    exist or cannot be read by its ending, and for a pattern that nothing matches; MissingExtra for files that
    need packages which are not installed, unless they are to be left out.
    """
    patterns = [_pattern(written, anywhere=True) for written in options.glob]
    matched: set[str] = set()
    sources = [sources] if isinstance(sources, Path | str) else sources  # a text is no list of its letters
    repositories = [(source, repository_of(source)) for source in sources]  # their clones stand for them
    places = [source if repository is None else cloned(*repository) for source, repository in repositories]
    paths = [Path(location) if url_of(location) else local_path(location) for location in places]
    files = [file for path in paths for file in _of_source(path, patterns, matched)]
    missed = [pattern.written for pattern in patterns if pattern.written not in matched]
    if missed:
        raise DataError(
            f"no file matches the pattern {missed[0]!r}. Check its spelling; a pattern without a slash is "
            "compared with names, one with a slash with paths below the folder (** stands for any folders)."
        )
    _tell_unmatched(patterns, matched)
    once = list(_each_once(files))
    if options.without_extras:  # those that need a package which is not installed are skipped
        return [one if isinstance(one, Skipped) else left_out(_file(one)) or one for one in once]
    check_extras(_file(one) for one in once if not isinstance(one, Skipped))
    return once


def _file(source: File | ArchiveEntry) -> File:
    return source.file if isinstance(source, ArchiveEntry) else source


def _each_once(sources: Sequence[Found]) -> Iterator[Found]:
    """Yield each file where it comes first; as text if any source names it."""
    named = {_place(source) for source in sources if isinstance(source, File) and source.as_text}
    seen: set[tuple[str, str]] = set()
    for source in sources:
        if isinstance(source, Skipped):
            yield Skipped(_printable(source.path), source.reason)
            continue
        location, file = _place(source), source.file if isinstance(source, ArchiveEntry) else source
        if _printable(file.id) != file.id:
            yield Skipped(_printable(str(file.path)), "its name is not in UTF-8: rename it")
        elif location in seen:
            yield Skipped(str(file.path), "it was read before, through another of the sources")
        else:
            seen.add(location)
            yield msgspec.structs.replace(source, as_text=True) if location in named else source


def _place(source: File | ArchiveEntry) -> tuple[str, str]:
    """Return where the bytes of a file are: its path, and its name in the archive there."""
    path, name = (source.archive, source.name) if isinstance(source, ArchiveEntry) else (source.path, "")
    return os.path.realpath(path), name


def _printable(name: str) -> str:
    """Return a name with the bytes that are not in UTF-8 as escapes."""
    return name.encode("utf-8", "backslashreplace").decode("utf-8")


def _of_source(source: Path, patterns: Sequence[Pattern], matched: set[str]) -> Iterator[Found]:
    if url_of(source) and not _MAGIC.search(str(source)):
        yield from _at_url(source, patterns, matched)
    elif source.is_dir():
        yield from _below(source, patterns, matched)
    elif os.path.lexists(source):
        file = File(source, source.name, as_text=True)
        if source.suffix.lower() == ARCHIVE:
            yield from _entries(file, patterns, matched)
        else:
            _check_ending(file)
            yield file
    elif _MAGIC.search(str(source)):
        yield from _matching(source)
    else:
        raise DataError(f"{source}: no such file or folder. Check the spelling and where you are.")


def _check_ending(file: File) -> None:
    try:
        reader_of(file)
    except Unreadable as mistake:
        known = " ".join((*READERS, ARCHIVE))
        raise DataError(f"{file.path}: {mistake}. Convert it to one of: {known}, or leave it out.") from None


def _matching(source: Path) -> Iterator[Found]:
    """Yield the files that a source with * ? or [ matches: those of its fixed folder that fit the rest."""
    fixed = next(n for n, part in enumerate(source.parts) if _MAGIC.search(part))
    folder = Path(*source.parts[:fixed])
    pattern = _pattern("/".join(source.parts[fixed:]), anywhere=False)
    matched: set[str] = set()
    if url_of(folder):
        yield from _at_url(folder, [pattern], matched)
    elif folder.is_dir():
        yield from _below(folder, [pattern], matched)
    if not matched:
        raise DataError(f"{source}: no file matches this pattern. Check the spelling and where you are.")
    _tell_unmatched([pattern], matched)


def _below(folder: Path, patterns: Sequence[Pattern], matched: set[str]) -> Iterator[Found]:
    """Yield the files of a folder by name, then those of its folders by name. Hidden ones are passed over."""
    for inner_folder, folders, names in os.walk(folder):
        linked = [
            name for name in sorted(folders) if Path(inner_folder, name).is_symlink() and not _hidden(name)
        ]
        folders[:] = sorted(name for name in folders if not _hidden(name))
        for name in sorted(name for name in names if not _hidden(name)):
            path = Path(inner_folder, name)
            below = path.relative_to(folder)
            named = _named(PurePosixPath(below.as_posix()), patterns, matched)
            file = File(path, (folder.name / below).as_posix(), as_text=named)
            if path.suffix.lower() == ARCHIVE:
                yield from _entries(file, () if named else patterns, matched)
            elif named or not patterns:
                yield file
        yield from (
            Skipped(str(Path(inner_folder, name)), "it is a link to a folder: name that folder as a source")
            for name in linked
        )


def _at_url(source: Path, patterns: Sequence[Pattern], matched: set[str]) -> Iterator[Found]:
    """Yield the file at a URL, or those below it in the order of `_below`. Raises DataError."""
    entries = find(url_of(source) or "")
    if [entry.name for entry in entries] == [""]:
        file = File(source, source.name, as_text=True)
        _check_ending(file)
        yield file
        return
    for below in sorted((PurePosixPath(entry.name) for entry in entries if entry.name), key=_files_first):
        if any(map(_hidden, below.parts)):
            continue
        named = _named(below, patterns, matched)
        if not named and patterns:
            continue
        if below.suffix.lower() == ARCHIVE:
            yield Skipped(f"{url_of(source / below)}", "it is an archive at a URL: unpack it there")
        else:
            yield File(source / below, f"{source.name}/{below}", as_text=named)


def _files_first(path: PurePosixPath) -> list[tuple[bool, str]]:
    """Return by what files stand before the folders beside them."""
    return [*((True, name) for name in path.parts[:-1]), (False, path.name)]


def _named(path: PurePosixPath, patterns: Sequence[Pattern], matched: set[str]) -> bool:
    """Return whether a pattern names a path, and note which."""
    naming = [pattern for pattern in patterns if pattern.matches(path)]
    alternatives = [
        alternative for pattern in naming for alternative in pattern.alternatives if alternative.matches(path)
    ]
    matched |= {pattern.written for pattern in (*naming, *alternatives)}
    return bool(naming)


def _entries(file: File, patterns: Sequence[Pattern], matched: set[str]) -> Iterator[Found]:
    """Yield the entries of an archive as the files of a folder that has the archive's name."""
    try:
        with opened(file) as archive:
            entries = {entry.filename: entry for entry in archive.infolist() if not entry.is_dir()}
    except (Unreadable, OSError) as mistake:
        yield Skipped(str(file.path), str(mistake))
        return
    for name in sorted(entries, key=lambda name: (name.split("/")[:-1], name)):
        below = PurePosixPath(name)
        hidden = any(_hidden(part) or part == "__MACOSX" for part in below.parts)
        if hidden and not _misplaced(name):
            continue
        named = _named(below, patterns, matched)
        if named or not patterns:
            yield _entry(
                file, entries[name], File(Path(f"{file.path}/{name}"), f"{file.id}/{name}", as_text=named)
            )


def _entry(file: File, entry: zipfile.ZipInfo, inner: File) -> Found:
    if _misplaced(entry.filename):
        return Skipped(str(inner.path), "its name leads out of the archive")
    if stat.S_ISLNK(entry.external_attr >> 16):  # which unpacking programs would follow
        return Skipped(str(inner.path), "it is a link")
    if inner.path.suffix.lower() == ARCHIVE:
        return Skipped(str(inner.path), "it is an archive in an archive: unpack the outer one")
    return ArchiveEntry(inner, file.path, entry.filename, entry.file_size)


def _misplaced(name: str) -> bool:
    """Return whether an entry's name leads out of the folder that the archive stands for."""
    path = PurePosixPath(name.replace("\\", "/"))
    return path.is_absolute() or ".." in path.parts or ":" in name.partition("/")[0]


def loaded(sources: Iterable[Found], options: IngestOptions) -> Generator[File | Skipped, None, None]:
    """Yield files ready to be read: the entries of archives with their bytes, an archive opened once."""
    archive: zipfile.ZipFile | None = None
    try:
        for source in sources:
            if not isinstance(source, ArchiveEntry):
                yield _regular(source) if isinstance(source, File) else source
                continue
            if archive is None or archive.filename != str(source.archive):
                if archive is not None:
                    archive.close()
                archive = zipfile.ZipFile(source.archive)
            yield _with_content(source, archive, options)
    finally:
        if archive is not None:
            archive.close()


def _with_content(entry: ArchiveEntry, archive: zipfile.ZipFile, options: IngestOptions) -> File | Skipped:
    try:
        content = read_entry(archive, archive.getinfo(entry.name), options.max_file_mb * 1_000_000)
    except Unreadable as mistake:
        return Skipped(str(entry.file.path), str(mistake))
    return msgspec.structs.replace(entry.file, content=content)


def _regular(file: File) -> File | Skipped:
    """Return a file, unless reading it could wait for ever; one at a URL is fetched by who reads it."""
    if url_of(file.path):
        return file
    try:
        mode = file.path.stat().st_mode
    except OSError as mistake:
        return Skipped(str(file.path), str(mistake))
    return file if stat.S_ISREG(mode) else Skipped(str(file.path), "it is not a file but a device or a pipe")


def _hidden(name: str) -> bool:
    return name.startswith(".")


def _pattern(written: str, *, anywhere: bool) -> Pattern:
    """Return what a pattern means: `*` and `?` stop at a slash, `**` does not; [abc] and {ab, c} are choices.

    anywhere: a pattern without a slash is compared with the names of files in all folders.
    """
    anywhere = anywhere and "/" not in written
    first, *others = _alternatives(written)
    if others:
        parts = tuple(_pattern(alternative, anywhere=anywhere) for alternative in (first, *others))
        return Pattern(written, re.compile("|".join(part.meaning.pattern for part in parts)), parts)
    meaning = r"(?:.*/)?" if anywhere else ""
    for piece in _PIECE.findall(first.removeprefix("./")):
        if piece.startswith("[") and len(piece) > 1:
            meaning += "[" + re.sub(r"[\\^\[]", r"\\\g<0>", piece[1:]).replace("!", "^", piece[1] == "!")
        else:
            meaning += _WILDCARDS.get(piece) or re.escape(piece)
    return Pattern(written, re.compile(meaning))


def _alternatives(written: str) -> list[str]:
    """Return the patterns that the braces of a pattern stand for; braces that do not fit mean themselves.

    Blanks at the ends of an alternative do not count. Raises DataError for more alternatives than are read.
    """
    ends = [""]
    waiting: list[tuple[list[str], list[str]]] = []  # of each open brace: what is before it, what is in it
    for piece in _PIECE.findall(written):
        if piece == "{":
            waiting.append((ends, []))
            ends = [""]
        elif piece == "," and waiting:
            waiting[-1][1].extend(ends)
            ends = [""]
        elif piece == "}" and waiting:
            before, inside = waiting.pop()
            ends = [beginning + other.strip() for beginning in before for other in (*inside, *ends)]
            if len(ends) > MOST_ALTERNATIVES:
                raise DataError(
                    f"the pattern {written!r} has over {MOST_ALTERNATIVES} alternatives. Use fewer."
                )
        elif piece == "}":
            return [written]
        else:
            ends = [beginning + piece for beginning in ends]
    return [written] if waiting else ends


def _tell_unmatched(patterns: Sequence[Pattern], matched: Set[str]) -> None:
    """Tell which alternatives of patterns name no file."""
    lacking = [
        alternative.written
        for part in patterns
        for alternative in part.alternatives
        if alternative.written not in matched
    ]
    if lacking:
        LOG.warning("No file matches %s: check the spelling of the pattern.", ", ".join(map(repr, lacking)))


_PIECE = re.compile(r"\*\*/|\*\*|\*|\?|\[[^\]]{1,255}+\]|.")
_WILDCARDS = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
