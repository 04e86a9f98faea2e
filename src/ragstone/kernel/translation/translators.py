"""A name -> the translator behind it: a model of the door, or a service behind HTTP."""

import functools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec

from ragstone.kernel.config import (
    HttpTranslator,
    ModelSettings,
    Section,
    Settings,
    convert_section,
    parse_toml,
    shipped,
)
from ragstone.kernel.dataset.languages import language_name
from ragstone.kernel.errors import ConfigError
from ragstone.kernel.llm import MATERIAL, Ask, Prompt, fenced_prompt, row_nonce
from ragstone.kernel.translation.services import (
    HTTP,
    Translate,
    by_service,
    open_http,
)

if TYPE_CHECKING:
    from ragstone.kernel.llm.models import Models

MOST_TEXTS = 6  # in one call
ROOM = 3  # a translation may be so many times as long, and has so many tokens a character at most
FRAME = 200  # characters and tokens besides
PLACES = ("{source}", "{target}")


class TranslationPrompt(Section, frozen=True, kw_only=True):
    """The prompt of a model, as its file gives it; `{source}` and `{target}` stand for the languages."""

    name: Annotated[str, msgspec.Meta(pattern=r"^[a-z][a-z0-9_]*$")]
    version: Annotated[int, msgspec.Meta(ge=1)]
    source: str
    prompt: str


def load_prompt(path: Path | None = None) -> TranslationPrompt:
    """Return the prompt that ships, or that of a file of one's own. Raises ConfigError with line and fix."""
    if path is None:
        text = shipped("ragstone.kernel.translation", "translate.toml").read_text("utf-8")
        return convert_section(
            parse_toml(text, Path("translate.toml")), TranslationPrompt, Path("translate.toml"), text
        )
    if not path.is_file():
        raise ConfigError(f"{path}: no such prompt file.")
    text = path.read_text(encoding="utf-8")
    wording = convert_section(parse_toml(text, path), TranslationPrompt, path, text)
    for placeholder in PLACES:
        if placeholder not in wording.prompt:
            raise ConfigError(f"{path}: put {placeholder} in `prompt` where the language belongs.")
    return wording


def by_model(ask: Ask, secret: bytes, wording: TranslationPrompt, longest: int) -> Translate:
    """Return the translator that asks a model.

    Up to MOST_TEXTS texts, and up to `longest` characters, are one call. The title of what they are from is
    shown with them.
    """

    async def translate(
        texts: Sequence[str], source: str, target: str, about: str | None = None
    ) -> list[str]:
        made: list[str] = []
        for group in _groups(texts, longest):
            prompt = translation_prompt(group, source, target, about=about, wording=wording, secret=secret)
            reply = await ask(prompt)
            if reply.usage.calls:
                made += [getattr(reply.value, f"text_{n}").strip() for n in range(1, len(group) + 1)]
            else:  # a forecast: texts of the usual length stand for what nobody has translated yet
                made += group
        return made

    return translate


def translation_prompt(
    texts: Sequence[str],
    source: str,
    target: str,
    *,
    about: str | None,
    wording: TranslationPrompt,
    secret: bytes,
) -> Prompt:
    """Return the call that translates these texts."""
    task = wording.prompt.strip().replace("{source}", language_name(source))
    task = task.replace("{target}", language_name(target))
    inputs = {f"text_{n}": text for n, text in enumerate(texts, 1)}
    if about:
        task += " The title only says what the texts are about: do not translate it."
        inputs = {"title": about, **inputs}
    longest = max(map(len, texts))
    # A 1.5B model asked for "its translation" of Spanish into English gave back MATERIAL, which is English.
    spoken = language_name(target)
    fields = ", ".join(f'"text_{n}": text_{n} in {spoken}' for n in range(1, len(texts) + 1))
    return fenced_prompt(
        f"{MATERIAL}\n\n{task}",
        inputs,
        form=f'{{"nonce": the code, {fields}}}',
        reply=_reply_of(len(texts), _rounded(ROOM * longest + FRAME)),
        nonce=row_nonce(secret, [wording.name, str(wording.version), task, *inputs.values()]),
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


async def open_asking(name: str, settings: Settings, models: "Models") -> Ask:
    """Return what asks the translator of this name. Raises ConfigError; ModelError where there is none."""
    if name != HTTP:
        check_translator(name)
        return await models.ask(name)
    service = _declared(settings)
    if settings.privacy.mask:
        raise ConfigError(
            "[privacy] mask: texts for [translate.http] cannot be masked. Translate by a model, or "
            "delete mask."
        )
    limits = ModelSettings(
        max_concurrency=service.max_concurrency, requests_per_minute=service.requests_per_minute
    )
    return await models.ask_service(name, open_http(service), limits)


def translator_by(name: str, ask: Ask, settings: Settings, secret: bytes) -> Translate:
    """Return the translator of this name, see open_asking. Raises ConfigError for a wrong prompt file."""
    if name == HTTP:
        return by_service(ask)
    declared = settings.translate
    wording = load_prompt(settings.path(declared.prompt) if declared.prompt else None)
    return by_model(ask, secret, wording, declared.passage)


def check_translator(name: str) -> None:
    """Raise ConfigError for a name that is neither `http` nor that of a model."""
    if name != HTTP and "/" not in name:
        raise ConfigError(
            f"unknown translator {name!r}: give a model as transport/model, e.g. openai/gpt-4o-mini, or "
            "http; and to translate back also same or none."
        )


def _declared(settings: Settings) -> HttpTranslator:
    if settings.translate.http is None:
        raise ConfigError(
            "http translates, but it has no address: add the table [translate.http] with url, "
            "request and text to ragstone.toml (see docs/how-to/translation.md)."
        )
    return settings.translate.http
