"""Who did what, when and from where: lines of JSON that are only ever added."""

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from ragstone.kernel.errors import DataError
from ragstone.kernel.persistence.journal import append_line

FILE = "audit.jsonl"
ROTATED_BYTES = 16 << 20
LONGEST = 200

Fact = str | int | float | bool | None


class AuditEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One line. at: ISO 8601, UTC. who: "" where nobody was logged in. address: where it came from."""

    at: str
    who: str
    action: str
    address: str
    facts: dict[str, Fact] = {}


class AuditLog:
    """The log in a store. now: seconds since 1970."""

    def __init__(self, folder: Path, now: Callable[[], float]) -> None:
        self._folder, self._now = folder, now

    def note(self, who: str, action: str, address: str, facts: Mapping[str, Fact]) -> None:
        """Add a line; long texts are cut. Raises DataError where it cannot be written."""
        at = datetime.fromtimestamp(self._now(), UTC).isoformat(timespec="seconds")
        short = {name: value[:LONGEST] if isinstance(value, str) else value for name, value in facts.items()}
        entry = AuditEntry(at=at, who=who[:LONGEST], action=action, address=address, facts=short)
        # json, not msgspec: what is not ASCII is escaped, so no text can look like another line or turn one.
        line = json.dumps(msgspec.to_builtins(entry))
        path = self._folder / FILE
        try:
            if path.exists() and path.stat().st_size >= ROTATED_BYTES:
                path.rename(self._folder / f"audit-{len(self._rotated()) + 1:04}.jsonl")
            append_line(path, line.encode(), mode=0o600)
        except OSError as mistake:
            raise DataError(
                f"{path}: the audit log cannot be written ({mistake.strerror}), so what was just done is "
                "not in it. Free some disk space, or make the folder writable."
            ) from None

    def _rotated(self) -> list[Path]:
        return sorted(self._folder.glob("audit-*.jsonl"))

    def newest(self) -> Iterator[AuditEntry]:
        """Give the lines, newest first; one that is no entry is left out."""
        for path in (self._folder / FILE, *reversed(self._rotated())):
            lines = path.read_bytes().splitlines() if path.is_file() else []
            for line in reversed(lines):
                try:
                    yield msgspec.json.decode(line, type=AuditEntry)
                except (msgspec.DecodeError, UnicodeDecodeError):
                    continue
