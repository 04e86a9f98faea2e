import msgspec
import pytest
from tests.support.builds import FAILED, KNOWN, UNKNOWN, build_of, candidate, facts, measured, ten

from ragstone.features.build.certificate.counting import certify
from ragstone.features.build.certificate.page import certificate_document, certified_blocks
from ragstone.kernel.dataset.certificate import Fit
from ragstone.kernel.document.blocks import Paragraph
from ragstone.kernel.document.markdown import render_markdown
from ragstone.kernel.runs.run import Certified


def plain(n, **fields):
    """Return a build of n accepted questions, half of each document, with nothing to say against it."""
    rows = [candidate(f"d{1 + place % 2}#{place}", f"Question {place}?") for place in range(n)]
    declared = msgspec.structs.replace(ten().declared, count=None, negatives=0)
    return build_of(
        fields.pop("rows", rows),
        **{"declared": declared, "failed": [], "split": [], "empty": [], "document_ids": ["d1", "d2"]}
        | fields,
    )


def test_nothing_is_said_where_there_is_nothing_to_say():
    certificate = certify(plain(30))
    assert (certificate.cautions, certificate.remarks) == ([], [])


def test_what_is_said_of_the_ten(says):
    certificate = certify(ten())
    says([caution.partition(":")[0] for caution in certificate.cautions])
    says([remark.partition(":")[0] for remark in certificate.remarks])


def test_a_shortfall_tells_the_three_reasons_that_cost_most(says):
    [short, *_] = certify(ten()).cautions
    says(short)


def test_kinds_of_question_that_were_asked_for_by_number_are_named_where_there_are_fewer(says):
    rows = [candidate(f"d{1 + place % 2}#{place}", f"Question {place}?") for place in range(30)]
    tagged = [
        msgspec.structs.replace(
            row, question=msgspec.structs.replace(row.question, tags={"style": "negative"})
        )
        for row in rows[:2]
    ]

    def cautions(negatives, multi_hop):
        wanted = msgspec.structs.replace(ten().declared, count=None, negatives=negatives, multi_hop=multi_hop)
        return certify(plain(30, rows=[*tagged, *rows[2:]], declared=wanted)).cautions

    assert cautions(2, 0) == []
    says(cautions(3, 1))


def test_few_questions_say_how_uncertain_they_are(says):
    # 1.96 times the root of 0.25 / 16 is 0.245.
    says(certify(plain(16)).cautions)


@pytest.mark.parametrize(
    ("critics", "told"),
    [
        ([], "The critics were not measured on planted defects"),
        ([measured("filter", None, (0, 0), (0, 0))], "The critics were not measured on planted defects"),
        ([measured("filter", None, (4, 20), (4, 20))], "All critics together: no better than chance"),
        ([measured("filter", None, (15, 20), (4, 20))], "All critics together: catches 15 of 20"),
        ([measured("relevance", None, (4, 20), (4, 20))], "The critic relevance: no better than chance"),
    ],
)
def test_critics_that_are_not_to_be_trusted_are_named(critics, told):
    [caution] = certify(plain(30, critics=critics)).cautions
    assert caution.startswith(told)


@pytest.mark.parametrize("caught", [4, 15, 18])
def test_a_doubt_about_the_critics_is_said_once_among_what_to_know(caught):
    certificate = certify(plain(30, critics=[measured("filter", None, (caught, 20), (4, 20))]))
    document = certificate_document(certificate)
    warned = [
        block.words for block in document.blocks if isinstance(block, Paragraph) and block.tone == "warn"
    ]
    assert sum("catches" in words for words in [*warned, *certificate.cautions]) == (caught < 18)
    blocks = certified_blocks(Certified(certificate, Fit(n=30, n_certified=30, of=30, first=True)))
    report = render_markdown(msgspec.structs.replace(document, blocks=blocks))
    assert report.partition("Its critics, measured")[0].count("catches") == 1


def test_one_critic_that_is_only_partly_good_is_no_reason_for_doubt():
    critics = [measured("filter", None, (18, 20), (2, 20)), measured("relevance", None, (12, 20), (1, 20))]
    assert certify(plain(30, critics=critics)).cautions == []


def test_a_critic_tried_on_few_defects_is_no_reason_for_doubt_where_all_together_are_good(says):
    together, few = measured("filter", None, (18, 20), (2, 20)), measured("relevance", None, (3, 5), (1, 5))
    assert certify(plain(30, critics=[together, few])).cautions == []
    [caution] = certify(plain(30, critics=[few])).cautions
    says(caution)
    useless = measured("relevance", None, (1, 5), (1, 5))
    [caution] = certify(plain(30, critics=[together, useless])).cautions
    says(caution)


def test_no_critic_at_all_is_said(says):
    declared = msgspec.structs.replace(plain(1).declared, critics=[])
    [caution] = certify(plain(30, declared=declared, critics=[])).cautions
    says(caution)


@pytest.mark.parametrize(("n_asked", "where"), [(40, "cautions"), (41, "remarks")])
def test_calls_that_fail_are_grave_from_one_in_twenty_on(n_asked, where, says):
    certificate = certify(plain(30, failed=FAILED, n_asked=n_asked))
    told = msgspec.to_builtins(certificate)
    says(told[where])


@pytest.mark.parametrize(("n_lost", "where"), [(4, "cautions"), (3, "remarks")])
def test_another_language_is_grave_from_one_in_ten_on(n_lost, where):
    lost = [candidate(f"d1#{100 + n}", "Quoi?", lost="wrong_language") for n in range(n_lost)]
    certificate = certify(plain(30, rows=[*plain(30).candidates, *lost]))
    assert msgspec.to_builtins(certificate)[where][0].startswith(f"{n_lost} of {30 + n_lost} written were in")


def test_documents_that_no_question_is_about(says):
    names = [f"d{n}" for n in range(1, 6)]
    assert certify(plain(30, document_ids=names[:4])).cautions == []
    [caution] = certify(plain(30, document_ids=names)).cautions
    says(caution)
    assert certify(plain(30, document_ids=names, empty=["d5"])).cautions == []


def test_one_document_that_gives_too_much(says):
    rows = [
        msgspec.structs.replace(
            one,
            question=msgspec.structs.replace(
                one.question, document_ids=[f"x{place % 6 if place > 11 else 0}"]
            ),
        )
        for place, one in enumerate(plain(30).candidates)
    ]
    names = [f"x{n}" for n in range(6)]
    [caution] = certify(plain(30, rows=rows, document_ids=names)).cautions
    # The first twelve, and every sixth of the other eighteen.
    says(caution)
    assert certify(plain(30, rows=rows, document_ids=names[:5])).cautions == []  # of few, one gives much


@pytest.mark.parametrize(("n_known", "said"), [(6, True), (5, False)])
def test_questions_that_the_model_knows(n_known, said, says):
    rows = [
        msgspec.structs.replace(
            one, question=msgspec.structs.replace(one.question, tags=KNOWN if place < n_known else UNKNOWN)
        )
        for place, one in enumerate(plain(30).candidates)
    ]
    cautions = certify(plain(30, rows=rows)).cautions
    assert len(cautions) == said
    says(cautions)


def test_a_set_that_is_lost_in_the_head(says):
    rows = [candidate(f"d{1 + n % 2}#{n}", f"Q {n}?", span=(n % 9, n % 9 + 5)) for n in range(30)]
    [caution] = certify(plain(30, rows=rows)).cautions
    says(caution)


def of_facts(n_true, n_false, **fields):
    """Return a build of facts about one document of each."""
    told = ["true"] * n_true + ["false"] * n_false
    rows = [
        candidate(f"d{1 + n % 2}#{n}", f"Fact {n}.", fact, kind="true_false", tags={"fact": fact})
        for n, fact in enumerate(told)
    ]
    return plain(0, rows=rows, kind="facts", critics=[], **fields)


@pytest.mark.parametrize(
    ("n_true", "n_false", "said"),
    [
        (24, 12, None),
        (12, 24, None),
        (25, 12, "25 of 37 facts are true: always answering true is right on 68 %."),
        (12, 25, "25 of 37 facts are false: always answering false is right on 68 %."),
    ],
)
def test_true_and_false_facts_are_balanced(n_true, n_false, said):
    cautions = certify(of_facts(n_true, n_false)).cautions
    assert [caution.partition(" Read")[0] for caution in cautions] == ([said] if said else [])


def test_facts_that_are_all_true_are_said_to_be(says):
    certificate = certify(of_facts(30, 0))
    assert certificate.cautions == []
    says(certificate.remarks)


def test_a_number_of_facts_counts_the_true_ones(says):
    declared = msgspec.structs.replace(ten().declared, count=20)
    certificate = certify(of_facts(18, 18, declared=declared))
    assert certificate.funnel.n_short == 2
    says(certificate.cautions[0])
    assert certify(of_facts(20, 20, declared=declared)).funnel.n_short == 0


def test_facts_are_called_facts(says):
    says(certify(facts()).cautions[-1])
