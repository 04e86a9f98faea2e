"""A language model as translator: the texts that belong together in one call, so that names agree."""

import functools
from collections.abc import Iterator, Sequence
from importlib import resources
from pathlib import Path
from typing import Annotated

import msgspec

from ragstone.config import Section, convert_section, parse_toml
from ragstone.dataset.languages import language_name
from ragstone.dataset.translation.translator import Translate
from ragstone.errors import ConfigError
from ragstone.llm import MATERIAL, Ask, Prompt, fenced_prompt, row_nonce

MOST_TEXTS = 6  # in one call
ROOM = 3  # a translation may be so many times as long, and has so many tokens a character at most
FRAME = 200  # characters and tokens besides
PLACES = ("{source}", "{target}")


class Told(Section, frozen=True, kw_only=True):
    """What a model is told, as its file gives it; `{source}` and `{target}` stand for the languages."""

    name: Annotated[str, msgspec.Meta(pattern=r"^[a-z][a-z0-9_]*$")]
    version: Annotated[int, msgspec.Meta(ge=1)]
    source: str
    prompt: str


def load_told(path: Path | None = None) -> Told:
    """Return the prompt that ships, or that of a file of one's own. Raises ConfigError with line and fix."""
    if path is None:
        text = (resources.files("ragstone.dataset.translation") / "translate.toml").read_text("utf-8")
        return convert_section(parse_toml(text, Path("translate.toml")), Told, Path("translate.toml"), text)
    if not path.is_file():
        raise ConfigError(f"{path}: no such prompt file.")
    text = path.read_text(encoding="utf-8")
    told = convert_section(parse_toml(text, path), Told, path, text)
    for place in PLACES:
        if place not in told.prompt:
            raise ConfigError(f"{path}: put {place} into `prompt`, where the language stands.")
    return told


def by_model(ask: Ask, secret: bytes, told: Told, longest: int) -> Translate:
    """Return the translator that asks a model.

    Up to MOST_TEXTS texts, and up to `longest` characters, are one call. The title of what they are from is
    shown with them.
    """

    async def translate(
        texts: Sequence[str], source: str, target: str, about: str | None = None
    ) -> list[str]:
        made: list[str] = []
        for group in _groups(texts, longest):
            prompt = translation_prompt(group, source, target, about=about, told=told, secret=secret)
            reply = await ask(prompt)
            if reply.usage.calls:
                made += [getattr(reply.value, f"text_{n}").strip() for n in range(1, len(group) + 1)]
            else:  # a forecast: texts of the usual length stand for what nobody has translated yet
                made += group
        return made

    return translate


def translation_prompt(
    texts: Sequence[str], source: str, target: str, *, about: str | None, told: Told, secret: bytes
) -> Prompt:
    """Return the call that translates these texts."""
    words = told.prompt.strip().replace("{source}", language_name(source))
    words = words.replace("{target}", language_name(target))
    shown = {f"text_{n}": text for n, text in enumerate(texts, 1)}
    if about:
        words += " The title only says what the texts are about: do not translate it."
        shown = {"title": about, **shown}
    longest = max(map(len, texts))
    # A 1.5B model asked for "its translation" of Spanish into English gave back MATERIAL, which is English.
    spoken = language_name(target)
    fields = ", ".join(f'"text_{n}": text_{n} in {spoken}' for n in range(1, len(texts) + 1))
    return fenced_prompt(
        f"{MATERIAL}\n\n{words}",
        shown,
        form=f'{{"nonce": the code, {fields}}}',
        reply=_reply_of(len(texts), _rounded(ROOM * longest + FRAME)),
        nonce=row_nonce(secret, [told.name, str(told.version), words, *shown.values()]),
        max_tokens=_rounded(ROOM * sum(map(len, texts)) + FRAME),
    )


def _groups(texts: Sequence[str], longest: int) -> Iterator[list[str]]:
    group: list[str] = []
    for text in texts:
        if group and (len(group) == MOST_TEXTS or sum(map(len, group)) + len(text) > longest):
            yield group
            group = []
        group.append(text)
    if group:
        yield group


def _rounded(n: int) -> int:
    """Return a power of two that is not less: few forms of reply serve all texts."""
    return 1 << (n - 1).bit_length()


@functools.cache
def _reply_of(n_texts: int, longest: int) -> type[msgspec.Struct]:
    text = Annotated[str, msgspec.Meta(min_length=1, max_length=longest)]
    return msgspec.defstruct(
        "TranslationReply",
        [(f"text_{n}", text) for n in range(1, n_texts + 1)],
        frozen=True,
        forbid_unknown_fields=True,
    )
