"""Plain text, Markdown and source code -> a document. The text stays as it is; only a title is looked for."""

import re
from collections.abc import Iterator

from ragstone.kernel.files.decoding import decode
from ragstone.kernel.files.file import File
from ragstone.kernel.records import Document

TITLE_LENGTH = 120  # a longer first line is a paragraph

_FRONT_MATTER = re.compile(r"\A---\n(.*?)\n---(?:\n|\Z)", re.DOTALL)
_FRONT_TITLE = re.compile(r"^title:[ \t]*+(.++)$", re.MULTILINE)
_FENCED = re.compile(r"^(```+|~~~+).*?(?:^\1|\Z)", re.DOTALL | re.MULTILINE)
_ATX = re.compile(r"^ {0,3}#{1,6}[ \t]++(.++)$", re.MULTILINE)
_SETEXT = re.compile(r"^ {0,3}(\S.*)\n {0,3}(?:=+|--+)[ \t]*$", re.MULTILINE)


def read_text(file: File) -> Iterator[Document]:
    """Yield the one document of a text file, titled by its first line."""
    decoded = decode(file.read_bytes())
    yield Document(
        id=file.id,
        text=decoded.text,
        title=first_line(decoded.text),
        source=file.source,
        metadata=decoded.notes() or None,
    )


def read_markdown(file: File) -> Iterator[Document]:
    """Yield the one document of a Markdown file, titled by its front matter, first heading or first line.

    Front matter is for the programs that read the file, and no part of its text.
    """
    decoded = decode(file.read_bytes())
    front = _FRONT_MATTER.match(decoded.text)
    yield Document(
        id=file.id,
        text=decoded.text[front.end() :].lstrip("\n") if front else decoded.text,
        title=markdown_title(decoded.text),
        source=file.source,
        metadata=decoded.notes() or None,
    )


def first_line(text: str) -> str | None:
    """Return the first line that is not blank, or None where it is longer than a title."""
    line = text.lstrip().split("\n", 1)[0].strip()
    return line if 0 < len(line) <= TITLE_LENGTH else None


def markdown_title(text: str) -> str | None:
    """Return the title in the front matter, else the first heading outside code, else the first line."""
    front = _FRONT_MATTER.match(text)
    titled = _FRONT_TITLE.search(front[1]) if front else None
    if titled:
        title = titled[1].rstrip(" \t")
        is_quoted = len(title) > 2 and title[0] == title[-1] and title[0] in "\"'"
        return title[1:-1] if is_quoted else title
    body = _FENCED.sub("", text[front.end() :] if front else text)
    marked, underlined = _ATX.search(body), _SETEXT.search(body)
    if marked and not (underlined and underlined.start() < marked.start()):
        return (marked[1].rstrip(" \t#") or marked[1][:1]).strip()
    return underlined[1].strip() if underlined else first_line(body)


_ENDINGS = {
    "ada": "adb ads",
    "assembly": "asm s",
    "bash": "bash sh zsh",
    "batch": "bat cmd",
    "c": "c h",
    "clojure": "clj cljs",
    "cmake": "cmake",
    "cpp": "cc cpp cxx hh hpp hxx",
    "csharp": "cs",
    "css": "css less sass scss",
    "cuda": "cu cuh",
    "dart": "dart",
    "elixir": "ex exs",
    "erlang": "erl hrl",
    "fortran": "f f90 f95 for",
    "fsharp": "fs fsx",
    "go": "go",
    "graphql": "graphql",
    "groovy": "gradle groovy",
    "haskell": "hs",
    "hcl": "hcl tf",
    "ini": "cfg conf ini properties",
    "java": "java",
    "javascript": "cjs js jsx mjs",
    "json": "json",
    "julia": "jl",
    "kotlin": "kt kts",
    "lua": "lua",
    "make": "mk",
    "matlab": "m",
    "nim": "nim",
    "ocaml": "ml mli",
    "pascal": "pas",
    "perl": "pl pm",
    "php": "php",
    "powershell": "ps1 psm1",
    "protobuf": "proto",
    "python": "py pyi pyx",
    "r": "r",
    "ruby": "rb",
    "rust": "rs",
    "scala": "scala",
    "solidity": "sol",
    "sql": "sql",
    "svelte": "svelte",
    "swift": "swift",
    "toml": "toml",
    "typescript": "cts mts ts tsx",
    "vb": "bas vb vbs",
    "vue": "vue",
    "xml": "xml xsd xsl",
    "yaml": "yaml yml",
    "zig": "zig",
}
CODE = {f".{ending}": name for name, endings in _ENDINGS.items() for ending in endings.split()}
NAMES = {"dockerfile": "dockerfile", "makefile": "make", "jenkinsfile": "groovy", "cmakelists.txt": "cmake"}


def code_of(file: File) -> str | None:
    """Return the name of the language that a file is written in, by its name; None for other files."""
    return NAMES.get(file.path.name.lower()) or CODE.get(file.path.suffix.lower())


def read_source(file: File) -> Iterator[Document]:
    """Yield a file as one document; of source code the title is the name, `metadata["code"]` the language."""
    code = code_of(file)
    if code is None:
        yield from read_text(file)
        return
    decoded = decode(file.read_bytes())
    yield Document(
        id=file.id,
        text=decoded.text,
        title=file.path.name,
        source=file.source,
        metadata={"code": code, **decoded.notes()},
    )
