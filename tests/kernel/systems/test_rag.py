import pytest

from ragstone.kernel.errors import ConfigError, DataError
from ragstone.kernel.llm import CallFailed, Reply
from ragstone.kernel.records import Answer, Chunk, Document, Question, Ranking, RankingItem, Usage
from ragstone.kernel.systems.prompting import load_prompt, prompt_names
from ragstone.kernel.systems.rag import answer_question, contexts_of
from ragstone.kernel.systems.rows import join_questions

CHUNKS = {name: Chunk(id=name, document_id=name[0], text=name, start=0, end=2) for name in ("a0", "b0")}
QUESTION = Question(id="q", question="When?", reference="early", answerable=True, tags={"crop": "corn"})


def ranking(*names):
    items = [
        RankingItem(document_id=name[0], chunk_id=name, score=1.0 / n) for n, name in enumerate(names, 1)
    ]
    return Ranking(question_id="q", retriever="bm25", items=items)


async def answered(ask, prompt="strict", contexts=("b0", "a0")):
    found = contexts_of(ranking(*contexts), CHUNKS)
    return await answer_question(QUESTION, found, load_prompt(prompt), ask, system="s", secret=b"x")


def test_contexts_come_best_first_with_their_document_and_score():
    found = contexts_of(ranking("b0", "a0"), CHUNKS)
    assert [(c.text, c.document_id, c.score) for c in found] == [("b0", "b", 1.0), ("a0", "a", 0.5)]


def test_a_ranking_of_another_corpus_is_named(says):
    with pytest.raises(DataError) as error:
        contexts_of(ranking("c0"), CHUNKS)
    says(error.value)


async def test_an_answer_carries_question_reference_contexts_and_cost():
    async def ask(_prompt):
        return Reply(text=" Early. ", value=None, usage=Usage(input=3), latency_s=0.5, cost_usd=0.25)

    answer = await answered(ask)
    assert (answer.answer, answer.latency_s, answer.cost_usd) == ("Early.", 0.5, 0.25)
    assert (answer.question, answer.reference, answer.tags) == ("When?", "early", {"crop": "corn"})
    assert [context.id for context in answer.contexts] == ["b0", "a0"]


async def test_a_failed_call_is_an_answer_with_an_error():
    async def ask(_prompt):
        raise CallFailed("timeout", "slow")

    answer = await answered(ask)
    assert (answer.answer, answer.error) == ("", "timeout: slow")


@pytest.mark.parametrize("name", ["bare", "strict", "true_false"])
async def test_the_prompt_holds_question_and_contexts_fenced_after_the_fixed_part(name):
    seen = []

    async def ask(prompt):
        seen.append(prompt)
        return Reply(text="x", value=None, usage=Usage(), latency_s=0.0, cost_usd=None)

    await answered(ask, name)
    system, user = seen[0].messages
    assert "<question>" in system.content
    assert user.content.index("[1] b0") < user.content.index("[2] a0") < user.content.index("When?")


def test_bare_and_strict_ship_and_strict_refuses():
    assert prompt_names() == ["bare", "closed_book", "strict", "true_false"]
    assert "do not answer this question" in load_prompt("strict").prompt


async def test_closed_book_is_shown_no_passage_and_told_of_none():
    seen = []

    async def ask(prompt):
        seen.append(prompt)
        return Reply(text="x", value=None, usage=Usage(), latency_s=0.0, cost_usd=None)

    await answered(ask, "closed_book")
    system, user = seen[0].messages
    assert "contexts" not in system.content + user.content
    assert "When?" in user.content
    assert "b0" not in user.content


def test_wrong_prompts_are_met_with_the_fix(says, tmp_path):
    with pytest.raises(ConfigError) as first:
        load_prompt("stric")
    says(first.value)
    with pytest.raises(ConfigError) as second:
        load_prompt(tmp_path / "mine.toml")
    says(second.value)
    mine = tmp_path / "mine.toml"
    mine.write_text('name = "mine"\nversion = 1\nprompt = "Answer {qestion}."\n')
    with pytest.raises(ConfigError, match=r"must name \{question\}"):
        load_prompt(mine)
    mine.write_text("name = mine\n")
    with pytest.raises(ConfigError, match="not valid TOML"):
        load_prompt(mine)


def test_a_sheet_takes_from_the_questions_what_it_does_not_say_itself():
    asked = Answer(question_id="q", answer="x", reference="late")
    stranger = Answer(question_id="other", answer="y")
    joined, untouched = join_questions([asked, stranger], {"q": QUESTION})
    assert (joined.question, joined.reference, joined.answerable) == ("When?", "late", True)
    assert untouched is stranger


def test_a_ranking_without_chunks_gives_spans_else_whole_documents_and_its_own_text_goes_first():
    documents = {"d": Document(id="d", text="early to bed")}
    items = [
        RankingItem(document_id="d", score=3.0, start=0, end=5),
        RankingItem(document_id="d", score=2.0),
        RankingItem(document_id="a", score=1.5, chunk_id="a0", text="from elsewhere"),
        RankingItem(document_id="d", score=1.0, chunk_id="d#9", start=9, end=12),
    ]
    found = contexts_of(Ranking(question_id="q", retriever="mine", items=items), CHUNKS, documents)
    assert [context.text for context in found] == ["early", "early to bed", "from elsewhere", "bed"]


def test_a_document_that_is_nowhere_is_named(says):
    nowhere = Ranking(question_id="q", retriever="mine", items=[RankingItem(document_id="x", score=1.0)])
    with pytest.raises(DataError) as error:
        contexts_of(nowhere, CHUNKS, {})
    says(error.value)
