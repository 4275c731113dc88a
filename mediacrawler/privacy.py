"""Pseudonyms: keyed hashes for ids, masks for names. Pure functions, except for the key file.

A plain hash of an id is no protection (ids can be enumerated and hashed), hence the key. It
stays in the data folder, so the same person has the same pseudonym in all runs of a study.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from pathlib import Path
from typing import Any

from mediacrawler.items import Comment, Creator, Item, Media, Post

KEY_FILE = ".anonymize.key"


def load_key(folder: Path) -> bytes:
    """The secret of a data folder, made on first use (32 bytes, mode 0600).

    :raises OSError: it can neither be read nor made.
    """
    path = folder / KEY_FILE
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return bytes.fromhex(path.read_text("ascii"))
    with os.fdopen(descriptor, "w") as file:
        key = secrets.token_bytes(32)
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
        creator.creator_id = pseudonym(self._key, creator.platform, creator.creator_id)
        creator.name = creator.name and mask(creator.name)
        creator.url = creator.avatar = creator.bio = creator.ip_location = None
        # Of what only this platform has, keep counts and flags: texts can name the person.
        creator.extra = {
            name: value for name, value in creator.extra.items() if isinstance(value, (bool, int))
        }

    def _post_or_comment(self, item: Post | Comment) -> None:
        author_id, author_name = item.author_id, item.author_name
        item.author_id = author_id and pseudonym(self._key, item.platform, author_id)
        item.author_name = author_name and mask(author_name)
        item.author_url = item.author_avatar = item.ip_location = None
        self._mentions(item)
        item.extra = {
            name: value
            for name, value in item.extra.items()
            if name not in self._personal_extra and not _tells(value, author_id)
        }
        if isinstance(item, Post) and _tells(item.url, author_id):
            item.url = None
        for media in item.media:
            self._media(media)

    def _mentions(self, item: Post | Comment) -> None:
        extra = item.extra
        names = []
        for mention in extra.get("mentions", []):
            if mention.get("name"):
                names.append(mention["name"])
                mention["name"] = mask(mention["name"])
            if mention.get("id"):
                mention["id"] = pseudonym(self._key, item.platform, mention["id"])
        if extra.get("reply_to_author_id"):
            extra["reply_to_author_id"] = pseudonym(
                self._key, item.platform, extra["reply_to_author_id"]
            )
        if extra.get("reply_to_author_name"):
            names.append(extra["reply_to_author_name"])
            extra["reply_to_author_name"] = mask(extra["reply_to_author_name"])
        # Longest first: "@Anna" must not eat the beginning of "@Annabel".
        for name in sorted(names, key=len, reverse=True):
            item.text = item.text and item.text.replace(f"@{name}", f"@{mask(name)}")
            if isinstance(item, Post):
                item.title = item.title and item.title.replace(f"@{name}", f"@{mask(name)}")

    def _media(self, media: Media) -> None:
        if media.identifying and media.url:
            media.fetch_url, media.url = media.url, None


def _tells(value: Any, person_id: str | None) -> bool:
    """Whether a value contains a person's raw id."""
    if not person_id:
        return False
    if isinstance(value, str):
        return person_id in value
    if isinstance(value, dict):
        return any(_tells(element, person_id) for element in value.values())
    if isinstance(value, list):
        return any(_tells(element, person_id) for element in value)
    return False
