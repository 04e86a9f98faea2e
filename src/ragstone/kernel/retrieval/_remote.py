"""A retriever behind HTTP: the question goes out as JSON, results come back and are placed in the corpus.

What becomes of a question whose call fails after all its attempts: an empty ranking, with the reason as
`error` in its `metadata`. It counts as a question for which nothing was found, and is said.
"""

import asyncio
import math
import random
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

import msgspec

from ragstone.kernel.config import HttpSettings
from ragstone.kernel.errors import ConfigError, DataError, ModelError
from ragstone.kernel.llm import CallFailed
from ragstone.kernel.llm.json_service import (
    Json,
    Pick,
    Post,
    Values,
    check_key,
    check_places,
    compile_path,
    described,
    open_json_service,
)
from ragstone.kernel.llm.keys import without_password
from ragstone.kernel.llm.limits import backoff_s
from ragstone.kernel.records import Chunk, Document, Question, Ranking, RankingItem
from ragstone.kernel.retrieval.deps import ChunkFilter, RetrieverDeps, Search, question_tags


class RemoteResult(msgspec.Struct, frozen=True, kw_only=True):
    """One result as a retriever elsewhere returned it."""

    document_id: str
    chunk_id: str | None = None
    text: str | None = None
    score: float | None = None


class PlacedCorpus:
    """What the results are placed in: ids of documents, their texts where there are any, chunks by id."""

    def __init__(self, chunks: Sequence[Chunk], documents: Mapping[str, Document]) -> None:
        self.chunks = {chunk.id: chunk for chunk in chunks}
        self.documents = documents
        self.ids = {chunk.document_id for chunk in chunks} | set(documents)


def place_items(results: Sequence[RemoteResult], corpus: PlacedCorpus) -> list[RankingItem]:
    """Return the results as items, in their order, each of them once.

    A text that stands in its document gets `start` and `end`: it is looked for as it is, then with any white
    space for each gap. Any other text is kept in the item. Scores are the retriever's where each result has
    one and they do not rise (distances do), else 1 / place.
    """
    items: list[RankingItem] = []
    seen: set[RankingItem] = set()
    for result in results:
        item = _placed(result, corpus)
        if (unscored := msgspec.structs.replace(item, score=0.0)) not in seen:
            seen.add(unscored)
            items.append(item)
    scores = [item.score for item in items]
    falling = all(math.isfinite(score) for score in scores) and scores == sorted(scores, reverse=True)
    if falling and all(result.score is not None for result in results):
        return items
    return [msgspec.structs.replace(item, score=1 / unscored) for unscored, item in enumerate(items, 1)]


def _placed(result: RemoteResult, corpus: PlacedCorpus) -> RankingItem:
    item = RankingItem(
        document_id=result.document_id,
        chunk_id=result.chunk_id,
        score=0.0 if result.score is None else result.score,
    )
    if result.text is None:
        chunk = corpus.chunks.get(result.chunk_id or "")
        if chunk is None or chunk.document_id != result.document_id:
            return item
        return msgspec.structs.replace(item, start=chunk.start, end=chunk.end)
    document = corpus.documents.get(result.document_id)
    span = None if document is None else locate(result.text, document.text)
    if span is None:
        return msgspec.structs.replace(item, text=result.text)
    return msgspec.structs.replace(item, start=span[0], end=span[1])


def locate(text: str, within: str) -> tuple[int, int] | None:
    """Return where a text stands in another, the first time; None where it does not."""
    text = text.strip()
    start = within.find(text)
    if start >= 0:
        return start, start + len(text)
    match = _spaced(text).search(within)
    return match.span() if match else None


@lru_cache(maxsize=4096)
def _spaced(text: str) -> re.Pattern[str]:
    return re.compile(r"\s+".join(map(re.escape, text.split())))


ATTEMPTS = 4
LOST_IN_A_ROW = 20  # calls given up, and none answered between them: nothing more will come
PLACES = ("question", "k", "lang")
TAG = "tag."


class _ResultForm(msgspec.Struct, frozen=True, kw_only=True):
    """Where things stand in a reply."""

    items: Pick
    list_of_items: Pick
    fields: dict[str, tuple[str, Pick]]  # field -> its path as declared, and compiled


def search_elsewhere(
    name: str, declared: HttpSettings, chunks: Sequence[Chunk], deps: RetrieverDeps
) -> Search:
    """Return the search that asks the endpoint for each question, some of them at a time.

    Ids that the corpus lacks are kept: they count as not relevant. Raises ConfigError for a template or a
    path that cannot be, and for a filter that the request does not pass on; ModelError offline, without the
    key, and where no question is answered; DataError where not one id of all results is in the corpus.
    """
    _check_places(name, declared, deps.filter)
    form = _form(name, declared)
    corpus = PlacedCorpus(chunks, deps.documents)

    async def search(questions: Sequence[Question], k: int) -> list[Ranking]:
        if deps.offline:
            url = without_password(declared.url)
            raise ModelError(f"--offline, but the retriever {name!r} is asked at {url}.")
        where = f"[retrievers] {name}"
        check_key(declared, where)
        async with open_json_service(declared, where) as post:
            line = _RetrieverEndpoint(name, declared.max_concurrency, post)

            async def work(question: Question) -> Ranking:
                if not question.question.strip():
                    return Ranking(question_id=question.id, retriever="", items=[])
                try:
                    reply = await line.ask(_values(question, k, deps.filter))
                    items = place_items(_read(reply, form)[:k], corpus)
                except CallFailed as failure:
                    line.lose(failure)
                    error = {"error": f"{failure.status}: {failure}"}
                    return Ranking(question_id=question.id, retriever="", items=[], metadata=error)
                line.n_lost = 0
                return Ranking(question_id=question.id, retriever="", items=items)

            rankings = await deps.each(f"retrieve {name}", work, questions)
        _check_rankings(name, rankings, corpus)
        return rankings

    return search


class _RetrieverEndpoint:
    """A connection to the endpoint, some calls at once, and how many in a row came to nothing."""

    def __init__(self, name: str, max_concurrency: int, post: Post) -> None:
        self.n_lost = 0
        self._name = name
        self._post = post
        self._slots = asyncio.Semaphore(max_concurrency)
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
        try:
            return await self._post(values)
        except CallFailed:
            raise
        except ModelError as refusal:  # of the key or the address: what was found so far is kept
            raise CallFailed("error", str(refusal)) from None


def _form(name: str, declared: HttpSettings) -> _ResultForm:
    paths = {
        field: getattr(declared, field)
        for field in ("document_id", "chunk_id", "text", "score")
        if getattr(declared, field) is not None
    }
    return _ResultForm(
        items=compile_path(declared.items, f"[retrievers] {name}: items"),
        list_of_items=compile_path(declared.items.removesuffix("[*]"), f"[retrievers] {name}: items"),
        fields={
            field: (path, compile_path(path, f"[retrievers] {name}: {field}"))
            for field, path in paths.items()
        },
    )


def _read(reply: Json, form: _ResultForm) -> list[RemoteResult]:
    """Return the results of a reply, best first. Raises CallFailed where it has another form."""
    results = form.items(reply)
    if not results and not form.list_of_items(reply):
        there = f"it is {described(reply, list)}"
        raise CallFailed("unparsable", f"the reply has nothing at `items`; {there}")
    if len(results) == 1 and isinstance(results[0], list):  # the path of the list itself
        results = results[0]
    return [_result(item, form) for item in results]


def _result(item: Json, form: _ResultForm) -> RemoteResult:
    values: dict[str, Json] = {}
    for field, (_, pick) in form.fields.items():
        values[field] = next(iter(pick(item)), None)
    document_id, score, text = values["document_id"], values.get("score"), values.get("text")
    if not isinstance(document_id, str | int) or isinstance(document_id, bool):
        path = form.fields["document_id"][0]
        raise CallFailed(
            "unparsable", f"a result has no id at document_id = {path!r}; it is {described(item)}"
        )
    chunk_id = values.get("chunk_id")
    return RemoteResult(
        document_id=str(document_id),
        chunk_id=str(chunk_id) if isinstance(chunk_id, str | int) else None,
        text=text if isinstance(text, str) and text.strip() else None,
        score=float(score) if isinstance(score, int | float) and not isinstance(score, bool) else None,
    )


def _values(question: Question, k: int, among: ChunkFilter) -> Values:
    tags = {**question_tags(question), **among.where}
    return {
        "question": question.question,
        "k": k,
        "lang": tags.get("lang"),
        **{TAG + key: value for key, value in tags.items()},
    }


def _check_places(name: str, declared: HttpSettings, among: ChunkFilter) -> None:
    """Raise ConfigError for a place that nothing fills, and for a filter that the request does not pass."""
    places = check_places(declared, f"[retrievers] {name}", PLACES, ("question",), TAG)
    for key in [*among.where, *among.match]:
        if TAG + key not in places and not (key == "lang" and "lang" in places):
            raise ConfigError(
                f"[retrievers] {name}: its request does not pass on the filter {key!r}. Put "
                f"{{tag.{key}}} into `request`, or ask without the filter."
            )


def _check_rankings(name: str, rankings: Sequence[Ranking], corpus: PlacedCorpus) -> None:
    """Raise ModelError where no question was answered, DataError where no id is one of the corpus."""
    errors = [note["error"] for ranking in rankings if "error" in (note := ranking.metadata or {})]
    if errors and len(errors) == len(rankings):
        raise ModelError(f"[retrievers] {name}: no question was answered: {errors[0]}")
    named = [item.document_id for ranking in rankings for item in ranking.items]
    if named and corpus.ids and corpus.ids.isdisjoint(named):
        raise DataError(
            f"[retrievers] {name}: the retriever's ids and the corpus' ids differ, e.g. {named[0]!r} and "
            f"{min(corpus.ids)!r}. Check document_id, and give the documents that it searches."
        )
