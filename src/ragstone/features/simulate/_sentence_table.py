"""What may be said of personas that were distilled from a log: each sentence with its condition."""

from ragstone.features.simulate.distil import DistilledPersona
from ragstone.kernel.document.numbers import count, number, p_told
from ragstone.kernel.sentences import Sentence

LIKENESS = {
    "name": "of the persona",
    "near": "energy distance of its first messages to those of its users set aside; 0 is alike",
    "far": "the same of a user who is given no style",
    "openings": "messages of each of the two, to the same goals",
    "users": "conversations of the persona that were set aside",
    "p": "of the exact test that swaps the two messages to a goal, by Holm over the personas",
}


def _of(persona: DistilledPersona) -> dict[str, str]:
    one = persona.likeness
    if one is None:
        return {"name": persona.name}
    return {
        "name": persona.name,
        "near": number(one.persona),
        "far": number(one.plain),
        "openings": count(one.n_openings),
        "users": count(one.n_users),
        "p": p_told(one.p),
    }


CLOSER = Sentence[DistilledPersona](
    code="persona-closer",
    text="`{name}` writes more like its users than a user who is given no style: distance {near} against "
    "{far} ({p}; {openings} first messages of each, {users} conversations set aside).",
    when="a model played the persona, and p is at most 0.05",
    holds=lambda persona: persona.likeness is not None and persona.likeness.closer,
    needs=LIKENESS,
    fills=_of,
)
NOT_CLOSER = Sentence[DistilledPersona](
    code="persona-not-closer",
    text="`{name}` is not shown to write more like its users than a user who is given no style: distance "
    "{near} against {far} ({p}; {openings} first messages of each, {users} conversations set aside).",
    when="a model played the persona, and p is above 0.05",
    holds=lambda persona: persona.likeness is not None and not persona.likeness.closer,
    needs=LIKENESS,
    fills=_of,
)
NOT_PLAYED = Sentence[DistilledPersona](
    code="persona-not-played",
    text="How much a model that plays `{name}` writes like its users was not measured.",
    when="no model played the persona, or half of its messages failed",
    holds=lambda persona: persona.likeness is None,
    needs={"name": "of the persona"},
    fills=_of,
)
SENTENCES = (CLOSER, NOT_CLOSER, NOT_PLAYED)
