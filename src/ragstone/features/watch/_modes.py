"""The failure modes of a project -> judges that the monitor asks beside its own; those that it cannot."""

from collections.abc import Sequence
from datetime import date

import msgspec

from ragstone.features.watch._cells import DayCell
from ragstone.features.watch._judged import judge_of
from ragstone.features.watch._uncovered import BY_MODES, UNCOVERED, ModeSet
from ragstone.features.watch.store import MonitorStore
from ragstone.kernel.config import Settings
from ragstone.kernel.engine.digests import digest_of
from ragstone.kernel.errors import RagstoneError
from ragstone.kernel.judging import Judge
from ragstone.kernel.judging.unnamed_model import judges_without_model, no_model_text
from ragstone.kernel.judging.variant import load_judges
from ragstone.kernel.records import NO_MODEL


class WatchedModes(msgspec.Struct, frozen=True, kw_only=True):
    """The judges of the modes that are watched. left_out: why each other one is not, a sentence each."""

    judges: list[Judge] = []
    left_out: list[str] = []


NO_MODES = WatchedModes()


def load_modes(settings: Settings, judges: Sequence[Judge]) -> WatchedModes:
    """Return the modes of the folder `modes` of `[monitor]`. judges: whose names are taken.

    A file that is broken, or that a log has nothing for, stops nothing: it is left out and named.
    """
    if settings.monitor.modes is None:
        return NO_MODES
    folder, model = settings.path(settings.monitor.modes), settings.monitor.model or settings.judge.model
    modes: dict[str, Judge] = {}
    left_out: list[str] = []
    for path in sorted(folder.glob("*.toml")):
        try:
            [judge] = load_judges([path])
        except RagstoneError as mistake:
            left_out.append(f"Not watched: {mistake}")
            continue
        taken = {known.name for known in judges} | modes.keys()
        why = _why_not(judge, taken, model)
        if why:
            left_out.append(f"Not watched: {path}: {why}")
        else:
            modes[judge.name] = judge
    if not modes and not left_out:
        left_out.append(
            f"{folder} has no mode files, so no failure mode is watched. `ragstone modes RUN` writes some."
        )
    return WatchedModes(judges=[*modes.values()], left_out=left_out)


def _why_not(judge: Judge, taken: set[str], model: str | None) -> str:
    if judge.name in taken:
        return f"another judge is named {judge.name!r}. Give it another `name`."
    if judge.compares_two or "reference" in judge.inputs:
        return "it needs a reference or a second answer, which a log does not have."
    if judge.best != "lowest" or judge.metrics != [judge.name]:
        return 'it is no failure mode: its file needs best = "lowest" and one score.'
    if judges_without_model([judge], model):
        return no_model_text(["it"], "Set `model` in `[monitor]`.")
    return ""


def declare(store: MonitorStore, settings: Settings, judges: Sequence[Judge], modes: Sequence[Judge]) -> None:
    """Have a store watch these modes from now on. judges: the monitor's others, which say what is wrong."""
    wrong_by = [judge for judge in judges if "answer" in judge.inputs]
    model = " + ".join(
        dict.fromkeys(
            name
            for judge in (*wrong_by, *modes)
            if (name := judge.model_name(settings.judge.model or NO_MODEL)) != NO_MODEL
        )
    )
    store.declare_modes(
        wrong_by=[judge.name for judge in wrong_by],
        modes={judge.name: digest_of(judge) for judge in modes},
        model=model or NO_MODEL,
    )


def cells_for_alarms(cells: Sequence[DayCell], sets: Sequence[ModeSet]) -> Sequence[DayCell]:
    """Return the cells without those of modes on days that may be what the modes were found in."""
    since: dict[tuple[str, str], date] = {}
    before: dict[str, str] = {}
    for number, entry in enumerate(sets, 1):
        since[UNCOVERED, judge_of(BY_MODES, number, entry.model)] = entry.since
        for name, digest in entry.modes.items():
            if before.get(name) != digest:
                since[name, ""] = entry.since
        before = entry.modes
    return [
        cell
        for cell in cells
        if cell.day >= since.get((cell.metric, cell.judge), since.get((cell.metric, ""), date.min))
    ]
