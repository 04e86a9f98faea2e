"""What a simulated user says next: a turn of a script, a fact that was asked for, or a model's words."""

import re
from collections.abc import Sequence

import msgspec

from ragstone.features.simulate._persona import Persona, WantedCall
from ragstone.kernel.corpus.tokens import tokenize
from ragstone.kernel.judging.assertion import CHECKS
from ragstone.kernel.judging.lexical import no_refusal
from ragstone.kernel.llm import MATERIAL, Ask, Prompt, fenced_prompt, row_nonce
from ragstone.kernel.records import Step, Turn

_QUESTION = re.compile(r"(?:(?<=[.!?…。！？؟।\n])|^)[^.!?…。！？؟।\n]*+[?？؟]")
TEMPERATURE = 0.7  # of a model that speaks for one persona several times
MOST_TOKENS = 400
USER_VERSION = 1  # of the prompt below; a change of wording is a new one
USER_TASK = (
    "You play a person who asks an assistant for something. You are not the assistant: you want to be told. "
    "The persona says what this person wants, knows and is like; the conversation says what was written so "
    "far. First think: does the assistant's last message give what the goal asks for? goal_met is true only "
    "if it does. Then write what the person writes to the assistant next, in the person's language and "
    "manner: a question, a request, or what the assistant asked for; one thing at a time, one to three "
    "sentences. Where the assistant asks for what the persona does not say, the person does not know it: "
    "make nothing up. If goal_met is true, message is empty."
)
USER_FORM = (
    '{"nonce": the code, "thought": one sentence, "goal_met": true or false, "message": what the person '
    "writes to the assistant}"
)


class UserMove(msgspec.Struct, frozen=True):
    """What the user does: says something, or says that the goal is met. Neither: there is nothing to say."""

    message: str = ""
    goal_met: bool = False


def next_of_script(persona: Persona, turns: Sequence[Turn]) -> UserMove:
    """Return what a scripted user says after these turns: the facts that were asked for, else the script.

    Each fact is told once. The turns alone decide: the same ones, the same words.
    """
    script, at, revealed = persona.script or [], 0, set[str]()
    requested: list[str] = []
    for turn in turns:
        if turn.role == "assistant":
            requested = [name for name in facts_asked_for(turn.content, persona) if name not in revealed]
        elif turn.role == "user":
            revealed.update(requested)
            at += not requested
            requested = []
    if requested:
        return UserMove(message=", ".join(persona.facts[name].value for name in requested))
    return UserMove(message=script[at] if at < len(script) else "")


def facts_asked_for(reply: str, persona: Persona) -> list[str]:
    """Return the names of the facts that a reply asks for, in the order of the file.

    A name and a single word must stand in a question; a phrase of several words may stand anywhere, for
    "please tell me the number" asks too.
    """
    asking = " ".join(_QUESTION.findall(reply))
    return [
        name
        for name, fact in persona.facts.items()
        if _speaks_of(asking, [name.replace("_", " "), *fact.asked])
        or _speaks_of(reply, [phrase for phrase in fact.asked if len(tokenize(phrase)) > 1])
    ]


def _speaks_of(text: str, phrases: Sequence[str]) -> bool:
    plain = f" {' '.join(tokenize(text))} "
    return any(f" {' '.join(tokenize(phrase))} " in plain for phrase in phrases)


def goal_is_met(persona: Persona, turns: Sequence[Turn]) -> bool | None:
    """Return whether what the persona waits for holds of the turns; None where the file does not say."""
    wanted = persona.goal_met
    if wanted is None:
        return None
    replies = [turn.content for turn in turns if turn.role == "assistant"]
    text = "\n".join(replies)
    steps = [step for turn in turns for step in turn.tool_calls or ()]
    checks = {name: getattr(wanted, name) for name in ("contains_all", "contains_any", "regex")}
    return (
        all(CHECKS[name].function(text, expected)[0] for name, expected in checks.items() if expected)
        and not (wanted.no_refusal and not no_refusal(replies[-1] if replies else ""))
        and all(any(_is_call(step, call) for step in steps) for call in wanted.called)
    )


def _is_call(step: Step, wanted: WantedCall) -> bool:
    """Return whether a call is the one that is waited for: further arguments do no harm, an error does."""
    arguments = {**dict.fromkeys(wanted.arguments), **step.arguments}
    fits = all(arguments[name] == value for name, value in wanted.arguments.items())
    return step.tool == wanted.tool and step.error is None and fits


class UserReply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a model that plays a user says."""

    thought: str
    goal_met: bool
    message: str


async def next_of_model(
    persona: Persona, turns: Sequence[Turn], *, ask: Ask, secret: bytes, sample: int, drawn: bool
) -> UserMove:
    """Return what a model says as this user after these turns. drawn: by chance. Raises CallFailed."""
    reply = await ask(user_prompt(persona, turns, secret, sample=sample, drawn=drawn))
    user_reply: UserReply = reply.value
    return UserMove(message=user_reply.message.strip(), goal_met=user_reply.goal_met)


def user_prompt(
    persona: Persona, turns: Sequence[Turn], secret: bytes, *, sample: int = 0, drawn: bool = False
) -> Prompt:
    """Return the call by which a model speaks as a user."""
    visible = [turn for turn in turns if turn.content and turn.role in ("user", "assistant")]
    names = {"user": "you", "assistant": "assistant"}
    lines = [f"goal: {persona.goal}"]
    lines += [f"how you write: {persona.style}"] if persona.style else []
    lines += [f"language: {persona.language}"] if persona.language else []
    lines += [f"you know: {name.replace('_', ' ')}: {fact.value}" for name, fact in persona.facts.items()]
    inputs = {
        "persona": "\n".join(lines),
        "conversation": "\n".join(f"{names[turn.role]}: {turn.content}" for turn in visible)
        or "(nothing yet: you begin)",
    }
    return fenced_prompt(
        f"{USER_TASK}\n\n{MATERIAL}",
        inputs,
        form=USER_FORM,
        reply=UserReply,
        nonce=row_nonce(secret, ["user", str(USER_VERSION), *inputs.values()]),
        max_tokens=MOST_TOKENS,
        sample=sample,
        temperature=TEMPERATURE if drawn else None,
    )
