import msgspec
import pytest
from tests.support.builds import build_of, ten
from tests.support.golden import sentence_in

import ragstone
from ragstone.features.build.certificate.counting import certify
from ragstone.features.report.page import write_report
from ragstone.features.run.pipeline import copy_certificate
from ragstone.kernel.dataset.candidate import Candidate
from ragstone.kernel.records import Question
from ragstone.kernel.tables import read_rows


@pytest.fixture
def certificate(settings):
    """The certificate of the starter's questions, beside them."""
    path = settings.path(settings.questions.path)
    rows = [
        Candidate(question=row, passages=ten().candidates[0].passages) for row in read_rows(path, Question)
    ]
    beside = path.with_name("certificate.json")
    beside.write_bytes(msgspec.json.encode(certify(build_of(rows))))
    return beside


def report(tmp_path):
    return (tmp_path / "runs" / "starter" / "report.html").read_text(encoding="utf-8")


@pytest.mark.long
def test_a_run_copies_the_certificate_and_its_report_shows_it(settings, certificate, tmp_path):
    summary = ragstone.run(settings)
    copy = tmp_path / "runs" / "starter" / "certificate.json"
    assert copy.read_bytes() == certificate.read_bytes()
    assert '<h2 id="set"' in report(tmp_path)
    assert "changed since" not in report(tmp_path)
    assert not any("certificate" in note for note in summary.notes)
    certificate.unlink()
    write_report(copy.parent)
    assert '<h2 id="set" dir="auto">' in report(tmp_path)
    ragstone.run(settings)  # there is none any more
    assert not copy.exists()
    assert '<h2 id="set" dir="auto">' not in report(tmp_path)


def test_a_run_of_fewer_says_so(settings, certificate, tmp_path, says):
    questions = msgspec.structs.replace(settings.questions, limit=2)
    ragstone.run(msgspec.structs.replace(settings, questions=questions))
    says(sentence_in(report(tmp_path), "The run asked"))


def test_what_is_no_certificate_of_ours_is_noted_and_stops_no_run(settings, certificate, tmp_path, says):
    certificate.write_text('{"issuer": "somebody"}')
    summary = ragstone.run(settings)
    says("\n".join(note for note in summary.notes if "certificate" in note))
    assert not (tmp_path / "runs" / "starter" / "certificate.json").exists()


def test_questions_that_stand_in_the_folder_keep_their_certificate(settings, certificate):
    assert copy_certificate(settings, certificate.parent) == []
    assert certificate.is_file()
