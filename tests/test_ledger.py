"""The bookkeeping: exact limits, each post and comment once, every chain of pages ends."""

import pickle
import random

import pytest

from mediacrawler.items import Comment, Post
from mediacrawler.ledger import CommentWalk, Gap, Ledger, Seed
from mediacrawler.pages import CommentPage


def cards(*ids):
    return [Post("xhs", post_id) for post_id in ids]


def ids(posts):
    return [post.post_id for post in posts]


def keyword(wanted):
    return Seed("keyword", "露营", wanted, asked=wanted)


# --- Posts of one seed --------------------------------------------------------------------------


def test_no_more_posts_are_opened_than_may_still_be_saved():
    seed = keyword(3)
    seed.offer(cards("a", "b", "c", "d", "e"), set())
    assert ids(seed.draw()) == ["a", "b", "c"]
    assert seed.draw() == []


@pytest.mark.parametrize("lost", ["post_skipped", "post_failed"])
def test_a_post_that_could_not_be_opened_is_replaced_by_the_next_one(lost):
    seed = keyword(3)
    seed.offer(cards("a", "b", "c", "d", "e"), set())
    first, *_ = seed.draw()
    seed.post_saved()
    if lost == "post_skipped":
        seed.post_skipped("not_found")
    else:
        seed.post_failed(first, "HTTP 500")
    assert ids(seed.draw()) == ["d"]
    seed.post_saved()
    seed.post_saved()
    assert seed.finished
    assert (seed.saved, seed.outcome) == (3, "limit reached")


def test_without_a_limit_everything_is_opened():
    seed = keyword(None)
    seed.offer(cards("a", "b", "c"), set())
    assert len(seed.draw()) == 3
    assert seed.wants_page(lookahead=20)


def test_a_post_that_comes_again_counts_as_a_duplicate_and_not_as_found():
    seed = keyword(None)
    assert seed.offer(cards("a", "b", "a"), set()) is True
    assert seed.offer(cards("b", "c"), set()) is True
    assert seed.offer(cards("a", "b", "c"), set()) is False  # nothing new: the list repeats itself
    assert ids(seed.draw()) == ["a", "b", "c"]
    assert (seed.found, seed.duplicates) == (3, 5)


def test_an_unwanted_card_is_not_opened_but_still_is_news():
    seed = keyword(None)
    news = seed.offer(cards("a", "b"), set(), lambda card: "other type")
    assert news
    assert seed.draw() == []
    assert seed.skipped == {"other type": 2}


def test_two_seeds_never_open_the_same_post():
    claimed: set[str] = set()
    first, second = keyword(None), keyword(None)
    first.offer(cards("a", "b"), claimed)
    second.offer(cards("b", "c"), claimed)
    assert ids(first.draw()) == ["a", "b"]
    assert ids(second.draw()) == ["c"]
    assert (second.found, second.duplicates) == (1, 1)
    assert second.offer(cards("a", "d"), claimed)
    assert ids(second.draw()) == ["d"]
    assert (second.found, second.duplicates) == (2, 2)


def test_what_a_seed_does_not_need_is_left_for_the_others():
    claimed: set[str] = set()
    first, second = keyword(2), keyword(2)
    first.offer(cards("a", "b", "c", "d"), claimed)
    assert ids(first.draw()) == ["a", "b"]
    second.offer(cards("a", "b", "c", "d"), claimed)
    assert ids(second.draw()) == ["c", "d"]


@pytest.mark.parametrize(
    ("wanted", "opening", "waiting", "lookahead", "asks"),
    [
        (None, 0, 0, 20, True),
        (None, 19, 0, 20, True),
        (None, 20, 0, 20, False),  # enough work at hand
        (5, 4, 0, 20, True),
        (5, 5, 0, 20, False),  # the limit will be reached without another page
        (5, 5, 10, 20, False),
    ],
)
def test_the_next_page_is_asked_for_while_room_is_left_and_work_runs_low(
    wanted, opening, waiting, lookahead, asks
):
    seed = keyword(wanted)
    seed.offer(cards(*map(str, range(opening + waiting))), set())
    assert len(seed.draw()) == opening
    assert seed.wants_page(lookahead) is asks


def test_one_list_page_at_a_time_and_none_after_the_end():
    seed = keyword(None)
    seed.listing = True
    assert not seed.wants_page(20)
    assert not seed.finished
    seed.listing = False
    seed.end("the platform has no more")
    seed.end_by_dates()
    assert not seed.wants_page(20)
    assert seed.outcome == "the platform has no more"


def test_a_list_that_ran_past_the_dates_drops_what_waits():
    seed = keyword(1)
    seed.offer(cards("new", "old", "older"), set())
    seed.draw()
    seed.end_by_dates()
    seed.post_skipped("outside the dates")
    assert seed.draw() == []
    assert (seed.finished, seed.outcome) == (True, "dates")


def test_failed_posts_are_kept_as_cards_only_where_room_is_left_at_the_end():
    seed = keyword(2)
    seed.offer(cards("a", "b", "c"), set())
    first, second = seed.draw()
    seed.post_failed(first, "HTTP 500")
    seed.post_failed(second, "HTTP 500")
    assert seed.spare_cards() == []  # another post may take the place
    seed.draw()
    seed.post_saved()
    assert seed.spare_cards() == []  # another page may bring one
    seed.end("the platform has no more")
    assert ids(seed.spare_cards()) == ["a"]
    assert seed.spare_cards() == []
    assert (seed.saved, sorted(seed.failed)) == (2, ["a", "b"])


@pytest.mark.parametrize(
    ("change", "outcome"),
    [
        (lambda seed: seed.draw(), "stopped before the end"),
        (lambda seed: seed.end("the platform repeats itself"), "stopped before the end"),
        (lambda seed: setattr(seed, "list_error", "HTTP 500"), "list failed: HTTP 500"),
    ],
)
def test_the_outcome_says_when_a_seed_was_cut_off(change, outcome):
    seed = keyword(5)
    seed.offer(cards("a"), set())
    change(seed)
    assert seed.outcome == outcome


# --- Whole crawls, simulated --------------------------------------------------------------------


class SimulatedCrawl:
    """Answers of a platform in random order, handled as ``spiders/base.py`` handles them.

    `fates` says of each post whether it is saved, deleted, broken (fails for ever), or outside
    of the asked dates.
    """

    def __init__(self, rng, lists, fates, wanted, lookahead):
        self.rng, self.lists, self.fates, self.lookahead = rng, lists, fates, lookahead
        self.ledger = Ledger(seeds=[keyword(wanted) for _ in lists])
        self.due = []
        self.saved = []
        self.incomplete = [0] * len(lists)
        for index in range(len(lists)):
            self.advance(index)

    def advance(self, index):
        seed = self.ledger.seeds[index]
        self.due += [("post", index, card) for card in seed.draw()]
        if seed.wants_page(self.lookahead):
            seed.listing = True
            self.due.append(("page", index, seed.pages))
        for card in seed.spare_cards():
            self.incomplete[index] += 1
            self.saved.append(card.post_id)
        assert seed.wanted is None or seed.saved + seed.opening <= seed.wanted

    def run(self):
        while self.due:
            if self.rng.random() < 0.05:  # stopped and resumed (JOBDIR)
                self.ledger = pickle.loads(pickle.dumps(self.ledger))
            kind, index, what = self.due.pop(self.rng.randrange(len(self.due)))
            if kind == "page":
                self.take_page(index, what)
            else:
                self.take_post(index, what)
            self.advance(index)

    def take_page(self, index, number):
        seed, pages = self.ledger.seeds[index], self.lists[index]
        seed.listing = False
        seed.pages += 1
        seed.offer(
            cards(*pages[number]),
            self.ledger.claimed,
            lambda card: "other type" if self.fates[card.post_id] == "other" else None,
        )
        if number + 1 == len(pages):
            seed.end("the platform has no more")

    def take_post(self, index, card):
        seed, fate = self.ledger.seeds[index], self.fates[card.post_id]
        if fate == "saved":
            seed.post_saved()
            self.saved.append(card.post_id)
        elif fate == "broken":
            seed.post_failed(card, "HTTP 500")
        else:
            seed.post_skipped(fate)


def simulated(dice, *, lists):
    rng = random.Random(dice)
    pool = [f"p{n}" for n in range(rng.randint(1, 60))]
    fates = {
        post_id: rng.choices(["saved", "deleted", "broken", "dates", "other"], [6, 2, 1, 1, 1])[0]
        for post_id in pool
    }
    found = []
    for _ in range(lists):
        order = rng.sample(pool, rng.randint(1, len(pool)))
        pages, size = [], rng.randint(1, 20)
        for start in range(0, len(order), size):
            seen = order[: start + size]
            again = rng.choices(seen, k=rng.randint(0, 4))  # duplicates within and across pages
            page = order[start : start + size] + again
            rng.shuffle(page)
            pages.append(page)
        found.append(pages)
    wanted = rng.choice([None, 1, 2, 7, 15, 20, 50])
    crawl = SimulatedCrawl(rng, found, fates, wanted, lookahead=rng.choice([1, 5, 20]))
    crawl.run()
    return crawl


@pytest.mark.parametrize("dice", range(150))
def test_a_crawl_saves_exactly_what_is_wanted_if_the_platform_has_it(dice):
    crawl = simulated(dice, lists=1)
    (seed,) = crawl.ledger.seeds
    there = {post_id for page in crawl.lists[0] for post_id in page}
    usable = [post_id for post_id in there if crawl.fates[post_id] in ("saved", "broken")]
    wanted = len(usable) if seed.wanted is None else min(seed.wanted, len(usable))

    assert seed.saved == len(crawl.saved) == wanted
    assert len(set(crawl.saved)) == len(crawl.saved)
    assert seed.finished
    assert seed.outcome == (
        "limit reached" if seed.saved == seed.wanted else "the platform has no more"
    )


@pytest.mark.parametrize("dice", range(150))
def test_whole_posts_are_preferred_to_cards_of_failed_ones(dice):
    crawl = simulated(dice, lists=1)
    (seed,) = crawl.ledger.seeds
    there = {post_id for page in crawl.lists[0] for post_id in page}
    whole = [post_id for post_id in there if crawl.fates[post_id] == "saved"]
    possible = len(whole) if seed.wanted is None else min(seed.wanted, len(whole))
    assert seed.saved - crawl.incomplete[0] == possible


@pytest.mark.parametrize("dice", range(150))
def test_the_counts_of_a_seed_add_up(dice):
    crawl = simulated(dice, lists=3)
    for index, seed in enumerate(crawl.ledger.seeds):
        offered = sum(len(page) for page in crawl.lists[index][: seed.pages])
        assert seed.found + seed.duplicates == offered
        if seed.outcome != "limit reached":
            whole = seed.saved - crawl.incomplete[index]
            assert seed.found == whole + seed.skipped.total() + len(seed.failed)


@pytest.mark.parametrize("dice", range(150))
def test_seeds_that_find_the_same_posts_share_them_out_without_loss(dice):
    crawl = simulated(dice, lists=4)
    assert len(set(crawl.saved)) == len(crawl.saved) == sum(s.saved for s in crawl.ledger.seeds)
    for seed, pages in zip(crawl.ledger.seeds, crawl.lists, strict=True):
        assert seed.finished
        assert seed.wanted is None or seed.saved <= seed.wanted
        if seed.saved == seed.wanted:
            continue
        there = {post_id for page in pages for post_id in page}
        left_over = there - crawl.ledger.claimed
        assert {crawl.fates[post_id] for post_id in left_over} <= {"other"}


# --- Comments of one post -----------------------------------------------------------------------


def root(comment_id):
    return Comment("xhs", comment_id, post_id="p")


def reply(comment_id, root_id):
    return Comment("xhs", comment_id, post_id="p", root_id=root_id)


def page(*comments, cursor=None, more=None):
    return CommentPage(list(comments), cursor is not None, cursor, more or {})


def walk(wanted=None, replies=None):
    return CommentWalk(Post("xhs", "p"), wanted, replies, paging=True)


def kept(comments):
    return [comment.comment_id for comment in comments]


def test_top_level_comments_are_cut_at_the_limit_and_no_further_page_is_asked_for():
    comments = walk(wanted=3, replies=0)
    assert kept(comments.take(page(root("a"), root("b"), cursor="1"))) == ["a", "b"]
    assert comments.cursor == "1"
    assert kept(comments.take(page(root("c"), root("d"), cursor="2"))) == ["c"]
    assert comments.cursor is None
    assert comments.collected == 3


@pytest.mark.parametrize(
    ("limit", "expected", "thread"),
    [
        (0, ["a", "b"], None),
        (1, ["a", "a1", "b"], None),
        (2, ["a", "a1", "a2", "b"], None),
        (3, ["a", "a1", "a2", "b"], 2),
        (None, ["a", "a1", "a2", "b"], 2),
    ],
)
def test_inline_replies_count_towards_the_limit_of_their_root(limit, expected, thread):
    comments = walk(replies=limit)
    first = page(
        root("a"), reply("a1", "a"), reply("a2", "a"), root("b"), more={"a": "r2"}, cursor="1"
    )
    assert kept(comments.take(first)) == expected
    assert {key: value.collected for key, value in comments.threads.items()} == (
        {} if thread is None else {"a": thread}
    )


def test_replies_of_a_root_beyond_the_limit_are_left_out():
    comments = walk(wanted=1)
    first = page(
        root("a"), reply("a1", "a"), root("b"), reply("b1", "b"), more={"a": "x", "b": "y"}
    )
    assert kept(comments.take(first)) == ["a", "a1"]
    assert list(comments.threads) == ["a"]


@pytest.mark.parametrize(
    ("limit", "expected"), [(1, ["a1"]), (3, ["a1", "a2", "a3"]), (None, ["a1", "a2", "a3", "a4"])]
)
def test_paged_replies_are_cut_at_the_limit_and_inline_ones_not_taken_twice(limit, expected):
    comments = walk(replies=limit)
    found = kept(comments.take(page(root("a"), reply("a1", "a"), more={"a": "0"})))[1:]
    while "a" in comments.threads:
        start = int(comments.threads["a"].cursor)
        names = [f"a{n}" for n in range(1, 5)][start : start + 3]  # the first page repeats a1
        following = str(start + 3) if start + 3 < 4 else None
        found += kept(
            comments.take_replies("a", page(*(reply(n, "a") for n in names), cursor=following))
        )
    assert found == expected
    assert comments.replies == len(expected)


def test_a_comment_that_is_pinned_and_listed_again_is_kept_once_with_its_replies_once():
    comments = walk(replies=5)
    first = page(root("a"), reply("a1", "a"), root("b"), more={"a": "r"}, cursor="1")
    second = page(root("a"), reply("a1", "a"), root("c"), more={"a": "r"}, cursor="2")
    assert kept(comments.take(first)) == ["a", "a1", "b"]
    comments.take_replies("a", page(reply("a2", "a")))
    assert kept(comments.take(second)) == ["c"]
    assert comments.threads == {}  # the thread of `a` is not walked again
    assert comments.cursor == "2"


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (page(root("c")), "the platform says so"),
        (page(cursor="2"), "no comments"),
        (page(root("c"), cursor="1"), "the cursor does not move"),
        (page(root("a"), root("b"), cursor="2"), "nothing new"),
        (page(root("a"), reply("a1", "a"), cursor="2"), "replies beyond the limit are not news"),
        (CommentPage([root("c")], True, None), "no cursor"),
        (CommentPage([root("c")], True, ""), "empty cursor"),
        (CommentPage([root("c")], False, "2"), "more is denied although a cursor came"),
    ],
)
def test_the_walk_ends_where_the_protocol_says_so(answer, why):
    comments = walk(replies=0)
    comments.take(page(root("a"), root("b"), cursor="1"))
    comments.take(answer)
    assert comments.cursor is None, why


@pytest.mark.parametrize(
    "answer",
    [
        page(reply("a3", "a")),
        page(cursor="r9"),
        page(reply("a3", "a"), cursor="r2"),
        page(reply("a1", "a"), reply("a2", "a"), cursor="r9"),
        CommentPage([reply("a3", "a")], True, None),
    ],
)
def test_a_thread_ends_where_the_protocol_says_so(answer):
    comments = walk()
    comments.take(page(root("a"), reply("a1", "a"), more={"a": "r1"}))
    comments.take_replies("a", page(reply("a2", "a"), cursor="r2"))
    comments.take_replies("a", answer)
    assert comments.threads == {}


@pytest.mark.parametrize("limit", [None, 0, 1, 2])
def test_a_platform_that_repeats_its_comments_for_ever_is_left(limit):
    comments = walk(wanted=None, replies=limit)
    asked = 0
    cursor = "0"
    while cursor is not None and asked < 10:
        asked += 1
        comments.take(
            page(
                root("a"), reply("a1", "a"), reply("a2", "a"), more={"a": "r"}, cursor=f"new{asked}"
            )
        )
        cursor = comments.cursor
        for root_id in list(comments.threads):
            comments.take_replies(root_id, page(reply("a1", "a"), cursor=f"again{asked}"))
    comments.end()
    assert asked == 2
    assert comments.collected == 1
    assert comments.finished


def test_a_failed_page_leaves_a_gap_that_tells_where_to_go_on():
    comments = walk()
    comments.take(page(root("a"), root("b"), more={"a": "ra", "b": "rb"}, cursor="next"))
    comments.fail("HTTP 500", "a")
    comments.fail("cut answer")
    assert comments.gaps == [Gap("p", "a", "ra", "HTTP 500"), Gap("p", None, "next", "cut answer")]
    assert not comments.finished  # the other thread goes on
    comments.take_replies("b", page(reply("b1", "b")))
    assert comments.finished


@pytest.mark.parametrize(
    ("wanted", "gaps"),
    [
        (None, [Gap("p", None, "next", "shown to members only")]),
        (3, [Gap("p", None, "next", "shown to members only")]),
        (2, []),  # nothing is missing
    ],
)
def test_comments_that_are_withheld_are_a_gap_if_they_are_wanted(wanted, gaps):
    comments = walk(wanted, replies=5)
    comments.take(page(root("a"), root("b"), more={"a": "ra"}, cursor="next"))
    comments.withheld("shown to members only")
    comments.end()
    assert comments.gaps == gaps
    assert comments.cursor is None
    assert set(comments.threads) == {"a"}  # replies are another question


def test_gaps_outlive_their_walk_and_a_stop_leaves_gaps_for_everything_that_was_due():
    ledger = Ledger()
    done = ledger.start_walk(Post("xhs", "done"), None, None)
    done.fail("HTTP 500")
    ledger.close_walk(done)
    first = ledger.start_walk(Post("xhs", "first page"), 10, 0)
    under_way = ledger.start_walk(Post("xhs", "p"), None, None)
    under_way.take(page(root("a"), more={"a": "ra"}, cursor="next"))
    assert first.paging
    assert ledger.open_gaps() == [
        Gap("done", None, None, "HTTP 500"),
        Gap("first page", None, None, "stopped"),
        Gap("p", None, "next", "stopped"),
        Gap("p", "a", "ra", "stopped"),
    ]


class CommentSection:
    """A platform's comments: pages of roots, some replies inline, the rest by cursor."""

    def __init__(self, rng):
        self.roots = {f"c{n}": rng.choice([0, 0, 1, 2, 5, 23]) for n in range(rng.randint(1, 45))}
        self.order = list(self.roots)
        self.order.insert(rng.randint(0, len(self.order)), self.order[0])  # pinned, and again
        self.page_size, self.inline = rng.choice([2, 3, 10]), rng.randint(0, 3)
        self.restarts = rng.random() < 0.5  # reply pages begin with the inline ones again

    def comments(self, cursor):
        start = int(cursor or 0)
        found, more = [], {}
        for root_id in self.order[start : start + self.page_size]:
            inline = min(self.inline, self.roots[root_id])
            found += [root(root_id), *(reply(f"{root_id}.{n}", root_id) for n in range(inline))]
            if inline < self.roots[root_id]:
                more[root_id] = "0" if self.restarts else str(inline)
        end = start + self.page_size
        return page(*found, cursor=str(end) if end < len(self.order) else None, more=more)

    def replies(self, root_id, cursor):
        start, end = int(cursor), int(cursor) + 10
        names = [f"{root_id}.{n}" for n in range(self.roots[root_id])]
        following = str(end) if end < len(names) else None
        return page(*(reply(name, root_id) for name in names[start:end]), cursor=following)


@pytest.mark.parametrize("dice", range(150))
def test_a_walk_collects_exactly_what_is_wanted_of_comments_and_replies(dice):
    rng = random.Random(dice)
    section = CommentSection(rng)
    wanted, replies_wanted = rng.choice([None, 1, 5, 10, 30]), rng.choice([None, 0, 1, 2, 7, 20])
    comments = walk(wanted, replies_wanted)
    found = []
    top = True
    while top or comments.threads:
        root_id = rng.choice([None, *comments.threads] if top else list(comments.threads))
        if root_id is not None:
            thread = comments.threads[root_id]
            found += comments.take_replies(root_id, section.replies(root_id, thread.cursor))
            continue
        found += comments.take(section.comments(comments.cursor))
        if comments.cursor is None:
            comments.end()
            top = False
        if rng.random() < 0.2:
            comments = pickle.loads(pickle.dumps(comments))

    roots = list(section.roots)[:wanted]
    expected = {root_id: min(section.roots[root_id], replies_wanted or 0) for root_id in roots}
    if replies_wanted is None:
        expected = {root_id: section.roots[root_id] for root_id in roots}
    assert [comment.comment_id for comment in found if comment.root_id is None] == roots
    counts = dict.fromkeys(roots, 0)
    for comment in found:
        if comment.root_id is not None:
            counts[comment.root_id] += 1
    assert counts == expected
    assert len(set(kept(found))) == len(found)
    assert (comments.collected, comments.replies) == (len(roots), sum(expected.values()))
    assert comments.finished
