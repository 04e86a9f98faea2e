"""`[translate]`: how `ragstone translate` makes the same rows in other languages.

```toml
[translate]
by = "http"
to = ["hi", "es"]

[translate.http]
url = "http://localhost:5000/translate"
request = { q = "{text}", source = "{source}", target = "{target}" }
text = "$.translatedText"
```
"""

from typing import Annotated, Any

import msgspec

from ragstone.config.section import Positive, Seconds, Section


class HttpTranslator(Section, frozen=True, kw_only=True):
    """`[translate.http]`: a translator behind HTTP.

    request: the JSON body, in which `{text}`, `{source}`, `{target}` and `{key}` are filled in; an empty one
    makes it a GET. The same may stand in `url` and, for the key, in `headers`. text: JSONPath of the
    translation in the reply. codes: what the service calls a language. api_key_env: the environment variable
    with the key, sent as bearer where `{key}` stands nowhere. max_concurrency: calls at once.
    """

    url: str
    request: dict[str, Any] = msgspec.field(
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

    by: a model (`transport/model`), `apertium` or `http`. back: who translates back: `same`, `none`, or one
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
