"""How many translations of quotes a model brings through the assistant's check.

    python -m benchmarks.quote_translation MODEL [--langs es,fr] [--limit 30] [--show]

Sentences of the documents of examples/assistant, evenly spaced, two thirds of them with a number, are
translated as the assistant translates quotes. The table: how many translations would be shown, and why the
others are left out. The check sees numbers, units, months, negations and names, and nothing else: a
translation that passes can still be wrong. --show prints each, for a person to read.
"""

import argparse
import asyncio
import re
from collections import Counter
from pathlib import Path

from ragstone.kernel.config import load_settings
from ragstone.kernel.corpus.sentences import sentence_spans
from ragstone.kernel.corpus.tags import load_tags
from ragstone.kernel.engine.session import Session, open_session
from ragstone.kernel.records import Document
from ragstone.kernel.tables import read_rows
from ragstone.kernel.translation.translators import open_asking, translator_by
from ragstone_assistant._domain import load_domain
from ragstone_assistant.answering.translating import ForeignQuote, QuoteTranslator, translate_quotes

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "assistant"
DOCUMENTS = EXAMPLE / "documents" / "irrigation-agxqa.jsonl"
FEWEST, MOST = 8, 40  # words of a sentence


def sentences(limit: int) -> list[str]:
    """Return sentences, evenly spaced: two thirds of those with a number, one third of the others."""
    texts = [row.text for row in read_rows(DOCUMENTS, Document)]
    every = [text[start:end] for text in texts for start, end in sentence_spans(text)]
    every = [each for each in dict.fromkeys(every) if FEWEST <= len(each.split()) <= MOST]
    numbered = [each for each in every if re.search(r"\d", each)]
    others = [each for each in every if not re.search(r"\d", each)]
    n_numbered = 2 * limit // 3
    return [numbered[n * len(numbered) // n_numbered] for n in range(n_numbered)] + [
        others[n * len(others) // (limit - n_numbered)] for n in range(limit - n_numbered)
    ]


async def translator(model: str, session: Session) -> QuoteTranslator:
    """Return the translator as the assistant of the example has it."""
    settings = load_settings(EXAMPLE / "ragstone.toml")
    domain = load_domain(settings.assistant, settings.path(settings.assistant.texts or ""))
    return QuoteTranslator(
        ask=await open_asking(model, session.settings, session.models),
        by=lambda ask: translator_by(model, ask, session.settings, session.secret()),
        name=model,
        tags=load_tags(settings.path(settings.assistant.tags or "")),
        sensitive=domain.sensitive,
    )


async def measure(model: str, langs: list[str], limit: int, *, show: bool) -> None:
    """Print a row for each language."""
    print("| language | shown | left out, by what differs |")
    print("| --- | --- | --- |")
    async with open_session(load_settings()) as session:
        by = await translator(model, session)
        for lang in langs:
            outcomes: Counter[str] = Counter()
            for text in sentences(limit):
                made = await translate_quotes([ForeignQuote(text, "en", 1, None)], lang, by, None)
                outcomes[made.left_out or "shown"] += 1
                if show:
                    print(f"{made.left_out or 'shown'}\n  {text}\n  {made.text}")
            shown = outcomes.pop("shown", 0)
            why = ", ".join(f"{n} {reason}" for reason, n in outcomes.most_common())
            print(f"| {lang} | {shown} of {limit} | {why} |")


def main() -> None:
    """Translate and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("--langs", default="es,fr")
    parser.add_argument("--limit", type=int, default=30)
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args()
    asyncio.run(measure(given.model, given.langs.split(","), given.limit, show=given.show))


if __name__ == "__main__":
    main()
