"""The judges that can be named: those of a project and those that ship, with what is known of each."""

import functools
import re
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

import msgspec

from ragstone.features.agree import FoundCard, project_cards
from ragstone.features.judges.kept_versions import FOLDER
from ragstone.features.judges.prices import JudgePrice, KnownPrices, RowLengths, prices_of, usual_lengths
from ragstone.kernel.config import Settings, load_settings, shipped
from ragstone.kernel.document.numbers import usd, with_ends
from ragstone.kernel.errors import ConfigError, checks_arguments, plural
from ragstone.kernel.judging import Judge, load_judge
from ragstone.kernel.records import NO_MODEL
from ragstone.kernel.runs.folders import SUMMARY, is_ours
from ragstone.kernel.runs.wording import doubt
from ragstone.kernel.tables.where import folded

OURS = "Judges of this project"
STEM = 6  # characters that two forms of a word share
NEAR = 0.8  # how alike a misspelt word and the right one are, see difflib
_LOOKS_LIKE_ONE = re.compile(rb"^(name|scale)[ \t]*=", re.MULTILINE)  # both, in a file that cannot be decoded
_WORD = re.compile(r"[^\W_]+")
KEYS = (
    "kind",
    "prompt",
    "measure",
    "members",
)  # a TOML file with one of these, a name and a scale is a judge's


class ListedJudge(msgspec.Struct, frozen=True, kw_only=True):
    """A judge. path: of its file, None for one that ships. judge: None of a wrong file; wrong: why.

    group: the title beneath which it is listed. about: what it measures, in a sentence; None where the file
    has no description. cards: its report cards, the one that says most of it first. price: of 1,000 answers
    at the project's model; None of a judge that asks none, or is in Python, or where no model is set.
    """

    name: str
    group: str
    path: Path | None = None
    judge: Judge | None = None
    wrong: str | None = None
    about: str | None = None
    cards: list[FoundCard] = []
    price: JudgePrice | None = None


class JudgeLibrary(msgspec.Struct, frozen=True, kw_only=True):
    """The judges of a project, and what their prices rest on. model: of the prices, None if none is set."""

    judges: list[ListedJudge]
    model: str | None
    lengths: RowLengths

    def basis(self) -> str | None:
        """Return what prices rest on, in a sentence or two; None where there are none."""
        priced = any(entry.price for entry in self.judges)
        return f"Prices are forecasts for {self.model}. {self.lengths.basis()}" if priced else None


def source_told(judge: Judge) -> str:
    """Return where a judge's idea or wording is from, with the page as it is called now.

    The source counts in the judge's digest, so a file that was released names the page where it was.
    """
    return (judge.source or "").replace("docs/judges.md", "docs/reference/judges.md")


@checks_arguments
def list_judges(words: str = "", *, settings: Settings | None = None) -> list[ListedJudge]:
    """Return the judges of a project, then those that ship, by what they measure.

    words: that name, sentence or group must have, each of them; default all judges. settings: of the
    project, default those of ragstone.toml in the current folder. Prices are forecasts in US dollars for
    1,000 answers of usual length at the judge model of the settings; nobody is asked. Raises ConfigError for
    settings that cannot be read; a judge whose file is wrong is listed with what is wrong.
    """
    settings = settings or load_settings()
    return judge_library(settings, judges=judges_with(named_judges(settings), words)).judges


def named_judges(settings: Settings) -> list[ListedJudge]:
    """Return all judges as list_judges does, without cards and prices: no run is read, nothing forecast."""
    entries = [_entry(path.stem, OURS, path=path) for path in judge_files(settings)]
    for group in groups():
        entries += [_entry(name, group.title, about=about) for name, about in group.judges.items()]
    return entries


def judges_with(every: Sequence[ListedJudge], words: str) -> list[ListedJudge]:
    """Return the judges whose name, sentence or group has each of the words."""
    return [entry for entry in every if has_words(_searched(entry), words)]


def near_judges(every: Sequence[ListedJudge], words: str) -> list[ListedJudge]:
    """Return the judges whose words are near to those of a search: misspelt, or in another form."""
    near, wanted = [], folded(words).split()
    for entry in every:
        known = _WORD.findall(folded(_searched(entry)))
        if all(
            any(each.startswith(word[:STEM]) for each in known) or get_close_matches(word, known, 1, NEAR)
            for word in wanted
        ):
            near.append(entry)
    return near


def _searched(entry: ListedJudge) -> str:
    also = next((group.also for group in groups() if group.title == entry.group), "")
    return f"{entry.name} {entry.about} {entry.group} {also}"


def judge_library(
    settings: Settings,
    cards: Sequence[FoundCard] | None = None,
    runs: Sequence[Path] | None = None,
    known: KnownPrices | None = None,
    *,
    judges: Sequence[ListedJudge] | None = None,
) -> JudgeLibrary:
    """Return the judges of a project with all that is known of them.

    runs: its run folders, the newest first, and cards: its report cards; default those that are found below
    the folders of `[workbench] runs`. known: prices that are not worked out again. judges: some of
    named_judges, default all.
    """
    known = known or KnownPrices()
    runs = run_folders(settings) if runs is None else runs
    cards = project_cards(settings, runs) if cards is None else cards
    entries = named_judges(settings) if judges is None else judges
    lengths = usual_lengths(runs, known)
    prices = prices_of([entry.judge for entry in entries if entry.judge], settings, lengths, known)
    described = [
        msgspec.structs.replace(
            entry, cards=_own(entry, cards, settings), price=prices.get(entry.name) if entry.judge else None
        )
        for entry in entries
    ]
    return JudgeLibrary(judges=described, model=settings.judge.model, lengths=lengths)


def _entry(name: str, group: str, *, path: Path | None = None, about: str | None = None) -> ListedJudge:
    try:
        judge = load_judge(path or name)
    except ConfigError as mistake:
        return ListedJudge(name=name, group=group, path=path, wrong=str(mistake))
    return ListedJudge(name=judge.name, group=group, path=path, judge=judge, about=about or judge.description)


def _own(entry: ListedJudge, cards: Sequence[FoundCard], settings: Settings) -> list[FoundCard]:
    """Return the cards of a judge: of its version first, then of the project's model, then of most labels."""
    judge = entry.judge
    if judge is None:
        return []
    return sorted(
        (found for found in cards if found.card.judge == judge.name),
        key=lambda found: (
            found.card.prompt_version != judge.prompt_version,
            found.card.metric != judge.measures,
            found.card.model != settings.judge.model,
            -found.card.n,
        ),
    )


def figure_text(entry: ListedJudge) -> str | None:
    """Return how a judge agrees with people, by the card that says most of it; None without a card."""
    if not entry.cards or entry.judge is None:
        return None
    card = entry.cards[0].card
    labels = plural(card.n, "labelled answer")
    if card.lead is None:
        text = f"cannot be compared with people on {labels}"
    else:
        name, estimate = card.lead
        text = f"{name} {with_ends(estimate)} on {labels}"
    model = "" if card.model == NO_MODEL else f", model {card.model}"
    older = "" if card.prompt_version == entry.judge.prompt_version else f", version {card.prompt_version}"
    metric = "" if card.metric == entry.judge.measures else f" ({card.metric})"
    more = len(entry.cards) - 1
    beside = f"; {plural(more, 'further report card')}" if more else ""
    against = f"; {doubt(card)}" if doubt(card) else ""
    return f"{text}{metric}{model}{older}{against}{beside}"


def price_text(entry: ListedJudge) -> str | None:
    """Return what 1,000 answers cost by a judge; None where nothing is to be said of a price."""
    price = entry.price
    if price is None:
        return None
    if price.usd is None:
        return "price unknown"
    return f"{'up to ' if price.at_most else ''}{usd(price.usd)}{' (pairs)' if price.pairs else ''}"


def entry_text(entry: ListedJudge) -> str:
    """Return what is known of a judge, on a line: what it measures, its figure, its price."""
    return "; ".join(filter(None, (entry.about or entry.wrong, figure_text(entry), price_text(entry))))


def run_folders(settings: Settings) -> list[Path]:
    """Return the folders of runs of a project, the newest first."""
    folders = [
        folder
        for parent in map(settings.path, settings.workbench.runs)
        if parent.is_dir()
        for folder in parent.iterdir()
        if (folder / SUMMARY).is_file() and is_ours(folder / SUMMARY)
    ]
    return sorted(folders, key=lambda folder: -(folder / SUMMARY).stat().st_mtime)


def judge_files(settings: Settings) -> list[Path]:
    """Return the judges' files: in the folder `judges`, those that ragstone.toml names, those beside it."""
    root = settings.path(".")
    named = [
        str(name).rpartition("@")[0] or str(name) for name in settings.judge.judges if ".toml" in str(name)
    ]
    beside = [path for path in sorted(root.glob("*.toml")) if _is_judge(path)]
    inside = [path for path in sorted((root / FOLDER).glob("*.toml")) if "@v" not in path.name]
    every = [*inside, *(settings.path(name) for name in named), *beside]
    return list({path.resolve(): path for path in every if path.is_file()}.values())


def _is_judge(path: Path) -> bool:
    try:
        content = path.read_bytes()
        fields = msgspec.toml.decode(content)
    except (OSError, UnicodeDecodeError):
        return False
    except msgspec.DecodeError:  # a judge with a slip of the pen is listed, with what is wrong
        return len({*_LOOKS_LIKE_ONE.findall(content)}) == 2
    return (
        isinstance(fields, dict) and {"name", "scale"} <= fields.keys() and any(key in fields for key in KEYS)
    )


class LibraryGroup(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Judges that answer one question of a reader's. judges: name -> what it measures.

    also: words of other tools for what they measure, for a search.
    """

    title: str
    judges: dict[str, str]
    also: str = ""


class _About(msgspec.Struct, frozen=True):
    group: list[LibraryGroup]


@functools.cache
def groups() -> list[LibraryGroup]:
    """Return the groups of about.toml, in its order."""
    text = shipped("ragstone.features.judges", "about.toml").read_bytes()
    return msgspec.toml.decode(text, type=_About).group


def has_words(text: str, search: str) -> bool:
    """Return whether a text has every word of a search."""
    return all(word in folded(text) for word in folded(search).split())
