"""Labelling over HTTP: blind, kept at once, refused where it does not fit, by role."""

import csv
import io
import json
import re

import msgspec
import pytest
from tests.support.golden import sentence_in
from tests.support.labelled_runs import HOSTILE, RATIONALE, SYSTEMS, write_run
from tests.support.served_project import project
from tests.support.texts import element
from tests.support.workbench import peopled

from ragstone.features.label._annotators import annotator_agreement
from ragstone.features.label.queue import read_queue
from ragstone.kernel.agreement.corrected import corrected_means
from ragstone.kernel.agreement.grading import report_cards
from ragstone.kernel.agreement.sequential import sequential_agreement
from ragstone.kernel.config import load_settings
from ragstone.kernel.document.numbers import interval, number
from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Answer, Judgement, Label
from ragstone.kernel.tables import read_rows, write_rows

__all__ = ["project"]  # its fixtures

CARD = "How far the judge agrees with people"
LABEL = "/workbench/label"
RUN = "0/mine"
SCRIPT = {"Accept": "application/json"}


@pytest.fixture
def run(project):
    (project / "runs" / "mine").mkdir()
    write_run(project / "runs" / "mine")
    return project


@pytest.fixture
def people(run):
    with peopled(load_settings(run / "ragstone.toml")) as all_of_them:
        yield all_of_them


@pytest.fixture
def olga(people):
    return people.person("olga", "owner")


def made(client, **given):
    form = {"name": "first", "run": RUN, "judge": "containment|correctness", "by": "stratified", "n": 10}
    reply = client.post(f"{LABEL}/new", json=form | given, headers=SCRIPT)
    assert reply.status_code == 200, reply.text
    return reply.json()["go"].split("/")[-2]


def mark(client, place, kind="label", *, annotator, queue="first", **given):
    body = {"place": place, "kind": kind, "annotator": annotator} | given
    return client.post(f"{LABEL}/{queue}/marks", json=body, headers=SCRIPT)


def labels_of(project, queue="first"):
    path = project / "labels" / f"{queue}.jsonl"
    return [*read_rows(path, Label)] if path.exists() and path.stat().st_size else []


def queue_of(project, name="first"):
    return read_queue(project / ".ragstone" / "workbench" / "queues", name)


def test_a_label_is_a_row_of_the_file_at_once(run, people, olga):
    made(olga)
    assert mark(olga, 3, annotator="olga", score=1, comment=" sure ").json() == {"saved": True}
    [row] = labels_of(run)
    item = queue_of(run).items[3]
    assert (row.question_id, row.system, row.metric) == (item.question_id, item.system, "correctness")
    assert (row.score, row.annotator, row.rationale) == (1.0, "olga", "sure")
    assert row.metadata["queue"] == "first"
    assert "inclusion" not in row.metadata


def test_sent_twice_it_is_kept_once_and_the_last_of_several_counts(run, people, olga):
    made(olga)
    for score in (1, 1, 0):
        mark(olga, 0, annotator="olga", score=score)
    assert [row.score for row in labels_of(run)] == [0.0]


def test_withdrawn_and_skipped_items_have_no_label_and_a_label_ends_a_skip(run, people, olga):
    made(olga)
    mark(olga, 0, annotator="olga", score=1)
    mark(olga, 1, annotator="olga", score=1)
    mark(olga, 0, "withdraw", annotator="olga")
    mark(olga, 1, "skip", annotator="olga", comment="cannot tell")
    assert labels_of(run) == []
    assert olga.get(f"{LABEL}/first/mine").json()["given"] == {
        "1": {"score": None, "comment": "cannot tell", "skipped": True}
    }
    mark(olga, 1, annotator="olga", score=0)
    assert [row.score for row in labels_of(run)] == [0.0]
    assert olga.get(f"{LABEL}/first/mine").json()["given"] == {
        "1": {"score": 0.0, "comment": None, "skipped": False}
    }


def test_two_annotators_on_one_item_both_count(run, people, olga):
    made(olga, annotators="ann, bo", overlap=1.0)
    for who, score in (("ann", 1), ("bo", 0)):
        assert mark(people.person(who, "annotator"), 0, annotator=who, score=score).status_code == 200
    assert {(row.annotator, row.score) for row in labels_of(run)} == {("ann", 1.0), ("bo", 0.0)}


@pytest.mark.parametrize(
    ("options", "words"),
    [({}, "yet"), ({"annotators": "ann, bo"}, ""), ({"annotators": "ann, bo", "overlap": 1.0}, "yet")],
)
def test_only_a_queue_whose_answers_are_dealt_out_once_is_without_overlap(run, olga, options, words):
    made(olga, **options)
    assert f"two people{words and ' '}{words}" in (shown := olga.get(f"{LABEL}/first/progress").text)
    assert ("made without overlap" in shown) == (not words)


def test_labelling_is_blind(run, people, olga):
    made(olga, annotators="ann, bo", overlap=1.0, by="random")
    ann, bo = people.person("ann", "annotator"), people.person("bo", "annotator")
    mark(bo, 0, annotator="bo", score=1, comment="bo was here")
    pages = [ann.get(f"{LABEL}/first"), ann.get(f"{LABEL}/first/mine"), ann.get(f"{LABEL}/first/progress")]
    pages += [ann.get(f"{LABEL}/first/items/{place}") for place in range(10)]
    pages += [ann.get(f"{LABEL}/first/items/{place}/text") for place in range(10)]
    pages += [mark(ann, 0, annotator="ann", score=1), ann.get(LABEL)]
    for reply in pages:
        assert reply.status_code == 200
        for hidden in (*SYSTEMS, RATIONALE, "-id", "hidden-c", "bo was here", "containment"):
            assert hidden not in reply.text, (str(reply.url), hidden)
        if not str(reply.url).endswith("/progress"):  # which says who has labelled how many, and not what
            assert ">bo<" not in reply.text
            assert '"bo"' not in reply.text
    shown = msgspec.json.decode(pages[3].content)
    told = {"place", "question", "answer", "error", "references", "contexts", "given", "turns", "is_cut"}
    assert set(shown) == told


def test_systems_and_means_are_shown_when_ones_own_items_are_done(run, people, olga):
    made(olga, n=3)
    ann = people.person("ann", "annotator")
    for place in range(3):
        assert "blind to systems" in ann.get(f"{LABEL}/first/progress").text
        mark(ann, place, annotator="ann", score=1)
    assert SYSTEMS[0] in ann.get(f"{LABEL}/first/progress").text
    assert "blind to systems" not in olga.get(f"{LABEL}/first/progress").text


def test_supporting_sentences_and_evidence_are_marked(run, people, olga):
    made(olga)
    shown = olga.get(f"{LABEL}/first/items/0").json()
    kinds = {part["kind"]: part["text"] for part in shown["contexts"][0] if part["kind"]}
    assert kinds["evidence"] == "The ground is tilled in autumn."
    assert "tractor" in kinds["answer"]
    whole = "".join(part["text"] for part in shown["contexts"][0])
    assert whole.endswith(HOSTILE)


@pytest.mark.parametrize(("reference", "n"), [("hidden", 0), ("folded", 1), ("shown", 1)])
def test_the_right_answer_is_sent_only_where_the_queue_shows_it(run, people, olga, reference, n):
    made(olga, reference=reference)
    assert len(olga.get(f"{LABEL}/first/items/0").json()["references"]) == n
    assert ("Right answer 1" in olga.get(f"{LABEL}/first").text) is False


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"score": 2}, "2 is not on the scale of this queue (0, 1): nothing was saved"),
        ({"score": 0.5}, "0.5 is not on the scale"),
        ({}, "has no score"),
        ({"score": 1, "comment": "x" * 4001}, "the limit is 4,000"),
        ({"place": 10, "score": 1}, "has no item 11"),
        ({"place": -1, "score": 1}, "has no item 0"),
    ],
)
def test_what_does_not_fit_is_refused_in_words_and_nothing_is_kept(run, people, olga, given, words):
    made(olga)
    reply = mark(olga, **({"place": 0, "annotator": "olga"} | given))
    assert reply.status_code == 422
    assert words in reply.json()["detail"]
    assert labels_of(run) == []


def test_items_of_another_annotator_are_refused(run, people, olga):
    made(olga, annotators="ann, bo")
    ann = people.person("ann", "annotator")
    mine = ann.get(f"{LABEL}/first/mine").json()["places"]
    other = next(place for place in range(10) if place not in mine)
    assert len(mine) == 5
    reply = mark(ann, other, annotator="ann", score=1)
    assert (reply.status_code, "for another annotator" in reply.json()["detail"]) == (422, True)
    assert ann.get(f"{LABEL}/first/items/{other}", headers=SCRIPT).status_code == 422
    assert olga.get(f"{LABEL}/first/mine").json()["places"] == []


def test_a_label_that_arrives_after_somebody_else_has_logged_in_is_not_theirs(run, people, olga, says):
    made(olga)
    reply = mark(olga, 0, annotator="ann", score=1)
    assert reply.status_code == 409
    says(reply.json()["detail"])
    assert labels_of(run) == []


def test_readers_see_progress_and_nothing_else(run, people, olga):
    made(olga)
    rita = people.person("rita", "reader")
    assert rita.get(f"{LABEL}/first/progress").status_code == 200
    assert rita.get(LABEL).status_code == 200
    for path in ("first", "first/mine", "first/items/0", "first/adjudicate", "first/export/csv", "new"):
        assert rita.get(f"{LABEL}/{path}").status_code == 403, path
    assert mark(rita, 0, annotator="rita", score=1).status_code == 403
    assert labels_of(run) == []


def test_annotators_label_and_owners_make_queues_and_settle(run, people, olga):
    made(olga)
    ann = people.person("ann", "annotator")
    assert ann.get(f"{LABEL}/first").status_code == 200
    for path in ("new", "first/adjudicate", "first/export/jsonl"):
        assert ann.get(f"{LABEL}/{path}").status_code == 403, path
    for path in ("new", "first/decide", "first/import"):
        body = (
            {"place": 0, "score": 1}
            if path.endswith("decide")
            else {"file": "x", "text": "", "annotator": ""}
        )
        if path == "new":
            body = {"name": "x", "run": RUN, "judge": "containment|correctness", "by": "random", "n": 3}
        assert ann.post(f"{LABEL}/{path}", json=body, headers=SCRIPT).status_code == 403, path


@pytest.mark.long
@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"name": "first"}, "a queue never changes"),
        ({"name": "../x"}, "cannot be the name"),
        ({"name": "new"}, "cannot be called"),
        ({"by": "luck"}, "not a way to choose"),
        ({"n": 0}, "give 1 or more"),
        ({"scale": "wide"}, "is not a scale"),
        ({"scale": "5-1"}, "a scale of 5 to 1"),
        ({"overlap": 0.5}, "at least two annotators"),
        ({"run": "0/gone"}, "no run"),
        ({"run": "0/../x"}, "no run"),
        ({"judge": "x|correctness"}, "no judgement is by judge"),
        ({"by": "ppi"}, "Label at least 20 answers"),
        ({"stratum": "colour"}, "no answer has a tag"),
    ],
)
def test_a_queue_that_cannot_be_made_is_told(run, people, olga, given, words):
    made(olga)
    form = {"name": "second", "run": RUN, "judge": "containment|correctness", "by": "random", "n": 5} | given
    if "stratum" in given:
        form["by"] = "stratified"
    reply = olga.post(f"{LABEL}/new", json=form, headers=SCRIPT)
    assert reply.status_code in (404, 422)
    assert words in reply.json()["detail"]


def test_the_form_offers_what_the_run_was_judged_for(run, people, olga):
    first = olga.get(f"{LABEL}/new").text
    assert 'value="0/mine"' in first
    page = olga.get(f"{LABEL}/new?run=0/mine").text
    assert 'value="containment|correctness"' in page
    assert 'name="name" value="mine"' in page
    made(olga, name="mine")
    assert 'name="name" value="mine-2"' in olga.get(f"{LABEL}/new?run=0/mine").text


def test_instructions_and_a_scale_of_numbers(run, people, olga, says):
    made(olga, scale="0-100", instructions=f"Mind the details {HOSTILE}")
    page = olga.get(f"{LABEL}/first").text
    says(element(page, "Mind the details"))
    assert HOSTILE not in page
    says(element(page, "Score from"))
    assert mark(olga, 0, annotator="olga", score=62.5).status_code == 200
    assert mark(olga, 0, annotator="olga", score=101).status_code == 422


def disagreeing(project, people, olga):
    """Two annotators on all of ten items; they differ on the first three."""
    made(olga, annotators="ann, bo", overlap=1.0)
    for who in ("ann", "bo"):
        client = people.person(who, "annotator")
        for place in range(10):
            score = (place + (who == "bo" and place < 3)) % 2
            mark(
                client,
                place,
                annotator=who,
                score=score,
                comment=f"{who} says {HOSTILE}" if place == 0 else None,
            )


def test_kappa_on_the_page_is_that_of_the_agreement(run, people, olga, says):
    disagreeing(run, people, olga)
    page = olga.get(f"{LABEL}/first/progress").text
    [pair] = annotator_agreement(labels_of(run), "correctness", [0, 1]).pairs
    assert f"<b>{number(pair.kappa.value)}</b>" in page
    assert interval(pair.kappa) in page
    says(element(page, "they differ"))


def test_differences_hide_names_until_they_are_settled_and_the_decision_counts(run, people, olga, says):
    disagreeing(run, people, olga)
    page = olga.get(f"{LABEL}/first/adjudicate").text
    says(element(page, "to settle"))
    for name in ("ann<", "bo<", '"ann"', *SYSTEMS, RATIONALE):
        assert name not in page.replace("bo says", "").replace("ann says", "")
    assert HOSTILE not in page
    reply = olga.post(
        f"{LABEL}/first/decide", json={"place": 0, "score": 1, "comment": "read it again"}, headers=SCRIPT
    )
    assert sorted(reply.json()["annotators"]) == ["ann", "bo"]
    after = olga.get(f"{LABEL}/first/adjudicate").text
    says(element(after, "to settle"))
    assert "adjudicator olga" in after
    item = queue_of(run).items[0]
    rows = [row for row in labels_of(run) if (row.question_id, row.system) == (item.question_id, item.system)]
    assert [row.annotator for row in rows] == ["ann", "bo", "adjudicator olga"]
    judgements = [*read_rows(run / "runs" / "mine" / "judgements.jsonl", Judgement)]
    [card] = report_cards(judgements, labels_of(run), resamples=20)
    assert (card.n, card.n_tied) == (8, 2)
    assert "queue made" in [line["action"] for line in people.log()]
    assert "difference settled" in [line["action"] for line in people.log()]


def test_what_nobody_differs_on_cannot_be_settled(run, people, olga):
    disagreeing(run, people, olga)
    for place, score, words in (
        (5, 1, "no longer has differing labels"),
        (99, 1, "no longer has differing labels"),
        (0, 7, "not on the scale"),
    ):
        reply = olga.post(f"{LABEL}/first/decide", json={"place": place, "score": score}, headers=SCRIPT)
        assert (reply.status_code, words in reply.json()["detail"]) == (422, True)


def test_the_interval_on_the_page_is_that_of_the_corrected_mean(run, people, olga, says):
    made(olga, n=50)
    for place in range(50):
        mark(olga, place, annotator="olga", score=float(place % 4 != 0))
    page = olga.get(f"{LABEL}/first/progress?within=0.2").text
    judgements = [*read_rows(run / "runs" / "mine" / "judgements.jsonl", Judgement)]
    means = corrected_means(judgements, labels_of(run), resamples=20)
    assert [mean.system for mean in means] == [*SYSTEMS]
    for mean in means:
        assert number(mean.corrected.value) in page
        assert interval(mean.corrected) in page
    says(element(page, "± 0.2"))
    assert "reached" in page


def test_the_page_ends_with_the_judges_card_of_these_labels(run, people, olga):
    made(olga, n=50)
    assert CARD not in olga.get(f"{LABEL}/first/progress").text
    for place in range(50):
        mark(olga, place, annotator="olga", score=float(place % 4 != 0))
    judgements = [*read_rows(run / "runs" / "mine" / "judgements.jsonl", Judgement)]
    [card] = report_cards(judgements, labels_of(run), resamples=20)
    page = olga.get(f"{LABEL}/first/progress").text
    told = page[page.index(CARD) :]
    assert number(card.agreement["exact agreement"].value) in told


def test_while_labels_come_in_the_page_shows_the_interval_for_every_look(run, people, olga, says):
    made(olga, n=50)
    for place in range(30):
        mark(olga, place, annotator="olga", score=float(place % 4 != 0))
    judgements = [*read_rows(run / "runs" / "mine" / "judgements.jsonl", Judgement)]
    [look] = sequential_agreement(judgements, labels_of(run))
    page = olga.get(f"{LABEL}/first/progress").text
    told = element(page, "holds at every look")
    says(told)
    says(element(page, "appears here once"))
    assert f"{look.value:.2f}".replace("-", "−") in told
    assert CARD not in page  # its intervals are for one look at the end
    barred = olga.get(f"{LABEL}/first/progress?trust=0.9").text
    says(element(barred, "Labelling may stop"))
    assert "Labelling may stop" not in page


def test_the_card_comes_when_each_answer_is_labelled_or_skipped(run, people, olga, says):
    made(olga, n=12)
    for place in range(12):
        mark(olga, place, "skip" if place == 5 else "label", annotator="olga", score=float(place % 3 != 0))
        page = olga.get(f"{LABEL}/first/progress").text
        assert (CARD in page) == (place == 11)
    says(element(page, "Done:"))


def test_a_run_that_is_labelled_whole_shows_what_people_gave(run, people, olga):
    n = sum(1 for _ in read_rows(run / "runs" / "mine" / "answers.jsonl", Answer))
    made(olga, n=n)
    for place in range(n):
        mark(olga, place, annotator="olga", score=float(place % 4 != 0))
    page = olga.get(f"{LABEL}/first/progress").text
    assert "their exact mean" in page
    for system in SYSTEMS:
        scores = [row.score for row in labels_of(run) if row.system == system]
        told = page[page.index("people gave") :]
        assert number(sum(scores) / len(scores)) in told[told.index(system) :][:200]


def test_without_its_run_what_people_gave_is_still_told(run, people, olga, says):
    made(olga)
    mark(olga, 0, annotator="olga", score=1)
    (run / "runs" / "mine").rename(run / "runs" / "other")
    page = olga.get(f"{LABEL}/first/progress").text
    says(element(page, "labels only"))


def test_without_its_run_the_progress_says_so_and_labelling_goes_on(run, people, olga, says):
    made(olga)
    (run / "runs" / "mine").rename(run / "runs" / "other")
    assert mark(olga, 0, annotator="olga", score=1).status_code == 200
    says(sentence_in(olga.get(f"{LABEL}/first/progress").text, "There is no"))
    assert olga.get(f"{LABEL}/first/items/1").status_code == 200


@pytest.mark.long
def test_unequal_chances_go_with_the_labels(run, people, olga):
    made(olga, n=80)
    for place in range(80):
        item = queue_of(run).items[place]
        mark(olga, place, annotator="olga", score=float(int(item.question_id[1:-3]) % 4 != 0))
    made(olga, name="next", by="ppi", n=20)
    mark(olga, 0, annotator="olga", score=1, queue="next")
    [row] = labels_of(run, "next")
    assert row.metadata["inclusion"] == queue_of(run, "next").items[0].inclusion
    assert 0 < row.metadata["inclusion"] < 1


@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet"])
def test_what_is_exported_can_be_read_by_ragstone(run, people, olga, form, tmp_path):
    made(olga)
    mark(olga, 0, annotator="olga", score=1, comment="yes")
    mark(olga, 1, annotator="olga", score=0)
    reply = olga.get(f"{LABEL}/first/export/{form}")
    assert f'filename="first-labels.{form}"' in reply.headers["content-disposition"]
    path = tmp_path / f"x.{form}"
    path.write_bytes(reply.content)
    exported = list(read_rows(path, Label))
    assert [(row.metadata or {})["scale"] for row in exported] == ["0 to 1"] * 2
    back = [
        (row.question_id, row.system, row.score, row.annotator, row.rationale or None) for row in exported
    ]
    assert back == [(r.question_id, r.system, r.score, r.annotator, r.rationale) for r in labels_of(run)]
    assert olga.get(f"{LABEL}/first/export/xlsx").status_code == 404


def test_labels_of_a_spreadsheet_are_taken_in_all_or_none(run, people, olga, says):
    made(olga)
    items = queue_of(run).items
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["question_id", "system", "score", "annotator"])
    for item in items[:4]:
        writer.writerow([item.question_id, item.system, 1, "carla"])
    good = {"file": "them.csv", "text": out.getvalue(), "annotator": "x"}
    assert olga.post(f"{LABEL}/first/import", json=good, headers=SCRIPT).json() == {"n_labels": 4, "n_new": 4}
    assert olga.post(f"{LABEL}/first/import", json=good, headers=SCRIPT).json() == {"n_labels": 4, "n_new": 0}
    writer.writerow([items[4].question_id, items[4].system, 9, "carla"])
    bad = {"file": "them.csv", "text": out.getvalue(), "annotator": "x"}
    reply = olga.post(f"{LABEL}/first/import", json=bad, headers=SCRIPT)
    assert reply.status_code == 422
    says(reply.json()["detail"])
    assert {row.annotator for row in labels_of(run)} == {"carla"}
    assert len(labels_of(run)) == 4
    broken = {"file": "them.jsonl", "text": "{", "annotator": "x"}
    told = olga.post(f"{LABEL}/first/import", json=broken, headers=SCRIPT).json()["detail"]
    assert "them.jsonl:1" in told


@pytest.mark.parametrize(
    "name", ["them.\0csv", "them.csv\0", "x." + "y" * 300, "them", "", "../../x.jsonl/..", "x.docx"]
)
def test_a_file_of_another_kind_is_told(run, people, olga, name, says):
    made(olga)
    file = {"file": name, "text": "question_id,system,score\n", "annotator": "x"}
    reply = olga.post(f"{LABEL}/first/import", json=file, headers=SCRIPT)
    assert reply.status_code == 422
    says(reply.json()["detail"])


def test_a_queue_that_is_not_there_and_one_that_is_broken_are_told(run, people, olga, says):
    says(olga.get(f"{LABEL}/none/mine", headers=SCRIPT).json()["detail"])
    made(olga)
    folder = run / ".ragstone" / "workbench" / "queues"
    (folder / "broken.json").write_text("{")
    page = olga.get(LABEL).text
    says(element(page, "broken.json"))
    assert ">first<" in page


def test_no_page_lets_texts_of_the_run_through(run, people, olga):
    made(olga, annotators="olga, ann", overlap=1.0, instructions=HOSTILE)
    for client, who, score in ((olga, "olga", 1), (people.person("ann", "annotator"), "ann", 0)):
        mark(client, 0, annotator=who, score=score, comment=HOSTILE)
    for path in ("", "/new", "/new?run=0/mine", "/first", "/first/progress", "/first/adjudicate"):
        reply = olga.get(f"{LABEL}{path}")
        assert reply.status_code == 200
        assert "<script>alert" not in reply.text
        assert "<img src=x" not in reply.text


def test_a_label_that_no_file_takes_now_is_no_refusal_so_the_browser_keeps_it(run, people, olga, says):
    made(olga)
    (run / "labels" / "first.jsonl").mkdir(parents=True)  # nothing can be written there, nor read
    for kind in ("label", "skip", "withdraw"):
        reply = mark(olga, 0, kind, annotator="olga", score=1)
        assert reply.status_code == 503
        says(reply.text)
    assert mark(olga, 0, annotator="olga", score=7).status_code == 422  # that none of these would ever take
    (run / "labels" / "first.jsonl").rmdir()
    assert mark(olga, 0, annotator="olga", score=1).json() == {"saved": True}


@pytest.mark.parametrize("break_it", ["by hand", "no file"])
def test_labels_that_cannot_be_read_are_told_beside_the_other_queues(run, people, olga, break_it):
    made(olga)
    made(olga, name="second")
    mark(olga, 0, annotator="olga", score=1)
    path = run / "labels" / "first.jsonl"
    if break_it == "by hand":
        path.write_bytes(path.read_bytes() + b"{broken\n")
    else:
        path.unlink()
        path.mkdir()
    listed = olga.get(LABEL)
    assert listed.status_code == 200
    assert ("Correct the line" in listed.text) or ("could not be read" in listed.text)
    assert f'href="{LABEL}/second"' in listed.text
    assert olga.get(f"{LABEL}/first/progress").status_code == 422


def test_a_queue_does_not_take_the_name_of_labels_that_are_there(run, people, olga):
    (run / "labels").mkdir(exist_ok=True)
    (run / "labels" / "mine.jsonl").write_text("")
    assert 'name="name" value="mine-2"' in olga.get(f"{LABEL}/new?run={RUN}").text
    form = {"name": "mine", "run": RUN, "judge": "containment|correctness", "by": "random", "n": 3}
    reply = olga.post(f"{LABEL}/new", json=form, headers=SCRIPT)
    assert (reply.status_code, "another name" in reply.text) == (422, True)


def test_a_seed_below_0_is_told(run, people, olga, says):
    form = {"name": "a", "run": RUN, "judge": "containment|correctness", "by": "random", "n": 3, "seed": -1}
    reply = olga.post(f"{LABEL}/new", json=form, headers=SCRIPT)
    assert reply.status_code == 422
    says(reply.text)


HARD = (
    "=cmd|' /C calc'!A0",
    "+1+A1",
    "-2+A1",
    "@SUM(1)",
    "\t=1",
    "\r=1",
    "a\nb",
    "a\r\nb",
    'say "x", y',
    "'=x",
    "''=x",
    "é😀",
)


def test_labels_as_csv_hold_no_formula_and_are_read_back_as_they_were(tmp_path):
    rows = [
        Label(question_id=text, system=text, metric="m", score=1, annotator=text, rationale=text)
        for text in HARD
    ]
    path = tmp_path / "labels.csv"
    write_rows(path, rows, Label)
    assert [*read_rows(path, Label)] == rows
    cells = [cell for row in csv.reader(io.StringIO(path.read_bytes().decode(), newline="")) for cell in row]
    assert [cell for cell in cells if cell[:1] in tuple("=+-@\t\r")] == []


def change(client, text, queue="first"):
    return client.post(f"{LABEL}/{queue}/instructions", json={"instructions": text}, headers=SCRIPT)


def test_changed_instructions_are_a_version_and_earlier_labels_keep_theirs(run, people, olga, says):
    made(olga, n=6, instructions="Grade the facts.")
    for place in range(3):
        mark(olga, place, annotator="olga", score=1)
    [before] = {row.metadata["policy"] for row in labels_of(run)}
    changed = "Grade the facts and the source."
    assert change(olga, changed).json() == {"go": f"{LABEL}/first/progress"}
    page = olga.get(f"{LABEL}/first/progress").text
    says(element(page, "3 labels were given"))
    says(element(page, "0 of 6"))
    assert olga.get(f"{LABEL}/first/mine").json()["given"] == {}  # nor is the earlier grade shown
    item = olga.get(f"{LABEL}/first").text
    says(element(item, "come up again"))
    assert changed in item
    mark(olga, 0, annotator="olga", score=0)
    rows = labels_of(run)
    assert [(row.score, row.metadata["policy"] == before) for row in rows] == [
        (1, True),
        (1, True),
        (1, True),
        (0, False),
    ]
    says(element(olga.get(f"{LABEL}/first/progress").text, "2 labels were given"))
    mark(olga, 0, "withdraw", annotator="olga")
    assert labels_of(run) == rows[:3]
    assert [line["action"] for line in people.log()].count("instructions changed") == 1


def test_two_people_at_once_label_by_the_text_that_each_has_read(run, people, olga, says):
    made(olga, n=6, annotators="ann, bo", overlap=1.0, instructions="One.")
    ann, bo = people.person("ann", "annotator"), people.person("bo", "annotator")
    one = queue_of(run).policy  # what ann's page says until she loads it again
    assert f'data-policy="{one}"' in ann.get(f"{LABEL}/first").text
    change(olga, "Two.")
    assert f'data-policy="{one}"' not in bo.get(f"{LABEL}/first").text
    assert mark(bo, 0, annotator="bo", score=0).json() == {"saved": True}
    assert mark(ann, 0, annotator="ann", score=1, policy=one).json() == {"saved": True, "changed": True}
    kept = {row.annotator: row.metadata["policy"] for row in labels_of(run)}
    assert kept["ann"] == one != kept["bo"]
    page = olga.get(f"{LABEL}/first/progress").text
    says(element(page, "labels by two"))
    assert "Differences (0)" in page
    reply = mark(ann, 1, annotator="ann", score=1, policy="abcdef12")
    assert (reply.status_code, "no instructions &#39;abcdef12" in reply.text or "abcdef12" in reply.text) == (
        422,
        True,
    )
    assert len(labels_of(run)) == 2


def test_labels_from_before_policies_are_of_the_text_that_the_queue_was_made_with(run, people, olga, says):
    made(olga, n=6, instructions="One.")
    mark(olga, 0, annotator="olga", score=1)
    path = run / "labels" / "first.jsonl"
    [row] = labels_of(run)
    bare = {name: value for name, value in row.metadata.items() if name != "policy"}
    write_rows(path, [msgspec.structs.replace(row, metadata=bare)], Label, force=True)
    assert "1 label" in olga.get(f"{LABEL}/first/progress").text
    assert "earlier" not in olga.get(f"{LABEL}/first/progress").text
    assert list(olga.get(f"{LABEL}/first/mine").json()["given"]) == ["0"]
    mark(olga, 0, annotator="olga", score=0)
    assert [(row.score, row.metadata["policy"]) for row in labels_of(run)] == [(0, queue_of(run).policy)]
    change(olga, "Two.")
    says(element(olga.get(f"{LABEL}/first/progress").text, "1 label was"))


def test_versions_are_listed_with_their_labels_exported_and_refused_to_others(run, people, olga, says):
    made(olga, n=6, instructions=f"One. {HOSTILE}")
    mark(olga, 0, annotator="olga", score=1)
    change(olga, "Two.")
    page = olga.get(f"{LABEL}/first/instructions").text
    assert "<img src=x" not in page
    newest, oldest = page.index("Version 2, in use"), page.index("Version 1")
    assert newest < oldest
    says(olga.get(f"{LABEL}/first/export/md").text)
    ann = people.person("ann", "annotator")
    assert ann.get(f"{LABEL}/first/instructions").status_code == 200
    assert change(ann, "Three.").status_code == 403
    for text, words in (("", "are empty"), ("x" * 100_000, "20,000"), ("a\x07b", "U+0007")):
        reply = change(olga, text)
        assert (reply.status_code, words in reply.json()["detail"]) == (422, True)
    assert "Version 3" not in olga.get(f"{LABEL}/first/instructions").text


def test_a_queue_with_unreadable_instructions_is_not_made(run, people, olga, says):
    form = {"name": "a", "run": RUN, "judge": "containment|correctness", "by": "random", "n": 3}
    reply = olga.post(f"{LABEL}/new", json=form | {"instructions": "x" * 100_000}, headers=SCRIPT)
    assert reply.status_code == 422
    says(reply.json()["detail"])


def test_exported_labels_keep_their_policy_and_imported_ones_claim_none(run, people, olga, tmp_path):
    made(olga, n=6, instructions="One.")
    mark(olga, 0, annotator="olga", score=1)
    change(olga, "Two.")
    mark(olga, 0, annotator="olga", score=0)
    text = olga.get(f"{LABEL}/first/export/csv").text
    (tmp_path / "x.csv").write_text(text)
    policies = [row.metadata["policy"] for row in read_rows(tmp_path / "x.csv", Label)]
    assert policies == [row.metadata["policy"] for row in labels_of(run)]
    assert len(set(policies)) == 2
    back = {"file": "x.csv", "text": text, "annotator": "x"}
    assert olga.post(f"{LABEL}/first/import", json=back, headers=SCRIPT).json() == {"n_labels": 2, "n_new": 0}
    item = queue_of(run).items[1]
    bare = f"question_id,system,score\n{item.question_id},{item.system},1\n"
    olga.post(f"{LABEL}/first/import", json={"file": "y.csv", "text": bare, "annotator": "x"}, headers=SCRIPT)
    assert "policy" not in labels_of(run)[-1].metadata


def test_a_new_queue_spares_only_answers_labelled_under_its_own_text(run, people, olga, says):
    made(olga, n=80, instructions="One.")
    for place in range(80):
        mark(olga, place, annotator="olga", score=1)
    form = {"name": "b", "run": RUN, "judge": "containment|correctness", "by": "random", "n": 3}
    reply = olga.post(f"{LABEL}/new", json=form | {"instructions": "One. "}, headers=SCRIPT)
    says(reply.json()["detail"])
    assert olga.post(f"{LABEL}/new", json=form | {"instructions": "Two."}, headers=SCRIPT).status_code == 200


def test_a_queue_of_two_systems_brings_both_answers_blind(run, people, olga, says):
    page = olga.get(f"{LABEL}/new?run={RUN}").text
    assert 'value="difference"' in page
    made(olga, by="difference", n=5, system_a=SYSTEMS[1], system_b=SYSTEMS[0], annotators="ann, bo")
    items = queue_of(run).items
    assert len(items) == 10
    assert all(a.question_id == b.question_id for a, b in zip(items[::2], items[1::2], strict=True))
    ann = people.person("ann", "annotator")
    mine = ann.get(f"{LABEL}/first/mine").json()["places"]
    assert [place // 2 for place in mine[::2]] == [place // 2 for place in mine[1::2]]
    for place in mine:
        shown = ann.get(f"{LABEL}/first/items/{place}").text
        assert not any(system in shown for system in SYSTEMS)
        mark(ann, place, annotator="ann", score=1)
    chances = {(row.question_id, row.metadata["inclusion"]) for row in labels_of(run)}
    assert len(chances) == len(mine) / 2
    says(element(olga.get(f"{LABEL}/first/progress").text, "both answers of"))
    form = {"name": "b", "run": RUN, "judge": "containment|correctness", "by": "difference", "n": 5}
    reply = olga.post(
        f"{LABEL}/new", json=form | {"system_a": SYSTEMS[0], "system_b": SYSTEMS[0]}, headers=SCRIPT
    )
    assert (reply.status_code, "nothing can differ" in reply.text) == (422, True)


def with_a_gap(project, client):
    """Forty labels, on ten of which the judge says right and people find the unit missing."""
    made(client, n=80, by="random", instructions="Grade the facts.")
    judged = {
        (row.question_id, row.system): row.score
        for row in read_rows(project / "runs" / "mine" / "judgements.jsonl", Judgement)
    }
    n_gap = 0
    for place, item in enumerate(queue_of(project).items):
        score = judged[item.question_id, item.system]
        is_gap = score == 1 and n_gap < 14 and place % 2 == 0
        n_gap += is_gap
        comment = f"unit missing {HOSTILE}" if is_gap else f"read twice {place}"
        mark(client, place, annotator="olga", score=0 if is_gap else score, comment=comment)


@pytest.mark.long
def test_a_gap_is_shown_its_rows_labelled_again_and_flips_counted(run, people, olga, says):
    with_a_gap(run, olga)
    page = olga.get(f"{LABEL}/first/gaps").text
    assert "<img src=x" not in page
    says(element(page, "Grades differ on"))
    says(element(page, "reasons where grades differ"))
    assert "unit" in element(page, "“")
    assert not any(system in page for system in SYSTEMS)
    form = {"name": "first-again", "instructions": "A missing unit is wrong.", "n": 10}
    reply = olga.post(f"{LABEL}/first/again", json=form, headers=SCRIPT)
    assert reply.json() == {"go": f"{LABEL}/first-again/progress"}
    says(element(olga.get(f"{LABEL}/first-again/progress").text, "labelled again yet"))
    assert queue_of(run, "first-again").annotators == ["olga"]
    for place in range(10):
        shown = olga.get(f"{LABEL}/first-again/items/{place}").json()
        assert (shown["given"], "missing" in str(shown)) == (None, False)  # blind to the first label
        mark(olga, place, annotator="olga", score=int(place < 6), queue="first-again")
    rows = labels_of(run, "first-again")
    assert all(row.metadata["again"] is True and "inclusion" not in row.metadata for row in rows)
    for name in ("first", "first-again"):
        page = olga.get(f"{LABEL}/{name}/progress").text
        says(element(page, "6 of 10"))
    assert "people would give" not in page
    assert CARD not in page
    reply = olga.post(
        f"{LABEL}/first/again",
        json=form | {"name": "same", "instructions": "Grade the facts."},
        headers=SCRIPT,
    )
    mark(olga, 0, annotator="olga", score=0, queue="same")
    says(element(olga.get(f"{LABEL}/first/progress").text, "the same text"))
    judgements = [*read_rows(run / "runs" / "mine" / "judgements.jsonl", Judgement)]
    with pytest.raises(DataError, match="not a sample"):
        report_cards(judgements, rows)
    # nor do these labels keep their answers from being drawn for another queue
    form = {"name": "b", "run": RUN, "judge": "containment|correctness", "by": "random", "n": 3}
    form["instructions"] = "A missing unit is wrong."
    assert olga.post(f"{LABEL}/new", json=form, headers=SCRIPT).status_code == 200


def test_without_a_gap_nothing_can_be_labelled_again(run, people, olga, says):
    made(olga, n=10, instructions="Grade the facts.")
    says(element(olga.get(f"{LABEL}/first/gaps").text, "no labels yet"))
    for place in range(10):
        mark(olga, place, annotator="olga", score=1, comment="yes")
    page = olga.get(f"{LABEL}/first/gaps").text
    says(element(page, "Grades differ on"))
    assert "of them again" not in page
    form = {"name": "x", "instructions": "Two.", "n": 10}
    says(olga.post(f"{LABEL}/first/again", json=form, headers=SCRIPT).json()["detail"])
    says(olga.post(f"{LABEL}/first/again", json=form | {"n": 0}, headers=SCRIPT).json()["detail"])
    ann = people.person("ann", "annotator")
    assert ann.get(f"{LABEL}/first/gaps").status_code == 403
    assert ann.post(f"{LABEL}/first/again", json=form, headers=SCRIPT).status_code == 403


@pytest.mark.long
def test_what_cannot_be_labelled_again_is_told(run, people, olga):
    with_a_gap(run, olga)
    for given, words in (
        ({"name": "first"}, "would be mixed"),
        ({"name": "new"}, "cannot be called"),
        ({"name": "../x"}, "cannot be the name"),
        ({"instructions": " "}, "are empty"),
        ({"instructions": "a\x00"}, "U+0000"),
    ):
        form = {"name": "again", "instructions": "Two.", "n": 10} | given
        reply = olga.post(f"{LABEL}/first/again", json=form, headers=SCRIPT)
        assert (reply.status_code, words in reply.json()["detail"]) == (422, True), given


def test_chosen_answers_are_a_queue_that_is_no_sample(olga, run, says):
    where = "containment < 0.5"
    form = olga.get(f"{LABEL}/new", params={"run": RUN, "where": where}).text
    left = int(re.search(r"the ([\d,]+) that the filter leaves", form)[1])
    assert 'name="by" value="chosen"' in form
    made(olga, by="chosen", where=where, n=left, name="lows")
    queue = read_queue(run / ".ragstone/workbench/queues", "lows")
    assert (queue.choice.by, queue.choice.where, len(queue.items), queue.is_sample) == (
        *("chosen", where, left),
        False,
    )
    assert {item.inclusion for item in queue.items} == {None}
    mark(olga, 0, annotator="olga", queue="lows", score=1)
    progress = olga.get(f"{LABEL}/lows/progress").text
    says(sentence_in(progress, "They are not a random"))
    assert "people would give" not in progress
    assert CARD not in progress
    (label,) = read_rows(run / "labels/lows.jsonl", Label)
    assert label.metadata["chosen"] == where
    # They are in no other draw, and agreement is not computed from them.
    made(olga, name="random", by="random", n=5)
    with pytest.raises(DataError) as mistake:
        list(report_cards(list(read_rows(run / "runs/mine/judgements.jsonl", Judgement)), [label]))
    says(str(mistake.value))
    for wrong in ("nothing < 1", "containment = 7"):
        reply = olga.post(
            f"{LABEL}/new",
            json={
                "name": "x",
                "run": RUN,
                "judge": "containment|correctness",
                "by": "chosen",
                "n": 3,
                "where": wrong,
            },
            headers=SCRIPT,
        )
        assert reply.status_code == 422


def test_a_draw_from_a_run_of_chosen_answers_is_no_sample(olga, run, says):
    summary = run / "runs/mine/summary.json"
    chosen = {"of": "all", "where": "containment < 0.5"}
    summary.write_text(json.dumps({"counts": {}, "metrics": [], "chosen": chosen}))
    made(olga, by="random", n=5, name="part")
    queue = read_queue(run / ".ragstone/workbench/queues", "part")
    assert (queue.choice.where, queue.is_sample) == ("containment < 0.5", False)
    mark(olga, 0, annotator="olga", queue="part", score=1)
    says(sentence_in(olga.get(f"{LABEL}/part/progress").text, "They are not a random"))
    (label,) = read_rows(run / "labels/part.jsonl", Label)
    assert label.metadata["chosen"] == "containment < 0.5"
    made(olga, by="chosen", where="containment = 0 or lang = en", n=1, name="twice")
    queue = read_queue(run / ".ragstone/workbench/queues", "twice")
    assert queue.choice.where == "(containment < 0.5) and (containment = 0 or lang = en)"


def done_by(client, queue="first"):
    return client.get(f"{LABEL}/{queue}/done", headers=SCRIPT).json()


def test_after_the_last_label_it_says_what_they_come_to(run, people, olga, says):
    made(olga, n=6, annotators="ann, bo", overlap=1.0)
    made(olga, name="second", n=2, annotators="ann")
    ann, bo = people.person("ann", "annotator"), people.person("bo", "annotator")
    for place in range(6):
        mark(ann, place, annotator="ann", score=place % 2)
    first = done_by(ann)
    assert first["lines"][0] == "Done: 6 labels."
    says(first["lines"][1])
    assert not any("kappa" in line for line in first["lines"])  # of the judge nothing before the end
    assert first["links"][-1] == ["Next queue: second", f"{LABEL}/second"]
    for place in range(6):
        mark(bo, place, annotator="bo", score=1)
    found = done_by(bo)
    assert found["lines"][0] == "Done: 6 labels."
    judged = [
        line for line in found["lines"] if line.startswith("containment: correctness compared with people")
    ]
    assert len(judged) == len(
        {
            row.model
            for row in read_rows(run / "runs" / "mine" / "judgements.jsonl", Judgement)
            if row.judge == "containment"
        }
    )
    agreed = annotator_agreement(labels_of(run), "correctness", [0, 1])
    says(found["lines"][-1])
    assert number(agreed.alpha["alpha"].value) in found["lines"][-1]
    (words, target), *others = found["links"]
    says(words)
    assert (target, others) == (f"{LABEL}/first/progress#card-1", [["All queues", LABEL]])
    assert 'id="card-1"' in bo.get(f"{LABEL}/first/progress").text


def test_what_is_hidden_while_labels_are_missing_stays_hidden_at_the_end(run, people, olga, says):
    made(olga, n=4, annotators="ann")
    ann = people.person("ann", "annotator")
    mark(ann, 0, annotator="ann", score=1)
    says("\n".join(done_by(ann)["lines"]))
    for place in (1, 2):
        mark(ann, place, annotator="ann", score=1)
    mark(ann, 3, "skip", annotator="ann")
    lines = done_by(ann)["lines"]
    assert len(lines) == 2
    says("\n".join(lines))
    assert people.person("rita", "reader").get(f"{LABEL}/first/done").status_code == 403


def test_a_queue_without_its_run_says_no_agreement(run, people, olga):
    made(olga, n=2, annotators="olga")
    for place in (0, 1):
        mark(olga, place, annotator="olga", score=1)
    (run / "runs" / "mine").rename(run / "gone")
    assert done_by(olga)["lines"] == ["Done: 2 labels."]


def test_a_new_queue_asks_for_three_things_first(run, olga, says):
    page = olga.get(f"{LABEL}/new?run={RUN}").text
    before = page.split("<details")[0]
    assert [name for name in ("run", "judge", "n", "overlap", "by") if f'name="{name}"' in before] == [
        "run",
        "judge",
        "n",
    ]
    assert "(ppi)" not in page
    says(sentence_in(page, "Share labelled by"))
