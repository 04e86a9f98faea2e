"""The instructions of annotators as versions: each text has a digest, is kept once, and is found by it."""

import hashlib
import unicodedata
from collections.abc import Sequence
from pathlib import Path

import msgspec

from ragstone.kernel.errors import DataError
from ragstone.kernel.persistence.journal import append_whole, held, replace_whole

LONGEST = 20_000  # characters: some ten pages, more than people keep in mind
WAIT_S = 10.0


def tidied(instructions: str) -> str:
    """Return instructions with plain line breaks and without space at their ends.

    Raises DataError for a text that is empty, longer than 20,000 characters, or that holds signs nobody can
    see.
    """
    text = "\n".join(instructions.splitlines()).strip()
    if not text:
        raise DataError("The instructions are empty. Write what annotators should do.")
    if len(text) > LONGEST:
        raise DataError(
            f"The instructions have {len(text):,} characters; the limit is {LONGEST:,}. Shorten "
            "them, or name a document that has the rest."
        )
    for line, content in enumerate(text.split("\n"), 1):
        for column, sign in enumerate(content, 1):
            if sign != "\t" and unicodedata.category(sign) in ("Cc", "Cs"):
                raise DataError(
                    f"The instructions contain a control character (U+{ord(sign):04X}) in line "
                    f"{line}, column {column}. Remove it, and give plain text."
                )
    return text


def policy_digest(instructions: str) -> str:
    """Return the digest of instructions: 8 hexadecimal digits, the first of them a letter.

    Space at their ends and the kind of line breaks do not matter.
    """
    text = "\n".join(instructions.splitlines()).strip()
    # From the first letter on, for a spreadsheet takes 12345678 and 1234e567 for numbers.
    return hashlib.sha256(text.encode()).hexdigest().lstrip("0123456789")[:8]


def keep_policy(folder: Path, instructions: str) -> str:
    """Keep instructions as `DIGEST.md` in the folder of policies; return the digest."""
    digest = policy_digest(instructions)
    path = folder / f"{digest}.md"
    if not path.exists():
        replace_whole(path, f"{instructions}\n".encode())
    return digest


class PolicyVersion(msgspec.Struct, frozen=True):
    """A version of a queue's instructions. policy, text: None for a queue that began without any."""

    policy: str | None
    text: str | None


def policy_versions(queues: Path, name: str, first: PolicyVersion) -> list[PolicyVersion]:
    """Return the versions of a queue's instructions, oldest first; the last one holds now.

    first: what the queue was made with. Raises DataError where a text is missing.
    """
    path = _changes(queues, name)
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [first, *(PolicyVersion(digest, _text(queues, digest, first)) for digest in lines if digest)]


def change_policy(queues: Path, name: str, first: PolicyVersion, instructions: str) -> bool:
    """Make instructions the last version of a queue's; return False where they hold already.

    Raises DataError as `tidied` does.
    """
    digest = keep_policy(queues.parent / "policies", tidied(instructions))
    path = _changes(queues, name)
    with held(path, wait_s=WAIT_S):
        if policy_versions(queues, name, first)[-1].policy == digest:
            return False
        append_whole(path, f"{digest}\n".encode())
    return True


def _changes(queues: Path, name: str) -> Path:
    return queues / f"{name}.policies"


def _text(queues: Path, digest: str, first: PolicyVersion) -> str | None:
    if digest == first.policy:
        return first.text
    path = queues.parent / "policies" / f"{digest}.md"
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        raise DataError(
            f"{path}: the instructions {digest} cannot be read. Restore them from a backup."
        ) from None


def as_markdown(versions: Sequence[PolicyVersion], n_labels: Sequence[int]) -> str:
    """Return the versions as a document, each under its digest. n_labels: under each of them."""
    parts = []
    for number, (version, n) in enumerate(zip(versions, n_labels, strict=True), 1):
        labels = f"{n:,} label{'' if n == 1 else 's'}"
        parts.append(f"# Version {number}: {version.policy or 'no instructions'} ({labels})\n")
        parts += [f"{version.text}\n"] if version.text else []
    return "\n".join(parts)
