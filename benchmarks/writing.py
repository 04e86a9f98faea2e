"""Evidence that is found and languages that are told: `python -m benchmarks.writing`.

On squad2 and xquad (../shared/data). First the shares of sentences that `find_evidence` finds in their
paragraph after changes as models make them when they copy, and of sentences of other paragraphs, neighbours
and drawn ones, that it finds although they are not there. Then the shares of xquad's questions that
`speaks` rejects, for their own language and for the others. Last the time of a search in long texts.
"""

import random
import time
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable
from itertools import islice
from pathlib import Path

from ragstone.kernel.corpus.sentences import sentence_spans
from ragstone.kernel.dataset.evidence import find_evidence
from ragstone.kernel.dataset.languages import speaks
from ragstone.kernel.records import Document, Question
from ragstone.kernel.tables import read_rows

DATA = Path(__file__).parent.parent.parent / "shared" / "data"
PARAGRAPHS = 60  # of each language
UNSPACED = ("th", "zh")
RNG = random.Random(1)

Change = Callable[[str], str]


def spaced(quote: str) -> str:
    wrapped = quote.replace(" ", "\n  ", 2).replace("-", "–").replace("'", "’").upper()
    return unicodedata.normalize("NFD", f"“{wrapped}**”")


def mistyped(quote: str) -> str:
    """A character changed, left out or put in every 25, numbers apart."""
    letters = [character for character in quote if not character.isdigit()]
    typed = list(quote)
    for _ in range(max(1, len(quote) // 25)):
        at = RNG.randrange(1, len(typed))
        if not (quote[at].isdigit() or quote[at - 1].isdigit()):
            typed[at] = RNG.choice([RNG.choice(letters), "", quote[at] + RNG.choice(letters)])
    return "".join(typed)


def pieces(quote: str) -> tuple[list[str], str]:
    """The words, or the pairs of characters of a script without spaces, and what joins them."""
    words = quote.split(" ")
    if len(words) >= 9:
        return words, " "
    return [quote[at : at + 2] for at in range(0, len(quote), 2)], ""


def without(quote: str, n: int) -> str:
    words, joiner = pieces(quote)
    at = RNG.randrange(1, max(2, len(words) - n))
    return joiner.join(words[:at] + words[at + n :])


def with_another(quote: str) -> str:
    words, joiner = pieces(quote)
    at = RNG.randrange(1, len(words))
    return joiner.join([*words[:at], RNG.choice(words), *words[at:]])


def with_ellipsis(quote: str) -> str:
    words, joiner = pieces(quote)
    third = max(1, len(words) // 3)
    return f"{joiner.join(words[:third])} ... {joiner.join(words[-third:])}"


CHANGES: dict[str, Change] = {
    "as it is": lambda quote: quote,
    "spacing, case, marks, Unicode form": spaced,
    "a typing mistake every 25 characters": mistyped,
    "a word left out": lambda quote: without(quote, 1),
    "a word put in": with_another,
    "one left out, one put in": lambda quote: with_another(without(quote, 1)),
    "three words left out": lambda quote: without(quote, 3),
    "an ellipsis": with_ellipsis,
}


def by_language() -> dict[str, list[Document]]:
    found: defaultdict[str, list[Document]] = defaultdict(list)
    for document in read_rows(DATA / "xquad" / "documents.jsonl", Document):
        found[document.id.partition(":")[0]].append(document)
    found["en (squad2)"] = list(read_rows(DATA / "squad2" / "documents.jsonl", Document))
    return found


def sentences(document: Document, lang: str) -> list[str]:
    least = 15 if lang in UNSPACED else 30
    spans = sentence_spans(document.text)
    return [document.text[start:end] for start, end in spans if end - start >= least]


def evidence() -> None:
    found: Counter[str] = Counter()
    n, tries, false = 0, 0, 0
    for lang, documents in by_language().items():
        for at in RNG.sample(range(2, len(documents) - 2), PARAGRAPHS):
            text, own = documents[at].text, sentences(documents[at], lang)
            if not own:
                continue
            n += 1
            quote = RNG.choice(own)
            for name, change in CHANGES.items():
                found[name] += find_evidence(change(quote), text) is not None
            others = [at - 2, at - 1, at + 1, at + 2, *RNG.sample(range(len(documents)), 4)]
            for other in (documents[place] for place in others if place != at):
                for strange in islice(sentences(other, lang), 1):
                    tries += 1
                    false += find_evidence(strange, text) is not None
    print(f"sentences found in their paragraph, of {n}:")
    for name in CHANGES:
        print(f"  {name:<40}{100 * found[name] / n:6.1f} %")
    print(f"  {'of another paragraph':<40}{100 * false / tries:6.2f} % of {tries}")


def languages() -> None:
    questions: defaultdict[str, list[str]] = defaultdict(list)
    for row in read_rows(DATA / "xquad" / "questions.jsonl", Question):
        questions[row.lang or ""].append(row.question)
    print("\nquestions rejected, in %: those in the language of the line, for that of the column")
    print("    " + "".join(f"{lang:>8}" for lang in questions))
    for written, some in questions.items():
        shares = (
            100 * sum(not speaks(question, lang) for question in some) / len(some) for lang in questions
        )
        print(f"{written:<4}" + "".join(f"{share:8.2f}" for share in shares))


def times() -> None:
    text = " ".join(document.text for document in by_language()["en (squad2)"])
    print("\nseconds for a quotation with mistakes, best of 3")
    for n_text in (2_400, 100_000):
        for n_quote in (300, 1_200):
            quote = text[n_text // 2 : n_text // 2 + n_quote].replace("e", "a", n_quote // 30)
            best = min(timed(quote, text[:n_text]) for _ in range(3))
            print(f"  {n_quote:>6,} characters in {n_text:>8,}: {best:.4f}")


def timed(quote: str, text: str) -> float:
    started = time.perf_counter()
    assert find_evidence(quote, text) is not None
    return time.perf_counter() - started


if __name__ == "__main__":
    evidence()
    languages()
    times()
