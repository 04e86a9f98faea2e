"""The trials of a workbench: what edited prompts gave on rows of runs, until the server ends."""

import itertools
from pathlib import Path

import msgspec

from ragstone.features.try_.words import PromptTrial
from ragstone.kernel.serve.state import AppState


class KeptTrial(msgspec.Struct, frozen=True, kw_only=True):
    """A trial. what: the prompt or judge that was tried; text: the draft; model: that was asked."""

    folder: Path
    what: str
    text: str
    model: str
    who: str
    trial: PromptTrial


class Trials:
    """The last trials by number. They are gone when the server ends: asked again, they cost nothing."""

    MOST = 200

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._kept: dict[int, KeptTrial] = {}

    def add(self, trial: KeptTrial) -> int:
        """Return the number under which a trial is kept."""
        number = next(self._numbers)
        self._kept[number] = trial
        for old in list(self._kept)[: -self.MOST]:
            self._kept.pop(old, None)
        return number

    def find(self, number: int, folder: Path, what: str) -> KeptTrial | None:
        """Return a trial of this run and prompt; None where there is none, or no more."""
        entry = self._kept.get(number)
        return entry if entry and (entry.folder, entry.what) == (folder, what) else None


def trials_of(_app: AppState) -> Trials:
    """The trials of a workbench."""
    return Trials()
