"""What Bilibili's answers mean: videos, dynamics, comments, creators, streams, danmaku.

Pure functions; it must not know Scrapy, sessions, or which request comes next. Section
numbers are those of docs/platforms/bilibili.md. Page functions take an answer's bytes, its
text or its decoded JSON and raise :mod:`mediacrawler.exceptions` when it is no data.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from mediacrawler.exceptions import LoginRequired, UnexpectedResponse
from mediacrawler.items import Comment, Creator, Gender, Media, Post
from mediacrawler.pages import Body, CommentPage, CreatorList, PostList, PostPage, Viewer
from mediacrawler.pages.bilibili_answers import (
    PLATFORM,
    author_fields,
    card_media,
    check_code,
    check_page,
    cover_media,
    https_url,
    identifier,
    image_url,
    mentioned,
    only_text,
    payload,
    payload_dict,
    picture_media,
    prose,
    read_answer,
    rows_of,
    seconds,
    whole,
)
from mediacrawler.pages.bilibili_dynamics import article, dynamic, opened, opus_card
from mediacrawler.pages.bilibili_media import danmaku, playurl, streams, subtitles
from mediacrawler.pages.fields import (
    as_dict,
    as_flag,
    as_list,
    as_text,
    count,
    decode_json_at,
    dig_dict,
    dig_list,
    first_known,
    page_text,
    place_of,
    present,
    read_rows,
    timestamp,
    unique,
)
from mediacrawler.signing.bilibili import key_of, mixin_key
from mediacrawler.targets.bilibili import aid_to_bvid, bvid_to_aid, creator_url, post_url

__all__ = [
    "aid_to_bvid",
    "bvid_to_aid",
    "comments",
    "creator",
    "creator_feed",
    "creator_posts",
    "creator_url",
    "danmaku",
    "danmaku_files",
    "login_state",
    "me",
    "parts",
    "playurl",
    "post",
    "post_url",
    "read_answer",
    "replies",
    "search",
    "search_users",
    "streams",
    "subtitles",
    "tags",
    "unresolved_parts",
    "view_page",
    "visitor_cookies",
    "with_streams",
    "with_subtitles",
]

_API = "https://api.bilibili.com"
SEARCH_URL = f"{_API}/x/web-interface/wbi/search/type"
CREATOR_POSTS_URL = f"{_API}/x/space/wbi/arc/search"
COMMENTS_URL = f"{_API}/x/v2/reply/wbi/main"
NAV_URL = f"{_API}/x/web-interface/nav"

SEARCH_CAP = 1000  # results that one search gives at most (section 3.2)
PAGE_SIZE = 20  # search, comments and replies serve 20 rows a page (section 3)
OLD_COMMENT_PAGES = 400  # the old comment list answers -400 behind this page (section 3.6)


# --- Results that say more than the shared ones ---------------------------------------------


@dataclass(slots=True)
class BilibiliPosts(PostList):
    """A :class:`PostList` and what else the page tells.

    `total` is what the platform counts (search: never above 1000, section 3.2); `skipped` rows
    are no posts of this kind (courses, adverts); `collections` are season ids of which the list
    shows one row only (section 3.5).
    """

    total: int | None = None
    skipped: int = 0
    collections: list[str] = field(default_factory=list)


@dataclass(slots=True)
class BilibiliComments(CommentPage):
    """A :class:`CommentPage` and what else the page tells.

    `total` counts all comments and replies of the item. `cut_short`: the list ended although
    much more exists, as it does for visitors without login (section 3.6); without a login that
    is to be reported, with one the missing rows are hidden ones.
    """

    total: int | None = None
    cut_short: bool = False


@dataclass(frozen=True, slots=True)
class LoginState:
    """What the navigation data tells of the cookies it was asked with: keys too (section 1.4)."""

    logged_in: bool
    img_key: str
    sub_key: str
    mixin_key: str
    mid: str | None = None
    name: str | None = None


# --- 3.2, 5.1: search -----------------------------------------------------------------------

_EM = re.compile(r"</?em\b[^>]*>", re.IGNORECASE)


def search(
    body: Body, *, page: int | None = None, until: int | None = None, by_time: bool = False
) -> BilibiliPosts:
    """The videos of a search page (sections 3.2, 5.1); *page* is the one that was asked for.

    Rows that are no videos (courses) are counted as `skipped`. The end is the last page or a
    page without rows; a page whose rows were all seen before is not the end. `cursor` is
    ``<page>`` or ``<page>@<until>``.

    *by_time*: the results run from new to old. Then the end of the 1000 that one search gives
    is no end: the next page is the first of those *until* the oldest time seen (unix seconds).
    """
    data = payload_dict(body, SEARCH_URL)
    rows = _search_rows(data, "video")
    videos = [row for row in rows if as_dict(row).get("type") in (None, "video")]
    posts, unreadable = rows_of(videos, _search_post)
    number, has_more = _search_end(data, rows, page)
    found = BilibiliPosts(
        posts,
        has_more,
        total=count(data.get("numResults")),
        skipped=len(rows) - len(videos),
        unreadable=unreadable,
    )
    if has_more:
        found.cursor = str(number + 1) if until is None else f"{number + 1}@{until}"
    elif by_time and (found.total or 0) >= SEARCH_CAP:
        _go_on_before(found, until)
    return found


def _go_on_before(found: BilibiliPosts, until: int | None) -> None:
    """Lead past the cap: to the results that are not newer than the last ones."""
    times = [int(post.published_at.timestamp()) for post in found.posts if post.published_at]
    oldest = min(times, default=None)
    if oldest is not None and (until is None or oldest < until):
        found.has_more, found.cursor = True, f"1@{oldest}"


def search_users(body: Body, *, page: int | None = None) -> CreatorList:
    """The creators of a user search page (``search_type=bili_user``, section 5.1)."""
    data = payload_dict(body, SEARCH_URL)
    rows = _search_rows(data, "bili_user")
    creators, unreadable = rows_of(rows, _search_creator)
    number, has_more = _search_end(data, rows, page)
    return CreatorList(creators, has_more, str(number + 1) if has_more else None, unreadable)


def _search_rows(data: dict[str, Any], kind: str) -> list[Any]:
    rows = dig_list(data, "result")
    if rows and "result_type" in as_dict(rows[0]):  # the search over all modules
        return [
            row
            for module in rows
            if as_dict(module).get("result_type") == kind
            for row in as_list(module.get("data"))
        ]
    return rows


def _search_end(data: dict[str, Any], rows: list[Any], page: int | None) -> tuple[int, bool]:
    number = page or count(data.get("page")) or 1
    pages = count(data.get("numPages"))
    return number, bool(rows) and (pages is None or number < pages)


def _search_post(row: dict[str, Any]) -> Post:
    danmaku = count(row.get("video_review"))
    bvid = _bvid_of(row)
    return Post(
        PLATFORM,
        bvid,
        "video",
        url=post_url(bvid),
        title=_searched(row.get("title")),
        text=prose(_searched(row.get("description"))),
        published_at=timestamp(row.get("pubdate")),  # senddate moves with every edit
        like_count=count(row.get("like")),
        comment_count=count(row.get("review")),
        collect_count=count(row.get("favorites")),
        view_count=count(row.get("play")),
        tags=_split_tags(row.get("tag")),
        media=card_media(row.get("pic"), row.get("duration")),
        extra=present(
            aid=identifier(row.get("aid")) or identifier(row.get("id")),
            danmaku_count=first_known(danmaku, count(row.get("danmaku"))),
            typename=as_text(row.get("typename")),
            is_paid=as_flag(row.get("is_pay")) or as_flag(row.get("is_charge_video")),
        ),
        **author_fields(row.get("mid"), row.get("author"), row.get("upic")),
    )


def _searched(value: Any) -> str | None:
    """Only search marks hits with ``<em>`` and escapes (section 10): undone here, once."""
    found = as_text(value)
    return as_text(html.unescape(_EM.sub("", found))) if found else None


def _split_tags(value: Any) -> list[str]:
    found = as_text(value)
    return unique(tag.strip() for tag in found.split(",") if tag.strip()) if found else []


def _search_creator(row: dict[str, Any]) -> Creator:
    verify = as_dict(row.get("official_verify"))
    creator = _new_creator(row.get("mid"))
    creator.name = _searched(row.get("uname"))
    creator.avatar = https_url(row.get("upic"))
    creator.bio = _searched(row.get("usign"))
    creator.gender = _gender(row.get("gender"))
    creator.follower_count = count(row.get("fans"))
    creator.post_count = count(row.get("videos"))
    creator.verified = _verified(verify)
    creator.extra = present(
        level=count(row.get("level")),
        official_type=whole(verify.get("type")) if creator.verified else None,
        verified_text=as_text(verify.get("desc")),
        live_room_id=identifier(row.get("room_id")),
    )
    return creator


# --- 3.3, 5.2: videos -----------------------------------------------------------------------


def post(body: Body, *, post_id: str | None = None) -> PostPage:
    """A video (``view``, ``view/detail`` or its page), a dynamic, an opus or an article.

    `related` holds the original of a forward. *post_id* is the one that was asked for.

    :raises NotFound: deleted, hidden or private (sections 3.3, 6).
    """
    page = page_text(body)
    if page is not None:
        return _read_state(page)
    data = payload_dict(body)
    if "item" in data:
        return opened(dig_dict(data, "item"))
    if "View" in data:
        return PostPage(_video(dig_dict(data, "View"), _tag_names(data.get("Tags"))))
    if "publish_time" in data and "content" in data:
        return PostPage(article(data))
    if "fallback" in data:
        raise UnexpectedResponse("an old article: ask with the feature htmlNewStyle")
    if "aid" in data or "bvid" in data:
        return PostPage(_video(data, []))
    raise UnexpectedResponse(f"no post in the answer for {post_id or 'a post'}")


def view_page(body: bytes | str) -> PostPage:
    """The video of an HTML video page: the fallback where the API refuses (section 3.3)."""
    page = page_text(body)
    if page is None:
        raise UnexpectedResponse("not a page")
    return _read_state(page)


def parts(body: Body) -> list[dict[str, Any]]:
    """The parts of a video from ``pagelist``: ``[{cid, page, title, duration_s}]``."""
    return _parts(_payload_list(body))


def tags(body: Body) -> list[str]:
    """The tags of a video from its tag endpoint; background music is none (section 3.3)."""
    return _tag_names(_payload_list(body))


def _payload_list(body: Body) -> list[Any]:
    rows = payload(body)
    if not isinstance(rows, list):
        raise UnexpectedResponse(f"'data' is {type(rows).__name__}, expected a list")
    return rows


_STATE = re.compile(r"window\.__INITIAL_STATE__\s*=\s*")


def _read_state(page: str) -> PostPage:
    check_page(page)
    start = _STATE.search(page)
    if start is None:
        raise UnexpectedResponse("a page without data in it")
    state = as_dict(decode_json_at(page, start.end()))
    error = as_dict(state.get("error"))
    code = whole(error.get("trueCode")) or whole(error.get("code"))
    if code:
        check_code({"code": code, "message": error.get("message")}, "")
    video = as_dict(state.get("videoData")) or as_dict(state.get("videoInfo"))
    if video:
        return PostPage(_video(video, _tag_names(state.get("tags"))))
    if state.get("detail"):
        return opened(dig_dict(state, "detail"))
    raise UnexpectedResponse("a page of something else than a video or a post")


def _video(view: dict[str, Any], tag_names: list[str]) -> Post:
    owner, stat = as_dict(view.get("owner")), as_dict(view.get("stat"))
    rights = as_dict(view.get("rights"))
    pages = _parts(view.get("pages"))
    exclusive = as_flag(view.get("is_upower_exclusive"))
    paid = exclusive or as_flag(rights.get("ugc_pay")) or as_flag(rights.get("arc_pay"))
    bvid = _bvid_of(view)
    return Post(
        PLATFORM,
        bvid,
        "video",
        url=post_url(bvid),
        title=as_text(view.get("title")),
        text=prose(view.get("desc")),
        published_at=timestamp(view.get("pubdate")),  # ctime is the upload (section 10)
        like_count=count(stat.get("like")),
        comment_count=count(stat.get("reply")),
        share_count=count(stat.get("share")),
        collect_count=count(stat.get("favorite")),
        view_count=count(stat.get("view")),
        tags=tag_names,
        media=[*cover_media(view.get("pic")), *_part_media(view)],
        extra=present(
            aid=identifier(view.get("aid")),
            cid=identifier(view.get("cid")) or (pages[0]["cid"] if pages else None),
            coin_count=count(stat.get("coin")),
            danmaku_count=count(stat.get("danmaku")),
            copyright=whole(view.get("copyright")),
            tid=whole(view.get("tid")),
            tid_v2=whole(view.get("tid_v2")),
            typename=as_text(view.get("tname_v2")) or as_text(view.get("tname")),
            pages=pages,
            staff=_staff(view.get("staff")),
            season_id=identifier(as_dict(view.get("ugc_season")).get("id")),
            redirect_url=as_text(view.get("redirect_url")),
            forward=identifier(view.get("forward")),
            argue_msg=as_text(as_dict(view.get("argue_info")).get("argue_msg")),
            is_upower_exclusive=exclusive,
            is_paid=paid,
            mentions=mentioned(
                (node.get("raw_text"), node.get("biz_id"))
                for node in as_list(view.get("desc_v2"))
                if isinstance(node, dict) and node.get("type") == 2
            ),
        ),
        **author_fields(owner.get("mid"), owner.get("name"), owner.get("face")),
    )


def _bvid_of(row: dict[str, Any]) -> str:
    bvid = identifier(row.get("bvid"))
    if bvid:
        return bvid
    try:
        return aid_to_bvid(whole(row.get("aid")) or 0)
    except ValueError:
        raise UnexpectedResponse("a video without number") from None


def _parts(pages: Any) -> list[dict[str, Any]]:
    return [
        present(
            cid=identifier(page.get("cid")),
            page=whole(page.get("page")) or number,
            title=as_text(page.get("part")),
            duration_s=seconds(page.get("duration")),
        )
        for number, page in enumerate(map(as_dict, as_list(pages)), start=1)
        if identifier(page.get("cid"))
    ]


def _part_media(view: dict[str, Any]) -> list[Media]:
    """One video per part; where its streams are is another question (section 3.8)."""
    rows = [as_dict(page) for page in as_list(view.get("pages"))] or [view]
    media: list[Media] = []
    for row in rows:
        dimension = as_dict(row.get("dimension"))
        width, height = count(dimension.get("width")), count(dimension.get("height"))
        if whole(dimension.get("rotate")):
            width, height = height, width
        duration = seconds(row.get("duration"))
        media.append(
            Media("video", width=width or None, height=height or None, duration_s=duration)
        )
    return media


def _staff(rows: Any) -> list[dict[str, Any]]:
    return [
        present(
            mid=identifier(row.get("mid")),
            name=as_text(row.get("name")),
            title=as_text(row.get("title")),
        )
        for row in map(as_dict, as_list(rows))
        if row.get("mid")
    ]


def _tag_names(rows: Any) -> list[str]:
    return unique(
        name
        for row in map(as_dict, as_list(rows))
        if row.get("tag_type") != "bgm" and (name := as_text(row.get("tag_name")))
    )


def with_streams(body: Body, *, post: Post, max_quality: int | None = None) -> PostPage:
    """*post* with the streams of its first part that has none yet (section 3.8)."""
    files = playurl(body, max_quality=max_quality)
    place = post.media.index(next(unresolved_parts(post)))
    return PostPage(replace(post, media=[*post.media[:place], *files, *post.media[place + 1 :]]))


def unresolved_parts(post: Post) -> Iterator[Media]:
    """The parts of a video whose streams were not asked for yet, in order."""
    return (m for m in post.media if m.kind == "video" and m.url is None and m.status is None)


def with_subtitles(body: Body, *, post: Post, aid: str, cid: str) -> PostPage:
    """*post* with the subtitle files of its next part (section 3.9).

    ``extra["subtitles"]`` tells their languages, part by part and in the order of the files.
    """
    found = subtitles(body, aid=aid, cid=cid)
    told = [*post.extra.get("subtitles", []), list(found.files)]
    extra = {**post.extra, "subtitles": told}
    return PostPage(replace(post, media=[*post.media, *found.files.values()], extra=extra))


def danmaku_files(post: Post) -> list[Media]:
    """The danmaku of every part as XML files (section 3.10)."""
    return [
        Media("subtitle", f"https://comment.bilibili.com/{page['cid']}.xml", ext="xml")
        for page in post.extra.get("pages", [])
    ]


# --- 3.5, 3.11, 3.12: lists of a creator ----------------------------------------------------


def creator_posts(
    body: Body, *, cursor: str | None = None, creator_id: str | None = None
) -> BilibiliPosts:
    """One page of a creator's videos, dynamics or opus posts (sections 3.5, 3.11, 3.12).

    *cursor* is the one that was used; *creator_id* fills the author where rows have none.

    :raises LoginRequired: `soft`: the first page of dynamics is empty although there is more,
        which is what visitors get (section 10).
    """
    data = payload_dict(body, CREATOR_POSTS_URL)
    if "list" in data:
        return _arc_search(data)
    if "archives" in data:
        return _archives(data, creator_id)
    if "items" in data:
        return _feed(data, cursor, creator_id)
    raise UnexpectedResponse("no list of posts in the answer")


def creator_feed(body: Body, *, cursor: str | None = None) -> BilibiliPosts:
    """A page of dynamics in which the ones that announce a video are that video's cards.

    So a video is one post, whether a search, a link or its creator's feed names it.
    """
    found = creator_posts(body, cursor=cursor)
    found.posts = [_announced_video(post) for post in found.posts]
    return found


def _announced_video(post: Post) -> Post:
    bvid = post.extra.get("bvid")
    if post.post_type != "video" or not bvid:
        return post
    extra = {"dynamic_id": post.post_id, **post.extra}
    return replace(post, post_id=bvid, url=post_url(bvid), extra=extra)


def _arc_search(data: dict[str, Any]) -> BilibiliPosts:
    rows = dig_list(data, "list.vlist")
    # a course carries a season number where videos have their aid (section 10)
    videos = [row for row in rows if not as_flag(as_dict(row).get("is_lesson_video"))]
    posts, unreadable = rows_of(videos, _arc_post)
    number, more = _numbered_end(as_dict(data.get("page")), ("pn", "ps", "count"), bool(rows))
    return BilibiliPosts(
        posts,
        more,
        str(number + 1) if more else None,
        total=count(as_dict(data.get("page")).get("count")),
        skipped=len(rows) - len(videos),
        unreadable=unreadable,
        collections=unique(
            season
            for row in map(as_dict, videos)
            if as_dict(row.get("meta")).get("attribute") == 156
            and (
                season := identifier(row.get("season_id"))
                or identifier(as_dict(row.get("meta")).get("id"))
            )
        ),
    )


def _numbered_end(
    page: dict[str, Any], names: tuple[str, str, str], rows: bool
) -> tuple[int, bool]:
    """The page number, and whether ``number * size`` is still below the count."""
    number, size, total = (count(page.get(name)) for name in names)
    number = number or 1
    return number, rows and total is not None and number * (size or PAGE_SIZE) < total


def _arc_post(row: dict[str, Any]) -> Post:
    bvid = _bvid_of(row)
    charging = as_flag(row.get("is_charging_arc"))
    return Post(
        PLATFORM,
        bvid,
        "video",
        url=post_url(bvid),
        title=as_text(row.get("title")),
        text=prose(row.get("description")),
        published_at=timestamp(row.get("created")),
        comment_count=count(row.get("comment")),
        view_count=count(row.get("play")),
        media=card_media(row.get("pic"), row.get("length")),
        extra=present(
            aid=identifier(row.get("aid")),
            danmaku_count=count(row.get("video_review")),
            season_id=identifier(row.get("season_id")),
            is_charging=charging,
            is_paid=charging or as_flag(row.get("is_pay")),
        ),
        **author_fields(row.get("mid"), row.get("author")),
    )


def _archives(data: dict[str, Any], creator_id: str | None) -> BilibiliPosts:
    """Members of a collection, or the fallback list by keywords: few fields (section 3.5)."""

    def read(row: dict[str, Any]) -> Post:
        bvid = _bvid_of(row)
        return Post(
            PLATFORM,
            bvid,
            "video",
            url=post_url(bvid),
            title=as_text(row.get("title")),
            published_at=timestamp(row.get("pubdate")),
            view_count=count(as_dict(row.get("stat")).get("view")),
            media=card_media(row.get("pic"), row.get("duration")),
            extra=present(aid=identifier(row.get("aid"))),
            **author_fields(creator_id),
        )

    rows = dig_list(data, "archives")
    posts, unreadable = rows_of(rows, read)
    page = as_dict(data.get("page"))
    names = ("page_num", "page_size", "total") if "page_num" in page else ("num", "size", "total")
    number, more = _numbered_end(page, names, bool(rows))
    return BilibiliPosts(
        posts,
        more,
        str(number + 1) if more else None,
        total=count(page.get("total")),
        unreadable=unreadable,
    )


def _feed(data: dict[str, Any], cursor: str | None, creator_id: str | None) -> BilibiliPosts:
    """Dynamics and opus lists end by ``has_more`` and an offset that moves."""
    rows = dig_list(data, "items")
    offset = identifier(data.get("offset"))
    more = as_flag(data.get("has_more"))
    if more and not rows and not cursor:
        raise LoginRequired("an empty list of posts that claims to have more", soft=True)
    more = more and offset is not None and offset != cursor
    related: list[Post] = []

    def read(row: dict[str, Any]) -> Post:
        if "opus_id" in row:
            return opus_card(row, creator_id)
        item, originals = dynamic(row)
        related.extend(originals)
        return item

    listed = [row for row in rows if not _is_nothing(row)]
    posts, unreadable = rows_of(listed, read)
    return BilibiliPosts(
        posts,
        more,
        offset if more else None,
        related,
        skipped=len(rows) - len(listed),
        unreadable=unreadable,
    )


def _is_nothing(row: Any) -> bool:
    """Adverts, and rows without any id (deleted posts): nothing to keep."""
    if not isinstance(row, dict):
        return False
    return row.get("type") == "DYNAMIC_TYPE_AD" or not (row.get("id_str") or row.get("opus_id"))


# --- 3.4, 5.4: creators ---------------------------------------------------------------------

_GENDERS: dict[str | None, Gender] = {"男": "male", "女": "female", "1": "male", "2": "female"}


def creator(body: Body) -> Creator:
    """A profile from the card (all numbers) or from ``acc/info`` (none), sections 3.4 and 5.4."""
    data = payload_dict(body)
    card = as_dict(data.get("card"))
    if not card:
        return _profile(data)
    found = _profile(card)
    found.follower_count = first_known(count(data.get("follower")), count(card.get("fans")))
    # data.following is whether the visitor follows: not a number (section 3.4)
    found.following_count = first_known(count(card.get("attention")), count(card.get("friend")))
    found.like_count = count(data.get("like_num"))
    found.post_count = count(data.get("archive_count"))
    found.extra |= present(article_count=count(data.get("article_count")))
    return found


def _profile(row: dict[str, Any]) -> Creator:
    official = as_dict(row.get("official")) or as_dict(row.get("Official"))
    official = official or as_dict(row.get("official_verify"))
    vip = as_dict(row.get("vip"))
    found = _new_creator(row.get("mid"))
    found.name = as_text(row.get("name"))
    found.avatar = https_url(row.get("face"))
    found.bio = as_text(row.get("sign"))
    found.gender = _gender(row.get("sex"))
    found.verified = _verified(official)
    title, description = as_text(official.get("title")), as_text(official.get("desc"))
    found.extra = present(
        level=first_known(
            count(row.get("level")), count(as_dict(row.get("level_info")).get("current_level"))
        ),
        official_title=title,
        official_type=whole(official.get("type")) if found.verified else None,
        verified_text=title or description,
        vip=whole(vip.get("status")) == 1 or whole(vip.get("vipStatus")) == 1,
        live_room_id=identifier(as_dict(row.get("live_room")).get("roomid")),
        silence=1 if whole(row.get("silence")) == 1 or whole(row.get("spacesta")) == -2 else None,
    )
    return found


def _new_creator(mid: Any) -> Creator:
    creator_id = identifier(mid)
    if creator_id is None:
        raise UnexpectedResponse("a creator without account number")
    return Creator(PLATFORM, creator_id, url=creator_url(creator_id))


def _gender(value: Any) -> Gender | None:
    return _GENDERS.get(as_text(value))


def _verified(official: dict[str, Any]) -> bool | None:
    kind = whole(official.get("type"))
    return None if kind is None else kind in (0, 1)


# --- 3.6, 3.7, 5.3: comments ----------------------------------------------------------------

_ANSWER_TO = re.compile(r"回复 ?@(.{1,40}?) ?[:：]")


def comments(
    body: Body, *, post_id: str | None = None, cursor: str | None = None
) -> BilibiliComments:
    """One page of top-level comments with the replies shown under them (sections 3.6, 5.3).

    The pinned comment comes up to three times and is kept once, first. *cursor* is the offset
    that was used; *post_id* names the post (a video's is known from the answer).

    :raises NotFound: comments are closed.
    """
    data = payload_dict(body, COMMENTS_URL)
    pinned = _pinned_rows(data)
    rows = [*as_list(data.get("hots")), *dig_list(data, "replies")]
    context = _CommentContext(post_id, identifier(as_dict(data.get("upper")).get("mid")), pinned)
    threads, unreadable = rows_of([*pinned.values(), *rows], context.thread)
    found, more_replies = _flatten(threads)
    page = BilibiliComments(found, False, None, more_replies, unreadable=unreadable)
    if "cursor" in data or "page" not in data:
        _end_of_main(page, dig_dict(data, "cursor"), cursor, rows)
    else:
        _end_of_old_list(page, as_dict(data.get("page")), rows)
    return page


def _end_of_main(
    page: BilibiliComments, state: dict[str, Any], cursor: str | None, rows: list[Any]
) -> None:
    """Any of the end signs ends the walk: `is_end` alone is not enough (section 3.6)."""
    offset = as_dict(state.get("pagination_reply")).get("next_offset")
    is_end = as_flag(state.get("is_end"))
    if rows and not is_end and isinstance(offset, str) and offset not in ("", cursor):
        page.has_more, page.cursor = True, offset
    page.total = count(state.get("all_count"))
    if page.has_more:
        return
    if cursor is None:
        received = sum(1 + (c.reply_count or 0) for c in page.comments if c.root_id is None)
        page.cut_short = (page.total or 0) > received
    else:
        page.cut_short = not rows and not is_end and not page.total


def _end_of_old_list(page: BilibiliComments, state: dict[str, Any], rows: list[Any]) -> None:
    number, more = _numbered_end(state, ("num", "size", "count"), bool(rows))
    page.total = count(state.get("acount"))
    page.cut_short = more and number >= OLD_COMMENT_PAGES
    page.has_more = more and not page.cut_short
    page.cursor = str(number + 1) if page.has_more else None


def _pinned_rows(data: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The pinned comments by rpid; `top` is under `upper` in the old list."""
    top, upper = as_dict(data.get("top")), as_dict(data.get("upper"))
    places = [top.get("upper"), top.get("admin"), top.get("vote"), upper.get("top")]
    rows = [*places, *as_list(data.get("top_replies"))]
    return {rpid: row for row in map(as_dict, rows) if (rpid := _rpid(row))}


def _rpid(row: dict[str, Any]) -> str | None:
    return identifier(row.get("rpid_str")) or identifier(row.get("rpid"))


@dataclass(slots=True)
class _CommentContext:
    """What the rows of one answer do not say themselves."""

    post_id: str | None
    author: str | None
    pinned: Mapping[str, Any] = field(default_factory=dict)

    def thread(self, row: dict[str, Any]) -> tuple[Comment, list[Comment], int]:
        """A top-level comment, the replies shown under it, how many replies it has."""
        root = self.comment(row, {})
        known = {root.comment_id: root}
        # Previews come again with the replies: those that cannot be read are counted there.
        inline, _ = read_rows(as_list(row.get("replies")), lambda r: self.comment(r, known))
        return root, inline, root.reply_count or 0

    def comment(self, row: dict[str, Any], known: dict[str, Comment]) -> Comment:
        """One comment; *known* are those read before it, by id: whom a reply answers."""
        comment_id = _rpid(row)
        if comment_id is None:
            raise UnexpectedResponse("a comment without id")
        member, content = as_dict(row.get("member")), as_dict(row.get("content"))
        control = as_dict(row.get("reply_control"))
        mid = identifier(row.get("mid")) or identifier(member.get("mid"))
        root_id = identifier(row.get("root_str")) or identifier(row.get("root"))
        parent_id = identifier(row.get("parent_str")) or identifier(row.get("parent"))
        found = Comment(
            platform=PLATFORM,
            comment_id=comment_id,
            post_id=self.post_id or _commented_video(row),
            root_id=root_id,
            reply_to_id=parent_id,
            text=as_text(content.get("message")),
            published_at=timestamp(row.get("ctime")),
            like_count=count(row.get("like")),
            # rcount: the visible ones; count holds deleted ones as well (section 3.7)
            reply_count=None
            if root_id
            else first_known(count(row.get("rcount")), count(row.get("count"))),
            ip_location=place_of(control.get("location")),
            media=_comment_pictures(content),
            **author_fields(mid, member.get("uname"), member.get("avatar")),
        )
        found.extra = self._extra(row, found, known)
        known[comment_id] = found
        return found

    def _extra(
        self, row: dict[str, Any], found: Comment, known: dict[str, Comment]
    ) -> dict[str, Any]:
        member, content = as_dict(row.get("member")), as_dict(row.get("content"))
        control, action = as_dict(row.get("reply_control")), as_dict(row.get("up_action"))
        sex = as_text(member.get("sex"))
        names = as_dict(content.get("at_name_to_mid_str")) or as_dict(content.get("at_name_to_mid"))
        people = names.items() if names else _member_names(content)
        mentions = mentioned(people)
        to_id, to_name = _answered(found, known, mentions)
        return present(
            oid=identifier(row.get("oid")),
            type=whole(row.get("type")),
            level=count(as_dict(member.get("level_info")).get("current_level")),
            sex=None if sex == "保密" else sex,
            is_pinned=found.comment_id in self.pinned or as_flag(control.get("is_up_top")),
            is_author=bool(self.author) and found.author_id == self.author,
            liked_by_author=as_flag(action.get("like")) or as_flag(control.get("up_like")),
            up_replied=as_flag(action.get("reply")) or as_flag(control.get("up_reply")),
            reply_to_author_id=to_id,
            reply_to_author_name=to_name,
            mentions=mentions,
            emotes=_emotes(content),
            dialog=identifier(row.get("dialog_str")) or identifier(row.get("dialog")),
        )


def _flatten(
    threads: list[tuple[Comment, list[Comment], int]],
) -> tuple[list[Comment], dict[str, str]]:
    """Each comment once, roots before their replies, and where further replies begin.

    Previews are chosen by heat and not the first rows of the reply list, so that one is
    always read from its first page.
    """
    found: dict[str, Comment] = {}
    more: dict[str, str] = {}
    for root, inline, replies_count in threads:
        for comment in (root, *inline):
            found.setdefault(comment.comment_id, comment)
        if replies_count > len({reply.comment_id for reply in inline}):
            more[root.comment_id] = "1"
    return list(found.values()), more


def _commented_video(row: dict[str, Any]) -> str | None:
    """The video of a comment: `oid` is an aid in areas of type 1 only (section 3.6)."""
    aid = whole(row.get("oid"))
    if whole(row.get("type")) != 1 or not aid or not 0 < aid < 1 << 51:
        return None
    return aid_to_bvid(aid)


def _comment_pictures(content: dict[str, Any]) -> list[Media]:
    rows = map(as_dict, as_list(content.get("pictures")))
    note = as_dict(as_dict(content.get("rich_text")).get("note"))
    media = [
        *(
            picture
            for row in rows
            for picture in picture_media(
                row.get("img_src"), row.get("img_width"), row.get("img_height")
            )
        ),
        *(
            picture
            for url in as_list(note.get("images"))
            for picture in picture_media(only_text(url))
        ),
    ]
    return list({picture.url: picture for picture in reversed(media)}.values())[::-1]


def _member_names(content: dict[str, Any]) -> list[tuple[Any, Any]]:
    rows = map(as_dict, as_list(content.get("members")))
    return [(row.get("uname"), row.get("mid")) for row in rows]


def _emotes(content: dict[str, Any]) -> dict[str, str]:
    return {
        name: url
        for name, emote in as_dict(content.get("emote")).items()
        if (url := image_url(only_text(as_dict(emote).get("url"))))
    }


def _answered(
    found: Comment, known: dict[str, Comment], mentions: list[dict[str, str | None]]
) -> tuple[str | None, str | None]:
    """Account number and name of whom a reply answers, where the answer tells."""
    if found.reply_to_id is None:
        return None, None
    parent = known.get(found.reply_to_id)
    if parent is not None:
        return parent.author_id, parent.author_name
    match = _ANSWER_TO.match(found.text or "")
    if match is None:
        return None, None
    ids = {person["name"]: person["id"] for person in mentions}
    return ids.get(match[1]), match[1]


def replies(
    body: Body, *, post_id: str | None = None, root_id: str | None = None, page: int | None = None
) -> BilibiliComments:
    """One page of the replies to the comment *root_id* (section 3.7).

    :param page: the page that was asked for, where the answer does not say.

    The parent that comes along (`root`) is no reply. Behind the end rows repeat, so the end is
    ``number * size >= count`` or a page without rows.
    """
    data = payload_dict(body)
    rows = dig_list(data, "replies")
    state = as_dict(data.get("page"))
    if page is not None and not count(state.get("num")):
        state = {**state, "num": page}
    context = _CommentContext(post_id, identifier(as_dict(data.get("upper")).get("mid")))
    known: dict[str, Comment] = {}
    if _rpid(as_dict(data.get("root"))):
        context.comment(data["root"], known)
    found, unreadable = rows_of(rows, lambda row: context.comment(row, known))
    once: dict[str, Comment] = {}
    for comment in found:
        once.setdefault(comment.comment_id, comment)
        if comment.root_id is None:
            comment.root_id, comment.reply_count = root_id, None
    number, more = _numbered_end(state, ("num", "size", "count"), bool(rows))
    return BilibiliComments(
        list(once.values()),
        more,
        str(number + 1) if more else None,
        total=count(state.get("count")),
        unreadable=unreadable,
    )


# --- 1.3, 1.4: the session ------------------------------------------------------------------


def login_state(body: Body) -> LoginState:
    """Login state and signing keys from the navigation data (sections 1.4, 4.1).

    A visitor's answer has code -101 and is good all the same: the keys are in it.

    :raises UnexpectedResponse: without keys.
    """
    data = payload_dict(body, NAV_URL)
    keys = as_dict(data.get("wbi_img"))
    img_key = key_of(str(keys.get("img_url")))
    sub_key = key_of(str(keys.get("sub_url")))
    if img_key is None or sub_key is None:
        raise UnexpectedResponse("navigation data without signing keys")
    return LoginState(
        logged_in=as_flag(data.get("isLogin")),
        img_key=img_key,
        sub_key=sub_key,
        mixin_key=mixin_key(img_key, sub_key),
        mid=identifier(data.get("mid")),
        name=as_text(data.get("uname")),
    )


def me(body: Body) -> Viewer:
    """Who is logged in, from the navigation data (section 1.4)."""
    found = login_state(body)
    return Viewer(found.mid, found.name, guest=not found.logged_in)


def visitor_cookies(body: Body) -> dict[str, str]:
    """The visitor's cookies from the finger endpoint: buvid3 and, if given, buvid4 (1.3).

    :raises UnexpectedResponse: without buvid3.
    """
    data = payload_dict(body)
    buvid3 = as_text(data.get("b_3")) or as_text(data.get("buvid"))
    buvid4 = as_text(data.get("b_4"))
    if buvid3 is None:
        raise UnexpectedResponse("no visitor number in the answer")
    return {"buvid3": buvid3, **({"buvid4": buvid4} if buvid4 else {})}
