"""A translator that knows a few sentences by heart: as a model's script, as a service, and as a function.

What it does not know it gives back as it is.
"""

import json
import re

from tests.support.scripts import Body, Said, nonce_in, prompt_of, say, schema_in

SPANISH = {
    "Who sowed the wheat in 1998?": "¿Quién sembró el trigo en 1998?",
    "The farmers of the village": "Los campesinos del pueblo",
    "When is the maize harvested?": "¿Cuándo se cosecha el maíz?",
    "in October": "en octubre",
    "The wheat was sown by the farmers of the village in 1998.": (
        "El trigo fue sembrado por los campesinos del pueblo en 1998."
    ),
    "The maize of this region is harvested in October.": "El maíz de esta región se cosecha en octubre.",
    "The maize is harvested in winter.": "El maíz se cosecha en invierno.",
    "Wheat and maize": "Trigo y maíz",
}
BOOKS = {"es": SPANISH, "en": {spanish: english for english, spanish in SPANISH.items()}}


def translated(text: str, target: str) -> str:
    """Return what the book says."""
    return BOOKS[target].get(text, text)


async def by_heart(texts, source, target, about=None):
    """Translate as every translator does."""
    return [translated(text, target) for text in texts]


def from_book(body: Body) -> Said:
    """Answer as a model does that is asked for translations."""
    asked = prompt_of(body)
    target = "es" if "into Spanish" in asked else "en"
    schema = schema_in(body) or {}
    texts = dict(re.findall(r"<(text_\d) \w+>\n(.*?)\n</\1", asked, re.DOTALL))
    fields = {name: translated(texts[name], target) for name in schema["properties"] if name != "nonce"}
    return say(json.dumps({"nonce": nonce_in(body), **fields}))
