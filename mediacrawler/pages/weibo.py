"""What Weibo's answers mean: the mobile site's JSON (m.weibo.cn), the desktop site's (weibo.com)
and the pages of both and of the desktop search (s.weibo.com).

Pure functions: bytes, text or decoded JSON in; records, cursors or an exception out. Knows nothing
of sessions, of Scrapy, or of which request comes next. Sections are those of
docs/platforms/weibo.md.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any, Literal
from urllib.parse import urlencode

from mediacrawler.exceptions import AccessDenied, NotFound, UnexpectedResponse, Withheld
from mediacrawler.items import Comment, Creator, Gender, Media, Post
from mediacrawler.pages import Body, CommentPage, PostList, PostPage, Viewer
from mediacrawler.pages.fields import (
    as_dict,
    as_text,
    decode_json_at,
    dig_dict,
    present,
    read_rows,
    unique,
)
from mediacrawler.pages.weibo_answers import (
    LoginState,
    Visitor,
    answer_of,
    content_of,
    good_answer,
    hot_words,
    is_nothing,
    login_state,
    message_of,
    ok_of,
    read_answer,
    refuse_page,
    visitor,
    visitor_form,
)
from mediacrawler.pages.weibo_fields import (
    as_count,
    as_dicts,
    as_id,
    as_int,
    as_items,
    https_url,
    inside,
    moment,
    region,
)
from mediacrawler.pages.weibo_html import (
    is_capped,
    read_search_page,
    search_window,
    window_cursor,
    windows_of,
)
from mediacrawler.pages.weibo_media import extension
from mediacrawler.pages.weibo_records import (
    NOT_SHOWN_TEXT,
    PLATFORM,
    avatar_of,
    comment_record,
    id_of,
    link_facts,
    original_of,
    post_record,
    post_records,
    topics_of,
    walk_cards,
    why_gone,
)
from mediacrawler.pages.weibo_text import Markup, clean, read_markup
from mediacrawler.targets.weibo import creator_url

__all__ = [
    "LoginState",
    "Markup",
    "Visitor",
    "article",
    "comments",
    "creator",
    "creator_detail",
    "creator_posts",
    "full_detail",
    "hot_words",
    "is_capped",
    "login_state",
    "long_text",
    "me",
    "missing",
    "moment",
    "post",
    "read_answer",
    "read_markup",
    "replies",
    "search",
    "search_window",
    "video_post_id",
    "visitor",
    "visitor_form",
    "window_cursor",
    "windows_of",
    "with_long_text",
]

MOBILE_PICTURES = 9
"""The mobile API names no more pictures than these (section 3.4)."""


def me(body: Body) -> Viewer:
    """Who is logged in on the host that was asked, see `login_state` (section 1.5)."""
    state = login_state(body)
    return Viewer(state.uid, None, guest=not state.logged_in)


# Lists of posts


def search(body: Body, *, page: int | None = None, now: datetime | None = None) -> PostList:
    """One page of a keyword search: m.weibo.cn's JSON or s.weibo.com's page (sections 3.1, 3.2).

    The cursor is the number of the next page. On page 1 an answer without content means that
    nothing was found or that the session is silently blocked (section 6.2).

    :param page: the page that was asked for; 1 when not told.
    :raises AccessDenied: nothing on page 1 (`soft`): ask a question that surely has an answer.
    """
    content = content_of(body)
    if isinstance(content, str):
        return read_search_page(content, page or 1, now)
    answer = answer_of(content)
    if is_nothing(answer):
        if page == 1:
            raise AccessDenied("nothing found, or silently blocked", code=0, soft=True)
        return PostList([], has_more=False)
    data = dig_dict(good_answer(answer), "data")
    if not data:
        raise UnexpectedResponse("'data' is missing or empty")
    cards = _rows(data.get("cards"), "data.cards")
    found = post_records(walk_cards(cards), now)
    following = as_int(as_dict(data.get("cardlistInfo")).get("page"))
    has_more = bool(cards) and (bool(found.posts) or following is not None)
    cursor = str(following or (page or 1) + 1) if has_more else None
    return PostList(found.posts, has_more, cursor, found.related, found.unreadable)


def creator_posts(
    body: Body,
    *,
    creator_id: str | None = None,
    page: int | None = None,
    now: datetime | None = None,
) -> PostList:
    """One page of a creator's posts of either host (sections 3.8, 3.9).

    The cursor is the next page's part of a query: ``since_id=...`` or ``page=...`` (mobile; the
    kind may change from page to page), ``page=...&since_id=...`` (desktop).

    :param creator_id: whose list it is; posts of others in it (liked, suggested) are left out.
        A mobile answer names it itself.
    :param page: the page that was asked for (desktop counts pages); 1 when not told.
    """
    answer = answer_of(body)
    if is_nothing(answer):
        return PostList([], has_more=False)
    data = dig_dict(good_answer(answer), "data")
    if "list" in data:
        return _desktop_posts(data, creator_id, page or 1, now)
    if not data:
        raise UnexpectedResponse("'data' is missing or empty")
    info = as_dict(data.get("cardlistInfo"))
    container = re.match(r"107603(\d+)", as_text(info.get("containerid")) or "")
    owner = creator_id or (container[1] if container else None)
    rows = list(walk_cards(data.get("cards")))
    found = post_records((row for row in rows if _is_of(owner, row[1])), now)
    cursor = None
    for name in ("since_id", "page"):
        following = as_id(info.get(name))
        if following is not None and rows:
            cursor = f"{name}={following}"
            break
    return PostList(found.posts, cursor is not None, cursor, found.related, found.unreadable)


def _desktop_posts(
    data: dict[str, Any], creator_id: str | None, page: int, now: datetime | None
) -> PostList:
    blogs = _rows(data["list"], "data.list")
    no_card: dict[str, Any] = {}
    rows = [(no_card, as_dict(blog)) for blog in blogs]
    found = post_records((row for row in rows if _is_of(creator_id, row[1])), now)
    since_id = as_id(data.get("since_id"))
    if not blogs and since_id is None:  # only an empty list is the end (section 3.9)
        return PostList(found.posts, False, None, found.related, found.unreadable)
    following = {"page": page + 1, **({"since_id": since_id} if since_id else {})}
    cursor = urlencode(following)
    return PostList(found.posts, True, cursor, found.related, found.unreadable)


def _rows(value: Any, path: str) -> list[Any]:
    """The rows of a list, which may be missing, null, false, or an object of numbered rows.

    :raises UnexpectedResponse: anything else, naming *path*.
    """
    if value is None or value is False:
        return []
    if not isinstance(value, (list, dict)):
        raise UnexpectedResponse(f"'{path}' is {type(value).__name__}, expected a list")
    return as_items(value)


def _is_of(creator_id: str | None, blog: dict[str, Any]) -> bool:
    author = id_of(as_dict(blog.get("user")))
    return creator_id is None or author is None or author == creator_id


# One post


def post(body: Body, *, now: datetime | None = None) -> PostPage:
    """The detail of a post: mobile JSON, desktop JSON or the mobile page (sections 3.3, 3.4).

    :raises NotFound: deleted.
    :raises Withheld: hidden by its author.
    """
    blog = _blog(body)
    reason = why_gone(blog)
    if reason is not None:
        raise Withheld(reason) if NOT_SHOWN_TEXT.search(reason) else NotFound(reason)
    record = post_record(blog, now=now)
    if record is None:
        raise UnexpectedResponse("the post has no 'id'")
    original = original_of(blog, now)
    return PostPage(record, [original] if original else [])


def _blog(body: Body) -> dict[str, Any]:
    content = content_of(body)
    if isinstance(content, str):
        return _render_data(content)
    answer = good_answer(content)
    if "data" not in answer:
        return answer
    return dig_dict(answer, "data")


def _render_data(page: str) -> dict[str, Any]:
    """The post inside a mobile page."""
    refuse_page(page)
    match = re.search(r"\$render_data\s*=\s*(?=\[)", page)
    if match is None:
        raise UnexpectedResponse("the page has no '$render_data'")
    return dig_dict(decode_json_at(page, match.end()), "0.status")


def long_text(body: Body, so_far: Post) -> Post:
    """*so_far* with the full text of a ``statuses/extend`` or ``longtext`` answer (section 3.5).

    An empty answer says that there was nothing more: the post comes back as it is.
    """
    data = dig_dict(good_answer(body), "data")
    content = data.get("longTextContent")
    if not isinstance(content, str) or not content.strip():
        return so_far
    is_mobile = "reposts_count" in data or "ok" in data  # the desktop answer is plain text
    markup = read_markup(content) if is_mobile or "</a>" in content else Markup(clean(content))
    extra = {key: value for key, value in so_far.extra.items() if key != "truncated"}
    return replace(
        so_far,
        text=markup.text,
        tags=unique([*so_far.tags, *topics_of(data), *markup.tags]),
        like_count=_fresher(data.get("attitudes_count"), so_far.like_count),
        comment_count=_fresher(data.get("comments_count"), so_far.comment_count),
        share_count=_fresher(data.get("reposts_count"), so_far.share_count),
        extra={**extra, **present(**link_facts(data, markup))},
    )


def with_long_text(body: Body, *, page: PostPage, post_id: str) -> PostPage:
    """*page* with the full text of its post, or of the original, that has *post_id*."""
    posts = [
        long_text(body, record) if record.post_id == post_id else record
        for record in (page.post, *page.related)
    ]
    return PostPage(posts[0], posts[1:])


def _fresher(given: Any, known: int | None) -> int | None:
    found = as_count(given)
    return known if found is None else found


def full_detail(body: Body, so_far: Post, *, now: datetime | None = None) -> Post:
    """*so_far* with what only the desktop detail has: all pictures, best videos, region, edits.

    Its list's own facts (pinned, the exact edit time) stay. The full text comes with it.
    """
    detail = post(body, now=now).post
    known = {key: value for key, value in so_far.extra.items() if key != "truncated"}
    return replace(
        detail,
        post_id=so_far.post_id,
        title=detail.title or so_far.title,
        text=so_far.text if "truncated" in detail.extra else detail.text,
        author_avatar=so_far.author_avatar or detail.author_avatar,
        edited_at=detail.edited_at or so_far.edited_at,
        view_count=detail.view_count if detail.view_count is not None else so_far.view_count,
        tags=unique([*so_far.tags, *detail.tags]),
        media=detail.media or so_far.media,
        ip_location=detail.ip_location or so_far.ip_location,
        source_keyword=so_far.source_keyword,
        repost_of=detail.repost_of or so_far.repost_of,
        extra=present(**{**known, **detail.extra, "is_pinned": known.get("is_pinned")}),
    )


Missing = Literal["text", "pictures", "video"]


def missing(record: Post) -> frozenset[Missing]:
    """What a post from a mobile list or detail still lacks, to be asked for.

    "text": sections 3.5; "pictures" (more than nine) and "video" (named without an address): the
    desktop detail, section 3.3.
    """
    lacks: set[Missing] = set()
    if record.extra.get("truncated"):
        lacks.add("text")
    pictures = sum(media.kind in ("image", "cover") for media in record.media)
    if pictures >= MOBILE_PICTURES and (record.extra.get("pic_num") or 0) > pictures:
        lacks.add("pictures")
    if any(media.kind == "video" and media.url is None for media in record.media):
        lacks.add("video")
    return frozenset(lacks)


def article(body: Body, *, article_id: str) -> PostPage:
    """A long article of card.weibo.com as a post of type "article" (section 3.13).

    Its times lack the year, so `published_at` stays None; the post that shows it knows.
    """
    answer = good_answer(body)
    data = dig_dict(answer, "data")
    if not data:
        message = message_of(answer) or "the article is not shown"
        raise NotFound(message, code=as_text(answer.get("code")))
    user = as_dict(data.get("userinfo")) or as_dict(data.get("user_info"))
    author_id = as_id(user.get("uid")) or as_id(user.get("id"))
    markup = read_markup(_lines_of_blocks(data.get("content")))
    picture = https_url(inside(data, "cover_img", "image", "url") or data.get("cover_img"))
    cover = Media("cover", picture, ext=extension(picture), identifying=True) if picture else None
    record = Post(
        PLATFORM,
        article_id,
        post_type="article",
        url=f"https://weibo.com/ttarticle/p/show?id={article_id}",
        title=as_text(data.get("title")),
        text=markup.text,
        author_id=author_id,
        author_name=as_text(user.get("screen_name")),
        author_url=creator_url(author_id) if author_id else None,
        author_avatar=avatar_of(user),
        view_count=as_count(data.get("read_count")) if data.get("read_count") else None,
        media=[cover] if cover else [],
        extra=present(links=unique(markup.links)),
    )
    return PostPage(record)


def _lines_of_blocks(content: Any) -> Any:
    """Paragraphs become lines; unlike posts, articles are written in blocks."""
    if not isinstance(content, str):
        return None
    return re.sub(r"</(?:p|h[1-6]|li|blockquote|figure)>", "<br>", content)


def video_post_id(body: Body) -> str:
    """The id of the post that shows a video object (section 3.14).

    :raises NotFound: the object belongs to no post.
    """
    answer = answer_of(body)
    found = as_id(inside(answer, "data", "Component_Play_Playinfo", "mid"))
    if found is None:
        raise NotFound("the video names no post")
    return found


# Comments


def comments(
    body: Body, *, post_id: str | None = None, page: int | None = None, now: datetime | None = None
) -> CommentPage:
    """One page of a post's comments, each with the replies delivered with it.

    Reads ``hotflow`` and its older fallback ``comments/show`` (mobile) and ``buildComments``
    (desktop). Cursors are the next request's part of a query: ``max_id=...&max_id_type=...``,
    ``max_id=...``, or ``page=...`` for the fallback.

    :param post_id: the post asked about; most answers do not name it.
    :param page: the page asked for, of the fallback endpoint only.
    """
    answer = answer_of(body)
    if _nobody_commented(answer):
        return CommentPage([], has_more=False)
    inner = _comment_list(answer)
    is_mobile = inner is not answer
    records: list[Comment] = []
    more: dict[str, str] = {}
    rows = _rows(inner.get("data"), "data.data" if is_mobile else "data")
    threads, unreadable = read_rows(rows, partial(_thread, post_id=post_id, now=now))
    for root, embedded, has_more in threads:
        records.extend((root, *embedded))
        if has_more:
            # from the start: the list holds the embedded ones again (section 3.12)
            more[root.comment_id] = "max_id=0&max_id_type=0" if is_mobile else "max_id=0"
    if "max" in inner and "max_id" not in inner:
        cursor = _next_page(as_int(inner.get("max")), page or 1)
    else:
        cursor = _comment_cursor(inner)
    return CommentPage(_each_once(records), cursor is not None, cursor, more, unreadable)


def _thread(
    source: dict[str, Any], *, post_id: str | None, now: datetime | None
) -> tuple[Comment, list[Comment], bool] | None:
    """A top-level comment, the replies delivered with it, and whether there are more."""
    root = comment_record(source, post_id, None, now)
    if root is None:
        return None
    sources = as_dicts(source.get("comments"))
    found = (comment_record(one, root.post_id, root.comment_id, now) for one in sources)
    embedded = [reply for reply in found if reply is not None]
    return root, embedded, root.root_id is None and _has_more_replies(source, len(embedded))


def _next_page(last: int | None, current: int) -> str | None:
    """The cursor of the fallback endpoint, which counts pages."""
    return f"page={current + 1}" if last is not None and current < last else None


def replies(
    body: Body,
    *,
    post_id: str | None = None,
    root_id: str | None = None,
    now: datetime | None = None,
) -> CommentPage:
    """One page of the replies to the comment *root_id*: ``hotFlowChild``, or ``buildComments``
    at level 1 (section 3.12)."""
    answer = answer_of(body)
    if _nobody_commented(answer):
        return CommentPage([], has_more=False)
    inner = _comment_list(answer)

    def read(source: dict[str, Any]) -> Comment | None:
        return comment_record(source, post_id, root_id or as_id(source.get("rootid")), now)

    found, unreadable = read_rows(_rows(inner.get("data"), "data"), read)
    records = [reply for reply in found if reply.root_id is not None]
    cursor = _comment_cursor(inner)
    return CommentPage(_each_once(records), cursor is not None, cursor, {}, unreadable)


def _nobody_commented(answer: dict[str, Any]) -> bool:
    """``ok:0`` on this endpoint means zero comments unless it names another reason (3.10)."""
    return ok_of(answer) == 0 and (not message_of(answer) or is_nothing(answer))


def _comment_list(answer: dict[str, Any]) -> dict[str, Any]:
    """What holds the comments and the cursor: the mobile site wraps its first list once more."""
    good_answer(answer)
    return as_dict(answer.get("data")) or answer


def _comment_cursor(inner: dict[str, Any]) -> str | None:
    """Both parts of the cursor must be sent back: the type changes by itself (section 3.10)."""
    max_id = as_int(inner.get("max_id_str")) or as_int(inner.get("max_id"))
    if not max_id:  # 0 and "0" are the end
        return None
    kind = as_int(inner.get("max_id_type"))
    return f"max_id={max_id}" if kind is None else f"max_id={max_id}&max_id_type={kind}"


def _has_more_replies(source: dict[str, Any], delivered: int) -> bool:
    total, max_id = as_int(source.get("total_number")), as_int(source.get("max_id"))
    return bool(max_id) or (total or 0) > delivered


def _each_once(records: list[Comment]) -> list[Comment]:
    first: dict[str, Comment] = {}
    for record in records:
        first.setdefault(record.comment_id, record)
    return list(first.values())


# Creators

_GENDERS: dict[str | None, Gender] = {"m": "male", "f": "female"}


def creator(body: Body) -> Creator:
    """A profile: ``getIndex?type=uid`` (mobile) or ``profile/info`` (desktop).

    The mobile site has no IP region: :func:`creator_detail` adds it.

    :raises NotFound: no such user, or banned.
    """
    answer = answer_of(body)
    if is_nothing(answer):
        raise NotFound("no such user", code=0)
    data = dig_dict(good_answer(answer), "data")
    user = as_dict(data.get("userInfo")) or as_dict(data.get("user"))
    creator_id = id_of(user)
    if creator_id is None:
        raise UnexpectedResponse("the profile has neither 'userInfo' nor 'user' with an 'id'")
    likes = inside(user, "status_total_counter", "like_cnt")
    following = user.get("follow_count")
    if following is None:
        following = user.get("friends_count")
    return Creator(
        PLATFORM,
        creator_id,
        name=as_text(user.get("screen_name")),
        url=creator_url(creator_id),
        avatar=avatar_of(user),
        bio=as_text(user.get("description")),
        gender=_GENDERS.get(as_text(user.get("gender"))),
        follower_count=_known_count(user.get("followers_count")),
        following_count=_known_count(following),
        like_count=_known_count(likes),
        post_count=_known_count(user.get("statuses_count")),
        verified=user["verified"] if isinstance(user.get("verified"), bool) else None,
        extra=present(
            handle=as_text(user.get("domain")),
            verified_type=as_int(user.get("verified_type")),
            verified_text=as_text(user.get("verified_reason")),
            location=as_text(user.get("location")),
            member_rank=as_int(user.get("mbrank")),
        ),
    )


def _known_count(value: Any) -> int | None:
    """A count of a profile, where "" is unknown rather than a caption in place of 0."""
    return as_count(value) if value != "" else None


_INFO_ITEMS = {
    "IP属地": "ip_location",
    "所在地": "location",
    "生日": "birthday",
    "注册时间": "created_at",
}


def creator_detail(body: Body, so_far: Creator) -> Creator:
    """*so_far* with the IP region and what else ``profile/detail`` (desktop) or the mobile
    ``230283UID_-_INFO`` container say (sections 3.6, 3.7)."""
    data = dig_dict(good_answer(body), "data")
    facts = {
        "ip_location": as_text(data.get("ip_location")),
        **{key: as_text(data.get(key)) for key in ("birthday", "created_at", "location")},
    }
    for card in as_dicts(data.get("cards")):
        for item in as_dicts(card.get("card_group")):
            name = _INFO_ITEMS.get(as_text(item.get("item_name")) or "")
            if name is not None:
                facts[name] = as_text(item.get("item_content"))
    place = region(facts.pop("ip_location"))
    return replace(
        so_far,
        ip_location=place or so_far.ip_location,
        bio=so_far.bio or as_text(data.get("description")),
        gender=so_far.gender or _GENDERS.get(as_text(data.get("gender"))),
        extra={**present(**facts), **so_far.extra},
    )
