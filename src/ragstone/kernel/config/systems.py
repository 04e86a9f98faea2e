"""`[systems]`: a name for each application under test.

```toml
[systems]
hybrid5 = { kind = "rag", retriever = "hybrid", k = 5, prompt = "bare" }
quotes  = { kind = "extractive", k = 8 }
chatbot = { kind = "chat", model = "openai/my-rag" }
service = { kind = "http", url = "http://localhost:8000/ask", contexts = "$.sources[*].text" }
inhouse = { kind = "python", call = "my_app.rag:answer" }
earlier = { kind = "sheet", path = "answers-of-july.jsonl" }
```
"""

from typing import Annotated, Any, Literal

import msgspec

from ragstone.kernel.config.section import Positive, Price, Sampling, Seconds, Section


class RagSystem(Sampling, frozen=True, kw_only=True, tag_field="kind", tag="rag"):
    """The built-in application; what is absent stands in `[retrieve]` and `[answer]`."""

    retriever: str | None = None
    k: Positive | None = None
    prompt: str | None = None
    model: str | None = None


class ExtractiveSystem(Section, frozen=True, kw_only=True, tag_field="kind", tag="extractive"):
    """Sentences of the retrieved chunks, word for word; no model is asked.

    retriever, k: default those of `[retrieve]`. sentences: of an answer, at most. threshold: how much of the
    question the best sentence must hold, in [0, 1]; by default as measured (0.34), and 0 always answers.
    embedder: compares the question with the best sentence and its passage too, to say whether the sentence
    answers; the threshold is then how probable that must be, by default as measured. Only `packaged` has been
    measured. refusal: what is said where no sentence answers.
    """

    retriever: str | None = None
    k: Positive | None = None
    sentences: Positive = 2
    threshold: Annotated[float, msgspec.Meta(ge=0, le=1)] | None = None
    embedder: Literal["packaged"] | None = None
    refusal: str = "The documents do not answer this question."


class ChatSystem(Sampling, frozen=True, kw_only=True, tag_field="kind", tag="chat"):
    """An application that speaks the chat protocol of a model of the door: it is sent the question alone.

    instructions: a system message before it. temperature, top_p, max_tokens: none of them is sent if absent,
    so that it answers as its users meet it. version: see HttpSystem.
    """

    model: str
    instructions: str = ""
    version: str = ""


class HttpSystem(Section, frozen=True, kw_only=True, tag_field="kind", tag="http"):
    """An application behind HTTP.

    request: the JSON body, in which `{question}`, `{id}`, `{lang}` and `{tag.NAME}` are filled in, and of a
    conversation `{messages}` and `{conversation_id}`; an empty one makes it a GET. The same may stand in
    `url`. answer, contexts, steps, input_tokens, output_tokens, cost_usd: JSONPath of each in the reply;
    contexts may be texts, or objects with `text` and, where they have them, `id`, `document_id`, `score`;
    steps are objects with `tool` (`name`, `action`), `arguments`, `result`. conversation_id: JSONPath of the
    id that the application gives a conversation; without it the id is ours. api_key_env: the environment
    variable with the key, sent as bearer, or as `{key}` where that stands in the template.
    price_usd_per_million: of the tokens that it tells, where it tells no cost; all zero for one that costs
    nothing. version: of the application; replies are kept in the ledger, and asked for anew when it changes.
    """

    url: str
    request: dict[str, Any] = msgspec.field(default_factory=lambda: {"question": "{question}"})
    headers: dict[str, str] = {}
    answer: str = "$.answer"
    contexts: str | None = None
    steps: str | None = None
    conversation_id: str | None = None
    input_tokens: str | None = None
    output_tokens: str | None = None
    cost_usd: str | None = None
    api_key_env: str | None = None
    max_concurrency: Positive = 8
    requests_per_minute: Positive | None = None
    timeout_s: Seconds = 60
    price_usd_per_million: Price | None = None
    version: str = ""


class PythonSystem(Section, frozen=True, kw_only=True, tag_field="kind", tag="python"):
    """A Python callable, `module:function`, sync or async: question -> answer.

    It is given the question's text, the Question row where its parameter is annotated so, or the messages of
    the conversation where it is named `messages`. It returns a text, a mapping with the columns of an answer
    sheet, or an Answer. Its module is found in the folder of ragstone.toml too. price_usd_per_million,
    version: see HttpSystem.
    """

    call: str
    max_concurrency: Positive = 1
    timeout_s: Seconds = 60
    price_usd_per_million: Price | None = None
    version: str = ""


class SheetSystem(Section, frozen=True, kw_only=True, tag_field="kind", tag="sheet"):
    """Answers made elsewhere. system: whose answers, where the file holds those of several."""

    path: str
    system: str | None = None


SystemSettings = RagSystem | ExtractiveSystem | ChatSystem | HttpSystem | PythonSystem | SheetSystem
