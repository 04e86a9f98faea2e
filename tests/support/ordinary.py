"""Ordinary sentences: those of the development data packs, and of what the project ships."""

import json
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from ragstone.kernel.corpus.sentences import sentence_spans

ROOT = Path(__file__).parents[2]
SHIPPED = (
    "README.md",
    "CHANGELOG.md",
    "docs/*.md",
    "docs/[ehrt]*/*.md",
    "examples/**/*.md",
    "src/ragstone/**/*.jsonl",
)
SHORTEST = 10  # characters: what is shorter is a label or a number


@cache
def shipped_sentences() -> tuple[str, ...]:
    """Return the distinct sentences of the documentation, the starter files and the sheets that ship."""
    files = (file for pattern in SHIPPED for file in sorted(ROOT.glob(pattern)))
    return tuple(dict.fromkeys(sentence for file in files for sentence in _sentences_of(file)))


@cache
def pack_sentences(folder: Path) -> tuple[str, ...]:
    """Return the distinct sentences of the data packs, in some twenty languages."""
    files = [*sorted(folder.glob("*/*.jsonl")), *sorted(folder.glob("phoenix_docs/**/*.md"))]
    files += [
        *sorted(folder.glob("*/*.csv")),
        *sorted(folder.glob("pdfs/*.txt")),
        *sorted(folder.glob("pdfs/*.md")),
    ]
    return tuple(dict.fromkeys(sentence for file in files for sentence in _sentences_of(file)))


def _sentences_of(file: Path) -> Iterator[str]:
    content = file.read_text(encoding="utf-8", errors="replace")
    texts = _texts_in(map(json.loads, content.splitlines())) if file.suffix == ".jsonl" else [content]
    for text in texts:
        for start, end in sentence_spans(text):
            sentence = text[start:end]
            if len(sentence) >= SHORTEST and sum(map(str.isalpha, sentence)) * 2 >= len(sentence):
                yield sentence


def _texts_in(values: Iterable[object]) -> Iterator[str]:
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            yield from _texts_in(value)
        elif isinstance(value, dict):
            yield from _texts_in(value.values())
