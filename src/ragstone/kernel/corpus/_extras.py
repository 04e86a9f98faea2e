"""Files that need a package which is not installed: all of them are told at once, or left out."""

from collections import Counter
from collections.abc import Iterable
from importlib.util import find_spec

from ragstone.kernel.corpus.file import Skipped
from ragstone.kernel.errors import MissingExtra, plural
from ragstone.kernel.files.file import File

NEEDED = {
    ".html": ("selectolax", "html"),
    ".htm": ("selectolax", "html"),
    ".xhtml": ("selectolax", "html"),
    ".pdf": ("pypdfium2", "pdf"),
}
"""Ending -> the package that reads it, and the extra that brings it."""


def missing_extra(file: File) -> str | None:
    """Return the extra that a file needs and that is not installed, or None."""
    package, extra = NEEDED.get(file.path.suffix.lower(), (None, None))
    return extra if package is not None and find_spec(package) is None else None


def check_extras(files: Iterable[File]) -> None:
    """Raise MissingExtra that names all the packages which these files need, and how many need them."""
    lacking = [(extra, file.path.suffix.lower()) for file in files if (extra := missing_extra(file))]
    if lacking:
        counts = Counter(ending for _extra, ending in lacking)
        named = " and ".join(plural(n, f"{ending} file") for ending, n in sorted(counts.items()))
        extras = ",".join(sorted({extra for extra, _ending in lacking}))
        left_out = "`ragstone ingest --without-extras`, or `without_extras = true` in [documents]"
        raise MissingExtra(f"reading {named} (left out by {left_out})", extras)


def left_out(file: File) -> Skipped | None:
    """Return why a file is left out, None where it can be read."""
    extra = missing_extra(file)
    return Skipped(str(file.path), f"it needs: pip install 'ragstone[{extra}]'") if extra else None
