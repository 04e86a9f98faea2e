"""Tables of ragstone.toml for evaluation sets: [sample], [translate], [build].

`[sample]`: how questions are taken from a log.

```toml
[sample]
mask = ["Blue Falcon", "/KD-\\d{6}/"]
```

`[translate]`: how `ragstone translate` makes the same rows in other languages.

```toml
[translate]
by = "http"
to = ["hi", "es"]

[translate.http]
url = "http://localhost:5000/translate"
request = { q = "{text}", source = "{source}", target = "{target}" }
text = "$.translatedText"
```

`[build]`: how `ragstone build` makes evaluation sets.

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

from typing import Annotated, Any, Literal

import msgspec

from ragstone.kernel.config.section import Positive, Seconds, Section, Temperature


class SampleSection(Section, frozen=True, kw_only=True):
    """`[sample]`: what is masked besides personal data.

    mask: words, whole and in any case; one between slashes is a regular expression.
    """

    mask: list[str] = []


class HttpTranslator(Section, frozen=True, kw_only=True):
    """`[translate.http]`: a translator behind HTTP.

    request: the JSON body, an object or a list of objects, in which `{text}`, `{source}`, `{target}` and
    `{key}` are filled in; an empty one makes it a GET. The same may stand in `url` and, for the key, in
    `headers`. text: JSONPath of the translation in the reply. codes: what the service calls a language.
    api_key_env: the environment variable with the key, sent as bearer where `{key}` stands nowhere.
    max_concurrency: calls at once.
    """

    url: str
    request: dict[str, Any] | list[dict[str, Any]] = msgspec.field(
        default_factory=lambda: {"q": "{text}", "source": "{source}", "target": "{target}"}
    )
    text: str = "$.translatedText"
    headers: dict[str, str] = {}
    codes: dict[str, str] = {}
    api_key_env: str | None = None
    max_concurrency: Positive = 8
    requests_per_minute: Positive | None = None
    timeout_s: Seconds = 30


class TranslateSection(Section, frozen=True, kw_only=True):
    """`[translate]`: by whom, into which languages, and when a translation is kept.

    by: a model (`transport/model`) or `http`. back: who translates back: `same`, `none`, or one
    of those that `by` may name. chrf: the lowest of what comes back against what was given, 0 to 1.
    passage: most characters of a document in one call. prompt: a file of one's own with what a model is told.
    """

    by: str | None = None
    to: list[str] = []
    back: str = "same"
    chrf: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.3
    passage: Annotated[int, msgspec.Meta(ge=200)] = 1200
    prompt: str | None = None
    http: HttpTranslator | None = None


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
    multi_hop: questions of these kinds besides; hops: documents that a multi-hop one takes. fictional: a copy
    of the documents and questions with other names and years. planted: defects that measure the critics.
    test_share: of the documents whose questions are set apart. passage: most characters shown in one call.
    temperature: at which the model writes; critics are asked at that of their model.
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
    hops: Literal[2, 3] = 2
    fictional: bool = False
    planted: Count = 20
    test_share: Share = 0.0
    passage: Annotated[int, msgspec.Meta(ge=200)] = 2400
    facts: FactsSection = FactsSection()
