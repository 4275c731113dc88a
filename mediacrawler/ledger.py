"""The bookkeeping of a crawl: what was asked, found, saved, skipped, failed and is still due.

Plain picklable Python: it decides which posts may be opened and which pages are wanted, so
that limits are exact, and it is what the report is written from. It knows neither Scrapy
nor platforms; `mediacrawler.spiders.base` turns its decisions into requests.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from mediacrawler.items import Comment, Post, post_key
from mediacrawler.pages import CommentPage

SeedKind = Literal["keyword", "creator", "posts", "list"]


def _room(limit: int | None, used: int) -> bool:
    return limit is None or used < limit


@dataclass(slots=True)
class Seed:
    """One keyword, one creator, all the posts that were named by link or id, or another list.

    `wanted` is the number of posts to save (None: all). A post is "opening" from the moment
    its detail is asked for until it is saved, skipped or failed; never more posts are opened
    than may still be saved, so the limit is never exceeded and a deleted post is replaced.
    """

    kind: SeedKind
    value: str
    wanted: int | None
    index: int = 0
    """Its place in the ledger: what requests carry instead of the seed itself."""
    context: dict[str, str] = field(default_factory=dict)
    session: str | None = None
    """The account that reads the list."""
    asked: int | None = None
    cursor: str | None = None
    pages: int = 0
    idle_pages: int = 0
    """List pages in a row that brought nothing new."""
    listing: bool = False
    chronological: bool = False
    """The list runs from new to old: one unpinned post before `since` ends it."""
    ended: str | None = None
    list_error: str | None = None
    found: int = 0
    saved: int = 0
    duplicates: int = 0
    opening: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    failed: dict[str, str] = field(default_factory=dict)
    caveat: str | None = None
    """What a list cannot show to such a session; it matters if the list ends early."""
    spare: list[Post] = field(default_factory=list)
    """Cards of posts whose detail failed: kept, and saved where room is left at the end."""
    _seen: set[str] = field(default_factory=set)
    _waiting: deque[Post] = field(default_factory=deque)
    _claimed: set[str] = field(default_factory=set)

    def offer(
        self,
        cards: list[Post],
        claimed: set[str],
        unwanted: Callable[[Post], str | None] = lambda card: None,
    ) -> bool:
        """Take a page of cards; says whether any was new to this seed.

        *claimed* holds the ids that any seed has opened: a post is collected once in a crawl.
        A card that only waits is not claimed; beyond the limit of this seed another may want it.
        *unwanted* says why a card need not even be opened.
        """
        self._claimed = claimed
        news = False
        for card in cards:
            key = post_key(card)
            if key in self._seen:
                self.duplicates += 1
                continue
            news = True
            self._seen.add(key)
            if key in claimed:
                self.duplicates += 1
                continue
            self.found += 1
            why = unwanted(card)
            if why:
                self.skipped[why] += 1
                continue
            self._waiting.append(card)
        return news

    def draw(self) -> list[Post]:
        """The cards to open now; they count as opening from here on."""
        cards: list[Post] = []
        while self._waiting and _room(self.wanted, self.saved + self.opening):
            card = self._waiting.popleft()
            key = post_key(card)
            if key in self._claimed:  # another seed was faster
                self.found -= 1
                self.duplicates += 1
                continue
            self._claimed.add(key)
            cards.append(card)
            self.opening += 1
        return cards

    def wants_page(self, lookahead: int) -> bool:
        """Whether to ask for the next list page: room is left and the work at hand runs low."""
        if self.listing or self.ended:
            return False
        in_hand = self.opening + len(self._waiting)
        return in_hand < lookahead and _room(self.wanted, self.saved + in_hand)

    def end(self, why: str) -> None:
        """No further list pages; the first reason counts."""
        self.ended = self.ended or why

    def end_by_dates(self) -> None:
        """The list has left the dates: what waits of it is older still."""
        self.end("dates")
        self._waiting.clear()

    def post_saved(self) -> None:
        """An opening post became a record."""
        self.opening -= 1
        self.saved += 1

    def post_skipped(self, why: str) -> None:
        """An opening post is not there for us (deleted, private) or not wanted (dates, type)."""
        self.opening -= 1
        self.skipped[why] += 1

    def post_failed(self, card: Post, why: str) -> None:
        """An opening post could not be read although it may exist."""
        self.opening -= 1
        self.failed[card.post_id] = why
        if self.kind != "posts":  # a link says nothing but the id
            self.spare.append(card)

    def spare_cards(self) -> list[Post]:
        """Cards of failed posts to save as incomplete records, once the seed is exhausted."""
        if self.opening or self.listing or not self.ended or self._waiting:
            return []
        cards: list[Post] = []
        while self.spare and _room(self.wanted, self.saved):
            cards.append(self.spare.pop(0))
            self.saved += 1
        return cards

    @property
    def finished(self) -> bool:
        """Nothing is due any more: the limit is reached or the list has ended."""
        if self.opening or self.listing:
            return False
        if not _room(self.wanted, self.saved):
            return True
        return bool(self.ended) and not self._waiting

    @property
    def outcome(self) -> str:
        """Why the seed ended, in the words of the report."""
        if self.list_error:
            return f"list failed: {self.list_error}"
        if not self.finished:
            return "stopped before the end"
        if not _room(self.wanted, self.saved):
            return "limit reached"
        return f"{self.ended}; {self.caveat}" if self.caveat else self.ended or "end"


@dataclass(slots=True)
class Gap:
    """Comments of a post that could not be collected, and where to go on."""

    post_id: str
    root_id: str | None
    cursor: str | None
    why: str


@dataclass(slots=True)
class Thread:
    """The replies of one top-level comment that are being paged."""

    collected: int
    cursor: str


@dataclass(slots=True)
class CommentWalk:
    """The comments of one post, page by page, each comment once, limits exact.

    `wanted` counts top-level comments, `replies_wanted` the replies of each of them.
    """

    post: Post
    wanted: int | None
    replies_wanted: int | None
    session: str | None = None
    """The account that reads them."""
    idle_limit: int = 1
    """So many pages in a row without a new comment end the walk."""
    idle_pages: int = 0
    collected: int = 0
    replies: int = 0
    paging: bool = False
    cursor: str | None = None
    threads: dict[str, Thread] = field(default_factory=dict)
    gaps: list[Gap] = field(default_factory=list)
    _seen: set[str] = field(default_factory=set)

    def take(self, page: CommentPage) -> list[Comment]:
        """Keep what the limits allow of a page of top-level comments with inline replies.

        Afterwards `cursor` is the next page to ask for, or None at the end, and `threads`
        holds the roots whose further replies are wanted.
        """
        kept: list[Comment] = []
        counts: dict[str, int] = {}
        news = False
        for comment in page.comments:
            if comment.comment_id in self._seen:
                continue
            if comment.root_id is None:
                news = True  # replies beyond the limit are unknown on each repetition of a page
                if not _room(self.wanted, self.collected):
                    continue
                self.collected += 1
                counts[comment.comment_id] = 0
            else:
                if comment.root_id not in counts:
                    continue  # its root was beyond the limit
                if not _room(self.replies_wanted, counts[comment.root_id]):
                    continue
                counts[comment.root_id] += 1
                self.replies += 1
            self._seen.add(comment.comment_id)
            kept.append(comment)
        for root_id, cursor in page.more_replies.items():
            if root_id in counts and _room(self.replies_wanted, counts[root_id]):
                self.threads[root_id] = Thread(counts[root_id], cursor)
        self.idle_pages = 0 if news else self.idle_pages + 1
        idle = self.idle_pages >= self.idle_limit
        more = page.has_more and not idle and page.cursor and page.cursor != self.cursor
        self.cursor = page.cursor if more and _room(self.wanted, self.collected) else None
        return kept

    def take_replies(self, root_id: str, page: CommentPage) -> list[Comment]:
        """Keep what the limit allows of a page of replies; an ended thread leaves `threads`."""
        thread = self.threads[root_id]
        kept: list[Comment] = []
        news = False
        for comment in page.comments:
            if comment.comment_id in self._seen:
                continue
            news = True
            if not _room(self.replies_wanted, thread.collected):
                break
            self._seen.add(comment.comment_id)
            thread.collected += 1
            self.replies += 1
            kept.append(comment)
        more = page.has_more and news and page.cursor and page.cursor != thread.cursor
        if more and page.cursor and _room(self.replies_wanted, thread.collected):
            thread.cursor = page.cursor
        else:
            del self.threads[root_id]
        return kept

    def end(self, root_id: str | None = None) -> str | None:
        """Page no further (in one thread, or at top level); gives the cursor that was due."""
        if root_id is not None:
            return self.threads.pop(root_id).cursor
        cursor, self.cursor, self.paging = self.cursor, None, False
        return cursor

    def withheld(self, why: str) -> None:
        """This session is shown no further top-level comments: a gap, if more are wanted."""
        if _room(self.wanted, self.collected):
            self.fail(why)

    def fail(self, why: str, root_id: str | None = None) -> None:
        """A page could not be had: its chain ends here, with a gap on record."""
        self.gaps.append(Gap(self.post.post_id, root_id, self.end(root_id), why))

    @property
    def finished(self) -> bool:
        """No page of comments or replies is due."""
        return not self.paging and not self.threads


@dataclass(slots=True)
class Ledger:
    """All seeds of a crawl and the comment walks that are under way."""

    seeds: list[Seed] = field(default_factory=list)
    claimed: set[str] = field(default_factory=set)
    recorded: set[str] = field(default_factory=set)
    """Keys of all records that were written."""
    walks: dict[str, CommentWalk] = field(default_factory=dict)
    gaps: list[Gap] = field(default_factory=list)
    comments: int = 0
    replies: int = 0
    comments_expected: int = 0
    """What the posts say of themselves; platforms count replies and hidden comments in."""
    creators: int = 0
    creators_skipped: Counter[str] = field(default_factory=Counter)
    creators_failed: dict[str, str] = field(default_factory=dict)
    unreadable: int = 0
    """Rows of lists that are no records; the rest of their pages was kept."""
    media: Counter[str] = field(default_factory=Counter)
    """Files by status, and "bytes"."""
    not_understood: list[str] = field(default_factory=list)

    def add_seed(self, kind: SeedKind, value: str, wanted: int | None) -> Seed:
        """A new seed, with its place."""
        seed = Seed(kind, value, wanted, index=len(self.seeds), asked=wanted)
        self.seeds.append(seed)
        return seed

    def start_walk(self, post: Post, wanted: int | None, replies_wanted: int | None) -> CommentWalk:
        """Begin to collect the comments of *post*."""
        walk = CommentWalk(post, wanted, replies_wanted, paging=True)
        self.walks[post_key(post)] = walk
        return walk

    def close_walk(self, walk: CommentWalk) -> None:
        """Forget a finished walk (its ids would pile up); the gaps stay on record."""
        self.gaps.extend(walk.gaps)
        del self.walks[post_key(walk.post)]

    def open_gaps(self) -> list[Gap]:
        """All gaps, with those of walks that a stop has cut off."""
        gaps = list(self.gaps)
        for walk in self.walks.values():
            post_id = walk.post.post_id
            gaps.extend(walk.gaps)
            if walk.paging:
                gaps.append(Gap(post_id, None, walk.cursor, "stopped"))
            gaps.extend(
                Gap(post_id, root_id, thread.cursor, "stopped")
                for root_id, thread in walk.threads.items()
            )
        return gaps
