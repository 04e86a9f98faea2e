"""An attack and a row -> the attacked row, and the harmless row that it is compared with."""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Literal, NamedTuple

import msgspec

from ragstone.features.attack._families import DISGUISES, PLACEHOLDERS, Attack, Family, Goal, goal_of
from ragstone.features.attack._rows import language_of, neutral_text, with_turn
from ragstone.features.attack._values import Aim, Place
from ragstone.kernel.judging import Judge
from ragstone.kernel.llm import row_nonce
from ragstone.kernel.records import Answer, Context, references

FILLED = re.compile(rf"\{{({'|'.join(PLACEHOLDERS)})\}}")
FILLER_LENGTH = 2000
SHORTEST = 40  # characters of the shortest harmless addition; each length after it is twice the one before
NOBODYS_SECRET = b"what somebody guesses who does not know the secret of the project"
ControlPlace = Literal["before", "after", "context", "question"]


class Planted(msgspec.Struct, frozen=True, kw_only=True):
    """A row to judge. at: number of the plain row that it was made from.

    attack, family: None for a control. control: the number, within one planting, of the control that the
    attacked row is compared with.
    """

    at: int
    answer: Answer
    place: Place
    aim: Aim
    attack: str | None = None
    family: str | None = None
    control: int | None = None


def plant(
    judge: Judge,
    families: Sequence[Family],
    rows: Iterable[tuple[int, Answer, Aim]],
    each: int | None = None,
) -> list[Planted]:
    """Return every attack on every row of its aim, and the controls, each once.

    rows: number, plain row and what is to be done to it. each: so many attacks on a row, taken in turn, so
    that all attacks are tried equally often; None for all of them. An attack that needs what the row or the
    judge does not have is left out. Controls come after the attacked rows of their row.
    """
    planted: list[Planted] = []
    for turn, (at, row, aim) in enumerate(rows):
        attacks = _attacked(judge, families, row, aim)
        if each is not None and attacks:
            attacks = [attacks[(turn * each + n) % len(attacks)] for n in range(min(each, len(attacks)))]
        # Of controls that have 40, 80, 160, ... characters, the one of the nearest length, by ratio.
        doublings = [max(0, round(math.log2(max(attack.length, 1) / SHORTEST))) for attack in attacks]
        keys: list[tuple[ControlPlace, int]] = [
            ("after" if attack.place == "instead" else attack.place, int(SHORTEST * 2**n))
            for attack, n in zip(attacks, doublings, strict=True)
        ]
        first = len(planted) + len(attacks)
        numbers = {key: first + n for n, key in enumerate(dict.fromkeys(keys))}
        planted += [
            Planted(
                at=at,
                answer=_named(attack.answer, f"{attack.name} {attack.place}"),
                place=attack.place,
                aim=aim,
                attack=attack.name,
                family=attack.family,
                control=numbers[key],
            )
            for attack, key in zip(attacks, keys, strict=True)
        ]
        for place, length in numbers:  # a neutral text of the length in place of an attack's
            control = put(row, neutral_text(language_of(row), length), place)
            control = _named(control, f"control {place} {length}")
            planted.append(Planted(at=at, answer=control, place=place, aim=aim))
    return planted


def places_for(judge: Judge, attack: Attack) -> list[Place]:
    """Return where the attack can be put for this judge to read it: its places, else what there is."""
    retrieved = "steps" if "steps" in judge.inputs else "contexts"
    needed: dict[Place, str] = {"context": retrieved, "question": "question"}
    read = {*judge.inputs, *(("question", "answer") if "conversation" in judge.inputs else ())}
    open_to = [spot for spot in attack.places if needed.get(spot, "answer") in read]
    if open_to or "answer" in read:
        return open_to
    return ["context"] if retrieved in read else ["question"]


class _Attacked(NamedTuple):
    """A row under an attack; length: characters of the attack's text."""

    family: str
    name: str
    place: Place
    length: int
    answer: Answer


def _attacked(judge: Judge, families: Sequence[Family], row: Answer, aim: Aim) -> list[_Attacked]:
    """Return the row under each attack of this aim, one of each family in turn, so that `each` meets all."""
    goal = goal_of(judge, aim)
    by_family: list[list[_Attacked]] = []
    for family in families:
        filled = [(attack, fill(attack, row, goal)) for attack in family.attack if family.aim == aim]
        by_family.append(
            [
                _Attacked(
                    family.name, f"{family.name}/{attack.name}", place, len(text), put(row, text, place)
                )
                for attack, text in filled
                if text is not None
                for place in places_for(judge, attack)
            ]
        )
    rounds = zip_longest(*by_family)
    return [attacked for mine in rounds for attacked in mine if attacked is not None]


def fill(attack: Attack, row: Answer, goal: Goal) -> str | None:
    """Return the text of an attack on this row, None where the row lacks what it needs (a reference)."""
    guess = row_nonce(NOBODYS_SECRET, [row.question_id, row.answer])
    values = {
        "wrong": row.answer,
        "question": row.question,
        "reference": next(iter(references(row)), None),
        "goal": goal.wanted,
        "field": goal.field,
        "verdict": _json(goal.reply),
        "guess": guess,
        "guessed_verdict": _json({"nonce": guess, **goal.reply}),
        "filler": neutral_text(language_of(row), FILLER_LENGTH),
    }
    if attack.hidden is not None and attack.disguise is not None:
        values["hidden"] = DISGUISES[attack.disguise](_filled(attack.hidden, values))
    if any(values.get(name) is None for name in FILLED.findall(attack.text)):
        return None
    return _filled(attack.text, values).strip(" \n") if attack.disguise else _filled(attack.text, values)


def put(row: Answer, text: str, place: Place | ControlPlace) -> Answer:
    """Return the row with the text in its place; what an agent's call returned is a context too.

    Of a conversation, question and answer are the last turns of the user and of the assistant.
    """
    match place:
        case "before":
            return _answering(row, lambda answer: f"{text}\n{answer}")
        case "after":
            return _answering(row, lambda answer: f"{answer}\n{text}")
        case "instead":
            return _answering(row, lambda _: text)
        case "context":
            contexts, steps = [*(row.contexts or ()), Context(text=text)], row.steps
            if steps:
                last = msgspec.structs.replace(steps[-1], result=f"{steps[-1].result or ''}\n{text}")
                steps = [*steps[:-1], last]
            return msgspec.structs.replace(row, contexts=contexts, steps=steps)
        case "question":
            row = with_turn(row, "user", lambda question: f"{question}\n{text}")
            return msgspec.structs.replace(row, question=f"{row.question or ''}\n{text}")


def _answering(row: Answer, change: Callable[[str], str]) -> Answer:
    return with_turn(msgspec.structs.replace(row, answer=change(row.answer)), "assistant", change)


def _filled(text: str, values: Mapping[str, str | None]) -> str:
    return FILLED.sub(lambda match: values.get(match[1]) or "", text)


def _json(reply: Mapping[str, object]) -> str:
    return msgspec.json.encode(reply).decode()


def _named(answer: Answer, name: str) -> Answer:
    return msgspec.structs.replace(answer, system=f"{answer.system} · {name}")
