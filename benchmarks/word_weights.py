"""How many texts hold a word -> judging/library/words/weights.toml, which `match` weighs words by.

Run: python benchmarks/word_weights.py

Counted are paragraphs of packs whose licence allows it; the file's head names them. A word that few topics
hold says nothing of its language, so it is left out, and weighs like any rare word.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import ragstone.kernel.judging
from ragstone.kernel.judging.matching import STEPS, smallest_step, spoken

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
FILE = Path(ragstone.kernel.judging.__file__).parent / "library" / "words" / "weights.toml"
FEWEST_TOPICS = {"en": 8}  # of 450; of the 36 of each other language, FEWEST
FEWEST = 4
SECTIONS = 4  # paragraphs of a guide, so that one framework does not decide what English is
HEAD = """\
# How much a word of a reference counts, in tenths: the more texts hold it, the less. Others count 1.
# Made by benchmarks/word_weights.py of paragraphs of SQuAD 2.0 and XQuAD (CC BY-SA 4.0; Wikipedia), CLAP NQ
# (Apache-2.0; its passages Wikipedia, CC BY-SA), AgXQA (Apache-2.0) and the guides of Phoenix (MIT), in
# ar de en es hi ru th tr vi zh.
"""


def texts() -> Iterator[tuple[str, str, str]]:
    """Yield language, topic and text."""
    for pack in ("squad2", "clapnq", "agxqa", "xquad"):
        for line in (DATA / pack / "documents.jsonl").read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            topic = row["id"].split(":")[-1].rpartition("-")[0] if pack == "xquad" else row.get("title")
            if pack != "xquad" or row["lang"] != "en":  # squad2 has these
                yield row.get("lang") or "en", topic or row["id"], row["text"]
    for file in sorted((DATA / "phoenix_docs" / "guides").rglob("*.md")):
        long = [part for part in file.read_text(encoding="utf-8").split("\n\n") if len(part.split()) > 40]
        yield from (("en", file.name, part) for part in long[:SECTIONS])


def main() -> None:
    held: dict[str, Counter[str]] = defaultdict(Counter)
    topics: dict[tuple[str, str], set[str]] = defaultdict(set)
    n_texts: Counter[str] = Counter()
    for lang, topic, text in texts():
        n_texts[lang] += 1
        for word in set(spoken(text)):
            held[lang][word] += 1
            topics[lang, word].add(topic)
    step: dict[str, int] = {}
    for lang, counts in held.items():
        for word, n in counts.items():
            if len(topics[lang, word]) >= FEWEST_TOPICS.get(lang, FEWEST) and not word.isdigit():
                step[word] = min(step.get(word, STEPS), smallest_step(n / n_texts[lang]))
    lines = [
        f'{at} = "{" ".join(sorted(word for word, own in step.items() if own == at))}"'
        for at in range(1, STEPS)
    ]
    FILE.write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8")
    print(f"{sum(n < STEPS for n in step.values()):,} words, {FILE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
