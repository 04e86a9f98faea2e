"""What every transport gives: one function that makes one call, once; and what an endpoint has been found to
understand, learnt from its refusals.
"""

import contextlib
import copy
import logging
import re
from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from ragstone.kernel.config import Price
from ragstone.kernel.errors import ModelError
from ragstone.kernel.llm.failures import BadRequest, CallFailed
from ragstone.kernel.llm.prompt import Completion, OnText, Prompt

if TYPE_CHECKING:
    from ragstone.kernel.llm._site import Site  # it brings aiohttp, which few commands need
    from ragstone.kernel.llm.providers import BatchApi

# Ways to ask for JSON, the strictest first; an endpoint that refuses one is asked by the next.
MODES = ("json_schema", "tool", "json_object", "text")
ABOUT_MODES = (
    *("response_format", "response format", "json_schema", "schema", "structured output", "output_config"),
    *("tool", "function", "json_object", "json mode", "grammar"),
)
ABOUT_LIMIT = re.compile(
    r"max_(?:completion_|output_)?tokens|maximum context length|context limit|tokens exceed"
)
# The most tokens that a model can say, in the words of OpenAI, Anthropic and DeepSeek.
MODEL_LIMIT = re.compile(
    r"(?:at most|less than or equal to) (\d{2,7})|> (\d{2,7}), which is the maximum|\[1, (\d{2,7})\]"
)

LOG = logging.getLogger(__name__)

Send = Callable[[Prompt], Awaitable[Completion]]
Where = Callable[..., str]
"""Keys of a model's table in ragstone.toml -> where they stand, `ragstone.toml:12`."""

StreamSend = Callable[[Prompt, OnText], Awaitable[Completion]]


class Dialect(msgspec.Struct):
    """How one endpoint is asked.

    partial: the transport decides more than is told here. unlearnt: as it was before what an earlier command
    learnt was taken over; None where nothing was, or where it has been forgotten.
    answered: it took a request, and with it the fields of `extra`. most_tokens: the highest limit that the
    model takes. narrowed: digest of a prompt under way, so long that beside it there is less room -> the
    limit that was left.
    """

    modes: tuple[str, ...] = MODES
    mode: int = 0
    proven_mode: int | None = None
    tokens_field: str = "max_tokens"
    temperature: bool = True
    top_p: bool = True
    logprobs: bool = True
    streams: bool = True
    stream_usage: bool = True
    answered: bool = False
    most_tokens: int | None = None
    narrowed: dict[int, int] = {}
    partial: bool = False
    unlearnt: "Dialect | None" = None

    def recall(self, mode: str | None, **learnt: Any) -> None:  # noqa: ANN401 - fields of this struct
        """Take over what an earlier command learnt; a way to ask for JSON that is not known here is none."""
        before = copy.copy(self)
        for name, value in learnt.items():
            setattr(self, name, value)
        if mode in self.modes:
            self.mode = self.modes.index(mode)
        self.unlearnt = None if self == before else before

    def _forget(self, form: "Dialect") -> bool:
        """Return whether a refused request was asked in a form that was taken over, which is forgotten."""
        if form.unlearnt is None:
            return False
        if self.unlearnt is not None:
            for name in self.__struct_fields__:
                setattr(self, name, getattr(form.unlearnt, name))
        return True

    @property
    def way(self) -> str:
        """The way in which JSON is asked for."""
        return self.modes[self.mode]

    def copy(self) -> "Dialect":
        """Return it as it is now: calls that are in flight learn each from its own refusal."""
        return msgspec.structs.replace(self)

    def limit(self, prompt: Prompt) -> int | None:
        """Return the most tokens that the model may say and think, None where nobody limits it."""
        limit = prompt.limit
        if limit is None or not (self.most_tokens or self.narrowed):
            return limit
        return min(limit, self.most_tokens or limit, self.narrowed.get(hash(prompt.messages), limit))

    def took(self, form: "Dialect", prompt: Prompt) -> None:
        """Note that a request in the form of `asked` was answered."""
        self.answered = True
        if self.narrowed:
            self.narrowed.pop(hash(prompt.messages), None)
        if prompt.reply is not None:
            self.proven_mode = form.mode

    def untried(self, extra: dict[str, Any]) -> dict[str, Any]:
        """Return the fields of `extra` that may be what is refused: none once they were taken."""
        return {} if self.answered else extra

    def learn(self, message: str, form: "Dialect", prompt: Prompt) -> bool:
        """Return whether the request may be sent again in another form, after a refusal of this one."""
        text = message.casefold()
        return (
            self._learn_limit(text, form, prompt)
            or self._learn_sampling(message, form, prompt)
            or self._forget(form)
            or self._learn_mode(text, form, prompt)
        )

    def learn_form(self, form: "Dialect", prompt: Prompt) -> bool:
        """Return as `learn` does, of a refusal whose words do not tell what it is about."""
        if self._forget(form):
            return True
        if prompt.reply is None or self.proven_mode is not None or form.mode >= len(self.modes) - 1:
            return False
        self.mode = max(self.mode, form.mode + 1)
        return True

    def learn_stream(self, message: str, form: "Dialect") -> bool:
        """Return whether a stream may be asked for again in another form, after a refusal of this one."""
        text = message.casefold()
        if form.stream_usage and ("stream_options" in text or "include_usage" in text):
            self.stream_usage = False
            return True
        if form.streams and "stream" in text:
            self.streams = False
            return True
        return False

    def _learn_limit(self, text: str, form: "Dialect", prompt: Prompt) -> bool:
        limit = form.limit(prompt)
        if "max_completion_tokens" in text and form.tokens_field == "max_tokens" and "too large" not in text:
            self.tokens_field = "max_completion_tokens"
            return True
        if limit is None or not ABOUT_LIMIT.search(text) or "greater than" in text:
            return False
        match = MODEL_LIMIT.search(text)
        unknown = form.unlearnt is not None and form.unlearnt.tokens_field != form.tokens_field
        if unknown and match is None and form.tokens_field in text and "too large" not in text:
            return self._forget(form)
        most = int(next(filter(None, match.groups()))) if match else limit
        if most < limit:
            self.most_tokens = min(most, self.most_tokens or most)
            return True
        less = max(limit // 2, prompt.max_tokens or 0)
        if less < limit:  # room to think gives way, what the reply may take does not
            self.narrowed[hash(prompt.messages)] = less
            return True
        return False

    def _learn_sampling(self, message: str, form: "Dialect", prompt: Prompt) -> bool:
        text = message.casefold()
        if "logprob" in text and form.logprobs and prompt.top_logprobs is not None:
            self.logprobs = False
            return True
        if re.search(r"\btop_?p\b", text) and form.top_p and prompt.top_p is not None:
            self.top_p = False
            LOG.warning("the endpoint refuses top_p, so none is sent: %s", _beginning(message))
            return True
        if "temperature" in text and form.temperature and prompt.temperature is not None:
            if self.temperature and prompt.temperature and prompt.default_temperature is None:
                # Somebody asked for this one; nobody is told about the usual 0.
                LOG.warning("the model takes no temperature, so its own is used: %s", _beginning(message))
            self.temperature = False
            return True
        return False

    def _learn_mode(self, text: str, form: "Dialect", prompt: Prompt) -> bool:
        # Once a way of asking has worked, a refusal is about this request (a long prompt, say).
        structured = prompt.reply is not None
        unproven = structured and form.mode != self.proven_mode and form.mode < len(self.modes) - 1
        if unproven and any(word in text for word in ABOUT_MODES):
            self.mode = max(self.mode, form.mode + 1)
            return True
        return False


def _beginning(message: str) -> str:
    return message if len(message) <= 160 else f"{message[:157]}..."


def refused_extra(message: str, extra: dict[str, object]) -> str | None:
    """Return the field of `extra` that a refusal speaks of, None for none."""
    return next((name for name in extra if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", message)), None)


class BrokenOff(CallFailed):
    """A reply that ended in the middle, after some of it was passed on: to ask again would say it twice."""

    def __init__(self, failure: ModelError, said: str) -> None:
        status = failure.status if isinstance(failure, CallFailed) else "error"
        super().__init__(status, f"{failure} (after {len(said)} characters of the reply)", raw=said)


class Rephrase(CallFailed):
    """The endpoint wants such requests in another form, which the transport now knows: send it again."""

    def __init__(self, message: str) -> None:
        super().__init__("error", message, retryable=True)


class Wire(msgspec.Struct, frozen=True, kw_only=True):
    """How an endpoint is spoken to, for what is more than one call: see _batch_api.py.

    name: its address, fit to be shown; model: there. encode: a call -> the body of its request. decode: HTTP
    status and body of a reply, and how many logprobs were asked for -> what `send` returns and raises.
    batch_api: whose protocol its batches have. discount: the share of the price that a call of a batch saves;
    None where nobody knows.
    """

    name: str
    model: str
    site: "Site"
    encode: Callable[[Prompt], bytes]
    decode: Callable[[int, bytes, int | None], Completion]
    batch_api: "BatchApi"
    discount: float | None


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    """A model that can be asked.

    identity: what the ledger knows the model by. send: makes one call without retrying; raises CallFailed
    for this call, ModelError when no call can succeed. stream: does the same for free text, whose pieces it
    passes on as they come; what it passed on is, put together, the completion's text, or the beginning of it
    where an error ends it. None for a transport that cannot. price: what the transport knows of it. wire:
    None for a transport that has no batch API. dialect: how it is asked, as far as that has been learnt up to
    now; None for a transport that learns nothing of that kind. decides: it is a decision model: it answers
    questionnaires, and writes nothing. no_batch: why it has no batch API, where more is to be said than that.
    """

    identity: str
    send: Send
    concurrency: int
    price: Price | None
    stream: StreamSend | None = None
    wire: Wire | None = None
    dialect: Dialect | None = None
    decides: bool = False
    no_batch: str | None = None


@contextlib.contextmanager
def asked_in(
    dialect: Dialect,
    prompt: Prompt,
    extra: dict[str, Any],
    where: Where,
    name: str,
    *,
    streamed: bool = False,
) -> Iterator[Dialect]:
    """Give the form in which a request is made within the block, and learn whether it is taken or refused.

    extra: fields of the settings, which stand at `where`. name: of the endpoint. Raises Rephrase where
    another form may be taken; CallFailed for a request that is refused in any; ModelError for a field of
    `extra`.
    """
    form = dialect.copy()
    try:
        yield form
    except BadRequest as refusal:
        another_stream = streamed and dialect.learn_stream(refusal.raw, form)
        if another_stream or dialect.learn(refusal.raw, form, prompt):
            raise Rephrase(str(refusal)) from None
        raise _refused(name, refusal, form.untried(extra), where) from None
    dialect.took(form, prompt)


def _refused(name: str, refusal: BadRequest, extra: dict[str, Any], where: Where) -> ModelError:
    """Return what a refusal means that no other form of the request can help.

    A field of `extra` that the endpoint does not know is refused in every call. extra: those not yet taken.
    """
    field = refused_extra(refusal.raw, extra)
    if field is None:
        return CallFailed("error", f"{name} refused the request: {refusal}")
    return ModelError(
        f"{where('extra', field)}: {name} refused {field!r} of extra: {refusal}. Change it, or remove it."
    )
