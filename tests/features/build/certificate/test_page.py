import io
import re
from collections import Counter
from pathlib import Path

import msgspec
import pytest
from rich.cells import cell_len
from rich.console import Console
from tests.features.report.test_page import EVIL, Page, without_style_and_script
from tests.support.builds import build_of, candidate, facts, measured, passage, ten
from tests.support.golden import check_golden, sentence_in
from tests.support.surfaces import shown as surface

from ragstone.features.build.certificate._rows import embed_candidates
from ragstone.features.build.certificate.counting import certify
from ragstone.features.build.certificate.page import (
    certificate_document,
    render_certificate,
    write_certificate,
)
from ragstone.features.build.certificate.wording import bars, next_steps, spent
from ragstone.kernel.config import BuildSection
from ragstone.kernel.dataset.candidate import Candidate, Loss
from ragstone.kernel.dataset.certificate import ReviewNumbers
from ragstone.kernel.document.screen import LINES, render_screen
from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Usage
from ragstone.kernel.runs.run import read_certificate
from ragstone.kernel.version import __version__


def page_of(built):
    return render_certificate(certify(built), built.candidates)


def shown(certificate, width=100):
    text = surface(certificate_document(certificate), width)
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def as_it_was(name, found):
    found = found.replace(f"Ragstone {__version__}", "Ragstone 0").replace(
        f"<dd>{__version__}</dd>", "<dd>0</dd>"
    )
    check_golden(f"certificate/{name}", found)


@pytest.mark.parametrize(("name", "built"), [("questions", ten()), ("facts", facts())])
def test_page_and_terminal_are_as_they_were(name, built):
    as_it_was(f"{name}.html", without_style_and_script(page_of(built)))
    as_it_was(f"{name}.txt", shown(certify(built)))


def test_the_files_are_written_together_and_read_back(tmp_path):
    certificate = certify(ten())
    paths = write_certificate(tmp_path, certificate, ten().candidates)
    assert [path.name for path in paths] == ["certificate.json", "certificate.html"]
    assert read_certificate(tmp_path) == read_certificate(paths[0]) == certificate
    before = [path.read_bytes() for path in paths]
    with pytest.raises(DataError, match="--force"):
        write_certificate(tmp_path, certificate, ten().candidates)
    write_certificate(tmp_path, certificate, ten().candidates, force=True)
    assert [path.read_bytes() for path in paths] == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["certificate.html", "certificate.json"]


def test_a_certificate_that_is_not_there_or_not_one_says_what_to_do(tmp_path, says):
    with pytest.raises(DataError) as error:
        read_certificate(tmp_path)
    says(error.value)
    (tmp_path / "certificate.json").write_text('{"kind": "x509"}')
    with pytest.raises(DataError) as error:
        read_certificate(tmp_path)
    says(error.value)


def test_page_names_nothing_outside_itself():
    html = page_of(ten())
    page = Page(html)
    links = [value or "" for name, value in page.attributes if name in ("href", "src", "action", "data")]
    assert all(link.startswith("#") or link == "data:," for link in links), links
    ids = {value for name, value in page.attributes if name == "id"}
    assert {link[1:] for link in links if link.startswith("#")} <= ids
    assert "@import" not in html
    assert "url(" not in html
    assert "default-src &#39;none&#39;;" in html
    assert "unsafe" not in html.partition("<style>")[0]


def evil_build(text):
    """Return a build with one text in every field that can hold it."""
    source = msgspec.structs.replace(passage("d1"), document_id=text, title=text, topic=text, lang=text)
    rows = []
    for lost in (None, "low_score"):
        one = candidate(
            f"d1#{lost}",
            text,
            text,
            span=(0, 4),
            scores={text: 4},
            lost=lost,
            detail=text,
            tags={"style": text, "level": text, "persona": text, text: text},
            metadata={"rationales": {text: text}, text: {text: text}, "closed_book": text},
        )
        question = msgspec.structs.replace(one.question, id=f"{text}{lost}", document_ids=[text], lang=text)
        rows.append(Candidate(question=question, passages=(source,), loss=one.loss))
    declared = BuildSection(audience=text, styles=[text], personas=[text], critics=[text])
    critics = [measured(text, kind, (1, 2), (0, 2)) for kind in (None, "trivial")]
    return build_of(
        rows, declared=declared, models={text: text}, document_ids=[text], critics=critics, passages=[source]
    )


@pytest.mark.parametrize("text", EVIL)
def test_text_from_outside_never_becomes_markup(text):
    harmless, evil = Page(page_of(evil_build("harmless"))), Page(page_of(evil_build(text)))
    without_code = Counter({"code": 99})  # backticks set a command
    assert evil.tags - without_code == harmless.tags - without_code
    assert not [name for name, _ in evil.attributes if name.startswith("on")]
    assert evil.embedded("index")["lines"][0]["question"] == text
    assert evil.embedded("details-0")[0]["rationales"] == {text: text}
    assert evil.embedded("passages")[0]["title"] == text
    shown(certify(evil_build(text)))


@pytest.mark.parametrize(
    "built",
    [
        build_of([]),
        build_of([], kind="facts"),
        build_of([], document_ids=[], empty=[], passages=[], failed=[], critics=[], n_asked=0),
        build_of([candidate("d1#1", "", lost="empty")], usage=Usage(calls=0), cost_usd=None),
        build_of([candidate("d1#1", "Q?")], critics=[measured("filter", None, (0, 0), (0, 0))]),
    ],
    ids=["nothing written", "no facts", "no documents", "nothing accepted", "critics tried on nothing"],
)
def test_empty_builds_have_a_page_and_a_screen(built):
    certificate = certify(built)
    page = Page(page_of(built))
    assert certificate.cautions[0] in page.text
    assert next_steps(certificate)
    assert "None" not in shown(certificate)


def test_the_terminal_shows_what_is_asked_first_and_fits_its_width():
    text = shown(certify(ten()), width=80)
    for said in (
        "4 questions from 2 of 4 documents",
        "2  a critic gave it less than the threshold",
        "Can the critics be trusted?",
        "catches 18 of 20 planted defects",
        "Before you trust this set",
        "Next",
    ):
        assert said in text
    assert max(map(cell_len, text.splitlines())) <= 80


def test_bars_go_down_to_what_was_accepted():
    lines = bars(certify(ten()))
    assert [(line.n, line.n_lost) for line in lines] == [
        (12, 0),  # asked for
        (10, 2),
        (8, 2),  # write
        (7, 1),  # check
        (5, 2),  # criticise; nothing was lost for being known
        (4, 1),  # count
        (4, 0),
    ]


def test_a_page_of_many_shows_some_of_each_reason_and_says_of_how_many(says):
    rows = [candidate(f"d1#{n}", f"Q{n}?", lost="duplicate" if n % 2 else None) for n in range(2600)]
    embedded = embed_candidates(rows, 4)
    assert (embedded.n_accepted, embedded.n_lost) == (1000, 200)
    ids = re.findall(r'"id":"([^"]+)"', embedded.index.decode())
    assert len(ids) == 1200
    assert ids[0] == "d1#0"
    assert ids == sorted(ids, key=lambda name: int(name.partition("#")[2]))
    assert int(ids[-1].partition("#")[2]) > 2580  # from first to last
    page = Page(page_of(build_of(rows)))
    says(re.search(r"To keep the page small.*? last\.", page.text)[0])
    assert "To keep the page small" not in Page(page_of(ten())).text


def test_evidence_is_marked_in_code_points_of_its_passage():
    page = Page(page_of(ten()))
    [(number, [(start, end)])] = page.embedded("details-0")[4]["passages"]  # d2#1
    assert page.embedded("passages")[number]["text"][start:end] == "Wasser"
    later = candidate("d2#1", "Q?", of=passage("d2", 46), span=(38, 50))  # it begins in the passage before
    [(_, spans)] = Page(page_of(build_of([later]))).embedded("details-0")[0]["passages"]
    assert spans == [[0, 4]]


def test_what_tempts_is_marked_for_a_question_that_cannot_be_answered():
    page = Page(page_of(ten()))
    [(number, [(start, end)])] = page.embedded("details-0")[8]["passages"]  # d2#5
    assert page.embedded("passages")[number]["text"][start:end] == "Man sät ihn im April"


def test_each_critic_stands_under_the_kinds_of_defect_that_it_was_tried_on():
    critics = [
        measured("filter", None, (3, 4), (0, 4)),
        measured("filter", "wrong_answer", (1, 2), (0, 2)),
        measured("filter", "trivial", (2, 2), (0, 2)),
        measured("relevance", None, (2, 2), (0, 2)),
        measured("relevance", "trivial", (2, 2), (0, 2)),
    ]
    html = page_of(build_of([candidate("d1#1", "Q?")], critics=critics))
    table = html.partition("Caught of each kind")[2].partition("</table>")[0]
    cells = [
        re.sub(r"<br>.*|<[^>]*>|\s+$", "", cell)
        for cell in re.findall(r"<td[^>]*>(.*?)</td>", table, re.DOTALL)
    ]
    assert cells == ["", "1 of 2", "2 of 2", "–", "2 of 2"]


def test_what_is_unknown_is_said_to_be_unknown(says):
    says(spent(certify(build_of([], cost_usd=None))))
    says(spent(certify(build_of([], usage=Usage(calls=0), failed=[]))))
    failed = [Loss(reason="call_failed", detail="rate_limited: slow down")]
    unanswered = build_of([], usage=Usage(calls=0), failed=failed, n_asked=3)
    says(spent(certify(unanswered)))


@pytest.mark.parametrize(
    ("status", "said"),
    [
        ("unparsable", "in the requested format"),
        ("refused", "refuses"),
        ("over_budget", "raise it"),
        ("rate_limited", "`ragstone doctor`"),
        (None, "The model wrote no question"),
    ],
)
def test_where_nothing_was_written_there_is_advice(status, said):
    failed = [Loss(reason="call_failed", detail=f"{status}: x")] if status else []
    [step] = next_steps(certify(build_of([], failed=failed, n_asked=3)))
    assert said in step


def test_what_was_not_written_has_its_reason_among_what_was_lost(says):
    timeout = [Loss(reason="call_failed", detail="timeout: x")]
    for rows, failed in (([], []), ([candidate("d1#1", "Q?")], []), ([], timeout)):
        text = shown(certify(build_of(rows, failed=failed, n_asked=6)))
        says(sentence_in(text, "not written"))
    every = build_of([candidate("d1#1", "Q?")], failed=[], n_asked=1)
    assert "not written" not in shown(certify(every)).casefold()


def test_a_budget_that_ended_is_told_before_all_else(says):
    failed = [Loss(reason="call_failed", detail="over_budget: x")]
    rows = [candidate(f"d1#{n}", f"Q{n}?", lost="not_criticised") for n in range(30)]
    steps = next_steps(certify(build_of(rows, failed=failed, n_asked=31)))
    says(steps[0])
    says(steps[1])


def test_a_count_that_the_passages_cannot_give_has_advice(says):
    rows = [candidate(f"d1#{n}", f"Q{n}?") for n in range(3)]
    wanted = certify(build_of(rows, declared=BuildSection(count=40, per_document=3)))
    n_passages = wanted.funnel.n_passages
    says(next_steps(wanted)[0])
    in_reach = certify(build_of(rows, declared=BuildSection(count=3 * n_passages, per_document=3)))
    assert not any("--per-document" in step for step in next_steps(in_reach))


@pytest.mark.parametrize(
    ("lost", "said"),
    [
        ("mentions_context", 'Many questions refer to "the passage"'),
        ("known_by_heart", "build the fictional"),
    ],
)
def test_a_reason_that_costs_a_quarter_has_advice(lost, said):
    rows = [candidate(f"d1#{n}", f"Q{n}?", lost=lost if n < 2 else None) for n in range(8)]
    assert any(said in step for step in next_steps(certify(build_of(rows))))
    assert not any(said in step for step in next_steps(certify(build_of(rows[1:] + rows[2:]))))


def test_the_documentation_shows_what_the_terminal_shows():
    page = (Path(__file__).parents[4] / "docs" / "reference" / "certificate.md").read_text(encoding="utf-8")
    [shown_there] = re.findall(r"```text\n(.*?)```", page, re.DOTALL)
    assert shown(certify(ten())).startswith(shown_there)


def test_of_a_reviewed_set_one_screen_begins_with_what_people_said(says):
    review = ReviewNumbers(
        n=30,
        n_accepted=20,
        n_edited=3,
        n_rejected=5,
        n_undecided=2,
        n_look=1,
        n_rescued=0,
        n_moved=0,
        people={"Ann": 20, "Bo": 8},
        reasons={"other": 5},
        changed={"question": 3},
        critics=[],
    )
    built = certify(ten())
    for certificate in (built, msgspec.structs.replace(built, review=review)):
        console = Console(width=100, file=io.StringIO(), color_system=None)
        console.print(render_screen([certificate_document(certificate)], 100, LINES))
        says(console.file.getvalue().splitlines()[0])
