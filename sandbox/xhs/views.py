"""The JSON and HTML of XHS: how the world is written down on the wire.

Shapes, names and types follow ``docs/platforms/xhs.md`` section 5: counts are strings, times are
integers in milliseconds, and keys go missing where the platform leaves them out.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from urllib.parse import quote
from zlib import crc32

from sandbox.core import BEIJING, Json
from sandbox.sites import Addresses as SiteAddresses
from sandbox.worlds import Dice, digest, number, wan
from sandbox.xhs.login import SCRIPT_TAG
from sandbox.xhs.world import Comment, Note, Picture, Stream, User, World, corner_tag

DETAIL = ("nd_dft_wlteh_webp_3", "nd_prv_wlteh_webp_3")  # url_default, url_pre
CARD = ("nc_n_webp_mw_1", "nc_n_webp_prv_1")


class Addresses(SiteAddresses):
    """Signed addresses of pictures and videos: fresh at each call, and they expire.

    A seal is 32 hex digits: the second of its making, a running number, and 16 digits that belong
    to both and to the file. It keeps nobody out who means it; it only has to break when it should.
    """

    def __init__(self, seed: int, ttl: int) -> None:
        super().__init__(seed & 0xFFFF, ttl)
        self._count = 0
        self._second = 0
        self._stamp = ""

    def picture(self, token: str, style: str) -> str:
        """The delivered url of a picture: date, 32 hex digits, token, style (8.1)."""
        now = int(time.time())
        if now != self._second:
            self._second = now
            self._stamp = f"{datetime.fromtimestamp(now, BEIJING):%Y%m%d%H%M}"
        what = f"{token}!{style}"
        return f"http://sns-webpic-qc.xhscdn.com/{self._stamp}/{self._seal(now, what)}/{what}"

    def video(self, path: str) -> str:
        """``sign`` and ``t`` of a video's master url (8.3)."""
        now = int(time.time())
        return f"sign={self._seal(now, path)}&t={now + self.ttl:x}"

    def is_good(self, seal: str, what: str) -> bool:
        """Whether *seal* was made for *what* (``token!style`` or a path) and is not too old."""
        try:
            head = int(seal[:16], 16)
        except ValueError:
            return False
        if len(seal) != 32 or self._tail(head, what) != seal[16:]:
            return False
        return time.time() - (head >> 32) <= self.ttl

    def _seal(self, now: int, what: str) -> str:
        self._count += 1
        head = now << 32 | self._count & 0xFFFFFFFF
        return f"{head:016x}{self._tail(head, what)}"

    def _tail(self, head: int, what: str) -> str:
        key = (head * 2_654_435_761 ^ self._seed << 16 ^ self.generation) & 0xFFFFFFFF
        return f"{crc32(what.encode(), key) * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF:016x}"


class Views:
    """Writes answers for one world; *site* is ``xiaohongshu.com`` or ``rednote.com`` in links."""

    def __init__(self, world: World, addresses: Addresses) -> None:
        self.world = world
        self.addresses = addresses

    @property
    def now_ms(self) -> int:
        return self.world.now * 1000

    # -- people ---------------------------------------------------------------------------------

    def author(self, user: User, width: int = 0, token: bool = True) -> Json:
        """The ``user`` of a list card."""
        avatar = f"https://sns-avatar-qc.xhscdn.com/{user.avatar}"
        if width:
            avatar += f"?imageView2/2/w/{width}/format/jpg"
        card = {
            "user_id": user.id,
            "nickname": user.nickname,
            "nick_name": user.nickname,
            "avatar": avatar,
        }
        if token:
            card["xsec_token"] = self.world.token(user.id, "user")
        return card

    def mention(self, user: User) -> Json:
        return {
            "user_id": user.id,
            "nickname": user.nickname,
            "xsec_token": self.world.token(user.id, "mention"),
        }

    def commenter(self, user: User) -> Json:
        return {
            "user_id": user.id,
            "nickname": user.nickname,
            "image": f"https://sns-avatar-qc.xhscdn.com/{user.avatar}"
            "?imageView2/2/w/120/format/jpg",
            "xsec_token": self.world.token(user.id, "comment"),
        }

    def profile(self, user: User) -> Json:
        """``data`` of otherinfo (5.3)."""
        if user.banned:
            return {"result": {"success": False, "code": -1, "message": "该用户已被封禁"}}
        dice = Dice("interactions", user.address)
        interactions = [
            {"type": "follows", "name": "关注", "count": wan(user.follows)},
            {"type": "fans", "name": "粉丝", "count": wan(user.fans, cap=False)},
            {
                "type": "interaction",
                "name": "获赞与收藏",
                "count": wan(user.interaction, cap=False),
            },
        ]
        return {
            "basic_info": self._basic_info(user),
            "interactions": dice.some(interactions, 3) if dice.chance(10) else interactions,
            "tags": self._profile_tags(user),
            "tab_public": {
                "collection": user.collects >= 0,
                "collectionNote": {
                    "display": user.collects >= 0,
                    "lock": user.collects < 0,
                    "count": max(0, user.collects),
                },
                "collectionBoard": {"display": user.collects >= 0, "lock": False, "count": 0},
            },
            "extra_info": {"blockType": "DEFAULT", "fstatus": "none"},
            "result": {"success": True, "code": 0, "message": "success"},
        }

    def _basic_info(self, user: User) -> Json:
        avatar = f"https://sns-avatar-qc.xhscdn.com/{user.avatar}?imageView2/2/w"
        return {
            "nickname": user.nickname,
            "desc": user.bio,
            "images": f"{avatar}/360/format/webp",
            "imageb": f"{avatar}/540/format/webp",
            "gender": user.gender,
            "ip_location": user.ip,
            "red_id": user.red_id,
        }

    @staticmethod
    def _profile_tags(user: User) -> list[Json]:
        tags: list[Json] = []
        if user.gender != 2:
            sex = "female" if user.gender else "male"
            icon = f"http://ci.xiaohongshu.com/icons/user/gender-{sex}-v1.png"
            tags.append({"tagType": "info", "icon": icon})
        if user.address % 4 == 0:
            tags.append({"tagType": "profession", "name": f"{user.topic}博主"})
        return tags

    def me(self, user: User, guest: bool) -> Json:
        """``data`` of user/me."""
        if guest:
            return {"guest": True, "user_id": user.id}
        info = self._basic_info(user)
        del info["ip_location"]
        return {"guest": False, "user_id": user.id, **info}

    def found_user(self, user: User) -> Json:
        """One hit of usersearch."""
        return {
            "id": user.id,
            "name": user.nickname,
            "image": f"https://sns-avatar-qc.xhscdn.com/{user.avatar}"
            "?imageView2/2/w/360/format/webp",
            "red_id": user.red_id,
            "sub_title": f"小红书号：{user.red_id}",
            "fans": wan(user.fans, cap=False),
            "note_count": user.total,
            "xsec_token": self.world.token(user.id, "usersearch"),
            "link": f"xhsdiscover://1/user/user.{user.id}",
            "red_official_verify_type": user.verified,
            "red_official_verified": user.verified > 0,
            "show_red_official_verify_icon": user.verified > 0,
            "vshow": 0,
            "followed": False,
            "is_self": False,
            "update_time": f"{number('update', user.address) % 59 + 1}分钟前更新",
        }

    # -- cards ----------------------------------------------------------------------------------

    def search_item(self, note: Note, search_id: str) -> Json:
        """One note of a search page (5.1): no text, no time but the corner tag."""
        card: Json = {
            "type": note.kind,
            "user": self.author(note.author, 80),
            "interact_info": {
                "liked": False,
                "liked_count": wan(note.outline.likes),
                "collected": False,
                "collected_count": wan(note.outline.collects),
                "comment_count": wan(note.outline.comments),
                "shared_count": wan(note.outline.shares),
            },
            "cover": self._cover(note.pictures[0]),
            "image_list": [self._card_picture(picture) for picture in note.pictures],
            "corner_tag_info": [
                {
                    "type": "publish_time",
                    "text": corner_tag(note.outline.time, self.world.now),
                }
            ],
        }
        if note.title:
            card["display_title"] = note.title
        if note.video is not None:
            card["video"] = {"capa": {"duration": note.video.seconds}}
        return {
            "id": note.id,
            "model_type": "note",
            "note_card": card,
            "xsec_token": self.world.token(note.id, f"search {search_id}"),
        }

    def _cover(self, picture: Picture) -> Json:
        default, preview = (self.addresses.picture(picture.token, style) for style in CARD)
        return {
            "url_default": default,
            "url_pre": preview,
            "height": picture.height,
            "width": picture.width,
        }

    def _card_picture(self, picture: Picture) -> Json:
        default, preview = (self.addresses.picture(picture.token, style) for style in CARD)
        return {
            "height": picture.height,
            "width": picture.width,
            "info_list": [
                {"image_scene": "WB_DFT", "url": default},
                {"image_scene": "WB_PRV", "url": preview},
            ],
        }

    def suggestion(self, keyword: str, page: int, model_type: str) -> Json:
        """A card among the notes that is no note: suggested searches, a live room."""
        mark = digest("suggestion", self.world.seed, keyword, page).hex()
        uuid = "-".join((mark[:8], mark[8:12], mark[12:16], mark[16:20], mark[20:]))
        item_id = f"{uuid}#{self.now_ms + page}"
        item: Json = {
            "id": item_id,
            "model_type": model_type,
            "xsec_token": "AB" + (digest(mark, size=48).hex() + mark)[:107] + "=",
        }
        if model_type in ("rec_query", "hot_query"):
            words = [f"{keyword}{tail}" for tail in ("推荐", "攻略", "新手", "平价")]
            item[model_type] = {
                "title": "相关搜索" if model_type == "rec_query" else "大家都在搜",
                "source": 1,
                "word_request_id": item_id,
                "queries": [{"id": word, "name": word, "search_word": word} for word in words],
            }
        return item

    def feed_item(self, note: Note, track_id: str) -> Json:
        """One card of the home feed."""
        return {
            "id": note.id,
            "model_type": "note",
            "track_id": track_id,
            "ignore": False,
            "xsec_token": self.world.token(note.id, "feed"),
            "note_card": {
                **self._list_card(note),
                "user": self.author(note.author),
                "interact_info": {"liked": False, "liked_count": wan(note.outline.likes)},
            },
        }

    def posted_note(self, note: Note, channel: str = "user") -> Json:
        """One card of user_posted and its siblings."""
        liked = "" if note.outline.likes == 0 else wan(note.outline.likes)
        return {
            "note_id": note.id,
            "xsec_token": self.world.token(note.id, channel),
            **self._list_card(note),
            "user": self.author(note.author, token=False),
            "interact_info": {
                "liked": False,
                "liked_count": liked,
                "sticky": note.sticky and channel == "user",
            },
        }

    def _list_card(self, note: Note) -> Json:
        picture = note.pictures[0]
        card: Json = {
            "type": note.kind,
            "display_title": note.title,
            "cover": {
                **self._addressed(picture, CARD),
                "height": picture.height,
                "width": picture.width,
            },
        }
        if note.video is not None:
            card["video"] = {"capa": {"duration": note.video.seconds}}
        return card

    # -- detail ---------------------------------------------------------------------------------

    def detail(self, note: Note, streams: bool = True) -> Json:
        """``note_card`` of the feed endpoint (5.2). Without *streams* a video has none, as for a
        visitor without a session."""
        outline = note.outline
        card: Json = {
            "note_id": note.id,
            "type": note.kind,
            "title": note.title,
            "desc": note.desc,
            "user": self._detail_author(note.author),
            "time": note.time,
            "last_update_time": note.edited,
            "ip_location": note.ip,
            "tag_list": self._tags(note),
            "at_user_list": [self.mention(user) for user in note.mentions],
            "interact_info": {
                "liked": False,
                "liked_count": wan(outline.likes),
                "collected": False,
                "collected_count": wan(outline.collects),
                "comment_count": wan(outline.comments),
                "share_count": wan(outline.shares),
                "followed": False,
                "relation": "none",
            },
            "image_list": [self._detail_picture(picture) for picture in note.pictures],
            "share_info": {"un_share": False},
        }
        if note.video is not None:
            card["video"] = self._video(note, streams)
        return card

    def _detail_author(self, user: User) -> Json:
        return {
            "user_id": user.id,
            "nickname": user.nickname,
            "avatar": f"https://sns-avatar-qc.xhscdn.com/{user.avatar}",
            "xsec_token": self.world.token(user.id, "user"),
        }

    @staticmethod
    def _tags(note: Note) -> list[Json]:
        tags = [
            {"id": digest("topic", topic, size=12).hex(), "name": topic, "type": "topic"}
            for topic in note.topics
        ]
        if note.brand:
            brand_id = digest("brand", note.brand, size=12).hex()
            tags.append({"id": brand_id, "name": note.brand, "type": "brand"})
        return tags

    def _detail_picture(self, picture: Picture) -> Json:
        addressed = self._addressed(picture, DETAIL)
        stream: Json = {}
        if picture.clip is not None:
            clip = self._stream(picture.clip)
            stream = {"h264": [clip], "h265": [], "av1": [], "h266": []}
        return {
            "height": picture.height,
            "width": picture.width,
            **addressed,
            "stream": stream,
            "live_photo": picture.live,
        }

    def _addressed(self, picture: Picture, styles: tuple[str, str]) -> Json:
        """The addresses of a picture in two styles: the usual one, and the one before it."""
        default, preview = (self.addresses.picture(picture.token, style) for style in styles)
        return {
            "url": "",
            "trace_id": "",
            "file_id": "",
            "url_pre": preview,
            "url_default": default,
            "info_list": [
                {"image_scene": "WB_PRV", "url": preview},
                {"image_scene": "WB_DFT", "url": default},
            ],
        }

    def _video(self, note: Note, streams: bool) -> Json:
        video = note.video
        assert video is not None
        shown = video.streams if streams else ()
        buckets: Json = {"av1": [], "h264": [], "h265": [], "h266": []}
        if any(stream.bucket.startswith("EF") for stream in shown):
            # the shape of 2026: empty buckets may be null or absent
            buckets = {"h264": [], "h265": [], "av1": None}
        for stream in shown:
            buckets.setdefault(stream.bucket, []).append(self._stream(stream))
        written: Json = {
            "capa": {"duration": video.seconds},
            "media": {
                "video_id": video.number,
                "video": {
                    "biz_name": 110,
                    "biz_id": str(number("biz", note.address) % 10**18),
                    "duration": video.seconds,
                    "md5": digest("md5", note.address).hex(),
                    "hdr_type": 0,
                    "drm_type": 0,
                    "stream_types": [stream.stream_type for stream in shown],
                },
                "stream": buckets,
            },
            "image": {"thumbnail_fileid": f"frame/{note.pictures[0].token}"},
        }
        if video.origin_key and streams:
            written["consumer"] = {"origin_video_key": video.origin_key}
        if video.subtitles:
            url = f"http://sns-video-bd.xhscdn.com/{video.subtitles}"
            line = {"url": url, "language": "zh-CN", "format": "srt", "type": "asr"}
            subtitles = {"video": {"subtitles": {"zh-CN": [line]}}}
            written["media_v2"] = json.dumps(subtitles, ensure_ascii=False)
        return written

    def _stream(self, stream: Stream) -> Json:
        milliseconds = int(stream.seconds * 1000)
        master = f"http://sns-video-ak.xhscdn.com/{stream.path}"
        if stream.signed:
            master += "?" + self.addresses.video(stream.path)
        backups = [f"http://sns-bak-v{n}.xhscdn.com/{stream.path}" for n in (1, 6)]
        return {
            "stream_type": stream.stream_type,
            "stream_desc": stream.desc,
            "width": stream.width,
            "height": stream.height,
            "duration": milliseconds,
            "video_duration": milliseconds,
            "audio_duration": max(0, milliseconds - 90),
            "fps": 30,
            "size": stream.size,
            "avg_bitrate": stream.bitrate,
            "video_bitrate": stream.bitrate * 9 // 10,
            "audio_bitrate": 64_070,
            "audio_channels": 2,
            "audio_codec": "aac",
            "video_codec": stream.codec,
            "format": "mp4",
            "quality_type": "HD",
            "rotate": 0,
            "hdr_type": 0,
            "weight": 62,
            "default_stream": 0,
            "volume": 0,
            "psnr": 0,
            "ssim": 0,
            "vmaf": -1,
            "master_url": master,
            "backup_urls": None if stream.backups < 0 else backups[: stream.backups],
        }

    # -- comments -------------------------------------------------------------------------------

    def comment(self, note: Note, comment: Comment) -> Json:
        """A top-level comment with its first reply."""
        inline = [self.world.comment(note, comment.root, 1)] if comment.replies else []
        return {
            **self._said(note, comment),
            "sub_comment_count": str(comment.replies),
            "sub_comment_cursor": inline[-1].id if inline else "",
            "sub_comment_has_more": comment.replies > len(inline),
            "sub_comments": [self.reply(note, one) for one in inline],
        }

    def reply(self, note: Note, reply: Comment) -> Json:
        """A reply; it names the comment that it answers, which need not be the root."""
        target = (note, reply.root, reply.target)
        return {
            **self._said(note, reply),
            "target_comment": {
                "id": self.world.comment_id(*target),
                "user_info": self.commenter(self.world.speaker(*target)),
            },
        }

    def _said(self, note: Note, comment: Comment) -> Json:
        written: Json = {
            "id": comment.id,
            "note_id": note.id,
            "content": comment.text,
            "status": comment.status,
            "create_time": comment.time,
            "like_count": "" if comment.likes == 0 and comment.root % 2 else wan(comment.likes),
            "liked": False,
            "at_users": [self.mention(comment.mention)] if comment.mention else [],
            "show_tags": list(comment.tags),
            "user_info": self.commenter(comment.user),
        }
        if comment.ip is not None:
            written["ip_location"] = comment.ip
        elif comment.root % 3 == 0:
            written["at_users"] = None  # old comments: no place, and null instead of a list
        if comment.pictures:
            written["pictures"] = [self._comment_picture(one) for one in comment.pictures]
        return written

    def _comment_picture(self, picture: Picture) -> Json:
        default, preview = (self.addresses.picture(picture.token, style) for style in DETAIL)
        return {
            "url_pre": preview,
            "url_default": default,
            "width": picture.width,
            "height": picture.height,
            "info_list": [
                {"image_scene": "WB_PRV", "url": preview},
                {"image_scene": "WB_DFT", "url": default},
            ],
        }

    def comment_page(
        self, note: Note, comments: Sequence[Json], has_more: bool, token: str
    ) -> Json:
        """``data`` of comment/page and comment/sub/page; the cursor stays when nothing follows."""
        return {
            "comments": list(comments),
            "cursor": comments[-1]["id"] if comments else "",
            "has_more": has_more,
            "time": self.now_ms,
            "user_id": note.author.id,
            "xsec_token": token,
        }


# -- HTML ----------------------------------------------------------------------------------------


class Undefined:
    """The bare word ``undefined`` in a state (5.6)."""


UNDEFINED = Undefined()
_PLACE = "\ufdd0undefined\ufdd0"  # a noncharacter: no text contains it


def camel(value: Any) -> Any:
    """The same with the keys of all objects in camelCase; values stay."""
    if isinstance(value, dict):
        return {_camel_key(key): camel(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [camel(inner) for inner in value]
    return value


def _camel_key(key: str) -> str:
    head, *rest = key.split("_")
    return head + "".join(part[:1].upper() + part[1:] for part in rest)


def _plain(value: object) -> str:
    if isinstance(value, Undefined):
        return _PLACE
    raise TypeError(f"not for a state: {value!r}")


def page(title: str, state: Json | None, text: str = "", escape: bool = True) -> str:
    """An HTML page with its state; with *escape* slashes are written as ``\\u002F``."""
    script = ""
    if state is not None:
        literal = json.dumps(state, ensure_ascii=False, separators=(",", ":"), default=_plain)
        literal = literal.replace(f'"{_PLACE}"', "undefined")
        literal = literal.replace("/", "\\u002F") if escape else literal.replace("</", "<\\u002F")
        script = f"<script>window.__INITIAL_STATE__={literal}</script>"
    return (
        '<!doctype html><html><head><meta charset="utf-8">'
        f"<title>{_html(title)}</title>{SCRIPT_TAG}<script>window.__SSR__=true</script></head>"
        f'<body><div id="app">{_side_bar(state)}{text}</div>{script}'
        '<script>(function () { try { document.querySelector("#exploreFeeds") } catch (e) {} })()'
        "</script></body></html>"
    )


def _side_bar(state: Json | None) -> str:
    """The entry that only members have (1.3)."""
    viewer = ((state or {}).get("user") or {}).get("userInfo") or {}
    if not viewer.get("user_id"):
        return ""
    return (
        '<div class="main-container"><ul class="side-bar"><li class="user side-bar-component">'
        f'<a class="link-wrapper" href="/user/profile/{viewer["user_id"]}">'
        '<span class="channel">我</span></a></li></ul></div>'
    )


def _html(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


_NO_COMMENTS: Json = {
    "list": [],
    "cursor": "",
    "hasMore": True,
    "loading": False,
    "firstRequestFinish": False,
}


class Pages:
    """The states of the web pages."""

    def __init__(self, views: Views) -> None:
        self.views = views
        self.world = views.world

    def _state(self, viewer: User | None) -> Json:
        """What every page's state has."""
        info: Json = {}
        if viewer is not None:
            info = self.views.me(viewer, guest=False)
            info.update(userId=viewer.id, redId=viewer.red_id)
        return {
            "global": {
                "appSettings": {"notificationInterval": 30, "prefetchTimeout": 3000},
                "supportWebp": True,
                "serverTime": self.views.now_ms,
                "pwaAddDesktopPrompt": UNDEFINED,
                "firstVisitUrl": UNDEFINED,
            },
            "user": {
                "loggedIn": viewer is not None,
                "activated": False,
                "userInfo": info,
                "follow": [],
                "userPageData": {},
                "notes": [[], [], [], []],
                "bannedInfo": _banned("", False),
                "noteQueries": [_note_query("", "", True) for _ in range(4)],
                "activeSubTab": UNDEFINED,
            },
            "feed": {"feeds": [], "currentChannel": "homefeed_recommend", "channels": UNDEFINED},
            "search": {
                "state": "auto",
                "feeds": [],
                "searchContext": {"keyword": "", "page": 1, "pageSize": 20, "sort": "general"},
                "searchFeedsWrapper": UNDEFINED,
            },
            "note": {
                "prevRouteData": {},
                "commentTarget": {},
                "autoOpenNote": False,
                "topCommentId": "",
                "firstNoteId": "",
                "currentNoteId": UNDEFINED,
                "noteDetailMap": {},
                "serverRequestInfo": {"state": "success", "errorCode": 0, "errMsg": ""},
            },
        }

    def explore(self, viewer: User | None, feed: Sequence[Note]) -> str:
        """The home page: feed cards, and no note in the map but the literal key."""
        state = self._state(viewer)
        track = digest("track", self.world.seed, size=10).hex()
        state["feed"]["feeds"] = [
            {**camel(self.views.feed_item(note, track)), "index": i, "exposed": False}
            for i, note in enumerate(feed)
        ]
        state["note"]["noteDetailMap"] = _undelivered()
        return page("小红书 - 你的生活指南", state, escape=False)

    def note(self, note: Note, token: str, viewer: User | None, streams: bool) -> str:
        """The page of a note (3.3)."""
        state = self._state(viewer)
        written = camel(self.views.detail(note, streams))
        written["xsecToken"] = token
        state["note"].update(
            firstNoteId=note.id,
            currentNoteId=note.id,
            noteDetailMap={
                note.id: {
                    "comments": _NO_COMMENTS,
                    "currentTime": self.views.now_ms,
                    "note": written,
                }
            },
        )
        return page(f"{note.title or '小红书'} - 小红书", state)

    def phone_note(self, note: Note) -> str:
        """The page that phones get on /discovery/item (3.3): another state, marked pictures."""
        written = camel(self.views.detail(note, streams=True))
        preload = [
            {"url": url, "urlSizeLarge": url, "width": picture.width, "height": picture.height}
            for picture in note.pictures
            for url in [self.views.addresses.picture(picture.token, "h5_1080jpg")]
        ]
        state = {
            "noteData": {
                "data": {"noteData": written, "commentData": {"comments": []}},
                "normalNotePreloadData": {"title": note.title, "imagesList": preload},
                "routeQuery": UNDEFINED,
            }
        }
        return page(f"{note.title or '小红书'} - 小红书", state)

    def undelivered(self, viewer: User | None) -> str:
        """A note page without its note: wrong token, soft block (6.3)."""
        state = self._state(viewer)
        state["note"]["noteDetailMap"] = _undelivered()
        return page("小红书", state)

    def private(self, viewer: User | None) -> str:
        state = self._state(viewer)
        failure = {"state": "fail", "errorCode": -510001, "errMsg": "当前内容无法展示"}
        state["note"]["serverRequestInfo"] = failure
        return page("小红书", state, "私密笔记，仅作者可见")

    def creator(self, user: User, viewer: User | None) -> str:
        """A profile page with the first notes (3.4)."""
        state = self._state(viewer)
        part = state["user"]
        if user.banned:
            part["bannedInfo"] = _banned(user.id, True)
            return page("小红书", state)
        data = camel(self.views.profile(user))
        if user.verified:
            data["verifyInfo"] = {"redOfficialVerifyType": user.verified}
        notes, has_more = self.world.posted_page(user, "", 30)
        part["userPageData"] = data
        part["notes"] = [
            [self._profile_card(note, i) for i, note in enumerate(notes)],
            [],
            [],
            [],
        ]
        cursor = notes[-1].id if notes and has_more else ""
        part["noteQueries"] = [_note_query(cursor, user.id, has_more)] + [
            _note_query("", user.id, True) for _ in range(3)
        ]
        return page(f"{user.nickname} - 小红书", state)

    def _profile_card(self, note: Note, index: int) -> Json:
        card = camel(self.views.posted_note(note))
        token = card.pop("xsecToken")
        return {
            "id": note.id,
            "noteCard": {**card, "xsecToken": token},
            "xsecToken": token,
            "index": index,
            "exposed": False,
        }

    def search(self, keyword: str, viewer: User | None) -> str:
        """The search page; its results are fetched by script."""
        state = self._state(viewer)
        state["search"]["searchContext"]["keyword"] = keyword
        text = "" if viewer is not None else "登录后查看搜索结果"
        return page(f"{keyword} - 小红书搜索", state, text)


def _undelivered() -> Json:
    return {"undefined": {"comments": _NO_COMMENTS, "currentTime": 0, "note": {}}}


def _note_query(cursor: str, user_id: str, has_more: bool) -> Json:
    return {"num": 30, "cursor": cursor, "userId": user_id, "hasMore": has_more, "page": 1}


def _banned(user_id: str, banned: bool) -> Json:
    return {
        "userId": user_id,
        "serverBanned": banned,
        "code": -1 if banned else 0,
        "showAlert": banned,
        "reason": "该账号因违规已被封禁" if banned else "",
        "api": "otherinfo" if banned else "",
    }


def error_location(site: str, back: str, code: int, message: str) -> str:
    """Where a refused request is sent to (6.3)."""
    return (
        f"https://www.{site}/website-login/error?redirectPath={quote(back, safe='')}"
        f"&error_code={code}&error_msg={quote(message, safe='')}"
    )


def not_found_location(site: str, back: str) -> str:
    """The 404 page that still names the note that was wanted (2.2, 6.3)."""
    mark = digest("sec", back, size=6).hex()
    message = quote("当前笔记暂时无法浏览", safe="")
    return (
        f"https://www.{site}/404?source=/404/sec_{mark}&redirectPath={quote(back, safe='')}"
        f"&error_code=300031&error_msg={message}"
    )
