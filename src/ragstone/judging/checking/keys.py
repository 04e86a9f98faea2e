"""Keys of a judge's file that mean nothing for its kind: a slip of the author's, told rather than ignored."""

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from ragstone.judging.judge import Judge

ONE_CALL = ("rubric", "percentage", "boolean", "classify")
PROMPTED = (*ONE_CALL, "statements", "pairwise")

# Key -> the kinds that obey it; a key that is not here is for all of them.
MEANT_FOR: dict[str, tuple[str, ...]] = {
    "prompt": PROMPTED,
    "prompts": PROMPTED,
    "verify": ("statements",),
    "labels": ("classify",),
    "criteria": ("rubric",),
    "aggregate": ("rubric",),
    "examples": ONE_CALL,
    "shots": ONE_CALL,
    "members": ("jury", "cascade"),
    "combine": ("jury",),
    "measure": ("lexical",),
    "separator": ("lexical", "rubric", "boolean", "classify"),
    "reply": ("rubric", "boolean", "classify"),
    "temperature": PROMPTED,
    "samples": PROMPTED,
    "max_tokens": PROMPTED,
}


def idle_key(judge: "Judge") -> tuple[str, str] | None:
    """Return a key that the judge's kind does not obey, and a sentence with the fix; or None."""
    for field in msgspec.structs.fields(judge):
        kinds = MEANT_FOR.get(field.name)
        if kinds and judge.kind not in kinds and getattr(judge, field.name) != _default(field):
            these = " or ".join(filter(None, [", ".join(kinds[:-1]), kinds[-1]]))
            idle = f"{field.name} means nothing for a judge of kind {judge.kind}: it is for {these}."
            return field.name, f"{idle} Take it out."
    return None


def _default(field: msgspec.structs.FieldInfo) -> object:
    return field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()
