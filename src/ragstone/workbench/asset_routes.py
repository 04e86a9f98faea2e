"""The styles and scripts that pages load."""

import gzip
import hashlib
from functools import cache
from typing import NamedTuple

from litestar import Response, get
from litestar.params import FromPath

from ragstone.kernel.config import shipped
from ragstone.kernel.document.html import asset as report_asset
from ragstone.kernel.document.html import libraries
from ragstone.kernel.serve.requests import AnyRequest
from ragstone.workbench.pages import PAGES

TYPES = {"css": "text/css", "js": "text/javascript"}
OF_REPORT = frozenset(
    {
        "page.css",
        "elements.js",
        "opened.js",
        "thread.js",
        "line.js",
        "charts.js",
        "monitor.js",
    }
)
LONGEST_NAME = 100
ROOMS = tuple(dict.fromkeys(["kernel.serve", *(name.rpartition(".")[0] for name in PAGES)]))
"""Whose files pages load, by bare names: no two rooms have one of the same."""
PACKED_BYTES = 500  # an asset that is larger is sent compressed to whoever takes that


class _Asset(NamedTuple):
    plain: bytes
    packed: bytes | None
    tag: str


@cache
def _asset(name: str) -> _Asset | None:
    """Return a file that pages load: of a room's folder assets, of the report, or its charts' libraries."""
    files = (shipped(f"ragstone.{room}", "assets", name) for room in ROOMS)
    file = next((file for file in files if len(name) < LONGEST_NAME and file.is_file()), None)
    if name == "vega.js":
        text = "\n".join(libraries())
    elif name in OF_REPORT:
        text = report_asset(name)
    elif file is not None:
        text = file.read_text(encoding="utf-8")
    else:
        return None
    plain = text.encode()
    packed = gzip.compress(plain, mtime=0) if len(plain) > PACKED_BYTES else None
    return _Asset(plain, packed, f'"{hashlib.blake2b(plain, digest_size=12).hexdigest()}"')


@get("/assets/{name:str}", sync_to_thread=True)
def asset(request: AnyRequest, name: FromPath[str]) -> Response[bytes]:
    """Give a style or a script: of a room, or of the report and its charts."""
    kind = TYPES.get(name.rpartition(".")[2])
    file = _asset(name) if kind and "/" not in name and "\\" not in name else None
    if file is None:
        return Response(b"no such file", status_code=404, media_type="text/plain")
    headers = {"Cache-Control": "no-cache", "ETag": file.tag, "Vary": "Accept-Encoding"}
    if request.headers.get("if-none-match") == file.tag:
        return Response(b"", status_code=304, headers=headers)
    if file.packed and "gzip" in request.headers.get("accept-encoding", ""):
        return Response(file.packed, media_type=kind, headers={**headers, "Content-Encoding": "gzip"})
    return Response(file.plain, media_type=kind, headers=headers)


ROUTES = (asset,)
