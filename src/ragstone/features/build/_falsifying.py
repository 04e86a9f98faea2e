"""A true statement -> false ones by the smallest change: of a number, name or relation, or a negation."""

import difflib
import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from typing import Annotated, Literal

import msgspec

from ragstone.features.build._built import call_failed, noted
from ragstone.features.build._fact_writing import check_fact, tidy
from ragstone.features.build._losses import lose
from ragstone.features.build._number_change import NumberChange, change_number
from ragstone.kernel.config.datasets import Change
from ragstone.kernel.corpus.numbers import numbers_in
from ragstone.kernel.corpus.tokens import tokenize
from ragstone.kernel.dataset.candidate import Candidate, Loss
from ragstone.kernel.llm import MATERIAL, Ask, CallFailed, Prompt, fenced_prompt, row_nonce
from ragstone.kernel.records import Question

# Words that deny, of languages with spaces.
WORDS = {
    "en": "not no never none neither nor cannot without nobody nothing nowhere unable",
    "de": "nicht kein keine keiner keinen keinem keines nie niemals ohne weder nichts niemand",
    "nl": "niet geen nooit zonder noch niets niemand",
    "fr": "ne n pas non jamais sans aucun aucune ni rien personne",
    "es": "no nunca jamás sin ningún ninguna ninguno ni nada nadie tampoco",
    "pt": "não nunca jamais sem nenhum nenhuma nem nada ninguém",
    "it": "non mai senza nessun nessuno nessuna né niente",
    "ro": "nu niciodată fără niciun nicio nici",
    "ca": "no mai sense cap ni",
    "sv": "inte ej aldrig utan ingen inget inga",
    "da": "ikke aldrig uden ingen intet",
    "no": "ikke aldri uten ingen intet",
    "pl": "nie nigdy bez żaden żadna żadne ani",
    "cs": "ne není nejsou nikdy bez žádný žádná žádné ani",
    "sk": "nie nikdy bez žiadny žiadna žiadne ani",
    "ru": "не нет никогда без ни нельзя никакой никто ничего",
    "uk": "не ні немає ніколи без жоден жодна ніхто нічого",
    "bg": "не няма никога без нито",
    "el": "δεν δε μη μην όχι ποτέ χωρίς κανένας καμία κανένα",
    "tr": "değil değildir yok yoktur olmayan asla hiç",
    "hu": "nem ne sem nincs soha nélkül",
    "fi": "ei en et emme ette eivät ilman älä",
    "vi": "không chẳng chưa đừng chớ",
    "id": "tidak bukan jangan belum tanpa tak",
    "sw": "si hakuna hapana sio bila kamwe",
    "hi": "नहीं न ना मत बिना नही",
    "bn": "না নয় নি নেই ছাড়া নন",
    "ar": "لا لم لن ليس ليست غير ما دون بدون لست",
    "he": "לא אין אינו אינה אינם בלי אל",
    "fa": "نه نیست نیستند بدون هیچ نمی ن",
    "ur": "نہیں نہ مت بغیر",
}
# Of languages that deny with a part of a word, or that have no spaces: found inside words.
PARTS = {
    "zh": "不 没 沒 未 无 無 非 勿 莫",
    "ja": "ない なく なか ません ず ぬ 不 無 非 未",
    "ko": "않 안 아니 못 없 말 불 비",
    "th": "ไม่ มิ ไร้",
    "en": "n't n’t",
}
# Of languages that deny with an affix: what one form of a word has, at its start or behind its stem.
AFFIXES = {
    "tr": ("ma", "me", "mı", "mi", "mu", "mü", "sız", "siz", "suz", "süz"),
    "cs": ("ne",),
    "sk": ("ne",),
    "sw": ("ha", "hu", "si"),
    "fa": ("ن", "نمی"),
    "en": ("un", "in", "im", "non", "dis"),
    "de": ("un",),
}
_ALL = frozenset(word for listed in WORDS.values() for word in listed.split())
STEM = 2  # characters that two forms of a word share, at least


def count_negations(text: str, lang: str | None) -> int:
    """Return how many negations a text has; of a language that is not known here, words of all that are."""
    code = (lang or "")[:2]
    folded = unicodedata.normalize("NFC", text).casefold()
    n_parts = sum(folded.count(part) for part in PARTS.get(code, "").split())
    if code in PARTS and code not in WORDS:
        return n_parts
    known = frozenset(WORDS[code].split()) if code in WORDS else _ALL
    return n_parts + sum(word in known for word in tokenize(folded))


def is_negated(before: Sequence[str], after: Sequence[str], lang: str | None) -> bool:
    """Say whether one of two runs of words denies what the other says.

    It has more negations, or a word with an affix that denies where the other has it without.
    """
    if count_negations(" ".join(before), lang) != count_negations(" ".join(after), lang):
        return True
    affixes = AFFIXES.get((lang or "")[:2], ())
    return any(_denies(a, b, affixes) or _denies(b, a, affixes) for a in before for b in after)


def _denies(word: str, plain: str, affixes: Sequence[str]) -> bool:
    """Say whether a word is another one with an affix: `invalid` and `valid`, `vermez` and `verir`."""
    word, plain = word.casefold(), plain.casefold()
    n_same = next((at for at, (a, b) in enumerate(zip(word, plain, strict=False)) if a != b), len(plain))
    more, less = word[n_same:], plain[n_same:]
    for affix in affixes:
        rest = word.removeprefix(affix)
        if rest != word and len(rest) > STEM and rest[: STEM + 1] == plain[: STEM + 1]:
            return True
        if n_same >= STEM and more.startswith(affix) and not less.startswith(affix[0]):
            return True
    return False


MOST_SHARE = 0.4  # of the longer statement's words: what a small change may touch
ALWAYS = 3  # words that it may touch in the shortest statement
MOST_RUNS = {"negation": 2, "number": 1, "entity": 1, "relation": 2}  # places: `accepts`, `does not accept`

UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
# Words with what belongs to them; in scripts without spaces each character with its marks.
_TOKEN = re.compile(
    rf"[{UNSPACED}][\u0e31\u0e34-\u0e3a\u0e47-\u0e4e]*|\d+(?:[.,٫٬]\d+)*|(?:(?![{UNSPACED}\d])[^\W_]|[\u0300-\u036f"
    rf"\u0900-\u0903\u093a-\u094f\u0980-\u0983\u09bc-\u09d7\u064b-\u0670])+(?:['’][^\W\d_]+)?"
)


class FalsifiedText(msgspec.Struct, frozen=True):
    """What stood there, and what stands there now; several places are joined by ` … `."""

    before: str
    after: str


def words_of(text: str) -> list[str]:
    """Return the words of a text, without punctuation, in reading order."""
    return _TOKEN.findall(unicodedata.normalize("NFC", text))


def normal_form(text: str) -> str:
    """Return a text's words in one case: what two statements share that say the same in the same words."""
    return " ".join(words_of(text)).casefold()


def check_change(before: str, after: str, kind: Change, lang: str | None) -> FalsifiedText | str:
    """Return what was changed from a statement to another, or why that is not the change asked for."""
    old, new = words_of(before), words_of(after)
    folded_old, folded_new = ([word.casefold() for word in side] for side in (old, new))
    matcher = difflib.SequenceMatcher(None, folded_old, folded_new, autojunk=False)
    runs = [(list(old[a:b]), list(new[c:d])) for tag, a, b, c, d in matcher.get_opcodes() if tag != "equal"]
    if not runs:
        return "nothing was changed"
    n_touched = max(sum(len(a) for a, _ in runs), sum(len(b) for _, b in runs))
    if n_touched > max(ALWAYS, MOST_SHARE * max(len(old), len(new))):
        return f"{n_touched} of {len(old)} words were changed"
    if len(runs) > MOST_RUNS[kind]:
        return f"{len(runs)} places were changed"
    denied = count_negations(before, lang) != count_negations(after, lang) or is_negated(*_flat(runs), lang)
    if denied != (kind == "negation"):
        return "a negation was changed" if denied else "no negation was added or removed"
    mistake = _CHECKS[kind](runs, lang)
    if mistake is not None:
        return mistake
    return FalsifiedText(_joined(a for a, _ in runs), _joined(b for _, b in runs))


Runs = Sequence[tuple[list[str], list[str]]]


def _number(runs: Runs, _lang: str | None) -> str | None:
    for before, after in runs:
        if len(before) != 1 or len(after) != 1 or not (numbers_in(before[0]) and numbers_in(after[0])):
            return "something other than a number was changed"
    return None


def _negation(runs: Runs, lang: str | None) -> str | None:
    """A word that is gone for nothing, and denied nothing, was lost in copying."""
    lost = [word for before, after in runs if not after for word in before]
    if lost and not count_negations(" ".join(lost), lang):
        return f"more than a negation was removed: {' '.join(lost)}"
    return None


def _entity(runs: Runs, _lang: str | None) -> str | None:
    before, after = runs[0]
    if not before or not after:
        return "a name was added or removed, not replaced"
    if _numbers(before) or _numbers(after):
        return None if _letters(before) and _letters(after) else "a number was changed, not a name"
    if not (_letters(before) and _letters(after)):
        return "no name was changed"
    return None


def _relation(runs: Runs, lang: str | None) -> str | None:
    before, after = _flat(runs)
    if not before or not after:
        return "words were added or removed, not replaced"
    if _numbers(before) != _numbers(after):
        return "a number was changed, not a relation"
    if (lang or "")[:2] != "de" and _names(before) != _names(after):  # German writes nouns as names
        return "a name was changed, not a relation"
    return None


_CHECKS = {"number": _number, "negation": _negation, "entity": _entity, "relation": _relation}


def _flat(runs: Runs) -> tuple[list[str], list[str]]:
    return [word for before, _ in runs for word in before], [word for _, after in runs for word in after]


def _numbers(tokens: Iterable[str]) -> list[str]:
    return [number for word in tokens for number in numbers_in(word)]


def _letters(tokens: Iterable[str]) -> bool:
    return any(character.isalpha() for word in tokens for character in word)


def _names(tokens: Iterable[str]) -> list[str]:
    return [word for word in tokens if word[:1].isupper()]


def _joined(runs: Iterable[Sequence[str]]) -> str:
    return " … ".join(" ".join(run) for run in runs if run)


VERSION = 1  # of the prompts below; a change of wording is a new one
CHANGE_TOKENS, CHECK_TOKENS = 160, 200
LONGEST = 60  # characters of what is replaced, as the model is told
MOST_TRIES = 2  # kinds of change that a model is asked for, of one statement

CHANGE_TOLD = (
    "You make a true statement false for a true/false test, by replacing a few of its words.\n"
    "{how}\n"
    "- was: the words that you replace, copied exactly from the statement: as few as you can.\n"
    "- now: the words that you put in their place, in the language of the statement. The statement must then "
    "be a correct sentence, and the text must show that it is false."
)
HOW = {
    "entity": "Replace one name, place, product, person or thing by another one of the same kind, which a "
    'reader could take for the right one. For example, in "The museum in Lyon opens at nine.": was "Lyon", '
    'now "Bern".',
    "negation": 'Put one negation in, or take one out, so that it says the opposite. For example, in "The '
    'museum opens on Sundays.": was "opens", now "does not open".',
    "relation": "Replace one verb, adjective, comparison or preposition by its opposite, without a negation. "
    'For example, in "The museum opens before noon.": was "before", now "after".',
}
CHECK_TOLD = (
    "You check a statement against a text. First give your reason in one sentence: what does the text say of "
    "it? Then the verdict: true if the text says the same, false if the text says otherwise, not_said if the "
    "text says neither. Compare every word: one name, one number or one small word can make the difference."
)


Words = Annotated[str, msgspec.Meta(extra_json_schema={"maxLength": LONGEST})]


class ChangeReply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The words of a statement that are replaced, and those in their place."""

    was: Words
    now: Words


class CheckReply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A reason, then whether the text says that a statement is true."""

    reason: Annotated[str, msgspec.Meta(extra_json_schema={"maxLength": 400})]
    verdict: Literal["true", "false", "not_said"]


class Truths(msgspec.Struct, frozen=True):
    """What a false statement may not be: the words of a true one, or words that stand in its document.

    Both as `normal_form` has them. documents: document id -> what the model may be shown of it.
    """

    statements: Collection[str]
    documents: dict[str, str]


class Falsified(msgspec.Struct, frozen=True, kw_only=True):
    """What the attempts to make a statement false gave: candidates, of which the last may be good."""

    candidates: list[Candidate]
    failed: list[Loss] = []

    @property
    def n_asked(self) -> int:
        """How many false statements were asked for."""
        return len(self.candidates) + len(self.failed)


def plan_changes(
    statements: Sequence[Candidate], kinds: Sequence[Change], truths: Truths, seed: int
) -> list[list[Change]]:
    """Return for each statement the kinds of change in the order in which they are tried.

    The first ones are spread as evenly as may be. A number is among them only where there is one to change.
    """
    counts = dict.fromkeys(kinds, 0)
    plans = []
    for statement in statements:
        possible = [kind for kind in counts if kind != "number" or _number_of(statement, truths, seed)]
        possible.sort(key=counts.__getitem__)
        if possible:
            counts[possible[0]] += 1
        plans.append(possible)
    return plans


async def falsify_fact(
    truth: Candidate, kinds: Sequence[Change], truths: Truths, *, seed: int, ask: Ask, secret: bytes
) -> Falsified:
    """Return false statements made of a true one, by the first of these kinds of change that succeeds.

    A number is changed without a model; a model is asked for MOST_TRIES of the other kinds at most, and for
    no other once a call has failed. A candidate without a loss is false by all that was checked; the others
    say what was wrong.
    """
    done, n_left = Falsified(candidates=[]), MOST_TRIES
    for kind in kinds:
        if kind != "number":
            if not n_left:
                continue
            n_left -= 1
        tried = await _attempt(truth, kind, truths, seed, ask, secret)
        if tried.failed or any(
            candidate.loss and candidate.loss.reason == "call_failed" for candidate in tried.candidates
        ):
            n_left = 0
        done = Falsified(candidates=done.candidates + tried.candidates, failed=done.failed + tried.failed)
        if any(candidate.loss is None for candidate in tried.candidates):
            break
    if not done.n_asked:
        return Falsified(candidates=[_unchanged(truth, "number", "it has no number that can be changed")])
    return done


async def _attempt(
    truth: Candidate, kind: Change, truths: Truths, seed: int, ask: Ask, secret: bytes
) -> Falsified:
    if kind == "number":
        change = _number_of(truth, truths, seed)
        if change is None:
            return Falsified(candidates=[])
        changed = FalsifiedText(change.before, change.after)
        return Falsified(candidates=[_checked(_false(truth, kind, change.statement, changed), truths)])
    try:
        reply = await ask(change_prompt(truth, kind, secret))
    except CallFailed as failure:
        return Falsified(candidates=[], failed=[call_failed(failure)])
    statement = truth.question.question
    if max(len(reply.value.was), len(reply.value.now)) >= LONGEST:  # small models copy until they are cut off
        return Falsified(candidates=[_unchanged(truth, kind, f"{LONGEST} characters or more were replaced")])
    text = replace_words(statement, reply.value.was, reply.value.now)
    if text is None:
        why = f"{reply.value.was!r} is not in the statement"
        return Falsified(candidates=[_unchanged(truth, kind, why)])
    what = check_change(statement, text, kind, truth.question.lang)
    if isinstance(what, str):
        return Falsified(candidates=[_unchanged(truth, kind, what, text)])
    candidate = _checked(_false(truth, kind, text, what), truths)
    return Falsified(candidates=[await ask_whether_false(candidate, ask=ask, secret=secret)])


async def ask_whether_false(candidate: Candidate, *, ask: Ask, secret: bytes) -> Candidate:
    """Return the candidate with what a model says of it in `metadata.checked`; lost if the text supports it.

    A lost one is not asked about. One whose call failed is lost: nobody has checked it.
    """
    if candidate.loss is not None:
        return candidate
    try:
        reply = await ask(check_prompt(candidate, secret))
    except CallFailed as failure:
        return lose(candidate, "call_failed", call_failed(failure).detail)
    checked = noted(candidate, checked=reply.value.verdict)
    if reply.value.verdict == "true":
        return lose(checked, "unchanged", f"the text supports it: {tidy(reply.value.reason)}")
    return checked


def replace_words(statement: str, was: str, now: str) -> str | None:
    """Return the statement with the first `was` in it replaced, whole words in any case; None without one.

    At its start the statement keeps its capital.
    """
    was, now = tidy(was), tidy(now)
    edges = [r"(?<!\w)" if _is_spaced(was[:1]) else "", r"(?!\w)" if _is_spaced(was[-1:]) else ""]
    match = re.search(f"{edges[0]}{re.escape(was)}{edges[1]}", statement, re.IGNORECASE) if was else None
    if match is None:
        return None
    if not match.start() and statement[:1].isupper():
        now = now[:1].upper() + now[1:]
    return tidy(statement[: match.start()] + now + statement[match.end() :])


def change_prompt(truth: Candidate, kind: Change, secret: bytes) -> Prompt:
    """Return the call that asks for a change of this kind."""
    task = CHANGE_TOLD.format(how=HOW[kind])
    form = '{"nonce": the code, "was": words of the statement, "now": other words}'
    return _prompt(task, form, truth, ChangeReply, CHANGE_TOKENS, secret)


def check_prompt(candidate: Candidate, secret: bytes) -> Prompt:
    """Return the call that asks whether the text supports a statement."""
    form = '{"nonce": the code, "reason": one sentence, "verdict": "true", "false" or "not_said"}'
    return _prompt(CHECK_TOLD, form, candidate, CheckReply, CHECK_TOKENS, secret)


def _prompt(
    task: str, form: str, candidate: Candidate, reply: type, max_tokens: int, secret: bytes
) -> Prompt:
    passage = candidate.passages[0]
    inputs = {"title": passage.title} if passage.title else {}
    inputs |= {"text": passage.text, "statement": candidate.question.question}
    return fenced_prompt(
        f"{task}\n\n{MATERIAL}",
        inputs,
        form=form,
        reply=reply,
        nonce=row_nonce(secret, [task, str(VERSION), *inputs.values()]),
        max_tokens=max_tokens,
    )


def _is_spaced(character: str) -> bool:
    """Say whether a character belongs to a script in which words have edges."""
    return bool(re.match(rf"\w(?<![{UNSPACED}])", character))


def _number_of(truth: Candidate, truths: Truths, seed: int) -> NumberChange | None:
    statement = truth.question.question
    document = truths.documents[truth.passages[0].document_id]
    return change_number(statement, f"{seed}\n{statement}", [document])


def _checked(candidate: Candidate, truths: Truths) -> Candidate:
    """Return the candidate, lost if it says what is true, or is no good statement."""
    text = normal_form(candidate.question.question)
    if text in truths.statements:
        return lose(candidate, "unchanged", "it is another true statement")
    if f" {text} " in f" {truths.documents[candidate.passages[0].document_id]} ":
        return lose(candidate, "unchanged", "it is in the document")
    return check_fact(candidate)


def _false(truth: Candidate, kind: Change, statement: str, changed: FalsifiedText) -> Candidate:
    row = truth.question
    metadata = {
        "true": row.question,
        "change": {"kind": kind, "before": changed.before, "after": changed.after},
        **(row.metadata or {}),
    }
    return msgspec.structs.replace(truth, question=_row(row, kind, statement, metadata), loss=None)


def _unchanged(truth: Candidate, kind: Change, why: str, statement: str = "") -> Candidate:
    row = truth.question
    question = _row(row, kind, statement, {"true": row.question})
    return lose(msgspec.structs.replace(truth, question=question, loss=None), "unchanged", why)


def _row(truth: Question, kind: Change, statement: str, metadata: dict[str, object]) -> Question:
    return msgspec.structs.replace(
        truth,
        id="",
        question=statement,
        reference="false",
        tags={"fact": "false", "change": kind},
        metadata=metadata,
    )
