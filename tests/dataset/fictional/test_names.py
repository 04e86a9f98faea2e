import pytest

from ragstone.dataset.fictional.names import find_names, list_names, names_prompt
from ragstone.llm import CallFailed, Reply
from ragstone.llm.madeup import made_up_reply
from ragstone.records import Document, Usage

SECRET = b"s" * 32


def found(*texts, asked=(), given=(), lang="en"):
    return find_names([(text, lang) for text in texts], [(text, lang) for text in asked], given)


def test_words_with_capitals_in_mid_sentence_are_names():
    assert found("The king of Oslo met Ada Holm there. Nobody saw it.").words == ["Ada", "Holm", "Oslo"]


def test_the_first_word_of_a_sentence_is_one_only_beside_another_or_elsewhere():
    assert found("Rollo came. Harald Holm left.").words == ["Harald", "Holm"]
    assert found("Rollo came. They saw Rollo.").words == ["Rollo"]


def test_words_that_are_small_elsewhere_weekdays_and_terms_are_none():
    assert found("We use the Card on Monday in May with a PIN. A card is new.").words == []


def test_small_letters_in_a_question_do_not_make_a_name_common():
    assert found("We met in Oslo.", asked=["where is oslo"]).words == ["Oslo"]


def test_a_title_in_which_all_words_have_capitals_says_nothing():
    assert found("How To Open An Account In Oslo").words == []


def test_names_in_code_are_left_alone():
    assert found("We use Phoenix in Oslo. Call `Phoenix.start`.").words == ["Oslo"]


def test_names_of_common_words_are_phrases():
    assert found("It was at the Super Bowl. A super bowl it was not.").phrases == []
    assert found("It was at the Super Bowl. The bowl was small.").phrases == []  # Super is a name there
    again = "The Super Bowl is held in May. At the Super Bowl they sing. "
    assert found(again * 2 + "A bowl was super.").phrases == ["Super Bowl"]  # super: 1 in 4
    assert found(again + "A bowl was super.").phrases == []  # 1 in 2


def test_given_names_are_words_where_they_are_not_common():
    names = found("they met at little mill in Oslo; a little water", given=["little mill", "adidas"])
    assert names.words == ["Oslo", "adidas"]
    assert names.phrases == ["little mill"]


def listing(*names):
    prompts = []

    async def ask(prompt):
        prompts.append(prompt)
        value = prompt.reply(names=list(names))
        return Reply(text="", value=value, usage=Usage(), latency_s=0.0, cost_usd=None)

    return ask, prompts


async def test_listed_names_are_those_that_stand_in_the_text_in_its_order():
    ask, _ = listing("Holm", " Oslo ", "Bergen", "", "1", "Oslo")
    document = Document(id="d", text="In Oslo lived Holm.")
    assert await list_names(document, ask=ask, secret=SECRET) == ["Oslo", "Holm"]


async def test_a_long_document_takes_several_calls():
    ask, prompts = listing("Oslo")
    assert await list_names(Document(id="d", text="In Oslo. " * 1000), ask=ask, secret=SECRET) == ["Oslo"]
    assert len(prompts) == 3  # 9,000 characters, 4,000 a call


async def test_a_failed_call_is_raised_and_a_made_up_reply_survived():
    async def fail(prompt):
        raise CallFailed("timeout", "no reply")

    document = Document(id="d", text="In Oslo.")
    with pytest.raises(CallFailed):
        await list_names(document, ask=fail, secret=SECRET)

    async def made_up(prompt):
        return made_up_reply(prompt)

    assert await list_names(document, ask=made_up, secret=SECRET) == []


def test_the_prompt_is_the_same_for_the_same_text():
    assert names_prompt("In Oslo.", SECRET) == names_prompt("In Oslo.", SECRET)
    assert "In Oslo." in names_prompt("In Oslo.", SECRET).messages[-1].content
