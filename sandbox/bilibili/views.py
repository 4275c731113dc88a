"""The JSON and HTML of Bilibili: how the world is written down on the wire.

Shapes, names and types follow ``docs/platforms/bilibili.md`` section 5, odd ones included: numbers
as text, text as numbers, keys that are only sometimes there.
"""

from __future__ import annotations

import html
import json
from typing import Any

from sandbox.bilibili.world import (
    AUDIO,
    GUEST_QUALITY,
    MEMBER_QUALITY,
    SIZES,
    Area,
    Comment,
    Danmaku,
    Dynamic,
    Image,
    Part,
    User,
    Video,
    World,
)
from sandbox.core import Json
from sandbox.sites import DatedAddresses
from sandbox.worlds import number, wan

IMAGES = "https://i0.hdslb.com"
MIRRORS = ("upos-sz-mirrorcos.bilivideo.com", "upos-sz-mirrorali.bilivideo.com")
PEER = "xy113x200x108x47xy.mcdn.bilivideo.cn:4483"
SEXES = ("保密", "男", "女")
CODECS = {7: "avc1.640032", 12: "hev1.1.6.L150.90", 13: "av01.0.08M.08"}


class Addresses(DatedAddresses):
    """Signed addresses of streams and subtitles."""

    seal_name = "seal"

    @property
    def mirror(self) -> str:
        """The mirror that is named now; it changes with the addresses."""
        return MIRRORS[self.generation % len(MIRRORS)]

    def stream(self, host: str, path: str, mid: int) -> str:
        """A stream's address; it tells who asked (8.3)."""
        deadline = self._until()
        order = "0,3" if host == PEER else "1,3"
        return (
            f"https://{host}{path}?e=ig8euxZM2rNcNbdlhoNvNC8BqJIzNbfq&oi=2130706433&mid={mid}"
            f"&deadline={deadline}&platform=pc&upsig={self._seal(path, deadline)}"
            f"&uparams=e,oi,mid,deadline,platform&orderid={order}"
        )

    def stream_is_good(self, path: str, params: dict[str, str]) -> bool:
        return self.is_good(path, params.get("deadline", ""), params.get("upsig"))

    def subtitle(self, path: str) -> str:
        """``//host/path?auth_key=...`` (3.9)."""
        if "/ai_subtitle/" not in path:
            return f"//i0.hdslb.com{path}"
        until = self._until()
        seal = self._seal(path, until)
        return f"//aisubtitle.hdslb.com{path}?auth_key={until}-{seal}-0-{seal[::-1]}"

    def subtitle_is_good(self, path: str, params: dict[str, str]) -> bool:
        until, _, rest = params.get("auth_key", "").partition("-")
        return self.is_good(path, until, rest.split("-")[0])


class Views:
    """Writes answers for one world."""

    def __init__(self, world: World, addresses: Addresses) -> None:
        self.world = world
        self.addresses = addresses

    # -- search ---------------------------------------------------------------------------------

    def search_row(self, video: Video, keyword: str) -> Json:
        """One video of a search page (5.1)."""
        outline = video.outline
        title = html.escape(video.title)
        if keyword and keyword in title:
            title = title.replace(keyword, f'<em class="keyword">{keyword}</em>')
        return {
            "type": "video",
            "id": video.aid,
            "author": video.author.name,
            "mid": video.author.mid,
            "typeid": "21",
            "typename": "日常",
            "arcurl": f"http://www.bilibili.com/video/av{video.aid}",
            "aid": video.aid,
            "bvid": video.bvid,
            "title": title,
            "description": html.escape(video.desc),
            "pic": "//i0.hdslb.com" + video.cover,
            "play": outline.views,
            "video_review": outline.danmaku,
            "favorites": outline.favorites,
            "tag": ",".join(video.tags),
            "review": self.comments_shown(video),
            "pubdate": outline.time,
            "senddate": max(outline.time, self.world.now - 60),
            "duration": unpadded(video.seconds),
            "like": outline.likes,
            "upic": IMAGES + video.author.face,
            "hit_columns": ["title"],
            "tags": "",
            "is_union_video": int(bool(video.staff)),
            "is_pay": 0,
            "is_charge_video": int(video.paid),
            "danmaku": outline.danmaku,
            "rank_score": 0,
        }

    @staticmethod
    def course_row(keyword: str, page: int) -> Json:
        """A paid course among the videos: its numbers are those of a season (3.2)."""
        season = 100 + number("course", keyword, page) % 9000
        return {
            "type": "ketang",
            "id": season,
            "aid": season,
            "bvid": "",
            "title": f"{keyword}从入门到精通",
            "author": "课堂",
            "mid": 0,
            "pic": "//archive.biliimg.com/bfs/archive/course.jpg",
            "play": 0,
            "pubdate": 0,
            "duration": "",
            "tag": "",
            "hit_columns": None,
            "arcurl": f"https://www.bilibili.com/cheese/play/ss{season}",
            "episode_count_text": "共7课时",
        }

    def user_row(self, user: User) -> Json:
        """One account of a user search."""
        recent = self.world.uploads(user)[:1]
        return {
            "type": "bili_user",
            "mid": user.mid,
            "uname": user.name,
            "usign": user.sign,
            "fans": user.fans,
            "videos": user.total,
            "upic": "//i0.hdslb.com" + user.face,
            "level": user.level,
            "gender": user.gender or 3,
            "is_upuser": 1,
            "is_live": 0,
            "room_id": user.room,
            "res": [
                {
                    "aid": video.aid,
                    "bvid": video.bvid,
                    "title": video.title,
                    "pubdate": video.outline.time,
                    "play": str(video.outline.views),
                    "dm": video.outline.danmaku,
                    "desc": video.desc or "-",
                    "duration": unpadded(video.seconds),
                    "pic": "//i0.hdslb.com" + video.cover,
                    "arcurl": f"http://www.bilibili.com/video/av{video.aid}",
                }
                for video in recent
            ],
            "official_verify": {
                "type": user.official if user.official >= 0 else 127,
                "desc": user.title,
            },
            "hit_columns": ["uname"],
        }

    # -- videos ---------------------------------------------------------------------------------

    def comments_shown(self, video: Video) -> int:
        """The comment count that the site shows for a video."""
        area = self.world.area_of(video)
        return 0 if area.closed else area.shown

    def view(self, video: Video) -> Json:
        """``data`` of the detail endpoint (5.2)."""
        outline, author = video.outline, video.author
        first = video.parts[0]
        data: Json = {
            "bvid": video.bvid,
            "aid": video.aid,
            "videos": len(video.parts),
            "tid": 21,
            "tid_v2": 2063,
            "tname": "",
            "tname_v2": "",
            "copyright": 1 if video.own else 2,
            "pic": "http://i0.hdslb.com" + video.cover,
            "title": video.title,
            "pubdate": outline.time,
            "ctime": video.uploaded,
            "desc": video.desc,
            "desc_v2": self._desc_v2(video),
            "state": 0,
            "duration": video.seconds,
            "rights": {"is_cooperation": int(bool(video.staff)), "ugc_pay": 0, "arc_pay": 0},
            "owner": {
                "mid": author.mid,
                "name": author.name,
                "face": "http://i0.hdslb.com" + author.face,
            },
            "stat": {
                "aid": video.aid,
                "view": outline.views,
                "danmaku": outline.danmaku,
                "reply": self.comments_shown(video),
                "favorite": outline.favorites,
                "coin": outline.coins,
                "share": outline.shares,
                "now_rank": 0,
                "his_rank": 0,
                "like": outline.likes,
                "dislike": 0,
                "evaluation": "",
            },
            "argue_info": {"argue_msg": "", "argue_type": 0, "argue_link": ""},
            "dynamic": "",
            "cid": first.cid,
            "dimension": dimension(first),
            "premiere": None,
            "is_upower_exclusive": video.paid,
            "pages": self.pages(video),
            "subtitle": {"allow_submit": False, "list": []},
            "honor_reply": {},
        }
        if video.staff:
            data["staff"] = [
                {
                    "mid": user.mid,
                    "title": role,
                    "name": user.name,
                    "face": IMAGES + user.face,
                    "follower": user.fans,
                }
                for user, role in video.staff
            ]
        if video.season:
            data["ugc_season"] = {"id": video.season, "title": "合集", "ep_count": 1}
        return data

    @staticmethod
    def _desc_v2(video: Video) -> list[Json] | None:
        if not video.desc:
            return None
        if video.mention is None:
            return [{"raw_text": video.desc, "type": 1, "biz_id": 0}]
        head = video.desc[: -len(video.mention.name) - 1]
        return [
            {"raw_text": head, "type": 1, "biz_id": 0},
            {"raw_text": video.mention.name, "type": 2, "biz_id": video.mention.mid},
        ]

    @staticmethod
    def pages(video: Video) -> list[Json]:
        """All parts."""
        return [
            {
                "cid": part.cid,
                "page": part.number,
                "from": "vupload",
                "part": part.title or video.title,
                "duration": part.seconds,
                "vid": "",
                "weblink": "",
                "dimension": dimension(part),
                "ctime": part.time,
            }
            for part in video.parts
        ]

    @staticmethod
    def tags(video: Video) -> list[Json]:
        rows: list[Json] = [
            {"tag_id": 1000 + i, "tag_name": tag, "tag_type": "topic", "jump_url": ""}
            for i, tag in enumerate(video.tags)
        ]
        music = {"tag_id": 9, "tag_name": "发现《夏夜》", "tag_type": "bgm", "music_id": "MA1"}
        return [*rows, music]

    def video_page(self, video: Video) -> str:
        """The HTML page of a video with its state (3.3)."""
        author = video.author
        state = {
            "aid": video.aid,
            "bvid": video.bvid,
            "p": 1,
            "videoData": self.view(video),
            "upData": {
                "mid": str(author.mid),
                "name": author.name,
                "face": IMAGES + author.face,
                "fans": author.fans,
            },
            "tags": self.tags(video),
            "staffData": [],
            "related": [],
            "error": {},
        }
        return state_page(f"{video.title}_哔哩哔哩_bilibili", state)

    # -- creators -------------------------------------------------------------------------------

    def card(self, user: User) -> Json:
        """``data`` of the card (5.4)."""
        return {
            "card": {
                "mid": str(user.mid),
                "name": user.name,
                "sex": SEXES[user.gender],
                "rank": "10000",
                "face": IMAGES + user.face,
                "spacesta": -2 if user.banned else 0,
                "sign": user.sign,
                "fans": user.fans,
                "friend": user.following,
                "attention": user.following,
                "level_info": {"current_level": user.level},
                "Official": {
                    "role": 1 if user.official >= 0 else 0,
                    "title": user.title,
                    "desc": "",
                    "type": user.official,
                },
                "official_verify": {"type": user.official, "desc": user.title},
                "vip": {"type": 2, "status": int(user.vip)},
                "birthday": "",
                "place": "",
            },
            "following": False,
            "archive_count": len(self.world.uploads(user)),
            "article_count": user.articles,
            "follower": user.fans,
            "like_num": user.likes,
        }

    @staticmethod
    def acc_info(user: User) -> Json:
        """``data`` of the profile: no numbers (3.4)."""
        return {
            "mid": user.mid,
            "name": user.name,
            "sex": SEXES[user.gender],
            "face": IMAGES + user.face,
            "sign": user.sign,
            "rank": 10000,
            "level": user.level,
            "silence": int(user.banned),
            "official": {
                "role": 1 if user.official >= 0 else 0,
                "title": user.title,
                "desc": "",
                "type": user.official,
            },
            "vip": {"type": 2, "status": int(user.vip)},
            "live_room": {"roomid": user.room, "liveStatus": 0} if user.room else None,
            "birthday": "",
            "is_risk": False,
            "gaia_res_type": 0,
            "gaia_data": None,
        }

    def arc_row(self, video: Video) -> Json:
        """One row of a creator's videos (5.4)."""
        outline = video.outline
        row: Json = {
            "comment": self.comments_shown(video),
            "typeid": 21,
            "play": "--" if video.aid % 17 == 0 else outline.views,
            "pic": "http://i0.hdslb.com" + video.cover,
            "subtitle": "",
            "description": video.desc or "-",
            "copyright": "1" if video.own else "2",
            "title": video.title,
            "review": 0,
            "author": video.author.name,
            "mid": video.author.mid,
            "created": outline.time,
            "length": padded(video.seconds),
            "video_review": outline.danmaku,
            "aid": video.aid,
            "bvid": video.bvid,
            "is_union_video": int(bool(video.staff)),
            "is_lesson_video": int(video.course),
            "is_charging_arc": video.paid,
            "season_id": video.season,
            "jump_url": "",
        }
        if video.season:
            row["meta"] = {"id": video.season, "title": "合集", "attribute": 140, "ep_count": 1}
        return row

    @staticmethod
    def archive_row(video: Video) -> Json:
        """One row of the fallback list (3.5)."""
        return {
            "aid": video.aid,
            "bvid": video.bvid,
            "ctime": video.uploaded,
            "duration": video.seconds,
            "interactive_video": False,
            "pic": "http://i0.hdslb.com" + video.cover,
            "playback_position": 0,
            "pubdate": video.outline.time,
            "stat": {"view": video.outline.views},
            "state": 0,
            "title": video.title,
            "ugc_pay": 0,
        }

    # -- dynamics -------------------------------------------------------------------------------

    def dynamic(self, dynamic: Dynamic, *, opus_style: bool, inside: bool = False) -> Json:
        """An item of the feed (5.5); *inside*: the original of a forward."""
        area = dynamic.area
        modules: Json = {
            "module_author": self._author(dynamic),
            "module_dynamic": {
                "desc": self._desc(dynamic, opus_style),
                "major": self._major(dynamic, opus_style),
                "additional": None,
                "topic": None,
            },
        }
        if not inside:
            modules["module_stat"] = {
                "comment": {"count": area.shown, "forbidden": area.closed},
                "forward": {"count": dynamic.forwards, "forbidden": False},
                "like": {"count": dynamic.likes, "forbidden": False, "status": False},
            }
            modules["module_more"] = {"three_point_items": []}
            if dynamic.pinned:
                modules["module_tag"] = {"text": " 置顶"}
        item: Json = {
            "basic": {
                "comment_id_str": "" if inside else str(area.oid),
                "comment_type": 0 if inside else area.type,
                "rid_str": str(area.oid),
                "like_icon": {},
            },
            "id_str": str(dynamic.id),
            "type": f"DYNAMIC_TYPE_{dynamic.kind}",
            "visible": True,
            "modules": modules,
        }
        if dynamic.original is not None:
            item["orig"] = self.dynamic(dynamic.original, opus_style=opus_style, inside=True)
        elif dynamic.original_gone:
            item["orig"] = GONE
        return item

    def _author(self, dynamic: Dynamic) -> Json:
        return {
            "mid": dynamic.author.mid,
            "name": dynamic.author.name,
            "face": IMAGES + dynamic.author.face,
            "pub_ts": str(dynamic.time) if dynamic.id % 3 == 0 else dynamic.time,
            "pub_time": "3天前",
            "pub_action": "投稿了视频" if dynamic.kind == "AV" else "",
            "pub_location_text": f"发布于 {dynamic.author.place}" if dynamic.id % 2 else "",
            "type": "AUTHOR_TYPE_NORMAL",
        }

    def _nodes(self, dynamic: Dynamic) -> list[Json]:
        nodes = []
        if dynamic.topic:
            nodes.append(rich("TOPIC", f"#{dynamic.topic}#"))
        nodes.append(rich("TEXT", dynamic.text))
        if dynamic.mention is not None:
            nodes.append(rich("AT", f"@{dynamic.mention.name} ", rid=str(dynamic.mention.mid)))
        return nodes

    def _desc(self, dynamic: Dynamic, opus_style: bool) -> Json | None:
        if not dynamic.text or (opus_style and dynamic.kind in ("DRAW", "WORD")):
            return None
        nodes = self._nodes(dynamic)
        return {"rich_text_nodes": nodes, "text": "".join(node["text"] for node in nodes)}

    def _major(self, dynamic: Dynamic, opus_style: bool) -> Json | None:
        if dynamic.kind == "AV":
            return self._archive(dynamic)
        if dynamic.kind == "LIVE_RCMD":
            play = {"room_id": dynamic.author.room or 77, "title": dynamic.title, "cover": ""}
            content = json.dumps({"type": 1, "live_play_info": play}, ensure_ascii=False)
            live = {"content": content, "reserve_type": 0}
            return {"type": "MAJOR_TYPE_LIVE_RCMD", "live_rcmd": live}
        if dynamic.kind == "ARTICLE" and not opus_style:
            return self._article(dynamic)
        if opus_style and dynamic.kind in ("DRAW", "WORD", "ARTICLE"):
            return self._opus_major(dynamic)
        if dynamic.kind != "DRAW":
            return None
        items = [
            {"src": IMAGES + i.path, "width": i.size[0], "height": i.size[1], "tags": []}
            for i in dynamic.pictures
        ]
        draw = {"id": dynamic.area.oid, "items": items}
        return {"type": "MAJOR_TYPE_DRAW", "draw": draw}

    @staticmethod
    def _archive(dynamic: Dynamic) -> Json:
        video = dynamic.video
        assert video is not None
        archive = {
            "aid": str(video.aid),
            "bvid": video.bvid,
            "title": video.title,
            "desc": video.desc,
            "cover": "http://i0.hdslb.com" + video.cover,
            "duration_text": padded(video.seconds),
            "stat": {
                "play": wan(video.outline.views, cap=False),
                "danmaku": wan(video.outline.danmaku, cap=False),
            },
            "jump_url": f"//www.bilibili.com/video/{video.bvid}/",
        }
        return {"type": "MAJOR_TYPE_ARCHIVE", "archive": archive}

    @staticmethod
    def _article(dynamic: Dynamic) -> Json:
        article = {
            "id": dynamic.area.oid,
            "title": dynamic.title,
            "desc": summary(dynamic),
            "covers": [IMAGES + content for kind, content in dynamic.blocks if kind == "picture"],
            "jump_url": f"//www.bilibili.com/read/cv{dynamic.area.oid}",
        }
        return {"type": "MAJOR_TYPE_ARTICLE", "article": article}

    def _opus_major(self, dynamic: Dynamic) -> Json:
        article = dynamic.kind == "ARTICLE"
        nodes = [rich("TEXT", summary(dynamic))] if article else self._nodes(dynamic)
        pictures = [Image(content) for kind, content in dynamic.blocks if kind == "picture"]
        opus = {
            "title": dynamic.title or None,
            "summary": {"text": "".join(n["text"] for n in nodes), "rich_text_nodes": nodes},
            "pics": [pic(image) for image in (pictures if article else dynamic.pictures)],
            "jump_url": f"//www.bilibili.com/opus/{dynamic.id}",
            "fold_action": ["展开", "收起"],
        }
        return {"type": "MAJOR_TYPE_OPUS", "opus": opus}

    def opus(self, dynamic: Dynamic) -> Json:
        """``item`` of the opus detail: modules are a list (5.5)."""
        area = dynamic.area
        modules: list[Json] = []
        if dynamic.title:
            modules.append(module("TITLE", text=dynamic.title))
        if dynamic.pictures:
            album = {"album": {"pics": [pic(image) for image in dynamic.pictures]}}
            modules.append(module("TOP", display=album))
        modules.append(module("AUTHOR", **self._author(dynamic)))
        modules.append(module("CONTENT", paragraphs=self._paragraphs(dynamic)))
        if dynamic.kind == "ARTICLE":
            tags = [{"text": tag, "jump_url": "", "icon": None} for tag in (dynamic.author.topic,)]
            modules.append(module("EXTEND", items=tags))
        modules.append(
            module(
                "STAT",
                comment={"count": area.shown, "forbidden": area.closed},
                forward={"count": dynamic.forwards},
                like={"count": dynamic.likes},
                favorite={"count": dynamic.likes // 10},
                coin={"count": dynamic.likes // 20},
            )
        )
        basic = {
            "comment_id_str": str(area.oid),
            "comment_type": area.type,
            "rid_str": str(area.oid),
            "title": (dynamic.title or f"{dynamic.author.name}的动态") + " - 哔哩哔哩",
            "uid": dynamic.author.mid,
        }
        return {"basic": basic, "id_str": str(dynamic.id), "modules": modules, "type": 1}

    def _paragraphs(self, dynamic: Dynamic) -> list[Json]:
        if dynamic.kind == "ARTICLE":
            return [paragraph(kind, content) for kind, content in dynamic.blocks]
        nodes = [
            {"type": "TEXT_NODE_TYPE_RICH", "rich": node}
            if node["type"] != "RICH_TEXT_NODE_TYPE_TEXT"
            else word(node["text"])
            for node in self._nodes(dynamic)
        ]
        return [{"align": 0, "para_type": 1, "text": {"nodes": nodes}}]

    def opus_card(self, dynamic: Dynamic) -> Json:
        """One row of a creator's opus list (3.12)."""
        card: Json = {
            "content": dynamic.title or dynamic.text,
            "jump_url": f"//www.bilibili.com/opus/{dynamic.id}",
            "opus_id": str(dynamic.id),
            "stat": {"like": wan(dynamic.likes, cap=False)},
        }
        if dynamic.pictures:
            first = dynamic.pictures[0]
            width, height = first.size
            url = "http://i0.hdslb.com" + first.path
            card["cover"] = {"url": url, "width": width, "height": height}
        return card

    def article(self, dynamic: Dynamic) -> Json:
        """``data`` of an article by its cv number (3.12)."""
        author = dynamic.author
        return {
            "id": dynamic.area.oid,
            "title": dynamic.title,
            "summary": summary(dynamic),
            "author": {"mid": author.mid, "name": author.name, "face": IMAGES + author.face},
            "publish_time": dynamic.time,
            "ctime": dynamic.time,
            "mtime": dynamic.time,
            "stats": {
                "view": dynamic.likes * 20,
                "favorite": dynamic.likes // 10,
                "like": dynamic.likes,
                "reply": dynamic.area.shown,
                "share": dynamic.forwards,
                "coin": dynamic.likes // 20,
            },
            "tags": [{"tid": 1, "name": author.topic}],
            "image_urls": [IMAGES + c for kind, c in dynamic.blocks if kind == "picture"],
            "content": "".join(
                f"<p>{html.escape(content)}</p>"
                for kind, content in dynamic.blocks
                if kind not in ("picture", "line")
            ),
            "type": 0,
            "dyn_id_str": str(dynamic.id),
        }

    # -- comments -------------------------------------------------------------------------------

    def comment(self, comment: Comment, area: Area, *, member: bool, inline: list[Comment]) -> Json:
        """A comment with the replies shown under it (5.3); places only members see."""
        user = comment.user
        root, parent = self._ancestors(comment, area)
        control: Json = {"max_line": 6, "time_desc": "3天前发布", "support_share": True}
        if member:
            control["location"] = f"IP属地：{user.place}"
        if comment.pinned:
            control["is_up_top"] = True
        if comment.replies:
            control["sub_reply_entry_text"] = f"共{comment.replies}条回复"
        rows: list[Json] | None = [
            self.comment(reply, area, member=member, inline=[]) for reply in inline
        ]
        return {
            "rpid": comment.rpid,
            "oid": area.oid,
            "type": area.type,
            "mid": user.mid,
            "root": root,
            "parent": parent,
            "dialog": comment.rpid if comment.reply else 0,
            "count": comment.replies + comment.deleted,
            "rcount": comment.replies,
            "state": 0,
            "attr": 2 if comment.pinned else 0,
            "ctime": comment.time,
            "mid_str": str(user.mid),
            "oid_str": str(area.oid),
            "rpid_str": str(comment.rpid),
            "root_str": str(root),
            "parent_str": str(parent),
            "dialog_str": str(comment.rpid if comment.reply else 0),
            "like": comment.likes,
            "action": 0,
            "member": self._member(user),
            "content": self._content(comment),
            "replies": rows if rows or comment.rpid % 2 else None,
            "up_action": {"like": comment.liked_by_author, "reply": False},
            "invisible": False,
            "reply_control": control,
            "folder": {"has_folded": False, "is_folded": False, "rule": ""},
            "dynamic_id_str": "0",
            "note_cvid_str": "0",
            "track_info": "",
        }

    def _ancestors(self, comment: Comment, area: Area) -> tuple[int, int]:
        if not comment.reply:
            return 0, 0
        rpid = self.world.rpid
        return rpid(area, comment.root), rpid(area, comment.root, comment.target)

    @staticmethod
    def _member(user: User) -> Json | None:
        if user.gone and user.mid % 2:
            return None
        return {
            "mid": str(user.mid),
            "uname": user.name,
            "sex": SEXES[user.gender],
            "sign": user.sign,
            "avatar": IMAGES + user.face,
            "rank": "5000" if user.gone else "10000",
            "level_info": {"current_level": user.level},
            "official_verify": {"type": user.official, "desc": user.title},
            "vip": {"vipStatus": int(user.vip)},
        }

    @staticmethod
    def _content(comment: Comment) -> Json:
        content: Json = {"message": comment.text, "members": [], "jump_url": {}, "max_line": 6}
        if comment.mention is not None:
            mention = comment.mention
            content["at_name_to_mid"] = {mention.name: mention.mid}
            content["at_name_to_mid_str"] = {mention.name: str(mention.mid)}
            content["members"] = [{"mid": str(mention.mid), "uname": mention.name}]
        if comment.pictures:
            content["pictures"] = [
                {
                    "img_src": "http://i0.hdslb.com" + image.path,
                    "img_width": image.size[0],
                    "img_height": image.size[1],
                    "img_size": 108.16,
                }
                for image in comment.pictures
            ]
        return content

    # -- files ----------------------------------------------------------------------------------

    def playurl(self, part: Part, *, member: bool, one_file: bool, mid: int) -> Json:
        """``data`` of a stream answer (5.6): what this visitor gets of what there is."""
        exist = self.world.qualities(part)
        limit = MEMBER_QUALITY if member else GUEST_QUALITY
        given = [quality for quality in exist if quality <= limit]
        data: Json = {
            "from": "local",
            "result": "suee",
            "quality": given[0],
            "format": "flv",
            "timelength": part.seconds * 1000 - 505,
            "accept_quality": exist,
            "accept_description": [f"{quality}" for quality in exist],
            "video_codecid": 7,
            "support_formats": [{"quality": quality, "codecs": ["avc1"]} for quality in exist],
            "last_play_cid": 0,
            "view_info": None,
        }
        if one_file:
            quality = given[0]
            path = self.world.stream_path(part.cid, quality, 1)
            backups = [self.addresses.stream(self.addresses.mirror, path, mid)]
            url = self.addresses.stream(PEER, path, mid)
            data["durl"] = [
                {
                    "order": 1,
                    "length": part.seconds * 1000,
                    "size": self.world.stream_file(path).size,  # type: ignore[union-attr]
                    "url": url,
                    "backup_url": backups,
                }
            ]
            return data
        data["dash"] = {
            "duration": part.seconds,
            "minBufferTime": 1.5,
            "video": [
                self._stream(part, quality, codec, mid) for quality in given for codec in (12, 7)
            ],
            "audio": [self._stream(part, quality, 0, mid) for quality in AUDIO],
            "dolby": {"type": 0, "audio": None},
            "flac": None,
        }
        return data

    def _stream(self, part: Part, quality: int, codec: int, mid: int) -> Json:
        path = self.world.stream_path(part.cid, quality, codec)
        first = self.addresses.stream(PEER, path, mid)
        backups = [self.addresses.stream(self.addresses.mirror, path, mid)]
        width, height = SIZES.get(quality, (0, 0))
        return {
            "id": quality,
            "baseUrl": first,
            "base_url": first,
            "backupUrl": backups,
            "backup_url": backups,
            "bandwidth": 20_000 * quality // (2 if codec == 12 else 1) if codec else quality * 5,
            "mimeType": "video/mp4" if codec else "audio/mp4",
            "codecs": CODECS.get(codec, "mp4a.40.2"),
            "width": width,
            "height": height,
            "frameRate": "30" if codec else "",
            "sar": "1:1" if codec else "",
            "codecid": codec,
            "SegmentBase": {"Initialization": "0-994", "indexRange": "995-1854"},
        }

    def player(self, video: Video, part: Part, *, member: bool) -> Json:
        """``data`` of the player endpoint with its subtitles (3.9)."""
        rows = []
        if member:
            for language in video.subtitles:
                path = self.world.subtitle_path(video, part, language)
                rows.append(self._subtitle(language, self.addresses.subtitle(path)))
            if video.subtitles and part.cid % 2:  # a list of another video, as it does happen
                other = self.world.fixed_video("multipart")
                path = self.world.subtitle_path(other, other.parts[0], "ai-en")
                rows.append(self._subtitle("ai-en", self.addresses.subtitle(path)))
            rows.append(self._subtitle("en-US", ""))
        return {
            "aid": video.aid,
            "bvid": video.bvid,
            "cid": part.cid,
            "need_login_subtitle": not member and bool(video.subtitles),
            "subtitle": {"allow_submit": False, "lan": "", "subtitles": rows},
            "view_points": [],
            "ip_info": {"ip": "127.0.0.1"},
        }

    @staticmethod
    def _subtitle(language: str, url: str) -> Json:
        ai = language.startswith("ai-")
        return {
            "id": 1,
            "lan": language,
            "lan_doc": language,
            "is_lock": False,
            "subtitle_url": url,
            "type": int(ai),
            "id_str": "1",
            "ai_type": 0,
            "ai_status": 2 if ai else 0,
        }

    def subtitle_file(self, part: Part, language: str) -> Json:
        lines = self.world.subtitle_lines(part, language)
        body = [
            {"from": start, "to": end, "sid": i, "location": 2, "content": text, "music": 0.0}
            for i, (start, end, text) in enumerate(lines, start=1)
        ]
        return {"font_size": 0.4, "font_color": "#FFFFFF", "background_alpha": 0.5, "body": body}


GONE: Json = {
    "basic": {"comment_id_str": "", "comment_type": 0, "rid_str": "", "like_icon": {}},
    "id_str": None,
    "type": "DYNAMIC_TYPE_NONE",
    "visible": True,
    "modules": {
        "module_author": {"mid": 0, "name": "", "face": "", "pub_ts": 0, "pub_time": ""},
        "module_dynamic": {
            "desc": None,
            "major": {"type": "MAJOR_TYPE_NONE", "none": {"tips": "源动态已被作者删除"}},
            "additional": None,
            "topic": None,
        },
    },
}


# -- small shapes --------------------------------------------------------------------------------


def unpadded(seconds: int) -> str:
    """``48:8``: how search writes a duration (5.1)."""
    return f"{seconds // 60}:{seconds % 60}"


def padded(seconds: int) -> str:
    """``1:02:03``, ``04:05``."""
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes:02d}:{rest:02d}"


def dimension(part: Part) -> Json:
    return {"width": 1920, "height": 1080, "rotate": int(part.rotated)}


def summary(dynamic: Dynamic) -> str:
    """The first lines of an article, cut as lists cut them."""
    lines = [content for kind, content in dynamic.blocks if kind == "text"]
    return "".join(lines)[:60] + "..."


def rich(kind: str, text: str, **more: str) -> Json:
    return {"type": f"RICH_TEXT_NODE_TYPE_{kind}", "text": text, "orig_text": text, **more}


def pic(image: Image) -> Json:
    width, height = image.size
    url = IMAGES + image.path + "@672w_378h_1c.webp" if image.film else IMAGES + image.path
    live = IMAGES + image.film if image.film else None
    return {"url": url, "width": width, "height": height, "size": 55.5, "live_url": live}


def module(kind: str, **content: Any) -> Json:
    return {"module_type": f"MODULE_TYPE_{kind}", f"module_{kind.lower()}": content}


def word(text: str) -> Json:
    node = {"font_size": 17, "style": {}, "words": text}
    return {"type": "TEXT_NODE_TYPE_WORD", "word": node}


def paragraph(kind: str, content: str) -> Json:
    """A paragraph of an article."""
    if kind == "picture":
        return {"align": 1, "para_type": 2, "pic": {"pics": [pic(Image(content))], "style": 1}}
    if kind == "line":
        return {"align": 0, "para_type": 3, "line": {"pic": {"url": "//x.hdslb.com/l.png"}}}
    if kind == "list":
        rows = [
            {"level": 1, "order": i, "nodes": [word(line)]}
            for i, line in enumerate(content.split("\n"), start=1)
        ]
        return {"align": 0, "para_type": 5, "list": {"items": rows, "style": 2}}
    if kind == "code":
        return {"para_type": 7, "code": {"content": html.escape(content), "lang": "language-c"}}
    return {
        "align": 0,
        "para_type": 4 if kind == "quote" else 1,
        "text": {"nodes": [word(content)]},
    }


def state_page(title: str, state: Json) -> str:
    """An HTML page with its state in a script."""
    data = json.dumps(state, ensure_ascii=False).replace("</", "<\\/")
    return (
        f'<!DOCTYPE html><html lang="zh-Hans"><head><meta charset="utf-8">'
        f'<title>{html.escape(title)}</title></head><body><div id="app"></div>'
        f"<script>window.__INITIAL_STATE__={data};(function(){{var s;}}());</script></body></html>"
    )


def error_page(code: int, message: str) -> str:
    """A video page that shows no video."""
    error = {"code": 404, "trueCode": code, "message": message}
    return state_page("出错啦! - bilibili.com", {"error": error, "videoData": {}})


def danmaku_xml(cid: int, rows: list[Danmaku]) -> str:
    """The XML file of a part (3.10); control characters that XML forbids are in it."""
    entries = "".join(
        f'<d p="{row.ms / 1000:.5f},{row.mode},{row.size},{row.color},{row.time},{row.pool},'
        f'{row.user_hash},{row.id},{row.weight}">{html.escape(row.text, quote=False)}</d>'
        for row in rows
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?><i><chatserver>chat.bilibili.com</chatserver>'
        f"<chatid>{cid}</chatid><mission>0</mission><maxlimit>300</maxlimit><state>0</state>"
        f"<real_name>0</real_name><source>k-v</source>{entries}</i>"
    )


def danmaku_segment(rows: list[Danmaku]) -> bytes:
    """A protobuf segment (3.10): zero values absent, fields of the future present."""
    return b"".join(_field(1, _element(row)) for row in rows)


def _element(row: Danmaku) -> bytes:
    values: list[tuple[int, int | str]] = [
        (1, row.id),
        (2, row.ms),
        (3, row.mode),
        (4, row.size),
        (5, row.color),
        (6, row.user_hash),
        (7, row.text),
        (8, row.time),
        (9, row.weight),
        (11, row.pool),
        (12, str(row.id)),
        (24, 60001),
        (99, "future"),
    ]
    return b"".join(_field(number_, value) for number_, value in values if value)


def _field(tag: int, value: int | str | bytes) -> bytes:
    if isinstance(value, int):
        return _varint(tag << 3) + _varint(value)
    data = value.encode() if isinstance(value, str) else value
    return _varint(tag << 3 | 2) + _varint(len(data)) + data


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
