"""Invented answers in the shapes of Bilibili's: every name, text and number is made up."""

from __future__ import annotations

import json
from typing import Any

AID = 170001
BVID = "BV17x411w7KC"
OTHER_AID = 55185686
OTHER_BVID = "BV1d4411N7zD"
MID = 3546000000000001
HEX = "0123456789abcdef0123456789abcdef"
FACE = "//i0.hdslb.com/bfs/face/" + HEX + "01234567.jpg"
PICTURE = f"http://i0.hdslb.com/bfs/new_dyn/{HEX}{MID}.jpg@672w_378h_1c.webp"
PICTURE_URL = f"https://i0.hdslb.com/bfs/new_dyn/{HEX}{MID}.jpg"
COVER = "//i1.hdslb.com/bfs/archive/" + HEX + "abcdef01.jpg"
COVER_URL = "https:" + COVER
OPUS_ID = "917092495452536836"
NEXT_OFFSET = '{"type":3,"direction":1,"Data":{"cursor":71859}}'


def ok(data: Any) -> dict[str, Any]:
    return {"code": 0, "message": "OK", "ttl": 1, "data": data}


def refused(code: int, message: str = "出错", data: Any = None) -> dict[str, Any]:
    return {"code": code, "message": message, "ttl": 1, "data": data}


# --- Search -------------------------------------------------------------------------------


def search_row(**changes: Any) -> dict[str, Any]:
    return {
        "type": "video",
        "id": AID,
        "aid": AID,
        "bvid": BVID,
        "mid": MID,
        "author": "山里的猫",
        "upic": "https:" + FACE,
        "title": '第一次<em class="keyword">露营</em> &amp; 看星星',
        "description": "带了&quot;太多&quot;东西\n下次少带",
        "pic": COVER,
        "play": 12000,
        "video_review": 34,
        "favorites": 56,
        "review": 78,
        "like": 90,
        "tag": "露营,户外,,露营, 星空",
        "tags": "",
        "typeid": "21",
        "typename": "日常",
        "pubdate": 1760000000,
        "senddate": 1769999999,
        "duration": "48:8",
        "is_pay": 0,
        "is_charge_video": 0,
        **changes,
    }


def course_row() -> dict[str, Any]:
    return search_row(
        type="ketang", aid=789, id=789, bvid="", duration="", pubdate=0, hit_columns=None
    )


def search_page(rows: Any, page: int = 1, pages: int = 50, results: int = 1000) -> dict[str, Any]:
    data = {"page": page, "pagesize": 20, "numResults": results, "numPages": pages, "result": rows}
    return ok(data)


def user_row(**changes: Any) -> dict[str, Any]:
    return {
        "type": "bili_user",
        "mid": MID,
        "uname": "山里的猫",
        "usign": "爬山 &amp; 露营",
        "fans": 1234,
        "videos": 56,
        "upic": FACE,
        "level": 5,
        "gender": 2,
        "room_id": 77,
        "res": [],
        "official_verify": {"type": 0, "desc": "户外 UP主"},
        **changes,
    }


# --- Videos -------------------------------------------------------------------------------


def view(**changes: Any) -> dict[str, Any]:
    return {
        "bvid": BVID,
        "aid": AID,
        "videos": 2,
        "tid": 21,
        "tid_v2": 2063,
        "tname": "",
        "tname_v2": "",
        "copyright": 1,
        "pic": "http:" + COVER,
        "title": "雨夜露营 <1>",
        "pubdate": 1760000000,
        "ctime": 1759990000,
        "desc": "设备 & 清单;\n见评论 @山下的狗",
        "desc_v2": [
            {"raw_text": "设备 & 清单;\n见评论 ", "type": 1, "biz_id": 0},
            {"raw_text": "山下的狗", "type": 2, "biz_id": 42},
        ],
        "duration": 660,
        "rights": {"is_cooperation": 1, "ugc_pay": 0, "arc_pay": 0},
        "owner": {"mid": MID, "name": "山里的猫", "face": "http:" + FACE},
        "stat": {
            "view": 12000,
            "danmaku": 34,
            "reply": 78,
            "favorite": 56,
            "coin": 12,
            "share": 9,
            "like": 90,
        },
        "argue_info": {"argue_msg": "作者声明：虚构"},
        "cid": 301,
        "dimension": {"width": 1920, "height": 1080, "rotate": 0},
        "pages": [
            {
                "cid": 301,
                "page": 1,
                "part": "上",
                "duration": 600,
                "dimension": {"width": 1920, "height": 1080, "rotate": 0},
            },
            {
                "cid": 302,
                "page": 2,
                "part": "下",
                "duration": 60,
                "dimension": {"width": 1920, "height": 1080, "rotate": 1},
            },
        ],
        "staff": [
            {"mid": MID, "title": "UP主", "name": "山里的猫"},
            {"mid": 43, "title": "剪辑", "name": "河边的鸟"},
        ],
        "ugc_season": {"id": 555, "title": "露营"},
        "is_upower_exclusive": False,
        **changes,
    }


TAGS = [
    {"tag_id": 1, "tag_name": "露营", "tag_type": "old_channel"},
    {"tag_id": 2, "tag_name": "雨夜", "tag_type": "topic"},
    {"tag_id": 3, "tag_name": "发现《雨声》", "tag_type": "bgm"},
]


def video_html(state: dict[str, Any]) -> str:
    return (
        "<!DOCTYPE html><html><head><title>雨夜露营_哔哩哔哩</title></head><body>"
        '<script>window.__playinfo__={"code":0}</script>'
        f"<script>window.__INITIAL_STATE__={json.dumps(state, ensure_ascii=False)};"
        "(function(){var s;}());</script></body></html>"
    )


# --- Lists of a creator -------------------------------------------------------------------


def arc_row(**changes: Any) -> dict[str, Any]:
    return {
        "aid": AID,
        "bvid": BVID,
        "title": "雨夜露营",
        "description": "-",
        "pic": COVER,
        "created": 1760000000,
        "length": "1:02:03",
        "play": "--",
        "comment": 78,
        "video_review": 34,
        "author": "山里的猫",
        "mid": MID,
        "copyright": "1",
        "is_union_video": 0,
        "is_lesson_video": 0,
        "is_charging_arc": False,
        "season_id": 0,
        **changes,
    }


def arc_page(rows: Any, pn: int = 1, ps: int = 30, total: int = 61) -> dict[str, Any]:
    return ok(
        {"list": {"tlist": None, "vlist": rows}, "page": {"pn": pn, "ps": ps, "count": total}}
    )


def dynamic(
    id_str: Any = OPUS_ID,
    kind: str = "DRAW",
    *,
    desc: Any = None,
    major: Any = None,
    **changes: Any,
) -> dict[str, Any]:
    return {
        "id_str": id_str,
        "type": f"DYNAMIC_TYPE_{kind}",
        "visible": True,
        "basic": {"comment_id_str": "312848844", "comment_type": 11, "rid_str": "312848844"},
        "modules": {
            "module_author": {
                "mid": MID,
                "name": " 山里的猫 ",
                "face": FACE,
                "pub_ts": "1760000000",
                "pub_time": "3天前",
                "pub_location_text": "发布于 浙江",
            },
            "module_dynamic": {"desc": desc, "major": major, "topic": None, "additional": None},
            "module_stat": {
                "like": {"count": 90},
                "comment": {"count": 78},
                "forward": {"count": 9},
            },
        },
        **changes,
    }


def nodes(*pairs: tuple[str, str]) -> list[dict[str, str]]:
    return [
        {"type": f"RICH_TEXT_NODE_TYPE_{kind}", "text": words, "orig_text": words}
        for kind, words in pairs
    ]


def feed(items: Any, *, has_more: bool = True, offset: Any = "100") -> dict[str, Any]:
    return ok({"has_more": has_more, "items": items, "offset": offset, "update_num": 0})


def words(text: str) -> dict[str, Any]:
    return {"type": "TEXT_NODE_TYPE_WORD", "word": {"words": text, "font_size": 17}}


def opus(paragraphs: Any, *, comment_type: int = 12, top: Any = None) -> dict[str, Any]:
    modules = [
        {"module_type": "MODULE_TYPE_TITLE", "module_title": {"text": "露营清单"}},
        {
            "module_type": "MODULE_TYPE_AUTHOR",
            "module_author": {"mid": MID, "name": "山里的猫", "face": FACE, "pub_ts": 1760000000},
        },
        {"module_type": "MODULE_TYPE_CONTENT", "module_content": {"paragraphs": paragraphs}},
        {
            "module_type": "MODULE_TYPE_EXTEND",
            "module_extend": {"items": [{"text": "户外"}, {"text": "清单"}]},
        },
        {
            "module_type": "MODULE_TYPE_STAT",
            "module_stat": {
                "like": {"count": 17},
                "comment": {"count": 3},
                "forward": {"count": 0},
                "favorite": {"count": 4},
                "coin": {"count": 1},
            },
        },
    ]
    if top is not None:
        album = {"display": {"album": {"pics": top}}}
        modules.append({"module_type": "MODULE_TYPE_TOP", "module_top": album})
    basic = {
        "comment_id_str": "34646640",
        "comment_type": comment_type,
        "title": "露营清单 - 哔哩哔哩",
    }
    return ok({"item": {"id_str": OPUS_ID, "basic": basic, "modules": modules, "type": 1}})


# --- Creators -----------------------------------------------------------------------------


def card(**changes: Any) -> dict[str, Any]:
    inner = {
        "mid": str(MID),
        "name": "山里的猫",
        "sex": "女",
        "rank": "10000",
        "face": FACE,
        "sign": "爬山",
        "fans": 999,
        "friend": 12,
        "attention": 12,
        "level_info": {"current_level": 5},
        "Official": {"role": 1, "title": "知名户外UP主", "desc": "", "type": 0},
        "spacesta": 0,
        "vip": {"status": 1},
        **changes,
    }
    return ok(
        {
            "card": inner,
            "following": False,
            "archive_count": 56,
            "article_count": 0,
            "follower": 1000,
            "like_num": 5000,
        }
    )


def acc_info(**changes: Any) -> dict[str, Any]:
    return ok(
        {
            "mid": MID,
            "name": "山里的猫",
            "sex": "保密",
            "face": FACE,
            "sign": "",
            "level": 5,
            "silence": 0,
            "official": {"role": 0, "title": "", "desc": "", "type": -1},
            "live_room": {"roomid": 77},
            **changes,
        }
    )


# --- Comments -----------------------------------------------------------------------------


def comment(rpid: int, *, root: int = 0, parent: int = 0, **changes: Any) -> dict[str, Any]:
    mid = changes.pop("mid", 1000 + rpid)
    return {
        "rpid": rpid,
        "rpid_str": str(rpid),
        "oid": AID,
        "type": 1,
        "mid": mid,
        "root": root,
        "root_str": str(root),
        "parent": parent,
        "parent_str": str(parent),
        "dialog": 0,
        "count": 0,
        "rcount": 0,
        "ctime": 1760000000 + rpid,
        "like": 3,
        "member": {
            "mid": str(mid),
            "uname": f"网友{mid}",
            "sex": "保密",
            "avatar": FACE,
            "level_info": {"current_level": 4},
        },
        "content": {"message": f"评论 <{rpid}> [笑哭]", "members": [], "jump_url": {}},
        "replies": None,
        "reply_control": {"time_desc": "3天前发布", "location": "IP属地：河北"},
        "up_action": {"like": False, "reply": False},
        **changes,
    }


def comment_page(
    rows: Any,
    *,
    top: Any = None,
    next_offset: str | None = NEXT_OFFSET,
    is_end: bool = False,
    total: int = 86,
    begin: bool = True,
) -> dict[str, Any]:
    cursor = {
        "is_begin": begin,
        "is_end": is_end,
        "all_count": total,
        "next": 2,
        "mode": 2,
        "pagination_reply": {"next_offset": next_offset} if next_offset else {},
    }
    return ok(
        {
            "cursor": cursor,
            "replies": rows,
            "top": {"admin": None, "upper": top, "vote": None},
            "top_replies": [top] if top else None,
            "upper": {"mid": MID},
            "cm": {"title": "广告"},
        }
    )


def reply_page(rows: Any, *, num: int = 1, count: int = 45, **changes: Any) -> dict[str, Any]:
    return ok(
        {
            "page": {"num": num, "size": 20, "count": count},
            "replies": rows,
            "root": comment(1, rcount=count, mid=MID),
            "upper": {"mid": MID},
            **changes,
        }
    )


# --- Files --------------------------------------------------------------------------------


def stream(quality: int, codecid: int = 7, bandwidth: int = 1000, **changes: Any) -> dict[str, Any]:
    query = f"?deadline=1760007200&oi=2130706433&mid=8&upsig={quality}"
    return {
        "id": quality,
        "baseUrl": f"https://xy1x2x3x4xy.mcdn.bilivideo.cn:4483/up/{quality}-{codecid}.m4s{query}",
        "backupUrl": [f"http://upos-sz-mirrorcos.bilivideo.com/up/{quality}-{codecid}.m4s{query}"],
        "bandwidth": bandwidth,
        "codecid": codecid,
        "width": 1920,
        "height": 1080,
        **changes,
    }


def dash(video: Any, audio: Any, **changes: Any) -> dict[str, Any]:
    return ok(
        {
            "quality": 80,
            "timelength": 60500,
            "accept_quality": [120, 80, 64],
            "dash": {"duration": 61, "video": video, "audio": audio, **changes},
        }
    )


NAV = refused(
    -101,
    "账号未登录",
    {
        "isLogin": False,
        "wbi_img": {
            "img_url": "https://i0.hdslb.com/bfs/wbi/7cd084941338484aae1ad9425b84077c.png",
            "sub_url": "https://i0.hdslb.com/bfs/wbi/4932caff0ff746eab6f01bf08b70ac45.png",
        },
    },
)
