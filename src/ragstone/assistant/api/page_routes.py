"""The chat page and its assets."""

import gzip
import hashlib
from functools import cache

from litestar import Response, get
from litestar.params import FromPath

from ragstone.assistant.api.desk import AnyRequest
from ragstone.assistant.api.problems import Refused
from ragstone.assistant.page import POLICY, assets, chat_page, language_wanted

FOR_A_DAY = "public, max-age=86400"


@get("/", include_in_schema=False)
async def page(request: AnyRequest) -> Response[bytes]:
    """Give the chat page, in the language that the browser likes best."""
    lang = language_wanted(request.headers.get("accept-language", ""))
    headers = {
        "Content-Security-Policy": POLICY,
        "Cache-Control": "no-cache",
        "Content-Language": lang,
        "Vary": "Accept-Language, Accept-Encoding",
    }
    return _packed(request, chat_page(lang), "text/html", headers)


@get("/assets/{name:str}", include_in_schema=False)
async def asset(request: AnyRequest, name: FromPath[str]) -> Response[bytes]:
    """Give the page's style or script."""
    found = assets().get(name)
    if found is None:
        raise Refused(404, "the page has no such file")
    headers = {"Cache-Control": FOR_A_DAY, "Vary": "Accept-Encoding"}
    return _packed(request, found.content, found.media_type, headers)


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
