"""A question and its passages -> the call to the model, and what is said where they hold no answer."""

import re
from collections.abc import Sequence
from pathlib import Path

import msgspec

from ragstone.kernel.dataset.languages import language_name
from ragstone.kernel.judging.contexts import (
    BYTES_A_TOKEN,
    FRAME_TOKENS,
    LEAST_BYTES,
    MOST_BYTES,
    cut_text,
)
from ragstone.kernel.llm import MATERIAL, Message, Prompt, fence, row_nonce
from ragstone.kernel.systems.prompting import AnsweringPrompt, load_prompt
from ragstone_assistant.conversation import Passage
from ragstone_assistant.guards import speaks_to_model, without_contacts
from ragstone_assistant.languages import phrase
from ragstone_assistant.tools.plain_text import shortened

NO_ANSWER = "NO ANSWER"
"""What the prompts tell the model to write, in whatever language, where the passages hold no answer."""

MOST_QUESTION = 4000  # characters of a question that a model is shown
MOST_TITLE = 120
LEAST_PART = 200  # characters: a shorter beginning of a passage says nothing


class Rendered(msgspec.Struct, frozen=True, kw_only=True):
    """A call, the passages that it shows (with the text that it shows of each), and its nonce."""

    prompt: Prompt
    passages: tuple[Passage, ...]
    nonce: str


def load_answering_prompt(name: str | Path) -> AnsweringPrompt:
    """Return one of the assistant's prompts, `cited` or `brief`, or one of a file. Raises ConfigError."""
    return load_prompt(name, "ragstone_assistant.answering")


def for_audience(prompt: AnsweringPrompt, name: str, tone: str) -> AnsweringPrompt:
    """Return a prompt that tells the model who reads the answer; its name has that of the audience."""
    if not tone.strip():
        return prompt
    text = f"{prompt.prompt.rstrip()}\n- {' '.join(tone.split())}\n"
    return msgspec.structs.replace(prompt, name=f"{prompt.name}_{name}", prompt=text)


def render(
    prompt: AnsweringPrompt,
    question: str,
    passages: Sequence[Passage],
    lang: str,
    *,
    secret: bytes,
    context_tokens: int,
) -> Rendered:
    """Return the call for a question, with as many of the passages, best first, as it has room for.

    The last that is shown may be cut where a sentence ends. lang: of the answer. context_tokens: of prompt
    and reply together; the bytes of a token are estimated. However small it is, one passage is shown, cut to
    LEAST_BYTES; the endpoint then says that the call is too long.
    """
    question = question[:MOST_QUESTION]
    instructions = re.sub(r"\{(\w+)\}", r"<\1>", prompt.prompt.strip())
    taken = _n_bytes(instructions) + _n_bytes(question)
    left = (context_tokens - prompt.max_tokens - FRAME_TOKENS) * BYTES_A_TOKEN - taken
    fitting = _fitting(passages, max(LEAST_BYTES, min(left, MOST_BYTES)))
    contexts = "\n\n".join(_block(number, passage) for number, passage in enumerate(fitting, 1)) or "(none)"
    nonce = row_nonce(secret, [prompt.name, str(prompt.version), lang, question, contexts])
    message = "\n\n".join(
        [
            fence("contexts", contexts, nonce),
            fence("question", question, nonce),
            f"Write the answer to the question, in {language_name(lang)}.",
        ]
    )
    call = Prompt(
        messages=(Message("system", f"{instructions}\n\n{MATERIAL}"), Message("user", message)),
        max_tokens=prompt.max_tokens,
    )
    return Rendered(prompt=call, passages=tuple(fitting), nonce=nonce)


def _fitting(passages: Sequence[Passage], room: int) -> list[Passage]:
    """Return the first passages that have room in so many bytes, the last of them cut if need be."""
    fitting: list[Passage] = []
    for passage in passages:
        if not passage.text.strip():
            continue
        n_bytes = _n_bytes(_block(len(fitting) + 1, passage))
        if n_bytes > room:
            most = room * len(passage.text) // n_bytes
            if most >= LEAST_PART:
                fitting.append(
                    msgspec.structs.replace(passage, text=cut_text(passage.text, most)[0].rstrip())
                )
            break
        fitting.append(passage)
        room -= n_bytes
    return fitting


def _block(number: int, passage: Passage) -> str:
    title = " ".join(passage.title.split())[:MOST_TITLE]
    named = "" if not title or passage.text.lstrip().startswith(title.rstrip("…")) else f"{title}\n"
    return f"[{number}] {named}{passage.text}"


def _n_bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


NEAREST = 3  # passages that are named
MOST_REFUSED_TITLE = 80


def refusal_words(passages: Sequence[Passage], lang: str, begins: str = "") -> str:
    """Return a refusal that names the nearest passages, one a line, in a language. begins: in other words."""
    titles = list(dict.fromkeys(_named(passage, lang) for passage in nearest_of(passages)))
    listed = [phrase("nearest", lang), *(f"- {title}" for title in titles)] if titles else []
    return " ".join([begins or phrase("refusal", lang), "\n".join(listed)]).rstrip()


def nearest_of(passages: Sequence[Passage]) -> list[Passage]:
    """Return the passages that a refusal names, the nearest first: at most NEAREST, a title of each."""
    named: dict[str, Passage] = {}
    for passage in passages:
        if title := _named(passage, passage.lang or "en"):
            named.setdefault(title, passage)
    return list(named.values())[:NEAREST]


def _named(passage: Passage, lang: str) -> str:
    """Return a passage's title and page; a title that speaks to a model is nobody's."""
    title = " ".join(without_contacts(passage.title, lang).split()).rstrip(".।۔ ")
    if not title or speaks_to_model(title):
        return ""
    short = shortened(title, MOST_REFUSED_TITLE)
    return f"{short} ({phrase('page', lang, page=passage.page)})" if passage.page else short
