"""Every function of the package that changes a text by a pattern: tried on ordinary sentences, or why not.

A new one goes into TRIED, with what it is there to change, or into UNTRIED with the reason.
tests/test_changes.py finds them all by itself, and tries TRIED.
"""

import ast
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from tests.support import house

from ragstone.features.build import _writing as writing
from ragstone.features.import_ import _trec as trec
from ragstone.features.judge import words as judged
from ragstone.kernel.corpus import headings
from ragstone.kernel.corpus.readers import asciidoc, rst
from ragstone.kernel.corpus.readers.pdf import _rows as rows
from ragstone.kernel.errors import harmless
from ragstone.kernel.llm.keys import hide
from ragstone.kernel.llm.schema import without_thought
from ragstone.kernel.llm.untrusted import defuse
from ragstone.kernel.privacy.masking import mask_personal_data
from ragstone.kernel.privacy.reversible import ReversibleMask
from ragstone_assistant.answering.sentences import marks_before_ends, with_marks, without_marks
from ragstone_assistant.guards import without_contacts, without_instructions
from ragstone_assistant.tools.plain_text import bounded

METHODS = ("sub", "subn", "translate")
SEARCHES = frozenset(
    ("finditer", "search", "match", "fullmatch", "findall", "find", "rfind", "partition", "rpartition")
)
_CALLED = re.compile(rf"\b(?:{'|'.join((*METHODS, *SEARCHES, 'sentence_spans'))})\b")


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
ORDER = (  # a sentence that speaks to a model, or a comment
    r"^.*(?:<!--|</?\s*(?:contexts?|passages?|question|system|instructions?|observation|tool)\b[^>\n]{0,40}>"
    r"|['\"`]?role['\"`]?\s*[:=|]|in your (?:answer|reply|response)|pretend to be|you are an ai\b"
    r"|(?:forget|ignore)\b.{0,40}\b(?:prompts?|instructions?|above)|tell the user).*$"
    r"|^(?:.*\n)?\W*(?:system|assistant|user|developer|human|ai)\b.*$|^.*(?:" + TEMPLATE + r"|<think).*$"
)


def _contacts(text: str) -> str:
    return without_contacts(text, "en")


def _masked(text: str) -> str:
    return mask_personal_data(text).text


def _sent_and_restored(text: str) -> str:
    mask = ReversibleMask([[text]])
    return mask.restore(mask.groups[0][0])


TRIED: dict[str, Change] = {
    "ragstone_assistant.guards:without_contacts": Change(
        _contacts, _planted(ADDRESS, MARKDOWN, HTML, DOTTED, NUMBER)
    ),
    "ragstone_assistant.guards:without_instructions": Change(
        without_instructions, re.compile(ORDER, re.IGNORECASE | re.DOTALL)
    ),
    "ragstone_assistant.answering.sentences:without_marks": Change(without_marks, _planted(MARK)),
    "ragstone_assistant.answering.sentences:with_marks": Change(
        lambda text: with_marks(text, [7]), _planted("$")
    ),
    "ragstone_assistant.answering.sentences:marks_before_ends": Change(marks_before_ends, _planted(MARK)),
    "kernel.privacy.masking:mask_texts": Change(
        _masked, _planted(ADDRESS, NUMBER, PLACE, SECRET, GIVEN_NAME)
    ),
    "kernel.privacy.reversible:ReversibleMask.restore": Change(
        _sent_and_restored, _planted(ADDRESS, GIVEN_NAME)
    ),
    "kernel.llm.untrusted:defuse": Change(defuse, _planted(r"</?[a-z]+_\w+>", r"\[MASK\]", TEMPLATE)),
    "kernel.llm.schema:without_thought": Change(without_thought, _planted("<think.*?</think>")),
    "kernel.llm.keys:hide": Change(lambda text: hide(text, ["sk-1234567890abcdefghij"]), _planted("(?!)")),
    "features.import_._trec:_plain": Change(trec._plain, _planted(HTML, r"&#?\w+;", r"\r\n")),
    "features.build._writing:_line": Change(writing._line, _planted(CONTROL)),
    "kernel.corpus.headings:_plain": Change(
        headings._plain,
        _planted(r"`", r"!?\[|\w*\]\([^)]*\)\w*", r"\*{1,3}(?=\S)|(?<=\S)\*{1,3}", r"\{#[^}]*\}"),
    ),
    "kernel.corpus.readers.pdf._rows:clean": Change(
        rows.clean, _planted(CONTROL, r"[\ufb00-\ufefc\uf0b7]+", "\\d ?\u2044 ?\\d")
    ),
    "kernel.corpus.readers.rst:RstText._marked": Change(
        lambda text: rst.RstText("").plain(text),
        _planted(r"\S*`[^`]*`\S*", r"\S*[*\\]\S*", r"\S*\]_\S*"),
    ),
    "kernel.corpus.readers.asciidoc:AsciiDocText.plain": Change(
        lambda text: asciidoc.AsciiDocText("").plain(text),
        _planted(
            r"\S*`[^`]*`\S*", r"\S*[*_#^~\\+]\S*", r"\{[\w-]+\}", r"\[[^\]]*\]+", r"\(\(.*\)\)", r"&#?\w+;"
        ),
    ),
    "kernel.errors:harmless": Change(harmless, _planted(CONTROL)),
    "features.judge.words:_short": Change(lambda text: judged._short(text, len(text) + 9), _planted(CONTROL)),
    "ragstone_assistant.tools.plain_text:bounded": Change(
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
ESCAPED = "escapes for Markdown; a reader sees the text as it was (tests/features/report)"
UNICODE = "half a surrogate pair, which no file can hold"
ON_PURPOSE = "it changes what it is given on purpose: an attack or a planted defect"
PART = "a part of one that is tried"

UNTRIED: dict[str, str] = {
    "features.explain._messages:_Module._texts": "text of our own sources: what is filled in becomes a hole",
    "features.explain._messages:MessageTemplate.shown": "a message of ours: its holes become `…`",
    "features.explain._messages:plain_text": COMPARED,
    "features.explain.explaining:explain": NAME,
    "features.modes.files:earlier_name": NAME,
    "features.modes.files:mode_name": NAME,
    "kernel.config.loading:convert_section": "an error of ours: a pattern in it becomes words",
    "kernel.judging.supported._features:sentence_features": COMPARED,
    "kernel.judging.supported._fields:_key_words": COMPARED,
    "kernel.judging.supported._fields:read_record": COMPARED,
    "kernel.judging.supported._numbers:stated_numbers": COMPARED,
    "kernel.dataset._realigning:_letters": COMPARED,
    "kernel.dataset._realigning:_set_otherwise": COMPARED,
    "kernel.dataset._realigning:rough_seeds": COMPARED,
    "kernel.corpus.readers.asciidoc:AsciiDocText._fenced": "numbers of notes in code, behind it",
    "kernel.embedding._e5_file:_Vocabulary.tokens": "what a model reads of a text: its vectors are compared",
    "kernel.corpus.readers.asciidoc:_marked": "a part of one that is tried",
    "kernel.corpus.readers.asciidoc:_macro_text": "a part of one that is tried",
    "kernel.corpus.readers.asciidoc:_shown": "the text of a link, without the attributes behind it",
    "kernel.corpus.readers.rst:_role_text": "a part of one that is tried",
    "features.improve.judge_form:_with_inputs": "the names that a prompt holds become its list of inputs",
    "ragstone_assistant.answering._checking:Checker._cleaned": PART,
    "ragstone_assistant.answering.prompting:render": PROMPT,
    "ragstone_assistant.answering._quoting:quoted": PART,
    "ragstone_assistant.answering._fidelity:_facts": COMPARED,
    "ragstone_assistant.answering._fidelity:_with_months": COMPARED,
    "kernel.corpus.numbers:stated_values": COMPARED,
    "kernel.corpus.numbers:number_values": VALUE,
    "ragstone_assistant.guards:_each": PART,
    "ragstone_assistant.guards:_without": PART,
    "ragstone_assistant.guards:_names_with_dots": PART,
    "ragstone_assistant.guards:_without_comments": PART,
    "ragstone_assistant.answering._checking:_without_cut_mark": "half a mark at the end of a cut reply",
    "ragstone_assistant.answering._checking:Checker._release": PART,
    "ragstone_assistant.answering.sentences:_without_thought": PART,
    "ragstone_assistant.guards:_hides_orders": COMPARED,
    "ragstone_assistant.knowledge.uploads:safe_name": NAME,
    "kernel.corpus.readers.pdf._paragraphs:_joined_at_hyphen": "two lines of a PDF (tests of readers)",
    "features.build.fictional:_moved_reference": "names that are changed on purpose",
    "features.improve.judge_files:replaced_line": SETTING,
    "features.new._own_data:_commented": SETTING,
    "features.compare.matrix:_axis": SETTING,
    "mcp.tools:Tools._named": NAME,
    "kernel.document.plots._pen:lone": UNICODE,
    "workbench.run_pages:browser_notes": "a sentence of ours for a terminal, in words for a browser",
    "ragstone_assistant.tools.plain_text:shortened": "an end that is cut off and marked, at a length",
    "kernel.corpus.duplicates:_digits": COMPARED,
    "ragstone_assistant.log._spans:_fail": UNICODE,
    "ragstone_assistant.log._spans:SpanSender._start": UNICODE,
    "ragstone_assistant.planning.slots:courtesy_in": COMPARED,
    "ragstone_assistant.planning.slots:_gone": COMPARED,
    "ragstone_assistant.tools.mcp:_name": NAME,
    "ragstone_assistant.tools._schema_struct:_identifier": NAME,
    "kernel.corpus.readers.docx:Counting.label": "numbers of lists in Word: the format of a level, no text",
    "kernel.corpus.readers.html:_visible_text": (
        "its own marks of headings, private characters (tests/kernel/corpus/readers/test_html.py)"
    ),
    "kernel.corpus.readers.html:_headings": (
        "its own marks of headings, private characters (tests/kernel/corpus/readers/test_html.py)"
    ),
    "kernel.corpus.readers.html:_add_text": (
        "its own marks of headings, private characters (tests/kernel/corpus/readers/test_html.py)"
    ),
    "kernel.corpus.readers.pdf._furniture:_repeated": COMPARED,
    "kernel.corpus.readers.pdf._furniture:_is_of_names": COMPARED,
    "kernel.corpus.readers.pdf._headings:_key": COMPARED,
    "kernel.corpus.readers.pdf._headings:metadata_title": (
        "the title that a program wrote into a PDF: 'Microsoft Word - '"
    ),
    "kernel.corpus.readers.pdf._rows:_cell": "two signs of Arabic that PDFium gives in the wrong order",
    "kernel.corpus.readers.text:markdown_title": "where the first heading is, behind code; the text stays",
    "kernel.config.loading:_too_much": "a copy of a settings file that is measured before it is read",
    "kernel.corpus._repositories:repository_of": SETTING,
    "kernel.corpus._repositories:plain": SETTING,
    "kernel.corpus.sources:_pattern": SETTING,
    "kernel.corpus._pieces:PieceTable.number": COMPARED,
    "kernel.corpus.tokens:without_article": COMPARED,
    "kernel.corpus.tokens:_folded": COMPARED,
    "kernel.corpus.tokens:kinds_of_characters": "a table of characters, no text",
    "kernel.corpus.tokens:_ranges": "a table of characters, no text",
    "kernel.corpus.topics:_written": "one word of a text, without the punctuation around it",
    "kernel.dataset.evidence:_numbers": VALUE,
    "kernel.dataset.evidence:_fold": COMPARED,
    "kernel.dataset.languages:speaks": COMPARED,
    "kernel.tables.logs.reading:_ending": SETTING,
    "kernel.dataset.repeats:tokens_of": COMPARED,
    "kernel.dataset.repeats:content_of": COMPARED,
    "features.bench._running:slug": NAME,
    "kernel.files.decoding:_line_by_line": COMPARED,
    "kernel.files.decoding:_utf8_share": COMPARED,
    "kernel.files.xlsx:_kind_of_code": SETTING,
    "features.attack._families:": ON_PURPOSE,
    "features.attack._planting:_filled": PROMPT,
    "features.attack._probes:marked_up": ON_PURPOSE,
    "features.build._defects:dangle": ON_PURPOSE,
    "features.build._styles:render_style": PROMPT,
    "features.improve._store:safe_name": NAME,
    "features.export.mlflow:_accepted": NAME,
    "features.export._eval_results:_scalar": "quoted as in JSON: what YAML reads back is the text",
    "features.export._inspect_log:write_inspect_log": NAME,
    "features.export._judged_system:portable": NAME,
    "features.export.mlflow:_shown": SETTING,
    "features.import_._trec:_topic": "the label of a field in a TREC topic: 'Narrative: '",
    "features.import_._trec:_document": PART,
    "features.judge.judging:run_folder_of": NAME,
    "features.new._own_data:_set": SETTING,
    "features.translate._pieces:_with_edges": COMPARED,
    "features.translate._pieces:missing_numbers": COMPARED,
    "kernel.judging.citation_marks:cited_statements": (
        "statements of an answer without their marks, for its judges: tests/judging/test_citation_marks.py"
    ),
    "kernel.judging.function._adapters:_function": NAME,
    "kernel.judging.function.loading:_plain_name": NAME,
    "kernel.judging.lexical:alternatives": (
        "a separator between alternatives; what it holds comes back (tests/kernel/judging/test_lexical.py)"
    ),
    "kernel.judging.lexical:statement_verdicts": COMPARED,
    "kernel.judging.render:named_inputs": PROMPT,
    "kernel.judging._typed_questions:_quoted": PROMPT,
    "kernel.judging.together:_starts": NAME,
    "kernel.judging.truth:says_true": COMPARED,
    "kernel.judging._truth_clauses:folded": COMPARED,
    "kernel.llm._anthropic:_reply_form": NAME,
    "kernel.llm.json_service:fill": SETTING,
    "kernel.llm.json_service:fill_url": SETTING,
    "kernel.llm.keys:without_password": SETTING,
    "kernel.llm._litellm:open_litellm": SETTING,
    "kernel.llm._litellm:_body": NAME,
    "kernel.llm._openai:_name_of": NAME,
    "kernel.llm.schema:_writable": UNICODE,
    "kernel.privacy.masking:MaskedValues._replaced": PART,
    "kernel.privacy.masking:_spans_seen": PART,
    "kernel.privacy.masking:_with_names": PART,
    "kernel.privacy.network:find_emails": VALUE,
    "kernel.privacy.network:find_hosts": VALUE,
    "kernel.privacy.normalised:without_invisible": PART,
    "kernel.privacy._numbers:find_cards": VALUE,
    "kernel.privacy._numbers:_sweden": VALUE,
    "kernel.privacy._numbers:_russia": VALUE,
    "kernel.privacy._numbers:find_ids": VALUE,
    "kernel.privacy.phones:says_phone": PART,
    "kernel.privacy.phones:_last": PART,
    "kernel.privacy.phones:find_accounts": VALUE,
    "kernel.privacy.phones:find_phones": PART,
    "kernel.privacy.reversible:_finished": PART,
    "kernel.privacy.span:folded": PART,
    "kernel.document.html:libraries": SETTING,
    "kernel.document.markdown:plain": ESCAPED,
    "kernel.document.markdown:escape": ESCAPED,
    "kernel.retrieval.rerank:render": PROMPT,
    "kernel.systems.prompting:render_question": PROMPT,
    "kernel.tables.names:fold": COMPARED,
    "kernel.tables._nearness:words_of": COMPARED,
    "workbench.names:_looks": COMPARED,
}
"""What changes no text that somebody wrote and somebody reads, and why."""


def changing_functions() -> set[str]:
    """Return `module:function` for each function of the package that changes texts by a pattern or table.

    Also those that take a text and return one of slices or pieces, at places that were searched for.
    """
    return {
        f"{module.removeprefix('ragstone.')}:{name}"
        for module, path in house.modules().items()
        if _CALLED.search(path.read_text(encoding="utf-8"))
        for name in _changing(house.tree_of(path))
    }


def _changing(tree: ast.AST) -> Iterator[str]:
    left = [(tree, "")]
    while left:
        above, name = left.pop()
        for node in ast.iter_child_nodes(above):
            inner = name
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                inner = f"{name}.{node.name}".lstrip(".")
                if isinstance(node, ast.FunctionDef) and _cuts(node):
                    yield inner
            elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") in METHODS:
                yield name
            left.append((node, inner))


def _cuts(function: ast.FunctionDef) -> bool:
    """Return whether a function of a text gives one back that is cut, or put together, where it searched."""
    if not (isinstance(function.returns, ast.Name) and function.returns.id == "str"):
        return False
    if not any(one.annotation and "str" in ast.unparse(one.annotation) for one in function.args.args):
        return False
    called = {
        node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        for node in ast.walk(function)
        if isinstance(node, ast.Call)
    }
    slices = any(
        isinstance(one, ast.Subscript) and isinstance(one.slice, ast.Slice) for one in ast.walk(function)
    )
    return bool(called & (SEARCHES | {"sentence_spans"})) and (slices or "join" in called)
