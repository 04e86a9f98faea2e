"""Source code -> a document, whole; and text files of any other ending that the user named."""

from collections.abc import Iterator

from ragstone.corpus.decoding import decode, encoding_note
from ragstone.corpus.file import File
from ragstone.corpus.prose import read_text
from ragstone.records import Document

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
    text, encoding = decode(file.read_bytes())
    yield Document(
        id=file.id,
        text=text,
        title=file.path.name,
        source=str(file.path),
        metadata={"code": code, **encoding_note(encoding)},
    )
