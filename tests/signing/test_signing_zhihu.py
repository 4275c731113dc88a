"""The signature reproduces what public implementations compute, byte for byte."""

from __future__ import annotations

import pytest

from mediacrawler.signing import zhihu

D_C0 = "AAABBBccc000DDDeee111FFFggg222HHHii=|1700000000"
ME = "/api/v4/me?include=email%2Cis_active%2Cis_bind_phone"
BODY = (
    b'{"content_id":"100","content_type_str":"answer","video_id":"1234567890123456789",'
    b'"scene_code":"answer_detail_web","is_only_video":true}'
)

VECTORS = [
    (ME, D_C0, b"", 0, "Gue8Fe4=ZZxdT0d3Kxb2LnjmG4a7PqqserDiuy7koBgsasSiu/v5x40tjbv=c6B0"),
    (ME, D_C0, b"", 42, "nz2==3P4PlHzY=gHp06tGdpGIat3yI/CyAIDnAIhTtdukCFZcqXmD+vjq9448114"),
    (ME, D_C0, b"", 126, "oL2LGVxtNMfleDxgekaTXQatmWLXf/d+7+hwZdQAiLOmXyV0BCkeV7upSxiUG66j"),
    (ME, D_C0, b"", 210, "NaRHwtPrihr5fUhzipw78thA/DKG7tB4pXRFwM0xFRy43N+qSFl87l7moZDRRgUp"),
    (
        "/api/v4/articles/2033118481449734702",
        "dc0-value",
        b"",
        42,
        "PRKqbtdXOzv3iexyOD3cU9BTBMOdjrD1S1oIqRKKakLY7Cr/zpt3dneN/XTV8nQP",
    ),
    (
        "/api/v4/comment_v5/answers/2997437272/root_comment"
        "?limit=10&offset=568157402_10538825519_0&order_by=score",
        D_C0,
        b"",
        126,
        "MX/lNINNAGakWtMYgy23orUPlhyL84U4r477WDDe9sOSYrXoPFL5NkSli+cT/0=8",
    ),
    (
        "/api/v4/members/some-token/answers"
        "?include=data[*].is_normal,content&limit=20&offset=0&sort_by=created",
        D_C0,
        b"",
        42,
        "P6bgob8ZiHVa9nXbSA4T3bGPczLGS2fxCzkfOcgZ8UIvbzw24ug9NHH108NBwhh2",
    ),
    (
        "/api/v4/members/some-token/answers"
        "?include=data%5B%2A%5D.is_normal%2Ccontent&limit=20&offset=0&sort_by=created",
        D_C0,
        b"",
        42,
        "kGaIt86AX1Iyv+YX16NTCKFosR1PgalYnc0RkQW9XBrTM4t+GloIcQHC0LUXQfyI",
    ),
    (
        "/api/v4/search_v3?gk_version=gz-gaokao&t=general&q=%E9%9C%B2%E8%90%A5&correction=1"
        "&offset=0&limit=20&filter_fields=&lc_idx=0&show_all_topics=0&search_source=Normal",
        D_C0,
        b"",
        0,
        "0yKgcwAmM10r5Xhbqk2HVoyeqqG7nduL1TbzY5krHdIrO/4r66cTlsa9Rkqf578g",
    ),
    (
        "/api/v4/video/play_info?r=1234567890123456789",
        D_C0,
        BODY,
        0,
        "sZahhfH6atLOLKCxtpedpv=HxAnSIUSxe0GQjNU2sg/e3diPBCO18Ks1PPMddyFr",
    ),
    (
        "/api/v4/questions/19550225",
        None,
        b"",
        126,
        "YuTS9Go=uUNWc=QysOiehPm6ZMS=5dAjtCoo=DChnmgoDKlyidFfARRxr3qcHBvR",
    ),
]


@pytest.mark.parametrize(("target", "d_c0", "body", "first_byte", "expected"), VECTORS)
def test_signs_like_a_browser(
    target: str, d_c0: str | None, body: bytes, first_byte: int, expected: str
) -> None:
    assert zhihu.headers(target, d_c0, body, first_byte=first_byte) == {
        "x-zse-93": "101_3_3.0",
        "x-zse-96": "2.0_" + expected,
    }


# Values that browsers sent, as published; the digest and the byte were read out of them.
CAPTURED = [
    (
        114,
        "5af149718f57fe538852578970efcb30",
        "xtrmYKADSJDo1w=j7Yq51TIb+j=v46Io1t4FVPB1ioZO2DZ2g2yUIWXITemFLT=R",
    ),
    (
        26,
        "ef6f361b94b88b665b08cb67847c143c",
        "Zp6h70+oC9x59K6=UkJ8zB+MBSYKv4XM8Ij=Cy0P58xLFpK8fwH+C51Tork0t4pZ",
    ),
    (
        35,
        "eebb9bb125ad9798d483a21f7f0f8201",
        "F4xUBPG3VPhZt6FWHWp2OF7fgmgBg0FcHWa4uy8wrIV1mXFGgzy6QiG=P0pArI6r",
    ),
    (
        0,
        "0" * 32,
        "lco+eqBMw1gpXLOMBHq/5o+TqT2mHznpQJ4hFhq//+6BqAvzQCdywLLCdp7CByHm",
    ),
    (
        210,
        "f" * 32,
        "jMa3Iwg2TjGJP/8rzVU+AOee8hFmsBrYCOfHm35raKwqvgTy42WDvSvvDrfsS+iA",
    ),
]


@pytest.mark.parametrize(("first_byte", "digest", "expected"), CAPTURED)
def test_encrypts_digests(first_byte: int, digest: str, expected: str) -> None:
    assert zhihu.encrypt(digest, first_byte) == expected


def test_every_byte_of_the_request_counts() -> None:
    def sign(target: str = "/a?b=1", d_c0: str | None = "D", body: bytes = b"x") -> str:
        return zhihu.headers(target, d_c0, body, first_byte=7)["x-zse-96"]

    assert len({sign(), sign("/a?b=2"), sign(d_c0="E"), sign(d_c0=None), sign(body=b"y")}) == 5


@pytest.mark.parametrize(("digest", "first_byte"), [("abc", 0), ("0" * 32, 256), ("0" * 32, -1)])
def test_refuses_what_cannot_be_encrypted(digest: str, first_byte: int) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 (two different messages)
        zhihu.encrypt(digest, first_byte)


@pytest.mark.parametrize(
    "stored",
    ["AbC+d/e=|1700000000", '"AbC+d/e=|1700000000"', "%22AbC%2Bd%2Fe%3D%7C1700000000%22"],
)
def test_a_stored_cookie_has_one_form(stored: str) -> None:
    assert zhihu.normal_d_c0(stored) == "AbC+d/e=|1700000000"
