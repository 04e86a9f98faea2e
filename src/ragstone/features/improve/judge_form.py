"""The text of a judge or a prompt as fields of a form: what each key is called, and how it is typed.

The text stays what is kept: a field is one value of it, read and written in place, so that comments and keys
that no field shows are not lost.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import msgspec

from ragstone.features.improve._toml_text import Place, place_on, with_value
from ragstone.kernel.config import parse_toml
from ragstone.kernel.errors import ConfigError
from ragstone.kernel.judging.judge import KINDS, type_of_kind
from ragstone.kernel.systems.prompting import AnsweringPrompt

Input = Literal["line", "text", "prompt", "number", "pair", "words", "lines", "choice", "fixed"]
Spec = tuple[str, str, Input, str]
"""A key, what it is called, how it is typed, and what it is."""

NAMED = re.compile(r"\{(\w+)\}")
MISSING = re.compile(r"the key '(\w+)' is missing")
FIELDS: tuple[Spec, ...] = (
    ("name", "Name", "line", "lowercase letters, digits and _"),
    ("kind", "Kind", "choice", ""),
    ("description", "What it measures", "line", "a sentence for the list of judges; no model sees it"),
    ("prompt", "Prompt", "prompt", "say what each score means; Ragstone adds the form of the reply"),
    ("verify", "Second prompt, which checks statements", "prompt", ""),
    ("inputs", "Reads", "words", "what it needs from a row; follows the prompt, if there is one"),
    ("scale", "Scale", "pair", "the lowest and the highest score"),
    ("aggregate", "Criteria become one score by", "choice", ""),
    ("combine", "Members become one score by", "choice", ""),
    ("measure", "Measure", "line", ""),
    ("check", "Check", "line", "such as max_words, regex, contains_all"),
    ("order", "Order of steps", "choice", ""),
    ("threshold", "Threshold", "number", ""),
)
MORE: tuple[Spec, ...] = (
    ("metric", "Metric, if it has another name", "line", ""),
    ("source", "Source of the idea or the wording", "line", ""),
    ("best", "Which end is good", "choice", ""),
    ("reply", "Reply", "choice", "token: the score from the probabilities of one token"),
    ("split", "Who splits an answer into statements", "choice", ""),
    ("empty", "An answer that states nothing is", "choice", ""),
    ("temperature", "Temperature", "number", "empty: the model's"),
    ("samples", "Times each row is asked", "number", "above 1 needs a temperature"),
    ("shots", "Examples shown", "number", "empty: all"),
    ("max_tokens", "Longest reply, in tokens", "number", ""),
    ("separator", "Separator of alternatives in a reference", "line", ""),
)
CRITERION: tuple[Spec, ...] = (
    ("name", "Its name", "line", ""),
    ("description", "What it asks", "prompt", ""),
    ("grades", "What each grade means, lowest first", "lines", "one per line"),
    ("weight", "Weight", "number", "empty: 1"),
)
NEW_CRITERION = {"description": "does {answer} …?", "grades": ["not at all.", "in part.", "fully."]}
IN_TEXT = {"members": "members", "examples": "examples", "tools": "tools", "curve": "points of a curve"}
MEANINGS = {
    "question": "the question",
    "answer": "the answer under test",
    "reference": "the right answer, of rows that have one",
    "contexts": "the texts that the answer was made from",
    "conversation": "the turns of a conversation",
    "steps": "what an agent called, with the results",
    "role": "what the system is told to be",
}
ANSWER_PROMPT: tuple[Spec, ...] = (
    ("name", "Name", "line", "lowercase letters, digits and _"),
    ("prompt", "Prompt", "prompt", "name {question}; without {contexts} the passages are not sent"),
)


class FormField(msgspec.Struct, frozen=True, kw_only=True):
    """A field. place: of the value in the text; value: as it is typed, of a pair both ends.

    more: among those that are seldom set. group: the words over fields that belong together. removes: the
    place that a button beside it takes out.
    """

    place: list[str | int]
    label: str
    input: Input
    value: str | list[str]
    hint: str = ""
    choices: list[str] = []
    more: bool = False
    group: str = ""
    removes: list[str | int] | None = None


class FormAdding(msgspec.Struct, frozen=True, kw_only=True):
    """A button that adds a value. asks: whether a name is typed beside it."""

    place: list[str | int]
    label: str
    asks: bool = False


class FormVariable(msgspec.Struct, frozen=True, kw_only=True):
    """A name that the prompt may hold in braces, and what is put there."""

    name: str
    meaning: str


class JudgeForm(msgspec.Struct, frozen=True, kw_only=True):
    """A text as a form. in_text: what is set in the text alone."""

    fields: list[FormField] = []
    adding: list[FormAdding] = []
    variables: list[FormVariable] = []
    in_text: list[str] = []


class FieldChange(msgspec.Struct, frozen=True, kw_only=True):
    """A value that was typed into a field; None takes it out, adds: it is one more of a table or a list."""

    place: list[str | int]
    value: str | list[str] | None
    adds: bool = False


def form_of(text: str, file: Path, *, answers: bool = False) -> JudgeForm | None:
    """Return a text as a form; None where it is no TOML. answers: it is an answer prompt, not a judge."""
    try:
        values = parse_toml(text, file)
    except ConfigError:
        return None
    if answers:
        meant = {"question": MEANINGS["question"], "contexts": "the passages that were found"}
        fields = [_field(spec, (), values, AnsweringPrompt) for spec in ANSWER_PROMPT]
        fields += [
            _field(spec, (), values, AnsweringPrompt, more=True)
            for spec in MORE
            if spec[0] in _keys(AnsweringPrompt)
        ]
        return JudgeForm(fields=fields, variables=_variables(meant))
    kind = values.get("kind")
    struct = type_of_kind(kind) if kind in KINDS else None
    keys = _keys(struct) if struct else {"name", "kind"}
    fields = [_field(spec, (), values, struct) for spec in FIELDS if spec[0] in keys]
    fields += list(_wordings(values)) if "prompts" in keys else []
    fields += list(_labels(values)) if "labels" in keys else []
    fields += list(_criteria(values)) if "criteria" in keys else []
    fields += [_field(spec, (), values, struct, more=True) for spec in MORE if spec[0] in keys]
    adding = []
    if "labels" in keys:
        adding.append(FormAdding(place=["labels"], label="Add a label", asks=True))
    if "criteria" in keys:
        adding.append(FormAdding(place=["criteria"], label="Add a criterion", asks=True))
    return JudgeForm(
        fields=fields,
        adding=adding,
        variables=_variables(_meanings(values, kind)) if "prompt" in keys else [],
        in_text=[label for key, label in IN_TEXT.items() if key in keys],
    )


def _keys(struct: type[msgspec.Struct]) -> set[str]:
    return {*struct.__struct_fields__, "kind"}


def _variables(meanings: dict[str, str]) -> list[FormVariable]:
    return [FormVariable(name=name, meaning=meaning) for name, meaning in meanings.items()]


def _meanings(values: dict[str, Any], kind: object) -> dict[str, str]:
    """Return what a prompt of this kind may name -> what it is."""
    meanings = dict(MEANINGS)
    inputs = values.get("inputs")
    for name in inputs if isinstance(inputs, list) else []:
        meanings.setdefault(str(name), "that column of the rows")
    if kind == "pairwise":
        pair = {"answer_1": "one answer", "answer_2": "the other answer"}
        first = ("question", "reference", *(name for name in meanings if name not in MEANINGS))
        return {**pair, **{name: meanings[name] for name in first}}
    if kind in ("statements", "citations"):
        meanings["statements"] = "the statements of the answer, to be checked"
    return meanings


def _field(
    spec: Spec,
    within: Place,
    values: object,
    struct: type | None,
    *,
    more: bool = False,
) -> FormField:
    key, label, kind, hint = spec
    value = values.get(key) if isinstance(values, dict) else None
    choices: list[str] = []
    if key == "kind":
        choices = [name for name in KINDS if name != "function" or value == "function"]
    elif kind == "choice" and struct is not None:
        own = next(each for each in msgspec.structs.fields(struct) if each.name == key)
        choices = [str(option) for option in get_args(own.type)] if get_origin(own.type) is Literal else []
        if value is None and own.default is not msgspec.NODEFAULT:
            value = own.default
    low_high = getattr(struct, "fixed_scale", None) if key == "scale" else None
    if low_high and value == [*low_high]:
        ends = f"{low_high[0]:g} to {low_high[1]:g}"
        return FormField(place=[key], label=label, input="fixed", value=ends, hint="always so for this kind")
    return FormField(
        place=[*within, key],
        label=label,
        input=kind,
        value=_typed(value, kind),
        hint=hint,
        choices=choices,
        more=more,
    )


def _wordings(values: dict[str, Any]) -> Iterator[FormField]:
    prompts = values.get("prompts")
    for name, wording in prompts.items() if isinstance(prompts, dict) else ():
        path: list[str | int] = ["prompts", name]
        yield FormField(
            place=path,
            label=f"Other wording: {name}",
            input="prompt",
            value=_typed(wording, "prompt"),
            removes=path,
        )


def _labels(values: dict[str, Any]) -> Iterator[FormField]:
    labels = values.get("labels")
    for name, score in labels.items() if isinstance(labels, dict) else ():
        path: list[str | int] = ["labels", name]
        yield FormField(
            place=path,
            label=name,
            input="number",
            value=_typed(score, "number"),
            group="Labels and their scores",
            removes=path,
        )


def _criteria(values: dict[str, Any]) -> Iterator[FormField]:
    criteria = values.get("criteria")
    for number, criterion in enumerate(criteria if isinstance(criteria, list) else []):
        for spec in CRITERION:
            field = _field(spec, ("criteria", number), criterion, None)
            removes: list[str | int] | None = ["criteria", number] if spec[0] == "name" else None
            yield msgspec.structs.replace(field, group=f"Criterion {number + 1}", removes=removes)


def _typed(value: object, kind: Input) -> str | list[str]:
    """Return a value as it is typed into a field."""
    if kind == "pair":
        return [_plain(end) for end in value] if isinstance(value, list) and len(value) == 2 else ["", ""]
    if kind == "words":
        return ", ".join(map(_plain, value)) if isinstance(value, list) else ""
    if kind == "lines":
        return "\n".join(map(_plain, value)) if isinstance(value, list) else ""
    return _plain(value).strip("\n") if kind == "prompt" else _plain(value)


def _plain(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.17g}" if float(f"{value:g}") != value else f"{value:g}"
    return str(value)


def changed_text(text: str, changes: Iterable[FieldChange], file: Path, *, answers: bool = False) -> str:
    """Return a text with what was typed into fields; inputs follow the names in the prompts.

    Raises ConfigError for what cannot be such a value, with the place of the field as its `place`.
    """
    for change in changes:
        path = tuple(change.place)
        try:
            text = _changed(text, path, change, file, answers=answers)
        except ConfigError as mistake:
            raise FieldError(str(mistake), change.place) from None
    return text


class FieldError(ConfigError):
    """What was typed into a field cannot be its value. place: of the field."""

    def __init__(self, words: str, place: Sequence[str | int]) -> None:
        super().__init__(words)
        self.place = [*place]


def _changed(text: str, path: Place, change: FieldChange, file: Path, *, answers: bool) -> str:
    if change.adds:
        return _added(text, path, str(change.value or "").strip(), file)
    if change.value is None:
        return with_value(text, path, None, file)
    form = form_of(text, file, answers=answers)
    field = next((each for each in form.fields if tuple(each.place) == path), None) if form else None
    if field is None:
        raise ConfigError("the text has changed and no longer has this field.")
    if field.value == change.value:
        return text
    text = with_value(text, path, _read(change.value, field), file)
    return _with_inputs(text, file) if field.input in ("prompt", "lines") and not answers else text


def _added(text: str, path: Place, name: str, file: Path) -> str:
    """Return the text with another label or criterion. Raises ConfigError for a name that is taken."""
    if not name:
        raise ConfigError("type a name first.")
    existing = parse_toml(text, file).get(str(path[0])) or []
    if path == ("labels",):
        if name in existing:
            raise ConfigError(f"there is a label {name} already.")
        return with_value(text, ("labels", name), 0, file)
    if path == ("criteria",):
        if any(isinstance(entry, dict) and entry.get("name") == name for entry in existing):
            raise ConfigError(f"there is a criterion {name} already.")
        return _with_inputs(
            with_value(text, ("criteria", len(existing)), {"name": name, **NEW_CRITERION}, file), file
        )
    raise ConfigError("nothing can be added there.")


def _read(value: str | list[str], field: FormField) -> object:
    """Return what a field's text stands for; None for one that is left empty. Raises ConfigError."""
    if field.input == "pair":
        ends = value if isinstance(value, list) else []
        if len(ends) != 2:
            raise ConfigError("give the lowest and the highest score.")
        return [_number(end) for end in ends]
    typed = value if isinstance(value, str) else ""
    if field.input == "number":
        return _number(typed) if typed.strip() else None
    if field.input == "words":
        return [word for word in re.split(r"[\s,]+", typed) if word]
    if field.input == "lines":
        return [line.strip() for line in typed.splitlines() if line.strip()]
    if field.input == "prompt":
        body = typed.strip("\n")
        return f"{body}\n" if "\n" in body else body
    return " ".join(typed.split()) or None


def _number(text: str) -> int | float:
    try:
        number = float(text.replace(",", "."))
    except ValueError:
        number = float("nan")
    if not abs(number) < 1e15:
        raise ConfigError(f"{text.strip()!r} is not a number." if text.strip() else "type a number.")
    return int(number) if number == int(number) else number


def _with_inputs(text: str, file: Path) -> str:
    """Return the text with what its prompts name as its inputs: those declared first, in their order.

    A name that no row is known to have is left to whoever typed it: they declare it, or mend it.
    """
    values = parse_toml(text, file)
    inputs = values.get("inputs")
    named = set(NAMED.findall("\n".join(_texts(values))))
    if values.get("kind") == "pairwise" and named & {"answer_1", "answer_2"}:
        named.add("answer")
    if not isinstance(inputs, list) or not named & {*MEANINGS, *map(str, inputs)}:
        return text
    still_named = [name for name in inputs if name in named]
    wanted = still_named + [name for name in MEANINGS if name in named and name not in still_named]
    return with_value(text, ("inputs",), wanted, file) if wanted != inputs else text


def _texts(values: dict[str, Any]) -> Iterator[str]:
    """Yield the texts of a judge's file in which its inputs are named."""
    prompts, criteria = values.get("prompts"), values.get("criteria")
    yield from (text for text in (values.get("prompt"), values.get("verify")) if isinstance(text, str))
    yield from (str(text) for text in prompts.values()) if isinstance(prompts, dict) else ()
    for criterion in criteria if isinstance(criteria, list) else []:
        if isinstance(criterion, dict):
            yield str(criterion.get("description", ""))
            yield from map(str, criterion.get("grades") or [])


def place_at_fault(
    text: str, problem: str, line: int | None, changes: Sequence[FieldChange] = ()
) -> list[str | int] | None:
    """Return the field that an error of the loader is about; None where that cannot be told.

    changes: what was typed just now. An error about a table of which a value was typed is about that value.
    """
    if missing := MISSING.search(problem):
        return [missing[1]]
    path = place_on(text, line) if line else None
    within = [change.place for change in changes if path and change.place[:1] == [path[0]]]
    if path and len(path) > 1 and within and not changes[-1].adds:
        return within[-1]
    return [*path] if path else None
