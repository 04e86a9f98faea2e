"""An Office file -> its parts, safely.

Parts of an Office Open XML file (ECMA-376) are read by the standard library's parser.
The file is a ZIP archive of XML from strangers: the archive's limits hold (zips.py), parts that are parsed
into a tree are at most MOST_PART_BYTES, and a document type declaration, which the standard forbids and which
entity bombs need, is refused.
"""

import contextlib
import posixpath
import zipfile
from collections.abc import Iterator
from typing import NamedTuple
from xml.etree.ElementTree import Element, ParseError, TreeBuilder, XMLParser

from ragstone.kernel.files.file import File, Unreadable
from ragstone.kernel.files.zips import opened, read_entry

MOST_PART_BYTES = 50_000_000  # a tree takes some twenty times as much memory
_OLD_FORMAT = b"\xd0\xcf\x11\xe0"  # Word 97, and the envelope of files with a password


class Relation(NamedTuple):
    """What a part refers to: the last word of its type, and the part's name."""

    kind: str
    target: str


class OfficeFile:
    """An open Office file: its archive, and the part that it is about."""

    def __init__(self, archive: zipfile.ZipFile, usual: str) -> None:
        self.archive = archive
        relations = self.relations("").values()
        self.main = next(
            (relation.target for relation in relations if relation.kind == "officeDocument"), usual
        )

    def relations(self, part: str) -> dict[str, Relation]:
        """Return what a part refers to by id, but for links to the outside; empty if it refers to nothing."""
        folder, name = posixpath.split(part)
        relations = {}
        for element in children(self.parsed(f"{folder}/_rels/{name}.rels".lstrip("/"))):
            target = posixpath.normpath(posixpath.join("/", folder, element.get("Target", "")))
            if element.get("TargetMode") != "External":
                kind = element.get("Type", "").rpartition("/")[2]
                relations[element.get("Id", "")] = Relation(kind, target.lstrip("/"))
        return relations

    def related(self, part: str, kind: str) -> Element | None:
        """Return the first part of a kind that a part refers to, parsed."""
        targets = (relation.target for relation in self.relations(part).values() if relation.kind == kind)
        return self.parsed(next(targets, ""))

    def parsed(self, part: str) -> Element | None:
        """Return the root of a part, None where there is no such part. Raises ParseError, Unreadable."""
        try:
            entry = self.archive.getinfo(part)
        except KeyError:
            return None
        parser = XMLParser(target=_Guarded())  # noqa: S314 - declarations are refused
        parser.feed(read_entry(self.archive, entry, MOST_PART_BYTES))
        root: Element = parser.close()
        return root

    def title(self) -> str | None:
        """Return the title in the file's properties."""
        titles = (
            element.text or ""
            for element in children(self.related("", "core-properties"))
            if local(element) == "title"
        )
        return " ".join(next(titles, "").split()) or None


@contextlib.contextmanager
def open_office(file: File, usual: str) -> Iterator[OfficeFile]:
    """Give the open file. usual: the name that its main part has where nothing names it.

    Raises Unreadable for what is damaged, encrypted or in the old format.
    """
    if file.read_bytes()[:4] == _OLD_FORMAT:
        raise Unreadable(
            "it has a password or is in the format of Office 97: save it in the current format, without a "
            "password"
        )
    try:
        with opened(file) as archive:
            yield OfficeFile(archive, usual)
    except ParseError as mistake:
        raise Unreadable(f"it is damaged ({mistake})") from None
    except RecursionError:
        raise Unreadable("its tables are nested too deeply") from None


def refuse_doctype(_name: str, _public: str | None, _system: str | None) -> None:
    """Refuse a part that declares a document type: the handler of a parser's target."""
    raise Unreadable("it declares entities, which no Office file does: it may be an attack")


class _Guarded(TreeBuilder):
    """Builds the tree of a part, unless it declares a document type."""

    doctype = staticmethod(refuse_doctype)


def local(element: Element) -> str:
    """Return an element's name without its namespace: there are two, transitional and strict."""
    return element.tag.rpartition("}")[2]


def attribute(element: Element | None, name: str) -> str | None:
    """Return an attribute's value by its name without namespace."""
    if element is None:
        return None
    return next((value for key, value in element.attrib.items() if key.rpartition("}")[2] == name), None)


def child(element: Element | None, *names: str) -> Element | None:
    """Return the element at the end of a path of local names, None where it breaks off."""
    for name in names:
        if element is None:
            return None
        element = next((inner for inner in element if local(inner) == name), None)
    return element


def children(element: Element | None) -> list[Element]:
    """Return what is in an element; nothing where there is none."""
    return [] if element is None else list(element)


REPEATED = 200
"""The most characters of a cell that spans rows for it to stand in each of them."""
