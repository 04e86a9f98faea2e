"""An edited question -> what the checks of a build say against it, at once and without a model."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import islice

from ragstone.features.review.applying import TextOf
from ragstone.kernel.corpus.tokens import tokenize
from ragstone.kernel.dataset.candidate import REASONS, Candidate, SourcePassage
from ragstone.kernel.dataset.checks import CHECKS
from ragstone.kernel.dataset.languages import language_name, speaks
from ragstone.kernel.dataset.repeats import find_repeats
from ragstone.kernel.privacy.masking import mask_texts
from ragstone.kernel.records import Question, references

COMPARED = 50  # of the questions that share most words, those that are compared in full
STEMMED = 2000  # characters of a question: a longer text repeats only what is the same throughout
STEM = 4  # characters by which words are taken for forms of one: plurals differ at the end


class Others:
    """The questions of a set, so that one that is edited is compared with those alone that it may repeat."""

    def __init__(self, questions: Iterable[Question]) -> None:
        self._texts: dict[str, tuple[str, str | None]] = {}
        self._sharing: dict[str, set[str]] = defaultdict(set)
        for question in questions:
            self.put(question)

    def put(self, question: Question) -> None:
        """Add a question, or take it as it is now."""
        if question.id in self._texts:
            for stem in _stems(self._texts[question.id][0]):
                self._sharing[stem].discard(question.id)
        self._texts[question.id] = (question.question, question.lang)
        for stem in _stems(question.question):
            self._sharing[stem].add(question.id)

    def repeated_by(self, question: Question) -> str | None:
        """Return the id of a question of its language that this one repeats, None where there is none."""
        shared: Counter[str] = Counter()
        for stem in _stems(question.question):
            shared.update(self._sharing.get(stem, ()))
        shared.pop(question.id, None)
        near = (name for name, _ in shared.most_common() if self._texts[name][1] == question.lang)
        ids = list(islice(near, COMPARED))
        texts = [*(self._texts[name][0] for name in ids), question.question]
        earlier = next((repeat.of for repeat in find_repeats(texts) if repeat.number == len(ids)), None)
        return None if earlier is None else ids[earlier]


def warnings_of(question: Question, others: Others | None = None, text_of: TextOf | None = None) -> list[str]:
    """Return what the checks say against a question, in words; empty where they say nothing.

    The checks of a build (dataset/checks.py), its language, repeats of `others`, and personal data.
    """
    names = dict.fromkeys(span.document_id for span in question.evidence or ())
    texts = {name: text for name in names if text_of is not None and (text := text_of(name)) is not None}
    candidate = Candidate(
        question=question,
        passages=tuple(
            SourcePassage(document_id=name, start=0, end=len(text), text=text, document_length=len(text))
            for name, text in texts.items()
        ),
    )
    sentences = [
        f"{REASONS[reason][1]}: {detail}"
        for reason, check in CHECKS.items()
        if (detail := check(candidate)) is not None
    ]
    if not speaks(question.question, question.lang):
        sentences.append(f"the question is not in {language_name(question.lang or '')}")
    repeated = others.repeated_by(question) if others else None
    if repeated is not None:
        sentences.append(f"it asks the same as {repeated}")
    kinds = sorted(
        {kind for masked in mask_texts([question.question, *references(question)]) for kind in masked.found}
    )
    if kinds:
        sentences.append(f"it seems to contain personal data: {', '.join(kinds)}")
    answers = [reference.strip().casefold() for reference in references(question)]
    if question.kind == "true_false" and answers not in (["true"], ["false"]):
        sentences.append("the reference of a true_false question is `true` or `false`")
    return sentences


def _stems(text: str) -> set[str]:
    """Return the beginnings of a text's words."""
    return {word[:STEM] for word in tokenize(text[:STEMMED])}
