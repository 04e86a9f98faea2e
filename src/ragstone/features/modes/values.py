"""What `ragstone modes` finds in a run: its failure modes, how they were proposed, and modes.json."""

from pathlib import Path

import msgspec

from ragstone.kernel.runs.modes import MODES_FILE, Mode, read_modes
from ragstone.kernel.runs.summary import Calls, read_numbers
from ragstone.kernel.tables.shown import Displayed


class ModeOverlap(msgspec.Struct, frozen=True, kw_only=True):
    """Two modes and the answers that have both, by their judges."""

    first: str
    second: str
    n: int


class ModesProposal(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How modes were proposed. n_read: answers in which signs were looked for, n_signs: signs looked at.

    n_tested: candidates that were tested on answers they were not proposed from, n_named: those of them
    that are named, n_known: those that are confirmed and have a mode file already, n_repeated: those of a
    model that are confirmed and hold the wrong answers of one that is named. n_of_people: modes from people's
    notes, which need no test; n_notes: notes without a tag that a model grouped, n_grouped: those of them
    that are in a mode. model: that read wrong answers, n_shown: how many; n_quotes:
    what it quoted, n_held: quotes that are in their row; n_dropped: its modes that quote fewer than two
    rows truly; n_failed: calls that failed.
    """

    n_read: int = 0
    n_signs: int = 0
    n_tested: int = 0
    n_named: int = 0
    n_known: int = 0
    n_repeated: int = 0
    n_of_people: int = 0
    n_notes: int = 0
    n_grouped: int = 0
    model: str | None = None
    n_shown: int = 0
    n_quotes: int = 0
    n_held: int = 0
    n_dropped: int = 0
    n_failed: int = 0


class ModesSummary(msgspec.Struct, Displayed, frozen=True, kw_only=True, omit_defaults=True):
    """The failure modes of a run.

    judge, metric, model: whose verdict says that an answer is wrong. n_answers: answers that it scored,
    n_wrong: those that are wrong; n_unanswerable: those to unanswerable questions, which go by their score,
    too; n_left_out: all others. n_uncovered: wrong answers that no mode holds.
    proposal: how modes were proposed by this command; None where it counted the modes of files that were
    there. written: the mode files that it wrote. calls: what it asked for; not in the file.
    """

    name: str
    version: str
    judge: str
    metric: str
    model: str
    n_answers: int
    n_wrong: int
    n_left_out: int
    modes: list[Mode]
    made_from: dict[str, str]
    overlaps: list[ModeOverlap] = []
    n_uncovered: int = 0
    n_unanswerable: int = 0
    proposal: ModesProposal | None = None
    written: list[str] = []
    notes: list[str] = []
    calls: Calls | None = None


def read_modes_summary(folder: Path) -> ModesSummary | None:
    """Return what was found in a run folder; None without it, or where the run was made anew since.

    Raises DataError for a file that holds something else.
    """
    if read_modes(folder) is None:
        return None
    return read_numbers(folder / MODES_FILE, ModesSummary, "modes of a run", "ragstone modes RUN")
