"""Rankings and questions by the ids of their documents."""

from ragstone.kernel.records import Question, Ranking, RankingItem


def ranking(question_id: str, *documents: str, retriever: str = "bm25") -> Ranking:
    items = [RankingItem(document_id=name, score=-place) for place, name in enumerate(documents)]
    return Ranking(question_id=question_id, retriever=retriever, items=items)


def question(name: str, *documents: str, answerable: bool | None = None) -> Question:
    return Question(id=name, question="?", document_ids=list(documents) or None, answerable=answerable)


def tied_ranking(*scored: tuple[str, float]) -> Ranking:
    items = [RankingItem(document_id=name, score=score) for name, score in scored]
    return Ranking(question_id="q", retriever="r", items=items)
