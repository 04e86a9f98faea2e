"""What 1,000 answers cost by each judge at the project's model: a forecast on one row of usual length."""

import statistics
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path

import msgspec

from ragstone.kernel.config import Settings, choose
from ragstone.kernel.document.numbers import count
from ragstone.kernel.engine.session import Session, forecast_of
from ragstone.kernel.errors import RagstoneError, plural
from ragstone.kernel.judging import Judge
from ragstone.kernel.records import Answer, Context, Question, Step, Turn, references
from ragstone.kernel.stages.forecasting import hear_judged
from ragstone.kernel.stages.given import answers_of, rows_in
from ragstone.kernel.systems.rows import join_questions
from ragstone.kernel.tables import read_rows

ANSWERS = 1_000
MOST_ROWS, MOST_QUESTIONS = 200, 5_000  # that are read for lengths, of the newest run
BYTES_A_TOKEN = 4  # as a forecast counts what was never asked before
FILLER = "The field was sown with red clover in the spring of that year, and mown twice before autumn. "
CITED = f"{FILLER[:-2]} [1]. "


class RowLengths(msgspec.Struct, frozen=True, kw_only=True):
    """Lengths of a row in bytes of UTF-8, medians. n: of so many rows; run: theirs, None for defaults."""

    question: int = 80
    reference: int = 120
    answer: int = 400
    context: int = 800
    n_contexts: int = 5
    n: int = 0
    run: str | None = None

    def basis(self) -> str:
        """Return what a price rests on, in a sentence."""
        parts = {"question": self.question, "reference": self.reference, "answer": self.answer}
        sizes = ", ".join(f"{name} {count(tokens_of(size))}" for name, size in parts.items())
        contexts = f"{plural(self.n_contexts, 'context')} of {count(tokens_of(self.context))}"
        if self.run is None:
            return f"Assumed lengths, because no run here has answers: {sizes}, {contexts} tokens."
        return (
            f"Lengths are the medians of {plural(self.n, 'row')} of {self.run}: {sizes}, {contexts} tokens."
        )


class JudgePrice(msgspec.Struct, frozen=True, kw_only=True):
    """What 1,000 answers cost. usd: None where the price is unknown. at_most: some answers need no call.

    pairs: 1,000 pairs of answers, of a judge that compares two.
    """

    usd: float | None
    at_most: bool = False
    pairs: bool = False


def tokens_of(n_bytes: int) -> int:
    """Return a length in tokens, as a forecast counts them."""
    return round(n_bytes / BYTES_A_TOKEN)


class KnownPrices:
    """Lengths and prices that were worked out before."""

    def __init__(self) -> None:
        self.lengths: dict[tuple[Path, int], RowLengths | None] = {}
        self.costs: dict[tuple[bytes, str | None, RowLengths], float | None] = {}


def usual_lengths(runs: Iterable[Path], known: KnownPrices) -> RowLengths:
    """Return the median lengths of the rows of the first run that has answers; defaults where none has."""
    for run in runs:
        sheet = answers_of(run)
        if sheet is None:
            continue
        key = (sheet, sheet.stat().st_mtime_ns)
        if key not in known.lengths:
            known.lengths[key] = _lengths_in(run, sheet)
        if lengths := known.lengths[key]:
            return lengths
    return RowLengths()


def _lengths_in(run: Path, sheet: Path) -> RowLengths | None:
    file = rows_in(run, "questions")
    try:
        questions = {row.id: row for row in islice(read_rows(file, Question), MOST_QUESTIONS)} if file else {}
        rows = list(islice(join_questions(read_rows(sheet, Answer), questions), MOST_ROWS))
    except RagstoneError:  # the run's own page says what is wrong with it
        return None
    return _medians(rows, run.name) if rows else None


def _medians(rows: Sequence[Answer], run: str) -> RowLengths:
    usual = RowLengths()
    contexts = [context.text for row in rows for context in row.contexts or ()]
    with_contexts = [len(row.contexts) for row in rows if row.contexts]
    return RowLengths(
        question=_median([row.question for row in rows if row.question], usual.question),
        reference=_median([references(row)[0] for row in rows if references(row)], usual.reference),
        answer=_median([row.answer for row in rows if row.answer], usual.answer),
        context=_median(contexts, usual.context),
        n_contexts=round(statistics.median(with_contexts)) if with_contexts else usual.n_contexts,
        n=len(rows),
        run=run,
    )


def _median(texts: Sequence[str], usual: int) -> int:
    sizes = [len(text.encode("utf-8", "surrogatepass")) for text in texts]
    return round(statistics.median(sizes)) if sizes else usual


def prices_of(
    judges: Sequence[Judge], settings: Settings, lengths: RowLengths, known: KnownPrices
) -> dict[str, JudgePrice]:
    """Return what 1,000 answers cost by each judge that asks a model; nobody is asked.

    Left out are judges that ask none, those in Python, whose code is not run for this, and all where the
    settings name no model. A cascade asks some of its members for some of the answers: its price is the most
    that it can be.
    """
    if settings.judge.model is None:
        return {}
    prices = {}
    for judge in judges:
        leaves = [(leaf, model) for leaf, model in judge.leaves() if leaf.needs_model]
        if not leaves or any(leaf.kind == "function" for leaf, _ in judge.leaves()):
            continue
        costs = []
        for leaf, model in leaves:
            key = (msgspec.json.encode(leaf.every_key()), model, lengths)
            if key not in known.costs:
                known.costs[key] = _cost(leaf, choose(settings, "judge", model=model), lengths)
            costs.append(known.costs[key])
        unknown = any(cost is None for cost in costs)
        prices[judge.name] = JudgePrice(
            usd=None if unknown else sum(cost for cost in costs if cost is not None),
            at_most=judge.kind == "cascade"
            or any(member.inner.kind == "cascade" for member in judge.members),
            pairs=judge.compares_two,
        )
    return prices


def _cost(judge: Judge, settings: Settings, lengths: RowLengths) -> float | None:
    """Return what one judge's calls cost, None where that is unknown."""
    rows = [_usual_row(judge, lengths, system) for system in ("a", "b")[: 2 if judge.compares_two else 1]]

    async def work(session: Session) -> None:
        session.forecaster.guessing = (
            True  # what was paid for once costs nothing again: not what is asked here
        )
        session.forecaster.weight = ANSWERS
        await hear_judged(rows, [judge], session)

    try:
        forecast = forecast_of(settings, work)
    except RagstoneError:  # a model without a key, or that nobody knows
        return None
    return forecast.cost_usd if forecast.calls else None


def _usual_row(judge: Judge, lengths: RowLengths, system: str) -> Answer:
    """Return a row of these lengths that has whatever the judge reads."""
    question = _text(lengths.question)
    # Nobody is asked about an answer that cites nothing, or of two that are the same.
    answer = _text(lengths.answer, CITED if judge.kind == "citations" else FILLER) + system
    own = {name: answer for name in judge.inputs if name not in Answer.__struct_fields__}
    step = Step(tool="search", arguments={"query": question}, result=_text(lengths.context))
    return Answer(
        question_id="usual",
        system=system,
        question=question,
        reference=_text(lengths.reference),
        answer=answer,
        contexts=[Context(text=_text(lengths.context)) for _ in range(lengths.n_contexts)],
        turns=[Turn("system", answer), Turn("user", question), Turn("assistant", answer)],
        steps=[step],
        metadata=own or None,
    )


def _text(n_bytes: int, filler: str = FILLER) -> str:
    return (filler * (1 + n_bytes // len(filler)))[: max(1, n_bytes)]
