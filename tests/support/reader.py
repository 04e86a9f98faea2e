"""A reader's folder: every file that an example of a command's help names, and what runs commands there.

    python -m tests.support.reader < commands.json      # as after a plain `pip install ragstone`

reads a list of (folder, arguments) and writes a JSON line of what became of each, where only packages of the
base dependencies can be imported.
"""

import contextlib
import csv
import importlib.metadata
import json
import os
import re
import shutil
import signal
import sys
import time
import traceback
import zipfile
from collections.abc import Iterator, Sequence
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

ROOT = Path(__file__).parents[2]
STOP_AFTER_S = 5.0  # what waits until Ctrl-C: a server, and `--follow`; sooner, once it only waits
LOOK_S, N_IDLE, IDLE_S = 0.2, 4, 0.01  # it only waits: no CPU time to speak of, so many looks in turn
MODEL = "openai/gpt-4o-mini"

SETTINGS = f"""
[models."{MODEL}"]
base_url = "BASE_URL"
price_usd_per_million = {{ input = 0.15, output = 0.60 }}

[models."openai/gpt-4o"]
base_url = "BASE_URL"

[serve]
port = 0

[bench.judges]
sheet = "labelled.jsonl"
judges = ["correctness", "containment"]
models = ["{MODEL}"]
thresholds = {{ correctness = 50 }}
"""
TEXTS = {
    "my_app.py": '''"""An application under test."""


def reply(question):
    return f"Nobody knows: {question}"


def chat(messages):
    return "It is sown in spring."
''',
    "personas.toml": """[[personas]]
name = "maize"
goal = "Know when maize is sown"
script = ["Hello", "When is maize sown?"]
goal_met = { contains_any = ["spring"] }
""",
    "shorter.toml": """name = "shorter"
version = 1
prompt = "Answer {question} from {contexts} alone, in five words at most."
""",
    "clearer.md": "Right is an answer that names the reference, in whatever words.\n",
    "tags.toml": '[tags]\ncrop = ["maize", "wheat"]\nmonth = ["May", "June"]\n',
    "manual/handbook/wheat.md": "# Wheat\n\nWheat is sown in October. It is cut in July, when it is dry.\n",
    "manual/handbook/maize.md": "# Maize\n\nMaize is sown in April. It needs most water when it flowers.\n",
    "src/app.py": '"""Say when wheat is sown."""\n\n\ndef sown():\n    return "October"\n',
    "src/README.md": "# The application\n\nIt says when wheat is sown.\n",
    "run.trec": "agxqa-q10 Q0 agxqa-4 1 2.0 mine\nagxqa-q10 Q0 agxqa-5 2 1.0 mine\n",
    "qrels.txt": "agxqa-q10 0 agxqa-4 1\n",
    "manual/ragstone.toml": SETTINGS,
    "manual/my_app.py": "def reply(question):\n    return 'Nobody knows.'\n",
    "farm/ragstone.toml": """[documents]
paths = ["documents.jsonl"]
copies = "sheet"

[questions]
path = "questions.jsonl"

[bench.languages]
retrievers = ["bm25"]
k = 2
""",
}
JUDGE = """name = "NAME"
version = 1
kind = "boolean"
metric = "correctness"
inputs = ["question", "answer"]
scale = [0, 1]
source = "own wording"
prompt = "The verdict is true if {answer}, as a reply to {question}, is polite. Reason first."
"""
FARM = [
    {"id": "en-1", "lang": "en", "sheet": 1, "text": "Rust of wheat is treated with a fungicide at once."},
    {"id": "es-1", "lang": "es", "sheet": 1, "text": "La roya del trigo se trata con un fungicida."},
]
FARM_QUESTIONS = [
    {"id": "1", "lang": "en", "question": "How is rust treated?", "document_ids": ["en-1"]},
    {"id": "2", "lang": "es", "question": "¿Cómo se trata la roya?", "document_ids": ["es-1"]},
]
WITHOUT_MODEL = {"model": "none", "prompt_version": 1}
MANUAL_QUESTIONS = [
    {"id": "1", "question": "When is wheat sown?", "document_ids": ["handbook/wheat.md"]},
    {"id": "2", "question": "When is maize sown?", "document_ids": ["handbook/maize.md"]},
]
SQUAD = {
    "data": [
        {
            "title": "Wheat",
            "paragraphs": [
                {
                    "context": "Wheat is sown in October.",
                    "qas": [
                        {
                            "id": "1",
                            "question": "When is wheat sown?",
                            "answers": [{"text": "October", "answer_start": 17}],
                        }
                    ],
                }
            ],
        }
    ]
}
OF_OTHERS = {
    "langfuse.jsonl": "langfuse.jsonl",
    "traces.jsonl": "langfuse.jsonl",
    "scores.jsonl": "langfuse-scores-v3.jsonl",
    "vendor.jsonl": "phoenix-evals.jsonl",
}
VERDICTS = Path(__file__).parents[1] / "fixtures" / "verdicts"
# What a reader has done before: the runs and rows that examples read.
BEFORE = [
    ["run", "rag.toml", "--limit", "3", "--yes"],
    ["chunk", "documents.jsonl"],
    ["judge", "answers.jsonl", "--judge", "coverage", "--judge", "correctness"],
    ["judge", "answers.jsonl", "--judge", "coverage", "--judge", "correctness", "-o", "judgements.jsonl"],
    [*("build", "questions", "documents.jsonl", "--count", "5", "-o", "questions/questions.jsonl")],
    [*("watch", "logs/", "--judge", "grounding")],
    [*("ledger", "export", "backup.jsonl")],
    [*("ledger", "export", "other.jsonl")],
    [*("people", "invite")],
]


def build(folder: Path, base_url: str) -> None:
    """Make the folder: the starter with a model, and in it each file that some help names, small."""
    from tests.support.command import ragstone

    from ragstone.features.new.starter import copy_starter

    copy_starter(folder, MODEL)
    settings = (folder / "ragstone.toml").read_text("utf-8") + SETTINGS.replace("BASE_URL", base_url)
    (folder / "ragstone.toml").write_text(settings, "utf-8")
    (folder / "rag.toml").write_text(settings.replace('name = "starter"', 'name = "mine"'), "utf-8")
    small = settings.replace('paths = ["documents.jsonl"]', 'paths = ["manual/handbook"]')
    (folder / "assistant.toml").write_text(small + '\n[assistant]\ntitle = "Farm"\n', "utf-8")
    for name in ("tone", "my-judge", "judges/my_correctness"):
        TEXTS[f"{name}.toml"] = JUDGE.replace("NAME", Path(name).name.replace("-", "_"))
    for name, text in TEXTS.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text.replace("BASE_URL", base_url), "utf-8")
    for name, made in OF_OTHERS.items():
        shutil.copy(VERDICTS / made, folder / name)
    _write_rows(folder)
    with inside(folder):
        for words in BEFORE:
            ran = ragstone(*words)
            assert ran.code == 0, f"{words}: {ran.err}"
        for name in ("before", "after", "may", "june", "july"):
            shutil.copytree("runs/mine", f"runs/{name}")
    _write_labels_of_both(folder)


def _write_rows(folder: Path) -> None:
    labelled = rows_of(folder / "labelled.jsonl")
    answers = [
        {key: row[key] for key in ("question_id", "system", "question", "reference", "answer")}
        | {
            "contexts": [labelled[at // 2]["answer"]],
            "parallel_id": str(at // 2),
            "lang": ["en", "es"][at % 2],
        }
        for at, row in enumerate(labelled)
    ]
    labels = [{key: row[key] for key in ("question_id", "system", "metric", "score")} for row in labelled]
    log = [
        {
            "id": f"x{at}",
            "time": f"2026-11-{at % 5 + 1:02}T08:15:00Z",
            "question": row["question"],
            "answer": row["answer"],
            "contexts": [row["answer"]],
            "thumbs": ["up", "down"][at % 2],
            "tags": {"crop": ["maize", "wheat"][at % 2], "month": ["May", "June"][at // 2 % 2]},
        }
        for at, row in enumerate(labelled)
    ]
    chat = [
        {"role": "user", "content": "When is wheat sown?"},
        {"role": "assistant", "content": "In October."},
    ]
    write_jsonl(folder / "answers.jsonl", answers)
    write_csv(folder / "answers.csv", [{k: str(v) for k, v in row.items()} for row in answers[:5]])
    write_jsonl(folder / "labels.jsonl", labels)
    write_csv(folder / "labels.csv", labels)
    write_jsonl(folder / "manual" / "questions.jsonl", MANUAL_QUESTIONS)
    write_csv(
        folder / "manual" / "questions.csv", [{"question": "When is wheat sown?", "reference": "In October"}]
    )
    write_jsonl(folder / "chats.jsonl", [{"id": "c1", "messages": chat}])
    talk = [{"id": f"e{at}", "session_id": "s", "question": "Hello?", "answer": "Hello."} for at in range(2)]
    write_jsonl(folder / "log" / "talk.jsonl", talk)
    write_jsonl(folder / "log.jsonl", log)
    write_csv(folder / "log.csv", [{k: str(v) for k, v in row.items() if k != "tags"} for row in log])
    write_jsonl(folder / "logs" / "log.jsonl", log)
    scores = [
        {
            "answer_id": row["id"],
            "question_id": row["id"],
            "system": "a",
            "judge": "faithfulness",
            "metric": "faithfulness",
            "status": "scored",
            "score": 1,
        }
        | WITHOUT_MODEL
        for row in log
    ]
    write_jsonl(folder / "then.jsonl", scores)
    write_jsonl(folder / "farm" / "documents.jsonl", FARM)
    write_jsonl(folder / "farm" / "questions.jsonl", FARM_QUESTIONS)
    (folder / "squad-dev.json").write_text(json.dumps(SQUAD), "utf-8")
    write_xlsx(folder / "faq.xlsx", [["Frage", "Antwort"], ["Wann wird Weizen gesät?", "Im Oktober."]])


def _write_labels_of_both(folder: Path) -> None:
    """Write people's labels of both answers to a question: of two runs, and of two cells of a bench."""
    scored = {"metric": "correctness", "score": 1}
    answers = rows_of(folder / "runs" / "mine" / "answers.jsonl")
    pairs = [
        {"question_id": row["question_id"], "system": row["system"], "run": f"runs/{run}", **scored}
        for row in answers
        for run in ("before", "after")
    ]
    cells = [
        {"question_id": row["id"], "system": f"{prompt} · gold", **scored}
        for row in rows_of(folder / "questions.jsonl")
        for prompt in ("strict", "bare")
    ]
    write_jsonl(folder / "pairs.jsonl", pairs)
    write_jsonl(folder / "people.jsonl", cells)


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def write_jsonl(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")


def write_csv(
    path: Path, rows: Sequence[dict[str, Any]], *, delimiter: str = ",", encoding: str = "utf-8"
) -> None:
    with path.open("w", encoding=encoding, newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)


def cells_of(rows: Sequence[Sequence[object]]) -> str:
    lines = []
    for at, row in enumerate(rows, 1):
        cells = ""
        for place, value in enumerate(row):
            name = f"{chr(65 + place)}{at}"
            if isinstance(value, int | float):
                cells += f'<c r="{name}"><v>{value}</v></c>'
            else:
                cells += f'<c r="{name}" t="inlineStr"><is><t>{escape(str(value))}</t></is></c>'
        lines.append(f'<row r="{at}">{cells}</row>')
    return "".join(lines)


def write_xlsx(path: Path, rows: Sequence[Sequence[object]]) -> None:
    """Write a workbook of one sheet, without a package: texts inline, numbers as numbers."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{kind}.sheet.main+xml"/>'
        f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{kind}.worksheet+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships">'
        f'<Relationship Id="r1" Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>'
        '<sheet name="Tabelle1" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships">'
        f'<Relationship Id="r1" Type="{office}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{main}">'
        f"<sheetData>{cells_of(rows)}</sheetData></worksheet>",
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in parts.items():
            archive.writestr(name, f'<?xml version="1.0" encoding="UTF-8"?>{text}')


@contextlib.contextmanager
def inside(folder: Path) -> Iterator[None]:
    """Within the block this is the working folder, which modules are found in too."""
    sys.path.insert(0, str(folder))
    try:
        with contextlib.chdir(folder):
            yield
    finally:
        sys.path.remove(str(folder))
        for name in ("my_app",):
            sys.modules.pop(name, None)


def waits(words: Sequence[str]) -> bool:
    """Say whether a command goes on until Ctrl-C."""
    return words[0] == "serve" or "--follow" in words or "--http" in words


@contextlib.contextmanager
def ctrl_c(words: Sequence[str]) -> Iterator[None]:
    """Within the block Ctrl-C comes when the command only waits for it, or after some seconds."""
    if not waits(words):
        yield
        return
    latest, pressed = time.monotonic() + STOP_AFTER_S, False
    spent = [time.process_time()]  # at each look

    def look(*_: object) -> None:
        nonlocal latest, pressed
        spent.append(time.process_time())
        idle = len(spent) > N_IDLE and spent[-1] - spent[-1 - N_IDLE] < IDLE_S
        if time.monotonic() > latest or (idle and not pressed):
            latest, pressed = time.monotonic() + STOP_AFTER_S, True  # who takes no notice is asked again then
            os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, LOOK_S, LOOK_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class BasePackages:
    """A finder that finds no package but those that a plain install brings."""

    def __init__(self) -> None:
        wanted, brought = ["ragstone"], set[str]()
        while wanted:
            name = wanted.pop()
            if name in brought:
                continue
            brought.add(name)
            with contextlib.suppress(importlib.metadata.PackageNotFoundError):
                lines = importlib.metadata.requires(name) or []
                wanted += [_normal(line) for line in lines if "extra ==" not in line]
        of = importlib.metadata.packages_distributions()
        self.hidden = {
            module for module, names in of.items() if not {_normal(one) for one in names} & brought
        }
        self.hidden -= {"tests", "ragstone"}

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:  # noqa: ANN401
        if name.partition(".")[0] in self.hidden:
            return None
        return PathFinder.find_spec(name, path, target)


def _normal(requirement: str) -> str:
    return re.sub(r"[-_.]+", "-", re.split(r"[^\w.-]", requirement)[0]).lower()


def run_plainly() -> None:
    """Run the commands of standard input where only a plain install can be imported."""
    sys.meta_path[:] = [BasePackages() if one is PathFinder else one for one in sys.meta_path]
    from tests.support.command import ragstone

    for folder, words in json.load(sys.stdin):
        with inside(Path(folder)), ctrl_c(words):
            try:
                ran = ragstone(*words)
                said = {"code": ran.code, "out": ran.out, "err": ran.err}
            except Exception:
                said = {"code": 99, "out": "", "err": traceback.format_exc()}
        print(json.dumps({"words": words, **said}), flush=True)


if __name__ == "__main__":
    run_plainly()
