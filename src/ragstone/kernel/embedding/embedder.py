"""A model over its store: each text is embedded once, and every vector is looked at before it is used."""

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from threading import Lock

import numpy as np

from ragstone.kernel.embedding._cache import load_vectors, store_vectors
from ragstone.kernel.embedding.model import BATCH, EmbeddingModel, Role, TextRefused, Vectors, rounded
from ragstone.kernel.errors import DataError, ModelError, plural
from ragstone.kernel.llm import CallFailed
from ragstone.kernel.llm.limits import CallsStopped

STORE = "embeddings.sqlite"
REMEMBERED = 2048  # texts that are not stored, whose vectors stay in memory: 3 MB at 384 numbers

Bar = Callable[[int], AbstractContextManager[Callable[[], None]]]
"""How many texts are embedded -> a context that gives a function to call for each of them."""


class Embedder:
    """An Embed that asks its store first and counts: a class, since the counts outlive a call.

    identity: what the store knows its model by. n_embedded: texts that the model embedded. n_cached: texts
    that it had not to, because the store, or the same call, held the same text in the same role, or because
    they are blank. Threads that share one wait for each other, so that none pays for what another asks.
    """

    def __init__(
        self,
        model: EmbeddingModel,
        store: Path | None,
        kept: Collection[Role] = ("passage", "query"),
        *,
        as_given: bool = False,
    ) -> None:
        """kept: texts of these roles are looked up in the store, and their vectors are written to it.

        as_given: vectors keep the length that the model gives them; their identity ends with `#as-given`. Of
        other roles the last REMEMBERED vectors stay in memory: one question is embedded by search, by the
        guard of the scope and by the planner.
        """
        self.identity = model.identity + ("#as-given" if as_given else "")
        self.at_once = model.at_once
        self.n_embedded = 0
        self.n_cached = 0
        self._model = model
        self._store = store
        self._kept = kept
        self._known: dict[bytes, Vectors] = {}
        self._recent: OrderedDict[bytes, Vectors] = OrderedDict()
        self._dimension: int | None = None
        self._as_given = as_given
        self._half = model.half and not as_given
        self._closed = False
        self._lock = Lock()

    def __call__(self, texts: Sequence[str], role: Role, bar: Bar | None = None) -> Vectors:
        """Return (n, d) vectors, one a text, of length 1 unless as given; a blank text gets zeros.

        bar: shows how far it is, if there are more texts than a batch. No text: (0, 0).

        Raises CallFailed with what became of it if an endpoint embeds some texts only (TextRefused for one
        that it does not take), ModelError if the model gives another shape or numbers that are not finite,
        DataError if all texts are blank.
        """
        results = self.each(texts, role, bar)
        failures = [result for result in results if isinstance(result, CallFailed)]
        if failures:
            raise _incomplete(failures, len(texts))
        vectors = [result for result in results if not isinstance(result, CallFailed)]
        return np.stack(vectors) if vectors else np.zeros((0, 0), dtype=np.float32)

    def each(self, texts: Sequence[str], role: Role, bar: Bar | None = None) -> list[Vectors | CallFailed]:
        """Return each text's (d,) vector, or why it has none. Raises what a call does, but CallFailed."""
        return self._found(texts, role, bar, self._store if role in self._kept else None)

    def learn(self, texts: Sequence[str], role: Role) -> None:
        """Embed texts of ours, stored whatever their role; their vectors stay in memory.

        For what questions are compared with: done before the first one comes, and once for all starts.
        Raises what a call does.
        """
        wanted = [text for text in dict.fromkeys(texts) if text.strip()]
        vectors = self._found(wanted, role, None, self._store)
        prefix = self._model.prefixes.get(role, "")
        for text, vector in zip(wanted, vectors, strict=True):
            if isinstance(vector, CallFailed):
                raise vector
            self._known[_key(self.identity, role, prefix + text)] = vector

    def lacking(self, texts: Sequence[str], role: Role) -> list[str]:
        """Return the texts, each once, whose vectors the store does not hold; blank ones need none."""
        prefix = self._model.prefixes.get(role, "")
        by_key = {_key(self.identity, role, prefix + text): text for text in texts if text.strip()}
        held = load_vectors(self._store, list(by_key), half=self._half) if self._store else {}
        return [text for key, text in by_key.items() if key not in held]

    def take(self, texts: Sequence[str], role: Role, vectors: Vectors) -> None:
        """Keep vectors that another process made with this embedder. Raises ModelError as a call does."""
        prefix = self._model.prefixes.get(role, "")
        pairs = zip(texts, vectors, strict=True)
        by_key = {_key(self.identity, role, prefix + text): vector for text, vector in pairs if text.strip()}
        with self._lock:
            self._checked(by_key)
            if self._store:
                store_vectors(self._store, by_key, half=self._half)
            else:
                self._known.update(by_key)

    def _found(
        self, texts: Sequence[str], role: Role, bar: Bar | None, store: Path | None
    ) -> list[Vectors | CallFailed]:
        prefix = self._model.prefixes.get(role, "")
        keys = [_key(self.identity, role, prefix + text) if text.strip() else b"" for text in texts]
        by_key = {key: prefix + text for key, text in zip(keys, texts, strict=True) if key}
        with self._lock:
            by_hash = self._in_memory(by_key)
            if store and len(by_hash) < len(by_key):
                wanted = [key for key in by_key if key not in by_hash]
                by_hash |= self._checked(load_vectors(store, wanted, half=self._half))
            absent = [key for key in by_key if key not in by_hash]
            if absent:
                with bar(len(absent)) if bar and len(absent) > BATCH else nullcontext(_nothing) as advance:
                    by_hash |= self._embed(absent, by_key, role, advance, store)
            if role not in self._kept:
                self._remember({key: by_hash[key] for key in by_key})
            self.n_cached += len(keys) - len(absent)
        if not all(keys):
            if self._dimension is None:
                raise DataError(f"all {len(texts)} texts to embed are blank. Check that the rows hold text.")
            by_hash[b""] = np.zeros(self._dimension, dtype=np.float32)
        return [by_hash[key] for key in keys]

    def _in_memory(self, keys: Iterable[bytes]) -> dict[bytes, Vectors | CallFailed]:
        vectors: dict[bytes, Vectors | CallFailed] = {}
        for key in keys:
            vector = self._known.get(key, self._recent.get(key))
            if vector is not None:
                vectors[key] = vector
        return vectors

    def _remember(self, vectors: Mapping[bytes, Vectors | CallFailed]) -> None:
        """Keep vectors as the latest, and let go of the oldest beyond REMEMBERED."""
        for key, vector in vectors.items():
            if not isinstance(vector, CallFailed) and key not in self._known:
                self._recent[key] = vector
                self._recent.move_to_end(key)
        while len(self._recent) > REMEMBERED:
            self._recent.popitem(last=False)

    def close(self) -> None:
        """Begin no more batches, in whichever thread; those under way are stored. A second time: nothing."""
        self._closed = True
        self._model.close()

    def _embed(
        self,
        keys: Sequence[bytes],
        texts: Mapping[bytes, str],
        role: Role,
        advance: Callable[[], None],
        store: Path | None,
    ) -> dict[bytes, Vectors | CallFailed]:
        results: dict[bytes, Vectors | CallFailed] = {}

        def keep(positions: Sequence[int], result: Vectors | CallFailed) -> None:
            if isinstance(result, CallFailed):
                results.update({keys[at]: result for at in positions})
                return
            vectors = self._checked_rows(result, len(positions))
            fresh = self._checked(dict(zip([keys[at] for at in positions], vectors, strict=True)))
            if store:
                store_vectors(store, fresh, half=self._half)
            results.update(fresh)
            self.n_embedded += len(positions)
            for _ in positions:
                advance()
            if self._closed:
                raise CallsStopped("the run was stopped before all texts were embedded")

        self._model.embed([texts[key] for key in keys], role, keep)
        return results

    def _checked_rows(self, result: Vectors, n_texts: int) -> Vectors:
        vectors = np.asarray(result, dtype=np.float32)
        if vectors.ndim != 2 or len(vectors) != n_texts or not np.isfinite(vectors).all():
            raise ModelError(
                f"embedder {self.identity!r} gave an array of shape {vectors.shape} for "
                f"{plural(n_texts, 'text')}, or numbers that are not finite. Use another embedder."
            )
        lengths: Vectors = np.linalg.norm(vectors, axis=1, keepdims=True)
        if n_texts > 1 and not lengths.any():  # a single text may hold no word that the model knows
            raise ModelError(
                f"embedder {self.identity!r} gave nothing but zeros for {plural(n_texts, 'text')}: it does "
                "not work. Check the model that is served, or use another embedder."
            )
        lengths[lengths == 0] = 1
        if self._as_given:
            return vectors
        units: Vectors = vectors / lengths
        return rounded(units) if self._half else units

    def _checked(self, vectors: dict[bytes, Vectors]) -> dict[bytes, Vectors]:
        """Return the vectors, if all that this embedder ever gave are of one dimension. Raises ModelError."""
        lengths = {len(vector) for vector in vectors.values()}
        if self._dimension is not None:
            lengths.add(self._dimension)
        if len(lengths) > 1:
            where = f", or delete {self._store}: it is only a cache" if self._store else ""
            raise ModelError(
                f"embedder {self.identity!r} gives vectors of {' and of '.join(map(str, sorted(lengths)))} "
                "numbers: another model is served under this name than before, or its settings changed. "
                f"Give it another name{where}."
            )
        self._dimension = next(iter(lengths), None)
        return vectors


def _incomplete(failures: Sequence[CallFailed], n_texts: int) -> CallFailed:
    """Return the failure of a call in which some texts got no vector."""
    first = next((failure for failure in failures if isinstance(failure, TextRefused)), failures[0])
    if isinstance(first, TextRefused):
        return first
    return CallFailed(
        first.status,
        f"{str(first).rstrip('.')}. Of {plural(n_texts, 'text')}, {n_texts - len(failures):,} are embedded "
        "and stored: run the same command again to continue from there.",
    )


def _nothing() -> None:
    """Show nothing."""


def _key(identity: str, role: Role, text: str) -> bytes:
    content = f"{identity}\0{role}\0{text}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(content, digest_size=16).digest()
