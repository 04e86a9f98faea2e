"""The chat page: one HTML, one style, one script, its texts in each language, and its routes."""

import gzip
import hashlib
import tomllib
from functools import cache
from typing import NamedTuple

import msgspec
from litestar import Response, get
from litestar.params import FromPath

from ragstone.kernel.config import shipped
from ragstone.kernel.serve.requests import AnyRequest, RefusedRequest
from ragstone_assistant._domain import Domain
from ragstone_assistant.api.state import WithState
from ragstone_assistant.languages import LANGUAGES, language

SCRIPTS = ("request.js", "reply.js", "chat.js")
DEFAULT_LANGUAGE = "en"

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""The Content-Security-Policy of the page: nothing comes from anywhere else."""


class Asset(NamedTuple):
    """A file that the page asks for."""

    content: bytes
    media_type: str


class Texts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The texts of the page in one language; `{...}` is filled in by the page. tags: what tags are called."""

    name: str
    direction: str
    title: str
    tagline: str
    quoting: str
    welcome: str
    examples: list[str]
    placeholder: str
    send: str
    stop: str
    new: str
    language: str
    filters: str
    any: str
    you: str
    assistant: str
    sources: str
    source: str
    page: str
    videos: str
    close: str
    helpful: str
    not_helpful: str
    thanks: str
    correction: str
    correction_send: str
    working: str
    stopped: str
    again: str
    unreachable: str
    interrupted: str
    busy: str
    too_long: str
    key: str
    key_why: str
    key_save: str
    passage_gone: str
    no_script: str
    notice: str
    tags: dict[str, str] = {}


@cache
def texts(domain: Domain) -> dict[str, Texts]:
    """Return the texts of each language, English first, the others by code; the domain's before our own."""
    by_code: dict[str, Texts] = {}
    for code in sorted(LANGUAGES, key=lambda code: (code != DEFAULT_LANGUAGE, code)):
        file = shipped("ragstone_assistant.page", "texts", f"{code}.toml")
        own, texts = language(code), domain.texts[code]
        fields = {"name": own.name, "direction": own.direction, **tomllib.loads(file.read_text("utf-8"))}
        names = ("title", "welcome", "examples", "notice", "tags")
        fields |= {name: getattr(texts, name) for name in names if getattr(texts, name)}
        by_code[code] = msgspec.convert(fields, Texts)
    return by_code


@cache
def assets() -> dict[str, Asset]:
    """Return what the page asks for under `assets/`: name -> content."""
    script = '"use strict";\n' + "\n".join(_file(name) for name in SCRIPTS)
    return {
        "chat.css": Asset(_file("chat.css").encode(), "text/css"),
        "chat.js": Asset(script.encode(), "text/javascript"),
    }


@cache
def chat_page(domain: Domain, lang: str = DEFAULT_LANGUAGE, *, quotes: bool = False) -> bytes:
    """Return the page in a language, in English where it is none of ours. quotes: no model writes answers."""
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    languages = texts(domain)
    lang = lang if lang in languages else DEFAULT_LANGUAGE
    template = Environment(autoescape=True, undefined=StrictUndefined).from_string(_file("chat.html"))
    encoded = msgspec.json.encode(languages).decode().replace("<", "\\u003c")
    page = template.render(
        lang=lang,
        texts=languages[lang],
        quotes=quotes,
        languages=languages,
        all_texts=Markup(encoded),  # noqa: S704 - nothing in it can end the element
        # a digest of the assets: a browser keeps them until they change
        version=hashlib.sha256(b"".join(each.content for each in assets().values())).hexdigest()[:12],
    )
    return page.encode()


def language_wanted(accept_language: str) -> str:
    """Return the language of ours that a browser's Accept-Language likes best, else English."""
    liked = []
    for part in accept_language.split(","):
        code, _, quality = part.partition(";q=")
        try:
            liked.append((-float(quality or 1), code.strip().lower().partition("-")[0]))
        except ValueError:
            continue
    best = sorted(liked, key=lambda choice: choice[0])
    return next((code for _, code in best if code in LANGUAGES), DEFAULT_LANGUAGE)


def _file(name: str) -> str:
    return shipped("ragstone_assistant.page", "assets", name).read_text("utf-8")


FOR_A_DAY = "public, max-age=86400"


@get("/", include_in_schema=False)
async def page(request: AnyRequest, app_state: WithState) -> Response[bytes]:
    """Give the chat page, in the language that the browser likes best."""
    lang = language_wanted(request.headers.get("accept-language", ""))
    headers = {
        "Content-Security-Policy": POLICY,
        "Cache-Control": "no-cache",
        "Content-Language": lang,
        "Vary": "Accept-Language, Accept-Encoding",
    }
    assistant = app_state.assistant
    return _packed(request, chat_page(assistant.domain, lang, quotes=assistant.quotes), "text/html", headers)


@get("/assets/{name:str}", include_in_schema=False)
async def asset(request: AnyRequest, name: FromPath[str]) -> Response[bytes]:
    """Give the page's style or script."""
    file = assets().get(name)
    if file is None:
        raise RefusedRequest(404, "the page has no such file")
    headers = {"Cache-Control": FOR_A_DAY, "Vary": "Accept-Encoding"}
    return _packed(request, file.content, file.media_type, headers)


def _packed(request: AnyRequest, content: bytes, media_type: str, headers: dict[str, str]) -> Response[bytes]:
    """Return the content, gzipped for who can read that: a third of it to load on a slow phone."""
    etag = f'"{hashlib.sha256(content).hexdigest()[:24]}"'
    headers = {**headers, "ETag": etag}
    if request.headers.get("if-none-match") == etag:
        return Response(b"", status_code=304, headers=headers)
    if "gzip" in request.headers.get("accept-encoding", ""):
        content, headers = _gzipped(content), {**headers, "Content-Encoding": "gzip"}
    return Response(content, media_type=media_type, headers=headers)


@cache
def _gzipped(content: bytes) -> bytes:
    return gzip.compress(content, mtime=0)
