"""Exports of other evaluation tools, row for row in the fields that they document."""

import csv
import json

import pytest

from ragstone.features.import_.importing import import_set


@pytest.fixture
def save(tmp_path):
    def saved(name, rows):
        path = tmp_path / name
        if path.suffix == ".csv":
            with path.open("w", newline="") as file:
                writer = csv.DictWriter(file, rows[0])
                writer.writeheader()
                writer.writerows(rows)
        elif path.suffix == ".json":
            path.write_text(json.dumps(rows))
        else:
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return path

    return saved


def only(path, **options):
    found = import_set(path, **options)
    (question,) = found.questions
    (known,) = found.summary.formats.values()
    return known, question, [document.text for document in found.documents]


RAGAS = {
    "user_input": "When is wheat sown?",
    "reference_contexts": ["Wheat is sown in October.", "It's a winter crop."],
    "reference": "In October.",
    "synthesizer_name": "single_hop_specifc_query_synthesizer",
}


def test_ragas_as_jsonl_and_as_csv(save):
    for path in (
        save("t.jsonl", [RAGAS]),
        save("t.csv", [{**RAGAS, "reference_contexts": str(RAGAS["reference_contexts"])}]),
    ):
        known, question, texts = only(path)
        assert known == "ragas"
        assert (question.question, question.reference) == ("When is wheat sown?", "In October.")
        assert texts == RAGAS["reference_contexts"]
        assert len(question.document_ids) == 2
        assert question.tags == {"synthesizer": "single_hop_specifc_query_synthesizer"}
        assert question.metadata is None


def test_ragas_of_version_0_1(save):
    row = {
        "question": "When is wheat sown?",
        "contexts": ["Wheat is sown in October."],
        "ground_truth": "In October.",
        "evolution_type": "simple",
        "metadata": [{"source": "wheat.md"}],
    }
    known, question, texts = only(save("t.jsonl", [row]))
    assert (known, question.reference, texts) == ("ragas", "In October.", row["contexts"])
    assert question.tags == {"evolution": "simple"}
    assert question.metadata == {"metadata": row["metadata"]}


def test_a_conversation_of_ragas_is_skipped(save, says):
    talk = {**RAGAS, "user_input": [{"content": "When?", "type": "human"}, {"content": "So.", "type": "ai"}]}
    summary = import_set(save("t.jsonl", [RAGAS, talk])).summary
    says([one.reason for one in summary.remarks])


def test_deepeval_as_json_and_as_csv(save):
    golden = {
        "input": "When is wheat sown?",
        "actual_output": None,
        "expected_output": "In October.",
        "retrieval_context": None,
        "context": ["Wheat is sown in October.", "A winter crop."],
        "source_file": "wheat.md",
    }
    flat = {**golden, "actual_output": "", "retrieval_context": "", "context": "|".join(golden["context"])}
    for path in (save("g.json", [golden]), save("g.csv", [flat])):
        known, question, texts = only(path)
        assert (known, question.question, question.reference) == (
            "deepeval",
            "When is wheat sown?",
            "In October.",
        )
        assert texts == golden["context"]
        assert question.metadata == {"source_file": "wheat.md"}


def test_phoenix_as_json_and_as_csv(save):
    example = {
        "id": "RGF0YXNldEV4YW1wbGU6MQ==",
        "input": {"query": "When is wheat sown?"},
        "output": {"answer": "In October."},
        "metadata": {"difficulty": "easy"},
        "updated_at": "2026-11-21T00:00:00Z",
    }
    flat = {
        "example_id": example["id"],
        "input_query": "When is wheat sown?",
        "output_answer": "In October.",
        "metadata_difficulty": "easy",
    }
    for path in (save("p.json", {"data": {"dataset_id": "x", "examples": [example]}}), save("p.csv", [flat])):
        known, question, _ = only(path)
        assert (known, question.id, question.question, question.reference) == (
            "phoenix",
            example["id"],
            "When is wheat sown?",
            "In October.",
        )
        assert question.metadata["difficulty"] == "easy"


def test_of_an_object_of_several_values_a_column_says_what_asks(save):
    rows = [
        {
            "id": "1",
            "input": {"crop": "wheat", "ask": "When?"},
            "output": {"a": "x", "b": "y"},
            "metadata": {},
        }
    ]
    path = save("p.json", rows)
    columns = {"question": "input.ask", "reference": "output.b", "tags.crop": "input.crop"}
    known, question, _ = only(path, columns=columns)
    assert (known, question.question, question.reference) == ("phoenix", "When?", "y")
    assert question.tags == {"crop": "wheat"}


def test_langfuse_items_but_for_archived_ones(save):
    item = {
        "id": "i1",
        "status": "ACTIVE",
        "input": {
            "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "When?"}]
        },
        "expectedOutput": {"text": "In October."},
        "metadata": {"team": "crops"},
        "sourceTraceId": None,
        "datasetName": "crops",
    }
    path = save("l.json", [item, {**item, "id": "i2", "status": "ARCHIVED"}])
    known, question, _ = only(path)
    assert (known, question.id, question.question, question.reference) == (
        "langfuse",
        "i1",
        "When?",
        "In October.",
    )
    assert question.metadata["team"] == "crops"
    summary = import_set(path).summary
    assert [(one.kind, one.reason) for one in summary.remarks] == [("left_out", "it is archived")]
    assert summary.n_skipped == 0


def test_langfuse_as_csv_has_json_in_its_cells(save):
    rows = [
        {
            "id": "i1",
            "input": '{"question": "When?"}',
            "expectedOutput": '"In October."',
            "datasetName": "crops",
        }
    ]
    _, question, _ = only(save("l.csv", rows))
    assert (question.question, question.reference) == ("When?", "In October.")


def test_a_format_can_be_forced(save):
    path = save("t.jsonl", [RAGAS])
    known, question, texts = only(path, format="table")
    assert (known, texts) == ("table", [])
    assert question.metadata["reference_contexts"] == RAGAS["reference_contexts"]
