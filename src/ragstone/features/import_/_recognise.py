"""What a source is, by what stands in it."""

import re
from collections.abc import Callable, Mapping, Set
from pathlib import Path

from ragstone.features.import_ import _beir as beir
from ragstone.features.import_ import _faq as faq
from ragstone.features.import_ import _hotpotqa as hotpotqa
from ragstone.features.import_ import _squad as squad
from ragstone.features.import_ import _tables as tables
from ragstone.features.import_ import _trec as trec
from ragstone.features.import_._faq import LABELS
from ragstone.features.import_._rows import Reader
from ragstone.features.import_._sheets import BINARY, first_row, is_parquet, open_text
from ragstone.kernel.errors import ConfigError, DataError, nearest
from ragstone.kernel.records import Document, Question
from ragstone.kernel.tables.columns import field_of

FORMATS = (
    *("table", "squad", "beir", "trec", "faq", "hotpotqa"),
    *("ragas", "deepeval", "phoenix", "langfuse", "documents"),
)

_HEAD = 1 << 15
_LINES = 20
_PAGES = frozenset({".md", ".markdown", ".html", ".htm", ".xhtml"})
_TABLES = frozenset({".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet"})
_QRELS = re.compile(r"\S+\s+\S+\s+\S+\s+-?\d+")
_GRADED = re.compile(r"[^\t\s]+\t[^\t\s]+\t-?\d+(?:\.\d+)?")
_PAIR = re.compile(r"[^\t\s]+\t[^\t]+")
_ASKING = "|".join(dict.fromkeys(question for question, _ in LABELS))
_ASKED = re.compile(rf"(?:\A\W*+|(?<=\w)(?>\W*\n)\W*+)(?:{_ASKING})[ \t]*+\d*+[ \t*_]*+[:.：]", re.IGNORECASE)

EXPORTS: Mapping[str, tuple[Callable[[Set[str]], bool], Reader]] = {
    "ragas": (tables.is_ragas, tables.read_ragas),
    "langfuse": (tables.is_langfuse, tables.read_langfuse),
    "deepeval": (tables.is_deepeval, tables.read_deepeval),
    "phoenix": (tables.is_phoenix, tables.read_phoenix),
}
READERS: Mapping[str, Reader] = {
    "table": tables.read_table,
    "squad": squad.read_squad,
    "hotpotqa": hotpotqa.read_hotpotqa,
    "beir": beir.read_beir,
    "documents": tables.read_documents,
    **{name: reader for name, (_, reader) in EXPORTS.items()},
}


def recognise(path: Path, forced: str | None = None, columns: Mapping[str, str] = {}) -> tuple[str, Reader]:
    """Return the format of a source, one of FORMATS, and what reads it.

    forced: the format that the user says it has. columns: field -> column, see open_sheet. Raises DataError
    where the source tells no format, and ConfigError for a format that there is not.
    """
    if forced is not None and forced not in FORMATS:
        raise ConfigError(f"there is no format {forced!r}. {nearest(forced, FORMATS)}")
    if path.is_dir() or forced == "beir":
        if forced not in (None, "beir"):
            raise DataError(f"{path}: it is a folder, and --format {forced} reads files. Name the files.")
        return "beir", beir.read_beir
    if forced == "faq":
        ending = path.suffix.lower()
        is_table = ending in _TABLES | BINARY or is_parquet(path)
        is_page = not is_table and (ending in _PAGES or bool(_ASKED.search(_head(path))))
        return "faq", faq.read_faq_page if is_page else faq.read_faq_table
    if forced == "trec":
        reader = _trec(_head(path))
        if reader is None:
            raise DataError(
                f"{path}: not a TREC file: topics (<top>, or `id<TAB>question`), qrels (`id 0 "
                "document grade`) or documents (<DOC>)."
            )
        return "trec", reader
    return (forced, READERS[forced]) if forced else _by_content(path, columns)


def _by_content(path: Path, columns: Mapping[str, str]) -> tuple[str, Reader]:
    if is_parquet(path) or path.suffix.lower() in BINARY:
        return _by_columns(path, columns)
    head = _head(path)
    reader = None if path.suffix.lower() in _PAGES else _trec(head)
    if reader is not None:
        return "trec", reader
    if path.suffix.lower() in _PAGES or (path.suffix.lower() not in _TABLES and _ASKED.search(head)):
        return "faq", faq.read_faq_page
    if path.suffix.lower() in _TABLES or head.lstrip()[:1] in ("{", "["):
        return _by_columns(path, columns)
    if any(field_of(name.strip(' "'), Question) for name in re.split(r"[,;\t|\n]", head[:1000])):
        return "table", tables.read_table
    lines = [line.strip() for line in head.splitlines() if line.strip()][:_LINES]
    n_asking = sum(line.endswith(("?", "？", "؟")) for line in lines)
    if path.suffix.lower() == ".txt" and 2 * n_asking > len(lines):
        return "table", tables.read_lines
    raise DataError(f"{path}: cannot tell the format. Give it with --format: {', '.join(FORMATS)}.")


def _by_columns(path: Path, columns: Mapping[str, str]) -> tuple[str, Reader]:
    row = first_row(path, columns)
    names = {name.strip() for name in row}
    if squad.is_squad(row):
        return "squad", squad.read_squad
    if hotpotqa.is_hotpotqa(row):
        return "hotpotqa", hotpotqa.read_hotpotqa
    for name, (fits, reader) in EXPORTS.items():
        if fits(names):
            return name, reader
    known = {field_of(name, Document) for name in names}
    asks = {field_of(name, Question) for name in names}
    if {"id", "text"} <= known and "question" not in asks:
        return "documents", tables.read_documents
    return "table", tables.read_table


def _head(path: Path) -> str:
    with open_text(path) as file:
        return file.read(_HEAD)


def _trec(head: str) -> Reader | None:
    """Return what reads a file of TREC's, None for any other."""
    begins = head.lstrip()[:2000].lower()
    if re.search(r"<top(?:ic)?[\s>]", begins):
        return trec.read_topics
    if "<doc>" in begins and "<docno>" in begins:
        return trec.read_sgml
    lines = [line.rstrip("\r") for line in head.split("\n")[:-1] or [head] if line.strip()][:_LINES]
    if not lines or begins[0] in "{[":
        return None
    if all(_QRELS.fullmatch(line.strip()) for line in lines):
        return trec.read_qrels
    if all(_GRADED.fullmatch(line) for line in lines[1:] or lines) and (
        _GRADED.fullmatch(lines[0]) or lines[0].split("\t")[0] in ("query-id", "query_id", "qid")
    ):
        return trec.read_qrels
    first = [cell.strip().casefold() for cell in lines[0].split("\t")]
    is_header = any(field_of(cell, Question) for cell in first)
    return trec.read_pairs if not is_header and all(_PAIR.fullmatch(line) for line in lines) else None
