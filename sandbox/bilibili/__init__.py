"""Bilibili in the sandbox: its world (:class:`World`) and the platform that serves it.

``world.py`` says what is true, ``views.py`` writes it down, ``signature.py`` checks signatures,
``site.py`` answers requests. Facts are those of ``docs/platforms/bilibili.md``.
"""

from sandbox.bilibili.site import Bilibili
from sandbox.bilibili.world import FIXED_CREATORS, FIXED_VIDEOS, World
from sandbox.worlds import DEMO_KEYWORD

PLATFORM = Bilibili

__all__ = ["DEMO_KEYWORD", "FIXED_CREATORS", "FIXED_VIDEOS", "PLATFORM", "World"]
