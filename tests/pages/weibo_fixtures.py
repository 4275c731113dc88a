"""Invented answers in the shapes of docs/platforms/weibo.md, section 5."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

NOW = datetime(2024, 5, 14, 4, 0, tzinfo=timezone.utc)  # noon in Shanghai

MID, BID = "5033901917642310", "OedWvw474"  # 2024-05-14 12:00:05 in Shanghai
UID = "5550001112"
OTHER_MID = "5033859745171454"
PID = "006R0hNBgy1grk0zbm5uqj31hc0u0b29"  # by its own account 1920 x 1080
GIF_PID = "007jsP9Dly1gmlofzcgoug306n06nae0"  # 239 x 239

MOBILE_TEXT = (
    '<a href="https://m.weibo.cn/search?containerid=231522type%3D1%26q%3D%23tea%23" data-hide="">'
    '<span class="surl-text">#山间茶会#</span></a> 雨后 &amp; 新芽<br />'
    '<span class="url-icon"><img alt=[茶] src="https://h5.sinaimg.cn/x.png" /></span>'
    "与<a href='/n/溪边人'>@溪边人</a> 同去 "
    '<a data-url="http://t.cn/A6tea001" href="https://weibo.cn/sinaurl?u=https%3A%2F%2Ftea.example%2Fa%3Fb%3D1">'
    "<span class='url-icon'><img src='https://h5.sinaimg.cn/timeline_card_small_web_default.png'>"
    '</span><span class="surl-text">网页链接</span></a>\u200b'
)
PLAIN_TEXT = "#山间茶会# 雨后 & 新芽\n[茶]与@溪边人 同去 网页链接"


def user(uid: str = UID, name: str = "山间茶馆", **more: Any) -> dict[str, Any]:
    """A user as posts and comments carry it."""
    return {
        "id": int(uid),
        "screen_name": name,
        "profile_image_url": "//tvax1.sinaimg.cn/crop.0.0.10.10.180/small.jpg",
        "avatar_hd": "https://wx1.sinaimg.cn/orj480/big.jpg",
        "gender": "m",
        **more,
    }


def mobile_picture(pid: str = PID, **more: Any) -> dict[str, Any]:
    """An entry of `pics`."""
    suffix = "gif" if pid[21] == "g" else "jpg"
    return {
        "pid": pid,
        "url": f"https://wx1.sinaimg.cn/orj360/{pid}.{suffix}",
        "large": {
            "url": f"https://wx1.sinaimg.cn/large/{pid}.{suffix}",
            "geo": {"width": "1920", "height": 1080},
        },
        **more,
    }


def mblog(mid: str = MID, **more: Any) -> dict[str, Any]:
    """A post of the mobile site."""
    return {
        "id": mid,
        "mid": mid,
        "bid": BID if mid == MID else "",
        "created_at": "Tue May 14 12:00:05 +0800 2024",
        "text": MOBILE_TEXT,
        "isLongText": False,
        "source": "<a href='x'>茶色手机</a>",
        "region_name": "发布于 云南",
        "user": user(),
        "pic_ids": [],
        "pic_num": 0,
        "reposts_count": 3,
        "comments_count": "1.2万",
        "attitudes_count": "100万+",
        **more,
    }


VIDEO_PAGE = {
    "type": "video",
    "object_type": 11,
    "object_id": "1034:5033900000000001",
    "page_title": "山间茶馆的微博视频",
    "title": "采茶的一天",
    "play_count": "87万次播放",
    "page_pic": {"url": f"https://wx4.sinaimg.cn/crop.0.0.960.533/{PID}.jpg"},
    "media_info": {
        "stream_url": "https://f.video.weibocdn.com/o0/low.mp4?label=mp4_ld",
        "stream_url_hd": "https://f.video.weibocdn.com/o0/mid.mp4?label=mp4_hd",
        "duration": 61.5,
    },
    "urls": {
        "mp4_720p_mp4": "//f.video.weibocdn.com/o0/best.mp4?template=1280x720.25.0&Expires=1",
        "mp4_ld_mp4": "https://f.video.weibocdn.com/o0/low.mp4",
        "hevc_mp4_hd": "https://f.video.weibocdn.com/o0/hevc.mp4",
    },
}


def desktop_picture(pid: str = PID, **more: Any) -> dict[str, Any]:
    """An entry of `pic_infos`."""
    suffix = "gif" if pid[21] == "g" else "jpg"
    return {
        "thumbnail": {"url": f"https://wx1.sinaimg.cn/wap180/{pid}.{suffix}", "width": 1},
        "largest": {
            "url": f"https://wx1.sinaimg.cn/large/{pid}.{suffix}",
            "width": "1920",
            "height": "1080",
        },
        "type": "pic",
        **more,
    }


def desktop_post(mid: str = MID, **more: Any) -> dict[str, Any]:
    """A post of the desktop site; with ``ok`` it is the answer of statuses/show."""
    return {
        "ok": 1,
        "id": int(mid),
        "idstr": mid,
        "mid": mid,
        "mblogid": BID if mid == MID else "",
        "created_at": "Tue May 14 12:00:05 +0800 2024",
        "text": '<a href="//s.weibo.com/weibo?q=x">#山间茶会#</a> 雨后 &lt;新芽&gt;<br />两行',
        "text_raw": "#山间茶会# 雨后 <新芽>\n两行 \u200b\u200b",
        "isLongText": False,
        "source": "微博网页版",
        "region_name": "发布于 云南",
        "user": user(idstr=UID),
        "pic_ids": [],
        "pic_num": 0,
        "topic_struct": [{"title": "", "topic_title": "山间茶会"}],
        "reposts_count": 3,
        "comments_count": 12,
        "attitudes_count": 40,
        "is_show_bulletin": 2,
        **more,
    }


def playback(quality: int, mime: str = "video/mp4", **more: Any) -> dict[str, Any]:
    """An entry of `playback_list`."""
    return {
        "meta": {"quality_index": quality},
        "play_info": {
            "mime": mime,
            "url": f"https://f.video.weibocdn.com/o0/{quality}.mp4?Expires=1",
            "width": quality * 16 // 9,
            "height": quality,
            "duration": 61.5,
            **more,
        },
    }


def gone_original(text: str = "抱歉，此微博已被作者删除。") -> dict[str, Any]:
    """A retweeted post that is not there any more."""
    return {"id": OTHER_MID, "mid": OTHER_MID, "text": text, "user": None, "created_at": "05-14"}


def mobile_list(*cards: Any, **info: Any) -> dict[str, Any]:
    """A getIndex answer."""
    return {"ok": 1, "data": {"cardlistInfo": {"total": 166, **info}, "cards": list(cards)}}


def card(blog: Any, **more: Any) -> dict[str, Any]:
    """A card with a post."""
    return {"card_type": 9, "scheme": "https://m.weibo.cn/status/x", "mblog": blog, **more}


NOTHING = {"ok": 0, "msg": "这里还没有内容", "data": {"cards": []}}


def mobile_comment(cid: str = "5033904666677156", **more: Any) -> dict[str, Any]:
    """A comment of hotflow."""
    return {
        "id": cid,
        "rootid": cid,
        "rootidstr": "",
        "floor_number": 3,
        "created_at": "Tue May 14 12:11:00 +0800 2024",
        "text": '好茶<br />再来<img alt="[赞]" src="x.png" />',
        "user": user("7700000001", "溪边人"),
        "like_count": "1.2万",
        "total_number": 0,
        "max_id": 0,
        "comments": False,
        "source": "来自 安徽",
        "isLikedByMblogAuthor": False,
        "analysis_extra": f"author_uid:{UID}|mid:{MID}",
        **more,
    }


def hotflow(*found: Any, **more: Any) -> dict[str, Any]:
    """A page of comments of the mobile site."""
    data = {"data": list(found), "max_id": 0, "max_id_type": 0, "max": 1, "total_number": 9}
    return {"ok": 1, "data": {**data, **more}}


def desktop_comment(cid: str = "5033904666677156", **more: Any) -> dict[str, Any]:
    """A comment of buildComments."""
    return {
        "id": int(cid),
        "idstr": cid,
        "rootid": int(cid),
        "rootidstr": cid,
        "created_at": "Tue May 14 12:11:00 +0800 2024",
        "text": "好茶<br />&quot;再来&quot;",
        "text_raw": '好茶\n"再来"',
        "user": user("7700000001", "溪边人"),
        "like_counts": 345,
        "total_number": 0,
        "max_id": 0,
        "comments": [],
        "source": "来自安徽",
        **more,
    }


def build_comments(*found: Any, **more: Any) -> dict[str, Any]:
    """A page of comments of the desktop site."""
    return {"ok": 1, "filter_group": [], "data": list(found), "max_id": 0, **more}


PROFILE_USER = user(
    statuses_count=321,
    verified=True,
    verified_type=2,
    verified_reason="某茶馆",
    description="雨前茶",
    follow_count=34,
    followers_count="145.5万",
    mbrank=6,
)

SEARCH_PAGE = """<!DOCTYPE html><html><body>
<div class="m-main">
<div class="card-wrap"><div class="card-user"><a class="name" nick-name="广告">广告</a></div></div>
<div class="card-wrap" action-type="feed_list_item" mid="5033901917642310">
 <div class="card"><div class="card-feed">
  <div class="avator"><img src="//tvax1.sinaimg.cn/crop.0.0.1.1.50/a.jpg"></div>
  <div class="content" node-type="like">
   <div class="info">
    <a class="name" nick-name="山间茶馆" href="//weibo.com/5550001112?x=1">山间茶馆</a>
   </div>
   <p class="txt" node-type="feed_list_content">
     <a href="//s.weibo.com/weibo?q=x">#山间茶会#</a> 雨后
     ...<a action-type="fl_unfold">展开<i class="wbicon">c</i></a></p>
   <p class="txt" node-type="feed_list_content_full" style="display:none">
     <a href="//s.weibo.com/weibo?q=x">#山间茶会#</a> 雨后<br/>  新芽
     <a href="http://t.cn/A6tea001"><i class="wbicon">O</i>网页链接</a>
     <a action-type="fl_fold">收起<i class="wbicon">d</i></a></p>
   <div node-type="feed_list_media_prev"><div class="media media-piclist"><ul class="m3"><li>
     <img src="//wx1.sinaimg.cn/orj360/006R0hNBgy1grk0zbm5uqj31hc0u0b29.jpg"></li></ul></div></div>
   <div class="from"><a href="//weibo.com/5550001112/OedWvw474?refer_flag=1001030103_">
      今天12:00
     </a> 来自 <a>茶色手机</a></div>
  </div></div>
  <div class="card-act"><ul><li><a action-type="feed_list_forward">转发</a></li>
   <li><a action-type="feed_list_comment">评论 12</a></li>
   <li><a action-type="feed_list_like">
    <button><span class="woo-like-count">1.2万</span></button></a></li></ul></div>
 </div></div>
<div class="card-wrap" mid="5033859745171454">
 <div class="card"><div class="card-feed"><div class="content">
  <div class="info"><a class="name" nick-name="溪边人" href="//weibo.com/7700000001">溪边人</a>
  </div>
  <p class="txt" node-type="feed_list_content">转发微博</p>
  <div class="card-comment"><div class="con"><div node-type="feed_list_forwardContent">
    <a class="name" nick-name="采茶人" href="//weibo.com/7700000002?x">@采茶人</a>
    <p class="txt" node-type="feed_list_content">原来的话</p>
    <video-player :options="{src:'//f.video.weibocdn.com/o0/a.mp4?a=1&amp;b=2'}">
    </video-player></div>
    <p class="from"><a href="//weibo.com/7700000002/Kjc77D1jz?x">2021年06月08日 09:35</a></p>
    <div class="card-act"><a action-type="feed_list_forward">9</a>
     <a action-type="feed_list_like" action-data="mid=4645748019299849&x=1">9</a></div></div></div>
  <div class="from"><a href="//weibo.com/7700000001/OecQulHky?x">30分钟前</a></div>
  </div></div>
  <div class="card-act"><ul><li><a action-type="feed_list_forward">2</a></li>
   <li><a action-type="feed_list_comment">评论</a></li>
   <li><a action-type="feed_list_like"><span class="woo-like-count">赞</span></a></li></ul></div>
 </div></div>
</div>
<div class="m-page"><ul class="s-scroll"><li><a>1</a></li><li><a>2</a></li></ul>
 <a href="/weibo?q=%E8%8C%B6&page=2" class="next">下一页</a></div>
</body></html>"""

VISITOR_PAGE = (
    "<!DOCTYPE html><html><head><title>Sina Visitor System</title></head><body><script>"
    'var request_id = "abc123"; var return_url = "https://weibo.com/"; var ver = "20250916";'
    "</script></body></html>"
)
