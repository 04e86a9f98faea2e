"""One judge file, asked in other ways: `rubric@scale=0-10,shots=2`, `answered@token`, `true_false@samples=5`.

A variant is a judge of its own: its name holds what differs from the file, so its scores and report card
stand apart from those of the file as it is.
"""

import re
from collections.abc import Iterable, Mapping
from math import floor
from pathlib import Path
from typing import Any

import msgspec

from ragstone.kernel.config.python_function import Function, names_function
from ragstone.kernel.errors import ConfigError, checks_arguments, nearest
from ragstone.kernel.judging.fields import ORDERS, Example, Member, PromptedJudge, Scale
from ragstone.kernel.judging.judge import Judge, idle_key, judge_names, read_judge
from ragstone.kernel.trust import UntrustedCode, check_trust, trusting

OPTIONS = (
    "scale",
    "shots",
    "prompt",
    "criteria",
    "empty",
    "split",
    "token",
    "verdict",
    "temperature",
    "samples",
    "expect",
    "order",
    "layout",
    "threshold",
)
FILE = re.compile(r"(.*\.toml|.*\.py:[\w.]+)(@.*)?", re.DOTALL)
WORDS = {
    "empty": ("not_applicable", "one"),
    "split": ("model", "sentences"),
    "order": ORDERS,
    "layout": ("contexts_first",),
}  # option -> what it may be
REPLIES = {"token": "token", "verdict": "reasoned"}  # option without a value -> the reply that is asked for
SCALE = re.compile(r"(-?\d+)-(\d+)")


@checks_arguments
def load_judge(name: str | Path, *, trust: bool = False) -> Judge:
    """Return a judge by its name, from a file of one's own (a path that ends in .toml), or from a function.

    A function is named `module:function`, as Python imports it from the current folder too, or
    `path/to/file.py:function`. After an `@` stands how it is to be asked other than its file says:
    `scale=0-10` (rubrics), `shots=2` (examples shown), `prompt=NAME` (one of its other prompts),
    `criteria=A+B` (those of a rubric, or `all`), `empty=one` (an answer that states nothing where nothing was
    retrieved), `split=sentences` (an answer's statements are its sentences), `order=in_order` (of the steps
    of an agent), `layout=contexts_first` (what judges share comes first in the prompt, for a provider's
    cache), `token` (the score from the probabilities of one token), `verdict` (a reason and a verdict, of a
    judge whose file asks for a token), `temperature=0.7`,
    `samples=5`, `expect=50` (of an assertion), `threshold=0.8` (yes or no: is the score reached?); several
    are joined by commas. trust: a file from outside the project (the current folder, and that of
    ragstone.toml) may run the Python code that it names. Raises ConfigError naming the nearest names, or
    file, line and fix; UntrustedCode, which is one, for such a file without `trust`.
    """
    with trusting(trust):
        return load_members(_read_variant(name), name)


AnyJudge = str | Path | Judge | Function


def load_judges(names: Iterable[AnyJudge]) -> list[Judge]:
    """Return judges by name, by path, as they are or as functions, each once.

    Raises ConfigError for two of one name.
    """
    if isinstance(names, str | Path | Judge) or callable(names):
        single: Any = names  # against its type
        alone = single.name if isinstance(single, Judge) else str(single)
        raise ConfigError(f"judges: give a list, even of one: [{alone!r}]")
    judges: dict[str, Judge] = {}
    for name in names:
        if isinstance(name, Judge):
            judge = load_members(name, name.name)
        elif isinstance(name, str | Path):
            judge = load_judge(name)
        else:
            from ragstone.kernel.judging.function.judge import judge_of  # most judges are files

            judge = judge_of(name)
        if judges.setdefault(judge.name, judge) != judge:
            raise ConfigError(
                f"two different judges are named {judge.name!r}, and their scores could not be told apart. "
                "Give one of the files another `name`."
            )
    return list(judges.values())


def load_members(judge: Judge, name: str | Path, above: tuple[str, ...] = ()) -> Judge:
    """Return the judge with its members loaded, at any depth.

    above: the judges that this one is a member of, the outermost first. Raises ConfigError, naming the file,
    for members that cannot be loaded or do not fit the whole.
    """
    if not judge.members:
        return judge.loaded()
    trail = (*above, placed_name(str(name)))
    members = []
    for member in judge.members:
        if placed_name(member.judge) in trail:
            chain = " > ".join((*trail, placed_name(member.judge)))
            raise ConfigError(f"{name}: a judge cannot be a member of itself: {chain}. Remove the last one.")
        if member.loaded is not msgspec.UNSET:
            members.append(member)
            continue
        if names_function(member.judge) and (file := FILE.fullmatch(str(name))):
            folder = Path(file[1].partition(".py:")[0]).expanduser().absolute().parent
            check_trust(folder, f"the judge {name} runs Python code ({member.judge})")
        try:
            inner = _read_variant(member.judge)
        except UntrustedCode:
            raise
        except ConfigError as mistake:
            raise ConfigError(f"{name}: member {member.judge!r} cannot be loaded. {mistake}") from None
        loaded = load_members(inner, member.judge, trail)
        problem = judge.problem_of_member(member, loaded)
        if problem:
            raise ConfigError(f"{name}: member {member.judge!r} {problem}")
        members.append(msgspec.structs.replace(member, loaded=loaded))
    return msgspec.structs.replace(judge, members=members)


def placed_name(name: str) -> str:
    """Return one name for a file, however its path is written; other names as they are."""
    match = FILE.fullmatch(name)
    return f"{Path(match[1]).expanduser().resolve()}{match[2] or ''}" if match else name


def _read_variant(name: str | Path) -> Judge:
    """Return a judge as load_judge does, its members not loaded."""
    base, options = options_of(name)
    threshold = options.pop("threshold", None)
    judge = read_judge(base)
    judge = vary(judge, options) if options else judge
    if threshold is None:
        return judge
    spelling = ",".join(f"{key}={value}" if value else key for key, value in options.items())
    return _with_threshold(judge, f"{base}@{spelling}" if spelling else base, threshold)


def _with_threshold(judge: Judge, name: str, threshold: str) -> Judge:
    """Return the judge that says whether the score of another one reaches a threshold."""
    from ragstone.kernel.judging.assertion import THRESHOLD, AssertionJudge

    try:
        expected = float(threshold)
    except ValueError:
        raise ConfigError(f"judge {name!r}: threshold={threshold!r} is not a number.") from None
    return AssertionJudge(
        name=f"{judge.name}{',' if '@' in judge.name else '@'}threshold={threshold}",
        version=judge.version,
        inputs=list(judge.inputs),
        source=judge.source,
        metric=judge.measures,
        check=THRESHOLD,
        expect=expected,
        members=[Member(judge=name)],
    )


def options_of(name: str | Path) -> tuple[str, dict[str, str]]:
    """Return the judge that a name varies, and option -> value, in the order of OPTIONS.

    Raises ConfigError.
    """
    name = str(name)
    base, at, options = name.rpartition("@")
    in_folder = options.endswith(".toml") or ".py:" in options  # whose name holds an `@`
    if not at or in_folder or name in judge_names():
        return name, {}
    return base, _read(name, options)


def _read(name: str, options: str) -> dict[str, str]:
    """Return option -> value, in the order of OPTIONS. Raises ConfigError."""
    chosen: dict[str, str] = {}
    for text in options.split(","):
        key, _, value = (part.strip() for part in text.partition("="))
        if key not in OPTIONS:
            raise ConfigError(f"judge {name!r}: unknown option {key!r}. {nearest(key, OPTIONS)}")
        if key in chosen:
            raise ConfigError(f"judge {name!r}: {key} is given twice.")
        if (key in REPLIES) == bool(value):
            raise ConfigError(
                f"judge {name!r}: write {f'{key} alone' if key in REPLIES else f'{key}=VALUE'}."
            )
        chosen[key] = value
    if REPLIES.keys() <= chosen.keys():
        raise ConfigError(f"judge {name!r}: token and verdict exclude each other. Leave one out.")
    return {key: chosen[key] for key in OPTIONS if key in chosen}


def vary(judge: Judge, options: Mapping[str, str]) -> Judge:
    """Return the judge, asked as the options say. Raises ConfigError for what this judge cannot do."""
    changed: dict[str, object] = {}
    for key, value in options.items():
        changed |= _change(judge, key, value)
    spelling = ",".join(f"{key}={value}" if value else key for key, value in options.items())
    changed |= {"name": f"{judge.name}@{spelling}", "metric": judge.measures}
    varied = msgspec.structs.replace(judge, **changed)
    if wrong := next(varied.problems(), None):
        raise ConfigError(f"judge {varied.name!r}: {wrong[1]}")
    return varied


def _change(judge: Judge, key: str, value: str) -> dict[str, object]:
    """Return the fields that one option changes."""
    if key == "scale":
        return _rescaled(judge, value)
    field = "reply" if key in REPLIES else key
    if idle := idle_key(judge.kind, field, key):
        raise ConfigError(f"judge {judge.name!r}: {idle}")
    if key in REPLIES:
        return {"reply": REPLIES[key]}
    if key == "prompt" and isinstance(judge, PromptedJudge):
        return {"prompt": _wording(judge, value)}
    if key == "criteria":
        return {"optional": _passed_over(judge, value)}
    if key in WORDS:
        if value not in WORDS[key]:
            raise ConfigError(f"judge {judge.name!r}: {key}={value!r}. {nearest(value, WORDS[key])}")
        return {key: value}
    if key == "expect":
        return {"expect": _expected(judge, value)}
    number = _number(judge, key, value)
    if key == "shots":
        _check_shots(judge, number, value)
    return {key: number}


def _check_shots(judge: Judge, number: float, value: str) -> None:
    """Raise ConfigError where the judge's file holds fewer examples."""
    from ragstone.kernel.judging.one_call import OneCallJudge  # see KINDS of judge.py

    if isinstance(judge, OneCallJudge) and number > len(judge.examples):
        raise ConfigError(f"judge {judge.name!r}: shots={value}, and its file holds {len(judge.examples)}.")


def _wording(judge: PromptedJudge, value: str) -> str:
    """Return another prompt of the judge by its name."""
    if value not in judge.prompts:
        known = nearest(value, judge.prompts) if judge.prompts else "It has one prompt only."
        raise ConfigError(f"judge {judge.name!r} has no prompt {value!r}. {known}")
    return judge.prompts[value]


def _passed_over(judge: Judge, value: str) -> list[str]:
    """Return the criteria of a rubric that a choice such as `intent+topic`, or `all`, leaves out."""
    from ragstone.kernel.judging.rubric import RubricJudge  # see KINDS of judge.py

    names = [criterion.name for criterion in judge.criteria] if isinstance(judge, RubricJudge) else []
    chosen = names if value == "all" else [name.strip() for name in value.split("+")]
    unknown = next((name for name in chosen if name not in names), None)
    if unknown is not None:
        raise ConfigError(f"judge {judge.name!r} has no criterion {unknown!r}. {nearest(unknown, names)}")
    return [name for name in names if name not in chosen]


def _expected(judge: Judge, value: str) -> object:
    from ragstone.kernel.judging.assertion import AssertionJudge, read_expected  # see KINDS of judge.py

    return read_expected(judge.check, value) if isinstance(judge, AssertionJudge) else value


def _number(judge: Judge, key: str, value: str) -> float:
    try:
        number = float(value) if key == "temperature" else int(value)
    except ValueError:
        raise ConfigError(f"judge {judge.name!r}: {key}={value!r} is not a number that fits.") from None
    lowest = 1 if key == "samples" else 0
    if not number >= lowest or (key == "temperature" and number > 2):
        bounds = "from 0 to 2" if key == "temperature" else f"{lowest} or more"
        raise ConfigError(f"judge {judge.name!r}: {key}={value} is out of range: give {bounds}.")
    return number


def _rescaled(judge: Judge, value: str) -> dict[str, object]:
    """Return scale and examples of a rubric on another scale."""
    from ragstone.kernel.judging.rubric import RubricJudge  # see KINDS of judge.py

    match = SCALE.fullmatch(value)
    if not isinstance(judge, RubricJudge):
        raise ConfigError(f"judge {judge.name!r} is not a rubric: its scale is fixed.")
    if match and int(match[1]) >= int(match[2]):
        raise ConfigError(
            f"judge {judge.name!r}: scale={value}: give the lower score first, then a higher one."
        )
    if not match:
        raise ConfigError(f"judge {judge.name!r}: scale={value!r}. Write two whole numbers, e.g. scale=0-10.")
    scale = float(match[1]), float(match[2])
    return {"scale": scale, "examples": [_moved(example, judge.scale, scale) for example in judge.examples]}


def _moved(example: Example, before: Scale, scale: Scale) -> Example:
    """Return the example with its scores on the new scale, rounded to whole numbers, halves up."""
    (low, high), (new_low, new_high) = before, scale

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
