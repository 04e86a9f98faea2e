"""Translators that are no language models, behind the door: a service over HTTP, and Apertium.

Apertium translates by rules: a program of its own (GPL), started as one; nothing of it is imported. The texts
of a row go into one process. Its tagger carries something over from text to text, so a process for many rows
would make a row's translation depend on the others (26 of 400 questions did).
"""

import asyncio
import contextlib
import functools
import os
import shutil
import signal
import subprocess
import time
from collections.abc import AsyncIterator, Collection, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Protocol

import msgspec

from ragstone.features.translate.checks import masked, unmasked
from ragstone.kernel.config import HttpTranslator, Price
from ragstone.kernel.errors import ModelError
from ragstone.kernel.llm import Ask, CallFailed, Message, Prompt, Reply
from ragstone.kernel.llm.json_service import (
    Json,
    Pick,
    check_places,
    compile_path,
    described,
    open_json_service,
    pointed_at,
    service_identity,
)
from ragstone.kernel.llm.prompt import Completion
from ragstone.kernel.llm.transport import Endpoint
from ragstone.kernel.records import Usage


class Translate(Protocol):
    """Returns the texts in the target language, one for each, in their order.

    about: the title of what the texts are from, for a translator that can use it. Raises CallFailed, with the
    status that the row gets, where one of the texts has no translation; ModelError where none ever will.
    """

    async def __call__(
        self, texts: Sequence[str], source: str, target: str, about: str | None = None
    ) -> list[str]:
        """Translate the texts of one row."""
        ...


TO = " -> "


def by_service(ask: Ask, *, together: bool) -> Translate:
    """Return the translator that asks an endpoint of ours (open_apertium, open_http).

    together: whether the texts of a row are one call, or each is one.
    """

    async def translate(
        texts: Sequence[str],
        source: str,
        target: str,
        about: str | None = None,  # noqa: ARG001
    ) -> list[str]:
        groups = [list(texts)] if together else [[text] for text in texts]
        replies = await asyncio.gather(*(ask(call(group, source, target)) for group in groups))
        return [
            text for reply, group in zip(replies, groups, strict=True) for text in _texts_of(reply, group)
        ]

    return translate


def call(texts: Sequence[str], source: str, target: str) -> Prompt:
    """Return the call that translates these texts."""
    pair = Message("system", f"{source}{TO}{target}")
    return Prompt(messages=(pair, Message("user", msgspec.json.encode(texts).decode())), max_tokens=1)


def called(prompt: Prompt) -> tuple[list[str], str, str]:
    """Return what a call asks: the texts, their language, and the one wanted."""
    source, _, target = prompt.messages[0].content.partition(TO)
    return msgspec.json.decode(prompt.messages[1].content, type=list[str]), source, target


def _texts_of(reply: Reply, texts: list[str]) -> list[str]:
    """Return the texts of a reply; where nobody gave one, in a forecast, those that were given."""
    return msgspec.json.decode(reply.text, type=list[str]) if reply.usage.calls else texts


HTTP = "http"
PLACES = ("text", "source", "target")
WHERE = "[translate.http]"


@asynccontextmanager
async def open_http(declared: HttpTranslator) -> AsyncIterator[Endpoint]:
    """Give the endpoint that posts a text a call.

    Raises ConfigError for a template or a path that cannot be. A call raises ModelError without the key, and
    where the address or the key is refused.
    """
    check_places(declared, WHERE, PLACES, ("text", "target"))
    pick = compile_path(declared.text, f"{WHERE} text")
    async with open_json_service(declared, WHERE) as post:

        async def send(prompt: Prompt) -> Completion:
            texts, source, target = called(prompt)
            values = {
                "text": texts[0],
                "source": declared.codes.get(source, source),
                "target": declared.codes.get(target, target),
            }
            started = time.perf_counter()
            reply = await post(values)
            return Completion(
                text=msgspec.json.encode([_text_at(reply, pick)]).decode(),
                usage=Usage(calls=1),
                latency_s=round(time.perf_counter() - started, 4),
            )

        yield Endpoint(
            identity=_identity(declared), send=send, concurrency=declared.max_concurrency, price=None
        )


def _identity(declared: HttpTranslator) -> str:
    """Return what the ledger knows the service by: another request may give other translations."""
    form = (declared.request, declared.text, sorted(declared.headers.items()), sorted(declared.codes.items()))
    return service_identity(declared.url, form)


def _text_at(reply: Json, pick: Pick) -> str:
    found = next(iter(pick(reply)), None)
    if not isinstance(found, str) or not found.strip():
        there = f"it is {described(reply)}{pointed_at(reply, str)}"
        raise CallFailed("unparsable", f"{WHERE} the reply has no text at `text`; {there}")
    return found


APERTIUM = "apertium"
TIMEOUT_S = 120.0
BETWEEN = "\n\n\u241e\n\n"  # stands alone, so that no rule reaches across it

# The codes of three letters that Apertium gives languages; a few of its packages have those of two.
CODES = {
    "af": ["afr"], "an": ["arg"], "be": ["bel"], "bg": ["bul"], "br": ["bre"], "bs": ["hbs_BS", "hbs"],
    "ca": ["cat"], "da": ["dan"], "en": ["eng"], "eo": ["epo"], "es": ["spa"], "eu": ["eus"],
    "fr": ["fra"], "gl": ["glg"], "hi": ["hin"], "hr": ["hbs_HR", "hbs"], "id": ["ind"], "is": ["isl"],
    "it": ["ita"], "mk": ["mkd"], "ms": ["zlm"], "nb": ["nob"], "nl": ["nld"], "nn": ["nno"],
    "no": ["nob", "nor"], "oc": ["oci"], "pl": ["pol"], "pt": ["por"], "ro": ["ron"], "ru": ["rus"],
    "sc": ["srd"], "sl": ["slv"], "sr": ["hbs_SR", "hbs"], "sv": ["swe"], "uk": ["ukr"], "ur": ["urd"],
}  # fmt: skip
# What Debian 12 has: apertium-LANG-LANG. Not each translates both ways.
PACKAGES = """afr-nld arg-cat bel-rus br-fr cat-ita cat-srd dan-nor en-gl eng-cat eng-spa eo-ca eo-en eo-es
eo-fr es-gl es-pt es-ro eu-en eu-es fr-es fra-cat fra-frp hbs-eng hbs-mkd hbs-slv ind-zlm isl-eng isl-swe
mkd-bul mkd-eng nno-nob oc-ca oc-es oci-fra pol-szl por-cat pt-gl rus-ukr spa-arg spa-ast spa-cat spa-ita
srd-ita swe-dan swe-nor urd-hin"""


@asynccontextmanager
async def open_apertium() -> AsyncIterator[Endpoint]:
    """Give the endpoint that runs `apertium` for each call, as many at once as there are cores."""
    yield Endpoint(
        identity=APERTIUM, send=_send, concurrency=os.cpu_count() or 1, price=Price(input=0, output=0)
    )


def check_pairs(pairs: Iterable[tuple[str, str]]) -> None:
    """Raise ModelError where the program, or one of these pairs (source, target), is not installed.

    The message names Debian's package.
    """
    modes = _modes()
    for source, target in pairs:
        if find_mode(source, target, modes) is None:
            raise ModelError(_advice(source, target, modes))


def find_mode(source: str, target: str, modes: Collection[str]) -> str | None:
    """Return what Apertium calls a pair, None where it is not among the modes."""
    wanted = (f"{one}-{other}" for one in _codes(source) for other in _codes(target))
    return next((mode for mode in wanted if mode in modes), None)


def _codes(lang: str) -> list[str]:
    base = lang.replace("_", "-").partition("-")[0]
    return [*CODES.get(base, []), base]


@functools.cache
def _modes() -> frozenset[str]:
    """Return the pairs that are installed. Raises ModelError without the program."""
    if shutil.which(APERTIUM) is None:
        raise ModelError(
            "the program apertium is not installed. On Debian and Ubuntu: apt-get install apertium, and a "
            "package for each pair, e.g. apertium-eng-spa."
        )
    listed = subprocess.run([APERTIUM, "-l"], capture_output=True, text=True, check=False, timeout=TIMEOUT_S)
    return frozenset(listed.stdout.split())


def _advice(source: str, target: str, modes: Collection[str]) -> str:
    told = f"Apertium has no pair {source} -> {target} here. "
    names = {f"{one}-{other}" for one in _codes(source) for other in _codes(target)}
    names |= {"-".join(reversed(name.split("-"))) for name in names}
    package = next((name for name in PACKAGES.split() if name in names), None)
    if package is None:
        return told + "Debian has none either: translate with a model, or with an HTTP translator."
    if find_mode(target, source, modes) is not None:
        return told + f"It has {target} -> {source} alone; for this way give a model (for --by, or --back)."
    return told + f"Install it with: apt-get install apertium-{package}"


async def _send(prompt: Prompt) -> Completion:
    texts, source, target = called(prompt)
    check_pairs([(source, target)])
    mode = find_mode(source, target, _modes()) or ""
    hidden = [masked(text.replace("\0", " ").replace("\u241e", " ")) for text in texts]
    started = time.perf_counter()
    made = (await _run(mode, BETWEEN.join(text for text, _ in hidden) + BETWEEN)).split(BETWEEN)[:-1]
    if len(made) != len(texts):
        raise CallFailed("error", f"apertium {mode} gave {len(made)} translations of {len(texts)} texts")
    whole = [unmasked(text, parts).strip() for text, (_, parts) in zip(made, hidden, strict=True)]
    return Completion(
        text=msgspec.json.encode(whole).decode(),
        usage=Usage(calls=1),
        latency_s=round(time.perf_counter() - started, 4),
    )


async def _run(mode: str, text: str) -> str:
    process = await asyncio.create_subprocess_exec(
        APERTIUM,
        "-u",
        mode,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "LC_ALL": "C.UTF-8"},
        start_new_session=True,  # it is a pipe of a dozen programs, which end together
    )
    try:
        async with asyncio.timeout(TIMEOUT_S):
            out, mistake = await process.communicate(text.encode("utf-8", "replace"))
    except TimeoutError:
        raise CallFailed("timeout", f"apertium {mode} took more than {TIMEOUT_S:g} s") from None
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
    if process.returncode:
        words = mistake.decode("utf-8", "replace").strip() or f"exit code {process.returncode}"
        raise CallFailed("error", f"apertium {mode}: {words}")
    return out.decode("utf-8", "replace")
