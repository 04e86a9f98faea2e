"""A judge is a file: name, version, kind, inputs, scale, and the keys of its kind. This module reads it."""

from pathlib import Path
from typing import Any, get_args

import msgspec

from ragstone.config import convert_section, library_names, parse_toml, read_named
from ragstone.config.loading import line_of
from ragstone.errors import ConfigError, nearest
from ragstone.judging.boolean import BooleanJudge
from ragstone.judging.classify import ClassifyJudge
from ragstone.judging.combined import CascadeJudge, CombinedJudge, JuryJudge
from ragstone.judging.fields import JudgeFields
from ragstone.judging.lexical import LexicalJudge
from ragstone.judging.pairwise import PairwiseJudge
from ragstone.judging.percentage import PercentageJudge
from ragstone.judging.rubric import RubricJudge
from ragstone.judging.similarity import EmbeddingJudge
from ragstone.judging.statements import StatementsJudge

Judge = (
    RubricJudge
    | StatementsJudge
    | PercentageJudge
    | ClassifyJudge
    | BooleanJudge
    | PairwiseJudge
    | LexicalJudge
    | EmbeddingJudge
    | JuryJudge
    | CascadeJudge
)
"""A judge as its file gives it: a type for each kind. Unknown keys are an error."""

KINDS: dict[str, type[JudgeFields]] = {kind.__struct_config__.tag: kind for kind in get_args(Judge)}

# Keys of judges' files, with the value of each where the kind has no such key. The digests of judges in
# manifests and logs are made of all of them, in this order: it stays as it is.
EVERY_KEY: dict[str, object] = {
    **dict.fromkeys(("name", "version", "kind", "inputs", "scale", "source", "best", "metric", "prompt")),
    "prompts": {},
    **dict.fromkeys(("verify", "labels")),
    "criteria": [],
    "aggregate": "mean",
    "examples": [],
    "shots": None,
    "members": [],
    "combine": "mean",
    **dict.fromkeys(("measure", "separator")),
    "reply": "reasoned",
    "temperature": None,
    "samples": 1,
    "max_tokens": 512,
    "tuned_on": [],
    "fitted_with": None,
}


def judge_names() -> list[str]:
    """Return the names of the judges that come with Ragstone."""
    return library_names("ragstone.judging", "library")


def parse_judge(text: str, file: Path) -> Judge:
    """Return the judge that a TOML text describes, its members not loaded; `file` is named in errors.

    Raises ConfigError naming file, line and fix.
    """
    tables = parse_toml(text, file)
    for key in tables:
        if "kind" not in tables and key not in EVERY_KEY:  # perhaps a slip in `kind` itself
            raise ConfigError(
                f"{file}:{line_of(text, [key])}: unknown key {key!r}. {nearest(key, EVERY_KEY)}"
            )
        if idle := idle_key(tables.get("kind"), key):
            raise ConfigError(f"{file}:{line_of(text, [key])}: {idle}")
    judge: Judge = convert_section(tables, Judge, file, text)  # type: ignore[arg-type] # a union is no type
    if found := next(judge.problems(), None):
        key, problem = found
        line = f":{line_of(text, [key])}" if key in tables else ""
        raise ConfigError(f"{file}{line}: {problem}")
    return _placed(judge, file)


def _placed(judge: Judge, file: Path) -> Judge:
    """Return the judge with the files of its members found from its own."""
    if not isinstance(judge, CombinedJudge):
        return judge
    folder = file.expanduser().absolute().parent
    members = [
        msgspec.structs.replace(member, judge=str(folder / Path(member.judge).expanduser()))
        if ".toml" in member.judge
        else member
        for member in judge.members
    ]
    return msgspec.structs.replace(judge, members=members)


def read_judge(name: str | Path) -> Judge:
    """Return a judge as its file gives it, by its name or by the path of a file of one's own.

    Its members are not loaded: see load_judge. Raises ConfigError naming the nearest names, or file, line
    and fix.
    """
    return parse_judge(*read_named(name, "judge", "ragstone.judging", "library"))


def idle_key(kind: object, key: str, named: str = "") -> str | None:
    """Return why a key means nothing for a kind though others have it, with the fix; or None.

    named: what the key is called there, by default its own name.
    """
    own = KINDS.get(str(kind))
    others = [tag for tag, other in KINDS.items() if key in other.__struct_fields__]
    if own is None or key in own.__struct_fields__ or not others:
        return None
    these = " or ".join(filter(None, [", ".join(others[:-1]), others[-1]]))
    why = f"{named or key} means nothing for a judge of kind {kind}: it is for {these}. Take it out."
    return own.not_mine.get(key, why)


def every_key(judge: JudgeFields) -> dict[str, Any]:
    """Return what a judge's file says as plain values, with all keys that judges of other kinds have."""
    members = [msgspec.structs.replace(member, loaded=msgspec.UNSET) for member in judge.members]
    judge = msgspec.structs.replace(judge, members=members) if members else judge
    return {**EVERY_KEY, **msgspec.to_builtins(judge)}
