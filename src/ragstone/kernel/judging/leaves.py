"""The judges within a judge, at any depth, and the models that they ask."""

from collections.abc import Iterable, Iterator

import msgspec

from ragstone.kernel.judging.fields import JudgeFields
from ragstone.kernel.records import NO_MODEL


def leaves(judge: JudgeFields, model: str | None = None) -> Iterator[tuple[JudgeFields, str | None]]:
    """Yield the judges that do the judging and the model named for each, None for that of the whole."""
    if not judge.members:
        yield judge, model
    for member in judge.members:
        yield from leaves(member.inner, member.model or model)


def models_of(judge: JudgeFields) -> set[str]:
    """Return the models that the judge's members name, at any depth."""
    return {model for leaf, model in leaves(judge) if model and leaf.needs_model}


def members_of(judges: Iterable[JudgeFields]) -> list[str]:
    """Return the models that members of these judges name, each once, sorted."""
    return sorted(set().union(*map(models_of, judges)))


def asks_default(judge: JudgeFields) -> bool:
    """Return whether the judge asks a model that its file does not name."""
    return any(leaf.needs_model and model is None for leaf, model in leaves(judge))


def read_no_answer(judges: Iterable[JudgeFields]) -> bool:
    """Return whether no judge reads an answer: then rows without one can be judged."""
    return not any(leaf.reads_answer for judge in judges for leaf, _model in leaves(judge))


def model_name(judge: JudgeFields, default: str) -> str:
    """Return what a judgement gives as its model: all that may be asked, joined by ` + `, or `none`.

    It is the same for every row, also for those that a cascade decided without its dear judge.
    """
    asked = dict.fromkeys(model or default for leaf, model in leaves(judge) if leaf.needs_model)
    return " + ".join(asked) or NO_MODEL


def identities(judges: Iterable[JudgeFields]) -> Iterator[JudgeFields]:
    """Yield the judges and, after each, its members at any depth; members are named, wherever files lie.

    Together they are all that decides a judgement: the same on any machine, and another if a member changes.
    """
    for judge in judges:
        named = [
            msgspec.structs.replace(one, judge=one.inner.name, loaded=msgspec.UNSET) for one in judge.members
        ]
        yield msgspec.structs.replace(judge, members=named) if named else judge
        yield from identities(one.inner for one in judge.members)
