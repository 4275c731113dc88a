"""Invented Zhihu records, as the web API writes them; each test changes what it is about."""

from __future__ import annotations

import json
from typing import Any

MEMBER = "3f0a51c27be94d8896e1d20b7c45fa63"
READER = "a9c2e4f6081b3d5f7091a2b3c4d5e6f7"
QUESTION = "2011000000000000101"
ANSWER = "2011000000000000201"
ARTICLE = "2011000000000000301"
PIN = "2011000000000000401"
ZVIDEO = "2011000000000000501"
ROOT = "12000000001"

PHOTO = "v2-0123456789abcdef0123456789abcdef"
PHOTO_2 = "v2-fedcba9876543210fedcba9876543210"

CREATED = 1_750_000_000  # 2025-06-15T15:06:40Z
UPDATED = 1_750_003_600


def author(**changes: Any) -> dict[str, Any]:
    return {
        "id": MEMBER,
        "url_token": "deng-ta-kan-shou",
        "name": "灯塔看守",
        "avatar_url": "https://picx.zhimg.com/v2-aaaaaaaabbbbbbbbccccccccdddddddd_l.jpg",
        "is_org": False,
        "type": "people",
        "user_type": "people",
        "headline": "看海",
        "gender": 1,
        **changes,
    }


def question_part(**changes: Any) -> dict[str, Any]:
    return {
        "id": QUESTION,
        "type": "question",
        "title": "海边的风有多大？",
        "created": CREATED - 9000,
        "updated_time": CREATED - 9000,
        "topics": [{"id": "1", "name": "海洋", "type": "topic"}, {"id": "2", "name": "风"}],
        **changes,
    }


def answer(**changes: Any) -> dict[str, Any]:
    return {
        "id": ANSWER,
        "type": "answer",
        "answer_type": "normal",
        "question": question_part(),
        "author": author(),
        "content": "<p>冬天最大。</p><p>夏天小。</p>",
        "excerpt": "冬天最大。 夏天小。",
        "created_time": CREATED,
        "updated_time": UPDATED,
        "voteup_count": 12,
        "comment_count": 3,
        "thanks_count": 2,
        "ip_info": "IP 属地浙江",
        "reaction": {"statistics": {"favorites": 7, "share_count": 0, "pv_count": 0}},
        "paid_info": {"type": "", "content": "", "has_purchased": False},
        "content_need_truncated": False,
        "is_collapsed": False,
        **changes,
    }


def article(**changes: Any) -> dict[str, Any]:
    return {
        "id": ARTICLE,
        "type": "article",
        "title": "灯塔的一天",
        "content": "<p>早上擦玻璃。</p>",
        "created": CREATED,
        "updated": CREATED,
        "voteup_count": 5,
        "comment_count": 0,
        "favlists_count": 9,
        "author": author(),
        "topics": [{"id": "3", "name": "灯塔"}],
        "column": {"id": "c_55", "title": "海上来信"},
        "image_url": "",
        "title_image": f"https://pic1.zhimg.com/{PHOTO_2}_720w.jpg",
        **changes,
    }


def pin(**changes: Any) -> dict[str, Any]:
    return {
        "id": PIN,
        "type": "pin",
        "url": f"/pins/{PIN}",
        "created": CREATED,
        "updated": CREATED,
        "is_deleted": False,
        "content": [{"type": "text", "title": "", "content": "今天有雾<br>很大"}],
        "content_html": "今天有雾<br>很大",
        "like_count": 0,
        "reaction_count": 4,
        "comment_count": 1,
        "repin_count": 2,
        "favlists_count": 6,
        "page_view_count": None,
        "origin_pin": None,
        "source_pin_id": 0,
        "tags": ["#雾天#"],
        "topics": None,
        "author": author(),
        **changes,
    }


def image_block(token: str = PHOTO, **changes: Any) -> dict[str, Any]:
    return {
        "type": "image",
        "url": f"https://pic2.zhimg.com/100/{token}_720w.jpg",
        "original_url": f"https://pic2.zhimg.com/100/{token}_1440w.jpg",
        "width": 1600,
        "height": 1200,
        "is_gif": False,
        **changes,
    }


def playlist() -> dict[str, Any]:
    """Not in the order of quality, one without an address."""
    return {
        "ld": {"play_url": "https://vdn.vzuu.com/LD/1.mp4?pkey=a", "width": 640, "height": 360},
        "hd": {
            "play_url": "https://vdn.vzuu.com/HD/1.mp4?pkey=a",
            "width": 1280,
            "height": 720,
            "bitrate": 1500,
        },
        "fhd": {"play_url": "", "width": 1920, "height": 1080},
        "sd": {"url": "https://vdn.vzuu.com/SD/1.mp4", "width": 854, "height": 480},
    }


def zvideo(**changes: Any) -> dict[str, Any]:
    return {
        "id": ZVIDEO,
        "type": "zvideo",
        "title": "灯塔开灯",
        "description": "每天傍晚。",
        "image_url": f"https://pic1.zhimg.com/{PHOTO}_r.jpg",
        "published_at": CREATED,
        "created_at": CREATED - 60,
        "updated_at": CREATED,
        "author": author(),
        "voteup_count": 8,
        "comment_count": 2,
        "play_count": 300,
        "favorite_count": 1,
        "topics": [],
        "video": {
            "video_id": "2011000000000000599",
            "duration": 61.5,
            "thumbnail": f"https://pic1.zhimg.com/{PHOTO}_b.jpg",
            "playlist": playlist(),
        },
        **changes,
    }


def question(**changes: Any) -> dict[str, Any]:
    return {
        **question_part(),
        "detail": "<p>想住<b>海边</b>。</p>",
        "excerpt": "想住海边。",
        "author": author(),
        "answer_count": 40,
        "follower_count": 11,
        "visit_count": 1000,
        "comment_count": 2,
        **changes,
    }


def member(**changes: Any) -> dict[str, Any]:
    return {
        **author(),
        "description": "看海。<br>也看书。",
        "ip_info": "IP 属地浙江",
        "follower_count": 100,
        "following_count": 5,
        "voteup_count": 900,
        "answer_count": 10,
        "articles_count": 2,
        "zvideo_count": 1,
        "pins_count": 7,
        "question_count": 0,
        "badge": [],
        "badge_v2": {"title": "", "merged_badges": None, "detail_badges": None},
        "account_status": [],
        "is_privacy_protected": False,
        "is_realname": True,
        **changes,
    }


def comment(comment_id: str = ROOT, **changes: Any) -> dict[str, Any]:
    return {
        "id": comment_id,
        "type": "comment",
        "resource_type": "answer",
        "content": "<p>说得好</p>",
        "created_time": CREATED + 60,
        "is_delete": False,
        "hot": False,
        "top": False,
        "reply_comment_id": "0",
        "reply_root_comment_id": comment_id,
        "like_count": 3,
        "dislike_count": 0,
        "is_author": False,
        "author": author(id=READER, url_token="lu-guo", name="路过的人"),
        "author_tag": [],
        "comment_tag": [{"type": "ip_info", "text": "IP 属地福建"}],
        "child_comment_count": 0,
        "child_comment_next_offset": None,
        "child_comments": [],
        **changes,
    }


def reply(comment_id: str, *, to: str = ROOT, **changes: Any) -> dict[str, Any]:
    return comment(
        comment_id,
        **{
            "reply_comment_id": to,
            "reply_root_comment_id": ROOT,
            "reply_to_author": author(),
            **changes,
        },
    )


def page(records: list[Any] | None, following: str = "", **paging: Any) -> dict[str, Any]:
    """A page of a list; without *following* the last one."""
    return {"data": records, "paging": {"is_end": not following, "next": following, **paging}}


def entry(record: dict[str, Any] | None, index: int, **changes: Any) -> dict[str, Any]:
    return {"type": "search_result", "index": index, "object": record, **changes}


def html_page(entities: dict[str, Any], *, logged: bool = True, text: str = "") -> str:
    """A page with js-initialData, as the site escapes it."""
    data = {"initialState": {"entities": entities, "env": {"logged": logged}}, "subAppName": "main"}
    source = json.dumps(data, ensure_ascii=False).replace("<", "\\u003C").replace("/", "\\u002F")
    return (
        f'<!doctype html><html lang="zh"><head><title>知乎</title></head><body>{text}'
        f'<script id="js-initialData" type="text/json">{source}</script></body></html>'
    )


CHALLENGE = (
    '<!doctype html><html><head><meta id="zh-zse-ck" content="abc"/></head><body>'
    '<script src="https://static.zhihu.com/zse-ck/v4/0f.js"></script></body></html>'
)
MISSING = "<!doctype html><html><body><p>你似乎来到了没有知识存在的荒原</p></body></html>"
