"""What stands around the body of a paper's page: publication notes in the margin, authors and addresses.

Both are told by marks that other text lacks, and where the marks are missing the text stays where it is.
"""

import re

from ragstone.corpus.pdf.headings import TITLE_SIZE, is_heading
from ragstone.corpus.pdf.paragraphs import SAME_SIZE, Block

MARKS = 2  # of different kinds, in the notes on a publication
PROSE = 12  # words; a paragraph in a margin with more is prose, unless it is labelled or has a mark
BODY = 25  # words; a paragraph of as many, mostly small ones, is a page's text

_DATE = (
    r"(?:\d{1,2}\.?\s+(?:de\s+)?[^\W\d]{3,}\.?,?\s+(?:de\s+)?\d{4}"  # 13 October 2023, 3. Mai 2021
    r"|[^\W\d]{3,}\.?\s+\d{1,2},?\s+\d{4}"  # October 13, 2023
    r"|\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./]\d{4}|\d{4}\u5e74)"
)
_PUBLICATION = (
    re.compile(r"\bdoi\b|\b10\.\d{4,9}/\S", re.IGNORECASE),
    re.compile(r"\bIS[SB]N\b"),
    re.compile(rf"[^\W\d][\w ]{{2,24}}(?::|\uff1a)\s*{_DATE}"),  # Published: 26 December 2024
    re.compile(r"\bCC[ -]BY\b|\bCC0\b|creative commons|\u00a9|\bcopyright\b|\bopen access\b", re.IGNORECASE),
    re.compile(r"\b(?:citation|cite (?:this|as)|editor|reviewed by)\s*:", re.IGNORECASE),
)
_LABEL = re.compile(r"[^\W\d][^.:\n]{1,38}(?::|\uff1a)\s")
# A list of names is read from its beginning alone: what ends it is the same for each of them.
_LISTED = r"(?<![\w.+-])(?<![\w.+-],)(?<![\w.+-]\s,)(?<![\w.+-],\s)(?<![\w.+-]\s,\s)"
_ADDRESS = re.compile(rf"(?:\{{|{_LISTED})[\w.+-]++(?:\s?,\s?[\w.+-]++)*+\}}?@[\w.-]+\.\w{{2,}}")
_ORCID = re.compile(r"\b000[09]-\d{4}-\d{4}-\d{3}[\dX]\b")
_WEB = re.compile(r"\b(?:https?://|www\.)\S+")
_WORD = re.compile(r"[^\W\d_]{2,}")
_KEY = r"\d{1,2}|[a-h]|[*\u2020\u2021\u00a7\u00b6]"
_AUTHOR_KEY = re.compile(rf"(?<=[^\W\d_.,;])(?:\s?(?:\d{{1,2}}|[*\u2020\u2021\u00a7\u00b6])|\s[a-h])"
                         rf"(?:\s?,\s?(?:{_KEY}))*(?=\s*(?:[,;&\n]|and\b|$))")  # fmt: skip
_ADDRESS_KEY = re.compile(rf"(?:^|(?<=[\s;,]))({_KEY})\s?(?=[^\W\d_a-z])")
_BEGINNING = re.compile(
    r"(?:(?:\d{1,2}|I)\.?\s+)?(?:abstract|summary|introduction|resumen|introducci\u00f3n|r\u00e9sum\u00e9"
    r"|zusammenfassung|kurzfassung|einleitung|resumo|introdu\u00e7\u00e3o|riassunto|sommario|introduzione"
    r"|\u0430\u043d\u043d\u043e\u0442\u0430\u0446\u0438\u044f|\u00f6zet)\b",
    re.IGNORECASE,
)


def are_publication_notes(blocks: list[Block]) -> bool:
    """Return whether a column in the margin says only how its page was published.

    The column is smaller and narrower than the one beside it (`read_columns`). It must have marks of two
    kinds: a DOI, an ISSN or ISBN, a date with its label, a licence, an editor or citation. A long paragraph
    that has neither a mark nor a label before a colon is prose, and the whole column stays in the text: notes
    to the text, definitions, pull quotes.
    """
    whole = "\n".join(block.text for block in blocks)
    if sum(bool(mark.search(whole)) for mark in _PUBLICATION) < MARKS:
        return False
    return not any(_is_loose_prose(line) for block in blocks for line in block.text.split("\n"))


def _is_loose_prose(text: str) -> bool:
    if len(_WORD.findall(text)) <= PROSE or _LABEL.match(text):
        return False
    return not any(mark.search(text) for mark in _PUBLICATION)


def front_matter(blocks: list[Block], size: float) -> range:
    """Return the places of the blocks with authors and addresses on a document's first page; maybe none.

    They follow the title, the largest text, or the one block that may stand below it as a subtitle, and go up
    to the next heading or paragraph of text. Most of their words begin with a capital, so scripts without
    capitals have none. Their marks are either raised signs behind names that return before addresses, or an
    e-mail address or ORCID with an abstract or introduction next; a line that ends like a salutation is a
    letter's. A paragraph of text must follow.

    size: that of the document's text in points.
    """
    if not any(block.raised or _is_addressed(block) for block in blocks):
        return range(0)
    first = _after_title(blocks, size)
    if first < len(blocks) and not _is_of_names(blocks[first], size) and not _is_body(blocks[first]):
        first += 1
    last = first
    while last < len(blocks) and _is_of_names(blocks[last], size):
        last += 1
    run, rest = blocks[first:last], blocks[last:]
    while run and not _begins_names(run[0], run):
        run = run[1:]
    if not run or not rest or run[-1].text[-1] in ",:":
        return range(0)
    keyed = _returning_keys(run)
    addressed = any(_is_addressed(block) for block in run) and _BEGINNING.match(rest[0].text)
    surely = (keyed or addressed) and any(_is_body(block) for block in rest)
    return range(last - len(run), last) if surely else range(0)


def _after_title(blocks: list[Block], size: float) -> int:
    """Return the place after the title; the number of blocks where there is none."""
    sizes = [block.size if _WORD.search(block.text) and not block.margin else 0.0 for block in blocks]
    largest = max(sizes, default=0.0)
    if largest < TITLE_SIZE * size:
        return len(blocks)
    place = sizes.index(largest)
    while place < len(blocks) and abs(sizes[place] - largest) <= SAME_SIZE * largest:
        place += 1
    return place


def _is_of_names(block: Block, size: float) -> bool:
    text = block.text
    if block.margin or _BEGINNING.match(text) or (is_heading(block, size) and not block.raised):
        return False
    if "@" in text:
        text = _ADDRESS.sub("", text)
    words: list[str] = _WORD.findall(_WEB.sub("", text))
    return 2 * sum(word[0].isupper() for word in words) >= len(words)


def _is_body(block: Block) -> bool:
    words: list[str] = [] if block.margin else _WORD.findall(block.text)
    return len(words) >= BODY and 2 * sum(word[0].islower() for word in words) > len(words)


def _is_addressed(block: Block) -> bool:
    text = block.text
    return bool(("@" in text and _ADDRESS.search(text)) or ("000" in text and _ORCID.search(text)))


def _begins_names(block: Block, run: list[Block]) -> bool:
    """Return whether authors begin here: the block has marks, or the next one has, and it is no subtitle."""
    if _is_addressed(block) or (block.raised and _AUTHOR_KEY.search(block.text)):
        return True
    words = _WORD.findall(block.text)
    return len(run) > 1 and _is_addressed(run[1]) and all(word[0].isupper() for word in words)


def _returning_keys(run: list[Block]) -> bool:
    """Return whether raised signs behind the names return, all of them, before addresses below."""
    if not run[0].raised:
        return False
    text = "\n".join(block.text for block in run)
    places = {found[1]: found.start() for found in reversed(list(_ADDRESS_KEY.finditer(text)))}
    addresses = min(places.values(), default=0)
    named = [key for found in _AUTHOR_KEY.finditer(text, 0, addresses) for key in re.findall(_KEY, found[0])]
    # A sign such as * may lead to a note at the foot of the page.
    return any(key in places for key in named) and all(key in places or not key.isalnum() for key in named)
