"""What a reader must know of answers before trusting a run's numbers: failed, empty, or from before."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from ragstone.config import Settings
from ragstone.records import Answer
from ragstone.report.wording import plural

SHOWN = 300  # characters of a message


def system_notes(answers: Sequence[Answer], kept: Mapping[str, int], settings: Settings) -> list[str]:
    """Return a note for each system some of whose answers failed, are empty, or come from the ledger.

    kept: system -> how many of its answers do.
    """
    notes = []
    for name, rows in _by_system(answers).items():
        errors = Counter(row.error for row in rows if row.error is not None)
        n_empty = sum(row.error is None and not row.answer for row in rows)
        if errors:
            notes.append(_failed(name, errors, len(rows)))
        if n_empty:
            notes.append(
                f"{name}: {n_empty} of {plural(len(rows), 'answer')} {_are(n_empty)} empty. That is no error "
                "of the application: judges see an answer that says nothing."
            )
    return notes + kept_notes(answers, kept, settings)


def kept_notes(answers: Iterable[Answer], kept: Mapping[str, int], settings: Settings) -> list[str]:
    """Return the notes of answers that come from the ledger, with how to ask anew."""
    return [
        _kept(name, kept[name], len(rows), settings)
        for name, rows in _by_system(answers).items()
        if kept.get(name)
    ]


def _by_system(answers: Iterable[Answer]) -> dict[str, list[Answer]]:
    found: dict[str, list[Answer]] = {}
    for answer in answers:
        found.setdefault(answer.system, []).append(answer)
    return found


def _failed(name: str, errors: Counter[str], n_rows: int) -> str:
    (message, n_alike), *others = errors.most_common()
    shown = message if len(message) <= SHOWN else message[:SHOWN] + " …"
    alike = f"The commonest reason, {n_alike} times: " if others else ""
    return (
        f"{name}: {errors.total()} of {plural(n_rows, 'answer')} failed, so no judge has judged them. "
        f"{alike}{shown}"
    )


def _kept(name: str, n_kept: int, n_rows: int, settings: Settings) -> str:
    declared = settings.systems.get(name)
    where = f"[systems.{name}]" if declared else "a table of [systems]"
    version = getattr(declared, "version", "")
    other = f"another `version` (now {version!r})" if version else '`version = "2"`'
    return (
        f"{name}: {n_kept} of {plural(n_rows, 'answer')} {_are(n_kept)} from the ledger, as the application "
        f"gave {'it' if n_kept == 1 else 'them'} earlier. If it has changed since, write {other} into "
        f"{where}: it is asked anew then."
    )


def _are(n: int) -> str:
    return "is" if n == 1 else "are"
