"""Where a learned judge is written: the next version of its file, with what was tried; released ones stay."""

from pathlib import Path

import msgspec

from ragstone.features.improve._judge_text import judge_text
from ragstone.features.improve._learn_words import history_lines
from ragstone.features.improve.develop import Place, draft_as_run
from ragstone.features.improve.judge_files import (
    Frozen,
    digest_of,
    freeze,
    next_version,
    parse_draft,
    read_text,
    same_version,
)
from ragstone.features.improve.learned import LearnedCandidate, Learning
from ragstone.features.judges import FOLDER, versions
from ragstone.kernel.config import Settings
from ragstone.kernel.config.python_function import names_function
from ragstone.kernel.errors import ConfigError
from ragstone.kernel.judging import Judge, load_judge
from ragstone.kernel.judging.fields import Member
from ragstone.kernel.judging.variant import options_of


class LearnedFile(msgspec.Struct, frozen=True, kw_only=True):
    """The judge as it is, and the file of what becomes of it.

    path: of that file; name: of the judge in it; version: its next number. member: the judge as it is, as a
    file beside it names it. own: whether the file is the judge's own, and not that of a copy of one that
    ships. base: digest of the file as it stands, empty where there is none.
    """

    judge: Judge
    member: Member
    path: Path
    name: str
    version: int
    own: bool
    base: str


def learned_file(named_judge: Place, settings: Settings) -> LearnedFile:
    """Return a judge that is to learn. Raises ConfigError for what can have no next version."""
    text = str(named_judge)
    if names_function(text):
        raise ConfigError(
            f"{text}: a Python function has no prompt or weights that could be learned. Name a judge's "
            f"file, or a "
            "judge that comes with Ragstone; the function may help as another judge in a stack of your own."
        )
    name, options = options_of(text)
    if name.endswith(".toml"):
        if options:
            raise ConfigError(f"{text}: write the options into the file, then learn from the file as it is.")
        path = Path(name).expanduser()
        source = read_text(path)
        judge = draft_as_run(source, path)
        place_of = path.absolute().with_name(f"{path.stem}@v{judge.version}.toml")
        following = max([*versions(path), judge.version]) + 1
        return _checked(
            LearnedFile(
                judge=judge,
                member=Member(judge=str(place_of), loaded=judge),
                path=path,
                name=judge.name,
                version=following,
                own=True,
                base=digest_of(source),
            )
        )
    judge = load_judge(text)
    path = settings.path(FOLDER) / f"my_{name}.toml"
    there = read_text(path) if path.is_file() else ""
    return _checked(
        LearnedFile(
            judge=judge,
            member=Member(judge=text, loaded=judge),
            path=path,
            name=f"my_{name}",
            version=next_version(path, f"{there}\n"),
            own=False,
            base=digest_of(there) if there else "",
        )
    )


def _checked(file: LearnedFile) -> LearnedFile:
    if file.judge.compares_two:
        raise ConfigError(
            f"{file.judge.name} compares two answers, and its verdict has no scale. Learning is for judges "
            f"that "
            "grade one answer."
        )
    return file


def renamed(file: LearnedFile) -> Judge:
    """Return the judge as it is under the name and number of what becomes of it."""
    judge = file.judge
    return msgspec.structs.replace(
        judge, name=file.name, version=file.version, metric=judge.measures, fitted_with=None
    )


def candidate_text(file: LearnedFile, judge: Judge) -> str:
    """Return the file that a candidate would be."""
    return judge_text(judge, file.path.absolute().parent)


def write_learned(file: LearnedFile, chosen: LearnedCandidate, learning: Learning, who: str) -> Frozen:
    """Write the candidate as the next version of the file, with what was tried at the top.

    The judge as it is becomes a frozen version first where it is none, for the new one may name it as a
    member. Raises ConfigError where the file was changed in the meantime, DataError where nothing can be
    written.
    """
    base, before = file.base, ""
    if file.own:
        text = read_text(file.path)
        if digest_of(text) != base:
            raise ConfigError(
                f"{file.path} was changed while learning was running, so nothing was written. Learn "
                "again: finished calls are in the ledger and cost nothing."
            )
        if file.judge.version not in versions(file.path):
            freeze(file.path, text, "as it was before learning", who=who)
        text = read_text(file.path)
        base, before = digest_of(text), text
    elif file.path.is_file():
        before = read_text(file.path)
    lines = [*history_lines(learning), *_comments(before)]
    change = f"learned, {chosen.name}: {chosen.made}"
    newest = max(versions(file.path), default=0)
    learned = parse_draft(chosen.text, file.path)
    if newest and same_version(file.path, learned) == newest:  # it was learned, and written, before
        copy = versions(file.path)[newest]
        return Frozen(judge=parse_draft(read_text(copy), copy), version=newest, path=file.path, kept=copy)
    return freeze(file.path, "\n".join([*lines, chosen.text]), change, who=who, base=base)


def _comments(text: str) -> list[str]:
    """Return the comments at the top of a file: its history so far."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        lines.append(line)
    return lines
