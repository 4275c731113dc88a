"""Zhihu in the sandbox: its world (:class:`World`) and the platform that serves it.

``world.py`` says what is true, ``views.py`` writes it down, ``signature.py`` checks signatures,
``site.py`` answers requests. Facts are those of ``docs/platforms/zhihu.md``.
"""

from sandbox.worlds import DEMO_KEYWORD
from sandbox.zhihu.site import Zhihu
from sandbox.zhihu.views import Views
from sandbox.zhihu.world import FIXED_CREATORS, FIXED_POSTS, World

PLATFORM = Zhihu

__all__ = ["DEMO_KEYWORD", "FIXED_CREATORS", "FIXED_POSTS", "PLATFORM", "Views", "World"]
