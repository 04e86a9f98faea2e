"""A log -> personas of its users: how they write, what they want, and whether a model writes like them."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from ragstone.features.simulate._persona import Persona, load_personas
from ragstone.features.simulate._speaking import next_of_model
from ragstone.features.simulate._traits import (
    OF_A_TURN,
    Kinds,
    Spelling,
    distances,
    energy_distance,
    kinds_of,
    name_of,
    spelling_of,
    style_of,
    substantial,
    traits_of,
)
from ragstone.features.simulate.log_likeness import Spoken, spoken_in
from ragstone.kernel.config import Settings, load_settings, to_toml
from ragstone.kernel.corpus.topics import unique_names
from ragstone.kernel.dataset.repeats import repeated
from ragstone.kernel.engine.progress import Progress, silent
from ragstone.kernel.engine.session import Session, SessionOptions, forecast_of, run_in_session
from ragstone.kernel.errors import ConfigError, DataError, checks_arguments
from ragstone.kernel.files.language import detect_languages
from ragstone.kernel.llm import MATERIAL, Ask, CallFailed, fenced_prompt, parse_caps, row_nonce
from ragstone.kernel.llm.forecast import Forecast
from ragstone.kernel.privacy.masking import mask_texts, own_words
from ragstone.kernel.runs.summary import Calls
from ragstone.kernel.statistics import Estimate, Floats, holm, mean_estimate
from ragstone.kernel.tables import check_place, partial_path
from ragstone.kernel.tables.logs.reading import Source

FEWEST = 20  # conversations, below which a log has no kinds of users that could be checked on others
FEWEST_OF_A_KIND = 10  # conversations of each half
LANGUAGE_SHARE = 0.1  # of the conversations, from which on a language has personas of its own
GOALS = 3  # written for each persona
OPENINGS = 12  # that a model writes as each persona, and as the plain user, for the likeness
FLIPS = 4000
MOST_USERS = 1000  # that messages are compared with
ALPHA = 0.05
MOST_SCRIPTED = 6  # turns of a script
MOST_SHOWN = 5  # first turns that the model sees to give a name
ASSUMPTION = "Assumes that every call succeeds."


class PersonaLikeness(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a model that plays the persona writes more like its users than one that is given no style.

    persona, plain: the energy distance of first messages to those of the persona's users set aside, by words,
    capitals, marks, politeness and mistypings, in standard deviations; 0 is alike. n_openings: messages of
    each side, to the same goals. n_users: conversations set aside. p: of the exact test that swaps the two
    messages to a goal, one-sided, by Holm over the personas. closer: p is at most 0.05.
    """

    persona: float
    plain: float
    n_openings: int
    n_users: int
    p: float
    closer: bool


class DistilledPersona(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of user that a log has.

    style: how they write, in words. share: of the conversations set aside. n_learned: conversations that it
    was learnt from. goals and scripts: some of what they asked, personal data masked; scripts are the turns
    of the same conversations. likeness: None without a model, or where too many of its calls failed.
    """

    name: str
    style: str
    language: str | None
    share: Estimate
    n_learned: int
    goals: list[str]
    scripts: list[list[str]]
    likeness: PersonaLikeness | None = None


class Distillation(msgspec.Struct, frozen=True, kw_only=True):
    """The personas of a log, the most frequent first.

    n_conversations: of the log; half of them, drawn by the seed, are set aside. n_unread: rows that say
    nothing that is understood. n_other: conversations of no persona, as those in rare languages. masked:
    places of personal data by kind, in the whole log. model, calls: None without one.
    """

    personas: list[DistilledPersona]
    n_conversations: int
    n_unread: int
    n_other: int
    masked: dict[str, int]
    model: str | None = None
    calls: Calls | None = None


class _UserKind(NamedTuple):
    """The conversations of a kind: those to learn from, those set aside, and how they write."""

    language: str | None
    learned: list[Spoken]
    aside: list[Spoken]
    style: str
    name: str


@checks_arguments
def distil_personas(
    log: Source | Path | str,
    *,
    count: int | None = None,
    model: str | None = None,
    settings: Settings | None = None,
    budget: str | None = None,
    deadline: str | None = None,
    offline: bool = False,
    seed: int = 0,
    progress: Progress = silent,
) -> Distillation:
    """Return the personas of a log: kinds of users by how they write, with goals that they had.

    log: files, folders or rows; rows with one conversation id are one conversation. count: kinds of users of
    each language; without it as many as are clearly apart. model: names the personas, and plays them, so that
    their likeness to users that were set aside is measured; without it each goal has the script of its
    conversation. Personal data is masked, and so is what `[sample] mask` lists, before anything is shown to a
    model. Raises DataError for a log that cannot be read or has fewer than 20 conversations, ModelError when
    no call can succeed.
    """
    settings = settings or load_settings()
    how = SessionOptions(parse_caps(budget, deadline), offline, progress=progress)
    return distil_in_session(log, settings, how, count=count, model=model, seed=seed)


def distil_in_session(
    log: Source | Path | str,
    settings: Settings,
    how: SessionOptions,
    *,
    count: int | None = None,
    model: str | None = None,
    seed: int = 0,
) -> Distillation:
    """Return the same, in a session with these options."""
    found = _learned(log, settings, count, seed)
    if model is None:
        return found.distillation
    return run_in_session(settings, how, lambda session: _played(found, model, session, seed))


def forecast_distilling(
    log: Source | Path | str, settings: Settings, *, count: int | None, model: str, seed: int
) -> Forecast:
    """Return what naming and playing the personas would ask."""
    found = _learned(log, settings, count, seed)

    async def work(session: Session) -> None:
        session.forecaster.assume(ASSUMPTION)
        await _played(found, model, session, seed)

    return forecast_of(settings, work)


class _Learned(NamedTuple):
    distillation: Distillation
    kinds: list[_UserKind]
    spelling: Spelling
    openings: list[str]


def _learned(log: Source | Path | str, settings: Settings, count: int | None, seed: int) -> _Learned:
    """Return the personas without a model, and what a model needs beside them."""
    if count is not None and count < 1:
        raise ConfigError(f"count = {count}: give 1 or more kinds of users, or leave it out.")
    conversations, n_unread = spoken_in([log] if isinstance(log, str | Path) else log)
    own, masked = own_words(settings.sample.mask), Counter[str]()
    marked = [mask_texts(list(turns), own) for turns in conversations]
    for text in chain.from_iterable(marked):
        masked.update(text.found)
    # What is left of a question when its names are masked may be nothing to ask.
    texts = [[text.text for text in turns] for turns in marked]
    able = [turns for turns in texts if substantial(turns) is not None]
    if len(able) < FEWEST:
        raise DataError(
            f"the log has {len(able)} conversations with a question that can be asked alone, and personas "
            f"take {FEWEST}: half of them are set aside. Give a longer log."
        )
    spelling = spelling_of(able)
    by_language = _by_language(able)
    kinds: list[_UserKind] = []
    for language, some in by_language.items():
        kinds += _kinds(language, some, len(by_language) > 1, spelling, count, seed)
    if not kinds:
        raise DataError(
            f"no kind of users has {FEWEST_OF_A_KIND} conversations in each half of the log. Give a longer "
            "log, or ask for fewer with --count."
        )
    kinds.sort(key=lambda kind: -len(kind.aside))
    names = unique_names([kind.name for kind in kinds])
    kinds = [kind._replace(name=name) for kind, name in zip(kinds, names, strict=True)]
    n_rare = len(able) - sum(map(len, by_language.values()))  # in languages without a half set aside
    n_aside = sum(len(some) - len(some) // 2 for some in by_language.values()) + (n_rare + 1) // 2
    personas = [_persona(kind, n_aside, seed) for kind in kinds]
    distillation = Distillation(
        personas=personas,
        n_conversations=len(conversations),
        n_unread=n_unread,
        n_other=len(conversations) - sum(len(kind.learned) + len(kind.aside) for kind in kinds),
        masked=dict(sorted(masked.items())),
    )
    return _Learned(distillation, kinds, spelling, [turns[0] for turns in able])


def _by_language(conversations: Sequence[Spoken]) -> dict[str | None, list[Spoken]]:
    """Return the conversations of each frequent language, the most frequent first."""
    seen = detect_languages([" ".join(turns) for turns in conversations])
    usual = Counter(lang for lang in seen if lang).most_common(1)
    langs = [lang or (usual[0][0] if usual else None) for lang in seen]  # few words tell no language
    counts = Counter(langs)
    least = max(2 * FEWEST_OF_A_KIND, LANGUAGE_SHARE * len(conversations))
    return {
        lang: [turns for turns, of in zip(conversations, langs, strict=True) if of == lang]
        for lang, n in counts.most_common()
        if n >= least
    }


def _kinds(
    language: str | None,
    conversations: list[Spoken],
    is_one_of_several: bool,
    spelling: Spelling,
    count: int | None,
    seed: int,
) -> list[_UserKind]:
    """Return the kinds of users of a language that have conversations enough in both halves."""
    order = np.random.default_rng([seed, 3]).permutation(len(conversations))
    half = len(conversations) // 2
    learned, aside = ([conversations[at] for at in some] for some in (order[:half], order[half:]))
    traits, others = traits_of(learned, spelling), traits_of(aside, spelling)
    kinds: Kinds = kinds_of(traits, count, seed)
    mine, theirs = kinds.of(traits), kinds.of(others)
    found = []
    for at in range(len(kinds.centres)):
        if min(np.sum(mine == at), np.sum(theirs == at)) < FEWEST_OF_A_KIND:
            continue
        name = name_of(traits[mine == at], traits)
        found.append(
            _UserKind(
                language=language,
                learned=[turns for turns, kind in zip(learned, mine, strict=True) if kind == at],
                aside=[turns for turns, kind in zip(aside, theirs, strict=True) if kind == at],
                style=style_of(traits[mine == at]),
                name=f"{name} {language}" if is_one_of_several else name,
            )
        )
    return found


def _persona(kind: _UserKind, n_aside: int, seed: int) -> DistilledPersona:
    share = mean_estimate([1.0] * len(kind.aside) + [0.0] * (n_aside - len(kind.aside)))
    assert share is not None
    chosen = _goals(kind, GOALS, seed)
    return DistilledPersona(
        name=kind.name,
        style=kind.style,
        language=kind.language,
        share=share,
        n_learned=len(kind.learned),
        goals=[goal for goal, _ in chosen],
        scripts=[list(turns[:MOST_SCRIPTED]) for _, turns in chosen],
    )


def _goals(kind: _UserKind, n: int, seed: int) -> list[tuple[str, Spoken]]:
    """Return up to n questions of the kind's users, none twice, with their conversations."""
    order = np.random.default_rng([seed, 4]).permutation(len(kind.learned))
    pairs = [(substantial(kind.learned[at]) or "", kind.learned[at]) for at in order]
    earlier = repeated([goal for goal, _ in pairs])
    return [pair for pair, of in zip(pairs, earlier, strict=True) if of is None][:n]


async def _played(found: _Learned, model: str, session: Session, seed: int) -> Distillation:
    """Return the personas with the names that a model gives them, and how alike it plays them."""
    ask, secret = await session.models.ask(model), session.secret()

    async def name(at: int) -> str:
        try:
            return await _name(found.kinds[at], ask, secret)
        except CallFailed:
            return found.kinds[at].name

    async def speak(task: tuple[int, int, bool]) -> str | None:
        at, number, plain = task
        kind = found.kinds[at]
        goal = goals[at][number % len(goals[at])]
        style = "" if plain else kind.style
        persona = Persona(name="user", goal=goal, style=style, language=kind.language)
        try:
            move = await next_of_model(persona, (), ask=ask, secret=secret, sample=number, drawn=True)
        except CallFailed:
            return None
        return move.message or None

    numbers = range(len(found.kinds))
    names = unique_names(await session.each("name", name, list(numbers)))
    goals = [[goal for goal, _ in _goals(kind, OPENINGS, seed)] for kind in found.kinds]
    tasks = [(at, n, plain) for at in numbers for n in range(OPENINGS) for plain in (False, True)]
    spoken = dict(zip(tasks, await session.each("play", speak, tasks), strict=True))
    scale = traits_of([[text] for text in found.openings], found.spelling)[:, OF_A_TURN]
    sd = np.maximum(scale.std(axis=0), 0.05)
    measured = [_likeness(at, found, spoken, sd, seed) for at in numbers]
    corrected = iter(holm([one.p for one in measured if one is not None]))
    personas = []
    for at, persona in enumerate(found.distillation.personas):
        one = measured[at]
        if one is not None:
            p = float(next(corrected))
            one = msgspec.structs.replace(one, p=p, closer=p <= ALPHA and one.persona < one.plain)
        personas.append(msgspec.structs.replace(persona, name=names[at], likeness=one, scripts=[]))
    return msgspec.structs.replace(found.distillation, personas=personas, model=model, calls=session.calls())


def _likeness(
    at: int,
    found: _Learned,
    spoken: dict[tuple[int, int, bool], str | None],
    sd: Floats,
    seed: int,
) -> PersonaLikeness | None:
    """Return how alike a persona is, p not yet corrected; None with fewer than half of the openings."""
    pairs = [
        (styled, unstyled)
        for n in range(OPENINGS)
        if (styled := spoken[at, n, False]) is not None and (unstyled := spoken[at, n, True]) is not None
    ]
    if 2 * len(pairs) < OPENINGS:
        return None
    users = [[turns[0]] for turns in found.kinds[at].aside[:MOST_USERS]]
    mine, plain, aside = (
        traits_of(some, found.spelling)[:, OF_A_TURN] / sd
        for some in ([[text] for text, _ in pairs], [[text] for _, text in pairs], users)
    )
    near, far = energy_distance(mine, aside), energy_distance(plain, aside)
    return PersonaLikeness(
        persona=near,
        plain=far,
        n_openings=len(pairs),
        n_users=len(users),
        p=_swapped_p(mine, plain, aside, np.random.default_rng([seed, 5])),
        closer=False,
    )


def _swapped_p(mine: Floats, plain: Floats, aside: Floats, rng: np.random.Generator) -> float:
    """Return how often swapping the two messages of goals at random brings the first as near to the users.

    One-sided. Exact, for both messages to a goal are drawn alike where the style changes nothing.
    """
    n, both = len(mine), np.vstack([mine, plain])
    to_users, among = distances(both, aside).mean(axis=1), distances(both, both)
    swapped = rng.random((FLIPS, n)) < 0.5
    swapped[0] = False  # as it was
    first = np.hstack([~swapped, swapped]).astype(np.float64)
    second = 1 - first
    gained = [
        2 * some @ to_users / n - np.einsum("fi,ij,fj->f", some, among, some, optimize=True) / n**2
        for some in (second, first)
    ]
    values = gained[0] - gained[1]
    return float(np.mean(values >= values[0] - 1e-12))


NAMING_VERSION = 1  # of the prompt below; a change of wording is a new one
NAMING_TASK = (
    "You name a kind of users of an assistant. <style> says how they write, <messages> are some of their "
    "first messages. Give a name of two to four words, in English, that says how they write, as a colleague "
    "would call them. Do not name a subject, a person or a place."
)


class NameReply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a model calls a kind of users."""

    thought: str
    name: str


async def _name(kind: _UserKind, ask: Ask, secret: bytes) -> str:
    """Return the model's name of a kind, its own where that is no name. Raises CallFailed."""
    inputs = {
        "style": kind.style,
        "messages": "\n".join(f"- {' '.join(turns[0].split())[:300]}" for turns in kind.learned[:MOST_SHOWN]),
    }
    reply = await ask(
        fenced_prompt(
            f"{NAMING_TASK}\n\n{MATERIAL}",
            inputs,
            form='{"nonce": the code, "thought": one sentence, "name": two to four words}',
            reply=NameReply,
            nonce=row_nonce(secret, ["persona name", str(NAMING_VERSION), *inputs.values()]),
            max_tokens=120,
        )
    )
    given: NameReply = reply.value
    name = " ".join(given.name.replace("#", " ").replace("~", " ").split()).strip(" .\"'")
    return name.lower() if 0 < len(name) <= 40 else kind.name


@checks_arguments
def write_personas(distillation: Distillation, output: Path | str, *, force: bool = False) -> Path:
    """Write the personas as a file that `ragstone answer --users` reads, one table for each goal.

    distillation: what distil_personas returned. output: the file, a .toml. Raises DataError where the file
    exists and `force` is not given.
    """
    output = Path(output)
    check_place(output, force)
    users: defaultdict[str, int] = defaultdict(int)
    parts = ["# Personas distilled from a log by ragstone simulate; personal data is masked.\n"]
    for persona in distillation.personas:
        scripts = persona.scripts or [[] for _ in persona.goals]
        for goal, script in zip(persona.goals, scripts, strict=True):
            users[persona.name] += 1
            table = {
                "name": f"{persona.name} {users[persona.name]}",
                "goal": " ".join(goal.split()),
                "style": persona.style,
                **({"language": persona.language} if persona.language else {}),
                **({"script": script} if script else {}),
            }
            lines = [f"{key} = {to_toml(value)}" for key, value in table.items()]
            tags = f"tags = {{ persona = {to_toml(persona.name)} }}"
            parts.append("\n".join(["[[personas]]", *lines, tags, ""]))
    output.parent.mkdir(parents=True, exist_ok=True)
    partial = partial_path(output)
    partial.write_text("\n".join(parts), encoding="utf-8")
    load_personas(partial)  # what is written can be read
    partial.replace(output)
    return output
