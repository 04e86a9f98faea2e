"""How likely each token of a reply was, and what the model might have said in its place."""

import msgspec

MOST_TOP = 20
# What OpenAI writes for a token that was all but impossible; JSON has no minus infinity.
LEAST = -9999.0
DIGITS = 5  # a reply of 1,000 tokens with 20 alternatives each is a large row of the ledger


class Alternative(msgspec.Struct, frozen=True, array_like=True):
    """A token that could have stood in a place. logprob: natural logarithm of its probability, at most 0."""

    text: str
    logprob: float


class Token(msgspec.Struct, frozen=True, array_like=True):
    """A token of a reply; `top` are the likeliest in its place, best first, itself among them or not.

    The probabilities are the model's own: before a schema's grammar, where that decides, as llama.cpp gives
    them (hosted endpoints do not say). So those of a scale's labels need not sum to 1: renormalise. A token
    that is a part of a character, or that ends the reply, has no text of its own.
    """

    text: str
    logprob: float
    top: tuple[Alternative, ...] = ()


class _Alternative(msgspec.Struct):
    token: str
    logprob: float | None = None


class _Token(msgspec.Struct):
    token: str
    logprob: float | None = None
    top_logprobs: list[_Alternative] | None = None


class _Logprobs(msgspec.Struct):
    content: list[_Token] | None = None


def read_logprobs(given: object, n_top: int) -> tuple[Token, ...] | None:
    """Return the tokens of a choice's `logprobs`, None where they are absent or not as OpenAI writes them.

    given: JSON text as msgspec.Raw, a decoded object, or one with attributes. They are evidence beside the
    reply, so an odd form of them costs no reply.
    """
    try:
        if isinstance(given, msgspec.Raw):
            given = msgspec.json.decode(given)
        if given is None:
            return None
        found = msgspec.convert(given, _Logprobs, from_attributes=True)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    if not found.content:
        return None
    return tuple(
        Token(
            token.token,
            _bounded(token.logprob),
            tuple(
                Alternative(each.token, _bounded(each.logprob)) for each in (token.top_logprobs or [])[:n_top]
            ),
        )
        for token in found.content
    )


def _bounded(logprob: float | None) -> float:
    """Return a finite number: NaN and what is unknown count as all but impossible."""
    return round(min(0.0, max(LEAST, logprob)), DIGITS) if logprob is not None and logprob <= 1 else LEAST
