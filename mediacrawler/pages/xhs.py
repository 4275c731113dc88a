"""What a good answer of XHS (XiaoHongShu, and its international twin RedNote) contains.

Pure functions: bytes, text or decoded JSON in; notes, comments, creators or an exception out.
What a refusal means is in ``xhs_answers.py``, the files of a note in ``xhs_media.py``, how
single values are read in ``xhs_json.py``; facts about the wire are cited by section from
docs/platforms/xhs.md. Nothing here knows Scrapy or which request comes next.
"""

from __future__ import annotations

import re
from datetime import datetime, timezone
from functools import partial
from itertools import zip_longest
from typing import Any
from urllib.parse import quote

from mediacrawler.exceptions import AccessDenied, NotFound, UnexpectedResponse
from mediacrawler.items import Comment, Creator, Gender, Post
from mediacrawler.pages import (
    AuthorFields,
    Body,
    CommentPage,
    CreatorList,
    PostList,
    PostPage,
    Viewer,
)
from mediacrawler.pages import xhs_json as read
from mediacrawler.pages.fields import dig_list, present, read_rows, unique
from mediacrawler.pages.xhs_answers import (
    api_data,
    filled_data,
    page_error,
    page_state,
    read_answer,
)
from mediacrawler.pages.xhs_json import Record
from mediacrawler.pages.xhs_media import note_media, picture, subtitles, without_resizing

__all__ = [
    "comments",
    "creator",
    "creator_posts",
    "creator_url",
    "id_time",
    "login_step",
    "me",
    "post",
    "post_url",
    "read_answer",
    "replies",
    "search",
    "search_users",
]

PLATFORM = "xhs"
WEB = "https://www.xiaohongshu.com"  # also in addresses of what the twin serves (2.2)

# Where a token comes from; no list says it itself (2.3).
SEARCH_SOURCE = "pc_search"  # also the one for tokens of unknown origin
FEED_SOURCE = "pc_feed"
PROFILE_SOURCE = "pc_user"

_GENDERS: dict[int | None, Gender] = {0: "male", 1: "female"}
_TOPIC = re.compile(r"(#[^#]+?)\[话题\]#")


def post_url(note_id: str, token: str | None = None, source: str | None = None) -> str:
    """The canonical address of a note; without a token it opens to a login wall (2.2)."""
    url = f"{WEB}/explore/{note_id}"
    if token is None:
        return url
    return f"{url}?xsec_token={quote(token, safe='')}&xsec_source={source or SEARCH_SOURCE}"


def creator_url(user_id: str) -> str:
    """The canonical address of a profile (2.2)."""
    return f"{WEB}/user/profile/{user_id}"


def id_time(object_id: str) -> datetime | None:
    """When a note or comment was created, give or take seconds, as its id tells (2.1); UTC.

    Cards carry no other time. Never a publication time: a draft can be much older than the
    note. None for anything else than an id.
    """
    if not re.fullmatch(r"[0-9a-f]{24}", object_id):
        return None
    return datetime.fromtimestamp(int(object_id[:8], 16), timezone.utc)


# --- Lists of notes (5.1) ---------------------------------------------------------------------


def search(body: Body, *, page: int = 1) -> PostList:
    """The notes of a keyword search (v1 or v2), of the home feed, or of a rendered page.

    :param page: number of the page that was asked for, from 1. The cursor names the next one;
        that of the home feed is its own (3.8).

    Suggestions and advertisements between the notes are left out. An answer without notes is
    a good one: only the history of a run tells whether it hides a soft block (6.4).

    :raises AccessDenied: success without any data, not even a word on further pages (soft).
    """
    content = read.decode(body)
    if isinstance(content, str):
        return _rendered_search(content, page)
    data = filled_data(content)
    items = dig_list(data, "items")
    if "cursor_score" in data:
        return _feed_page(items, read.text(data, "cursor_score"))
    return _search_page(items, read.flag(data, "has_more"), page)


def _rendered_search(page: str, number: int) -> PostList:
    state = page_state(page)
    hits, feed = read.child(state, "search"), read.child(state, "feed")
    if found := dig_list(hits, "feeds"):
        return _search_page(found, read.flag(hits, "has_more"), number)
    cards = dig_list(feed, "feeds")
    if not cards:
        error = page_error(page, state)
        if not error.soft or not ("feeds" in feed or "feeds" in hits):
            raise error  # a login wall must not look like "nothing found" (6.4)
    return _feed_page(cards, read.text(read.child(feed, "query"), "cursor_score"))


def _search_page(items: list[Any], has_more: bool, number: int) -> PostList:
    posts, unreadable = _cards(items, SEARCH_SOURCE)
    cursor = str(number + 1) if has_more else None
    return PostList(posts, has_more, cursor, unreadable=unreadable)


def _feed_page(items: list[Any], cursor: str | None) -> PostList:
    """A page of the home feed, which has no end."""
    posts, unreadable = _cards(items, FEED_SOURCE)
    return PostList(posts, bool(items and cursor), cursor, unreadable=unreadable)


def creator_posts(body: Body) -> PostList:
    """A creator's notes, pinned ones first, or the notes that somebody liked or collected (3.5).

    From the API, or the first ones from a profile page.

    :raises AccessDenied: success without data, or a page without profile (soft).
    """
    content = read.decode(body)
    if isinstance(content, str):
        return _rendered_posts(content)
    data = filled_data(content)
    return _profile_page(dig_list(data, "notes"), data)


def _rendered_posts(page: str) -> PostList:
    """The notes in tab 0 of a profile page; the other tabs are collections and likes (5.6)."""
    user = _rendered_profile(page)
    return _profile_page(dig_list(user, "notes.0"), _first_query(user))


def _profile_page(notes: list[Any], paging: Record) -> PostList:
    """A page of a profile's notes; *paging* says how to go on."""
    posts, unreadable = _cards(notes, PROFILE_SOURCE)
    has_more, cursor = read.flag(paging, "has_more"), read.text(paging, "cursor")
    return PostList(posts, has_more, cursor, unreadable=unreadable)


def _cards(items: list[Any], source: str) -> tuple[list[Post], int]:
    """The notes of a list, and how many cannot be read; suggestions and adverts are neither.

    *source* is where their tokens come from.
    """
    notes = [item for item in items if not isinstance(item, dict) or _is_note(item)]
    return read_rows(notes, partial(_listed, source=source))


def _is_note(item: Record) -> bool:
    return read.text(item, "model_type") in (None, "note")


def _listed(item: Record, source: str) -> Post | None:
    """The note of an item of a list; None without a card or an id."""
    # A profile's list in the API has bare cards, all others wrap them.
    card = read.child(item, "note_card") or (item if "note_id" in item else {})
    note_id = read.identifier(card, "note_id") or read.identifier(item, "id")
    if not card or note_id is None:
        return None
    token = read.text(item, "xsec_token") or read.text(card, "xsec_token")
    return _card(card, note_id, token, source)


def _card(card: Record, note_id: str, token: str | None, source: str) -> Post:
    """A note as lists show it: no text, no time, no tags, no media but the cover."""
    post = _note(card, note_id, token, source)
    post.title = read.text(card, "display_title", "title")
    cover = picture(read.child(card, "cover"), "cover")
    if cover.url:
        post.media = [cover]
    if read.flag(read.child(card, "interact_info"), "sticky"):
        post.extra["is_pinned"] = True
    return post


def _note(card: Record, note_id: str, token: str | None, source: str) -> Post:
    """What cards and details have in common (7)."""
    counts = read.child(card, "interact_info")
    return Post(
        platform=PLATFORM,
        post_id=note_id,
        post_type="video" if _is_video(card) else "image",
        url=post_url(note_id, token, source),
        like_count=read.count(counts, "liked_count"),
        comment_count=read.count(counts, "comment_count"),
        share_count=read.count(counts, "share_count", "shared_count"),
        collect_count=read.count(counts, "collected_count"),
        extra={"xsec_token": token, "xsec_source": source} if token else {},
        **author_fields(read.child(card, "user")),
    )


def _is_video(card: Record) -> bool:
    """A note is a video or pictures; a type that is neither is told by what it carries."""
    kind = read.text(card, "type")
    return kind == "video" or (kind != "normal" and bool(read.child(card, "video")))


# --- One note (5.2) ---------------------------------------------------------------------------


def post(
    body: Body,
    *,
    post_id: str | None = None,
    xsec_token: str | None = None,
    xsec_source: str | None = None,
    prefer_codec: str | None = None,
) -> PostPage:
    """A note in full, from the API, a desktop page or a phone page (3.2, 3.3).

    :param xsec_token: the token that it was asked for with, and *xsec_source* its origin.
    :param prefer_codec: "h264" for the stream that most players know, if there is a choice.
    :raises AccessDenied: a good answer without the note: wrong token or soft block (scope
        "item", soft). Never an empty note.
    """
    note = _asked_note(body, post_id)
    note_id = read.identifier(note, "note_id", "id") or post_id
    if note_id is None:
        raise UnexpectedResponse("'note_card' has no id")
    token = xsec_token or read.text(note, "xsec_token")
    found = _note(note, note_id, token, xsec_source or SEARCH_SOURCE)
    found.title = read.text(note, "title")
    found.text = _prose(note, "desc")
    found.ip_location = read.text(note, "ip_location")
    found.published_at = read.moment(note, "time")
    found.edited_at = read.moment(note, "last_update_time")
    if found.edited_at == found.published_at:
        found.edited_at = None
    found.tags, other_tags = _tags(note)
    found.media = note_media(note, is_video=_is_video(note), prefer_codec=prefer_codec)
    video = read.child(note, "video")
    found.extra |= present(
        mentions=_mentions(note, "at_user_list"),
        other_tags=other_tags,
        video_id=read.identifier(read.child(video, "media"), "video_id"),
        has_live_photo=any(
            read.flag(one, "live_photo") for one in read.children(note, "image_list")
        ),
        subtitles=subtitles(video),
    )
    return PostPage(found)


def _asked_note(body: Body, post_id: str | None) -> Record:
    content = read.decode(body)
    if isinstance(content, str):
        return _rendered_note(content, post_id)
    for item in read.children(api_data(content), "items"):
        card = read.child(item, "note_card")
        note_id = read.identifier(card, "note_id") or read.identifier(item, "id")
        if card and (post_id is None or note_id in (None, post_id)):
            return {"id": note_id, "xsec_token": read.text(item, "xsec_token"), **card}
    raise AccessDenied("no note in the answer: wrong token or soft block", scope="item", soft=True)


def _rendered_note(page: str, post_id: str | None) -> Record:
    state = page_state(page)
    note = _desktop_note(state, post_id) or _phone_note(state)
    if not note or (post_id and read.identifier(note, "note_id", "id") not in (None, post_id)):
        raise page_error(page, state)
    return note


def _desktop_note(state: Record, post_id: str | None) -> Record:
    """``note.noteDetailMap[id].note``; the entry named "undefined" is no note (5.6)."""
    notes = read.child(state, "note")
    known = read.child(notes, "note_detail_map")
    note_id = post_id or read.text(notes, "current_note_id", "first_note_id")
    return read.child(read.child(known, note_id or next(iter(known), "")), "note")


def _phone_note(state: Record) -> Record:
    """The note of either phone page (3.3); the older one names its pictures in two places."""
    shown = read.child(state, "note_data")
    shown = shown or read.child(read.child(state, "LAUNCHER_SSR_STORE_PAGE_DATA"), "note_data")
    note = read.child(read.child(shown, "data"), "note_data") or shown
    if not read.identifier(note, "note_id", "id"):
        return {}
    preloaded = read.children(read.child(shown, "normal_note_preload_data"), "images_list")
    pairs = zip_longest(preloaded, read.children(note, "image_list"))
    return {**note, "imageList": [{**(early or {}), **(late or {})} for early, late in pairs]}


def _tags(note: Record) -> tuple[list[str], list[dict[str, str | None]]]:
    """The topics of a note, and its tags of other kinds (brands, places)."""
    topics: list[str] = []
    others: list[dict[str, str | None]] = []
    for tag in read.children(note, "tag_list"):
        name, kind = read.text(tag, "name"), read.text(tag, "type")
        if name and kind == "topic":
            topics.append(name)
        elif name:
            others.append({"name": name, "type": kind})
    return unique(topics), others


# --- Creators (5.3, 5.5) ----------------------------------------------------------------------


def creator(body: Body, *, creator_id: str | None = None) -> Creator:
    """A profile, from the API or from a profile page.

    :param creator_id: whose profile was asked for: the API does not repeat it (3.4).
    :raises AccessDenied: success without data, a page without profile (both soft), or an
        answer that the platform itself calls a failure (scope "item").
    :raises NotFound: the creator is banned.
    """
    content = read.decode(body)
    if isinstance(content, str):
        user = _rendered_profile(content)
        creator_id = creator_id or read.text(_first_query(user), "user_id")
        return _profile(read.child(user, "user_page_data"), creator_id)
    return _profile(filled_data(content), creator_id)


def _rendered_profile(page: str) -> Record:
    """The part of a page's state that is about the creator; its `userInfo` is the viewer."""
    state = page_state(page)
    user = read.child(state, "user")
    ban = read.child(user, "banned_info")
    if read.flag(ban, "server_banned"):
        raise NotFound("the creator is banned", code=read.integer(ban, "code"))
    if not read.child(user, "user_page_data"):
        raise page_error(page, state)
    return user


def _first_query(user: Record) -> Record:
    """How tab 0 of a profile page was asked for, and how to go on."""
    return next(iter(read.children(user, "note_queries")), {})


def _profile(data: Record, creator_id: str | None) -> Creator:
    basic = read.child(data, "basic_info")
    if read.pick(read.child(data, "result"), "success") is False:
        raise NotFound("the profile is gone or blocked")
    if not basic:
        raise AccessDenied("no profile in the answer", scope="item")
    if creator_id is None:
        raise UnexpectedResponse("a profile does not say whose it is: pass creator_id")
    counts = {
        read.text(one, "type"): read.count(one, "count")
        for one in read.children(data, "interactions")
    }
    verify_type = read.count(read.child(data, "verify_info"), "red_official_verify_type")
    tags = read.children(data, "tags")
    return Creator(
        platform=PLATFORM,
        creator_id=creator_id,
        name=read.text(basic, "nickname", "nick_name"),
        url=creator_url(creator_id),
        avatar=without_resizing(read.text(basic, "imageb", "images")),
        bio=read.text(basic, "desc"),
        gender=_GENDERS.get(read.integer(basic, "gender")),
        ip_location=read.text(basic, "ip_location"),
        follower_count=counts.get("fans"),
        following_count=counts.get("follows"),
        like_count=counts.get("interaction"),  # likes and collects: only their sum is shown
        verified=None if verify_type is None else verify_type > 0,
        extra=present(
            handle=read.text(basic, "red_id"),
            tags=[name for tag in tags if (name := read.text(tag, "name"))],
            tab_public=read.child(data, "tab_public"),
        ),
    )


def search_users(body: Body, *, page: int = 1) -> CreatorList:
    """The creators that a user search found (3.8); *page* as for :func:`search`."""
    data = api_data(body)
    has_more = read.flag(data, "has_more")
    creators, unreadable = read_rows(dig_list(data, "users"), _found_creator)
    return CreatorList(creators, has_more, str(page + 1) if has_more else None, unreadable)


def _found_creator(user: Record) -> Creator | None:
    creator_id = read.identifier(user, "id", "user_id")
    if creator_id is None:
        return None
    verified = read.pick(user, "red_official_verified")
    return Creator(
        platform=PLATFORM,
        creator_id=creator_id,
        name=read.text(user, "name", "nickname"),
        url=creator_url(creator_id),
        avatar=without_resizing(read.text(user, "image")),
        follower_count=read.count(user, "fans"),
        post_count=read.count(user, "note_count"),
        verified=verified if isinstance(verified, bool) else None,
        extra=present(handle=read.text(user, "red_id"), xsec_token=read.text(user, "xsec_token")),
    )


def me(body: Body) -> Viewer:
    """Who is logged in: from user/me, user/selfinfo, or the state of any page (1.3)."""
    content = read.decode(body)
    if isinstance(content, str):
        user = read.child(page_state(content), "user")
        info = read.child(user, "user_info")
        guest = not read.flag(user, "logged_in") or read.flag(info, "guest")
        return Viewer(read.identifier(info, "user_id"), read.text(info, "nickname"), guest)
    data = api_data(content)
    if "result" in data:  # selfinfo, which names no id
        guest = not read.flag(read.child(data, "result"), "success")
        return Viewer(None, None, guest)
    user_id = read.identifier(data, "user_id")
    guest = user_id is None or read.flag(data, "guest")
    return Viewer(user_id, read.text(data, "nickname"), guest)


def login_step(body: Body) -> dict[str, str]:
    """What a step of a login hands out, by the names of the cookies that it becomes (9).

    ``mobile_token`` is no cookie: it proves that the code of a text message was right.

    :raises PlatformError: the step is refused.
    """
    data = api_data(body)
    found = read.child(data, "login_info") or data
    names = {
        "web_session": "session",
        "web_session_sec": "secure_session",
        "mobile_token": "mobile_token",
    }
    return {name: value for name, key in names.items() if (value := read.text(found, key))}


# --- Comments (5.4) ---------------------------------------------------------------------------


def comments(body: Body, *, post_id: str | None = None) -> CommentPage:
    """A page of comments, each followed by the replies that came with it (3.6).

    :raises AccessDenied: success without data (soft).
    """
    data = filled_data(body)
    page = _comment_page(data)
    threads, page.unreadable = read_rows(dig_list(data, "comments"), partial(_thread, post_id))
    for thread in threads:
        page.comments += thread.comments
        page.more_replies |= thread.more_replies
        page.unreadable += thread.unreadable
    return page


def _comment_page(paging: Record) -> CommentPage:
    """A page without its comments yet; *paging* says how to go on."""
    return CommentPage([], read.flag(paging, "has_more"), read.text(paging, "cursor"))


def _thread(post_id: str | None, record: Record) -> CommentPage | None:
    """A comment and the replies that came with it, as a page; None if it has no id."""
    root = _comment(record, post_id)
    if root is None:
        return None
    read_reply = partial(_comment, post_id=root.post_id, root_id=root.comment_id)
    inline, unreadable = read_rows(read.elements(record, "sub_comments"), read_reply)
    has_more = read.flag(record, "sub_comment_has_more")
    more = {root.comment_id: read.text(record, "sub_comment_cursor") or ""} if has_more else {}
    return CommentPage([root, *inline], has_more, None, more, unreadable)


def replies(body: Body, *, post_id: str | None = None, root_id: str | None = None) -> CommentPage:
    """A page of the replies to the comment *root_id* (3.7).

    :param root_id: needed: a reply itself names only the comment that it answers, which may be
        a reply too (5.4).
    :raises AccessDenied: success without data (soft).
    """
    data = filled_data(body)
    if root_id is None:
        raise UnexpectedResponse("replies do not say whose they are: pass root_id")
    page = _comment_page(data)
    read_reply = partial(_comment, post_id=post_id, root_id=root_id)
    page.comments, page.unreadable = read_rows(dig_list(data, "comments"), read_reply)
    return page


def _comment(record: Record, post_id: str | None, root_id: str | None = None) -> Comment | None:
    """A comment, or with a *root_id* a reply; None if the record has no id."""
    comment_id = read.identifier(record, "id")
    if comment_id is None:
        return None
    user = read.child(record, "user_info")
    target = read.child(record, "target_comment") if root_id else {}
    return Comment(
        platform=PLATFORM,
        comment_id=comment_id,
        post_id=read.identifier(record, "note_id") or post_id,
        root_id=root_id,
        reply_to_id=read.identifier(target, "id"),
        text=_prose(record, "content"),
        published_at=read.moment(record, "create_time"),
        like_count=read.count(record, "like_count"),
        reply_count=None if root_id else read.count(record, "sub_comment_count"),
        ip_location=read.text(record, "ip_location"),
        media=[picture(one, "image") for one in read.children(record, "pictures")],
        extra=_comment_extra(record, user, read.child(target, "user_info")),
        **author_fields(user),
    )


def _comment_extra(record: Record, user: Record, answered: Record) -> dict[str, Any]:
    labels = read.elements(record, "show_tags")
    return present(
        is_author="is_author" in labels,
        is_pinned="user_top" in labels,
        status=read.integer(record, "status") or None,  # 2: just posted; -2: hidden, yet delivered
        mentions=_mentions(record, "at_users"),
        reply_to_author_id=read.identifier(answered, "user_id"),
        reply_to_author_name=read.text(answered, "nickname", "nick_name"),
        ai_agent=read.flag(user, "ai_agent"),
    )


# --- Parts of all of them ---------------------------------------------------------------------


def author_fields(user: Record) -> AuthorFields:
    """Who wrote a note (`avatar`) or a comment (`image`)."""
    author_id = read.identifier(user, "user_id")
    return {
        "author_id": author_id,
        "author_name": read.text(user, "nickname", "nick_name"),
        "author_url": creator_url(author_id) if author_id else None,
        "author_avatar": without_resizing(read.text(user, "avatar", "image")),
    }


def _prose(record: Record, name: str) -> str | None:
    """Text as people read it: ``#name[话题]#`` is ``#name`` (7)."""
    text = read.text(record, name)
    return _TOPIC.sub(r"\1", text) if text else None


def _mentions(record: Record, name: str) -> list[dict[str, str | None]]:
    return [
        {"name": read.text(user, "nickname", "nick_name"), "id": read.identifier(user, "user_id")}
        for user in read.children(record, name)
    ]
