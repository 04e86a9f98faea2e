"""Reply `token`: the score is read from the probabilities of the first token of a reply of one word.

The model is asked for a single word, letter or digit. How likely it held each of the options says more than
which one it chose, and one token comes many times faster than a reason (compare G-Eval, Liu et al. 2023,
which weights the grades of a scale by their probabilities). What it costs is the reason.
"""

import contextlib
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, Literal

import msgspec

from ragstone.kernel.judging.fields import Example
from ragstone.kernel.judging.finding import Finding, JudgeContext, unparsable
from ragstone.kernel.judging.inputs import gather_inputs
from ragstone.kernel.judging.lexical import alternatives, chrf
from ragstone.kernel.judging.one_call import OneCallJudge
from ragstone.kernel.judging.render import UNTRUSTED, named_inputs
from ragstone.kernel.llm import Message, NoProbabilities, Prompt, Reply, defuse, row_nonce
from ragstone.kernel.records import Answer, references

TOP = 20  # the most that endpoints list
# Some models say a space or a line break first; a second token costs next to nothing.
MOST_TOKENS = 2
# Below this the model said something else than an option, and what little is left says nothing.
LEAST_MASS = 0.1
# Of a reference with dozens of alternatives (TriviaQA's) the nearest are shown: any one of them is enough.
MOST_ALTERNATIVES = 5
AROUND = " \t\r\n\"'`*.,:()[]▁Ġ"  # what may stand around an option within its token


class Option(msgspec.Struct, frozen=True):
    """One of the replies on offer.

    word: what the model says. value: what a reply with a reason would hold instead. score: its score.
    """

    word: str
    value: bool | int | str
    score: float

    @property
    def outcome(self) -> str:
        """The value in words."""
        return str(self.value).lower() if isinstance(self.value, bool) else str(self.value)


class TokenJudge(OneCallJudge, frozen=True, kw_only=True):
    """The keys of the kinds that can be asked for a single token.

    reply: `token` reads the score from the probabilities of a single token. separator: what parts
    alternatives within one reference, see lexical.py.
    """

    reply: Literal["reasoned", "token"] = "reasoned"
    separator: str | None = None

    reply_word: ClassVar[str]  # what the model is asked for, of the first and the last option

    @property
    def reads_probabilities(self) -> bool:
        """Whether its score is read from them."""
        return self.reply == "token"

    def can_join(self) -> bool:
        """Return whether it can be asked in one call with others: with a reason; see OneCallJudge."""
        return super().can_join() and self.reply == "reasoned"

    def end(self, high: bool) -> bool | int | float | str:
        """Return an end of the scale as the reply has it."""
        option = (max if high else min)(self.options(), key=lambda option: option.score)
        return option.word if self.reply == "token" else option.value

    def problems(self) -> Iterator[tuple[str, str]]:
        """Yield what is wrong, as JudgeFields does."""
        yield from super().problems()
        if problem := self._problem_of_token() if self.reply == "token" else None:
            yield "reply", problem

    def _problem_of_token(self) -> str | None:
        """Return why it cannot be asked for a single token, or None."""
        if self.samples > 1 or self.temperature:
            return 'reply = "token" reads the model\'s own probabilities: leave out temperature and samples.'
        return None

    def options(self) -> list[Option]:
        """Return what the model may say, in the order of the file."""
        raise NotImplementedError(f"a judge of kind {self.kind} does not say what one token can mean")

    def _token_sections(self) -> list[str]:
        """Return what the model is told of the options, beside the prompt."""
        return []

    async def find_once(self, answer: Answer, inputs: dict[str, str], context: JudgeContext) -> Finding:
        """Return what the model says in one call, or in one token."""
        if self.reply == "token" and not context.decides(context.model):
            return await judge_by_token(self, answer, inputs, context)
        return await super().find_once(answer, inputs, context)


async def judge_by_token(
    judge: TokenJudge, answer: Answer, inputs: dict[str, str], context: JudgeContext
) -> Finding:
    """Return the expected score over the options, with the probability of each in the metadata.

    `mass` is how much of the model's probability fell on the options at all; the probabilities are
    renormalised over them. Below LEAST_MASS the row is `unparsable`. Raises NoProbabilities where the
    endpoint gives none: then no row can be judged this way.
    """
    options = judge.options()
    prompt = render_token_prompt(judge, answer, inputs, secret=context.secret)
    reply = None
    with contextlib.suppress(NoProbabilities):  # known since an earlier row: this one is not asked
        reply = await context.ask(prompt)
    if reply is None or reply.logprobs is None:
        raise NoProbabilities(
            f"judge {judge.name!r} reads the probabilities of tokens, and {context.model} gives none. Drop "
            '@token (or reply = "token" from its file), or use an endpoint that gives logprobs.'
        )
    likely = probabilities(reply, [option.word for option in options])
    mass = sum(likely.values())
    if mass < LEAST_MASS:
        raise unparsable(f"the options hold {mass:.3f} of the probability, less than {LEAST_MASS:g}", [reply])
    shares = {option.outcome: likely[option.word] / mass for option in options}
    likeliest = max(options, key=lambda option: shares[option.outcome])  # of equals the first in the file
    return Finding(
        score=round(sum(option.score * shares[option.outcome] for option in options), 6),
        label=likeliest.value if isinstance(likeliest.value, str) else None,
        usage=reply.usage,
        cost_usd=reply.cost_usd,
        metadata={
            "probabilities": {outcome: round(share, 6) for outcome, share in shares.items()},
            "mass": round(mass, 6),
        },
    )


def probabilities(reply: Reply, options: Sequence[str]) -> dict[str, float]:
    """Return how likely the first token of the reply was each of the words; together at most 1.

    A token counts for a word whatever stands around it ("Yes", " yes", "yes."). Letter case does not matter,
    but for single letters, where "a" begins a sentence.
    """
    tokens = reply.logprobs or ()
    first = next((token for token in tokens if token.text.strip(AROUND)), tokens[0] if tokens else None)
    likely = dict.fromkeys(options, 0.0)
    if first is None:
        return likely
    seen = {alternative.text: alternative.logprob for alternative in first.top}
    seen.setdefault(first.text, first.logprob)
    for text, logprob in seen.items():
        word = text.strip(AROUND)
        word = word if len(word) == 1 else word.casefold()
        if word in likely:
            likely[word] += math.exp(logprob)
    return likely


def render_token_prompt(
    judge: TokenJudge, answer: Answer, inputs: Mapping[str, str], *, secret: bytes
) -> Prompt:
    """Return the call: task, options and examples first, which all rows share, then the row.

    Examples are earlier turns of the chat, each with the word that it should get.
    """
    named = [name for name in inputs if f"{{{name}}}" in judge.prompt]
    first, *_, last = judge.options()
    word = judge.reply_word.format(first.word, last.word)
    sections = [
        named_inputs(judge.prompt),
        *judge._token_sections(),
        UNTRUSTED,
        f"Whatever is said above of reasons: give none. Reply with one {word}.",
    ]
    messages = [Message("system", "\n\n".join(sections))]
    for example in judge.shown:
        texts_of = _example_inputs(judge, example)
        texts = {name: texts_of[name] for name in named if name in texts_of}
        messages.append(Message("user", _fenced(judge, texts, secret)))
        *_, expected = judge.reply_of(example.expected, example.reason).values()  # of one criterion
        word = next(option.word for option in judge.options() if option.value == expected)
        messages.append(Message("assistant", word))
    texts_of = dict(inputs) | _reference(judge, answer, inputs)
    messages.append(Message("user", _fenced(judge, {name: texts_of[name] for name in named}, secret)))
    return Prompt(messages=tuple(messages), max_tokens=MOST_TOKENS, temperature=0.0, top_logprobs=TOP)


def _fenced(judge: TokenJudge, texts: Mapping[str, str], secret: bytes) -> str:
    """Return the texts, each behind a tag that carries the nonce; the last is closed by one too.

    A tag for each text and not two: on a small model a third of the tokens of a row would be tags. The nonce
    does not depend on the last text, which is what differs between the systems that answer one question: so
    these rows share the prompt's beginning too. Its author can guess the nonce no better for that.
    """
    *before, last = texts.values()
    nonce = row_nonce(secret, [judge.name, str(judge.version), *(before or [last])])
    opened = "\n".join(f"<{name} {nonce}>\n{defuse(text)}" for name, text in texts.items())
    return f"{opened}\n</{[*texts][-1]} {nonce}>"


def _reference(judge: TokenJudge, answer: Answer, inputs: Mapping[str, str]) -> dict[str, str]:
    """Return the reference as it is shown: of many alternatives those nearest to the answer."""
    alternatives_given = references(answer)
    if "reference" not in inputs or not alternatives_given:
        return {}
    # The parts of a reference, or the whole where there are none.
    parts = [
        part.strip()
        for text in alternatives_given
        for part in alternatives([text], judge.separator)[1:] or [text]
    ]
    unique = dict.fromkeys(text for text in parts if text)
    near = sorted(unique, key=lambda text: -chrf(answer.answer, text))[:MOST_ALTERNATIVES]
    return {"reference": " / ".join(near)}


def _example_inputs(judge: TokenJudge, example: Example) -> dict[str, str]:
    """Return the texts of an example, as those of a row are shown; what it lacks is left out."""
    row = example.as_answer()
    held = [name for name in judge.inputs if getattr(example, name) is not None]
    texts = gather_inputs(msgspec.structs.replace(judge, inputs=held), row)
    return {} if isinstance(texts, str) else texts | _reference(judge, row, texts)
