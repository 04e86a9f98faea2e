"""A short text and a language -> whether it is in it; and the names of languages."""

import re
import unicodedata
from collections import Counter

from ragstone.kernel.corpus.tokens import tokenize
from ragstone.kernel.files.language import base_language, language_odds
from ragstone.kernel.llm.stub_reply import WORDS

# A language is ruled out where another that is written in the same letters is so many times likelier.
RULED_OUT, RULED_OUT_IF_DOUBTFUL = 5, 50
FEW_WORDS = 5  # with fewer it is doubtful, as between close languages
OWN_LETTERS = 0.2  # of the words: names and technical terms stay in Latin letters everywhere
FEWEST_WORDS = 3  # fewer in other letters may be a name

_CLOSE = [
    set(group.split())
    for group in (
        "hi mr ne sa", "ru uk be bg mk sr", "no da sv", "cs sk", "hr sr sl", "es pt gl ca an oc", "id jv",
        "nl af fy", "de lb", "tr az tk", "ar fa ur ps ug", "kk ky tt ba", "bn as", "xh zu", "ga gd", "is fo",
        "fr oc wa", "it la",
    )
]  # fmt: skip
_SCRIPTS = {
    "ARABIC": "ar fa ur ps ug sd", "ARMENIAN": "hy", "BENGALI": "bn as", "CJK": "zh ja", "HIRAGANA": "ja",
    "KATAKANA": "ja", "CYRILLIC": "ru uk be bg mk kk ky mn tg tt ba", "DEVANAGARI": "hi mr ne sa",
    "ETHIOPIC": "am ti", "GEORGIAN": "ka", "GREEK": "el", "GUJARATI": "gu", "GURMUKHI": "pa",
    "HANGUL": "ko", "HEBREW": "he yi", "KANNADA": "kn", "KHMER": "km", "LAO": "lo", "MALAYALAM": "ml",
    "MYANMAR": "my", "ORIYA": "or", "SINHALA": "si", "TAMIL": "ta", "TELUGU": "te", "THAI": "th",
    "TIBETAN": "bo dz",
}  # fmt: skip
_EITHER = frozenset({"sr", "uz", "ku", "az", "tk"})  # written in Latin letters and in others
_SCRIPTS_OF: dict[str, set[str]] = {}
for _script, _codes in _SCRIPTS.items():
    for _code in _codes.split():
        _SCRIPTS_OF.setdefault(_code, set()).add(_script)

# Names in code are in no language: `scope/2`, Phoenix.Router, snake_case, camelCase, --option.
_CODE = re.compile(
    r"`[^`]*`|(?<![\w.:/@-])[\w.:/@-]*(?:\w[._/:]\w|\w\(|[a-z][A-Z]|--\w)[\w.:/()@-]*+", re.ASCII
)
_QUESTION_WORDS = "what who whom whose when where which why how do does did is are was were"
_ASKED = frozenset(_QUESTION_WORDS.split())

_NAMES = (
    "af Afrikaans,am Amharic,an Aragonese,ar Arabic,as Assamese,az Azerbaijani,ba Bashkir,be Belarusian,"
    "bg Bulgarian,bn Bengali,bo Tibetan,br Breton,bs Bosnian,ca Catalan,cs Czech,cy Welsh,da Danish,"
    "de German,dz Dzongkha,el Greek,en English,eo Esperanto,es Spanish,et Estonian,eu Basque,fa Persian,"
    "fi Finnish,fil Filipino,fo Faroese,fr French,fy Frisian,ga Irish,gd Scottish Gaelic,gl Galician,"
    "gu Gujarati,ha Hausa,he Hebrew,hi Hindi,hr Croatian,ht Haitian Creole,hu Hungarian,hy Armenian,"
    "id Indonesian,ig Igbo,is Icelandic,it Italian,ja Japanese,jv Javanese,ka Georgian,kk Kazakh,"
    "km Khmer,kn Kannada,ko Korean,ku Kurdish,ky Kyrgyz,la Latin,lb Luxembourgish,lg Ganda,ln Lingala,"
    "lo Lao,lt Lithuanian,lv Latvian,mg Malagasy,mk Macedonian,ml Malayalam,mn Mongolian,mr Marathi,"
    "ms Malay,mt Maltese,my Burmese,nb Norwegian,ne Nepali,nl Dutch,nn Norwegian Nynorsk,no Norwegian,"
    "oc Occitan,om Oromo,or Odia,pa Punjabi,pl Polish,ps Pashto,pt Portuguese,qu Quechua,ro Romanian,"
    "ru Russian,rw Kinyarwanda,sa Sanskrit,sd Sindhi,si Sinhala,sk Slovak,sl Slovenian,sn Shona,"
    "so Somali,sq Albanian,sr Serbian,st Sotho,sv Swedish,sw Swahili,ta Tamil,te Telugu,tg Tajik,"
    "th Thai,ti Tigrinya,tk Turkmen,tl Tagalog,tr Turkish,tt Tatar,ug Uyghur,uk Ukrainian,ur Urdu,"
    "uz Uzbek,vi Vietnamese,wa Walloon,xh Xhosa,yi Yiddish,yo Yoruba,zh Chinese,zu Zulu"
)
NAMES = dict(pair.split(" ", 1) for pair in _NAMES.split(","))


def language_name(lang: str) -> str:
    """Return a language in words, for a model: "Hindi", "Portuguese (pt-BR)"; an unknown code as it is."""
    code = lang.replace("_", "-")
    name = NAMES.get(code.split("-")[0].casefold())
    if name is None:
        return f"the language with the code {code}"
    return f"{name} ({code})" if "-" in code else name


def speaks(text: str, lang: str | None) -> bool:
    """Say whether a short text, such as a question, is in a language.

    lang: an ISO 639-1 code, with or without a region (pt-BR) or script (zh-Hans), which are not looked at.
    No where too few words are in the language's letters, or where another language of the same letters is
    much likelier. Yes where there is nothing to tell by: no language is given, names and numbers alone, a
    language that is not known.
    """
    if WORDS in text:  # nobody has written this: in a forecast no second call is made for its language
        return True
    code = base_language(lang) if lang else None
    tokens = [word for word in tokenize(_CODE.sub(" ", text)) if any(map(str.isalpha, word))]
    if code not in NAMES or not tokens:
        return True
    scripts = Counter(map(_script_of, tokens))
    own = _SCRIPTS_OF.get(code) or ({"LATIN"} if code not in _EITHER else set(scripts))
    n_own = sum(n for script, n in scripts.items() if script in own)
    if n_own < OWN_LETTERS * len(tokens):
        return len(tokens) < FEWEST_WORDS
    if own != {"LATIN"} and len(_ASKED.intersection(tokens)) > 1:
        return False
    if "CJK" in own:
        n_kana = scripts["HIRAGANA"] + scripts["KATAKANA"]
        return n_kana > 0 or scripts["CJK"] < FEWEST_WORDS if code == "ja" else n_kana < FEWEST_WORDS
    return not _ruled_out(" ".join(_CODE.sub(" ", text).split()), code, own, len(tokens))


def _ruled_out(text: str, code: str, own: set[str], n_words: int) -> bool:
    """Say whether another language that is written in the same letters is much likelier."""
    odds: Counter[str] = Counter()
    for other, likely in language_odds(text).items():
        base = base_language(other)
        if base == code or base in _EITHER or _SCRIPTS_OF.get(base, {"LATIN"}) & own:
            odds[base] += likely  # type: ignore[assignment]
    if code not in odds:
        return False
    best = max(odds, key=odds.__getitem__)
    doubtful = n_words < FEW_WORDS or any({code, best} <= group for group in _CLOSE)
    factor = RULED_OUT_IF_DOUBTFUL if doubtful else RULED_OUT
    return odds[best] > factor * odds[code]


def _script_of(word: str) -> str:
    letter = next(character for character in word if character.isalpha())
    return unicodedata.name(letter, "UNKNOWN").split()[0]
