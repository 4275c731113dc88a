"""What a crawl says of itself at its end: one verdict, its exit code, report.json, the summary."""

import json
from collections import Counter
from datetime import datetime, timezone

import pytest

from mediacrawler import report
from mediacrawler.items import Post
from mediacrawler.ledger import Gap, Ledger, Seed
from mediacrawler.report import EXIT_CODES, Ending, judge, summary

FINISHED = Ending("finished")


def seed(kind="keyword", value="露营", **state):
    state = {"wanted": 20, "asked": 20, "ended": "the platform has no more", **state}
    return Seed(kind, value, **state)


def good(**state):
    return seed(**{"found": 7, "saved": 7, **state})


def ledger(*seeds, **state):
    return Ledger(seeds=list(seeds), **state)


GAP = Gap("p1", None, "c1", "HTTP 500")


# --- The verdict --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("crawled", "media", "ending", "verdict", "reason"),
    [
        # everything that is there
        (ledger(good()), {}, FINISHED, "complete", "everything"),
        (ledger(good(wanted=7, ended=None)), {}, FINISHED, "complete", "everything"),
        (ledger(good(skipped=Counter(not_found=3))), {}, FINISHED, "complete", ""),
        (ledger(good(duplicates=5), seed(value="无")), {}, FINISHED, "complete", ""),
        (ledger(good()), {"downloaded": 3, "present": 2, "bytes": 9}, FINISHED, "complete", ""),
        (ledger(good()), {"present": 1, "merged": 1}, FINISHED, "complete", ""),
        (ledger(creators=1), {}, FINISHED, "complete", ""),
        # nothing is there, honestly
        (ledger(seed()), {}, FINISHED, "empty", "nothing of what"),
        (ledger(seed(), seed(value="b")), {}, FINISHED, "empty", ""),
        (ledger(seed("posts", skipped=Counter(not_found=2))), {}, FINISHED, "empty", ""),
        (ledger(creators_skipped=Counter(not_found=1)), {}, FINISHED, "empty", ""),
        (ledger(seed(), seed(), seed(found=2)), {}, FINISHED, "empty", ""),
        # three searches without any result are no chance
        (ledger(seed(), seed(), seed()), {}, FINISHED, "blocked", "all 3 searches were empty"),
        # something is missing
        (ledger(good(failed={"p1": "HTTP 500"})), {}, FINISHED, "partial", "1 posts failed"),
        (
            ledger(good(list_error="HTTP 500", ended="list failed")),
            {},
            FINISHED,
            "partial",
            "1 searches or lists failed",
        ),
        (ledger(good(), creators_failed={"u": "x"}), {}, FINISHED, "partial", "1 creators failed"),
        (ledger(good(), gaps=[GAP, GAP]), {}, FINISHED, "partial", "comments of 1 posts"),
        (ledger(good()), {"failed": 1}, FINISHED, "partial", "1 files are missing"),
        (ledger(good()), {"gone": 1, "missing": 2}, FINISHED, "partial", "3 files are missing"),
        (ledger(good()), {"interrupted": 1}, FINISHED, "partial", "1 files are missing"),
        (ledger(good()), {"mux_failed": 2}, FINISHED, "partial", "2 videos are apart"),
        (ledger(good(), not_understood=["?"]), {}, FINISHED, "partial", "1 inputs were not"),
        (ledger(good()), {}, Ending("finished", unhandled_errors=2), "partial", "2 records"),
        (ledger(good()), {}, Ending("shutdown"), "partial", "stopped early (shutdown)"),
        (
            ledger(good(), gaps=[GAP]),
            {"failed": 1},
            FINISHED,
            "partial",
            "comments of 1 posts are incomplete; 1 files are missing",
        ),
        # a seed that never came to its end, although nobody says why
        (ledger(good(opening=1)), {}, FINISHED, "partial", "did not come to their end"),
        (ledger(good(ended=None)), {}, FINISHED, "partial", "did not come to their end"),
        (ledger(good(listing=True)), {}, FINISHED, "partial", "did not come to their end"),
        # nothing at all, and not for lack of posts
        (ledger(seed(failed={"p": "x"})), {}, FINISHED, "error", "nothing could be collected: 1"),
        (
            ledger(seed(list_error="HTTP 500", ended="list failed")),
            {},
            FINISHED,
            "error",
            "nothing could be collected: 1 searches or lists failed",
        ),
        (ledger(seed(ended=None)), {}, Ending("shutdown"), "error", "stopped early (shutdown)"),
        (ledger(not_understood=["?"]), {}, FINISHED, "error", "1 inputs"),
        (ledger(), {}, Ending("finished", unhandled_errors=1), "error", "1 records"),
        # what the crawl itself said when it stopped comes first
        (ledger(good()), {}, Ending("blocked", "blocked", "captcha"), "blocked", "captcha"),
        (ledger(seed()), {}, Ending("x", "rate_limited", "too many"), "rate_limited", "too many"),
        (
            ledger(good(failed={"p": "x"})),
            {"failed": 9},
            Ending("login_required", "login_required", "expired"),
            "login_required",
            "expired",
        ),
        (ledger(good()), {}, Ending("error", "error", "disk full"), "error", "disk full"),
    ],
)
def test_there_is_one_verdict_with_its_reason(crawled, media, ending, verdict, reason):
    crawled.media.update(media)
    found, why = judge(crawled, ending)
    assert found == verdict
    assert reason in why
    assert "\n" not in why


def test_an_interrupted_comment_walk_makes_the_crawl_partial():
    crawled = ledger(good())
    crawled.start_walk(Post("xhs", "p"), None, None)
    assert judge(crawled, FINISHED)[0] == "partial"


def test_exit_codes_tell_the_verdicts_apart_for_cron():
    assert EXIT_CODES["complete"] == EXIT_CODES["empty"] == 0
    rest = {verdict: code for verdict, code in EXIT_CODES.items() if code != 0}
    assert set(rest) == {"error", "partial", "blocked", "rate_limited", "login_required"}
    assert len(set(rest.values())) == len(rest)
    assert 2 not in rest.values()  # wrong arguments: nothing was sent


# --- report.json --------------------------------------------------------------------------------

STATS = {
    "downloader/request_count": 120,
    "retry/count": 4,
    "retry/reason_count/rate_limited": 3,
    "retry/reason_count/unexpected": 1,
    "retry/max_reached": 1,
    "backoff/paused_seconds": 12.3456,
    "backoff/delayed_seconds": 2,
    "item_scraped_count": 30,
}


def built(crawled, stats=STATS, ending=FINISHED):
    return report.build(
        platform="xhs",
        arguments={"keywords": ["露营"], "max_posts": 20},
        settings={"CONCURRENT_REQUESTS": 10},
        ledger=crawled,
        stats=stats,
        ending=ending,
        started=datetime(2026, 1, 31, 8, tzinfo=timezone.utc),
        finished=datetime(2026, 1, 31, 8, 5, tzinfo=timezone.utc),
    )


def rich_ledger():
    search = seed(
        found=12,
        saved=7,
        duplicates=3,
        pages=2,
        skipped=Counter(not_found=3, other=1),
        failed={"p8": "HTTP 500"},
    )
    creator = seed("creator", "5c0d", saved=2, found=2, ended=None, cursor="next", opening=1)
    broken = seed(value="徒步", list_error="HTTP 500", ended="list failed", cursor="4")
    crawled = ledger(
        search, creator, broken, comments=40, replies=5, comments_expected=90, creators=1
    )
    crawled.creators_failed["u2"] = "HTTP 500"
    crawled.creators_skipped["not_found"] += 1
    crawled.not_understood.append("garbage")
    crawled.media.update(downloaded=5, failed=1, bytes=7_340_032)
    crawled.gaps.append(GAP)
    crawled.start_walk(Post("xhs", "p2"), None, None).cursor = "c9"
    return crawled


def test_the_report_says_of_each_seed_what_was_asked_found_and_lost():
    search, creator, broken = built(rich_ledger())["seeds"]
    assert search == {
        "kind": "keyword",
        "value": "露营",
        "asked": 20,
        "found": 12,
        "saved": 7,
        "duplicates": 3,
        "skipped": {"not_found": 3, "other": 1},
        "failed": [{"id": "p8", "why": "HTTP 500"}],
        "unfinished": 0,
        "pages": 2,
        "next_page": None,
        "outcome": "the platform has no more",
    }
    assert (creator["kind"], creator["value"]) == ("creator", "5c0d")
    assert (creator["unfinished"], creator["next_page"]) == (1, "next")
    assert creator["outcome"] == "stopped before the end"
    # where to go on, for a list that broke off
    assert (broken["next_page"], broken["outcome"]) == ("4", "list failed: HTTP 500")


def test_the_totals_are_the_sums_of_the_seeds_and_of_the_stats():
    content = built(rich_ledger())
    assert content["posts"] == {"saved": 9, "failed": 1, "skipped": 4, "duplicates": 3}
    assert content["comments"] == {
        "expected": 90,
        "collected": 45,
        "top_level": 40,
        "replies": 5,
        "partial": [
            {"post_id": "p1", "root_id": None, "cursor": "c1", "why": "HTTP 500"},
            {"post_id": "p2", "root_id": None, "cursor": "c9", "why": "stopped"},
        ],
    }
    assert content["creators"] == {
        "saved": 1,
        "skipped": {"not_found": 1},
        "failed": {"u2": "HTTP 500"},
    }
    assert content["media"] == {"downloaded": 5, "failed": 1, "bytes": 7_340_032}
    assert content["not_understood"] == ["garbage"]
    assert content["requests"] == {
        "sent": 120,
        "retries": 4,
        "retry_reasons": {"rate_limited": 3, "unexpected": 1},
        "paused_seconds": 12.3,
        "delayed_seconds": 2,
    }


def test_the_report_begins_with_the_verdict_and_says_what_was_run_and_when():
    content = built(rich_ledger())
    assert list(content)[:3] == ["verdict", "reason", "exit_code"]
    assert (content["verdict"], content["exit_code"]) == ("partial", EXIT_CODES["partial"])
    assert (content["started_at"], content["finished_at"]) == (
        "2026-01-31T08:00:00Z",
        "2026-01-31T08:05:00Z",
    )
    assert content["platform"] == "xhs"
    assert content["arguments"] == {"keywords": ["露营"], "max_posts": 20}
    assert content["settings"] == {"CONCURRENT_REQUESTS": 10}


@pytest.mark.parametrize("crawled", [rich_ledger(), ledger()], ids=["rich", "bare"])
def test_the_report_is_json(crawled):
    content = built(crawled, stats={})
    assert json.loads(json.dumps(content)) == content
    assert content["requests"]["sent"] == 0


def test_no_secret_is_among_the_settings_that_are_shown():
    for name in report.SETTINGS_SHOWN:
        assert not any(word in name for word in ("COOKIE", "TOKEN", "PASSWORD", "KEY", "PROXY"))


def test_the_summary_is_for_the_person_who_ran_the_crawl():
    lines = summary(built(rich_ledger()))
    assert lines[0] == (
        "keyword '露营': 7 of 20 posts (3 not_found, 1 other, 1 failed, 3 duplicates); "
        "the platform has no more"
    )
    assert lines[1] == "creator '5c0d': 2 of 20 posts; stopped before the end"
    assert "saved: 9 posts, 40 comments, 5 replies, 1 creators" in lines
    assert "files: 5 downloaded, 1 failed; 7.3 MB" in lines
    assert "requests: 120, repeated: 4, paused: 12.3 s" in lines
    assert lines[-1].startswith("verdict: partial - ")


def test_the_summary_says_how_many_files_are_those_of_comments():
    crawled = ledger(good())
    crawled.media.update(downloaded=5, of_comments=2, bytes=7_340_032)
    content = built(crawled)
    assert "files: 5 downloaded; 2 of them in comments; 7.3 MB" in summary(content)
    assert content["media"]["of_comments"] == 2


def test_the_summary_of_a_crawl_without_limit_or_files_leaves_out_what_there_is_not():
    lines = summary(built(ledger(good(wanted=None, asked=None)), stats={}))
    assert lines[0] == "keyword '露营': 7 of all posts; the platform has no more"
    assert not any(line.startswith("files:") for line in lines)
    assert lines[-1] == "verdict: complete - everything that was asked for and is there"


def test_creators_have_their_pseudonyms_in_the_report_too():
    content = report.build(
        platform="xhs",
        arguments={},
        settings={},
        ledger=rich_ledger(),
        stats=STATS,
        ending=FINISHED,
        started=datetime(2026, 1, 31, 8, tzinfo=timezone.utc),
        finished=datetime(2026, 1, 31, 8, 5, tzinfo=timezone.utc),
        person=lambda person_id: f"<{len(person_id)}>",
    )
    assert [entry["value"] for entry in content["seeds"]] == ["露营", "<4>", "徒步"]
    assert content["creators"]["failed"] == {"<2>": "HTTP 500"}
    assert "5c0d" not in content["reason"]
