"""A name -> the translator behind it: a model of the door, Apertium, or a service behind HTTP."""

from collections.abc import Iterable

from ragstone.config import HttpTranslator, ModelSettings, Settings
from ragstone.dataset.translation import (
    APERTIUM,
    HTTP,
    Translate,
    by_model,
    by_service,
    check_pairs,
    load_told,
    open_apertium,
    open_http,
)
from ragstone.engine.session import Session
from ragstone.errors import ConfigError

NONE, SAME = "none", "same"


def names_of(settings: Settings) -> tuple[str, str | None]:
    """Return who translates, and who translates back; None where nobody does. Raises ConfigError."""
    declared = settings.translate
    if declared.by is None:
        raise ConfigError(
            "say who translates: --by with a model (e.g. openai/gpt-4o-mini), apertium or http, or by in the "
            "table [translate] of ragstone.toml."
        )
    back = {SAME: declared.by, NONE: None}.get(declared.back, declared.back)
    for name in (declared.by, back):
        if name is not None and name not in (APERTIUM, HTTP) and "/" not in name:
            raise ConfigError(
                f"unknown translator {name!r}: give a model as transport/model, e.g. openai/gpt-4o-mini, or "
                "apertium, or http; and to translate back also same or none."
            )
    return declared.by, back


async def open_translator(name: str, session: Session) -> Translate:
    """Return the translator of this name. Raises ConfigError and ModelError where it cannot be had."""
    declared = session.settings.translate
    if name == APERTIUM:
        return by_service(
            await session.models.ask_service(name, open_apertium(), ModelSettings()), together=True
        )
    if name == HTTP:
        service = _declared(session.settings)
        limits = ModelSettings(
            max_concurrency=service.max_concurrency, requests_per_minute=service.requests_per_minute
        )
        return by_service(await session.models.ask_service(name, open_http(service), limits), together=False)
    told = load_told(session.settings.path(declared.prompt) if declared.prompt else None)
    return by_model(await session.models.ask(name), session.secret(), told, declared.passage)


def check_installed(pairs: Iterable[tuple[str, str]], settings: Settings) -> None:
    """Raise ModelError where Apertium is to translate and lacks one of the pairs (source, target)."""
    by, back = names_of(settings)
    known = sorted(set(pairs))
    if by == APERTIUM:
        check_pairs(known)
    if back == APERTIUM:
        check_pairs((target, source) for source, target in known)


def _declared(settings: Settings) -> HttpTranslator:
    if settings.translate.http is None:
        raise ConfigError(
            "http translates, and nothing says where: add to ragstone.toml the table [translate.http] with "
            "url, request and text (see docs/translation.md)."
        )
    return settings.translate.http
