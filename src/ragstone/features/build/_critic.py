"""Critics judge questions in the making. A critic is a file, like a judge: inputs, scale, prompt."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from ragstone.kernel.config import Section, convert_section, library_names, parse_toml, read_named
from ragstone.kernel.errors import ConfigError
from ragstone.kernel.judging.render import graded_fields, named_inputs, prompt_for_fields
from ragstone.kernel.llm import Ask, CallFailed, Prompt, row_nonce
from ragstone.kernel.records import Status

CriticInput = Literal["audience", "context", "question", "answer"]
LOWEST, HIGHEST = 1, 5

# The texts of a call in this order: what many questions share comes first.
SHARED: tuple[CriticInput, ...] = ("audience", "context")
OWN: tuple[CriticInput, ...] = ("question", "answer")

TOGETHER = (
    "You check a question in several respects, each by the criterion below that bears its name. Each score "
    "rests on its own criterion alone: a question that fails one may well pass the others."
)


class Critic(Section, frozen=True, kw_only=True):
    """A critic as its file gives it. Unknown keys are an error.

    inputs: what it reads. prompt: what the model is told; `{name}` stands for an input, whose text follows
    at the end, fenced. reason: what the reason is to hold, as the form of the reply says it: small models
    follow that more than the prompt. scale: [1, 5], which the threshold speaks of. for_unanswerable: whether
    it also judges questions that the documents do not answer, whose `answer` says so.
    """

    name: Annotated[str, msgspec.Meta(pattern=r"^[a-z][a-z0-9_]*$")]
    version: Annotated[int, msgspec.Meta(ge=1)]
    inputs: Annotated[list[CriticInput], msgspec.Meta(min_length=1)]
    scale: tuple[int, int]
    source: str
    prompt: str
    reason: str = "one or two short sentences"
    for_unanswerable: bool = True
    max_tokens: Annotated[int, msgspec.Meta(ge=1)] = 200


class CriticScore(msgspec.Struct, frozen=True, kw_only=True):
    """What one critic says of a question; `score` is None if and only if the status is not `scored`.

    rationale: the critic's reason, or why there is no score.
    """

    critic: str
    version: int
    status: Status
    rationale: str
    score: int | None = None


def critic_names() -> list[str]:
    """Return the names of the critics that come with Ragstone."""
    return library_names("ragstone.kernel.judging", "library/critics")


def load_critics(names: Iterable[str | Path]) -> list[Critic]:
    """Return the critics, each name or file once. Raises ConfigError, also for two of one name."""
    critics = [load_critic(name) for name in dict.fromkeys(names)]
    known: set[str] = set()
    for critic in critics:
        if critic.name in known:
            raise ConfigError(f"two critics are named {critic.name!r}: give one of them another name.")
        known.add(critic.name)
    return critics


def load_critic(name: str | Path) -> Critic:
    """Return a critic by its name, or from a file of one's own (a path that ends in .toml).

    Raises ConfigError naming the nearest names, or file, line and fix.
    """
    return parse_critic(*read_named(name, "critic", "ragstone.kernel.judging", "library/critics"))


def parse_critic(text: str, file: Path) -> Critic:
    """Return the critic that a TOML text describes; `file` is named in errors. Raises ConfigError."""
    critic = convert_section(parse_toml(text, file), Critic, file, text)
    if critic.scale != (LOWEST, HIGHEST):
        raise ConfigError(
            f"{file}: a critic needs scale = [{LOWEST}, {HIGHEST}], because the threshold refers to it."
        )
    named = set(re.findall(r"\{(\w+)\}", critic.prompt + critic.reason))
    undeclared, unused = named - set(critic.inputs), set(critic.inputs) - named
    if undeclared:
        raise ConfigError(
            f"{file}: the prompt names {{{min(undeclared)}}}, which inputs does not declare. Add it to "
            "inputs."
        )
    if unused:
        raise ConfigError(
            f"{file}: inputs declares {min(unused)!r}, which the prompt does not name. Add "
            f"{{{min(unused)}}} to the prompt."
        )
    return critic


async def criticise(
    critics: Sequence[Critic], inputs: Mapping[str, str], *, ask: Ask, secret: bytes, one_call: bool
) -> list[CriticScore]:
    """Return what each critic says, in their order. A call that fails is a status, never a score.

    inputs: the text of every input that a critic names. one_call: all are asked in one call, by one reply
    with a reason and a score for each; where it fails, it fails for all. Otherwise each is asked in a call
    of its own and knows nothing of the others.
    """
    groups = [list(critics)] if one_call and len(critics) > 1 else [[critic] for critic in critics]
    scores: list[CriticScore] = []
    for group in groups:
        try:
            reply = await ask(render_critics(group, inputs, secret))
        except CallFailed as failure:
            scores += [
                CriticScore(
                    critic=critic.name, version=critic.version, status=failure.status, rationale=str(failure)
                )
                for critic in group
            ]
            continue
        for critic, start in zip(group, _starts(group), strict=True):
            scores.append(
                CriticScore(
                    critic=critic.name,
                    version=critic.version,
                    status="scored",
                    rationale=getattr(reply.value, f"{start}reason").strip(),
                    score=getattr(reply.value, f"{start}score"),
                )
            )
    return scores


def render_critics(critics: Sequence[Critic], inputs: Mapping[str, str], secret: bytes) -> Prompt:
    """Return the call that asks these critics, one or more of them."""
    read = {name for critic in critics for name in critic.inputs}
    texts: dict[str, str] = {name: inputs[name] for name in (*SHARED, *OWN) if name in read}
    # The nonce depends on what stands before the question, not on the question: so the questions of one
    # passage share the prompt's beginning, passage included, and caches of prompts hit. Who wrote the passage
    # can guess it no better for that. Without a passage there is nothing to share.
    keyed = [texts[name] for name in SHARED if name in texts] if "context" in texts else [*texts.values()]
    versions = [part for critic in critics for part in (critic.name, str(critic.version))]
    parts = [named_inputs(critic.prompt) for critic in critics]
    fields = [
        field
        for start, critic in zip(_starts(critics), critics, strict=True)
        for field in graded_fields(start, LOWEST, HIGHEST, named_inputs(critic.reason))
    ]
    if len(critics) > 1:
        parts = [f"# {critic.name}\n{text}" for critic, text in zip(critics, parts, strict=True)]
        parts.insert(0, TOGETHER)
    return prompt_for_fields(
        parts,
        texts,
        fields,
        name="CriticReply",
        nonce=row_nonce(secret, [*versions, *keyed]),
        max_tokens=sum(critic.max_tokens for critic in critics),
    )


def _starts(critics: Sequence[Critic]) -> list[str]:
    """Return what the fields of each critic begin with, in a reply that holds those of all."""
    return [f"{critic.name}_" for critic in critics] if len(critics) > 1 else [""]
