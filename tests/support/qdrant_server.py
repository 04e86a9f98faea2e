"""A local server that speaks the routes of Qdrant's REST API that we use, over an embedded Qdrant in memory.

with QdrantServer() as server:
    section = AssistantSection(qdrant_url=server.url)
    server.stop()   # and start() again: at the same port, with the same points

It reads requests with Qdrant's own models, so that a request that Qdrant could not read fails here too.
`asked` notes each as "PUT /collections/NAME/points"; `key`: refuse requests without it.
"""

import asyncio
import json
import threading
from typing import Any, Self

from aiohttp import web
from pydantic import BaseModel, TypeAdapter
from qdrant_client import QdrantClient
from qdrant_client.http import models


class QdrantServer:
    """The server; a thread of its own answers."""

    def __init__(self, key: str | None = None) -> None:
        self.key = key
        self.asked: list[str] = []
        self.client = QdrantClient(":memory:")
        self.port = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """Return its address, the same after a restart."""
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self.client.close()

    def start(self) -> None:
        """Answer from now on."""
        ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve(ready)), daemon=True)
        self._thread.start()
        ready.wait()

    def stop(self) -> None:
        """Answer no more, and close connections; what it holds stays."""
        if self._loop is None or self._thread is None:
            return
        self._loop.call_soon_threadsafe(self._ended.set)
        self._thread.join()
        self._loop = self._thread = None

    async def _serve(self, ready: threading.Event) -> None:
        self._loop, self._ended = asyncio.get_running_loop(), asyncio.Event()
        runner = web.ServerRunner(web.Server(self._answer, access_log=None), shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", self.port, reuse_address=True)
        await site.start()
        self.port = self.port or site._server.sockets[0].getsockname()[1]
        ready.set()
        await self._ended.wait()
        await runner.cleanup()

    async def _answer(self, request: web.BaseRequest) -> web.Response:
        body = await request.read()
        self.asked.append(f"{request.method} {request.path}")
        if self.key is not None and request.headers.get("api-key") != self.key:
            return web.json_response({"status": {"error": "Must provide an API key"}}, status=401)
        parts = request.path.strip("/").split("/")
        try:
            result = self._result(request.method, parts, json.loads(body) if body else {})
        except (ValueError, KeyError) as mistake:
            missing = "not found" in str(mistake)
            return web.json_response(
                {"status": {"error": str(mistake)}, "time": 0.0}, status=404 if missing else 400
            )
        return web.json_response({"result": result, "status": "ok", "time": 0.0})

    def _result(self, method: str, parts: list[str], body: dict[str, Any]) -> object:
        match method, parts[1:]:
            case "GET", []:
                return _json(self.client.get_collections())
            case "GET", [name]:
                return _json(self.client.get_collection(name))
            case "GET", [name, "exists"]:
                return {"exists": self.client.collection_exists(name)}
            case "PUT", [name]:
                wanted = models.CreateCollection(**body)
                return self.client.create_collection(name, vectors_config=wanted.vectors)
            case "DELETE", [name]:
                return self.client.delete_collection(name)
            case "PUT", [name, "index"]:
                models.CreateFieldIndex(**body)
                return _json(models.UpdateResult(operation_id=0, status=models.UpdateStatus.COMPLETED))
            case _, [name, "points", *rest]:
                return self._points(name, rest, body)
        raise ValueError(f"{method} /{'/'.join(parts)}: a route that this server does not know")

    def _points(self, name: str, rest: list[str], body: dict[str, Any]) -> object:
        match rest:
            case []:
                insert = TypeAdapter(models.PointInsertOperations).validate_python(body)
                batch = insert.batch if isinstance(insert, models.PointsBatch) else insert.points
                return _json(self.client.upsert(name, batch))
            case ["scroll"]:
                scroll = models.ScrollRequest(**body)
                points, offset = self.client.scroll(
                    name,
                    limit=scroll.limit or 10,
                    offset=scroll.offset,
                    with_payload=scroll.with_payload,
                    with_vectors=scroll.with_vector,
                )
                return {"points": [_json(point) for point in points], "next_page_offset": offset}
            case ["delete"]:
                return _json(self.client.delete(name, models.PointIdsList(**body)))
            case ["payload"]:
                given = models.SetPayload(**body)
                return _json(self.client.set_payload(name, given.payload, points=given.points))
            case ["query"]:
                asked = models.QueryRequest(**body)
                found = self.client.query_points(
                    name,
                    query=asked.query,
                    limit=asked.limit,
                    query_filter=asked.filter,
                    with_payload=asked.with_payload,
                )
                return _json(found)
        raise ValueError(f"points/{'/'.join(rest)}: a route that this server does not know")


def _json(value: BaseModel) -> object:
    return value.model_dump(mode="json")
