"""Run folders and judgements to compare, made by hand: which question has which score."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from ragstone.kernel.records import NO_MODEL, Answer, Judgement, Question, Ranking, RankingItem, Status, Usage
from ragstone.kernel.tables import write_rows

Score = float | Status


def judged(
    scores: Mapping[str, Score] | Sequence[Score],
    judge: str = "containment",
    *,
    system: str = "mine",
    metric: str = "correctness",
    model: str = NO_MODEL,
    version: int = 1,
    scale: tuple[float, float] | None = (0, 1),
) -> list[Judgement]:
    """Return a judgement a question: a score, or the status of one that has none. Ids are q0, q1, …"""
    named = scores if isinstance(scores, Mapping) else {f"q{at}": one for at, one in enumerate(scores)}
    return [
        Judgement(
            question_id=name,
            system=system,
            judge=judge,
            metric=metric,
            status=one if isinstance(one, str) else "scored",
            score=None if isinstance(one, str) else one,
            model=model,
            prompt_version=version,
            scale=scale,
        )
        for name, one in named.items()
    ]


def questions(n: int, *, a_document: int = 1) -> list[Question]:
    """Return questions, so many of each document."""
    return [
        Question(
            id=f"q{at}",
            question=f"What is {at}?",
            reference=f"number {at}",
            document_ids=[f"d{at // a_document}"],
        )
        for at in range(n)
    ]


def answers(texts: Sequence[str], system: str = "mine", seconds: float = 1.0) -> list[Answer]:
    """Return an answer a question, each some hundredths of a second slower than the one before."""
    return [
        Answer(
            question_id=f"q{at}",
            system=system,
            answer=text,
            latency_s=round(seconds + at / 100, 2),
            usage=Usage(input=100 + at, output=10),
            cost_usd=0.0001,
        )
        for at, text in enumerate(texts)
    ]


def rankings(places: Sequence[int | None], k: int, retriever: str = "bm25") -> list[Ranking]:
    """Return a ranking of k documents a question, in which its own stands at that place, or nowhere."""
    return [
        Ranking(
            question_id=f"q{at}",
            retriever=retriever,
            items=[
                RankingItem(document_id=f"d{at}" if n == place else f"other{n}", score=1.0 / n)
                for n in range(1, k + 1)
            ],
        )
        for at, place in enumerate(places)
    ]


def write_run(
    folder: Path,
    judgements: Sequence[Judgement],
    *,
    said: Sequence[Answer] = (),
    asked: Sequence[Question] = (),
    ranked: Sequence[Ranking] = (),
    digests: Mapping[str, str] | None = None,
    **manifest: object,
) -> Path:
    """Write a run folder as far as it is compared.

    digests: of the judges' files, for the manifest; manifest: what else that says.
    """
    folder.mkdir(parents=True, exist_ok=True)
    write_rows(folder / "judgements.jsonl", judgements, Judgement, force=True)
    if said:
        write_rows(folder / "answers.jsonl", said, Answer, force=True)
    if asked:
        write_rows(folder / "questions.jsonl", asked, Question, force=True)
    if ranked:
        write_rows(folder / "rankings.jsonl", ranked, Ranking, force=True)
    if digests is not None:
        judges = {name: {"version": 1, "digest": digest} for name, digest in digests.items()}
        (folder / "manifest.json").write_bytes(msgspec.json.encode({"judges": judges, **manifest}))
    return folder


def write_runs_that_differ(folder: Path) -> None:
    """Write runs `a` and `b`, which differ in k and in their prompt, with all that a comparison shows."""
    for name, scores, k, prompt in (
        ("a", [1.0] * 8 + [0.0] * 4, 1, "Answer {question}."),
        ("b", [0.0] * 4 + [1.0] * 8, 2, "Answer {question} <b>briefly</b>."),
    ):
        write_run(
            folder / name,
            judged(scores),
            said=answers([name] * 12, seconds=float(k)),
            asked=questions(12),
            ranked=rankings([k] * 12, k),
            digests={"containment": "1"},
            settings={"retrieve": {"k": k}},
            files={"rankings.jsonl": "1"},
            prompt={"name": "mine", "version": k, "digest": name, "text": prompt},
        )
