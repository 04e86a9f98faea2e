"""Every function of the package that changes a text by a pattern: tried on ordinary sentences, or why not.

A new one goes into TRIED, with what it is there to change, or into UNTRIED with the reason.
tests/test_changes.py finds them all by itself, and tries TRIED.
"""

import ast
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import ragstone
from ragstone.assistant.answering.sentences import marks_before_ends, without_marks
from ragstone.assistant.guards import without_contacts
from ragstone.assistant.tools.plain_text import bounded
from ragstone.corpus import headings
from ragstone.corpus.readers.pdf import rows
from ragstone.errors import harmless
from ragstone.flows.build import writing
from ragstone.flows.import_ import trec
from ragstone.flows.translate.checks import masked, unmasked
from ragstone.llm.keys import hide
from ragstone.llm.schema import without_thought
from ragstone.llm.untrusted import defuse
from ragstone.privacy.masking import mask_personal_data
from ragstone.privacy.reversible import ReversibleMask
from ragstone.report import judged

METHODS = ("sub", "subn", "translate")


class Change(NamedTuple):
    """A function of text, and the expression of what it is there to change, written apart from its own."""

    call: Callable[[str], str]
    planted: re.Pattern[str]


def _planted(*parts: str) -> re.Pattern[str]:
    return re.compile("|".join(parts), re.IGNORECASE | re.MULTILINE)


CONTROL = (
    r"[^\S\t\n\r ]|[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f]"
    r"|[\ufeff\ufffe\uffff]"
)
NUMBER = r"(?<!\w)\(?[+(]?\d(?:[\s().\-/+\u2010-\u2013]{0,3}\d){6,}(?!\w)|\b1-800-\S+"
DOTTED = (  # what ends like a host: written as such, also by programmers (`mix phx.gen.live`)
    r"[^\s<>\"'`()\[\]{},;|\u4e00-\u9fff]+\."
    r"(?:com|org|net|info|biz|io|co|edu|gov|int|ai|app|dev|live|me|tv|link"
    r"|click|top|site|online|(?-i:[a-z]{2}|[A-Z]{2}))(?![^\W_])[^\s<>\"']*"
)
ADDRESS = (
    r"[\w.+-]+(?:%40|&#64;|\\u0040)[\w.-]+|\S+ ?\(at\) ?\S+(?: \(dot\) \S+)?"
    r"|\"[^\"@\n]*\"@\S+|\S*(?:://|www\.|@|mailto:|data:\w+/)\S*"
)
MARKDOWN = r"!?\[[^\]]*\]\([^)]*\)|^\s*\[[^\]\n]+\]:\s+\S+(?:\s+\"[^\"]*\")?\s*$"
HTML = r"<!--.*?(?:-->|$)|<script.*|</?\s*[a-z!][^<>]*(?:>|$)"
AND = r"[\d\s,;–-]|and"
MARK = rf"\s*[\[【(]\s*(?:(?:passage|document|source|context|ref)\w*\s*)?\d(?:{AND})*[\]】)]"
TEMPLATE = (
    r"<[|\uff5c/a-z].{0,60}[|\uff5c>]|\[/?[A-Z_ ]+\]|\]~|\[e~\[|<<SYS>>"  # in our own docs on such marks
)
GIVEN_NAME = (  # a field that is called a name, or somebody who says theirs
    r"(?:name|surname|nombre|nom|nome|naam|nama|jina|имя|姓名|이름|customer)(?:\W{0,3}[:：]|\s+is\s)\W{0,3}"
    r"(?:\w+[ '.-]?){1,7}|i am mr [\w ]+"
    r"|^\W*(?:hi|hello|dear|hey|ben|i'm|i am)\b,?\W+(?:i'm )?(?:\w+\W?){1,3}"
)
SECRET = (
    r"(?<!\w)(?:token|key|secret|password|bearer)\W*\S+|[\w-]{24,}"
    r"|[0-9a-f]{1,4}(?::[0-9a-f]{0,4}){3,}|(?:\d{1,3}\.){3}\d{1,3}"
)
PLACE = r"-?\d{1,3}(?:\.\d+)? ?°[^.]*?[NSEWO]\b|-?\d{1,3}\.\d{4,}\W+-?\d{1,3}\.\d{4,}"


def _contacts(text: str) -> str:
    return without_contacts(text, "en")


def _masked(text: str) -> str:
    return mask_personal_data(text).text


def _there_and_back(text: str) -> str:
    translated, parts = masked(text)
    return unmasked(translated, parts)


def _sent_and_restored(text: str) -> str:
    mask = ReversibleMask([[text]])
    return mask.restore(mask.groups[0][0])


TRIED: dict[str, Change] = {
    "assistant.guards:without_contacts": Change(_contacts, _planted(ADDRESS, MARKDOWN, HTML, DOTTED, NUMBER)),
    "assistant.answering.sentences:without_marks": Change(without_marks, _planted(MARK)),
    "assistant.answering.sentences:marks_before_ends": Change(marks_before_ends, _planted(MARK)),
    "privacy.masking:mask_texts": Change(_masked, _planted(ADDRESS, NUMBER, PLACE, SECRET, GIVEN_NAME)),
    "privacy.reversible:ReversibleMask.restore": Change(_sent_and_restored, _planted(ADDRESS, GIVEN_NAME)),
    "llm.untrusted:defuse": Change(defuse, _planted(r"</?[a-z]+_\w+>", r"\[MASK\]", TEMPLATE)),
    "llm.schema:without_thought": Change(without_thought, _planted("<think.*?</think>")),
    "llm.keys:hide": Change(lambda text: hide(text, ["sk-1234567890abcdefghij"]), _planted("(?!)")),
    "flows.translate.checks:unmasked": Change(_there_and_back, _planted("(?!)")),
    "flows.import_.trec:_plain": Change(trec._plain, _planted(HTML, r"&#?\w+;", r"\r\n")),
    "flows.build.writing:_line": Change(writing._line, _planted(CONTROL)),
    "corpus.headings:_plain": Change(
        headings._plain,
        _planted(r"`", r"!?\[|\w*\]\([^)]*\)\w*", r"\*{1,3}(?=\S)|(?<=\S)\*{1,3}", r"\{#[^}]*\}"),
    ),
    "corpus.readers.pdf.rows:clean": Change(
        rows.clean, _planted(CONTROL, r"[\ufb00-\ufefc\uf0b7]+", "\\d ?\u2044 ?\\d")
    ),
    "errors:harmless": Change(harmless, _planted(CONTROL)),
    "report.judged:_short": Change(lambda text: judged._short(text, len(text) + 9), _planted(CONTROL)),
    "assistant.tools.plain_text:bounded": Change(
        lambda text: bounded(text, len(text) + 99),
        _planted(CONTROL, r"</?[a-z]+_\w+>", r"\[MASK\]", TEMPLATE),
    ),
}
"""What changes the text that somebody wrote, in what a person or a model then reads."""

COMPARED = "a copy that is compared or searched; nobody reads it"
NAME = "a name of ours for a file, a tool or a schema, made of another name"
PROMPT = "a prompt of the project's: places to be filled become tags"
SETTING = "a setting, an address or a place on the disk, not a text"
VALUE = "the value of a number or an address that was found, for comparison"
ESCAPED = "escapes for Markdown; a reader sees the text as it was (tests/report)"
UNICODE = "half a surrogate pair, which no file can hold"
PART = "a part of one that is tried"

UNTRIED: dict[str, str] = {
    "assistant.answering.checking:Checker._cleaned": PART,
    "assistant.answering.prompting:render": PROMPT,
    "assistant.answering.quoting:_plain": PART,
    "dataset.number_values:stated_values": COMPARED,
    "dataset.number_values:_readings": VALUE,
    "assistant.guards:_each": PART,
    "assistant.log.spans:_fail": UNICODE,
    "assistant.log.spans:_writable": UNICODE,
    "assistant.planning.slots:courtesy_in": COMPARED,
    "assistant.planning.slots:_gone": COMPARED,
    "assistant.tools.mcp:_name": NAME,
    "assistant.tools.schema_struct:_identifier": NAME,
    "corpus.readers.docx:Counting.label": "numbers of lists in Word: the format of a level, not a text",
    "corpus.readers.html:_visible_text": (
        "its own marks of headings, private characters (tests/corpus/readers/test_html.py)"
    ),
    "corpus.readers.html:_headings": (
        "its own marks of headings, private characters (tests/corpus/readers/test_html.py)"
    ),
    "corpus.readers.html:_add_text": (
        "its own marks of headings, private characters (tests/corpus/readers/test_html.py)"
    ),
    "corpus.readers.pdf.furniture:_pattern": COMPARED,
    "corpus.readers.pdf.furniture:_is_of_names": COMPARED,
    "corpus.readers.pdf.headings:_key": COMPARED,
    "corpus.readers.pdf.headings:metadata_title": (
        "the title that a program wrote into a PDF: 'Microsoft Word - '"
    ),
    "corpus.readers.pdf.rows:_cell": "two signs of Arabic that PDFium gives in the wrong order",
    "corpus.readers.text:markdown_title": "where the first heading stands, behind code; the text stays",
    "config.loading:_too_much": "a copy of a settings file that is measured before it is read",
    "corpus.repositories:repository_of": SETTING,
    "corpus.repositories:plain": SETTING,
    "corpus.sources:_pattern": SETTING,
    "corpus.tokens:without_article": COMPARED,
    "corpus.tokens:_words": COMPARED,
    "corpus.topics:_written": "one word of a text, without the punctuation around it",
    "dataset.evidence:_numbers": VALUE,
    "dataset.evidence:_fold": COMPARED,
    "dataset.languages:speaks": COMPARED,
    "dataset.logs.reading:_ending": SETTING,
    "dataset.repeats:tokens_of": COMPARED,
    "dataset.repeats:content_of": COMPARED,
    "engine.bench_folder:slug": NAME,
    "files.decoding:_line_by_line": COMPARED,
    "files.decoding:_utf8_share": COMPARED,
    "files.xlsx:_kind_of_code": SETTING,
    "flows.attack.families:": "it changes what it is given on purpose: an attack or a planted defect",
    "flows.attack.planting:_filled": PROMPT,
    "flows.attack.probes:marked_up": "it changes what it is given on purpose: an attack or a planted defect",
    "flows.build.defects:dangle": "it changes what it is given on purpose: an attack or a planted defect",
    "flows.build.styles:render_style": PROMPT,
    "flows.develop.store:safe_name": NAME,
    "flows.export.mlflow:_accepted": NAME,
    "flows.export.mlflow:_shown": SETTING,
    "flows.import_.trec:_topic": "the label of a field in a TREC topic: 'Narrative: '",
    "flows.import_.trec:_document": PART,
    "flows.judge.judging:run_folder_of": NAME,
    "flows.new.own_data:_set": SETTING,
    "flows.translate.checks:masked": PART,
    "flows.translate.checks:_with_edges": COMPARED,
    "flows.translate.checks:missing_numbers": COMPARED,
    "judging.citation_marks:cited_statements": (
        "statements of an answer without their marks, for its judges: tests/judging/test_citation_marks.py"
    ),
    "judging.function.adapters:_function": NAME,
    "judging.function.loading:_plain_name": NAME,
    "judging.lexical:alternatives": (
        "a separator between alternatives; what it holds comes back (tests/judging/test_lexical.py)"
    ),
    "judging.lexical:statement_verdicts": COMPARED,
    "judging.render:named_inputs": PROMPT,
    "judging.together:_starts": NAME,
    "judging.truth:says_true": COMPARED,
    "judging.truth_clauses:folded": COMPARED,
    "llm.anthropic:_reply_form": NAME,
    "llm.json_service:fill": SETTING,
    "llm.json_service:fill_url": SETTING,
    "llm.keys:without_password": SETTING,
    "llm.litellm:open_litellm": SETTING,
    "llm.litellm:_body": NAME,
    "llm.openai:_reply_form": NAME,
    "llm.schema:_writable": UNICODE,
    "privacy.masking:MaskedValues._replaced": PART,
    "privacy.masking:_spans_seen": PART,
    "privacy.masking:_with_names": PART,
    "privacy.network:find_emails": VALUE,
    "privacy.network:find_hosts": VALUE,
    "privacy.normalised:without_invisible": PART,
    "privacy.numbers:find_cards": VALUE,
    "privacy.numbers:_sweden": VALUE,
    "privacy.numbers:_russia": VALUE,
    "privacy.numbers:find_ids": VALUE,
    "privacy.phones:says_phone": PART,
    "privacy.phones:_last": PART,
    "privacy.phones:find_accounts": VALUE,
    "privacy.phones:find_phones": PART,
    "privacy.reversible:_finished": PART,
    "privacy.span:folded": PART,
    "document.html:libraries": SETTING,
    "document.markdown:plain": ESCAPED,
    "document.markdown:escape": ESCAPED,
    "retrieval.bm25:number_pieces": COMPARED,
    "retrieval.rerank:render": PROMPT,
    "systems.prompting:render_question": PROMPT,
    "tables.names:fold": COMPARED,
    "tables.nearness:words_of": COMPARED,
    "workbench.names:_looks": COMPARED,
}
"""What changes no text that somebody wrote and somebody reads, and why."""


def changing_functions() -> set[str]:
    """Return `module:function` for each function of the package that changes texts by a pattern or table."""
    root = Path(ragstone.__file__).parent
    found: set[str] = set()
    for file in sorted(root.rglob("*.py")):
        module = ".".join(file.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
        found |= {f"{module}:{name}" for name in _changing(ast.parse(file.read_text("utf-8")), "")}
    return found


def _changing(tree: ast.AST, name: str) -> set[str]:
    found: set[str] = set()
    for node in ast.iter_child_nodes(tree):
        inner = name
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            inner = f"{name}.{node.name}".lstrip(".")
        called = node.func if isinstance(node, ast.Call) else None
        if isinstance(called, ast.Attribute) and called.attr in METHODS:
            found.add(name)
        found |= _changing(node, inner)
    return found
