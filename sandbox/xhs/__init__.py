"""XHS in the sandbox: its world (:class:`World`) and the platform that serves it.

``world.py`` says what is true, ``views.py`` writes it down, ``signature.py`` checks signatures,
``site.py`` answers requests. Facts are those of ``docs/platforms/xhs.md``.
"""

from sandbox.worlds import DEMO_KEYWORD
from sandbox.xhs.site import Xhs
from sandbox.xhs.world import FIXED_CREATORS, FIXED_NOTES, World

PLATFORM = Xhs

__all__ = ["DEMO_KEYWORD", "FIXED_CREATORS", "FIXED_NOTES", "PLATFORM", "World"]
