"""Logging in with a browser: a QR code for the phone, or the user's own running Chrome.

What a platform's page looks like stands in ``login_pages/``. A login is believed when the
platform itself says who is logged in, asked from inside the page; never because a cookie changed.
Captchas are for people: nothing here solves one, and nothing hides that a program drives.
"""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar
from urllib.parse import urlsplit

from mediacrawler.browser import (
    attached_chromium,
    context_options,
    has_display,
    launch_options,
    running_chromium,
)
from mediacrawler.cookies import from_browser
from mediacrawler.exceptions import CaptchaRequired, PlatformError, UsageProblem
from mediacrawler.pages import Viewer
from mediacrawler.proxies import Proxy
from mediacrawler.proxies.bridge import Bridge
from mediacrawler.proxies.choice import NoProxyWorks, choose_proxy
from mediacrawler.sessions import Session, qr
from mediacrawler.sessions.login_pages import LoginPage, QrNews, QrState, WhoAmI, login_page
from mediacrawler.sessions.store import SessionStore

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, Page, Response
    from scrapy.settings import BaseSettings

logger = logging.getLogger(__name__)

T = TypeVar("T")
Say = Callable[[str], None]
Verdict = Literal[
    "timeout", "refused", "captcha", "closed", "no_qrcode", "unreachable", "login_required"
]

LOOK_EVERY = 0.5  # seconds between two looks at the page
ASK_EVERY = 15.0  # seconds between two questions for the owner without a reason to ask
ASK_AGAIN = 2.0  # seconds until the next one while there is a reason
EAGER_FOR = 20.0  # seconds that a reason lasts
PICTURE_AFTER = 4.0  # seconds for the page to say what its code says; then the picture is read
NO_CODE_AFTER = 30.0  # seconds without any code until the page is given up
RENEW_AGAIN = 5.0  # seconds for a new code to come before renewing is tried in another way
PAGE_TIMEOUT = 30_000.0  # milliseconds for a page to open
ENDINGS = ("SIGTERM", "SIGHUP")  # end a login cleanly, too: SIGHUP comes when a terminal closes

FETCH = """async ([url, headers]) => {
  const answer = await fetch(url, {
    credentials: "include", headers, signal: AbortSignal.timeout(10000),
  });
  return [answer.status, Object.fromEntries(answer.headers), await answer.text()];
}"""
"""Asks from inside a page: with its cookies, its address and whatever its site adds."""

PICTURE = """element => element.toDataURL
  ? element.toDataURL("image/png") : (element.currentSrc || element.src || "")"""

PIXELS = """async source => {
  const image = new Image();
  image.src = source;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = image.naturalWidth;
  canvas.height = image.naturalHeight;
  const pen = canvas.getContext("2d");
  pen.fillStyle = "white";
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(image, 0, 0);
  const { data } = pen.getImageData(0, 0, canvas.width, canvas.height);
  const rows = [];
  for (let y = 0; y < canvas.height; y++) {
    let row = "";
    for (let x = 0; x < canvas.width; x++) {
      const at = 4 * (y * canvas.width + x);
      row += data[at] + data[at + 1] + data[at + 2] < 384 ? "1" : "0";
    }
    rows.push(row);
  }
  return rows;
}"""
"""A picture's pixels, 1 for a dark one: the browser can read every format."""


class LoginFailed(Exception):
    """A login that did not happen.

    :param verdict: why, in one word; see :data:`Verdict`.
    :param message: one line for the person who tried, without secrets.
    """

    def __init__(self, verdict: Verdict, message: str) -> None:
        super().__init__(f"{verdict}: {message}")
        self.verdict = verdict
        self.message = message


def login_with_qrcode(
    platform: str,
    *,
    settings: BaseSettings,
    account: str,
    timeout: float,
    say: Say,
    proxy: str | None = None,
) -> Session:
    """Show the platform's QR code until somebody has logged in with it.

    :param settings: CHROMIUM_PATH, SANDBOX_URL, SESSIONS_DIR, ``<PLATFORM>_USER_AGENT`` and those
        of proxies.
    :param timeout: seconds until it is given up, renewed codes included.
    :param say: takes lines for the person at the terminal; the drawing of a code is one text of
        many lines. It holds a secret as long as the code lives: print it, do not log it.
    :param proxy: URL of the proxy that belongs to the account; without, one of the settings.
    :raises UsageProblem: no browser, an unknown platform, a folder that cannot be written.
    :raises LoginFailed: the verdict says why.

    The browser has a window where there is a display. It is closed on every way out. The
    session's proxy is the one that the browser went through.
    """
    login = login_page(platform, settings)
    picture = SessionStore(Path(settings["SESSIONS_DIR"])).path(platform, account)
    picture = picture.with_name(f"{picture.stem}.qrcode.png")
    agent = settings.get(f"{platform.upper()}_USER_AGENT")
    mine = Session(platform, account, user_agent=agent, proxy=proxy)
    return _run(_qrcode_login(login, mine, settings, timeout, say, picture))


def login_from_browser(
    platform: str, *, settings: BaseSettings, account: str, cdp_url: str
) -> Session:
    """Take the platform's session out of the user's own running Chrome, which stays open.

    :param cdp_url: where its debugging port is, ``http://127.0.0.1:9222``; loopback only.
    :raises UsageProblem: not a loopback address, or nothing answers there.
    :raises LoginFailed: nobody is logged in there.

    Only what belongs to the platform is taken: a person's browser has logins everywhere.
    """
    login = login_page(platform, settings)
    check_loopback(cdp_url)
    return _run(_attached_login(login, account, cdp_url))


def check_loopback(cdp_url: str) -> None:
    """A debugging port gives everything away, so it must not leave this machine.

    :raises UsageProblem: the address is another machine's, or none.
    """
    try:
        parts = urlsplit(cdp_url)
        host = parts.hostname or ""
        is_loopback = host == "localhost" or (bool(host) and ip_address(host).is_loopback)
    except ValueError:
        is_loopback = False
    if not is_loopback or parts.scheme not in ("http", "ws"):
        raise UsageProblem(
            "--cdp takes the address of a browser on this machine, as http://127.0.0.1:9222; "
            "debugging ports of other machines are refused"
        )


# --- QR code ----------------------------------------------------------------------------------


async def _qrcode_login(
    login: LoginPage,
    mine: Session,
    settings: BaseSettings,
    timeout: float,
    say: Say,
    picture: Path,
) -> Session:
    from playwright.async_api import Error

    window = has_display()
    try:
        proxy = await choose_proxy(settings, mine.proxy, _host(login.url))
    except NoProxyWorks as problem:
        raise LoginFailed("unreachable", str(problem)) from None
    async with (
        way_out(proxy) as way,
        running_chromium(launch_options(settings, headless=not window, proxy=way)) as browser,
    ):
        # The proxy is the whole browser's: what does not belong to a page uses it, too.
        options = context_options(replace(mine, proxy=None))
        # A page is as large as its window; Playwright's own size would stay when that is changed.
        context = await browser.new_context(**options, no_viewport=window)
        page = await context.new_page()
        desk = _Desk(login, page, say, picture, window)
        if proxy is not None:
            say(f"going through {proxy.url}")
        try:
            await asyncio.wait_for(desk.wait_for_login(), timeout)
            session = await _session(login, mine.account, context, page)
        except asyncio.TimeoutError:
            raise LoginFailed("timeout", desk.what_was_missing(timeout)) from None
        except Error as error:
            raise _browser_trouble(error, login) from None
        finally:
            picture.unlink(missing_ok=True)  # whoever reads it could log in with it
    session.proxy = proxy.secret_url if proxy else None
    return session


@asynccontextmanager
async def way_out(proxy: Proxy | None) -> AsyncIterator[str | None]:
    """URL of the proxy that a browser has to speak to in order to go out through *proxy*.

    Chromium knows no SOCKS passwords: for all but plain HTTP proxies it is a bridge, as in crawls.
    """
    if proxy is None or proxy.scheme == "http":
        yield proxy.secret_url if proxy else None
        return
    bridge = Bridge()
    try:
        yield (await bridge.in_front_of(proxy)).secret_url
    finally:
        await bridge.close()


@dataclass(frozen=True, slots=True)
class Heard:
    """An answer to one of the page's own questions."""

    url: str
    status: int
    headers: dict[str, str] = field(repr=False)
    body: bytes = field(repr=False)


class _Desk:
    """One visit of the login page: what it has said so far, and what is to be done about it."""

    def __init__(self, login: LoginPage, page: Page, say: Say, picture: Path, window: bool) -> None:
        self.login = login
        self.page = page
        self.context = page.context
        self.say = say
        self.picture = picture
        self.window = window
        self.state: QrState | None = None
        self.begun = False
        """Whether the code was confirmed, or the login's cookies changed while it was shown."""
        self.shown: str | None = None
        """What the code on the terminal says, or the source of its picture."""
        self.refusal: PlatformError | None = None
        """The last refusal of the question who is logged in."""
        self._answers: list[Heard] = []
        self._cookies: dict[str, str] = {}
        self._asked = 0.0
        self._eager_until = 0.0
        self._waiting_since = 0.0
        """When the page was opened, or its code renewed."""
        self._opened = False
        self._captcha_named = False

    async def wait_for_login(self) -> Viewer:
        """Ends when the platform says who is logged in.

        :raises LoginFailed: it cannot become one any more.
        """
        self.context.on("response", self._hear)
        await self._open()
        while True:
            viewer = await self._read_answers() or await self._ask_if_there_is_reason()
            if viewer is not None:
                return viewer
            await self._look_at_page()
            await asyncio.sleep(LOOK_EVERY)

    def what_was_missing(self, timeout: float) -> str:
        """Why nobody is logged in after *timeout* seconds."""
        within = f"within {timeout:g} seconds"
        if self.refusal is not None and self.begun:
            return f"the platform did not say who is logged in {within} ({self.refusal})"
        if self.begun:
            return f"the login was begun, but {within} the platform still knew a guest only"
        if self.state == "scanned":
            return f"the code was scanned, but not confirmed on the phone {within}"
        if self.shown is None and self._captcha_named:
            return f"nobody solved the captcha {within}"
        if self.shown is None:
            return f"the page showed no QR code {within}"
        return f"nobody scanned the code {within}"

    # What the page's own questions were answered

    async def _hear(self, answer: Response) -> None:
        """Keep what matters of an answer at once: a page that moves on takes the rest along."""
        from playwright.async_api import Error

        if answer.request.method == "OPTIONS" or not self._matters(answer.url):
            return
        with suppress(Error):
            body = await answer.body()
            self._answers.append(Heard(answer.url, answer.status, answer.headers, body))

    def _matters(self, url: str) -> bool:
        path = urlsplit(url).path
        if any(_same_address(url, question.url) for question in self.login.whoami):
            return True
        return self.login.owns(_host(url)) and ("qrcode" in path or "login" in path)

    async def _read_answers(self) -> Viewer | None:
        while self._answers:
            answer = self._answers.pop(0)
            for question in self.login.whoami:
                if _same_address(answer.url, question.url):
                    viewer = self._judge(question, answer.status, answer.headers, answer.body)
                    if viewer is not None:
                        return viewer
            news = self._news(answer)
            if news is not None:
                await self._take(news)
        return None

    def _news(self, answer: Heard) -> QrNews | None:
        try:
            content = json.loads(answer.body)
        except ValueError:  # a page, a picture
            return None
        if not isinstance(content, dict):
            return None
        return self.login.news(urlsplit(answer.url).path, content)

    async def _take(self, news: QrNews) -> None:
        before, self.state = self.state, news.state
        if news.state == "new" and news.payload is not None:
            await self._notice_cookies()  # those of a guest come with the page
            self._show_code(news.payload)
        elif news.state == before:
            return
        elif news.state == "scanned":
            self.say("scanned: confirm the login on the phone")
        elif news.state == "confirmed":
            self._be_eager()
        elif news.state == "expired":
            await self._renew()
        elif news.state == "refused":
            raise LoginFailed("refused", "the login was refused on the phone or by the platform")

    # Who is logged in?

    async def _ask_if_there_is_reason(self) -> Viewer | None:
        await self._notice_cookies()
        now = time.monotonic()
        eager = now < self._eager_until
        if now - self._asked < (ASK_AGAIN if eager else ASK_EVERY):
            return None
        # Opening pages to ask from them is not done by the clock: that is no reason.
        questions = [one for one in self.login.whoami if eager or one.from_login_page]
        viewers = [await self._ask(question) for question in questions]
        self._asked = time.monotonic()
        self._cookies = await self._login_cookies()  # what asking has changed is no reason
        known = [viewer for viewer in viewers if viewer is not None]
        if known:
            for question, viewer in zip(questions, viewers, strict=True):
                if viewer is None:
                    self.say(f"no login on {_host(question.url)}, only on the other host")
        return known[0] if known else None

    async def _notice_cookies(self) -> None:
        """A login cookie that changes while a code is shown is a reason to ask."""
        now = await self._login_cookies()
        if now == self._cookies:
            return
        self._cookies = now
        if self.shown is not None:
            self._be_eager()

    async def _login_cookies(self) -> dict[str, str]:
        return {
            f"{cookie['domain']} {cookie['name']}": cookie["value"]
            for cookie in await self.context.cookies()
            if cookie["name"] in self.login.cookies
        }

    def _be_eager(self) -> None:
        self.begun = True
        self._eager_until = time.monotonic() + EAGER_FOR
        self._asked = 0.0

    async def _ask(self, question: WhoAmI) -> Viewer | None:
        if question.from_login_page:
            answer = await ask(self.page, question)
        else:
            answer = await ask_at_home(self.context, question)
        return None if answer is None else self._judge(question, *answer)

    def _judge(
        self, question: WhoAmI, status: int, headers: dict[str, str], body: bytes
    ) -> Viewer | None:
        try:
            viewer = question.read(status, headers, body, question.url)
        except PlatformError as refusal:
            self.refusal = refusal
            return None
        self.refusal = None
        return None if viewer.guest else viewer

    # The page

    async def _open(self) -> None:
        self.say(f"opening {self.login.url}")
        answer = await self.page.goto(
            self.login.url, wait_until="domcontentloaded", timeout=PAGE_TIMEOUT
        )
        if answer is not None and answer.status >= 400 and not self.window:
            raise LoginFailed("refused", f"the login page answered with status {answer.status}")
        self._waiting_since = time.monotonic()
        self._asked = time.monotonic()  # a fresh browser is nobody's

    async def _look_at_page(self) -> None:
        from playwright.async_api import Error

        if await self._is_captcha():
            self._name_captcha()
            return
        try:
            if self.state != "confirmed":
                await self._look_for_code()
        except Error:
            if self.page.is_closed():
                raise
            logger.debug("the page changed while it was looked at", exc_info=True)

    async def _look_for_code(self) -> None:
        waited = time.monotonic() - self._waiting_since
        if waited < PICTURE_AFTER and self.shown is None:
            return
        if self.shown is not None and await self._sees(self.login.expired):
            if waited > RENEW_AGAIN:
                await self._renew()
            return
        if await self._sees(self.login.picture):
            if self.state is None or self.state == "expired":
                await self._show_picture()
            return
        if self.shown is None and self.login.opener and not self._opened:
            self._opened = True
            await self._click(self.login.opener)
        if self.shown is None and waited > NO_CODE_AFTER:
            raise LoginFailed(
                "no_qrcode",
                f"{self.login.url} shows no QR code that is known; the page may have changed: "
                "use --method cookie",
            )

    async def _is_captcha(self) -> bool:
        if urlsplit(self.page.url).path.startswith(self.login.captcha_paths or ("\0",)):
            return True
        return self.login.captcha is not None and await self._sees(self.login.captcha)

    def _name_captcha(self) -> None:
        if not self.window:
            raise LoginFailed(
                "captcha",
                "the platform wants a person to solve a captcha before the login: log in where "
                "there is a display, or use --method cookie",
            )
        if not self._captcha_named:
            self._captcha_named = True
            self.say("the platform wants a captcha solved: do it in the window")

    async def _sees(self, selector: str) -> bool:
        return await self.page.locator(selector).first.is_visible()

    async def _click(self, selector: str) -> bool:
        from playwright.async_api import Error

        target = self.page.locator(selector).first
        try:
            if not await target.is_visible():
                return False
            await target.click(timeout=2000)
        except Error:
            if self.page.is_closed():
                raise
            return False
        return True

    async def _renew(self) -> None:
        """Get a new code: by what lies over the old one, else by opening the page anew."""
        self.say("the code has expired: getting a new one")
        tried_before = self.shown is None
        self.shown = None
        self._waiting_since = time.monotonic()
        if tried_before or not await self._click(self.login.expired):
            await self.page.goto(
                self.login.url, wait_until="domcontentloaded", timeout=PAGE_TIMEOUT
            )
            self._opened = False

    # Showing the code

    def _show_code(self, payload: str) -> None:
        if payload == self.shown:
            return
        self.shown = payload
        self._write_picture(qr.png(payload))
        self._draw(qr.encode(payload))

    async def _show_picture(self) -> None:
        """Draw what the page shows where none of its answers said what that is."""
        picture = self.page.locator(self.login.picture).first
        source: str = await picture.evaluate(PICTURE)
        if source == self.shown:
            return
        inline = source
        if not source.startswith("data:image/"):
            shot = await picture.screenshot(type="png")
            inline = "data:image/png;base64," + base64.b64encode(shot).decode()
        matrix = qr.modules(await self._pixels(inline))
        if matrix is None and self.shown is None and not self._is_late():
            return  # still being drawn
        self.shown = source
        self.state = "new" if matrix is not None else self.state
        self._write_picture(base64.b64decode(inline.partition(",")[2]))
        if matrix is None:
            self.say(f"the code cannot be drawn here: open {self.picture}")
            return
        self._draw(matrix)

    def _is_late(self) -> bool:
        return time.monotonic() - self._waiting_since > NO_CODE_AFTER / 2

    async def _pixels(self, source: str) -> list[list[bool]]:
        blank = await self.context.new_page()
        try:
            rows: list[str] = await blank.evaluate(PIXELS, source)
        finally:
            await blank.close()
        return [[pixel == "1" for pixel in row] for row in rows]

    def _draw(self, matrix: qr.Matrix) -> None:
        colours = sys.stdout.isatty() and "NO_COLOR" not in os.environ
        self.say(qr.draw(matrix, colours=colours))
        self.say(f"scan this code with the app on your phone (also in {self.picture})")

    def _write_picture(self, content: bytes) -> None:
        write_private(self.picture, content)


def write_private(path: Path, content: bytes) -> None:
    """Write a file that only its owner can read, in a folder of the same kind.

    :raises UsageProblem: it cannot be written.
    """
    try:
        path.parent.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.parent.mkdir(mode=0o700, exist_ok=True)
        path.unlink(missing_ok=True)  # an old file would keep its mode
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "wb") as file:
            file.write(content)
    except OSError as error:
        raise UsageProblem(f"cannot write {path}: {error.strerror or error}") from None


# --- The user's own browser -------------------------------------------------------------------


async def _attached_login(login: LoginPage, account: str, cdp_url: str) -> Session:
    from playwright.async_api import Error

    async with attached_chromium(cdp_url) as browser:
        context = browser.contexts[0]  # that of the user's own windows
        try:
            page = await context.new_page()
            try:
                if not await _is_member(login, page):
                    raise LoginFailed(
                        "login_required",
                        f"nobody is logged in to {login.platform} in that browser: log in there",
                    )
                return await _session(login, account, context, page)
            finally:
                with suppress(Error):
                    await page.close()
        except Error as error:
            raise _browser_trouble(error, login) from None


async def _is_member(login: LoginPage, page: Page) -> bool:
    """Whether one of the platform's hosts knows who is logged in.

    :raises LoginFailed: the platform wants a captcha instead of answering.
    """
    members = []
    for question in login.whoami:
        await page.goto(question.home, wait_until="domcontentloaded", timeout=PAGE_TIMEOUT)
        answer = await ask(page, question)
        try:
            members.append(answer is not None and not question.read(*answer, question.url).guest)
        except CaptchaRequired as refusal:
            raise LoginFailed("captcha", f"the platform wants a captcha: {refusal}") from None
        except PlatformError as refusal:
            logger.debug("%s: who is logged in? %s", login.platform, refusal)
    return any(members)


# --- What both share --------------------------------------------------------------------------


async def ask(page: Page, question: WhoAmI) -> tuple[int, dict[str, str], bytes] | None:
    """Who is logged in, asked by *page*: status, headers, body; None without an answer."""
    from playwright.async_api import Error

    cookies = {
        cookie["name"]: cookie["value"] for cookie in await page.context.cookies(question.url)
    }
    target = question.url.partition(_host(question.url))[2]
    try:
        status, headers, text = await page.evaluate(
            FETCH, [question.url, question.headers(target, cookies)]
        )
    except Error:  # the page moves on, or may not ask that host
        if page.is_closed():
            raise
        return None
    return status, headers, text.encode()


async def ask_at_home(
    context: BrowserContext, question: WhoAmI
) -> tuple[int, dict[str, str], bytes] | None:
    """The same from a page of its own, which is closed again."""
    from playwright.async_api import Error

    page = await context.new_page()
    try:
        await page.goto(question.home, wait_until="domcontentloaded", timeout=PAGE_TIMEOUT)
        return await ask(page, question)
    except Error:
        if page.is_closed():
            raise
        return None
    finally:
        await page.close()


async def _session(login: LoginPage, account: str, context: BrowserContext, page: Page) -> Session:
    """The context's storage state, the platform's part of it only, and its user agent."""
    state = await context.storage_state()
    return Session(
        login.platform,
        account,
        cookies=[
            from_browser(cookie) for cookie in state["cookies"] if login.owns(cookie["domain"])
        ],
        user_agent=await page.evaluate("navigator.userAgent"),
        storage=[dict(one) for one in state["origins"] if login.owns(_host(one["origin"]))],
        state="ok",
        checked_at=datetime.now(timezone.utc),
    )


def _browser_trouble(error: Exception, login: LoginPage) -> LoginFailed:
    message = str(error).partition("\n")[0]
    if "has been closed" in message or "crashed" in message:
        return LoginFailed("closed", "the browser was closed before the login was done")
    if "net::" in message or "Timeout" in message:
        reason: Any = message.partition("net::")[2].partition(" ")[0] or "no answer in time"
        return LoginFailed("unreachable", f"{login.platform} cannot be reached: {reason}")
    return LoginFailed("closed", f"the browser failed: {message}")


def _same_address(url: str, other: str) -> bool:
    """Whether both are the same but for the query."""
    return url.partition("?")[0] == other.partition("?")[0]


def _host(url: str) -> str:
    return urlsplit(url).hostname or ""


def _run(main: Coroutine[Any, Any, T]) -> T:
    """Run *main* on a loop of its own, to its end also after Ctrl-C.

    ``asyncio.run`` would leave the thread without the loop that a Scrapy command has set, and
    before Python 3.11 does not let a cancelled coroutine close its browser.
    """
    loop = _new_loop()
    task = loop.create_task(main)
    try:
        with _like_ctrl_c(ENDINGS):
            return loop.run_until_complete(task)
    except BaseException:
        if not task.done():
            task.cancel()
            with suppress(BaseException):
                loop.run_until_complete(task)
        raise
    finally:
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


@contextmanager
def _like_ctrl_c(names: Iterable[str]) -> Iterator[None]:
    """Signals of these names raise KeyboardInterrupt meanwhile, as Ctrl-C does."""
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    before = [signal.signal(number, signal.default_int_handler) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


def _new_loop() -> asyncio.AbstractEventLoop:
    if sys.platform == "win32":
        return asyncio.ProactorEventLoop()  # the selector loop cannot start programs there
    return asyncio.new_event_loop()
