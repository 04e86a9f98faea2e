"""The judges of a project as files: which there are, their versions, and how a draft becomes the next."""

import hashlib
import json
import os
import re
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from ragstone.features.improve.values import Development
from ragstone.features.judges import FOLDER, is_untouched, versions
from ragstone.kernel.config import Settings, parse_toml, read_named
from ragstone.kernel.config.python_function import names_function
from ragstone.kernel.errors import ConfigError, DataError, explaining
from ragstone.kernel.judging import Judge, judge_names, parse_judge
from ragstone.kernel.judging.variant import load_members
from ragstone.kernel.persistence.journal import held
from ragstone.kernel.tables import partial_path

LONGEST_NAME = 200  # bytes: file systems take 255, and `my_` and `@v12.toml` are added
NAME = re.compile(r"[a-z][a-z0-9_]*")


class JudgeFile(msgspec.Struct, frozen=True, kw_only=True):
    """A judge as it is developed. path: of its file, which may not be there yet. text: what it holds.

    origin: what it is, or would be, copied from: the name of a judge that ships, else None.
    """

    name: str
    path: Path
    text: str
    origin: str | None = None

    @property
    def digest(self) -> str:
        """Of the file as it stands; empty where there is none."""
        return digest_of(self.text) if self.path.is_file() else ""


def digest_of(text: str) -> str:
    """Return what a judge's text is told by: 64 bits of its SHA-256."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def judge_file(settings: Settings, name: str) -> JudgeFile:
    """Return the judge that is developed under a name: a file of the folder `judges`, of `[judge] judges`, or
    beside ragstone.toml.

    A judge that ships is developed as a copy under the name `my_NAME`: scores of the two stand apart, and the
    copy measures the same. Raises ConfigError for a name of neither.
    """
    if not NAME.fullmatch(name):
        raise ConfigError(
            f"{name!r} is not a name for a judge: use lowercase letters, digits and underscores."
        )
    path = _path_of(settings, name)
    if path.is_file():
        return JudgeFile(name=name, path=path, text=read_text(path))
    origin = name.removeprefix("my_")
    if origin not in judge_names():
        raise ConfigError(
            f"{path}: no such judge file. Make one with: ragstone judges new {FOLDER}/{name}.toml"
        )
    copy = f"my_{origin}"
    at = path.with_name(f"{copy}.toml")
    if at.is_file():
        return JudgeFile(name=copy, path=at, text=read_text(at))
    return JudgeFile(name=copy, path=at, text=copy_of(origin), origin=origin)


def _path_of(settings: Settings, name: str) -> Path:
    """Return the file of a judge: where it stands, else where it would, in the folder `judges`."""
    if len(name.encode("utf-8", "replace")) > LONGEST_NAME:
        raise ConfigError(
            f"{name[:40]}…: no such judge, its name is too long for a file. Choose a shorter one."
        )
    usual = settings.path(FOLDER) / f"{name}.toml"
    declared = [
        settings.path(name_or_file.partition("@")[0])
        for name_or_file in settings.judge.judges
        if ".toml" in name_or_file
    ]
    places = [usual, *declared, settings.path(f"{name}.toml")]
    existing = next((file for file in places if file.stem == name and file.is_file()), None)
    if existing is not None:
        return existing
    inside = [file for file in sorted(settings.path(FOLDER).glob("*.toml")) if "@" not in file.name]
    return next((file for file in [*inside, *declared] if file.is_file() and _name_in(file) == name), usual)


def _name_in(file: Path) -> str | None:
    """Return the name that a judge's file states; None where it cannot be read as TOML."""
    try:
        return str(parse_toml(read_text(file), file).get("name"))
    except ConfigError:
        return None


def copy_of(name: str) -> str:
    """Return the text of a judge that ships as one of the project's own: another name, the same metric."""
    text, file = read_named(name, "judge", "ragstone.kernel.judging", "library")
    judge = parse_judge(text, file)
    text = replaced_line(text, "name", f'name       = "my_{name}"', file)
    text = replaced_line(text, "version", "version    = 1", file)
    if judge.metric is None:
        text = text.replace("version    = 1\n", f'version    = 1\nmetric     = "{judge.measures}"\n', 1)
    return f"# A copy of {name}, version {judge.version}, which comes with Ragstone.\n{text.lstrip()}"


def parse_draft(text: str, file: Path) -> Judge:
    """Return the judge that a draft describes. Raises ConfigError with the line, as for any judge's file.

    A draft may come from a browser, so it must not name Python code: whoever wrote it would run that here.
    """
    judge = parse_judge(text, file)
    if judge.kind == "function" or any(names_function(member.judge) for member in judge.members):
        raise ConfigError(
            f"{file}: a draft cannot call a Python function. Write such a judge in an editor, and measure "
            "it: ragstone judge, then ragstone agree."
        )
    return load_members(judge, file)


def read_text(path: Path) -> str:
    """Return the text of a judge's file. Raises ConfigError."""
    return read_named(path, "judge", "ragstone.kernel.judging", "library")[0]


def run_version(path: Path, draft: Judge, text: str) -> int:
    """Return the number under which a draft is run: that of the frozen version that it is, else its next.

    The code in a judge's prompts hangs on its number: so calls of a draft are those of its version.
    """
    return same_version(path, draft) or next_version(path, text)


def same_version(path: Path, draft: Judge) -> int | None:
    """Return the last frozen version that asks what a draft asks, None where it is a new one."""
    alike = []
    for number, file in versions(path).items():
        frozen = parse_draft(read_text(file), file)
        if msgspec.structs.replace(frozen, version=draft.version, tuned_on=draft.tuned_on) == draft:
            alike.append(number)
    return max(alike, default=None)


def next_version(path: Path, text: str) -> int:
    """Return the number under which a draft is frozen: one more than any there is.

    The file itself, as long as nobody froze the version that it states, keeps its number. A starting file
    that nobody has changed is no version.
    """
    frozen = versions(path)
    there = read_text(path) if path.is_file() else None
    own = 0 if there is None or is_untouched(there, path.stem) else _version_of(there, path)
    if there == text and own > max(frozen, default=0):
        return own
    return max([*frozen, own]) + 1


def _version_of(text: str, path: Path) -> int:
    """Return the version that a file states; 0 where it cannot be read, so that it stands in nobody's way."""
    try:
        return parse_judge(text, path).version
    except ConfigError:
        return 0


def before_of(path: Path, text: str) -> Judge | None:
    """Return what a draft is compared with: the last frozen version, else the file that it was made from.

    A draft that is the file itself, with nothing frozen, is compared with the judge that ships whose copy its
    name says it is (`my_NAME`), else with none.
    """
    frozen = versions(path)
    if frozen:
        number = max(frozen)
        return parse_draft(read_text(frozen[number]), frozen[number])
    if path.is_file() and read_text(path) != text:
        return parse_draft(read_text(path), path)
    origin = path.stem.removeprefix("my_")
    if path.stem != origin and origin in judge_names():
        return parse_judge(*read_named(origin, "judge", "ragstone.kernel.judging", "library"))
    return None


def replaced_line(text: str, key: str, line: str, file: Path) -> str:
    """Return the text with the line of a key at the top of the file replaced. Raises ConfigError.

    A prompt may hold a line that looks the same: the one is taken whose change changes the key and no more.
    """
    wanted = parse_toml(line, file)[key]
    for match in re.finditer(rf"^[ \t]*{key}[ \t]*=.*$", text, re.MULTILINE):
        changed = text[: match.start()] + line + text[match.end() :]
        try:
            if parse_toml(changed, file) == {**parse_toml(text, file), key: wanted}:
                return changed
        except ConfigError:
            continue
    raise ConfigError(f"{file}: the key {key!r} has no line of its own. Write it as: {line}")


WIDTH = 400  # characters of the line that says what changed


class Frozen(msgspec.Struct, frozen=True, kw_only=True):
    """A version that was frozen. path: the judge's file; kept: the copy of this version, `NAME@vN.toml`."""

    judge: Judge
    version: int
    path: Path
    kept: Path


def freeze(
    path: Path,
    text: str,
    change: str,
    *,
    who: str,
    development: Development | None = None,
    base: str | None = None,
) -> Frozen:
    """Write a draft as the next version of a judge's file, and a copy that stays, `NAME@vN.toml`.

    change: what is new, in a line. development: what it did on the dev part, which the line tells too; the
    questions of that part go into `tuned_on`, so that report cards leave them out. base: digest of the file
    that the draft was made from; where it holds another text by now, nothing is written. Raises ConfigError,
    in the loader's words for a draft that is no judge, DataError where nothing can be written.
    """
    judge = parse_draft(text, path)
    _check(judge, path)
    if not change.strip():
        raise ConfigError(f"{path}: say in a line what changed, for whoever reads the versions later.")
    path.parent.mkdir(parents=True, exist_ok=True)
    with held(path):
        there = read_text(path) if path.is_file() else None
        if base is not None and base != ("" if there is None else digest_of(there)):
            raise ConfigError(
                f"{path} was changed in the meantime, so nothing was frozen. Your draft is kept: reload the "
                "judge, compare, and freeze again."
            )
        newest = max(versions(path), default=0)
        if newest and same_version(path, judge) == newest:
            raise ConfigError(f"{path}: nothing has changed since version {newest} was frozen.")
        if there is not None:
            _keep_before(path, there, text)
        number = next_version(path, text)
        tuned_on = development.tuned_on if development else []
        final = _final(
            text, judge, number, path, tuned_on, comment=version_line(number, change, who, development)
        )
        copy = path.with_name(f"{path.stem}@v{number}.toml")
        write_new(copy, final)
        partial = partial_path(path)
        with explaining(f"{path}: could not be written", "Make the folder writable."):
            partial.write_text(final, encoding="utf-8", newline="\n")
            partial.replace(path)
    return Frozen(judge=parse_draft(final, path), version=number, path=path, kept=copy)


def _check(judge: Judge, path: Path) -> None:
    if judge.name in judge_names():
        raise ConfigError(
            f"{path}: a judge named {judge.name!r} comes with Ragstone, and their scores could not "
            f'be told apart. Write e.g. name = "my_{judge.name}", and metric = "{judge.measures}".'
        )


def _keep_before(path: Path, there: str, text: str) -> None:
    """Keep the text that will be replaced as its version, where it is not kept and not the draft itself."""
    if there == text or is_untouched(there, path.stem):
        return
    try:
        number = parse_draft(there, path).version
    except ConfigError:
        return  # no judge, hence no version of one; the draft that was made of it is in the store
    if number not in versions(path):
        write_new(path.with_name(f"{path.stem}@v{number}.toml"), there)


def _final(text: str, judge: Judge, number: int, path: Path, tuned_on: list[str], *, comment: str) -> str:
    """Return the text of the version: its number, what it was tuned on, and the line of what changed."""
    digests = sorted({*judge.tuned_on, *tuned_on})
    final = replaced_line(text, "version", f"version    = {number}", path)
    if digests != judge.tuned_on:
        line = f"tuned_on   = {json.dumps(digests)}"
        if judge.tuned_on:
            final = replaced_line(final, "tuned_on", line, path)
        else:
            at = (
                f"version    = {number}\n"
                if f"version    = {number}\n" in final
                else f"version    = {number}"
            )
            final = final.replace(at, f"version    = {number}\n{line}\n", 1)
    final = f"{comment}\n{final.lstrip(chr(0xFEFF))}"
    wanted = msgspec.structs.replace(judge, version=number, tuned_on=digests)
    if parse_draft(final, path) != wanted:
        raise ConfigError(
            f"{path}: the keys version and tuned_on could not be set. Put each on its own line at the top."
        )
    return final


def version_line(number: int, change: str, who: str, development: Development | None = None) -> str:
    """Return the line of what changed, as a comment of TOML."""
    text = f"version {number} ({datetime.now(UTC):%Y-%m-%d}, {who}): {change.strip().rstrip('.')}."
    if development is not None:
        text += f" {dev_text(development)}"
    line = "".join(letter if letter.isprintable() else " " for letter in " ".join(text.split()))
    return f"# {line[:WIDTH]}"


def dev_text(development: Development) -> str:
    """Return what a draft did on the dev part, in a sentence."""
    after, before = development.after.value, development.before and development.before.value
    exact = development.after.card.agreement.get("exact agreement")
    estimate = after if after is not None and development.measure == "exact agreement" else exact
    where = f"On dev of {development.labels}"
    if estimate is None:
        return f"{where}: {development.n_answers} answers, {development.verdict}."
    span = (
        ""
        if estimate.low is None or estimate.high is None
        else f" ({estimate.low:.3f} to {estimate.high:.3f})"
    )
    was = f", before {before.value:.3f}: {development.verdict}" if before and estimate is after else ""
    return f"{where}: exact agreement {estimate.value:.3f}{span} of {estimate.n} answers{was}."


def write_new(path: Path, text: str) -> None:
    """Write a version's file. Raises DataError for one that is there, and where it cannot be written."""
    try:
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
    except FileExistsError:
        raise DataError(
            f"{path} exists, and a frozen version is never overwritten. Run again for the next number."
        ) from None
    except OSError as mistake:
        raise DataError(
            f"{path}: could not be written ({mistake.strerror}). Make the folder writable."
        ) from None
