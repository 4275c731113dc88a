"""Records of Zhihu's answers, articles, pins, zvideos and questions as posts (sections 7 and 8).

Pure functions of one record. Must not know lists, paging or errors. Sections are those of
docs/platforms/zhihu.md.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mediacrawler.items import Media, Post
from mediacrawler.pages.fields import (
    as_dict,
    as_flag,
    as_list,
    as_seconds,
    as_text,
    count,
    place_of,
    present,
    unique,
    with_scheme,
)
from mediacrawler.pages.zhihu_fields import (
    Record,
    as_id,
    author_fields,
    first_count,
    get,
    html_of,
    label_of,
    time_of,
    topics_of,
)
from mediacrawler.pages.zhihu_html import Content, extension, picture, picture_token
from mediacrawler.targets import Target
from mediacrawler.targets.zhihu import find, post_url

PLATFORM = "zhihu"

_KINDS = {
    "answer": "answer",
    "article": "article",
    "pin": "pin",
    "pin_general": "pin",
    "zvideo": "zvideo",
    "question": "question",
}


def kind_of(record: Record, expected: str | None = None) -> str | None:
    """The kind of a record; one that names another kind of thing (a topic) has none."""
    named = record.get("type")
    if isinstance(named, str) and named:
        return _KINDS.get(named)
    if expected in _KINDS:
        return _KINDS[expected]
    target = target_of(as_text(record.get("url")))
    return target.get("content_type") if target else None


def is_deleted(record: Record) -> bool:
    """Pins and zvideos say so; of others the answer is an error."""
    return as_flag(get(record, "is_deleted")) or as_flag(get(record, "is_delete"))


def read_post(record: Record, expected: str | None = None) -> Post | None:
    """The post of a record of any shape; None for what is no post or has no id."""
    kind = kind_of(record, expected)
    post_id = as_id(record.get("id"))
    if kind is None or post_id is None:
        return None
    return _READERS[kind](record, post_id)


def _answer(record: Record, post_id: str) -> Post:
    question = as_dict(record.get("question"))
    question_id = as_id(question.get("id"))
    title = label_of(question, "title") or label_of(question, "name") or label_of(record, "title")
    statistics = _statistics(record)
    post = _base(record, "answer", post_id, ("created_time", "created"))
    post.url = post_url("answer", post_id, question_id)
    post.post_type = "answer"
    post.title = title
    post.collect_count = first_count(record, "favlists_count", "favorites_count")
    if post.collect_count is None:
        post.collect_count = count(get(statistics, "favorites"))
    post.view_count = count(get(record, "visited_count")) or None
    post.share_count = count(get(statistics, "share_count")) or None
    post.tags = topics_of(question)
    post.extra |= present(
        question_id=question_id,
        question_title=title,
        thanks_count=count(get(record, "thanks_count")),
    )
    _add_content(post, html_of(record, "content"), record)
    _add_attachment(post, record)
    _add_access(post, record)
    return post


def _article(record: Record, post_id: str) -> Post:
    statistics = _statistics(record)
    column = as_dict(record.get("column"))
    if not column:
        contributions = as_list(record.get("contributions"))
        column = as_dict(as_dict(contributions[0]).get("column")) if contributions else {}
    post = _base(record, "article", post_id, ("created", "created_time"))
    post.post_type = "article"
    post.collect_count = first_count(record, "favlists_count", "zfav_count")
    if post.collect_count is None:
        post.collect_count = count(get(statistics, "favorites"))
    post.view_count = count(get(record, "visited_count")) or None
    post.tags = topics_of(record)
    post.extra |= present(
        column_id=as_id(column.get("id")) or as_text(get(column, "url_token")),
        column_title=label_of(column, "title"),
    )
    _add_content(post, html_of(record, "content"), record)
    _add_cover(post, as_text(get(record, "title_image")) or as_text(get(record, "image_url")))
    _add_attachment(post, record)
    _add_access(post, record)
    return post


def _pin(record: Record, post_id: str) -> Post:
    content = record.get("content")
    blocks = [as_dict(block) for block in content] if isinstance(content, list) else []
    if isinstance(content, str):
        blocks = [{"type": "text", "content": content}]
    texts = [block for block in blocks if block.get("type") == "text"]
    statistics = _statistics(record)
    post = _base(record, "pin", post_id, ("created", "created_time"))
    # Plain text, unlike all other titles: "vector<int>" is what somebody wrote.
    post.title = next((title for text in texts if (title := as_text(text.get("title")))), None)
    post.like_count = count(get(statistics, "up_vote_count"))
    if post.like_count is None:
        post.like_count = first_count(record, "reaction_count", "like_count")
    post.share_count = count(get(record, "repin_count"))
    post.collect_count = first_count(record, "favlists_count", "favorite_count")
    post.view_count = count(get(record, "page_view_count"))
    post.tags = unique([*_hash_tags(record), *topics_of(record)])
    parts = [html_of(text, "content") for text in texts]
    _add_content(
        post,
        Content(
            text="\n".join(part.text for part in parts if part.text) or None,
            mentions=[mention for part in parts for mention in part.mentions],
            video_ids=[video_id for part in parts for video_id in part.video_ids],
        ),
        record,
    )
    post.media.extend(_pin_pictures(record, blocks))
    for block in blocks:
        if block.get("type") == "video":
            _add_video(post, block)
            _add_cover(post, _thumbnail(block))
    kinds = {media.kind for media in post.media}
    post.post_type = "video" if "video" in kinds else "image" if "image" in kinds else "text"
    _add_repost(post, record)
    if as_flag(get(record, "is_paid_video")):
        post.extra["is_paid"] = True
    return post


def _zvideo(record: Record, post_id: str) -> Post:
    clip = as_dict(record.get("video"))
    post = _base(record, "zvideo", post_id, ("published_at", "created_at"), "updated_at")
    post.post_type = "video"
    post.like_count = first_count(record, "voteup_count", "liked_count")
    post.collect_count = count(get(record, "favorite_count"))
    post.view_count = count(get(record, "play_count"))
    post.tags = topics_of(record)
    _add_content(post, html_of(record, "description"), record)
    if clip:
        _add_video(post, clip)
    _add_cover(post, as_text(get(record, "image_url")) or _thumbnail(clip) or _thumbnail(record))
    if as_flag(get(record, "is_paid")) or as_flag(get(clip, "is_paid")):
        post.extra["is_paid"] = True
    return post


def _question(record: Record, post_id: str) -> Post:
    post = _base(record, "question", post_id, ("created", "created_time"))
    post.post_type = "question"
    post.title = label_of(record, "title") or label_of(record, "name")
    post.view_count = count(get(record, "visit_count"))
    post.tags = topics_of(record)
    post.extra |= present(
        answer_count=count(get(record, "answer_count")),
        follower_count=count(get(record, "follower_count")),
    )
    detail = html_of(record, "detail")
    detail.text = detail.text or label_of(record, "excerpt")
    _add_content(post, detail, record)
    return post


_READERS: dict[str, Callable[[Record, str], Post]] = {
    "answer": _answer,
    "article": _article,
    "pin": _pin,
    "zvideo": _zvideo,
    "question": _question,
}


def _base(
    record: Record,
    kind: str,
    post_id: str,
    created: tuple[str, str],
    updated: str = "updated_time",
) -> Post:
    """What all kinds of posts have in common; *created* and *updated* name their times."""
    published_at = time_of(record, *created)
    edited_at = time_of(record, updated, "updated")
    if edited_at is not None and (published_at is None or edited_at <= published_at):
        edited_at = None
    promoted = as_flag(get(record, "is_zhi_plus_content")) or as_flag(get(record, "is_zhi_plus"))
    collapsed = as_flag(get(record, "is_collapsed"))
    return Post(
        platform=PLATFORM,
        post_id=post_id,
        url=post_url(kind, post_id),
        title=label_of(record, "title"),
        published_at=published_at,
        edited_at=edited_at,
        like_count=count(get(record, "voteup_count")),
        comment_count=count(get(record, "comment_count")),
        ip_location=place_of(get(record, "ip_info")),
        extra=present(content_type=kind, promoted=promoted, collapsed=collapsed),
        **author_fields(record.get("author")),
    )


def _add_content(post: Post, content: Content, record: Record) -> None:
    """Text, pictures, mentions; the excerpt only where it is all that came."""
    post.text = content.text
    if content.text is None:
        post.extra |= present(excerpt=label_of(record, "excerpt"))
    post.media.extend(content.media)
    post.extra |= present(mentions=content.mentions, video_ids=content.video_ids)


def _add_access(post: Post, record: Record) -> None:
    """Whether the post is sold, and whether the text is only the beginning (7)."""
    paid_info = as_dict(get(record, "paid_info"))
    paid = get(record, "answer_type") == "paid" or as_text(paid_info.get("type")) is not None
    preview = (
        as_flag(get(record, "content_need_truncated"))
        or as_flag(get(record, "force_login_when_click_read_more"))
        or (paid and not as_flag(get(paid_info, "has_purchased")))
    )
    post.extra |= present(is_paid=paid, truncated=preview)


def _add_repost(post: Post, record: Record) -> None:
    origin = _origin(record)
    post.repost_of = as_id(origin.get("id"))
    # The number in source_pin_id was seen rounded, so it tells only that there was an original.
    gone = as_flag(get(origin, "is_deleted")) or (
        post.repost_of is None and bool(count(get(record, "source_pin_id")))
    )
    if gone:
        post.extra["original_deleted"] = True


def read_original(record: Record, post: Post) -> Post | None:
    """The original that came inside the record of the repost *post*; None without one."""
    if post.repost_of is None or post.extra.get("original_deleted"):
        return None
    return read_post(_origin(record), "pin")


def _origin(record: Record) -> Record:
    return as_dict(get(record, "origin_pin")) or as_dict(get(record, "repin"))


def _statistics(record: Record) -> Record:
    return as_dict(as_dict(record.get("reaction")).get("statistics"))


def _hash_tags(record: Record) -> list[str]:
    tags = (
        as_text(tag) or label_of(as_dict(tag), "name") or "" for tag in as_list(record.get("tags"))
    )
    return [tag for tag in (tag.strip("# ") for tag in tags) if tag]


# --- 8: media --------------------------------------------------------------------------------


def _add_cover(post: Post, url: str | None) -> None:
    cover = picture(url, "cover") if url else None
    if cover is not None:
        post.media.append(cover)


def _add_attachment(post: Post, record: Record) -> None:
    """The video at the head of an answer; its boxes in the text are the same video."""
    attachment = as_dict(as_dict(record.get("attachment")).get("video"))
    clip = as_dict(get(attachment, "video_info"))
    if not clip:
        return
    _add_video(post, clip)
    _add_cover(post, _thumbnail(clip))
    if as_flag(get(clip, "is_paid")):
        post.extra["is_paid"] = True


def _add_video(post: Post, clip: Record) -> None:
    """The best file of a clip; without an address its id stays in ``extra["video_ids"]``."""
    stream = best_stream(clip.get("playlist"))
    video_id = as_id(get(clip, "video_id"))
    waiting = [known for known in post.extra.get("video_ids", []) if known != video_id]
    if stream is None:
        stream = Media(kind="video", status="missing")
        waiting += [video_id] if video_id else []
    stream.width = stream.width or count(get(clip, "width")) or None
    stream.height = stream.height or count(get(clip, "height")) or None
    stream.duration_s = as_seconds(get(clip, "duration")) or stream.duration_s
    post.media.append(stream)
    post.extra.pop("video_ids", None)
    if waiting:
        post.extra["video_ids"] = waiting


def _thumbnail(clip: Record) -> str | None:
    info = as_dict(get(clip, "cover_info"))
    return (
        as_text(info.get("thumbnail"))
        or as_text(clip.get("thumbnail"))
        or as_text(get(clip, "cover_url"))
    )


_QUALITIES = {"ld": 1, "sd": 2, "hd": 3, "fhd": 4}


def best_stream(playlist: Any) -> Media | None:
    """The tallest file of a playlist (then the one of the highest bitrate) with an address.

    A playlist is an object by quality or a list; the order of its entries means nothing.
    """
    if isinstance(playlist, dict):
        named = [(str(name), as_dict(value)) for name, value in playlist.items()]
    else:
        named = [("", as_dict(value)) for value in as_list(playlist)]
    best: tuple[tuple[int, int, int], Media] | None = None
    for name, entry in named:
        urls = _addresses(get(entry, "play_url")) or _addresses(entry.get("url"))
        if not urls:
            continue
        quality = (name or as_text(entry.get("quality")) or "").lower()
        media = Media(
            kind="video",
            url=urls[0],
            width=count(entry.get("width")) or None,
            height=count(entry.get("height")) or None,
            duration_s=as_seconds(entry.get("duration")),
            ext=extension(urls[0]) or "mp4",
            backup_urls=urls[1:],
        )
        rank = (media.height or 0, count(entry.get("bitrate")) or 0, _QUALITIES.get(quality, 0))
        if best is None or rank > best[0]:
            best = rank, media
    return best[1] if best else None


def _addresses(value: Any) -> list[str]:
    values = value if isinstance(value, list) else [value]
    urls = [url.strip() for url in values if isinstance(url, str)]
    return [url for url in map(with_scheme, urls) if url.startswith(("https://", "http://"))]


def _pin_pictures(record: Record, blocks: list[Record]) -> list[Media]:
    """The pictures of a pin, each once; the best address stands in `content_html` (8)."""
    in_html = {
        picture_token(media.url): media
        for media in html_of(record, "content_html").media
        if media.url is not None
    }
    pictures: dict[str, Media] = {}
    for block in blocks:
        if block.get("type") != "image":
            continue
        urls = [url for name in ("original_url", "url") if (url := as_text(get(block, name)))]
        tokens = [picture_token(url) for url in urls]
        better = next((in_html[token] for token in tokens if token in in_html), None)
        if better is not None and better.url is not None:
            urls.insert(0, better.url)
        if as_flag(get(block, "is_gif")):
            urls.sort(key=lambda url: extension(url) != "gif")  # the others are stills
        size = (block.get("width"), block.get("height"))
        found = next((media for url in urls if (media := picture(url, "image", *size))), None)
        if found is None:
            continue
        if better is not None:
            found.width = found.width or better.width
            found.height = found.height or better.height
        found.backup_urls = [url for url in unique(urls) if url != found.url]
        pictures.setdefault(tokens[0] if tokens else picture_token(urls[0]), found)
    if not any(block.get("type") == "image" for block in blocks):
        return list(in_html.values())
    return list(pictures.values())


# --- 3.9: the hot list -----------------------------------------------------------------------


def area(target: Record, name: str) -> str | None:
    return label_of(as_dict(get(target, name)), "text")


def read_hot_entry(entry: Record) -> Post | None:
    """One entry: a whole question, or the newer shape, where only its link tells the id."""
    target = as_dict(entry.get("target"))
    if target.get("id") is not None:
        return read_post(target, "question")
    link = target_of(as_text(as_dict(target.get("link")).get("url")))
    kind, post_id = "question", None
    if link is not None and link.kind == "post":
        kind, post_id = link.get("content_type") or kind, link.id
    elif (card := as_text(get(entry, "card_id"))) and card.startswith("Q_"):
        post_id = as_id(card[2:])
    if post_id is None:
        return None
    post = read_post({"id": post_id}, kind)
    if post is None:
        return None
    if link is not None and (question_id := link.get("question_id")):
        post.url = post_url(kind, post_id, question_id)
        post.extra["question_id"] = question_id
    post.title = area(target, "title_area")
    post.text = area(target, "excerpt_area")
    if kind == "question":
        answers = count(get(as_dict(get(entry, "feed_specific")), "answer_count"))
        post.extra |= present(answer_count=answers)
    _add_cover(post, as_text(as_dict(get(target, "image_area")).get("url")))
    return post


def target_of(url: str | None) -> Target | None:
    return next(iter(find(url, "post").targets), None) if url else None
