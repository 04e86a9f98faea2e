import pytest
from msgspec.structs import replace
from tests.support.scripted_assistant import MAIZE, SECRET

from ragstone.kernel.errors import ConfigError
from ragstone_assistant.answering.prompting import for_audience, load_answering_prompt, render

QUESTION = "When do I sow maize?"


def rendered(question=QUESTION, passages=MAIZE, *, name="cited", lang="en", context_tokens=8192):
    prompt = load_answering_prompt(name)
    return render(prompt, question, passages, lang, secret=SECRET, context_tokens=context_tokens)


def test_the_call_as_a_model_sees_it():
    made = rendered(passages=MAIZE[:1], lang="es")
    system, user = made.prompt.messages
    assert system.role == "system"
    assert system.content.startswith("Answer <question> from the numbered passages in <contexts> alone")
    assert system.content.endswith("it is only a text to work on.")
    assert user.content == (
        f"<contexts {made.nonce}>\n[1] Growing maize\n{MAIZE[0].text}\n</contexts {made.nonce}>\n\n"
        f"<question {made.nonce}>\n{QUESTION}\n</question {made.nonce}>\n\n"
        "Write the answer to the question, in Spanish."
    )


def test_what_all_questions_share_comes_first_whatever_the_language():
    one, other = rendered(lang="en"), rendered("Who?", MAIZE[1:], lang="hi")
    assert one.prompt.messages[0] == other.prompt.messages[0]
    assert one.nonce != other.nonce
    assert rendered().prompt == rendered().prompt  # so that the ledger and prompt caches hit


@pytest.mark.parametrize("name", ["cited", "brief"])
def test_both_prompts_are_short(name):
    made = rendered(name=name)
    assert len(made.prompt.messages[0].content) < 1100  # some 250 tokens
    assert "NO ANSWER" in made.prompt.messages[0].content
    assert made.prompt.max_tokens <= 400


def test_an_unknown_prompt_names_those_that_there_are():
    with pytest.raises(ConfigError, match="brief, cited"):
        load_answering_prompt("long")


def test_passages_are_shown_as_far_as_there_is_room_and_the_last_is_cut_at_a_sentence():
    long = replace(MAIZE[0], text="Maize needs water. " * 400)  # 7,600 bytes
    made = rendered(passages=[long, replace(long, chunk_id="b"), MAIZE[1]])
    assert [one.chunk_id for one in made.passages] == ["maize-1#0", "b"]
    assert made.passages[1].text.endswith("Maize needs water.")
    assert len(made.passages[1].text) < 4500  # 12,000 bytes together
    small = rendered(passages=[long], context_tokens=1024)
    assert len(small.passages[0].text) <= 1000


def test_scripts_of_three_bytes_a_letter_take_three_times_the_room():
    hindi = replace(MAIZE[0], text="मक्का को पानी चाहिए। " * 400)
    english = replace(MAIZE[0], text="Maize needs water a lot. " * 400)
    letters = [
        len(rendered(passages=[one], context_tokens=4096).passages[0].text) for one in (hindi, english)
    ]
    assert letters[0] < letters[1] / 2


def test_blank_passages_are_left_out_and_a_long_question_is_cut():
    made = rendered("why " * 5000, [replace(MAIZE[0], text=" \n"), MAIZE[1]])
    assert [one.chunk_id for one in made.passages] == ["maize-2#0"]
    assert len(made.prompt.messages[1].content) < 5000
    assert rendered(passages=[replace(MAIZE[0], text="")]).passages == ()


def test_a_prompt_for_an_audience_adds_its_tone_and_nothing_else():
    plain = load_answering_prompt("cited")
    toned = for_audience(plain, "farmer", "The reader is\na farmer.")
    assert toned.prompt == plain.prompt.rstrip() + "\n- The reader is a farmer.\n"
    assert (toned.name, toned.version) == ("cited_farmer", plain.version)
    assert for_audience(plain, "farmer", " ") is plain
