"""What makes an assistant one of a domain: its scope, its texts, what it asks back for, where it takes care.

All of it is the application's own: `[assistant]` of ragstone.toml says it in one language, a folder of files
(`[assistant] texts`) in each of LANGUAGES. An assistant without any of it is about its documents.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Literal

import msgspec

from ragstone.kernel.config import AssistantSection, convert_section, parse_toml, read_library
from ragstone.kernel.config.loading import SectionT
from ragstone.kernel.config.section import Positive, Section
from ragstone.kernel.errors import ConfigError, nearest
from ragstone.kernel.judging.lexical import no_refusal
from ragstone_assistant.guards import any_of, before_none_of, near, said
from ragstone_assistant.languages import LANGUAGES, SPOKEN, language, phrase

PLACE = "place"
"""The slot that is read by the words before and behind a name, see planning/slots.py."""


class DomainTexts(Section, frozen=True, kw_only=True):
    """`LANG.toml`: what a domain says and listens for in a language.

    title, welcome, examples, notice: of the chat page. scope: what questions are about. searches: questions
    that need the documents. tags: what tags are called. ask: slot -> the question for it. words: list ->
    its words, `|` between two; to a list of the package's words.toml they are added.
    """

    title: str | None = None
    welcome: str | None = None
    examples: list[str] = []
    notice: str | None = None
    scope: str | None = None
    searches: list[str] = []
    tags: dict[str, str] = {}
    ask: dict[str, str] = {}
    words: dict[str, str] = {}


class Slot(Section, frozen=True, kw_only=True):
    """Something that the user may be asked for; it is known where a question names a tag of the same name.

    in_scope: who names one asks about the scope. words: a list of words; a turn that holds one says it, the
    whole turn or the word alone (keeps). missing: it is asked for where a question holds words of all lists
    of a row, and has fewer words than `fewer_than`.
    """

    in_scope: bool = False
    words: str | None = None
    keeps: Literal["turn", "word"] = "word"
    missing: list[list[str]] = []
    fewer_than: Positive | None = None


class PlannerWords(Section, frozen=True, kw_only=True):
    """`planner.toml`. likely: lists of words; one of them shows that a question is in scope. advice: lists;
    who says one of their words wants advice, to whom figures alone are no help."""

    likely: list[str] = []
    advice: list[str] = []
    slots: dict[str, Slot] = msgspec.field(default_factory=lambda: {PLACE: Slot()})


class ScopeWords(Section, frozen=True, kw_only=True):
    """`scope.toml`. inside: questions of the scope, in any language. words: language -> words, one of which
    shows that a question is in scope; others: one of which shows, without one of these, that it is not."""

    inside: list[str] = []
    words: dict[str, list[str]] = {}
    others: dict[str, list[str]] = {}


class AudienceTexts(Section, frozen=True, kw_only=True):
    """What an assistant says to one audience in a language: of the page, and in its replies.

    greeting, declined: with `{scope}` in place of what it is about. refusal: where no document answers.
    """

    welcome: str | None = None
    notice: str | None = None
    greeting: str | None = None
    declined: str | None = None
    refusal: str | None = None


class AudienceFile(Section, frozen=True, kw_only=True):
    """`audiences/NAME.toml`: who reads the answers. tone: what a model is told of them, a sentence or two in
    English. texts: language -> what is said to them; the package says what is missing."""

    tone: str = ""
    texts: dict[str, AudienceTexts] = {}


class AdviceWords(Section, frozen=True, kw_only=True):
    """Words of questions of which a wrong answer does harm. amounts, of: a question has one of each, four
    words between them at most ("how much", "urea"); treatments: one is enough, unless one of `people` follows
    it, one word later at most ("treat my customers")."""

    amounts: list[str] = []
    of: list[str] = []
    treatments: list[str] = []
    people: list[str] = []


class ExposureWords(Section, frozen=True, kw_only=True):
    """Words of who tells that a person has come to harm. acts: near one of `people`, see NEAR ("my son",
    "swallowed"); own: said of oneself ("I swallowed"). Either is near a sensitive term or one of `products`.
    """

    people: list[str] = []
    acts: list[str] = []
    own: list[str] = []
    products: list[str] = []


class SensitiveFile(Section, frozen=True, kw_only=True):
    """`sensitive.toml`. caution, refusal: language -> what is said. classes: language -> words for all of
    them; names: name -> how it is written. `*`: any ending.

    emergency: language -> what is said, and nothing else, where a person has come to harm (`exposure`:
    language -> words). covered: tags; where a question names a value of one that no document has, a
    question of `advice` (language -> words), or one that mentions a sensitive term, is refused.
    """

    caution: dict[str, str]
    refusal: dict[str, str]
    classes: dict[str, list[str]] = {}
    names: dict[str, list[str]] = {}
    covered: list[str] = []
    advice: dict[str, AdviceWords] = {}
    emergency: dict[str, str] = {}
    exposure: dict[str, ExposureWords] = {}


NEAR = 8  # words before and behind an act, among which its person and its product are


class SensitiveTerms:
    """Terms of which a wrong sentence does harm, as pesticides or medicines. A class: it keeps its patterns.

    A sentence that mentions one is said only if its passage names the same ones and all its numbers.
    """

    def __init__(self, file: SensitiveFile | None = None) -> None:
        self._file = file
        names = file.names if file else {}
        self._names = {name: any_of(written) for name, written in names.items()}
        written = [word for forms in names.values() for word in forms]
        classes = [word for forms in (file.classes if file else {}).values() for word in forms]
        self._any_name = any_of(written) if written else None
        self._any = any_of([*classes, *written]) if classes or written else None
        advice = file.advice.values() if file else ()
        self._advice = [near(words.amounts, words.of) for words in advice if words.amounts and words.of]
        self._advice += [
            before_none_of(words.treatments, words.people) for words in advice if words.treatments
        ]
        exposures = file.exposure.values() if file else ()
        products = [*classes, *written, *(word for words in exposures for word in words.products)]
        self._products = any_of(products) if products else None
        self._acts = [
            (any_of(acts), any_of(people))
            for words in exposures
            for acts, people in ((words.acts, words.people), (words.own, words.own))
            if acts and people
        ]
        # a sentence is asked about several times while it is checked
        self.mentioned = lru_cache(maxsize=1024)(self._mentioned)

    def _mentioned(self, text: str) -> bool:
        """Say whether a text mentions any of them; `mentioned` remembers it."""
        return self._any is not None and self._any.search(said(text)) is not None

    @property
    def covered(self) -> tuple[str, ...]:
        """The tags of which a document must have the value that is asked for."""
        return tuple(self._file.covered) if self._file else ()

    def asks_advice(self, question: str) -> bool:
        """Say whether a wrong answer to a question would do harm: it is about a dose or a treatment."""
        plain = said(question)
        return self.mentioned(question) or any(pattern.search(plain) for pattern in self._advice)

    def harms_person(self, text: str, before: str = "") -> bool:
        """Say whether a text tells that a person has swallowed or inhaled one of them, or was poisoned.

        before: the user's turn before it, which may have named what it was.
        """
        if self._products is None:
            return False
        plain = said(text)
        named_before = self._products.search(said(before)) is not None
        for acts, people in self._acts:
            for act in acts.finditer(plain):
                start, end = act.span()
                for _ in range(NEAR):  # a word of the text, which has single spaces, at each end
                    start, end = max(0, plain.rfind(" ", 0, start)), plain.find(" ", end) + 1 or len(plain)
                around = plain[start:end]
                if people.search(around) and (named_before or self._products.search(around)):
                    return True
        return False

    def emergency(self, lang: str) -> str:
        """Return what is said where a person has come to harm; "" where the file says nothing."""
        return _in(self._file.emergency, lang) if self._file and self._file.emergency else ""

    def named_in(self, text: str) -> frozenset[str]:
        """Return those that a text names, by their names in the file, in whatever language."""
        plain = said(text)
        if self._any_name is None or not self._any_name.search(plain):
            return frozenset()
        return frozenset(name for name, pattern in self._names.items() if pattern.search(plain))

    def caution(self, lang: str) -> str:
        """Return what ends a reply that mentions one of them."""
        return _in(self._file.caution, lang) if self._file else ""

    def refusal(self, lang: str) -> str:
        """Return what is said where no passage gives advice on them."""
        return _in(self._file.refusal, lang) if self._file else ""


def _in(texts: Mapping[str, str], lang: str) -> str:
    return texts.get(lang) or texts["en"]


class Domain:
    """The domain of an assistant, ready to be used. A class: it keeps the patterns of its words."""

    def __init__(
        self,
        *,
        texts: Mapping[str, DomainTexts] | None = None,
        planner: PlannerWords | None = None,
        scope: ScopeWords | None = None,
        sensitive: SensitiveTerms | None = None,
        audience: AudienceFile | None = None,
        audience_name: str = "",
    ) -> None:
        """texts: of each language. Raises ValueError for a list of words or a slot that nothing declares."""
        self.texts = {lang: (texts or {}).get(lang) or DomainTexts() for lang in LANGUAGES}
        self.planner = planner or PlannerWords()
        self.scope_words = scope or ScopeWords()
        self.sensitive = sensitive or SensitiveTerms()
        self.audience = audience or AudienceFile()
        self.audience_name = audience_name
        self._patterns: dict[tuple[str, str], re.Pattern[str]] = {}
        self._check()

    @property
    def slots(self) -> dict[str, Slot]:
        """What the user may be asked for."""
        return self.planner.slots

    @property
    def askable(self) -> tuple[str, ...]:
        """The slots that there is a question for."""
        return tuple(slot for slot in self.slots if self._asks(slot, "en") is not None)

    @property
    def has_scope(self) -> bool:
        """Whether it says what it is about; without, no question is out of scope."""
        return any(texts.scope for texts in self.texts.values())

    def scope(self, lang: str) -> str:
        """Return what the assistant is about, in a language.

        In one that the domain has no texts of: what it says in all others, or the words for any documents.
        """
        if lang not in self.texts:
            everywhere = {texts.scope for texts in self.texts.values()}
            return (len(everywhere) == 1 and everywhere.pop()) or phrase("default_scope", lang)
        return self._own(lang).scope or self._own("en").scope or phrase("default_scope", lang)

    def say(self, name: str, lang: str) -> str:
        """Return `greeting`, `thanks` or `declined` in a language, as it is said to the audience."""
        own = getattr(self.audience.texts.get(lang), name, None)
        scope = self.scope(lang)
        return own.replace("{scope}", scope) if own else phrase(name, lang, scope=scope)

    def ask(self, slot: str, lang: str) -> str:
        """Return the question for a slot; for one without, a question what is meant."""
        return self._asks(slot, lang) or self._asks(slot, "en") or phrase("too_vague", lang)

    def searches(self) -> tuple[str, ...]:
        """Return questions that need the documents, in all languages."""
        own = [text for texts in self.texts.values() for text in texts.searches]
        return tuple(own or [text for lang in SPOKEN for text in language(lang).searches])

    def words(self, lang: str, name: str) -> list[str]:
        """Return a list of words, the package's and the domain's; English ones where a language has none."""
        listed = _package_words()
        own = listed.get(lang, {}).get(name, listed["en"].get(name, ""))
        written = f"{own}|{self._own(lang).words.get(name, '')}"
        return [word for word in written.split("|") if word]

    def pattern(self, lang: str, name: str) -> re.Pattern[str]:
        """Return the pattern for any word of a list."""
        key = (lang if lang in SPOKEN else "en", name)
        if key not in self._patterns:
            self._patterns[key] = any_of(self.words(*key))
        return self._patterns[key]

    def speaks_of(self, text: str, lang: str, name: str) -> str | None:
        """Return the first word of a list that a text holds, None where there is none."""
        if not self.words(lang, name):
            return None
        match = self.pattern(lang, name).search(said(text))
        return match[0].strip() if match else None

    def names_in(self, known: Mapping[str, str]) -> str:
        """Return the values of slots that show the scope, e.g. of a product: no place is called so."""
        return " ".join(known.get(name, "") for name, slot in self.slots.items() if slot.in_scope)

    def _own(self, lang: str) -> DomainTexts:
        return self.texts[lang if lang in LANGUAGES else "en"]

    def _asks(self, slot: str, lang: str) -> str | None:
        return self._own(lang).ask.get(slot) or (phrase("ask_place", lang) if slot == PLACE else None)

    def _check(self) -> None:
        declared = {name for texts in self.texts.values() for name in texts.words} | set(
            _package_words()["en"]
        )
        used = [*self.planner.likely, *self.planner.advice]
        for slot in self.slots.values():
            used += [*([slot.words] if slot.words else []), *(name for row in slot.missing for name in row)]
        for name in used:
            if name not in declared:
                raise ValueError(f"planner.toml names the list of words {name!r}. {nearest(name, declared)}")
        slots_asked = {slot for texts in self.texts.values() for slot in texts.ask}
        for name in slots_asked - self.slots.keys():
            raise ValueError(f"[ask] has a question for {name!r}. {nearest(name, self.slots)}")


@lru_cache(maxsize=1)
def _package_words() -> dict[str, dict[str, str]]:
    return read_library("ragstone_assistant", "words.toml")


def load_domain(section: AssistantSection, folder: Path | None) -> Domain:
    """Return the domain of `[assistant]`. folder: of its texts. Raises ConfigError naming file and fix.

    What a file of the folder says of the page or the scope goes before what `[assistant]` says.
    """
    general = DomainTexts(
        title=section.title, welcome=section.welcome, examples=section.examples, scope=section.scope
    )
    if folder is None:
        if section.audience is not None:
            raise ConfigError(
                "[assistant] audience names a file in the folder `audiences` of `texts`. Add texts, or "
                "delete audience."
            )
        return Domain(texts=dict.fromkeys(LANGUAGES, general))
    if not folder.is_dir():
        raise ConfigError(
            f"{folder}: no such folder. [assistant] texts names it: create it, or delete the key."
        )
    known = [f"{name}.toml" for name in (*LANGUAGES, "planner", "scope", "sensitive")]
    for file in sorted(folder.glob("*.toml")):
        if file.name not in known:
            raise ConfigError(f"{file}: not one of the files of texts. {nearest(file.name, known)}")
    own = {lang: _read(folder / f"{lang}.toml", DomainTexts) or DomainTexts() for lang in LANGUAGES}
    to = section.audience
    audience = _read_audience(folder / "audiences", to) if to else AudienceFile()
    own = {lang: _addressed(texts, audience.texts.get(lang)) for lang, texts in own.items()}
    sensitive = _read_sensitive(folder / "sensitive.toml")
    try:
        return Domain(
            texts={lang: _filled(texts, general) for lang, texts in own.items()},
            planner=_read(folder / "planner.toml", PlannerWords),
            scope=_read(folder / "scope.toml", ScopeWords),
            sensitive=SensitiveTerms(sensitive),
            audience=audience,
            audience_name=to or "",
        )
    except ValueError as mistake:
        raise ConfigError(f"{folder}: {mistake}") from None


def _read(file: Path, kind: type[SectionT]) -> SectionT | None:
    """Return a file of texts; None where there is none. Raises ConfigError naming the line."""
    try:
        text = file.read_text("utf-8-sig")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as mistake:
        raise ConfigError(f"{file}: cannot be read ({mistake}).") from None
    return convert_section(parse_toml(text, file), kind, file, text)


def _read_sensitive(file: Path) -> SensitiveFile | None:
    """Return sensitive.toml; None where there is none. Raises ConfigError naming file and fix."""
    sensitive = _read(file, SensitiveFile)
    if sensitive is None:
        return None
    for name in ("caution", "refusal", *(["emergency"] if sensitive.exposure else [])):
        if "en" not in getattr(sensitive, name):
            raise ConfigError(f"{file}: [{name}] has no `en`. Add it.")
    for lang, text in sensitive.refusal.items():
        if lang in SPOKEN and no_refusal(text):
            raise ConfigError(
                f"{file}: the refusal in {lang!r} does not read as one. Say that the documents do not answer."
            )
    return sensitive


def _read_audience(folder: Path, name: str) -> AudienceFile:
    """Return an audience of `audiences`. Raises ConfigError naming file and fix."""
    file = folder / f"{name}.toml"
    known = sorted(path.stem for path in folder.glob("*.toml"))
    if name not in known:
        raise ConfigError(f"{file}: no such audience. {nearest(name, known)}")
    audience = _read(file, AudienceFile) or AudienceFile()
    for lang, texts in audience.texts.items():
        if lang not in SPOKEN:
            raise ConfigError(
                f"{file}: [texts.{lang}] is not a language of the assistant. {nearest(lang, SPOKEN)}"
            )
        if texts.refusal and no_refusal(texts.refusal):
            raise ConfigError(
                f"{file}: the refusal of [texts.{lang}] does not read as one. Say that the documents do not "
                "answer."
            )
    return audience


def _addressed(texts: DomainTexts, to: AudienceTexts | None) -> DomainTexts:
    """Return the texts of a language as an audience reads them."""
    if to is None:
        return texts
    return msgspec.structs.replace(
        texts, welcome=to.welcome or texts.welcome, notice=to.notice or texts.notice
    )


def _filled(own: DomainTexts, general: DomainTexts) -> DomainTexts:
    """Return texts with the general ones where there are none of the language."""
    names: Sequence[str] = ("title", "welcome", "examples", "scope")
    return msgspec.structs.replace(
        own, **{name: getattr(own, name) or getattr(general, name) for name in names}
    )
