"""The page of each judge that ships, reference/judge-library.md, from the judges' files. See generate.py.

Prices are forecasts at the list price of one model. Agreement is what judge_cards.json has, which
`python docs/generate.py --cards` writes: the judges that ask no model, measured on the touchstone suite.
"""

import json
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import chdir
from pathlib import Path
from typing import Any

import msgspec
from python_pages import table

import ragstone
from ragstone.features.bench.suite import cards as suite
from ragstone.features.judges.library import ListedJudge, judge_library
from ragstone.features.judges.prices import RowLengths, tokens_of
from ragstone.kernel.config import JudgeSection, ModelSettings, Settings
from ragstone.kernel.document.numbers import usd, with_ends
from ragstone.kernel.judging import Judge
from ragstone.kernel.llm.providers import list_price, providers
from ragstone.kernel.statistics import Estimate

DOCS = Path(__file__).parent
CARDS = DOCS / "judge_cards.json"
MODEL = "gpt-4o-mini"  # of whose list price the prices are
ANSWERS = 10  # of 1,000, of which the library gives prices, one in so many: prices of 100

OPENING = """\
Every judge that ships, by what it measures: what it asks, what it reads, what it costs, and how far it agrees
with labels. `ragstone judges list WORD` finds them, `ragstone judges show NAME` shows one with its prompts.
[The judges that ship, and how good they are](judges.md) says what they have in common.

- **Price**: a forecast for 100 answers by `openai/{model}` at its list price of {day}, which is {read} US
  dollars for a million tokens read and {written} for a million written. Assumed tokens: {lengths}. Yours
  differ: `ragstone judge --forecast` says what they cost. "Up to": some answers need no call.
- **Agreement**: on labelled rows of the
  [touchstone suite](../how-to/bench-judges.md#which-model-may-i-trust-as-a-judge), in the words of a report
  card. Half of its answers are wrong on purpose, so always answering 'wrong' agrees on half. Judges without
  this line were not measured for this page. How good a judge is that asks a model depends on the model:
  `ragstone bench judges --suite --model MODEL` measures yours.
- **Yes from**: the score from which on the judge's file says yes. Where there is no such line, you choose it:
  `--threshold` of `ragstone agree`.
"""


def judge_page(made: str) -> str:
    """Return the page. made: the line at its top."""
    base_url = str(providers()["openai"].base_url)
    price = list_price(base_url, MODEL)
    assert price is not None
    entries = _entries(base_url)
    opening = OPENING.format(
        model=MODEL,
        day=price.read,
        read=f"{price.input:.2f}",
        written=f"{price.output:.2f}",
        lengths=_lengths(),
    )
    parts = [f"# Each judge that ships\n\n{made}", opening]
    heads = ["judge", "measures", f"100 answers by `{MODEL}`"]
    rows = [[f"[`{one.name}`](#{one.name})", _about(one), _price(one)] for one in entries]
    parts.append(table(heads, rows))
    cards = json.loads(CARDS.read_text(encoding="utf-8"))
    for group in dict.fromkeys(entry.group for entry in entries):
        parts.append(f"## {group}\n")
        parts += [_part(entry, cards) for entry in entries if entry.group == group]
    return "\n".join(parts)


def _entries(base_url: str) -> Sequence[ListedJudge]:
    """Return the judges that ship with their prices, whatever is in this folder and in its environment."""
    name = f"openai/{MODEL}"
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(
            root=folder, judge=JudgeSection(model=name), models={name: ModelSettings(base_url=base_url)}
        )
        with chdir(folder):
            return [
                entry for entry in judge_library(settings, cards=[], runs=[]).judges if entry.path is None
            ]


def _lengths() -> str:
    usual = RowLengths()
    parts = {"question": usual.question, "reference": usual.reference, "answer": usual.answer}
    sizes = ", ".join(f"{name} {tokens_of(size)}" for name, size in parts.items())
    return f"{sizes}, {usual.n_contexts} contexts of {tokens_of(usual.context)}"


def _about(entry: ListedJudge) -> str:
    return (entry.about or "").replace("|", "\\|")


def _price(entry: ListedJudge) -> str:
    if entry.price is None:
        return "asks no language model"
    if entry.price.usd is None:
        return "unknown"
    of = " for 100 pairs" if entry.price.pairs else ""
    return f"{'up to ' if entry.price.at_most else ''}{usd(entry.price.usd / ANSWERS)}{of}"


def _part(entry: ListedJudge, cards: Iterable[dict[str, Any]]) -> str:
    judge = entry.judge
    assert judge is not None
    facts = {
        "reads": ", ".join(f"`{name}`" for name in judge.inputs),
        "scale": f"{judge.scale[0]:g} to {judge.scale[1]:g}, {judge.best} is best",
        "metric": ", ".join(f"`{name}`" for name in judge.metrics),
        "kind": f"`{judge.kind}`, version {judge.version}",
        "labels": ", ".join(
            f"{name} = {score:g}" for name, score in (judge.every_key()["labels"] or {}).items()
        ),
        "asks or reads": ", ".join(f"`{member['judge']}`" for member in judge.every_key()["members"]),
        "price": _price(entry),
        "yes from": _yes_from(judge),
        "agreement": " ".join(
            _agreement(card) for card in cards if card["judge"].split("@")[0] == judge.name
        ),
        # A file that was released is not edited, so it names the page where it was.
        "based on": (judge.source or "").replace("docs/judges.md", "[judges.md](judges.md)"),
    }
    rows = [[name, text.replace("|", "\\|")] for name, text in facts.items() if text]
    prompts = [f"What it asks:\n\n````text\n{prompt.strip()}\n````\n" for prompt in _prompts(judge)]
    return "\n".join([f"### {judge.name}\n\n{entry.about or ''}\n", table(["", ""], rows), *prompts])


def _prompts(judge: Judge) -> list[str]:
    said = judge.every_key()
    return [str(said[key]) for key in ("prompt", "verify") if said.get(key)]


def _yes_from(judge: Judge) -> str:
    said = judge.every_key()
    if said.get("threshold") is not None:
        return f"{said['threshold']:g}"
    cuts = [member for member in said["members"] if member["cut"] is not None or member["unsure"] is not None]

    def text(member: dict[str, Any]) -> str:
        if member["unsure"] is None:
            return f"{member['cut']:g}"
        low, high = member["unsure"]
        return f"unsure at {low:g}" if low == high else f"unsure from {low:g} to {high:g}"

    return "; ".join(f"`{member['judge']}`: {text(member)}" for member in cuts)


def _agreement(card: dict[str, Any]) -> str:
    """Return what a card says, in its own words."""
    model = "" if card["model"] == "none" else f"`{card['judge']}` by `{card['model']}`: "
    graded = "".join(
        f" Spearman's correlation with people's marks: {with_ends(msgspec.convert(kind['found'], Estimate))} "
        f"on {kind['n']} answers of students ({kind['kind']})."
        for kind in card["kinds"]
        if kind["measure"] == "Spearman" and kind["found"]
    )
    return f"{model}{card['verdict']}{graded}"


def measured_cards() -> str:
    """Return judge_cards.json: the suite's cards of all judges that ask no model, and those that ship."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        summary = ragstone.judge_suite(settings=Settings(root=folder))
    cards = [*summary.cards, *summary.earlier]
    kept = [
        {
            "judge": card.judge,
            "metric": card.metric,
            "model": card.model,
            "suite": suite.suite_digest(),
            "verdict": card.verdict,
            "kinds": [
                {
                    "kind": kind.kind,
                    "n": kind.n,
                    "measure": kind.measure,
                    "found": msgspec.to_builtins(kind.found),
                }
                for kind in card.kinds
                if kind.by == "people"
            ],
        }
        for card in cards
    ]
    return json.dumps(kept, indent=1, ensure_ascii=False) + "\n"
