"""How fast files become documents: many files by one and by two processes, duplicates, languages, Excel.

Run: python benchmarks/ingest_files.py [--files 2000] [--documents 20000]. All is made up with a seed; the
fastest of three rounds counts, and what is compared is timed in turn.
"""

import argparse
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from ragstone.kernel.corpus.duplicates import find_duplicates
from ragstone.kernel.corpus.file import IngestOptions
from ragstone.kernel.corpus.ingest import read_corpus
from ragstone.kernel.files.language import detect_language, detect_languages
from ragstone.kernel.records import Document

ROUNDS = 3


def fastest(work: Sequence[Callable[[], object]]) -> list[float]:
    """Return the seconds of each piece of work, the fastest of the rounds."""
    best = [float("inf")] * len(work)
    for _ in range(ROUNDS):
        for number, one in enumerate(work):
            began = time.perf_counter()
            one()
            best[number] = min(best[number], time.perf_counter() - began)
    return best


def words(seed: int) -> list[str]:
    draw = random.Random(seed)
    return ["".join(draw.choices("aeioulnrstmd", k=draw.randint(2, 9))) for _ in range(5000)]


def texts(n_texts: int, n_words: int, seed: int) -> list[str]:
    draw, known = random.Random(seed), words(seed)
    return [" ".join(draw.choices(known, k=n_words)) for _ in range(n_texts)]


def write_pages(folder: Path, n_files: int) -> None:
    for number, text in enumerate(texts(n_files, 1500, 1)):
        paragraphs = "".join(f"<h2>Part {n}</h2><p>{text[n * 900 : n * 900 + 900]}</p>" for n in range(9))
        (folder / f"{number:05}.html").write_text(f"<html><body>{paragraphs}</body></html>", encoding="utf-8")


def write_book(path: Path, n_rows: int) -> None:
    import openpyxl

    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("Rows")
    sheet.append([f"column {n}" for n in range(10)])
    for number, text in enumerate(texts(n_rows, 3, 2)):
        sheet.append([number, text, number / 7] * 3 + [text])
    book.save(path)


def row(what: str, seconds: float, count: int, unit: str) -> None:
    sys.stdout.write(f"{what:<52}{seconds:8.2f} s {count / seconds:12,.0f} {unit}/s\n")


def bench_files(folder: Path, what: str, n_files: int) -> None:
    by_one, by_two = IngestOptions(processes=1), IngestOptions(processes=2)
    one, two = fastest([lambda: read_corpus([folder], by_one), lambda: read_corpus([folder], by_two)])
    row(f"{what}, one process", one, n_files, "files")
    row(f"{what}, two processes", two, n_files, "files")


def copy_pdfs(folder: Path, times: int) -> int:
    """Copy the PDFs of the development pack so often; return how many there are, 0 where it is absent."""
    pdfs = sorted((Path(__file__).parents[2] / "shared" / "data" / "pdfs").glob("*.pdf"))
    for pdf in pdfs:
        for number in range(times):
            shutil.copy(pdf, folder / f"{number}-{pdf.name}")
    return len(pdfs) * times


def bench_book(path: Path) -> None:
    import openpyxl

    write_book(path, 20_000)

    def peer() -> None:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
        for _ in book["Rows"].iter_rows(values_only=True):
            pass
        book.close()

    from ragstone.kernel.files.file import File
    from ragstone.kernel.files.xlsx import read_xlsx

    ours, theirs = fastest([lambda: list(read_xlsx(File(path, "a.xlsx"))), peer])
    row("Excel, 20,000 rows of 10 cells, ours", ours, 20_000, "rows")
    row("Excel, the same, openpyxl read-only", theirs, 20_000, "rows")


def bench_documents(n_documents: int) -> None:
    rows = [Document(id=str(n), text=text) for n, text in enumerate(texts(n_documents, 200, 3))]
    few = [one.text for one in rows[: n_documents // 20]]
    detect_languages(few)
    (found,) = fastest([lambda: find_duplicates(rows)])
    row(f"duplicates of {n_documents:,} documents of 200 words", found, n_documents, "documents")
    alone, together = fastest(
        [lambda: [detect_language(text) for text in few], lambda: detect_languages(few)]
    )
    row(f"language of {len(few):,} documents, one by one", alone, len(few), "documents")
    row(f"language of {len(few):,} documents, together", together, len(few), "documents")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", type=int, default=2000)
    parser.add_argument("--documents", type=int, default=20_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        pages, pdfs = Path(name) / "pages", Path(name) / "pdfs"
        pages.mkdir()
        pdfs.mkdir()
        write_pages(pages, arguments.files)
        bench_files(pages, f"{arguments.files:,} HTML files of 10 kB", arguments.files)
        n_pdfs = copy_pdfs(pdfs, times=20)
        if n_pdfs:
            bench_files(pdfs, f"{n_pdfs} PDFs of 3 pages", n_pdfs)
        bench_book(Path(name) / "a.xlsx")
    bench_documents(arguments.documents)


if __name__ == "__main__":
    main()
