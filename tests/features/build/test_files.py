import pytest

from ragstone.features.build._losses import lose
from ragstone.features.build.files import check_build_outputs, give_ids, part_path, write_build
from ragstone.kernel.config import BuildSection
from ragstone.kernel.dataset.candidate import Candidate, SourcePassage
from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Question
from ragstone.kernel.tables import read_rows


def candidate(document, text):
    passage = SourcePassage(document_id=document, start=0, end=4, text="text")
    return Candidate(question=Question(id="", question=text), passages=(passage,))


GIVEN = give_ids(
    [
        candidate("a", "one"),
        lose(candidate("a", "two"), "empty"),
        candidate("b", "three"),
        lose(candidate("a", "four"), "too_long", "900 characters"),
    ]
)
ACCEPTED = [one.question for one in GIVEN if one.loss is None]


def rows(path):
    return list(read_rows(path, Question))


def test_ids_count_the_candidates_of_each_document_the_lost_too():
    assert [one.question.id for one in GIVEN] == ["a#1", "a#2", "b#1", "a#3"]


def test_all_candidates_are_kept_and_the_lost_say_at_which_step_and_why(tmp_path):
    output = tmp_path / "facts.jsonl"
    assert write_build(output, ACCEPTED, GIVEN, None, False) == [output, tmp_path / "facts.all.jsonl"]
    assert [row.id for row in rows(output)] == ["a#1", "b#1"]
    kept = rows(tmp_path / "facts.all.jsonl")
    assert [row.metadata and row.metadata["lost"] for row in kept] == [
        None,
        {"step": "check", "reason": "empty"},
        None,
        {"step": "check", "reason": "too_long", "detail": "900 characters"},
    ]
    assert not list(tmp_path.glob("*.dev.*"))


def test_splits_hold_the_accepted_and_those_of_an_earlier_build_are_removed(tmp_path):
    output = tmp_path / "facts.jsonl"
    write_build(output, ACCEPTED, GIVEN, {"a#1": "dev", "b#1": "test"}, False)
    assert [row.id for row in rows(part_path(output, "dev"))] == ["a#1"]
    assert [row.id for row in rows(part_path(output, "test"))] == ["b#1"]
    write_build(output, ACCEPTED, GIVEN, None, True)
    assert not part_path(output, "dev").exists()


def test_a_writing_that_fails_puts_nothing_in_place_and_keeps_what_it_has(tmp_path):
    output = tmp_path / "facts.jsonl"
    write_build(output, ACCEPTED[:1], GIVEN[:1], None, False)
    before = output.read_bytes()
    part_path(output, "all").unlink()
    part_path(output, "all").mkdir()
    with pytest.raises(DataError, match="is a folder"):
        write_build(output, ACCEPTED, GIVEN, None, True)
    assert output.read_bytes() == before


@pytest.mark.parametrize("name", ["facts.jsonl", "facts.all.jsonl", "facts.test.jsonl", "certificate.html"])
def test_a_file_that_exists_is_told_of_before_anything_is_paid_for(tmp_path, name, says):
    (tmp_path / name).touch()
    declared = BuildSection(test_share=0.2)
    with pytest.raises(DataError) as error:
        check_build_outputs(tmp_path / "facts.jsonl", declared, False)
    says(error.value)
    check_build_outputs(tmp_path / "facts.jsonl", declared, True)


def test_splits_and_the_fictional_variant_are_checked_where_they_will_be_written(tmp_path):
    (tmp_path / "questions.dev.jsonl").touch()
    (tmp_path / "fictional").mkdir()
    (tmp_path / "fictional" / "questions.jsonl").touch()
    check_build_outputs(tmp_path / "questions.jsonl", BuildSection(), False)
    with pytest.raises(DataError, match="fictional"):
        check_build_outputs(tmp_path / "questions.jsonl", BuildSection(fictional=True), False)


def test_the_folder_of_another_build_is_refused_with_force_too(tmp_path):
    for name in ("questions.jsonl", "questions.all.jsonl", "certificate.json"):
        (tmp_path / name).touch()
    for force in (False, True):
        with pytest.raises(DataError, match=r"another build.*facts/facts\.jsonl"):
            check_build_outputs(tmp_path / "facts.jsonl", BuildSection(), force)
    check_build_outputs(tmp_path / "questions.jsonl", BuildSection(), True)
