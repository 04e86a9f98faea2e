"""What a reader must know of answers before trusting the numbers of their systems, in plain sentences."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from ragstone.kernel.config import ChatSystem, RagSystem, Settings, sampling_of
from ragstone.kernel.errors import plural
from ragstone.kernel.records import Answer, split_repeat
from ragstone.kernel.stages.notes import AGAIN, commonest_error
from ragstone.kernel.systems.chosen import system_of


def system_notes(answers: Sequence[Answer], from_ledger: Mapping[str, int], settings: Settings) -> list[str]:
    """Return a note for each system some of whose answers failed, are empty, or come from the ledger.

    from_ledger: system -> how many of its answers do.
    """
    notes = []
    for name, rows in _by_system(answers).items():
        errors = Counter(row.error for row in rows if row.error is not None)
        n_empty = sum(row.error is None and not row.answer for row in rows)
        if errors:
            notes.append(
                f"{name}: {errors.total()} of {plural(len(rows), 'answer')} failed, and leave nothing to "
                f"judge. {commonest_error(errors)}{AGAIN}"
            )
        if n_empty:
            notes.append(
                f"{name}: {n_empty} of {plural(len(rows), 'answer')} {_are(n_empty)} empty. That is not an "
                "error of the application: judges see an answer that says nothing."
            )
    return notes + same_answer_notes(answers, settings) + kept_notes(answers, from_ledger, settings)


COLD = (
    "A model at temperature 0 mostly says the same again: set a temperature above 0 to see how its answers "
    "vary, or leave repeats out."
)


def is_cold(settings: Settings) -> bool:
    """Return whether `[answer]` repeats the answers of a model that is asked at temperature 0."""
    answer = settings.answer
    if (answer.repeats or 1) == 1 or answer.sheet is not None:
        return False
    declared = RagSystem() if answer.system is None else system_of(answer.system, settings)
    model: str | None
    default: float | None
    if isinstance(declared, ChatSystem):
        own, model, default = declared.temperature, declared.model, None
    elif isinstance(declared, RagSystem):
        own, model, default = sampling_of(declared, answer).temperature, declared.model or answer.model, 0.0
    else:
        return False
    of_model = settings.model(model).temperature if model else None
    return (
        next((temperature for temperature in (own, of_model, default) if temperature is not None), None) == 0
    )


def same_answer_notes(answers: Iterable[Answer], settings: Settings) -> list[str]:
    """Return a note for each system whose repeated answers to a question are the same, word for word."""
    notes = []
    for name, rows in _by_system(answers).items():
        texts: dict[str, list[str]] = {}
        for row in rows:
            if row.error is None:
                texts.setdefault(row.question_id, []).append(row.answer)
        repeated = [own for own in texts.values() if len(own) > 1]
        n_same = sum(len(set(own)) == 1 for own in repeated)
        if n_same:
            advice = f" {COLD}" if is_cold(settings) else ""
            notes.append(
                f"{name}: the answers to {n_same} of {plural(len(repeated), 'question')} are the same each "
                f"time, word for word.{advice}"
            )
    return notes


def kept_notes(answers: Iterable[Answer], from_ledger: Mapping[str, int], settings: Settings) -> list[str]:
    """Return the notes of answers that come from the ledger, with how to ask anew."""
    notes = []
    for name, rows in _by_system(answers).items():
        n_kept, declared = from_ledger.get(name, 0), settings.systems.get(name)
        version = getattr(declared, "version", "")
        if n_kept:
            notes.append(
                f"{name}: {n_kept} of {plural(len(rows), 'answer')} {_are(n_kept)} from the ledger, as the "
                f"application gave {'it' if n_kept == 1 else 'them'} earlier. If it has changed since, write "
                + (f"another `version` (now {version!r})" if version else '`version = "2"`')
                + (f" into [systems.{name}]" if declared else " into a table of [systems]")
                + ": it is asked again then."
            )
    return notes


def _by_system(answers: Iterable[Answer]) -> dict[str, list[Answer]]:
    by_system: dict[str, list[Answer]] = {}
    for answer in answers:
        by_system.setdefault(split_repeat(answer.system)[0], []).append(answer)
    return by_system


def _are(n: int) -> str:
    return "is" if n == 1 else "are"
