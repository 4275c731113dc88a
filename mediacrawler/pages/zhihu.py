"""What Zhihu's answers mean: JSON of the web API and pages with ``js-initialData``.

Pure functions: content of an answer in; records, cursors or an exception out. Must not know
Scrapy, sessions or which request comes next. Sections are those of docs/platforms/zhihu.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import parse_qs

from mediacrawler.exceptions import LoginRequired, NotFound, PlatformError, UnexpectedResponse
from mediacrawler.items import Comment, Creator, Gender, Media, Post, post_key
from mediacrawler.pages import Body, CommentPage, PostList, PostPage, Viewer
from mediacrawler.pages.fields import (
    as_dict,
    as_flag,
    as_list,
    as_text,
    count,
    decode_json,
    place_of,
    present,
    read_rows,
    unique,
)
from mediacrawler.pages.zhihu_answers import (
    INITIAL_DATA,
    MISSING_PAGE,
    data_of,
    no_comments,
    page_of,
    payload_of,
    read_answer,
)
from mediacrawler.pages.zhihu_fields import (
    Record,
    as_id,
    author_fields,
    avatar_of,
    first_count,
    get,
    html_of,
    is_org,
    label_of,
    member_id_of,
    time_of,
)
from mediacrawler.pages.zhihu_html import Content
from mediacrawler.pages.zhihu_posts import (
    PLATFORM,
    area,
    best_stream,
    is_deleted,
    kind_of,
    read_hot_entry,
    read_original,
    read_post,
    target_of,
)
from mediacrawler.targets.zhihu import creator_url

__all__ = [
    "boxed_video",
    "comments",
    "creator",
    "creator_posts",
    "hot_list",
    "me",
    "post",
    "question_answers",
    "read_answer",
    "replies",
    "search",
    "video",
    "without_video",
]


def search(body: Body, *, cursor: str | None = None) -> PostList:
    """One page of search results, in the order of their `index` (3.1).

    People, topics, cards and other noise are left out; a page without any post is no end.
    The cursor is the whole query of the next page.

    :param cursor: with which this page was asked for; if it comes back, the list has ended.
    """
    payload = payload_of(body)
    rows: list[Any] = []
    for _, entry in sorted(enumerate(data_of(payload)), key=_position):
        if not isinstance(entry, dict):
            rows.append(entry)
        elif entry.get("type") in ("search_result", "zvideo") and entry.get("object"):
            rows.append(entry["object"])
    return _post_list(payload, rows, None, _next_query(payload), cursor)


def post(
    body: Body,
    *,
    post_id: str | None = None,
    content_type: str | None = None,
    url: str | None = None,
) -> PostPage:
    """An answer, article, pin, zvideo or question, from the API or its page (3.2-3.5, 5.10).

    :param post_id: what was asked for. A page holds its neighbours too; without the id (or a
        *url* that tells it) only a page with a single post can be read.
    :param content_type: ``answer``, ``article``, ``pin``, ``zvideo`` or ``question``, where
        the body does not say.
    :param url: the page that was asked for; tells *post_id* and *content_type*.
    :raises NotFound: deleted, or the page does not have it.
    """
    target = target_of(url)
    if target is not None and target.kind == "post":
        post_id = post_id or target.id
        content_type = content_type or target.get("content_type")
    page = page_of(body)
    if page is None:
        record = payload_of(body)
    else:
        record, content_type = _entity(page, post_id, content_type)
    if is_deleted(record):
        raise NotFound("this post has been deleted")
    read = read_post(record, content_type)
    if read is None:
        raise UnexpectedResponse("answer holds no post: 'id' or 'type' is missing")
    return PostPage(read, _originals(record, read))


def _originals(record: Record, post: Post) -> list[Post]:
    original = read_original(record, post)
    return [original] if original is not None else []


def creator(body: Body, *, creator_id: str | None = None) -> Creator:
    """A member, from the API or the people page (3.6).

    :param creator_id: id or url_token that was asked for; a page holds other members too.
    """
    page = page_of(body)
    record = payload_of(body) if page is None else _user(page, creator_id)
    member_id = member_id_of(record)
    if member_id is None:
        raise UnexpectedResponse("answer holds no member: 'id' is missing")
    token = as_text(get(record, "url_token"))
    badges = _badges(record)
    counts = {name: count(get(record, name)) for name in _CREATOR_COUNTS}
    parts = [counts[name] for name in _POST_COUNTS]
    identity = next((text for kind, text in badges if kind == "identity"), None)
    known = [part for part in parts if part is not None]
    return Creator(
        platform=PLATFORM,
        creator_id=member_id,
        name=label_of(record, "name"),
        url=creator_url(token or member_id, "org" if is_org(record) else "people"),
        avatar=avatar_of(record),
        bio=html_of(record, "description").text or html_of(record, "headline").text,
        gender=_gender(get(record, "gender")),
        ip_location=place_of(get(record, "ip_info")),
        follower_count=count(get(record, "follower_count")),
        following_count=count(get(record, "following_count")),
        like_count=count(get(record, "voteup_count")),
        post_count=sum(known) if len(known) == len(parts) else None,
        verified=identity is not None,
        extra=present(
            handle=token,
            headline=label_of(record, "headline"),
            **counts,
            is_org=is_org(record),
            badges=[{"type": kind, "description": text} for kind, text in badges],
            verified_text=identity,
            account_status=as_list(get(record, "account_status")),
            is_privacy_protected=as_flag(get(record, "is_privacy_protected")),
        ),
    )


def me(body: Body) -> Viewer:
    """Who is logged in: nobody, if the answer has neither `uid` nor `id` (section 1)."""
    payload = payload_of(body)
    user_id = member_id_of(payload) or as_text(payload.get("uid"))
    return Viewer(user_id, as_text(payload.get("name")), guest=user_id is None)


def creator_posts(
    body: Body, *, cursor: str | None = None, content_type: str | None = None
) -> PostList:
    """One page of a creator's answers, articles, zvideos, pins or questions (3.7).

    Activities are read too; of those only what the creator made. The cursor is the offset.

    :param cursor: with which this page was asked for; if it comes back, the list has ended.
    :param content_type: what the list holds, for records that do not say.
    """
    payload = payload_of(body)
    _raise_for_soft_refusal(payload, cursor)
    return _post_list(payload, _entries(payload), content_type, _next_offset(payload), cursor)


def question_answers(body: Body, *, cursor: str | None = None) -> PostList:
    """One page of the answers below a question, by offset or by cursor (3.2).

    Adverts and recommended cards between the answers are left out. The cursor is the whole
    query of the next page. The number of answers that the question tells is never reached.

    :param cursor: with which this page was asked for; if it comes back, the list has ended.
    """
    payload = payload_of(body)
    _raise_for_soft_refusal(payload, cursor)
    rows = [
        row
        for row in _entries(payload)
        if not isinstance(row, dict) or kind_of(row, "answer") == "answer"
    ]
    return _post_list(payload, rows, "answer", _next_query(payload), cursor)


def hot_list(body: Body) -> PostList:
    """The hot list in its old or new shape (3.9); `extra` has ``rank`` and ``heat``."""
    payload = payload_of(body)
    posts: list[Post] = []
    unreadable = 0
    for rank, entry in enumerate(data_of(payload), start=1):
        post = read_hot_entry(entry) if isinstance(entry, dict) else None
        target = as_dict(as_dict(entry).get("target"))
        if post is None:
            unreadable += not target.get("link")  # one to something else is an advert's
            continue
        heat = area(target, "metrics_area") or as_text(entry.get("detail_text")) or ""
        post.extra |= present(rank=rank, heat=count(heat.replace("热度", "")))
        posts.append(post)
    return PostList(posts, has_more=False, unreadable=unreadable)


def video(body: Body, *, video_id: str | None = None) -> Media:
    """The best file of a video, from `play_info` or the older lens address (3.5).

    :raises NotFound: no address is told.
    """
    payload = payload_of(body)
    playlist = as_dict(payload.get("video_play")).get("playlist", payload.get("playlist"))
    if isinstance(playlist, dict) and isinstance(playlist.get("mp4"), list):
        playlist = playlist["mp4"]
    stream = best_stream(playlist)
    if stream is None:
        raise NotFound(f"video {video_id or ''} has no address".replace("  ", " "))
    return stream


def boxed_video(body: Body, *, post: Post, video_id: str) -> PostPage:
    """*post* with the file of a video that is shown in a box of its text (3.5).

    :raises NotFound: no address is told.
    """
    return _with_video(post, video_id, video(body, video_id=video_id))


def without_video(post: Post, video_id: str) -> PostPage:
    """*post* where the address of a boxed video could not be had: the file is missing."""
    return _with_video(post, video_id, Media(kind="video", status="missing"))


def _with_video(post: Post, video_id: str, media: Media) -> PostPage:
    extra = dict(post.extra)
    waiting = [known for known in extra.pop("video_ids", []) if known != video_id]
    if waiting:
        extra["video_ids"] = waiting
    return PostPage(replace(post, media=[*post.media, media], extra=extra))


def comments(
    body: Body,
    *,
    post_id: str | None = None,
    content_type: str | None = None,
    cursor: str | None = None,
) -> CommentPage:
    """One page of top-level comments, each followed by its embedded replies (3.8).

    `more_replies` names the roots that have more; their pages start at the empty cursor and
    repeat the embedded replies. A missing list is an empty one: no comments, or closed.

    :param content_type: kind of the post, where the comments do not say.
    :param cursor: with which this page was asked for; if it comes back, the list has ended.
    """
    try:
        payload = payload_of(body)
    except NotFound:
        payload = no_comments()
    _raise_for_soft_refusal(payload, cursor)
    read = partial(_thread, post_id=post_id, content_type=content_type)
    threads, unreadable = read_rows(_comment_rows(data_of(payload)), read)
    found: dict[str, Comment] = {}
    more: dict[str, str] = {}
    for root, embedded, lost, has_more in threads:
        if root.comment_id in found:
            continue
        for comment in (root, *embedded):
            found.setdefault(comment.comment_id, comment)
        if has_more:
            more[root.comment_id] = ""  # they come again there, the lost ones too
        else:
            unreadable += lost
    page = _comment_page(payload, list(found.values()), cursor, unreadable)
    page.more_replies = more
    return page


def _thread(
    record: Record, *, post_id: str | None, content_type: str | None
) -> tuple[Comment, list[Comment], int, bool] | None:
    """A root, its embedded replies, how many cannot be read, and whether there are more."""
    root = _comment(record, post_id, content_type, root_id=None)
    if root is None:
        return None
    rows = _comment_rows(as_list(get(record, "child_comments")))
    embedded, lost = read_rows(
        rows, lambda row: _comment(row, post_id, content_type, root.comment_id)
    )
    has_more = root.root_id is None and _has_more_replies(root, len(embedded), record)
    return root, embedded, lost, has_more


def replies(
    body: Body,
    *,
    post_id: str | None = None,
    root_id: str | None = None,
    content_type: str | None = None,
    cursor: str | None = None,
) -> CommentPage:
    """One page of the replies to the top-level comment *root_id* (3.8).

    :param content_type: kind of the post, where the comments do not say.
    :param cursor: with which this page was asked for; if it comes back, the list has ended.
    """
    payload = payload_of(body)
    root_id = root_id or as_id(as_dict(payload.get("root")).get("id"))

    def read(record: Record) -> Comment | None:
        root = root_id or as_id(get(record, "reply_root_comment_id"))
        return _comment(record, post_id, content_type, root)

    comments, unreadable = read_rows(_comment_rows(data_of(payload)), read)
    found: dict[str, Comment] = {}
    for comment in comments:
        if comment.comment_id != comment.root_id:
            found.setdefault(comment.comment_id, comment)
    return _comment_page(payload, list(found.values()), cursor, unreadable)


# --- 3: lists and paging ---------------------------------------------------------------------

_OWN_VERBS = frozenset(
    (
        "MEMBER_ANSWER_QUESTION",
        "ANSWER_CREATE",
        "MEMBER_CREATE_ARTICLE",
        "ARTICLE_CREATE",
        "MEMBER_CREATE_PIN",
        "PIN_CREATE",
        "MEMBER_CREATE_ZVIDEO",
        "ZVIDEO_CREATE",
        "QUESTION_CREATE",
    )
)


def _entries(payload: Record) -> Iterator[Any]:
    """The rows of a list: bare, or under `target` of a card or an activity."""
    for entry in data_of(payload):
        if not isinstance(entry, dict):
            yield entry
            continue
        verb = as_text(entry.get("verb"))
        if verb is not None and verb not in _OWN_VERBS:
            continue  # liked or followed by the member, made by others
        if verb is None and "target" not in entry and "target_type" not in entry:
            yield entry
        elif as_text(entry.get("type")) != "feed_advert" and entry.get("target"):
            yield entry["target"]


def _position(numbered: tuple[int, Any]) -> int:
    """The place of a search entry: its `index`, else where it stands."""
    place, entry = numbered
    index = count(as_dict(entry).get("index"))
    return place if index is None else index


def _is_noise(row: Any, content_type: str | None) -> bool:
    """Things of another kind than posts, and deleted posts: not to be kept, and not lost."""
    if not isinstance(row, dict):
        return False
    names_other = bool(as_text(row.get("type"))) and kind_of(row, content_type) is None
    return names_other or is_deleted(row)


def _post_list(
    payload: Record,
    rows: Iterable[Any],
    content_type: str | None,
    following: str | None,
    cursor: str | None,
) -> PostList:
    """The posts of a page, each once, deleted ones left out; originals of reposts beside them.

    An empty page does not end a list of posts; `is_end` and the guards do (3).
    """

    def read(record: Record) -> PostPage | None:
        post = read_post(record, content_type)
        return PostPage(post, _originals(record, post)) if post is not None else None

    found, unreadable = read_rows((row for row in rows if not _is_noise(row, content_type)), read)
    posts: dict[str, Post] = {}
    related: dict[str, Post] = {}
    for one in found:
        posts.setdefault(post_key(one.post), one.post)
        for original in one.related:
            related.setdefault(original.post_id, original)
    page = PostList(list(posts.values()), False, None, list(related.values()), unreadable)
    if following and not _is_end(payload) and not _same_place(following, cursor):
        page.has_more, page.cursor = True, following
    return page


def _comment_page(
    payload: Record, found: list[Comment], cursor: str | None, unreadable: int
) -> CommentPage:
    """An empty page ends comments, also where `is_end` says false for ever (3.8)."""
    following = _next_offset(payload)
    if not data_of(payload) or _is_end(payload) or not following or _same_place(following, cursor):
        return CommentPage(found, has_more=False, unreadable=unreadable)
    return CommentPage(found, has_more=True, cursor=following, unreadable=unreadable)


def _raise_for_soft_refusal(payload: Record, cursor: str | None) -> None:
    """An empty first page that is no end, of a list that is said to have entries (6)."""
    paging = as_dict(payload.get("paging"))
    first = not cursor and paging.get("is_start") is True
    if first and not data_of(payload) and not _is_end(payload) and count(paging.get("totals")):
        raise UnexpectedResponse("an empty page of a list that is not empty", soft=True)


def _is_end(payload: Record) -> bool:
    return as_flag(get(as_dict(payload.get("paging")), "is_end"))


def _next_query(payload: Record) -> str | None:
    """The query of `paging.next`, whatever host and scheme that names (3)."""
    following = as_text(as_dict(payload.get("paging")).get("next"))
    return (following.partition("#")[0].partition("?")[2] or None) if following else None


def _next_offset(payload: Record) -> str | None:
    return _offset(_next_query(payload) or "")


def _offset(query: str) -> str | None:
    return parse_qs(query).get("offset", [None])[0]


def _same_place(following: str, cursor: str | None) -> bool:
    """Whether the next page is the one just read: trap 7 of section 10."""
    if not cursor:
        return False
    return following == cursor or (
        "=" in following
        and "cursor=" not in following
        and _offset(following) == (_offset(cursor) if "=" in cursor else cursor)
    )


# --- 5.10: data inside a page ----------------------------------------------------------------

_ENTITY_NAMES = {
    "answer": "answers",
    "article": "articles",
    "pin": "pins",
    "zvideo": "zvideos",
    "question": "questions",
}


def _state(page: str) -> Record:
    """`initialState` of a page.

    :raises NotFound: the page of a missing thing.
    """
    match = INITIAL_DATA.search(page)
    if match is None and MISSING_PAGE in page:
        raise NotFound("this page does not exist (any more)", code=404)
    if match is None:
        raise UnexpectedResponse("page without js-initialData")
    return as_dict(as_dict(decode_json(match[1])).get("initialState"))


def _entity(page: str, post_id: str | None, content_type: str | None) -> tuple[Record, str]:
    """The record of the wanted post, and its kind; joined with its question and author."""
    state = _state(page)
    entities = as_dict(state.get("entities"))
    kinds = [content_type] if content_type in _ENTITY_NAMES else list(_ENTITY_NAMES)
    for kind in kinds:
        found = as_dict(entities.get(_ENTITY_NAMES[kind]))
        if post_id is None and len(found) == 1:
            post_id = next(iter(found))
        record = as_dict(found.get(post_id)) if post_id else {}
        if record:
            return _joined(record, entities), kind
    raise _missing(page, state, f"{content_type or 'post'} {post_id or ''}")


def _joined(record: Record, entities: Record) -> Record:
    """Topics stand only under the question; a zvideo's author is a key into `users`."""
    joined = dict(record)
    question = as_dict(record.get("question"))
    question_id = as_id(question.get("id"))
    if question_id:
        whole = as_dict(as_dict(entities.get("questions")).get(question_id))
        joined["question"] = {**whole, **question}
    author = record.get("author")
    if isinstance(author, str):
        joined["author"] = as_dict(entities.get("users")).get(author)
    return joined


def _user(page: str, creator_id: str | None) -> Record:
    state = _state(page)
    users = as_dict(as_dict(state.get("entities")).get("users"))
    if creator_id is None and len(users) == 1:
        return as_dict(next(iter(users.values())))
    for key, user in users.items():
        record = as_dict(user)
        names = (key, record.get("id"), get(record, "url_token"))
        if creator_id is not None and creator_id in names:
            return record
    raise _missing(page, state, f"member {creator_id or ''}")


def _missing(page: str, state: Record, what: str) -> PlatformError:
    """Why a page does not have what was asked for: gone, a login wall, or unknown (5.10)."""
    if MISSING_PAGE in page:
        return NotFound("this page does not exist (any more)", code=404)
    entities = as_dict(state.get("entities"))
    empty = not any(entities.get(name) for name in (*_ENTITY_NAMES.values(), "users"))
    if empty and as_dict(state.get("env")).get("logged") is False:
        return LoginRequired("the page shows nothing without a login")
    return UnexpectedResponse(f"page without {what.strip()}")


# --- 7: creators and comments ----------------------------------------------------------------

_POST_COUNTS = ("answer_count", "articles_count", "zvideo_count", "pins_count")
_CREATOR_COUNTS = (
    *_POST_COUNTS,
    "question_count",
    "columns_count",
    "thanked_count",
    "favorited_count",
)


def _gender(value: Any) -> Gender | None:
    number = -1 if isinstance(value, bool) else count(value)
    return "male" if number == 1 else "female" if number == 0 else None


def _badges(record: Record) -> list[tuple[str, str]]:
    """(type, description) of each badge, from both places where they stand."""
    detailed = as_list(get(as_dict(get(record, "badge_v2")), "detail_badges"))
    found: list[tuple[str, str]] = []
    for value in [*as_list(record.get("badge")), *detailed]:
        badge = as_dict(value)
        kind = as_text(badge.get("type"))
        if kind:
            found.append((kind, label_of(badge, "description") or label_of(badge, "title") or ""))
    return unique(found)


def _comment_rows(values: list[Any]) -> list[Any]:
    """Only entries of type ``comment`` are comments (5.7)."""
    return [row for row in values if as_dict(row).get("type") in (None, "comment")]


def _comment(
    record: Record, post_id: str | None, content_type: str | None, root_id: str | None
) -> Comment | None:
    """A comment of the new or the legacy API; None without an id.

    *root_id* is that of the list it came from: None in a list of top-level comments.
    """
    comment_id = as_id(record.get("id"))
    if comment_id is None:
        return None
    reply_to = as_id(get(record, "reply_comment_id"))
    if root_id is None and reply_to is not None:
        named = as_id(get(record, "reply_root_comment_id"))
        root_id = named if named != comment_id else None
    deleted = as_flag(get(record, "is_delete"))
    content = Content() if deleted else html_of(record, "content")
    writer, answered = _person(record.get("author")), _person(get(record, "reply_to_author"))
    likes = first_count(record, "like_count", "vote_count")
    pinned = as_flag(record.get("top")) or as_flag(get(record, "is_author_top"))
    answered_author = author_fields(answered)
    return Comment(
        platform=PLATFORM,
        comment_id=comment_id,
        post_id=post_id,
        root_id=root_id,
        reply_to_id=reply_to,
        text=content.text,
        published_at=time_of(record, "created_time"),
        like_count=likes,
        reply_count=count(get(record, "child_comment_count")) if root_id is None else None,
        ip_location=_comment_place(record),
        media=content.media,
        extra=present(
            content_type=as_text(get(record, "resource_type")) or content_type,
            is_author=_by_author(record),
            is_pinned=pinned,
            hot=as_flag(record.get("hot")),
            deleted=deleted,
            dislike_count=count(get(record, "dislike_count")),
            reply_to_author_id=answered_author["author_id"],
            reply_to_author_name=answered_author["author_name"],
            mentions=content.mentions,
        ),
        **author_fields(writer),
    )


def _has_more_replies(root: Comment, embedded: int, record: Record) -> bool:
    if root.reply_count is not None:
        return root.reply_count > embedded
    return as_text(get(record, "child_comment_next_offset")) is not None


def _person(value: Any) -> Record:
    """An author; the legacy API wraps them as ``{role, member}``."""
    record = as_dict(value)
    return as_dict(record.get("member")) or record


def _by_author(record: Record) -> bool:
    """Written by the author of the post: a tag says so (`is_author` is about the viewer)."""
    tags = (as_dict(tag) for tag in as_list(get(record, "author_tag")))
    return as_dict(record.get("author")).get("role") == "author" or any(
        as_text(tag.get("text")) == "作者" for tag in tags
    )


def _comment_place(record: Record) -> str | None:
    for tag in as_list(get(record, "comment_tag")):
        if as_dict(tag).get("type") == "ip_info":
            return place_of(as_dict(tag).get("text"))
    return place_of(get(record, "address_text"))
