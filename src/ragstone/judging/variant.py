"""One judge file, asked in other ways: `rubric@scale=0-10,shots=2`, `answered@token`, `true_false@samples=5`.

A variant is a judge of its own: its name holds what differs from the file, so its scores and report card
stand apart from those of the file as it is.
"""

import re
from collections.abc import Mapping
from math import floor
from pathlib import Path

import msgspec

from ragstone.errors import ConfigError, nearest
from ragstone.judging.checking.problems import problem_of
from ragstone.judging.judge import Example, Judge, judge_names, read_judge

OPTIONS = ("scale", "shots", "prompt", "token", "temperature", "samples")
SCALE = re.compile(r"(-?\d+)-(\d+)")


def load_judge(name: str | Path) -> Judge:
    """Return a judge by its name, or from a file of one's own (a path that ends in .toml).

    After an `@` stands how it is to be asked other than its file says: `scale=0-10` (rubrics), `shots=2`
    (examples shown), `prompt=NAME` (one of its other prompts), `token` (the score from the probabilities of
    one token), `temperature=0.7`, `samples=5`; several are joined by commas. Raises ConfigError naming the
    nearest names, or file, line and fix.
    """
    judge = read_variant(name)
    if judge.members:
        from ragstone.judging.combined.members import check_members  # which reads the members by this module

        check_members(judge, name)
    return judge


def read_variant(name: str | Path) -> Judge:
    """Return a judge as load_judge does, whatever its members are."""
    base, options = options_of(name)
    judge = read_judge(base)
    return vary(judge, options) if options else judge


def options_of(name: str | Path) -> tuple[str, dict[str, str]]:
    """Return the judge that a name varies, and option -> value, in the order of OPTIONS.

    Raises ConfigError.
    """
    base, at, options = _parted(str(name))
    return base, _read(str(name), options) if at else {}


def _parted(name: str) -> tuple[str, str, str]:
    """Return the judge, the `@` if there is one, and the options. A folder's name may hold an `@` too."""
    if name in judge_names():
        return name, "", ""
    before, at, options = name.rpartition("@")
    return (before, at, options) if at and not options.endswith(".toml") else (name, "", "")


def _read(name: str, options: str) -> dict[str, str]:
    """Return option -> value, in the order of OPTIONS. Raises ConfigError."""
    given: dict[str, str] = {}
    for text in options.split(","):
        key, _, value = (part.strip() for part in text.partition("="))
        if key not in OPTIONS:
            raise ConfigError(f"judge {name!r}: unknown option {key!r}. {nearest(key, OPTIONS)}")
        if key in given:
            raise ConfigError(f"judge {name!r}: {key} is given twice.")
        if (key == "token") == bool(value):
            raise ConfigError(f"judge {name!r}: write {'token alone' if key == 'token' else f'{key}=VALUE'}.")
        given[key] = value
    return {key: given[key] for key in OPTIONS if key in given}


def vary(judge: Judge, options: Mapping[str, str]) -> Judge:
    """Return the judge, asked as the options say. Raises ConfigError for what this judge cannot do."""
    changed: dict[str, object] = {}
    for key, value in options.items():
        changed |= _change(judge, key, value)
    said = ",".join(f"{key}={value}" if value else key for key, value in options.items())
    changed |= {"name": f"{judge.name}@{said}", "metric": judge.measures}
    varied = msgspec.structs.replace(judge, **changed)
    if "scale" in options:
        examples = [_rescaled(example, judge, varied) for example in judge.examples]
        varied = msgspec.structs.replace(varied, examples=examples)
    problem = problem_of(varied)
    if problem:
        raise ConfigError(f"judge {varied.name!r}: {problem}")
    return varied


def _change(judge: Judge, key: str, value: str) -> dict[str, object]:
    """Return the fields that one option changes."""
    if key == "token":
        return {"reply": "token"}
    if key == "prompt":
        if value not in judge.prompts:
            known = nearest(value, judge.prompts) if judge.prompts else "It has one prompt only."
            raise ConfigError(f"judge {judge.name!r} has no prompt {value!r}. {known}")
        return {"prompt": judge.prompts[value]}
    if key == "scale":
        return {"scale": _scale(judge, value)}
    if key == "shots" and value.isdecimal() and int(value) > len(judge.examples):
        raise ConfigError(f"judge {judge.name!r}: shots={value}, and its file holds {len(judge.examples)}.")
    field = {"shots": int, "samples": int, "temperature": float}[key]
    try:
        number = field(value)
    except ValueError:
        raise ConfigError(f"judge {judge.name!r}: {key}={value!r} is no number that fits.") from None
    lowest = 1 if key == "samples" else 0
    if not number >= lowest or (key == "temperature" and number > 2):
        bounds = "from 0 to 2" if key == "temperature" else f"{lowest} or more"
        raise ConfigError(f"judge {judge.name!r}: {key}={value} is out of range: give {bounds}.")
    return {key: number}


def _scale(judge: Judge, value: str) -> tuple[float, float]:
    found = SCALE.fullmatch(value)
    if judge.kind != "rubric":
        raise ConfigError(f"judge {judge.name!r} is no rubric: its scale is fixed.")
    if found and int(found[1]) >= int(found[2]):
        raise ConfigError(
            f"judge {judge.name!r}: scale={value}: give the lower score first, then a higher one."
        )
    if not found:
        raise ConfigError(f"judge {judge.name!r}: scale={value!r}. Write two whole numbers, e.g. scale=0-10.")
    return float(found[1]), float(found[2])


def _rescaled(example: Example, judge: Judge, varied: Judge) -> Example:
    """Return the example with its scores on the new scale, rounded to whole numbers, halves up."""
    (low, high), (new_low, new_high) = judge.scale, varied.scale

    def moved(score: float) -> float:
        return float(floor(new_low + (score - low) / (high - low) * (new_high - new_low) + 0.5))

    expected = example.expected
    if isinstance(expected, dict):
        return msgspec.structs.replace(
            example, expected={name: moved(score) for name, score in expected.items()}
        )
    if isinstance(expected, int | float) and not isinstance(expected, bool):
        return msgspec.structs.replace(example, expected=moved(expected))
    return example
