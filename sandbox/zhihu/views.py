"""The JSON and HTML of Zhihu: how the world is written down on the wire.

Shapes, names and types follow ``docs/platforms/zhihu.md`` and change with the place, as on the
platform: ids are numbers in members' lists and in the cards of a question, text elsewhere; keys go
missing, lists are null, times have three names.
"""

from __future__ import annotations

import html
import json
import re
from typing import Any
from urllib.parse import quote

from sandbox.core import Json
from sandbox.sites import DatedAddresses
from sandbox.worlds import Dice, digest, number
from sandbox.zhihu.world import Clip, Comment, Member, Picture, Post, World

WWW = "https://www.zhihu.com"
_HOSTS = ("pic1", "pic2", "pic3", "pic4", "pica", "picx")
_FORMULA = r"\sum_{i=1}^{n} x_i < \infty"


class Addresses(DatedAddresses):
    """Signed addresses of video files."""

    seal_name = "pkey"
    seal_size = 15

    def video(self, quality: str, name: str) -> str:
        """The address of a video file; *name* are its 32 hex digits."""
        until = self._until()
        dashed = "-".join((name[:8], name[8:12], name[12:16], name[16:20], name[20:]))
        host = f"vdn{number(name) % 6 + 1}.vzuu.com"
        return (
            f"https://{host}/{quality.upper()}/{dashed}.mp4?pkey={self._seal(name, until)}"
            f"&c=avc.1.1&bu=http-zhihu&expiration={until}&v=tx"
        )


def picture_url(picture: Picture, size: str, folder: str = "") -> str:
    """An address of a picture; *size* is ``r`` (best), ``720w``, ``b``, ...; any host serves it."""
    host = _HOSTS[number(picture.token, size) % len(_HOSTS)]
    return f"https://{host}.zhimg.com/{folder}{picture.token}_{size}.{picture.form}"


def camel(value: Any) -> Any:
    """API names as pages spell them: ``created_time`` becomes ``createdTime`` (5.10)."""
    if isinstance(value, list):
        return [camel(entry) for entry in value]
    if not isinstance(value, dict):
        return value
    return {
        re.sub(r"_(\w)", lambda match: match[1].upper(), key): camel(entry)
        for key, entry in value.items()
    }


def page_of(entities: Json, *, title: str, logged: bool, name: str = "main") -> str:
    """A page with ``js-initialData``; ``<`` and ``/`` are written as escapes."""
    state = {
        "common": {"ask": {}},
        "loading": {"global": {"count": 0}},
        "entities": {
            "users": {},
            "questions": {},
            "answers": {},
            "articles": {},
            "columns": {},
            "topics": {},
            "pins": {},
            "zvideos": {},
            **entities,
        },
        "currentUser": "",
        "env": {"ab": {"config": {}}, "logged": logged},
    }
    data = {"initialState": state, "subAppName": name, "spanName": "Page"}
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    text = text.replace("<", "\\u003C").replace("/", "\\u002F")
    return (
        '<!doctype html>\n<html lang="zh"><head><meta charset="utf-8"/>'
        f'<title data-rh="true">{html.escape(title)} - 知乎</title></head><body>'
        '<div id="root"><div class="App"></div></div>'
        '<script id="js-clientConfig" type="text/json">{"host":"zhihu.com"}</script>'
        f'<script id="js-initialData" type="text/json">{text}</script></body></html>'
    )


class Views:
    """Writes down members, posts and comments."""

    def __init__(self, world: World, addresses: Addresses) -> None:
        self.world = world
        self.addresses = addresses

    # -- people -----------------------------------------------------------------------------------

    def author(self, member: Member | None, *, anonymous: bool = False) -> Json | None:
        """An author as posts and comments carry it (5.1); ``None`` for somebody who is gone."""
        if anonymous:
            return {
                "id": "0",
                "url_token": "",
                "name": "匿名用户",
                "avatar_url": "https://pic1.zhimg.com/aadd7b895_is.jpg",
                "is_org": False,
                "type": "people",
                "user_type": "people",
                "url": "/people/0",
                "headline": "",
                "gender": -1,
            }
        if member is None:
            return None
        return {
            "id": member.id,
            "url_token": member.token,
            "name": member.name,
            "avatar_url": self._avatar(member, "l"),
            "avatar_url_template": self._avatar(member, "{size}"),
            "is_org": member.is_org,
            "type": "people",
            "user_type": "organization" if member.is_org else "people",
            "url": f"{WWW}/api/v4/people/{member.id}",
            "headline": member.headline,
            "gender": member.gender,
            "is_advertiser": False,
            "badge": self._badges(member),
            "badge_v2": None if number("v2", member.address) % 9 == 0 else self._badge_v2(member),
        }

    def _avatar(self, member: Member, size: str) -> str:
        return f"https://picx.zhimg.com/{self.world.avatar(member)}_{size}.jpg?source=1def8aca"

    @staticmethod
    def _badges(member: Member) -> list[Json]:
        found: list[Json] = []
        if member.identity and number("badge", member.address) % 2:
            found.append({"type": "identity", "description": member.identity, "topics": []})
        if member.award:
            found.append({"type": "best_answerer", "description": member.award, "topics": []})
        return found

    @staticmethod
    def _badge_v2(member: Member) -> Json:
        detail = []
        if member.identity:
            detail.append(
                {
                    "type": "identity",
                    "detail_type": "identity_people",
                    "title": "认证",
                    "description": member.identity,
                }
            )
        return {
            "title": member.identity,
            "merged_badges": None,
            "detail_badges": detail or None,
            "icon": "",
        }

    def profile(self, member: Member, include: str) -> Json:
        """A member (5.6); counts only if *include* names them, or all of them for ``*``."""
        counts = {
            "follower_count": member.followers,
            "following_count": member.following,
            "answer_count": len(self.world.posted(member, "answer", "created")),
            "articles_count": len(self.world.posted(member, "article", "created")),
            "zvideo_count": len(self.world.posted(member, "zvideo", "created")),
            "pins_count": len(self.world.posted(member, "pin", "created")),
            "question_count": len(self.world.posted(member, "question", "created")),
            "columns_count": 0,
            "voteup_count": member.followers * 3 + 17,
            "thanked_count": member.followers // 4,
            "favorited_count": member.followers // 2,
        }
        details: Json = {
            "description": member.description,
            "ip_info": f"IP 属地{member.place}" if member.place else "",
            "cover_url": "",
            "is_realname": number("realname", member.address) % 2 == 0,
            "is_privacy_protected": member.protected,
        }
        named = set(re.split(r"[,;]", include))
        wanted = {k: v for k, v in {**counts, **details}.items() if "*" in named or k in named}
        return {
            **(self.author(member) or {}),
            **wanted,
            "account_status": [{"id": "deregistered", "name": "已注销"}] if member.closed else [],
            "vip_info": {"is_vip": False},
        }

    def me(self, member: Member) -> Json:
        return {
            "id": member.id,
            "uid": str(number("uid", member.id) % 10**18),
            "url_token": member.token,
            "name": member.name,
            "avatar_url": self._avatar(member, "l"),
            "is_active": 1,
            "email": "",
            "is_bind_phone": True,
        }

    # -- text -------------------------------------------------------------------------------------

    def blocks(self, post: Post) -> list[tuple[str, str]]:
        """The content as pairs of markup and of what a reader sees of it."""
        found = [
            (
                f'<p data-pid="{digest(post.id, n, size=4).hex()}">{html.escape(line, False)}</p>',
                line,
            )
            for n, line in enumerate(post.paragraphs)
        ]
        if post.mention is not None:
            name = html.escape(post.mention.name, quote=False)
            link = (
                f'<a class="member_mention" href="{WWW}/people/{post.mention.id}" '
                f'data-hash="{post.mention.id}">@{name}</a>'
            )
            found.append((f"<p>感谢 {link} 的建议</p>", f"感谢 @{post.mention.name} 的建议"))
        if post.form == "rich":
            found += _RICH
        found += [(self._figure(p, n), "") for n, p in enumerate(post.pictures)]
        if post.box is not None:
            found.append((self._video_box(post.box), ""))
        return found

    def text(self, post: Post) -> str:
        """What the text of a post's detail is; ``""`` for none. A preview ends after its first
        block."""
        if post.kind == "zvideo":
            return "\n".join(post.paragraphs)
        blocks = self.blocks(post)[:1] if post.truncated else self.blocks(post)
        return "\n".join(text for _markup, text in blocks if text)

    def content(self, post: Post) -> str:
        blocks = self.blocks(post)[:1] if post.truncated else self.blocks(post)
        return "".join(markup for markup, _text in blocks)

    @staticmethod
    def _figure(picture: Picture, place: int) -> str:
        best, small = picture_url(picture, "r"), picture_url(picture, "720w", "50/")
        sizes = f'data-rawwidth="{picture.width}" data-rawheight="{picture.height}"'
        if place % 2:
            return (
                f'<figure data-size="normal"><img src="{small}" {sizes} class="origin_image" '
                f'data-original="{best}?source=1def8aca"/></figure>'
            )
        lazy = "data:image/svg+xml;utf8,&lt;svg xmlns=&#39;http://www.w3.org/&#39;&gt;&lt;/svg&gt;"
        return (
            f'<figure data-size="normal"><noscript><img src="{small}" {sizes} '
            f'data-original="{best}"/></noscript>'
            f'<img src="{lazy}" class="origin_image lazy" {sizes} '
            f'data-original="{best}?source=2c26e567" data-actualsrc="{small}"/></figure>'
        )

    @staticmethod
    def _video_box(clip: Clip) -> str:
        poster = picture_url(clip.cover, "b")
        page = f"{WWW}/video/{clip.id}"
        link = f"https://link.zhihu.com/?target={quote(page, safe='/')}"
        return (
            f'<a class="video-box" href="{link}" data-poster="{poster}" data-lens-id="{clip.id}">'
            f'<img class="thumbnail" src="{poster}"/><span class="content">{page}</span></a>'
        )

    # -- posts ------------------------------------------------------------------------------------

    def url_of(self, post: Post) -> str:
        """The address of a post's page."""
        if post.kind == "article":
            return f"https://zhuanlan.zhihu.com/p/{post.id}"
        if post.kind == "answer":
            return f"{WWW}/question/{self.world.post_id(post.question)}/answer/{post.id}"
        return f"{WWW}/{post.kind}/{post.id}"

    def detail(self, post: Post, include: str) -> Json:
        """What the API says about one post (5.2 to 5.5)."""
        if post.kind == "answer":
            return self.answer(post, content="content" in include.split(","), detail=True)
        if post.kind == "article":
            return self.article(post)
        if post.kind == "pin":
            return self.pin(post)
        return self.zvideo(post) if post.kind == "zvideo" else self.question(post, include)

    def listed(self, post: Post, include: str) -> Json:
        """The same in a list: fewer keys, and ids that are numbers where they are so there."""
        if post.kind == "answer":
            return self.answer(post, content="content" in include, detail=False)
        if post.kind == "article":
            return {**self.article(post), "id": int(post.id), "ip_info": None}
        return self.detail(post, include)

    def _question_part(self, post: Post) -> Json:
        question = self.world.post_at(post.question)
        return {
            "id": question.id,
            "type": "question",
            "question_type": "normal",
            "title": question.title,
            "created": question.time,
            "updated_time": question.edited,
            "url": f"{WWW}/api/v4/questions/{question.id}",
            "relationship": {},
        }

    def answer(self, post: Post, *, content: bool, detail: bool) -> Json:
        question = self._question_part(post)
        record: Json = {
            "id": post.id if detail else int(post.id),
            "type": "answer",
            "answer_type": "paid" if post.paid else "normal",
            "url": f"{WWW}/api/v4/answers/{post.id}",
            "question": question,
            "author": self.author(post.author, anonymous=post.anonymous),
            "excerpt": self._excerpt(post),
            "created_time": post.time,
            "updated_time": post.edited,
            "voteup_count": post.outline.votes,
            "comment_count": post.outline.comments,
            "thanks_count": post.thanks,
            "is_collapsed": post.collapsed,
            "is_copyable": True,
            "can_comment": {"status": post.comments_open, "reason": ""},
            "paid_info": self._paid_info(post),
            "content_need_truncated": post.truncated and not post.paid,
            "force_login_when_click_read_more": False,
            "attachment": self._attachment(post),
            "settings": {"table_of_contents": {"enabled": False}},
        }
        if content:
            record["content"] = self.content(post)
        if not detail:
            question["id"] = int(question["id"])
            record |= {"is_normal": True, "is_sticky": False, "annotation_action": None}
            return record
        question["topics"] = self._topics(self.world.post_at(post.question))
        if post.views:
            record["visited_count"] = post.views
        record |= {
            "ip_info": self._place(post),
            "reaction": self._reaction(post),
            "pagination_info": {"index": 0, "next_answer_ids": [], "prev_answer_ids": []},
        }
        return record

    def article(self, post: Post) -> Json:
        return {
            "id": post.id,
            "type": "article",
            "article_type": "normal",
            "title": post.title,
            "content": self.content(post),
            "excerpt": self._excerpt(post),
            "excerpt_title": "",
            "created": post.time,
            "updated": post.edited,
            "voteup_count": post.outline.votes,
            "comment_count": post.outline.comments,
            "favlists_count": post.favourites,
            "author": self.author(post.author),
            "topics": self._topics(post),
            "column": None,
            "image_url": "",
            "title_image": picture_url(post.cover, "720w") if post.cover else "",
            "ip_info": self._place(post),
            "paid_info": self._paid_info(post),
            "content_need_truncated": post.truncated and not post.paid,
            "can_comment": {"status": post.comments_open, "reason": ""},
            "comment_permission": "all",
            "state": "published",
            "url": f"https://zhuanlan.zhihu.com/p/{post.id}",
            "reaction": None,
        }

    def pin(self, post: Post) -> Json:
        """A pin; a deleted one is hardly more than its id (5.4)."""
        if post.status == "deleted":
            return {
                "id": post.id,
                "type": "pin",
                "is_deleted": True,
                "deleted_reason": "该内容已被作者删除",
                "content": [],
            }
        return self._whole_pin(post, with_origin=True)

    def _whole_pin(self, post: Post, *, with_origin: bool) -> Json:
        text = "<br>".join(html.escape(line, quote=False) for line in post.paragraphs)
        if post.mention is not None:
            name = html.escape(post.mention.name, quote=False)
            link = f'<a class="member_mention" href="/people/{post.mention.id}">@{name}</a>'
            text += f"<p>感谢 {link} 的建议</p>"
        blocks: list[Json] = [
            {
                "type": "text",
                "title": post.title,
                "content": text,
                "own_text": text,
                "fold_type": "",
            }
        ]
        images = ""
        for picture in post.pictures:
            blocks.append(self._image_block(picture))
            best = picture_url(picture, "r", "50/")
            images += (
                f'<img src="{picture_url(picture, "b", "50/")}" data-rawwidth="{picture.width}" '
                f'data-rawheight="{picture.height}" data-original="{best}" '
                f'data-original-src="{best}">'
            )
        if post.clip is not None:
            blocks.append(self._video_block(post.clip, as_list=post.address % 2 == 0))
        origin = self.world.post_at(post.origin) if post.origin >= 0 and with_origin else None
        shown = (
            None
            if origin is None or origin.status == "deleted"
            else self._whole_pin(origin, with_origin=False)
        )
        return {
            "id": post.id,
            "type": "pin",
            "url": f"/pins/{post.id}",
            "state": "normal",
            "created": post.time,
            "updated": post.edited,
            "is_deleted": False,
            "content": blocks,
            "content_html": f"<div>{text}</div>{images}",
            "excerpt_title": text[:40],
            "like_count": 0,
            "reaction_count": post.outline.votes,
            "comment_count": post.outline.comments,
            "repin_count": post.shares,
            "favorite_count": post.favourites,
            "favlists_count": post.favourites,
            "page_view_count": post.views or None,
            "top_reactions": {"like": post.outline.votes},
            # A number that JavaScript has rounded already (trap 9).
            "source_pin_id": 0 if origin is None else int(float(origin.id)),
            "origin_pin": shown,
            "repin": shown,
            "author": self.author(post.author),
            "tags": [f"#{post.topics[0]}#"],
            "topics": None,
            "ip_info": self._place(post),
        }

    @staticmethod
    def _image_block(picture: Picture) -> Json:
        return {
            "type": "image",
            "url": picture_url(picture, "720w", "100/"),
            "original_url": picture_url(picture, "1440w", "100/"),
            "thumbnail": "",
            "width": picture.width,
            "height": picture.height,
            "is_gif": picture.form == "gif",
            "is_watermark": False,
            "watermark_url": f"https://pic2.zhimg.com/100/v2-{digest(picture.token).hex()}_720w.jpg",
        }

    def _video_block(self, clip: Clip, *, as_list: bool) -> Json:
        streams = self._playlist(clip, "url")
        return {
            "type": "video",
            "video_id": clip.id,
            "duration": int(clip.seconds),
            "width": 1920,
            "height": 1080,
            "thumbnail": picture_url(clip.cover, "b"),
            "cover_info": {"thumbnail": picture_url(clip.cover, "r"), "width": 1280, "height": 720},
            "playlist": [{"quality": k, **v} for k, v in streams.items()] if as_list else streams,
        }

    def zvideo(self, post: Post) -> Json:
        clip = post.clip
        assert clip is not None  # each zvideo has one
        return {
            "id": post.id,
            "type": "zvideo",
            "title": post.title,
            "description": "\n".join(html.escape(line, quote=False) for line in post.paragraphs),
            "url": f"{WWW}/api/v4/zvideos/{post.id}",
            "image_url": picture_url(clip.cover, "r"),
            "published_at": post.time,
            "created_at": post.time - 600,
            "updated_at": post.edited,
            "is_delete": False,
            "author": self.author(post.author),
            "voteup_count": post.outline.votes,
            "comment_count": post.outline.comments,
            "liked_count": post.thanks,
            "play_count": post.views,
            "favorite_count": post.favourites,
            "is_paid": False,
            "topics": self._topics(post),
            "video": {
                "video_id": clip.id,
                "duration": clip.seconds,
                "thumbnail": picture_url(clip.cover, "b"),
                "playlist": self._playlist(clip, "play_url"),
                "playlist_v2": None,
            },
        }

    def question(self, post: Post, include: str) -> Json:
        """A question; what *include* does not name, or names after ``author``, does not come."""
        named = include.split(",")
        early = named[: named.index("author")] if "author" in named else named
        record: Json = {
            "id": post.id,
            "type": "question",
            "question_type": "normal",
            "title": post.title,
            "created": post.time,
            "updated_time": post.edited,
            "url": f"{WWW}/api/v4/questions/{post.id}",
        }
        optional = {
            "detail": self.content(post),
            "topics": self._topics(post),
        }
        counts = {
            "excerpt": self._excerpt(post),
            "answer_count": self.world.answer_count(post),
            "follower_count": post.favourites,
            "visit_count": post.outline.votes * 40 + 9,
            "comment_count": post.outline.comments,
            "author": self.author(post.author),
        }
        record |= {k: v for k, v in optional.items() if k in early or include == "*"}
        return record | {k: v for k, v in counts.items() if k in named or include == "*"}

    def _playlist(self, clip: Clip, key: str) -> Json:
        """Qualities in no order; one that has no address is listed all the same."""
        streams: Json = {}
        for quality in clip.qualities:
            width, height, size = self.world.stream_size(clip, quality)
            name = self.world.stream_name(clip, quality)
            streams[quality] = {
                "format": "mp4",
                "width": width,
                "height": height,
                "bitrate": height * 2,
                "size": size,
                "duration": clip.seconds,
                key: self.addresses.video(quality, name),
            }
        if "fhd" not in streams:
            streams["fhd"] = {"format": "mp4", "width": 1920, "height": 1080, key: ""}
        return streams

    def play_info(self, clip: Clip) -> Json:
        """The answer of ``video/play_info`` (3.5)."""
        streams = []
        for quality in clip.qualities:
            width, height, _size = self.world.stream_size(clip, quality)
            url = self.addresses.video(quality, self.world.stream_name(clip, quality))
            streams.append({"bitrate": height * 2, "width": width, "height": height, "url": [url]})
        return {"video_play": {"playlist": {"mp4": streams}}, "video_id": clip.id}

    def lens(self, clip: Clip) -> Json:
        """The answer of the older ``lens.zhihu.com`` (3.5)."""
        streams = {quality.upper(): v for quality, v in self._playlist(clip, "play_url").items()}
        return {"playlist": streams, "cover_url": picture_url(clip.cover, "r"), "title": ""}

    def _attachment(self, post: Post) -> Json | None:
        if post.clip is None:
            return None
        info = {
            "video_id": post.clip.id,
            "duration": post.clip.seconds,
            "width": 1920,
            "height": 1080,
            "thumbnail": picture_url(post.clip.cover, "r"),
            "is_paid": False,
            "playlist": self._playlist(post.clip, "url"),
        }
        video = {"title": "", "zvideo_id": "", "play_count": post.views, "video_info": info}
        return {"type": "video", "attachment_id": post.clip.id, "video": video}

    @staticmethod
    def _paid_info(post: Post) -> Json:
        kind = "paid_column" if post.paid else ""
        return {"type": kind, "content": "", "has_purchased": False}

    def _excerpt(self, post: Post) -> str:
        return html.escape(self.text(post).replace("\n", " ")[:60], quote=False) + "…"

    @staticmethod
    def _topics(post: Post) -> list[Json]:
        return [
            {"id": str(number("topic", name) % 10**8), "name": name, "type": "topic"}
            for name in post.topics
        ]

    @staticmethod
    def _place(post: Post) -> str:
        forms = ("{}", "IP 属地{}", "发布于 {}")
        return forms[post.address % 3].format(post.place) if post.place else ""

    @staticmethod
    def _reaction(post: Post) -> Json:
        statistics = {
            "up_vote_count": post.outline.votes,
            "down_vote_count": 0,
            "like_count": post.thanks,
            "comment_count": post.outline.comments,
            "favorites": post.favourites,
            "share_count": post.shares,
            "play_count": 0,
            "pv_count": 0,
        }
        return {"statistics": statistics, "relation": {}, "image_reactions": {}}

    # -- search -----------------------------------------------------------------------------------

    def found(self, post: Post, keyword: str, index: int) -> Json:
        """An entry of a search page (5.8)."""
        entry: Json = {
            "type": "zvideo" if post.kind == "zvideo" else "search_result",
            "highlight": {"title": mark(post.title, keyword), "description": ""},
            "object": self._found_object(post, keyword),
            "hit_labels": None,
            "index": index,
        }
        if post.address % 3 == 0:
            entry["id"] = int(post.id) if post.address % 2 else post.id
        return entry

    def _found_object(self, post: Post, keyword: str) -> Json:
        common = {
            "id": post.id,
            "excerpt": mark(self._excerpt(post), keyword),
            "author": self.author(post.author, anonymous=post.anonymous),
            "voteup_count": post.outline.votes,
            "comment_count": post.outline.comments,
            "is_zhi_plus": post.promoted,
            "is_zhi_plus_content": post.promoted,
            "extra": '{"is_card":true}' * 40 if post.promoted else "",
            "url": f"https://api.zhihu.com/{post.kind}s/{post.id}",
        }
        if post.kind == "answer":
            question = self.world.post_at(post.question)
            title = mark(html.escape(question.title, quote=False), keyword)
            return {
                **common,
                "type": "answer",
                "answer_type": "paid" if post.paid else "normal",
                "title": title,
                "question": {
                    "id": question.id,
                    "type": "question",
                    "name": title,
                    "answer_count": 0,
                },
                "content": self.content(post),
                "created_time": post.time,
                "updated_time": post.edited,
                "favorites_count": post.favourites,
                "is_anonymous": post.anonymous,
                "visits_count": question.outline.votes * 40 + 9,
                "answer_count": self.world.answer_count(question),
            }
        title = mark(html.escape(post.title, quote=False), keyword)
        if post.kind == "article":
            return {
                **common,
                "type": "article",
                "title": title,
                "content": self.content(post),
                "created_time": post.time,
                "updated_time": post.edited,
                "zfav_count": post.favourites,
            }
        if post.kind == "zvideo":
            assert post.clip is not None  # each zvideo has one
            return {
                **common,
                "type": "zvideo",
                "title": title,
                "description": mark(" ".join(post.paragraphs), keyword),
                "video_url": f"{WWW}/zvideo/{post.id}",
                "created_at": post.time,
                "duration": int(post.clip.seconds),
                "play_count": post.views,
                "cover_url": picture_url(post.clip.cover, "qhd", "80/"),
            }
        if post.kind == "pin":
            return {**self._whole_pin(post, with_origin=True), "type": "pin_general"}
        return {**self.question(post, "*"), "title": title}

    def noise(self, keyword: str, place: int, posts: list[Post]) -> Json:
        """Something that is no post (3.1); *posts* are what a card of its own repeats."""
        dice = Dice(self.world.seed, "noise", keyword, place)
        kind = dice.pick(
            ("people", "topic", "relevant_query", "hot_timing", "knowledge_ad", "null")
        )
        if kind == "people":
            member = self.world.viewer(f"{keyword}{place}")
            person = {**(self.author(member) or {}), "name": mark(member.name, keyword)}
            return {"type": "search_result", "object": person, "highlight": None, "id": place}
        if kind == "topic":
            topic = {"id": str(place), "type": "topic", "name": mark(keyword, keyword)}
            return {"type": "search_result", "object": topic, "highlight": None}
        if kind == "hot_timing":
            items = [self.found(post, keyword, 0) for post in posts if post.kind == "answer"][:2]
            card = {"type": "hot_timing", "id": f"hot_{place}", "content_items": items}
            return {"type": "hot_timing", "object": card, "id": f"{place}_hot", "highlight": None}
        if kind == "null":
            return {"type": "search_result", "object": None, "highlight": None}
        return {"type": kind, "id": kind, "query_list": [{"query": f"{keyword}清单"}]}

    # -- comments ---------------------------------------------------------------------------------

    def comment(self, post: Post, comment: Comment, *, embed: bool = False) -> Json:
        """A comment (5.7); a root with *embed* brings its first replies along."""
        world = self.world
        author = None if comment.author is None else self.author(comment.author)
        root_id = world.comment_id(post, comment.root)
        answered = world.comment(post, comment.root, comment.target) if comment.reply else None
        children: list[Json] = []
        if embed:
            children = [
                self.comment(post, world.comment(post, comment.root, n + 1))
                for n in range(min(2, comment.replies))
            ]
        record: Json = {
            "id": comment.id,
            "type": "comment",
            "resource_type": post.kind,
            "url": f"{WWW}/api/v4/comment_v5/comments/{comment.id}",
            "member_id": number("uid", comment.id) % 10**9,
            "content": self._comment_html(comment),
            "created_time": comment.time,
            "is_delete": comment.deleted,
            "collapsed": False,
            "reviewing": False,
            "hot": comment.hot,
            "top": comment.pinned,
            "score": 0,
            "reply_comment_id": answered.id if answered else "0",
            "reply_root_comment_id": root_id,
            "like_count": comment.likes,
            "dislike_count": 0,
            "is_author": False,
            "is_author_top": comment.pinned,
            "author": author,
            "author_tag": [{"type": "content_author", "text": "作者"}] if comment.by_author else [],
            "reply_author_tag": [],
            "content_tag": [],
            "comment_tag": self._comment_tags(comment),
            "child_comment_count": comment.replies,
            "child_comment_next_offset": self._child_offset(comment, children),
            "child_comments": children,
            "_": None,
        }
        if answered is not None:
            record["reply_to_author"] = self.author(answered.author)
        return record

    def comment_text(self, comment: Comment) -> str | None:
        """What a reader sees of a comment; ``None`` for a deleted one."""
        if comment.deleted:
            return None
        mention = f" @{comment.mention.name}" if comment.mention else ""
        return comment.text + mention

    @staticmethod
    def _comment_html(comment: Comment) -> str:
        if comment.deleted:
            return "该评论已删除"
        text = html.escape(comment.text, quote=False).replace("\n", "<br>")
        if comment.mention is not None:
            name = html.escape(comment.mention.name, quote=False)
            url = f"{WWW}/people/{comment.mention.id}"
            text += f' <a href="{url}" class="member_mention">@{name}</a>'
        text = f"<p>{text}</p>"
        if comment.picture is not None:
            url = picture_url(comment.picture, "r")
            size = 'data-width="640" data-height="640"'
            text += f'<a href="{url}" class="comment_img" {size}>查看图片</a>'
        return text

    @staticmethod
    def _comment_tags(comment: Comment) -> list[Json]:
        tags = [{"type": "hot", "text": "热评"}] if comment.hot else []
        if comment.place:
            prefix = "IP 属地" if int(comment.id) % 2 else ""
            tags.append({"type": "ip_info", "text": prefix + comment.place})
        return tags

    @staticmethod
    def _child_offset(comment: Comment, children: list[Json]) -> str | None:
        """Where the next replies would begin; null although some are missing, now and then."""
        if comment.replies <= len(children) or not children or int(comment.id) % 3 == 0:
            return None
        return f"{children[-1]['created_time']}_{children[-1]['id']}_0"


def mark(text: str, keyword: str) -> str:
    """*text* with the keyword as the search shows it."""
    return text.replace(keyword, f"<em>{keyword}</em>") if keyword else text


_RICH: list[tuple[str, str]] = [
    ("<h2>一、公式</h2>", "一、公式"),
    (
        f'<p>先看 <img src="{WWW}/equation?tex={quote(_FORMULA)}" '
        f'alt="{html.escape(_FORMULA)}\\\\ " eeimg="1"/> ，再看 '
        '<span class="ztext-math" data-eeimg="1" data-tex="a \\le b"><span>a≤b</span></span>'
        "。</p>",
        f"先看 ${_FORMULA}$ ，再看 $a \\le b$。",
    ),
    ('<p class="ztext-empty-paragraph"><br/></p>', ""),
    (
        '<p>见文献<sup data-text="x" data-url="https://example.org/a" '
        'data-draft-type="reference" data-numero="1">[1]</sup>。</p>',
        "见文献[1]。",
    ),
    (
        "<ul><li>第一步：<br/>烧水</li><li>第二步 &lt;等&gt; &amp; 看</li></ul>",
        "第一步：\n烧水\n第二步 <等> & 看",
    ),
    (
        '<p>外链：<a href="https://link.zhihu.com/?target=https%3A//example.org/a/b">'
        '<span class="invisible">https://</span><span class="visible">example.org/a</span>'
        '<span class="invisible">/b</span></a></p>',
        "外链：https://example.org/a/b",
    ),
    (
        '<a data-draft-node="block" data-draft-type="link-card" '
        'href="https://zhuanlan.zhihu.com/p/1" class="internal">一张卡片</a>',
        "一张卡片",
    ),
    (
        '<div class="highlight"><pre><code class="language-python"><span class="k">if</span> x '
        '<span class="o">&lt;</span> 2:\n    <span class="nb">print</span>(x)</code></pre></div>',
        "if x < 2:\n    print(x)",
    ),
    ("<blockquote>引用的话。</blockquote>", "引用的话。"),
]
