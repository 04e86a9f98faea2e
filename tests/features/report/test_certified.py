from collections import Counter

import msgspec
import pytest
from tests.features.build.certificate.test_page import evil_build
from tests.features.report.test_page import EVIL, Page, read, without_style_and_script
from tests.support.builds import build_of, facts, ten
from tests.support.golden import check_golden
from tests.support.tiny_run import QUESTIONS, WriteRun

from ragstone.features.build.certificate.counting import certify
from ragstone.features.build.certificate.wording import fitting
from ragstone.kernel.dataset.candidate import Candidate
from ragstone.kernel.dataset.certificate import fit
from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Question
from ragstone.kernel.runs.run import certified_in


def certificate_of(questions: list[Question], **changed: object):
    """Return the certificate of a build that accepted these questions."""
    rows = [Candidate(question=question, passages=ten().candidates[0].passages) for question in questions]
    return certify(build_of(rows, **changed))


def page_beside(write_run: WriteRun, certificate) -> Page:
    folder = write_run()
    (folder / "certificate.json").write_bytes(msgspec.json.encode(certificate))
    return Page(read(folder))


def test_report_shows_the_certificate_of_its_questions(write_run: WriteRun) -> None:
    page = page_beside(write_run, certificate_of(QUESTIONS))
    assert "Evaluation set 4 questions from 2 of 4 documents" in page.text
    assert "All critics together (good): catches 18 of 20 planted defects" in page.text
    assert "4 of the 6 questions wanted, 2 short" in page.text
    assert "left by" not in page.text  # nothing was lost at those steps
    assert "changed since" not in page.text


def test_report_without_a_certificate_is_as_it_was(write_run: WriteRun) -> None:
    html = without_style_and_script(read(write_run()))
    check_golden("report/page.html", html)
    assert "Evaluation set" not in html


def test_a_part_of_the_set_is_named_as_such(write_run: WriteRun) -> None:
    more = [*QUESTIONS, msgspec.structs.replace(QUESTIONS[0], id="q9")]
    page = page_beside(write_run, certificate_of(more))
    assert "The run asked the first 4 of 5 certified questions." in page.text
    page = page_beside(write_run, certificate_of(more[::-1]))
    assert "The run asked 4 of 5 certified questions." in page.text


def test_a_file_that_was_changed_is_said_to_be_changed(write_run: WriteRun) -> None:
    other = [msgspec.structs.replace(QUESTIONS[0], reference="with sulphur"), *QUESTIONS[1:]]
    page = page_beside(write_run, certificate_of(other))
    assert "The file has changed since: 1 of its 4 questions are not as certified." in page.text
    assert "4 questions from" in page.text


def test_a_certificate_of_another_set_is_not_shown(write_run: WriteRun) -> None:
    page = page_beside(write_run, certify(ten()))
    assert "is for another set: it has none of these 4." in page.text
    assert "asked for" not in page.text


def test_facts_are_called_facts(says) -> None:
    certificate = certify(facts())
    rows = [one.question for one in facts().candidates if one.loss is None]
    told = fitting(fit(certificate, rows[:1]), certificate)
    says(told)


def test_a_certificate_that_cannot_be_read_says_so(tmp_path) -> None:
    assert certified_in(tmp_path, []) is None
    (tmp_path / "certificate.json").write_text("[]")
    with pytest.raises(DataError, match="not a certificate"):
        certified_in(tmp_path, QUESTIONS)
    assert certified_in(tmp_path, []) is None  # a run of a sheet without questions


@pytest.mark.parametrize("text", EVIL)
def test_text_from_outside_never_becomes_markup(write_run: WriteRun, text: str) -> None:
    def page(words: str) -> Page:
        built = evil_build(words)
        folder = write_run(questions=[built.candidates[0].question])
        (folder / "certificate.json").write_bytes(msgspec.json.encode(certify(built)))
        return Page(read(folder))

    harmless, evil = page("harmless"), page(text)
    without_code = Counter({"code": 99})  # backticks set a command
    assert evil.tags - without_code == harmless.tags - without_code
    assert not [name for name, _ in evil.attributes if name.startswith("on")]
    assert "Evaluation set" in evil.text
