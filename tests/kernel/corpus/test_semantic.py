import numpy as np
import pytest

from ragstone.kernel.corpus.chunking import BATCH, WINDOW, _similarities, chunk_documents
from ragstone.kernel.errors import ConfigError
from ragstone.kernel.records import Document

TOPICS = {"rain": 0, "maize": 1, "loan": 2}


class ByWord:
    """An embedder that knows three words, and counts its calls."""

    def __init__(self):
        self.n_calls = 0
        self.texts = []

    def __call__(self, texts, role):
        assert role == "passage"
        self.n_calls += 1
        self.texts += texts
        vectors = np.zeros((len(texts), 3), dtype=np.float32)
        for row, text in enumerate(texts):
            for word, column in TOPICS.items():
                vectors[row, column] = text.count(word)
        return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)


def cut(text, size=1000, percentile=20.0, embed=None):
    chunks = chunk_documents(
        [Document(id="d", text=text)], "semantic", size, embed=embed or ByWord(), percentile=percentile
    )
    return [chunk.text for chunk in chunks]


RAIN, MAIZE, LOAN = "The rain falls. " * 4, "The maize grows. " * 4, "The loan is due. " * 4


def test_a_cut_is_made_where_the_words_change():
    # 11 gaps; two of similarity 0, the four beside them 0.71, the others 1: the 20th percentile is 0.71.
    assert cut(RAIN + MAIZE + LOAN) == [RAIN.strip(), MAIZE.strip(), LOAN.strip()]


def test_the_percentile_says_how_many_cuts_there_are():
    assert cut(RAIN + MAIZE + LOAN, percentile=0) == [(RAIN + MAIZE + LOAN).strip()]
    # The 60th percentile is 1: every gap that is not wholly alike is cut, the neighbours of the change too.
    assert len(cut(RAIN + MAIZE + LOAN, percentile=60)) == 7


def test_a_group_longer_than_the_size_is_cut_where_it_is_least_alike():
    assert cut(RAIN + MAIZE, size=70, percentile=0) == [RAIN.strip(), MAIZE.strip()]


def test_a_sentence_longer_than_the_size_is_cut_between_words():
    assert cut("rain " * 30, size=24) == ["rain rain rain rain rain"] * 6


def test_one_sentence_asks_no_embedder():
    embed = ByWord()
    assert cut("Only one.", embed=embed) == ["Only one."]
    assert embed.n_calls == 0


def test_a_corpus_is_embedded_in_few_calls_and_cut_as_each_document_alone():
    texts = [RAIN + MAIZE, "One.", LOAN + RAIN + MAIZE] * 200
    embed = ByWord()
    documents = [Document(id=str(n), text=text) for n, text in enumerate(texts)]
    together = list(chunk_documents(documents, "semantic", embed=embed))
    assert embed.n_calls == -(-len(embed.texts) // BATCH)
    alone = [
        chunk
        for document in documents[:3]
        for chunk in chunk_documents([document], "semantic", embed=ByWord())
    ]
    assert together[: len(alone)] == alone


def test_each_sentence_is_embedded_once():
    embed = ByWord()
    cut("One. Two. Three. Four.", embed=embed)
    assert embed.texts == ["One.", "Two.", "Three.", "Four."]


def test_a_window_is_its_sentences_each_by_the_root_of_its_length():
    # Sentences of 4, 16 and 9 characters: roots 2, 4, 3. First place: (2, 0) beside (0, 4) + (3, 0) = (3, 4):
    # cosine 3 / 5. Second: (2, 0) + (0, 4) = (2, 4) beside (3, 0): cosine 2 / root of 20.
    assert WINDOW == 2
    vectors = np.array([[1, 0], [0, 1], [1, 0]], dtype=np.float32)
    lengths = np.array([[4], [16], [9]], dtype=np.float32)
    assert _similarities(vectors, lengths) == pytest.approx([3 / 5, 2 / 20**0.5])


def test_a_sentence_without_a_vector_is_like_nothing():
    similarities = _similarities(np.zeros((2, 2), dtype=np.float32), np.ones((2, 1), dtype=np.float32))
    assert similarities.tolist() == [0]


def test_without_an_embedder_it_is_said_what_to_do():
    with pytest.raises(ConfigError, match="need an embedder"):
        chunk_documents([], "semantic")


@pytest.mark.parametrize("percentile", [-1, 101])
def test_a_percentile_is_from_0_to_100(percentile, says):
    with pytest.raises(ConfigError) as error:
        chunk_documents([], "semantic", embed=ByWord(), percentile=percentile)
    says(error.value)


@pytest.mark.model
def test_the_packaged_embedder_finds_where_the_subject_changes():
    from ragstone.kernel.embedding.opening import open_embedder

    sowing = "Maize is sown in rows. The seed lies five centimetres deep. Rows are seventy centimetres apart."
    loan = "The bank lends money to firms. Interest is due each month. A loan may be repaid early."
    document = Document(id="d", text=f"{sowing} {loan}")
    chunks = chunk_documents([document], "semantic", embed=open_embedder("packaged"))
    assert [chunk.text for chunk in chunks] == [sowing, loan]
