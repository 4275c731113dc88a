"""Logging in with a phone number: asked at the terminal, the steps are the platform's spider's.

Only where a platform sends codes without a captcha: where its spider has a `log_in_by_phone`.
"""

from __future__ import annotations

import asyncio
import re
import sys

from mediacrawler.exceptions import PlatformError
from mediacrawler.sessions import Session
from mediacrawler.sessions.check import SessionCheck

LOOK_EVERY = 0.25  # seconds between two looks whether Ctrl-C was pressed


class PhoneLogin(SessionCheck):
    """Mixed into a platform's spider class, behind it: logs in, then asks who that is."""

    def missing_cookies(self, session: Session) -> list[str]:
        return []  # there is nothing yet

    async def _ask(self) -> None:
        number = await self._typed(
            "Phone number (outside of mainland China with +country code and a blank): "
        )
        zone, phone = split_number(number)
        if not phone:
            self.problem = "that is not a phone number"
            return
        try:
            done = await self.log_in_by_phone(self.session, zone, phone, self._typed_code)
        except PlatformError as error:
            self.problem = f"the login by phone is refused: {error}"
            return
        if done:
            await super()._ask()

    async def _typed_code(self) -> str:
        return await self._typed("Code from the text message: ")

    async def _typed(self, question: str) -> str:
        """A line from the terminal, without keeping the loop from noticing Ctrl-C."""
        print(question, end="", flush=True)
        ready = asyncio.Event()
        loop = asyncio.get_running_loop()
        try:
            loop.add_reader(sys.stdin, ready.set)
        except (OSError, ValueError, NotImplementedError):  # a file, or Windows
            return sys.stdin.readline().strip()
        try:
            while not ready.is_set() and not self.stopping:
                await asyncio.sleep(LOOK_EVERY)
        finally:
            loop.remove_reader(sys.stdin)
        return sys.stdin.readline().strip() if ready.is_set() else ""


def split_number(text: str) -> tuple[str, str]:
    """Country code and number of a phone; without a code it is one of mainland China.

    The number is "" if there is none.
    """
    given = re.fullmatch(r"(?:\+|00)(\d{1,3})[ -]([\d -]+)", text.strip())
    zone, number = given.groups() if given else ("86", text)
    digits = re.sub(r"[ -]", "", number)
    return zone, digits if re.fullmatch(r"\d{5,15}", digits) else ""
