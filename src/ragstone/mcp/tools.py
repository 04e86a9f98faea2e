"""The tools that an agent may call. Each returns one reply of text; a mistake is a RagstoneError in words."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from ragstone.features.agree.joining import join_labels
from ragstone.features.agree.words import cards_document
from ragstone.features.bench.finished import finished_bench, kind_of_bench
from ragstone.features.compare.comparing import compare
from ragstone.features.compare.words import comparison_document
from ragstone.features.explain.words import explain_in_texts
from ragstone.features.judges.library import (
    entry_text,
    has_words,
    judge_library,
    judges_with,
    named_judges,
    near_judges,
)
from ragstone.features.label.labelling import next_to_label
from ragstone.features.report.words import run_document
from ragstone.features.run.pipeline import forecast_run
from ragstone.kernel.agreement.grading import report_cards
from ragstone.kernel.console.asking import forecast_lines
from ragstone.kernel.document.markdown import render_markdown
from ragstone.kernel.document.numbers import count, interval, one_line
from ragstone.kernel.errors import ConfigError, DataError, nearest, plural
from ragstone.kernel.judging import MetricSummary, load_judge
from ragstone.kernel.records import Judgement, Label
from ragstone.kernel.runs.joined import FinishedRun, read_run
from ragstone.kernel.runs.summary import read_summary
from ragstone.kernel.runs.wording import denominator, judge_name, mean_text, statuses
from ragstone.kernel.tables import read_rows
from ragstone.mcp.drafting import AFTER, draft_settings
from ragstone.mcp.project import AgentProject, plain_name
from ragstone.mcp.replies import OWN, fenced

SHORT = 300  # characters of a text in a list of rows
BRIEF = ("question_id", "system", "question", "answer", "error", "cause")
MOST_TO_LABEL = 200
MOST_MEANS = 4  # of a run in the list
WORKED_S = 3_600
NO_PRICE = "--budget in usd needs the price"  # how the refusal begins that names another unit too
READ_ONLY = (
    "This server is read-only. The user can restart it with a spending cap: ragstone mcp --budget 2usd, or "
    "0usd for judges that ask no model."
)


NO_JUDGE = "Name at least one judge; list_judges has them."
NO_MONEY = (
    "these judges ask a model, and the budget of 0 USD is for those that ask none. The user can restart the "
    "server with another cap: ragstone mcp --budget 2usd."
)


class _NotAsked(DataError):
    """Judging ended before a model was asked."""


class Tools:
    """The tools of one project. budget_usd: the most that `judge` may spend in all, None for nothing."""

    def __init__(self, project: AgentProject, budget_usd: float | None = None) -> None:
        self.project, self.budget_usd = project, budget_usd
        self._spent = 0.0
        self._last: tuple[object, FinishedRun] | None = None
        self._lock = threading.RLock()

    def list_runs(self, words: str = "", page: int = 1) -> str:
        """List the runs of this project, newest first, with what judges gave them.

        words: only runs whose names contain them.
        """
        runs = self.project.runs()
        named = [run for run in runs if has_words(run.name, words)]
        lines = [f"- {run.name}: {_about_run(run.folder)}" for run in named or runs]
        n_runs = f"{plural(len(lines), 'run')}, newest first."
        head = f"No name has all of these words. These are all: {n_runs}" if runs and not named else n_runs
        return fenced(head, "\n".join(lines), page)

    def list_files(self, page: int = 1) -> str:
        """List the project's files of rows: answer sheets, questions, judgements, labels of people."""
        files = self.project.files()
        lines = [
            f"- {file.relative_to(self.project.root).as_posix()} ({count(file.stat().st_size)} bytes)"
            for file in files
        ]
        return fenced(plural(len(lines), "file") + " of rows.", "\n".join(lines), page)

    def read_report(self, run: str, page: int = 1) -> str:
        """Read the report of a run or a bench: is it right, what is to blame, how far to trust the judge."""
        return fenced(f"The report of run {run!r}.", self._report(run), page)

    def read_card(self, run: str, judge: str = "", page: int = 1) -> str:
        """Read how well the judges of a run agree with people: whether a judge is fit for use.

        judge: the name of one judge. Without labels there is no card, and the reply says how to get one.
        """
        summary = read_summary(self.project.run(run))
        judges = {metric.judge for metric in summary.metrics}
        if judge not in {"", *judges, *(card.judge for card in summary.cards)}:
            raise DataError(f"Run {run!r} was not judged by {judge[:80]!r}. {nearest(judge[:80], judges)}")
        cards = [card for card in summary.cards if judge in ("", card.judge)]
        if not cards:
            raise DataError(
                f"Run {run!r} has no report card{f' of {judge!r}' if judge else ''}: it was not compared "
                "with people's labels. measure_judge does that with a file of labels; propose_labels says "
                "which answers are worth labelling."
            )
        return fenced(
            f"{plural(len(cards), 'report card')} of run {run!r}.",
            render_markdown(cards_document(cards)),
            page,
        )

    def measure_judge(self, judgements: str, labels: str, page: int = 1) -> str:
        """Measure judges against people's labels: agreement beyond chance, bias, with intervals.

        judgements: the name of a run, or a file of judgements. labels: a file of people's labels.
        """
        names = {run.name for run in self.project.runs()}
        if plain_name(judgements) in names:
            rows = list(self._run(judgements).judgements)
        else:
            try:
                file = self.project.file(judgements)
            except DataError as mistake:
                raise DataError(
                    f"{mistake} No run has that name either. {nearest(judgements[:80], names)}"
                ) from None
            rows = [*read_rows(file, Judgement)]
        human_labels = [*read_rows(self.project.file(labels), Label)]
        cards = report_cards(rows, join_labels(rows, human_labels))
        head = f"{plural(len(cards), 'report card')} from {plural(len(human_labels), 'label')}."
        return fenced(head, render_markdown(cards_document(cards)), page)

    def find_rows(self, run: str, where: str = "", columns: Sequence[str] = (), page: int = 1) -> str:
        """Find rows of a run by a filter, such as `correctness < 50 and topic = "maize" and flips`.

        where: conditions on columns with = != < <= > >= ~ (contains) in (a, b), joined by and, or, not;
        in a run of several systems `flips` is true where they differ. columns: names to show; without it ids,
        question, answer and scores, shortened. For an unknown column the reply lists the existing ones.
        """
        read = self._run(run)
        table = read.table()
        known = list(table.of) if isinstance(table.of, Mapping) else []
        unknown = next((name for name in columns if name not in known), None)
        try:
            if unknown is not None:
                raise DataError(f"There is no column {unknown[:80]!r}.")
            rows = read.where(where) if where.strip() else table
        except DataError as mistake:  # an agent has no other place to look them up
            raise DataError(f"{mistake} Columns: {', '.join(known)}, and the tags of questions.") from None
        fields = list(columns) or [name for name in known if name in BRIEF or f"{name}_status" in known]
        lines = [_json({name: _brief(row[name]) for name in _told(fields, row)}) for row in _plain_rows(rows)]
        head = f"{count(len(rows))} of {count(len(table))} rows match the filter, one per line."
        return fenced(head, "\n".join(lines), page)

    def read_row(self, run: str, question: str, system: str = "", page: int = 1) -> str:
        """Read all data of one question of a run: answers, passages, each judge's score and reason, causes.

        system: only this system. find_rows shows the ids of questions.
        """
        read = self._run(run)
        rows = [
            row for row in read.table() if row["question_id"] == question and system in ("", row["system"])
        ]
        if not rows:
            raise DataError(
                f"Run {run!r} has no question {question[:80]!r}{f' of system {system!r}' if system else ''}."
                " find_rows shows the ids."
            )
        whole = json.dumps(_plain_rows(rows), ensure_ascii=False, indent=1)
        return fenced(f"{plural(len(rows), 'answer')} to this question.", whole, page)

    def compare_runs(
        self,
        a: str,
        b: str,
        *,
        metric: str = "",
        margin: float | None = None,
        system_a: str = "",
        system_b: str = "",
        labels: str = "",
        page: int = 1,
    ) -> str:
        """Say whether run B is better or worse than run A, or that nobody can tell, and why a gate fails.

        metric: one metric or judge. margin: how much worse B may be, as a share of the scale; without it
        that of [gate]. system_a, system_b: which system of each, where a run has several. labels: a file of
        people's labels of both: the verdict is then what people would see.
        """
        gate = self.project.settings.gate
        path = self.project.settings.path(gate.labels) if gate.labels and not labels else None
        comparison = compare(
            self.project.run(a),
            self.project.run(b),
            metrics=[metric] if metric else [],
            system_a=system_a or None,
            system_b=system_b or None,
            margin=gate.margin if margin is None else margin,
            labels=self.project.file(labels) if labels else path,
            seed=self.project.settings.run.seed,
        )
        head = f"B is {b!r}, A is {a!r}. The gate: {comparison.gate.outcome}."
        return fenced(head, render_markdown(comparison_document(comparison, gated=True)), page)

    def propose_labels(self, run: str, n: int = 10, judge: str = "", labels: str = "", page: int = 1) -> str:
        """Propose which answers a person should label next: a sample from which corrected means hold.

        judge: by whose scores they are spread. labels: a file of existing labels.
        """
        if not 1 <= n <= MOST_TO_LABEL:
            raise DataError(f"n = {n}: ask for 1 to {MOST_TO_LABEL} answers.")
        read = self._run(run)
        judgements = [row for row in read.judgements if judge in ("", row.judge)]
        if not judgements:
            names = {row.judge for row in read.judgements}
            raise DataError(f"Run {run!r} was not judged by {judge!r}. {nearest(judge, names)}")
        human_labels = [*read_rows(self.project.file(labels), Label)] if labels else []
        chosen = next_to_label(
            judgements, human_labels, n=n, answers=read.answers, seed=self.project.settings.run.seed
        )
        fields = ("question_id", "system", "metric", "question", "answer")
        lines = [_json({name: _brief(getattr(row, name)) for name in fields}) for row in chosen]
        head = (
            f"{plural(len(lines), 'answer')}, drawn so that each had the same chance, spread over systems "
            "and scores. A label is a row with question_id, system, metric, score and annotator; the score "
            "must be a person's, given without seeing the judge's."
        )
        return fenced(head, "\n".join(lines), page)

    def list_judges(self, words: str = "", page: int = 1) -> str:
        """List the judges: what each measures, how well it agrees with people, what 1,000 answers cost.

        words: such as `faithfulness` or `no refusal`.
        """
        lines: list[str] = []
        group = None
        settings = self.project.settings
        every = named_judges(settings)
        named = judges_with(every, words)
        near = named or near_judges(every, words)
        listed = near or every
        for entry in judge_library(settings, judges=listed).judges:
            if entry.group != group:
                group = entry.group
                lines.append(f"## {group}")
            lines.append(f"- {entry.name}: {entry_text(entry)}")
        n_judges = plural(len(listed), "judge")
        others = "These have similar words" if near else "These are all"
        head = f"{n_judges}." if named else f"No judge has all of these words. {others}: {n_judges}."
        return fenced(head, "\n".join(lines), page)

    def forecast(self, page: int = 1) -> str:
        """Say what `ragstone run` would ask of models for this project, and the cost; no model is asked."""
        lines = forecast_lines(forecast_run(self.project.settings))
        return fenced("No model was asked.", "\n".join(lines), page)

    def explain(self, code: str, page: int = 1) -> str:
        """Explain a code or an error message: what it means, when it is said, what to do, which page of docs.

        code: a status, cause, exit code, outcome of a gate, code of a note, class of an error, or the
        message as it was printed.
        """
        explanations = explain_in_texts(code)
        head = f"{plural(len(explanations), 'explanation')}, from Ragstone's own docs."
        return fenced(head, "\n\n".join(explanations), page, fence=OWN)

    def judge(self, answers: str, judges: Sequence[str], limit: int | None = None, page: int = 1) -> str:
        """Judge an answer sheet; the result is a run. It costs money where a judge asks a model.

        answers: a file of the project. judges: names from list_judges. limit: only the first rows. Needs a
        budget, which only the user can set.
        """
        if not judges:
            raise DataError(NO_JUDGE)
        if limit is not None and limit < 1:
            raise DataError(f"limit = {limit}: give the number of rows to judge, 1 or more.")
        sheet = self.project.file(answers)
        chosen = [self._named(name) for name in judges]
        asking = [name for name in chosen if load_judge(name).needs_model]
        with self._lock:
            if self.budget_usd is None:
                raise ConfigError(READ_ONLY)
            left = self.budget_usd - self._spent
            if asking and not self.budget_usd:
                raise ConfigError(f"{one_line(', '.join(asking), SHORT)}: {NO_MONEY}")
            if asking and left <= 0:
                raise ConfigError(
                    f"The budget of {self.budget_usd} USD is spent. The user can set a new one."
                )
            allowed = left if asking else 0.0
            self._spent += allowed  # until it is known what these calls cost, or where it is never known
            try:
                summary = self._judged(sheet, chosen, limit, f"{left:.6f}usd" if asking else None)
            except _NotAsked:
                self._spent -= allowed
                raise
            calls = summary["calls"]
            self._spent += (calls.get("cost_usd") or 0.0 if calls["made"] else 0.0) - allowed
        spent = f" At most {self._spent:.4f} of {self.budget_usd} USD are spent." if asking else ""
        head = f"Judged into run {summary['name']!r}.{spent} read_report shows all of it."
        return fenced(head, _means_of(summary), page)

    def draft_evaluation(
        self,
        url: str,
        answer: str = "$.answer",
        contexts: str = "",
        questions: str = "questions.jsonl",
        judges: Sequence[str] = ("correctness", "grounding"),
    ) -> str:
        """Draft a ragstone.toml that evaluates an application behind an HTTP address; nobody is asked.

        url: it is sent {"question": ...}. answer, contexts: where its reply has them, as JSONPath, such as
        $.sources[*].text. questions: a file with question and reference. judges: names from list_judges.
        """
        if not judges:
            raise DataError(NO_JUDGE)
        for name in judges:
            self._named(name)
        return fenced(AFTER, draft_settings(url, answer, contexts, questions, judges), fence=OWN)

    def _report(self, run: str) -> str:
        folder = self.project.run(run)
        kind = kind_of_bench({file.name for file in folder.iterdir()})
        if kind and not (folder / "summary.json").is_file():
            return render_markdown(finished_bench(folder, kind))
        read = self._run(run)
        return render_markdown(run_document(read.summary, read.content))

    def _run(self, name: str) -> FinishedRun:
        """Return a run; the last one read is kept until a file of it changes."""
        folder = self.project.run(name)
        files = [(file.name, file.stat()) for file in sorted(folder.iterdir()) if file.is_file()]
        stamp = (folder, [(name, stat.st_size, stat.st_mtime_ns) for name, stat in files])
        with self._lock:
            if self._last is None or self._last[0] != stamp:
                self._last = None
                self._last = (stamp, read_run(folder))
            return self._last[1]

    def _named(self, name: str) -> str:
        """Return a judge as the command line takes it, its variant (`NAME@...`) kept. Raises DataError."""
        base, at, variant = name.partition("@")
        judges = {entry.name: entry for entry in named_judges(self.project.settings)}
        if base not in judges:
            raise DataError(f"{name[:80]!r} is not the name of a judge. {nearest(base[:80], list(judges))}")
        return f"{judges[base].path or base}{at}{variant}"

    def _judged(
        self, sheet: Path, judges: Sequence[str], limit: int | None, budget: str | None
    ) -> dict[str, Any]:
        """Judge in a process of its own, as a user would: its calls are in the ledger whatever happens."""
        command = [sys.executable, "-m", "ragstone", "judge", str(sheet), "--json", "--yes"]
        for name in judges:
            command += ["--judge", name]
        command += ["--budget", budget] if budget else []
        command += ["--limit", str(limit)] if limit is not None else []
        command += ["--config", str(self.project.config)] if self.project.config else []
        ran = subprocess.run(
            command,
            cwd=self.project.root,
            stdin=subprocess.DEVNULL,  # ours is the line to the agent
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=WORKED_S,
            check=False,
        )
        if ran.stdout.strip():
            return msgspec.json.decode(ran.stdout, type=dict[str, Any])
        before, _, mistake = ran.stderr.strip().rpartition("ragstone: ")
        mistake = one_line(mistake, 2_000) or "Nothing was judged."
        if mistake.startswith(NO_PRICE):
            raise _NotAsked(f"{mistake.split(', or give the budget')[0].removesuffix('.')}: the user can.")
        if budget is None or "Forecast: " not in before:
            raise _NotAsked(mistake)
        raise DataError(
            f"{mistake} The cost of these calls is not known, so the whole budget counts as spent; the user "
            "can restart the server. Finished calls are in the ledger."
        )


def _about_run(folder: Path) -> str:
    files = {file.name for file in folder.iterdir()}
    if "summary.json" not in files:
        return kind_of_bench(files) or "no numbers yet"
    try:
        summary = read_summary(folder)
    except DataError as mistake:
        return f"its numbers cannot be read ({one_line(str(mistake), SHORT)})"
    means = [
        f"{judge_name(metric)}{'' if metric.system in ('', 'default') else f' of {metric.system}'} "
        f"{mean_text(metric)}{f' ({interval(metric.estimate)})' if metric.estimate else ''}"
        for metric in summary.metrics[:MOST_MEANS]
    ]
    more = len(summary.metrics) - len(means)
    counts = ", ".join(f"{count(n)} {kind}" for kind, n in summary.counts.items())
    return "; ".join([counts, *means, *([f"{count(more)} more"] if more else [])])


def _told(names: Iterable[str], row: Mapping[str, object]) -> Iterator[str]:
    """Yield the names of what a row has; for a score that it has not, that of the status which says why."""
    for name in names:
        status = f"{name}_status"
        if row[name] is not None:
            yield name
        elif row.get(status) is not None:
            yield status


def _brief(value: object) -> object:
    return one_line(value, SHORT) if isinstance(value, str) else value


def _plain_rows(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    plain: list[dict[str, Any]] = msgspec.to_builtins([*rows])
    return plain


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _means_of(summary: dict[str, Any]) -> str:
    lines = []
    for metric in msgspec.convert(summary["metrics"], list[MetricSummary]):
        ends = f" ({interval(metric.estimate)})" if metric.estimate else ""
        others = statuses(metric.statuses)
        lines.append(
            f"- {metric.judge} ({metric.metric}) of {metric.system}: {mean_text(metric, 'no score')}{ends}, "
            f"{denominator(metric)}" + (f"; {others}" if others else "")
        )
    return "\n".join([*lines, *(f"- {note}" for note in summary.get("notes", []))])
