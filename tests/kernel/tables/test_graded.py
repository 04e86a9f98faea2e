"""Verdicts in files that other tools wrote (tests/fixtures/records says how) end as judgements."""

import json
import shutil
import sys
import zipfile
from pathlib import Path

import pytest
from tests.support.command import ragstone

from ragstone.kernel.errors import DataError
from ragstone.kernel.records import NO_MODEL, Answer, Judgement, Label
from ragstone.kernel.tables import parse_rows, read_rows, write_rows
from ragstone.kernel.tables.interchange import inspect_archive

FIXTURES = Path(__file__).parents[2] / "fixtures" / "records"
GRADED = ["promptfoo.json", "deepeval.json", "ragas.csv", "ragas.json", "every-eval-ever_samples.jsonl"]
LOGS = ["inspect.eval", "inspect-failed.eval"]
# What people say of the six answers: the fifth is wrong, which every judge of the files calls right.
TRUTH = {
    "When is wheat sown?": 1,
    "How deep is wheat sown?": 1,
    "When does maize need water most?": 1,
    "How is rust treated?": 0,
    "How often is soil tested?": 0,
    "Who won the cup?": 0,
}


def judgements(name: str | Path) -> list[Judgement]:
    return list(read_rows(FIXTURES / name, Judgement))


def of_judge(name: str | Path, judge: str) -> list[Judgement]:
    return [row for row in judgements(name) if row.judge == judge]


def outcomes(rows: list[Judgement]) -> list[float | str]:
    return [row.status if row.score is None else row.score for row in rows]


@pytest.mark.parametrize("name", [*GRADED, *LOGS])
def test_each_verdict_is_on_an_answer_of_the_same_file(name: str) -> None:
    answers = {(row.question_id, row.system) for row in read_rows(FIXTURES / name, Answer)}
    found = judgements(name)
    assert {(row.question_id, row.system) for row in found} == answers
    assert len({(row.question_id, row.system, row.judge, row.model) for row in found}) == len(found)


@pytest.mark.parametrize(
    ("name", "judge"),
    [("promptfoo.json", "correctness"), ("deepeval.json", "Correctness"), ("ragas.csv", "correct")],
)
def test_a_vendors_judge_gets_its_card(name: str, judge: str, tmp_path: Path) -> None:
    answers = [*read_rows(FIXTURES / name, Answer)]
    labels = [
        Label(question_id=row.question_id, system=row.system, score=TRUTH[row.question or ""], metric=None)
        for row in answers
    ]
    write_rows(tmp_path / "labels.jsonl", labels, Label)
    ran = ragstone(
        "agree", FIXTURES / name, tmp_path / "labels.jsonl", "--threshold", f"{judge}=0.5", "--json"
    )
    assert ran.code == 0, ran.err
    card = next(card for card in json.loads(ran.out) if card["judge"] == judge)
    failed = 1 if name != "promptfoo.json" else 2
    assert card["n"] == 6 - failed  # a judge that failed has no score, not 0
    assert sum(n for status, n in card["statuses"].items() if status != "scored") == failed
    # Of the fifth answer, which is wrong, deepeval and ragas say that it is right; promptfoo's grader fails.
    assert card["agreement"]["exact agreement"]["value"] == (1 if name == "promptfoo.json" else 0.8)


class TestInspect:
    def test_letters_numbers_and_objects_are_scores(self) -> None:
        by_judge = {row.judge: row for row in judgements("inspect.eval") if row.question_id == "q2"}
        assert {name: row.score for name, row in by_judge.items()} == {
            "model_graded_qa": 1,
            "includes": 0,
            "overlap": 0,
            "style/clear": 1,
            "style/short": 0,
        }
        graded = by_judge["model_graded_qa"]
        assert (graded.label, graded.scale, graded.model) == ("C", (0, 1), "mockllm/judge")
        assert graded.rationale == "The submission says so: Five centimetres deep.\n\nGRADE: C"
        assert by_judge["includes"].model == NO_MODEL
        assert by_judge["overlap"].model == "unknown (Inspect)"
        assert by_judge["overlap"].scale is None

    def test_what_is_unscored_is_a_status_and_no_score(self) -> None:
        assert outcomes(of_judge("inspect.eval", "model_graded_qa")) == [1, 1, 1, 0, 1, "unparsable"]
        assert outcomes(of_judge("inspect.eval", "overlap")) == [1, 0, 1, 0.5, "abstained", 0]

    def test_a_sample_whose_solver_failed_is_one_of_every_scorer(self) -> None:
        failed = [row for row in judgements("inspect-failed.eval") if row.question_id == "q6"]
        assert {row.judge for row in failed} == {row.judge for row in judgements("inspect.eval")}
        assert {(row.status, row.error) for row in failed} == {
            ("app_error", "ValueError('the index is down')")
        }

    def test_a_log_as_json_says_the_same_as_the_archive(self, tmp_path: Path) -> None:
        samples = [raw for _, raw in inspect_archive.read_archive(FIXTURES / "inspect.eval")]
        log = {"version": 2, "eval": samples[0]["eval"], "samples": samples}
        (tmp_path / "log.json").write_text(json.dumps(log))
        assert "NaN" in (tmp_path / "log.json").read_text()
        assert judgements(tmp_path / "log.json") == judgements("inspect.eval")

    def test_the_second_epoch_of_a_sample_is_an_answer_of_its_own(self, tmp_path: Path) -> None:
        [(_, sample), *_] = inspect_archive.read_archive(FIXTURES / "inspect.eval")
        rows = [sample, sample | {"epoch": 2}]
        (tmp_path / "s.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        assert {row.question_id for row in judgements(tmp_path / "s.jsonl")} == {"q1", "q1#2"}
        assert [row.question_id for row in read_rows(tmp_path / "s.jsonl", Answer)] == ["q1", "q1#2"]

    def test_scores_made_elsewhere_are_of_the_evaluator_that_the_file_is_called_after(self) -> None:
        found = judgements("precomputed.jsonl")
        assert {row.judge for row in found} == {"precomputed"}
        assert [row.question_id for row in found] == ["q1", "q2", "q3", "q4", "q5", "q6", "q1#2"]
        assert outcomes(found) == [1, 1, 0.5, 0, 0.25, "unparsable", 0]
        assert found[0].rationale == "says October"

    def test_the_same_scores_are_labels_where_people_gave_them(self) -> None:
        labels = list(read_rows(FIXTURES / "precomputed.jsonl", Label))
        assert [(row.question_id, row.score, row.metric) for row in labels][:3] == [
            ("q1", 1, None),
            ("q2", 1, None),
            ("q3", 0.5, None),
        ]
        assert len(labels) == 6  # NaN is no label


class TestArchive:
    def archive(self, path: Path, members: dict[str, bytes]) -> Path:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in members.items():
                archive.writestr(name, content)
        return path

    def log(self, path: Path, *samples: dict[str, object]) -> Path:
        members = {
            f"samples/{place}_epoch_1.json": json.dumps(sample).encode()
            for place, sample in enumerate(samples)
        }
        header = {"version": 2, "status": "success", "eval": {"task": "t", "scorers": []}}
        return self.archive(path, {**members, "header.json": json.dumps(header).encode()})

    def sample(self, name: str, **scores: object) -> dict[str, object]:
        said = {"completion": "Yes."}
        return {
            "id": name,
            "epoch": 1,
            "input": f"Is {name} so?",
            "target": "yes",
            "output": said,
            "scores": scores,
        }

    @pytest.mark.parametrize("kept", [10, 5000, 25000])
    def test_a_log_that_was_cut_off_is_refused_in_a_sentence(self, tmp_path: Path, kept: int, says) -> None:
        (tmp_path / "cut.eval").write_bytes((FIXTURES / "inspect.eval").read_bytes()[:kept])
        with pytest.raises(DataError) as error:
            judgements(tmp_path / "cut.eval")
        says(error.value)

    def test_a_damaged_member_is_named(self, tmp_path: Path) -> None:
        content = bytearray((FIXTURES / "inspect.eval").read_bytes())
        with zipfile.ZipFile(FIXTURES / "inspect.eval") as archive:
            at = archive.getinfo("samples/q3_epoch_1.json").header_offset
        content[at + 200 : at + 260] = bytes(60)
        (tmp_path / "bad.eval").write_bytes(content)
        with pytest.raises(DataError, match=r"samples/q3_epoch_1\.json is"):
            judgements(tmp_path / "bad.eval")

    def test_a_bomb_and_a_sample_too_large_are_refused(self, tmp_path, monkeypatch, says) -> None:
        bomb = self.archive(
            tmp_path / "bomb.eval", {"header.json": b"{}", "samples/a.json": bytes(60_000_000)}
        )
        with pytest.raises(DataError) as error:
            judgements(bomb)
        says(error.value)
        monkeypatch.setattr(inspect_archive, "MOST_OF_A_SAMPLE", 1 << 20)
        large = self.log(tmp_path / "large.eval", self.sample("a") | {"events": ["x" * 3_000_000]})
        with pytest.raises(DataError) as error:
            judgements(large)
        says(error.value)

    def test_other_archives_and_logs_without_samples_are_told(self, tmp_path, says) -> None:
        for name, members in {
            "other.eval": {"word/document.xml": b"<w/>"},
            "empty.eval": {"header.json": b'{"status": "success", "eval": {}}'},
        }.items():
            with pytest.raises(DataError) as error:
                judgements(self.archive(tmp_path / name, members))
            says(error.value)

    def test_a_log_without_scores_says_that_there_is_no_verdict(self, tmp_path, says) -> None:
        with pytest.raises(DataError) as error:
            judgements(self.log(tmp_path / "plain.eval", self.sample("a"), self.sample("b")))
        says(error.value)
        assert len(list(read_rows(tmp_path / "plain.eval", Answer))) == 2

    def test_an_evaluation_that_did_not_finish_is_told(self, tmp_path, caplog, says) -> None:
        members = {
            "samples/a_epoch_1.json": json.dumps(self.sample("a", ok={"value": "C"})).encode(),
            "header.json": b'{"status": "cancelled", "eval": {"task": "t"}}',
        }
        log = self.archive(tmp_path / "a.eval", members)
        assert outcomes(judgements(log)) == [1]
        says("\n".join(caplog.messages))

    def test_names_that_lead_outside_are_read_and_nothing_is_written(self, tmp_path) -> None:
        inside = tmp_path / "deep" / "inside"
        inside.mkdir(parents=True)
        sample = json.dumps(self.sample("a", ok={"value": "C"})).encode()
        log = self.archive(
            inside / "a.eval",
            {
                "samples/../../../out_epoch_1.json": sample,
                "header.json": b'{"status": "success", "eval": {}}',
            },
        )
        before = set(tmp_path.rglob("*"))
        assert outcomes(judgements(log)) == [1]
        assert set(tmp_path.rglob("*")) == before

    def test_an_explanation_of_ten_megabytes_is_kept_whole(self, tmp_path) -> None:
        reason = "because of this, " * 600_000
        log = self.log(tmp_path / "long.eval", self.sample("a", ok={"value": "C", "explanation": reason}))
        assert judgements(log)[0].rationale == reason

    @pytest.mark.skipif(sys.version_info >= (3, 14), reason="Python unpacks it by itself")
    def test_what_packs_a_log_is_named_where_it_is_missing(self, monkeypatch) -> None:
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        with pytest.raises(Exception, match=r"ragstone\[parquet\]"):
            judgements("inspect.eval")


class TestPromptfoo:
    def test_a_grader_that_failed_has_a_status_though_promptfoo_counts_it_as_0(self, says) -> None:
        rows = of_judge("promptfoo.json", "correctness")
        assert outcomes(rows) == [0.9, 0.9, 0.9, 0.1, "unparsable", "error"]
        says(rows[5].error)
        assert (rows[0].model, rows[0].rationale) == ("file://judge.cjs", "says the same")
        assert rows[0].metadata["threshold"] == 0.5

    def test_assertions_without_a_model_are_judges_without_one(self) -> None:
        rows = of_judge("promptfoo.json", "icontains")
        assert {row.model for row in rows} == {NO_MODEL}
        assert outcomes(rows) == [1, 0, 1, 0, 0, 0]

    def test_two_rubrics_without_a_name_are_two_judges(self, tmp_path: Path) -> None:
        log = json.loads((FIXTURES / "promptfoo.json").read_text())
        for result in log["results"]["results"]:
            for component in result["gradingResult"]["componentResults"]:
                component["assertion"].pop("metric", None)
        (tmp_path / "p.json").write_text(json.dumps(log))
        names = {row.judge for row in judgements(tmp_path / "p.json")}
        assert names == {"llm-rubric@source=1", "llm-rubric@source=2", "icontains", "latency"}

    def test_a_rubric_of_each_test_is_one_judge(self, tmp_path: Path) -> None:
        log = json.loads((FIXTURES / "promptfoo.json").read_text())
        for place, result in enumerate(log["results"]["results"]):
            [first, *_] = result["gradingResult"]["componentResults"]
            first["assertion"] = {"type": "llm-rubric", "value": f"Mentions number {place}"}
            result["gradingResult"]["componentResults"] = [first]
        (tmp_path / "p.json").write_text(json.dumps(log))
        assert {row.judge for row in judgements(tmp_path / "p.json")} == {"llm-rubric"}

    def test_where_the_application_failed_each_assertion_says_so(self, tmp_path: Path) -> None:
        log = json.loads((FIXTURES / "promptfoo.json").read_text())
        first = log["results"]["results"][0]
        first |= {"gradingResult": None, "failureReason": 2, "error": "HTTP 500", "response": {}}
        (tmp_path / "p.json").write_text(json.dumps(log))
        failed = [row for row in judgements(tmp_path / "p.json") if row.status == "app_error"]
        assert [row.judge for row in failed] == ["correctness", "icontains", "llm-rubric", "latency"]
        assert {row.error for row in failed} == {"HTTP 500"}


class TestDeepEval:
    def test_metrics_have_model_reason_threshold_and_their_own_failures(self, says) -> None:
        rows = of_judge("deepeval.json", "Correctness")
        assert outcomes(rows) == [0.9, 0.9, 0.9, 0.2, 0.9, "error"]
        assert (rows[0].metric, rows[0].model, rows[0].scale) == ("correctness", "fake-judge", (0, 1))
        assert (rows[0].rationale, rows[0].metadata["threshold"]) == ("says the same", 0.5)
        says(rows[5].error)

    def test_two_metrics_of_one_name_are_two_judges(self, tmp_path: Path) -> None:
        run = json.loads((FIXTURES / "deepeval.json").read_text())
        for case in run["testCases"]:
            case["metricsData"].append(case["metricsData"][0] | {"score": 0.0, "error": None})
        (tmp_path / "d.json").write_text(json.dumps(run))
        names = {row.judge for row in judgements(tmp_path / "d.json")}
        assert names == {"Correctness@source=1", "Correctness@source=2", "Faithfulness"}
        assert outcomes(of_judge(tmp_path / "d.json", "Correctness@source=2")) == [0] * 6

    def test_a_question_asked_twice_has_two_answers_and_two_verdicts(self, tmp_path: Path) -> None:
        run = json.loads((FIXTURES / "deepeval.json").read_text())
        run["testCases"].append(run["testCases"][0])
        (tmp_path / "d.json").write_text(json.dumps(run))
        answers = [row.question_id for row in read_rows(tmp_path / "d.json", Answer)]
        assert answers[-1] == f"{answers[0]}-2"
        assert [row.question_id for row in of_judge(tmp_path / "d.json", "Correctness")] == answers


class TestRagas:
    def test_nan_is_a_metric_that_failed(self) -> None:
        for name in ("ragas.csv", "ragas.json"):
            assert outcomes(of_judge(name, "faithfulness")) == [1, 1, 1, 0, 1, "error"]
            assert outcomes(of_judge(name, "exact_match")) == [0] * 6
        assert of_judge("ragas.csv", "exact_match")[0].model == NO_MODEL
        assert of_judge("ragas.csv", "correct")[0].model == "unknown (ragas)"

    def test_a_metric_that_failed_throughout_is_there_and_other_numbers_are_told(
        self, tmp_path, caplog, says
    ) -> None:
        rows = json.loads((FIXTURES / "ragas.json").read_text())
        rows = [row | {"faithfulness": None, "n_words": 17, "seconds": 3.5} for row in rows]
        (tmp_path / "r.json").write_text(json.dumps(rows))
        assert outcomes(of_judge(tmp_path / "r.json", "faithfulness")) == ["error"] * 6
        assert {row.judge for row in judgements(tmp_path / "r.json")} == {
            "faithfulness",
            "correct",
            "exact_match",
        }
        says("\n".join(caplog.messages))

    def test_a_frame_of_results_is_read_as_the_file_is(self) -> None:
        pandas = pytest.importorskip("pandas")
        frame = pandas.read_json(FIXTURES / "ragas.json")
        assert outcomes(parse_rows(frame, Judgement)) == outcomes(judgements("ragas.json"))

    def test_samples_without_a_metric_hold_no_verdict(self, tmp_path: Path) -> None:
        row = {"user_input": "Why?", "response": "So.", "reference": "Because."}
        (tmp_path / "r.jsonl").write_text(json.dumps(row))
        with pytest.raises(DataError, match="no verdict"):
            judgements(tmp_path / "r.jsonl")


class TestEveryEvalEver:
    def test_scorers_that_share_a_name_are_told_apart_and_have_the_scale_of_their_result(self) -> None:
        rows = of_judge("every-eval-ever_samples.jsonl", "model_graded_qa:accuracy")
        assert outcomes(rows) == [1, 1, 1, 0, 1]
        assert outcomes(of_judge("every-eval-ever_samples.jsonl", "includes:accuracy")) == [1, 0, 1, 0, 0]
        assert (rows[0].scale, rows[0].system) == ((0, 1), "openai/openai/app")
        answers = list(read_rows(FIXTURES / "every-eval-ever_samples.jsonl", Answer))
        assert [row.reference for row in answers][:2] == ["October", "5 cm"]

    def test_a_damaged_aggregate_is_told_for_it_has_the_scales(self, tmp_path: Path, says) -> None:
        shutil.copy(FIXTURES / "every-eval-ever_samples.jsonl", tmp_path)
        for damaged in (b'{"evaluation_results": [', b'{"evaluation_results": "\xff"}'):
            (tmp_path / "every-eval-ever.json").write_bytes(damaged)
            with pytest.raises(DataError) as error:
                list(read_rows(tmp_path / "every-eval-ever_samples.jsonl", Judgement))
            says(str(error.value).replace(str(tmp_path), "HERE"))

    def test_the_aggregate_alone_says_where_the_instances_are(self, says) -> None:
        for row_type in (Judgement, Answer):
            with pytest.raises(DataError) as error:
                list(read_rows(FIXTURES / "every-eval-ever.json", row_type))
            says(str(error.value).replace(str(FIXTURES), "FIXTURES"))


def test_import_gives_judgements_and_answers_of_one_file(tmp_path: Path) -> None:
    ran = ragstone("import", FIXTURES / "promptfoo.json", "-o", tmp_path / "all")
    assert ran.code == 0, ran.err
    assert len(list(read_rows(tmp_path / "all" / "judgements.jsonl", Judgement))) == 24
    assert len(list(read_rows(tmp_path / "all" / "answers.jsonl", Answer))) == 6
    ran = ragstone("import", FIXTURES / "inspect.eval", "-o", tmp_path / "log")
    assert ran.code == 0, ran.err
    assert [row.question_id for row in read_rows(tmp_path / "log" / "answers.jsonl", Answer)][:2] == [
        "q1",
        "q2",
    ]
