"""HotpotQA's JSON, and 2WikiMultihopQA, which has its form: questions over several paragraphs."""

from collections.abc import Iterator, Mapping
from typing import Any

from ragstone.features.import_._rows import Found, ImportOptions, Source, changed, skipped
from ragstone.features.import_._sheets import open_sheet
from ragstone.kernel.records import Document, Evidence, Question
from ragstone.kernel.tables.columns import as_object

Cells = dict[str, Any]
Passage = tuple[str, list[str]]

TASK = frozenset({"_id", "id", "question", "answer", "supporting_facts", "context", "type", "level"})
NO_FACT = "a supporting fact is not among its paragraphs: left out of the evidence"


def is_hotpotqa(row: Mapping[str, object]) -> bool:
    """Say whether a row is a question of HotpotQA."""
    return {"question", "supporting_facts", "context"} <= row.keys()


def read_hotpotqa(source: Source, _options: ImportOptions) -> Iterator[Found]:
    """Yield each paragraph as a document, once, and the questions.

    `document_ids` are the paragraphs of the supporting facts, `evidence` their sentences, `type` and `level`
    tags. A document's id is its title; of another text with the same title, the title and a number.
    """
    sheet = open_sheet(source.path)
    texts: dict[str, list[int]] = {}
    for number, row in sheet.rows:
        location = sheet.place(number)
        if isinstance(row, str) or not isinstance(row.get("question"), str) or not row["question"].strip():
            yield skipped(location, row if isinstance(row, str) else "it has no question")
            continue
        passages = [
            (title, [sentence for sentence in sentences if isinstance(sentence, str)])
            for title, sentences in _pairs(row.get("context"), "sentences")
            if isinstance(sentences, list)
        ]
        ids: dict[str, tuple[str, list[str]]] = {}
        for title, sentences in passages:
            text = "".join(sentences)
            if not text.strip():
                continue
            name, is_new = _name(title, text, texts)
            ids.setdefault(title, (name, sentences))
            if is_new:
                yield Document(id=name, text=text, title=title, source=source.path.as_posix())
        yield from _question(row, ids, location)


def _name(title: str, text: str, texts: dict[str, list[int]]) -> tuple[str, bool]:
    """Return the id of a paragraph, and whether it is new. texts: title -> hashes of its texts so far."""
    seen = texts.setdefault(title, [])
    is_new = hash(text) not in seen
    if is_new:
        seen.append(hash(text))
    number = seen.index(hash(text))
    name = "_".join(title.split()) or "untitled"
    return (f"{name}#{number + 1}" if number else name), is_new


def _question(row: Cells, ids: Mapping[str, tuple[str, list[str]]], location: str) -> Iterator[Found]:
    evidence: list[Evidence] = []
    for title, number in _pairs(row.get("supporting_facts"), "sent_id"):
        if not isinstance(number, int):
            continue
        name, sentences = ids.get(title, ("", []))
        if not 0 <= number < len(sentences) or not sentences[number].strip():
            yield changed(location, NO_FACT)
            continue
        start = sum(map(len, sentences[:number]))
        sentence = sentences[number]
        start += len(sentence) - len(sentence.lstrip())
        evidence.append(Evidence(document_id=name, start=start, end=start + len(sentence.strip())))
    answer = row.get("answer")
    tags = {name: row[name] for name in ("type", "level") if isinstance(row.get(name), str) and row[name]}
    notes = {name: value for name, value in row.items() if name not in TASK and value is not None}
    yield Question(
        id=str(row.get("_id") or row.get("id") or ""),
        question=row["question"],
        reference=answer if isinstance(answer, str) and answer.strip() else None,
        evidence=evidence or None,
        document_ids=list(dict.fromkeys(span.document_id for span in evidence)) or None,
        answerable=True if isinstance(answer, str) and answer.strip() else None,
        tags=tags or None,
        metadata=notes or None,
    )


def _pairs(value: object, second: str) -> list[tuple[str, object]]:
    """Return titles, each with what stands beside it: from a list of pairs, or Hugging Face's two lists."""
    try:
        value = as_object(value)
    except ValueError:
        return []
    if isinstance(value, Mapping):
        lists = [value.get("title"), value.get(second)]
        are_lists = all(isinstance(items, list) for items in lists)
        value = [list(pair) for pair in zip(*lists, strict=False)] if are_lists else []
    pairs = value if isinstance(value, list) else []
    return [(str(pair[0]), pair[1]) for pair in pairs if isinstance(pair, list) and len(pair) == 2]
