"""Pseudonyms: keyed hashes for ids, masks for names. Pure functions, except for the key file.

A plain hash of an id is no protection (ids can be enumerated and hashed), hence the key. It
stays in the data folder, so the same person has the same pseudonym in all runs of a study.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
from pathlib import Path
from typing import Any

from mediacrawler.items import Comment, Creator, Item, Post

KEY_FILE = ".anonymize.key"
KEY_BYTES = 32

LONG_NAME = 4
"""Names of so many characters are masked in texts also without an ``@`` before them."""

LONG_ID = 6
"""Ids of so many characters are looked for inside of words too; short ones are everywhere."""

PEOPLE_KEYS = frozenset({"mentions", "reply_to_author_id", "reply_to_author_name"})
"""Keys of ``extra`` that hold other people, on all platforms."""


def load_key(folder: Path) -> bytes:
    """The secret of a data folder, made on first use (32 bytes, mode 0600).

    :raises OSError: it can neither be read nor made.
    :raises ValueError: the file holds something else, for example nothing after a full disk.
    """
    path = folder / KEY_FILE
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        key = bytes.fromhex(path.read_text("ascii"))
        if len(key) != KEY_BYTES:
            # An empty key would give hashes that anybody can compute.
            raise ValueError(f"{path} is damaged; remove it to begin with new pseudonyms") from None
        return key
    with os.fdopen(descriptor, "w") as file:
        key = secrets.token_bytes(KEY_BYTES)
        file.write(key.hex())
    return key


def pseudonym(key: bytes, platform: str, person_id: str) -> str:
    """HMAC-SHA256 of an id, 32 hex digits."""
    message = f"{platform}:{person_id}".encode()
    return hmac.new(key, message, hashlib.sha256).hexdigest()[:32]


def mask(name: str) -> str:
    """The first character of a name: "露营笔记" becomes "露***"."""
    return f"{name[0]}***" if name else name


class Anonymizer:
    """Takes out of a record, in place, what tells who a person is.

    :param personal_extra: keys of ``extra`` of this platform that tell it.
    """

    def __init__(self, key: bytes, personal_extra: frozenset[str]) -> None:
        self._key = key
        self._personal_extra = personal_extra | {"handle", "verified_text"}

    def apply(self, item: Item) -> None:
        """Pseudonymise *item*."""
        if isinstance(item, Creator):
            self._creator(item)
        else:
            self._post_or_comment(item)

    def _creator(self, creator: Creator) -> None:
        person_id = creator.creator_id
        creator.creator_id = self._pseudonym(creator, person_id)
        creator.name = creator.name and mask(creator.name)
        creator.url = creator.avatar = creator.bio = creator.ip_location = None
        # Of what only this platform has, keep counts and flags: texts can name the person.
        creator.extra = {
            name: value
            for name, value in creator.extra.items()
            if isinstance(value, (bool, int))
            and name not in self._personal_extra
            and not _tells(value, {person_id})
        }

    def _post_or_comment(self, item: Post | Comment) -> None:
        names = [item.author_name, *_names(item.extra)]
        ids = {person_id for person_id in (item.author_id, *_ids(item.extra)) if person_id}
        item.author_id = item.author_id and self._pseudonym(item, item.author_id)
        item.author_name = item.author_name and mask(item.author_name)
        item.author_url = item.author_avatar = item.ip_location = None
        item.extra = {
            name: value
            for name, value in item.extra.items()
            if name in PEOPLE_KEYS or (name not in self._personal_extra and not _tells(value, ids))
        }
        self._other_people(item)
        item.text = self._unnamed(item, item.text, names, ids)
        if isinstance(item, Post):
            item.title = self._unnamed(item, item.title, names, ids)
            if _tells(item.url, ids):
                item.url = None
        for media in item.media:
            if media.url and (media.identifying or _tells(media.url, ids)):
                media.fetch_url, media.url = media.fetch_url or media.url, None

    def _other_people(self, item: Post | Comment) -> None:
        extra = item.extra
        if extra.get("mentions"):
            extra["mentions"] = [
                {
                    "name": mention.get("name") and mask(mention["name"]),
                    "id": mention.get("id") and self._pseudonym(item, mention["id"]),
                }
                for mention in extra["mentions"]
            ]
        if extra.get("reply_to_author_id"):
            extra["reply_to_author_id"] = self._pseudonym(item, extra["reply_to_author_id"])
        if extra.get("reply_to_author_name"):
            extra["reply_to_author_name"] = mask(extra["reply_to_author_name"])

    def _unnamed(
        self, item: Item, text: str | None, names: list[str | None], ids: set[str]
    ) -> str | None:
        """*text* with masks and pseudonyms in the place of ``@name`` and of ids (in links)."""
        if not text:
            return text
        # Longest first: "@Anna" must not eat the beginning of "@Annabel".
        for name in sorted(filter(None, names), key=len, reverse=True):
            # A short name is an ordinary word as well: only "@" makes it a name.
            mark = "" if len(name) >= LONG_NAME else "@"
            text = text.replace(f"{mark}{name}", f"{mark}{mask(name)}")
        for person_id in sorted(ids, key=len, reverse=True):
            if len(person_id) >= LONG_ID and person_id in text:  # a hash takes longer than a look
                text = text.replace(person_id, self._pseudonym(item, person_id))
        return text

    def _pseudonym(self, item: Item, person_id: str) -> str:
        return pseudonym(self._key, item.platform, person_id)


def _names(extra: dict[str, Any]) -> list[str | None]:
    """Names of the people that an item speaks of or to."""
    mentioned = [mention.get("name") for mention in extra.get("mentions") or []]
    return [*mentioned, extra.get("reply_to_author_name")]


def _ids(extra: dict[str, Any]) -> list[str | None]:
    """Ids of the people that an item speaks of or to."""
    mentioned = [mention.get("id") for mention in extra.get("mentions") or []]
    return [*mentioned, extra.get("reply_to_author_id")]


def _tells(value: Any, ids: set[str]) -> bool:
    """Whether a value contains one of these people's raw ids."""
    if isinstance(value, str):
        return any(_contains(value, person_id) for person_id in ids)
    if isinstance(value, int):
        return str(value) in ids
    if isinstance(value, dict):
        return any(_tells(key, ids) or _tells(element, ids) for key, element in value.items())
    if isinstance(value, list):
        return any(_tells(element, ids) for element in value)
    return False


def _contains(text: str, person_id: str) -> bool:
    if len(person_id) >= LONG_ID:
        return person_id in text
    return bool(re.search(rf"(?<![0-9A-Za-z]){re.escape(person_id)}(?![0-9A-Za-z])", text))
