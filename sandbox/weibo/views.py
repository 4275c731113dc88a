"""The JSON of Weibo: how the world is written down on the wire, for both hosts.

Shapes, names and oddities follow ``docs/platforms/weibo.md`` section 5. What one host calls
``bid`` the other calls ``mblogid``; counts are rounded here and exact there; lists cut texts.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from html import escape
from typing import Any
from urllib.parse import quote, urlencode

from sandbox.core import BEIJING, Json
from sandbox.sites import DatedAddresses
from sandbox.weibo.world import (
    GONE_TEXTS,
    QUALITIES,
    Comment,
    Picture,
    Post,
    Token,
    User,
    Video,
    World,
    clip_address,
    movie_address,
    short_address,
)
from sandbox.worlds import digest, number, wan

_ICONS = {"link": "web", "super": "super", "place": "location"}
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


class Addresses(DatedAddresses):
    """Signed addresses of movies."""

    seal_name = "ssig"
    seal_size = 5

    def signed(self, url: str, label: str = "", size: str = "") -> str:
        """*url* with ``Expires`` and ``ssig`` (8.3)."""
        until = self._until()
        query = {"label": label, "template": f"{size}.25.0" if size else ""}
        query |= {"Expires": str(until), "ssig": self._seal(url, until), "KID": "unistore,video"}
        return f"{url}?{urlencode({k: v for k, v in query.items() if v}, safe=',')}"


class Views:
    """Writes records of a :class:`World` in the shapes of both hosts."""

    def __init__(self, world: World, addresses: Addresses) -> None:
        self.world = world
        self.addresses = addresses

    # -- texts (7.1) ----------------------------------------------------------------------------

    def mobile_html(self, tokens: Iterable[Token]) -> str:
        return "".join(map(self._mobile_token, tokens))

    def _mobile_token(self, token: Token) -> str:
        kind, words = token[0], escape(token[1], quote=False) if len(token) > 1 else ""
        if kind == "text":
            return words
        if kind == "br":
            return "<br />"
        if kind == "emoji":
            # the name stands in double quotes, in single ones, or in none
            mark = ('"', "'", "")[number("quotes", words) % 3]
            return (
                f'<span class="url-icon"><img alt={mark}[{words}]{mark} '
                'src="https://h5.sinaimg.cn/m/emoticon/icon/default/d_demo.png" '
                'style="width:1em; height:1em;" /></span>'
            )
        if kind == "tag":
            q = quote(f"#{token[1]}#")
            return (
                f'<a  href="https://m.weibo.cn/search?containerid=231522type%3D1%26t%3D10%26q%3D{q}'
                f'&extparam={q}" data-hide=""><span class="surl-text">#{words}#</span></a>'
            )
        if kind == "at":
            return f"<a href='/n/{words}'>@{words}</a>"
        target = escape(token[2])
        if kind == "link" and number("jump", token[2]) % 2:
            target = f"https://weibo.cn/sinaurl?u={quote(token[2], safe='')}"
        icon = f"https://h5.sinaimg.cn/upload/2015/09/25/3/timeline_card_small_{_ICONS[kind]}_default.png"
        return (
            f'<a data-url="{short_address(token[2])}" href="{target}" data-hide="">'
            f"<span class='url-icon'><img style='width: 1rem;height: 1rem' src='{icon}'></span>"
            f'<span class="surl-text">{words}</span></a>'
        )

    def desktop_html(self, tokens: Iterable[Token]) -> str:
        return "".join(map(self._desktop_token, tokens))

    def _desktop_token(self, token: Token) -> str:
        kind, words = token[0], escape(token[1]) if len(token) > 1 else ""
        if kind == "text":
            return words
        if kind == "br":
            return "<br />"
        if kind == "emoji":
            return (
                f'<img alt="[{words}]" title="[{words}]" src="https://face.t.sinajs.cn/demo.png" />'
            )
        if kind == "tag":
            address = f"//s.weibo.com/weibo?q={quote(f'#{token[1]}#', safe='')}"
            return f'<a href="{address}" target="_blank">#{words}#</a>'
        if kind == "at":
            return f'<a href=/n/{quote(token[1])} usercard="name=@{words}">@{words}</a>'
        icon = f"https://h5.sinaimg.cn/upload/2015/09/25/3/timeline_card_small_{_ICONS[kind]}_default.png"
        address = f"https://weibo.cn/sinaurl?u={quote(token[2], safe='')}"
        return (
            f'<a target="_blank" href="{address}"><img class="icon-link" src="{icon}"/>{words}</a>'
        )

    def url_struct(self, tokens: Iterable[Token]) -> list[Json]:
        """The links of a text, as the desktop lists them."""
        return [
            {
                "url_title": token[1],
                "url_type_pic": "https://h5.sinaimg.cn/upload/2015/09/25/3/"
                f"timeline_card_small_{_ICONS[token[0]]}_default.png",
                "ori_url": f"sinaweibo://browser?url={quote(short_address(token[2]), safe='')}",
                "page_id": "",
                "short_url": short_address(token[2]),
                "long_url": token[2],
                "url_type": 0 if token[0] == "link" else 36,
                "result": True,
                "need_save_obj": 0,
            }
            for token in tokens
            if token[0] in _ICONS
        ]

    @staticmethod
    def topic_struct(post: Post) -> list[Json]:
        return [
            {"title": "", "topic_title": tag, "topic_url": f"sinaweibo://searchall?q={quote(tag)}"}
            for tag in post.tags
        ]

    # -- users (5.6) ----------------------------------------------------------------------------

    def mobile_user(self, user: User) -> Json:
        fans: Any = user.fans if user.fans < 10_000 else wan(user.fans, cap=False)
        return {
            "id": user.uid,
            "screen_name": user.name,
            "profile_image_url": self._portrait(user, 180),
            "profile_url": f"https://m.weibo.cn/u/{user.uid}?uid={user.uid}",
            "statuses_count": user.total,
            "verified": user.verified,
            "verified_type": user.verified_type,
            **({"verified_reason": user.reason} if user.verified else {}),
            "description": user.bio,
            "gender": user.gender,
            "mbrank": user.address % 8,
            "svip": 0,
            "follow_me": False,
            "following": False,
            "follow_count": user.follows,
            "followers_count": fans,
            "followers_count_str": str(fans),
            "cover_image_phone": "https://tva1.sinaimg.cn/crop.0.0.640.640.640/demo.jpg",
            "avatar_hd": self._sized(user.avatar, "orj480"),
        }

    def desktop_user(self, user: User) -> Json:
        return {
            "id": user.uid,
            "idstr": str(user.uid),
            "pc_new": 0,
            "screen_name": user.name,
            "profile_image_url": self._portrait(user, 50),
            "profile_url": f"/u/{user.uid}",
            "verified": user.verified,
            "verified_type": user.verified_type,
            "domain": user.domain,
            "avatar_large": self._portrait(user, 180),
            "avatar_hd": self._portrait(user, 1024),
            "follow_me": False,
            "following": False,
            "mbrank": user.address % 8,
            "v_plus": None if user.address % 2 else 0,
        }

    def desktop_profile(self, user: User) -> Json:
        fans: Any = user.fans if user.fans < 10_000 else wan(user.fans, cap=False)
        return {
            **self.desktop_user(user),
            "description": user.bio,
            "location": user.place,
            "gender": user.gender,
            "followers_count": fans,
            "followers_count_str": str(fans),
            "friends_count": user.follows,
            "statuses_count": user.total,
            "url": "",
            "verified_reason": user.reason,
            "status_total_counter": {
                "total_cnt_format": wan(user.likes, cap=False),
                "comment_cnt": f"{user.likes // 7:,}",
                "repost_cnt": f"{user.likes // 9:,}",
                "like_cnt": f"{user.likes:,}",
                "total_cnt": f"{user.likes + user.likes // 7:,}",
            },
        }

    def _portrait(self, user: User, size: int) -> str:
        host = f"https://tvax{1 + user.uid % 4}.sinaimg.cn"
        return self.addresses.signed(f"{host}/crop.0.0.480.480.{size}/{user.avatar.pid}.jpg")

    @staticmethod
    def _sized(picture: Picture, size: str) -> str:
        return picture.url.replace("/large/", f"/{size}/")

    # -- posts, mobile (5.3) --------------------------------------------------------------------

    def mblog(self, post: Post, *, whole: bool, original: bool = True) -> Json:
        """A post of the mobile site.

        :param whole: the detail, with the full text; lists and originals are cut.
        :param original: with the post that it retweets.
        """
        tokens, cut = (post.tokens, False) if whole else self.world.cut(post.tokens)
        text = self.mobile_html(tokens)
        if cut:
            text += f' ...<a href="/status/{post.mid}">全文</a>'
        outline = post.outline
        blog: Json = {
            "visible": {"type": 0, "list_id": 0},
            "created_at": full_time(outline.time),
            "id": post.mid,
            "mid": post.mid,
            "can_edit": False,
            "text": text + " " * (post.address % 2),
            "textLength": 2 * len(self.world.visible(post.tokens, desktop=False)),
            "source": post.client,
            "favorited": False,
            "pic_ids": [picture.pid for picture in post.pictures],
            "pic_types": "",
            "is_paid": post.paid,
            "mblog_vip_type": int(post.paid),
            "user": self.mobile_user(post.author),
            "reposts_count": rounded(outline.reposts),
            "comments_count": rounded(outline.comments),
            "attitudes_count": rounded(outline.likes),
            "isLongText": self._is_long(post),
            "mblogtype": 2 if post.pinned and not whole else 0,
            "number_display_strategy": {
                "apply_scenario_flag": 3,
                "display_text_min_number": 1000000,
                "display_text": "100万+",
            },
            "content_auth": 0,
            "pic_num": len(post.pictures),
            "edit_config": {"edited": post.edits > 0},
            # an empty bid makes clients take it from the card, or compute it
            "bid": "" if post.address % 13 == 5 and not whole else post.bid,
        }
        if post.edits:
            blog |= {"edit_count": post.edits, "edit_at": full_time(post.edited)}
        if post.region or post.address % 2:
            blog["region_name"] = f"发布于 {post.region}" if post.region else ""
        if post.pinned and not whole:
            blog |= {"isTop": 1, "title": {"text": "置顶", "base_color": 1}}
        if post.quick:
            blog |= {"ori_mid": post.quick, "repost_type": 2}
        self._add_mobile_media(blog, post)
        if original and post.original >= 0:
            blog["retweeted_status"] = self._original(post, self.mblog)
            blog["repost_type"] = 1
        return blog

    def _is_long(self, post: Post) -> bool:
        return self.world.cut(post.tokens)[1] or len(post.pictures) > 9

    def _original(self, post: Post, view: Any) -> Json:
        """The retweeted post, or what stands in its place (5.3)."""
        original = self.world.post_at(post.original)
        why = post.outline.retweet
        if why == "ok":
            shown: Json = view(original, whole=False, original=False)
            return shown
        blog: Json = {
            "visible": {"type": int(why == "hidden"), "list_id": 3 if why == "half-year" else 0},
            "created_at": day_caption(original.outline.time),
            "id": original.mid,
            "mid": original.mid,
            "text": GONE_TEXTS[why],
            "source": "",
            "user": None,
            "bid": original.bid,
        }
        if why == "deleted":
            blog |= {"deleted": "1", "state": 7}
        return blog

    def _add_mobile_media(self, blog: Json, post: Post) -> None:
        pics = [self._mobile_picture(post, picture) for picture in post.pictures[:9]]
        if len(post.videos) > 1:
            pics = [self._mobile_video(video) for video in post.videos[:1]] + pics
            pics += [self._mobile_video(video) for video in post.videos[1:]]
        if pics:
            as_object = post.address % 17 == 3  # a list, or an object with numbers as keys
            blog["pics"] = {str(i): pic for i, pic in enumerate(pics)} if as_object else pics
            live = [self.live_address(p.clip) for p in post.pictures[:9] if p.clip]
            if live:
                blog["live_photo"] = live
        if post.videos:
            blog["page_info"] = self._mobile_page(post, post.videos[0])
        elif post.article:
            blog["page_info"] = {
                "type": "article",
                "object_type": 0,
                "object_id": f"1022:{post.article}",
                "page_pic": {"url": post.author.avatar.url},
                "page_url": f"https://card.weibo.com/article/m/show/id/{post.article}",
                "page_title": f"{post.author.topic}手记",
                "content1": f"{post.author.topic}手记",
            }
        elif post.live:
            blog["page_info"] = {
                "type": "live",
                "page_pic": {"url": post.author.avatar.url},
                "page_title": f"{post.author.name}的直播",
                "media_info": {"live_status": 1, "stream_url": "https://live.demo.example/a.m3u8"},
            }
        elif post.tags:
            blog["page_info"] = {
                "type": "search_topic",
                "object_type": 0,
                "page_pic": {"url": post.author.avatar.url},
                "page_title": f"#{post.tags[0]}#",
                "content1": "0讨论 0阅读 ",
            }

    def _mobile_picture(self, post: Post, picture: Picture) -> Json:
        size: Any = str(picture.width) if post.address % 2 else picture.width
        pic: Json = {
            "pid": picture.pid,
            "url": self._sized(picture, "orj360"),
            "size": "orj360",
            "geo": {"width": 360, "height": 480, "croped": False},
            "large": {
                "size": "large",
                "url": picture.url,
                "geo": {"width": size, "height": picture.height, "croped": False},
            },
        }
        if post.address % 19 == 4:
            del pic["large"]["geo"]
        if picture.clip:
            pic |= {"type": "livephoto", "videoSrc": self.live_address(picture.clip)}
        elif picture.kind == "gif":
            pic |= {"type": "gifvideos", "videoSrc": "https://g.us.sinaimg.cn/o0/demo.mp4"}
        return pic

    def _mobile_video(self, video: Video) -> Json:
        return {
            "pid": video.cover.pid,
            "url": self._sized(video.cover, "orj360"),
            "type": "video",
            "videoSrc": self._video_address(video, len(video.files) - 1),
            "large": {
                "size": "large",
                "url": video.cover.url,
                "geo": {"width": 1280, "height": 720},
            },
        }

    def live_address(self, clip: str) -> str:
        """The redirecting address of a live photo's movie (8.2)."""
        target = self.addresses.signed(clip_address(clip))
        return f"https://video.weibo.com/media/play?livephoto={quote(target, safe='')}"

    def _video_address(self, video: Video, place: int) -> str:
        label, _index, width, height = QUALITIES[len(QUALITIES) - len(video.files) + place]
        return self.addresses.signed(movie_address(video.files[place]), label, f"{width}x{height}")

    def _labelled(self, video: Video) -> dict[str, str]:
        first = len(QUALITIES) - len(video.files)
        return {
            QUALITIES[first + i][0]: self._video_address(video, i) for i in range(len(video.files))
        }

    def _mobile_page(self, post: Post, video: Video) -> Json:
        found = self._labelled(video)
        urls = {f"{label}_mp4": url for label, url in found.items() if label != "mp4_1080p"}
        return {
            "type": "video",
            "object_type": 11,
            "object_id": video.object_id,
            "page_pic": {
                "width": 1280,
                "height": 720,
                "url": self._sized(video.cover, "large"),
                "pid": video.cover.pid,
            },
            "page_url": f"https://video.weibo.com/show?fid={quote(video.object_id, safe='')}",
            "page_title": f"{post.author.name}的微博视频",
            "title": video.title,
            "content1": f"{post.author.name}的微博视频",
            "video_orientation": "horizontal",
            "play_count": f"{wan(video.views, cap=False)}次播放",
            "media_info": {
                "stream_url": found["mp4_ld"] if video.on_mobile else "",
                "stream_url_hd": found["mp4_hd"] if video.on_mobile else "",
                "duration": video.seconds,
            },
            "urls": urls if video.on_mobile else None,
        }

    # -- posts, desktop (5.4) -------------------------------------------------------------------

    def desktop_post(self, post: Post, *, whole: bool, original: bool = True) -> Json:
        """A post of the desktop site; with *whole* as ``show?isGetLongText=true`` gives it."""
        tokens, cut = self.world.cut(post.tokens)
        outline = post.outline
        raw = self.world.visible(tokens, desktop=True)
        text = self.desktop_html(tokens)
        if cut:
            text += ' ...<span class="expand">展开</span>'
            raw += " ..."
        if whole and cut:
            text = self.desktop_html(post.tokens)
            raw = self.world.visible(post.tokens, desktop=True)
        blog: Json = {
            "visible": {"type": 0, "list_id": 0},
            "created_at": full_time(outline.time),
            "id": int(post.mid),
            "idstr": post.mid,
            "mid": post.mid,
            "mblogid": post.bid,
            "user": self.desktop_user(post.author),
            "can_edit": False,
            "textLength": 2 * len(self.world.visible(post.tokens, desktop=False)),
            "source": post.client,
            "favorited": False,
            "pic_ids": [picture.pid for picture in post.pictures] if len(post.videos) < 2 else [],
            "geo": "",
            "pic_num": len(post.pictures),
            "is_paid": post.paid,
            "mblog_vip_type": int(post.paid),
            "reposts_count": outline.reposts,
            "comments_count": outline.comments,
            "attitudes_count": outline.likes,
            "isLongText": self._is_long(post),
            "is_show_bulletin": post.bulletin,
            "mblogtype": 0,
            "rcList": [],
            "topic_struct": self.topic_struct(post),
            "url_struct": self.url_struct(post.tokens),
            "text": text,
            "text_raw": raw + " \u200b\u200b\u200b",
            "region_name": f"发布于 {post.region}" if post.region else "",
            "edit_count": post.edits,
        }
        if whole and cut:
            content = self.world.visible(post.tokens, desktop=True)
            blog["longText"] = {"created_at": full_time(outline.time), "content": content}
        if not blog["topic_struct"]:
            del blog["topic_struct"]
        if not blog["url_struct"]:
            del blog["url_struct"]
        if post.pinned and not whole:
            blog |= {"isTop": 1, "title": {"text": "置顶"}}
        if post.quick:
            blog |= {"ori_mid": post.quick, "repost_type": 2}
        self._add_desktop_media(blog, post)
        if original and post.original >= 0:
            shown = self._original(post, self.desktop_post)
            shown["mblogid"] = shown.get("mblogid", shown.pop("bid", ""))
            blog["retweeted_status"] = shown
            if "page_info" in shown:  # the outer page repeats the original's (7.4)
                blog["page_info"] = shown["page_info"]
        return blog

    def _add_desktop_media(self, blog: Json, post: Post) -> None:
        if post.pictures and len(post.videos) < 2:
            infos = {picture.pid: self._desktop_picture(picture) for picture in post.pictures}
            if len(infos) > 4 and post.address % 7 == 2:
                infos.pop(post.pictures[3].pid)  # missing keys happen (8.1)
            blog["pic_infos"] = infos
        if len(post.videos) > 1:
            parts = self.world.mixture(post)
            blog["mix_media_info"] = {"items": [self._mixed(part) for part in parts]}
        if post.videos:
            blog["page_info"] = self._desktop_page(post, post.videos[0])
        elif post.article:
            blog["page_info"] = {
                "type": "24",
                "object_type": "article",
                "object_id": f"1022:{post.article}",
                "page_id": post.article,
                "page_title": f"{post.author.topic}手记",
                "page_pic": post.author.avatar.url,
            }
        elif post.live:
            blog["page_info"] = {
                "type": "11",
                "object_type": "live",
                "page_title": f"{post.author.name}的直播",
                "page_pic": post.author.avatar.url,
                "media_info": {"live_status": 1, "live_ld": "https://live.demo.example/a.m3u8"},
            }

    def _desktop_picture(self, picture: Picture) -> Json:
        def size(name: str, width: int, height: int) -> Json:
            return {
                "url": self._sized(picture, name),
                "width": width,
                "height": height,
                "type": None,
            }

        info: Json = {
            "thumbnail": size("wap180", 180, 240),
            "bmiddle": size("wap360", 360, 480),
            "large": size("orj960", 960, 1280),
            "original": size("orj1080", 1080, 1440),
            "largest": {
                "url": picture.url,
                "width": str(picture.width),
                "height": str(picture.height),
                "cut_type": 1,
                "type": None,
            },
            "mw2000": size("mw2000", 2000, 2000),
            "object_id": f"1042018:{digest('object', picture.pid).hex()}",
            "pic_id": picture.pid,
            "photo_tag": 0,
            "type": {"gif": "gif", "live": "livephoto"}.get(picture.kind, "pic"),
            "pic_status": 1,
        }
        if picture.clip:
            info["video"] = self.addresses.signed(clip_address(picture.clip))
        elif picture.kind == "gif":
            info["video"] = "https://g.us.sinaimg.cn/o0/demo.mp4?label=gif_mp4"
        return info

    def _mixed(self, part: Picture | Video) -> Json:
        if isinstance(part, Picture):
            kind = {"gif": "gif", "live": "livephoto"}.get(part.kind, "pic")
            return {"type": kind, "id": part.pid, "data": self._desktop_picture(part)}
        data = {
            "object_type": "video",
            "object_id": part.object_id,
            "page_pic": part.cover.url,
            "media_info": self._media_info(part),
        }
        return {"type": "video", "id": part.object_id, "data": data}

    def _desktop_page(self, post: Post, video: Video) -> Json:
        return {
            "type": "11",
            "object_type": "video",
            "object_id": video.object_id,
            "page_url": f"sinaweibo://video?fid={video.object_id}",
            "page_title": video.title,
            "page_pic": video.cover.url,
            "media_info": self._media_info(video),
        }

    def _media_info(self, video: Video) -> Json:
        found = self._labelled(video)
        info: Json = {
            "name": "微博视频",
            "mp4_720p_mp4": found.get("mp4_720p", ""),
            "mp4_hd_url": found["mp4_hd"],
            "mp4_sd_url": found["mp4_ld"],
            "stream_url_hd": found["mp4_hd"],
            "stream_url": found["mp4_ld"],
            "h265_mp4_hd": "",
            "duration": int(video.seconds),
            "online_users": f"{wan(video.views, cap=False)}次观看",
            "online_users_number": video.views,
        }
        if not video.listed:
            if "mp4_1080p" in found:
                info["mp4_1080p_mp4"] = found["mp4_1080p"]
            return info
        first = len(QUALITIES) - len(video.files)
        info["playback_list"] = [
            {
                "meta": {"label": label, "quality_index": index, "type": 1, "is_hidden": False},
                "play_info": {
                    "type": 1,
                    "mime": "video/mp4",
                    "url": found[label],
                    "width": width,
                    "height": height,
                    "duration": video.seconds,
                    "video_codecs": "avc1.640028",
                },
            }
            for label, index, width, height in reversed(QUALITIES[first:])
        ]
        strip = {"meta": {"label": "scrubber_hd", "quality_index": 4000, "type": 3}}
        strip["play_info"] = {"mime": "image/jpeg", "url": video.cover.url, "width": 1, "height": 1}
        info["playback_list"].insert(1, strip)
        return info

    # -- comments (5.7) -------------------------------------------------------------------------

    def mobile_comment(self, post: Post, comment: Comment, *, embed: bool) -> Json:
        """A comment of hotflow (with *embed* its first replies) or hotFlowChild."""
        root = self.world.comment_id(post, comment.root)
        view: Json = {
            "created_at": full_time(comment.time),
            "id": comment.cid,
            "rootid": root,
            "rootidstr": root if comment.reply else "",
            "floor_number": comment.root + 1,
            "text": self.mobile_html(comment.tokens),
            "disable_reply": 0,
            "user": self.mobile_user(comment.user),
            "mid": comment.cid,
            "bid": "",
            "readtimetype": "comment",
            "isLikedByMblogAuthor": comment.liked_by_author,
            "like_count": wan(comment.likes, cap=False) if comment.likes > 9999 else comment.likes,
            "liked": False,
        }
        if comment.region or comment.root % 2:
            view["source"] = f"来自{comment.region}" if comment.region else ""
        if comment.by_author:
            view["is_mblog_author"] = True
        if comment.picture is not None:
            picture = comment.picture
            view["pic"] = {
                "pid": picture.pid,
                "url": self._sized(picture, "orj360"),
                "size": "orj360",
                "geo": {"width": 360, "height": 480, "croped": False},
                "large": {
                    "size": "large",
                    "url": picture.url,
                    "geo": {"width": str(picture.width), "height": str(picture.height)},
                },
            }
        if not comment.reply:
            analysis = f"follow_type:0|author_uid:{post.author.uid}|mid:{post.mid}"
            view |= {"total_number": comment.replies, "max_id": 0, "analysis_extra": analysis}
            if embed:
                view["comments"] = self._embedded(post, comment, self.mobile_comment)
        return view

    def _embedded(self, post: Post, comment: Comment, view: Any) -> Any:
        shown = min(2, comment.replies)
        if not shown:
            return (False, None, [])[comment.root % 3]
        found = []
        for reply in range(1, shown + 1):
            one = view(post, self.world.comment(post, comment.root, reply), embed=False)
            one["id"] = int(one["id"])  # text at the top, numbers inside
            one["rootid"] = int(one["rootid"])
            found.append(one)
        return found

    def desktop_comment(self, post: Post, comment: Comment, *, embed: bool) -> Json:
        """A comment of buildComments."""
        root = self.world.comment_id(post, comment.root)
        text, raw = (
            self.desktop_html(comment.tokens),
            self.world.visible(comment.tokens, desktop=True),
        )
        view: Json = {
            "created_at": full_time(comment.time),
            "id": int(comment.cid),
            "idstr": comment.cid,
            "mid": comment.cid,
            "rootid": int(root),
            "rootidstr": root,
            "floor_number": comment.root + 1,
            "text": text,
            "text_raw": raw,
            "source": f"来自{comment.region}" if comment.region else "",
            "user": self.desktop_user(comment.user),
            "like_counts": comment.likes,
            "liked": False,
            "readtimetype": "comment",
            "item_category": "comment",
            "analysis_extra": f"author_uid:{post.author.uid}|mid:{post.mid}|ai_type:0",
            "isLikedByMblogAuthor": comment.liked_by_author,
            "is_mblog_author": comment.by_author,
        }
        if comment.picture is not None:
            self._add_desktop_picture(view, comment.picture)
        if comment.reply:
            answered = self.world.comment(post, comment.root, comment.target)
            view["reply_comment"] = {
                "id": int(answered.cid),
                "idstr": answered.cid,
                "created_at": full_time(answered.time),
                "text": self.world.visible(answered.tokens, desktop=True),
                "user": self.desktop_user(answered.user),
            }
            return view
        view |= {"total_number": comment.replies, "max_id": 0, "comments": []}
        if embed and comment.replies:
            view["comments"] = self._embedded(post, comment, self.desktop_comment)
            if comment.replies > 2:
                view["max_id"] = int(view["comments"][-1]["id"])
        return view

    def _add_desktop_picture(self, view: Json, picture: Picture) -> None:
        address = f"https://photo.weibo.com/h5/comment/compic_id/1022:{picture.pid}"
        short = short_address(address)
        jump = f"https://weibo.cn/sinaurl?u={quote(address, safe='')}"
        view["text"] += f' <a target="_blank" href="{jump}">查看图片</a>'
        view["text_raw"] += f" {short}"
        large = {"width": str(picture.width), "height": str(picture.height), "url": picture.url}
        infos = {picture.pid: {"large": large, "woriginal": large}}
        view["url_struct"] = [
            {
                "url_title": "查看图片",
                "short_url": short,
                "long_url": address,
                "ori_url": address,
                "url_type": 39,
                "pic_infos": infos,
                "pic_ids": [picture.pid],
                "pic_num": 1,
            }
        ]


# -- small things ---------------------------------------------------------------------------------


def full_time(seconds: int) -> str:
    """``Tue May 14 10:00:00 +0800 2024``."""
    local = datetime.fromtimestamp(seconds, BEIJING)
    month, day = _MONTHS[local.month - 1], _DAYS[local.weekday()]
    return f"{day} {month} {local.day:02} {local:%H:%M:%S} +0800 {local.year}"


def day_caption(seconds: int) -> str:
    """``05-14``, as originals that are gone show it."""
    return f"{datetime.fromtimestamp(seconds, BEIJING):%m-%d}"


def caption(seconds: int, now: int) -> str:
    """A time as the desktop search shows it (7.2): minutes, today, a day of this year, a date."""
    age = now - seconds
    local, today = (datetime.fromtimestamp(s, BEIJING) for s in (seconds, now))
    if age < 60:
        return f"{max(1, age)}秒前"
    if age < 3600:
        return f"{age // 60}分钟前"
    if local.date() == today.date():
        return f"今天{local:%H:%M}"
    if local.year == today.year:
        return f"{local:%m}月{local:%d}日 {local:%H:%M}"
    return f"{local.year}年{local:%m}月{local:%d}日 {local:%H:%M}"


def rounded(count: int) -> int | str:
    """Counts of the mobile site: exact below a million."""
    return "100万+" if count >= 1_000_000 else count
