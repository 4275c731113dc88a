"""What a response MEANS, one file a platform; pure functions without Scrapy and I/O.

Every platform module offers the same functions, callable from plain Python with the bytes
of an answer (or its decoded JSON, or the text of a page):

=====================================  ====================================================
``read_answer(status, headers, body)`` decoded content of a good answer, else an exception
``search(body, ...)``                  :class:`PostList` of a keyword
``post(body, ...)``                    :class:`PostPage`
``creator(body, ...)``                 :class:`~mediacrawler.items.Creator`
``creator_posts(body, ...)``           :class:`PostList` of a creator
``comments(body, ...)``                :class:`CommentPage` (with the replies delivered inline)
``replies(body, *, root_id, ...)``     :class:`CommentPage` of the top-level comment *root_id*
``me(body)``                           :class:`Viewer`: whom the platform takes a session for
=====================================  ====================================================

They return data or raise one of :mod:`mediacrawler.exceptions`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias, TypedDict

from mediacrawler.items import Comment, Creator, Post

Body: TypeAlias = "bytes | str | dict[str, object]"
"""An answer's bytes, its text, or its decoded JSON object."""


@dataclass(slots=True)
class PostList:
    """One page of a list of posts, as cards: without what only the detail tells.

    `cursor` asks for the next page (text, also where the platform counts pages). The list
    ends when `has_more` is false; what the page carries is kept all the same. `related` are
    other posts that came inside cards (the originals of reposts).
    """

    posts: list[Post]
    has_more: bool
    cursor: str | None = None
    related: list[Post] = field(default_factory=list)
    unreadable: int = 0
    """Rows that should be posts and cannot be read."""
    fresh_start: bool = False
    """What follows is another list (a time window, a tab): that this page brought nothing new
    says nothing about it."""


@dataclass(slots=True)
class CreatorList:
    """One page of a user search; `has_more` and `cursor` as in :class:`PostList`."""

    creators: list[Creator]
    has_more: bool
    cursor: str | None = None
    unreadable: int = 0
    """Rows that should be creators and cannot be read."""


@dataclass(slots=True)
class PostPage:
    """The detail of a post, and other posts that came with it (the original of a repost)."""

    post: Post
    related: list[Post] = field(default_factory=list)
    session: str | None = None
    """The account that read it; set by the crawl, never by a page function."""


class AuthorFields(TypedDict):
    """The fields in which posts and comments name who wrote them; every platform reads them in
    its own ``author_fields``."""

    author_id: str | None
    author_name: str | None
    author_url: str | None
    author_avatar: str | None


@dataclass(frozen=True, slots=True)
class Viewer:
    """Whom the platform takes a session for; a guest can have an id too, but sees little."""

    user_id: str | None
    name: str | None
    guest: bool


@dataclass(slots=True)
class CommentPage:
    """One page of comments or replies, in the platform's order, each root before its replies.

    `more_replies` maps a root's comment_id to the cursor from which its further replies are
    to be asked for; roots whose replies were all delivered inline are not in it.
    """

    comments: list[Comment]
    has_more: bool
    cursor: str | None = None
    more_replies: dict[str, str] = field(default_factory=dict)
    unreadable: int = 0
    """Rows that should be comments and cannot be read."""
