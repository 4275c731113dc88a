"""Invented answers of XHS in the shapes of docs/platforms/xhs.md, section 5."""

import copy
import json
import re

NOTE = "65f1a2b3000000000a0b0c0d"
OTHER_NOTE = "65f1a2b40000000012345678"
AUTHOR = "5c0d1e2f3a4b5c6d7e8f9a0b"
READER = "60a1b2c3000000000102030a"
TOKEN = "ABx7Yk2_pQ-r8sT1uVwXyZ0aBcDeFgHiJkLmNoPqRsTuV="
SIGNED = "http://sns-webpic-qc.xhscdn.com/202603140915/0123456789abcdef0123456789abcdef"


def answer(data, code=0):
    return {"code": code, "success": True, "msg": "成功", "data": data}


def user(user_id=AUTHOR, name="青苔"):
    return {
        "user_id": user_id,
        "nickname": name,
        "avatar": f"https://sns-avatar-qc.xhscdn.com/avatar/{name}?imageView2/2/w/80/format/jpg",
    }


def image(token="notes_pre_post/1040gaaa", **more):
    return {
        "width": 1242,
        "height": 1660,
        "url": "",
        "url_default": f"{SIGNED}/{token}!nd_dft_wlteh_webp_3",
        "url_pre": f"{SIGNED}/{token}!nd_prv_wlteh_webp_3",
        "stream": {},
        "live_photo": False,
        **more,
    }


def stream(name, width=1280, height=720, **more):
    return {
        "stream_desc": "X265_MP4_WEB_114",
        "width": width,
        "height": height,
        "duration": 24386,
        "avg_bitrate": 1_000_000,
        "master_url": f"http://sns-video-ak.xhscdn.com/{name}.mp4?sign=00&t=67000000",
        "backup_urls": [f"http://sns-bak-v1.xhscdn.com/{name}.mp4"],
        **more,
    }


def card(**more):
    return {
        "type": "normal",
        "display_title": "阳台上的小番茄 ",
        "user": user(),
        "interact_info": {"liked": False, "liked_count": "1.2万"},
        "cover": image(),
        **more,
    }


def search_item(note_id=NOTE, **more):
    return {"id": note_id, "model_type": "note", "xsec_token": TOKEN, "note_card": card(**more)}


def suggestion():
    return {
        "id": "0a1b2c3d-50e1-518e-de3b-c2fdc9461362#1726655281500",
        "model_type": "rec_query",
        "xsec_token": TOKEN + "useless",
        "rec_query": {"title": "相关搜索", "queries": [{"id": "番茄0", "name": "番茄0"}]},
    }


def note(**more):
    return {
        "note_id": NOTE,
        "type": "normal",
        "title": "阳台上的小番茄",
        "desc": "第一颗红了[派对R]\n浇水 2 次/天 @山间来信 #阳台种菜[话题]# #小番茄[话题]#\t",
        "time": 1773457824000,
        "last_update_time": 1773544225000,
        "ip_location": "浙江",
        "user": user(),
        "at_user_list": [{"user_id": READER, "nickname": "山间来信"}],
        "tag_list": [
            {"id": "1", "name": "阳台种菜", "type": "topic"},
            {"id": "2", "name": "小番茄", "type": "topic"},
            {"id": "1", "name": "阳台种菜", "type": "topic"},
            {"id": "3", "name": "某园艺店", "type": "brand"},
        ],
        "interact_info": {
            "liked_count": "1.2万",
            "collected_count": "987",
            "comment_count": "305",
            "share_count": "",
        },
        "image_list": [image("notes_pre_post/1040gaaa"), image("1040gbbb")],
        **more,
    }


def video(**more):
    return {
        "capa": {"duration": 23},
        "media": {
            "video_id": 137000077743227517,
            "video": {"duration": 25},
            "stream": {"h264": [stream("a", video_codec="h264")], "h265": [], "av1": None},
        },
        **more,
    }


def feed(note_card, **item):
    return answer({"items": [{"id": NOTE, "model_type": "note", "note_card": note_card, **item}]})


def profile():
    return {
        "basic_info": {
            "nickname": "青苔",
            "desc": "种菜和看云\n一天一次",
            "images": "https://sns-avatar-qc.xhscdn.com/avatar/q?imageView2/2/w/360/format/webp",
            "imageb": "https://sns-avatar-qc.xhscdn.com/avatar/q?imageView2/2/w/540/format/webp",
            "gender": 1,
            "ip_location": "",
            "red_id": "1234567890",
        },
        "interactions": [
            {"type": "fans", "name": "粉丝", "count": "3.9万"},
            {"type": "interaction", "name": "获赞与收藏", "count": "10万+"},
            {"type": "follows", "name": "关注", "count": "12"},
        ],
        "tags": [{"tag_type": "info", "icon": "x"}, {"tag_type": "location", "name": "浙江杭州"}],
        "tab_public": {"collection": True},
        "result": {"success": True, "code": 0, "message": "success"},
    }


def found_user(user_id=AUTHOR):
    return {
        "id": user_id,
        "name": "青苔",
        "image": "https://sns-avatar-qc.xhscdn.com/avatar/q?imageView2/2/w/360/format/webp",
        "red_id": "1234567890",
        "fans": "3.9万",
        "note_count": 96,
        "xsec_token": TOKEN,
        "red_official_verified": False,
    }


def comment(comment_id="65f2000000000000aaaa0001", **more):
    return {
        "id": comment_id,
        "note_id": NOTE,
        "content": "好漂亮 #小番茄[话题]#",
        "status": 0,
        "create_time": 1773460000000,
        "like_count": "17",
        "ip_location": "四川",
        "at_users": [],
        "show_tags": [],
        "user_info": {"user_id": READER, "nickname": "山间来信", "image": "https://a.example/r"},
        "sub_comment_count": "3",
        "sub_comment_cursor": "65f2000000000000aaaa0002",
        "sub_comment_has_more": True,
        "sub_comments": [reply()],
        **more,
    }


def reply(comment_id="65f2000000000000aaaa0002", target="65f2000000000000aaaa0001", **more):
    return {
        "id": comment_id,
        "note_id": NOTE,
        "content": "谢谢",
        "status": 0,
        "create_time": 1773460100000,
        "like_count": "0",
        "at_users": None,
        "show_tags": ["is_author"],
        "user_info": {"user_id": AUTHOR, "nickname": "青苔", "image": "https://a.example/q"},
        "target_comment": {"id": target, "user_info": {"user_id": READER, "nickname": "山间来信"}},
        **more,
    }


def comment_page(*comments, has_more=True):
    return answer(
        {"comments": list(comments), "cursor": "65f2000000000000aaaa0001", "has_more": has_more}
    )


UNDEFINED = "@undefined@"


def camel(value):
    """The same value as an HTML page spells it."""
    if isinstance(value, list):
        return [camel(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        re.sub("_([a-z])", lambda letter: letter[1].upper(), key): camel(one)
        for key, one in value.items()
    }


def page(state, name="__INITIAL_STATE__", text=""):
    """An HTML page that was rendered from *state*, showing *text* to people."""
    literal = json.dumps(state, ensure_ascii=False).replace("/", "\\u002F")
    literal = literal.replace(f'"{UNDEFINED}"', "undefined")
    return (
        f'<!doctype html><html><head><title>x</title></head><body><div id="app">{text}</div>'
        f"<script>window.__SSR__=true</script><script>window.{name}={literal}</script>"
        "<script>(function () { console.log(undefined) })()</script></body></html>"
    )


def note_page(note_card, note_id=NOTE, logged_in=True, **note_store):
    store = {
        "noteDetailMap": {note_id: {"comments": {"list": []}, "note": camel(note_card)}},
        "currentNoteId": UNDEFINED,
        "serverRequestInfo": {"state": "success", "errorCode": 0, "errMsg": ""},
        **note_store,
    }
    return page({"user": {"loggedIn": logged_in, "userInfo": {}}, "note": store})


def profile_page(data, cards=(), **user_store):
    return page(
        {
            "user": {
                "loggedIn": True,
                "userInfo": {"user_id": READER, "userId": READER, "nickname": "看的人"},
                "userPageData": camel(data),
                "notes": [camel(list(cards)), [], []],
                "noteQueries": [{"userId": AUTHOR, "cursor": "65f1", "hasMore": True}],
                "bannedInfo": {"serverBanned": False, "code": 0},
                **user_store,
            }
        }
    )


def damaged(value):
    """*value* again and again, each time with one part of it missing or of a wrong type."""
    value = copy.deepcopy(value)
    for container, key in list(_places(value)):
        kept = container[key]
        for junk in (None, {}, [], "", 0, -1, "x", True, float("inf")):
            container[key] = junk
            yield value
        if isinstance(container, dict):
            del container[key]
            yield value
        container[key] = kept


def _places(value):
    parts = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in parts:
        yield value, key
        if isinstance(part, (dict, list)):
            yield from _places(part)
