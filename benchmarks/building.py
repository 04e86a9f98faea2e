"""How evaluation sets are built: from real documents by a real model, and what Ragstone's own time is.

    python -m benchmarks.building                    # a scripted model: the time beside the calls
    python -m benchmarks.building --model llamacpp/FILE.gguf --documents 20

With a model: phoenix_docs (prose and Elixir source), agxqa, and xquad's paragraphs in six languages. Each is
built twice; the second build may make no call.
"""

import argparse
import tempfile
import time
from collections import Counter
from itertools import islice
from pathlib import Path

from rich.console import Console
from rich.table import Table
from tests.support.fake_openai import serving
from tests.support.scripted_writer import write_questions

from ragstone.features.build.certificate.page import EvaluationSet
from ragstone.features.build.questions import build_questions
from ragstone.kernel.config import Settings, choose
from ragstone.kernel.corpus.file import IngestOptions
from ragstone.kernel.corpus.ingest import read_corpus
from ragstone.kernel.records import Document
from ragstone.kernel.tables import read_rows

DATA = Path(__file__).parents[1] / ".." / "shared" / "data"
LANGS = ("en", "es", "ru", "hi", "ar", "zh")
SCRIPTED = 2000  # documents


def corpora(n: int) -> dict[str, list[Document]]:
    """Return the documents of each row of the table, n of each, evenly spaced."""
    phoenix = read_corpus([DATA / "phoenix_docs"], IngestOptions(glob=("*.md", "*.ex"))).documents
    found = {
        "phoenix_docs": [one for one in phoenix if Path(one.id).parts[0] in ("guides", "lib")],
        "agxqa": list(read_rows(DATA / "agxqa" / "documents.jsonl", Document)),
    }
    xquad = list(read_rows(DATA / "xquad" / "documents.jsonl", Document))
    found |= {f"xquad {lang}": [one for one in xquad if one.lang == lang] for lang in LANGS}
    return {name: documents[:: max(1, len(documents) // n)][:n] for name, documents in found.items()}


def build(documents: list[Document], settings: Settings) -> tuple[EvaluationSet, float]:
    began = time.perf_counter()
    built = build_questions(documents, settings=settings)
    return built, time.perf_counter() - began


def row(name: str, built: EvaluationSet, seconds: float, n_again: int) -> list[str]:
    lost = Counter(one.loss.reason for one in built.built.candidates if one.loss)
    foreign = sum(n for reason, n in lost.items() if reason == "wrong_language")
    return [
        name,
        str(len(built.built.document_ids)),
        str(built.built.n_asked),
        str(len(built.built.candidates)),
        str(len(built.questions)),
        str(foreign),
        ", ".join(f"{reason} {n}" for reason, n in lost.most_common() if reason != "wrong_language"),
        str(len(built.built.failed)),
        str(built.calls.made),
        f"{seconds:.1f}",
        str(n_again),
    ]


def table(title: str) -> Table:
    heads = "corpus documents asked written accepted foreign lost failed calls s again"
    shown = Table(title=title)
    for head in heads.split():
        shown.add_column(head, justify="left" if head in ("corpus", "lost") else "right")
    return shown


def scripted() -> None:
    """Show how long a build takes whose model answers at once."""
    shown = table("a scripted model, no latency")
    squad = list(islice(read_rows(DATA / "squad2" / "documents.jsonl", Document), SCRIPTED))
    with tempfile.TemporaryDirectory() as folder, serving() as fake:
        fake.script = write_questions
        settings = choose(fake.settings(root=folder), "build", model=fake.model, one_call=True)
        built, seconds = build(squad, settings)
        again, _ = build(squad, settings)
        shown.add_row(*row("squad2", built, seconds, again.calls.made))
    Console(width=150).print(shown)


def real(model: str, n: int, per_document: int) -> None:
    shown = table(f"{model}, {per_document} questions a document")
    with tempfile.TemporaryDirectory() as folder:
        settings = choose(
            Settings(root=folder), "build", model=model, per_document=per_document, one_call=True, planted=0
        )
        for name, documents in corpora(n).items():
            built, seconds = build(documents, settings)
            again, _ = build(documents, settings)
            shown.add_row(*row(name, built, seconds, again.calls.made))
            Console(width=150).print(shown)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", help="a real model, e.g. llamacpp/FILE.gguf")
    parser.add_argument("--documents", type=int, default=10, help="of each corpus")
    parser.add_argument("--per-document", type=int, default=1)
    options = parser.parse_args()
    if options.model:
        real(options.model, options.documents, options.per_document)
    else:
        scripted()


if __name__ == "__main__":
    main()
