"""A judge is a file: name, version, kind, inputs, scale, and the keys of its kind. This module reads it."""

import functools
import operator
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec

from ragstone.kernel.config import convert_section, library_names, parse_toml, read_named
from ragstone.kernel.config.loading import line_of
from ragstone.kernel.config.python_function import names_function
from ragstone.kernel.errors import ConfigError, nearest
from ragstone.kernel.judging.fields import EVERY_KEY, JudgeFields

Judge = JudgeFields
"""A judge as its file gives it: the struct of its kind. Unknown keys are an error."""

# Kind -> its module in this room, and its struct there. A kind is imported when a judge of it is read: a run
# knows one or two of them, and each brings what it judges by.
KINDS: dict[str, str] = {
    "rubric": "rubric:RubricJudge",
    "statements": "statements:StatementsJudge",
    "citations": "citations:CitationsJudge",
    "percentage": "percentage:PercentageJudge",
    "classify": "classify:ClassifyJudge",
    "boolean": "boolean:BooleanJudge",
    "pairwise": "pairwise:PairwiseJudge",
    "lexical": "lexical:LexicalJudge",
    "embedding": "similarity:EmbeddingJudge",
    "jury": "combined:JuryJudge",
    "cascade": "combined:CascadeJudge",
    "stack": "stack:StackJudge",
    "function": "function.judge:FunctionJudge",
    "assertion": "assertion:AssertionJudge",
    "steps": "steps:StepsJudge",
    "signs": "signs:SignsJudge",
    "supported": "supported.judge:SupportedJudge",
}


def type_of_kind(kind: str) -> type[JudgeFields]:
    """Return the struct of one of KINDS."""
    module, _, name = KINDS[kind].partition(":")
    kind_type: type[JudgeFields] = getattr(import_module(f"ragstone.kernel.judging.{module}"), name)
    return kind_type


def type_of_kinds() -> type[JudgeFields]:
    """Return the union of all kinds, as what msgspec decodes a judge of any kind to."""
    union: type[JudgeFields] = functools.reduce(operator.or_, map(type_of_kind, KINDS))
    return union


# Keys of kinds that came later, which stand in the digests of judges of these kinds alone.
KEYS = (
    *EVERY_KEY,
    "intercept",
    "threshold",
    "call",
    "timeout_s",
    "check",
    "expect",
    "optional",
    "empty",
    "split",
    "curve",
    "order",
    "tools",
    "layout",
    "description",
    "signs",
    "unless",
    "weights",
    "alone",
    "in_records",
    "flagged",
    "statement",
)
LIBRARY = ("ragstone.kernel.judging", "library")  # where the judges are that ship
LOADED = ("folder", "digest")  # what a function's judge knows of where it was loaded, and no key of a file


def judge_names() -> list[str]:
    """Return the names of the judges that come with Ragstone."""
    return library_names(*LIBRARY)


def parse_judge(text: str, file: Path) -> Judge:
    """Return the judge that a TOML text describes, its members not loaded; `file` is named in errors.

    Raises ConfigError naming file, line and fix.
    """
    return _placed(_parsed(text, file), file)


# The same few files are read again and again; a list of judges, of an agent too, reads all that ship.
@functools.lru_cache(maxsize=512)
def _parsed(text: str, file: Path) -> Judge:
    """Return the judge that a TOML text describes, wherever its file is."""
    tables = parse_toml(text, file)
    for key in tables:
        if ("kind" not in tables and key not in KEYS) or key in LOADED:  # perhaps a slip in `kind` itself
            raise ConfigError(f"{file}:{line_of(text, [key])}: unknown key {key!r}. {nearest(key, KEYS)}")
        if idle := idle_key(tables.get("kind"), key):
            raise ConfigError(f"{file}:{line_of(text, [key])}: {idle}")
    kind = tables.get("kind")
    # All kinds together say best what is wrong with a kind that does not exist, or is missing.
    judge = convert_section(tables, type_of_kind(kind) if kind in KINDS else type_of_kinds(), file, text)
    if wrong := next(judge.problems(), None):
        key, problem = wrong
        line = f":{line_of(text, [key])}" if key in tables else ""
        raise ConfigError(f"{file}{line}: {problem}")
    return judge


def restore_judge(keys: Mapping[str, Any]) -> Judge:
    """Return the judge that `msgspec.to_builtins` made these plain values of, its loaded members with it.

    A member may be of any kind, which its type cannot say: a kind is imported when it is read. So each member
    is restored by the kind that it names. A variant's name (`same_answer@verdict`) is none that a file may
    give, so it is put back afterwards. Raises msgspec.ValidationError.
    """
    members = [dict(member) for member in keys.get("members", ())]
    loaded = [member.pop("loaded", None) for member in members]
    plain = {**keys, "name": "restored"} | ({"members": members} if members else {})
    judge: Judge = msgspec.convert(plain, type_of_kind(keys["kind"]))
    judge = msgspec.structs.replace(judge, name=keys["name"])
    if not members:
        return judge
    restored = [
        member if inner is None else msgspec.structs.replace(member, loaded=restore_judge(inner))
        for member, inner in zip(judge.members, loaded, strict=True)
    ]
    return msgspec.structs.replace(judge, members=restored)


def _placed(judge: Judge, file: Path) -> Judge:
    """Return the judge with its function, and the files of its members, found from its own."""
    folder = file.expanduser().absolute().parent
    judge = judge.placed(str(folder))
    if not judge.members:
        return judge
    members = [
        msgspec.structs.replace(member, judge=str(folder / Path(member.judge).expanduser()))
        if ".toml" in member.judge or ".py:" in member.judge
        else member
        for member in judge.members
    ]
    return msgspec.structs.replace(judge, members=members)


def read_judge(name: str | Path) -> Judge:
    """Return a judge by its name, by the path of a file of one's own, or by that of a Python function.

    Members and functions of files are not loaded: see load_judge. Raises ConfigError naming the nearest
    names, or file, line and fix.
    """
    if names_function(str(name)):
        from ragstone.kernel.judging.function.judge import judge_of_call  # most judges are files

        file, colon, function = str(name).rpartition(":")
        if not file.endswith(".py"):
            return judge_of_call(str(name), str(Path.cwd()))
        path = Path(file).expanduser().absolute()
        return judge_of_call(f"{path.name}{colon}{function}", str(path.parent))
    if str(name).endswith(".toml"):
        return parse_judge(*read_named(name, "judge", *LIBRARY))
    return _shipped_judge(str(name))


@functools.cache  # what ships does not change, and a list of judges reads all of it
def _shipped_judge(name: str) -> Judge:
    return parse_judge(*read_named(name, "judge", *LIBRARY))


def idle_key(kind: object, key: str, named: str = "") -> str | None:
    """Return why a key means nothing for a kind though others have it, with the fix; or None.

    named: what the key is called there, by default its own name.
    """
    own = type_of_kind(str(kind)) if str(kind) in KINDS else None
    if own is None or key in ("kind", *own.__struct_fields__):
        return None
    others = [other for other in KINDS if key in type_of_kind(other).__struct_fields__]
    if not others:
        return None
    these = " or ".join(filter(None, [", ".join(others[:-1]), others[-1]]))
    why = f"{named or key} means nothing for a judge of kind {kind}: it is for {these}. Remove it."
    return own.not_mine.get(key, why)
