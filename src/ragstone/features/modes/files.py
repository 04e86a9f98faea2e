"""Mode files: judges in the folder `modes`, read, named and written."""

import hashlib
import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from ragstone.kernel.config import to_toml
from ragstone.kernel.errors import ConfigError
from ragstone.kernel.judging import Judge, load_judge
from ragstone.kernel.judging.fields import JudgeFields
from ragstone.kernel.judging.signs import Sign
from ragstone.kernel.persistence.journal import replace_whole
from ragstone.kernel.runs.modes import ModeEvidence, mode_title

MODES = "modes"
"""The folder of the mode files, beside ragstone.toml."""
LONGEST_NAME = 60
MOST_BYTES = 180  # of a name, in UTF-8: file systems take 255, and an ending follows
APOSTROPHES = "'’ʼ＇`´"
RESERVED = re.compile(r"con|prn|aux|nul|(com|lpt)\d")  # names that Windows takes for devices
SHOWN_EVIDENCE = 5  # rows that the head of a file quotes
LONGEST_QUOTE = 160


def read_mode_judges(folder: Path) -> list[Judge]:
    """Return the judges of the mode files of a folder, by the names of the files.

    Raises ConfigError for a file that is no judge, one whose name is not the mode's, and one that cannot say
    whether a row has a mode: its highest score would be the good one.
    """
    judges = []
    for path in sorted(folder.glob("*.toml")):
        judge = load_judge(path)
        if judge.name != unicodedata.normalize("NFC", path.stem):  # some file systems take letters apart
            raise ConfigError(
                f"{path}: the file has name = {judge.name!r}. A mode's file is called like the mode: rename "
                "one of the two."
            )
        if judge.best != "lowest" or judge.compares_two:
            raise ConfigError(
                f"{path}: a mode is a judge of one answer whose high score means that the answer has it. "
                'Write best = "lowest".'
            )
        judges.append(judge)
    return judges


def mode_name(title: str, taken: Collection[str]) -> str:
    """Return a title as the name of a mode that is not taken yet: lower-case letters, digits and _.

    Letters of any script stay, with their marks; apostrophes go: `question's words` is `questions_words`.
    """
    plain = "".join(sign for sign in title if sign not in APOSTROPHES)
    # Twice: small letters of some capitals are not normal themselves.
    plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", plain).lower())
    kinds = map(unicodedata.category, plain)  # letters, marks, numbers
    name = "".join(
        sign if kind[0] in "LMN" and not sign.isupper() else " "
        for sign, kind in zip(plain, kinds, strict=True)
    )
    name = "_".join(name.split())
    if not name[:1].isalpha() or RESERVED.fullmatch(name):
        name = f"mode_{name}".rstrip("_")
    name = name[:LONGEST_NAME].encode()[:MOST_BYTES].decode(errors="ignore").rstrip("_")
    return next(
        one for n in range(1, len(taken) + 2) if (one := name if n == 1 else f"{name}_{n}") not in taken
    )


def earlier_name(title: str) -> str:
    """Return the name that a title had before decision 95: ASCII alone, and a digest for other scripts."""
    signs = unicodedata.normalize("NFKD", title)
    name = re.sub(r"[^a-z0-9]+", "_", signs.encode("ascii", "ignore").decode().lower()).strip("_")
    name = name if name[:1].isalpha() else f"mode_{name}".rstrip("_")
    name = name[:LONGEST_NAME].rstrip("_")
    if any(sign.isalnum() and not sign.isascii() for sign in signs):
        name += f"_{hashlib.sha256(title.encode()).hexdigest()[:8]}"
    return name


def signs_file(
    sign: Sign, unless: Sequence[Sign], inputs: Sequence[str], source: str, taken: Collection[str]
) -> tuple[str, str]:
    """Return the name and the text of a mode's file that finds it by a sign. taken: the names of others."""
    name = mode_name(sign.title, taken)
    head = _head(name, "signs", inputs, f"The answer is wrong, and {sign.clause}.", source)
    tables = [
        f"\n[[{table}]]\n" + "".join(f"{key} = {to_toml(value)}\n" for key, value in _keys(each).items())
        for table, some in (("signs", [sign]), ("unless", unless))
        for each in some
    ]
    return name, head + "".join(tables)


def asked_file(name: str, question: str, inputs: Sequence[str], source: str) -> str:
    """Return the text of a mode's file that asks a model its question.

    The question is a text of the file, shown as those of a row: a model wrote it, after reading rows.
    """
    shown = {"question": "the question {question}", "contexts": "the passages {contexts}"}
    shown["reference"] = "the right answer {reference}"
    beside = [shown[key] for key in inputs if key in shown]
    given = f", given {' and '.join(beside)}" if beside else ""
    prompt = (
        f"You check one statement about the answer {{answer}}{given}: {{statement}}\n\nThe verdict is true "
        "if the statement holds of the answer, and false if it does not, or if the answer is right."
    )
    keys = {"statement": question, "max_tokens": 200, "prompt": prompt}
    head = _head(name, "boolean", inputs, question, source)
    return head + "".join(f"{key} = {to_toml(value)}\n" for key, value in keys.items())


def write_mode(folder: Path, name: str, text: str, evidence: Sequence[ModeEvidence]) -> Path:
    """Write a mode's file, with rows that show it as comments; return its path. It must not be there."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.toml"
    quotes = [
        f"# {_line(one.question_id)} ({_line(one.system)}), {one.part}: {_line(one.quote)}\n"
        for one in evidence[:SHOWN_EVIDENCE]
    ]
    replace_whole(path, ("".join(quotes) + text).encode())
    return path


def _line(text: str) -> str:
    """Return a text as it may be in a comment: on one line, without control characters."""
    plain = "".join(sign if unicodedata.category(sign)[0] != "C" else " " for sign in text)
    return " ".join(plain.split())[:LONGEST_QUOTE]


def _head(name: str, kind: str, inputs: Sequence[str], question: str, source: str) -> str:
    keys: Mapping[str, object] = {
        "name": name,
        "version": 1,
        "kind": kind,
        "inputs": list(inputs),
        "scale": [0, 1],
        "best": "lowest",
        "description": question,
        "source": source,
    }
    return "".join(f"{key} = {to_toml(value)}\n" for key, value in keys.items())


def _keys(sign: Sign) -> dict[str, object]:
    keys = {name: getattr(sign, name) for name in sign.__struct_fields__}
    if not sign.words:
        del keys["of"]
    return {name: value for name, value in keys.items() if value not in (None, [])}


def mode_question(judge: JudgeFields) -> str:
    """Return the question that people answer with yes or no for each answer.

    That is the statement that a model is asked to check, where the file has one, else its description.
    """
    own = judge.own_texts.get("statement") or judge.description
    return (own or str(getattr(judge, "prompt", "") or "") or mode_title(judge.name)).strip()
