"""What was made of the files of a folder, for as long as none of them changes."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Generic, TypeVar

Made = TypeVar("Made")


def stamp_of(stats: Iterable[tuple[str, os.stat_result]]) -> object:
    """Return what changes as a file is written, replaced, copied or touched. stats: names and states."""
    return sorted((name, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns) for name, stat in stats)


class FileCache(Generic[Made]):
    """By folder, what was made of its files. most: folders that are kept; the oldest are forgotten."""

    def __init__(self, most: int | None = None) -> None:
        self._most = most
        self._made: dict[Path, tuple[object, Made]] = {}

    def made(
        self, folder: Path, stats: Iterable[tuple[str, os.stat_result]], make: Callable[[], Made]
    ) -> Made:
        """Return what was made of files in this state, made now if they have changed since."""
        stamp, cached = stamp_of(stats), self._made.get(folder)
        if cached is not None and cached[0] == stamp:
            return cached[1]
        made = make()
        self._made[folder] = (stamp, made)
        if self._most is not None:
            for old in list(self._made)[: -self._most]:
                self._made.pop(old, None)
        return made
