"""Weibo in the sandbox: its world (:class:`World`) and the platform that serves it.

``world.py`` says what is true, ``ids.py`` how it is numbered, ``views.py`` and ``pages.py`` write
it down as JSON and as HTML, ``site.py`` answers requests. Facts are those of
``docs/platforms/weibo.md``.
"""

from sandbox.weibo.site import Weibo
from sandbox.weibo.world import FIXED_CREATORS, FIXED_POSTS, World
from sandbox.worlds import DEMO_KEYWORD

PLATFORM = Weibo

__all__ = ["DEMO_KEYWORD", "FIXED_CREATORS", "FIXED_POSTS", "PLATFORM", "World"]
