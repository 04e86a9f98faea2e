"""What a shortlist finds beside BM25 and all vectors, and what it takes at 100,000 chunks.

    python -m benchmarks.shortlist [quality] [large] [assistant] [--packs FOLDER] [--store FOLDER]

quality: nDCG@10 and recall@5 in % of BM25, of `hybrid` (all vectors) and of a shortlist of 20, 50 and 100, at
most 300 answerable questions of a pack, and the differences to BM25 and to `hybrid` in both, with their
intervals (95 %, paired bootstrap).
The packs in English are searched in one corpus of 4,349 documents, and each language of xquad in its own 180;
`es>en` are Spanish questions to English documents. large: seconds and memory of BM25 and of a shortlist over
100,000 chunks, made of halves of real texts. assistant: builds with `[assistant] shortlist`, of 2,000 files;
CPU seconds without those of the process that reads the files.

--store keeps the vectors: the first time takes 400 CPU seconds.
"""

import argparse
import asyncio
import resource
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from benchmarks import retrieval

from ragstone.kernel.config import AssistantSection, Settings, ShortlistSettings
from ragstone.kernel.embedding.opening import open_embedder
from ragstone.kernel.records import Chunk, Question
from ragstone.kernel.retrieval.deps import RetrieverDeps
from ragstone.kernel.retrieval.query_measures import measure_queries
from ragstone.kernel.retrieval.search import build_search
from ragstone_assistant.building import build_knowledge

ENGLISH = ("agxqa", "clapnq", "squad2", "bankfaq", "cranfield", "xquad/en")
ALONE = ("xquad/es", "xquad/hi", "xquad/zh", "xquad/es>en", "xquad/hi>en", "xquad/zh>en")
QUESTIONS, DEPTH = 300, 10
LENGTHS = (20, 50, 100)
NAMES = ("bm25", "hybrid", *(f"first {n}" for n in LENGTHS))
DECLARED = {f"first {n}": ShortlistSettings(candidates=n) for n in LENGTHS}
MEASURES = ("ndcg@10", "recall@5")
LARGE, ASKED = 100_000, 4
FILES, FILE_CHARACTERS = 2000, 5000


def some(questions: Sequence[Question]) -> list[Question]:
    """Return the answerable questions, evenly spaced."""
    asked = [question for question in questions if question.answerable]
    return asked[:: max(1, len(asked) // QUESTIONS)][:QUESTIONS]


async def show_quality(store: Path) -> None:
    """Print a line for each pack and retriever."""
    packs = {name: retrieval.load_pack(name) for name in (*ENGLISH, *ALONE)}
    english = [chunk for name in ENGLISH for chunk in packs[name].chunks]
    embed = open_embedder("packaged", store)
    deps = RetrieverDeps(retrievers=DECLARED, open_embedder=lambda _name: embed)
    in_one = {name: await build_search(name, english, deps) for name in NAMES}
    for pack, rows in packs.items():
        questions = some(rows.questions)
        values: dict[str, dict[str, np.ndarray]] = {}
        for name in NAMES:
            search = in_one[name] if pack in ENGLISH else await build_search(name, rows.chunks, deps)
            qrels = rows.qrels and {each.id: rows.qrels[each.id] for each in questions}
            measured = measure_queries(await search(questions, DEPTH), questions, qrels=qrels)
            values[name] = {
                key: np.array([of[each.id] for each in questions])
                for key, of in ((key, measured.values[key]) for key in MEASURES)
            }
            cells = [f"{100 * values[name][key].mean():6.1f}" for key in MEASURES]
            for other in ("bm25", "hybrid") if "hybrid" in values else ():
                cells += [difference(values[name][key] - values[other][key]) for key in MEASURES]
            print(f"{pack:<12}{len(questions):>4} {name:<10}{'  '.join(cells)}", flush=True)


def difference(values: np.ndarray) -> str:
    """Return the mean in points with its interval."""
    draw = np.random.default_rng(0)
    drawn = values[draw.integers(0, len(values), (5000, len(values)))].mean(axis=1)
    low, high = np.quantile(drawn, (0.025, 0.975))
    return f"{100 * values.mean():+5.1f} [{100 * low:+5.1f} {100 * high:+5.1f}]"


def large_corpus() -> tuple[list[Chunk], list[Question]]:
    """Return LARGE chunks, each of halves of two texts, and questions about the texts."""
    packs = [retrieval.load_pack(name) for name in ("squad2", "bankfaq", "cranfield")]
    texts = [chunk.text for pack in packs for chunk in pack.chunks]
    draw = np.random.default_rng(0)
    chunks = []
    for n, (first, second) in enumerate(draw.integers(0, len(texts), (LARGE, 2)).tolist()):
        text = texts[first][: len(texts[first]) // 2] + texts[second][len(texts[second]) // 2 :]
        chunks.append(Chunk(id=f"c{n}", document_id=f"d{n}", text=text, start=0, end=len(text)))
    return chunks, some(packs[0].questions)


async def show_large() -> None:
    """Print what it takes to get ready and to ask."""
    chunks, questions = large_corpus()
    print(f"{LARGE:,} chunks of {sum(len(chunk.text) for chunk in chunks) / LARGE:.0f} characters on average")
    with tempfile.TemporaryDirectory() as folder:
        embed = open_embedder("packaged", Path(folder))
        embed(["to load it"], "passage")
        deps = RetrieverDeps(retrievers=DECLARED, open_embedder=lambda _name: embed)
        for name in ("bm25", "first 20", "first 50"):
            before = embed.n_embedded
            cpu, wall = time.process_time(), time.perf_counter()
            search = await build_search(name, chunks, deps)
            built = time.process_time() - cpu, time.perf_counter() - wall
            took = []
            for _ in ("new", "again"):
                cpu, wall = time.process_time(), time.perf_counter()
                for question in questions[:ASKED]:
                    await search([question], DEPTH)
                took.append(((time.process_time() - cpu) / ASKED, (time.perf_counter() - wall) / ASKED))
            print(
                f"{name:<10} ready in {built[0]:.1f} CPU s ({built[1]:.1f} s); a new question "
                f"{took[0][0]:.2f} CPU s ({took[0][1]:.2f} s), "
                f"{(embed.n_embedded - before) / ASKED:.0f} texts embedded for it; the same again "
                f"{took[1][0]:.3f} CPU s ({took[1][1]:.3f} s)",
                flush=True,
            )
            questions = questions[ASKED:]  # others for the next, whose chunks are not embedded yet
    print(f"most memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB")


def show_assistant() -> None:
    """Print what builds of a knowledge base take that embed nothing."""
    text = "\n\n".join(chunk.text for chunk in retrieval.load_pack("squad2").chunks)
    with tempfile.TemporaryDirectory() as folder:
        docs = Path(folder) / "docs"
        docs.mkdir()
        settings = Settings(root=folder, assistant=AssistantSection(shortlist=50))
        step = (len(text) - FILE_CHARACTERS) // FILES
        for n in range(FILES):
            (docs / f"{n:05}.md").write_text(text[n * step : n * step + FILE_CHARACTERS])
        for what in ("first", "nothing changed", "1 % changed"):
            if what == "1 % changed":
                for n in range(FILES // 100):
                    (docs / f"{n:05}.md").write_text(text[-FILE_CHARACTERS - n :][:FILE_CHARACTERS])
            cpu, wall = time.process_time(), time.perf_counter()
            built = build_knowledge([docs], settings)
            print(
                f"{what:<16} {time.process_time() - cpu:6.1f} CPU s  {time.perf_counter() - wall:6.1f} s  "
                f"{built.n_passages:,} passages of {FILES:,} files",
                flush=True,
            )


def main() -> None:
    """Print the parts."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", help="quality, large, assistant; default: all")
    parser.add_argument("--packs", type=Path, default=retrieval.PACKS)
    parser.add_argument("--store", type=Path, default=Path(".ragstone"))
    chosen = parser.parse_args()
    retrieval.PACKS = chosen.packs
    parts = chosen.parts or ["quality", "large", "assistant"]
    if "quality" in parts:
        asyncio.run(show_quality(chosen.store))
    if "large" in parts:
        asyncio.run(show_large())
    if "assistant" in parts:
        show_assistant()


if __name__ == "__main__":
    main()
