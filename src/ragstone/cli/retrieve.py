"""`ragstone retrieve`: questions + documents -> rankings and rank measures. No language model is asked."""

from pathlib import Path

from ragstone.cli.console import say, show, show_json
from ragstone.cli.options import (
    AsJson,
    ChunkMethod,
    ChunkSize,
    Documents,
    Embedder,
    Force,
    Limit,
    Output,
    Questions,
    Retriever,
    Seed,
    TopK,
)


def retrieve(
    questions: Questions,
    documents: Documents,
    *,
    output: Output = Path("rankings.jsonl"),
    retriever: Retriever = "bm25",
    k: TopK = 10,
    method: ChunkMethod = "recursive",
    size: ChunkSize = 1200,
    embedder: Embedder = "packaged",
    limit: Limit = None,
    seed: Seed = 0,
    force: Force = False,
    json: AsJson = False,
) -> None:
    """Rank the chunks of the documents for every question, and measure the ranking."""
    from itertools import islice

    from ragstone.corpus import chunk_documents, read_corpus
    from ragstone.engine import retrieve as rank
    from ragstone.records import Question, Ranking
    from ragstone.report import terminal_retrieval
    from ragstone.retrieval import evaluate_rankings, missing_documents
    from ragstone.tables import check_output, read_rows, write_rows

    check_output(output, force)
    asked = list(islice(read_rows(questions, Question), limit))
    corpus = read_corpus(documents)
    for one in corpus.skipped:
        say(f"skipped {one.path}: {one.reason}")
    missing = missing_documents(asked, corpus.documents)
    if missing:
        example = next(iter(missing.items()))
        say(f"{len(missing)} questions name documents that are not there, e.g. {example[0]}: {example[1][0]}")
    chunks = list(chunk_documents(corpus.documents, method, size))
    rankings = rank(asked, chunks, retriever=retriever, k=k, embedder=embedder)
    write_rows(output, rankings, Ranking, force=force)
    summary = evaluate_rankings(rankings, asked, ks=sorted({1, 3, 5, 10, k}), seed=seed)
    if json:
        show_json({"retrieval": summary, "missing_documents": missing, "output": str(output)})
    else:
        show(terminal_retrieval(summary))
        say(f"{len(rankings)} rankings in {output}.")
