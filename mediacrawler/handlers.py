"""The download handler: Scrapy's own, plus files streamed to disk, pages and the sandbox's address.

A request with ``meta["stream_to"]`` (a path) has its body written there piece by piece, so
memory does not grow with the file, and a file that was cut off is resumed. One with
``meta["playwright"]`` is opened in a browser, one with ``meta["page_fetch"]`` sent from a page
in it; Playwright is imported and started with the first of these. Everything else (proxies,
TLS, pooling, timeouts) stays Scrapy's; this module knows no platform.
"""

from __future__ import annotations

import asyncio
import re
import time
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import aiofiles
from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler, _ScrapyAgent
from scrapy.exceptions import IgnoreRequest, ResponseDataLossError
from scrapy.utils._download_handlers import wrap_twisted_exceptions
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred
from twisted.internet.protocol import Protocol, connectionDone
from twisted.python.failure import Failure
from twisted.web.client import HTTPConnectionPool, ResponseDone

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from mediacrawler.crawl_browser import CrawlBrowser
    from mediacrawler.page_fetch import PageFetcher

HIGH_WATER = 256 * 1024
"""Bytes of one file that may wait in memory before its connection is told to pause."""

_CONTENT_RANGE = re.compile(rb"bytes (\d+)-(\d+)/(\d+|\*)")


class StreamWriteError(Exception):
    """A streamed file could not be written; the cause is the OSError."""


class Shared:
    """What the handlers of one crawl share: Scrapy has one for http and another for https.

    Scrapy bounds what its scheduler starts; files and pages are asked for beside it, and its
    download slots let bursts of those through. With `free` the limit is exact for all.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.free = asyncio.Semaphore(crawler.settings.getint("CONCURRENT_REQUESTS"))
        self.in_flight = 0
        self._crawler = crawler
        self._browser: CrawlBrowser | None = None
        self._fetcher: PageFetcher | None = None

    @property
    def browser(self) -> CrawlBrowser:
        """The crawl's browser; Playwright is imported here, and started by its first page."""
        if self._browser is None:
            from mediacrawler.crawl_browser import CrawlBrowser

            self._browser = CrawlBrowser(self._crawler)
        return self._browser

    @property
    def fetcher(self) -> PageFetcher:
        """What sends requests from pages of the browser."""
        if self._fetcher is None:
            from mediacrawler.page_fetch import PageFetcher

            self._fetcher = PageFetcher(self.browser)
        return self._fetcher

    async def close(self) -> None:
        """Close the browser, if there is one."""
        if self._browser is not None:
            await self._browser.close()


_SHARED: dict[Crawler, Shared] = {}


def shared(crawler: Crawler) -> Shared:
    """What the handlers of *crawler* share."""
    if crawler not in _SHARED:
        _SHARED[crawler] = Shared(crawler)
    return _SHARED[crawler]


_IDENTITY: ContextVar[str] = ContextVar("identity", default="")
"""The session whose request is being sent."""


class SessionConnections(HTTPConnectionPool):
    """Connections that are kept open, those of one session apart from all others.

    Two accounts on one connection are one person to whoever looks at it.
    """

    def getConnection(self, key: Hashable, endpoint: Any) -> Any:
        return super().getConnection((key, _IDENTITY.get()), endpoint)


class DownloadHandler(HTTP11DownloadHandler):
    """Scrapy's handler for http and https, with files, pages and SANDBOX_URL."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._sandbox_url: str | None = crawler.settings.get("SANDBOX_URL")
        self._pool.__class__ = SessionConnections  # Scrapy makes the pool, and lets nobody choose
        # Twisted would send a request again on its own, with a signature that was used already.
        self._pool.retryAutomatically = False
        self._shared = shared(crawler)

    async def download_request(self, request: Request) -> Response:
        async with self._shared.free:
            self._shared.in_flight += 1
            try:
                return await self._send(request)
            finally:
                self._shared.in_flight -= 1

    async def _send(self, request: Request) -> Response:
        request.meta["sent_at"] = time.time()  # the back-off judges refusals by it
        if "page_fetch" in request.meta:
            return await self._shared.fetcher.fetch(request)
        if request.meta.get("playwright"):
            return await self._shared.browser.open(request)
        return await self._download(request)

    async def close(self) -> None:
        await self._shared.close()
        _SHARED.pop(self._crawler, None)
        await super().close()

    async def _download(self, request: Request) -> Response:
        sent = self._route(request)
        _IDENTITY.set(request.meta.get("session", ""))  # read before anything else runs
        if "stream_to" in request.meta:
            response = await self._stream(sent, PartialFile(Path(request.meta["stream_to"])))
        else:
            response = await super().download_request(sent)
        if sent is not request:
            request.meta["download_latency"] = sent.meta.get("download_latency")
        return response if sent.url == request.url else response.replace(url=request.url)

    def _route(self, request: Request) -> Request:
        """The request as it is sent: to its own host, or all the same to the sandbox."""
        if not self._sandbox_url:
            return request
        parts = urlsplit(request.url)
        path = request.url.partition(parts.netloc)[2]  # byte for byte what was signed
        # Loopback is never proxied.
        routed = request.replace(
            url=self._sandbox_url.rstrip("/") + path, meta={**request.meta, "proxy": None}
        )
        routed.headers["Host"] = parts.netloc
        return routed

    async def _stream(self, request: Request, part: PartialFile) -> Response:
        """Send *request* so that its body continues *part*.

        :raises StreamWriteError: the disk is full, the folder cannot be written.
        """
        for name, value in part.resume_headers().items():
            request.headers[name] = value
        agent = _StreamingAgent(
            contextFactory=self._contextFactory,
            bindAddress=self._bind_address,
            pool=self._pool,
            fail_on_dataloss=True,
            maxsize=self._default_maxsize,
            crawler=self._crawler,
        )
        agent.part = part
        with wrap_twisted_exceptions():
            response = await maybe_deferred_to_future(agent.download_request(request))
        if response.status == 416:
            part.discard()
            raise ResponseDataLossError("there is nothing to go on with; from the beginning")
        return response


class PartialFile:
    """A file that is being downloaded, and the validator (ETag) of what it is a part of."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._validator_path = path.with_name(path.name + ".etag")

    def size(self) -> int:
        """Bytes on disk; 0 if there are none."""
        return self.path.stat().st_size if self.path.exists() else 0

    def resume_headers(self) -> dict[str, str]:
        """Headers that ask for the rest only, if the file has not changed meanwhile.

        Without a validator nobody can know, so the file is fetched from its beginning.
        """
        if not self.size() or not self._validator_path.exists():
            return {}
        return {
            "Range": f"bytes={self.size()}-",
            "If-Range": self._validator_path.read_text("latin-1"),
        }

    def begin(self, status: int, content_range: bytes | None, etag: bytes | None) -> int:
        """Note what the answer continues; gives the offset at which its body is written.

        :raises ResponseDataLossError: a partial answer is not the rest of this very file.
        """
        if status != 206:
            self.discard()
            if etag and not etag.startswith(b"W/"):  # weak ones do not promise equal bytes
                self._validator_path.write_bytes(etag)
            return 0
        if not self._is_rest(content_range or b"", etag):
            self.discard()
            raise ResponseDataLossError(f"unexpected Content-Range {content_range!r}")
        return self.size()

    def _is_rest(self, content_range: bytes, etag: bytes | None) -> bool:
        match = _CONTENT_RANGE.match(content_range)
        if match is None or int(match[1]) != self.size():
            return False
        if match[3] != b"*" and int(match[2]) + 1 != int(match[3]):
            return False
        return not self.size() or etag is None or etag == self._validator_path.read_bytes()

    def discard(self) -> None:
        """Forget what was downloaded."""
        self.path.unlink(missing_ok=True)
        self._validator_path.unlink(missing_ok=True)


class _StreamingAgent(_ScrapyAgent):
    """Scrapy's agent, but bodies of good answers go to `part` instead of into memory."""

    part: PartialFile

    def _cb_bodyready(self, txresponse: Any, request: Request) -> Any:
        if txresponse.code not in (200, 206):
            return super()._cb_bodyready(txresponse, request)
        headers = self._headers_from_twisted_response(txresponse)
        try:
            offset = self.part.begin(
                txresponse.code, headers.get("Content-Range"), headers.get("ETag")
            )
        except OSError as error:
            txresponse._transport._producer.abortConnection()
            raise StreamWriteError(str(self.part.path)) from error
        finished: Deferred[Any] = Deferred(partial(self._cancel, txresponse=txresponse))
        timeout = request.meta["download_timeout"]
        writer = _FileWriter(
            path=self.part.path,
            offset=offset,
            finished=finished,
            result={"txresponse": txresponse, "body": b"", "flags": ["streamed"]},
            # The timeout of a long file is the time without a byte, not the whole time.
            stopping=lambda: self._crawler.spider.stopping,  # type: ignore[union-attr]
            on_data=lambda: self._timeout_cl.reset(timeout),  # type: ignore[call-arg,misc]
        )
        self._txresponse = txresponse
        if txresponse.length == 0:  # deliverBody hangs for responses without body
            writer.connectionLost(_failure(ResponseDone()))
        else:
            txresponse.deliverBody(writer)
        return finished


class _FileWriter(Protocol):
    """Writes a body to a file as it arrives, and slows the sender down to the disk's pace."""

    def __init__(
        self,
        *,
        path: Path,
        offset: int,
        finished: Deferred[Any],
        result: dict[str, Any],
        on_data: Callable[[], None],
        stopping: Callable[[], bool],
    ) -> None:
        self._path = path
        self._offset = offset
        self._finished = finished
        self._result = result
        self._on_data = on_data
        self._stopping = stopping
        self._chunks: list[bytes] = []
        self._buffered = 0
        self._paused = False
        self._ended: Failure | None = None
        self._wake = asyncio.Event()
        self._task = asyncio.ensure_future(self._run())

    def dataReceived(self, data: bytes) -> None:
        if self._finished.called:
            return
        if self._stopping():
            self._finished.errback(_failure(IgnoreRequest("the crawl is being stopped")))
            self._producer().stopProducing()
            return
        self._on_data()
        self._chunks.append(data)
        self._buffered += len(data)
        if self._buffered > HIGH_WATER and not self._paused:
            self._paused = True
            self._producer().pauseProducing()
        self._wake.set()

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        self._ended = reason
        self._wake.set()

    def _producer(self) -> Any:
        assert self.transport
        return self.transport

    async def _run(self) -> None:
        try:
            await self._write_all()
        except OSError as error:
            if not self._finished.called:
                reason = StreamWriteError(str(self._path))
                reason.__cause__ = error
                self._finished.errback(_failure(reason))
            if self.transport:
                self._producer().stopProducing()
            return
        if self._finished.called:
            return  # cancelled: a timeout or a stop; what was written stays for a resume
        assert self._ended is not None
        if isinstance(self._ended.value, ResponseDone):
            self._finished.callback(self._result)
        else:
            self._finished.errback(_failure(ResponseDataLossError("the file was cut off")))

    async def _write_all(self) -> None:
        async with aiofiles.open(self._path, "r+b" if self._offset else "wb") as file:
            await file.seek(self._offset)
            while self._chunks or self._ended is None:
                if not self._chunks:
                    self._wake.clear()
                    await self._wake.wait()
                    continue
                piece = b"".join(self._chunks)
                self._chunks.clear()
                self._buffered = 0
                if self._paused:
                    self._paused = False
                    self._producer().resumeProducing()
                await file.write(piece)


def _failure(exception: Exception) -> Failure:
    return Failure(exception)  # type: ignore[no-untyped-call]
