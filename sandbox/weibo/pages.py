"""The HTML of Weibo: the desktop search, the mobile pages of a post, the visitor page."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from html import escape

from sandbox.weibo.login import VISITOR_SCRIPT
from sandbox.weibo.views import Views, caption
from sandbox.weibo.world import DESKTOP_PAGES, GONE_TEXTS, Picture, Post
from sandbox.worlds import digest, wan

SHELL = (
    '<!DOCTYPE html><html lang="zh"><head><meta charset="utf-8"><title>微博</title></head>'
    '<body><div id="app" class="m-container-max"></div><script>var $config = {};</script></body>'
    "</html>"
)
"""What the mobile site answers to whoever does not look like its own script (1.4)."""

NOT_FOUND = (
    '<!DOCTYPE html><html><head><meta charset="utf-8"><title>微博-出错了</title></head><body>'
    '<div class="h5-404"><p class="h5-4con">微博不存在或暂无查看权限!</p></div></body></html>'
)


def visitor_page(return_url: str) -> str:
    """The page that stands in front of everything for whoever has no cookie (2.5)."""
    mark = digest("request", return_url).hex()
    return (
        '<!DOCTYPE html>\n<html>\n<head>\n<meta http-equiv="Content-type" '
        'content="text/html; charset=utf-8"/>\n<title>Sina Visitor System</title>\n</head>\n'
        "<body>\n"
        '<span id="message"></span>\n<script type="text/javascript">\n'
        f'var request_id = "{mark}";\nvar return_url = {json.dumps(return_url)};\n'
        f'var ver = "20250916";\n{VISITOR_SCRIPT}</script>\n</body>\n</html>\n'
    )


def post_page(views: Views, post: Post) -> str:
    """``m.weibo.cn/detail/ID``: the post stands in a script (3.4)."""
    status = views.mblog(post, whole=True)
    data = json.dumps([{"status": status, "call": 1}], ensure_ascii=False, indent=4)
    return (
        '<!DOCTYPE html><html><head><meta charset="utf-8"><title>微博正文 - 微博</title></head>'
        '<body><div id="app"></div><script>\nvar config = {env: "prod"};\n'
        f"    var $render_data = {data}[0] || {{}};\n"
        "    var __wb_performance_data = [];\n</script></body></html>"
    )


class SearchPages:
    """Writes pages of ``s.weibo.com/weibo`` (3.2)."""

    def __init__(self, views: Views) -> None:
        self._views = views
        self._world = views.world

    def page(self, keyword: str, posts: Sequence[Post], number: int, pages: int, query: str) -> str:
        """Page *number* of *pages*; *query* is the request's own, without ``page``."""
        cards = "\n".join(self._card(post) for post in posts)
        if pages == 0:
            cards = (
                f'<div class="card card-no-result"><p>抱歉，未找到“{escape(keyword)}”相关结果。</p>'
                "</div>" + self._suggestions()
            )
        return (
            '<!DOCTYPE html>\n<html>\n<head><meta charset="utf-8">'
            f"<title>{escape(keyword)} - 微博搜索</title>\n<script>var $CONFIG = {{}}; "
            "$CONFIG['islogin'] = '1';</script></head>\n<body>\n"
            '<div class="m-main"><div class="m-wrap"><div class="m-con-l">\n<div class="card-wrap">'
            '<div class="card card-user-b"><a class="name">相关用户</a></div></div>\n'
            f"{cards}\n{self._pager(number, min(pages, DESKTOP_PAGES), query)}\n"
            "</div></div></div>\n</body>\n</html>\n"
        )

    def _suggestions(self) -> str:
        """Posts below "no result", which are no results."""
        return "\n".join(self._card(self._world.post_at(1 << 8 | n)) for n in range(3))

    @staticmethod
    def _pager(number: int, pages: int, query: str) -> str:
        if pages < 2:
            return ""
        links = "".join(
            f'<li{" class=cur" * (n == number)}><a href="/weibo?{escape(query)}&amp;page={n}">'
            f"第{n}页</a></li>"
            for n in range(1, pages + 1)
        )
        following = (
            f'<a href="/weibo?{escape(query)}&amp;page={number + 1}" class="next">下一页</a>'
            if number < pages
            else ""
        )
        return (
            f'<div class="m-page"><div><span class="list"><a class="pagenum">第{number}页</a>'
            f'<ul class="s-scroll" node-type="feed_list_page_morelist">{links}</ul></span>'
            f"{following}</div></div>"
        )

    def _card(self, post: Post) -> str:
        author, outline = post.author, post.outline
        return f"""<div class="card-wrap" action-type="feed_list_item" mid="{post.mid}">
 <div class="card"><div class="card-feed">
  <div class="avator"><a href="//weibo.com/{author.uid}?refer_flag=1001030103_">
   <img src="https://tvax1.sinaimg.cn/crop.0.0.480.480.50/{author.avatar.pid}.jpg"></a></div>
  <div class="content" node-type="like">
   <div class="info"><div>
    <a href="//weibo.com/{author.uid}?refer_flag=1001030103_" class="name"
     nick-name="{escape(author.name)}">{escape(author.name)}</a></div></div>
   {self._texts(post)}
   {self._media(post)}
   {self._original(post)}
   <div class="from">
    <a href="//weibo.com/{author.uid}/{post.bid}?refer_flag=1001030103_" target="_blank">
     {caption(outline.time, self._world.now)}
    </a>
    {f'&nbsp;来自 <a href="//weibo.com/" rel="nofollow">{post.client}</a>' if post.client else ""}
   </div>
  </div></div>
  <div class="card-act"><ul>
   <li><a action-type="feed_list_forward">{_counter("转发", outline.reposts)}</a></li>
   <li><a action-type="feed_list_comment">{_counter("评论", outline.comments)}</a></li>
   <li><a action-type="feed_list_like" action-data="mid={post.mid}"><button class="woo-like-main">
    <span class="woo-like-count">{_counter("赞", outline.likes)}</span></button></a></li>
  </ul></div>
 </div>
</div>"""

    def _texts(self, post: Post) -> str:
        """The text and, where it is folded, the hidden full one."""
        tokens, cut = self._world.cut(post.tokens)
        name = escape(post.author.name)
        shown = self._html(tokens)
        opening = f'<p class="txt" node-type="feed_list_content" nick-name="{name}">'
        if not cut:
            return f"{opening}\n     {shown}</p>"
        unfold = (
            '<a href="javascript:void(0);" action-type="fl_unfold">展开<i class="wbicon">c</i></a>'
        )
        fold = '<a href="javascript:void(0);" action-type="fl_fold">收起<i class="wbicon">d</i></a>'
        return (
            f'<p class="txt" node-type="feed_list_content" nick-name="{name}">\n'
            f"     {shown} ...{unfold}</p>\n"
            f'   <p class="txt" node-type="feed_list_content_full" nick-name="{name}" '
            f'style="display: none">\n     {self._html(post.tokens)}\n     {fold}</p>'
        )

    def _html(self, tokens: Sequence[tuple[str, ...]]) -> str:
        """The desktop's HTML, with letters of an icon font instead of icons."""
        html = self._views.desktop_html(tokens)
        letters = {"web": "O", "location": "2", "super": "\ue627"}
        return re.sub(
            r'<img class="icon-link" src="[^"]*small_(web|location|super)_[^"]*"/>',
            lambda match: f'<i class="wbicon">{letters[match[1]]}</i>',
            html,
        )

    def _media(self, post: Post) -> str:
        if post.videos:
            address = self._views.addresses.signed(
                f"https://f.video.weibocdn.com/o0/{post.videos[0].files[-1]}.mp4"
            ).removeprefix("https:")
            return (
                '<div node-type="feed_list_media_prev"><div class="thumbnail">'
                f"<video-player :options=\"{{src: '{escape(address)}'}}\"></video-player>"
                "</div></div>"
            )
        if not post.pictures:
            return ""
        return f'<div node-type="feed_list_media_prev">{_picture_list(post.pictures)}</div>'

    def _original(self, post: Post) -> str:
        if post.original < 0:
            return ""
        why = post.outline.retweet
        if why != "ok":
            return (
                f'<div class="card-comment"><div class="con"><p>{GONE_TEXTS[why]}</p></div></div>'
            )
        original = self._world.post_at(post.original)
        author, outline = original.author, original.outline
        return f"""<div class="card-comment"><div class="con">
    <div node-type="feed_list_forwardContent">
     <a href="//weibo.com/{author.uid}" class="name" nick-name="{escape(author.name)}"
      >@{escape(author.name)}</a>
     {self._texts(original)}
     {self._media(original)}
    </div>
    <div class="func">
     <p class="from"><a href="//weibo.com/{author.uid}/{original.bid}?refer_flag=1001030103_">
      {caption(outline.time, self._world.now)}</a></p>
     <ul class="act s-fr"><li><a action-type="feed_list_like"
      action-data="mid={original.mid}&amp;uid={author.uid}"
      >{_counter("赞", outline.likes)}</a></li></ul>
    </div></div></div>"""


def _picture_list(pictures: Sequence[Picture]) -> str:
    items = "".join(
        f'<li><img src="{picture.url.replace("/large/", "/orj360/")}"></li>'
        for picture in pictures[:9]
    )
    return f'<div class="media media-piclist"><ul class="m3">{items}</ul></div>'


def _counter(label: str, count: int) -> str:
    """A count as the site shows it; its label stands for 0."""
    return wan(count, cap=False) if count else label
