"""Whom the browser talks to: the site that it is sent to, by its proxy, and nobody else."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import Settings

from mediacrawler.browser import launch_options, running_chromium
from sandbox.testing import RunningSandbox
from tests.proxy_servers import LocalProxy

LOGIN = "https://www.xiaohongshu.com/login"
ALIVE_FOR = 8.0  # seconds; Chromium's own errands are run within the first few of them

LEARN_ADDRESS = """async server => {
  const peer = new RTCPeerConnection({ iceServers: [{ urls: "stun:" + server }] });
  const found = [];
  const done = new Promise(resolve => {
    peer.onicecandidate = ({ candidate: one }) => one ? found.push(one.candidate) : resolve();
  });
  peer.createDataChannel("any");
  await peer.setLocalDescription(await peer.createOffer());
  await done;
  return found;
}"""


def visit(chromium: Path, proxy: LocalProxy, script: str, argument: str) -> Any:
    """Open a page of the sandbox through *proxy*, and give what *script* makes of *argument*."""
    settings = Settings({"CHROMIUM_PATH": str(chromium)})
    options = launch_options(settings, headless=True, proxy=proxy.url)
    options["args"].append("--ignore-certificate-errors")  # the sandbox's, which nobody has signed

    async def look() -> Any:
        async with running_chromium(options) as browser:
            page = await browser.new_page()
            await page.goto(LOGIN, wait_until="domcontentloaded")
            return await page.evaluate(script, argument)

    return asyncio.run(look())


def test_nobody_is_asked_but_the_site(chromium: Path, tls_sandbox: RunningSandbox) -> None:
    wait = "seconds => new Promise(resolve => setTimeout(resolve, 1000 * seconds))"
    with LocalProxy((tls_sandbox.host, tls_sandbox.port)) as proxy:
        visit(chromium, proxy, wait, str(ALIVE_FOR))

    assert proxy.asked_for
    assert {asked for asked in proxy.asked_for if "xiaohongshu.com" not in asked} == set()


def test_a_page_cannot_learn_the_address_behind_the_proxy(
    chromium: Path, tls_sandbox: RunningSandbox
) -> None:
    with (
        LocalProxy((tls_sandbox.host, tls_sandbox.port)) as proxy,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stun,
    ):
        stun.bind(("127.0.0.1", 0))
        stun.setblocking(False)
        found = visit(chromium, proxy, LEARN_ADDRESS, f"127.0.0.1:{stun.getsockname()[1]}")
        with pytest.raises(BlockingIOError):
            stun.recv(64)

    assert found == []
