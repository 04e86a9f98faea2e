"""How fast the searches are, beside others in the same process: `python benchmarks/search_speed.py`.

Lexical: 20,000 texts of 200 words in memory -> an index that answers, and 1,000 real questions, top 5. The
texts are those of the packs, cut anew at each pass over them; from the second pass on the words that the
packs hold once are made new ones (in several languages: half of them), so that the vocabulary grows as that
of a larger corpus does. Dense: 20,000 x 384 vectors, 1,000 questions, top 5 and 100, all on the same number
of threads. Least wall time of RUNS runs that take turns, and CPU time beside it, to which the threads of all
add: ours and tantivy's index have one that cuts texts or hands them over, and one beside it; questions are
answered on one. A peer that is not installed is left out: `pip install tantivy bm25s numba faiss-cpu`.
"""

import asyncio
import importlib.util
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from ragstone.kernel.records import Chunk, Question
from ragstone.kernel.retrieval.bm25 import rank_by_bm25
from ragstone.kernel.retrieval.ranks import search_exactly
from ragstone.kernel.retrieval.search import build_search

PACKS = Path(__file__).parents[2] / "shared" / "data"
ENGLISH = ("squad2", "clapnq", "agxqa", "bankfaq", "cranfield")
N_TEXTS, N_WORDS, N_QUESTIONS, K, LENGTH = 20_000, 200, 1000, 5, 384
RUNS = 5
INDEX_S, QUESTIONS_A_S = 2.0, 5000  # what the project set itself

Result = TypeVar("Result")
Timed = tuple[str, Callable[[], object]]


class Row(msgspec.Struct):
    """A document's or a question's row of a pack."""

    lang: str
    text: str = ""
    question: str = ""


def read(pack: str, file: str) -> list[Row]:
    """Return the rows of a file of a pack."""
    lines = (PACKS / pack / file).read_bytes().splitlines()
    return [msgspec.json.decode(line, type=Row) for line in lines]


def cut(texts: Sequence[str], n: int, renewed: float, unspaced: bool, seed: int) -> list[str]:
    """Return n texts of N_WORDS words each, cut from these; without spaces, two characters are a word."""
    generator = random.Random(seed)
    times = Counter(word for text in texts for word in text.split())
    cuts: list[str] = []
    words: list[str] = []
    size = n_passes = 0
    while len(cuts) < n:
        for text in generator.sample(texts, len(texts)):
            for word in text.split():
                is_new = n_passes > 0 and times[word] == 1 and generator.random() < renewed
                words.append(f"{chr(97 + n_passes % 26)}{n_passes // 26}{word}" if is_new else word)
                size += max(1, len(word) // 2) if unspaced else 1
                if size >= N_WORDS:
                    cuts.append(" ".join(words))
                    words, size = [], 0
        n_passes += 1
    return cuts[:n]


def short(rows: Sequence[Row], unspaced: bool = False) -> list[str]:
    """Return the questions of 5 to 15 words among these."""
    questions = [row.question for row in rows]
    return [question for question in questions if unspaced or 5 <= len(question.split()) <= 15]


def english() -> tuple[list[str], list[str]]:
    """Return texts and questions in English."""
    texts = [row.text for pack in ENGLISH for row in read(pack, "documents.jsonl")]
    questions = short([row for pack in ("squad2", "clapnq") for row in read(pack, "questions.jsonl")])
    return cut(texts, N_TEXTS, 1.0, False, 0), random.Random(0).sample(questions, N_QUESTIONS)


def ten_languages() -> tuple[list[str], list[str]]:
    """Return texts and questions in ten languages, as many of each."""
    documents, asked = read("xquad", "documents.jsonl"), read("xquad", "questions.jsonl")
    languages = sorted({row.lang for row in documents} - {"el", "ro"})[:10]
    texts: list[str] = []
    questions: list[str] = []
    for seed, lang in enumerate(languages):
        unspaced = lang in ("zh", "th")
        own = [row.text for row in documents if row.lang == lang]
        texts += cut(own, N_TEXTS // len(languages), 0.5, unspaced, seed)
        fitting = short([row for row in asked if row.lang == lang], unspaced)
        questions += random.Random(seed).sample(fitting, N_QUESTIONS // len(languages))
    random.Random(0).shuffle(texts)
    return texts, questions


def wait(for_this: Awaitable[Result]) -> Result:
    """Return the result."""

    async def waiting() -> Result:
        return await for_this

    return asyncio.run(waiting())


def measure(timed: Sequence[Timed]) -> dict[str, tuple[float, float]]:
    """Return the least wall and CPU seconds of each; they take turns, so that all meet the same machine."""
    least = {name: (float("inf"), float("inf")) for name, _ in timed}
    for _ in range(RUNS):
        for name, call in timed:
            started, before = time.perf_counter(), time.process_time()
            call()
            wall, cpu = time.perf_counter() - started, time.process_time() - before
            least[name] = (min(least[name][0], wall), min(least[name][1], cpu))
    return least


def show(title: str, timed: Sequence[Timed], n: int | None = None, wanted: str = "") -> None:
    """Print a line for each: seconds, CPU seconds, ratio to the first, questions a second."""
    print(f"\n{title:<52}{'wall s':>8}{'CPU s':>8}{'ratio':>7}{'a second':>10}")
    least = measure(timed)
    (first, _), *_ = least.values()
    for name, (wall, cpu) in least.items():
        rate = f"{n / wall:10,.0f}" if n else f"{'':10}"
        print(f"  {name:<50}{wall:8.3f}{cpu:8.3f}{wall / first:7.2f}{rate}   {wanted}", flush=True)
        wanted = ""


def has(name: str) -> bool:
    """Say whether a peer is installed."""
    if importlib.util.find_spec(name):
        return True
    print(f"(without {name}: it is not installed)")
    return False


def bm25s_index(texts: Sequence[str], backend: str) -> tuple[object, object]:
    """Index with bm25s and its own tokeniser, without stop words, as we use none."""
    import bm25s

    tokenizer = bm25s.tokenization.Tokenizer(stopwords=[])
    index = bm25s.BM25(method="lucene", k1=1.2, b=0.75, backend=backend)
    index.index(tokenizer.tokenize(texts, show_progress=False), show_progress=False)
    return index, tokenizer


def bm25s_search(held: tuple[object, object], questions: Sequence[str]) -> object:
    """Answer with bm25s, on one thread, as ours."""
    index, tokenizer = held
    tokens = tokenizer.tokenize(questions, update_vocab=False, show_progress=False, return_as="tuple")  # type: ignore[attr-defined]
    return index.retrieve(tokens, k=K, show_progress=False, n_threads=1)  # type: ignore[attr-defined]


def tantivy_index(texts: Sequence[str], words: str) -> object:
    """Index with tantivy on one thread beside this one, with its own tokeniser."""
    import tantivy

    schema = tantivy.SchemaBuilder()
    schema.add_text_field("text", stored=False, tokenizer_name=words)
    schema.add_integer_field("position", stored=True)
    index = tantivy.Index(schema.build())
    writer = index.writer(heap_size=500_000_000, num_threads=1)
    for position, text in enumerate(texts):
        writer.add_document(tantivy.Document(text=text, position=position))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    return index


def tantivy_search(index: object, questions: Sequence[str]) -> None:
    """Answer with tantivy; a question is the words in it, any of which may match."""
    searcher = index.searcher()  # type: ignore[attr-defined]
    for question in questions:
        plain = "".join(letter if letter.isalnum() else " " for letter in question)
        searcher.search(index.parse_query(plain.lower(), ["text"]), K)  # type: ignore[attr-defined]


def lexical(title: str, texts: list[str], questions: list[str]) -> None:
    """Print the time to index and to search."""
    numba = has("numba")
    backends = [name for name in ("numpy", "numba") if name == "numpy" or numba] if has("bm25s") else []
    tantivy = has("tantivy")
    index: list[Timed] = [("ours", lambda: rank_by_bm25(texts))]
    index += [
        (f"bm25s, {backend}, its tokeniser", lambda backend=backend: bm25s_index(texts, backend))  # type: ignore[misc]
        for backend in backends
    ]
    if tantivy:
        index.append(("tantivy, its tokeniser", lambda: tantivy_index(texts, "default")))
    show(f"{title}: index {len(texts):,} texts", index, wanted=f"want <= {INDEX_S} s")

    chunks = [
        Chunk(id=f"{at}", document_id=f"{at}", text=text, start=0, end=len(text))
        for at, text in enumerate(texts)
    ]
    rows = [Question(id=f"{at}", question=question) for at, question in enumerate(questions)]
    search, rank = wait(build_search("bm25", chunks)), rank_by_bm25(texts)
    asked: list[Timed] = [
        ("ours, as users get it (rankings)", lambda: wait(search(rows, K))),
        ("ours, positions and scores", lambda: wait(rank(questions, K, None))),
        ("ours, top 100", lambda: wait(rank(questions, 100, None))),
    ]
    for backend in backends:
        held = bm25s_index(texts, backend)
        asked.append((f"bm25s, {backend}", lambda held=held: bm25s_search(held, questions)))  # type: ignore[misc]
    if tantivy:
        built = tantivy_index(texts, "default")
        asked.append(("tantivy", lambda: tantivy_search(built, questions)))
    wanted = f"want >= {QUESTIONS_A_S:,} a second"
    show(f"{title}: {len(questions):,} questions, top {K}", asked, len(questions), wanted)


def by_argpartition(passages: NDArray[np.float32], queries: NDArray[np.float32], k: int) -> None:
    """Search as one would write it, in blocks of 256 questions."""
    for start in range(0, len(queries), 256):
        scores = queries[start : start + 256] @ passages.T
        places = np.argpartition(scores, len(passages) - k, axis=1)[:, -k:]
        values = np.take_along_axis(scores, places, axis=1)
        np.take_along_axis(places, np.argsort(-values, axis=1), axis=1)


def dense() -> None:
    """Print the time of exact search among vectors."""
    generator = np.random.default_rng(0)
    passages, queries = (generator.standard_normal((n, LENGTH), np.float32) for n in (N_TEXTS, N_QUESTIONS))
    passages /= np.linalg.norm(passages, axis=1, keepdims=True)
    queries /= np.linalg.norm(queries, axis=1, keepdims=True)
    faiss = has("faiss")
    for k in (K, 100):
        timed: list[Timed] = [
            ("ours", lambda k=k: search_exactly(passages, queries, k)),  # type: ignore[misc]
            ("NumPy, argpartition", lambda k=k: by_argpartition(passages, queries, k)),  # type: ignore[misc]
            ("NumPy, the product alone", lambda: queries @ passages.T),
        ]
        if faiss:
            import faiss as library

            flat = library.IndexFlatIP(LENGTH)
            flat.add(passages)
            timed.append(("FAISS flat, inner product", lambda k=k, flat=flat: flat.search(queries, k)))  # type: ignore[misc]
        show(f"{N_TEXTS:,} x {LENGTH}: {N_QUESTIONS:,} questions, top {k}", timed, N_QUESTIONS)


def main() -> None:
    """Print all tables."""
    lexical("English", *english())
    lexical("ten languages", *ten_languages())
    dense()


if __name__ == "__main__":
    main()
