"""Whether an uploaded file may come in: its name, and whether it is what its name says."""

import unicodedata
from pathlib import Path

from ragstone.assistant.api.problems import Refused

LONGEST_NAME = 200  # bytes; most file systems take 255


def check_name(name: str) -> str:
    """Return the name as it is kept. Raises Refused for one that is no plain name of a file."""
    name = unicodedata.normalize("NFC", name)
    if not name.strip() or name.startswith(".") or set(name) & set("/\\:\0"):
        raise Refused(422, f"{name!r} is no plain name of a file: no folders, no dot in front")
    if any(unicodedata.category(char) in ("Cc", "Cf", "Cs") for char in name):
        raise Refused(422, "the name of the file holds characters that cannot be seen")
    if len(name.encode()) > LONGEST_NAME:
        raise Refused(422, f"the name of the file is longer than {LONGEST_NAME} bytes")
    return name


def check_content(name: str, stored: Path) -> None:
    """Check that the file can be read as what its name says. Raises Refused with the reason."""
    from ragstone.corpus import IngestOptions, Skipped
    from ragstone.corpus.file import File
    from ragstone.corpus.reading import read_file

    found = read_file(File(path=Path(name), id=name, content=stored.read_bytes()), IngestOptions())
    skipped = [one.reason for one in found if isinstance(one, Skipped)]
    if skipped and len(skipped) == len(found):
        raise Refused(422, f"{name}: {skipped[0]}")
