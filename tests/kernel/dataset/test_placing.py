"""Evidence of changed documents: found again where that is certain, told where it is not."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from ragstone.kernel.dataset.placing import SOURCES, place_evidence, remember_sources
from ragstone.kernel.records import Document, Evidence, Question, Ranking, RankingItem
from ragstone.kernel.retrieval.evaluate import evaluate_rankings

TEXT = (
    "Maize needs water in June. It is sown in April, when the soil has 8 degrees. "
    "Rye is sown in October. Barley is sown in April as well, but never in June."
)


def asked(words: str, start: int, *, name: str = "q", reference: str | None = None) -> Question:
    span = Evidence(document_id="d", start=start, end=start + len(words))
    return Question(id=name, question="When?", reference=reference, evidence=[span])


def remembered(words: str, *, nth: int = 0) -> Question:
    start = -1
    for _ in range(nth + 1):
        start = TEXT.index(words, start + 1)
    return remember_sources(asked(words, start), {"d": TEXT})


def starts(question: Question, text: str) -> list[int] | None:
    """Return where the evidence begins now, None where it is unplaced."""
    placed = place_evidence([question], [Document(id="d", text=text)])
    if placed.unplaced:
        assert placed.unplaced == {question.id}
        assert placed.questions == [question]
        return None
    return [span.start for span in placed.questions[0].evidence or ()]


def test_in_the_documents_that_it_was_made_from_nothing_moves_and_nothing_is_said():
    question = remembered("April", nth=1)
    placed = place_evidence([question], [Document(id="d", text=TEXT)])
    assert (placed.questions, placed.n_documents, placed.n_changed) == ([question], 1, 0)
    assert placed.notes() == []


def test_words_that_stand_twice_are_told_apart_by_what_stood_beside_them():
    first, second = TEXT.index("April"), TEXT.index("April", TEXT.index("April") + 1)
    assert starts(remembered("April"), f"News. {TEXT}") == [first + 6]
    assert starts(remembered("April", nth=1), f"News. {TEXT}") == [second + 6]
    # What stood before the second one is gone, what stood behind it is not.
    cut = TEXT.replace("Rye is sown in October. Barley is", "Spelt is")
    assert starts(remembered("April", nth=1), cut) == [cut.index("April as well")]


def test_short_words_without_anything_that_stood_beside_them_have_no_certain_place():
    assert starts(remembered("8"), "Of 8 fields none was sown.") is None


def test_long_words_are_known_again_without_what_stood_beside_them():
    words = "It is sown in April, when the soil has 8 degrees."
    assert starts(remembered(words), f"Wheat. {words} So is spelt.") == [7]


def test_evidence_that_has_changed_itself_has_no_place():
    assert starts(remembered("sown in April, when"), TEXT.replace("April", "early April")) is None


def test_of_evidence_that_is_its_whole_document_only_the_same_document_will_do():
    whole = remember_sources(asked(TEXT, 0), {"d": TEXT})
    assert starts(whole, TEXT) == [0]
    assert starts(whole, f"{TEXT} ") is None


def test_a_document_that_differs_elsewhere_counts_as_changed_though_the_evidence_stands_where_it_did(says):
    placed = place_evidence([remembered("8 degrees")], [Document(id="d", text=f"{TEXT} More.")])
    assert (placed.n_changed, placed.moved, placed.unplaced) == (1, frozenset(), frozenset())
    says(placed.notes())


def test_references_that_are_copied_tell_as_well_and_other_evidence_of_the_document_settles_ties():
    texts = ("June", "April", "8 degrees", "October")
    questions = [asked(one, TEXT.index(one), name=one, reference=one) for one in texts]
    changed = "x" * 300 + TEXT  # farther than NEAR
    placed = place_evidence(questions, [Document(id="d", text=changed)])
    # June and April stand twice each; 8 degrees and October once, and have moved by 300.
    assert [(q.evidence or [])[0].start for q in placed.questions] == [300 + TEXT.index(one) for one in texts]
    assert (placed.n_changed, placed.n_unknown, len(placed.moved)) == (1, 0, 4)
    alone = place_evidence(questions[:1], [Document(id="d", text=changed)])
    assert alone.unplaced == {"June"}


def test_near_its_old_place_one_of_several_is_taken_and_of_two_none():
    question = asked("June", TEXT.index("June"), reference="June")
    near, far = "x" * 30 + TEXT + "y" * 300, "June "
    assert starts(question, near + far) is None  # 21 + 30 and the end of the text are both within 200
    text = TEXT.replace("never in June", "never in " + "y" * 300 + "June")
    assert starts(question, "x" * 30 + text) == [30 + TEXT.index("June")]


def test_a_reference_in_other_words_says_nothing_of_the_evidence(says):
    question = asked("8 degrees", TEXT.index("8 degrees"), reference="eight")
    placed = place_evidence([question], [Document(id="d", text=f"News. {TEXT}")])
    assert (placed.n_unknown, placed.n_documents, placed.questions) == (1, 0, [question])
    [note] = placed.notes()
    says(note)


def test_an_exact_quotation_of_an_older_build_is_used():
    notes = {"quote": " 8 degrees", "evidence_found": "exact"}
    question = msgspec.structs.replace(asked("8 degrees", TEXT.index("8 degrees")), metadata=notes)
    assert starts(question, f"News. {TEXT}") == [TEXT.index("8 degrees") + 6]


def test_evidence_that_was_moved_by_hand_and_metadata_that_was_written_by_hand_are_not_trusted():
    question = remembered("8 degrees")
    moved = msgspec.structs.replace(question, evidence=asked("Rye", TEXT.index("Rye")).evidence)
    assert place_evidence([moved], [Document(id="d", text=TEXT)]).n_unknown == 1
    broken = msgspec.structs.replace(question, metadata={SOURCES: "yes"})
    assert place_evidence([broken], [Document(id="d", text=TEXT)]).n_unknown == 1


def test_without_documents_nobody_can_tell_and_a_missing_document_is_told_elsewhere():
    question = remembered("8 degrees")
    assert place_evidence([question], []).n_unknown == 1
    assert place_evidence([question], [Document(id="other", text="")]).n_unknown == 0


@given(
    st.lists(st.tuples(st.integers(0, len(TEXT)), st.text("April sown in8.", max_size=40)), max_size=4),
    st.integers(0, len(TEXT) - 1),
    st.integers(1, 30),
)
def test_insertions_never_move_evidence_to_other_characters_nor_lower_span_recall_unsaid(
    inserted, at, length
):
    """Each character of TEXT has a place in the new text; evidence keeps its own or is unplaced."""
    words = TEXT[at : at + length]
    question = remember_sources(asked(words, at), {"d": TEXT})
    text, origin = TEXT, list(range(len(TEXT)))
    for place, new in inserted:
        text = text[:place] + new + text[place:]
        origin[place:place] = [-1] * len(new)
    placed = place_evidence([question], [Document(id="d", text=text)])
    [now] = placed.questions
    (span,) = now.evidence or ()
    items = [RankingItem(document_id="d", score=1.0, start=span.start, end=span.end)]
    found = evaluate_rankings(
        [Ranking(question_id="q", retriever="r", items=items)],
        placed.questions,
        ks=(1,),
        unplaced=placed.unplaced,
    )
    if placed.unplaced:
        assert found.n_unplaced == 1
        assert "span_recall@1" not in found.measures
        assert "no longer has a certain place" in placed.notes()[0]
        return
    assert text[span.start : span.end] == words
    kept = origin[span.start : span.end]
    if kept != list(range(at, at + len(words))):  # inserted text may repeat what stood there, to the letter
        beside = TEXT[max(0, at - 32) : at], TEXT[at + length : at + length + 32]
        assert any(f"{one}{words}" in text or f"{words}{one}" in text for one in beside)
    assert found.measures["span_recall@1"].value == 1.0
    assert bool(placed.notes()) == (text != TEXT)
