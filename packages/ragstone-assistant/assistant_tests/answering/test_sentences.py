from hypothesis import given
from hypothesis import strategies as st

from ragstone_assistant.answering.sentences import Sentence, Sentences

TEXT = (
    "Sow maize in May. [1] It needs e.g. urea, 2.5 t/ha.[2] Dr. Smith says: sow!\n\n"
    "Steps:\n1. Plough.\n2. Sow."
)


def cut(text, size, lang="en"):
    sentences = Sentences(lang)
    found = [one for start in range(0, len(text), size) for one in sentences.feed(text[start : start + size])]
    return found + sentences.end()


def test_marks_abbreviations_lists_and_line_ends():
    assert cut(TEXT, 1000) == [
        Sentence("", "Sow maize in May [1]."),
        Sentence(" ", "It needs e.g. urea, 2.5 t/ha[2]."),
        Sentence(" ", "Dr. Smith says: sow!"),
        Sentence("\n\n", "Steps:"),
        Sentence("\n", "1. Plough."),
        Sentence("\n", "2. Sow."),
    ]


@given(st.integers(1, 40))
def test_the_sizes_of_the_pieces_do_not_matter(size):
    assert cut(TEXT, size) == cut(TEXT, 1000)


@given(
    st.lists(st.sampled_from(["Sow", "in", "May", ".", " ", "[1]", "\n", "3", "[", "?", "Dr."]), max_size=30)
)
def test_no_text_depends_on_the_sizes_of_its_pieces(parts):
    text = "".join(parts)
    assert cut(text, 1) == cut(text, 1000)


def test_a_sentence_comes_when_the_next_has_a_whole_word():
    sentences = Sentences("en")
    assert sentences.feed("Sow in May.") == []
    assert sentences.feed(" [1") == []
    assert sentences.feed("] The") == []
    assert sentences.feed(" n") == [Sentence("", "Sow in May [1].")]


def test_scripts_with_marks_of_their_own():
    assert [one.text for one in cut("मई में बोएं। पानी दें।", 3, "hi")] == ["मई में बोएं।", "पानी दें।"]
    assert [one.text for one in cut("ازرع في مايو. هل تسقي؟ نعم.", 3, "ar")] == [
        "ازرع في مايو.",
        "هل تسقي؟",
        "نعم.",
    ]


def test_thoughts_are_left_out():
    assert cut("<think>\nI should. Yes.\n</think>\nSow in May.", 3) == [Sentence("\n", "Sow in May.")]
    assert cut("<think>I should. Yes.", 3) == []


def test_a_text_that_was_cut_off_gives_no_broken_sentence():
    sentences = Sentences("en")
    assert sentences.feed("Sow in May. Weed in ") == [Sentence("", "Sow in May.")]
    assert sentences.end(whole=False) == []


def test_a_sentence_without_end_is_cut():
    stream = Sentences("en")
    found = [one for _ in range(100) for one in stream.feed("and so on, Dr. Who, ")] + stream.end()
    assert len(found) > 1
    assert " ".join(one.text for one in found) == ("and so on, Dr. Who, " * 100).strip()
