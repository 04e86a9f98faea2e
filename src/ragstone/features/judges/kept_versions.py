"""The frozen versions of a project's judges: NAME@vN.toml beside the judge's own file."""

import re
from pathlib import Path

FOLDER = "judges"


VERSIONED = re.compile(r"@v([1-9]\d*)\.toml$")


def versions(path: Path) -> dict[int, Path]:
    """Return the versions that were frozen: number -> their file, `NAME@vN.toml` beside the judge's own."""
    known = {}
    for file in path.parent.glob(f"{path.stem}@v*.toml"):
        number = VERSIONED.search(file.name)
        if number:
            known[int(number[1])] = file
    return dict(sorted(known.items()))
