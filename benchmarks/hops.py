"""Questions that need two documents, and some that only look so: `python -m benchmarks.hops [--verbose]`.

40 questions, written by hand over pairs of real documents that share a name (of
blame_people_documents.jsonl: Wikipedia by way of CLAPnq, and irrigation advice of agxqa): 20 that nobody can
answer from one document of the pair, 20 that one of them answers. Printed is how many of each
`ragstone build questions --multi-hop` keeps by words alone, before a model is asked. What is kept goes to its
critic, who is shown the documents one by one.
"""

import argparse
import json
from pathlib import Path

from ragstone.features.build._chains import suffices_alone
from ragstone.kernel.dataset.candidate import SourcePassage
from ragstone.kernel.records import Question
from ragstone.kernel.statistics import wilson_interval

HERE = Path(__file__).parent


def kept_by_words() -> dict[bool, list[tuple[str, str | None]]]:
    """Return whether it needs both -> each question with the document that suffices, None where none does."""
    lines = (HERE / "blame_people_documents.jsonl").read_text("utf-8").splitlines()
    documents = {row["id"]: row for row in map(json.loads, lines)}
    found: dict[bool, list[tuple[str, str | None]]] = {True: [], False: []}
    for line in (HERE / "hops.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        passages = [
            SourcePassage(document_id=name, start=0, end=len(text), text=text, lang="en")
            for name in row["documents"]
            if (text := documents[name]["text"])
        ]
        question = Question(id="q", question=row["question"], reference=row["reference"])
        alone = suffices_alone(question, passages)
        found[row["multi_hop"]].append((row["question"], alone.document_id if alone else None))
    return found


def main() -> None:
    """Print how many of each kind are kept."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    names = {True: "need both documents", False: "one document answers"}
    for needs_both, rows in kept_by_words().items():
        n_kept = sum(alone is None for _, alone in rows)
        low, high = wilson_interval(n_kept, len(rows))
        print(f"{names[needs_both]}: kept {n_kept} of {len(rows)} ({100 * low:.0f} to {100 * high:.0f} %)")
        for question, alone in rows if options.verbose else ():
            if (alone is None) != needs_both:
                print(f"  {'kept' if alone is None else alone}: {question}")


if __name__ == "__main__":
    main()
