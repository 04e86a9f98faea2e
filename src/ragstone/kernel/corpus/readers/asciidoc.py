"""AsciiDoc -> a document as its reader sees it: headings, paragraphs, lists, tables, code; no attributes.

Nothing is included; of text that depends on a condition (`ifdef::`) all of it is kept.
"""

import html
import re
from collections.abc import Iterator, Sequence

from ragstone.kernel.corpus.readers._outline import OutlineBlock, lay_out, outline_notes
from ragstone.kernel.corpus.readers.text import first_line
from ragstone.kernel.files.decoding import decode
from ragstone.kernel.files.file import File
from ragstone.kernel.records import Document

VERBATIM = "-."  # first characters of the lines around listings and literal text
HIDDEN = "/+"  # of those around comments and what is passed through as HTML
BLANK = {
    "nbsp": " ",
    "sp": " ",
    "empty": "",
    "zwsp": "",
    "blank": "",
    "plus": "+",
    "amp": "&",
    "lt": "<",
    "gt": ">",
}
MARKS = {
    "vbar": "|",
    "asterisk": "*",
    "tilde": "~",
    "backtick": "`",
    "startsb": "[",
    "endsb": "]",
    "caret": "^",
}

_HEADING = re.compile(r"(?P<marks>={1,6}|#{1,6})[ \t]+(?P<title>\S.*)")
_ATTRIBUTE = re.compile(r":(?P<name>!?[\w-]{1,80}!?):(?:[ \t]+(?P<value>.*))?")
_FENCE = re.compile(r"(?P<fence>-{4,}+|\.{4,}+|={4,}+|\*{4,}+|_{4,}+|/{4,}+|\+{4,}+|--|`{3,}+)[\w+-]{0,40}")
_BLOCK_LINE = re.compile(r"\[{1,2}[^\[\]]*+\]{1,2}")  # attributes or an anchor, alone on a line
_DIRECTIVE = re.compile(
    r"(?:include|ifdef|ifndef|ifeval|endif|toc|video|audio|icon)::[^\s\[]{0,500}+\[[^\[\]]*+\]"
)
_ESCAPED = re.compile(r"^\\(?=(?:include|ifdef|ifndef|ifeval|endif)::)")
_IMAGE = re.compile(r"image::[^\[\s]{1,1000}+\[(?P<text>[^\[\]]*+)\]")
_TITLE = re.compile(r"\.(?P<title>[^\s.].*)")
_ITEM = re.compile(r"(?P<mark>\*{1,5}|-|\.{1,5}|\d{1,9}\.|<(?:\d{1,3}|\.)>)[ \t]+(?P<text>\S.*)")
_TERM = re.compile(r"(?P<term>\S.*?)(?:::{1,3}|;;)(?:[ \t]++(?P<text>(?s:.*)))?")
_ADMONITION = re.compile(r"(?P<kind>NOTE|TIP|IMPORTANT|WARNING|CAUTION): (?P<text>.*)")
_CELL = re.compile(
    r"(?:(?<!\S)(?:(?:\d+(?:\.\d+)?|\.\d+)[+*])?(?:[<^>](?:\.[<^>])?|\.[<^>])?[aehlmsdv]?)?(?<!\\)\|"
)

_CALLOUT = re.compile(r"(?:[ \t]{0,3}(?://|#|;;|<!--)?[ \t]{0,3}<(?:\d{1,3}|\.)>(?:[ \t]{0,3}-->)?){1,9}$")

_LITERAL = re.compile(
    r"``(.{1,1000}?)``|(?<![\w`])`\+?([^`\n]{1,1000}?)\+?`(?![\w`])|\+\+\+(.{1,1000}?)\+\+\+"
)
_CROSS = re.compile(r"<<(?P<id>[^\s,<>][^,<>]{0,300})(?:, ?(?P<text>[^<>]{1,500}))?>>")
_MACRO = re.compile(
    r"(?P<name>link|xref|mailto|image|icon|kbd|btn|pass|footnote|menu|anchor|indexterm2?|stem|latexmath|asciimath)"
    r":(?P<target>[^\s\[\]]{0,1000})\[(?P<text>[^\]]{0,1000})\]"
)
_ADDRESS = re.compile(
    r"(?P<address>(?:(?:https?|ftp|irc)://|\{[\w-]{1,80}\}/?)[^\s\[\]<>]{0,1000}+)\[(?P<text>[^\]]{0,1000})\]"
)
_INDEXED = re.compile(r"\(\(\([^()]{1,300}\)\)\)|\(\((?P<shown>[^()]{1,300})\)\)")
_ANCHOR = re.compile(r"\[\[[\w:.-]{1,200}(?:,[^\]]{0,200})?\]\]")
_NAMED = re.compile(r"(?<!\\)\{(?P<name>[\w-]{1,80})\}")
_STRONG = re.compile(
    r"(?<![\w\\*])(?:\[[^\]\n]{0,100}\])?(?P<mark>\*\*|\*|__|_|##|#)(?=\S)(?P<text>[^\n]{1,400}?)(?<=\S)(?P=mark)(?![\w*])"
)
_CHARACTER = re.compile(r"&(?:#\d{1,7}|#x[\da-fA-F]{1,6}|\w{2,31});")
_RAISED = re.compile(r"(?<!\\)([\^~])([^\s^~]{1,100})\1")

Lines = Sequence[str]
Blocks = Iterator[OutlineBlock]


def read_asciidoc(file: File) -> Iterator[Document]:
    """Yield the one document of an AsciiDoc file, titled by its first heading or line."""
    decoded = decode(file.read_bytes())
    outline = lay_out(AsciiDocText(decoded.text).blocks())
    title = outline.headings[0]["title"] if outline.headings else first_line(outline.text)
    notes = {**outline_notes(outline), **decoded.notes()}
    yield Document(id=file.id, text=outline.text, title=title, source=file.source, metadata=notes or None)


class AsciiDocText:
    """A text, with the attributes that it sets."""

    def __init__(self, text: str) -> None:
        self.lines = [line.expandtabs(4).rstrip() for line in text.splitlines()]
        self.attributes = BLANK | MARKS
        for line in self.lines:
            match = _ATTRIBUTE.fullmatch(line)
            if match and match["value"] and "!" not in match["name"]:
                self.attributes.setdefault(match["name"].lower(), match["value"])

    def blocks(self) -> Blocks:
        """Yield the blocks of the text."""
        yield from self._within(self.lines, 0)

    def plain(self, text: str) -> str:
        """Return a text without inline markup; text in backticks as it is."""
        literals: list[str] = []

        def kept(match: re.Match[str]) -> str:
            literals.append(match[1] or match[2] or match[3])
            return f"\0{len(literals) - 1}\0"

        text = _NAMED.sub(lambda match: self.attributes.get(match["name"].lower(), match[0]), text)
        text = _marked(_LITERAL.sub(kept, text.replace("\0", "")))
        return re.sub(r"\0(\d+)\0", lambda match: literals[int(match[1])], text)

    def _within(self, lines: Lines, depth: int) -> Blocks:
        at = 0
        while at < len(lines):
            line = lines[at]
            if fence := _FENCE.fullmatch(line):
                end = next((n for n in range(at + 1, len(lines)) if lines[n] == fence["fence"]), len(lines))
                yield from self._fenced(fence["fence"], lines[at + 1 : end], depth)
                at = end + 1
            elif line in ("|===", "!===", ",===", ":==="):
                end = next((n for n in range(at + 1, len(lines)) if lines[n] == line), len(lines))
                yield from self._table(lines[at + 1 : end])
                at = end + 1
            elif match := _HEADING.fullmatch(line):
                level = len(match["marks"])
                yield OutlineBlock(self.plain(match["title"]), level=level)
                at += 1
                while level == 1 and at < len(lines) and lines[at] and not _is_hidden(lines[at]):
                    at += 1  # who wrote it, and its version
            elif _is_hidden(line):
                at += 1
            elif line.startswith(" ") and not _ITEM.fullmatch(line.strip()):
                end = next((n for n in range(at, len(lines)) if not lines[n]), len(lines))
                yield OutlineBlock("\n".join(each.strip() for each in lines[at:end]))
                at = end
            else:
                end = at + 1
                while end < len(lines) and not _ends_paragraph(lines[end]):
                    end += 1
                yield self._text_block([each for each in lines[at:end] if not each.startswith("//")])
                at = end

    def _fenced(self, fence: str, inside: Lines, depth: int) -> Blocks:
        if fence[0] in HIDDEN:
            return
        if (fence[0] in VERBATIM and fence != "--") or fence[0] == "`":
            shown = [_ESCAPED.sub("", line) for line in inside if not _DIRECTIVE.fullmatch(line)]
            yield OutlineBlock("\n".join(_CALLOUT.sub("", line) for line in shown).strip("\n"))
        elif depth < len(fence) + 20:
            yield from self._within(inside, depth + 1)

    def _text_block(self, lines: Lines) -> OutlineBlock:
        """Return what a paragraph, an item or a term with its text says."""
        first, text = lines[0].strip(), " ".join(line.strip().removesuffix(" +") for line in lines)
        if image := _IMAGE.fullmatch(first):
            return OutlineBlock(self.plain(image["text"].partition(",")[0].strip('"')))
        if match := _ITEM.fullmatch(text):
            mark = "-" if match["mark"][0] in "*.-" else match["mark"].strip("<>.") + "."
            return OutlineBlock(f"{mark} {self.plain(match['text'])}", kind="item")
        if match := _ADMONITION.fullmatch(text):
            return OutlineBlock(f"{match['kind'].capitalize()}: {self.plain(match['text'])}")
        if match := _TERM.fullmatch(text):
            return OutlineBlock(
                f"{self.plain(match['term'])}: {self.plain(match['text'] or '')}".rstrip(": ")
            )
        if len(lines) == 1 and (match := _TITLE.fullmatch(first)):
            return OutlineBlock(self.plain(match["title"]))
        return OutlineBlock(self.plain(text))

    def _table(self, lines: Lines) -> Blocks:
        """Yield a line for each row: several cells on a line are one, else as many as the first."""
        n_columns = 0
        cells: list[list[str]] = []
        for line in lines:
            before, *parts = (part.strip().replace("\\|", "|") for part in _CELL.split(line))
            if before and cells:
                cells[-1].append(before)
            cells += [[part] for part in parts]
            if not n_columns and (len(parts) > 1 or (cells and not line)):
                n_columns = len(cells)
        for at in range(0, len(cells), n_columns or 1):
            row = (self.plain(" ".join(filter(None, cell))) for cell in cells[at : at + (n_columns or 1)])
            yield OutlineBlock(" | ".join(row), kind="row")


def _is_hidden(line: str) -> bool:
    return (
        not line
        or line in ("+", "'''", "<<<", "---", "***")
        or line.startswith("//")
        or (_BLOCK_LINE.fullmatch(line) or _ATTRIBUTE.fullmatch(line) or _DIRECTIVE.fullmatch(line))
        is not None
    )


def _ends_paragraph(line: str) -> bool:
    """Say whether another block begins at a line, where a paragraph goes on otherwise."""
    return (
        (_is_hidden(line) and not line.startswith("//"))
        or line in ("|===", "!===")
        or (_FENCE.fullmatch(line) or _HEADING.fullmatch(line) or _IMAGE.fullmatch(line)) is not None
        or (_ITEM.fullmatch(line.strip()) or _TERM.fullmatch(line)) is not None
    )


def _marked(text: str) -> str:
    text = _ANCHOR.sub("", text)
    text = _CROSS.sub(lambda match: match["text"] or match["id"].partition("#")[0], text)
    text = _ADDRESS.sub(lambda match: _shown(match["text"]) or match["address"], text)
    text = _MACRO.sub(_macro_text, text)
    text = _INDEXED.sub(lambda match: match["shown"] or "", text)
    for _ in range(2):  # bold within italic
        text = _STRONG.sub(lambda match: match["text"], text)
    text = _RAISED.sub(r"\2", text)
    text = _CHARACTER.sub(lambda match: html.unescape(match[0]), text)
    return re.sub(r"\\(?=[*_`#^~{<\[|])", "", text)


def _shown(text: str) -> str:
    """Return the text of a link without the attributes that follow it."""
    return (
        re.sub(r"(?:,?[ \t]{0,3}(?:window|role|opts|id|title|alt|link)=[^\s,]{1,100}){1,9}$", "", text)
        .strip('"')
        .removesuffix("^")
    )


def _macro_text(match: re.Match[str]) -> str:
    text = _shown(match["text"])
    match match["name"]:
        case "anchor" | "indexterm":
            return ""
        case "footnote":
            return f" ({text})" if text else ""
        case "image" | "icon":
            return text.partition(",")[0]
        case "kbd":
            return "+".join(part.strip() for part in text.replace(",", "+").split("+"))
        case "menu":
            return " > ".join(filter(None, [match["target"], *text.split(" > ")]))
        case "link" | "mailto" | "xref":
            return text or match["target"].partition("#")[0]
    return text
