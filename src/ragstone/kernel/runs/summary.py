"""What summary.json holds: every number that the report and the terminal show, computed once."""

from pathlib import Path
from typing import TypeVar

import msgspec

from ragstone.kernel import agreement, judging, runs
from ragstone.kernel import retrieval as rankings
from ragstone.kernel.agreement.policies import BY_HAND
from ragstone.kernel.errors import DataError, checks_arguments, explaining
from ragstone.kernel.judging.savings import CascadeSavings
from ragstone.kernel.judging.summary import BOUNDS_FROM, MetricSummary
from ragstone.kernel.records import Status, Usage
from ragstone.kernel.runs.folders import NOT_JSON, SUMMARY, is_ours
from ragstone.kernel.tables.shown import Displayed


class Calls(msgspec.Struct, frozen=True, kw_only=True):
    """The calls to language models that a run asked for.

    made: sent to a model now, retries among them; from_ledger: answered from the ledger; failed: by status,
    after retries; late: cut off by the deadline of the run. usage and cost_usd are of all of them, as the
    ledger recorded it; cost_usd is None where a price is unknown; reasoning_cost_usd, a part of it, also
    where no model reasoned. list_prices: model -> the day on which its price was read, where that is one of
    the list that ships. cut_off, cut_off_cost_usd: replies of this command that were cut off and asked for
    again, beside all of these.
    """

    made: int = 0
    from_ledger: int = 0
    failed: dict[Status, int] = {}
    usage: Usage = Usage(calls=0)
    cost_usd: float | None = None
    retries: int = 0
    late: int = 0
    list_prices: dict[str, str] = {}
    reasoning_cost_usd: float | None = None
    cut_off: Usage = Usage(calls=0)
    cut_off_cost_usd: float | None = None


class ChosenAnswers(msgspec.Struct, frozen=True, kw_only=True):
    """Which answers of others these are, so that they are no sample of those.

    of: the run or the file that they were chosen from. where: the filter that chose them, or `by hand`.
    """

    of: str
    where: str

    @property
    def note(self) -> str:
        """What a reader of their numbers must know."""
        how = "somebody chose by hand" if self.where == BY_HAND else f"a filter chose: {self.where}"
        return f"These are answers of {self.of} that {how}. Their means say nothing about the other answers."

    def beside(self, summary: "RunSummary") -> "RunSummary":
        """Return the numbers of these answers, with what their reader must know of the choice first."""
        return msgspec.structs.replace(summary, notes=[self.note, *summary.notes], chosen=self)


# Parts that whoever writes a summary need not know: they are imported when one is read.
class RunSummary(msgspec.Struct, Displayed, frozen=True, kw_only=True):
    """One run in numbers.

    models: role (`answer`, `judge`, `embedder`) -> name. counts: rows of each kind. notes: what a reader
    must know before trusting the numbers, in plain sentences. blame: one table a system, by the judge of its
    headline metric (see findings.headlines); empty where no question names its relevant documents. cascades:
    what each cascade among the judges has saved. corrected: means with labels of this run's answers carried
    into them, for the judges and systems that such labels speak of. systems: the leaderboard of a run with
    several systems, by the judge of findings.common_headline. by_tag: the means in groups of questions.
    distributions: how many rows have each score. bounds_from: the share of failed rows above which a mean's
    bounds are shown beside it; 0 shows all that there are. columns: field -> column, as the user chose with
    `--column` for the sheet that was judged; a file of labels may have the same columns. components: the
    metrics that were measured in more than one way, by several judges or wordings or again; absent if none
    was. chosen: how its answers were chosen from others; absent if they were not. stale: question id -> what
    became of its evidence, of the questions whose evidence the documents no longer have as it was (see
    check_evidence); absent if there are none.
    """

    name: str
    version: str
    models: dict[str, str]
    counts: dict[str, int]
    retrieval: "list[rankings.RetrievalSummary]"
    metrics: list[MetricSummary]
    cards: "list[agreement.ReportCard]"
    calls: Calls
    notes: list[str]
    blame: "list[runs.FoundAndRight]" = []
    cascades: list[CascadeSavings] = []
    corrected: "list[agreement.CorrectedMean]" = []
    systems: "runs.SystemsBoard | None" = None
    by_tag: "list[runs.GroupedMeans]" = []
    distributions: "list[runs.Distribution]" = []
    bounds_from: float = BOUNDS_FROM
    columns: dict[str, str] = {}
    components: "list[judging.MetricComponents] | msgspec.UnsetType" = msgspec.UNSET
    chosen: ChosenAnswers | msgspec.UnsetType = msgspec.UNSET
    stale: dict[str, str] | msgspec.UnsetType = msgspec.UNSET


class _Numbers(msgspec.Struct):
    chosen: ChosenAnswers | None = None
    stale: dict[str, str] = {}


def chosen_in(source: Path, where: str | None = None) -> ChosenAnswers | None:
    """Return how the answers of a run's folder, or of a file in one, were chosen; None if nothing says so.

    where: a filter that chooses from them now.
    """
    before = _numbers_of(source).chosen
    if not where:
        return before
    if before:
        return msgspec.structs.replace(before, where=f"({before.where}) and ({where})")
    return ChosenAnswers(of=source.resolve().name, where=where)


def stale_in(source: Path) -> dict[str, str]:
    """Return the stale questions that the summary of a run's folder names: id -> state; none without one."""
    return _numbers_of(source).stale


def _numbers_of(source: Path) -> _Numbers:
    """Raises DataError for a damaged summary: answers that were chosen must not pass for a sample."""
    path = (source if source.is_dir() else source.parent) / SUMMARY
    if not is_ours(path):
        return _Numbers()
    try:
        return msgspec.json.decode(path.read_bytes(), type=_Numbers)
    except (OSError, *NOT_JSON) as mistake:
        raise DataError(
            f"{path}: cannot be read ({mistake}), so it is unknown how these answers were chosen. Run the "
            "command that writes it again: `ragstone judge` or `ragstone run`."
        ) from None


NumbersT = TypeVar("NumbersT")


def read_numbers(path: Path, kind: type[NumbersT], what: str, command: str) -> NumbersT:
    """Return what the file holds. what: its name in words; command: that writes it. Raises DataError."""
    if not path.is_file():
        raise DataError(f"{path}: no such file. Run `{command}` to the end: it writes it last.")
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except NOT_JSON as mistake:
        raise DataError(
            f"{path}: not a {what} that this version of Ragstone understands ({mistake}). "
            f"Run `{command}` again."
        ) from None


def corrected_of(metric: MetricSummary, summary: RunSummary) -> "agreement.CorrectedMean | None":
    """Return the corrected mean that belongs to a mean, None where no label is for it."""
    key = metric.judge, metric.metric, metric.model, metric.system
    return next((m for m in summary.corrected if (m.judge, m.metric, m.model, m.system) == key), None)


@checks_arguments
def read_summary(folder: Path | str) -> RunSummary:
    """Return what summary.json of a run folder holds.

    Raises DataError when the folder or the file is missing, or holds something else.
    """
    folder = Path(folder)
    path = folder / SUMMARY
    if not folder.is_dir():
        raise DataError(
            f"{folder}: no such run folder. Name one that `ragstone run` wrote, such as runs/starter."
        )
    if not path.is_file():
        raise DataError(
            f"{path}: no such file, so there are no numbers to report. "
            "Run `ragstone judge` or `ragstone run` to the end: they write it last."
        )
    if not is_ours(path):
        raise DataError(
            f"{path}: Ragstone did not write this file, so {folder} is not a run. "
            "Name a folder that `ragstone run` or `ragstone judge` wrote."
        )
    with explaining(
        f"{path}: not a summary that this version of Ragstone understands",
        "Run the command that wrote it again: no call in the ledger is paid for twice.",
        *NOT_JSON,
    ):
        return msgspec.json.decode(path.read_bytes(), type=RunSummary)
