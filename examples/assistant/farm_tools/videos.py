"""The tool `find_videos`: a catalogue of videos, searched as documents are."""

import asyncio
import csv
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Annotated
from urllib.parse import urlsplit

import msgspec

from farm_tools.words import say, speaks_of
from ragstone.kernel.config.section import Section
from ragstone.kernel.corpus.chunking import chunk_documents
from ragstone.kernel.embedding.model import Embed
from ragstone.kernel.errors import ConfigError, ModelError, RagstoneError
from ragstone.kernel.records import Chunk, Document, Question, RankingItem
from ragstone.kernel.retrieval.deps import RetrieverDeps, Search
from ragstone.kernel.retrieval.search import build_search
from ragstone_assistant.conversation import Passage
from ragstone_assistant.languages import LANGUAGES, language
from ragstone_assistant.tool import Hint, Observation, Situation, Tool, ToolSetup
from ragstone_assistant.tools.plain_text import bounded, failed, line

SHOWN_ERRORS = 10
BETWEEN_TAGS = "|"
FOUND = 3
LOOKED_AT = 20  # pieces of transcripts, of which several may be of one video
# A video is about a topic where its cosine is so much above the median of all videos. With the packaged
# embedder and the shipped catalogue the best video was 0.068 to 0.096 above for five topics that it has,
# 0.015 for a sixth (fertiliser in Arabic, which is so not found), and 0.016 to 0.041 for six that it has
# not. Of a few videos the median says nothing: then the nearest are shown as they are.
MARGIN = 0.05
ENOUGH = 8
NAMED, UNNAMED = 0.06, 0.04  # of cosine similarity: a word for a video in the question, and none


class Video(msgspec.Struct, frozen=True, kw_only=True):
    """An entry. tags: words to search by, `|` between them. lang: ISO 639-1. Other columns do not matter."""

    title: str
    url: str
    description: str = ""
    transcript: str = ""
    lang: str = ""
    tags: str = ""

    def __post_init__(self) -> None:
        if not self.title.strip():
            raise ValueError("it has no title")
        if not _is_link(self.url):
            raise ValueError(f"url {self.url[:80]!r} is no link: it must begin with https:// or http://")


class VideoOptions(Section, frozen=True, kw_only=True):
    """`[assistant.options.find_videos]`. path: the catalogue, a .csv or .jsonl file."""

    path: str


class VideoArguments(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Finds training videos for farmers by what they show."""

    topic: Annotated[
        str,
        msgspec.Meta(
            min_length=2,
            max_length=300,
            description="What the video should show, in a few words, e.g. planting maize in rows.",
        ),
    ]


EXAMPLES = (
    "Is there a video about planting maize?",
    "Show me how to make compost.",
    "¿Hay algún video sobre riego por goteo?",
    "Muéstrame un vídeo de cómo sembrar.",
    "Y a-t-il une vidéo sur le compost ?",
    "Montrez-moi une vidéo sur le repiquage du riz.",
    "क्या सिंचाई पर कोई वीडियो है?",
    "मुझे बुवाई का वीडियो दिखाइए।",
    "هل يوجد فيديو عن الري بالتنقيط؟",
    "أرني فيديو عن تخزين القمح.",
    "Je, kuna video kuhusu kupanda mahindi?",
    "Nionyeshe video ya kutengeneza mboji.",
)
DOING = {
    "en": "Looking for videos…",
    "es": "Buscando vídeos…",
    "fr": "Recherche de vidéos…",
    "hi": "वीडियो खोजे जा रहे हैं…",
    "ar": "جارٍ البحث عن مقاطع فيديو…",
    "sw": "Inatafuta video…",
}


def find_videos(setup: ToolSetup) -> Tool:
    """Return the tool over the catalogue that its options name. Raises ConfigError."""
    path = setup.path(setup.options(VideoOptions).path)
    return videos_tool(path, setup.embed, where=f"{setup.table} path")


def videos_tool(path: Path, embed: Embed, where: str = "videos") -> Tool:
    """Return the tool over a catalogue, a CSV or JSONL file (see Video).

    Entries are searched by words and by meaning, in all languages; among the nearest those in the user's
    language come first. They are embedded at the first call. Where that fails, the search is by words alone
    and the observation says so. where: what errors begin with. Raises ConfigError for a catalogue that cannot be used.
    """
    catalogue = _Catalogue(read_videos(path, where), embed)

    async def call(arguments: VideoArguments, situation: Situation) -> Observation:
        try:
            return await catalogue.find(arguments.topic, situation.lang)
        except RagstoneError as mistake:
            down = say("videos_down", situation.lang)
            return failed(f"The catalogue of videos cannot be searched: {mistake}", told=down)

    return Tool(
        name="find_videos",
        description="Finds training videos in a catalogue. Use it when the user wants to see something, or "
        "asks for a video.",
        arguments=VideoArguments,
        call=call,
        examples=EXAMPLES,
        doing=DOING,
        texts=catalogue.texts,
        hint=_hint,
        advises=True,
    )


def _hint(question: str, lang: str) -> Hint:
    return Hint(nearer=NAMED if speaks_of(question, lang, "video") else -UNNAMED)


class _Catalogue:
    """The entries, and the searches over them once they are needed."""

    def __init__(self, videos: Sequence[Video], embed: Embed) -> None:
        self._videos = videos
        self._chunks = list(chunk_documents(_document_of(at, video) for at, video in enumerate(videos)))
        self._deps = RetrieverDeps(open_embedder=lambda _name: embed)
        self._searches: dict[str, Search] = {}
        self._opening = asyncio.Lock()

    @property
    def texts(self) -> tuple[str, ...]:
        """What is embedded of the entries."""
        return tuple(chunk.text for chunk in self._chunks)

    async def find(self, topic: str, lang: str) -> Observation:
        question = Question(id="-", question=topic)
        note, warned = "", ""
        try:
            await self._open()
            ranked = _best_pieces(await self._rank("hybrid", question, LOOKED_AT))
            about = self._about(await self._rank("dense", question, len(self._chunks)))
        except ModelError:
            note = "Searched by words alone, since the embedder failed; there may be others.\n"
            warned = say("by_words", lang)
            ranked = _best_pieces(await self._rank("bm25", question, LOOKED_AT))
            about = set(ranked)
        nearest = [at for at in ranked if at in about][: 2 * FOUND]
        found = sorted(nearest, key=lambda at: self._videos[at].lang != lang)[:FOUND]
        if not found:
            text = f"{note}The catalogue has no video about this. Do not name any other."
            return Observation(text=text, told=f"{say('no_video', lang)} {warned}".rstrip())
        pieces = {at: next(one for one in self._chunks if one.id == ranked[at]) for at in found}
        seen = self._told(found, pieces, note)
        told = "\n".join([say("videos_found", lang), *map(_titled, (self._videos[at] for at in found))])
        return msgspec.structs.replace(seen, told=bounded(f"{told}\n{warned}"))

    async def _open(self) -> None:
        """Index the entries for all searches, once. Raises ModelError where they cannot be embedded."""
        async with self._opening:
            for name in ("dense", "hybrid"):
                if name not in self._searches:
                    deps = msgspec.structs.replace(self._deps, built=self._searches)
                    self._searches[name] = await build_search(name, self._chunks, deps)

    async def _rank(self, name: str, question: Question, k: int) -> list[RankingItem]:
        if name not in self._searches:
            self._searches[name] = await build_search(name, self._chunks, self._deps)
        (ranking,) = await self._searches[name]([question], k)
        return ranking.items

    def _about(self, items: Sequence[RankingItem]) -> set[int]:
        """Return the videos that are about the topic; all, where they are too few. items: all pieces."""
        scores: dict[int, float] = {}
        for item in items:
            scores.setdefault(int(item.document_id), item.score)
        if len(self._videos) < ENOUGH or not scores:  # a blank topic finds nothing
            return set(scores)
        least = median(scores.values()) + MARGIN
        return {at for at, score in scores.items() if score >= least}

    def _told(self, found: Sequence[int], best: dict[int, Chunk], note: str) -> Observation:
        videos = [self._videos[at] for at in found]
        listed = "\n".join(
            f"{number}. {line(video.title, 120)} ({video.lang or 'language unknown'}): "
            f"{line(video.description or best[at].text, 300)} {line(video.url, 300)}"
            for number, (at, video) in enumerate(zip(found, videos, strict=True), 1)
        )
        return Observation(
            text=bounded(f"{note}The nearest videos of the catalogue; name only those that fit:\n{listed}"),
            links=tuple((line(video.title, 120), video.url) for video in videos),
            passages=tuple(self._passage(at, best[at]) for at in found),
        )

    def _passage(self, at: int, chunk: Chunk) -> Passage:
        video = self._videos[at]
        return Passage(
            chunk_id=f"video:{chunk.id}",
            document_id=f"video:{at}",
            text=chunk.text,
            title=video.title,
            source=video.url,
            lang=video.lang or None,
        )


def _titled(video: Video) -> str:
    """Return a video as the user reads of it: its title, and what its language calls itself."""
    spoken = language(video.lang).name if video.lang in LANGUAGES else video.lang
    return f"- {line(video.title, 120)}{f' ({line(spoken, 20)})' if spoken else ''}"


def _best_pieces(items: Sequence[RankingItem]) -> dict[int, str]:
    """Return the id of the best piece of each video, by the video's number, best first."""
    best: dict[int, str] = {}
    for item in items:
        best.setdefault(int(item.document_id), item.chunk_id or "")
    return best


def read_videos(path: Path, where: str = "videos") -> list[Video]:
    """Return the entries of a .csv or .jsonl file, in its order.

    where: what errors begin with. Raises ConfigError for a file that is missing, of another kind or without entries, and for entries without
    a title or a link of http(s), by line, up to ten of them together.
    """
    readers = {".csv": _csv_rows, ".jsonl": _jsonl_rows}
    reader = readers.get(path.suffix.casefold())
    if reader is None or not path.is_file():
        why = "is no catalogue: give a .csv or .jsonl file" if path.is_file() else "is not there"
        raise ConfigError(f"{where}: {path} {why}.")
    videos: list[Video] = []
    problems: list[str] = []
    try:
        for number, row in reader(path):
            try:
                videos.append(msgspec.convert(row, Video))
            except msgspec.ValidationError as mistake:
                problems.append(f"{path}:{number}: {mistake}")
    except (OSError, UnicodeDecodeError, csv.Error, msgspec.DecodeError) as mistake:
        raise ConfigError(f"{where}: {path} cannot be read ({mistake}).") from None
    if problems or not videos:
        told = "\n".join(problems[:SHOWN_ERRORS]) or f"{path} has no entries"
        raise ConfigError(f"{where}: {told}")
    return videos


def _document_of(number: int, video: Video) -> Document:
    """Return an entry as the document that it is searched as."""
    tags = video.tags.replace(BETWEEN_TAGS, ", ")
    text = "\n\n".join(part.strip() for part in (video.description, tags, video.transcript) if part.strip())
    return Document(
        id=str(number), text=text or video.title, title=video.title, lang=video.lang or None, source=video.url
    )


def _is_link(url: str) -> bool:
    try:
        address = urlsplit(url)
    except ValueError:
        return False
    return (
        address.scheme in ("http", "https")
        and bool(address.hostname)
        and url.isprintable()
        and " " not in url
    )


def _csv_rows(path: Path) -> Iterator[tuple[int, Mapping[str, str]]]:
    csv.field_size_limit(sys.maxsize)  # a transcript may be longer than the 128 kB of the default
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file, restkey="-", restval="")
        for row in reader:
            yield (
                reader.line_num,
                {key: value for key, value in row.items() if key in Video.__struct_fields__},
            )


def _jsonl_rows(path: Path) -> Iterator[tuple[int, object]]:
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                yield number, msgspec.json.decode(line)
