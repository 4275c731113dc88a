"""A plain XHS client for tests: signs with the package xhshow, speaks to a running sandbox."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from xhshow import Xhshow

from sandbox.testing import RunningSandbox

EDITH = "edith.xiaohongshu.com"
SO = "so.xiaohongshu.com"
WWW = "www.xiaohongshu.com"
V1, V2 = "/api/sns/web/v1", "/api/sns/web/v2"
FORMATS = ["jpg", "webp", "avif"]
Json = dict[str, Any]


def query_of(params: Mapping[str, str]) -> str:
    """The query exactly as it is signed: percent-encoded, the comma raw."""
    return "&".join(f"{name}={quote(value, safe=',')}" for name, value in params.items())


class Client:
    """Asks as one session. ``last`` is status and headers of the last answer."""

    def __init__(self, sandbox: RunningSandbox, kind: str = "member") -> None:
        self.sandbox = sandbox
        self.cookie = sandbox.cookies(kind)
        self.cookies = dict(part.split("=", 1) for part in self.cookie.split("; "))
        self.signer = Xhshow()
        self.last: tuple[int, Any] = (0, None)

    def signed(self, path: str, *, params: Any = None, payload: Any = None, **how: Any) -> Json:
        """Fresh headers for one request."""
        if payload is None:
            headers = self.signer.sign_headers_get(path, self.cookies, params=params, **how)
        else:
            headers = self.signer.sign_headers_post(path, self.cookies, payload=payload, **how)
        return {**headers, "cookie": self.cookie}

    def send(
        self, host: str, target: str, headers: Mapping[str, str], body: bytes | None = None
    ) -> Json:
        method = "GET" if body is None else "POST"
        status, answer_headers, data = self.sandbox.request(
            host, target, method=method, headers=headers, body=body
        )
        self.last = (status, answer_headers)
        try:
            answer: Json = json.loads(data)
        except ValueError:
            return {"text": data.decode("utf-8", "replace")}
        return answer

    def get(
        self, path: str, params: Mapping[str, str] | None = None, host: str = EDITH, **how: Any
    ) -> Json:
        target = path + ("?" + query_of(params) if params else "")
        return self.send(host, target, self.signed(path, params=params, **how))

    def post(self, path: str, payload: Json, host: str = EDITH, **how: Any) -> Json:
        body = self.signer.build_json_body(payload).encode("utf-8")
        return self.send(host, path, self.signed(path, payload=payload, **how), body)

    # -- the endpoints --------------------------------------------------------------------------

    def search(
        self,
        keyword: str,
        page: int = 1,
        *,
        sort: str = "general",
        note_type: int = 0,
        filters: Mapping[str, str] | None = None,
        search_id: str = "2foewre5q6z7ry0cr162n",
    ) -> Json:
        payload = {
            "keyword": keyword,
            "page": page,
            "page_size": 20,
            "search_id": search_id,
            "session_id": "1073741823-1764896636081",
            "sort": sort,
            "note_type": note_type,
            "ext_flags": [],
            "filters": [{"tags": [tag], "type": kind} for kind, tag in (filters or {}).items()],
            "geo": "",
            "image_formats": FORMATS,
        }
        return self.post(f"{V2}/search/notes", payload, host=SO)

    def search_all(self, keyword: str, **how: Any) -> list[list[str]]:
        """The note ids of every page until has_more is false."""
        pages: list[list[str]] = []
        while True:
            data = self.search(keyword, len(pages) + 1, **how)["data"]
            items = data.get("items", [])
            pages.append([item["id"] for item in items if item["model_type"] == "note"])
            if not data["has_more"]:
                return pages

    def detail(self, note_id: str, token: str) -> Json:
        payload = {
            "source_note_id": note_id,
            "image_formats": FORMATS,
            "extra": {"need_body_topic": "1"},
            "xsec_source": "pc_search",
            "xsec_token": token,
        }
        return self.post(f"{V1}/feed", payload, x_rap=True)

    def comments(self, note_id: str, token: str, cursor: str = "") -> Json:
        return self.get(
            f"{V2}/comment/page",
            {
                "note_id": note_id,
                "cursor": cursor,
                "top_comment_id": "",
                "image_formats": "jpg,webp,avif",
                "xsec_token": token,
            },
        )

    def replies(
        self, note_id: str, root_id: str, token: str, cursor: str = "", num: int = 10
    ) -> Json:
        return self.get(
            f"{V2}/comment/sub/page",
            {
                "note_id": note_id,
                "root_comment_id": root_id,
                "num": str(num),
                "cursor": cursor,
                "image_formats": "jpg,webp,avif",
                "top_comment_id": "",
                "xsec_token": token,
            },
        )

    def posted(self, user_id: str, cursor: str = "", **how: Any) -> Json:
        return self.get(
            f"{V1}/user_posted",
            {
                "num": "30",
                "cursor": cursor,
                "user_id": user_id,
                "image_formats": "jpg,webp,avif",
                "xsec_token": "",
                "xsec_source": "pc_user",
            },
            user_id=user_id,
            x_rap=True,
            **{"sign_format": "xyw", **how},
        )
