"""What becomes of a PDF: its words against the publisher's, the rows of its tables, and the speed.

`python benchmarks/ingest.py` reads `../shared/data/pdfs` (sources and licences in its SOURCES.md).
"""

import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import pypdfium2

from ragstone.kernel.corpus.readers.pdf.reader import read_pdf
from ragstone.kernel.files.file import File
from ragstone.kernel.records import Document

PDFS = Path(__file__).parents[1].parent / "shared" / "data" / "pdfs"
RUNS = 7
WORD = re.compile(r"\w+")

# The rows as a person reads them off the page; the FBI's, of more numbers, are checked by their sums.
USDA = """
Iowa | 1.35 - 1.42 | 1.38 - 1.43 | 1.27 - 1.35
Minnesota | 1.38 - 1.48 | 1.40 - 1.49 | 1.28 - 1.35
Nebraska | 1.38 - 1.40 | 1.36 - 1.43 | 1.27 - 1.35
South Dakota | 1.48 - 1.55 | 1.49 - 1.55 | 1.28 - 1.34
Eastern Cornbelt | 1.49 - 1.51 | 1.50 - 1.53 | 1.35 - 1.40
Wisconsin | unq | unq | 1.27 - 1.34
Iowa | 2.85 | 2.99 - 3.30 | 2.85 - 3.07
IL/IN/OH | unq | 3.47 - 3.54 | 2.95 - 3.05
Cornstalks | 41.25 | 39.38 | 52.00
Straw | 55.71 | 54.29 | 58.33
Grass | 61.46 | 59.17 | 63.75
Central Illinois | 30.02 - 30.82 | 31.22 - 32.52 | 29.58 - 31.08
Indiana/Ohio | 30.92 - 31.17 | 32.89 - 33.39 | 30.36 - 31.11
Iowa | 30.92 - 31.92 | 31.94 - 33.19 | 30.49 - 31.24
Minnesota | 31.17 - 31.92 | 32.64 - 33.39 | 30.33 - 31.08
Midwest (Food Grade) | 37.88 | 37.75 | 39.75 - 40.75
Chicago | 30.50 | unq | 28.00
Chicago | unq | 34.50 | 30.50
Central U.S. | 23.50 - 25.05 | 23.50 - 23.75 | 20.00 - 20.50
Minneapolis | 23.75 - 25.50 | 24.00 - 25.50 | 21.00 - 24.50
Central U.S. | 23.00 | 22.00 - 23.00 | 18.00
Minneapolis | 22.50 - 24.50 | 22.50 - 24.50 | 18.50 - 23.00
San Joaquin Valley | 23.00 - 24.50 | 23.00 - 25.00 | 19.00 - 24.00
San Francisco | 21.00 - 27.00 | 21.00 - 27.00 | 19.00 - 21.50
Los Angeles | 21.00 - 25.75 | 21.00 - 25.75 | 19.00 - 22.75
CME Group Ethanol ($/gal) | 1.5060 | 1.5410 | 1.3960
CME Group Soybean Oil (cents/lb) | 32.32 | 33.52 | 31.83
NYMEX Crude Oil ($/barrel) | 54.45 | 53.36 | 30.77
NYMEX RBOB ($/gal) | 1.5286 | 1.5247 | 0.9724
NYMEX Natural Gas (mmBtu) | 2.6170 | 2.8540 | 1.8520
NYMEX Heating Oil ($/gal) | 1.6567 | 1.6291 | 1.0792
""".strip().split("\n")
STAFF = """
BAIN, J MATTHEW | 37,499.96
SMITH, ALVARO R | 21,000.00
ARMER, DEREK A | 12,111.06
ENGLERT, PAYTON A | 25,499.96
CAMPBELL, CLAYTON D | 31,111.08
VELEZ-GREEN, ALEXANDER J | 26,874.99
BOLLINGER, ERIN S | 446.87
KISHI, DANIEL M | 11,188.87
LAVALLEY, ROBERT CLINTON | 1,260.00
GRUENDER, BENJAMIN L | 1,458.33
""".strip().split("\n")
TRAVEL = """
01 920.68 02 907.96 03 737.94 04 903.90 05 798.90 26 521.00 27 349.60 29 477.60 31 618.00 32 553.30
33 601.30 34 601.30 40 304.30 41 697.00 45 1,112.00 46 728.30 47 463.30 49 70.00 67 685.01 68 411.49
69 411.49 70 411.49
"""
STATES, CHECKS = 55, 22  # rows of the FBI's table, and numbers in each: 21 counts and their sum


def words_of(text: str) -> list[str]:
    """Return the words of a text: letters and figures, in small letters."""
    return WORD.findall(text.lower())


def common_words(gold: Sequence[str], found: Sequence[str]) -> list[int]:
    """Return the places in `found` of a longest common subsequence of words with `gold`."""
    lengths = [[0] * (len(found) + 1)]
    for word in gold:
        above, row = lengths[-1], [0]
        for column, other in enumerate(found):
            row.append(above[column] + 1 if word == other else max(above[column + 1], row[column]))
        lengths.append(row)
    places: list[int] = []
    line, column = len(gold), len(found)
    while line and column:
        if gold[line - 1] == found[column - 1] and lengths[line][column] == lengths[line - 1][column - 1] + 1:
            places.append(column - 1)
            line, column = line - 1, column - 1
        elif lengths[line - 1][column] >= lengths[line][column - 1]:
            line -= 1
        else:
            column -= 1
    return places[::-1]


def plain(path: Path) -> str:
    """Return PDFium's own text of a PDF, page after page."""
    pdf = pypdfium2.PdfDocument(path)
    texts = []
    for page in pdf:
        layer = page.get_textpage()
        texts.append(layer.get_text_range())
        layer.close()
        page.close()
    pdf.close()
    return "\n".join(texts)


class Agreement(NamedTuple):
    """How the words of a text agree with the publisher's, as shares of the publisher's number of words.

    extra: words that the publisher's text lacks; of them those in the list of references, which it leaves out
    by design, and elsewhere.
    """

    recall: float
    extra: float
    references: float
    elsewhere: float


def agreement(gold: Sequence[str], text: str, parts: Sequence[tuple[str, int, int]]) -> Agreement:
    """Return how a text agrees with the gold words. parts: name, start and end of parts of the text."""
    found = [(word[0], word.start()) for word in WORD.finditer(text.lower())]
    matched = set(common_words(gold, [word for word, _ in found]))
    extra = dict.fromkeys(Agreement._fields[2:], 0)
    for place, (_, at) in enumerate(found):
        if place not in matched:
            extra[next((name for name, start, end in parts if start <= at < end), "elsewhere")] += 1
    shares = {name: count / len(gold) for name, count in extra.items()}
    return Agreement(len(matched) / len(gold), sum(shares.values()), **shares)


def parts_of(text: str) -> list[tuple[str, int, int]]:
    """Return the part of an article in JOSE that its gold text leaves out and ours keeps."""
    return [("references", text.rindex("\n\nReferences\n\n"), len(text))]


def table_rows(name: str, text: str) -> tuple[int, int]:
    """Return how many rows of a table a text has, label and numbers in order, and how many there are."""
    rows = [line.split(" | ") for line in text.split("\n")]
    if name.startswith("usda"):
        prices = [row.split(" | ") for row in USDA]
        return count(rows, prices, lambda row, gold: row[: len(gold)] == gold), len(prices)
    if name.startswith("senate"):
        staff = [row.split(" | ") for row in STAFF]
        amounts = TRAVEL.split()
        bills = [[f"DHAW201900{n}", amount] for n, amount in zip(amounts[::2], amounts[1::2], strict=True)]
        found = count(rows, staff, lambda row, gold: [row[0], row[-1]] == gold)
        found += count(rows, bills, lambda row, gold: [row[0], row[-1]] == gold and has_dates(row))
        return found, len(staff) + len(bills)
    return fbi_rows(rows), STATES + 1


def count(
    rows: list[list[str]], wanted: list[list[str]], same: Callable[[list[str], list[str]], bool]
) -> int:
    """Return how many of the wanted rows are there, each at a place of its own."""
    left = list(rows)
    found = 0
    for gold in wanted:
        place = next((n for n, row in enumerate(left) if same(row, gold)), None)
        if place is not None:
            del left[place]
            found += 1
    return found


def has_dates(row: list[str]) -> bool:
    """Return whether a row of the Senate's table has its three dates in their columns."""
    return len(row) == 7 and all(re.fullmatch(r"\d\d/\d\d/2019", row[column]) for column in (1, 3, 4))


def fbi_rows(rows: list[list[str]]) -> int:
    """Return how many rows have 21 counts that add up to their sum, and 1 more if the columns do.

    The two columns of rentals are blank but in the totals, where they are 0. One row has spaces for commas.
    """
    numbers = [
        [int(re.sub("[, ]", "", cell)) for cell in row[1:]]
        for row in rows
        if len(row) > CHECKS and all(re.fullmatch("[0-9][0-9, ]*", cell) for cell in row[1:])
    ]
    states = [row for row in numbers if len(row) == CHECKS]
    totals = next((row[:15] + row[17:] for row in numbers if len(row) == CHECKS + 2), [])
    right = sum(sum(row[:-1]) == row[-1] for row in states)
    return right + (bool(states) and [sum(column) for column in zip(*states, strict=True)] == totals)


def ours(path: Path) -> str:
    """Return the text of the document that a PDF becomes."""
    return document(path).text


def document(path: Path) -> Document:
    """Return the document that a PDF becomes."""
    return next(read_pdf(File(path, path.name)))


def cpu_s(work: Callable[[Path], object], path: Path) -> float:
    """Return the CPU time of a call in seconds, which other processes disturb less than its duration."""
    before = time.process_time()
    work(path)
    return time.process_time() - before


def show_words() -> None:
    """Print how the text of the journal articles agrees with the publisher's."""
    parts = "".join(f"{part:>12}" for part in Agreement._fields[2:])
    print(f"{'words beside the publisher':<34}{'recall':>8}{'extra':>8}, of them{parts}")
    for name in ("jose-00241", "jose-00197"):
        path = PDFS / f"{name}.pdf"
        gold = words_of((PDFS / f"{name}.gold.txt").read_text(encoding="utf-8"))
        text = ours(path)
        found, before = agreement(gold, text, parts_of(text)), agreement(gold, plain(path), [])
        shares = "".join(f"{share:12.1%}" for share in found[2:])
        print(f"{name:<34}{found.recall:8.4f}{found.extra:8.1%}{'':9}{shares}")
        print(f"{'  PDFium, plain':<34}{before.recall:8.4f}{before.extra:8.1%}")


def show_tables() -> None:
    """Print how many rows of the tables are found."""
    print(f"\n{'rows of tables':<34}{'found':>8}{'of':>8}")
    for name in ("usda-ag-energy-round-up", "fbi-nics-background-checks", "senate-expenditures"):
        found, n = table_rows(name, ours(PDFS / f"{name}.pdf"))
        print(f"{name:<34}{found:>8}{n:>8}")


def show_speed() -> None:
    """Print pages a second beside PDFium's plain extraction in the same process, the best of several runs."""
    print(f"\n{'pages a second of CPU time':<34}{'pages':>8}{'plain':>8}{'ours':>8}{'times':>8}")
    totals = [0.0, 0.0, 0.0]
    for path in sorted(PDFS.glob("*.pdf")):
        pairs = [(cpu_s(plain, path), cpu_s(ours, path)) for _ in range(RUNS)]
        best = [len(pypdfium2.PdfDocument(path)), *(min(times) for times in zip(*pairs, strict=True))]
        totals = [total + one for total, one in zip(totals, best, strict=True)]
        show_row(path.stem, *best)
    show_row("all", *totals)


def show_row(name: str, pages: float, plain_s: float, ours_s: float) -> None:
    """Print one line of the table of speeds."""
    print(f"{name:<34}{pages:>8.0f}{pages / plain_s:8.0f}{pages / ours_s:8.0f}{ours_s / plain_s:8.2f}")


if __name__ == "__main__":
    show_words()
    show_tables()
    show_speed()
