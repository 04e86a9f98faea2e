"""A passage -> true statements that stand by themselves."""

import functools
import re
import unicodedata
from collections.abc import Sequence
from typing import Annotated

import msgspec

from ragstone.features.build._built import Written, call_failed
from ragstone.features.build._losses import check_candidate, lose
from ragstone.kernel.corpus.sentences import sentence_spans
from ragstone.kernel.corpus.tokens import tokenize
from ragstone.kernel.dataset.candidate import Candidate, SourcePassage
from ragstone.kernel.dataset.evidence import find_evidence
from ragstone.kernel.dataset.languages import language_name, speaks
from ragstone.kernel.llm import MATERIAL, Ask, CallFailed, Prompt, fenced_prompt, row_nonce
from ragstone.kernel.records import Question

# Words that point, wherever they stand: those of neighbouring languages that mean something else there are
# told apart by the language. A pronoun points only at the start: later in a sentence it has what it means.
POINTING = {
    "en": "this these those aforementioned",
    "de": "dieser diese dieses diesem diesen",
    "nl": "deze",
    "fr": "celui-ci celle-ci ceux-ci celles-ci",
    "es": "esto estos estas",
    "pt": "isto isso",
    "it": "questo questa questi queste",
    "ro": "acesta aceasta aceștia acestea",
    "pl": "ten ta",
}
FIRST = {
    "en": "it he she they him her its their that here such",
    "de": "er sie dort hier dadurch dies das",
    "nl": "hij zij deze dit dat hier",
    "fr": "il elle ils elles ce cet cette ces cela ceci",
    "es": "él ella ellos ellas esto eso este esta estos estas",
    "pt": "ele ela eles elas isto isso este esta estes estas",
    "it": "egli ella esso essa essi esse",
    "ro": "el ea ei ele acesta aceasta",
    "pl": "on ona ono oni one ten ta to",
    "ru": "он она оно они это этот эта эти",
    "uk": "він вона воно вони це цей ця ці",
    "el": "αυτός αυτή αυτό αυτοί αυτές αυτά",
    "tr": "o bu onlar bunlar",
    "vi": "nó họ",
    "id": "ini itu dia mereka",
    "sw": "hii hiyo hizi hizo huyu hawa",
    "hi": "यह ये वह वे इस इन इसके इसमें इनमें",
    "bn": "এটি এই এগুলো তিনি তারা সে",
    "ar": "هو هي هم هذا هذه هؤلاء",
    "he": "הוא היא הם הן זה זאת",
    "fa": "این آن آنها او",
}
# Scripts without spaces: what a statement may not begin with.
BEGINS = {"zh": "这 這 它 他 她 那", "ja": "これ それ この その 彼 彼女", "th": "มัน เขา นี่ สิ่งนี้"}
# "It is possible to ..." points at nothing.
EXPLETIVE = re.compile(
    r"it\s+(?:(?:is|was|will be|may be|can be)\s+(?:\w+\s+){1,3}(?:to|that|for|if|when)|takes|costs)\b"
)
# What a statement may not begin with, for it then says something of its text. Elsewhere in it such words are
# found by mentions.py, which is made for questions.
TEXTS = {
    "en": "the text|the passage|the excerpt|the paragraph|the context|the author",
    "de": "der text|die passage|der abschnitt|der autor",
    "nl": "de tekst|de passage",
    "fr": "le texte|le passage|l'auteur",
    "es": "el texto|el pasaje|el autor",
    "pt": "o texto|o trecho|a passagem|o autor",
    "it": "il testo|il brano|l'autore",
    "pl": "tekst|fragment",
    "ru": "текст|отрывок|автор|в тексте",
    "uk": "текст|уривок|автор|у тексті",
    "tr": "metin|bu metin",
    "vi": "văn bản|đoạn văn",
    "id": "teks ini",
    "ar": "النص|يذكر النص|يقول النص",
    "hi": "पाठ|यह पाठ",
    "zh": "本文|文章|该文|文中",
    "ja": "本文|文章|この文章",
}
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


def points_elsewhere(statement: str, lang: str | None) -> str | None:
    """Return the words by which a statement points at what its reader does not see; None if it does not.

    lang: its language, which is not guessed: None is taken for English, and of one that is not known here
    nothing is found.
    """
    text = unicodedata.normalize("NFC", statement).casefold()
    code = (lang or "en")[:2]
    bare = text.lstrip("\"'“‘«„([ ")
    spaced = code not in BEGINS
    for start in (*BEGINS.get(code, "").split(), *TEXTS.get(code, "").split("|")):
        if start and bare.startswith(start) and not (spaced and bare[len(start) : len(start) + 1].isalnum()):
            return start
    tokens = _WORD.findall(text)
    if not tokens:
        return None
    if tokens[0] in FIRST.get(code, "").split() and not EXPLETIVE.match(bare):
        return str(tokens[0])
    pointing = set(POINTING.get(code, "").split())
    return next((word for word in tokens if word in pointing), None)


VERSION = 1  # of the prompt below; a change of wording is a new one
TOKENS_A_FACT = 180  # of reply: a quotation, a name and a sentence
LONGEST = 300  # characters of a statement, as the model is told
FEWEST = 3  # tokens of a statement
QUESTION_MARKS = "?？؟՞⁇⁈፧"

FACTS_TOLD = (
    "You write true statements for a quiz. Read the text and write {n} of them, each about another fact.\n"
    "- quote: copy the words that prove the statement, exactly as they stand in the text.\n"
    "- subject: the name of the product, person, place or matter that the statement is about.\n"
    "- statement: one sentence {language}, of at most 30 words, that says the fact and names the subject. It "
    "must be true by the text alone. Keep the numbers, names and conditions. Who reads it does not have the "
    'text, so never write "the text", "this" or "it".'
)
OWN_LANGUAGE = "in the language of the text"


class FactReply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A fact: the words that prove it, what it is about, then the statement.

    The subject is asked for so that a small model begins with its name, and not with "The text says". The
    lengths are told to the model and not demanded of it: one that is too long is no reason to lose all.
    """

    quote: Annotated[str, msgspec.Meta(extra_json_schema={"maxLength": 600})]
    subject: Annotated[str, msgspec.Meta(extra_json_schema={"maxLength": 80})]
    statement: Annotated[str, msgspec.Meta(extra_json_schema={"maxLength": LONGEST})]


def facts_wanted(length: int, lengths: Sequence[int]) -> int:
    """Return how many facts a document of so many characters has: one, and one for each length it reaches."""
    return 1 + sum(length >= least for least in lengths)


async def write_facts(passage: SourcePassage, n: int, *, ask: Ask, secret: bytes) -> Written:
    """Return n candidates for true statements about a passage.

    Statements in another language than the passage's are asked for once more. Those that the model was
    asked for and did not write are there too, empty, and lost as `fewer`. Those beyond n are checked as the
    others, and lost as `beyond_count` where nothing is found against them.
    """
    try:
        reply = await ask(facts_prompt(passage, n, secret))
    except CallFailed as failure:
        return Written(candidates=[], failed=call_failed(failure))
    facts: list[FactReply] = reply.value.facts
    candidates = [_candidate(fact, passage) for fact in facts[:n]]
    foreign = [
        at for at, candidate in enumerate(candidates) if not speaks(candidate.question.question, passage.lang)
    ]
    if foreign:
        again = await _ask_again(passage, len(foreign), ask, secret)
        for at, candidate in zip(foreign, again, strict=False):
            candidates[at] = candidate
        for at in foreign:
            if not speaks(candidates[at].question.question, passage.lang):
                candidates[at] = lose(candidates[at], "wrong_language")
    candidates = [check_fact(candidate) for candidate in candidates]
    missing = Candidate(question=_row("", passage), passages=(passage,))
    fewer = lose(missing, "fewer", f"{len(facts)} of {n}")
    beyond = [_candidate(fact, passage) for fact in facts[n:]]
    # What is called good has passed what the others pass; a candidate keeps its first loss.
    beyond = [
        check_fact(candidate)
        if speaks(candidate.question.question, passage.lang)
        else lose(candidate, "wrong_language")
        for candidate in beyond
    ]
    beyond = [lose(candidate, "beyond_count") for candidate in beyond]
    return Written(candidates=[*candidates, *[fewer] * (n - len(facts)), *beyond])


def facts_prompt(passage: SourcePassage, n: int, secret: bytes, *, again: bool = False) -> Prompt:
    """Return the call that asks for n statements about a passage, after others in a wrong language."""
    language = f"in {language_name(passage.lang)}" if passage.lang else OWN_LANGUAGE
    language += ", and in no other language" if again else ""
    task = FACTS_TOLD.format(n=n, language=language)
    inputs = {"title": passage.title} if passage.title else {}
    inputs["text"] = passage.text
    return fenced_prompt(
        f"{task}\n\n{MATERIAL}",
        inputs,
        form='{"nonce": the code, "facts": [{"quote": words of the text, "subject": its name, '
        '"statement": one sentence}, ...]}',
        reply=_facts_reply(n),
        nonce=row_nonce(secret, ["facts", str(VERSION), str(n), language, *inputs.values()]),
        max_tokens=TOKENS_A_FACT * n + 60,
    )


def check_fact(candidate: Candidate) -> Candidate:
    """Return the candidate, lost for the first thing that is found against its statement.

    That it is empty, a question, no sentence or several, points at what its reader does not see, has no
    evidence, or what is found against a question as well: too long, evidence too short.
    """
    question = candidate.question
    tokens = tokenize(question.question)
    if not tokens:
        return lose(candidate, "empty")
    if question.question.rstrip("\"'»”’)] ")[-1:] in QUESTION_MARKS:
        return lose(candidate, "no_statement", "a question")
    if len(tokens) < FEWEST:
        return lose(candidate, "no_statement", f"{len(tokens)} words")
    n_sentences = len(sentence_spans(question.question, question.lang))
    if n_sentences != 1:
        return lose(candidate, "no_statement", f"{n_sentences} sentences")
    pointing = points_elsewhere(question.question, question.lang)
    if pointing is not None:
        return lose(candidate, "mentions_context", pointing)
    if not question.evidence:
        return lose(candidate, "no_evidence", str((question.metadata or {}).get("quote", "")))
    return check_candidate(candidate)


def tidy(text: str) -> str:
    """Return a text on one line."""
    return " ".join(text.split())


async def _ask_again(passage: SourcePassage, n: int, ask: Ask, secret: bytes) -> list[Candidate]:
    try:
        reply = await ask(facts_prompt(passage, n, secret, again=True))
    except CallFailed:
        return []
    return [_candidate(fact, passage) for fact in reply.value.facts[:n]]


def _candidate(fact: FactReply, passage: SourcePassage) -> Candidate:
    match, statement = find_evidence(fact.quote, passage.text), tidy(fact.statement)
    if match is None:
        return Candidate(question=_row(statement, passage, quote=fact.quote), passages=(passage,))
    row = _row(statement, passage, quote=fact.quote, evidence_found=match.how)
    row = msgspec.structs.replace(row, evidence=[passage.evidence(match.start, match.end)])
    return Candidate(question=row, passages=(passage,))


def _row(statement: str, passage: SourcePassage, **metadata: str) -> Question:
    return Question(
        id="",
        question=statement,
        reference="true",
        kind="true_false",
        document_ids=[passage.document_id],
        lang=passage.lang,
        tags={"fact": "true"},
        metadata=dict(metadata) or None,
    )


@functools.cache
def _facts_reply(n: int) -> type:
    """Return the form of reply for n facts."""
    facts = Annotated[list[FactReply], msgspec.Meta(extra_json_schema={"maxItems": n})]
    return msgspec.defstruct("FactsReply", [("facts", facts)], frozen=True, forbid_unknown_fields=True)
