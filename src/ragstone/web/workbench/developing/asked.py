"""What the page of a judge sends, checked: a draft, the labelled set, the model, and what may be spent."""

import math
import re

import msgspec

from ragstone.agreement.developing import Scale
from ragstone.config import Settings, choose
from ragstone.errors import ConfigError
from ragstone.flows.develop.judge_files import JudgeFile, before_of, parse_draft, run_version
from ragstone.flows.develop.labelled import open_set
from ragstone.flows.develop.running import Task
from ragstone.flows.develop.store import DevelopmentStore
from ragstone.judging import Judge, load_judge
from ragstone.judging.leaves import asks_default
from ragstone.llm import Caps, parse_caps
from ragstone.llm.providers import providers

LINE = re.compile(r"\.toml:(\d+):|\bline (\d+)")


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """How a judge is to be run. threshold, mapping: how scores meet labels; model: "" for the one set."""

    labels: str
    threshold: str = ""
    mapping: str = ""
    model: str = ""
    budget: str = ""


class AskedDraft(Asked, frozen=True, kw_only=True):
    """A draft to run. base: the number of the last draft when the page was loaded; 0 for none."""

    text: str
    base: int


class Text(msgspec.Struct, frozen=True):
    """A draft's text, to be looked at alone."""

    text: str


class ToFreeze(msgspec.Struct, frozen=True):
    """A draft to freeze, and what changed."""

    draft: int
    change: str


def scale_of(asked: Asked) -> Scale:
    """Return how scores meet labels. Raises ConfigError for what is no number."""
    mapping = {}
    for pair in filter(str.strip, asked.mapping.split(",")):
        label, equals, score = pair.partition("=")
        if not equals:
            raise ConfigError(
                f"mapping {pair.strip()!r}: write LABEL=SCORE, with commas between, e.g. 1=0, 5=1."
            )
        mapping[_number(label, "mapping")] = _number(score, "mapping")
    threshold = _number(asked.threshold, "threshold") if asked.threshold.strip() else None
    return Scale(threshold=threshold, mapping=mapping or None)


def _number(text: str, what: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ConfigError(f"{what} {text.strip()!r} is no number.")
    return number


def settings_of(settings: Settings, asked: Asked) -> Settings:
    """Return the settings with the model that was chosen. Raises ConfigError for one that is not offered."""
    if asked.model and asked.model not in models_of(settings):
        raise ConfigError(
            f'model {asked.model!r} is not in ragstone.toml. Add its table, [models."{asked.model}"].'
        )
    return choose(settings, "judge", model=asked.model or None)


def models_of(settings: Settings) -> list[str]:
    """Return the models that may be asked: the judge's own first, then those with a table, if any can be."""
    own = [settings.judge.model] if settings.judge.model else []
    known = [name for name in settings.models if name.partition("/")[0] in providers()]
    return list(dict.fromkeys([*own, *known]))


def caps_of(asked: Asked) -> Caps:
    """Return the caps of a budget as typed. Raises ConfigError."""
    return parse_caps(asked.budget.strip() or None)


def check_model(judge: Judge, settings: Settings) -> None:
    """Raise ConfigError where a judge asks a model, and none is set."""
    if asks_default(judge) and settings.judge.model is None:
        raise ConfigError(
            f'{judge.name} asks a model, and none is set. Write model = "openai/gpt-4o-mini", or another, in '
            "the table [judge] of ragstone.toml, and start the workbench again."
        )


def task_of(file: JudgeFile, text: str, settings: Settings, asked: Asked) -> Task:
    """Return what a draft's run is: under its next number, against the version before.

    Raises ConfigError for a text that is no judge, or is of another name; DataError for labels.
    """
    draft = parse_draft(text, file.path)
    if draft.name != file.name:
        raise ConfigError(
            f'{file.name}.toml: the text says name = "{draft.name}", and this page develops {file.name}. Put '
            "the name back, or write the text to a file of its own in the folder judges."
        )
    check_model(draft, settings)
    labelled = open_set(settings, asked.labels)
    return Task(
        draft=msgspec.structs.replace(draft, version=run_version(file.path, draft, text)),
        before=before_of(file.path, text),
        labelled=labelled,
        parts=DevelopmentStore(settings).split(labelled),
        scale=scale_of(asked),
    )


def look_task(file: JudgeFile, settings: Settings, asked: Asked) -> Task:
    """Return a look at the test part, of the judge's file as it stands. Raises ConfigError, DataError."""
    if not file.path.is_file():
        raise ConfigError(
            f"{file.name} was never frozen: freeze a version first, then look at the test part."
        )
    judge = load_judge(file.path)
    check_model(judge, settings)
    labelled = open_set(settings, asked.labels)
    parts = DevelopmentStore(settings).split(labelled)
    return Task(draft=judge, before=None, labelled=labelled, parts=parts, scale=scale_of(asked))


def line_in(words: str) -> int | None:
    """Return the line that a message of the loader names."""
    found = LINE.search(words)
    return int(found[1] or found[2]) if found else None
