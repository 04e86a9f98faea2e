import msgspec
import pytest

from ragstone.kernel.dataset.answers import answers_correctly, is_guessable, polarity, says_unknown
from ragstone.kernel.records import Question


def right(answer, reference, **fields):
    return answers_correctly(answer, Question(id="q", question="?", reference=reference, **fields))


@pytest.mark.parametrize(
    ("answer", "reference"),
    [
        ("Paris", "Paris"),
        ("paris.", "Paris"),
        ("It is Paris, France", "Paris"),
        ("The capital of France is Paris.", "Paris"),
        ("Marie Curie", ["Curie", "Maria Skłodowska"]),
        ("Norway", "Norway / Denmark"),
        ("Curie", "Marie Curie"),
        ("10th century", "the 10th century"),
        # 6 of 8 words of the answer are the 9 words of the reference: F1 = 2 * 6 / (8 + 9) = 0.71
        ("sow wheat in late autumn after the rain", "sow the wheat in late autumn before the first rain"),
        ("1,000", "1000"),
        ("Denmark, Iceland and Norway", "Denmark, Iceland and Norway"),
        ("Yes, it is.", "Yes"),
        ("no", "No, it is not."),
        ("True", "true"),
        ("是的", "是"),
        ("北京", "北京"),
        ("दिल्ली", "दिल्ली"),
    ],
)
def test_a_right_answer_is_right(answer, reference):
    assert right(answer, reference)


@pytest.mark.parametrize(
    ("answer", "reference"),
    [
        ("London", "Paris"),
        ("", "Paris"),
        ("I do not know", "Paris"),
        ("I don’t know, perhaps Paris", "Paris"),
        ("Paris or London", "Paris"),
        ("Paris, London, Rome or Berlin", "Paris"),
        ("Paris, London, Rome, Berlin", "Paris"),
        ("not Paris", "Paris"),
        ("in 1914", "in 1915"),
        ("Some say that it may be Paris but in the end there is nobody who could tell at all", "Paris"),
        ("TCP", "HTTP over TCP/IP"),
        ("No", "Yes"),
        ("maybe", "yes"),
        ("不是", "是"),
        ("Je ne sais pas", "Paris"),
        ("不知道", "北京"),
        # 3 of 12 words: F1 = 2 * 3 / (3 + 12) = 0.4
        ("sow wheat early", "sow wheat as early as the soil allows when it is dry"),
        ("Iceland", "Denmark, Iceland and Norway"),
    ],
)
def test_a_wrong_hedged_or_empty_answer_is_wrong(answer, reference):
    assert not right(answer, reference)


def test_what_an_answer_repeats_of_the_question_is_no_hedge_and_no_length():
    question = "Which town do the blazers of the north, the Trail Blazers, or their guests play in, not away?"
    answer = "The Trail Blazers of the north, or all of their guests, play in Portland, not away."
    assert answers_correctly(answer, Question(id="q", question=question, reference="Portland"))
    assert not answers_correctly(answer, Question(id="q", question="Which town?", reference="Portland"))


@pytest.mark.pack
def test_what_is_taken_for_right_is_what_people_call_right(shared_data):
    taken = found = n_right = 0
    for line in (shared_data / "evouna" / "tq600.jsonl").read_bytes().splitlines():
        row = msgspec.json.decode(line)
        reference = row["reference"].replace("/", " / ")
        said = answers_correctly(
            row["answer"], Question(id="q", question=row["question"], reference=reference)
        )
        taken += said
        n_right += row["human_label"]
        found += said and row["human_label"]
    assert found / taken > 0.99
    assert found / n_right > 0.7


def test_no_is_a_preposition_in_portuguese():
    assert right("no Brasil", "Brasil", lang="pt")
    assert not right("no rain", "rain", lang="en")


def test_yes_and_no_are_what_a_text_begins_with():
    assert polarity("Yes.") is True
    assert polarity("No, never") is False
    assert polarity("No interest is charged") is None
    assert polarity("No. 5") is None
    assert polarity("No interest is charged", more=True) is False
    assert polarity("Norway") is None


def test_an_answer_that_is_none_says_so_at_once_or_in_few_words():
    assert says_unknown("I don't know.")
    assert not says_unknown(
        "The first letter was written in May, and in it he says of himself that I do not know what he meant"
    )


@pytest.mark.parametrize(
    ("question", "reference", "kind"),
    [
        ("Is rye a grass?", "Yes", "open"),
        ("Rye is a grass.", "false", "true_false"),
        ("Is it rye or wheat?", "rye", "open"),
    ],
)
def test_few_possible_answers_can_be_guessed(question, reference, kind):
    assert is_guessable(Question(id="q", question=question, reference=reference, kind=kind))


def test_an_open_question_cannot_be_guessed():
    assert not is_guessable(Question(id="q", question="Who sows rye or wheat?", reference="Ada Palmgren"))
