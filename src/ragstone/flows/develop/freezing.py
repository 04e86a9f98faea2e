"""A draft -> the next version of a judge's file. A version that was frozen is never written again."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from ragstone.agreement.developing.development import Development
from ragstone.errors import ConfigError, DataError
from ragstone.flows.develop.project import (
    digest_of,
    next_version,
    parse_draft,
    read_text,
    replaced_line,
    same_version,
    versions,
)
from ragstone.judging import Judge, judge_names
from ragstone.tables import held, partial_path

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
                f"{path} was changed in the meantime, so nothing was frozen. Your draft is kept: open the "
                "judge anew, compare, and freeze again."
            )
        newest = max(versions(path), default=0)
        if newest and same_version(path, judge) == newest:
            raise ConfigError(f"{path}: nothing changed since version {newest} was frozen.")
        if there is not None:
            _keep_before(path, there, text)
        number = next_version(path, text)
        tuned_on = development.tuned_on if development else []
        final = _final(text, judge, number, path, tuned_on, told=_told(number, change, who, development))
        kept = path.with_name(f"{path.stem}@v{number}.toml")
        _write_new(kept, final)
        _replace(path, final)
    return Frozen(judge=parse_draft(final, path), version=number, path=path, kept=kept)


def _check(judge: Judge, path: Path) -> None:
    if judge.name in judge_names():
        raise ConfigError(
            f"{path}: a judge named {judge.name!r} comes with Ragstone, and scores of the two could not be "
            f'told apart. Write e.g. name = "my_{judge.name}", and metric = "{judge.measures}".'
        )


def _keep_before(path: Path, there: str, text: str) -> None:
    """Keep the text that will be replaced as its version, where it is not kept and not the draft itself."""
    if there == text:
        return
    try:
        number = parse_draft(there, path).version
    except ConfigError:
        return  # no judge, hence no version of one; the draft that was made of it is in the store
    if number not in versions(path):
        _write_new(path.with_name(f"{path.stem}@v{number}.toml"), there)


def _final(text: str, judge: Judge, number: int, path: Path, tuned_on: list[str], *, told: str) -> str:
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
    final = f"{told}\n{final.lstrip(chr(0xFEFF))}"
    wanted = msgspec.structs.replace(judge, version=number, tuned_on=digests)
    if parse_draft(final, path) != wanted:
        raise ConfigError(
            f"{path}: the keys version and tuned_on could not be set. Give each a line of its own at the top."
        )
    return final


def _told(number: int, change: str, who: str, development: Development | None) -> str:
    """Return the line of what changed, as a comment of TOML."""
    said = f"version {number} ({datetime.now(UTC):%Y-%m-%d}, {who}): {change.strip().rstrip('.')}."
    if development is not None:
        said += f" {dev_told(development)}"
    line = "".join(letter if letter.isprintable() else " " for letter in " ".join(said.split()))
    return f"# {line[:WIDTH]}"


def dev_told(development: Development) -> str:
    """Return what a draft did on the dev part, in a sentence."""
    after, before = development.after.value, development.before and development.before.value
    exact = development.after.card.agreement.get("exact agreement")
    shown = after if after is not None and development.measure == "exact agreement" else exact
    where = f"On dev of {development.labels}"
    if shown is None:
        return f"{where}: {development.n_answers} answers, {development.verdict}."
    span = "" if shown.low is None or shown.high is None else f" ({shown.low:.3f} to {shown.high:.3f})"
    was = f", before {before.value:.3f}: {development.verdict}" if before and shown is after else ""
    return f"{where}: exact agreement {shown.value:.3f}{span} of {shown.n} answers{was}."


def _write_new(path: Path, text: str) -> None:
    try:
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
    except FileExistsError:
        raise DataError(
            f"{path} exists, and a frozen version is never written again. Run again for the next number."
        ) from None
    except OSError as mistake:
        raise DataError(
            f"{path}: could not be written ({mistake.strerror}). Make the folder writable."
        ) from None


def _replace(path: Path, text: str) -> None:
    partial = partial_path(path)
    try:
        partial.write_text(text, encoding="utf-8", newline="\n")
        partial.replace(path)
    except OSError as mistake:
        raise DataError(
            f"{path}: could not be written ({mistake.strerror}). Make the folder writable."
        ) from None
