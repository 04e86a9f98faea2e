"""`[build]`: how `ragstone build` makes evaluation sets.

```toml
[build]
model = "openai/gpt-4o-mini"
audience = "farmers and extension workers"
styles = ["factoid", "bloom"]
levels = ["remember", "apply"]

[build.facts]
falsify = ["number", "negation"]
```
"""

from typing import Annotated, Literal

import msgspec

from ragstone.config.section import Positive, Section, Temperature

Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Count = Annotated[int, msgspec.Meta(ge=0)]
Change = Literal["number", "entity", "negation", "relation"]

AUDIENCE = "people who look for answers in these documents"
LEVELS = ("remember", "understand", "apply", "analyze", "evaluate", "create")


class FactsSection(Section, frozen=True, kw_only=True):
    """`[build.facts]`: statements for true/false tests.

    lengths: a document has one fact, and one more for each of these numbers of characters that it reaches.
    falsify: ways in which a true statement is made false, each in turn; none where the list is empty.
    """

    lengths: list[Positive] = msgspec.field(default_factory=lambda: [1000, 1500, 2000])
    falsify: list[Change] = []


class BuildSection(Section, frozen=True, kw_only=True):
    """`[build]`: questions, their critics, and how many.

    model: writes them; critic_model: judges them (default: the same). audience: whom a question must be
    useful to. per_document: questions of each document, with a count the most of each passage; count:
    accepted questions in all, where a number is wanted. styles: names that ship, or files. personas: who
    asks, for the style `persona`; levels: of Bloom's taxonomy, for the style `bloom`. critics: names that
    ship, or files; threshold: the lowest score, of 1 to 5, that passes each. one_call: all critics in one
    call. closed_book: what becomes of questions that the model answers without any document. negatives,
    multi_hop: questions of these kinds besides. fictional: a copy of the documents and questions with other
    names and years. planted: defects that measure the critics. test_share: of the documents whose questions
    are set apart. passage: most characters shown in one call. temperature: at which the model writes; critics
    are asked at that of their model.
    """

    model: str | None = None
    critic_model: str | None = None
    temperature: Temperature | None = None
    audience: str = AUDIENCE
    per_document: Positive = 3
    count: Positive | None = None
    styles: list[str] = msgspec.field(default_factory=lambda: ["factoid"])
    personas: list[str] = []
    levels: list[Literal[LEVELS]] = []  # type: ignore[valid-type]
    critics: list[str] = msgspec.field(default_factory=lambda: ["groundedness", "relevance", "stand_alone"])
    threshold: Annotated[int, msgspec.Meta(ge=1, le=5)] = 4
    one_call: bool = False
    closed_book: Literal["off", "tag", "drop"] = "off"
    negatives: Count = 0
    multi_hop: Count = 0
    fictional: bool = False
    planted: Count = 20
    test_share: Share = 0.0
    passage: Annotated[int, msgspec.Meta(ge=200)] = 2400
    facts: FactsSection = FactsSection()
