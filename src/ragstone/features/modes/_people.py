"""What people wrote on answers -> modes: a tag that notes share, and what those without one have in common.

A model groups notes without a tag where one is given, each into one group or none; what it says of a note
counts only with words of the note. Without a model they are grouped by words.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from ragstone.features.modes._reading import LONGEST_QUESTION, MOST_MODES, is_in
from ragstone.kernel.corpus.tokens import tokenize
from ragstone.kernel.engine.session import Session
from ragstone.kernel.judging.matching import word_weight
from ragstone.kernel.llm import CallFailed
from ragstone.kernel.llm.untrusted import MATERIAL, fenced_prompt, row_nonce
from ragstone.kernel.records import Label
from ragstone.kernel.runs.modes import ModeEvidence
from ragstone.kernel.runs.notes import Note

FEWEST_TAGGED, FEWEST_ALIKE = 2, 3  # answers with a tag in common, or with a word in common
TELLING = 0.6  # of the largest weight among the words of the notes: below, a word says little
SHOWN = 3  # notes that the question repeats
LONGEST = 70  # characters of each
AT_ONCE = 40  # notes of one call
LONGEST_NOTE = 400  # characters of a note that a model is shown

GROUP = (
    "You are given notes that people wrote on answers of a question-answering system, each with its number, "
    "and the names of groups that there are. Put each note that says what is wrong with an answer into one "
    "group, with the notes that name the same kind of mistake: one that there is, under its name, or a new "
    "one. Leave out notes that find nothing wrong. For each group give its name, two to five words, and a "
    "statement of one sentence about an answer that is true of answers with that mistake, false of others; "
    f"and for each of its notes the number, and a few words copied from it that say so. {MATERIAL}"
)
GROUP_FORM = (
    '{"nonce": the code, "groups": [{"name": two to five words, "statement": one sentence, "notes": '
    '[{"note": number, "quote": words copied from it}]}]}'
)


class NoteQuote(msgspec.Struct):
    """A note of a group, with words of it."""

    note: int
    quote: str


class NoteGroup(msgspec.Struct):
    """Notes that name one kind of mistake, as the model says."""

    name: str
    statement: str
    notes: list[NoteQuote]


class GroupReply(msgspec.Struct):
    """The reply on some notes."""

    groups: list[NoteGroup]


class NotedMode(msgspec.Struct, frozen=True, kw_only=True):
    """A mode that people's notes name."""

    title: str
    question: str
    evidence: list[ModeEvidence]


class NotedModes(msgspec.Struct, frozen=True, kw_only=True):
    """The modes of people's notes. n_notes: without a tag, shown to a model; n_grouped: those in a mode.

    n_failed: calls that failed.
    """

    modes: list[NotedMode]
    n_notes: int = 0
    n_grouped: int = 0
    n_failed: int = 0


async def noted_modes(
    notes: Sequence[Note],
    labels: Sequence[Label],
    systems: Sequence[str],
    *,
    known: Sequence[str] = (),
    model: str | None = None,
    session: Session,
) -> NotedModes:
    """Return the modes of people's notes: their tags first, then groups of those without a tag.

    A note that names no system is about the only one; of several, about the first. The reasons of labels
    below the middle of 0 to 1 are notes without a tag. model: groups these; without one, or where a call
    fails, they are grouped by words. known: titles of modes that there are, which a model may use.
    """
    by_tag: dict[str, list[ModeEvidence]] = defaultdict(list)
    plain: list[ModeEvidence] = []
    for note in notes:
        row = _evidence(note.question_id, note.system or systems[0], note.text)
        for tag in note.tags:
            by_tag[" ".join(tag.split())].append(row)
        plain += [] if note.tags else [row]
    plain += [
        _evidence(row.question_id, row.system, row.rationale)
        for row in labels
        if row.rationale and row.score < 0.5
    ]
    if model is not None and plain:
        by_model, n_failed = await _by_model(plain, [*by_tag, *known], model, session)
        if not n_failed:
            modes, n_grouped = _with_groups(by_tag, by_model)
            return NotedModes(modes=modes, n_notes=len(plain), n_grouped=n_grouped)
    else:
        n_failed = 0
    groups = [(tag, rows, FEWEST_TAGGED) for tag, rows in by_tag.items()]
    groups += [(word, rows, FEWEST_ALIKE) for word, rows in _by_words(plain)]
    modes = [
        NotedMode(title=title, question=_question(title, rows), evidence=rows)
        for title, rows, fewest in groups
        if _n_answers(rows) >= fewest
    ]
    return NotedModes(modes=modes, n_failed=n_failed)


class _NamedNotes(msgspec.Struct, kw_only=True):
    title: str
    question: str
    rows: list[ModeEvidence]


def _n_answers(rows: Sequence[ModeEvidence]) -> int:
    return len({(row.question_id, row.system) for row in rows})


def _with_groups(
    by_tag: Mapping[str, list[ModeEvidence]], by_model: Mapping[str, _NamedNotes]
) -> tuple[list[NotedMode], int]:
    """Return the modes of tags, each with the notes that a model put there, and those of new groups.

    And how many notes of the model's groups are in a mode.
    """
    modes, n_grouped = [], 0
    left = dict(by_model)
    for tag, rows in by_tag.items():
        more = left.pop(_key(tag), None)
        every = [*rows, *(more.rows if more else ())]
        if _n_answers(every) >= FEWEST_TAGGED:
            modes.append(NotedMode(title=tag, question=_question(tag, rows), evidence=every))
            n_grouped += len(more.rows) if more else 0
    for group in [one for one in left.values() if _n_answers(one.rows) >= FEWEST_TAGGED][:MOST_MODES]:
        modes.append(NotedMode(title=group.title, question=group.question, evidence=group.rows))
        n_grouped += len(group.rows)
    return modes, n_grouped


def _key(name: str) -> str:
    return " ".join(name.casefold().split())


async def _by_model(
    notes: Sequence[ModeEvidence], known: Sequence[str], model: str, session: Session
) -> tuple[dict[str, _NamedNotes], int]:
    """Return the groups that a model makes of notes, by their names in small letters; and failed calls.

    A batch of notes after the other: each is told the groups of those before.
    """
    ask, secret = await session.models.ask(model), session.secret()
    groups: dict[str, _NamedNotes] = {}
    for start in range(0, len(notes), AT_ONCE):
        batch = notes[start : start + AT_ONCE]
        names = dict.fromkeys([*known, *(group.title for group in groups.values())])
        material = {
            "groups": "\n".join(f"- {name}" for name in names) or "(none yet)",
            "notes": "\n".join(f"{n}. {note.quote[:LONGEST_NOTE]}" for n, note in enumerate(batch, 1)),
        }
        prompt = fenced_prompt(
            GROUP,
            material,
            form=GROUP_FORM,
            reply=GroupReply,
            nonce=row_nonce(secret, ["notes", *material.values()]),
            max_tokens=60 * len(batch) + 400,
            temperature=0.0,
        )
        try:
            reply = (await ask(prompt)).value
        except CallFailed:
            return {}, 1
        placed: set[int] = set()
        for group in reply.groups:
            title, question = " ".join(group.name.split()), " ".join(group.statement.split())
            for one in group.notes:
                is_known = 1 <= one.note <= len(batch) and one.note not in placed
                if not (title and question and is_known and is_in(one.quote, batch[one.note - 1].quote)):
                    continue
                placed.add(one.note)
                own = _NamedNotes(title=title, question=question[:LONGEST_QUESTION], rows=[])
                groups.setdefault(_key(title), own).rows.append(batch[one.note - 1])
    return groups, 0


def _evidence(question_id: str, system: str, text: str) -> ModeEvidence:
    return ModeEvidence(question_id=question_id, system=system, quote=" ".join(text.split()), part="note")


def _by_words(rows: Sequence[ModeEvidence]) -> Iterable[tuple[str, list[ModeEvidence]]]:
    """Yield the words that most notes share, each with its notes that no word before had."""
    left = list(rows)
    words = [set(tokenize(row.quote)) for row in left]
    most = max((word_weight(word) for own in words for word in own), default=0.0)
    while True:
        held: dict[str, list[int]] = defaultdict(list)
        for at, own in enumerate(words):
            for word in own:
                if word_weight(word) >= TELLING * most:
                    held[word].append(at)
        best = max(held, key=lambda word: (len(held[word]), word_weight(word), word), default=None)
        if best is None or len(held[best]) < FEWEST_ALIKE:
            return
        yield best, [left[at] for at in held[best]]
        keep = [at for at in range(len(left)) if at not in held[best]]
        left, words = [left[at] for at in keep], [words[at] for at in keep]


def _question(title: str, rows: Sequence[ModeEvidence]) -> str:
    quoted = "; ".join(f"“{row.quote[:LONGEST].strip()}”" for row in rows[:SHOWN])
    return f"The answer has the mistake that people call “{title}”, as they wrote: {quoted}."[:300]
