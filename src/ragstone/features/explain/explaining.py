"""A code, or a pasted message -> what it means, when it is said, what to do, and where it is documented."""

import re
from collections.abc import Iterator
from difflib import get_close_matches
from functools import cache
from typing import Literal, get_args

import msgspec

from ragstone.features.explain._messages import find_messages, has_in_order, plain_text
from ragstone.kernel.config import shipped
from ragstone.kernel.errors import DataError, without_frames
from ragstone.kernel.sentences import tables

Group = Literal["error", "status", "cause", "gate", "exit code", "note", "error class"]
GROUPS: tuple[Group, ...] = get_args(Group)
MOST = 3  # explanations of a message
LONGEST = 4_000  # characters of a pasted text that are looked at
NOTES_PAGE = "reference/sentences.md"
OTHER_PAGE = "reference/commands.md"


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """What a code stands for.

    when: when it is said. do: what to do, empty where there is nothing to do. example: a command, or lines of
    ragstone.toml. page: in the folder docs. error: the class that has it, of errors. messages: those of the
    sources that a pasted text may be, with `…` where something is filled in. numbers: of a note, the names in
    its text -> what they are. never_beside: codes of notes that one text does not say together with it.
    """

    code: str
    group: Group
    title: str
    meaning: str
    when: str
    do: str
    page: str
    example: str = ""
    error: str = ""
    messages: list[str] = []
    numbers: dict[str, str] = {}
    never_beside: list[str] = []


class _Entry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An entry of codes.toml."""

    code: str
    group: Group
    title: str
    do: str
    page: str
    meaning: str = ""
    when: str = ""
    example: str = ""
    error: str = ""
    says: list[str] = []
    outside: list[str] = []
    lead: bool = False


class _Codes(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """codes.toml: its entries, what to do about notes, and a room or feature -> its page."""

    entry: list[_Entry]
    advice: dict[str, str]
    pages: dict[str, str]


@cache
def known_codes() -> _Codes:
    """Return what codes.toml holds, as it ships."""
    return msgspec.toml.decode(shipped("ragstone.features.explain", "codes.toml").read_bytes(), type=_Codes)


@cache
def explanations() -> tuple[Explanation, ...]:
    """Return every code with what it means: errors, statuses, causes, gates, exit codes, notes, classes."""
    found = [*_of_entries(), *_of_notes()]
    return tuple(sorted(found, key=lambda each: GROUPS.index(each.group)))


@without_frames()
def explain(text: str) -> list[Explanation]:
    """Return what a code means, or which errors a pasted message may be, the most likely first.

    text: a code such as `gate-failed`, `over_budget`, `DataError` or `exit 3`; or an error message as it was
    printed, with its own names and numbers. A code has one explanation for each group that has it, a message
    up to three. Messages are looked for in the sources of the installed package. Raises DataError for what is
    neither, with the closest codes.
    """
    entries: dict[str, list[Explanation]] = {}
    for explanation in explanations():
        entries.setdefault(explanation.code.replace("_", "-"), []).append(explanation)
    # `NotInLedger`, `not_in_ledger` and `not in ledger` are one code.
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", "-", text.strip(" .:`'\""))
    code = re.sub(r"[\s_-]+", "-", apart).casefold()
    if found := entries.get(code) or entries.get(f"exit-{code.removeprefix('exit-code-')}"):
        return found
    if " " in text.strip() and (found := _of_message(text[:LONGEST], entries)):
        return found
    raise DataError(_unknown(text, code, entries))


def code_for(message: str) -> str | None:
    """Return the code that a terminal names after a message, if that adds to what the message says."""
    plain = plain_text(message)
    for entry in known_codes().entry:
        if entry.lead and any(_said_in(part, plain) for part in entry.says):
            return entry.code
    return None


def _of_entries() -> Iterator[Explanation]:
    notes = {sentence.code: sentence for _, table in tables() for sentence in table}
    for entry in known_codes().entry:
        note = None if entry.meaning else notes.get(entry.code)
        yield Explanation(
            code=entry.code,
            group=entry.group,
            title=entry.title,
            meaning=note.text if note else entry.meaning,
            when=note.when if note else entry.when,
            do=entry.do,
            page=entry.page,
            example=entry.example.strip("\n"),
            error=entry.error,
            messages=[part.strip() for part in entry.says],
            numbers=dict(note.needs) if note else {},
            never_beside=[*note.never_beside] if note else [],
        )


def _of_notes() -> Iterator[Explanation]:
    codes = known_codes()
    named = {entry.code for entry in codes.entry if not entry.meaning}
    for folder, table in tables():
        for sentence in table:
            if sentence.code not in named:
                yield Explanation(
                    code=sentence.code,
                    group="note",
                    title=f"A sentence of {folder.rpartition('.')[2].rstrip('_')}",
                    meaning=sentence.text,
                    when=sentence.when,
                    do=codes.advice.get(sentence.code, ""),
                    page=NOTES_PAGE,
                    numbers=dict(sentence.needs),
                    never_beside=[*sentence.never_beside],
                )


def _of_message(text: str, entries: dict[str, list[Explanation]]) -> list[Explanation]:
    """Return the errors that a message may be: by what entries quote, longest first, else by the sources."""
    plain = plain_text(text)
    matches = find_messages(text)
    shown = [*dict.fromkeys(match.shown for match in matches)]  # two modules may say the same
    quoting = _quoting(plain) or _quoting(" ".join(shown).casefold())
    if quoting:
        return [
            msgspec.structs.replace(
                entries[entry.code.replace("_", "-")][0],
                messages=[
                    each for each in shown if any(_said_in(part, each.casefold()) for part in entry.says)
                ],
            )
            for entry in quoting[:MOST]
        ]
    by_class = {code.replace("-", ""): named[0] for code, named in entries.items()}
    explained: dict[str, Explanation] = {}
    for match in matches:
        explanation = by_class.get(match.error.casefold(), entries["data-error"][0])
        before = explained.get(explanation.code)
        explained[explanation.code] = msgspec.structs.replace(
            explanation,
            page=before.page if before else _page_of(match.module),
            messages=[*dict.fromkeys([*(before.messages if before else ()), match.shown])],
        )
    return [*explained.values()]


def _quoting(plain: str) -> list[_Entry]:
    """Return the entries that quote a part of a text, the longest part first."""
    quoting = []
    for entry in known_codes().entry:
        parts = [part for part in (*entry.says, *entry.outside) if _said_in(part, plain)]
        if parts:
            quoting.append((-max(map(len, parts)), entry))
    return [entry for _, entry in sorted(quoting, key=lambda each: each[0])]


def _said_in(part: str, plain: str) -> bool:
    """Say whether a message holds a part of one; `…` in the part stands for anything."""
    pieces = [piece.strip() for piece in part.casefold().split("…") if piece.strip()]
    return bool(pieces) and has_in_order(plain, pieces)


def _page_of(module: str) -> str:
    """Return the page about the room or feature that a module is in."""
    pages = known_codes().pages
    name = module.removeprefix("ragstone.")
    while name and name not in pages:
        name = name.rpartition(".")[0]
    return pages.get(name, OTHER_PAGE)


def _unknown(text: str, code: str, entries: dict[str, list[Explanation]]) -> str:
    close = get_close_matches(code, entries, n=3, cutoff=0.6)
    meant = f" Did you mean {' or '.join(entries[each][0].code for each in close)}?" if close else ""
    shown = f"{text.strip()[:80]}{'…' if len(text.strip()) > 80 else ''}"
    if " " in text.strip():
        return (
            f"No code and no message of Ragstone matches {shown!r}.{meant} Paste the whole line after "
            "`ragstone:`."
        )
    return f"There is no code {shown!r}.{meant} See all: ragstone explain"
