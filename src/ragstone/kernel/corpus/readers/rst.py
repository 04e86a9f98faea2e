"""reStructuredText -> a document as its reader sees it: headings, paragraphs, lists, tables, code.

Directives and roles that are not known (each project has its own) show their argument and their content, so
no list of Sphinx's extensions has to be complete. Nothing is included, and nothing is run.
"""

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from textwrap import dedent

from ragstone.kernel.corpus.readers._outline import OutlineBlock, lay_out, outline_notes
from ragstone.kernel.corpus.readers.text import first_line
from ragstone.kernel.files.decoding import decode
from ragstone.kernel.files.file import File
from ragstone.kernel.records import Document

# Directives that show nothing to a reader, or what is elsewhere.
HIDDEN = frozenset((
    "toctree", "contents", "index", "highlight", "default-role", "default-domain", "include",
    "literalinclude", "raw", "meta", "rst-class", "cssclass", "module", "py:module", "currentmodule",
    "py:currentmodule", "sectionauthor", "moduleauthor", "codeauthor", "tabularcolumns", "sectnum",
    "header", "footer", "role", "title", "target-notes", "todolist", "bibliography", "graphviz",
    "inheritance-diagram", "ifconfig", "testsetup", "testcleanup",
))  # fmt: skip
VERBATIM = frozenset((
    "code", "code-block", "sourcecode", "parsed-literal", "doctest", "testcode", "testoutput", "prompt",
    "math", "console", "ipython", "productionlist",
))  # fmt: skip
ADMONITIONS = frozenset((
    "attention", "caution", "danger", "error", "hint", "important", "note", "tip", "warning", "seealso",
    "todo",
))  # fmt: skip
VERSIONS = {
    "versionadded": "Added in version",
    "versionchanged": "Changed in version",
    "deprecated": "Deprecated since version",
    "versionremoved": "Removed in version",
}
MOST_LEVELS = 40  # of what lies within what; deeper, lines are text
MOST_ROWS = 500  # lines of a table between its first border and its last

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1+")
_DIRECTIVE = re.compile(
    r"\.\. (?:\|(?P<name>[^|\n]{1,200})\| )?(?P<kind>[\w:.+-]{1,80}?):: ?(?P<argument>.*)"
)
_FOOTNOTE = re.compile(r"\.\. (?P<mark>\[[^\]\n]{1,80}\]) (?P<text>.*)")
_TARGET = re.compile(r"\.\. _`?(?P<name>[^:`\n]{1,200})`?:")
_OPTION = re.compile(r":(?P<name>[\w-]{1,60}):(?: (?P<value>.*))?")
_FIELD = re.compile(r":(?P<name>[^:\s][^:\n]{0,80}):(?: (?P<text>.*)|$)")
_ITEM = re.compile(r"(?P<mark>[-*+•]|(?:\d{1,9}|[a-zA-Z]|#)[.)]|\((?:\d{1,9}|[a-zA-Z]|#)\)) +(?=\S)")
_GRID = re.compile(r"\+(?:[-=]+\+)+")
_SIMPLE = re.compile(r"=+(?: +=+)+")
_DIVIDER = re.compile(r"[-=]+(?: +[-=]+)*")

_LITERAL = re.compile(r"``(.{1,2000}?)``")
_ROLE = re.compile(
    r":(?P<role>[\w:.+-]{1,60}):`(?P<text>[^`]{1,2000})`|`(?P<plain>[^`]{1,2000})`(?P<link>_{0,2})"
)
_EMPHASIS = re.compile(r"(?<![\w*\\])(\*{1,2})(?=[^\s*])([^*]{1,1000}?)(?<![\s\\])\1(?![\w*])")
_NOTED = re.compile(r"(\[[^\]\s]{1,80}\])_(?!\w)")
_NAMED = re.compile(r"(?<![\w`])(\w{1,100}?)__?(?!\w)")
_REPLACED = re.compile(r"\|([^|\s](?:[^|\n]{0,100}[^|\s])?)\|_{0,2}")
_ESCAPED = re.compile(r"\\(\s|.)", re.DOTALL)

Lines = Sequence[str]
Blocks = Iterator[OutlineBlock]


def read_rst(file: File) -> Iterator[Document]:
    """Yield the one document of a reStructuredText file, titled by its first heading or line."""
    decoded = decode(file.read_bytes())
    outline = lay_out(RstText(decoded.text).blocks())
    title = outline.headings[0]["title"] if outline.headings else first_line(outline.text)
    notes = {**outline_notes(outline), **decoded.notes()}
    yield Document(id=file.id, text=outline.text, title=title, source=file.source, metadata=notes or None)


class RstText:
    """A text, with what its inline markup refers to: names of targets, and texts of substitutions."""

    def __init__(self, text: str) -> None:
        self.lines = [line.expandtabs(8).rstrip() for line in text.splitlines()]
        self.levels: list[tuple[str, bool]] = []  # adornments in the order in which they come
        self.targets = {
            match["name"].casefold() for line in self.lines if (match := _TARGET.match(line.strip()))
        }
        self.texts: dict[str, str] = {}
        for line in self.lines:
            match = _DIRECTIVE.match(line.strip())
            if match and match["name"]:
                is_text = match["kind"] in ("replace", "unicode")
                self.texts[match["name"].casefold()] = match["argument"] if is_text else ""

    def blocks(self) -> Blocks:
        """Yield the blocks of the text."""
        begin = next((n for n, line in enumerate(self.lines) if line and not _FIELD.fullmatch(line)), 0)
        yield from self._within(self.lines[begin:], 0)  # fields before it are for the program that reads it

    def plain(self, text: str) -> str:
        """Return a text without inline markup."""
        parts = _LITERAL.split(text)
        return "".join(part if at % 2 else self._marked(part) for at, part in enumerate(parts))

    def _marked(self, text: str) -> str:
        text = _REPLACED.sub(lambda match: self.texts.get(match[1].casefold(), match[0]), text)
        text = _ROLE.sub(_role_text, text)
        text = _NOTED.sub(r"\1", text)
        text = _NAMED.sub(lambda match: match[1] if match[1].casefold() in self.targets else match[0], text)
        text = _EMPHASIS.sub(r"\2", text)
        return _ESCAPED.sub(lambda match: "" if match[1].isspace() else match[1], text)

    def _within(self, lines: Lines, depth: int) -> Blocks:
        """Yield the blocks of lines whose indent is that of the first one that is not blank."""
        if depth > MOST_LEVELS:
            yield OutlineBlock("\n".join(lines))
            return
        at = 0
        while at < len(lines):
            line = lines[at]
            if not line:
                at += 1
                continue
            if _indent(line):
                end = _end_of_indented(lines, at)
                yield from self._within(_dedented(lines[at:end]), depth + 1)
                at = end
                continue
            made, at = self._block(lines, at, depth)
            yield from made

    def _block(self, lines: Lines, at: int, depth: int) -> tuple[Iterable[OutlineBlock], int]:
        """Return the blocks that begin at a line without indent, and where the next one begins."""
        line = lines[at]
        if line == ".." or line.startswith((".. ", "__ ")):
            end = _end_of_indented(lines, at + 1)
            return self._explicit(line, lines[at + 1 : end], depth), end
        if heading := self._heading(lines, at):
            return heading
        if table := _table(lines, at):
            end, rows = table
            return [OutlineBlock(" | ".join(map(self.plain, row)), kind="row") for row in rows], end
        if _ADORNMENT.fullmatch(line) and len(line) >= 4:
            return (), at + 1  # a transition
        if line.startswith(">>> "):
            end = next((n for n in range(at, len(lines)) if not lines[n]), len(lines))
            return [OutlineBlock("\n".join(lines[at:end]))], end
        if line == "|" or line.startswith("| "):
            end = next((n for n in range(at, len(lines)) if not lines[n].startswith("|")), len(lines))
            texts = (self.plain(each[1:].strip()) for each in lines[at:end])
            return [OutlineBlock(text, kind="line") for text in texts], end
        if match := _ITEM.match(line):
            return self._item(lines, at, match, depth)
        if match := _FIELD.fullmatch(line):
            end = _end_of_indented(lines, at + 1)
            text = " ".join([match["text"] or "", *map(str.strip, lines[at + 1 : end])]).strip()
            named = OutlineBlock(f"{match['name']}: {self.plain(text)}", kind="field")
            return [named] if text else [], end
        return self._paragraph(lines, at, depth)

    def _heading(self, lines: Lines, at: int) -> tuple[list[OutlineBlock], int] | None:
        """Return a title that is underlined, or between two lines; None where there is none."""
        line, after = lines[at], lines[at + 1] if at + 1 < len(lines) else ""
        last = lines[at + 2] if at + 2 < len(lines) else ""
        if _ADORNMENT.fullmatch(line) and after.strip() and last == line and not _ADORNMENT.fullmatch(after):
            title, style, end = after.strip(), (line[0], True), at + 3
        elif (
            _ADORNMENT.fullmatch(after) and not _ADORNMENT.fullmatch(line) and len(after) >= min(len(line), 4)
        ):
            title, style, end = line, (after[0], False), at + 2
        else:
            return None
        if style not in self.levels:
            self.levels.append(style)
        return [OutlineBlock(self.plain(title), level=self.levels.index(style) + 1)], end

    def _item(
        self, lines: Lines, at: int, match: re.Match[str], depth: int
    ) -> tuple[Iterable[OutlineBlock], int]:
        end = _end_of_indented(lines, at + 1)
        body = [lines[at][match.end() :], *_dedented(lines[at + 1 : end])]
        first, *more = [*self._within(body, depth + 1)] or [OutlineBlock("")]
        marked = OutlineBlock(f"{match['mark']} {first.text}", kind="item")
        return [marked, *more], end

    def _paragraph(self, lines: Lines, at: int, depth: int) -> tuple[Iterable[OutlineBlock], int]:
        end = at
        while end < len(lines) and lines[end] and not _indent(lines[end]):
            end += 1
        text = " ".join(lines[at:end])
        below = _end_of_indented(lines, end)
        if text.endswith("::"):
            text = text.removesuffix("::").rstrip() + (":" if not text.endswith(" ::") else "")
            literal = _dedented(lines[end:below])
            shown = [OutlineBlock(self.plain(text))] if text != ":" else []
            return [*shown, OutlineBlock("\n".join(literal).strip("\n"))], below
        if end < len(lines) and lines[end]:  # a term, and below it what it means
            inner = self._within(_dedented(lines[end:below]), depth + 1)
            return [OutlineBlock(self.plain(text)), *inner], below
        return [OutlineBlock(self.plain(text))], end

    def _explicit(self, line: str, below: Lines, depth: int) -> Blocks:
        """Yield what a reader sees of a line that begins with two dots and of what is indented below it."""
        body = _dedented(below)
        if match := _FOOTNOTE.match(line):
            text = " ".join([match["text"], *filter(None, map(str.strip, body))])
            yield OutlineBlock(f"{match['mark']} {self.plain(text)}", kind="note")
            return
        match = _DIRECTIVE.match(line)
        if match is None or match["name"] or match["kind"] in HIDDEN:
            return  # a comment, a target, a substitution
        kind, argument, options, content = match["kind"], match["argument"].strip(), *_options(body)
        yield from self._directive(kind, argument, options, content, depth)

    def _directive(
        self, kind: str, argument: str, options: Mapping[str, str], content: Lines, depth: int
    ) -> Blocks:
        if kind in VERBATIM:
            is_part = kind == "math" and argument
            yield OutlineBlock("\n".join([*([argument] if is_part else []), *content]).strip("\n"))
            return
        if kind in ("image", "figure"):
            yield OutlineBlock(self.plain(options.get("alt", "")))
        elif kind in VERSIONS:
            version, _, text = argument.partition(" ")
            yield OutlineBlock(f"{VERSIONS[kind]} {version}. {self.plain(text)}".strip())
        elif kind in ("list-table", "csv-table"):
            yield OutlineBlock(self.plain(argument))
            read: Callable[[Lines], Iterable[Sequence[str]]] = (
                _listed_rows if kind == "list-table" else csv.reader
            )
            for row in read(content):
                yield OutlineBlock(" | ".join(self.plain(cell.strip()) for cell in row), kind="row")
            return
        elif kind in ADMONITIONS:
            first, *more = [*self._within([argument, *content] if argument else content, depth + 1)] or [
                OutlineBlock("")
            ]
            yield OutlineBlock(f"{'See also' if kind == 'seealso' else kind.capitalize()}: {first.text}")
            yield from more
            return
        else:
            yield OutlineBlock(self.plain(argument))
        yield from self._within(content, depth + 1)


def _role_text(match: re.Match[str]) -> str:
    text = match["text"] or match["plain"]
    if text.endswith(">") and "<" in text[1:] and (match["role"] or match["link"]):
        return text[: text.rindex("<")].rstrip()
    if match["role"] in ("rfc", "pep"):
        return f"{match['role'].upper()} {text}"
    if match["role"] and text.startswith("~"):
        return text.rpartition(".")[2].removeprefix("~")
    return text.lstrip("!/.") if match["role"] else text


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _end_of_indented(lines: Lines, at: int) -> int:
    """Return where lines that are blank or indented end, from `at` on; blank ones at the end do not count."""
    end = at
    for n in range(at, len(lines)):
        if lines[n] and not _indent(lines[n]):
            break
        end = n + 1 if lines[n] else end
    return end


def _dedented(lines: Lines) -> list[str]:
    return dedent("\n".join(lines)).split("\n") if lines else []


def _options(body: Lines) -> tuple[dict[str, str], Lines]:
    """Return the options that a directive's body begins with, and what follows."""
    options: dict[str, str] = {}
    at = 0
    while at < len(body) and (match := _OPTION.fullmatch(body[at])):
        options[match["name"]] = match["value"] or ""
        at += 1
    return options, body[at:]


def _table(lines: Lines, at: int) -> tuple[int, list[list[str]]] | None:
    """Return where a table ends whose border is at this line, and its rows; None where there is none."""
    if _GRID.fullmatch(lines[at]):
        end = next((n for n in range(at, len(lines)) if not lines[n].startswith(("+", "|"))), len(lines))
        return end, _grid_rows(lines[at:end])
    if not _SIMPLE.fullmatch(lines[at]):
        return None
    for n in range(at + 1, min(len(lines), at + MOST_ROWS)):
        if _SIMPLE.fullmatch(lines[n]) and (n + 1 == len(lines) or not lines[n + 1]):
            return n + 1, _simple_rows(lines[at:n])
    end = next((n for n in range(at, len(lines)) if not lines[n]), len(lines))
    return end, [[line] for line in lines[at:end]]


def _grid_rows(lines: Lines) -> list[list[str]]:
    rows: list[list[str]] = []
    cells: list[list[str]] = []
    for line in lines:
        if line.startswith("+"):
            rows += [[" ".join(filter(None, cell)) for cell in cells]] if cells else []
            cells = []
        else:
            parts = [part.strip() for part in line.strip("|").split("|")]
            cells += [[] for _ in range(len(parts) - len(cells))]
            for cell, part in zip(cells, parts, strict=False):
                cell.append(part)
    return rows


def _simple_rows(lines: Lines) -> list[list[str]]:
    starts = [match.start() for match in re.finditer(r"=+", lines[0])]
    rows: list[list[list[str]]] = []
    for line in lines:
        if not line or _DIVIDER.fullmatch(line):
            continue
        cells = [line[a:b].strip() for a, b in zip(starts, [*starts[1:], None], strict=True)]
        if cells[0] or not rows:
            rows.append([[] for _ in cells])
        for cell, part in zip(rows[-1], cells, strict=True):
            cell.append(part)
    return [[" ".join(filter(None, cell)) for cell in row] for row in rows]


def _listed_rows(lines: Lines) -> list[list[str]]:
    """Return the rows of a table that is written as a list of lists."""
    rows: list[list[list[str]]] = []
    for line in lines:
        text = line.strip()
        if match := re.match(r"[*-] +[*-](?: +|$)", text):
            rows.append([[text[match.end() :]]])
        elif rows and (text == "-" or text.startswith("- ")):
            rows[-1].append([text[1:].strip()])
        elif rows and text:
            rows[-1][-1].append(text)
    return [[" ".join(filter(None, cell)) for cell in row] for row in rows]
