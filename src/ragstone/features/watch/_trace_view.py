"""Lines with the spans of a trace -> what its page shows: question and answer, the conversation, the spans.

A page has room for so much text (kernel/document/room.py): a long text that is on it already is not repeated,
and what is cut has the whole as plain text beside it.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import accumulate
from typing import Any, NamedTuple

import msgspec

from ragstone.features.watch._trace_index import decoded_line
from ragstone.features.watch.traces import SpanRow, TraceTree
from ragstone.kernel.document.room import MOST_A_TEXT, MOST_TIMES, SHORT, PageRoom, shortened
from ragstone.kernel.tables.interchange.openinference import SpanMessage, SpanParts, parts_in, steps_in
from ragstone.kernel.tables.interchange.trace_steps import TraceStep
from ragstone.kernel.tables.interchange.traces import evaluated_answers
from ragstone.kernel.tables.interchange.values import decoded

MOST_LEVELS = 20
MOST_CARDS = 40  # documents, calls and messages that are shown of one place
KIND_WORDS: Mapping[str, str] = {
    "trace": "step",
    "model": "model",
    "retriever": "search",
    "reranker": "reranking",
    "embedding": "embedding",
    "tool": "tool",
    "evaluator": "evaluator",
    "other": "step",
}


class ShownText(NamedTuple):
    """A text as the page has it. as_block: it is JSON. again: the whole is above."""

    text: str
    as_block: bool
    again: bool


class ShownCall(NamedTuple):
    """A call of a tool. result, error: None where nothing is told."""

    tool: str
    arguments: ShownText
    result: ShownText | None
    error: ShownText | None


class ShownMessage(NamedTuple):
    """A message of a conversation. role: `system`, `user`, `assistant`, `tool`, or `other`."""

    role: str
    text: ShownText | None
    thought: ShownText | None
    calls: list[ShownCall]


class ShownDocument(NamedTuple):
    """A passage that was retrieved. link: an address of the web that it tells as its source."""

    title: str
    text: ShownText
    score: float | None
    source: str
    link: str


class ShownSpan(NamedTuple):
    """A span. kind: what it is, see KIND_WORDS; texts: input and result; raw: all attributes.

    is_cut: its page of plain text has more. is_above: its messages are the conversation above.
    """

    row: SpanRow
    name: str
    kind: str
    error: str
    texts: list[tuple[str, ShownText]]
    messages: list[ShownMessage]
    documents: list[ShownDocument]
    raw: list[tuple[str, ShownText]]
    is_cut: bool
    is_above: bool


class ShownExchange(NamedTuple):
    """A question and its answer, with the passages that it was given and the tools that were called."""

    question: ShownText
    answer: ShownText | None
    error: ShownText | None
    documents: list[ShownDocument]
    calls: list[ShownCall]


class ShownTrace(NamedTuple):
    """The page of a trace. conversation: what the last model that was asked was told, and said."""

    exchanges: list[ShownExchange]
    conversation: list[ShownMessage]
    more_messages: int
    spans: list[ShownSpan]


class _Room:
    """What texts may still take of a page, and which are on it."""

    def __init__(self) -> None:
        self.page = PageRoom()
        self._seen: dict[str, bool] = {}  # text -> whether all of it is on the page

    def text(self, text: str, most: int = MOST_A_TEXT) -> ShownText:
        """Return as much of a text as there is room for; of a long one that was shown, its beginning."""
        is_known = len(text) > SHORT and text in self._seen
        is_whole = is_known and self._seen[text]
        was_cut, self.page.is_cut = self.page.is_cut, False
        short = self.page.shown(text if is_known else indented(text), SHORT if is_known else most)
        if not is_known:
            self._seen[text] = not self.page.is_cut
        self.page.is_cut = was_cut or (self.page.is_cut and not is_whole)
        return ShownText(short, text[:1] in ("{", "["), is_whole)

    def maybe(self, text: object, most: int = MOST_A_TEXT) -> ShownText | None:
        return self.text(str(text), most) if text not in (None, "") else None


def shown_trace(tree: TraceTree, lines: Iterable[bytes]) -> ShownTrace:
    """Return what the page shows of a trace. lines: those with its spans."""
    room = _Room()
    raw = list(filter(None, map(decoded_line, lines)))
    wanted = tree.summary.id.lower()
    parts: dict[str, SpanParts] = {}
    for each in raw:
        for span_id, span_parts in parts_in(each, wanted):
            if span_id not in parts or span_parts.given or span_parts.made:
                parts[span_id] = span_parts
    pairs = _answers_in(raw, wanted)
    known_steps = [step for _, inside in pairs for step in inside if step.id in parts]
    models = [step for step in known_steps if step.kind == "model" and parts[str(step.id)].given]
    # The last model has what came before.
    last = str(max(models, key=lambda step: step.started or 0.0).id) if models else None
    exchanges = [_exchange(row, inside, parts, room) for row, inside in pairs]
    messages = [*parts[last].given, *parts[last].made] if last else []
    conversation = [_message(message, room) for message in messages[-MOST_CARDS:]]
    spans = [_span(row, parts.get(row.id), room, is_above=row.id == last) for row in tree.rows]
    more = max(0, len(messages) - MOST_CARDS)
    return ShownTrace(exchanges, conversation, more, spans)


def exchanges_in(lines: Iterable[bytes], trace_id: str) -> list[dict[str, Any]]:
    """Return the answers of a trace, as rows of an answer sheet, of lines that hold its spans."""
    return [row for row, _ in _answers_in(filter(None, map(decoded_line, lines)), trace_id.lower())]


def _answers_in(raw: Iterable[dict[str, Any]], trace_id: str) -> list[tuple[dict[str, Any], list[TraceStep]]]:
    """Return the answers of a trace, each with its steps. trace_id: in small letters."""
    steps = [step for _, step in steps_in(enumerate(raw)) if isinstance(step, TraceStep)]
    steps = [step for step in steps if (step.trace or "").lower() == trace_id]
    return [(row, inside) for row, inside in evaluated_answers(steps) if row]


def _exchange(
    row: Mapping[str, Any], steps: Sequence[TraceStep], parts: Mapping[str, SpanParts], room: _Room
) -> ShownExchange:
    question = room.text(str(row["question"]))
    error = room.maybe(row.get("error"), MOST_A_TEXT // 4)
    answer = room.maybe(row.get("answer"))
    passages = {str(context.get("text")) for context in row.get("contexts") or ()}
    documents = {
        document["text"]: document
        for step in steps
        if (span_parts := parts.get(str(step.id)))
        for document in span_parts.documents
        if document["text"] in passages
    }
    calls = [_call(call, room) for call in (row.get("steps") or ())[:MOST_CARDS] if isinstance(call, Mapping)]
    cards = [_document(document, room) for document in list(documents.values())[:MOST_CARDS]]
    return ShownExchange(question, answer, error, cards, calls)


def _message(message: SpanMessage, room: _Room) -> ShownMessage:
    return ShownMessage(
        role=message.role,
        text=room.maybe(message.text),
        thought=room.maybe(message.thought),
        calls=[_call(call, room) for call in message.calls[:MOST_CARDS]],
    )


def _call(call: Mapping[str, Any], room: _Room) -> ShownCall:
    arguments = msgspec.json.encode(call.get("arguments") or {}, enc_hook=str).decode()
    return ShownCall(
        tool=shortened(str(call.get("tool") or "unknown"), SHORT)[0],
        arguments=room.text(arguments),
        result=room.maybe(call.get("result")),
        error=room.maybe(call.get("error"), MOST_A_TEXT // 4),
    )


def _document(document: Mapping[str, Any], room: _Room) -> ShownDocument:
    source = str(document.get("source") or "")
    title = document.get("title") or document.get("id") or "A passage"
    is_link = source.startswith(("https://", "http://")) and len(source) < 2000
    return ShownDocument(
        title=shortened(str(title), SHORT)[0],
        text=room.text(str(document["text"])),
        score=document.get("score"),
        source=shortened(source, SHORT)[0],
        link=source if is_link else "",
    )


def _span(row: SpanRow, span_parts: SpanParts | None, room: _Room, *, is_above: bool) -> ShownSpan:
    room.page.is_cut = False
    name, _ = shortened(row.name or row.id, SHORT)
    error = room.text(row.error, MOST_A_TEXT // 10).text if row.error else ""
    messages = [*span_parts.given, *span_parts.made] if span_parts else []
    documents = span_parts.documents if span_parts else []
    named = [(name, text) for name, text in (("Input", row.given), ("Result", row.result)) if text]
    contents = {message.text for message in messages}  # an input that is these says nothing more
    texts = [
        (name, room.text(text))
        for name, text in named
        if not messages or (text not in contents and not isinstance(decoded(text), list))
    ]
    shown_messages = [] if is_above else [_message(message, room) for message in messages[:MOST_CARDS]]
    cards = [_document(document, room) for document in documents[:MOST_CARDS]]
    said = {row.given, row.result}
    raw = [
        (shortened(key, SHORT)[0], room.text(text))
        for key, text in row.fields
        if text not in said or len(text) <= SHORT
    ]
    kind = KIND_WORDS[span_parts.kind] if span_parts else "step"
    return ShownSpan(row, name, kind, error, texts, shown_messages, cards, raw, room.page.is_cut, is_above)


def indented(text: str) -> str:
    """Return JSON with its objects set in; as it is any other text, and one that would become much longer."""
    if text[:1] not in ("{", "[") or len(text) > MOST_A_TEXT:
        return text
    if max(accumulate((text[at] in "[{") - (text[at] in "]}") for at in range(len(text)))) > MOST_LEVELS:
        return text
    try:
        made = json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return text
    return made if len(escape(made)) <= SHORT + MOST_TIMES * len(text) else text


def lasted(seconds: float | None) -> str:
    """Return a time as it is read: `12 ms`, `1.3 s`, `3 min 20 s`, `2 h 5 min`; a dash for none."""
    if seconds is None:
        return "–"
    if seconds < 0.9995:
        return "< 1 ms" if 0 < seconds < 0.0005 else f"{seconds * 1000:.0f} ms"
    if seconds < 59.5:
        return f"{seconds:.1f} s" if seconds < 9.95 else f"{seconds:.0f} s"
    for unit, part, length, each in (("min", "s", 60, 1), ("h", "min", 3_600, 60), ("d", "h", 86_400, 3_600)):
        whole, rest = divmod(round(seconds / each), length // each)
        if unit == "d" or whole < (60 if unit == "min" else 24):
            return f"{whole:,} {unit} {rest} {part}" if rest else f"{whole:,} {unit}"
    raise AssertionError("a day is the last unit")


def priced(usd: float | None) -> str:
    """Return a cost as it is read: `$0.0042`, `$1.20`; a dash where it is unknown."""
    if usd is None:
        return "–"
    return f"${usd:,.2f}" if usd >= 0.995 or usd == 0 else f"${usd:.2g}" if usd >= 0.0001 else "< $0.0001"
