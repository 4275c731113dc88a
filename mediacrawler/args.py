"""The spider arguments (``-a name=value``): one model for all platforms.

Validation, the table in the README and the error messages come from these lines. What a
single platform lacks (a sort, a post type) is refused by its spider class.
"""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta, timezone
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

CHINA = timezone(timedelta(hours=8), "UTC+08:00")
"""Days of `since` and `until` are days in China, as the platforms show them."""


def _text_or_file(value: Any) -> Any:
    """The value itself, or for ``@file`` the text of that file (UTF-8, a BOM is ignored)."""
    if not isinstance(value, str) or not value.startswith("@"):
        return value
    path = value[1:]
    try:
        return Path(path).expanduser().read_text(encoding="utf-8-sig")
    except (OSError, RuntimeError) as error:  # RuntimeError: ~somebody who is not there
        reason = getattr(error, "strerror", None) or error
        raise ValueError(f"cannot read '{path}': {reason}") from None
    except UnicodeDecodeError:
        raise ValueError(f"'{path}' is not UTF-8 text; save it as UTF-8") from None


def _word_list(value: Any) -> Any:
    """Words separated by commas (also the full-width one) or line breaks, each once."""
    value = _text_or_file(value)
    if not isinstance(value, str):
        return value
    words = (word.strip() for word in re.split(r"[,，\r\n]+", value))
    return list(dict.fromkeys(word for word in words if word))


def _limit(value: Any) -> Any:
    """ "all" means no limit (None)."""
    return None if isinstance(value, str) and value.strip().lower() == "all" else value


def _post_limit(value: Any) -> Any:
    """ "all" and 0 mean no limit (None), "none" no posts at all (0)."""
    value = _limit(value)
    if isinstance(value, str) and value.strip().lower() == "none":
        return 0
    return None if value is not None and str(value).strip() == "0" else value


def _moment(value: Any, *, end_of_day: bool) -> Any:
    if isinstance(value, date):  # given from Python; a datetime is a date too
        value = value.isoformat()
    if not isinstance(value, str):
        return value
    value = value.strip()
    # Other forms of ISO 8601 (20260131) differ between Python versions, and in what they mean.
    if not re.match(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}|$)", value):
        raise ValueError(value)
    if len(value) == len("2026-01-31"):
        day = date.fromisoformat(value)
        if end_of_day:
            return datetime.combine(day, time.max, CHINA)
        return datetime.combine(day, time.min, CHINA)
    moment = datetime.fromisoformat(re.sub(r"[Zz]$", "+00:00", value))
    return moment if moment.tzinfo else moment.replace(tzinfo=CHINA)


def _since(value: Any) -> Any:
    return _dated(value, end_of_day=False)


def _until(value: Any) -> Any:
    return _dated(value, end_of_day=True)


def _dated(value: Any, *, end_of_day: bool) -> Any:
    try:
        return _moment(value, end_of_day=end_of_day)
    except ValueError:
        raise ValueError(f"'{_brief(value)}' is not a date; write it as 2026-01-31") from None


Words = Annotated[list[str], BeforeValidator(_word_list)]
Pasted = Annotated[str, BeforeValidator(_text_or_file)]
Limit = Annotated[Annotated[int, Field(ge=0)] | None, BeforeValidator(_limit)]
PostLimit = Annotated[Annotated[int, Field(ge=0)] | None, BeforeValidator(_post_limit)]

Sort = Literal["general", "latest", "likes", "comments", "collects", "views"]
PostTypeFilter = Literal[
    "all", "image", "video", "text", "article", "answer", "question", "thread", "live"
]
MediaChoice = Literal["none", "images", "videos", "all"]


class CrawlArgs(BaseModel):
    """What to collect. At least one of `keywords`, `posts`, `creators` is needed."""

    model_config = ConfigDict(extra="forbid")

    keywords: Words = Field(
        default_factory=list,
        description="Search for these, separated by commas or line breaks, or @file.",
    )
    posts: Pasted = Field(
        default="", description="Open these posts: ids, links or share texts, or @file."
    )
    creators: Pasted = Field(
        default="",
        description="Collect these creators and their posts: ids, links or share texts, or @file.",
    )
    max_posts: PostLimit = Field(
        default=20,
        description="Posts per keyword and per creator, exactly; 0 = no limit, none = only "
        "profiles.",
    )
    max_comments: Limit = Field(
        default=10, description="Top-level comments per post, exactly; 0 = none, all = no limit."
    )
    max_replies: Limit = Field(
        default=0, description="Replies per top-level comment, exactly; 0 = none, all = no limit."
    )
    sort: Sort = Field(default="general", description="Order of search results.")
    post_type: PostTypeFilter = Field(default="all", description="Only posts of this type.")
    since: Annotated[datetime | None, BeforeValidator(_since)] = Field(
        default=None,
        description="Only posts published on or after this day (2026-01-31, China time).",
    )
    until: Annotated[datetime | None, BeforeValidator(_until)] = Field(
        default=None,
        description="Only posts published on or before this day (2026-01-31, China time).",
    )
    start_page: int = Field(default=1, ge=1, description="First page of search results to read.")
    account: Words = Field(
        default_factory=list,
        description="Stored accounts to crawl with (see `scrapy login`), separated by commas, or "
        "all.",
    )
    media: MediaChoice = Field(
        default="none", description="Media files of posts and comments to download."
    )

    @model_validator(mode="before")
    @classmethod
    def _without_private(cls, values: dict[str, Any]) -> dict[str, Any]:
        """Drop names like scrapyd's ``_job``, which are not for the crawl."""
        return {name: value for name, value in values.items() if not name.startswith("_")}

    @model_validator(mode="after")
    def _something_to_do(self) -> CrawlArgs:
        if not (self.keywords or self.posts.strip() or self.creators.strip()):
            raise ValueError(
                "nothing to collect; give at least one of keywords, posts, creators "
                "(for example: -a keywords=露营)"
            )
        if self.since and self.until and self.since > self.until:
            raise ValueError("since is later than until")
        return self

    def wants(self, published_at: datetime | None) -> bool:
        """Whether a post of that time lies in the asked window; unknown times do."""
        if published_at is None:
            return True
        if self.since and published_at < self.since:
            return False
        return not (self.until and published_at > self.until)


def explain(error: ValidationError) -> str:
    """A validation error as one line that quotes each argument and what is wrong with it."""
    problems: list[str] = []
    for detail in error.errors():
        name = str(detail["loc"][0]) if detail["loc"] else ""
        message = detail["msg"].removeprefix("Value error, ")
        if detail["type"] == "extra_forbidden":
            message = f"unknown argument; there are: {', '.join(CrawlArgs.model_fields)}"
        elif detail["type"].startswith("int_"):
            message = f"'{_brief(detail['input'])}' is not a whole number"
        elif name and detail["type"] != "value_error":
            message = f"{message} (got '{_brief(detail['input'])}')"
        problems.append(f"{name}: {message}" if name else message)
    return "; ".join(dict.fromkeys(problems))


def _brief(value: Any) -> str:
    """A value short enough for a message of one line."""
    return " ".join(str(value).split())[:60]
