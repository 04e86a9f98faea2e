"""A style is a file: the kind of question, and what writing one takes. This module reads and checks it."""

import re
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from ragstone.kernel.config import (
    BuildSection,
    Section,
    convert_section,
    library_names,
    parse_toml,
    read_named,
)
from ragstone.kernel.config.datasets import LEVELS
from ragstone.kernel.errors import ConfigError, nearest

Needs = Literal["nothing", "persona", "level", "two_passages"]


class Style(Section, frozen=True, kw_only=True):
    """A style as its file gives it. Unknown keys are an error.

    prompt: the kind of question, for the model; `{audience}`, `{persona}` and `{level}` stand for words of
    the user's settings. needs: what a question takes beside one passage. quotes: how many places of the
    text hold the answer, 1 or 2. levels: what `{level}` says for each of Bloom's levels.
    """

    name: Annotated[str, msgspec.Meta(pattern=r"^[a-z][a-z0-9_]*$")]
    version: Annotated[int, msgspec.Meta(ge=1)]
    needs: Needs
    source: str
    prompt: str
    quotes: Literal[1, 2] = 1
    levels: dict[str, str] | None = None


class DialogueTurn(msgspec.Struct, frozen=True, kw_only=True):
    """A style, and the persona or the level of Bloom's that questions are asked for this time."""

    style: Style
    persona: str | None = None
    level: str | None = None


def style_names() -> list[str]:
    """Return the names of the styles that come with Ragstone."""
    return library_names("ragstone.features.build", "library/styles")


def load_style(name: str | Path) -> Style:
    """Return a style by its name, or from a file of one's own (a path that ends in .toml).

    Raises ConfigError naming the nearest names, or file, line and fix.
    """
    return parse_style(*read_named(name, "style", "ragstone.features.build", "library/styles"))


def parse_style(text: str, file: Path) -> Style:
    """Return the style that a TOML text describes; `file` is named in errors. Raises ConfigError."""
    style = convert_section(parse_toml(text, file), Style, file, text)
    problem = _problem(style)
    if problem:
        raise ConfigError(f"{file}: {problem}")
    return style


def turns_of(style: Style, declared: BuildSection) -> list[DialogueTurn]:
    """Return the turns of a style: one for each persona, or level of Bloom's, else a single one.

    A style that needs a level takes all six where `[build]` names none. Raises ConfigError for a style that
    needs a persona where `[build]` has none.
    """
    if style.needs == "persona":
        if not declared.personas:
            raise ConfigError(
                f"the style {style.name!r} needs to know who asks. Write in ragstone.toml, under [build], "
                'for example: personas = ["a farmer with two hectares", "an agronomist"]'
            )
        return [DialogueTurn(style=style, persona=persona) for persona in declared.personas]
    if style.needs == "level":
        return [DialogueTurn(style=style, level=level) for level in declared.levels or LEVELS]
    return [DialogueTurn(style=style)]


def render_style(turn: DialogueTurn, audience: str) -> str:
    """Return what the model is told of the kind of question, the user's words in their places."""
    level = (turn.style.levels or {}).get(turn.level or "", "")
    values = {"audience": audience, "persona": turn.persona or "", "level": level}
    return re.sub(
        r"\{(\w+)\}", lambda match: values.get(match[1], match[0]).strip(), turn.style.prompt.strip()
    )


def _problem(style: Style) -> str | None:
    """Return what is wrong with a style, in one sentence, or None."""
    named = set(re.findall(r"\{(\w+)\}", style.prompt))
    unknown = named - {"audience", "persona", "level"}
    if unknown:
        return f"the prompt names {{{min(unknown)}}}. It may name {{audience}}, {{persona}} and {{level}}."
    for needed in ("persona", "level"):
        if (style.needs == needed) != (needed in named):
            return f'a style has needs = "{needed}" if its prompt names {{{needed}}}, and only then.'
    if style.needs == "two_passages" and style.quotes != 2:
        return "a style that needs two passages has quotes = 2, one from each."
    return _problem_of_levels(style)


def _problem_of_levels(style: Style) -> str | None:
    levels = set(style.levels or {})
    if (style.needs == "level") != bool(levels):
        return 'a style has a table [levels] if it has needs = "level", and only then.'
    if not levels:
        return None
    if levels - set(LEVELS):
        unknown = min(levels - set(LEVELS))
        return f"unknown level {unknown!r} in [levels]. {nearest(unknown, LEVELS)}"
    missing = [level for level in LEVELS if level not in levels]
    return f"[levels] lacks {', '.join(missing)}: say for each level what is asked." if missing else None
