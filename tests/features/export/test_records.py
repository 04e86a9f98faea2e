"""A run as records of other programs: valid there, equal in numbers, read back as the rows that it has."""

import hashlib
import json
import os
import re
import zipfile
from pathlib import Path

import jsonschema
import msgspec
import pytest
import yaml
from tests.support.command import ragstone
from tests.support.tiny_run import ANSWERS, JUDGEMENTS, QUESTIONS, card, judgement, summary_of

import ragstone as library
from ragstone.features.export.records import export_record
from ragstone.kernel.errors import ConfigError, DataError
from ragstone.kernel.records import Answer, Judgement, Step, Turn, Usage

SCHEMAS = Path(__file__).parents[2] / "fixtures" / "records" / "every_eval_ever"
WRITTEN = 1_790_000_000  # when summary.json was


@pytest.fixture
def folder(write_run):
    def write(**changed):
        rows = changed.get("judgements", JUDGEMENTS)
        cards = changed.pop("cards", [card(False)])
        summary = msgspec.structs.replace(summary_of(rows), cards=cards)
        made = write_run(**{"summary": summary, **changed})
        manifest = {
            "judges": {"correctness": {"version": 1, "digest": "ab12"}},
            "files": {"questions.jsonl": "cd34", "answers.jsonl": "ef56", "chunks.jsonl": "0"},
        }
        (made / "manifest.json").write_bytes(msgspec.json.encode(manifest))
        os.utime(made / "summary.json", (WRITTEN, WRITTEN))
        return made

    return write


@pytest.fixture
def run(folder):
    return library.read_run(folder())


REPEATED = [
    judgement("q1", "correctness", 1),
    judgement("q1", "correctness", 0, system="rag@repeat=2"),
    judgement("q2", "correctness", 1),
    judgement("q2", "correctness", None, system="rag@repeat=2", status="timeout"),
]
AGENT = Answer(
    question_id="q1",
    system="rag",
    answer="With fungicide.",
    question="How is rust treated?",
    steps=[Step(tool="search", arguments={"q": "rust", "k": 3}, result="fungicide", seconds=0.1)],
    usage=Usage(input=100, output=20, cached=40),
    cost_usd=0.01,
)
TALK = Answer(
    question_id="q2",
    system="rag",
    answer="Yes.",
    turns=[
        Turn("user", "Is it so?"),
        Turn("assistant", "Who asks?"),
        Turn("user", "I."),
        Turn("assistant", "Yes."),
    ],
)


class TestInspect:
    def test_rows_come_back_as_they_were(self, run, tmp_path) -> None:
        record = export_record(run, tmp_path / "a.eval")
        assert (record.n, record.what, record.paths) == (4, "sample", [tmp_path / "a.eval"])
        assert list(library.read_rows(tmp_path / "a.eval", Judgement)) == list(run.judgements)
        answers = {row.question_id: row for row in library.read_rows(tmp_path / "a.eval", Answer)}
        for row in run.answers:
            again = answers[row.question_id]
            assert (again.answer, again.contexts or [], again.system) == (
                row.answer,
                row.contexts,
                row.system,
            )
            assert (again.error, again.latency_s) == (row.error, row.latency_s)

    def test_repeats_are_epochs_and_come_back(self, folder, tmp_path) -> None:
        answers = [Answer(question_id="q1", system=f"rag{tail}", answer="x") for tail in ("", "@repeat=2")]
        run = library.read_run(folder(judgements=REPEATED, answers=answers, cards=[]))
        export_record(run, tmp_path / "a.eval")
        with zipfile.ZipFile(tmp_path / "a.eval") as archive:
            assert "samples/q1_epoch_2.json" in archive.namelist()
            assert json.loads(archive.read("header.json"))["eval"]["config"]["epochs"] == 2
        again = list(library.read_rows(tmp_path / "a.eval", Judgement))
        assert sorted(again, key=str) == sorted(run.judgements, key=str)
        assert [row.system for row in library.read_rows(tmp_path / "a.eval", Answer)][:2] == [
            "rag",
            "rag@repeat=2",
        ]

    def test_steps_and_turns_are_kept(self, folder, tmp_path) -> None:
        run = library.read_run(folder(answers=[AGENT, TALK]))
        export_record(run, tmp_path / "a.eval")
        first, second = list(library.read_rows(tmp_path / "a.eval", Answer))[:2]
        assert (first.steps, first.usage) == (AGENT.steps, Usage(input=60, output=20))
        assert second.question == QUESTIONS[1].question or second.question == "I."

    def test_the_same_run_is_the_same_bytes(self, run, tmp_path) -> None:
        for name in ("a.eval", "b.eval"):
            export_record(run, tmp_path / name)
        assert (tmp_path / "a.eval").read_bytes() == (tmp_path / "b.eval").read_bytes()

    def test_no_name_of_a_member_leads_outside(self, folder, tmp_path) -> None:
        ids = ["../../out", "a/b", "c:\\d", "/etc/x", "a//b", "a_b"]
        rows = [judgement(name, "correctness", 1) for name in ids]
        run = library.read_run(folder(judgements=rows, answers=None, questions=None, rankings=None, cards=[]))
        export_record(run, tmp_path / "a.eval")
        with zipfile.ZipFile(tmp_path / "a.eval") as archive:
            names = [name for name in archive.namelist() if name.startswith("samples/")]
            archive.extractall(tmp_path / "out")
        assert len({*names}) == 6
        assert not [name for name in names if ".." in name.split("/") or "\\" in name or ":" in name]
        assert [row.question_id for row in library.read_rows(tmp_path / "a.eval", Judgement)] == ids

    def test_inspect_itself_reads_the_same_numbers(self, run, tmp_path) -> None:
        log_of = pytest.importorskip("inspect_ai.log", reason="inspect_ai is not installed (not in dev)")
        export_record(run, tmp_path / "a.eval")
        log = log_of.read_eval_log(str(tmp_path / "a.eval"))
        assert log.status == "success"
        for metric in run.summary.metrics:
            score = next(score for score in log.results.scores if score.name == metric.judge)
            assert score.metrics["mean"].value == metric.estimate.value
            assert (score.scored_samples, score.unscored_samples) == (
                metric.statuses["scored"],
                metric.n_rows - metric.statuses["scored"],
            )
        values = {(sample.id, name): score for sample in log.samples for name, score in sample.scores.items()}
        for row in run.judgements:
            score = values[row.question_id, row.judge]
            assert score.value == row.score if row.score is not None else score.value != score.value
        assert values["q2", "faithfulness"].reason == "grader_failed"
        # Inspect's own mean over the scored samples is the one that we wrote.
        log_of.recompute_metrics(log)
        again = {score.name: score.metrics["mean"].value for score in log.results.scores}
        assert again == {metric.judge: metric.estimate.value for metric in run.summary.metrics}


class TestEveryEvalEver:
    def export(self, run, tmp_path) -> tuple[dict, list[dict], Path]:
        record = export_record(run, tmp_path / "data", organization="Example Farming")
        aggregate, samples = record.paths
        rows = [json.loads(line) for line in samples.read_text().splitlines()]
        assert record.n == len(rows)
        return json.loads(aggregate.read_text()), rows, samples

    @pytest.mark.parametrize("answers", [ANSWERS, [AGENT, TALK]])
    def test_both_files_are_valid_by_its_schemas(self, folder, tmp_path, answers) -> None:
        record, rows, _ = self.export(library.read_run(folder(answers=answers)), tmp_path)
        jsonschema.validate(record, json.loads((SCHEMAS / "eval.schema.json").read_text()))
        schema = json.loads((SCHEMAS / "instance_level_eval.schema.json").read_text())
        for row in rows:
            jsonschema.validate(row, schema)
        kinds = {row["sample_id"]: row["interaction_type"] for row in rows}
        assert kinds == (
            {"q1": "single_turn", "q2": "single_turn"}
            if answers is ANSWERS
            else {"q1": "agentic", "q2": "multi_turn"}
        )

    def test_an_answer_is_correct_at_the_good_end_of_the_scale(self, folder, tmp_path) -> None:
        rows = [
            judgement(f"q{at}", metric, score)
            for metric in ("correctness", "toxicity")
            for at, score in ((1, 1), (2, 0))
        ]
        run = library.read_run(folder(judgements=rows, cards=[]))
        export_record(run, tmp_path / "data", organization="Example Farming")
        [file] = (tmp_path / "data").rglob("*_samples.jsonl")
        records = [json.loads(line) for line in file.read_text().splitlines()]
        correct = {
            (row["evaluation_name"], row["sample_id"]): row["evaluation"]["is_correct"] for row in records
        }
        assert sorted(correct.values()) == [False, False, True, True]
        judged = {
            (json.loads(row["metadata"]["ragstone"])["metric"], row["sample_id"]): row for row in records
        }
        assert judged["toxicity", "q2"]["evaluation"]["is_correct"]
        assert judged["correctness", "q1"]["evaluation"]["is_correct"]

    def test_a_broken_record_is_not_valid_by_them(self, run, tmp_path) -> None:
        record, rows, _ = self.export(run, tmp_path)
        del record["evaluation_results"][0]["score_details"]["score"]
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(record, json.loads((SCHEMAS / "eval.schema.json").read_text()))
        rows[0]["evaluation"]["score"] = None
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(
                rows[0], json.loads((SCHEMAS / "instance_level_eval.schema.json").read_text())
            )

    def test_means_intervals_counts_judge_and_card_are_there(self, run, tmp_path) -> None:
        record, rows, samples = self.export(run, tmp_path)
        result = record["evaluation_results"][0]
        metric = run.summary.metrics[0]
        details, interval = result["score_details"], metric.estimate
        assert details["score"] == interval.value
        assert details["uncertainty"] == {
            "confidence_interval": {
                "lower": interval.low,
                "upper": interval.high,
                "confidence_level": 0.95,
                "method": interval.method,
            },
            "num_samples": 2,
        }
        assert details["details"] == {"statuses": "scored 2, not_applicable 1, app_error 1", "rows": "4"}
        config = result["metric_config"]
        assert (config["min_score"], config["max_score"]) == (0, 1)
        assert config["llm_scoring"]["judges"][0]["model_info"]["id"] == "openai/gpt-4o-mini"
        facts = config["additional_details"]
        assert (facts["version"], facts["digest"]) == ("1", "ab12")
        assert facts["agreement.kappa"] == "-0.1 (-0.3 to 0.1), n 40"
        assert facts["report_card.better_than_baseline"] == "False"
        assert "llm_scoring" not in record["evaluation_results"][2]["metric_config"]
        pointer = record["detailed_evaluation_results"]
        assert pointer["total_rows"] == 5
        assert pointer["checksum"] == hashlib.sha256(samples.read_bytes()).hexdigest()
        assert re.fullmatch(
            r"data/Wheat_and_maize/Example_Farming/rag/[0-9a-f-]{36}_samples\.jsonl", pointer["file_path"]
        )
        assert {row["evaluation_result_id"] for row in rows} == {
            result["evaluation_result_id"] for result in record["evaluation_results"]
        }

    def test_scored_rows_come_back_as_they_were(self, run, tmp_path) -> None:
        _, _, samples = self.export(run, tmp_path)
        again = list(library.read_rows(samples, Judgement))
        assert again == [row for row in run.judgements if row.score is not None]

    def test_the_same_run_replaces_its_own_record(self, run, tmp_path, says) -> None:
        first = self.export(run, tmp_path)[2]
        with pytest.raises(DataError) as error:
            export_record(run, tmp_path / "data", organization="Example Farming")
        says(error.value)
        before = first.read_bytes()
        again = export_record(run, tmp_path / "data", organization="Example Farming", force=True)
        assert (again.paths[1], first.read_bytes()) == (first, before)
        assert len(list((tmp_path / "data").rglob("*.json*"))) == 2

    def test_systems_of_like_names_are_two_models(self, folder, tmp_path) -> None:
        rows = [judgement("q1", "containment", 1, system=name) for name in ("a b", "a/b", "小麦")]
        run = library.read_run(folder(judgements=rows, answers=None, cards=[]))
        ids = set()
        for name in ("a b", "a/b", "小麦"):
            record = export_record(run, tmp_path / "data", organization="O", system=name)
            ids.add(json.loads(record.paths[0].read_text())["model_info"]["id"])
        assert len(ids) == 3
        assert "O/小麦" in ids

    def test_a_judge_that_scored_nothing_is_named(self, folder, tmp_path) -> None:
        rows = [*JUDGEMENTS, judgement("q1", "tone", None, status="timeout")]
        record, instances, _ = self.export(library.read_run(folder(judgements=rows)), tmp_path)
        assert record["eval_library"]["additional_details"] == {"without_a_mean.tone": "timeout 1"}
        assert "tone" not in {row["evaluation_name"] for row in instances}

    @pytest.mark.parametrize("answers", [ANSWERS, [AGENT, TALK]])
    def test_its_own_validator_finds_nothing(self, folder, tmp_path, answers) -> None:
        core = pytest.importorskip(
            "every_eval_ever.validator.validation_core", reason="every_eval_ever is not installed"
        )
        run = library.read_run(folder(answers=answers))
        record = export_record(run, tmp_path / "data", organization="Example Farming")
        for path in record.paths:
            report = core.validate_file(path, repo_path=path.relative_to(tmp_path).as_posix())
            assert (report.errors, report.warnings) == ([], [])


class TestHub:
    def test_entries_are_in_the_form_of_the_hub(self, run, tmp_path, says) -> None:
        record = export_record(run, tmp_path / ".eval_results" / "w.yaml", dataset="example/farming")
        entries = yaml.safe_load(record.paths[0].read_text())
        assert (record.n, record.what) == (3, "result")
        assert [entry["dataset"] for entry in entries] == [
            {"id": "example/farming", "task_id": name}
            for name in ("correctness", "faithfulness", "containment")
        ]
        assert [entry["value"] for entry in entries] == [
            metric.estimate.value for metric in run.summary.metrics
        ]
        assert entries[0]["date"] == "2026-09-21T14:13:20Z"
        says("\n".join(entry["notes"] for entry in entries))

    def test_the_hubs_own_parser_reads_them(self, run, tmp_path) -> None:
        hub = pytest.importorskip("huggingface_hub", reason="huggingface_hub is not installed (extra hub)")
        if not hasattr(hub, "parse_eval_result_entries"):
            pytest.skip("this huggingface_hub does not know .eval_results")
        export_record(run, tmp_path / "w.yaml", dataset="a/b")
        data = yaml.safe_load((tmp_path / "w.yaml").read_text())
        assert hub.eval_result_entries_to_yaml(hub.parse_eval_result_entries(data)) == data

    def test_any_text_is_a_yaml_text(self, folder, tmp_path) -> None:
        name = 'a: "b"\n- c\u2028\u0085\x7f\ttab # {x} 小麦 \U0001f33e'
        rows = [judgement("q1", "correctness", 1, system=name)]
        run = library.read_run(folder(judgements=rows, answers=None, cards=[]))
        export_record(run, tmp_path / "w.yaml", dataset="a/b")
        assert name in yaml.safe_load((tmp_path / "w.yaml").read_text())[0]["notes"]

    @pytest.mark.parametrize("dataset", [None, "farming", "a/b/c", "a /b"])
    def test_a_benchmark_must_be_named(self, run, tmp_path, dataset) -> None:
        with pytest.raises(ConfigError, match="--dataset OWNER/NAME"):
            export_record(run, tmp_path / "w.yaml", dataset=dataset)


class TestMistakes:
    def test_what_cannot_be_written_is_told_before_anything_is(self, folder, tmp_path, says) -> None:
        rows = [judgement("q1", "correctness", 1, system=name) for name in ("one", "two")]
        run = library.read_run(folder(judgements=rows, answers=None, cards=[]))
        for call in (
            lambda: export_record(run, tmp_path / "a.eval"),
            lambda: export_record(run, tmp_path / "a.eval", system="three"),
            lambda: export_record(run, tmp_path / "data", system="one"),
            lambda: export_record(run, tmp_path / "a.txt", system="one"),
        ):
            with pytest.raises((DataError, ConfigError)) as error:
                call()
            says(error.value)
        (tmp_path / "a.eval").write_text("mine")
        with pytest.raises(DataError, match="was not touched"):
            export_record(run, tmp_path / "a.eval", system="one")
        assert (tmp_path / "a.eval").read_text() == "mine"

    def test_a_run_without_scores_says_so(self, folder, tmp_path, says) -> None:
        failed = [judgement("q1", "correctness", None, status="timeout")]
        run = library.read_run(folder(judgements=failed, cards=[]))
        for place in ("data", "w.yaml"):
            with pytest.raises(DataError) as error:
                export_record(run, tmp_path / place, organization="O", dataset="a/b")
            says(error.value)
        assert export_record(run, tmp_path / "a.eval").n == 4  # a log has room for what has no score
        assert not list(tmp_path.rglob("*.partial"))

    def test_a_disk_that_is_full_leaves_nothing_half(self, run, tmp_path, monkeypatch, says) -> None:
        def full(*_args, **_fields):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("ragstone.features.export._inspect_log._add", full)
        with pytest.raises(DataError) as error:
            export_record(run, tmp_path / "a.eval")
        says(error.value)
        assert not list(tmp_path.glob("a.eval*"))

    @pytest.mark.long
    def test_a_rationale_of_ten_megabytes_is_kept_whole(self, folder, tmp_path) -> None:
        reason = "".join(f"{number} " for number in range(1_500_000))
        rows = [judgement("q1", "correctness", 1, rationale=reason)]
        run = library.read_run(folder(judgements=rows, cards=[]))
        export_record(run, tmp_path / "a.eval")
        record = export_record(run, tmp_path / "data", organization="O")
        for path in (tmp_path / "a.eval", record.paths[1]):
            assert list(library.read_rows(path, Judgement)) == rows


class TestCommand:
    def test_records_and_tables_are_written_by_one_command(self, folder, tmp_path, monkeypatch) -> None:
        made = folder()
        monkeypatch.chdir(tmp_path)
        ran = ragstone(
            *("export", made, "t.csv", "r.eval", ".eval_results/r.yaml", "out/data"),
            *("--organization", "Example Farming", "--dataset", "a/b"),
        )
        assert ran.code == 0, ran.err
        lines = ran.err.splitlines()
        assert lines[:3] == ["t.csv: 4 rows.", "r.eval: 4 samples.", ".eval_results/r.yaml: 3 results."]
        assert re.fullmatch(r"out/data/\S+\.json: 5 instances\.", lines[3])

    def test_nothing_is_written_where_one_of_them_cannot_be(self, folder, tmp_path, monkeypatch) -> None:
        made = folder()
        monkeypatch.chdir(tmp_path)
        ran = ragstone("export", made, "t.csv", "r.eval", "data")
        assert (ran.code, "--organization" in ran.err) == (2, True)
        assert not (tmp_path / "t.csv").exists()
        assert not (tmp_path / "r.eval").exists()

    def test_options_of_records_without_one_are_told(self, folder, says) -> None:
        ran = ragstone("export", folder(), "t.csv", "--system", "rag", "--dataset", "a/b")
        assert ran.code == 2
        says(ran.err)
