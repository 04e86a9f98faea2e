"""A retriever behind HTTP: the question goes out as JSON, results come back and are placed in the corpus.

What becomes of a question whose call fails after all its attempts: an empty ranking, with the reason as
`error` in its `metadata`. It counts as a question for which nothing was found, and is said.
"""

import asyncio
import contextlib
import os
import random
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from ragstone.config import HttpSettings
from ragstone.errors import ConfigError, DataError, ModelError, nearest
from ragstone.llm import CallFailed
from ragstone.llm.json_form import (
    Json,
    Pick,
    Values,
    compile_path,
    described,
    fill,
    fill_url,
    places_in,
)
from ragstone.llm.keys import without_password
from ragstone.llm.limits import backoff_s, retry_after_s_of
from ragstone.records import Chunk, Question, Ranking
from ragstone.retrieval.filters import Filter, question_tags
from ragstone.retrieval.means import Search, SearchMeans
from ragstone.retrieval.placing import Corpus, Found, place_items

if TYPE_CHECKING:
    import aiohttp

ATTEMPTS = 4
RETRYABLE = {408, 425, 429, 500, 502, 503, 504}
PATIENCE_S = 60.0  # who asks to be left alone for longer is not asked again
LOST_IN_A_ROW = 20  # calls given up, and none answered between them: nothing more will come
PLACES = ("question", "k", "lang")


class _Form(msgspec.Struct, frozen=True, kw_only=True):
    """Where things stand in a reply."""

    items: Pick
    list_of_items: Pick
    fields: dict[str, tuple[str, Pick]]  # field -> its path as declared, and compiled


class _Failed(CallFailed):
    """A call without a usable reply."""


def search_elsewhere(
    name: str, declared: HttpSettings, chunks: Sequence[Chunk], means: SearchMeans
) -> Search:
    """Return the search that asks the endpoint for each question, some of them at a time.

    Ids that the corpus lacks are kept: they count as not relevant. Raises ConfigError for a template or a
    path that cannot be, and for a filter that the request does not pass on; ModelError offline, without the
    key, and where no question is answered; DataError where not one id of all results is in the corpus.
    """
    _check_places(name, declared, means.filter)
    form = _form(name, declared)
    corpus = Corpus(chunks, means.documents)

    async def search(questions: Sequence[Question], k: int) -> list[Ranking]:
        if means.offline:
            raise ModelError(f"--offline, and the retriever {name!r} is asked at {declared.url}.")
        async with _open_line(name, declared) as line:

            async def work(question: Question) -> Ranking:
                if not question.question.strip():
                    return Ranking(question_id=question.id, retriever="", items=[])
                try:
                    reply = await line.ask(_values(question, k, means.filter))
                    items = place_items(_read(reply, form)[:k], corpus)
                except CallFailed as failure:
                    line.lose(failure)
                    error = {"error": f"{failure.status}: {failure}"}
                    return Ranking(question_id=question.id, retriever="", items=[], metadata=error)
                line.n_lost = 0
                return Ranking(question_id=question.id, retriever="", items=items)

            rankings = await means.each(f"retrieve {name}", work, questions)
        _check_rankings(name, rankings, corpus)
        return rankings

    return search


class _Line:
    """An open connection to the endpoint, and how many calls in a row came to nothing."""

    def __init__(self, name: str, declared: HttpSettings, session: "aiohttp.ClientSession") -> None:
        self.n_lost = 0
        self._name = name
        self._declared = declared
        self._session = session
        self._shown = without_password(declared.url)
        self._slots = asyncio.Semaphore(declared.max_concurrency)
        self._draw = random.Random(0)

    async def ask(self, values: Values) -> Json:
        """Return the reply to one question, after as many attempts as it takes. Raises CallFailed."""
        n_failed = 0
        while True:
            try:
                async with self._slots:
                    return await self._send(values)
            except CallFailed as failure:
                n_failed += 1
                if not failure.retryable or n_failed >= ATTEMPTS:
                    raise
                await asyncio.sleep((failure.retry_after_s or 0.0) + backoff_s(n_failed - 1, self._draw))

    def lose(self, failure: CallFailed) -> None:
        """Count a call that is given up. Raises ModelError when nothing more can be expected."""
        self.n_lost += 1
        if self.n_lost >= LOST_IN_A_ROW:
            raise ModelError(
                f"[retrievers] {self._name}: {LOST_IN_A_ROW} questions in a row failed, the last because: "
                f"{failure}"
            )

    async def _send(self, values: Values) -> Json:
        import aiohttp

        url = fill_url(self._declared.url, values)
        body = fill(self._declared.request, values)
        try:
            async with self._session.request(
                "POST" if body else "GET", url, data=msgspec.json.encode(body) if body else None
            ) as response:
                return _decoded(self._shown, response, await response.read())
        except TimeoutError:
            message = f"{self._shown} did not answer within {self._declared.timeout_s:g} s"
            raise _Failed("timeout", message, retryable=True) from None
        except aiohttp.InvalidURL:
            raise ConfigError(f"[retrievers] {self._name}: {self._shown!r} is no address.") from None
        except (aiohttp.ClientError, OSError) as mistake:
            message = f"{self._shown} cannot be reached ({mistake}). Is it running, and is `url` right?"
            raise _Failed("error", message, retryable=True) from None


@contextlib.asynccontextmanager
async def _open_line(name: str, declared: HttpSettings) -> AsyncIterator[_Line]:
    import aiohttp  # 0.15 s that other retrievers do not need

    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    if declared.api_key_env is not None:
        key = os.environ.get(declared.api_key_env, "").strip()
        if not key:
            raise ModelError(
                f"[retrievers] {name}: no key. Set the environment variable {declared.api_key_env}."
            )
        headers["Authorization"] = f"Bearer {key}"
    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=declared.max_concurrency),
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=declared.timeout_s),
        headers=headers,
        trust_env=True,
    ) as session:
        yield _Line(name, declared, session)


def _decoded(name: str, response: "aiohttp.ClientResponse", content: bytes) -> Json:
    """Return a reply as JSON. Raises what its HTTP status means, and for a reply that is no JSON."""
    words = " ".join(content[:200].decode("utf-8", "replace").split()) or "an empty reply"
    if response.status >= 400:
        wait_s = retry_after_s_of(response.headers.get("Retry-After"))
        hint = " Check its key (api_key_env)." if response.status in (401, 403) else ""
        raise _Failed(
            "rate_limited" if response.status == 429 else "error",
            f"{name}: HTTP {response.status}: {words}.{hint}",
            retryable=response.status in RETRYABLE and (wait_s or 0.0) <= PATIENCE_S,
            retry_after_s=wait_s,
        )
    try:
        decoded: Json = msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise _Failed("unparsable", f"{name}: the reply is no JSON: {words}") from None
    return decoded


def _form(name: str, declared: HttpSettings) -> _Form:
    paths = {
        field: getattr(declared, field)
        for field in ("document_id", "chunk_id", "text", "score")
        if getattr(declared, field) is not None
    }
    return _Form(
        items=compile_path(declared.items, f"[retrievers] {name}: items"),
        list_of_items=compile_path(declared.items.removesuffix("[*]"), f"[retrievers] {name}: items"),
        fields={
            field: (path, compile_path(path, f"[retrievers] {name}: {field}"))
            for field, path in paths.items()
        },
    )


def _read(reply: Json, form: _Form) -> list[Found]:
    """Return the results of a reply, best first. Raises CallFailed where it has another form."""
    found = form.items(reply)
    if not found and not form.list_of_items(reply):
        raise _Failed("unparsable", f"the reply has nothing at `items`; it is {described(reply)}")
    if len(found) == 1 and isinstance(found[0], list):  # the path of the list itself
        found = found[0]
    return [_result(item, form) for item in found]


def _result(item: Json, form: _Form) -> Found:
    values: dict[str, Json] = {}
    for field, (_, pick) in form.fields.items():
        values[field] = next(iter(pick(item)), None)
    document_id, score, text = values["document_id"], values.get("score"), values.get("text")
    if not isinstance(document_id, str | int) or isinstance(document_id, bool):
        path = form.fields["document_id"][0]
        raise _Failed("unparsable", f"a result has no id at document_id = {path!r}; it is {described(item)}")
    chunk_id = values.get("chunk_id")
    return Found(
        document_id=str(document_id),
        chunk_id=str(chunk_id) if isinstance(chunk_id, str | int) else None,
        text=text if isinstance(text, str) and text.strip() else None,
        score=float(score) if isinstance(score, int | float) and not isinstance(score, bool) else None,
    )


def _values(question: Question, k: int, among: Filter) -> Values:
    tags = {**question_tags(question), **among.where}
    return {
        "question": question.question,
        "k": k,
        "lang": tags.get("lang"),
        **{f"tag.{key}": value for key, value in tags.items()},
    }


def _check_places(name: str, declared: HttpSettings, among: Filter) -> None:
    """Raise ConfigError for a place that nothing fills, and for a filter that the request does not pass."""
    places = places_in(declared.request) | places_in(declared.url)
    unknown = sorted(place for place in places - set(PLACES) if not place.startswith("tag."))
    if unknown:
        raise ConfigError(
            f"[retrievers] {name}: nothing fills {{{unknown[0]}}}. {nearest(unknown[0], PLACES)} A tag of "
            "the question is {tag.NAME}."
        )
    if "question" not in places:
        raise ConfigError(f"[retrievers] {name}: put {{question}} into `request`, or into `url`.")
    for key in [*among.where, *among.match]:
        if f"tag.{key}" not in places and not (key == "lang" and "lang" in places):
            raise ConfigError(
                f"[retrievers] {name}: its request does not pass on the filter {key!r}. Put "
                f"{{tag.{key}}} into `request`, or ask without the filter."
            )


def _check_rankings(name: str, rankings: Sequence[Ranking], corpus: Corpus) -> None:
    """Raise ModelError where no question was answered, DataError where no id is one of the corpus."""
    errors = [metadata["error"] for metadata in _metadata(rankings) if "error" in metadata]
    if errors and len(errors) == len(rankings):
        raise ModelError(f"[retrievers] {name}: no question was answered: {errors[0]}")
    named = [item.document_id for ranking in rankings for item in ranking.items]
    if named and corpus.ids and corpus.ids.isdisjoint(named):
        raise DataError(
            f"[retrievers] {name}: the retriever's ids and the corpus' ids differ, e.g. {named[0]!r} and "
            f"{min(corpus.ids)!r}. Check document_id, and give the documents that it searches."
        )


def _metadata(rankings: Sequence[Ranking]) -> list[Mapping[str, object]]:
    return [ranking.metadata or {} for ranking in rankings]
