"""Item pipelines, one question each: is it a record, is it private, is it new, its files.

Settings: ANONYMIZE, SAVE_DATA_PATH, CONCURRENT_REQUESTS, FFMPEG. None of them knows a platform.
"""

from __future__ import annotations

import asyncio
import logging
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.exceptions import DropItem, IgnoreRequest, NotConfigured

from mediacrawler.exceptions import PlatformError, UsageProblem
from mediacrawler.feeds import stop_on_disk_error
from mediacrawler.handlers import PartialFile, StreamWriteError
from mediacrawler.items import Comment, Item, Media, MediaKind, MediaStatus, Post, post_key
from mediacrawler.media import (
    PICTURES,
    MediaFolder,
    file_type,
    fill,
    is_page,
    is_text,
    together,
)
from mediacrawler.middlewares import require_platform_spider
from mediacrawler.mux import MuxError, find_ffmpeg, mux
from mediacrawler.privacy import Anonymizer, load_key

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from typing_extensions import Self

    from mediacrawler.spiders.base import PlatformSpider

logger = logging.getLogger(__name__)

MEDIA_KINDS: dict[str, frozenset[MediaKind]] = {
    "images": frozenset({"image", "cover"}),
    "videos": frozenset({"video", "audio", "live_photo", "subtitle"}),
    "all": frozenset({"image", "cover", "video", "audio", "live_photo", "subtitle"}),
}
"""What the values of the argument `media` stand for."""

MUX_AT_ONCE = 2
"""Videos that are joined with their sound at the same time: the disk is what limits it."""

WITHHELD = "the platform withholds it and sends a placeholder"

GONE = frozenset({"HTTP 404", "HTTP 410", WITHHELD})
"""Refusals after which another look would not help."""

POLL_SECONDS = 0.25
"""How soon a stop of the crawl is noticed while ffmpeg works."""


class ValidationPipeline:
    """Drops what is no record: no id, or a time that does not say its zone."""

    def process_item(self, item: Item) -> Item:
        if not item_id(item) or not item.platform:
            raise DropItem("no id")
        for name in ("published_at", "edited_at", "crawled_at"):
            moment: datetime | None = getattr(item, name, None)
            if moment is not None and moment.tzinfo is None:
                raise DropItem(f"{name} has no time zone")
        return item


class PrivacyPipeline:
    """Makes authors pseudonymous, unless ANONYMIZE is False."""

    def __init__(self, anonymizer: Anonymizer) -> None:
        self.anonymizer = anonymizer

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        require_platform_spider(crawler)
        if not crawler.settings.getbool("ANONYMIZE"):
            raise NotConfigured
        folder = Path(crawler.settings["SAVE_DATA_PATH"])
        try:
            key = load_key(folder)
        except (OSError, ValueError) as error:
            raise UsageProblem(
                f"the key for pseudonyms in {folder} cannot be read or made: {error}"
            ) from None
        spider: Any = crawler.spider
        return cls(Anonymizer(key, spider.personal_extra))

    def process_item(self, item: Item) -> Item:
        self.anonymizer.apply(item)
        return item


class DuplicatesPipeline:
    """Drops a record whose id was seen before in this crawl."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        require_platform_spider(crawler)
        return cls(crawler)

    def process_item(self, item: Item) -> Item:
        spider: Any = self.crawler.spider
        recorded: set[str] = spider.ledger.recorded  # kept with a JOBDIR
        key = f"{type(item).__name__[:2]}{item_id(item)}"
        if key in recorded:
            raise DropItem(f"duplicate {type(item).__name__.lower()} {item_id(item)}", "DEBUG")
        recorded.add(key)
        return item


def item_id(item: Item) -> str:
    """What tells a record from all others of its kind and platform."""
    if isinstance(item, Post):
        return item.post_id and post_key(item)
    return item.comment_id if isinstance(item, Comment) else item.creator_id


class MediaPipeline:
    """Fetches the files of posts and comments through Scrapy's downloader, and notes them.

    A file that is there and whole is not fetched again; one that was cut off is resumed. Where
    all addresses of a post's file are refused, they may have expired: it is read once more.
    A video whose sound is a file of its own becomes one file with it, if there is an ffmpeg.
    """

    def __init__(
        self, crawler: Crawler, kinds: frozenset[MediaKind], ffmpeg: str | None = None
    ) -> None:
        self.crawler = crawler
        self.kinds = kinds
        self.ffmpeg = ffmpeg
        self.muxing = asyncio.Semaphore(MUX_AT_ONCE)
        self._told_apart = False
        self.root = Path(crawler.settings["SAVE_DATA_PATH"])
        self.of_comments = crawler.settings.getbool("COMMENT_MEDIA")
        # Keeps files from queueing up in front of requests that were signed a while ago.
        self.turn = asyncio.Semaphore(crawler.settings.getint("CONCURRENT_REQUESTS"))

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        require_platform_spider(crawler)
        spider: Any = crawler.spider
        if spider.args.media == "none":
            raise NotConfigured
        kinds = MEDIA_KINDS[spider.args.media]
        ffmpeg = find_ffmpeg(crawler.settings["FFMPEG"]) if "audio" in kinds else None
        return cls(crawler, kinds, ffmpeg)

    @property
    def spider(self) -> PlatformSpider:
        return self.crawler.spider  # type: ignore[return-value]

    async def process_item(self, item: Item) -> Item:
        if isinstance(item, Post):
            folder = MediaFolder(self.root, item.platform, post_key(item))
            await self._collect_all(item, folder, FreshAddresses(self, item))
        elif isinstance(item, Comment) and self.of_comments:
            folder = MediaFolder(self.root, item.platform, post_key(item), item.comment_id)
            await self._collect_all(item, folder, None)
        return item

    async def _collect_all(
        self, item: Post | Comment, folder: MediaFolder, fresh: FreshAddresses | None
    ) -> None:
        await asyncio.gather(
            *(self._collect(item, folder, group, fresh) for group in together(item.media))
        )

    async def _collect(
        self,
        item: Post | Comment,
        folder: MediaFolder,
        group: list[int],
        fresh: FreshAddresses | None,
    ) -> None:
        """Fetch what makes one file: the file, or a video and its sound, which are joined."""
        wanted = [place for place in group if item.media[place - 1].kind in self.kinds]
        if len(wanted) == 2:
            keep_apart_if_replaced(item, folder, *wanted)
        reasons = await asyncio.gather(
            *(self._fetch(folder, place, item.media[place - 1], fresh) for place in wanted)
        )
        if len(wanted) == 2:
            await self._join(item, folder, *wanted)
        for place, why in zip(wanted, reasons, strict=True):
            self._count(item, place, item.media[place - 1], why)

    async def _fetch(
        self, folder: MediaFolder, position: int, media: Media, fresh: FreshAddresses | None
    ) -> str:
        """Fetch one file; its record says what came of it, the answer why."""
        urls = addresses(media)
        why = "the platform gives no address"
        try:
            if not urls:
                media.status = "missing"
            else:
                media.status, why = await self._try_all(folder, position, media, urls)
                if media.status == "failed" and fresh and (renewed := await fresh.of(position)):
                    media.status, why = await self._try_all(folder, position, media, renewed)
        except IgnoreRequest:
            media.status, why = "interrupted", "the crawl was stopped"
        except (StreamWriteError, OSError) as error:
            cause = error.__cause__ if isinstance(error.__cause__, OSError) else error
            media.status, why = "failed", "it could not be written"
            if isinstance(cause, OSError):
                stop_on_disk_error(self.crawler, folder.path, cause)
        return why

    async def _try_all(
        self, folder: MediaFolder, position: int, media: Media, urls: list[str]
    ) -> tuple[MediaStatus, str]:
        """Try the addresses in order of quality until one gives the file.

        "gone" means that all of them say so; "failed" that another look may help.
        """
        source = media.source or urls[0]
        known = folder.whole(position, source)
        if known is not None:
            fill(media, known)
            return "present", ""
        refusals: list[str] = []
        for url in urls:
            async with self.turn:
                refusal = await self._download(folder, position, media, url, source)
            if refusal is None:
                return "downloaded", ""
            refusals.append(refusal)
        return ("gone" if GONE.issuperset(refusals) else "failed"), refusals[0]

    async def _download(
        self, folder: MediaFolder, position: int, media: Media, url: str, source: str
    ) -> str | None:
        """Fetch one address; gives None, or why there is no file."""
        folder.path.mkdir(parents=True, exist_ok=True)
        part = folder.part(position)
        meta: dict[str, Any] = {"anonymous": True, "awaited": True}
        headers = self.spider.media_headers()
        if media.kind != "subtitle":  # those are small, and may come compressed
            meta["stream_to"] = str(part)
            headers["Accept-Encoding"] = "identity"
        request = Request(url, headers=headers, meta=meta, dont_filter=True)
        assert self.crawler.engine
        try:
            response: Response = await self.crawler.engine.download_async(request)
        except (IgnoreRequest, StreamWriteError):
            raise
        except Exception as error:  # whatever the network does, it is one file that is missing
            return str(error) or type(error).__name__
        if response.status not in (200, 206):
            return f"HTTP {response.status}"
        if media.kind == "subtitle":
            await asyncio.to_thread(part.write_bytes, response.body)
        head = await asyncio.to_thread(read_head, part)
        extension = extension_of(media, head)
        if extension is None or not head:
            PartialFile(part).discard()
            return "not a media file"
        if extension == media.placeholder:
            PartialFile(part).discard()
            return WITHHELD
        entry = await asyncio.to_thread(folder.keep, position, source, part, extension)
        PartialFile(part).discard()
        folder.note(position, entry)
        fill(media, entry)
        self.spider.ledger.media["bytes"] += entry["size"]
        return None

    async def _join(
        self, item: Post | Comment, folder: MediaFolder, video: int, audio: int
    ) -> None:
        """Make one file of a video and its sound, unless that was done by an earlier run."""
        pictures, sound = item.media[video - 1], item.media[audio - 1]
        if pictures.path is None or sound.path is None:
            return
        if pictures.path != sound.path:
            if self.ffmpeg is None:
                self._tell_apart(item)
                return
            try:
                async with self.muxing:
                    whole = await self._mux(self.ffmpeg, folder, video, pictures, sound)
            except MuxError as error:
                self._count_unjoined(item, video, str(error))
                return
            except OSError as error:
                stop_on_disk_error(self.crawler, folder.path, error)
                self._count_unjoined(item, video, error.strerror or str(error))
                return
            if whole is None:
                return
            fill(pictures, whole)
            fill(sound, whole)
            folder.join(video, audio, whole)
        sound.status = "merged"

    async def _mux(
        self, ffmpeg: str, folder: MediaFolder, position: int, pictures: Media, sound: Media
    ) -> dict[str, Any] | None:
        """What is known of the whole video, or None when the crawl is being stopped."""
        assert pictures.path
        assert sound.path
        target = folder.unjoined(position)
        work = asyncio.ensure_future(
            mux(self.root / pictures.path, self.root / sound.path, target, ffmpeg=ffmpeg)
        )
        while not work.done() and not self.spider.stopping:
            await asyncio.wait({work}, timeout=POLL_SECONDS)
        if not work.done():
            work.cancel()
            await asyncio.wait({work})
        if work.cancelled():
            return None  # two good files; the next run joins them
        work.result()
        return await asyncio.to_thread(folder.place, position, target, "mp4")

    def _tell_apart(self, item: Post | Comment) -> None:
        if not self._told_apart:
            self._told_apart = True
            logger.info(
                "%s: no ffmpeg: pictures and sound of a video stay two files", item.platform
            )

    def _count_unjoined(self, item: Post | Comment, position: int, why: str) -> None:
        self.spider.ledger.media["mux_failed"] += 1
        self.crawler.stats.inc_value("media/mux_failed")
        logger.error(
            "%s: video %d of %s stays apart from its sound: %s",
            item.platform,
            position,
            described(item),
            why,
        )

    def _count(self, item: Post | Comment, position: int, media: Media, why: str) -> None:
        counts = self.spider.ledger.media
        counts[str(media.status)] += 1
        if isinstance(item, Comment):
            counts["of_comments"] += 1
        self.crawler.stats.inc_value(f"media/{media.status}")
        if media.status not in ("downloaded", "present", "merged"):
            # What a stop interrupts is many files at once: the summary counts them.
            level = logging.DEBUG if media.status == "interrupted" else logging.ERROR
            logger.log(
                level,
                "%s: file %d of %s is %s: %s",
                item.platform,
                position,
                described(item),
                media.status,
                why,
            )


class FreshAddresses:
    """The addresses of a post's files, read once more when the first ones were refused."""

    def __init__(self, pipeline: MediaPipeline, post: Post) -> None:
        self._pipeline = pipeline
        self._post = post
        self._lock = asyncio.Lock()
        self._media: list[Media] | None = None

    async def of(self, position: int) -> list[str]:
        """Addresses of the file at *position*; empty where the post cannot be read."""
        async with self._lock:
            if self._media is None:
                self._media = await self._read()
        return addresses(self._media[position - 1]) if position <= len(self._media) else []

    async def _read(self) -> list[Media]:
        spider = self._pipeline.spider
        spider.ledger.media["refreshed_posts"] += 1
        try:
            page = await spider.read_post(self._post)
        except PlatformError as error:
            logger.info("%s: post %s: no new addresses: %s", *self._name(), error)
            return []
        return page.post.media if page else []

    def _name(self) -> tuple[str, str]:
        return self._post.platform, self._post.post_id


def described(item: Post | Comment) -> str:
    """What the log calls a record."""
    if isinstance(item, Comment):
        return f"comment {item.comment_id} (post {item.post_id})"
    return f"post {item.post_id}"


def keep_apart_if_replaced(
    item: Post | Comment, folder: MediaFolder, video: int, audio: int
) -> None:
    """Have the sound fetched again where it is part of a file that is about to be replaced."""
    pictures = item.media[video - 1]
    source = pictures.source or next(iter(addresses(pictures)), None)
    if source and folder.whole(video, source) is None:
        folder.part_again(video, audio)


def extension_of(media: Media, head: bytes) -> str | None:
    """What a file is by its first bytes; None where it cannot be what was asked for."""
    if media.kind == "subtitle":
        unfit = is_page(head) if media.ext in ("json", "xml") else is_text(head)
        return None if unfit else media.ext
    extension = file_type(head)
    if extension is None:
        return None if is_text(head) else media.ext
    if (extension in PICTURES) != (media.kind in ("image", "cover")):
        return None  # a picture that says why there is no video, for example
    return "m4a" if extension == "mp4" and media.kind == "audio" else extension


def addresses(media: Media) -> list[str]:
    """Where a file can be had, best quality first."""
    first = media.fetch_url or media.url
    return [first, *media.backup_urls] if first else []


def read_head(path: Path) -> bytes:
    """The first bytes of a file, enough to know its type."""
    with path.open("rb") as file:
        return file.read(32)
