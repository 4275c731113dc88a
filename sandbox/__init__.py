"""An offline stand-in of the platforms that ``mediacrawler`` reads: ``python -m sandbox``.

It knows nothing of the crawler (and imports nothing of it), so that what one side believes about
a platform is checked by the other. One module (or package) a platform, found by its name in
:data:`sandbox.core.PLATFORMS`; everything that platforms share lives in the core:

* :mod:`sandbox.core` -- :class:`~sandbox.core.Platform`, :class:`~sandbox.core.Call`,
  :class:`~sandbox.core.Reply`, :class:`~sandbox.core.Options`: the contract, in plain data;
* :mod:`sandbox.server` -- HTTP and TLS, dispatch by Host header, latency, control endpoints;
* :mod:`sandbox.faults`, :mod:`sandbox.counters` -- misbehaviour on demand, and what was seen;
* :mod:`sandbox.logins` -- accounts, their sessions, QR codes and the phone that confirms them;
* :mod:`sandbox.worlds`, :mod:`sandbox.texts` -- seeded dice, reversible ids, invented texts, and
  the :class:`~sandbox.worlds.World` of keywords, creators and readers that every platform's has;
* :mod:`sandbox.sites` -- the :class:`~sandbox.sites.Site` of a platform with many hosts, and
  signed addresses that expire;
* :mod:`sandbox.media` -- real pictures and videos of any size, computed from an id;
* :mod:`sandbox.testing` -- :class:`~sandbox.testing.RunningSandbox` for tests.

The contract
------------
A platform is a class ``PLATFORM`` in ``sandbox/<name>.py``. It gets each call to its hosts as
plain data and answers with plain data, synchronously: latency, faults, counters, ranges and
throttling are the server's business. Derive every record from ``(seed, id)`` so that the same
seed is the same world, also after a restart. A whole platform::

    from sandbox.core import Call, Platform, Reply, Visitor, json_reply
    from sandbox.media import Picture
    from sandbox.worlds import Dice

    class Demo(Platform):
        name = "demo"
        hosts = ("api.demo.example", "*.cdn.example")   # exact, or one leading wildcard
        fault_kinds = {"flagged": lambda call, args, answer: json_reply({"code": 13})}

        def is_media(self, call: Call) -> bool:         # default faults spare media
            return call.host.endswith(".cdn.example")

        def respond(self, call: Call) -> Reply:
            if self.is_media(call):                     # Range, ETag, HEAD: the server's work
                return Reply(blob=Picture(call.path, width=640, height=480))
            if self.options.verify and "x-sign" not in call.headers:
                self.counters.bad_signature("missing")
                return json_reply({"code": -1}, status=406)
            dice = Dice(self.options.seed, "post", call.params.get("id", ""))
            return json_reply({"code": 0, "likes": dice.between(0, 999)})

        def who(self, call: Call) -> Visitor | None:    # counters and faults by account
            session = call.cookies.get("session")
            return Visitor(session, "member", session) if session else None

        def cookies(self, kind: str) -> dict[str, str]:
            return {"session": "member-1"} if kind == "member" else {}

    PLATFORM = Demo

``call.target`` is the request target exactly as it was sent: signatures are checked against it,
never against something rebuilt. ``call.params`` and ``call.cookies`` are parsed on first use.
"""
