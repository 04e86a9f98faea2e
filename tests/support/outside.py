"""Every routine of the package that takes text from outside, and how it is called with a text.

A new one goes into ROUTINES; a pattern that a function builds of what only it knows goes into BUILT.
tests/test_linear.py and benchmarks/linear.py run them all on hostile texts.
"""

import re
import tempfile
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from tests.support.farm import FARM
from tests.support.linear import Found

from ragstone.features.attack._probes import marked_up
from ragstone.features.build import _defects as defects
from ragstone.features.build import _fact_writing as fact_writing
from ragstone.features.build import _falsifying as falsifying
from ragstone.features.build import _number_change as numbers
from ragstone.features.build import _plan as plan
from ragstone.features.build import fictional
from ragstone.features.import_ import _faq as faq
from ragstone.features.import_ import _hotpotqa as hotpotqa
from ragstone.features.import_ import _squad as squad
from ragstone.features.import_ import _tables as tables
from ragstone.features.import_ import _trec as trec
from ragstone.features.import_._faq import _LABEL, LABELS, entries_of
from ragstone.features.import_._recognise import EXPORTS, recognise
from ragstone.features.import_._rows import ImportOptions, Source
from ragstone.features.translate import _pieces as pieces
from ragstone.kernel.config import parse_toml
from ragstone.kernel.corpus import numbers as values
from ragstone.kernel.corpus.chunking import chunk_documents
from ragstone.kernel.corpus.duplicates import find_duplicates
from ragstone.kernel.corpus.headings import document_headings, sections_of
from ragstone.kernel.corpus.numbers import numbers_in
from ragstone.kernel.corpus.readers.pdf._paragraphs import DocumentWords, join
from ragstone.kernel.corpus.reading import PACKED, READERS
from ragstone.kernel.corpus.sentences import sentence_spans
from ragstone.kernel.corpus.sources import _pattern as glob
from ragstone.kernel.corpus.tags import Tag, match_tags
from ragstone.kernel.corpus.tokens import search_terms, tokenize
from ragstone.kernel.dataset import answers, checks, evidence, languages, repeats
from ragstone.kernel.dataset._realigning import _set_otherwise, negations
from ragstone.kernel.dataset.standing import why_left_out
from ragstone.kernel.document.markdown import escape, plain
from ragstone.kernel.errors import RagstoneError
from ragstone.kernel.files.decoding import decode
from ragstone.kernel.files.file import File, Unreadable
from ragstone.kernel.files.language import detect_language
from ragstone.kernel.files.xlsx import _kind_of_code
from ragstone.kernel.judging import lexical, matching, refusals
from ragstone.kernel.judging.citation_marks import cited_statements
from ragstone.kernel.judging.steps import unused_in
from ragstone.kernel.judging.truth import says_true
from ragstone.kernel.llm._site import message_of
from ragstone.kernel.llm.keys import _forms
from ragstone.kernel.llm.limits import retry_after_s_of
from ragstone.kernel.llm.schema import ReplyError, parse_reply, without_thought
from ragstone.kernel.llm.transport import refused_extra
from ragstone.kernel.llm.untrusted import defuse
from ragstone.kernel.privacy import _names as masked_names
from ragstone.kernel.privacy import phones, reversible
from ragstone.kernel.privacy._numbers import _IDS
from ragstone.kernel.privacy.masking import mask_personal_data, own_words
from ragstone.kernel.privacy.reversible import ReversibleMask
from ragstone.kernel.records import Answer, Context, Document, Step
from ragstone.kernel.retrieval._remote import _spaced, locate
from ragstone.kernel.tables.logs.exchange import as_quality
from ragstone.kernel.translation import checks as translated
from ragstone_assistant import guards as words
from ragstone_assistant.answering import _checking as checking
from ragstone_assistant.answering import _fidelity as fidelity
from ragstone_assistant.answering import sentences as marks
from ragstone_assistant.answering.sentences import Sentences
from ragstone_assistant.answering.support import content_words
from ragstone_assistant.guards import _orders as orders
from ragstone_assistant.guards import speaks_to_model, without_contacts, without_instructions
from ragstone_assistant.languages import language_of
from ragstone_assistant.planning.slots import courtesy_in, place_in
from ragstone_assistant.tools.functions import described_by

_FOLDER = tempfile.TemporaryDirectory(prefix="ragstone-linear-")  # goes with the process
SHORT = "Maize is sown in March, 30 days before beans (see 2.5)."
NONCE = "abcdef0123"


class Verdict(msgspec.Struct):
    nonce: str = ""
    score: int = 0


def all_of(found: object) -> object:
    """Exhaust what a routine yields."""
    return list(found) if isinstance(found, Iterable) else found


def reader_of(ending: str) -> Callable[[str], object]:
    return lambda text: read(READERS[ending], File(Path(f"a{ending}"), "a", written(text)))


def read(reader: Callable[..., Iterable[object]], *given: object) -> object:
    """Read to the end; that a file is refused is an answer too."""
    try:
        return list(reader(*given))
    except (Unreadable, RagstoneError):
        return None


def written(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def importer_of(
    reader: Callable[..., Iterable[object]], before: str = "", after: str = ""
) -> Callable[[str], object]:
    """Return what imports a file of this text, between what makes it a file of its kind."""

    def imported(text: str) -> object:
        path = Path(_FOLDER.name) / "a.txt"
        path.write_bytes(written(before + text + after))
        return read(reader, Source(path, "a"), ImportOptions())

    return imported


def recognised(text: str) -> object:
    path = Path(_FOLDER.name) / "a.txt"
    path.write_bytes(written(text))
    return read(lambda: [recognise(path)])


def reply_of(text: str) -> object:
    try:
        return parse_reply(text, Verdict, NONCE)
    except ReplyError:
        return None


def streamed(text: str) -> object:
    stream = Sentences("en")
    found = [one for at in range(0, len(text), 128) for one in stream.feed(text[at : at + 128])]
    return found + stream.end()


def document(text: str) -> Document:
    return Document(id="a", text=text.replace("\ud800", "?"), source="a.md")


def compared(measure: Callable[[str, str], float], text: str) -> float:
    return measure(text, SHORT)


def chunked(method: str) -> Callable[[str], object]:
    return lambda text: list(chunk_documents([document(text)], method, 1000))


TAGS = [Tag("crop", {"maize": ("maize", "corn"), "rice": ("rice",)})]
IMPORTERS: dict[str, Callable[..., Iterable[object]]] = {
    "tables.questions": tables.read_table,
    "tables.documents": tables.read_documents,
    "squad": squad.read_squad,
    "hotpotqa": hotpotqa.read_hotpotqa,
    "faq.table": faq.read_faq_table,
    "faq.page": faq.read_faq_page,
    "trec.topics": trec.read_topics,
    "trec.pairs": trec.read_pairs,
    "trec.qrels": trec.read_qrels,
    "trec.sgml": trec.read_sgml,
    **{f"exports.{name}": reader for name, (_, reader) in EXPORTS.items()},
}

ROUTINES: dict[str, Callable[[str], object]] = {
    **{f"corpus.read{ending}": reader_of(ending) for ending in READERS if ending not in PACKED},
    **{f"importing.{name}": importer_of(reader) for name, reader in IMPORTERS.items()},
    "importing.trec.topic": importer_of(trec.read_topics, "<top><num>1<title>", "</top>"),
    "importing.trec.doc": importer_of(trec.read_sgml, "<DOC>\n<DOCNO>1</DOCNO>", "\n</DOC>"),
    "importing.table.row": importer_of(tables.read_table, "question,reference\n"),
    "importing.recognise": recognised,
    "importing.faq_page": lambda text: all_of(entries_of(document(text))),
    **{f"corpus.chunk.{way}": chunked(way) for way in ("fixed", "heading", "recursive", "sentence")},
    "corpus.decode": lambda text: read(lambda: [decode(written(text), html=True)]),
    "corpus.duplicates": lambda text: find_duplicates([document(text), document(SHORT)]),
    "corpus.headings": lambda text: sections_of(text, document_headings(document(text))),
    "files.language": detect_language,
    "files.xlsx": _kind_of_code,
    "corpus.readers.pdf.join": lambda text: join(f"{text}x-", f"y{text}", DocumentWords([text])),
    "config.toml": lambda text: read(lambda: [parse_toml(text, Path("a.toml"))]),
    "config.toml.value": lambda text: read(lambda: [parse_toml(f"a = {text}", Path("a.toml"))]),
    "corpus.search_terms": search_terms,
    "corpus.sentences": sentence_spans,
    "corpus.tags": lambda text: match_tags(text, TAGS),
    "corpus.tokens": tokenize,
    "dataset.answers.polarity": answers.polarity,
    "dataset.answers.says_unknown": answers.says_unknown,
    "dataset.answers.offers_choice": answers.offers_choice,
    "dataset.answers.compares_two": answers.compares_two,
    "dataset.asking": lambda text: checks.asks_something(text, "en"),
    "dataset.dangling": lambda text: defects.dangle(text, SHORT, "en"),
    "dataset.dangling.unspaced": lambda text: defects.dangle(text, text, "zh"),
    "dataset.evidence": lambda text: evidence.find_evidence(SHORT, text),
    "dataset.evidence.quote": lambda text: evidence.find_evidence(text, SHORT * 20),
    "flows.build.changes": lambda text: falsifying.check_change(text, SHORT, "number", "en"),
    "flows.build.numbers": lambda text: numbers.change_number(text, "seed"),
    "flows.build.numbers_in": numbers_in,
    "flows.build.pointing": lambda text: fact_writing.points_elsewhere(text, "en"),
    "flows.build.replace": lambda text: falsifying.replace_words(text, "maize", "rice"),
    "flows.build.fictional": lambda text: fictional.change(text, {"maize": "rice"}),
    "dataset.languages": lambda text: languages.speaks(text, "en"),
    "tables.logs.quality": as_quality,
    "dataset.standing": why_left_out,
    "privacy": mask_personal_data,
    "privacy.reversible": lambda text: ReversibleMask([[text, "Call 030 1234567."]]),
    "privacy.own": lambda text: mask_personal_data(text, own_words(["maize", "/A-\\d+/"])),
    "dataset.mentions": checks.mention_of_context,
    "dataset.passages": plan.has_substance,
    "flows.build.cut": lambda text: plan.cut_passages([document(text)], 2000),
    "flows.translate.cut": lambda text: pieces.cut(document(text).text, 1000),
    "flows.translate.kept": pieces.kept_parts,
    "flows.translate.checks": lambda text: translated.find_fault(text, text, "de"),
    "dataset.wording": repeats.content_of,
    "dataset.repeats.exact": repeats.exact_form,
    "judging.cited_statements": lambda text: cited_statements(
        text, [Context(text=SHORT), Context(text=text)]
    ),
    "judging.unused_in": lambda text: unused_in(
        Answer(question_id="q", answer=SHORT), [Step(tool="read", arguments={"path": text}, result=text)]
    ),
    "judging.no_refusal": lexical.no_refusal,
    **{f"judging.{name}": partial(compared, measure) for name, measure in lexical.MEASURES.items()},
    "judging.containment.reference": lambda text: lexical.containment(SHORT, text),
    "judging.alternatives": lambda text: lexical.alternatives([text], "/"),
    "judging.coverage": lambda text: lexical.coverage(text, SHORT, SHORT),
    "judging.match": lambda text: matching.match(text, f"{SHORT} {text}", SHORT),
    "judging.match.apart": lambda text: matching.match(text, text.replace("a", "b"), SHORT),
    "judging.focus": lambda text: matching.focus(text, "ann lee", SHORT),
    "llm.defuse": defuse,
    "llm.message_of": lambda text: message_of(written(text)),
    "llm.parse_reply": reply_of,
    "llm.parse_reply.behind": lambda text: reply_of(f'{{"nonce": "{NONCE}", {text}'),
    "llm.refused_extra": lambda text: refused_extra(text, {"top_k": 1}),
    "llm.retry_after": lambda text: retry_after_s_of({}, text),
    "llm.without_thought": without_thought,
    "assistant.contacts": lambda text: without_contacts(text, "en"),
    "assistant.courtesy": lambda text: courtesy_in(text, "en", FARM),
    "assistant.content_words": content_words,
    "assistant.cut_mark": checking._without_cut_mark,
    "assistant.docstrings": lambda text: described_by(text, ("a",)),
    "assistant.ingredients": FARM.sensitive.named_in,
    "assistant.instructions": without_instructions,
    "assistant.language": language_of,
    "assistant.marks_in": marks.marks_in,
    "assistant.marks_before_ends": marks.marks_before_ends,
    "assistant.sensitive": FARM.sensitive.mentioned,
    "assistant.place": lambda text: place_in(text, "en", FARM, eager=True),
    "assistant.sentences": streamed,
    "assistant.speaks_of": lambda text: FARM.speaks_of(text, "en", "plants"),
    "assistant.speaks_to_model": speaks_to_model,
    "assistant.stated_values": values.stated_values,
    "assistant.held_values": values.held_values,
    "assistant.with_marks": lambda text: marks.with_marks(text, [1]),
    "agreement.marked_up": marked_up,
    "judging.says_true": says_true,
    "report.escape": escape,
    "report.plain": plain,
    "retrieval.locate": lambda text: locate(SHORT, text),
    "retrieval.locate.chunk": lambda text: locate(text, SHORT),
}

# They use a splitter of another package, whose time grows with the square of what it gets at once.
BOUNDED = {"corpus.chunk.heading": 16.0, "corpus.chunk.recursive": 16.0, "flows.build.cut": 16.0}

# `module:function` -> patterns as it builds them.
BUILT: dict[str, Callable[[], Iterable[re.Pattern[Any]]]] = {
    "ragstone_assistant.guards:any_of": orders,
    "ragstone_assistant.answering._fidelity:_counted": lambda: [fidelity._counted(["per cent", "percent"])],
    "ragstone_assistant.answering._fidelity:_patterns": lambda: [
        fidelity._patterns("en").numbers,
        fidelity._patterns("fr").negations,
    ],
    "ragstone_assistant.answering._fidelity:_unit_patterns": lambda: [
        pattern for patterns in fidelity._unit_patterns().values() for pattern in patterns
    ],
    "ragstone_assistant.guards:before_none_of": lambda: [words.before_none_of(["treat*"], ["customers"])],
    "ragstone_assistant.guards:near": lambda: [words.near(["ignore", "forget*"], ["instructions", "rules"])],
    "kernel.corpus.readers.pdf._columns:_candidates": lambda: [re.compile("0{5,}")],
    "kernel.corpus.sources:_pattern": lambda: [glob("guide/**/*.m[da]?", anywhere=True).meaning],
    "kernel.corpus.tags:load_tags": lambda: [re.compile(r"\s*(\[tags\.)?[\"']?crop[\"']?\s*[=\]]")],
    "kernel.corpus.tokens:_ranges": lambda: [re.compile("[LNM]+")],
    "kernel.dataset.answers:_polar": lambda: [answers._polar()],
    "kernel.dataset.answers:_unknown": lambda: [answers._unknown()],
    "kernel.dataset.answers:_wholeof": lambda: [answers._offered(), answers._between()],
    "kernel.dataset.checks:_forms": lambda: [checks._forms()["zh"].parts or re.compile("a")],
    "kernel.llm.families:model_family": lambda: [re.compile(r"(?:^|[-_. :]|meta-)(?:gpt|chatgpt|o\d\b)")],
    "features.build._defects:dangle": lambda: [re.compile(r"(?<!\S)maize(?=[\s?.,;:!]|\Z)")],
    "features.explain._messages:every_message": lambda: [
        re.compile(r"\braise |\bexplaining\(|\b(?:DataError)\(")
    ],
    "features.build._defects:_is_name": lambda: [re.compile("maize")],
    "features.build._falsifying:replace_words": lambda: [re.compile(r"(?<!\w)maize(?!\w)", re.IGNORECASE)],
    "features.build._number_change:_bound": lambda: [numbers._UP, numbers._DOWN],
    "features.build.fictional:_pattern": lambda: [fictional._pattern(["Ann Lee", "Bo"])],
    "features.new._own_data:_set": lambda: [re.compile(r'^(paths = )(\[.*?\]|"[^"]*")', re.MULTILINE)],
    "features.import_._faq:_labelled": lambda: [
        re.compile(_LABEL.format(*pair), re.MULTILINE | re.IGNORECASE) for pair in LABELS
    ],
    "kernel.privacy.phones:_patterns": lambda: [*phones._patterns()],
    "kernel.privacy._names:_compiled": lambda: [
        one for one in masked_names._patterns() if isinstance(one, re.Pattern)
    ],
    "kernel.privacy._numbers:_id": lambda: [one.pattern for one in _IDS],
    "kernel.privacy.masking:_with_names": lambda: [re.compile(r"(?<!\w)ann[\s.]+lee(?!\w)", re.IGNORECASE)],
    "kernel.privacy.masking:own_words": lambda: [own_words(["Acme Ltd", "/A-\\d+/"]) or re.compile("a")],
    "kernel.privacy.reversible:_pattern": lambda: [
        reversible._pattern(["030 1234567", "ann@farm.example"], "Row 1")
    ],
    "kernel.privacy.masking:_checked": list,  # the user's own expression
    "kernel.dataset.checks:_patterns": lambda: checks._patterns().values(),
    "kernel.dataset.repeats:_any_of": lambda: [one.polite for one in repeats._rules().values() if one.polite],
    "features.improve.judge_files:replaced_line": lambda: [
        re.compile(r"^[ \t]*name[ \t]*=.*$", re.MULTILINE)
    ],
    "kernel.judging.assertion:regex": list,  # the user's own expression
    "kernel.judging.assertion:problem_of": list,  # the same, compiled to see whether it is one
    "kernel.judging.refusals:_compiled": lambda: [
        re.compile(pattern)
        for words in refusals._languages()
        for pattern in (words.denied, words.speakers, words.tells, words.conditions)
        if pattern is not None
    ],
    "kernel.llm.transport:refused_extra": lambda: [re.compile(r"(?<!\w)top_k(?!\w)")],
    "kernel.llm._postgres_database:explain": list,  # constants of its module, on one line of a refusal
    "kernel.llm.keys:_forms": lambda: [_forms("sk-abcdefghij1234")],
    "kernel.llm.schema:parse_reply": lambda: [re.compile(r'"nonce"\s*:\s*"abcdef0123"')],
    "kernel.dataset._realigning:negations": lambda: [each for each in map(negations, ("en", "zh")) if each],
    "kernel.dataset._realigning:_by_letters": lambda: [re.compile(_set_otherwise(SHORT))],
    "kernel.retrieval._remote:_spaced": lambda: [_spaced(SHORT)],
}

# What hostile texts repeat: signs of every kind, beginnings of what is never closed, near-matches.
ATOMS = (
    "a", "1", " ", "\n", "\t", "a ", "1 ", "a.", "1.", "1-", "-", ".", "_", "(", "[", "<", "{", '"', "'", "|",
    "`", "~~~\n", "```\n", "# ", "#", "=", "a=", "a=\n", "a@", "@", "a@b.c ", "a-", "/", "http://",
    "http://a ", "www.", "a.b", "A.", "AB12 ", "1 2-", "+1", "(1)", "<a ", "<a>", "<!--", "<think>", "</",
    "[a](", "![", "![a", "[ ", "a:", "1:", "\xe9", "\u0905", "\u0e01", "\u4f60", "&", "&#", "a\n", "\n\n",
    "- ", "\n ", " \n", "\r\n", "0", "|a", "a,", "1,", "1,000 ", "IV.", "a'", "key=", "password ",
    "my name is ", "call ", "pin ", "My name is Ann ", "[at]", "a [at] ", "::", "a:b:", "1.1.", "%", "*",
    "**", "---\n", "title: ", "<|", "<|a", "<| ", "[INST", "=\n", '{"', '{"nonce":"', '{"nonce":',
    '{"nonce":"abcdef0123",', '"nonce":"abcdef0123"', "a\u0301", "$", "role:", "system\n", "\u2026", "\u3002",
    "I.", "Dr. ", "e.g. ", "Aa ", "Aa Bb ", "I am ", "this is ", "> ", ">", "[1]", "[1", "[1,", " [1] ",
    ".[1]", ". [1", "GB00 ", "4111 ", "4111111111111111 ", "-----BEGIN ", "255.", "2001:", "12\xb0",
    "N 1\xb0 ", "a.com ", "a dot com ", "a[.]", '"a', 'a"', '\\', "\ud800", "\u202e", "|-|-|\n", "| a |\n",
    "<table>", "<td>", "<b>", "<div>", "<script>", "<ul><li>", "&lt;", "{}", "[]", '{"a":', '{"score":1}',
    "Q: a?\nA: b\n", "1 0 d 1\n", "<top>", "<DOC>\n", "1\ta\n", "system: ", "<table rowspan=9>",
    "<tr><td rowspan=9>a", "<h1>a", "my name is A\xefda.\n", "pin 1234", "password=a1b2c3 ",
)  # fmt: skip

# How some of them are used, if not along the whole text.
USED = {
    "kernel.corpus.sources:_pattern": "fullmatch",
    "kernel.corpus.tags:load_tags": "match",
    "kernel.dataset.answers:_polar": "match",
}


def built() -> list[Found]:
    """Return the patterns of BUILT as `patterns()` returns the others."""
    return [
        Found(site, None, pattern, frozenset({USED.get(site, "?")}))
        for site, make in BUILT.items()
        for pattern in make()
    ]
