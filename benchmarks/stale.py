"""Planted edits of documents: `python -m benchmarks.stale [--edits 200] [--seed 1]`.

Questions of squad2, xquad (nine languages) and of the Phoenix guides remember their evidence, half of them a
whole sentence, half a short answer. Then one edit is made to the documents for each of some questions, all in
one corpus: six that move evidence and change nothing of it, four that make it wrong. Printed are, by kind:
evidence found again at exactly the place where it went (marks that no reader of the documents sees tell
where), questions named stale, false alarms on questions of edited documents whose own paragraph nobody
touched, and, after a run in which every answer is wrong and was made from another document, what
`ragstone blame` charges to the retriever.
Needs the development data.
"""

import argparse
import json
import random
import re
import tempfile
import textwrap
import time
from collections import Counter, defaultdict
from pathlib import Path

import msgspec

from ragstone import run
from ragstone.features.blame.blaming import blame
from ragstone.kernel.config import load_settings
from ragstone.kernel.corpus.sentences import sentence_spans
from ragstone.kernel.dataset.placing import SOURCES, remember_sources
from ragstone.kernel.dataset.stale import check_evidence
from ragstone.kernel.records import Answer, Context, Document, Evidence, Question
from ragstone.kernel.runs.blamed import read_causes
from ragstone.kernel.statistics import wilson_interval
from ragstone.kernel.tables import write_rows

DATA = Path(__file__).parents[1].parent / "shared" / "data"
OPEN, CLOSE = "\ue000", "\ue001"  # marks around the evidence that an edit is made for
HARMLESS = ("moved", "inserted before", "renamed", "split", "wrapped", "typo")
HARMFUL = ("number", "negated", "deleted", "replaced")
GAP = "\n\n"
DENIALS = {
    "en": (r" (is|was|are|were|has|had|can|could|will|would|did|does) ", r" \1 not "),
    "es": (r" (es|fue|era|son|está|tiene|fueron|había|ha|han) ", r" no \1 "),
    "de": (r" (ist|war|sind|waren|hat|hatte|wurde|wurden|kann) ", r" \1 nicht "),
    "ru": (r" (был|была|было|были|является|может|имеет|стал|стала) ", r" не \1 "),
    "el": (r" (είναι|ήταν|έχει|είχε|μπορεί) ", r" δεν \1 "),
    "vi": (r" (là|được|có|đã) ", r" không \1 "),
    "hi": (r" (है|था|थे|थी|हैं)", r" नहीं \1"),
    "zh": (r"(是|有|能)", r"不\1"),
    "th": (r"(เป็น|ได้|มี)", r"ไม่\1"),
    "ar": (r" (كان|كانت|يكون|تم) ", r" لم \1 "),
}
UNSPACED = ("zh", "th")
INSERTED = {"zh": "本节最近更新过。", "th": "ส่วนนี้เพิ่งได้รับการปรับปรุง "}
SHARES = {"squad2": 0.4, "xquad": 0.4, "phoenix": 0.2}


class Planted(msgspec.Struct, kw_only=True):
    """A question with its paragraph, and the sentence of the evidence in it."""

    question: Question
    article: str
    paragraph: int
    start: int
    end: int
    sentence: tuple[int, int]
    lang: str


def read_pack(name: str) -> tuple[dict[str, list[str]], list[Planted]]:
    """Return article -> its paragraphs, and the questions that can be answered by words of one of them."""
    articles: dict[str, list[str]] = defaultdict(list)
    place: dict[str, tuple[str, int]] = {}
    for line in (DATA / name / "documents.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        article = f"{name}:{row['id'].rpartition('-')[0]}"
        if name == "xquad" and row["lang"] == "en":
            continue
        place[row["id"]] = article, len(articles[article])
        articles[article].append(row["text"].strip())
    planted = []
    for line in (DATA / name / "questions.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        article, paragraph = place.get(row["document_id"], ("", 0))
        reference, lang = row.get("reference_answer"), row["lang"]
        repeated = name == "xquad" and lang == "en"  # whose paragraphs squad2 has too
        if not row["answerable"] or not reference or not article or lang not in DENIALS or repeated:
            continue
        text = articles[article][paragraph]
        if text.count(reference) != 1:
            continue
        question = Question(
            id=f"{name}:{row['id']}", question=row["question"], reference=reference, lang=lang
        )
        one = planted_at(question, article, paragraph, text, text.index(reference), lang)
        if one is not None:
            planted.append(one)
    return dict(articles), planted


def read_guides() -> tuple[dict[str, list[str]], list[Planted]]:
    """Return the Phoenix guides as paragraphs, with a question for some sentences with code in them."""
    articles: dict[str, list[str]] = {}
    planted = []
    for path in sorted((DATA / "phoenix_docs" / "guides").rglob("*.md")):
        name = f"phoenix:{path.relative_to(DATA / 'phoenix_docs')}"
        articles[name] = [part for part in path.read_text("utf-8").split(GAP) if part.strip()]
        for at, text in enumerate(articles[name]):
            match = re.search(r"`[^`\n]{4,40}`", text)
            if not match or text.startswith(("#", "    ", "```", "-", "*")) or text.count(match[0]) != 1:
                continue
            question = Question(
                id=f"{name}#{at}",
                question=f"What does the guide name after “{text[: match.start()].strip()[-40:]}”?",
                reference=match[0].strip("`"),
                lang="en",
            )
            one = planted_at(question, name, at, text, match.start() + 1, "en")
            if one is not None:
                planted.append(one)
    return articles, planted


def planted_at(
    question: Question, article: str, paragraph: int, text: str, start: int, lang: str
) -> Planted | None:
    """Return a question whose evidence begins at a place of a paragraph; None for a very short sentence."""
    end = start + len(str(question.reference))
    sentence = next(((a, b) for a, b in sentence_spans(text, lang) if a <= start and end <= b), None)
    if sentence is None or sentence[1] - sentence[0] < 25:
        return None
    return Planted(
        question=question,
        article=article,
        paragraph=paragraph,
        start=start,
        end=end,
        sentence=sentence,
        lang=lang,
    )


def with_evidence(one: Planted, articles: dict[str, list[str]], whole: bool) -> Question:
    """Return the question with evidence: its whole sentence, or the reference alone."""
    begin = sum(len(part) + len(GAP) for part in articles[one.article][: one.paragraph])
    a, b = one.sentence if whole else (one.start, one.end)
    span = Evidence(document_id=one.article, start=begin + a, end=begin + b)
    return msgspec.structs.replace(one.question, evidence=[span])


def harm(kind: str, one: Planted, text: str, draw: random.Random, other: str) -> str | None:
    """Return a paragraph that says something else now; None where it cannot be made to."""
    a, b = one.sentence
    reference = text[one.start : one.end]
    if kind == "number":
        numbers = list(re.finditer(r"\d+", reference))
        if not numbers:
            return None
        digits = draw.choice(numbers)
        new = str(int(digits[0]) + draw.choice([1, 2, 10]))
        return text[: one.start + digits.start()] + new + text[one.start + digits.end() :]
    if kind == "negated":
        pattern, by = DENIALS[one.lang]
        denied = re.sub(pattern, by, text[a:b], count=1)
        return None if denied == text[a:b] else text[:a] + denied + text[b:]
    if kind == "replaced":
        return (
            None if other.casefold() == reference.casefold() else text[: one.start] + other + text[one.end :]
        )
    return text


def move(kind: str, one: Planted, text: str, span: tuple[int, int]) -> str | None:
    """Return a paragraph with its evidence between marks after a harmless edit; None without one."""
    a, b = one.sentence
    marked = text[: span[0]] + OPEN + text[span[0] : span[1]] + CLOSE + text[span[1] :]
    if kind == "inserted before":
        new = INSERTED.get(one.lang, "This section has been revised. ")
        return marked[:a] + new + marked[a:]
    if kind == "wrapped":
        if one.lang in UNSPACED:
            return None
        return "\n".join(textwrap.wrap(marked, 60, break_long_words=False, break_on_hyphens=False))
    if kind == "split":
        if len(sentence_spans(text, one.lang)) < 2:
            return None
        # Before or behind the sentence of the evidence.
        if b < len(text.rstrip()):
            at = b + len(OPEN) + len(CLOSE)
            return marked[:at] + GAP + marked[at:].lstrip()
        return marked[:a] + GAP + marked[a:]
    return marked


def slip(one: Planted, text: str, draw: random.Random) -> str | None:
    """Return the paragraph with two letters of a word of its sentence swapped, as it was before the edit."""
    a, b = one.sentence
    words = [
        match
        for match in re.finditer(r"[^\W\d_]{6,}", text[a:b])
        if not (one.start - a < match.end() and match.start() < one.end - a)
    ]
    if not words or one.lang in UNSPACED:
        return None
    word = draw.choice(words)
    at = a + word.start() + draw.randrange(1, len(word[0]) - 2)
    swapped = text[:at] + text[at + 1] + text[at] + text[at + 2 :]
    return None if swapped == text else swapped


class Corpus(msgspec.Struct, kw_only=True):
    """Documents before and after, and questions.

    kinds: question id -> the edit that was made for it. untouched: questions of edited articles whose own
    paragraph nobody edited. marks: question id -> where its evidence is after a harmless edit.
    """

    before: list[Document]
    after: list[Document]
    questions: list[Question]
    kinds: dict[str, str]
    untouched: set[str]
    marks: dict[str, tuple[str, int, int]]


class Edit(msgspec.Struct, kw_only=True):
    """An edit of a paragraph, for one question. whole: its evidence is the sentence, else the reference."""

    one: Planted
    kind: str
    whole: bool
    old: str
    new: str


def draw_edits(
    articles: dict[str, list[str]], planted: dict[str, list[Planted]], n_edits: int, draw: random.Random
) -> list[Edit]:
    """Return edits, each in a paragraph of its own, of all kinds alike."""
    edits: list[Edit] = []
    taken: set[tuple[str, int]] = set()
    renamed: set[str] = set()
    for name, of_pack in SHARES.items():
        for n in range(round(of_pack * n_edits)):
            kind = [*HARMLESS, *HARMFUL][n % 10]
            for one in planted[name]:
                if (one.article, one.paragraph) in taken or (kind == "renamed" and one.article in renamed):
                    continue
                whole = len(edits) % 2 == 0
                text = articles[one.article][one.paragraph]
                other = str(draw.choice(planted[name]).question.reference)
                span = one.sentence if whole else (one.start, one.end)
                new = harm(kind, one, text, draw, other) if kind in HARMFUL else move(kind, one, text, span)
                old = slip(one, text, draw) if kind == "typo" else text
                if new is None or old is None or (kind == "moved" and len(articles[one.article]) < 3):
                    continue
                taken.add((one.article, one.paragraph))
                renamed |= {one.article} if kind == "renamed" else set()
                edits.append(Edit(one=one, kind=kind, whole=whole, old=old, new=new))
                break
    return edits


def edited(articles: dict[str, list[str]], edits: list[Edit], draw: random.Random) -> dict[str, str]:
    """Return the documents after the edits, with marks: OPEN, the question's id, OPEN, evidence, CLOSE."""
    changes = {(edit.one.article, edit.one.paragraph): edit for edit in edits}
    renamed = {edit.one.article for edit in edits if edit.kind == "renamed"}
    documents = {}
    for name, parts in articles.items():
        pieces: list[str] = []
        held: list[str] = []
        split_off: list[str] = []
        for at, text in enumerate(parts):
            edit = changes.get((name, at))
            if edit is None:
                pieces.append(text)
                continue
            tagged = edit.new.replace(OPEN, f"{OPEN}{edit.one.question.id}{OPEN}")
            if edit.kind == "moved":
                held.append(tagged)
            elif edit.kind == "split" and at % 2:
                split_off.append(tagged)
            elif edit.kind != "deleted":
                pieces.append(tagged)
        for text in held:
            pieces.insert(draw.randrange(len(pieces) + 1), text)
        title = f"{name} (renamed)" if name in renamed else name
        documents[title] = GAP.join(pieces)
        if split_off:
            documents[f"{title}, part 2"] = GAP.join(split_off)
    return documents


def without_marks(documents: dict[str, str]) -> tuple[list[Document], dict[str, tuple[str, int, int]]]:
    """Return the documents, and question id -> where the marks were: document, start, end."""
    marks: dict[str, tuple[str, int, int]] = {}
    clean: list[Document] = []
    for name, text in documents.items():
        plain, at = "", 0
        for match in re.finditer(f"{OPEN}([^{OPEN}]*){OPEN}([^{CLOSE}]*){CLOSE}", text):
            plain += text[at : match.start()]
            marks[match[1]] = (name, len(plain), len(plain) + len(match[2]))
            plain += match[2]
            at = match.end()
        clean.append(Document(id=name, text=plain + text[at:]))
    return clean, marks


def plant(seed: int, n_edits: int) -> Corpus:
    """Return a corpus with edits, each in a paragraph of its own."""
    draw = random.Random(seed)
    articles: dict[str, list[str]] = {}
    planted: dict[str, list[Planted]] = {}
    for name in SHARES:
        texts, questions = read_guides() if name == "phoenix" else read_pack(name)
        articles |= texts
        planted[name] = draw.sample(questions, len(questions))
    edits = draw_edits(articles, planted, n_edits, draw)
    before = {name: list(parts) for name, parts in articles.items()}
    for edit in edits:
        before[edit.one.article][edit.one.paragraph] = edit.old
    whole_texts = {name: GAP.join(parts) for name, parts in before.items()}
    after, marks = without_marks(edited(articles, edits, draw))
    of_question = {edit.one.question.id: edit for edit in edits}
    touched = {(edit.one.article, edit.one.paragraph) for edit in edits}
    in_edited = {edit.one.article for edit in edits}
    asked: list[Question] = []
    untouched = set()
    for of_pack in planted.values():
        for n, one in enumerate(of_pack):
            target = of_question.get(one.question.id)
            if one.article not in in_edited or (target is None and (one.article, one.paragraph) in touched):
                continue
            question = with_evidence(one, before, target.whole if target else n % 2 == 0)
            asked.append(remember_sources(question, whole_texts))
            untouched |= set() if target else {question.id}
    return Corpus(
        before=[Document(id=name, text=text) for name, text in whole_texts.items()],
        after=after,
        questions=asked,
        kinds={name: edit.kind for name, edit in of_question.items()},
        untouched=untouched,
        marks=marks,
    )


def share(n: int, of: int) -> str:
    """Return a count as a share with its interval."""
    if not of:
        return "none"
    low, high = wilson_interval(n, of)
    return f"{n:4} of {of:4}  {100 * n / of:5.1f} %  ({100 * low:.1f} to {100 * high:.1f})"


def show_checked(corpus: Corpus, *, verbose: bool, bare: bool) -> None:
    """Print what is found again, what is stale, and what is a false alarm."""
    began = time.perf_counter()
    checked = check_evidence(corpus.questions, corpus.after)
    took = time.perf_counter() - began
    rows, stale = {question.id: question for question in checked.questions}, checked.stale
    n_found, n_stale, of = Counter[str](), Counter[str](), Counter(corpus.kinds.values())
    for name, kind in corpus.kinds.items():
        state, span = checked.states[name], (rows[name].evidence or [])[0]
        is_stale = name in stale
        n_stale[kind] += is_stale
        right = corpus.marks.get(name) == (span.document_id, span.start, span.end)
        n_found[kind] += kind in HARMLESS and not is_stale and right
        wrong = is_stale != (kind in HARMFUL) or (kind in HARMLESS and not right)
        if verbose and wrong:
            print(kind, name, state, checked.because.get(name), span, corpus.marks.get(name))
    print(
        f"{len(corpus.kinds)} edits, {len(corpus.questions):,} questions, {len(corpus.after)} documents; "
        f"{took:.1f} s"
    )
    for kind in HARMLESS:
        print(f"  {kind:16} found again {share(n_found[kind], of[kind])}; stale {n_stale[kind]}")
    for kind in HARMFUL:
        print(f"  {kind:16} named stale {share(n_stale[kind], of[kind])}")
    print(
        f"all moved evidence found again at its place: {share(n_found.total(), sum(of[k] for k in HARMLESS))}"
    )
    harmful = sum(of[kind] for kind in HARMFUL)
    print(f"all that matters named stale:                {share(sum(n_stale[k] for k in HARMFUL), harmful)}")
    # Nothing is known of evidence but its document: that a renamed one is not there is no false alarm.
    allowed = ("document gone",) if bare else ()
    alarms = [n for n in corpus.untouched if n in stale and stale[n] not in allowed]
    if verbose:
        for name in alarms:
            print("false alarm", name, checked.because[name])
    print(f"false alarms, edited elsewhere:              {share(len(alarms), len(corpus.untouched))}")


def show_blame(corpus: Corpus, folder: Path) -> None:
    """Run on the edited documents, every answer wrong; print whom blame charges with stale questions."""
    asked = [question for question in corpus.questions if question.id in corpus.kinds]
    write_rows(folder / "questions.jsonl", asked, Question)
    write_rows(folder / "documents.jsonl", corpus.after, Document)
    first = corpus.after[0]
    brought = [Context(text=first.text[:200], document_id=first.id)]
    wrong = "It is a kind of blue cheese."
    answers = [Answer(question_id=question.id, answer=wrong, contexts=brought) for question in asked]
    write_rows(folder / "sheet.jsonl", answers, Answer)
    (folder / "ragstone.toml").write_text(
        '[run]\nname = "stale"\n[documents]\npaths = ["documents.jsonl"]\n'
        '[questions]\npath = "questions.jsonl"\n[retrieve]\nretriever = "bm25"\n'
        '[answer]\nsheet = "sheet.jsonl"\n[judge]\njudges = ["match", "no_refusal", "grounding"]\n'
    )
    settings = load_settings(folder / "ragstone.toml")
    run(settings=settings)
    place = folder / "runs" / "stale"
    blame(place, settings=settings)
    harmful, n = set(HARMFUL), Counter[str]()
    for name, causes in read_causes(place).items():
        if corpus.kinds[name] in harmful:
            n["lost"] += 1
            n["named"] += causes[0].cause == "stale evidence"
            n["cannot tell"] += causes[0].component == "cannot tell"
            n["charged"] += causes[0].component == "retriever"
    print(
        f"blame: lost points of questions that went stale, {n['lost']}: named {n['named']}, cannot tell "
        f"{n['cannot tell']}, charged to the retriever {n['charged']}"
    )


def main() -> None:
    """Plant, check, run and blame; print the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--edits", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--bare", action="store_true", help="questions remember nothing of their evidence")
    parser.add_argument("--no-blame", action="store_true")
    options = parser.parse_args()
    corpus = plant(options.seed, options.edits)
    if options.bare:
        corpus.questions = [
            msgspec.structs.replace(
                question, metadata={k: v for k, v in (question.metadata or {}).items() if k != SOURCES}
            )
            for question in corpus.questions
        ]
    show_checked(corpus, verbose=options.verbose, bare=options.bare)
    if not options.no_blame:
        with tempfile.TemporaryDirectory() as folder:
            show_blame(corpus, Path(folder))


if __name__ == "__main__":
    main()
